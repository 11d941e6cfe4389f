"""Sensitivities of the mean, the median and the variance, trimmed or not, from the order statistics of a sample.

Notation: x_(1) <= ... <= x_(n) with x_(i) = L for i < 1 and U for i > n. m values are trimmed at each end, N = n - 2m,
and R = U - L. A^(k) is the largest local sensitivity within k changed records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpml._arrays import FloatArray, IntArray
from dpml._validate import ON_INVALID, check_choice, check_number
from dpml.exceptions import InvalidData, InvalidParameter, shown
from dpml.schema.untrusted import plain_cells, plain_numbers

# Smooth bounds stay above this fraction of the global sensitivity, where exp(-βk) would underflow to 0. The maximum of
# a smooth bound and a constant is a smooth bound; a bound of 0 with a neighbour's above 0 would not be smooth.
LEAST = 2.0**-600


@dataclass(frozen=True)
class Ordered:
    """A sorted sample, shifted so that the domain is [0, `width`].

    Order statistics are numbered from 1. Ranks below the sample stand for the lower bound and ranks above it for the
    upper bound: the values that changed records take in the worst case.
    """

    values: FloatArray
    lower: float
    width: float

    @property
    def n(self) -> int:
        """Number of values."""
        return len(self.values)

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the order statistics of these ranks (0 below the sample, `width` above it)."""
        rank = np.asarray(rank)
        if not self.n:
            return np.where(rank < 1, 0.0, self.width)
        inside = self.values[np.clip(rank - 1, 0, self.n - 1)]
        return np.where(rank < 1, 0.0, np.where(rank > self.n, self.width, inside))

    @cached_property
    def mirrored(self) -> Ordered:
        """The sample reflected about the middle of its domain."""
        return Ordered((self.width - self.values)[::-1], self.lower, self.width)

    def falling_means(self, start: int, size: int, steps: int) -> FloatArray:
        """Return the means of the windows of `size` values that begin at rank start, start - 1, ..., start - steps.

        Computed as one sum and then one difference for each step. The first window must lie inside the sample.
        """
        first = self.values[start - 1 : start - 1 + size].sum()
        rank = start - np.arange(1, steps + 1)
        change = self.at(rank) - self.at(rank + size)
        sums = np.concatenate([[first], first + np.cumsum(change)])
        return np.clip(sums / size, 0.0, self.width)

    def nearest(self, targets: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
        """Return, for each target, the nearest value of the ranks first to last (inside the sample)."""
        above = np.searchsorted(self.values, targets)
        right = self.values[np.clip(above, first - 1, last - 1)]
        left = self.values[np.clip(above - 1, first - 1, last - 1)]
        return np.where(np.abs(right - targets) < np.abs(left - targets), right, left)


def check_bounds(lower: Any, upper: Any) -> tuple[float, float]:
    """Return the public bounds as floats, after checking that lower < upper."""
    lower, upper = check_number(lower, "lower"), check_number(upper, "upper")
    if not lower < upper:
        raise InvalidParameter("lower", lower, f"below upper = {upper:g}")
    if not 1e-60 <= upper - lower <= 1e150:  # squares, and LEAST times a square, must be floats
        raise InvalidParameter("upper", upper, f"1e-60 to 1e150 above lower = {lower:g}")
    return lower, upper


def ordered(values: Any, lower: Any, upper: Any, on_invalid: str = "raise") -> Ordered:
    """Check a sample against its public bounds and sort it once."""
    lower, upper = check_bounds(lower, upper)
    check_choice(on_invalid, "on_invalid", ON_INVALID)
    if on_invalid == "clip":
        x = plain_cells(values)
        x = plain_numbers(x) if x.ndim == 1 else x
    else:
        try:
            x = np.asarray(values)
            x = plain_numbers(x) if x.dtype.kind == "c" else x.astype(float, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise InvalidData("values are not numbers: they must be a one-dimensional array of numbers") from None
    if x.ndim != 1:
        raise InvalidData(f"values has {x.ndim} dimensions: it must have 1")
    x = np.sort(x)  # NaN goes to the end, so the first and the last value show whether any is outside
    if len(x) and not (x[0] >= lower and x[-1] <= upper):
        if on_invalid == "raise":
            bad = x[~((x >= lower) & (x <= upper))][0].item()
            raise InvalidData(f"values has {shown(bad)}: it must be a number from {lower:g} to {upper:g}")
        # as everywhere in dpml, NaN becomes the middle of the domain
        x = np.sort(np.clip(np.where(np.isnan(x), lower + (upper - lower) / 2, x), lower, upper))
    return Ordered(np.clip(x - lower, 0.0, upper - lower) if lower else x, lower, upper - lower)


def decayed_gaps(high: FloatArray, low: FloatArray, rate: float) -> tuple[FloatArray, IntArray]:
    """Return, for each i, the maximum over j of exp(-rate·(i+j))·(high[i] - low[j]), and the j that attains it.

    `high` must be non-decreasing, `low` non-increasing, and no gap negative. For j' > j the ratio of the gap at j' to
    the gap at j then falls as high[i] grows, so the best j is non-increasing in i. The search therefore halves like
    binary search: a row is searched only between the answers of its neighbours, O((rows + columns)·log rows) in all.
    """
    rows, columns = len(high), len(low)
    decay = np.exp(-rate * np.arange(columns))
    best, where = np.zeros(rows), np.zeros(rows, dtype=np.intp)
    step = 1 << max(rows - 1, 0).bit_length()
    while step:
        row = np.arange(step - 1, rows, 2 * step)
        if len(row):
            last = np.where(row >= step, where[row - step], columns - 1)
            first = np.where(row + step < rows, where[np.minimum(row + step, rows - 1)], 0)
            length = last - first + 1
            begin = np.cumsum(length) - length
            column = np.arange(length.sum()) - np.repeat(begin - first, length)
            gap = (np.repeat(high[row], length) - low[column]) * decay[column]
            best[row] = np.maximum.reduceat(gap, begin)
            # the leftmost maximum of each row: the search bounds hold only if all ties are broken the same way
            equal = np.flatnonzero(gap == np.repeat(best[row], length))
            where[row] = column[equal[np.searchsorted(equal, begin)]]
        step //= 2
    return best * np.exp(-rate * np.arange(rows)), where


def widen(evaluate: Callable[[int], float], ceiling: float, beta: float, last: int) -> float:
    """Return the maximum over distances 0..last, without the distances where exp(-β·k)·ceiling cannot exceed it.

    `evaluate(limit)` returns the maximum over at least the distances up to `limit`.
    """
    limit, best = 64, LEAST * ceiling
    while True:
        limit = min(limit, last)
        best = max(best, evaluate(limit))
        if limit >= last or ceiling * math.exp(-beta * (limit + 1)) <= best:
            return best
        # grow to the distance needed, at most 16-fold: a wider search may raise `best` and so need less
        limit = min(math.ceil(math.log(ceiling / best) / beta), 16 * limit)


@dataclass(frozen=True)
class Reach:
    """A smooth upper bound for the mean and the variance of the kept values under add/remove, for one sample.

    Let D be the larger distance from the kept values' mean to their two outer neighbours, x_(n-m+1) and x_(m), and N >=
    2. Adding a value puts one value within [x_(m), x_(n-m+1)] among the kept values, and removing takes a kept value
    away, so the mean moves by at most D/(N+1) or D/(N-1). The variance V moves by N/(N+1)²·d² - V/(N+1) or by V/(N-1) -
    N/(N-1)²·d², d the distance of the value from the mean. With V <= D², and V >= d²/(N-1) for a kept value, both are
    at most D²/(N-1). With q = 1 for the mean and q = 2 for the variance, the local sensitivity LS is at most D^q/(N-1).
    It is also at most a global constant G: R/2 for the mean (N = 1 to 0) and R²/4 for the variance (its largest value).

    Let D_k be the largest over h + j = k, 0 <= h <= m, of

        x_(n-m+1+h) - mean(x_(m+1-j), ..., x_(n-m-j)),

    the distance between the upper neighbour after h values were added on top and the mean after j values moved from top
    to bottom; or the same for the mirrored sample. Then D_(k+1)(y) >= D_k(x) for neighbours x and y:

    - y is x with a value added. Ranks counted from the top do not fall, so h may stay. Compared with x's window at j,
      y's window at j + 1 holds the same values or lower ones.
    - y is x with a value removed that lay above x_(n-m+1+h). At h + 1 y has the old neighbour; y's window at j is x's
      without its largest value.
    - y is x with another value removed. At h y has the old neighbour; y's window at j + 1 lies below x's at j without
      its largest value.

    Hence B^(k) = min(G, D_k^q/(N - k - 1)) while N - k >= 2, and G from then on, satisfies B^(k)(x) <= B^(k+1)(y) and
    LS <= B^(0). So the largest exp(-βk) B^(k) is a β-smooth upper bound. It remains one with LS(x) itself at k = 0,
    since exp(-β) B^(1)(y) >= exp(-β) B^(0)(x) >= exp(-β) LS(x).

    `trim`: m. `power`: q. `ceiling`: G. `local`: the exact local sensitivity.
    """

    sample: Ordered
    trim: int
    power: int
    ceiling: float
    local: float

    @property
    def size(self) -> int:
        """Number of values kept, N."""
        return self.sample.n - 2 * self.trim

    def _sides(self, count: int) -> list[tuple[FloatArray, FloatArray]]:
        """Return, for each side, the outer neighbours by h and the window means by j."""
        if count < 1:
            return []
        top = self.sample.n - self.trim + 1 + np.arange(min(self.trim, count) + 1)
        sides = (self.sample, self.sample.mirrored)
        return [(s.at(top), s.falling_means(self.trim + 1, self.size, count - 1)) for s in sides]

    def at_distances(self, count: int) -> FloatArray:
        """Return the local sensitivity, then B^(1), ..., B^(count - 1)."""
        bound = np.full(count, self.ceiling)
        inside = min(count, max(self.size - 1, 0))
        reach = np.zeros(inside)
        for outer, means in self._sides(inside):
            for k in range(inside):
                h = np.arange(min(k, self.trim) + 1)
                reach[k] = max(reach[k], (outer[h] - means[k - h]).max())
        bound[:inside] = np.minimum(self.ceiling, reach**self.power / (self.size - np.arange(inside) - 1))
        bound[:1] = self.local
        return np.maximum.accumulate(bound)

    def smooth(self, beta: float) -> float:
        """Return the smooth upper bound."""
        size, ceiling = self.size, self.ceiling
        best = max(self.local, ceiling * max(math.exp(-beta * max(size - 1, 1)), LEAST))
        if size < 3:
            return best
        # Only distances whose term can exceed `best` matter; D_k is at most R, and every B at most G.
        k = np.arange(min(size - 2, math.floor(max(math.log(ceiling / best), 0.0) / beta)) + 1)
        weight = np.exp(-beta * k) / (size - k - 1)
        matters = np.flatnonzero(weight * self.sample.width**self.power > best)
        limit = int(matters[-1]) if len(matters) else 0
        if limit < 1:
            return best
        cap = ceiling * np.exp(-beta * k)
        ahead = np.maximum.accumulate(weight[limit::-1])[::-1]  # the greatest weight from distance h on
        last = min(self.trim, limit)
        for outer, means in self._sides(limit + 1):
            for h in (last, *range(last)):  # the last row first: it attains the maximum where all values are equal
                widest = outer[h] - means[limit - h]
                if ahead[h] * widest**self.power <= best or (0 < h < last and outer[h] == outer[h - 1]):
                    continue
                rows = slice(max(h, 1), limit + 1)  # k = 0 is the local sensitivity, already in `best`
                terms = weight[rows] * (outer[h] - means[rows.start - h : limit + 1 - h]) ** self.power
                best = max(best, float(np.minimum(terms, cap[rows]).max()))
        return best


@dataclass(frozen=True)
class _Gaps:
    """The gaps between order statistics that define A^(k) of the mean, the trimmed mean and the median.

    Both statistics have the replace-one local sensitivity at distance k

        A^(k) = (largest of x_(top + p) - x_(bottom - l) over p + l = k + 1, p, l >= 0) / divisor,

    with top = n - m, bottom = m + 1 and divisor N for the trimmed mean, and top = bottom = ⌈n/2⌉ and divisor 1 for the
    median (Nissim, Raskhodnikova and Smith 2007, section 3.1). For the trimmed mean, one replacement moves the sum of
    the kept values by at most the gap between the two outer neighbours of the other kept values. k replacements before
    it widen that gap by k ranks.
    """

    sample: Ordered
    top: int
    bottom: int

    @property
    def last(self) -> int:
        """The distance from which on the widest gap is all of [L, U]."""
        return self.sample.n + 1 - self.top + self.bottom - 1

    def smooth(self, beta: float) -> float:
        """Return the largest exp(-βk)·(gap at distance k)."""

        def evaluate(limit: int) -> float:
            up = np.arange(min(limit + 1, self.sample.n + 1 - self.top) + 1)
            down = np.arange(min(limit + 1, self.bottom) + 1)
            high, low = self.sample.at(self.top + up), self.sample.at(self.bottom - down)
            # distance k = p + l - 1: rows p >= 1 with every l, then p = 0 with l >= 1
            best = decayed_gaps(high[1:], low, beta)[0].max()
            return max(float(best), float(np.max(np.exp(-beta * down[:-1]) * (high[0] - low[1:]), initial=0.0)))

        return widen(evaluate, self.sample.width, beta, self.last)

    def at_distances(self, count: int) -> FloatArray:
        """Return the widest gap at each distance 0, ..., count - 1."""
        steps = np.arange(count + 1)
        high, low = self.sample.at(self.top + steps), self.sample.at(self.bottom - steps)
        return np.array([np.max(high[: k + 2] - low[k + 1 :: -1]) for k in range(count)])


@dataclass(frozen=True)
class Mean:
    """The trimmed mean, or the mean for `trim` = 0. Its value is the middle of the domain when no value is kept."""

    sample: Ordered
    relation: str
    trim: int = 0

    @property
    def kept(self) -> int:
        """Number of values kept, N = n - 2m (0 or less: none)."""
        return self.sample.n - 2 * self.trim

    @property
    def _gaps(self) -> _Gaps:
        return _Gaps(self.sample, self.sample.n - self.trim, self.trim + 1)

    def value(self) -> float:
        """Return the statistic."""
        middle = self.sample.width / 2
        kept = self.sample.values[self.trim : self.sample.n - self.trim]
        return self.sample.lower + (float(kept.mean()) if self.kept >= 1 else middle)

    def ceiling(self) -> float:
        """Return the global sensitivity: over all n under add/remove, at this n under replace-one."""
        if self.relation == "add-remove":
            return self.sample.width / 2
        return self.sample.width / self.kept if self.kept >= 1 else 0.0

    def local(self) -> float:
        """Return the local sensitivity.

        Adding a value adds it to the kept part, clipped to the outer neighbours of that part. Removing takes a kept
        value away. A mean of no kept values is the middle of the domain.
        """
        if self.relation == "replace-one":
            return float(self._gaps.at_distances(1)[0]) / self.kept if self.kept >= 1 else 0.0
        size, m, n = self.kept, self.trim, self.sample.n
        outer = self.sample.at([m, n - m + 1])
        middle = self.sample.width / 2
        if size < 0:
            return 0.0
        if size == 0:
            return float(np.abs(outer - middle).max())
        mean = self.sample.values[m : n - m].mean()
        inner = self.sample.at([m + 1, n - m])
        removal = abs(mean - middle) if size == 1 else np.abs(inner - mean).max() / (size - 1)
        return float(max(np.abs(outer - mean).max() / (size + 1), removal))

    def last(self) -> int:
        """Return the distance from which nothing grows."""
        saturated = 2 * self.trim + 1
        return saturated if self.relation == "replace-one" else max(saturated, self.kept - 1)

    def smooth(self, beta: float) -> float:
        """Return the smooth sensitivity (replace-one) or a smooth upper bound (add/remove).

        Under add/remove it is the smaller of two bounds. The bound from gaps (`_gap_bounds`) is smaller for few values
        and for values at one end. The bound from distances to the mean (`Reach`) is elsewhere as small as half of it.
        """
        if self.relation == "replace-one":
            return self._gaps.smooth(beta) / self.kept if self.kept >= 1 else 0.0
        return min(self._smooth_gaps(beta), self._reach().smooth(beta))

    def _reach(self) -> Reach:
        return Reach(self.sample, self.trim, 1, self.ceiling(), self.local())

    def _smooth_gaps(self, beta: float) -> float:
        size, width = self.kept, self.sample.width
        if size <= 1:
            return width / 2
        # exp(-βj)/(N - j) is log-convex in j, so its maximum over 0 <= j <= N - 2 is at an end
        weight = max(1 / size, math.exp(-beta * (size - 2)) / 2)
        return max(weight * self._gaps.smooth(beta), math.exp(-beta * (size - 1)) * width / 2)

    def at_distances(self, count: int, beta: float) -> FloatArray:
        """Return A^(k) under replace-one; under add/remove, the bound on it that `smooth` uses at this β."""
        if self.relation == "replace-one":
            if self.kept < 1:
                return np.zeros(count)
            return np.maximum.accumulate(self._gaps.at_distances(count)) / self.kept
        reach = self._reach()
        return reach.at_distances(count) if reach.smooth(beta) <= self._smooth_gaps(beta) else self._gap_bounds(count)

    def _gap_bounds(self, count: int) -> FloatArray:
        """Return upper bounds B^(k) on the local sensitivities at distance k under add/remove.

        Derivation. Let g_i be the numerator of the replace-one A^(i). Adding a value never lowers g_i, and
        removing one never lowers g_(i+1) below the old g_i (each rank moves by at most one, on one side of the gap).
        Adding moves the mean by at most g_0/(N+1), removing by at most g_0/N, and by at most R/2 when N is 1 or 0.
        Let B^(k) = max over i + j = k of g_i/(N - j) while N - k >= 2, and R/2 from then on. B^(0) is at least the
        local sensitivity, and B^(k)(x) <= B^(k+1)(y) for neighbours x, y. So the maximum over k of exp(-βk) B^(k) is a
        β-smooth upper bound.
        """
        size, width = self.kept, self.sample.width
        bound = np.full(count, width / 2)
        inside = min(count, max(size - 1, 0))
        if inside:
            gaps = np.maximum.accumulate(self._gaps.at_distances(inside))
            i = np.arange(inside)
            bound[:inside] = [np.max(gaps[: k + 1] / (size - k + i[: k + 1])) for k in range(inside)]
        return bound


@dataclass(frozen=True)
class Median:
    """The median: the value of rank ⌈n/2⌉, or the lower bound if there are no values."""

    sample: Ordered
    relation: str

    @property
    def _rank(self) -> int:
        return (self.sample.n + 1) // 2

    @property
    def _constant(self) -> bool:
        return self.relation == "replace-one" and not self.sample.n

    @property
    def _gaps(self) -> _Gaps:
        return _Gaps(self.sample, self._rank, self._rank)

    def value(self) -> float:
        """Return the statistic."""
        return self.sample.lower + float(self.sample.at(self._rank))

    def ceiling(self) -> float:
        """Return the global sensitivity."""
        return 0.0 if self._constant else self.sample.width

    def local(self) -> float:
        """Return the local sensitivity. Adding or removing moves the rank in one direction only, up for an even n."""
        if self.relation == "replace-one":
            return 0.0 if self._constant else float(self._gaps.at_distances(1)[0])
        upper = self._rank + (self.sample.n % 2 == 0)
        return float(self.sample.at(upper) - self.sample.at(upper - 1))

    def last(self) -> int:
        """Return the distance from which nothing grows."""
        return self._gaps.last

    def smooth(self, beta: float) -> float:
        """Return the smooth sensitivity (replace-one) or a smooth upper bound (add/remove)."""
        return 0.0 if self._constant else self._gaps.smooth(beta)

    def at_distances(self, count: int, beta: float) -> FloatArray:
        """Return A^(k) under replace-one; the same gaps bound it under add/remove.

        Adding or removing a value moves the ranks of a gap's ends, counted from ⌈n/2⌉, by at most one, so the gap at
        distance k lies inside one at distance k + 1 of the neighbour.
        """
        if self._constant:
            return np.zeros(count)
        return np.maximum.accumulate(self._gaps.at_distances(count))


@dataclass(frozen=True)
class Variance:
    """The variance (ddof 0) of the kept values, all values for `trim` = 0. It is 0 when fewer than two are kept.

    C is the kept part without the value that changes. The kept values are C and one
    more value a, which lies between C's outer neighbours, and

        N·Var(C and a) = SS(C) + (N-1)/N·(a - mean C)².

    So replacing a by b moves the variance by (N-1)/N²·|(a - mean C)² - (b - mean C)²|. The largest moves have one of
    the two at an outer neighbour of C, and the other at C's mean or as near to it as the data allow.
    """

    sample: Ordered
    relation: str
    trim: int = 0

    @property
    def kept(self) -> int:
        """Number of values kept, N = n - 2m (0 or less: none)."""
        return self.sample.n - 2 * self.trim

    def value(self) -> float:
        """Return the statistic."""
        return float(self.sample.values[self.trim : self.sample.n - self.trim].var()) if self.kept >= 2 else 0.0

    def ceiling(self) -> float:
        """Return the global sensitivity: over all n under add/remove, at this n under replace-one."""
        size, width = self.kept, self.sample.width
        if self.relation == "add-remove":
            return width**2 / 4
        return (size - 1) / size**2 * width**2 if size >= 2 else 0.0

    def last(self) -> int:
        """Return the distance from which nothing grows."""
        return self.sample.n if self.relation == "replace-one" else max(self.kept - 1, 1)

    def local(self) -> float:
        """Return the local sensitivity."""
        if self.relation == "replace-one":
            return float(self.at_distances(1, 1.0)[0])
        return self._local_add_remove()

    def smooth(self, beta: float) -> float:
        """Return the smooth sensitivity (replace-one) or a smooth upper bound (add/remove)."""
        if self.relation == "add-remove":
            return self._reach().smooth(beta)
        if self.kept < 2:
            return 0.0
        return widen(lambda limit: self._best_replacement(limit, beta), self.ceiling(), beta, self.last())

    def at_distances(self, count: int, beta: float) -> FloatArray:
        """Return A^(k) under replace-one; under add/remove, an upper bound on it, derived in `Reach`."""
        if self.relation == "add-remove":
            return self._reach().at_distances(count)
        if self.kept < 2:
            return np.zeros(count)
        sensitivities = np.zeros(count)
        for side in (self._side(self.sample, count), self._side(self.sample.mirrored, count)):
            for k in range(count):
                h = np.arange(min(k, self.trim + 1) + 1)
                sensitivities[k] = max(sensitivities[k], side.to_mean(h, k - h).max())
                h = h[h <= self.trim]
                sensitivities[k] = max(sensitivities[k], side.from_near_mean(h, k - h).max())
        return np.maximum.accumulate(sensitivities)

    # Replace-one ----------------------------------------------------------------------------------------------------

    def _side(self, sample: Ordered, limit: int) -> _Side:
        return _Side.build(sample, self.trim, self.kept, limit)

    def _best_replacement(self, limit: int, beta: float) -> float:
        """Return the largest exp(-βk) A^(k), at least over k <= limit."""
        sides = [self._side(sample, limit) for sample in (self.sample, self.sample.mirrored)]
        # the square root of a term is a decayed gap at half the rate
        best = max(decayed_gaps(s.outer, s.rest_mean, beta / 2)[0].max() ** 2 * s.factor for s in sides)
        for side in sides:
            best = max(best, side.best_from_near_mean(beta, best))
        return float(best)

    # Add/remove -----------------------------------------------------------------------------------------------------

    def _reach(self) -> Reach:
        return Reach(self.sample, self.trim, 2, self.ceiling(), self._local_add_remove())

    def _local_add_remove(self) -> float:
        """Return the exact local sensitivity under add/remove.

        Adding a value a (clipped to the outer neighbours) changes the variance V by N/(N+1)²·(a - mean)² - V/(N+1);
        removing a kept value a changes it by V/(N-1) - N/(N-1)²·(a - mean)². The size of each change is largest at the
        a nearest to the mean or farthest from it.
        """
        size, m, n = self.kept, self.trim, self.sample.n
        if size < 1:
            return 0.0
        kept = self.sample.values[m : n - m]
        mean, variance = kept.mean(), kept.var()
        farthest = np.abs(self.sample.at([m, n - m + 1]) - mean).max()
        change = max(variance / (size + 1), size / (size + 1) ** 2 * farthest**2 - variance / (size + 1))
        if size >= 2:
            first, last = np.array([m + 1]), np.array([n - m])
            near = abs(self.sample.nearest(np.array([mean]), first, last)[0] - mean)
            far = max(mean - kept[0], kept[-1] - mean)
            for distance in (near, far):
                change = max(change, abs(variance / (size - 1) - size / (size - 1) ** 2 * distance**2))
        return float(change)


@dataclass(frozen=True)
class _Side:
    """The terms of A^(k) in which a value moves to, or comes from, the upper outer neighbour.

    Of k replacements, h put values on top and l = k - h put values at the bottom. The deleted values are those just
    below the outer neighbour. The kept part is then a window of the sorted sample that begins at rank m + 1 - l.

    `to_mean`: the changing value moves from the outer neighbour x_(n-m+h) to the mean of the N - 1 others.
    `from_near_mean`: the changing value is a value a of the window of N, and moves to the outer neighbour x_(n-m+1+h).
    With d the distance from that window's mean to the outer neighbour, the change is (N-1)/N² times
    N²/(N²-1)·d² - (N+1)/(N-1)·(a - a*)², largest for the a nearest to a* = mean + d/(N+1).
    """

    sample: Ordered
    trim: int
    size: int
    outer: FloatArray  # x_(n-m+h), h = 0, ..., min(m, limit) + 1
    rest_mean: FloatArray  # mean of the N-1 values from rank m+1-l on, by l
    mean: FloatArray  # mean of the N values from rank m+1-l on, by l

    @classmethod
    def build(cls, sample: Ordered, trim: int, size: int, limit: int) -> _Side:
        outer = sample.at(sample.n - trim + np.arange(min(trim, limit) + 2))
        rest_mean = sample.falling_means(trim + 1, size - 1, limit)
        mean = sample.falling_means(trim + 1, size, limit)
        return cls(sample, trim, size, outer, rest_mean, mean)

    @property
    def factor(self) -> float:
        return (self.size - 1) / self.size**2

    def to_mean(self, h: np.ndarray, low: np.ndarray) -> FloatArray:
        return self.factor * (self.outer[h] - self.rest_mean[low]) ** 2

    def from_near_mean(self, h: np.ndarray, low: np.ndarray) -> FloatArray:
        size, mean = self.size, self.mean[low]
        distance = self.outer[h + 1] - mean
        ideal = mean + distance / (size + 1)
        first, last = np.maximum(self.trim + 1 - low, 1), self.sample.n - self.trim - low
        near = self.sample.nearest(ideal, first, np.maximum(last, 1))
        change = distance**2 / (size**2 - 1) * size**2 - (size + 1) / (size - 1) * (near - ideal) ** 2
        # a window without a value of the sample adds nothing: a smaller l has the same change
        return np.where(last >= 1, self.factor * change, 0.0)

    def best_from_near_mean(self, beta: float, best: float) -> float:
        """Return the largest decayed `from_near_mean` if it exceeds `best`, else `best`.

        If every a* were in the data, the terms would be squared gaps at half the rate. These upper bounds are searched
        first, and only pairs (h, l) whose bound exceeds the best true term are evaluated.
        """
        outer, size = self.outer[1:], self.size
        scale = self.factor * size**2 / (size**2 - 1)
        roots, where = decayed_gaps(outer, self.mean, beta / 2)
        bounds = roots**2 * scale
        rows = np.flatnonzero(bounds > best)
        if not len(rows):
            return best
        true = np.exp(-beta * (rows + where[rows])) * self.from_near_mean(rows, where[rows])
        best = max(best, float(true.max()))
        decay = np.exp(-beta * np.arange(len(self.mean)))
        for h in rows[bounds[rows] > best]:
            row_bound = math.exp(-beta * h) * decay * (outer[h] - self.mean) ** 2 * scale
            low = np.flatnonzero(row_bound > best)
            if len(low):
                terms = math.exp(-beta * h) * decay[low] * self.from_near_mean(np.full(len(low), h), low)
                best = max(best, float(terms.max()))
        return best
