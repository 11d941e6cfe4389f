"""Sessions that arrive together are made one after another, clients in turn, and each of them in two steps.

Making a session keeps the server's one event loop busy. Without turns all sessions are made before the first document
goes out, and nobody else is answered meanwhile. Between the two steps others are answered. However many pages one
client asks for, another client's page waits for one of them.
"""

import asyncio
import gc
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from bokeh.application.application import Application, SessionContext
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from panel.io.state import set_curdoc
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

from dpml_app.serving import shared
from dpml_app.serving.clients import client_of_session
from dpml_app.serving.limits import CLIENT_PAGES, most
from dpml_app.serving.memory import SESSIONS

# A browser may take longer, or never ask: after so many seconds the next session is made.
PATIENCE = 0.8
# A document is sent this soon after its socket is there.
SENDING = 0.1
LOOK = 0.02
# whether the page of the session that is being made has had its turn
HAS_TURN = ContextVar("HAS_TURN", default=False)
# what makes a session's first part, given its document
Prepare = Callable[[Document], None]


class FairLock:
    """A lock that clients have in turn: the next one is the client that had it longest ago, or never."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        # the number of each client's last turn, while anybody waits
        self._last: dict[str, int] = {}
        self._number = 0
        self._held = False

    def waiting(self, client: str) -> int:
        """Return how many turns a client waits for."""
        return len(self._waiting.get(client, ()))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it."""
        if self._held:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(client, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._pass_on()
                raise
        self._held = True
        self._number += 1
        self._last[client] = self._number
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            client = min(self._waiting, key=lambda who: self._last.get(who, 0))
            turns = self._waiting[client]
            turn = turns.popleft()
            if not turns:
                del self._waiting[client]
            if not turn.done():
                turn.set_result(None)
                return
        self._held = False
        self._last.clear()


def _unfreeze(_context: Any) -> None:
    gc.unfreeze()


class Arrivals(Handler):
    """Gives turns to those who ask for a document, and makes a session's first part.

    It is one of the application's handlers, which Bokeh awaits before it makes a document.
    """

    def __init__(self, prepare: Prepare) -> None:
        super().__init__()
        self._prepare = prepare
        self._turns = FairLock()
        self._last: weakref.ref[SessionContext] | None = None
        self._begun = 0.0

    @classmethod
    def join(cls, doc: Document, prepare: Prepare) -> None:
        """Have the application that serves a document give turns from now on."""
        context = getattr(doc.session_context, "server_context", None)
        served = getattr(context, "application_context", None)
        if served is not None and not any(isinstance(handler, cls) for handler in served.application.handlers):
            served.application.add(cls(prepare))
            SESSIONS.add(doc.session_context)
            # The collector need not walk through the modules while a session is made. This session is frozen with them,
            # and one that no browser ever joined is freed by the collector alone.
            gc.freeze()
            doc.on_session_destroyed(_unfreeze)

    def modify_document(self, doc: Document) -> None:
        """Leave the document as it is."""

    def process_request(self, request: HTTPServerRequest) -> dict[str, Any]:
        """State in a session's token which process has the session."""
        return {shared.STATED: shared.place()[0]}

    @classmethod
    @asynccontextmanager
    async def turn(cls, application: Application, client: str) -> AsyncIterator[None]:
        """Wait for a client's turn, and until the session before has been sent its document, or long enough."""
        arrivals = next((handler for handler in application.handlers if isinstance(handler, cls)), None)
        if arrivals is None:  # nobody has been served yet
            yield
            return
        async with arrivals._turns.turn(client):
            await arrivals._wait()
            given = HAS_TURN.set(True)
            try:
                yield
            finally:
                HAS_TURN.reset(given)

    @classmethod
    def check(cls, application: Application, client: str, *, new: bool) -> None:
        """Raise `HTTPError` 429 where a client has as many pages as it may have, open or waiting for their turn."""
        arrivals = next((handler for handler in application.handlers if isinstance(handler, cls)), None)
        has = sum(client_of_session(each) == client for each in SESSIONS)
        if new and arrivals is not None:
            has += 1 + arrivals._turns.waiting(client)
        allowed = most(CLIENT_PAGES)
        if has > allowed:
            raise HTTPError(429, reason=f"{CLIENT_PAGES.name} allows {allowed:g} pages for one address: close some")

    async def _wait(self) -> None:
        while time.monotonic() < self._begun + PATIENCE and not self._connected():
            await asyncio.sleep(LOOK)
        if time.monotonic() < self._begun + PATIENCE:
            await asyncio.sleep(SENDING)

    async def on_session_created(self, session_context: SessionContext) -> None:
        """Make the first part of a session, and let others be answered; a socket without a page waits for its turn."""
        SESSIONS.add(session_context)
        if HAS_TURN.get():
            await self._make(session_context)
            return
        async with self._turns.turn(client_of_session(session_context)):
            await self._wait()
            await self._make(session_context)

    async def _make(self, session_context: SessionContext) -> None:
        self._last, self._begun = weakref.ref(session_context), time.monotonic()
        await session_context.with_locked_document(self._first_step)
        await asyncio.sleep(LOOK)

    async def on_session_destroyed(self, session_context: SessionContext) -> None:
        """Count a session no more."""
        SESSIONS.discard(session_context)

    async def _first_step(self, doc: Document) -> None:
        with set_curdoc(doc):
            self._prepare(doc)

    def _connected(self) -> bool:
        """Return whether the last session is gone or has its socket."""
        last = None if self._last is None else self._last()
        if last is None or last.destroyed:
            return True
        session = getattr(last, "session", None)
        return session is not None and session.connection_count > 0
