"""What one session may take of a server, and all sessions together: read from the environment, checked at the start.

`LIMITS` has every one. A value that is not allowed is an error that names it: a limit that nobody set is none.
"""

import math
import os
from dataclasses import dataclass

from dpml.exceptions import DpmlError, InvalidParameter


class ServerFull(DpmlError):
    """A session asks for more than one may have, or than the server has left."""


@dataclass(frozen=True)
class Limit:
    """One limit."""

    # the environment variable
    name: str
    # what holds where it is not set; infinity: no limit
    usual: float
    # the largest that can be asked for
    most: float
    what: str


UPLOAD_MB = Limit("DPML_UPLOAD_MB", 50.0, 10_000.0, "the largest file that a session may upload, in MB")
SESSION_MB = Limit("DPML_SESSION_MB", 300.0, 1e6, "the memory that the table of a session may take, in MB")
TABLES_MB = Limit("DPML_TABLES_MB", 1000.0, 1e7, "the memory that all tables and uploads may take, in MB")
CLIENT_MB = Limit("DPML_CLIENT_MB", 500.0, 1e7, "the memory that the tables and uploads of one client may take, in MB")
IDLE_MINUTES = Limit("DPML_IDLE_MINUTES", math.inf, 10_000.0, "the minutes after which an idle session ends")
CLASSES = Limit("DPML_CLASSES", 0.0, 1000.0, "how many classes may be open (0 by default)")
CLASS_VISITORS = Limit("DPML_CLASS_VISITORS", 100.0, 1000.0, "how many visitors a class may have")
CLASS_CLIENT_VISITORS = Limit(
    "DPML_CLASS_CLIENT_VISITORS", 50.0, 1000.0, "how many visitors of a class one client may be"
)
LIMITS = (
    *(UPLOAD_MB, SESSION_MB, TABLES_MB, CLIENT_MB, IDLE_MINUTES),
    *(CLASSES, CLASS_VISITORS, CLASS_CLIENT_VISITORS),
)


def most(limit: Limit) -> float:
    """Return what a limit is now; raise `InvalidParameter` where the environment says what is not allowed.

    Examples
    --------
    >>> os.environ["DPML_UPLOAD_MB"] = "-3"
    >>> most(UPLOAD_MB)
    Traceback (most recent call last):
    ...
    dpml.exceptions.InvalidParameter: `DPML_UPLOAD_MB` must be a number above 0 and below ... Got '-3'.
    >>> del os.environ["DPML_UPLOAD_MB"]
    >>> most(UPLOAD_MB)
    50.0
    """
    text = os.environ.get(limit.name, "").strip()
    if not text:
        return limit.usual
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < limit.most:
        raise InvalidParameter(limit.name, text, f"a number above 0 and below {limit.most:,g}")
    return value


def check_all() -> None:
    """Raise `InvalidParameter` for the first limit that the environment says wrongly."""
    for limit in LIMITS:
        most(limit)
