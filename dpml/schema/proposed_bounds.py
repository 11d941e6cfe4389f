"""Bounds that are proposed for a column of numbers: by its name, which is public, or from its values."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpml.schema.untrusted import plain_numbers
from dpml.tables.identifiers import words_of

YEARS = (1850, 2200)
PERSON = "patient|customer|client|person|user|employee|driver|applicant|passenger"
DATED = "date|birth|born|built|arrival|model|sold|start|end|production|publication|graduation|registration|release"
# bounds that a name implies for everybody, in the usual units, and whether the numbers are whole ones. The words of a
# name are joined by underscores.
KNOWN: tuple[tuple[str, float, float, bool], ...] = (
    (rf"(({PERSON})_)?age(_in)?(_years)?", 0, 120, True),
    (rf"(.*({DATED})_)?(year|yr)|(year|yr)_(of_)?({DATED})", *YEARS, True),
    (r"(.*_)?hours?_per_week", 0, 168, True),
    (r"(.*date_)?month", 1, 12, True),
    (r"(.*date_)?day|(.*_)?day_of_(the_)?month", 1, 31, True),
    (r"(.*_)?week_(number|no|of_(the_)?year)", 0, 53, True),
    (r"hour|(.*_)?hour_of_(the_)?day", 0, 23, True),
    (r".*(percent|percentage|pct)", 0, 100, False),
)
# a scale is a few whole numbers from 0 or 1 on, each of which occurs
LONGEST_SCALE = 10
PERCENT = 100
# so many digits at most make a bound that is round
MOST_DIGITS = 3


def known_bounds(name: str) -> tuple[float, float, bool] | None:
    """Return the bounds that a column's name implies, and whether its numbers are whole ones, or None.

    >>> known_bounds("DayOfMonth"), known_bounds("Year_Birth"), known_bounds("YearsAtCompany")
    ((1, 31, True), (1850, 2200, True), None)
    """
    joined = "_".join(words_of(name))
    return next((tuple(facts) for pattern, *facts in KNOWN if re.fullmatch(pattern, joined)), None)  # type: ignore[return-value]


def finite_numbers(column: pd.Series) -> np.ndarray:
    """Return the different finite numbers of a column, ascending. Exact: private."""
    cells = column.dropna()
    # the cells of a type are fewer once they are different; any object may have no hash
    different = pd.Series(cells if cells.dtype == object else cells.unique(), dtype=object)
    values = plain_numbers(different.to_numpy(dtype=object, na_value=None))
    return np.unique(values[np.isfinite(values)])


def bounds_around(column: pd.Series) -> tuple[float, float] | None:
    """Return proposed bounds of a column's numbers, None where they are too few or too large. Private.

    The bounds are round, and hold every value. They are at most twice as far apart as the values, not negative where no
    value is, and whole where all values are. The lower bound is 0, or 1 for a scale from 1, where twice the range
    reaches it. A column that its name calls a year lies between 1850 and 2200 where its values do. A column of one
    value has no bounds.

    No bound is the largest or smallest value of the records, but for 0, 100 and the ends of a scale, which many know.

    >>> bounds_around(pd.Series([18, 41, 64])), bounds_around(pd.Series([1, 2, 3, 4, 5]))
    ((0, 70), (1, 5))
    >>> bounds_around(pd.Series([10.3, 97.6])), bounds_around(pd.Series([-6.4, 5400.0]))
    ((0.0, 100.0), (-7.0, 6000.0))
    """
    values = finite_numbers(column)
    if len(values) < 2:
        return None
    least, most = float(values[0]), float(values[-1])
    whole = bool((values == np.trunc(values)).all())
    if whole and least in (0, 1) and most <= LONGEST_SCALE and len(values) == most - least + 1:
        return int(least), int(most)
    if least >= 0:
        lower, upper = _around(least, most, whole)
    elif most <= 0:
        lower, upper = (0.0 - bound for bound in reversed(_around(-most, -least, whole)))
    else:
        lower, upper = -_beyond(-least, 1), _beyond(most, 1)
    if whole and YEARS[0] <= least and most <= YEARS[1]:
        if not {"year", "yr"}.isdisjoint(words_of(str(column.name))):
            return YEARS
        lower, upper = max(lower, YEARS[0]), min(upper, YEARS[1])
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return None
    return (int(lower), int(upper)) if whole else (lower, upper)


def _around(least: float, most: float, whole: bool) -> tuple[float, float]:
    """Return bounds of numbers of at least 0: from 0 on, or where that is too far away half a range around them."""
    span = Fraction(most) - Fraction(least)
    if most == PERCENT <= 2 * span:
        return 0.0, PERCENT
    for digits in range(1, MOST_DIGITS + 1):
        upper = _beyond(most, digits)
        if math.isfinite(upper) and Fraction(upper) <= 2 * span:
            return 0.0, upper
    if whole and span < 4:  # too few whole numbers to choose from
        return least, most
    # a unit of at most a quarter of the range, and a quarter more on each side: neither bound is a value of a record
    quarter = span / 4
    unit = Fraction(10) ** (Decimal(quarter.numerator) / quarter.denominator).adjusted()
    below, above = Fraction(least) - quarter, Fraction(most) + quarter
    return max(_float(below // unit * unit), 0.0), _float(-(-above // unit) * unit)


def _beyond(value: float, digits: int) -> float:
    """Return the next larger number of so many digits."""
    number = Decimal(value)
    unit = Decimal(1).scaleb(number.adjusted() + 1 - digits)
    return float((number // unit + 1) * unit)


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def rounded(value: Decimal, rounding: str, digits: int) -> float:
    """Return a number rounded to so many digits."""
    return float(value.quantize(Decimal(1).scaleb(value.adjusted() + 1 - digits), rounding)) if value else 0.0


def readable_bounds(lower: float, upper: float, *, whole: bool) -> tuple[float, float]:
    """Return two bounds rounded outward to three digits, and to whole numbers.

    >>> readable_bounds(640.96, 7911.4, whole=False), readable_bounds(0.25, 17.0, whole=True)
    ((640.0, 7920.0), (0, 17))
    """
    low, high = rounded(Decimal(lower), ROUND_FLOOR, 3), rounded(Decimal(upper), ROUND_CEILING, 3)
    return (math.floor(low), math.ceil(high)) if whole else (low, high)


def holds(bounds: tuple[Any, Any], values: np.ndarray) -> bool:
    """Return whether all of some ascending numbers lie within bounds. Private."""
    return not len(values) or bool(bounds[0] <= values[0] and values[-1] <= bounds[1])
