"""One-sided range queries: the prefix sums of the first j counts, j = 1, ..., n, released together.

The queries are those of Stoddard et al. 2014, definition 5.

Every class has three steps. `measure` computes the exact answers of a public strategy, which are linear in the counts.
`release` adds Laplace noise to them. `reconstruct` turns noisy answers into prefix sums. A count that changes by 1
changes the answers by the L1 norm of its column of the strategy, so the largest column norm is the sensitivity.

| class | answers | variance of a prefix sum, in units of the noise variance |
|---|---|---|
| `IdentityRanges` | the counts | j |
| `Privelet` | the total, and left half minus right half at every node of a binary tree | at most 1 + log2(n)/4 |
| `Hierarchy` | the sum of every node of a tree of any branching | at most (b-1)·log_b(n), less when made consistent |
"""

import abc
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.laplace import Laplace
from dpml.mechanisms.private import statistic
from dpml.mechanisms.ranges.consistency import Floats, IntervalTree

MOST_COUNTS = 1 << 24
# Without a given branching, all up to this one are compared, and also a tree of one level (b = n).
MOST_BRANCHING = 32


@dataclass(frozen=True)
class RangeMechanism(abc.ABC):
    """Base class: a linear strategy, its exact sensitivity, and Laplace noise on its answers."""

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
    @statistic
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

        Add/remove: the largest column norm. Replace-one: a record moves from one count to another, in the same vector
        or, with several vectors, in a different one. Between vectors, both column norms count in full.
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
        """Return noisy prefix sums of exact counts (..., n), of shape (draws, ..., n), or (..., n) without draws.

        Each draw costs ε. Leading axes of the counts are vectors over disjoint records, so under add/remove each vector
        gets the full ε. Under replace-one the last axis but one has `vectors` entries (it may be left out if `vectors`
        is 1); axes before it are separate releases.
        """
        counts = self._check(counts)
        noisy = Laplace(self.epsilon, self.sensitivity).release(self.measure(counts), rng=check_rng(rng), draws=draws)
        return self.reconstruct(noisy)

    @statistic
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

    Released: every count plus Laplace noise, and hence their prefix sums.

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. Sensitivity 1
    (add/remove) or 2 (replace-one). The noise of the j-th sum has variance 2j/ε² times the squared sensitivity.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    n : int
        Number of counts, public.
    relation : {"add-remove", "replace-one"}
    vectors : int
        Number of vectors, public, over which the records of one data set are divided, each counted in one of them.
        Matters under replace-one only.

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

    @statistic
    def measure(self, counts: Any) -> Floats:
        """Return the counts."""
        return np.asarray(counts, dtype=float)

    def reconstruct(self, answers: Any) -> Floats:
        """Return the cumulative sums of the answers."""
        return np.cumsum(answers, axis=-1)

    def _unit_variances(self) -> Floats:
        return np.arange(1.0, self.n + 1)


@dataclass(frozen=True)
class Privelet(RangeMechanism):
    """Prefix sums from noisy Haar wavelet coefficients (Xiao, Wang and Gehrke 2011; Stoddard et al. 2014, sec. 4.2.1).

    Released: the total, and at every node of a balanced binary tree the sum of its left half minus that of its right
    half, plus Laplace noise. The published coefficients are means, with noise scaled by generalised weights. A mean
    times its weight is a sum, so this is the same release without the weights. Counts are padded with zeros, which are
    public, to the next power of two m (halves that differ by one have the same sensitivity and more variance).

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. A count is in the total and
    in one difference in each level: sensitivity 1 + log2 m (add/remove). When a record moves within one vector, the
    total does not change and the difference at the lowest common node changes by 2: sensitivity 2·log2 m (replace-one,
    one vector). Between vectors the sensitivity is twice that of add/remove.

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
        """L1 norm of each count's column: the total, and one difference in each level."""
        return np.full(self.n, 1 + self._levels, dtype=np.int64)

    def _moved(self) -> float:
        return 2.0 * max(self._levels, 1)

    @statistic
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
        # a prefix of j of m positions contains j/m of the total, and min(t, s - t)/s of the difference at a node of s
        # positions of which t are in the prefix
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

    Released: the sum of every node of a tree over the counts, plus Laplace noise. With `consistent`, prefix sums come
    from the counts that fit these sums by least squares; without it, from the fewest nodes that add up to each prefix.

    Privacy: ε per draw under `relation`, for counts in which every record is counted once. A count is in one node of
    each level, root included: sensitivity 1 + ⌈log_b n⌉ (add/remove). Under replace-one it is twice the number of
    levels below the root when a record moves within one vector (for full trees), and twice the add/remove sensitivity
    between vectors.

    Parameters
    ----------
    epsilon, n, relation, vectors
        As for `IdentityRanges`.
    branching : int, optional
        Children of a node, b >= 2. Default: the b with the smallest `mean_squared_error`, which depends on public
        numbers only.
    consistent : bool
        Whether to apply least squares to the noisy sums.

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
        # nodes that hold both counts do not change; the most nodes change where only the root holds both
        children = np.split(self.columns, np.unique(self._tree.edges[1][1:-1]))
        return float(np.sort([part.max() for part in children])[-2:].sum() - 2)

    @statistic
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
    """Return the branching with the smallest mean squared error over prefix sums; it is the same for every ε."""
    candidates = sorted({*range(2, min(n, MOST_BRANCHING) + 1), max(n, 2)})
    errors = [Hierarchy(1.0, n, relation, vectors, b, consistent).mean_squared_error() for b in candidates]
    return candidates[int(np.argmin(errors))]
