"""The head of a request, by which a server process is chosen."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bokeh.util.token import get_session_id

PAGE, SOCKET = "/app", "/app/ws"
SESSION = "bokeh-session-id"
# not handed on: each connection has one request, and a session is named here
HOP = ("connection", "keep-alive", "proxy-connection", SESSION)


@dataclass(eq=False)
class Head:
    """The head of a request."""

    line: str
    headers: list[tuple[str, str]]

    @classmethod
    def read(cls, content: bytes) -> Head:
        """Take a head apart; ValueError if it is none."""
        line, *rest = content.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        headers = [(name, value.strip()) for name, colon, value in (each.partition(":") for each in rest) if colon]
        if len(headers) < len(rest) or len(line.split(" ")) != 3 or any(name != name.strip() for name, _ in headers):
            raise ValueError(line)
        return cls(line, headers)

    @property
    def path(self) -> str:
        """What is asked for, without the query."""
        return urlsplit(self.line.split(" ")[1]).path

    @property
    def code(self) -> str:
        """The code of a class in the link, empty if there is none."""
        return parse_qs(urlsplit(self.line.split(" ")[1]).query).get("class", [""])[-1]

    def session(self) -> str:
        """Return the name of a socket's session, empty if it has none."""
        spoken = next((value for name, value in self.headers if name.lower() == "sec-websocket-protocol"), "")
        try:
            return str(get_session_id(spoken.split(",")[1].strip()))
        except (IndexError, KeyError, ValueError):
            return ""

    def handed_on(self, number: int) -> bytes:
        """Return the head as a process gets it."""
        hop = (SESSION,) if self.path == SOCKET else HOP
        headers = [f"{name}: {value}" for name, value in self.headers if name.lower() not in hop]
        if self.path != SOCKET:
            headers.append("Connection: close")
        if self.path == PAGE:
            headers.append(f"Bokeh-Session-Id: {secrets.token_hex(22)}-{number}")
        return "\r\n".join([self.line, *headers, "", ""]).encode("latin-1")
