"""Numbers mapped from their public domain to a fixed interval, each by itself.

A mechanism sees the place of a number in its domain, so every bound on a record's effect rests on these functions. They
return no NaN and nothing outside the interval, whatever the values and the bounds are.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
# where bins grow from 0, that of 0 has 2^-20 of the domain
SPAN = 20


def to_unit(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [0, 1]: (x - lower)/(upper - lower), and 0 for NaN."""
    with np.errstate(all="ignore"):
        return within((np.asarray(x, dtype=float) - lower) / (upper - lower), 0.0, 1.0)


def to_centred(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [-1, 1], 0 for the middle of the domain and -1 for NaN."""
    with np.errstate(all="ignore"):
        # the sum of two bounds may exceed the largest float; halves change no digit
        middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
        return within((np.asarray(x, dtype=float) - middle) / half, -1.0, 1.0)


def inner_edges(lower: float, upper: float, bins: int) -> list[float]:
    """Return the edges between bins of equal width, lowest first. In a domain of a few floats some may be equal."""
    # made smaller by a power of 2, so that no product exceeds the largest float; this changes no digit
    unit = max(bins, 1) if upper - lower > 1 else 1
    unit = 1 << (unit - 1).bit_length()
    return [lower + (upper - lower) / unit * k / bins * unit for k in range(1, bins)]


def growing_edges(lower: float, upper: float, powers: Iterable[float]) -> list[float]:
    """Return edges at 2^-p of the way from 0 to the bounds for each power p, lowest first.

    A domain on both sides of 0 has them on both, and 0. One that does not contain 0 has them from the bound next to 0.
    In a domain of a few floats some are left out.

    >>> growing_edges(0, 80, (1, 3)), growing_edges(-4, 80, (1, 3)), growing_edges(20, 100, (1, 3))
    ([10.0, 40.0], [-2.0, -0.5, 0.0, 10.0, 40.0], [30.0, 60.0])
    """
    origin = min(max(lower, 0.0), upper)
    # of two bounds one is the origin, or they have different signs, so that no difference exceeds the largest float
    edges = {origin, *(origin + (end - origin) * 2.0**-power for power in powers for end in (lower, upper))}
    return sorted(edge for edge in edges if lower < edge < upper)


def growing_powers(lower: float, upper: float, number: int) -> list[float]:
    """Return powers at equal steps up to `SPAN`, with which `growing_edges` returns at most so many edges."""
    steps = (number - 1) // 2 if lower < 0 < upper else number
    return [SPAN * k / steps for k in range(1, steps + 1)]


def log_edges(lower: float, upper: float, bins: int) -> list[float]:
    """Return the edges between bins that have the same width on a logarithmic scale, or grow from 0 if that is inside.

    >>> [f"{edge:.4g}" for edge in log_edges(1, 10_000, 4)], [f"{edge:.4g}" for edge in log_edges(0, 1024, 3)]
    (['10', '100', '1000'], ['0.0009766', '1'])
    """
    if lower <= 0 <= upper:
        return growing_edges(lower, upper, growing_powers(lower, upper, bins - 1))
    first, last = (math.log(abs(bound)) for bound in (lower, upper))
    sizes = (math.exp(first + (last - first) * k / bins) for k in range(1, bins))
    edges = {math.copysign(size, upper) for size in sizes}
    return sorted(edge for edge in edges if lower < edge < upper)


def within(values: FloatArray, lower: float, upper: float) -> FloatArray:
    """Return values clipped to an interval, and its lower end for NaN."""
    return np.fmin(np.fmax(values, lower), upper)
