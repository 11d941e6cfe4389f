"""The server's threads: sessions take turns, and the end of the server does not wait for them."""

import subprocess
import sys
import threading

import pytest
from bokeh.document import Document
from dpml_app.work import fair_queue
from dpml_app.work.pool import Pool
from dpml_app.work.worker import InThread

from dpml.exceptions import DpmlError

ENDLESS = """
import threading
from dpml_app.work.pool import Pool
from dpml_app.work.worker import InThread
threads, begun = Pool(1, worker=InThread), threading.Event()
def endless():
    begun.set()
    threading.Event().wait()
threads.call(endless)
waiting = threads.call(print, "it was not dropped")
begun.wait()
print("the end")
"""


@pytest.fixture
def threads():
    threads = Pool(1, worker=InThread)
    yield threads
    threads.stop()


def test_sessions_take_turns(threads, monkeypatch):
    may, done = threading.Event(), []
    first = threads.call(may.wait, 120)
    futures = []
    for session, number in ((Document(), 20), (Document(), 2)):
        monkeypatch.setattr("dpml_app.work.pool.session", lambda session=session: session)
        futures += [threads.call(done.append, (number, i)) for i in range(number)]
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
        threads.call(refuse).result(120)


def test_what_is_cancelled_is_not_computed(threads):
    may, done = threading.Event(), []
    threads.call(may.wait, 120)
    cancelled, other = (threads.call(done.append, i) for i in range(2))
    assert cancelled.cancel()
    may.set()
    other.result(120)
    assert done == [1]


def test_each_call_is_made_of_whatever_it_is_and_none_is_kept(threads):
    numbers = [1, 2, 3]
    assert [threads.call(numbers.pop).result(120) for _ in range(2)] == [3, 2]
    assert threads.call(sorted, [2, 1]).result(120) == [1, 2]
    assert threads._asked == {}


def test_what_is_being_computed_cannot_be_cancelled(threads):
    begun, may = threading.Event(), threading.Event()

    def compute():
        begun.set()
        return may.wait(120)

    future = threads.call(compute)
    assert begun.wait(120)
    assert not future.cancel()
    may.set()
    assert future.result(120)


def test_stopped_threads_take_nothing(threads):
    threads.call(int).result(120)
    running = [one.thread for one in threads._worker_threads]
    threads._end()
    assert threads.call(int).cancelled()
    assert not any(thread.is_alive() for thread in running)


def test_interpreter_ends_while_an_answer_is_computed():
    ended = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the end\n", "")
