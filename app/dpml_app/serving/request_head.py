"""The head of a request, by which a server process is chosen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bokeh.util.token import check_token_signature, get_token_payload

from dpml_app.serving import shared

PAGE, SOCKET = "/app", "/app/ws"
CLIENT = "x-forwarded-for"
# what says who asks, and how: a proxy's word, and nobody else's
FROM_PROXY = frozenset({CLIENT, "x-real-ip", "x-forwarded-proto", "x-scheme"})
# each connection has one request
HOP = frozenset({"connection", "keep-alive", "proxy-connection"})
BODY = frozenset({"content-length", "transfer-encoding"})
CONTROL = re.compile(r"[^\t\r\n -~\x80-\xff]|\r(?!\n)|(?<!\r)\n")


@dataclass(eq=False)
class Head:
    """The head of a request."""

    line: str
    headers: list[tuple[str, str]]

    @classmethod
    def read(cls, content: bytes) -> Head:
        """Take a head apart; ValueError if it is none."""
        text = content.decode("latin-1")
        line, *rest = text.removesuffix("\r\n\r\n").split("\r\n")
        headers = [(name, value.strip()) for name, colon, value in (each.partition(":") for each in rest) if colon]
        if len(headers) < len(rest) or len(line.split(" ")) != 3 or any(name != name.strip() for name, _ in headers):
            raise ValueError(line)
        if CONTROL.search(text):  # what another reader takes for the end of a line could hide a header
            raise ValueError(line)
        return cls(line, headers)

    @property
    def path(self) -> str:
        """What is asked for, without the query and a slash at its end."""
        return urlsplit(self.line.split(" ")[1]).path.removesuffix("/") or "/"

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return not BODY.isdisjoint(name.lower() for name, _ in self.headers)

    @property
    def code(self) -> str:
        """The code of a class in the link, empty if there is none."""
        return parse_qs(urlsplit(self.line.split(" ")[1]).query).get("class", [""])[-1]

    def values(self, header: str) -> list[str]:
        """Return the values of a header, each of which may be a list."""
        return [part.strip() for name, value in self.headers if name.lower() == header for part in value.split(",")]

    def process(self, key: str) -> int | None:
        """Return the process that has a socket's session, None where no token is signed with the key."""
        try:
            token = self.values("sec-websocket-protocol")[1]
            if check_token_signature(token, secret_key=key.encode(), signed=True):
                return int(get_token_payload(token)[shared.STATED])
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):  # a forged one may be anything
            pass
        return None

    def client(self, peer: str, *, proxy: bool) -> str:
        """Return the address that asks: that of the connection, or the one that a proxy has appended."""
        return next(reversed(self.values(CLIENT)), peer) if proxy else peer

    def handed_on(self, peer: str, *, proxy: bool) -> bytes:
        """Return the head as a process gets it."""
        left_out = FROM_PROXY - ({"x-forwarded-proto", "x-scheme"} if proxy else set())
        if self.path != SOCKET:
            left_out |= HOP
        headers = [f"{name}: {value}" for name, value in self.headers if name.lower() not in left_out]
        headers.append(f"X-Forwarded-For: {self.client(peer, proxy=proxy)}")
        if self.path != SOCKET:
            headers.append("Connection: close")
        return "\r\n".join([self.line, *headers, "", ""]).encode("latin-1")
