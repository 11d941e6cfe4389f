"""Sensitivities of the mean, the trimmed mean and the median: gaps between order statistics.

Notation: x_(1) <= ... <= x_(n) with x_(i) = L for i < 1 and U for i > n. m values are trimmed at each end, N = n - 2m,
and R = U - L. Both statistics have the replace-one local sensitivity at distance k

    A^(k) = (largest of x_(top + p) - x_(bottom - l) over p + l = k + 1, p, l >= 0) / divisor,

with top = n - m, bottom = m + 1 and divisor N for the trimmed mean, and top = bottom = ⌈n/2⌉ and divisor 1 for the
median (Nissim, Raskhodnikova and Smith 2007, section 3.1). For the trimmed mean, one replacement moves the sum of the
kept values by at most the gap between the two outer neighbours of the other kept values. k replacements before it widen
that gap by k ranks.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpml.mechanisms.smooth._order import Floats, Ordered, decayed_gaps, widen
from dpml.mechanisms.smooth._reach import Reach


@dataclass(frozen=True)
class _Gaps:
    """The gaps between order statistics that define A^(k), in the notation of the module's docstring."""

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

    def at_distances(self, count: int) -> Floats:
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
        and for values at one end. The bound from distances to the mean (`_reach`) is elsewhere as small as half of it.
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

    def at_distances(self, count: int, beta: float) -> Floats:
        """Return A^(k) under replace-one; under add/remove, the bound on it that `smooth` uses at this β."""
        if self.relation == "replace-one":
            if self.kept < 1:
                return np.zeros(count)
            return np.maximum.accumulate(self._gaps.at_distances(count)) / self.kept
        reach = self._reach()
        return reach.at_distances(count) if reach.smooth(beta) <= self._smooth_gaps(beta) else self._gap_bounds(count)

    def _gap_bounds(self, count: int) -> Floats:
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

    def at_distances(self, count: int, beta: float) -> Floats:
        """Return A^(k) under replace-one; the same gaps bound it under add/remove.

        Adding or removing a value moves the ranks of a gap's ends, counted from ⌈n/2⌉, by at most one, so the gap at
        distance k lies inside one at distance k + 1 of the neighbour.
        """
        if self._constant:
            return np.zeros(count)
        return np.maximum.accumulate(self._gaps.at_distances(count))
