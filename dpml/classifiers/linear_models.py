"""Scores of linear models, of naive Bayes too, in which a record's score depends on that record alone, to the bit.

A matrix product adds in an order that depends on the whole table: one more record changes the last bits of the scores
of others. At a tie on a threshold such a bit moves a record to another bin, so a release of counts of scores would cost
more than its claim, which holds where all other records keep their scores. `row_scores` and the softmax functions add
by operations on single elements, in an order that only the number of columns decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._arrays import FloatArray
from dpml.encoding import canonical_rows

# products of one block of records with the weights: 256 KB, which fits a processor's cache
PRODUCT_CELLS = 1 << 15


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
    step = max(PRODUCT_CELLS // max(X.shape[1], 1), 1)
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


# Cells of one block of decision values; small enough to stay in the processor's cache between product and count.
BLOCK_CELLS = 1 << 18


@dataclass(frozen=True)
class LinearModels:
    """`draws` linear classifiers over the same features: released weights, or exact ones in a simulation.

    `coef` of shape (draws, K, D): K = 1 for two classes (the log-odds of class 1), else K = C class scores. `intercept`
    of shape (draws, K).
    """

    coef: FloatArray
    intercept: FloatArray

    @property
    def draws(self) -> int:
        """Number of models."""
        return self.coef.shape[0]

    def spread(self, features: NDArray[np.intp], n_total: int) -> LinearModels:
        """Return models over `n_total` columns. Columns outside `features`, of shape (draws, T), get the weight 0."""
        coef = np.zeros((*self.coef.shape[:2], n_total))
        np.put_along_axis(coef, np.broadcast_to(features[:, None, :], self.coef.shape), self.coef, axis=2)
        return LinearModels(coef, self.intercept)

    def decision(self, X: Any) -> FloatArray:
        """Return decision values of shape (draws, n, K). Each depends on its record and model alone (`row_scores`)."""
        return row_scores(X, self.coef) + self.intercept[:, None, :]

    def predicted(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each record by each model, shape (draws, n), which no other record changes."""
        decision = self.decision(X)
        return (decision[:, :, 0] > 0).astype(np.intp) if decision.shape[2] == 1 else decision.argmax(axis=2)

    def accuracy(self, X: Any, codes: NDArray[np.intp]) -> FloatArray:
        """Return the accuracy of each model on records, shape (draws,), for simulations.

        Matrix products make it fast for many models. At a tie their rounding depends on the other records. A release
        counts by `predicted`.

        Records are processed in blocks, so that the decision values of a thousand models fit in memory.
        """
        if not len(codes):
            raise ValueError("accuracy needs at least one record")
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        correct = np.zeros(self.draws)
        rows = max(BLOCK_CELLS // max(self.coef.shape[0] * self.coef.shape[1], 1), 64)
        if self.coef.shape[1] == 1:
            used = np.flatnonzero(self.coef.any(axis=(0, 1)))
            coef, bound, second = np.ascontiguousarray(self.coef[:, 0, used]), -self.intercept, codes == 1
            columns = used if len(used) < X.shape[1] else slice(None)
            for start in range(0, X.shape[0], rows):
                block = slice(start, start + rows)
                correct += ((coef @ X[block][:, columns].T > bound) == second[block]).sum(axis=1)
        else:
            for start in range(0, X.shape[0], rows):
                predicted = self.decision(X[start : start + rows]).argmax(axis=2)
                correct += (predicted == codes[start : start + rows]).sum(axis=1)
        return correct / len(codes)

    def auc(self, X: Any, codes: NDArray[np.intp]) -> FloatArray:
        """Return each model's AUC (two classes), shape (draws,), or NaN if a class is absent."""
        from scipy.stats import rankdata

        positives = int((codes == 1).sum())
        negatives = len(codes) - positives
        if not positives or not negatives:
            return np.full(self.draws, np.nan)
        ranks = rankdata(self.decision(X)[:, :, 0], axis=1)
        return (ranks[:, codes == 1].sum(axis=1) - positives * (positives + 1) / 2) / (positives * negatives)
