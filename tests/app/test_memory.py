"""What sessions leave behind is given back to the system."""

import ctypes
import sys
from weakref import WeakSet

import pytest
from dpml_app import shell
from dpml_app.serving import memory
from dpml_app.work.pool import Pool, Task
from dpml_app.work.worker import InThread

GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")


def resident():
    """Return the megabytes that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


@pytest.mark.skipif(not GLIBC, reason="the C library gives memory back by itself")
def test_memory_that_is_free_below_memory_in_use_is_given_back():
    # larger than what Python manages by itself, smaller than what the C library maps by itself
    held = [bytes(2000) for _ in range(60_000)]
    last = held[::5000]
    del held
    before = resident()
    assert memory.give_back()
    assert before - resident() > 80
    assert len(last) == 12


def test_where_the_c_library_cannot_be_asked_nothing_happens(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _name: object())
    assert memory.give_back() is False


class Clock:
    """Timers that wait until they are told to go."""

    def __init__(self):
        self.timers = []

    def __call__(self, seconds, function):
        timer = Timer(seconds, function)
        self.timers.append(timer)
        return timer


class Timer:
    """One of them."""

    def __init__(self, seconds, function):
        self.seconds, self.function, self.started, self.cancelled = seconds, function, False, False

    def start(self):
        self.started = True

    def cancel(self):
        self.cancelled = True


def test_those_who_leave_together_are_one_occasion(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(memory.threading, "Timer", clock)
    for _ in range(3):
        memory.give_back_soon()
    assert [timer.cancelled for timer in clock.timers] == [True, True, False]
    assert all(timer.started and timer.daemon and timer.function is memory.give_back for timer in clock.timers)


def test_a_session_that_was_open_gives_back_when_it_ends(monkeypatch):
    asked = []
    monkeypatch.setattr(shell, "give_back_soon", lambda: asked.append(True))
    one = shell.Shell()
    one.stop()  # never opened
    assert asked == []
    one.live = True
    one.stop()
    one.stop()
    assert asked == [True]


def test_what_is_kept_for_sessions_goes_with_the_last_one(monkeypatch):
    class Session:
        pass

    one, left = Session(), []
    monkeypatch.setattr(memory, "SESSIONS", WeakSet([one]))
    monkeypatch.setattr(memory, "WHEN_LEFT", [lambda: left.append(True)])
    memory.give_back()
    assert left == []
    del one
    memory.give_back()
    assert left == [True]


def test_workers_are_replaced_while_nobody_waits_for_them():
    pool = Pool(1, worker=InThread)
    pool.renew()  # none has computed
    assert not pool.warm
    assert pool.submit(Task(abs, (-1,))).result(60) == 1
    before = pool._worker_threads[0]
    pool.renew()
    assert before.ended
    assert pool.submit(Task(abs, (-2,))).result(60) == 2
    pool.stop()
