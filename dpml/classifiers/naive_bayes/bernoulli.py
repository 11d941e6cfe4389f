"""Private Bernoulli naive Bayes: the thesis' Algorithm 1, and the row-bounded release, which needs far less noise.

Statistics: contingency counts (`dpml.counts`). Release: noisy counts. Model: `models_from_row_bounded` and
`models_from_published`, which are post-processing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import charge
from dpml.classifiers._base import NaiveBayes
from dpml.classifiers.naive_bayes.bernoulli_models import (
    attribute_weights,
    log_probabilities_published,
    log_probabilities_row_bounded,
    models_from_published,
    models_from_row_bounded,
)
from dpml.classifiers.naive_bayes.partition import contingency_of_partition, release_partitioned
from dpml.classifiers.row_scores import row_scores
from dpml.counts import (
    FACTOR,
    Contingency,
    contingency,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.encoding import SHARE_GRID, columns_of, share_rows
from dpml.exceptions import FactWarning, InvalidParameter
from dpml.mechanisms import Laplace
from dpml.mechanisms.secure import check_release
from dpml.parquet import ParquetTable
from dpml.schema import Schema, resolve_schema
from dpml.selection.plan import choose_features

__all__ = [
    "BernoulliNB",
    "default_class_share",
    "default_row_bound",
    "default_shrinkage",
    "models_from_published",
    "models_from_row_bounded",
]

SELECTIONS = ("auto", "none")
MISSING_NUMBER = (
    "the schema states no n_lower, so row_bound falls to 1, which costs accuracy: state a public lower bound on the "
    "number of records, as in Schema(..., n_lower=1000) or Schema.binary(D, n_lower=1000)"
)
METHODS = ("row-bounded", "published", "partitioned")
FloatArray = NDArray[np.float64]


def default_row_bound(schema: Schema, epsilon: float) -> int:
    """Return the project's public rule for the number of ones a record keeps.

    A larger r means more noise on each count, but less signal lost by cutting records. The rule is
    r = ε·n_lower/(25·s), at least 1, where s is the schema's row bound. Where s < D (one-hot attributes), r is at most
    s/7, rounded up: naive Bayes counts correlated attributes twice, and cutting reduces that. The rule uses public
    facts only (docs/decisions/0004).
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
    """Return the project's public rule for `class_share`: 0.1, or 0.3 for at most twenty features.

    The fewer features there are, the more a prediction depends on the class sizes (docs/decisions/0004).
    """
    return 0.1 if n_features > 20 else 0.3


def published_threshold(epsilon: float, n_features: int, percentile: float, relation: str = "add-remove") -> float:
    """Return the threshold of eq. 3.15 in the thesis: a percentile of the Laplace noise that Algorithm 1 adds."""
    return float(Laplace(epsilon, FACTOR[relation] * n_features).quantile(percentile / 100))


def _spread(log_probabilities: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
    """Return (draws, C, D) log probabilities from those of the kept features; the others get probability ½."""
    whole = np.full((*log_probabilities.shape[:2], mask.size), np.log(0.5))
    whole[:, :, mask] = log_probabilities
    return whole


class _Records:
    """Checked private records in memory, and the statistics of them that a fit needs."""

    def __init__(self, X: Any, codes: Any, n_classes: int):
        self.X, self.codes, self.n_classes = X, codes, n_classes

    def counts(self) -> Contingency:
        return contingency(self.X, self.codes, self.n_classes)

    def shared_counts(self, row_bound: int, mask: NDArray[np.bool_]) -> Contingency:
        return contingency(share_rows(columns_of(self.X, mask), row_bound), self.codes, self.n_classes)


def _check_binary(schema: Schema) -> None:
    if not schema.is_binary:
        kinds = [f.name for f in schema.features if f.kind != "binary"]
        raise InvalidParameter("schema", f"feature {kinds[0]!r} that is not binary", "binary in every feature")


@dataclass(eq=False, repr=False, kw_only=True)
class BernoulliNB(NaiveBayes):
    """Naive Bayes for binary features with differential privacy.

    Released: noisy counts of the records of each class, and of those with each feature on. The model is computed from
    them alone.

    Privacy: ε per fit, for `relation`. ``method="row-bounded"``: on-counts have L1 sensitivity r = `row_bound`,
    class counts 1 (twice that under replace-one); ε is split (1-w) : w between them. A record with k > r ones adds
    r/k to each of the k counts. ``method="published"``: on- and off-counts have L1 sensitivity D (2D).
    ``method="partitioned"``: each record is assigned to one feature and changes only that feature's on- or off-count:
    sensitivity 1 (2). Parameters such as `row_bound` and `pseudocount` must be chosen without looking at the data.

    The row-bounded method treats a one-hot attribute whose columns are all present (`Schema.attributes`) as one
    categorical feature. More than eight attributes get a weight below 1, because attributes are often correlated. With
    ``selection="auto"`` a part of ε first decides whether a few features are enough, and which ones
    (`dpml.selection.choose_features`); the other features are ignored. Where records have far more than r ones, the
    model loses how many ones a record has. If that number separates the classes, state a larger `row_bound`.

    Parameters
    ----------
    method : {"row-bounded", "published", "partitioned"}
        "published" is the thesis' Algorithm 1, "partitioned" the strategy of its section 3.4.
    row_bound : int, optional
        r, the most that a record adds to the on-counts, shared among its ones (row-bounded). None: the project's
        public rule, `default_row_bound`.
    pseudocount : float
        Added to each count, > 0.
    threshold_percentile : float
        Percentile of the noise, in [50, 100). A noisy count below it is raised to it (published and partitioned).
    release : bool
        Add secure integer noise to the counts (`dpml.mechanisms.secure`, the extra ``release``); forbids
        `random_state`. The learned attributes are then functions of integer noisy counts and public facts only.
    class_share : float, optional
        Share w of ε for the class counts (row-bounded), in (0, 1). None: the project's public rule,
        `default_class_share`.
    shrinkage : float, optional
        Number of ones, in noise scales, that a class of average size gets for each feature at the pooled rate of all
        classes (row-bounded), >= 0. This post-processing shrinks counts dominated by noise towards the pooled rate.
        None: the project's public rule, `default_shrinkage`.
    selection : {"auto", "none"}
        "auto" may select features with a part of ε (row-bounded). "none" keeps all features, for example after a
        selector in a Pipeline.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    feature_log_prob_ : ndarray of shape (C, D)
        Log probability that each feature is on, from noisy counts. For a one-hot attribute (row-bounded) it is the
        log probability of each category.
    class_log_prior_ : ndarray of shape (C,)
        Log probability of each class, from noisy counts.
    row_bound_ : int
        The row bound that was used (row-bounded).
    selected_ : ndarray of bool, shape (D,)
        The features that were kept (row-bounded).

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, MissingExtra

    Notes
    -----
    Sources: the thesis, Algorithm 1, sections 3.3 and 3.4; the row-bounded release is this project's (docs/errata.md),
    after Stoddard et al.'s row sampling (section 3.2).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> X = (rng.random((1000, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int)
    >>> schema = Schema.binary(5, n_lower=1000)
    >>> model = BernoulliNB(epsilon=1.0, schema=schema, random_state=0).fit(X, y)
    >>> model.predict([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]).tolist()
    [1, 0]
    """

    method: str = "row-bounded"
    row_bound: int | None = None
    pseudocount: float = 1.0
    threshold_percentile: float = 65
    class_share: float | None = None
    shrinkage: float | None = None
    selection: str = "auto"

    def fit(self, X: Any, y: Any) -> BernoulliNB:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Binary features; a DataFrame's columns are looked up in the schema by name.
        y : array of shape (n,)
            Labels among the schema's classes.
        """
        X = self._enter(X)
        self._check()
        schema = resolve_schema(self.schema, X)
        _check_binary(schema)
        rng = as_generator(self.random_state)
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = self._private_records(schema, X, y)
        return self._fit(_Records(X, codes, schema.n_classes), schema, named, rng)

    def fit_parquet(self, table: ParquetTable) -> BernoulliNB:
        """Fit to private records in Parquet files, which are read batch by batch.

        The model equals, bit for bit, that of `fit` with the same `random_state` to the same records in memory. ε is
        the same too. ``method="partitioned"`` is not offered.

        Parameters
        ----------
        table : dpml.parquet.ParquetTable
            Its own schema counts if the estimator has none; `on_invalid` is the estimator's.
        """
        self._enter(np.zeros((0, 1)))
        self._check()
        if not isinstance(table, ParquetTable):
            raise InvalidParameter("table", type(table).__name__, "a dpml.parquet.ParquetTable")
        if self.method == "partitioned":
            raise InvalidParameter("method", self.method, "'row-bounded' or 'published' for a table in Parquet")
        schema = table.facts if self.schema is None else resolve_schema(self.schema, None)
        rng = as_generator(self.random_state)
        on_invalid = "clip" if self.release else self.on_invalid
        records = replace(table, schema=schema, on_invalid=on_invalid, private=True)
        return self._fit(records, schema, True, rng)

    def _check(self) -> None:
        """Check all parameters but the schema."""
        check_epsilon(self.epsilon)
        check_choice(self.method, "method", METHODS)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        check_choice(self.selection, "selection", SELECTIONS)
        check_relation(self.relation)
        check_number(self.pseudocount, "pseudocount", 0.0, open_lower=True)
        if self.shrinkage is not None:
            check_number(self.shrinkage, "shrinkage", 0.0)
        check_number(self.threshold_percentile, "threshold_percentile", 50.0, 100.0, open_upper=True)
        if self.release:
            check_release(self.random_state)

    def _fit(
        self, records: _Records | ParquetTable, schema: Schema, named: bool, rng: np.random.Generator
    ) -> BernoulliNB:
        """Release the counts of checked records and learn from them."""
        epsilon, relation, pseudocount = check_epsilon(self.epsilon), self.relation, float(self.pseudocount)
        percentile = float(self.threshold_percentile)
        # A release has no seed, so the system's entropy seeds this generator. It assigns records to parts, one by one;
        # the privacy does not rest on these numbers being secret.
        noise: Any = {"secure": True} if self.release else {"rng": rng}
        D = schema.n_features
        kept = schema
        if self.method == "published":
            exact = records.counts()
            charge(self.budget, relation, epsilon, label="BernoulliNB, published")
            noisy = release_published(exact, epsilon, relation=relation, **noise)
            threshold = published_threshold(epsilon, D, percentile, relation)
            log_on, log_off, log_prior = log_probabilities_published(noisy, threshold, pseudocount)
        elif self.method == "partitioned":
            assert isinstance(records, _Records)
            parts = contingency_of_partition(records.X, records.codes, schema.n_classes, rng=rng)
            charge(self.budget, relation, epsilon, label="BernoulliNB, partitioned")
            noisy = release_partitioned(parts, epsilon, relation=relation, **noise)
            threshold = published_threshold(epsilon, 1, percentile, relation)
            log_on, log_off, log_prior = log_probabilities_published(noisy, threshold, pseudocount)
        else:
            if self.row_bound is not None:
                check_integer(self.row_bound, "row_bound", 1)
            elif schema.n_lower == 1:
                warnings.warn(MISSING_NUMBER, FactWarning, stacklevel=3)
            charge(self.budget, relation, epsilon, label="BernoulliNB, row-bounded")
            mask = np.ones(D, dtype=bool)
            if self.selection == "auto":
                secure_rng = None if self.release else rng
                options: Any = {"relation": relation, "rng": secure_rng, "counted": records.counts}
                choice = choose_features(None, np.zeros(0, dtype=np.intp), schema, epsilon, **options)
                epsilon, mask = choice.epsilon_left, choice.mask
                kept = schema if mask.all() else schema.subset(mask)
            r = default_row_bound(kept, epsilon) if self.row_bound is None else min(self.row_bound, kept.n_features)
            exact = records.shared_counts(r, mask)
            share = default_class_share(kept.n_features) if self.class_share is None else self.class_share
            shared: Any = {"relation": relation, "class_share": share}
            noisy = release_row_bounded(exact, epsilon, r, grid=SHARE_GRID, **shared, **noise)
            shrinkage = default_shrinkage(kept) if self.shrinkage is None else self.shrinkage
            pooled = shrinkage * row_bounded_scales(epsilon, r, **shared)[0]
            attributes = kept.attributes.values()
            log_on, log_off, log_prior = log_probabilities_row_bounded(noisy, pseudocount, pooled, attributes)
            if not mask.all():
                log_on, log_off = (_spread(values, mask) for values in (log_on, log_off))
            self.row_bound_, self.selected_ = r, mask
        self._learned_facts(schema, named)
        self.feature_log_prob_ = log_on[0]
        self.class_log_prior_ = log_prior[0]
        self._feature_log_off = log_off[0]
        categorical = self.method == "row-bounded" and kept is schema
        self._weights = attribute_weights(schema) if categorical else np.ones(D)
        return self

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        coef = self.feature_log_prob_ * self._weights - self._feature_log_off
        return row_scores(X, coef) + (self.class_log_prior_ + self._feature_log_off.sum(axis=1))
