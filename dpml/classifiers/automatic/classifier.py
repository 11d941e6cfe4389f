"""AutoClassifier: the default classifier, for any schema."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.utils.validation import check_is_fitted

from dpml._validate import check_number
from dpml.budget import Budget, Cost
from dpml.budget.shares import rest_of
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.automatic.explained import explained
from dpml.classifiers.automatic.layout import MOST_CLASSES, Layout
from dpml.classifiers.automatic.plan import DENSE, LEAST_SHARE, asks_density, default_plan
from dpml.classifiers.automatic.tables import release_table
from dpml.classifiers.automatic.words import release_words
from dpml.classifiers.naive_bayes.mixed import MixedNB
from dpml.classifiers.row_scores import row_log_softmax
from dpml.counts import FACTOR
from dpml.estimators.checks import CheckedTable, warn
from dpml.estimators.inner_budget import fit_held
from dpml.exceptions import InvalidData, shown
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import number_of, repeated, statistic
from dpml.mechanisms.source import Source
from dpml.schema import Schema

__all__ = ["AutoClassifier"]

FloatArray = NDArray[np.float64]
# a noisy number of records is lowered by this many scales of its noise, so that it is rarely too large
LOWERED = 3.0


@dataclass(eq=False, repr=False, kw_only=True)
class AutoClassifier(PrivateClassifier):
    """The default classifier: any schema, nothing to choose but ε.

    It takes numbers, categories, binary columns and sparse words, with two classes or more, and bins and encodes them
    itself. A public rule chooses the method (`default_plan`):

    - *A table of attributes.* Numbers are cut where the schema says (`dpml.schema.Feature.cuts`). Others are cut
      at noisy quantiles, or where the noise would hide them at public points: in equal widths, and growing from 0.
      With few records for each weight a grid over a few attributes is chosen privately, as by
      `dpml.classifiers.PrivPfCClassifier`; of more than two classes with enough records noisy counts of the other
      attributes are added, and of many classes counts of all attributes take its place. With more records there is a
      linear classifier of all attributes and of the answer of a small grid. Its probabilities are stretched by what the
      regulariser is known to shrink.
      A table of up to 400 binary columns is one of these if a small look (2 % of ε) finds that records have many ones.
    - *Words.* Naive Bayes with noisy counts that are shrunk one by one. With few records for each word small looks tell
      whether a few words, other naive Bayes or the larger class alone are better.
    - *Many binary columns beside others.* `dpml.classifiers.MixedNB`.

    Released: what these methods release. Without a stated number of records, a noisy one. Whether records
    have many ones, if the schema leaves it open.

    Privacy: ε per fit, and δ, for `relation`, by composition. The rules read the schema, ε, δ and released values.

    Parameters
    ----------
    schema : Schema, optional
        Public facts. State `n_lower`: without it a part of ε counts the records. None: the canonical binary schema.
    delta : float
        δ in [0, 1). With one, weights of two classes get Gaussian noise where it is less than that of pure ε, as in
        tables of fifty numbers. It is charged in either case, and forbids `release`.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its domain, a label that is not a class, or fewer records than `n_lower`. A
        release always clips. For study, clipping warns of what it changes.
    release : bool
        Draw the noise securely (the extra ``release``); forbids `random_state`. The methods, and the distributions of
        their noise, are those of a study; only a choice is made by permute-and-flip.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    plan_ : dpml.classifiers.automatic.plan.Plan
        What the public rule chose.
    method_ : str
        The same in words: "grid", "counts", "grid and counts", "weights", "grid and weights", "words" or "naive-bayes".

    Notes
    -----
    The grid is that of Su et al. 2018; the parts around it are this project's (docs/decisions/0039).

    In a Pipeline, ε covers this classifier alone. Beside it, use steps that learn nothing from the records, such as a
    FunctionTransformer with public bounds. Scalers, imputers, encoders, selectors without ε, calibration and chosen
    thresholds learn from them, and no ε covers that. The classifier needs none of these: it bins and encodes itself.
    A release warns of such a step of its Pipeline, and refuses calibration, ensembles and searches of scikit-learn
    (docs/explanation/privacy.md, "In a pipeline"). It cannot see what was learned before `fit` was called.

    For `cross_val_score` and other cross-validation with K folds, pass ``schema=schema.for_folds(K)``.

    Examples
    --------
    >>> import pandas as pd
    >>> from dpml.schema import Feature
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 5000), "job": rng.choice(["none", "part", "full"], 5000)})
    >>> y = np.where((table["age"] > 60) & (table["job"] == "none"), "yes", "no")
    >>> age = Feature("age", "numeric", lower=18, upper=90)
    >>> job = Feature("job", "categorical", ("none", "part", "full"))
    >>> schema = Schema((age, job), ("no", "yes"), n_lower=4000)
    >>> model = AutoClassifier(1.0, schema=schema, random_state=0).fit(table, y)
    >>> model.predict(pd.DataFrame({"age": [80, 80], "job": ["none", "full"]})).tolist()
    ['yes', 'no']
    """

    _refuses_few: ClassVar[bool] = True

    delta: float = 0.0

    # ---- the steps of a fit -----------------------------------------------------------------------------------------

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        if isinstance(X, pd.DataFrame):
            names = set(map(str, X.columns))
            missing = [name for name in schema.feature_names if name not in names]
            if missing:
                allowed = "Schema.subset(...) states some of the columns, and BestSelector selects some privately"
                raise InvalidData(f"column {shown(missing[0])} of the schema is missing in X: {allowed}")
        return super()._check_table(X, y, schema)

    def _check_parameters(self) -> None:
        check_number(self.delta, "delta", 0.0, 1.0, open_upper=True)

    def _no_sampler(self) -> str | None:
        return "Gaussian noise on weights has no secure sampler; use delta=0" if self.delta else None

    def _costs(self, schema: Schema) -> dict[str, Cost]:
        return {"AutoClassifier": {"epsilon": self.epsilon, "delta": self.delta}}

    def _release(self, X: Any, table: CheckedTable) -> Any:
        """Return what the chosen method released; the records go on to it, because a noisy number may come first."""
        noise: dict[str, Any] = {"rng": table.noise.get("rng"), "secure": self.release}
        schema, codes, relation = table.schema, table.codes, self.relation
        n, left = _number(schema, table.count, codes, float(self.epsilon), relation, noise)
        self._looks: dict[str, tuple[float, float]] = {}
        if left < self.epsilon:
            self._looks["number of records"] = (self.epsilon - left, 1 / (self.epsilon * LEAST_SHARE))
        dense = asks_density(schema, left, n)
        if dense:
            self._looks["number of ones"] = (left * LEAST_SHARE, FACTOR[relation] / (left * LEAST_SHARE))
            dense, left = _is_dense(X, left, relation, noise)
        self.plan_ = default_plan(schema, left, n, dense=dense, delta=float(self.delta), relation=relation)
        if self.plan_.kind == "table" and not self.plan_.n_cells:
            _warn_equal(schema)
        # some records may have been dropped, but the public number is that of the given ones
        schema = replace(schema, n_rows=table.count or None, n_lower=min(int(n), table.count or int(n)))
        if self.plan_.kind == "table":
            return release_table(Layout.of(schema), X, codes, self.plan_, left, relation=relation, **noise)[0]
        if self.plan_.kind == "words":
            return release_words(X, codes, schema, left, look=self.plan_.look, relation=relation, **noise)
        return self._fit_held(X, codes, schema, left, noise["rng"])

    def _model(self, released: Any, table: CheckedTable) -> None:
        for name in ("estimator_", "_model_of_table", "_linear"):
            self.__dict__.pop(name, None)  # an earlier fit may have chosen another method
        if self.plan_.kind == "table":
            self._model_of_table = released
            parts = ["grid"] * (self.plan_.grid_share > 0) + [self.plan_.addition] * (self.plan_.addition != "none")
            self.method_ = " and ".join(parts)
        elif self.plan_.kind == "words":
            self._linear, self.method_ = released, "words"
        else:
            self.estimator_, self.method_ = released, "naive-bayes"

    def _fit_held(self, X: Any, codes: Any, schema: Schema, epsilon: float, rng: Any) -> Any:
        """Fit another classifier of the library; the charge of this fit pays for it."""
        facts: dict[str, Any] = {"schema": schema, "relation": self.relation, "release": self.release}
        facts |= {"random_state": rng, "on_invalid": self.on_invalid}
        inner_budget = Budget(epsilon, relation=self.relation)
        held = MixedNB(epsilon, **facts, budget=inner_budget)
        fitted = fit_held(held, [held], X, _labels(codes, schema), type(self).__name__)
        return fitted.set_params(random_state=None)

    # ---- post-processing ----------------------------------------------------------------------------------------

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes, shape (n, C)."""
        X = self._checked(X)
        if self.plan_.kind == "table":
            return self._model_of_table.log_probabilities(X)
        if self.plan_.kind == "words":
            scores = self._linear.decision(X)[0]
            if scores.shape[1] == 1:
                return np.column_stack([log_expit(-scores[:, 0]), log_expit(scores[:, 0])])
            return row_log_softmax(scores)
        return self.estimator_.predict_log_proba(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes, shape (n, C); rows add up to 1."""
        return np.exp(self.predict_log_proba(X))

    def explain(self) -> pd.DataFrame:
        """Return what the fit did: a row for each part that had a share of ε.

        The columns are ``part``; its ``epsilon`` and ``share`` of the whole; ``noise_scale``, of the Laplace noise on
        each number, cell or count, NaN where the noise has another law; and ``columns``: those of the part, and into
        how many groups a grid tells them apart.

        Privacy: nothing further; it reads the plan, the schema and released values.

        Examples
        --------
        >>> from dpml.schema import Feature
        >>> schema = Schema([Feature(name, "categorical", (0, 1)) for name in "ab"], n_lower=100)
        >>> X = np.random.default_rng(0).integers(2, size=(100, 2))
        >>> AutoClassifier(0.5, schema=schema, random_state=0).fit(X, X[:, 0]).explain()[["part", "epsilon"]].round(2)
              part  epsilon
        0     grid     0.11
        1  weights     0.39
        """
        check_is_fitted(self)
        model = self._model_of_table if self.plan_.kind == "table" else None
        return explained(self.plan_, model, self._looks, float(self.epsilon), self.relation)

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores: for two classes the log odds of class 1, shape (n,); else log probabilities, (n, C).

        A score means the same for every record, so that records can be ranked by it.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]


def _number(
    schema: Schema, count: int | None, codes: Any, epsilon: float, relation: str, noise: dict[str, Any]
) -> tuple[float, float]:
    """Return a number of records that is public or released, and the ε that is left.

    One more record, or one that a replaced record drops, changes the number by 1 under both relations.
    """
    if count is not None:
        return float(max(count, 1)), epsilon
    assert schema.n_lower is not None
    if schema.n_lower > 1:
        return float(schema.n_lower), epsilon
    mechanism = Laplace(epsilon * LEAST_SHARE, 1)
    noisy = float(Source(**noise).counts(repeated(number_of(codes), 1), mechanism.epsilon, 1)[0])
    least = max(math.floor(noisy - LOWERED * mechanism.scale), 1)
    return float(min(least, 2**53)), rest_of(epsilon, epsilon * LEAST_SHARE)


def _warn_equal(schema: Schema) -> None:
    """Warn where numbers are told apart in bins of equal width alone. It is public: schema and ε say so."""
    if schema.n_classes > MOST_CLASSES and (numbers := Layout.of(schema).numbers):
        warn(
            f"{len(numbers)} numbers get bins of equal width, for ε is too small to find better ones: values that are "
            "mostly small look alike. State Feature(cuts=...) or scale='log', or take more ε"
        )


@statistic
def _labels(codes: Any, schema: Schema) -> NDArray:
    return schema.class_labels[codes]


@statistic
def _lead_of_dense(X: Any) -> FloatArray:
    """Return the number of records with many ones, less that of the others."""
    many = np.asarray(X.sum(axis=1)).ravel() >= DENSE * X.shape[1]
    return np.array([float(2 * many.sum() - len(many))])


def _is_dense(X: Any, epsilon: float, relation: str, noise: dict[str, Any]) -> tuple[bool, float]:
    """Return whether at least half of the records seem to have many ones, and the ε that is left.

    Privacy: `LEAST_SHARE` of ε. What gets noise is the number of records with many ones less that of the others. A
    record adds 1 or -1 to it.
    """
    noisy = Source(**noise).counts(_lead_of_dense(X), epsilon * LEAST_SHARE, FACTOR[relation])
    return bool(noisy[0] >= 0), rest_of(epsilon, epsilon * LEAST_SHARE)
