"""A batch of linear models. Naive Bayes on binary features and logistic regression both have this form.

Everything here is post-processing of released values. `decision`, `accuracy` and `auc` also use test records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml.classifiers.row_scores import row_scores

# Cells of one block of decision values; small enough to stay in the processor's cache between product and count.
BLOCK_CELLS = 1 << 18


@dataclass(frozen=True)
class LinearModels:
    """`draws` linear classifiers over the same features.

    `coef` of shape (draws, K, D): K = 1 for two classes (the log-odds of class 1), else K = C class scores. `intercept`
    of shape (draws, K).
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @property
    def draws(self) -> int:
        """Number of models."""
        return self.coef.shape[0]

    def spread(self, features: NDArray[np.intp], n_total: int) -> LinearModels:
        """Return models over `n_total` columns. Columns outside `features`, of shape (draws, T), get the weight 0."""
        coef = np.zeros((*self.coef.shape[:2], n_total))
        np.put_along_axis(coef, np.broadcast_to(features[:, None, :], self.coef.shape), self.coef, axis=2)
        return LinearModels(coef, self.intercept)

    def decision(self, X: Any) -> NDArray[np.float64]:
        """Return decision values of shape (draws, n, K). Each depends on its record and model alone (`row_scores`)."""
        return row_scores(X, self.coef) + self.intercept[:, None, :]

    def predicted(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each record by each model, shape (draws, n), which no other record changes."""
        decision = self.decision(X)
        return (decision[:, :, 0] > 0).astype(np.intp) if decision.shape[2] == 1 else decision.argmax(axis=2)

    def accuracy(self, X: Any, codes: NDArray[np.intp]) -> NDArray[np.float64]:
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

    def auc(self, X: Any, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return each model's AUC (two classes), shape (draws,), or NaN if a class is absent."""
        from scipy.stats import rankdata

        positives = int((codes == 1).sum())
        negatives = len(codes) - positives
        if not positives or not negatives:
            return np.full(self.draws, np.nan)
        ranks = rankdata(self.decision(X)[:, :, 0], axis=1)
        return (ranks[:, codes == 1].sum(axis=1) - positives * (positives + 1) / 2) / (positives * negatives)
