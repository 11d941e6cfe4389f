"""Whose turn it is: what waits goes by priority, and within a priority its owners take turns."""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from enum import IntEnum
from functools import cached_property
from typing import Generic, TypeVar

import panel as pn

from dpml_app.serving.limits import WAITING, ServerFull, most

T = TypeVar("T")

# so many of a priority in a row, then one of a lower priority that waits: whoever drags a slider without a pause stops
# nobody
IN_A_ROW = 8


class Priority(IntEnum):
    """What goes first: answers at the current setting, then curves, then what is computed when nothing else is."""

    IMMEDIATE = 0
    CURVES = 1
    IDLE = 2


def session() -> Hashable | None:
    """Return the session whose code runs, or None: it owns what it asks for."""
    return pn.state.curdoc


class FairQueue(Generic[T]):
    """Things that wait. Not safe for threads.

    >>> queue = FairQueue()
    >>> for item in ("a1", "a2", "a3", "b1"):
    ...     queue.put(item, owner=item[0], priority=Priority.CURVES)
    >>> queue.put("c1", owner="c", priority=Priority.IMMEDIATE)
    >>> [queue.take() for _ in range(6)]
    ['c1', 'a1', 'b1', 'a2', 'a3', None]
    """

    def __init__(self) -> None:
        self._waiting: dict[Priority, OrderedDict[Hashable, deque[T]]] = {
            priority: OrderedDict() for priority in Priority
        }
        # start-time fair queueing: the round that is on, and the next one of each owner who has had a turn in it;
        # without the second, several owners who ask for one thing after another would keep the others out
        self._round = dict.fromkeys(Priority, 0)
        self._next: dict[Priority, dict[Hashable, int]] = {priority: {} for priority in Priority}
        self._in_a_row = dict.fromkeys(Priority, 0)

    @cached_property
    def most_of_one(self) -> float:
        """As much of one owner may wait."""
        return most(WAITING)

    def put(self, item: T, *, owner: Hashable, priority: Priority) -> None:
        """Let an item wait behind the others of its owner."""
        self._waiting[priority].setdefault(owner, deque()).append(item)

    def check(self, owner: Hashable, wanted: Callable[[T], bool] = lambda _item: True) -> None:
        """Raise `ServerFull` if as much of an owner waits as may wait; what is not wanted any more goes."""
        allowed, waits = self.most_of_one, 0
        for waiting in self._waiting.values():
            if owner in waiting and len(waiting[owner]) >= allowed:
                waiting[owner] = deque(filter(wanted, waiting[owner]))
            waits += len(waiting.get(owner, ()))
        if waits >= allowed:
            raise ServerFull(f"{waits:,} computations of this session are waiting. At most {allowed:g} may")

    def put_back(self, item: T, *, owner: Hashable, priority: Priority) -> None:
        """Let an item that was taken be the next of its priority."""
        self._waiting[priority].setdefault(owner, deque()).appendleft(item)
        self._waiting[priority].move_to_end(owner, last=False)
        self._next[priority].pop(owner, None)

    def take(self, wanted: Callable[[T], bool] = lambda _item: True) -> T | None:
        """Return the item whose turn it is, or None; those that are not wanted any more go and cost no turn."""
        passed_over = None
        for priority in Priority:
            lower = any(self._waiting[other] for other in Priority if other > priority)
            if lower and self._in_a_row[priority] >= IN_A_ROW and self._waiting[priority]:
                self._in_a_row[priority] = 0
                passed_over = priority
                continue
            item = self._take(priority, wanted)
            if item is not None:
                self._in_a_row[priority] += lower
                return item
        if passed_over is not None:  # what is lower was all unwanted
            return self.take(wanted)
        for priority in Priority:  # nobody waits: all begin anew, and nothing keeps an owner
            self._next[priority].clear()
        return None

    def _take(self, priority: Priority, wanted: Callable[[T], bool]) -> T | None:
        waiting, current, following = self._waiting[priority], self._round[priority], self._next[priority]
        while waiting:
            # one who has just come has had no turn in this round; of equals, the first who came
            owner = min(waiting, key=lambda who: following.get(who, current))
            begun = following.get(owner, current)
            items = waiting[owner]
            while items and not wanted(items[0]):
                items.popleft()
            item = items.popleft() if items else None
            if not items:
                del waiting[owner]
            if item is not None:
                if begun > current:  # a new round: all of the last one may have a turn again
                    self._round[priority] = begun
                    for who in [who for who, turn in following.items() if turn <= begun]:
                        del following[who]
                following[owner] = begun + 1
                return item
        return None
