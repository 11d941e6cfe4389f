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
from dpml.claims import claim
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
            Number of independent releases, which adds a leading axis. Each one costs ε. By default there is one,
            without that axis.

        Returns
        -------
        ndarray of shape (draws, ..., n) or (..., n)
            Noisy sums of the first j counts, j = 1, ..., n.
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
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column of the strategy: 1."""
        return np.ones(self.n, dtype=np.int64)

    @statistic
    def measure(self, counts: Any) -> Floats:
        """Return the counts, which are the exact answers. Private.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts.

        Returns
        -------
        ndarray of shape (..., n)
            The counts as floats.
        """
        return np.asarray(counts, dtype=float)

    def reconstruct(self, answers: Any) -> Floats:
        """Return the cumulative sums of the answers. Post-processing.

        Parameters
        ----------
        answers : array-like of shape (..., n)
            Answers, noisy or exact.

        Returns
        -------
        ndarray of shape (..., n)
            Prefix sums.
        """
        return np.cumsum(answers, axis=-1)

    def _unit_variances(self) -> Floats:
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
    def columns(self) -> NDArray[np.int64]:
        """L1 norm of each count's column: the total, and one difference in each level."""
        return np.full(self.n, 1 + self._levels, dtype=np.int64)

    def _moved(self) -> float:
        return 2.0 * max(self._levels, 1)

    @statistic
    def measure(self, counts: Any) -> Floats:
        """Return the total, then the differences from the root down. Private.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts.

        Returns
        -------
        ndarray of shape (..., m)
            Exact answers, with m the next power of two from n on.
        """
        counts = np.asarray(counts, dtype=float)
        sums = np.concatenate([counts, np.zeros((*counts.shape[:-1], (1 << self._levels) - self.n))], axis=-1)
        parts = []
        while sums.shape[-1] > 1:
            parts.append(sums[..., ::2] - sums[..., 1::2])
            sums = sums[..., ::2] + sums[..., 1::2]
        return np.concatenate([sums, *parts[::-1]], axis=-1)

    def reconstruct(self, answers: Any) -> Floats:
        """Return prefix sums: halves from the root down, (sum ± difference)/2. Post-processing.

        Parameters
        ----------
        answers : array-like of shape (..., m)
            Answers, noisy or exact.

        Returns
        -------
        ndarray of shape (..., n)
            Prefix sums.
        """
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


@claim("ranges-hierarchy", "Prefix sums from a tree of noisy sums", "[hay2010]", "ε, under each relation")
@dataclass(frozen=True)
class Hierarchy(RangeMechanism):
    """Release prefix sums from a tree of noisy sums.

    The release has the sum of every node of a tree over the counts, plus Laplace noise. With `consistent`, prefix sums
    come from the counts that fit these sums by least squares. Without it, they come from the fewest nodes that add up
    to each prefix.

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
    consistent : bool, default=True
        Whether to apply least squares to the noisy sums.

    See Also
    --------
    IdentityRanges : Releases prefix sums of noisy counts.
    Privelet : Releases prefix sums from wavelet coefficients.
    isotonic : Makes noisy sequences non-decreasing.

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
        """Return the sums of all nodes, from the root down. Private.

        Parameters
        ----------
        counts : array-like of shape (..., n)
            Exact counts.

        Returns
        -------
        ndarray of shape (..., answers)
            Exact sum of each measured node.
        """
        return self._tree.sums(counts)

    def reconstruct(self, answers: Any) -> Floats:
        """Return prefix sums from the sums of the nodes. Post-processing.

        Parameters
        ----------
        answers : array-like of shape (..., answers)
            Sums of the measured nodes, noisy or exact.

        Returns
        -------
        ndarray of shape (..., n)
            Prefix sums.
        """
        answers = np.asarray(answers, dtype=float)
        if self.consistent:
            return np.cumsum(self._tree.consistent(answers), axis=-1)
        return self._tree.prefixes(answers)

    def _unit_variances(self) -> Floats:
        return self._tree.consistent_variances() if self.consistent else self._tree.prefix_variances()


@lru_cache(maxsize=256)
def best_branching(n: int, consistent: bool, relation: str, vectors: int) -> int:
    """Return the branching with the smallest mean squared error over prefix sums, which is the same for every ε."""
    candidates = sorted({*range(2, min(n, MOST_BRANCHING) + 1), max(n, 2)})
    errors = [Hierarchy(1.0, n, relation, vectors, b, consistent).mean_squared_error() for b in candidates]
    return candidates[int(np.argmin(errors))]
