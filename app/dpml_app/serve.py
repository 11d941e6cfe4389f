"""The app's server, for one machine or behind a proxy: limits, a health check and headers that keep a browser strict.

``panel serve app`` serves the same pages without the headers and without the limits on idle sessions.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any
from urllib.request import urlopen

from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform

from dpml_app.idle import IDLE_MINUTES
from dpml_app.own import UPLOAD_MB, USUAL_MB

__all__ = ["HEADERS", "HEALTH", "POLICY", "main", "make", "parser"]

HEALTH = "health"
PORT = 5006
# a part of an upload has 1.4 million characters, and no other message is as long
MOST_MESSAGE = 8_000_000
# Bokeh makes functions of its callbacks' code, hence 'unsafe-eval'; it and Panel write scripts and styles into the
# page; components come as modules from blobs. Nothing comes from another host.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' blob:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Strict(OutputTransform):
    """Adds the headers to every answer of a server."""

    def __init__(self, request: HTTPServerRequest) -> None:
        """Take no note of what is asked for."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        for name, value in HEADERS.items():
            headers[name] = value
        headers.pop("Server", None)
        return status_code, headers, chunk

    def transform_chunk(self, chunk: bytes, finishing: bool) -> bytes:
        return chunk


class Discreet(logging.Filter):
    """Keeps what a browser sent out of the log: Bokeh writes down the whole message that it could not handle."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("bokeh.server"):
            kind = record.exc_info[0] if record.exc_info else None
            record.msg, record.args = f"a message could not be handled: {kind.__name__ if kind else 'error'}", ()
            record.exc_info = record.exc_text = None
        return True


def parser() -> argparse.ArgumentParser:
    """Return what the command line takes."""
    made = argparse.ArgumentParser(prog="python -m dpml_app", description="Serve the app of dpml.")
    made.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 is every one (127.0.0.1)")
    made.add_argument("--port", type=_port, default=PORT, help=f"port to listen on ({PORT})")
    made.add_argument(
        "--origin", action="append", default=[], metavar="HOST[:PORT]",
        help="a name under which browsers reach the server, such as that of a proxy; can be given again",
    )  # fmt: skip
    made.add_argument("--upload-mb", type=_positive, default=USUAL_MB, help=f"largest table in MB ({USUAL_MB:g})")
    made.add_argument(
        "--idle-minutes", type=_positive, default=60.0, help="a session ends when it is idle so long (60)"
    )
    made.add_argument("--proxy", action="store_true", help="believe the headers of a proxy on who asks, and how")
    made.add_argument("--show", action="store_true", help="open a browser")
    made.add_argument("--check", action="store_true", help="ask the server on this port whether it is well, and end")
    return made


def _port(text: str) -> int:
    if text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not allowed: it must be a whole number from 1 to 65535")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 < value < 10_000:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not allowed: it must be a number above 0 and below 10,000")


def make(asked: argparse.Namespace) -> Any:
    """Return the server that a command line asks for, listening but not started."""
    os.environ[UPLOAD_MB] = f"{asked.upload_mb:g}"
    os.environ[IDLE_MINUTES] = f"{asked.idle_minutes:g}"
    import panel as pn

    from dpml_app.shell import build_app

    origins = [f"{name}:{asked.port}" for name in ("localhost", "127.0.0.1")]
    server = pn.serve(
        {"app": build_app},
        port=asked.port,
        address=asked.host,
        websocket_origin=[*origins, *asked.origin],
        websocket_max_message_size=MOST_MESSAGE,
        use_xheaders=asked.proxy,
        liveness=HEALTH,
        title="dpml",
        location=False,
        show=asked.show,
        start=False,
        verbose=False,
    )
    server._tornado.add_transform(Strict)
    return server


def healthy(port: int) -> bool:
    """Return whether a server on this machine answers."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/{HEALTH}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the process is told to end; return how it ends."""
    asked = parser().parse_args(arguments)
    if asked.check:
        well = healthy(asked.port)
        print("well" if well else f"no server answers on port {asked.port}", file=sys.stdout if well else sys.stderr)
        return 0 if well else 1
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Discreet())
    try:
        server = make(asked)
    except OSError as error:
        print(f"port {asked.port} of {asked.host} cannot be used: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"dpml: http://{'localhost' if asked.host in ('127.0.0.1', '0.0.0.0') else asked.host}:{asked.port}/app")
    with contextlib.suppress(KeyboardInterrupt):
        server.run_until_shutdown()
    return 0
