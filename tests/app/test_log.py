"""The log of a server: JSON, one line an event, and nothing of anybody's table, whatever goes wrong."""

import asyncio
import importlib.util
import json
import logging
import re
import subprocess
import sys
import warnings

import pytest
import uploaded_tables
from app_server import ROOT, Server
from dpml_app import uploaded_table
from dpml_app.jobs import Pool, Task
from dpml_app.serving import log
from page_alone import pool_here

CANARIES = (*uploaded_tables.SECRETS, "customers.csv", "12345.678")


@pytest.fixture
def lines():
    """What the events and other loggers write, line by line."""
    written = []
    handler = logging.Handler()
    handler.emit = lambda record: written.append(log.Discreet().format(record))
    level = log.LOG.level
    logging.getLogger().addHandler(handler)
    log.LOG.setLevel(logging.INFO)
    yield written
    logging.getLogger().removeHandler(handler)
    log.LOG.setLevel(level)


def told(lines):
    found = [json.loads(line) for line in lines]
    assert all(one.pop("at").endswith("Z") for one in found)
    return found


# ---- what a line says ------------------------------------------------------------------------------------------------


def test_an_event_has_numbers_and_words_of_the_code_and_no_other_text(lines):
    log.event("upload", size="under_1_MB", seconds=0.5, whole=True, name="people of Zanzibar.csv", cell=("a",))
    assert told(lines) == [{"event": "upload", "size": "under_1_MB", "seconds": 0.5, "whole": True}]


def test_what_others_log_keeps_its_place_and_the_kind_of_its_error_alone(lines):
    logger = logging.getLogger("bokeh.server.protocol_handler")
    handlers, propagate = logger.handlers, logger.propagate
    bokeh = logging.getLogger("bokeh")
    above, bokeh.propagate = bokeh.propagate, True
    try:
        raise ValueError("quokka-count")
    except ValueError as error:
        logger.error("error handling message %r: %r", {"new": "quokka-count"}, error, exc_info=True)
    finally:
        bokeh.propagate = above
    assert (logger.handlers, logger.propagate) == (handlers, propagate)
    [one] = told(lines)
    assert one.pop("where").startswith("test_log.")
    raised = one.pop("raised")
    assert raised.endswith("test_what_others_log_keeps_its_place_and_the_kind_of_its_error_alone")
    assert one == {"event": "log", "level": "ERROR", "logger": "bokeh.server.protocol_handler", "error": "ValueError"}


def unlucky(name, cell):
    warnings.warn(f"{cell} is odd", UserWarning, stacklevel=1)
    raise KeyError(f"no {cell} in {name}")


@pytest.mark.filterwarnings("ignore:.*is odd")
@pytest.mark.parametrize("where", ["server", "worker"])
def test_a_computation_is_timed_and_its_error_is_of_a_kind(where, lines):
    pool, server = pool_here(), pool_here()
    try:
        for call in ((divmod, (7, 2)), (unlucky, ("customers.csv", "zanzibar-plan"))):
            try:
                pool.submit(Task(*call), by=server if where == "server" else None).result(60)
            except KeyError as error:
                log.failed(error)
    finally:
        pool.stop()
        server.stop()
    well, badly, failed = [one for one in told(lines) if one["event"] != "log"]
    assert 0 <= well.pop("seconds") < 60
    assert well == {"event": "computed", "kind": "builtins.divmod", "where": where}
    assert badly["kind"].endswith("test_log.unlucky")
    assert badly["error"] == failed["error"] == "KeyError"
    assert failed["where"].endswith(".unlucky")
    assert not any(canary in line for canary in CANARIES for line in lines)


def test_what_is_kept_is_not_computed_and_writes_nothing(lines):
    pool = pool_here()
    for _ in range(3):
        assert pool.submit(Task(divmod, (7, 2))).result(60) == (3, 1)
    pool.stop()
    assert len(lines) == 1


# ---- a process of its own --------------------------------------------------------------------------------------------

NOISY = """
import logging, sys, threading, warnings
import panel as pn
from dpml_app.serving import log
log.begin()
logging.getLogger("panel.callbacks").error("zanzibar-plan in %s", "customers.csv")
logging.getLogger("bokeh.document").warning("quokka-count")
logging.getLogger("panel").debug("leaves-by-sea")
logging.getLogger("asyncio").error("lost", exc_info=(KeyError, KeyError("leaves-by-sea"), None))
warnings.warn("zanzibar-plan")
def fail():
    raise RuntimeError("quokka-count")
thread = threading.Thread(target=fail)
thread.start(); thread.join()
raise ValueError("customers.csv")
"""


def test_nothing_that_goes_wrong_in_a_process_quotes_anything():
    ended = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert not any(canary in ended.stdout + ended.stderr for canary in CANARIES)
    found = told(ended.stderr.splitlines())
    assert [one["event"] for one in found] == ["log"] * 4 + ["error"] * 2
    assert [one["logger"] for one in found[:4]] == ["panel.callbacks", "bokeh.document", "asyncio", "py.warnings"]
    assert [one["error"] for one in found[4:]] == ["RuntimeError", "ValueError"]


@pytest.mark.parametrize("call", ["unlucky", "written"])
def test_a_worker_writes_nothing(call, capfd):
    pool = Pool(1)
    task = Task(unlucky, ("customers.csv", "zanzibar-plan"))
    if call == "written":
        task = Task(uploaded_table.dataset, ("own-quokka-count",))
    try:
        with pytest.raises((KeyError, ModuleNotFoundError)):
            pool.submit(task).result(120)
    finally:
        pool.stop()
    out, err = capfd.readouterr()
    assert not any(canary in out + err for canary in CANARIES)


class Written(Server):
    """A server whose output is kept."""

    def __init__(self, folder, serve):
        self.log, self.serve = folder / "log", serve
        super().__init__()

    def command(self, port):
        return ["/bin/sh", "-c", f"exec {sys.executable} -m {self.serve} --port {port} > {self.log} 2>&1"]

    def read(self):
        return self.log.read_text(encoding="utf-8")


def socket_session():
    spec = importlib.util.spec_from_file_location("socket_session", ROOT / "benchmarks" / "socket_session.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SocketSession


@pytest.mark.parametrize("serve", ["dpml_app", "panel serve app"])
def test_a_server_writes_down_a_session_and_nothing_that_its_browser_sent(tmp_path, serve):
    """Once more than what is handled: a value of the wrong kind, which Bokeh logs with the whole message."""
    server = Written(tmp_path, serve)

    async def visit():
        base, near = f"http://127.0.0.1:{server.port}", ["place-noise-advanced"]
        session = socket_session()(base, "?page=noise&x=zanzibar-plan", "noise-state", near)
        await session.open()
        await session.answered(60)
        await session.move("noise_epsilon", 10)
        for value in ("quokka-count", {"leaves-by-sea": 12345.678}):
            model = {"id": session._widgets["noise_seed"]}
            await session._patch({"kind": "ModelChanged", "model": model, "attr": "value", "new": value})
        await session.move("noise_epsilon", 11)
        await session.close()

    try:
        asyncio.run(visit())
    finally:
        server.stop()
        server.process.wait()
    written = server.read()
    assert not any(canary in written for canary in CANARIES)
    found = told([line for line in written.splitlines() if line.startswith("{")])
    kinds = [one["event"] for one in found]
    assert kinds.count("opened") == 1
    assert any(one["event"] == "computed" and one["kind"].startswith("dpml_app.pages.noise.") for one in found)
    assert any(one["event"] == "log" and one["logger"].startswith("bokeh.server") for one in found)
    others = [line for line in written.splitlines() if not line.startswith("{")]
    told_by = ("dpml: http", "Received signal", "Interrupted, shutting down")
    of_panel = r"[-\d]+ [:,\d]+ (Starting Bokeh server .*|Bokeh app running at: http.*/app)"
    assert all(line.startswith(told_by) or re.fullmatch(of_panel, line) for line in others)
