"""A session whose page is open and that nobody uses ends after a while: its table and its memory go."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from bokeh.document import Document

from dpml_app import compat
from dpml_app.serving.limits import IDLE_MINUTES, most

LOOKS = 20
# asyncio keeps a sleep that was cancelled until its time, and with it what is left of the session
LONGEST_SLEEP = 5.0
# so long may what is told be on its way
TELLING = 1.0


def most_minutes() -> float | None:
    """Return how long a session may be idle, None: for ever."""
    minutes = most(IDLE_MINUTES)
    return minutes if math.isfinite(minutes) else None


class Idle:
    """Watches one session; what the server itself changes is no use of the page.

    Parameters
    ----------
    doc : Document
    minutes : float
    tell : callable
        Called before the end, so that the browser knows why.
    """

    def __init__(self, doc: Document, minutes: float, tell: Callable[[], None]):
        self.doc, self.seconds, self.tell = doc, 60 * minutes, tell
        self.last = time.monotonic()
        doc.on_change(self._on_change)

    def _on_change(self, event: Any) -> None:
        if getattr(event, "setter", None) is not None:  # from the browser
            self.last = time.monotonic()

    async def watch(self) -> None:
        """Close the session's connections once it was idle for too long; the server then discards it."""
        while time.monotonic() - self.last < self.seconds:
            await asyncio.sleep(min(max(self.seconds / LOOKS, 0.01), LONGEST_SLEEP))
        self.tell()
        await asyncio.sleep(TELLING)
        for socket in compat.sockets(self.doc):
            socket.close(1000, "idle")
