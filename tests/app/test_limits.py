"""Limits of a session and of a server: where they come from, and what happens beyond them."""

import math
import os
import re
import subprocess
import sys
import threading

import pytest
from app_server import ROOT
from dpml_app.serving import limits
from dpml_app.serving.limits import LIMITS, ServerFull, most
from dpml_app.serving.serve import DEFAULT_IDLE_MINUTES
from dpml_app.work.fair_queue import FairQueue, Priority
from dpml_app.work.pool import Pool, Task
from dpml_app.work.worker import InThread
from page_alone import Here, pool_here

from dpml.exceptions import InvalidParameter


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
@pytest.mark.parametrize("said", ["0", "-1", "x", "nan", "inf", "1e300", "5 MB"])
def test_a_value_that_is_not_allowed_is_named(limit, said, monkeypatch):
    monkeypatch.setenv(limit.name, said)
    with pytest.raises(InvalidParameter, match=f"`{limit.name}` must be a number above 0.*Got '{said}'"):
        most(limit)
    with pytest.raises(InvalidParameter, match=limit.name):
        limits.check_all()


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_a_limit_is_what_was_said_or_what_is_usual(limit, monkeypatch):
    monkeypatch.setenv(limit.name, " 2.5 ")
    assert most(limit) == 2.5
    monkeypatch.setenv(limit.name, "")
    assert most(limit) == limit.usual
    assert limit.usual < limit.most or math.isinf(limit.usual)


def test_a_server_does_not_start_with_a_limit_that_is_not_allowed():
    command = [sys.executable, "-m", "dpml_app", "--port", "1"]
    told = {**os.environ, "DPML_TABLES_MB": "plenty"}
    ended = subprocess.run(command, capture_output=True, text=True, env=told, timeout=120)
    assert ended.returncode == 2
    assert re.search("`DPML_TABLES_MB` must be .*Got 'plenty'", ended.stderr)
    assert "Traceback" not in ended.stderr


def test_so_much_of_one_owner_may_wait_and_others_are_free(monkeypatch):
    monkeypatch.setenv("DPML_WAITING", "3")
    turns = FairQueue()
    for item, priority in (("a1", Priority.IMMEDIATE), ("a2", Priority.CURVES), ("a3", Priority.IDLE)):
        turns.check("a")
        turns.put(item, owner="a", priority=priority)
    with pytest.raises(ServerFull, match="3 computations of this session are waiting"):
        turns.check("a")
    turns.check("b")
    assert turns.take() == "a1"
    turns.check("a")


def test_what_is_not_wanted_any_more_does_not_count(monkeypatch):
    monkeypatch.setenv("DPML_WAITING", "2")
    turns = FairQueue()
    for item in ("old", "older"):
        turns.put(item, owner="a", priority=Priority.IMMEDIATE)
    turns.check("a", lambda _item: False)
    turns.put("new", owner="a", priority=Priority.IMMEDIATE)
    assert turns.take() == "new"


def test_a_session_that_floods_the_pool_is_refused_and_the_others_are_served(monkeypatch):
    monkeypatch.setenv("DPML_WAITING", "4")
    asked, go_on = threading.Event(), threading.Event()

    class Slow(Here):
        def call(self, function, arguments):
            asked.set()
            assert go_on.wait(60)
            return super().call(function, arguments)

        def end(self):
            go_on.set()

    pool = Pool(1, worker=Slow)
    try:
        first = pool.submit(Task(divmod, (1, 1)), owner="flood")
        assert asked.wait(60)
        waiting = [pool.submit(Task(divmod, (n, 7)), owner="flood") for n in range(4)]
        with pytest.raises(ServerFull):
            pool.submit(Task(divmod, (99, 7)), owner="flood")
        other = pool.submit(Task(divmod, (9, 2)), owner="quiet")
        # what nobody waits for any more is not counted
        waiting[0].cancel()
        again = pool.submit(Task(divmod, (99, 7)), owner="flood")
        go_on.set()
        assert [f.result(60) for f in (first, other, again)] == [(1, 0), (4, 1), (14, 1)]
    finally:
        pool.stop()


def test_threads_refuse_a_flood(monkeypatch):
    monkeypatch.setenv("DPML_WAITING", "2")
    monkeypatch.setattr("dpml_app.work.pool.session", lambda: "flood")
    threads, begun, go_on = Pool(1, worker=InThread), threading.Event(), threading.Event()

    def wait():
        begun.set()
        assert go_on.wait(60)

    try:
        threads.call(wait)
        assert begun.wait(60)
        found = [threads.call(divmod, n, 2) for n in range(2)]
        with pytest.raises(ServerFull):
            threads.call(divmod, 9, 2)
        go_on.set()
        assert [one.result(60) for one in found] == [(0, 0), (0, 1)]
    finally:
        go_on.set()
        threads.stop()


def test_a_kept_result_is_given_however_much_waits(monkeypatch):
    pool = pool_here()
    try:
        assert pool.submit(Task(divmod, (7, 2)), owner="a").result(60) == (3, 1)
        monkeypatch.setattr(pool._queue, "check", lambda *_args: pytest.fail("nothing needs to wait"))
        assert pool.submit(Task(divmod, (7, 2)), owner="a").result(60) == (3, 1)
    finally:
        pool.stop()


def test_the_docs_have_every_limit():
    text = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `DPML_")}
    assert set(rows) == {limit.name for limit in LIMITS}
    for limit in LIMITS:
        usual = DEFAULT_IDLE_MINUTES if math.isinf(limit.usual) else limit.usual
        assert rows[limit.name].endswith(f" {usual:g} |")
