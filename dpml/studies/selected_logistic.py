"""Features chosen, then logistic regression on them: many draws, with few passes over all records."""

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.special import expit

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_integer
from dpml.classifiers.linear import linear_models, minimiser, release_output
from dpml.classifiers.linear_models import LinearModels
from dpml.datasets import Dataset
from dpml.encoding import unit_scale
from dpml.exceptions import InvalidParameter
from dpml.studies.accuracy import SelectedStudy

# the gradient's norm at which a fit ends: it adds 0.2 % to the noise, and moves the weights by far less than that does
TOLERANCE = 1e-3
NEWTON_STEPS = 20
# groups are numbered anew, without those that no record is in, where there would be more numbers than these
SPARE = 1 << 12


class SelectedLogisticStudy(SelectedStudy):
    """Select T features privately, then train logistic regression on them.

    The exponential mechanism selects a mask, and output perturbation makes the weights private. Selected columns are
    binary, so equal records are counted together, and a fit takes Newton steps on the groups. Each selection is fitted
    once, for any number of draws.

    Parameters
    ----------
    dataset : Dataset
        Data set of two classes.
    score : str, default="count"
        Kind of score, as in `dpml.selection.scores`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.

    See Also
    --------
    SelectedNBStudy : Study of naive Bayes on selected features.
    LogisticStudy : Study on all features.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> study = SelectedLogisticStudy(load("toy"))
    >>> study(3.0, draws=8, masks=4, n_features=5, reg_lambda=5.0, rng=np.random.default_rng(0))["accuracy"].shape
    (8,)
    """

    def __init__(self, dataset: Dataset, score: str = "count", *, relation: str = "add-remove"):
        super().__init__(dataset, score, relation=relation)
        if self.schema.n_classes > 2:
            raise InvalidParameter("dataset", dataset.name, "one of two classes")
        self._train, self._codes = dataset.X_train, dataset.y_train

    @cached_property
    def _columns(self) -> Any:
        X = self._train
        return X.tocsc() if sparse.issparse(X) else np.ascontiguousarray(np.asarray(X).T.astype(bool))

    def models(
        self, epsilon, *, draws, rng, n_features, selection_share=0.5, reg_lambda=1.0, masks=None
    ) -> LinearModels:
        """Return private models on selected features.

        Parameters
        ----------
        epsilon : float
            Privacy budget of one model, finite and greater than 0.
        draws : int
            Number of models, at least 1.
        rng : numpy.random.Generator
            Source of the noise.
        n_features : int
            Number T of features to select.
        selection_share : float, default=0.5
            Share of ε for the selection, in (0, 1).
        reg_lambda : float, default=1.0
            Strength λ of the regulariser, greater than 0.
        masks : int, optional
            Number of selections that the draws use in turn. By default each draw has its own.

        Returns
        -------
        LinearModels
            The private models, one for each draw.
        """
        n_masks = draws if masks is None else min(check_integer(masks, "masks", 1), draws)
        chosen, rest = self.choose(epsilon, n_features, selection_share, draws=n_masks, rng=rng)
        theta = np.empty((draws, chosen.shape[1] + 1))
        weights: dict[bytes, FloatArray] = {}
        options: dict[str, Any] = {"relation": self.relation, "tolerance": TOLERANCE, "rng": rng}
        for mask, features in enumerate(chosen):
            key = features.tobytes()
            if key not in weights:
                weights[key] = self.minimiser(features, reg_lambda)
            mine = slice(mask, None, n_masks)
            number = len(theta[mine])
            theta[mine] = release_output(weights[key], rest, reg_lambda, draws=number, **options)
        features = chosen[np.arange(draws) % n_masks]
        return linear_models(theta, self._bound(features.shape[1])).spread(features, self.schema.n_features)

    def minimiser(self, features: IntArray, reg_lambda: float) -> FloatArray:
        """Return the weights without noise on some features.

        Parameters
        ----------
        features : ndarray of int
            Positions of the T features.
        reg_lambda : float
            Strength λ of the regulariser, greater than 0.

        Returns
        -------
        ndarray of shape (T + 1,)
            Weights, the intercept last.
        """
        rows, total, positive = self._groups(features)
        X = np.hstack([rows, np.ones((len(rows), 1))]) / math.sqrt(self._bound(len(features)) + 1)
        theta = np.zeros(X.shape[1])
        for _ in range(NEWTON_STEPS):
            p = expit(X @ theta)
            gradient = (total * p - positive) @ X + reg_lambda * theta
            if np.linalg.norm(gradient) <= TOLERANCE:
                return theta
            hessian = (X * (total * p * (1 - p))[:, None]).T @ X
            hessian.flat[:: len(hessian) + 1] += reg_lambda
            # λ makes it positive definite
            theta -= lapack.dposv(hessian, gradient)[1]
        # plain Newton steps may leave a table of separable classes; these do not
        counts = np.concatenate([positive, total - positive]).astype(int)
        records = np.repeat(np.vstack([rows, rows]), counts, axis=0)
        signs = np.repeat(np.repeat([1.0, -1.0], len(rows)), counts)
        return minimiser(unit_scale(records, self._bound(len(features))), signs, reg_lambda, tolerance=TOLERANCE)

    def _bound(self, n_features: int) -> int:
        return min(n_features, self.schema.row_bound)

    def _groups(self, features: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the different records on some features, how many there are of each, and of the second class."""
        columns = self._columns
        columns = columns[:, features].toarray().T != 0 if sparse.issparse(columns) else columns[features]
        group, n_groups, n_different = np.zeros(columns.shape[1], dtype=np.int32), 1, 0
        for column in columns:
            if n_groups > max(SPARE, n_different):
                # numbers that no record has are left out
                there = np.bincount(group, minlength=n_groups) > 0
                group = (np.cumsum(there, dtype=np.int32) - 1)[group]
                n_groups = n_different = int(there.sum())
            group <<= 1
            group |= column
            n_groups *= 2
        # of each group, any of its records
        record = np.zeros(n_groups, dtype=np.intp)
        record[group] = np.arange(len(group))
        group <<= 1
        group |= self._codes
        first, second = np.bincount(group, minlength=2 * n_groups).reshape(-1, 2).T
        kept = np.flatnonzero(first + second)
        total, positive = (number[kept].astype(float) for number in (first + second, second))
        return columns[:, record[kept]].T.astype(float), total, positive
