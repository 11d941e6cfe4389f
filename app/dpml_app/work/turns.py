"""Whose turn it is: what waits goes by rank, and within a rank its owners take turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from enum import IntEnum
from typing import Generic, TypeVar

import panel as pn

__all__ = ["Rank", "Turns", "session"]

T = TypeVar("T")

# so many of a rank in a row, then one of a lower rank that waits: whoever drags a slider without a pause stops nobody
IN_A_ROW = 8


class Rank(IntEnum):
    """What goes first: answers at the current setting, then curves, then what is computed when nothing else is."""

    NOW = 0
    CURVES = 1
    IDLE = 2


def session() -> Hashable | None:
    """Return the session whose code runs, or None: it owns what it asks for."""
    return pn.state.curdoc


class Turns(Generic[T]):
    """Things that wait. Not safe for threads.

    Examples
    --------
    >>> turns = Turns()
    >>> for item in ("a1", "a2", "a3", "b1"):
    ...     turns.put(item, owner=item[0], rank=Rank.CURVES)
    >>> turns.put("c1", owner="c", rank=Rank.NOW)
    >>> [turns.take() for _ in range(6)]
    ['c1', 'a1', 'b1', 'a2', 'a3', None]
    """

    def __init__(self) -> None:
        self._waiting: dict[Rank, OrderedDict[Hashable, deque[T]]] = {rank: OrderedDict() for rank in Rank}
        self._in_a_row = dict.fromkeys(Rank, 0)

    def put(self, item: T, *, owner: Hashable, rank: Rank) -> None:
        """Let an item wait behind the others of its owner."""
        self._waiting[rank].setdefault(owner, deque()).append(item)

    def put_back(self, item: T, *, owner: Hashable, rank: Rank) -> None:
        """Let an item that was taken be the next of its rank."""
        self._waiting[rank].setdefault(owner, deque()).appendleft(item)
        self._waiting[rank].move_to_end(owner, last=False)

    def take(self, wanted: Callable[[T], bool] = lambda _item: True) -> T | None:
        """Return the item whose turn it is, or None; those that are not wanted any more go and cost no turn."""
        passed_over = None
        for rank in Rank:
            lower = any(self._waiting[other] for other in Rank if other > rank)
            if lower and self._in_a_row[rank] >= IN_A_ROW and self._waiting[rank]:
                self._in_a_row[rank] = 0
                passed_over = rank
                continue
            item = self._take(rank, wanted)
            if item is not None:
                self._in_a_row[rank] += lower
                return item
        # what is lower may all be unwanted
        return None if passed_over is None else self.take(wanted)

    def _take(self, rank: Rank, wanted: Callable[[T], bool]) -> T | None:
        owners = self._waiting[rank]
        while owners:
            owner, items = owners.popitem(last=False)
            while items:
                item = items.popleft()
                if wanted(item):
                    if items:
                        owners[owner] = items
                    return item
        return None
