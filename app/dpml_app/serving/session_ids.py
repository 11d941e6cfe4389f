"""Refuse sessions that a request names, and pages embedded in other sites.

The author of a link with a session id would share the session of its reader. Bokeh calls `process_request` of an
application before it creates the session of a page or of ``autoload.js``.
"""

from typing import Any

from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

# arguments and headers by which Bokeh lets a request name a session
NAMES = frozenset({"bokeh-session-id", "bokeh-token"})


def refuse_named(request: HTTPServerRequest) -> dict[str, Any]:
    """Raise `HTTPError` if a request names a session or embeds a page; otherwise add nothing to the session's token."""
    if request.path.endswith("/autoload.js"):
        raise HTTPError(404)
    if not NAMES.isdisjoint(name.lower() for name in (*request.arguments, *request.headers)):
        raise HTTPError(403, reason="The server names sessions: open the page without bokeh-session-id")
    return {}


class OwnSessions(Handler):
    """Handler of an application that refuses named sessions."""

    def modify_document(self, doc: Document) -> None:
        """Leave the document unchanged."""

    def process_request(self, request: HTTPServerRequest) -> dict[str, Any]:
        """Call `refuse_named`."""
        return refuse_named(request)
