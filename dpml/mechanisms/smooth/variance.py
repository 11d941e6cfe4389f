"""Sensitivities of the variance and the trimmed variance (ddof 0).

The notation is that of `location`. C is the kept part without the value that changes. The kept values are C and one
more value a, which lies between C's outer neighbours, and

    N·Var(C and a) = SS(C) + (N-1)/N·(a - mean C)².

So replacing a by b moves the variance by (N-1)/N²·|(a - mean C)² - (b - mean C)²|. The largest moves have one of the
two at an outer neighbour of C, and the other at C's mean or as near to it as the data allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpml.mechanisms.smooth._order import Floats, Ordered, decayed_gaps, widen
from dpml.mechanisms.smooth._reach import Reach


@dataclass(frozen=True)
class Variance:
    """The variance of the kept values (all values for `trim` = 0). It is 0 when fewer than two are kept."""

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

    def at_distances(self, count: int, beta: float) -> Floats:
        """Return A^(k) under replace-one; under add/remove, an upper bound on it, derived in `_reach`."""
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
    outer: Floats  # x_(n-m+h), h = 0, ..., min(m, limit) + 1
    rest_mean: Floats  # mean of the N-1 values from rank m+1-l on, by l
    mean: Floats  # mean of the N values from rank m+1-l on, by l

    @classmethod
    def build(cls, sample: Ordered, trim: int, size: int, limit: int) -> _Side:
        outer = sample.at(sample.n - trim + np.arange(min(trim, limit) + 2))
        rest_mean = sample.falling_means(trim + 1, size - 1, limit)
        mean = sample.falling_means(trim + 1, size, limit)
        return cls(sample, trim, size, outer, rest_mean, mean)

    @property
    def factor(self) -> float:
        return (self.size - 1) / self.size**2

    def to_mean(self, h: np.ndarray, low: np.ndarray) -> Floats:
        return self.factor * (self.outer[h] - self.rest_mean[low]) ** 2

    def from_near_mean(self, h: np.ndarray, low: np.ndarray) -> Floats:
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
