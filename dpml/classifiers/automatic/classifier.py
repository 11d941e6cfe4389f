"""Default classifier for any schema."""

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.utils.validation import check_is_fitted

from dpml._arrays import FloatArray
from dpml._validate import check_number
from dpml.budget import Budget, Cost
from dpml.budget.shares import rest_of
from dpml.claims import claim
from dpml.classifiers._base import ProbabilisticClassifier
from dpml.classifiers.automatic.layout import MOST_CLASSES, Layout
from dpml.classifiers.automatic.plan import (
    DENSE,
    LEAST_SHARE,
    Plan,
    asks_density,
    columns_plan,
    default_plan,
    is_wide,
)
from dpml.classifiers.automatic.tables import TableModel, release_table
from dpml.classifiers.automatic.words import release_words, word_counts
from dpml.classifiers.crowded_bins import warn_of_crowded
from dpml.classifiers.linear_models import row_log_softmax
from dpml.classifiers.naive_bayes.mixed import MixedNB
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable, warn
from dpml.estimators.inner_budget import fit_with_inner_budget
from dpml.exceptions import InvalidData, InvalidParameter, shown
from dpml.mechanisms.private import number_of, repeated, statistic
from dpml.mechanisms.source import Source
from dpml.parquet import BatchedTable, parts_of
from dpml.schema import Schema
from dpml.selection.plan import choose_features

# a noisy number of records is lowered by this many scales of its noise, so that it is rarely too large
LOWERED = 3.0


@claim(
    "auto-counts",
    "The default classifier: noisy histograms, and counts of all attributes and of many classes",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-number",
    "The default classifier: a grid after a noisy number of records",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-bins",
    "The default classifier: noisy histograms, a grid, and counts",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-shared",
    "The default classifier: a noisy histogram that numbers of one domain share, a grid, and weights",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-classes",
    "The default classifier: noisy histograms, a grid, and weights of three classes that start at it",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-alone",
    "The default classifier: weights of all attributes",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-weights",
    "The default classifier: noisy histograms, a grid, and weights that start at it",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-gaussian",
    "The default classifier: the same with Gaussian noise on the weights",
    "this project: composition of its parts",
    "(ε, δ), audited at δ = 1e-05",
    cost="as claimed at most",
    delta=1e-5,
)
@claim(
    "auto-shared-gaussian",
    "The default classifier: a shared noisy histogram, a grid, and weights with Gaussian noise",
    "this project: composition of its parts",
    "(ε, δ), audited at δ = 1e-05",
    cost="as claimed at most",
    delta=1e-5,
)
@claim(
    "auto-words",
    "The default classifier: shrunken counts of words",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-columns",
    "The default classifier: a private selection of columns, a grid, and weights",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-few-words",
    "The default classifier: a few words, or the best model of all",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-dense",
    "The default classifier: a private estimate of the ones per record, and a grid",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-mixed",
    "The default classifier: naive Bayes of many binary columns and a number",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-bins-release",
    "The default classifier: noisy histograms, a grid, and counts, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-shared-release",
    "The default classifier: a noisy histogram that numbers of one domain share, a grid, and weights, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-classes-release",
    "The default classifier: noisy histograms, a grid, and weights of three classes that start at it, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-alone-release",
    "The default classifier: weights of all attributes, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-weights-release",
    "The default classifier: noisy histograms, a grid, and weights that start at it, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-words-release",
    "The default classifier: shrunken counts of words, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-columns-release",
    "The default classifier: a private selection of columns, a grid, and weights, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@claim(
    "auto-few-words-release",
    "The default classifier: a few words, or the best model of all, release",
    "this project: composition of its parts",
    cost="as claimed at most",
)
@dataclass(eq=False, repr=False, kw_only=True)
class AutoClassifier(ProbabilisticClassifier):
    """Default classifier with differential privacy, which selects its method by a public rule.

    It accepts numbers, categories, binary columns and sparse words, with two or more classes. It bins
    and encodes them itself, so ε is the only parameter that you must choose. The rule `default_plan` selects one of
    three methods:

    - *A table of attributes.* Numbers are cut at the schema's cut points (`dpml.schema.Feature.cuts`), at noisy
      quantiles, at noisy quantiles of all numbers with the same bounds, or, if noise would hide these too, at public
      points. With few records per weight, the model is a grid over a few privately selected attributes, as in
      `dpml.classifiers.PrivPfCClassifier`. With more records and two classes, the model is a linear classifier of all
      attributes and of the prediction of a small grid. With more than two classes, a middle range of records adds noisy
      counts of the other attributes to the grid. Many classes have no grid: noisy counts or weights of all attributes
      replace it. The probabilities of the linear classifier are rescaled by the known shrinkage of the regulariser.
    - *Words.* Naive Bayes with noisy counts, each shrunk by its own noise. With few records per word, noisy tests
      decide whether a few words, another naive Bayes or the majority-class baseline is better. A table of up to 400
      binary columns counts as a table of attributes if a noisy test (2% of ε) finds that records have many ones. Of
      more columns without a stated contribution bound, a noisy test decides whether a few are selected first and become
      a table of attributes.
    - *Many binary columns beside others.* `dpml.classifiers.MixedNB`.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. The effect depends on ε times the number of records.
    schema : Schema, optional
        Public metadata: columns, domains and classes. State its `n_lower`, a public lower bound on the number of
        records. Otherwise 2% of ε is spent to count them. By default all columns are binary and the classes are 0 and
        1.
    on_invalid : {"raise", "clip"}, default "raise"
        Action for a value outside its domain, a label that is not a class, or fewer records than `n_lower`. "clip"
        moves values into their domains, drops records with an unknown label, and warns in a simulation. A release
        always clips.
    release : bool, default False
        Draw secure noise (the extra ``release``), which forbids `random_state`. The methods and the distributions of
        their noise are those of a simulation. The only exception is private selection, which uses permute-and-flip.
    delta : float, default 0.0
        Privacy parameter δ, in [0, 1). If it is above 0, the weights of two classes get Gaussian noise where that noise
        is smaller, for example in tables of fifty numbers. It is always charged to the budget, and it forbids
        `release`.

    Attributes
    ----------
    plan_ : dpml.classifiers.automatic.plan.Plan
        Decision of the public rule.
    method_ : {"grid", "counts", "grid and counts", "weights", "grid and weights", "words", "naive-bayes"}
        Name of the selected method.

    See Also
    --------
    dpml.parquet.ParquetTable : Reads records from Parquet files in batches.
    MixedNB : Naive Bayes for binary, categorical and numeric columns.
    dpml.tuning.PrivateSearch : Select hyperparameters of a classifier privately.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided among the releases of the selected method. δ = `delta`. Relation:
    `relation`. Sensitivity: 1 for each grid count and each class count, K for histograms of K numbers, also if numbers
    share one, 1 for the lift of a column and for the range of the scores of columns, r for word counts with
    contribution bound r, the norm of one record for weights, and twice these values under replace-one.

    Each release depends only on the records and on values that were released before, so the costs add up to ε and δ
    by adaptive composition. The rules read the schema, ε, δ and released values only. A fit releases the values of the
    selected method. If the schema states no number of records, it also releases a noisy one. If the schema leaves it
    open, it also releases whether records have many ones. The warning `dpml.exceptions.CrowdedBins` names columns of
    which one bin has nearly all records, by released counts alone.

    In a Pipeline, ε covers this classifier alone. Combine it only with steps that learn nothing from the records, such
    as a FunctionTransformer with public bounds. Scalers, imputers, encoders, non-private selectors, calibration and
    tuned thresholds learn from the records, and no ε covers them. The classifier does not need these steps. It
    cannot see the code around it. `dpml.estimators.spending_steps` raises an error for a Pipeline with such a step
    (docs/explanation/privacy.md, "In a pipeline").

    `fit` also accepts a `dpml.parquet.ParquetTable` or `BatchTable`, a table larger than memory. It reads it several
    times, first to check all cells, and keeps a small integer for each cell of a table of attributes. Only many binary
    columns beside others need a table in memory.

    For `cross_val_score` and other K-fold cross-validation, pass ``schema=schema.for_folds(K)``.

    References
    ----------
    Su, D., Cao, J., Li, N. and Lyu, M. (2018), Algorithm 2, for the grid. The other parts are this project's
    (docs/decisions/0039).

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
    _takes_any_cell: ClassVar[bool] = True
    _takes_batches: ClassVar[bool] = True

    delta: float = 0.0

    # ---- the steps of a fit -----------------------------------------------------------------------------------------

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        if isinstance(X, pd.DataFrame):
            names = set(map(str, X.columns))
            missing = [name for name in schema.feature_names if name not in names]
            if missing:
                allowed = "Schema.subset(...) states some of the columns, and BestSelector selects some privately"
                raise InvalidData(f"column {shown(missing[0])} of the schema is missing in X: {allowed}")
        if isinstance(X, BatchedTable) and is_wide(Layout.from_schema(schema)) and not schema.is_binary:
            allowed = "binary in every feature, or with fewer binary features, for a table that is read in batches"
            raise InvalidParameter("schema", "many binary features beside others", allowed)
        return super()._check_table(X, y, schema)

    def _check_parameters(self) -> None:
        check_number(self.delta, "delta", 0.0, 1.0, open_upper=True)

    def _no_sampler(self) -> str | None:
        return "Gaussian noise on weights has no secure sampler. Pass delta=0" if self.delta else None

    def _costs(self, schema: Schema) -> dict[str, Cost]:
        return {"AutoClassifier": {"epsilon": self.epsilon, "delta": self.delta}}

    def _release(self, X: Any, table: CheckedTable) -> Any:
        """Return the releases of the selected method. It gets the records, because a noisy number may come first."""
        noise: dict[str, Any] = {"rng": table.noise.get("rng"), "secure": self.release}
        schema, codes, relation = table.schema, table.codes, self.relation
        n, left = _record_number(schema, table.count, codes, float(self.epsilon), relation, noise)
        self._spent_before: dict[str, tuple[float, float]] = {}
        if left < self.epsilon:
            self._spent_before["number of records"] = (self.epsilon - left, 1 / (self.epsilon * LEAST_SHARE))
        dense = asks_density(schema, left, n)
        if dense:
            self._spent_before["number of ones"] = (left * LEAST_SHARE, FACTOR[relation] / (left * LEAST_SHARE))
            dense, left = _is_dense(X, left, relation, noise)
        rule: dict[str, Any] = {"delta": float(self.delta), "relation": relation}
        self.plan_ = default_plan(schema, left, n, dense=dense, **rule)
        if self.plan_.kind == "table":
            _warn_equal(schema, self.plan_)
        # some records may have been dropped, but the public number is that of the given ones
        schema = replace(schema, n_rows=table.count or None, n_lower=min(int(n), table.count or int(n)))
        layout = Layout.from_schema(schema)
        steps = columns_plan(schema, left, relation) if self.plan_.kind == "words" else None
        if steps is not None:
            counted = partial(word_counts, X, codes, schema.n_classes)
            options: dict[str, Any] = {"relation": relation, "rng": noise["rng"], "counted": counted, "steps": steps}
            choice = choose_features(None, np.zeros(0, dtype=np.intp), schema, left, **options)
            self._spent_before["choice of columns"] = (left - choice.epsilon_left, math.nan)
            left = choice.epsilon_left
            if choice.few:
                layout = layout.of_columns(choice.mask)
                self.plan_ = default_plan(schema.subset(choice.mask), left, n, **rule)
        if self.plan_.kind == "table":
            return release_table(layout, X, codes, self.plan_, left, relation=relation, **noise)[0]
        if self.plan_.kind == "words":
            return release_words(X, codes, schema, left, look=self.plan_.look, relation=relation, **noise)
        return self._fit_mixed(X, codes, schema, left, noise["rng"])

    def _model(self, released: Any, table: CheckedTable) -> None:
        for name in ("estimator_", "_model_of_table", "_linear"):
            self.__dict__.pop(name, None)  # an earlier fit may have chosen another method
        if self.plan_.kind == "table":
            self._model_of_table = released
            parts = ["grid"] * (self.plan_.grid_share > 0) + [self.plan_.addition] * (self.plan_.addition != "none")
            self.method_ = " and ".join(parts)
            warn_of_crowded(released.heaviest_bins())
        elif self.plan_.kind == "words":
            self._linear, self.method_ = released, "words"
        else:
            self.estimator_, self.method_ = released, "naive-bayes"

    def _fit_mixed(self, X: Any, codes: Any, schema: Schema, epsilon: float, rng: Any) -> Any:
        """Fit another classifier of the library, which the charge of this fit covers."""
        facts: dict[str, Any] = {"schema": schema, "relation": self.relation, "release": self.release}
        facts |= {"random_state": rng, "on_invalid": self.on_invalid}
        inner_budget = Budget(epsilon, relation=self.relation)
        held = MixedNB(epsilon, **facts, budget=inner_budget)
        fitted = fit_with_inner_budget(held, [held], X, _labels(codes, schema), type(self).__name__)
        return fitted.set_params(random_state=None)

    # ---- post-processing ----------------------------------------------------------------------------------------

    def _log_probabilities(self, X: Any) -> FloatArray:
        if self.plan_.kind == "table":
            return self._model_of_table.log_probabilities(X)
        if self.plan_.kind == "words":
            scores = self._linear.decision(X)[0]
            if scores.shape[1] == 1:
                return np.column_stack([log_expit(-scores[:, 0]), log_expit(scores[:, 0])])
            return row_log_softmax(scores)
        return self.estimator_.predict_log_proba(X)

    def explain(self) -> pd.DataFrame:
        """Return a table of the parts of the fit and the share of ε that each part spent.

        Returns
        -------
        DataFrame
            One row for each part. The columns are ``part``, its ``epsilon``, its ``share`` of the whole ε,
            ``noise_scale`` and ``columns``. ``noise_scale`` is the scale of the Laplace noise on each number, cell or
            count. It is NaN for noise of another distribution. ``columns`` lists the columns of the part, and for a
            grid the number of groups that it distinguishes in each.

        Notes
        -----
        Privacy: no data is read. The table is computed from the plan, the schema and released values.

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
        return explained(self.plan_, model, self._spent_before, float(self.epsilon), self.relation)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores by which records can be ranked.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to score. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            For two classes, the log odds of the positive class. For more classes, the log probability of each class.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba


def _record_number(
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
    share = epsilon * LEAST_SHARE
    noisy = float(Source(**noise).counts(repeated(number_of(codes), 1), share, 1)[0])
    least = max(math.floor(noisy - LOWERED / share), 1)
    return float(min(least, 2**53)), rest_of(epsilon, share)


def _warn_equal(schema: Schema, plan: Plan) -> None:
    """Warn of numbers in bins of equal width alone, which schema and ε decide."""
    layout = Layout.from_schema(schema)
    counted = itertools.chain(*layout.counted(plan.least_numbers)) if plan.n_cells else ()
    numbers = set(layout.numbers).difference(counted)
    if schema.n_classes > MOST_CLASSES and numbers:
        warn(
            f"{len(numbers)} numbers get bins of equal width, for ε is too small to find better ones: values that are "
            "mostly small look alike. State Feature(cuts=...) or scale='log', or take more ε"
        )


@statistic
def _labels(codes: Any, schema: Schema) -> NDArray:
    return schema.class_labels[codes]


@statistic
def _dense_surplus(X: Any) -> FloatArray:
    """Return the number of records with many ones, less that of the others."""
    surplus = 0.0
    for part, _ in parts_of(X):
        many = np.asarray(part.sum(axis=1)).ravel() >= DENSE * part.shape[1]
        surplus += float(2 * many.sum() - len(many))
    return np.array([surplus])


def _is_dense(X: Any, epsilon: float, relation: str, noise: dict[str, Any]) -> tuple[bool, float]:
    """Return whether at least half of the records seem to have many ones, and the ε that is left.

    Privacy: `LEAST_SHARE` of ε, for noise on a number to which a record adds 1 or -1.
    """
    noisy = Source(**noise).counts(_dense_surplus(X), epsilon * LEAST_SHARE, FACTOR[relation])
    return bool(noisy[0] >= 0), rest_of(epsilon, epsilon * LEAST_SHARE)


COLUMNS = ["part", "epsilon", "share", "noise_scale", "columns"]


def explained(
    plan: Plan, model: TableModel | None, before: dict[str, tuple[float, float]], epsilon: float, relation: str
) -> pd.DataFrame:
    """Return a row for each part of a fit that has a share of ε. `before`: ε and noise scale of earlier looks."""
    left = epsilon - math.fsum(spent for spent, _ in before.values())
    rows: list[tuple[Any, ...]] = [(part, spent, scale, "") for part, (spent, scale) in before.items()]
    if model is None:
        rows.append(({"words": "words", "mixed": "naive Bayes"}[plan.kind], left, math.nan, "all"))
    else:
        rows += _parts(plan, model, left, FACTOR[relation])
    return pd.DataFrame([(part, spent, spent / epsilon, *rest) for part, spent, *rest in rows], columns=COLUMNS)


def _parts(plan: Plan, model: TableModel, epsilon: float, factor: int) -> list[tuple[Any, ...]]:
    layout, grid, rows = model.layout, model.grid, []
    for_bins, for_grid, for_rest = plan.divided(epsilon)
    if plan.n_cells:
        counted = layout.counted(plan.least_numbers)
        numbers = [layout.attributes[a].feature.name for domain in counted for a in domain]
        rows.append(("histograms", for_bins, factor * len(numbers) / for_bins, ", ".join(numbers)))
    if plan.grid_share:
        chosen = ((layout.everything[a], grid.levels[a]) for a in grid.attributes)
        names = ", ".join(f"{each.feature.name} ({each.taxonomy.sizes[level]})" for each, level in chosen)
        rows.append(("grid", for_grid, grid.scale, names))
    spans = zip(layout.attributes, layout.starts, layout.sizes, strict=True)
    added = [each for each, first, size in spans if model.additive.groups[:, first : first + size].any()]
    if plan.grid_share < 1 and (added or plan.addition == "weights"):
        rows.append((plan.addition, for_rest, math.nan, ", ".join(each.feature.name for each in added)))
    return rows
