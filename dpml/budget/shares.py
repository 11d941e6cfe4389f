"""Division of ε into parts whose exact sum, as rationals and not only up to rounding, is at most ε."""

import math
from collections.abc import Sequence
from fractions import Fraction

from dpml._validate import check_epsilon, check_integer, check_number


def split_epsilon(epsilon: float, share: float) -> tuple[float, float]:
    """Return two floats, about ε·share and the rest, whose exact sum is at most ε."""
    epsilon = check_epsilon(epsilon)
    share = check_number(share, "share", 0.0, 1.0, open_lower=True, open_upper=True)
    first = epsilon * share
    return first, rest_of(epsilon, first)


def rest_of(epsilon: float, spent: float) -> float:
    """Return `epsilon` - `spent`, rounded so that the exact sum with `spent` is at most ε."""
    rest = epsilon - spent
    return math.nextafter(rest, 0.0) if Fraction(spent) + Fraction(rest) > Fraction(epsilon) else rest


def equal_share(epsilon: float, parts: float) -> float:
    """Return about ε/parts, a float that times `parts` is exactly at most ε."""
    share = epsilon / parts
    while Fraction(share) * Fraction(parts) > Fraction(epsilon):
        share = math.nextafter(share, 0.0)
    return share


def divide_epsilon(epsilon: float, shares: Sequence[float], counts: Sequence[int], *, power: int = 1) -> list[float]:
    """Return the ε of one part of each kind, about ε·share, such that all parts together cost at most ε.

    There are `counts` parts of each kind, and the sum of `counts` times `shares` is about 1. With ``power=2`` the
    squares of all parts add up to at most ε², the composition of concentrated differential privacy. Shares are then
    still shares of ε, and the squares of all of them add up to about 1.
    """
    counts = [check_integer(count, "counts") for count in counts]
    parts = [epsilon * share for share in shares]
    whole = Fraction(epsilon) ** power
    while sum(count * Fraction(part) ** power for part, count in zip(parts, counts, strict=True)) > whole:
        parts = [math.nextafter(part, 0.0) for part in parts]
    return parts
