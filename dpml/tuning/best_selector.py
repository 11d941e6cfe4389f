"""Feature selection and any classifier for one ε. All decisions follow public rules or are part of the cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from dpml._validate import ON_INVALID, as_generator, check_choice, check_epsilon, check_relation
from dpml.budget import Budget, charge
from dpml.claims import claim
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.encoding import columns_of
from dpml.estimators.base import PrivateEstimator, exact_accuracy, has_exact_score, refuse_arguments
from dpml.estimators.inner_budget import dry_run, fit_with_inner_budget, spending_steps
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import Private
from dpml.mechanisms.secure import check_release
from dpml.schema import resolve_schema
from dpml.selection._base import SelectsColumns
from dpml.selection.plan import choose_features
from dpml.tuning.search import rows_of


def keep_columns(classifier: Any) -> Any:
    """Return a clone of a classifier that uses all columns it is given and does no selection itself."""
    model = clone(classifier)
    return model.set_params(selection="none") if "selection" in model.get_params() else model


@claim(
    "best-selector",
    "Best features, then naive Bayes on them",
    "derived here: the inner estimators spend from an inner budget of their own",
    "ε for the choice and the model together",
)
@claim(
    "best-selector-descent",
    "Best features, then a classifier by noisy descent",
    "derived here: the inner estimators spend from an inner budget of their own",
    "(ε, δ), δ the classifier's, audited at δ = 1e-5",
    delta=1e-5,
)
@claim(
    "best-selector-release",
    "Best features, then naive Bayes on them, release",
    "derived here: the inner estimators spend from an inner budget of their own; integer noise (OpenDP)",
    "ε for the choice and the model together",
)
@dataclass(eq=False, repr=False)
class BestSelector(ClassifierMixin, SelectsColumns, PrivateEstimator):
    """Feature selection and classification with differential privacy, with one ε for both.

    It decides whether few features are enough, selects them, and trains a classifier on them. It releases the decision,
    the set of features and the classifier.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. Public rules divide it between selection and training.
    classifier : estimator, optional
        Private classifier with parameters `epsilon`, `schema`, `relation`, `budget`, `on_invalid`, `release` and
        `random_state`, which the fit sets. It is fitted with a budget of its own, which it must charge and cannot
        exceed. By default `BernoulliNB`, and the result is then that of `BernoulliNB` alone.
    schema : Schema, optional
        Public metadata, including `n_lower`. By default all columns are binary, the classes are 0 and 1, and all
        features are kept.
    budget : Budget, optional
        Budget that is charged with ε, and the δ of the classifier, before anything is drawn.
    release : bool, default False
        Use secure noise everywhere (the extra ``release``), which the classifier must support. It forbids
        `random_state`.

    Attributes
    ----------
    classifier_ : estimator
        The classifier, fitted to the selected columns.
    plan_ : dpml.selection.Plan
        Decision of the public rule `dpml.selection.plan`.
    few_ : bool
        True if few features were kept.
    classes_ : ndarray of shape (C,)
        Class labels in the order of the schema, whether or not the records contain them.

    Raises
    ------
    BudgetExceeded
        If the budget is too small, or the classifier costs more than its part of ε.
    NotPrivate
        If the classifier has no ε, is not private at its ε, or charges nothing for its fit.

    See Also
    --------
    PrivateSearch : Select hyperparameters of a classifier privately.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = the δ that the classifier charges, usually 0. Relation: `relation`. Sensitivity:
    those of `dpml.selection.choose_features` and of the classifier.

    The costs of three releases add up by composition. The noisy test and the selection of
    `dpml.selection.choose_features` get the parts that `dpml.selection.plan` states. The classifier gets the rest,
    which is all of ε if there was no test and no selection.

    References
    ----------
    The rules are this project's (docs/decisions/0005).

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = BestSelector(1.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> model.few_, bool(model.score(data.X_test, data.y_test) > 0.8)
    (False, True)
    """

    classifier: Any = field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any = None, **refused: Any) -> BestSelector:
        """Select features of private records and fit the classifier to them.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Binary records. Columns of a DataFrame are matched by name.
        y : array of shape (n,)
            Labels among the schema's classes.
        **refused : object
            No other argument is allowed. `sample_weight` raises an error that gives the reason.

        Returns
        -------
        BestSelector
            The fitted estimator.
        """
        refuse_arguments(self, refused)
        X = self._enter(X)
        epsilon = check_epsilon(self.epsilon)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        relation = check_relation(self.relation)
        if self.release:
            check_release(self.random_state)
        schema = resolve_schema(self.schema, X)
        if not schema.is_binary:
            other = next(f.name for f in schema.features if f.kind != "binary")
            raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")
        rng = None if self.release else as_generator(self.random_state)
        named = isinstance(X, pd.DataFrame)
        count = schema.public_count(X, relation)
        X, positions, schema = schema.check_table(X, y, "clip" if self.release else self.on_invalid)
        nothing = X[:0], schema.class_labels[:0]
        X, codes = Private(X), Private(positions)
        held = keep_columns(BernoulliNB(1.0) if self.classifier is None else self.classifier)
        spending_steps(held, ("epsilon", "budget", "schema", "relation", "on_invalid", "release", "random_state"))
        facts = {"schema": schema, "relation": relation, "on_invalid": self.on_invalid, "release": self.release}
        held.set_params(epsilon=epsilon, **facts)
        [delta] = dry_run(held, [epsilon], relation, nothing, "BestSelector")
        charge(self.budget, relation, epsilon, delta, label="BestSelector")
        choice = choose_features(X, codes, schema, epsilon, relation=relation, rng=rng)
        self.plan_, self.few_, self._mask, self._schema = choice.plan, choice.few, choice.mask, schema
        if count:  # some records may have been dropped, but the public number is that of the given ones
            schema = replace(schema, n_rows=count, n_lower=min(schema.n_lower, count))
        self.classes_ = schema.class_labels
        self.n_features_in_ = schema.n_features
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        inner_budget = Budget(choice.epsilon_left, delta, relation)
        held.set_params(
            epsilon=choice.epsilon_left, schema=schema.subset(choice.mask), random_state=rng, budget=inner_budget
        )
        labels = rows_of(self.classes_, codes)
        self.classifier_ = fit_with_inner_budget(held, [held], columns_of(X, choice.mask), labels, "BestSelector")
        # the caller did not set this generator as a parameter
        self.classifier_.set_params(random_state=None)
        return self

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,)
            One class label for each record.
        """
        X = SelectsColumns.transform(self, X)
        return self.classifier_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities, classes in the order of `classes_`.
        """
        X = SelectsColumns.transform(self, X)
        return self.classifier_.predict_proba(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores by which records can be ranked.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            Scores of the classifier, or if it has none, its log odds (two classes) or log probabilities. For two
            classes they are above 0 for the positive class. For more classes there is one column for each class.
        """
        X = SelectsColumns.transform(self, X)
        if hasattr(self.classifier_, "decision_function"):
            return self.classifier_.decision_function(X)
        log_proba = self.classifier_.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba

    @available_if(has_exact_score)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on records, which is exact and so withheld from a released model (``release=True``).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.
        y : array of shape (n,)
            Their labels.
        sample_weight : array of shape (n,), optional
            Weight of each record. By default all records have the same weight.

        Returns
        -------
        float
            Share of records that are classified correctly, in [0, 1].
        """
        return exact_accuracy(self, X, y, sample_weight)
