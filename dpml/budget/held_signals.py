"""Signals that wait until a charge is recorded, or until its files are written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def signals_held() -> Iterator[None]:
    """Return a context in which Ctrl-C and SIGTERM wait until its end. Only the main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # None: a handler that Python cannot put back
    handlers = {each: handler for each, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    received: list[int] = []
    try:
        for each in handlers:
            signal.signal(each, lambda number, _frame: received.append(number))
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)
