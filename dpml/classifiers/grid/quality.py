r"""Quality of a grid (Su et al. 2018, eq. 1 and 5), and its change by one record.

A cell with class counts :math:`a \ge b` predicts the class whose noisy count is larger. With Laplace noise of scale 1/ε
on both counts, the smaller class wins with probability t(d) = e^(-εd)/2·(1 + εd/2), d = a - b (their eq. 8). The
expected number of records that the cell classifies correctly is

    a·(1 - t(d)) + b·t(d) = a - g(d),    g(d) = d·t(d).

This is eq. 1 for two classes. With more classes eq. 5 takes the two largest counts of the cell, so the formula is the
same. A grid's quality is the sum over its cells.

How one record changes it. A record is in one cell of each grid. Let δ(x) = g(x) - g(x-1), x = 1, 2, ...

- It joins the largest class: a and d grow by one, the quality by 1 - δ(d+1).
- It joins the runner-up, and d >= 1: d falls by one, the quality grows by g(d) - g(d-1) = δ(d).
- It joins a smaller class. If that stays behind the runner-up, nothing changes. If it was level with the runner-up, it
  takes its place: the case above, or the first case where all three are level.

So adding a record changes the quality by 0, by δ(x) or by 1 - δ(x). From g'(y) = e^(-εy)·(2 - ε²y²)/4 and the mean
value theorem δ is at most 1/2, and it goes to 0. With m = max(0, -min δ) all changes lie in [-m, 1+m], so the two-sided
sensitivity is 1 + m (Lemma 1) and the range of the score, the length of this interval, is 1 + 2m. Both ends come as
close as they can be: δ and 1 - δ are changes of two cells. A record that is replaced is one removed and one added:
twice the range, and twice the sensitivity.

-g' is largest at y = (1+√3)/ε, where it is (1+√3)·e^(-1-√3)/2 = 0.08891 for every ε. So m < 0.08891, the sensitivity
is below 1.08891 (the paper rounds it to 1.1), and the range is below 1.17782. δ falls up to its smallest value, between
(1+√3)/ε and one more than that, and then grows.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon, check_relation

FloatArray = NDArray[np.float64]
CALIBRATIONS = ("range", "lemma", "published")
# the limit of m for small ε, rounded up
MOST_EXCESS = (1 + math.sqrt(3)) * math.exp(-1 - math.sqrt(3)) / 2 + 1e-12
# below this ε the limit is as good, and differences of g would lose digits
SMALL = 1e-4


def _g(x: Any, epsilon: float) -> Any:
    """Return g(x) = x·t(x), what a cell with a lead of x loses to noise."""
    y = np.minimum(epsilon * np.asarray(x, dtype=float), 800.0)  # e^-800 is 0
    return np.asarray(x, dtype=float) * (np.exp(-y) / 2 * (1 + y / 2))


def quality_excess(epsilon: float) -> float:
    """Return m, by how much a change of the quality by one record can be below 0, or above 1."""
    epsilon = check_epsilon(epsilon)
    if epsilon < SMALL:
        return MOST_EXCESS
    x = math.floor((1 + math.sqrt(3)) / epsilon) + np.arange(3.0)
    x = x[x >= 1]
    # a little more than the rounding error of the differences
    return min(float((_g(x - 1, epsilon) - _g(x, epsilon)).max(initial=0.0)) + 1e-11, MOST_EXCESS)


def quality_sensitivity(epsilon: float) -> float:
    """Return the two-sided sensitivity of the quality under add/remove (Su et al. 2018, Lemma 1)."""
    return 1 + quality_excess(epsilon)


def quality_range(epsilon: float, relation: str = "add-remove", calibration: str = "range") -> float:
    """Return the range R for which the exponential mechanism over grids has weights exp(ε_sel·q/R).

    `epsilon` is that of the noisy counts, a parameter of the quality. "range" is the range of the score, derived here,
    "lemma" twice the sensitivity of Lemma 1, and "published" twice 1.1. The last two are larger than necessary.
    """
    factor = {"add-remove": 1, "replace-one": 2}[check_relation(relation)]
    excess = quality_excess(epsilon)
    ranges = {"range": 1 + 2 * excess, "lemma": 2 * (1 + excess), "published": 2.2}
    return factor * ranges[check_choice(calibration, "calibration", CALIBRATIONS)]


@dataclass(frozen=True)
class GridQuality:
    """The quality of grids of n records. A lead is a whole number from 0 to n, so its terms are looked up.

    `epsilon`: ε of the noisy counts. `n`: number of records.
    """

    epsilon: float
    n: int

    def __post_init__(self):
        leads = np.arange(self.n + 1, dtype=float)
        # a - g(d) = (a + b)/2 + d/2 - g(d)
        object.__setattr__(self, "_gain", leads / 2 - _g(leads, self.epsilon))

    def of_grid(self, counts: NDArray) -> float:
        """Return the quality of one grid from class counts of shape (C, cells)."""
        return float(self.of_grids(counts[:, :, None].astype(np.int32), np.zeros(1, np.intp))[0])

    def of_grids(self, counts: NDArray[np.int32], starts: NDArray[np.intp]) -> FloatArray:
        """Return the quality of grids that lie side by side: counts (K, cells, groups), each from its start on.

        K is the number of classes, or 1 for the difference of two classes.
        """
        gain: FloatArray = self._gain  # type: ignore[attr-defined]
        if len(counts) == 1:
            by_group = gain[np.abs(counts[0])].sum(axis=0)
            return np.add.reduceat(by_group, starts) + self.n / 2
        first, second = np.maximum(counts[0], counts[1]), np.minimum(counts[0], counts[1])
        for more in counts[2:]:
            second = np.maximum(second, np.minimum(first, more))
            first = np.maximum(first, more)
        by_group = ((first + second) / 2 + gain[first - second]).sum(axis=0)
        return np.add.reduceat(by_group, starts)
