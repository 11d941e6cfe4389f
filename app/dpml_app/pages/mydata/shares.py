"""Shares of one ε that always add up to the whole: moving one takes from the others, or gives to them.

Nothing here knows of Panel. A share of 0 means that the part is left out.
"""

import math
from collections.abc import Collection, Mapping

from dpml._validate import check_number
from dpml.exceptions import InvalidParameter

# of a release, in the order in which they are paid
PARTS = ("selection", "training", "evaluation", "publishing")
START = {"selection": 0.2, "training": 0.4, "evaluation": 0.2, "publishing": 0.2}
# what is smaller is what rounding leaves of nothing
NOTHING = 1e-12


def headroom(shares: Mapping[str, float], part: str, locked: Collection[str]) -> float:
    """Return the most that a part can have while the locked ones keep theirs.

    >>> headroom({"a": 0.5, "b": 0.25, "c": 0.25}, "a", {"c"})
    0.75
    """
    return max(1.0 - math.fsum(share for name, share in shares.items() if name in locked and name != part), 0.0)


def moved(shares: Mapping[str, float], part: str, to: float, locked: Collection[str] = ()) -> dict[str, float]:
    """Return the shares after one of them was moved; the others that are not locked follow in proportion.

    A part that is locked, or whose others are all locked, stays. A part moves no further than there is room. Where all
    that follow have 0 there is no proportion, and each gets the same.

    `shares`: they add up to 1.
    `part`: the one that is moved.
    `to`: its new share, from 0 to 1.
    `locked`: parts that keep their shares.

    Raises `InvalidParameter`: there is no such part, or no such share.

    >>> moved({"a": 0.5, "b": 0.25, "c": 0.25}, "a", 0.0)
    {'a': 0.0, 'b': 0.5, 'c': 0.5}
    >>> moved({"a": 0.5, "b": 0.25, "c": 0.25}, "a", 1.0, {"c"})
    {'a': 0.75, 'b': 0.0, 'c': 0.25}
    """
    if part not in shares:
        raise InvalidParameter("part", part, f"one of {', '.join(shares)}")
    to = check_number(to, "share", 0.0, 1.0)
    follow = [name for name in shares if name != part and name not in locked]
    if part in locked or not follow:
        return dict(shares)
    whole = headroom(shares, part, locked)
    to = _clean(min(to, whole))
    rest, before = _clean(whole - to), math.fsum(shares[name] for name in follow)
    now = {**shares, part: whole if rest == 0 else to}
    for name in follow:
        now[name] = _clean(rest * shares[name] / before if before > NOTHING else rest / len(follow))
    return now


def _clean(share: float) -> float:
    return 0.0 if share < NOTHING else share
