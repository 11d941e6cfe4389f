"""Memory that sessions leave behind: the C library keeps what was freed until it is asked to give it back."""

from __future__ import annotations

import ctypes
import threading

# many leave together, as a class does
SOON = 10.0
_CHANGING = threading.Lock()
_waiting: threading.Timer | None = None


def give_back() -> bool:
    """Give free memory back to the system; return whether some was. Only glibc has to be asked."""
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
