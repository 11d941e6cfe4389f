"""Memory that sessions leave behind: the C library and the workers keep what was used until they are asked."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

# read when a process starts: Arrow's own allocator and the C library's arenas for threads kept 150 MB at rest
ALLOCATION = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
# many leave together, as a class does
SOON = 10.0
# the sessions that are there, and what is done when the last one has left
SESSIONS: WeakSet[Any] = WeakSet()
WHEN_LEFT: list[Callable[[], object]] = []
_CHANGING = threading.Lock()
_waiting: threading.Timer | None = None


def give_back() -> bool:
    """Give free memory back to the system; return whether some was. Only glibc has to be asked.

    Where no session is there, what is kept for sessions is given back, too.
    """
    if not SESSIONS:
        for leave in WHEN_LEFT:
            leave()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))


def give_back_soon() -> None:
    """Give free memory back once nobody has left for some seconds, in a thread of its own: nobody waits for it."""
    global _waiting
    with _CHANGING:
        if _waiting is not None:
            _waiting.cancel()
        _waiting = threading.Timer(SOON, give_back)
        _waiting.daemon = True
        _waiting.start()
