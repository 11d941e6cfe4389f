"""Private metadata of a column of numbers: bounds near two quantiles, and quantiles within public bounds.

The bounds follow from noisy counts of cells with edges at powers of two (`private_bounds`). Noisy counts of such cells
are how public libraries find bounds (Wilson et al. 2020). The choice of cells, and the place of a bound inside its
cell, are this project's own (docs/decisions/0063 and 0074). A quantile is a private selection among the points of a
public grid (`private_quantiles`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_epsilon, check_integer, check_number
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share, split_epsilon
from dpml.claims import claim
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.private import Private, for_study, statistic
from dpml.mechanisms.smooth.formulas import check_bounds
from dpml.mechanisms.source import FACTOR, Source, check_start
from dpml.schema.cells import plain_cells, plain_numbers

# Exponents of the powers of two, from 9e-16 to 2e18 (nanoseconds since 1970). Numbers closer to zero count as zero.
LEAST, MOST = -50, 61
POWERS = 2.0 ** np.arange(LEAST, MOST + 1)
LARGEST = float(POWERS[-1])
EDGES = np.concatenate([-POWERS[::-1], POWERS])
# The two outermost cells have no end: all numbers beyond the last edge are in them.
N_CELLS, ZERO = len(EDGES) + 1, len(POWERS)
ENDS = np.column_stack([np.append(-2 * LARGEST, EDGES), np.append(EDGES, 2 * LARGEST)])
ENDS[ZERO] = 0.0
# A bound from an outermost cell is beyond the last edge, so that its value says so.
ENDS[0, 1], ENDS[-1, 0] = -math.nextafter(LARGEST, math.inf), math.nextafter(LARGEST, math.inf)
# CHOICES, compared in benchmarks/private_bounds.py: the probability that the noise of any empty cell exceeds the
# threshold, and how many noise scales a cell beside one above the threshold must have to be kept.
FALSE_ALARM, BESIDE = 0.002, 2.5
# A bound within this share of a cell's width from its outer end is moved to that end: records may be at the end.
NEAR_END = 1 / 8
# The second look: its share of ε in `private_facts`, the largest ratio of the ends of a narrow range, and its cells.
SECOND_LOOK, NARROW, N_FINER = 0.125, 8.0, 64
# The kept cells of the second look must have this share of the records that the first look found. An empty cell that
# exceeds the noise makes bounds of the first look wider, but those of the second would have no record inside.
MOST_RECORDS, FINER_ALARM = 0.75, 0.0002
# The most points of the grid of quantiles, less one: more of them are told apart by no more records.
MOST_POINTS = 1 << 20


# ---- reading ------------------------------------------------------------------------------------------------------


def read_numbers(values: Any, on_invalid: str) -> Any:
    """Return the numbers of a column, NaN for a cell that is none: private.

    With ``on_invalid="raise"``, for a simulation, such a cell or an infinite one is an error.
    """
    numbers = _numbers(Private(values))
    refuse_invalid(on_invalid, _valid(numbers), "finite number")
    return numbers


def refuse_invalid(on_invalid: str, valid: Any, what: str) -> None:
    """Raise, in a simulation, where a cell is not valid."""
    if on_invalid == "raise" and not for_study(valid, False):
        raise InvalidData(f'values has a cell that is no {what}: leave it out, or state on_invalid="clip"')


@statistic
def _valid(numbers: Any) -> bool:
    return bool(np.isfinite(numbers).all())


@statistic
def _numbers(values: Any) -> FloatArray:
    return plain_numbers(one_dimension(values))


def one_dimension(values: Any) -> NDArray:
    """Return the cells of one column: each record has one of them."""
    cells = plain_cells(values)
    if cells.ndim != 1:
        raise InvalidData(f"values has {cells.ndim} dimensions: it must have 1")
    return cells


# ---- bounds -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PrivateBounds:
    """Bounds that `private_bounds` released.

    Attributes
    ----------
    lower, upper : float
        The bounds, lower < upper. They are a guess where `found` is false.
    counts : ndarray of shape (225,)
        Noisy number of records in each cell, from the most negative one.
    scale : float
        Scale of the noise on each count, that of Laplace noise with this variance.

    See Also
    --------
    private_bounds : Releases these bounds.
    """

    lower: float
    upper: float
    counts: FloatArray
    scale: float

    @property
    def found(self) -> bool:
        """Whether both bounds were found."""
        return self.lower_found and self.upper_found

    @property
    def lower_found(self) -> bool:
        """Whether some count exceeds the noise, and no outermost cell decides the lower bound."""
        return not self.hidden and abs(self.lower) <= LARGEST

    @property
    def upper_found(self) -> bool:
        """Whether some count exceeds the noise, and no outermost cell decides the upper bound."""
        return not self.hidden and abs(self.upper) <= LARGEST

    @property
    def hidden(self) -> bool:
        """Whether no count exceeds the noise."""
        return not (self.counts > clear_of(self.scale)).any()

    @property
    def only_zero(self) -> bool:
        """Whether the noise shows zeros alone: the bounds are those of the cell for zero."""
        return -POWERS[0] <= self.lower and self.upper <= POWERS[0]


@claim(
    "private-bounds",
    "Bounds of a column of numbers",
    "noisy counts of cells with edges at powers of two",
    "ε, under each relation",
)
def private_bounds(
    values: Any,
    epsilon: float,
    *,
    quantiles: tuple[float, float] = (0.01, 0.99),
    second_look: float = 0.0,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
    label: str = "bounds",
) -> PrivateBounds:
    """Release bounds of a column of numbers, near two of its quantiles.

    The function counts the records in each of 225 cells with edges at ±2^-50, ..., ±2^61. It releases these counts plus
    Laplace noise (integer noise with ``release=True``), and computes two bounds from them. The innermost cell, for
    zero, holds all numbers closer to it. The two outermost ones hold all numbers beyond ±2^61. If such a cell decides a
    bound, that bound is not found.

    Parameters
    ----------
    values : array-like of shape (n,)
        One number of each record.
    epsilon : float
        Privacy parameter ε, finite and > 0.
    quantiles : tuple of float, default=(0.01, 0.99)
        Shares of the records below the lower and below the upper bound, in [0, 1].
    second_look : float, default=0.0
        Share of ε, in [0, 1), for a second release. If the first finds a range with ends of one sign and a ratio of at
        most 8, the second counts the records in 64 even cells of it. Otherwise it counts the same cells again, and
        `counts` is the weighted mean of both.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, and ``release=True`` forbids it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a cell that is no finite number. "raise" raises an error. "clip" leaves it out, except that
        infinity is in an outermost cell.
    release : bool, default=False
        Whether to draw secure noise without a seed. Invalid cells then never raise an error.
    budget : Budget, optional
        Privacy budget that is charged before noise is drawn.
    label : str, default="bounds"
        Label of the charge in the ledger.

    Returns
    -------
    PrivateBounds
        The bounds, the noisy counts, and the scale of the noise.

    Raises
    ------
    InvalidData
        If `values` has more than one dimension, or a cell that is no finite number with ``on_invalid="raise"``.

    See Also
    --------
    private_quantiles : Releases quantiles within given bounds.
    private_facts : Releases bounds and categories of several columns.

    Notes
    -----
    Privacy: ε = epsilon per call. δ = 0. Relation: `relation`. Sensitivity: 1 (add/remove-one) or 2 (replace-one) in L1
    norm.

    Derivation. A record is in one cell. Its number changes by 1 if a record is added or removed (sensitivity 1), and
    two numbers change by 1 if a record is replaced (sensitivity 2). A missing value is in no cell, which changes the
    counts by no more. The number of cells does not matter. With `second_look`, counts of other public cells are
    released after the first. In these, too, a record is in at most one cell, and both shares of ε add up to ε.

    A bound at the 1% point rests on a hundredth of the records. No method finds it in 19 of 20 runs on all data where
    these are fewer than 3/ε (`dpml.mechanisms.columns.numbers.most_certain`). The bound then mostly lies further in.

    References
    ----------
    - Wilson et al. (2020), bounds from noisy counts of such cells. The choice of cells, and the place of a bound inside
      its cell, are this project's own.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bounds = private_bounds(rng.normal(100, 15, 5_000), epsilon=0.5, rng=rng)
    >>> bounds.found, round(bounds.lower), round(bounds.upper)
    (True, 64, 216)
    >>> narrow = private_bounds(rng.normal(1970, 20, 5_000), epsilon=0.5, second_look=0.1, rng=rng)
    >>> narrow.found, round(narrow.lower), round(narrow.upper)
    (True, 1864, 2048)
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    below, above = check_shares(quantiles)
    second_look = check_number(second_look, "second_look", 0.0, 1.0, open_upper=True)
    numbers = read_numbers(values, on_invalid)
    exact = count_cells(numbers)
    charge(budget, relation, check_epsilon(epsilon), label=label)
    source, factor = Source(rng, release), FACTOR[relation]
    first, second = split_epsilon(epsilon, 1 - second_look) if second_look else (epsilon, 0.0)
    noisy, scale = source.counts(exact, first, factor), factor / first
    narrow = narrow_range(noisy, scale) if second else None
    if narrow is not None:
        finer = source.counts(count_between(numbers, *narrow[:2]), second, factor)
        bounds = finer_bounds(finer, factor / second, *narrow)
        if bounds is not None:
            return PrivateBounds(*bounds, noisy, scale)
    elif second:
        # weights by the inverse of the variances
        again = source.counts(exact, second, factor)
        noisy = np.average([noisy, again], axis=0, weights=[first**2, second**2])
        scale = factor / math.hypot(first, second)
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
    """Return the exact number of numbers in each cell, without NaN. Private."""
    numbers = np.asarray(numbers, dtype=float)
    return np.bincount(np.digitize(numbers[~np.isnan(numbers)], EDGES), minlength=N_CELLS).astype(float)


@statistic
def count_between(numbers: Any, low: float, high: float) -> FloatArray:
    """Return the exact number of numbers in each of `N_FINER` even cells of [low, high), without others. Private."""
    numbers = np.asarray(numbers, dtype=float)
    cell = np.digitize(numbers[~np.isnan(numbers)], np.linspace(low, high, N_FINER + 1))
    return np.bincount(cell, minlength=N_FINER + 2)[1:-1].astype(float)


def clear_of(scale: float, n_cells: int = N_CELLS, alarm: float = FALSE_ALARM) -> float:
    """Return the count that some empty cell exceeds with probability at most `alarm` (integer noise: twice that).

    The noise of one cell exceeds t with probability exp(-t/b)/2, and one of m cells with at most m times that. The
    weighted mean of two looks is a sum of two Laplace variables with scales s1 > s2. It exceeds t with probability
    (s1²·exp(-t/s1) - s2²·exp(-t/s2))/(2(s1² - s2²)). From 2.5 scales on this is at most that of Laplace noise with the
    same variance.
    """
    return scale * math.log(n_cells / (2 * alarm))


def kept_cells(noisy: FloatArray, scale: float, alarm: float = FALSE_ALARM) -> IntArray:
    """Return the cells that exceed the noise, with their neighbours from the outermost ones outward.

    A next cell is kept with more than 2.5 noise scales, which an empty one has with probability 4%.
    """
    clear = np.flatnonzero(noisy > clear_of(scale, len(noisy), alarm))
    if not len(clear):
        return clear
    first, last = int(clear[0]), int(clear[-1])
    while first > 0 and noisy[first - 1] > BESIDE * scale:
        first -= 1
    while last < len(noisy) - 1 and noisy[last + 1] > BESIDE * scale:
        last += 1
    inside = np.arange(first, last + 1)
    return inside[(noisy[inside] > BESIDE * scale) | np.isin(inside, clear)]


def bounds_of(noisy: FloatArray, scale: float, below: float, above: float) -> tuple[float, float]:
    """Return the bounds at two shares of the records, from the kept cells. Post-processing.

    The records of a cell are taken to be spread evenly over it, but a bound near the outer end of its cell is moved to
    that end: the records may all be there. Where no cell exceeds the noise, the largest count is used.
    """
    kept = kept_cells(noisy, scale)
    kept = kept if len(kept) else np.array([noisy.argmax()])
    sizes = np.maximum(noisy[kept], 1.0)
    mass = np.cumsum(sizes)
    i, j = np.minimum(np.searchsorted(mass, np.array([below, above]) * mass[-1]), len(kept) - 1)
    # how far inside its cell each bound is, from the cell's outer end
    inside = (below * mass[-1] - mass[i] + sizes[i]) / sizes[i], (mass[j] - above * mass[-1]) / sizes[j]
    steps = [0.0 if share < NEAR_END else share for share in inside]
    (low, low_end), (high_end, high) = ENDS[kept[i]], ENDS[kept[j]]
    lower, upper = low + steps[0] * (low_end - low), high - steps[1] * (high - high_end)
    return (float(lower), float(upper)) if lower < upper else (-float(POWERS[0]), float(POWERS[0]))


def narrow_range(noisy: FloatArray, scale: float) -> tuple[float, float, float] | None:
    """Return the ends of the kept cells and the sum of their counts.

    None where the cells are not narrow, or an end of them is open.
    """
    kept = kept_cells(noisy, scale)
    if not len(kept) or kept[0] == 0 or kept[-1] == N_CELLS - 1 or kept[0] <= ZERO <= kept[-1]:
        return None
    low, high = float(ENDS[kept[0], 0]), float(ENDS[kept[-1], 1])
    narrow = max(abs(low), abs(high)) <= NARROW * min(abs(low), abs(high))
    return (low, high, float(noisy[kept].sum())) if narrow else None


def finer_bounds(
    noisy: FloatArray, scale: float, low: float, high: float, n_records: float
) -> tuple[float, float] | None:
    """Return the ends of the kept ones of even cells, half of their width further out: their noise hides the tails.

    None where no cell exceeds the noise, or the kept cells have too few of about `n_records` records.
    """
    kept = kept_cells(noisy, scale, FINER_ALARM)
    if not len(kept) or noisy[kept[0] : kept[-1] + 1].sum() < MOST_RECORDS * n_records:
        return None
    edges = np.linspace(low, high, len(noisy) + 1)
    first, last = edges[kept[0]], edges[kept[-1] + 1]
    return float(max(low, first - (last - first) / 2)), float(min(high, last + (last - first) / 2))


def most_certain(epsilon: float, n_changed: int) -> float:
    """Return the largest certainty with which a method can come near a quantile, on each of two data sets.

    The data sets are k steps of the relation apart, and nothing is near the quantile of both. Let a method with privacy
    ε come near with probability p or more on each. On the second it then ends near the first's quantile with
    probability exp(-kε)·p at least (group privacy, Dwork and Roth 2014, Theorem 2.2), and 1 - p at most. So
    p <= 1/(1 + exp(-kε)).
    """
    return 1 / (1 + math.exp(-check_epsilon(epsilon) * n_changed))


# ---- quantiles ----------------------------------------------------------------------------------------------------


@claim(
    "private-quantiles",
    "Quantiles of a column of numbers",
    "[smith2011], by the exponential mechanism on a public grid",
    "ε for all quantiles together",
)
@claim(
    "private-quantiles-release",
    "Quantiles of a column of numbers, release",
    "[smith2011], by permute-and-flip on a public grid",
    "ε for all quantiles together",
)
def private_quantiles(
    values: Any,
    quantiles: Sequence[float],
    epsilon: float,
    *,
    lower: float,
    upper: float,
    n_cells: int = 1024,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
    label: str = "quantiles",
) -> FloatArray:
    """Release quantiles of a column of numbers.

    Each quantile is one of the `n_cells` + 1 points that divide [`lower`, `upper`] evenly. The exponential mechanism
    selects it, or with ``release=True`` permute-and-flip. The released quantiles are in order.

    Parameters
    ----------
    values : array-like of shape (n,)
        One number of each record. One beyond a bound is moved to it.
    quantiles : sequence of float
        Shares of the records in [0, 1], in increasing order.
    epsilon : float
        Privacy parameter ε of all quantiles together, finite and > 0.
    lower, upper : float
        Public bounds, or private ones (`private_bounds`).
    n_cells : int, default=1024
        Number of cells between the bounds, from 1 to 2^20. The points' distance is (`upper` - `lower`)/`n_cells`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, and ``release=True`` forbids it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a cell that is no finite number. "raise" raises an error. "clip" leaves it out, except that
        infinity is moved to a bound.
    release : bool, default=False
        Whether to draw secure noise without a seed. Invalid cells then never raise an error.
    budget : Budget, optional
        Privacy budget that is charged before noise is drawn.
    label : str, default="quantiles"
        Label of the charge in the ledger.

    Returns
    -------
    ndarray of shape (len(quantiles),)
        The quantiles in increasing order, in the units of `values`.

    See Also
    --------
    private_bounds : Releases bounds of a column.
    ExponentialMechanism : Selects a candidate privately.

    Notes
    -----
    Privacy: ε = epsilon per call. δ = 0. Relation: `relation`. Sensitivity: range of the score changes 2·max(q, 1-q)
    (add/remove-one) or 2 (replace-one).

    Derivation. Each quantile has the same share of ε. A point's score is -|(1-q)·B - q·A|, with B values below it and A
    others. An added value changes (1-q)·B - q·A by 1-q at the points above the value and by -q at the others, so scores
    by at most max(q, 1-q) in either direction. A replaced one changes it by 1 between two values. The range of the
    changes is 2·max(q, 1-q), or 2 under replace-one.

    References
    ----------
    - Smith (2011), here on points of a grid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> private_quantiles(rng.random(2_000), (0.25, 0.5, 0.75), 1.0, lower=0, upper=1, rng=rng).round(1)
    array([0.2, 0.5, 0.7])
    """
    on_invalid = check_start(on_invalid, rng, release, relation)
    shares = [check_number(q, "quantiles", 0.0, 1.0) for q in quantiles]
    if not shares or sorted(shares) != shares:
        raise InvalidParameter("quantiles", quantiles, "one or more numbers in [0, 1], in increasing order")
    lower, upper = check_bounds(lower, upper)
    points = np.linspace(lower, upper, check_integer(n_cells, "n_cells", 1, MOST_POINTS) + 1)
    numbers = read_numbers(values, on_invalid)
    charge(budget, relation, check_epsilon(epsilon), label=label)
    source, share = Source(rng, release), equal_share(epsilon, len(shares))
    chosen = [source.choice(quantile_scores(numbers, points, q), share, quantile_range(q, relation)) for q in shares]
    return points[np.sort(chosen)]


@statistic
def quantile_scores(numbers: Any, points: FloatArray, q: float) -> FloatArray:
    """Return the score of each point as the q-quantile: 0 where it is one. NaN is left out. Exact: private."""
    numbers = np.asarray(numbers, dtype=float)
    numbers = np.sort(np.clip(numbers[~np.isnan(numbers)], points[0], points[-1]))
    below = np.searchsorted(numbers, points)
    return 0.0 - np.abs((1 - q) * below - q * (len(numbers) - below))


def quantile_range(q: float, relation: str) -> float:
    """Return the range of the changes of all scores between neighbours: see `private_quantiles`."""
    return 2 * max(q, 1 - q) if relation == "add-remove" else 2.0
