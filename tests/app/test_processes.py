"""``python -m dpml_app --processes 2``: sessions stay with their process, and one that is killed is started again."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from urllib.request import urlopen

import numpy as np
import pytest
from app_server import ROOT, Server, alive, children
from bokeh.util.token import get_token_payload
from dpml_app import uploaded_table
from dpml_app.lessons.classrooms import Classrooms
from dpml_app.serving import processes, shared
from dpml_app.serving.headers import HEADERS
from dpml_app.serving.limits import ServerFull
from dpml_app.serving.processes import Child, Parent
from dpml_app.serving.processes import Server as Running
from dpml_app.serving.request_head import Head
from dpml_app.serving.serve import parser
from dpml_app.work.cache import Cache

PATIENCE = 120.0
STEP = ("what-it-costs", 1)


# ---- what they share -------------------------------------------------------------------------------------------------


@pytest.fixture
def be(monkeypatch, tmp_path):
    """Return what makes this process one of two."""
    monkeypatch.setenv(shared.FOLDER, str(tmp_path))

    def be(number):
        monkeypatch.setenv(shared.PROCESS, f"{number}/2")

    return be


def test_a_limit_is_of_all_processes_together(be, tmp_path, monkeypatch):
    monkeypatch.setenv("DPML_CLASSES", "1")
    be(1)
    here = Classrooms()
    code, _secret = here.open(STEP, lambda: None)
    be(2)
    other = Classrooms()
    with pytest.raises(ServerFull, match="1 classes are open: DPML_CLASSES allows 1"):
        other.open(STEP, lambda: None)
    be(1)
    here.end(code)
    be(2)
    other.end(other.open(STEP, lambda: None)[0])
    be(1)
    shared.hold(shared.TABLES, 12.5)
    be(2)
    assert shared.others(shared.TABLES) == 12.5
    shared.clear(tmp_path, 0)  # it has ended
    assert shared.others(shared.TABLES) == 0


def test_one_process_alone_shares_nothing(monkeypatch):
    monkeypatch.delenv(shared.FOLDER, raising=False)
    shared.hold("tables", 1.0)
    assert shared.others("tables") == 0
    assert shared.results() is None


def test_the_code_of_a_class_says_its_process(be):
    for number in (1, 2):
        be(number)
        assert {shared.process_of(shared.new_code(), 2) for _ in range(50)} == {number - 1}
    assert shared.process_of("!", 2) is None


def test_a_result_of_one_process_is_there_for_the_other_unless_it_is_of_an_uploaded_table(be):
    key, own = ("module", "function", "toy", (1, 0.1)), ("module", "function", "own-12", 1)
    be(1)
    first = Cache(shared=shared.results())
    first.put(key, {"x": np.arange(3)})
    uploaded_table.keep("own-12", b"")
    first.put(own, 5)
    first.put(("module", "function", object()), 6)  # what is written of it may be that of another one
    be(2)
    second = Cache(shared=shared.results())
    value = second.get(key)
    assert value["x"].tolist() == [0, 1, 2]
    assert not value["x"].flags.writeable
    assert second.get(key) is value
    assert second.get(own) is None
    uploaded_table.drop("own-12")
    assert len(list(shared.results()._folder.iterdir())) == 1


def test_the_folder_stays_small(be, tmp_path, monkeypatch):
    monkeypatch.setattr(shared, "MOST_TAKEN", 10_000)
    be(1)
    results = shared.results()
    for number in range(4):
        results.put((number,), number)
        os.utime(results._path((number,)), (number, number))
    shared.prune(tmp_path)
    assert [results.get((number,)) for number in range(4)] == [None, None, 2, 3]


# ---- who gets what ---------------------------------------------------------------------------------------------------


def head(target, *headers):
    return Head.read("\r\n".join([f"GET {target} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode())


def test_a_head_goes_on_with_the_address_that_asks():
    handed = head("/app?page=noise", "Cookie: a=b").handed_on("192.0.2.1", proxy=False).decode()
    lines = ["GET /app?page=noise HTTP/1.1", "Host: localhost", "Cookie: a=b", "X-Forwarded-For: 192.0.2.1"]
    assert handed.split("\r\n") == [*lines, "Connection: close", "", ""]
    upgrade = head("/app/ws", "Connection: Upgrade").handed_on("192.0.2.1", proxy=False).decode()
    assert upgrade.split("\r\n")[2:] == ["Connection: Upgrade", "X-Forwarded-For: 192.0.2.1", "", ""]
    assert head("/app/?page=noise").path == head("/app").path == "/app"
    assert head("/").path == "/"


@pytest.mark.parametrize(
    "content", [b"\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"GET / H\r\n a: b\r\n\r\n"]
)
def test_what_is_no_head_is_refused(content):
    with pytest.raises(ValueError):  # noqa: PT011
        Head.read(content)


def test_a_class_link_goes_to_its_process_and_other_pages_where_fewest_are(tmp_path):
    there = Running(None, 1, 0.0)
    parent = Parent([], tmp_path, [Child(0, there, open=5), Child(1, there, open=1), Child(2)])
    code = next(c + "aaaaaaa" for c in shared.LETTERS if shared.process_of(c, 3) == 0)
    missing = next(c + "aaaaaaa" for c in shared.LETTERS if shared.process_of(c, 3) == 2)
    for target, numbers in {f"/app?class={code}": [0, 1], "/app": [1, 0], f"/app?class={missing}": [1, 0]}.items():
        assert [child.number for child in parent.order(head(target))] == numbers
    assert [child.number for child in parent.order(head("/app/ws", "Sec-WebSocket-Protocol: bokeh, junk"))] == [1, 0]


class Fake:
    """A process that only notes that it is to end."""

    def __init__(self, pid):
        self.pid, self.ended = pid, False

    def terminate(self):
        self.ended = True

    kill = terminate

    async def wait(self):
        assert self.ended


@pytest.mark.parametrize(
    ("change", "replaced"),
    [
        ({}, True),
        ({"grown": 149}, False),
        ({"open": 1}, False),
        ({"quiet": 1}, False),
        ({"classes": 1}, False),
        ({"comes": True}, False),
    ],
)
def test_a_process_is_replaced_if_it_has_grown_and_nobody_is_there(change, replaced, tmp_path, monkeypatch):
    case = {"grown": 151, "open": 0, "quiet": 31, "classes": 0, "comes": False} | change
    old, new = Running(Fake(1), 1, 100.0), Running(Fake(2), 2, 100.0)
    child = Child(0, old, open=case["open"], last=time.monotonic() - case["quiet"])
    parent = Parent([], tmp_path, [child])
    (tmp_path / f"{shared.CLASSES}-0").write_text(str(case["classes"]))
    monkeypatch.setattr(processes, "memory", lambda _pid: 100.0 + case["grown"])

    async def start(_number):
        child.open += case["comes"]  # meanwhile
        return new

    monkeypatch.setattr(parent, "start", start)
    asyncio.run(parent.renew(child))
    assert child.server is (new if replaced else old)
    assert old.process.ended == replaced
    assert new.process.ended == case["comes"]


def test_the_number_of_processes_is_checked(capsys):
    for given in ("0", "17", "two"):
        with pytest.raises(SystemExit):
            parser().parse_args(["--processes", given])
        assert "a whole number from 1 to 16" in capsys.readouterr().err


# ---- two of them -----------------------------------------------------------------------------------------------------


class Two(Server):
    """Two processes behind one port, with one class."""

    def __init__(self):
        super().__init__(DPML_CLASSES="1")
        self.wait(2)

    def command(self, port):
        return [sys.executable, "-m", "dpml_app", "--port", str(port), "--processes", "2"]

    def health(self):
        with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=processes.FOR_HEALTH / 2) as answer:
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
            return json.load(answer)

    def wait(self, count):
        until = time.monotonic() + PATIENCE
        while self.health() != {"processes": 2, "well": count}:
            assert time.monotonic() < until
            time.sleep(0.1)

    def processes(self):
        """Return the ids of the server processes by their numbers."""
        pids = {}
        for pid in children(self.process.pid):
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"--processes" in file.read().split(b"\0"):
                    pids[int(environment[shared.PROCESS.encode()].split(b"/")[0]) - 1] = pid
        return pids


@pytest.fixture(scope="module")
def two():
    server = Two()
    yield server
    family = children(server.process.pid)
    assert len(family) >= 2
    assert server.stop() < 10
    assert not any(map(alive, family))


@pytest.fixture
def visitors(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import bench_class
    import socket_session

    return bench_class.Visitor, socket_session.SocketSession


def number_of(session):
    return session.payload[shared.STATED]


def test_one_is_killed_the_other_goes_on_and_who_was_there_comes_back(two, visitors):
    base, (_visitor, SocketSession) = f"http://127.0.0.1:{two.port}", visitors

    async def opened():
        session = SocketSession(base, "?page=noise&epsilon=0.5", "noise-state")
        await session.open()
        await session.answered(PATIENCE)
        return session

    async def main():
        sessions = [await opened() for _ in range(4)]
        assert sorted(map(number_of, sessions)) == [0, 0, 1, 1]
        pids, killed = two.processes(), number_of(sessions[0])
        os.kill(pids[killed], signal.SIGKILL)
        begun = time.monotonic()
        again = await opened()  # by its link
        took = time.monotonic() - begun
        assert number_of(again) != killed
        for session in sessions:
            if number_of(session) != killed:
                await session.move("noise_epsilon", 10)
                assert session.faults == []
            else:
                assert session.faults[0].startswith("the server has closed the socket")
        await asyncio.to_thread(two.wait, 2)
        assert two.processes()[killed] != pids[killed]
        for session in (again, *sessions):
            await session.close()
        return took

    assert asyncio.run(main()) < 20  # 1 s where nothing else runs


def test_a_process_that_hangs_is_not_well_and_nobody_who_asks_waits_for_it(two):
    two.wait(2)
    pid = two.processes()[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        two.wait(1)
    finally:
        os.kill(pid, signal.SIGCONT)
    two.wait(2)
    assert two.processes()[0] == pid


def test_visitors_reach_the_class_and_no_process_opens_a_second_one(two, visitors):
    base, (Visitor, _session) = f"http://127.0.0.1:{two.port}", visitors

    async def opened(query=""):
        visitor = Visitor(base, f"?lesson={STEP[0]}&step=1{query}")
        await visitor.open()
        return visitor

    two.wait(2)

    async def main():
        teachers = [await opened(), await opened()]
        assert {number_of(teacher) for teacher in teachers} == {0, 1}
        for teacher in teachers:
            await teacher.ask("open")
            await teacher.until(lambda state: state.get("role") or state.get("said"))
        assert [teacher.state["role"] for teacher in teachers] == ["teacher", ""]
        assert teachers[1].state["said"] == "1 classes are open: DPML_CLASSES allows 1."
        code = teachers[0].state["code"]
        people = [await opened(f"&class={code}") for _ in range(3)]
        for person in people:
            await person.ask("join", code=code)
            await person.until(lambda state: state.get("role") == "visitor")
        await teachers[0].until(lambda state: state.get("here") == 3)
        # the teacher loads the page anew: its address names the class
        key = teachers[0].state["key"]
        await teachers[0].close()
        teachers[0] = await opened(f"&class={code}")
        await teachers[0].ask("claim", code=code, key=key)
        await teachers[0].until(lambda state: state.get("role") == "teacher")
        await teachers[0].ask("end")
        await people[0].until(lambda state: state["said"] == "The class has ended.")
        for session in (*teachers, *people):
            await session.close()

    asyncio.run(main())


@pytest.mark.browser
def test_a_page_whose_process_is_killed_comes_back_by_itself_and_says_so(make_app, two):
    app = make_app(two, width=1440, height=900)
    app.forgives = True
    app.open("?page=noise&noise_epsilon=0.5", wait=False)
    answered = "globalThis.Bokeh?.documents[0]?.get_model_by_name('noise-state')?.data.answers[0] > 0"
    app.page.wait_for_function(answered)
    token = re.search(r'"token":"([^"]+)"', app.page.content())[1]
    os.kill(two.processes()[get_token_payload(token)[shared.STATED]], signal.SIGKILL)
    begun = time.monotonic()
    app.page.get_by_text("The connection to the server is lost.").wait_for()
    app.page.get_by_text("The connection was lost and the page was reloaded").wait_for()
    app.page.wait_for_function(answered)
    assert time.monotonic() - begun < 60  # 5 s where nothing else runs
    assert app.page.evaluate("location.search") == "?page=noise&noise_epsilon=0.5"
    two.wait(2)
