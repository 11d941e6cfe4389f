"""One-sided range queries: the prefix sums of the first j counts, j = 1, ..., n, released together.

The queries are those of Stoddard et al. 2014, definition 5.

Every class has three steps. `measure` computes the exact answers of a public strategy, which are linear in the counts.
`release` adds Laplace noise to them. `reconstruct` turns noisy answers into prefix sums. A count that changes by 1
changes the answers by the L1 norm of its column of the strategy, so the largest column norm is the sensitivity.

| class | answers | variance of a prefix sum, in units of the noise variance |
|---|---|---|
| `IdentityRanges` | the counts | j |
| `Privelet` | the total, and left half minus right half at every node of a binary tree | at most 1 + log2(n)/4 |
| `Hierarchy` | the sum of every node of a tree of any branching | less than (b-1)·log_b(n) |

Noisy answers are made consistent by post-processing (Hay et al. 2010): trees that add up (`IntervalTree`), and
non-decreasing sequences (`isotonic`).
"""

import abc
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from dpml._arrays import BoolArray, FloatArray, Int64Array
from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.claims import claim
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.noise import Laplace
from dpml.mechanisms.private import statistic

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
    def columns(self) -> Int64Array:
        """L1 norm of each count's column of the strategy."""

    @abc.abstractmethod
    def _answers(self, counts: FloatArray) -> FloatArray:
        """Return the exact answers (..., answers) of counts (..., n)."""

    @abc.abstractmethod
    def _prefix_sums(self, answers: FloatArray) -> FloatArray:
        """Return prefix sums (..., n) from answers, noisy or exact."""

    @abc.abstractmethod
    def _unit_variances(self) -> FloatArray:
        """Return the variance of each prefix sum for answers of variance 1."""

    def _moved(self) -> float:
        """Return the largest L1 change when one record moves between two counts of one vector (at least 2)."""
        return 2.0

    @statistic
    def measure(self, counts: Any) -> FloatArray:
        """Return the exact answers. They are private.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts.

        Returns
        -------
        ndarray of shape (..., answers)
            Exact answer to each query of the strategy.
        """
        return self._answers(np.asarray(counts, dtype=float))

    def reconstruct(self, answers: Any) -> FloatArray:
        """Return prefix sums from answers, by post-processing.

        Parameters
        ----------
        answers : array-like of shape (..., answers)
            Answers, noisy or exact.

        Returns
        -------
        ndarray of shape (..., n)
            Prefix sums.
        """
        return self._prefix_sums(np.asarray(answers, dtype=float))

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

    def variances(self) -> FloatArray:
        """Return the exact variance of every released prefix sum, shape (n,). Public."""
        return 2 * self.scale**2 * self._unit_variances()

    def mean_squared_error(self) -> float:
        """Return the mean of `variances`, the mean squared error of a prefix sum. Public."""
        return float(self.variances().mean())

    def release(self, counts: Any, *, rng: np.random.Generator, draws: int | None = None) -> FloatArray:
        """Release noisy prefix sums of exact counts.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts. Leading axes are vectors over disjoint records, so under add/remove each vector gets the full
            ε. Under replace-one the last axis but one has `vectors` entries, and you may omit it if `vectors` is 1.
            Axes before it are separate releases.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of releases, each at the cost ε, which adds a leading axis. By default one, without that axis.

        Returns
        -------
        ndarray of shape (draws, ..., n) or (..., n)
            Noisy sums of the first j counts, j = 1, ..., n.
        """
        counts = self._check(counts)
        noisy = Laplace(self.epsilon, self.sensitivity).release(self.measure(counts), rng=check_rng(rng), draws=draws)
        return self.reconstruct(noisy)

    @statistic
    def _check(self, counts: Any) -> FloatArray:
        try:
            values = np.asarray(counts, dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim < 1 or values.shape[-1] != self.n or not np.isfinite(values).all():
            raise InvalidData(f"counts must be finite numbers of shape (..., {self.n})")
        if self.relation == "replace-one" and self.vectors > 1 and values.shape[-2:-1] != (self.vectors,):
            raise InvalidParameter("counts", f"an array of shape {values.shape}", f"(..., {self.vectors}, {self.n})")
        return values


@claim("ranges-identity", "Prefix sums of noisy counts", "[stoddard2014], definition 5", "ε, under each relation")
@dataclass(frozen=True)
class IdentityRanges(RangeMechanism):
    """Release prefix sums of noisy counts.

    Every count gets Laplace noise, and the prefix sums are computed from the noisy counts.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    n : int
        Number of counts, which is public.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    vectors : int, default=1
        Public number of vectors over which the records of one data set are divided, each counted in one of them. It
        matters under replace-one only.

    See Also
    --------
    Privelet : Releases prefix sums with less noise for many counts.
    Hierarchy : Releases prefix sums from a tree of any branching.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 (add/remove-one) or 2 (replace-one) in L1
    norm.

    The counts must count every record once. The noise of the j-th sum has variance 2j/ε² times the squared sensitivity.

    Examples
    --------
    >>> ranges = IdentityRanges(1.0, 4)
    >>> ranges.variances()
    array([2., 4., 6., 8.])
    >>> ranges.release([5, 0, 1, 2], rng=np.random.default_rng(0), draws=3).shape
    (3, 4)
    """

    @property
    def columns(self) -> Int64Array:
        """L1 norm of each count's column of the strategy: 1."""
        return np.ones(self.n, dtype=np.int64)

    def _answers(self, counts: FloatArray) -> FloatArray:
        return counts

    def _prefix_sums(self, answers: FloatArray) -> FloatArray:
        return np.cumsum(answers, axis=-1)

    def _unit_variances(self) -> FloatArray:
        return np.arange(1.0, self.n + 1)


@claim(
    "ranges-privelet",
    "Prefix sums from noisy wavelet coefficients",
    "[stoddard2014], sec. 4.2.1, and [xiao2011]",
    "ε, under each relation",
)
@dataclass(frozen=True)
class Privelet(RangeMechanism):
    """Release prefix sums from noisy Haar wavelet coefficients.

    The release has the total plus noise. At every node of a balanced binary tree it has the sum of the left half minus
    that of the right half, plus Laplace noise. Counts are padded with zeros, which are public, to the next power of two
    m.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    n : int
        Number of counts, which is public.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    vectors : int, default=1
        Public number of vectors over which the records of one data set are divided, each counted in one of them. It
        matters under replace-one only.

    See Also
    --------
    IdentityRanges : Releases prefix sums of noisy counts.
    Hierarchy : Releases prefix sums from a tree of any branching.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 + log2 m (add/remove-one), 2·log2 m
    (replace-one with one vector) or 2(1 + log2 m) (replace-one between vectors) in L1 norm.

    Derivation. The counts must count every record once. A count is in the total and in one difference in each level,
    which gives 1 + log2 m. When a record moves within one vector, the total does not change and the difference at the
    lowest common node changes by 2, which gives 2·log2 m (2 for m = 1). Between vectors the sensitivity is twice that
    of add/remove.

    The published coefficients are means, with noise scaled by generalised weights. A mean times its weight is a sum, so
    this is the same release without the weights. Halves that differ by one, in place of padding, have the same
    sensitivity and more variance.

    References
    ----------
    - Xiao, Wang and Gehrke (2011).
    - Stoddard et al. (2014), section 4.2.1.

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
    def columns(self) -> Int64Array:
        """L1 norm of each count's column: the total, and one difference in each level."""
        return np.full(self.n, 1 + self._levels, dtype=np.int64)

    def _moved(self) -> float:
        return 2.0 * max(self._levels, 1)

    def _answers(self, counts: FloatArray) -> FloatArray:
        """Return the total, then the differences from the root down: m answers, m the next power of two from n on."""
        sums = np.concatenate([counts, np.zeros((*counts.shape[:-1], (1 << self._levels) - self.n))], axis=-1)
        parts = []
        while sums.shape[-1] > 1:
            parts.append(sums[..., ::2] - sums[..., 1::2])
            sums = sums[..., ::2] + sums[..., 1::2]
        return np.concatenate([sums, *parts[::-1]], axis=-1)

    def _prefix_sums(self, answers: FloatArray) -> FloatArray:
        """Return prefix sums: halves from the root down, (sum ± difference)/2."""
        sums = answers[..., :1]
        while (nodes := sums.shape[-1]) < answers.shape[-1]:
            difference = answers[..., nodes : 2 * nodes]
            halves = np.stack([sums + difference, sums - difference], axis=-1) / 2
            sums = halves.reshape(*answers.shape[:-1], 2 * nodes)
        return np.cumsum(sums[..., : self.n], axis=-1)

    def _unit_variances(self) -> FloatArray:
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
class IntervalTree:
    """A public tree of intervals over n positions, split as evenly as integers can be.

    Level l has b^l nodes. Node i holds the positions from ⌊n·i/b^l⌋ up to, but not including, ⌊n·(i+1)/b^l⌋. In the
    last level, ⌈log_b n⌉, a node holds one position or none. A node of one position above the last level is the same
    set as one of its children, and is measured in the last level only.

    `n`: number of positions. `branching`: b >= 2.

    >>> tree = IntervalTree(5, 2)
    >>> [edges.tolist() for edges in tree.edges[:3]]
    [[0, 5], [0, 2, 5], [0, 1, 2, 3, 5]]
    >>> tree.depths
    array([3, 3, 3, 4, 4])
    """

    n: int
    branching: int

    @cached_property
    def edges(self) -> list[Int64Array]:
        """The first position of each node and n at the end, level by level."""
        edges = [np.array([0, self.n])]
        nodes = 1
        while nodes < self.n:
            nodes *= self.branching
            edges.append(self.n * np.arange(nodes + 1) // nodes)
        return edges

    @cached_property
    def sizes(self) -> list[Int64Array]:
        """Number of positions of each node."""
        return [np.diff(edges) for edges in self.edges]

    @cached_property
    def measured(self) -> list[BoolArray]:
        """Mask of the measured nodes: those of two or more positions, and in the last level those of one."""
        return [sizes > 1 for sizes in self.sizes[:-1]] + [self.sizes[-1] > 0]

    @cached_property
    def path(self) -> list[Int64Array]:
        """The node that holds each position, level by level."""
        return [np.searchsorted(edges, np.arange(self.n), side="right") - 1 for edges in self.edges]

    @cached_property
    def depths(self) -> Int64Array:
        """Number of measured nodes that hold each position."""
        return np.sum([held[at] for held, at in zip(self.measured, self.path, strict=True)], axis=0)

    @cached_property
    def slices(self) -> list[slice]:
        """The slice of the answers that belongs to each level's measured nodes."""
        ends = np.cumsum([held.sum() for held in self.measured])
        return [slice(int(end - held.sum()), int(end)) for end, held in zip(ends, self.measured, strict=True)]

    @cached_property
    def spread(self) -> list[FloatArray]:
        """Variance of each node's sum, estimated from its subtree alone, for answers of variance 1.

        A node's own answer and its children's sum are combined with weights inverse to their variances (Hay et al.
        2010, eq. 4). An empty node is known, with variance 0.
        """
        levels = [(self.sizes[-1] > 0).astype(float)]
        for held in self.measured[-2::-1]:
            below = levels[-1].reshape(-1, self.branching).sum(axis=1)
            levels.append(np.where(held, below / (below + 1), below))
        return levels[::-1]

    def sums(self, counts: ArrayLike) -> FloatArray:
        """Return the exact sums of the measured nodes, (..., answers), of counts (..., n)."""
        counts = np.asarray(counts, dtype=float)
        total = np.concatenate([np.zeros((*counts.shape[:-1], 1)), np.cumsum(counts, axis=-1)], axis=-1)
        parts = [np.diff(total[..., e], axis=-1)[..., held] for e, held in zip(self.edges, self.measured, strict=True)]
        return np.concatenate(parts, axis=-1)

    def levels(self, answers: FloatArray) -> list[FloatArray]:
        """Return all nodes' answers level by level. A node that is not measured has the sum of its children, or 0."""
        levels: list[FloatArray] = []
        for held, where in zip(self.measured[::-1], self.slices[::-1], strict=True):
            if levels:
                level = levels[-1].reshape(*answers.shape[:-1], -1, self.branching).sum(axis=-1)
            else:
                level = np.zeros((*answers.shape[:-1], len(held)))
            level[..., held] = answers[..., where]
            levels.append(level)
        return levels[::-1]

    def consistent(self, answers: FloatArray) -> FloatArray:
        """Return the counts of all positions whose sums are nearest to the answers, by least squares.

        Two passes (Hay et al. 2010, Theorem 3, generalised to nodes of any sizes). The upward pass combines each node's
        own answer with its children's sum. The downward pass divides the difference between a node and its children's
        sum among the children, in proportion to their variances.
        """
        b = self.branching
        best = self.levels(answers)
        for level in range(len(best) - 2, -1, -1):
            children = best[level + 1].reshape(*answers.shape[:-1], -1, b).sum(axis=-1)
            # weight of the children's sum: 1/(1 + their variance) where the node has its own answer, else 1
            weight = 1 / (1 + self.spread[level + 1].reshape(-1, b).sum(axis=1))
            weight = np.where(self.measured[level], weight, 1.0)
            best[level] = weight * children + (1 - weight) * best[level]
        for level, share in enumerate(self.shares):
            children = best[level + 1].reshape(*answers.shape[:-1], -1, b)
            left = best[level] - children.sum(axis=-1)
            children += left[..., None] * share
        return best[-1][..., self.sizes[-1] > 0]

    @cached_property
    def shares(self) -> list[FloatArray]:
        """Each child's share of its parent's remainder, (nodes, b), level by level."""
        shares = []
        for level in self.spread[1:]:
            spread = level.reshape(-1, self.branching)
            total = spread.sum(axis=1, keepdims=True)
            shares.append(spread / np.where(total > 0, total, 1.0))
        return shares

    def consistent_variances(self) -> FloatArray:
        """Return the variance of every prefix sum of `consistent`, for answers of variance 1.

        The children's errors are their shares of the parent's error plus a part that is uncorrelated with it, with
        covariance diag(V) - V V'/ΣV. A prefix that ends in child k of a node has weight w = 1 on the children before k
        and w = α of child k on child k. Its error is α times the node's error plus a part of variance τ, with
        α = Σ wV/ΣV and τ = the child's τ plus Σ w²V - (Σ wV)²/ΣV.
        """
        b = self.branching
        alpha, tau = np.ones(self.n), np.zeros(self.n)
        for level in range(len(self.edges) - 2, -1, -1):
            spread = self.spread[level + 1]
            before = np.concatenate([[0.0], np.cumsum(spread)])
            node, child = self.path[level], self.path[level + 1]
            earlier = before[child] - before[b * node]
            own, total = spread[child], before[b * node + b] - before[b * node]
            first, second = earlier + alpha * own, earlier + alpha**2 * own
            tau += second - first**2 / total
            alpha = first / total
        return alpha**2 * self.spread[0][0] + tau


@claim("ranges-hierarchy", "Prefix sums from a tree of noisy sums", "[hay2010]", "ε, under each relation")
@dataclass(frozen=True)
class Hierarchy(RangeMechanism):
    """Release prefix sums from a tree of noisy sums.

    The release has the sum of every node of a tree over the counts, plus Laplace noise. Prefix sums come from the
    counts that fit these sums by least squares.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    n : int
        Number of counts, which is public.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    vectors : int, default=1
        Public number of vectors over which the records of one data set are divided, each counted in one of them. It
        matters under replace-one only.
    branching : int, optional
        Number b >= 2 of children of a node. By default it is the b with the smallest `mean_squared_error`, which
        depends on public numbers only.

    See Also
    --------
    IdentityRanges : Releases prefix sums of noisy counts.
    Privelet : Releases prefix sums from wavelet coefficients.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: `relation`. Sensitivity: 1 + ⌈log_b n⌉ (add/remove-one) in L1 norm,
    and at most twice that (replace-one).

    Derivation. The counts must count every record once. A count is in one node of each level, root included, which
    gives 1 + ⌈log_b n⌉. Under replace-one the sensitivity is twice the number of levels below the root when a record
    moves within one vector (for full trees), and twice the add/remove sensitivity between vectors.

    References
    ----------
    - Hay, Rastogi, Miklau and Suciu (2010).

    Examples
    --------
    >>> tree = Hierarchy(1.0, 16)
    >>> tree.branching, tree.sensitivity, round(tree.mean_squared_error(), 1)
    (5, 3.0, 23.4)
    """

    branching: int = None  # type: ignore[assignment]  # an int once made

    def __post_init__(self):
        super().__post_init__()
        if self.branching is None:
            b = best_branching(self.n, self.relation, self.vectors)
        else:
            b = check_integer(self.branching, "branching", 2, max(self.n, 2))
        object.__setattr__(self, "branching", b)

    @cached_property
    def _tree(self) -> IntervalTree:
        return IntervalTree(self.n, self.branching)

    @property
    def columns(self) -> Int64Array:
        """L1 norm of each count's column: the number of nodes that hold it."""
        return self._tree.depths

    def _moved(self) -> float:
        if self.n == 1:
            return 2.0
        # nodes that hold both counts do not change; the most nodes change where only the root holds both
        children = np.split(self.columns, np.unique(self._tree.edges[1][1:-1]))
        return float(np.sort([part.max() for part in children])[-2:].sum() - 2)

    def _answers(self, counts: FloatArray) -> FloatArray:
        """Return the sums of all measured nodes, from the root down."""
        return self._tree.sums(counts)

    def _prefix_sums(self, answers: FloatArray) -> FloatArray:
        return np.cumsum(self._tree.consistent(answers), axis=-1)

    def _unit_variances(self) -> FloatArray:
        return self._tree.consistent_variances()


@lru_cache(maxsize=256)
def best_branching(n: int, relation: str, vectors: int) -> int:
    """Return the branching with the smallest mean squared error over prefix sums, which is the same for every ε."""
    candidates = sorted({*range(2, min(n, MOST_BRANCHING) + 1), max(n, 2)})
    errors = [Hierarchy(1.0, n, relation, vectors, b).mean_squared_error() for b in candidates]
    return candidates[int(np.argmin(errors))]


def isotonic(values: Any, *, lower: Any = -np.inf, upper: Any = np.inf) -> FloatArray:
    """Return the non-decreasing sequence nearest to each row, by least squares.

    With bounds, the nearest sequence within them is the nearest sequence without bounds, clipped to them.

    Parameters
    ----------
    values : array-like of shape (..., n)
        Finite numbers. Rows are independent.
    lower, upper : array-like, default=-inf, inf
        Bounds that broadcast against `values`, such as 0 and a row's noisy total of shape (..., 1), lower <= upper.

    Returns
    -------
    ndarray of the shape of `values`
        The nearest sequences.

    Raises
    ------
    InvalidParameter
        If values are not finite, or a lower bound exceeds its upper bound.

    See Also
    --------
    Hierarchy : Makes the sums of a tree consistent.

    Notes
    -----
    Privacy: no data is read.

    The function is post-processing of released values.

    References
    ----------
    - Stoddard et al. (2014), section 4.2.3.
    - Hay et al. (2010).

    Examples
    --------
    >>> isotonic([3.0, 1.0, 2.0, 9.0])
    array([2., 2., 2., 9.])
    >>> isotonic([[-1.0, 4.0, 6.0]], lower=0.0, upper=[[5.0]])
    array([[0., 4., 5.]])
    """
    v = np.asarray(values, dtype=float)
    if v.ndim < 1 or not np.isfinite(v).all():
        raise InvalidParameter("values", f"an array of shape {v.shape}", "finite, of shape (..., n)")
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if not (low <= high).all():
        raise InvalidParameter("lower", lower, f"at most upper = {upper}")
    rows = v.reshape(-1, v.shape[-1]) if v.size else v.reshape(0, v.shape[-1])
    # compiled code fits one row in microseconds; no vectorised form over rows is as fast
    fitted = np.empty_like(rows)
    for i, row in enumerate(rows):
        fitted[i] = isotonic_regression(row).x
    return np.clip(fitted.reshape(v.shape), low, high)
