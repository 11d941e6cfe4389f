"""Numbers mapped from their public domain to a fixed interval, each by itself.

A mechanism sees the place of a number in its domain, so every bound on a record's effect rests on these functions. They
return no NaN and nothing outside the interval, whatever the values and the bounds are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["inner_edges", "to_centred", "to_unit", "within"]

FloatArray = NDArray[np.float64]


def to_unit(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [0, 1]: (x - lower)/(upper - lower), and 0 for NaN.

    Examples
    --------
    >>> to_unit([17, 20, 41, np.nan], 17, 29)
    array([0.  , 0.25, 1.  , 0.  ])
    """
    with np.errstate(all="ignore"):
        return within((np.asarray(x, dtype=float) - lower) / (upper - lower), 0.0, 1.0)


def to_centred(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [-1, 1], 0 for the middle of the domain and -1 for NaN.

    Examples
    --------
    >>> to_centred([17, 20, 41, np.nan], 17, 29)
    array([-1. , -0.5,  1. , -1. ])
    """
    with np.errstate(all="ignore"):
        # the sum of two bounds may exceed the largest float; halves change no digit
        middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
        return within((np.asarray(x, dtype=float) - middle) / half, -1.0, 1.0)


def inner_edges(lower: float, upper: float, bins: int) -> list[float]:
    """Return the edges between bins of equal width, lowest first. In a domain of a few floats some may be equal.

    Examples
    --------
    >>> inner_edges(0, 80, 4)
    [20.0, 40.0, 60.0]
    """
    # made smaller by a power of 2, so that no product exceeds the largest float; this changes no digit
    unit = max(bins, 1) if upper - lower > 1 else 1
    unit = 1 << (unit - 1).bit_length()
    return [lower + (upper - lower) / unit * k / bins * unit for k in range(1, bins)]


def within(values: FloatArray, lower: float, upper: float) -> FloatArray:
    """Return values clipped to an interval, and its lower end for NaN."""
    return np.fmin(np.fmax(values, lower), upper)
