"""The server's threads: sessions take turns, and the end of the server does not wait for them."""

import subprocess
import sys
import threading

import pytest
from bokeh.document import Document
from dpml_app.work import fair_queue
from dpml_app.work.threads import Threads

from dpml.exceptions import DpmlError

ENDLESS = """
import threading
from dpml_app.work.threads import Threads
threads, begun = Threads("endless", 1), threading.Event()
def endless():
    begun.set()
    threading.Event().wait()
threads.submit(endless)
waiting = threads.submit(print, "it was not dropped")
begun.wait()
print("the end")
"""


@pytest.fixture
def threads():
    threads = Threads("test", 1)
    yield threads
    threads.stop()


def test_sessions_take_turns(threads, monkeypatch):
    may, done = threading.Event(), []
    first = threads.submit(may.wait, 120)
    futures = []
    for session, number in ((Document(), 20), (Document(), 2)):
        monkeypatch.setattr("dpml_app.work.threads.session", lambda session=session: session)
        futures += [threads.submit(done.append, (number, i)) for i in range(number)]
    may.set()
    assert first.result(120)
    for future in futures:
        future.result(120)
    assert done[:5] == [(20, 0), (2, 0), (20, 1), (2, 1), (20, 2)]


def test_outside_of_a_session_nobody_owns_what_is_asked_for():
    assert fair_queue.session() is None


def test_errors_come_back(threads):
    def refuse():
        raise DpmlError("no")

    with pytest.raises(DpmlError, match=r"^no$"):
        threads.submit(refuse).result(120)


def test_what_is_cancelled_is_not_computed(threads):
    may, done = threading.Event(), []
    threads.submit(may.wait, 120)
    cancelled, other = (threads.submit(done.append, i) for i in range(2))
    assert cancelled.cancel()
    may.set()
    other.result(120)
    assert done == [1]


def test_stopped_threads_take_nothing(threads):
    threads.submit(int).result(120)
    threads.stop()
    assert threads.submit(int).cancelled()
    assert not any(thread.is_alive() for thread in threads._threads)


def test_interpreter_ends_while_an_answer_is_computed():
    ended = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the end\n", "")
