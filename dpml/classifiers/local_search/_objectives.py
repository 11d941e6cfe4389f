"""Objectives of the private search for weights: sums of losses at and around a point, and public bounds.

The objective is J(θ) = Σ_i l(s_i θ·x_i), with s_i in {-1, +1} and entries of x_i in [-1, 1]. `Records` holds exact
data, and its methods are statistics: private where the data are. Everything else depends on public metadata alone:
candidates, steps and the most ones of a record.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_integer
from dpml.exceptions import InvalidData
from dpml.mechanisms.private import is_private, n_columns, number_of, statistic

LOSSES = ("logistic", "hinge")


def loss_value(loss: str, margins: Any) -> FloatArray:
    """Return l(z): log(1 + exp(-z)), or max(0, 1 - z)."""
    z = np.asarray(margins, dtype=float)
    if loss == "hinge":
        return np.maximum(1.0 - z, 0.0)
    with np.errstate(over="ignore"):
        value = np.exp(-z)
    value = np.log(1.0 + value)
    return np.where(z < -36, -z, value)  # below -36 l(z) is -z up to rounding, and exp(-z) may be infinite


def drop(loss: str, margins: Any, step: Any) -> FloatArray:
    """Return l(z) - l(z + t), accurately for small t. |t| must be at most 50."""
    z = np.asarray(margins, dtype=float)
    if loss == "hinge":
        return np.maximum(1.0 - z, 0.0) - np.maximum(1.0 - z - step, 0.0)
    # (1 + exp(-z - t))/(1 + exp(-z)) = 1 + σ(-z)(exp(-t) - 1)
    return -np.log1p(expit(-z) * np.expm1(-np.asarray(step, dtype=float)))


def largest_score(theta: FloatArray, n_ones: int, numeric: BoolArray, intercept: bool) -> FloatArray:
    """Return the largest |θ·x| that any record can have, for θ of shape (..., D').

    A record has at most `n_ones` ones in binary columns, numbers in [-1, 1] and, with `intercept`, a last column of 1.
    """
    weights = theta[..., :-1] if intercept else theta
    constant = theta[..., -1] if intercept else np.zeros(theta.shape[:-1])
    numbers = np.abs(weights[..., numeric]).sum(axis=-1)
    binary = weights[..., ~numeric]
    ones = min(n_ones, binary.shape[-1])

    def most(w: FloatArray) -> FloatArray:
        w = np.maximum(w, 0.0)
        return (np.partition(w, -ones, axis=-1)[..., -ones:] if 0 < ones < w.shape[-1] else w[..., :ones]).sum(axis=-1)

    return numbers + np.maximum(most(binary) + constant, most(-binary) - constant)


@dataclass(frozen=True)
class _Table:
    """Exact records by row and by column. Its methods are statistics of it."""

    signs: FloatArray
    rows: Any  # the binary columns, by row
    columns: Any  # the same by column
    sums: Any  # their transpose: a product with it sums over the records with a one in each column
    numbers: FloatArray  # the other columns
    numeric: BoolArray
    intercept: bool

    @statistic
    def margins(self, theta: FloatArray) -> FloatArray:
        weights = theta[:, :-1] if self.intercept else theta
        scores = self.rows @ np.ascontiguousarray(weights[:, ~self.numeric].T)
        if self.numbers.shape[1]:
            scores += self.numbers @ weights[:, self.numeric].T
        if self.intercept:
            scores += theta[:, -1]
        scores *= self.signs[:, None]
        return scores

    @statistic
    def moved(self, margins: FloatArray, columns: IntArray, amounts: FloatArray) -> FloatArray:
        margins = margins.copy()
        where = np.cumsum(~self.numeric) - 1
        for draw, (j, amount) in enumerate(zip(columns, amounts, strict=True)):
            if not amount:
                continue
            if j == len(self.numeric):
                margins[:, draw] += amount * self.signs
            elif self.numeric[j]:
                margins[:, draw] += amount * self.signs * self.numbers[:, j - where[j] - 1]
            else:
                k = where[j]
                rows = self.columns.indices[self.columns.indptr[k] : self.columns.indptr[k + 1]]
                margins[rows, draw] += amount * self.signs[rows]
        return margins

    @statistic
    def gains(self, margins: FloatArray, step: float, loss: str) -> FloatArray:
        up, down = drop(loss, margins, step), drop(loss, margins, -step)
        # where x_j = 1, raising θ_j raises the margin of a record with s = +1 and lowers that of one with s = -1
        positive = (self.signs > 0)[:, None]
        halves = np.where(positive, up, down), np.where(positive, down, up)
        gains = np.empty((2, len(self.numeric) + self.intercept, margins.shape[1]))
        binary = np.flatnonzero(~self.numeric)
        for side, half in enumerate(halves):
            gains[side, binary] = self.sums @ half
            if self.intercept:
                gains[side, -1] = half.sum(axis=0)
        for k, j in enumerate(np.flatnonzero(self.numeric)):
            towards = (step * self.signs * self.numbers[:, k])[:, None]
            gains[0, j] = drop(loss, margins, towards).sum(axis=0)
            gains[1, j] = drop(loss, margins, -towards).sum(axis=0)
        return gains.reshape(-1, margins.shape[1]).T

    @statistic
    def objective(self, theta: FloatArray, loss: str) -> FloatArray:
        flat = theta.reshape(-1, theta.shape[-1])
        out = np.empty(len(flat))
        block = max((1 << 21) // max(len(self.signs), 1), 1)
        for start in range(0, len(flat), block):
            out[start : start + block] = loss_value(loss, self.margins(flat[start : start + block])).sum(axis=0)
        return out.reshape(theta.shape[:-1])


@statistic
def _table(X: Any, signs: FloatArray, numeric: BoolArray, intercept: bool) -> _Table:
    ones = sparse.csc_array(X[:, np.flatnonzero(~numeric)] if numeric.any() else X)
    ones.eliminate_zeros()
    numbers = X[:, np.flatnonzero(numeric)]
    numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
    return _Table(signs, ones.tocsr(), ones, sparse.csr_array(ones.T), numbers, numeric, intercept)


@statistic
def _as_floats(X: Any) -> Any:
    return sparse.csr_array(X, dtype=float) if sparse.issparse(X) else np.asarray(X, dtype=float)


class Records:
    """Records and signs, stored for fast sums of losses over all records. Exact: private where X and the signs are.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, D), or Private
        Zeros and ones in the binary columns, numbers in [-1, 1] in the others.
    signs : array of shape (n,), or Private
        -1 or +1.
    n_ones : int
        The most ones of a record, which is public.
    numeric : array of bool of shape (D,), optional
        Which columns are not binary. None: none.
    intercept : bool
        Append a constant column of ones, the last one.

    Raises
    ------
    InvalidData
        If a record breaks these bounds, or the shapes do not match. Private records have to be bounded before
        (`dpml.classifiers.linear.estimators.public_table`): an error would tell of them.
    """

    def __init__(self, X: Any, signs: Any, n_ones: int, numeric: Any = None, intercept: bool = True):
        X, self.signs = _as_floats(X), _as_floats(signs)
        self.intercept, self.n_ones = bool(intercept), check_integer(n_ones, "n_ones", 0)
        plain = not is_private((X, self.signs))
        if plain and (X.ndim != 2 or self.signs.shape != X.shape[:1] or not (np.abs(self.signs) == 1).all()):
            raise InvalidData(
                f"X has shape {X.shape} and signs {self.signs.shape}: they must be (n, D) and n times -1 or +1"
            )
        D = n_columns(X)
        self.numeric = np.zeros(D, dtype=bool) if numeric is None else np.asarray(numeric, dtype=bool)
        self.n, self.dimension = number_of(self.signs), D + self.intercept
        self.public: dict[str, Any] = {"n_ones": self.n_ones, "numeric": self.numeric, "intercept": self.intercept}
        self._table = _table(X, self.signs, self.numeric, self.intercept)
        if plain:
            self._check_bounds(self._table)

    def _check_bounds(self, table: _Table) -> None:
        most = int(np.bincount(table.columns.indices, minlength=1).max(initial=0))
        if not (table.columns.data == 1).all() or most > self.n_ones or not (np.abs(table.numbers) <= 1).all():
            raise InvalidData(f"records must have at most {self.n_ones} ones, and numbers in [-1, 1]")

    def margins(self, theta: FloatArray) -> Any:
        """Return s_i θ·x_i for θ of shape (draws, D'), shape (n, draws)."""
        return _Table.margins(self._table, theta)

    def moved(self, margins: Any, columns: IntArray, amounts: FloatArray) -> Any:
        """Return the margins after ``theta[draw, columns[draw]] += amounts[draw]``."""
        return _Table.moved(self._table, margins, columns, amounts)

    def move(self, margins: FloatArray, columns: IntArray, amounts: FloatArray) -> None:
        """Update an array of margins in place (see `moved`)."""
        margins[...] = self.moved(margins, columns, amounts)

    def gains(self, margins: Any, step: float, loss: str) -> Any:
        """Return J(θ) - J(θ ± step·e_j) from margins (n, draws), shape (draws, 2D'), plus signs first."""
        return _Table.gains(self._table, margins, step, loss)

    def objective(self, theta: FloatArray, loss: str) -> Any:
        """Return J(θ) for θ of shape (..., D')."""
        return _Table.objective(self._table, theta, loss)
