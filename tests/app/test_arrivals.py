"""Sessions that arrive together get turns: one is made when the one before it has its socket, or after a while."""

import asyncio
import gc

import pytest
from bokeh.application.application import Application
from bokeh.document import Document
from dpml_app.serving import arrivals
from dpml_app.serving.arrivals import Arrivals


class Session:
    connection_count = 0


class Context:
    destroyed = False
    session = None

    def __init__(self):
        self.doc = Document()

    async def with_locked_document(self, do):
        await do(self.doc)

    def serve(self):
        self.session = Session()
        self.session.connection_count = 1


def arrive(monkeypatch, patience, script):
    """Return in which order things happen while `script` runs with an `Arrivals` and a place to write them."""
    monkeypatch.setattr(arrivals, "PATIENCE", patience)
    monkeypatch.setattr(arrivals, "SENDING", 0.0)
    happened = []

    async def run():
        await script(Arrivals(lambda _doc: None), happened)

    asyncio.run(asyncio.wait_for(run(), 20))
    return happened


async def made(turns, context, number, happened):
    async with Arrivals.turn(Application(turns)):
        await turns.on_session_created(context)
        happened.append(number)


async def made_for_a_socket(turns, context, number, happened):
    await turns.on_session_created(context)
    happened.append(number)


@pytest.mark.parametrize("made", [made, made_for_a_socket])
def test_the_second_session_waits_for_the_first_ones_socket(made, monkeypatch):
    async def script(turns, happened):
        contexts = [Context() for _ in range(3)]
        await made(turns, contexts[0], 0, happened)
        others = [asyncio.ensure_future(made(turns, contexts[i], i, happened)) for i in (1, 2)]
        await asyncio.sleep(0.1)
        for context in contexts:
            happened.append("socket")
            context.serve()
            await asyncio.sleep(0.1)
        await asyncio.gather(*others)

    assert arrive(monkeypatch, 1000.0, script) == [0, "socket", 1, "socket", 2, "socket"]


def test_a_session_that_never_asks_is_not_waited_for_long(monkeypatch):
    async def script(turns, happened):
        silent = Context()
        await made(turns, silent, 0, happened)
        await made(turns, Context(), 1, happened)

    assert arrive(monkeypatch, 0.1, script) == [0, 1]


def test_a_session_that_is_gone_is_not_waited_for(monkeypatch):
    async def script(turns, happened):
        first, second = Context(), Context()
        await made(turns, first, 0, happened)
        first.destroyed = True
        await made(turns, second, 1, happened)
        del second
        gc.collect()
        await made(turns, Context(), 2, happened)

    assert arrive(monkeypatch, 1000.0, script) == [0, 1, 2]


def test_an_application_is_joined_once():
    class Application:
        def __init__(self):
            self.handlers = []

        def add(self, handler):
            self.handlers.append(handler)

    class Served:
        application = Application()

    class Server:
        application_context = Served()

    class SessionContext:
        server_context = Server()

    doc = Document()
    Arrivals.join(doc, print)  # not served
    context = SessionContext()
    doc._session_context = lambda: context
    Arrivals.join(doc, print)
    Arrivals.join(doc, print)
    assert [type(h) for h in Served.application.handlers] == [Arrivals]
