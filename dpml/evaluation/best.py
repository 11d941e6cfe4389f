"""BestSelector: a selection and a classifier for one ε, every choice in it made by a public rule or paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from dpml._validate import ON_INVALID, as_generator, check_choice, check_epsilon, check_relation
from dpml.budget import Budget, charge
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.counts import FACTOR, Contingency, contingency
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.secure import check_release, noisy_max
from dpml.schema import Schema, resolve_schema
from dpml.selection import TopSelector

__all__ = ["BestSelector", "Plan", "best_single_feature", "plan"]

# A look at the data asks whether the best single feature gets this share of the records right beyond the largest class
LIFT = 0.2
# and spends what makes a lift of 0 look like one with probability e^-10 / 2 (e^-5 / 2), but at most this share of ε: a
# wrong answer costs more on words, whose signal is spread; attributes in one-hot columns often say the same twice
LOOK = {"open": (10.0, 0.06), "one-hot": (5.0, 0.1)}
# From this many records times ε per unit of the range on, the joint mechanism finds few features better than one shot
JOINT = 1000.0


@dataclass(frozen=True)
class Plan:
    """What is done with ε, from public facts only.

    Attributes
    ----------
    epsilon_look : float
        ε for asking whether few features are enough; 0 where public facts decide.
    few : bool or None
        The decision where public facts make it, else None.
    n_features : int
        T, if few features are kept.
    method : {"joint", "one-shot"}
        How they are chosen, see `dpml.selection.TopSelector`.
    selection_share : float
        Share for choosing them of what is left after the look.
    """

    epsilon_look: float
    few: bool | None
    n_features: int
    method: str
    selection_share: float = 0.5


def plan(schema: Schema, epsilon: float, relation: str = "add-remove") -> Plan:
    """Return the public rule: look at the data or not, and how many features to keep if few are kept.

    Two situations: naive Bayes with all features wins where the signal is spread over many of them and there are
    records enough; a few features win where one of them alone tells much, or where the noise on all counts drowns
    them. Which one it is, is asked privately where that costs a small part of ε (`LIFT`, `LOOK`); else few are kept if
    ε times the number of records (half of it under replace-one) is at most the number of features. docs/decisions.md
    has the search.

    Parameters
    ----------
    schema : Schema
    epsilon : float
    relation : {"add-remove", "replace-one"}

    Examples
    --------
    >>> plan(Schema.binary(600, n_lower=900), 0.1)
    Plan(epsilon_look=0.0, few=True, n_features=1, method='one-shot', selection_share=0.5)
    >>> plan(Schema.binary(100, n_lower=5000), 0.1)
    Plan(epsilon_look=0.0, few=False, n_features=3, method='one-shot', selection_share=0.5)
    """
    epsilon = check_epsilon(epsilon)
    factor = FACTOR[check_relation(relation)]
    D, R, n = schema.n_features, schema.row_bound, schema.n_lower
    assert R is not None
    assert n is not None
    kind = "one-hot" if R < D else "open"
    nats, most = LOOK[kind]
    look, few = nats * factor / (LIFT * n), None
    if kind == "one-hot":
        look = min(look, most * epsilon)
    elif look > most * epsilon:
        look, few = 0.0, epsilon * n / factor <= D
    strength = (epsilon - look) / 2 * n / factor
    T = min(0.7 * np.sqrt(strength), R // 3) if kind == "one-hot" else 0.25 * np.sqrt(strength)
    return Plan(look, few, int(np.clip(T, 1, D)), "joint" if strength >= JOINT else "one-shot")


def best_single_feature(counts: Contingency) -> int:
    """Return how many records the best single feature gets right beyond the largest class. A private statistic.

    Predicting for each value of feature j its largest class gets the sum over values v of max over c of n_cv right. A
    record that is added raises one of these maxima by 0 or 1, and the largest class's size by 0 or 1: the statistic
    changes by -1, 0 or 1, and by up to 2 when a record is replaced.
    """
    right = counts.on.max(axis=-2) + counts.off.max(axis=-2)
    return int(right.max(initial=0) - counts.n.max())


class BestSelector(ClassifierMixin, SelectorMixin, BaseEstimator):
    """Choose features and train a classifier on them, with one ε for everything.

    Released: the decision whether few features are enough, the set of features, and the classifier.

    Privacy: ε per fit, for `relation`, by composition of three releases, each with its part from `plan`. The look is
    permute-and-flip between the statistic `best_single_feature` and a public bound, whose difference changes by at
    most 1 (2 under replace-one). The choice of few features is `TopSelector` on the count heuristic (permute-and-flip
    in a release). The classifier gets what is left, and all of ε where nothing was asked.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0.
    classifier : estimator, optional
        A private classifier with parameters `epsilon`, `schema`, `relation`, `on_invalid`, `release` and
        `random_state`, which are set here. None: `BernoulliNB`.
    relation : {"add-remove", "replace-one"}
    schema : Schema, optional
        Public facts, among them `n_lower`. None: the canonical binary schema, which knows of one record only.
    budget : Budget, optional
        Charged ε before anything is drawn.
    on_invalid : {"raise", "clip"}
    release : bool
        Use secure noise throughout (the extra ``release``); the classifier must offer it. Forbids `random_state`.
    random_state : int, Generator or None

    Attributes
    ----------
    classifier_ : estimator
        Fitted to the selected columns.
    plan_ : Plan
    few_ : bool
        Whether few features were kept.
    classes_ : ndarray of shape (C,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table was a DataFrame.

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, NoSecureSampler, MissingExtra

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = BestSelector(1.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> model.few_, bool(model.score(data.X_test, data.y_test) > 0.8)
    (False, True)
    """

    def __init__(
        self,
        epsilon: float,
        classifier: Any = None,
        *,
        relation: str = "add-remove",
        schema: Schema | None = None,
        budget: Budget | None = None,
        on_invalid: str = "raise",
        release: bool = False,
        random_state: Any = None,
    ):
        self.epsilon = epsilon
        self.classifier = classifier
        self.relation = relation
        self.schema = schema
        self.budget = budget
        self.on_invalid = on_invalid
        self.release = release
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> BestSelector:
        """Select features of private records and fit the classifier; X and y as for a classifier."""
        epsilon = check_epsilon(self.epsilon)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        relation = check_relation(self.relation)
        if self.release:
            check_release(self.random_state)
        schema = resolve_schema(self.schema, X)
        if not schema.is_binary:
            other = next(f.name for f in schema.features if f.kind != "binary")
            raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")
        rng = as_generator(self.random_state)
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = schema.check_table(X, y, "clip" if self.release else self.on_invalid)
        steps = plan(schema, epsilon, relation)
        exact = contingency(X, codes, schema.n_classes) if steps.few is not False else None
        charge(self.budget, relation, epsilon, label="BestSelector")
        self.few_ = self._look(steps, exact, schema, relation, rng)
        rest = epsilon - steps.epsilon_look
        mask = np.ones(schema.n_features, dtype=bool)
        if self.few_ and steps.n_features < schema.n_features:
            assert exact is not None
            method = "permute-and-flip" if self.release else steps.method
            selector = TopSelector(
                rest * steps.selection_share,
                steps.n_features,
                method=method,
                row_bound=schema.n_features,
                relation=relation,
                schema=schema,
                release=self.release,
            )
            mask = selector.masks(exact, schema, rng=None if self.release else rng)[0]
            rest -= rest * steps.selection_share
        self.plan_, self._mask, self._schema = steps, mask, schema
        self.classes_ = np.asarray(schema.classes)
        self.n_features_in_ = schema.n_features
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        classifier = BernoulliNB(1.0) if self.classifier is None else clone(self.classifier)
        self.classifier_ = classifier.set_params(
            epsilon=rest,
            schema=schema.subset(mask),
            relation=relation,
            on_invalid=self.on_invalid,
            release=self.release,
            random_state=None if self.release else rng,
        )
        self.classifier_.fit(_columns(X, mask), self.classes_[codes])
        if not self.release:
            # the generator that was passed on is not a parameter that the caller gave
            self.classifier_.set_params(random_state=None)
        return self

    def _look(
        self, steps: Plan, exact: Contingency | None, schema: Schema, relation: str, rng: np.random.Generator
    ) -> bool:
        if steps.few is not None:
            return steps.few
        assert exact is not None
        assert schema.n_lower is not None
        scores = [round(LIFT * schema.n_lower), best_single_feature(exact)]
        if self.release:
            return bool(noisy_max(scores, steps.epsilon_look, FACTOR[relation]))
        return bool(PermuteAndFlip(steps.epsilon_look, FACTOR[relation]).release(scores, rng=rng))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._mask

    def _selected(self, X: Any) -> Any:
        check_is_fitted(self)
        X, _ = self._schema.check_features(X, "clip" if self.release else self.on_invalid)
        return _columns(X, self._mask)

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        return self.classifier_.predict(self._selected(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes, shape (n, C)."""
        return self.classifier_.predict_proba(self._selected(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _columns(X: Any, mask: NDArray[np.bool_]) -> Any:
    if mask.all():
        return X
    return X[:, np.flatnonzero(mask)] if sparse.issparse(X) else X[:, mask]
