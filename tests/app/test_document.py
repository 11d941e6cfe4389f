"""A page's document in two parts: what no session changes is sent before the session is made."""

import asyncio
import gzip
import zlib
from types import SimpleNamespace

import pytest
from bokeh.application.application import Application as Served
from dpml_app.serving import document
from dpml_app.serving.arrivals import Arrivals
from panel.config import config
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.tcpclient import TCPClient
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

FIRST, REST = "<html><body>the question and its picture", "what is of one session</body></html>"


class Session(RequestHandler):
    """Answers once its session is there, as Bokeh's handler does."""

    @property
    def application_context(self):
        return SimpleNamespace(application=self.application.served)

    async def get(self):
        self.application.asked += 1
        await self.application.made.wait()
        if self.application.fails:
            raise OSError("no session")
        self.set_header("Content-Type", "text/html")
        self.write(FIRST + document.CUT + REST)


class Page(document.DocumentInParts, Session):
    pass


@pytest.fixture(autouse=True)
def _no_parts(monkeypatch):
    monkeypatch.setattr(document, "_FIRST_PARTS", type(document._FIRST_PARTS)())


def serve(user=None):
    """Return an application, its server and its port."""
    application = Application([("/app", Page)])
    application.auth_provider = SimpleNamespace(get_user=user, get_user_async=None)
    application.made, application.fails, application.asked = asyncio.Event(), False, 0
    application.served = Served(Arrivals(lambda _doc: None))
    socket, port = bind_unused_port()
    server = HTTPServer(application)
    server.add_socket(socket)
    return application, server, port


def visits(count, *, fails=False, user=None, compressed=True):
    """Return what each of some visits to one link had before its session was made, and what it had at the end."""

    async def visit_all():
        application, server, port = serve(user)
        answers = []
        for number in range(count):
            application.made.clear()
            application.fails = fails and number > 0
            pieces = []
            client = AsyncHTTPClient(force_instance=True)
            headers = {"Accept-Encoding": "gzip" if compressed else ""}
            answer = client.fetch(
                f"http://127.0.0.1:{port}/app",
                headers=headers,
                decompress_response=False,
                streaming_callback=pieces.append,
            )
            await asyncio.sleep(0.2)
            before = b"".join(pieces)
            application.made.set()
            await answer
            answers.append((before, b"".join(pieces)))
        server.stop()
        return answers

    return asyncio.run(visit_all())


@pytest.mark.parametrize("compressed", [True, False])
def test_the_second_visitor_has_the_first_part_before_the_session_is_made(compressed):
    read = gzip.decompress if compressed else bytes
    (nothing, whole), (early, again) = visits(2, compressed=compressed)
    assert nothing == b""
    assert (zlib.decompressobj(document.GZIP).decompress(early) if compressed else early).decode() == FIRST
    assert read(whole).decode() == read(again).decode() == FIRST + REST


def test_a_session_that_cannot_be_made_is_said_on_the_page():
    _, (_, whole) = visits(2, fails=True)
    assert gzip.decompress(whole).decode() == FIRST + document.FAILED


@pytest.mark.parametrize("known", [False, True])
def test_whoever_leaves_before_their_turn_gets_no_session(known):
    if known:
        document.keep("/app", FIRST)

    async def leave():
        application, server, port = serve()
        streams = [await TCPClient().connect("127.0.0.1", port) for _ in range(4)]
        for stream in streams:
            await stream.write(b"GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await asyncio.sleep(0.05)
        # the first has its turn, two of those who wait load the page again or go
        for stream in streams[1:3]:
            stream.close()
        await asyncio.sleep(0.1)
        application.made.set()
        answer = await streams[3].read_until(REST.encode())
        for stream in (streams[0], streams[3]):
            stream.close()
        server.stop()
        await server.close_all_connections()
        return application.asked, answer

    asked, answer = asyncio.run(asyncio.wait_for(leave(), 20))
    assert asked == 2
    assert answer.startswith(b"HTTP/1.1 200")


def test_nobody_who_must_log_in_is_sent_anything_early(monkeypatch):
    assert [early for early, _ in visits(2, user=lambda _handler: None)] == [b"", b""]
    monkeypatch.setattr(config, "authorize_callback", lambda _user: True)
    assert [early for early, _ in visits(2)] == [b"", b""]


def test_only_so_many_links_are_kept():
    visits(2)
    for number in range(document.MOST_LINKS):
        document.keep(f"/app?{number}", FIRST)
    assert len(document._FIRST_PARTS) == document.MOST_LINKS
    assert "/app" not in document._FIRST_PARTS
