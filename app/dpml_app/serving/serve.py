"""The app's server, for one machine or behind a proxy: limits, a health check and headers that keep a browser strict.

``panel serve app`` serves the same pages without the headers and without the limits on idle sessions.
"""

import argparse
import asyncio
import contextlib
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any
from urllib.request import urlopen

from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform

from dpml.exceptions import InvalidParameter
from dpml_app.serving import log, shared
from dpml_app.serving.headers import HEADERS, HEALTH
from dpml_app.serving.limits import IDLE_MINUTES, UPLOAD_MB, check_all, most

PORT = 5006
USUAL_MINUTES = 60.0
MOST_PROCESSES = 16
# a part of an upload has 1.4 million characters, and no other message is as long
MOST_MESSAGE = 8_000_000


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


def parser() -> argparse.ArgumentParser:
    """Return what the command line takes."""
    options = argparse.ArgumentParser(prog="python -m dpml_app", description="Serve the app of dpml.")
    options.add_argument("--host", default="127.0.0.1", help="address to listen on, 0.0.0.0 for all (127.0.0.1)")
    options.add_argument("--port", type=_port, default=PORT, help=f"port to listen on ({PORT})")
    options.add_argument(
        "--origin", action="append", default=[], metavar="HOST[:PORT]",
        help="host name that browsers use to reach the server, such as a proxy's (repeatable)",
    )  # fmt: skip
    options.add_argument("--upload-mb", type=_positive, help="largest table in MB (DPML_UPLOAD_MB, or 50)")
    options.add_argument(
        "--idle-minutes", type=_positive, help="end a session after this idle time (DPML_IDLE_MINUTES, or 60)"
    )
    options.add_argument("--proxy", action="store_true", help="trust the forwarding headers of a proxy")
    options.add_argument(
        "--processes", type=_count, default=1, help=f"server processes behind the port, 1 to {MOST_PROCESSES} (1)"
    )
    options.add_argument("--show", action="store_true", help="open a browser")
    options.add_argument("--check", action="store_true", help="check the health of the server on this port and exit")
    return options


def _port(text: str) -> int:
    if text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 65535. Got {text!r}")


def _count(text: str) -> int:
    if text.isdigit() and 0 < int(text) <= MOST_PROCESSES:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {MOST_PROCESSES}. Got {text!r}")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 < value < 10_000:
        return value
    raise argparse.ArgumentTypeError(f"must be a number above 0 and below 10,000. Got {text!r}")


def set_limits(asked: argparse.Namespace) -> None:
    """Have the limits that a command line asks for hold; raise `InvalidParameter` for one that is not allowed."""
    if asked.upload_mb is not None:
        os.environ[UPLOAD_MB.name] = f"{asked.upload_mb:g}"
    if asked.idle_minutes is not None or math.isinf(most(IDLE_MINUTES)):
        os.environ[IDLE_MINUTES.name] = f"{asked.idle_minutes or USUAL_MINUTES:g}"
    check_all()


def make(asked: argparse.Namespace, load_app: Callable[[], Callable[[], Any]]) -> Any:
    """Return a server that its parent hands requests on to: it listens on a port of its own, and is not started."""
    import panel as pn
    from bokeh.settings import settings

    from dpml_app.serving import light, session_ids

    light.install()
    session_ids.refuse_given()

    origins = [f"{name}:{asked.port}" for name in ("localhost", "127.0.0.1")]
    server = pn.serve(
        {"app": load_app()},
        port=0,
        address="127.0.0.1",
        websocket_origin=[*origins, *asked.origin],
        websocket_max_message_size=MOST_MESSAGE,
        # its parent says who asks
        use_xheaders=True,
        sign_sessions=True,
        secret_key=settings.secret_key_bytes(),
        liveness=HEALTH,
        title="dpml",
        location=False,
        show=False,
        start=False,
        verbose=False,
        transforms=[Strict],
    )
    log.begin()  # last: Bokeh and Panel have set up theirs by now
    return server


def healthy(port: int) -> bool:
    """Return whether a server on this machine answers."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/{HEALTH}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def main(load_app: Callable[[], Callable[[], Any]], arguments: Sequence[str] | None = None) -> int:
    """Serve until the process is told to end; return how it ends.

    `load_app` returns what makes the app of a session: it is loaded only where the command line asks for a server.
    """
    asked = parser().parse_args(arguments)
    if asked.check:
        well = healthy(asked.port)
        print("well" if well else f"no server answers on port {asked.port}", file=sys.stdout if well else sys.stderr)
        return 0 if well else 1
    address = f"http://{'localhost' if asked.host in ('127.0.0.1', '0.0.0.0') else asked.host}:{asked.port}/app"
    from dpml_app.serving import processes

    try:
        set_limits(asked)
        if shared.folder() is None:
            log.begin()
            with contextlib.suppress(KeyboardInterrupt):
                return asyncio.run(processes.serve(asked, sys.argv[1:] if arguments is None else arguments, address))
            return 0
        server = make(asked, load_app)
    except InvalidParameter as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"port {asked.port} of {asked.host} cannot be used: {error.strerror or error}", file=sys.stderr)
        return 1
    processes.tell_parent(server.port)
    with contextlib.suppress(KeyboardInterrupt):
        server.run_until_shutdown()
    return 0
