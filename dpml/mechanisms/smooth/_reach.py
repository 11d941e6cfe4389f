r"""A smooth upper bound for the mean and the variance of the kept values under add/remove.

The notation is that of `location`. Let D be the larger distance from the kept values' mean to their two outer
neighbours, x_(n-m+1) and x_(m), and N >= 2. Adding a value puts one value within [x_(m), x_(n-m+1)] among the kept
values, and removing takes a kept value away, so the mean moves by at most D/(N+1) or D/(N-1). The variance V moves by
N/(N+1)²·d² - V/(N+1) or by V/(N-1) - N/(N-1)²·d², d the distance of the value from the mean. With V <= D², and
V >= d²/(N-1) for a kept value, both are at most D²/(N-1). With q = 1 for the mean and q = 2 for the variance, the local
sensitivity LS is at most D^q/(N-1). It is also at most a global constant G: R/2 for the mean (N = 1 to 0) and R²/4 for
the variance (its largest value).

Let D_k be the largest over h + j = k, 0 <= h <= m, of

    x_(n-m+1+h) - mean(x_(m+1-j), ..., x_(n-m-j)),

the distance between the upper neighbour after h values were added on top and the mean after j values moved from top to
bottom; or the same for the mirrored sample. Then D_(k+1)(y) >= D_k(x) for neighbours x and y:

- y is x with a value added. Ranks counted from the top do not fall, so h may stay. Compared with x's window at j, y's
  window at j + 1 holds the same values or lower ones.
- y is x with a value removed that lay above x_(n-m+1+h). At h + 1 y has the old neighbour; y's window at j is x's
  without its largest value.
- y is x with another value removed. At h y has the old neighbour; y's window at j + 1 lies below x's at j without its
  largest value.

Hence B^(k) = min(G, D_k^q/(N - k - 1)) while N - k >= 2, and G from then on, satisfies B^(k)(x) <= B^(k+1)(y) and
LS <= B^(0). So the largest exp(-βk) B^(k) is a β-smooth upper bound. It remains one with LS(x) itself at k = 0, since
exp(-β) B^(1)(y) >= exp(-β) B^(0)(x) >= exp(-β) LS(x).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpml.mechanisms.smooth._order import LEAST, Floats, Ordered


@dataclass(frozen=True)
class Reach:
    """The bound for one sample, derived in the module's docstring.

    `trim`: m, values left out at each end. `power`: q, 1 for the mean and 2 for the variance. `ceiling` is G. `local`:
    the exact local sensitivity.
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

    def _sides(self, count: int) -> list[tuple[Floats, Floats]]:
        """Return, for each side, the outer neighbours by h and the window means by j."""
        if count < 1:
            return []
        top = self.sample.n - self.trim + 1 + np.arange(min(self.trim, count) + 1)
        sides = (self.sample, self.sample.mirrored)
        return [(s.at(top), s.falling_means(self.trim + 1, self.size, count - 1)) for s in sides]

    def at_distances(self, count: int) -> Floats:
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
