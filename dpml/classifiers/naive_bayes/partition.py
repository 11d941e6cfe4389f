"""Antonova's partitioning strategy (section 3.4): each record trains the parameters of one feature only.

Statistics: `contingency_of_partition`. Release: `release_partitioned`. The model is Algorithm 1's.
"""

from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_integer, check_relation, check_rng
from dpml.counts import FACTOR, NoisyCounts, in_turn, stacked
from dpml.mechanisms import boundary
from dpml.mechanisms.private import n_columns, number_of, statistic
from dpml.mechanisms.source import Source


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
    return stacked(tables)


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
    exact = in_turn(counts, check_integer(draws, "draws", 1))
    noisy = Source(rng, secure).counts(exact, epsilon, factor)
    return NoisyCounts(noisy[:, 0], off=noisy[:, 1])
