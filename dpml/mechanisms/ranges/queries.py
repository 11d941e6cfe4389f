"""One-sided range queries: all sums of the first j counts, j = 1, ..., n, released together.

The queries are those of Stoddard et al. 2014, definition 5.

Every class has the three steps: `measure` computes the exact answers of a public strategy, linear in the counts;
`release` adds Laplace noise to them; `reconstruct` turns noisy answers into prefix sums. A count that changes by 1
changes the answers by the L1 norm of its column of the strategy, and the largest column is the sensitivity.

| class | answers | variance of a prefix sum, in units of the noise's |
|---|---|---|
| `IdentityRanges` | the counts | j |
| `Privelet` | the total, and left half minus right half at every node of a binary tree | at most 1 + log2(n)/4 |
| `Hierarchy` | the sum of every node of a tree of any branching | at most (b-1)·log_b(n), less when made consistent |
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.laplace import Laplace
from dpml.mechanisms.ranges.consistency import Floats, IntervalTree

__all__ = ["Hierarchy", "IdentityRanges", "Privelet"]

MOST_COUNTS = 1 << 24
# Branchings that are compared when none is given; a tree of one level (b = n) besides.
MOST_BRANCHING = 32


@dataclass(frozen=True)
class RangeMechanism(abc.ABC):
    """What the classes share: a linear strategy, its exact sensitivity, and Laplace noise on its answers."""

    epsilon: float
    n: int
    relation: str = "add-remove"
    vectors: int = 1

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n", check_integer(self.n, "n", 1, MOST_COUNTS))
        object.__setattr__(self, "vectors", check_integer(self.vectors, "vectors", 1))
        check_relation(self.relation)

    @property
    @abc.abstractmethod
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column of the strategy."""

    @abc.abstractmethod
    def measure(self, counts: Any) -> Floats:
        """Return the exact answers (..., answers) of counts (..., n). Private."""

    @abc.abstractmethod
    def reconstruct(self, answers: Any) -> Floats:
        """Return prefix sums (..., n) from answers, noisy or exact. Post-processing."""

    @abc.abstractmethod
    def _unit_variances(self) -> Floats:
        """Return the variance of each prefix sum for answers of variance 1."""

    def _moved(self) -> float:
        """Return the largest L1 change when one record moves between two counts of one vector (at least 2)."""
        return 2.0

    @cached_property
    def sensitivity(self) -> float:
        """Exact L1 sensitivity of the answers.

        Add/remove: the largest column. Replace-one: a record moves from one count to another, of the same vector or,
        when there are several, of another one; between vectors two columns change in full.
        """
        largest = float(self.columns.max())
        if self.relation == "add-remove":
            return largest
        return 2 * largest if self.vectors > 1 else self._moved()

    @property
    def scale(self) -> float:
        """Scale of the Laplace noise on every answer, Δ/ε."""
        return self.sensitivity / self.epsilon

    def variances(self) -> Floats:
        """Return the exact variance of every released prefix sum, shape (n,). Public."""
        return 2 * self.scale**2 * self._unit_variances()

    def mean_squared_error(self) -> float:
        """Return the mean of `variances`, the mean squared error of a prefix sum. Public."""
        return float(self.variances().mean())

    def release(self, counts: Any, *, rng: np.random.Generator, draws: int | None = None) -> Floats:
        """Return noisy prefix sums.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts. Leading axes are vectors over different records: under add/remove each has all of ε. Under
            replace-one there are `vectors` of them in the last axis but one (or no such axis if 1); axes before that
            are separate releases.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            How many releases; adds a leading axis. Each draw pays ε.

        Returns
        -------
        ndarray of shape (draws, ..., n), or (..., n)

        Raises
        ------
        InvalidData, InvalidParameter
        """
        counts = self._check(counts)
        noisy = Laplace(self.epsilon, self.sensitivity).release(self.measure(counts), rng=check_rng(rng), draws=draws)
        return self.reconstruct(noisy)

    def _check(self, counts: Any) -> Floats:
        try:
            values = np.asarray(counts, dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim < 1 or values.shape[-1] != self.n or not np.isfinite(values).all():
            raise InvalidData(f"counts must be finite numbers of shape (..., {self.n})")
        if self.relation == "replace-one" and self.vectors > 1 and values.shape[-2:-1] != (self.vectors,):
            raise InvalidParameter("counts", f"an array of shape {values.shape}", f"(..., {self.vectors}, {self.n})")
        return values


@dataclass(frozen=True)
class IdentityRanges(RangeMechanism):
    """Prefix sums of noisy counts.

    Released: every count plus Laplace noise, and so their sums.

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. Sensitivity 1
    (add/remove) or 2 (replace-one); the noise of the j-th sum has variance 2j/ε² (times the sensitivity squared).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    n : int
        Number of counts, public.
    relation : {"add-remove", "replace-one"}
    vectors : int
        Number of vectors, public, that one data set is counted in, each record in one of them; matters under
        replace-one only.

    Examples
    --------
    >>> ranges = IdentityRanges(1.0, 4)
    >>> ranges.variances()
    array([2., 4., 6., 8.])
    >>> ranges.release([5, 0, 1, 2], rng=np.random.default_rng(0), draws=3).shape
    (3, 4)
    """

    @property
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column of the strategy: 1."""
        return np.ones(self.n, dtype=np.int64)

    def measure(self, counts: Any) -> Floats:
        """Return the counts."""
        return np.asarray(counts, dtype=float)

    def reconstruct(self, answers: Any) -> Floats:
        """Return the cumulated answers."""
        return np.cumsum(answers, axis=-1)

    def _unit_variances(self) -> Floats:
        return np.arange(1.0, self.n + 1)


@dataclass(frozen=True)
class Privelet(RangeMechanism):
    """Prefix sums from noisy Haar wavelet coefficients (Xiao, Wang and Gehrke 2011; Stoddard et al. 2014, sec. 4.2.1).

    Released: the total, and at every node of a balanced binary tree the sum of its left half minus that of its right
    half, plus Laplace noise. The published coefficients are means with noise of generalised weights; a mean times its
    weight is a sum, so this is the same release without the weights. Counts are padded with zeros, which are public, to
    the next power of two m (halves that differ by one have the same sensitivity and more variance).

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. A count is in the total and
    in one difference a level: sensitivity 1 + log2 m (add/remove). When a record moves within one vector the total
    stands still and the difference at the lowest common node changes by 2: 2·log2 m (replace-one, one vector); between
    vectors it is twice the add/remove sensitivity.

    Parameters
    ----------
    epsilon, n, relation, vectors
        As for `IdentityRanges`.

    Examples
    --------
    >>> ranges = Privelet(1.0, 16)
    >>> ranges.sensitivity, round(ranges.mean_squared_error(), 1)
    (5.0, 37.7)
    >>> ranges.release(np.ones((2, 16)), rng=np.random.default_rng(0), draws=3).shape
    (3, 2, 16)
    """

    @property
    def _levels(self) -> int:
        return (self.n - 1).bit_length()

    @property
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column: the total, and one difference a level."""
        return np.full(self.n, 1 + self._levels, dtype=np.int64)

    def _moved(self) -> float:
        return 2.0 * max(self._levels, 1)

    def measure(self, counts: Any) -> Floats:
        """Return the total, then the differences from the root down. Private."""
        counts = np.asarray(counts, dtype=float)
        sums = np.concatenate([counts, np.zeros((*counts.shape[:-1], (1 << self._levels) - self.n))], axis=-1)
        parts = []
        while sums.shape[-1] > 1:
            parts.append(sums[..., ::2] - sums[..., 1::2])
            sums = sums[..., ::2] + sums[..., 1::2]
        return np.concatenate([sums, *parts[::-1]], axis=-1)

    def reconstruct(self, answers: Any) -> Floats:
        """Return prefix sums: halves from the root down, (sum ± difference)/2. Post-processing."""
        answers = np.asarray(answers, dtype=float)
        sums = answers[..., :1]
        while (nodes := sums.shape[-1]) < answers.shape[-1]:
            difference = answers[..., nodes : 2 * nodes]
            halves = np.stack([sums + difference, sums - difference], axis=-1) / 2
            sums = halves.reshape(*answers.shape[:-1], 2 * nodes)
        return np.cumsum(sums[..., : self.n], axis=-1)

    def _unit_variances(self) -> Floats:
        # j of m positions have j/m of the total, and at a node of s positions, t of them in the prefix, min(t, s - t)/s
        # of its difference
        prefix = np.arange(1, self.n + 1)
        size = 1 << self._levels
        variance = (prefix / size) ** 2
        while size > 1:
            inside = prefix % size
            variance += (np.minimum(inside, size - inside) / size) ** 2
            size //= 2
        return variance


@dataclass(frozen=True)
class Hierarchy(RangeMechanism):
    """Prefix sums from a tree of noisy sums (Hay, Rastogi, Miklau and Suciu 2010).

    Released: the sum of every node of a tree over the counts plus Laplace noise; with `consistent` the least-squares
    counts that fit them, without it the fewest nodes that add up to each prefix.

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. A count is in one node a
    level, root included: sensitivity 1 + ⌈log_b n⌉ (add/remove); twice the levels below the root when a record moves
    within one vector, for full trees (replace-one), and twice the add/remove sensitivity between vectors.

    Parameters
    ----------
    epsilon, n, relation, vectors
        As for `IdentityRanges`.
    branching : int, optional
        Children of a node, b >= 2. Default: the one with the least `mean_squared_error`, a function of public numbers.
    consistent : bool
        Whether least squares is applied to the noisy sums.

    Examples
    --------
    >>> tree = Hierarchy(1.0, 16)
    >>> tree.branching, tree.sensitivity, round(tree.mean_squared_error(), 1)
    (5, 3.0, 23.4)
    """

    branching: int | None = None
    consistent: bool = True

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.consistent, (bool, np.bool_)):
            raise InvalidParameter("consistent", self.consistent, "True or False")
        if self.branching is None:
            b = best_branching(self.n, bool(self.consistent), self.relation, self.vectors)
        else:
            b = check_integer(self.branching, "branching", 2, max(self.n, 2))
        object.__setattr__(self, "branching", b)

    @cached_property
    def _tree(self) -> IntervalTree:
        return IntervalTree(self.n, self.branching or 2)

    @property
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column: the number of nodes that hold it."""
        return self._tree.depths

    def _moved(self) -> float:
        if self.n == 1:
            return 2.0
        # the nodes that hold both counts do not change; the fewest do where only the root holds both
        children = np.split(self.columns, np.unique(self._tree.edges[1][1:-1]))
        return float(np.sort([part.max() for part in children])[-2:].sum() - 2)

    def measure(self, counts: Any) -> Floats:
        """Return the sums of all nodes, from the root down. Private."""
        return self._tree.sums(counts)

    def reconstruct(self, answers: Any) -> Floats:
        """Return prefix sums from the nodes' sums. Post-processing."""
        answers = np.asarray(answers, dtype=float)
        if self.consistent:
            return np.cumsum(self._tree.consistent(answers), axis=-1)
        return self._tree.prefixes(answers)

    def _unit_variances(self) -> Floats:
        return self._tree.consistent_variances() if self.consistent else self._tree.prefix_variances()


@lru_cache(maxsize=256)
def best_branching(n: int, consistent: bool, relation: str, vectors: int) -> int:
    """Return the branching with the least mean squared error over prefix sums; the same for every ε."""
    candidates = sorted({*range(2, min(n, MOST_BRANCHING) + 1), max(n, 2)})
    errors = [Hierarchy(1.0, n, relation, vectors, b, consistent).mean_squared_error() for b in candidates]
    return candidates[int(np.argmin(errors))]
