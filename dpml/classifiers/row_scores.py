"""Records times weights, where the score of a record depends on that record alone, to the bit.

A matrix product adds in an order that depends on the whole table: one more record changes the last bits of the scores
of others. At a tie on a threshold such a bit moves a record to another bin, so a release of counts of scores would cost
more than its claim, which holds where all other records keep their scores. Here all sums are added by operations on
single elements, in an order that only the number of columns decides.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml.encoding import canonical_rows

FloatArray = NDArray[np.float64]
# products of one block of records with the weights: 256 KB, which fits a processor's cache
BLOCK_CELLS = 1 << 15


def row_scores(X: Any, coef: FloatArray) -> FloatArray:
    """Return ``X @ coef.T``, shape (..., n, K), for coefficients of shape (..., K, D).

    Each score depends on its record and its weights alone, not on the other records of the table. Dense records are
    added in pairs, then pairs of pairs, so that the rounding error grows with log D. Sparse ones are added from the
    first column to the last.
    """
    *models, D = coef.shape
    rows = coef.reshape(math.prod(models), D)
    with np.errstate(all="ignore"):
        # SciPy's product goes row by row
        scores = np.asarray(canonical_rows(X) @ rows.T).T if sparse.issparse(X) else _dense(np.asarray(X), rows)
    return np.ascontiguousarray(np.swapaxes(scores.reshape(*models, scores.shape[1]), -1, -2))


def _dense(X: NDArray, rows: FloatArray) -> FloatArray:
    """Return the scores by each row of weights, shape (rows, n)."""
    scores = np.zeros((len(rows), len(X)))
    step = max(BLOCK_CELLS // max(X.shape[1], 1), 1)
    for start in range(0, len(X) if X.shape[1] else 0, step):
        block = np.array(X[start : start + step].T, dtype=float, order="C")
        products = np.empty_like(block)
        for score, weights in zip(scores, rows, strict=True):
            np.multiply(block, weights[:, None], out=products)
            width = len(block)
            while width > 1:
                half = width // 2
                products[:half] += products[width - half : width]
                width -= half
            score[start : start + step] = products[0]
    return scores


def row_log_softmax(scores: FloatArray) -> FloatArray:
    """Return log probabilities with odds exp(score), shape (n, C). The probabilities of a row add up to 1."""
    shifted, exponentials = _exponentials(scores)
    with np.errstate(all="ignore"):
        return shifted - np.log(_row_sums(exponentials))


def row_softmax(scores: FloatArray) -> FloatArray:
    """Return probabilities with odds exp(score), shape (n, C). Rows add up to 1."""
    _, exponentials = _exponentials(scores)
    return exponentials / _row_sums(exponentials)


def _exponentials(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return scores less their finite maximum, and their exponentials, in one layout."""
    top = np.max(scores, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        shifted = np.ascontiguousarray(scores - np.where(np.isfinite(top), top, 0.0))
        return shifted, np.exp(shifted)


def _row_sums(values: FloatArray) -> FloatArray:
    """Return the sums of rows, shape (n, 1), added from the first column on: NumPy's order depends on the layout."""
    total = values[:, 0].copy()
    for column in values.T[1:]:
        total += column
    return total[:, None]
