"""The points that one drags: presets, and their short form for the link. Values lie on [0, 100] in steps of 0.1."""

import re

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

LOWER, UPPER, STEPS = 0.0, 100.0, 10  # bounds, and steps in a unit
SIZES = (10, 20, 50, 100, 200)
PRESETS = {
    "bell": "Bell",
    "equal": "All equal",
    "skewed": "Skewed",
    "clumps": "Two clumps",
    "outlier": "One outlier",
}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST = round((UPPER - LOWER) * STEPS)


def preset(name: str, size: int) -> NDArray[np.float64]:
    """Return `size` points of a preset: quantiles of its distribution, so that no seed is needed.

    >>> preset("clumps", 4).tolist()
    [21.6, 28.4, 71.6, 78.4]
    """
    p = (np.arange(size) + 0.5) / size
    if name == "equal":
        x = np.full(size, 50.0)
    elif name == "bell":
        x = 50 + 12 * norm.ppf(p)
    elif name == "skewed":
        x = 5 - 14 * np.log1p(-p)
    elif name == "clumps":
        half = norm.ppf((np.arange(size // 2) + 0.5) / (size // 2))
        x = np.concatenate([25 + 5 * half, 75 + 5 * half])
    else:
        x = np.append(35 + 4 * norm.ppf((np.arange(size - 1) + 0.5) / (size - 1)), 97.0)
    return np.round(np.clip(x, LOWER, UPPER) * STEPS) / STEPS


def encode(points: NDArray[np.float64]) -> str:
    """Return two characters a point, after a letter that keeps a link from being read as a number.

    Examples
    --------
    >>> encode(np.array([0.0, 3.6, 100.0]))
    'p0010rs'
    """
    steps = np.rint((np.asarray(points) - LOWER) * STEPS).astype(int)
    return "p" + "".join(_DIGITS[k // 36] + _DIGITS[k % 36] for k in steps)


def decode(code: str) -> NDArray[np.float64]:
    """Return the points of a code.

    >>> decode("p0010rs").tolist()
    [0.0, 3.6, 100.0]
    """
    return np.array([int(code[i : i + 2], 36) for i in range(1, len(code), 2)]) / STEPS + LOWER


def is_code(code: object) -> bool:
    """Return whether a text is a code of 2 to 200 points, or empty.

    >>> is_code("p0010rs"), is_code("pzz00"), is_code("p001")
    (True, False, False)
    """
    if not isinstance(code, str):
        return False
    if code == "":
        return True
    if not re.fullmatch("p([0-9a-z]{2}){2,200}", code):
        return False
    return all(int(code[i : i + 2], 36) <= _MOST for i in range(1, len(code), 2))


def heights(size: int) -> NDArray[np.float64]:
    """Return where the points stand above the axis: it means nothing, and keeps near ones apart for the pointer."""
    return np.asarray(0.1 + 0.8 * ((np.arange(size) * 0.6180339887498949) % 1.0))
