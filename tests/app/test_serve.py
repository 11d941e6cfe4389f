"""``python -m dpml_app``: options, headers, health, idle sessions and end; and the container that runs it."""

import asyncio
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from app_server import ROOT, Server, free_port
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.models import ColumnDataSource
from dpml_app.serving import idle
from dpml_app.serving.headers import HEADERS, POLICY
from dpml_app.serving.serve import parser


class Strict(Server):
    """The same server, started by ``python -m dpml_app``."""

    def command(self, port):
        return [sys.executable, "-m", "dpml_app", "--port", str(port), "--idle-minutes", "30"]


@pytest.fixture(scope="module")
def strict():
    server = Strict()
    yield server
    assert server.stop() < 20
    server.process.wait()


# ---- a server of its own ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/app", "/app?page=mydata", "/static/js/bokeh.min.js"])
def test_every_answer_has_the_headers(strict, path):
    with urlopen(f"http://127.0.0.1:{strict.port}{path}") as answer:
        assert answer.status == 200
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers["Server"] is None


def test_root_leads_to_the_app_with_its_settings(strict):
    with urlopen(f"http://127.0.0.1:{strict.port}/?page=noise&noise_epsilon=1") as answer:
        assert answer.url.endswith("/app?page=noise&noise_epsilon=1")


def test_nothing_may_come_from_another_host():
    allowed = {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "blob:", "data:"}
    assert {source for sources in POLICY.values() for source in sources.split()} <= allowed
    assert POLICY["frame-ancestors"] == POLICY["object-src"] == POLICY["base-uri"] == "'none'"


def test_it_says_whether_it_is_well(strict):
    def check(port):
        return subprocess.run([sys.executable, "-m", "dpml_app", "--check", "--port", str(port)], capture_output=True)

    assert check(strict.port).returncode == 0
    other = check(1)
    assert other.returncode == 1
    assert b"no server answers on port 1" in other.stderr


def test_a_port_that_is_taken_is_named(strict):
    command = [sys.executable, "-m", "dpml_app", "--port", str(strict.port)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert f"port {strict.port} of 127.0.0.1 cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.browser
def test_the_page_works_under_the_policy(make_app, strict):
    """What the policy refuses would be an error in the browser, and the fixture refuses those."""
    from playwright.sync_api import expect

    app = make_app(strict, width=1440, height=900)
    app.open("?page=mydata", wait=False)
    expect(app.page.locator("section.shown input[type=file]").first).to_be_visible()
    app.page.get_by_role("link", name="Noise", exact=True).click()
    expect(app.page.locator("section.shown canvas").first).to_be_visible()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--port", "0"], "a whole number from 1 to 65535"),
        (["--port", "http"], "a whole number from 1 to 65535"),
        (["--upload-mb", "-1"], "a number above 0"),
        (["--upload-mb", "nan"], "a number above 0"),
        (["--idle-minutes", "soon"], "a number above 0"),
        (["--debug"], "unrecognized arguments"),
    ],
)
def test_what_is_not_allowed_is_named(given, says, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(given)
    assert says in capsys.readouterr().err


# ---- idle sessions ---------------------------------------------------------------------------------------------------


class Watched:
    """A session without a server: a document, a socket that can be closed, and what was told."""

    def __init__(self, monkeypatch, seconds):
        monkeypatch.setattr(idle, "TELLING", 0.0)
        self.closed, self.told = [], []
        socket = SimpleNamespace(close=lambda code, reason: self.closed.append(reason))
        session = SimpleNamespace(_subscribed_connections=[SimpleNamespace(_socket=socket)])
        self.doc = Document()
        self.doc._session_context = lambda: SimpleNamespace(session=session)
        self.idle = idle.Idle(self.doc, seconds / 60, lambda: self.told.append(len(self.closed)))


def test_a_session_that_nobody_uses_is_told_and_then_closed(monkeypatch):
    watched = Watched(monkeypatch, 0.2)
    asyncio.run(asyncio.wait_for(watched.idle.watch(), 60))
    assert watched.told == [0]
    assert watched.closed == ["idle"]


def test_no_sleep_is_so_long_that_it_keeps_an_ended_session(monkeypatch):
    """A sleep that is cancelled stays with asyncio until its time, and what it was called in stays with it."""
    slept, watched = [], Watched(monkeypatch, 3600)

    async def sleep(seconds):
        slept.append(seconds)
        watched.idle.last = -math.inf

    monkeypatch.setattr(idle.asyncio, "sleep", sleep)
    asyncio.run(watched.idle.watch())
    assert max(slept) <= 5


def test_only_what_comes_from_the_browser_is_use(monkeypatch):
    watched = Watched(monkeypatch, 1000)
    source = ColumnDataSource({"x": [1]})
    watched.doc.add_root(source)
    watched.idle.last = 0.0
    source.data = {"x": [2]}
    assert watched.idle.last == 0.0
    watched.idle._on_change(ModelChangedEvent(watched.doc, source, "data", {"x": [3]}, setter=object()))
    assert watched.idle.last > 0


@pytest.mark.parametrize(("said", "minutes"), [(None, None), ("", None), ("2.5", 2.5)])
def test_a_session_may_be_idle_for_ever_unless_the_server_was_told(said, minutes, monkeypatch):
    monkeypatch.delenv("DPML_IDLE_MINUTES", raising=False)
    if said is not None:
        monkeypatch.setenv("DPML_IDLE_MINUTES", said)
    assert idle.most_minutes() == minutes


# ---- the container ---------------------------------------------------------------------------------------------------


def steps():
    """Return the instructions of the Dockerfile with what they say."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    return re.findall(r"^([A-Z]+) (.+)$", re.sub(r"^#.*$", "", text, flags=re.M), flags=re.M)


def test_the_container_has_all_that_the_package_is_built_from():
    own = [said.split()[:-1] for kind, said in steps() if kind == "COPY" and "--from" not in said]
    copied = {name for names in own for name in names}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    facts = project["project"]
    needed = [*wheel["packages"], *wheel["force-include"], facts["readme"], *facts["license-files"], "pyproject.toml"]
    assert [name for name in needed if Path(name).parts[0] not in copied] == []
    said = " ".join(said for kind, said in steps() if kind == "RUN")
    extras = {extra for group in re.findall(r"\[([\w,]+)\]", said) for extra in group.split(",")}
    assert extras == {"large", "release"} <= set(facts["optional-dependencies"])
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in kept if line.startswith("!")} == copied


@pytest.mark.full
def test_the_steps_of_the_container_make_an_app_that_answers(tmp_path):
    """The recipe without a container: its copies, what pip does in a new environment, and the command that starts."""
    here = {"/source": tmp_path / "source", "/wheels": tmp_path / "wheels", "/home/dpml": tmp_path / "home"}
    for folder in here.values():
        folder.mkdir()
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    place, told, done = Path("/"), {}, []
    for kind, said in steps():
        if kind == "WORKDIR":
            place = here[said]
        elif kind == "COPY" and "--from" not in said:
            *names, target = said.split()
            assert target in ("./", *names)
            for name in names:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, place / name)
        elif kind == "RUN":
            for step in said.split(" && "):
                command = [re.sub(r"^/wheels$", str(here["/wheels"]), part) for part in shlex.split(step)]
                if command[0] == "pip":
                    subprocess.run([python, "-m", *command], cwd=place if place.is_dir() else tmp_path, check=True)
                    done.append(command[1])
        elif kind == "ENV":
            told |= dict(part.split("=") for part in said.split())
    assert done == ["wheel", "install"]
    said = dict(steps())
    entry, port = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"]), free_port()
    environment = {"PATH": os.environ["PATH"], **told, "DPML_DATA": str(here["/home/dpml"])}
    command = [python, *entry[1:], "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, cwd=here["/home/dpml"], env=environment)
    try:
        check = [python, *json.loads(re.search(r"CMD (\[.+\])", said["HEALTHCHECK"])[1])[1:], "--port", str(port)]
        deadline = time.monotonic() + 120
        while subprocess.run(check, env=environment, capture_output=True).returncode:
            assert server.poll() is None
            assert time.monotonic() < deadline
        with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 200
        with urlopen(f"http://127.0.0.1:{port}/app") as answer:
            assert b"dpml" in answer.read()
    finally:
        server.terminate()
        server.wait(60)


def test_the_container_starts_and_checks_the_server_as_a_user_without_rights():
    said = dict(steps())
    start = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    check = json.loads(re.search(r"CMD (\[.+\])", said["HEALTHCHECK"])[1])
    assert start[:3] == check[:3] == ["python", "-m", "dpml_app"]
    asked = parser().parse_args(start[3:])
    assert asked.host == "0.0.0.0"
    assert str(asked.port) == said["EXPOSE"]
    assert parser().parse_args(check[3:]).check
    names = [kind for kind, _said in steps()]
    assert said["USER"] == "dpml"
    assert names.index("USER") < names.index("ENTRYPOINT")
    minor = int(re.match(r"python:3\.(\d+)-slim", said["FROM"])[1])
    assert minor >= 11
