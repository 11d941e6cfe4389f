"""Sessions that arrive together get turns: one is made when the one before it has its socket, or after a while."""

import asyncio
import gc

import pytest
from bokeh.application.application import Application
from bokeh.document import Document
from dpml_app.serving import arrivals
from dpml_app.serving.arrivals import Arrivals, FairLock


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
    async with Arrivals.turn(Application(turns), "somebody"):
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


def served(asked, cancelled=()):
    """Return the order in which turns are given that are asked for while the first is had."""

    async def main():
        turns, order, first = FairLock(), [], asyncio.Event()

        async def have(client, wait=None):
            async with turns.turn(client):
                order.append(client)
                if wait is not None:
                    await wait.wait()

        tasks = [asyncio.create_task(have(asked[0], first))]
        for client in asked[1:]:
            tasks.append(asyncio.create_task(have(client)))
            await asyncio.sleep(0)
        for place in cancelled:
            tasks[place].cancel()
        await asyncio.sleep(0)
        first.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not turns._held
        assert not turns._waiting
        return order

    return "".join(asyncio.run(asyncio.wait_for(main(), 20)))


def test_clients_have_turns_one_after_another():
    assert served("aaaaab") == "abaaaa"
    assert served("aaaabbbc") == "abcabab" + "a"
    assert served("abcabc") == "abcabc"


def test_a_turn_that_is_given_up_is_passed_on():
    assert served("aaab", cancelled=(3,)) == "aaa"
    assert served("aaab", cancelled=(1, 2)) == "ab"
    assert served("aab", cancelled=(0,)) == "aba"


def test_a_client_that_asks_again_and_again_waits_for_the_others():
    """One who asks for the next page with each answer is not new each time."""

    async def main():
        turns, order = FairLock(), []

        async def have(client, times):
            for _ in range(times):
                async with turns.turn(client):
                    order.append(client)
                    await asyncio.sleep(0)

        await asyncio.gather(*(have(client, 3) for client in "aaab"))
        return "".join(order)

    order = asyncio.run(asyncio.wait_for(main(), 20))
    assert [place for place, client in enumerate(order) if client == "b"] == [1, 3, 5]


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
