"""The signal SIGTERM as an exception, so that a command cleans up and says how it ended."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def sigterm_raised() -> Iterator[None]:
    """Return a context in which SIGTERM raises SystemExit(143); outside the main thread it changes nothing."""

    def end(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
