"""A session of the app without a browser: Bokeh's protocol on a socket, and no models made of what comes.

It opens the page, asks for the document, says that it is ready, moves the widgets of settings, and waits until the page
says that it has answered. One process can be fifty people.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from bokeh.util.token import get_session_id, get_token_payload
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

__all__ = ["Dropped", "SocketSession"]

READY = {
    "kind": "MessageSent",
    "msg_type": "bokeh_event",
    "msg_data": {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}},
}
# what a page says of itself rather than of the data
ASIDE = ("browser-controls",)
OPENING, LEAVING = 120.0, 5.0


class Dropped(ConnectionError):
    """The server has closed the socket."""


class SocketSession:
    """One person's page.

    Parameters
    ----------
    base : str
        The server's address, such as ``http://127.0.0.1:5006``.
    query : str
        The link's query, such as ``?page=noise``.
    state : str
        The name of the source by which the page says that it has answered.
    near : sequence of str
        The places of cards to which the page is scrolled.
    trusted : bool
        Whether the server's certificate is checked.

    Attributes
    ----------
    faults : list of str
        Messages of errors: of the protocol, and alerts that the page shows.
    cookies : dict
        What the server, or a proxy before it, has set; sent again with the socket.
    headers : dict
        Of the answer to the first request.
    session : str
        The name that the server has given it.
    payload : dict
        What its token states.
    """

    def __init__(self, base: str, query: str, state: str, near: Sequence[str] = (), *, trusted: bool = True):
        self.base, self.query, self.state, self.near = base, query, state, near
        self._trusted = trusted
        self.faults: list[str] = []
        self.cookies: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.session = ""
        self.payload: dict[str, Any] = {}
        self._socket: WebSocketClientConnection | None = None
        self._sent = 0
        # the models by their ids, each with its kind and attributes
        self._models: dict[str, tuple[str, dict[str, Any]]] = {}
        self._widgets: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._answered: asyncio.Event = asyncio.Event()
        self.first_shown: float | None = None
        self._reading: asyncio.Task | None = None

    # ---- opening and leaving ----------------------------------------------------------------------------------------

    async def open(self, **headers: str) -> None:
        """Open the page and be ready; the headers go with both requests."""
        client = AsyncHTTPClient(force_instance=True, defaults={"connect_timeout": OPENING})
        options: dict[str, Any] = {"request_timeout": OPENING, "validate_cert": self._trusted}
        page = await client.fetch(f"{self.base}/app{self.query}", headers=headers, **options)
        client.close()
        self.headers = dict(page.headers.get_all())
        for line in page.headers.get_list("Set-Cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        found = re.search(r'"token":"([^"]+)"', page.body.decode())
        if found is None:
            raise Dropped("the page has no token of a session")
        self.session, self.payload = get_session_id(found[1]), get_token_payload(found[1])
        await self.connect(found[1], **headers)
        await self._send("PULL-DOC-REQ", {})
        while (message := await self._receive())[0] != "PULL-DOC-REPLY":
            pass
        self._walk(message[1])
        self._reading = asyncio.create_task(self._read())
        await self._patch(READY)
        if self.near:  # as a browser that has been scrolled
            await self._say("near", list(self.near))

    async def connect(self, token: str, **headers: str) -> None:
        """Open the socket of a session."""
        scheme = "wss" if urlsplit(self.base).scheme == "https" else "ws"
        cookies = {"Cookie": "; ".join(f"{n}={v}" for n, v in self.cookies.items())} if self.cookies else {}
        url = f"{scheme}://{urlsplit(self.base).netloc}/app/ws"
        request = HTTPRequest(url, headers={**headers, **cookies}, validate_cert=self._trusted)
        subprotocols = ["bokeh", token]
        self._socket = await websocket_connect(request, subprotocols=subprotocols, max_message_size=2**28)
        await self._receive()

    async def close(self) -> None:
        """Leave, as a browser does whose window is closed."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._socket is not None:
            self._socket.close(1000)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._gone(self._socket), LEAVING)

    @staticmethod
    async def _gone(socket: WebSocketClientConnection) -> None:
        while await socket.read_message() is not None:
            pass

    # ---- what a person does -----------------------------------------------------------------------------------------

    def value(self, setting: str) -> Any:
        """Return what the widget of a setting holds: a slider over a list of values holds a place in it."""
        return self._models[self._widgets[setting]][1].get("value", 0)

    async def answered(self, most: float) -> float:
        """Wait for the page's next answer and return the seconds."""
        begun = time.perf_counter()
        await asyncio.wait_for(self._answered.wait(), most)
        return time.perf_counter() - begun

    async def move(self, setting: str, value: Any, most: float = 30.0) -> tuple[float, float]:
        """Move the widget of a setting; return the seconds until the answer begins, and until it is there."""
        waited = time.perf_counter() + most
        while setting not in self._widgets and time.perf_counter() < waited:
            await asyncio.sleep(0.02)  # what is laid late is still on its way
        self._answered.clear()
        self.first_shown, begun = None, time.perf_counter()
        self._models[self._widgets[setting]][1]["value"] = value
        model = {"id": self._widgets[setting]}
        await self._patch({"kind": "ModelChanged", "model": model, "attr": "value", "new": value})
        whole = await self.answered(most)
        first = self.first_shown
        return (whole if first is None else first - begun), whole

    # ---- the protocol -----------------------------------------------------------------------------------------------

    async def _say(self, name: str, value: Any) -> None:
        """Change a message of the page to the server."""
        model = {"id": self._named["messages"]}
        await self._patch({"kind": "ModelChanged", "model": model, "attr": name, "new": json.dumps(value)})

    async def _write(self, name: str, columns: dict[str, Any]) -> None:
        model = {"id": self._named[name]}
        data = {"type": "map", "entries": [[key, value] for key, value in columns.items()]}
        await self._patch({"kind": "ModelChanged", "model": model, "attr": "data", "new": data})

    async def _patch(self, event: dict[str, Any]) -> None:
        await self._send("PATCH-DOC", {"events": [event]})

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        self._sent += 1
        assert self._socket is not None
        for part in ({"msgid": str(self._sent), "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def _receive(self) -> tuple[str, Any]:
        """Return the kind and the content of the next message; its buffers are passed over."""
        header = json.loads(await self._part())
        await self._part()
        content = json.loads(await self._part())
        for _ in range(2 * int(header.get("num_buffers", 0))):
            await self._part()
        return str(header["msgtype"]), content

    async def _part(self) -> Any:
        assert self._socket is not None
        part = await self._socket.read_message()
        if part is None:
            raise Dropped(f"the server has closed the socket: {self._socket.close_reason or self._socket.close_code}")
        return part

    async def _read(self) -> None:
        """Take note of what comes until the socket is closed."""
        try:
            while True:
                kind, content = await self._receive()
                if kind == "ERROR":
                    self.faults.append(str(content.get("text", "error"))[:200])
                elif kind == "PATCH-DOC":
                    self._take(content)
        except Dropped as error:
            self.faults.append(str(error))

    def _take(self, content: dict[str, Any]) -> None:
        now = time.perf_counter()
        self._walk(content)
        for event in content["events"]:
            self._keep(event)
            _kind, attributes = self._models.get(event.get("model", {}).get("id"), ("", {}))
            name = attributes.get("name") or ""
            if name == self.state:
                self._answered.set()
            shows = name and not name.endswith(("-state", "-work")) and name not in ASIDE
            if shows and self.first_shown is None and event["kind"] == "ColumnDataChanged":
                self.first_shown = now

    def _keep(self, event: dict[str, Any]) -> None:
        """Note the columns of a source that a message replaces."""
        columns = event.get("data") or event.get("new")
        _kind, attributes = self._models.get(event.get("model", {}).get("id"), ("", {}))
        if event.get("attr", "data") == "data" and isinstance(columns, dict) and "entries" in columns:
            attributes["data"] = columns

    def columns(self, name: str) -> dict[str, Any]:
        """Return the columns of a source by its name."""
        return dict(self._models[self._named[name]][1]["data"]["entries"])

    def _walk(self, part: Any) -> None:
        """Note the models that a message brings."""
        if isinstance(part, list):
            for each in part:
                self._walk(each)
        elif isinstance(part, dict):
            if part.get("type") == "object" and "id" in part:
                self._note(part)
            for each in part.values():
                self._walk(each)

    def _note(self, part: dict[str, Any]) -> None:
        attributes = part.get("attributes", {})
        self._models[part["id"]] = part["name"], attributes
        if part["name"].endswith(("ColumnDataSource", "Messages")) and attributes.get("name"):
            self._named[attributes["name"]] = part["id"]
        inner = attributes.get("data")
        if not isinstance(inner, dict) or "id" not in inner:
            return
        for style in attributes.get("css_classes", ()):
            if isinstance(style, str) and style.startswith("setting-"):
                self._widgets[style.removeprefix("setting-")] = inner["id"]
        told = inner.get("attributes", {})
        if attributes.get("name") == "Alert" and told.get("severity") == "error":
            self.faults.append(f"alert: {str(told.get('object'))[:200]}")
