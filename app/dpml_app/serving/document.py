"""A page's document, sent in two parts: what a visitor sees first goes out before the session behind it is made.

What stands before `CUT` is the same for all who open a link. The first of them waits for it with all else; then it is
kept, and the next ones have the question and its still picture while the server makes their session and the browser
loads the scripts.
"""

import zlib
from collections import OrderedDict
from typing import Any

from bokeh.server.contexts import ApplicationContext
from panel.config import config
from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler

from dpml_app.serving import log
from dpml_app.serving.arrivals import Arrivals
from dpml_app.serving.clients import client_of

# in the template, after all that no session changes
CUT = "<!-- what follows is of one session -->"
# links whose first part is kept
MOST_LINKS = 50
# of what is made for each answer
QUICK = 6
GZIP = 31
FAILED = (
    '<p id="failed" role="alert">The page failed to load. <a href="">Try again</a></p>'
    "</div></section></main></div></body></html>"
)
_FIRST_PARTS: OrderedDict[str, str] = OrderedDict()


def takes_gzip(request: HTTPServerRequest) -> bool:
    """Return whether a browser reads what is compressed."""
    return "gzip" in request.headers.get("Accept-Encoding", "")


def keep(link: str, first: str) -> None:
    """Keep what all who open a link see first; the link that has not been opened for longest gives way."""
    _FIRST_PARTS[link] = first
    _FIRST_PARTS.move_to_end(link)
    if len(_FIRST_PARTS) > MOST_LINKS:
        _FIRST_PARTS.popitem(last=False)


class DocumentInParts(RequestHandler):
    """A document that is compressed, and whose first part does not wait for its session."""

    application_context: ApplicationContext
    _stream: Any = None
    _early = False
    _left = False

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Send what is known of this link, then what its session adds; whoever has left meanwhile gets no session."""
        first = _FIRST_PARTS.get(self.request.uri or "")
        if first is not None and self._is_open():
            self._early = True
            self.set_header("Content-Type", "text/html")
            self.set_header("Cache-Control", "no-store")
            self._send(first, last=False)
            await self.flush()
        client = client_of(self.request.remote_ip)
        async with Arrivals.turn(self.application_context.application, client):
            if self._left:
                return
            try:
                await super().get(*args, **kwargs)  # type: ignore[misc]
            except Exception as error:
                if not self._early:
                    raise
                log.failed(error)  # the status has been sent: the page itself must say it
                self._send(FAILED, last=True)

    def on_connection_close(self) -> None:
        """Note that the visitor has left, by going on or by loading the page again."""
        super().on_connection_close()
        self._left = True

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write a document, of which the first part may be on its way already."""
        if not isinstance(chunk, str):
            super().write(chunk)
            return
        first, cut, rest = chunk.partition(CUT)
        if cut and self._is_open():
            keep(self.request.uri or "", first)
        self._send(rest if self._early else first + rest, last=True)

    def _is_open(self) -> bool:
        """Return whether anybody may see a page; where only some may, its session decides."""
        provider = self.application.auth_provider  # type: ignore[attr-defined]
        return config.authorize_callback is None and provider.get_user is None and provider.get_user_async is None

    def _send(self, text: str, *, last: bool) -> None:
        content = text.encode()
        if takes_gzip(self.request):
            if self._stream is None:
                self._stream = zlib.compressobj(QUICK, wbits=GZIP)
                self.set_header("Content-Encoding", "gzip")
                self.set_header("Vary", "Accept-Encoding")
            content = self._stream.compress(content) + self._stream.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
        super().write(content)
