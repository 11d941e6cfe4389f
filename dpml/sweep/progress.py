"""Show the progress of a sweep and the time left, on a bar or by a callback."""

import sys
import time
from collections.abc import Callable
from typing import Any

from dpml.exceptions import InvalidParameter


def time_left(seconds: float, done: int, total: int, before: int = 0) -> float:
    """Estimate the seconds that remain at the pace so far.

    >>> time_left(10.0, 60, 100, before=40)
    20.0
    """
    mine = done - before
    return seconds * (total - done) / mine if mine > 0 else (0.0 if done >= total else float("inf"))


class Progress:
    """The number of cells that are done, shown on a bar (True), by ``callback(done, total)``, or not (None, False)."""

    def __init__(self, show: Any, total: int, before: int = 0):
        self.total, self.done, self.before = total, before, before
        self._start = time.monotonic()
        self._bar: Any = None
        self._call: Callable[..., Any] | None = None
        if show is True:
            self._bar = _bar(total, before)
        elif callable(show):
            self._call = show
        elif show is not None and show is not False:
            raise InvalidParameter("progress", show, "True, None or a callable of (cells done, cells in all)")

    def add(self, cells: int) -> None:
        """Count cells that are done."""
        for _ in range(cells):
            self.done += 1
            if self._call is not None:
                self._call(self.done, self.total)
        if self._bar is not None:
            self._bar.update(cells)

    @property
    def left(self) -> float:
        """Seconds that remain."""
        return time_left(time.monotonic() - self._start, self.done, self.total, self.before)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def _bar(total: int, before: int) -> Any:
    """Return a bar that says the time left; in a notebook a widget, if widgets are installed."""
    # a program may import ipykernel without being one
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        try:
            import ipywidgets  # noqa: F401 - tqdm's bar for notebooks needs it
            from tqdm.notebook import tqdm
        except ImportError:
            from tqdm import tqdm
    else:
        from tqdm import tqdm
    return tqdm(total=total, initial=before, unit="cell", mininterval=0.5)
