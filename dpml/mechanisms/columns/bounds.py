"""Private bounds of numbers: noisy counts of cells with edges at powers of two, and the bounds that are read off them.

Statistic: `count_cells`, exact counts of public cells on both sides of zero. Release: `private_bounds`. The bounds,
`bounds_of`, are post-processing. Noisy counts of such cells are how public libraries find bounds (Wilson et al. 2020);
what is kept of them, and the place of a bound inside its cell, are this project's own (docs/decisions/0063).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_number
from dpml.budget import Budget, charge
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.columns.reading import read_numbers
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import FACTOR, Source, check_start

# exponents of the powers of two: numbers closer to zero count as zero, and larger ones lie in the outermost cells
LEAST, MOST = -20, 40
POWERS = 2.0 ** np.arange(LEAST, MOST + 1)
EDGES = np.concatenate([-POWERS[::-1], POWERS])
N_CELLS, ZERO = len(EDGES) - 1, len(POWERS) - 1
# the ends of each cell; that of zero has no width
ENDS = np.column_stack([EDGES[:-1], EDGES[1:]])
ENDS[ZERO] = 0.0
# CHOICES, compared in benchmarks/private_bounds.py: the probability that any of the empty cells stands out, and how
# many noise scales a cell beside one that stands out must have to be kept
FALSE_ALARM, BESIDE = 0.002, 2.5


@dataclass(frozen=True, eq=False)
class PrivateBounds:
    """Bounds that were paid for.

    Attributes
    ----------
    lower, upper : float
        lower < upper.
    counts : ndarray of shape (121,)
        The noisy number of records in each cell, from the most negative one.
    scale : float
        Of the noise on each count.
    """

    lower: float
    upper: float
    counts: FloatArray
    scale: float

    @property
    def found(self) -> bool:
        """Whether any cell stands out of the noise. The bounds are a guess where none does."""
        return bool((self.counts > clear_of(self.scale)).any())


def private_bounds(
    values: Any,
    epsilon: float,
    *,
    quantiles: tuple[float, float] = (0.01, 0.99),
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
    label: str = "bounds",
) -> PrivateBounds:
    """Release bounds of a column of numbers, near two of its quantiles.

    Released: the number of records, plus Laplace noise (integer noise with ``release=True``), in each of 121 cells with
    edges at ±2^-20, ..., ±2^40, and two bounds that are computed from these counts.

    Privacy: ε per call under `relation`. A record is in one cell: its number changes by 1 if a record is added or
    removed (sensitivity 1), and two numbers change by 1 if a record is replaced (sensitivity 2). A missing value is in
    no cell, which changes the counts by no more.

    A bound at the 1 % point rests on a hundredth of the records. No method finds it in 19 of 20 runs on all data where
    these are fewer than 3/ε (`dpml.mechanisms.columns.bounds.most_certain`). The bound then mostly lies further in.

    Parameters
    ----------
    values : array-like of shape (n,)
        One number of each record.
    epsilon : float
        Privacy parameter, finite and > 0.
    quantiles : tuple of float
        The shares of the records below the lower and below the upper bound, in [0, 1].
    relation : {"add-remove", "replace-one"}
    rng : numpy.random.Generator, optional
        Source of the noise; needed in demonstration, forbidden with ``release=True``.
    on_invalid : {"raise", "clip"}
        What happens to a cell that is no finite number: an error, or it is left out (infinity is in an outermost cell).
    release : bool
        Secure noise, without a seed; nothing is an error then.
    budget : Budget, optional
        Charged before noise is drawn.
    label : str
        Of the charge in the ledger.

    Raises
    ------
    InvalidData
        If `values` has more than one dimension, or a cell that is no finite number with ``on_invalid="raise"``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bounds = private_bounds(rng.normal(100, 15, 5_000), epsilon=0.5, rng=rng)
    >>> bounds.found, round(bounds.lower), round(bounds.upper)
    (True, 64, 216)
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    below, above = check_shares(quantiles)
    exact = count_cells(read_numbers(values, on_invalid))
    charge(budget, relation, check_epsilon(epsilon), label=label)
    noisy = Source(rng, release).counts(exact, epsilon, FACTOR[relation])
    scale = FACTOR[relation] / epsilon
    return PrivateBounds(*bounds_of(noisy, scale, below, above), noisy, scale)


def check_shares(quantiles: Any) -> tuple[float, float]:
    """Return two shares of the records, the first below the second."""
    try:
        below, above = quantiles
    except (TypeError, ValueError):
        raise InvalidParameter("quantiles", quantiles, "two numbers in [0, 1]") from None
    below, above = check_number(below, "quantiles", 0.0, 1.0), check_number(above, "quantiles", 0.0, 1.0)
    if not below < above:
        raise InvalidParameter("quantiles", quantiles, "two numbers in [0, 1], the first below the second")
    return below, above


@statistic
def count_cells(numbers: Any) -> FloatArray:
    """Count the numbers in each cell; NaN is in none. Exact: private."""
    numbers = np.asarray(numbers, dtype=float)
    cell = np.digitize(numbers[~np.isnan(numbers)], EDGES[1:-1])
    return np.bincount(cell, minlength=N_CELLS).astype(float)


def clear_of(scale: float) -> float:
    """Return the count that some empty cell exceeds with probability at most `FALSE_ALARM` (integer noise: twice that).

    The noise of one cell exceeds t with probability exp(-t/b)/2, and one of m cells with at most m times that.
    """
    return scale * math.log(N_CELLS / (2 * FALSE_ALARM))


def bounds_of(noisy: FloatArray, scale: float, below: float, above: float) -> tuple[float, float]:
    """Return the bounds at two shares of the records that the noise lets be seen. Post-processing.

    Kept are the cells that stand out of the noise, and from the outermost of these outward each next cell with more
    than 2.5 noise scales, which an empty one has with probability 4 %. The records of a cell are taken to be spread
    evenly over it. Where nothing stands out, the largest count is kept.
    """
    clear = np.flatnonzero(noisy > clear_of(scale))
    clear = clear if len(clear) else np.array([noisy.argmax()])
    first, last = int(clear[0]), int(clear[-1])
    while first > 0 and noisy[first - 1] > BESIDE * scale:
        first -= 1
    while last < N_CELLS - 1 and noisy[last + 1] > BESIDE * scale:
        last += 1
    inside = np.arange(first, last + 1)
    kept = inside[(noisy[inside] > BESIDE * scale) | np.isin(inside, clear)]
    mass = np.concatenate([[0.0], np.cumsum(np.maximum(noisy[kept], 1.0))])
    lower, upper = np.interp([below * mass[-1], above * mass[-1]], np.repeat(mass, 2)[1:-1], ENDS[kept].ravel())
    return (float(lower), float(upper)) if lower < upper else (-float(POWERS[0]), float(POWERS[0]))


def most_certain(epsilon: float, n_changed: int) -> float:
    """Return how certain a method can be at most to come near a quantile, on each of two data sets.

    The data sets are k steps of the relation apart, and nothing is near the quantile of both. Let a method with privacy
    ε come near with probability p or more on each. On the second it then ends near the first's quantile with
    probability exp(-kε)·p at least (group privacy; Dwork and Roth 2014, Theorem 2.2), and 1 - p at most. So
    p <= 1/(1 + exp(-kε)).
    """
    return 1 / (1 + math.exp(-check_epsilon(epsilon) * n_changed))
