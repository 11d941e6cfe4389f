"""The command ``python -m dpml_app``: one server process with limits, security headers, a log and a health check."""

import argparse
import gc
import math
import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.request import urlopen

from dpml.exceptions import InvalidParameter
from dpml_app.serving import log
from dpml_app.serving.headers import SecurityHeaders
from dpml_app.serving.limits import IDLE_MINUTES, UPLOAD_MB, check_all, most

PORT = 5006
HEALTH = "healthz"
DEFAULT_IDLE_MINUTES = 60.0
# bytes; a part of an upload has 1.4 million characters, and no other message is as long
MAX_MESSAGE = 8_000_000
COMPRESSION_LEVEL = 6


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
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
    options.add_argument("--show", action="store_true", help="open a browser")
    options.add_argument("--check", action="store_true", help="check the health of the server on this port and exit")
    return options


def _port(text: str) -> int:
    if text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 65535. Got {text!r}")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 < value < 10_000:
        return value
    raise argparse.ArgumentTypeError(f"must be a number above 0 and below 10,000. Got {text!r}")


def set_limits(asked: argparse.Namespace) -> None:
    """Apply the limits of the command line; raise `InvalidParameter` for a limit that is not allowed."""
    if asked.upload_mb is not None:
        os.environ[UPLOAD_MB.name] = f"{asked.upload_mb:g}"
    if asked.idle_minutes is not None or math.isinf(most(IDLE_MINUTES)):
        os.environ[IDLE_MINUTES.name] = f"{asked.idle_minutes or DEFAULT_IDLE_MINUTES:g}"
    check_all()


def collect_rarely() -> None:
    """Exclude what is loaded from garbage collection, and collect less often: it took a sixth of each opening."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def make(asked: argparse.Namespace, load_app: Callable[[], Callable[[], Any]]) -> Any:
    """Return a server that listens and is not started."""
    # here, so that a health check does not import them
    import panel as pn
    from bokeh.application.handlers import FunctionHandler
    from bokeh.settings import settings
    from bokeh.util.token import generate_secret_key
    from panel.io.application import Application
    from panel.io.state import set_curdoc
    from tornado.web import RedirectHandler

    from dpml_app.serving.session_ids import OwnSessions

    settings.perform_document_validation = False  # the tests validate every page
    build = load_app()

    def modify(doc: Any) -> None:
        with set_curdoc(doc):
            build().server_doc(doc)

    server = pn.serve(
        {"app": Application(FunctionHandler(modify), OwnSessions())},
        port=asked.port,
        address=asked.host,
        websocket_origin=[*(f"{name}:{asked.port}" for name in ("localhost", "127.0.0.1")), *asked.origin],
        websocket_max_message_size=MAX_MESSAGE,
        websocket_compression_level=COMPRESSION_LEVEL,
        use_xheaders=asked.proxy,
        sign_sessions=True,
        secret_key=settings.secret_key_bytes() or generate_secret_key().encode(),
        liveness=HEALTH,
        show=False,
        start=False,
        verbose=False,
        transforms=[SecurityHeaders],
        # Bokeh's own redirect drops the settings of a link
        extra_patterns=[("/", RedirectHandler, {"url": "/app", "permanent": False})],
    )
    collect_rarely()
    log.begin()  # last: Bokeh and Panel have set up theirs by now
    return server


def healthy(port: int) -> bool:
    """Return whether the server on a port of this machine answers."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/{HEALTH}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def main(load_app: Callable[[], Callable[[], Any]], arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code.

    `load_app` imports the app and returns the function that builds one. It is called only to serve.
    """
    asked = parser().parse_args(arguments)
    if asked.check:
        well = healthy(asked.port)
        print("well" if well else f"no server answers on port {asked.port}", file=sys.stdout if well else sys.stderr)
        return 0 if well else 1
    try:
        set_limits(asked)
        server = make(asked, load_app)
    except InvalidParameter as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"port {asked.port} of {asked.host} cannot be used: {error.strerror or error}", file=sys.stderr)
        return 1
    address = f"http://{'localhost' if asked.host in ('127.0.0.1', '0.0.0.0') else asked.host}:{asked.port}/app"
    print(f"dpml: {address}", flush=True)
    if asked.show:
        webbrowser.open(address)
    with suppress(KeyboardInterrupt):
        server.run_until_shutdown()
    return 0
