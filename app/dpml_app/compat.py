"""Private names of Panel, Bokeh and Python that the app uses, each with the version it was tried with.

`tests/app/test_compat.py` fails where one is gone, or is no longer needed.
"""

import threading
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.document import Document

# ms until a widget's change is handed on; Panel waits 50, and here a page itself sees to it that only the latest counts
DEBOUNCE = 1


def sockets(doc: Document | None) -> list[Any]:
    """Return the sockets of a session's pages (Bokeh 3.9.2: `_subscribed_connections` and `_socket`)."""
    session = getattr(getattr(doc, "session_context", None), "session", None)
    return [] if session is None else [connection._socket for connection in session._subscribed_connections]


def answer_soon(widget: Any) -> None:
    """Call a widget's callbacks soon after a change (Panel 1.9.4: `_debounce`)."""
    widget._debounce = DEBOUNCE


def at_exit(end: Callable[[], None]) -> None:
    """Call a function when Python ends, before it waits for executors (3.11 to 3.14: `_register_atexit`)."""
    threading._register_atexit(end)  # type: ignore[attr-defined]


def forget(root: Any) -> None:
    """Let go of a root that was laid into a document that has ended (Panel 1.9.4: `_views`)."""
    pn.state._views.pop(root.ref["id"], None)
