"""Session ids: the server alone names a session.

A link that names a session would put its reader into the session of its author. `refuse_given` has every
server of this process refuse such a request at each path, even if the name is signed, and sign its own tokens, so that
a forged token opens no WebSocket. A browser comes back to its own session by the token in its page.
"""

from bokeh.server.contexts import ApplicationContext
from bokeh.server.urls import per_app_patterns
from bokeh.server.views.autoload_js_handler import AutoloadJsHandler
from bokeh.server.views.doc_handler import DocHandler
from bokeh.server.views.metadata_handler import MetadataHandler
from bokeh.settings import settings
from bokeh.util.token import generate_secret_key
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError, RequestHandler

from dpml_app import compat
from dpml_app.serving.arrivals import Arrivals
from dpml_app.serving.clients import client_of

# arguments and headers by which Bokeh lets a request name a session
NAMES = frozenset({"bokeh-session-id", "bokeh-token"})
# what serves pages inside other sites
EMBEDDING = (AutoloadJsHandler, MetadataHandler)


def names_session(request: HTTPServerRequest) -> bool:
    """Return whether a request names a session in its arguments or headers."""
    return not NAMES.isdisjoint(name.lower() for name in (*request.arguments, *request.headers))


class OwnSessions(RequestHandler):
    """A page or a socket that refuses a request that names a session, and a client that has too many pages."""

    application_context: ApplicationContext

    async def prepare(self) -> None:
        """Refuse with 403 or 429 before any session is made."""
        if names_session(self.request):
            raise HTTPError(403, reason="The server names sessions: open the page without bokeh-session-id")
        client = client_of(self.request.remote_ip)
        Arrivals.check(self.application_context.application, client, new=isinstance(self, DocHandler))
        await super().prepare()  # type: ignore[misc]


def refuse_given() -> None:
    """Have every server that this process makes from now on refuse given ids, and sign its own tokens."""
    if not settings.secret_key():
        settings.secret_key = generate_secret_key()
        compat.read_secret_key_again()
    settings.sign_sessions = True
    per_app_patterns[:] = [
        (route, _refusing(handler), *rest)
        for route, handler, *rest in per_app_patterns
        if not issubclass(handler, EMBEDDING)
    ]


def _refusing(handler: type[RequestHandler]) -> type[RequestHandler]:
    return handler if issubclass(handler, OwnSessions) else type(handler.__name__, (OwnSessions, handler), {})
