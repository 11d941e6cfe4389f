"""Bernoulli naive Bayes: Antonova's Algorithm 1, its partitioned variant, and the row-bounded release.

Statistics: contingency counts (`dpml.counts`) or `contingency_of_partition`. Release: noisy counts. Models are
post-processing of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import as_generator, check_choice, check_integer, check_number, check_relation, check_rng
from dpml.claims import claim
from dpml.classifiers.linear_models import LinearModels, row_scores
from dpml.classifiers.naive_bayes.posterior import (
    PosteriorNB,
    check_shrinkage,
    log_probabilities_posterior,
    row_bounded_rates,
)
from dpml.counts import (
    FACTOR,
    Contingency,
    NoisyCounts,
    contingency,
    release_published,
    release_row_bounded,
    row_bounded_scales,
    stack_subsamples,
    subsample_of_draws,
)
from dpml.encoding import SHARE_GRID, columns_of, share_rows
from dpml.estimators.base import CheckedTable, check_binary, warn
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.private import n_columns, number_of, statistic
from dpml.mechanisms.source import Source
from dpml.parquet import BatchedTable
from dpml.schema import Schema
from dpml.selection.plan import choose_features


def attribute_weight(n_attributes: int) -> float:
    """Return the power to which the probabilities of each of A attributes are raised: min(1, 8/A).

    Naive Bayes assumes independent attributes. Real attributes are correlated, and the more there are, the more
    evidence is counted twice. By this public rule they count together for at most eight (docs/decisions/0004).
    """
    return min(1.0, 8.0 / max(n_attributes, 1))


def _log_odds_models(log_on: FloatArray, log_off: FloatArray, log_prior: FloatArray) -> LinearModels:
    """Turn class-conditional log probabilities (draws, C, D) into linear scores of the features."""
    coef = log_on - log_off
    intercept = log_prior + log_off.sum(axis=2)
    if coef.shape[1] == 2:
        coef, intercept = coef[:, 1:] - coef[:, :1], intercept[:, 1:] - intercept[:, :1]
    return LinearModels(coef, intercept)


def log_probabilities_published(
    counts: NoisyCounts, threshold: float, pseudocount: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log probabilities of on and off, and of the classes, from noisy counts."""
    assert counts.off is not None
    on, off = np.maximum(counts.on, threshold), np.maximum(counts.off, threshold)
    log_total = np.log(on + off + 2 * pseudocount)
    # A class count is the mean over features of on + off before the threshold, so that noise of both signs cancels.
    n = np.maximum((counts.on + counts.off).mean(axis=2), 0.0) + pseudocount
    log_prior = np.log(n / n.sum(axis=1, keepdims=True))
    return np.log(on + pseudocount) - log_total, np.log(off + pseudocount) - log_total, log_prior


def log_probabilities_row_bounded(
    counts: NoisyCounts, pseudocount: float, pooled: float, attributes: Iterable[list[int]] = ()
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log probabilities of on and off (draws, C, D) and of the classes (see `models_from_row_bounded`).

    The columns of an attribute are its categories: their probabilities add up to 1. A column that is off adds nothing,
    because the column that is on already states the category.
    """
    assert counts.n is not None
    n = np.maximum(counts.n, 0.0)
    on = np.clip(counts.on, 0.0, n[:, :, None])
    # `pooled` ones, shared by class size, and the number of zeros that matches them at the pooled rate of all classes
    share = n[:, :, None] / np.maximum(n.sum(axis=1), 1.0)[:, None, None]
    total = np.maximum(n.sum(axis=1), 2.0)[:, None, None]
    rate = np.clip(counts.on.sum(axis=1, keepdims=True), 1.0, total - 1) / total
    more_on = pseudocount + pooled * share * n.shape[1]
    more_off = pseudocount + pooled * share * n.shape[1] * (1 - rate) / rate
    log_total = np.log(n[:, :, None] + more_on + more_off)
    log_on = np.log(on + more_on) - log_total
    log_off = np.log(n[:, :, None] - on + more_off) - log_total
    for columns in attributes:
        cells = np.maximum(counts.on[:, :, columns], 0.0) + pseudocount + pooled * share * n.shape[1]
        log_on[:, :, columns] = np.log(cells / cells.sum(axis=2, keepdims=True))
        log_off[:, :, columns] = 0.0
    prior = n + pseudocount
    return log_on, log_off, np.log(prior / prior.sum(axis=1, keepdims=True))


def models_from_published(counts: NoisyCounts, threshold: float, pseudocount: float = 1.0) -> LinearModels:
    """Return the models of released on- and off-counts (Antonova 2016, Algorithm 1, lines 7 to 10). Post-processing.

    Noisy counts below `threshold` are raised to it, so that a count dominated by noise is the same for all classes.
    """
    return _log_odds_models(*log_probabilities_published(counts, threshold, pseudocount))


def attribute_weights(schema: Schema) -> FloatArray:
    """Return the weight of each column: `attribute_weight` in the columns of one-hot attributes, 1 elsewhere."""
    weights = np.ones(schema.n_features)
    for columns in schema.attributes.values():
        weights[columns] = attribute_weight(len(schema.attributes))
    return weights


def models_from_row_bounded(
    counts: NoisyCounts, pseudocount: float = 1.0, pooled: float = 0.0, schema: Schema | None = None
) -> LinearModels:
    """Return the models of released on-counts and class counts. Post-processing.

    Class counts below 0 are set to 0. On-counts are clipped to between 0 and their class count. With a `schema` the
    columns of each one-hot attribute become one categorical feature with the weight `attribute_weight`. A class of
    average size gets `pooled` ones at the pooled rate of all classes, which shrink counts dominated by noise towards
    it.
    """
    attributes = schema.attributes.values() if schema else ()
    log_on, log_off, prior = log_probabilities_row_bounded(counts, pseudocount, pooled, attributes)
    return _log_odds_models(log_on * attribute_weights(schema) if schema else log_on, log_off, prior)


def models_from_posterior(
    counts: NoisyCounts, schema: Schema, row_bound: int, scales: tuple[float, float], pseudocount: float = 1.0
) -> LinearModels:
    """Return the models of posterior mean rates, given released counts and the `scales` of their noise."""
    rates = row_bounded_rates(counts, schema, row_bound, scales, pseudocount)
    log_on, log_off, prior = log_probabilities_posterior(rates, schema.attributes.values())
    return _log_odds_models(log_on * attribute_weights(schema), log_off, prior)


def contingency_of_partition(
    X: Any, codes: Any, n_classes: int, *, subsamples: int = 1, rng: np.random.Generator
) -> Any:
    """Assign each record to one of D parts at random and independently, and count feature d in part d. Not private.

    Returns the number of records of each class whose feature is 1, and is 0, of shape (S, 2, C, D): one table for each
    of S independent assignments.
    """
    n, D = number_of(X), n_columns(X)
    tables, own = [], boundary.generator_of_parts(check_rng(rng))
    for _ in range(check_integer(subsamples, "subsamples", 1)):
        part = boundary.public_randomness(own, "integers", D, size=n)
        tables.append(_counts_of_parts(X, codes, n_classes, part))
    return stack_subsamples(tables)


@statistic
def _counts_of_parts(X: Any, codes: Any, n_classes: int, part: IntArray) -> FloatArray:
    """Count the feature of each record's part, shape (2, C, D)."""
    n, D = X.shape
    on = (sparse.csr_array(X) if sparse.issparse(X) else X)[np.arange(n), part]
    # without rows SciPy returns a sparse array instead of a dense one
    on = on.toarray() if sparse.issparse(on) else np.asarray(on)
    cell = ((on.ravel() == 0) * n_classes + codes) * D + part
    return np.bincount(cell, minlength=2 * n_classes * D).reshape(2, n_classes, D).astype(float)


def release_partitioned(
    counts: Any,
    epsilon: float,
    *,
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> NoisyCounts:
    """Release on- and off-counts of disjoint parts (Antonova 2016, section 3.4), each of shape (draws, C, D).

    The draws use the S assignments of `contingency_of_partition` in turn.

    Privacy: ε per draw. Derivation: a record's part does not depend on the other records, and the record adds 1 to one
    count of that part. So under add/remove the counts have L1 sensitivity 1, and noise of scale 1/ε is enough where
    Algorithm 1 needs D/ε. A replacement is one removal and one addition: the scale is 2/ε.
    """
    factor = FACTOR[check_relation(relation)]
    exact = subsample_of_draws(counts, check_integer(draws, "draws", 1))
    noisy = Source(rng, secure).counts(exact, epsilon, factor)
    return NoisyCounts(noisy[:, 0], off=noisy[:, 1])


SELECTIONS = ("auto", "none")
MISSING_NUMBER = (
    "the schema states no n_lower, so row_bound falls to 1, which costs accuracy: state a public lower bound on the "
    "number of records, as in Schema(..., n_lower=1000) or Schema.binary(D, n_lower=1000)"
)
METHODS = ("row-bounded", "published", "partitioned")


def default_row_bound(schema: Schema, epsilon: float) -> int:
    """Return the contribution bound of the project's public rule, the most ones that a record adds to the counts.

    A larger r adds more noise to each count, but shortens fewer records. The rule is r = ε·n_lower/(25·s), at least 1,
    where s is the schema's bound on the ones of a record. If s < D (one-hot attributes), r is at most s/7, rounded up:
    naive Bayes counts correlated attributes twice, and a smaller r reduces that (docs/decisions/0004).
    """
    most = schema.row_bound
    assert most is not None
    cap = most if most == schema.n_features else -(-most // 7)
    return int(np.clip(np.rint(epsilon * schema.n_lower / (25 * most)), 1, cap))


def default_shrinkage(schema: Schema) -> float:
    """Return the project's public rule for `shrinkage`: 0.5, or 0.1 where columns of one-hot attributes are missing."""
    whole = schema.row_bound == schema.n_features or sum(map(len, schema.attributes.values())) == schema.n_features
    return 0.5 if whole else 0.1


def default_class_share(n_features: int) -> float:
    """Return the value of the public rule for `class_share`: 0.1, or 0.3 for at most twenty features.

    The fewer features there are, the more a prediction depends on the class sizes (docs/decisions/0004).
    """
    return 0.1 if n_features > 20 else 0.3


def published_threshold(epsilon: float, n_features: int, percentile: float, relation: str = "add-remove") -> float:
    """Return the threshold of eq. 3.15 in Antonova (2016): a percentile of the Laplace noise that Algorithm 1 adds."""
    scale, p = Laplace(epsilon, FACTOR[relation] * n_features).scale, percentile / 100
    with np.errstate(divide="ignore"):
        return float(scale * np.log(2 * p) if p < 0.5 else -scale * np.log(2 * (1 - p)))


def _spread(log_probabilities: FloatArray, mask: BoolArray) -> FloatArray:
    """Return (draws, C, D) log probabilities from those of the kept features; the others get probability ½."""
    whole = np.full((*log_probabilities.shape[:2], mask.size), np.log(0.5))
    whole[:, :, mask] = log_probabilities
    return whole


@dataclass(frozen=True)
class _Released:
    """Noisy counts, the ε that they got, and for the row-bounded method the features that were kept and r."""

    noisy: NoisyCounts
    epsilon: float
    mask: BoolArray
    row_bound: int = 0


class _Records:
    """Checked private records in memory, and the statistics of them that a fit needs."""

    def __init__(self, X: Any, codes: Any, n_classes: int):
        self.X, self.codes, self.n_classes = X, codes, n_classes

    def counts(self) -> Contingency:
        return contingency(self.X, self.codes, self.n_classes)

    def shared_counts(self, row_bound: int, mask: BoolArray) -> Contingency:
        return contingency(share_rows(columns_of(self.X, mask), row_bound), self.codes, self.n_classes)


@claim(
    "nb-row-bounded",
    "Row-bounded naive Bayes",
    "derived here (docs/explanation/errata.md), with the row sampling of [stoddard2014]",
    options={"method": "row-bounded"},
)
@claim(
    "nb-row-bounded-clip",
    "Row-bounded naive Bayes, invalid input clipped",
    "derived here (docs/explanation/errata.md): more ones share the bound, a record whose label is no class is dropped",
    options={"method": "row-bounded"},
)
@claim(
    "nb-row-bounded-release",
    "Row-bounded naive Bayes, release",
    "the same with integer noise (OpenDP)",
    options={"method": "row-bounded"},
)
@claim(
    "nb-posterior",
    "Row-bounded naive Bayes, rates averaged over their posterior",
    "post-processing of the counts of nb-row-bounded, after [bernstein-sheldon2018]",
    options={"method": "row-bounded"},
)
@claim(
    "nb-selecting",
    "Row-bounded naive Bayes that chooses features first",
    "derived here: the choice and the counts share ε",
    options={"method": "row-bounded"},
)
@claim(
    "nb-published",
    "Naive Bayes by Algorithm 1",
    "[antonova2016], Algorithm 1",
    "ε under add/remove",
    options={"method": "published"},
)
@claim(
    "nb-partitioned",
    "Naive Bayes on disjoint parts",
    "[antonova2016], section 3.4 (cost derived here)",
    options={"method": "partitioned"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class BernoulliNB(PosteriorNB):
    """Bernoulli naive Bayes with differential privacy.

    It adds noise to the count of the records of each class, and to the count of those with each feature on. The model
    is computed from the noisy counts alone.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. By default, the noise on a count has a scale of about `row_bound`/ε records.
    release : bool, default False
        Add secure integer noise to the counts (`dpml.mechanisms.secure`, the extra ``release``), which forbids
        `random_state`. The learned attributes are then functions of integer noisy counts and public metadata only.
    method : {"row-bounded", "published", "partitioned"}, default "row-bounded"
        "row-bounded" needs far less noise than "published" for the same ε. "published" is Algorithm 1 of Antonova
        (2016), "partitioned" the strategy of its section 3.4.
    row_bound : int, optional
        Contribution bound r, at least 1: the most that a record adds to the on-counts, shared among its ones
        (row-bounded). A smaller r means less noise, but loses more of each record. By default the public rule
        `default_row_bound` decides by ε and the schema's `n_lower`. Choose it without looking at the records.
    pseudocount : float, default 1.0
        Number added to each count, above 0. Larger values make the classes more alike.
    threshold_percentile : float, default 65
        Percentile of the noise, in [50, 100). A noisy count below it is raised to it (published and partitioned).
    class_share : float, optional
        Share w of ε for the class counts (row-bounded), in (0, 1). The other counts get the share 1-w. By default the
        public rule `default_class_share` decides: 0.1, or 0.3 for at most twenty features.
    shrinkage : float or "posterior", optional
        Number of ones, in noise scales and at least 0, that each feature gets at the pooled rate of all classes
        (row-bounded). It is stated for a class of average size. This post-processing shrinks counts dominated by noise
        towards the pooled rate. By default the public rule `default_shrinkage` decides. With "posterior", rates are
        averaged over their posterior given the noisy counts (`dpml.classifiers.naive_bayes.posterior`), and
        `rates_interval` is available.
    selection : {"auto", "none"}, default "auto"
        "auto" may select features with a part of ε (row-bounded), which helps with many features and few records.
        "none" keeps all features, for example after a selector in a Pipeline.

    Attributes
    ----------
    feature_log_prob_ : ndarray of shape (C, D)
        Log probability that each feature is on, from noisy counts. For a one-hot attribute (row-bounded) it is the
        log probability of each category.
    class_log_prior_ : ndarray of shape (C,)
        Log probability of each class, from noisy counts.
    row_bound_ : int
        Contribution bound of the fit (row-bounded).
    selected_ : ndarray of bool, shape (D,)
        True for the features that the model uses (row-bounded).

    See Also
    --------
    MixedNB : Naive Bayes for binary, categorical and numeric columns.
    PrivatePredictionNB : Naive Bayes that releases labels and no model.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: in L1 norm, r for the on-counts and 1 for
    the class counts (row-bounded), D for the on-counts and off-counts together (published), 1 for these counts
    (partitioned), and twice these values under replace-one.

    - ``method="row-bounded"``: ε is split (1-w) : w between on-counts and class counts. A record with k > r ones adds
      r/k to each of the k counts.
    - ``method="published"``: each record adds 1 to the on-count or to the off-count of each of D features.
    - ``method="partitioned"``: each record is assigned to one feature and changes only the on-count or off-count of
      that feature.

    The guarantee requires that you choose `row_bound`, `pseudocount` and the other parameters without looking at the
    records.

    The row-bounded method treats a one-hot attribute whose columns are all present (`Schema.attributes`) as one
    categorical feature. More than eight attributes get a weight below 1, because attributes are often correlated. With
    ``selection="auto"`` a part of ε first decides whether a few features are enough, and selects them
    (`dpml.selection.choose_features`). The model ignores the other features. If records have far more than r ones, the
    model loses the number of ones of a record. If that number separates the classes, state a larger `row_bound`.

    References
    ----------
    Antonova (2016), Algorithm 1 and sections 3.3 and 3.4. The row-bounded release is this project's
    (docs/explanation/errata.md), after the row sampling of Stoddard et al. (section 3.2 there). The posterior is the
    third proposal of Antonova (2016), section 5, after Bernstein and Sheldon (2018).

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = BernoulliNB(epsilon=1.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    _takes_batches: ClassVar[bool] = True

    method: str = "row-bounded"
    row_bound: int | None = None
    pseudocount: float = 1.0
    threshold_percentile: float = 65
    class_share: float | None = None
    shrinkage: float | str | None = None
    selection: str = "auto"

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        if not isinstance(X, BatchedTable):
            return super()._check_table(X, y, schema)
        if self.method == "partitioned":
            raise InvalidParameter(
                "method", self.method, "'row-bounded' or 'published' for a table that is read in batches"
            )
        records = X.stating(schema, "clip" if self.release else self.on_invalid, private=True)
        if records.on_invalid == "raise":
            for _ in records.batches():  # what is not valid is refused before the charge
                pass
        records.read_again()
        return self._checked_table(records, None, schema, True, as_generator(self.random_state))

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_choice(self.selection, "selection", SELECTIONS)
        check_number(self.pseudocount, "pseudocount", 0.0, open_lower=True)
        if self.shrinkage is not None:
            check_shrinkage(self.shrinkage, method=self.method, counted="row-bounded")
        check_number(self.threshold_percentile, "threshold_percentile", 50.0, 100.0, open_upper=True)
        if self.row_bound is not None and self.method == "row-bounded":
            check_integer(self.row_bound, "row_bound", 1)

    def _check_schema(self, schema: Schema) -> Schema:
        if self.method == "row-bounded" and self.row_bound is None and schema.n_lower == 1:
            warn(MISSING_NUMBER)
        return check_binary(schema)

    def _costs(self, schema: Schema) -> dict[str, float]:
        return {f"BernoulliNB, {self.method}": self.epsilon}

    # ---- statistics, release and model ------------------------------------------------------------------------------

    def _statistics(self, table: CheckedTable) -> Any:
        """Return exact counts; for the row-bounded method the records, because r may follow from a choice."""
        records = table.X
        if not isinstance(records, BatchedTable):
            records = _Records(records, table.codes, table.schema.n_classes)
        if self.method == "published":
            return records.counts()
        if self.method == "partitioned":
            return contingency_of_partition(table.X, table.codes, table.schema.n_classes, rng=table.rng)
        return records

    def _release(self, statistics: Any, table: CheckedTable) -> _Released:
        epsilon, D = float(self.epsilon), table.schema.n_features
        mask = np.ones(D, dtype=bool)
        facts: dict[str, Any] = {"relation": self.relation, **table.noise}
        if self.method == "published":
            return _Released(release_published(statistics, epsilon, **facts), epsilon, mask)
        if self.method == "partitioned":
            return _Released(release_partitioned(statistics, epsilon, **facts), epsilon, mask)
        if self.selection == "auto":
            options: Any = {"relation": self.relation, "rng": table.noise.get("rng"), "counted": statistics.counts}
            choice = choose_features(None, np.zeros(0, dtype=np.intp), table.schema, epsilon, **options)
            epsilon, mask = choice.epsilon_left, choice.mask
        kept = table.schema if mask.all() else table.schema.subset(mask)
        r = default_row_bound(kept, epsilon) if self.row_bound is None else min(self.row_bound, kept.n_features)
        facts["class_share"] = default_class_share(kept.n_features) if self.class_share is None else self.class_share
        exact = statistics.shared_counts(r, mask)
        return _Released(release_row_bounded(exact, epsilon, r, grid=SHARE_GRID, **facts), epsilon, mask, r)

    def _model(self, released: _Released, table: CheckedTable) -> None:
        schema, mask, pseudocount = table.schema, released.mask, float(self.pseudocount)
        self._weights, self._rates = np.ones(schema.n_features), ()
        if self.method == "row-bounded":
            self.row_bound_, self.selected_ = released.row_bound, mask
            kept = schema if mask.all() else schema.subset(mask)
            share = default_class_share(kept.n_features) if self.class_share is None else self.class_share
            options: dict[str, Any] = {"relation": self.relation, "class_share": share}
            shrinkage = default_shrinkage(kept) if self.shrinkage is None else self.shrinkage
            scales = row_bounded_scales(released.epsilon, released.row_bound, **options)
            attributes = kept.attributes.values()
            if isinstance(shrinkage, str):
                rates = row_bounded_rates(released.noisy, kept, released.row_bound, scales, pseudocount)
                self._rates = [([(name, 1) for name in kept.feature_names], rates[0])]
                logs = log_probabilities_posterior(rates, attributes)
            else:
                logs = log_probabilities_row_bounded(released.noisy, pseudocount, shrinkage * scales[0], attributes)
            log_on, log_off, log_prior = logs
            if mask.all():
                self._weights = attribute_weights(schema)
            else:
                log_on, log_off = (_spread(values, mask) for values in (log_on, log_off))
        else:
            width = schema.n_features if self.method == "published" else 1
            percentile = float(self.threshold_percentile)
            threshold = published_threshold(released.epsilon, width, percentile, self.relation)
            log_on, log_off, log_prior = log_probabilities_published(released.noisy, threshold, pseudocount)
        self.feature_log_prob_ = log_on[0]
        self.class_log_prior_ = log_prior[0]
        self._feature_log_off = log_off[0]

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        coef = self.feature_log_prob_ * self._weights - self._feature_log_off
        return row_scores(X, coef) + (self.class_log_prior_ + self._feature_log_off.sum(axis=1))
