"""What a server writes down: one line of JSON for each event, with no text that could be of anybody's data.

A message of an exception may quote a cell, a column or a file's name, and Bokeh's log quotes what a browser sent. So no
message of any log is written: only its level, its logger, its place in the code, and the kind of its error. An event of
the app has numbers, and words from the code.
"""

import json
import logging
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

LOG = logging.getLogger("dpml_app.events")
# what an event may say: names of functions, modules and classes, and sizes
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,119}")
SIZES = (("under_100_kB", 1e5), ("under_1_MB", 1e6), ("under_10_MB", 1e7), ("under_100_MB", 1e8))


def size_class(size: int) -> str:
    """Return how large something is, roughly.

    Examples
    --------
    >>> size_class(1_000), size_class(20_000_000), size_class(10**9)
    ('under_100_kB', 'under_100_MB', 'larger')
    """
    return next((name for name, most in SIZES if size < most), "larger")


def event(kind: str, /, **facts: float | str | bool) -> None:
    """Write an event; each text is a word of the code, or it is left out."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info(kind, extra={"said": {name: value for name, value in facts.items() if _allowed(value)}})


def failed(error: BaseException) -> None:
    """Write that something has failed: the kind of the error, and where in the app it was raised."""
    event("error", error=type(error).__name__, where=_where(error.__traceback__))


@contextmanager
def timed(where: str, function: Callable[..., Any]) -> Iterator[None]:
    """Write how long a computation took, and the kind of its error if it fails."""
    begun = time.perf_counter()
    facts: dict[str, str] = {}
    try:
        yield
    except BaseException as error:
        facts = {"error": type(error).__name__}
        raise
    finally:
        kind = f"{function.__module__}.{function.__qualname__}"
        event("computed", kind=kind, where=where, seconds=round(time.perf_counter() - begun, 3), **facts)


def _allowed(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and WORD.fullmatch(value) is not None)


def _where(trace: TracebackType | None) -> str:
    """Return the module and the function in which an error was raised."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_globals.get('__name__', 'unknown')}.{trace.tb_frame.f_code.co_name}"


class Discreet(logging.Formatter):
    """Makes a line of JSON of a record; of what others log, it keeps no message."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        facts = getattr(record, "said", None) if record.name == LOG.name else None
        if facts is not None:
            return json.dumps({"at": at, "event": record.msg, **facts})
        line = {"at": at, "event": "log", "level": record.levelname, "logger": record.name}
        line["where"] = f"{Path(record.pathname).stem}.{record.lineno}"
        kind = record.exc_info[0] if record.exc_info else None
        if kind is not None and record.exc_info is not None:
            line |= {"error": kind.__name__, "raised": _where(record.exc_info[2])}
        return json.dumps(line)


def begin() -> None:
    """Have all that is logged in this process go through `Discreet`, to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(Discreet())
    root = logging.getLogger()
    # Bokeh and Panel give their loggers handlers of their own, which would write whole messages
    for name in list(logging.Logger.manager.loggerDict):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    LOG.setLevel(logging.INFO)
    logging.captureWarnings(True)
    threading.excepthook = lambda given: _uncaught(given.exc_type, given.exc_value, given.exc_traceback)
    sys.excepthook = _uncaught


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    event("error", error=kind.__name__, where=_where(trace))


def silence() -> None:
    """Have a worker process write nothing: its errors go to the server, and warnings quote columns."""
    logging.captureWarnings(True)
    logging.lastResort = logging.NullHandler()
    warnings.simplefilter("ignore")
    sys.excepthook = lambda *_told: None
