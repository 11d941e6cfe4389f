"""Names that Panel and Bokeh keep to themselves: each is still there, does what it is used for, and is still needed."""

import ast
import asyncio
import importlib
import importlib.util
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import dpml_app
import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import Div
from bokeh.server.connection import ServerConnection
from bokeh.server.session import ServerSession
from bokeh.server.views.ws import WSHandler
from dpml_app import compat
from dpml_app.core import sending
from dpml_app.shell import Messages
from panel.io import document as panel_document
from panel.io.state import set_curdoc

ROOT = Path(__file__).parents[2]
LIBRARIES = ("bokeh", "panel", "panel_material_ui", "pyviz_comms", "tornado")
# what the manuals of Panel and IPython tell one to define
DOCUMENTED = {"_esm", "_stylesheets", "_handle_msg", "_send_msg", "_repr_mimebundle_"}
# public, but replaced on one object
REPLACED = {"recompute"}
READ_BY_NAME = {"getattr", "setattr", "hasattr", "delattr"}
NEXT_MAJOR = {"bokeh": "4", "panel": "2", "panel-material-ui": "1"}


# ---- that they stand in one place ------------------------------------------------------------------------------------


def private_names(tree):
    """Return (line, name) of each attribute of something but `self` that is private, by name or as a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            name = node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in READ_BY_NAME:
            name = getattr(node.args[1], "value", "")
        elif isinstance(node, ast.Subscript) and getattr(getattr(node.value, "func", None), "id", "") == "vars":
            name = getattr(node.slice, "value", "")
        else:
            continue
        replaced = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and name in REPLACED
        if replaced or re.fullmatch(r"_[a-z]\w*", str(name)):
            yield node.lineno, name


@pytest.fixture(scope="module")
def names_of_libraries():
    names = set(REPLACED)
    for library in LIBRARIES:
        spec = importlib.util.find_spec(library)
        for path in Path(spec.origin).parent.rglob("*.py"):
            if "tests" not in path.parts:
                names.update(re.findall(r"\b_[a-z]\w*", path.read_text(encoding="utf-8")))
    return names


def elsewhere(source, names_of_libraries):
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return [(line, name) for line, name in private_names(tree) if name in names_of_libraries - own]


@pytest.mark.parametrize(
    "line",
    [
        "socket = session._subscribed_connections",
        "widget._debounce = 1",
        "models.recompute = ask",
        "loaded = getattr(pn.extension, '_loaded', False)",
        "whole = vars(pn.Column)['_get_model']",
    ],
)
def test_a_private_name_is_recognised(names_of_libraries, line):
    assert len(elsewhere(line, names_of_libraries)) == 1


def test_private_names_stand_in_one_module(names_of_libraries):
    own = {"_sample", "_raw", "_asdict", "_exit"}  # the library's, a named tuple's, the system's
    own |= {"_repr_mimebundle_"}  # IPython's protocol for the display of an object
    at = {
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in (ROOT / "app").rglob("*.py")
        if path != Path(compat.__file__)
        for line, name in elsewhere(path.read_text(encoding="utf-8"), names_of_libraries - own)
    }
    assert not at


def test_private_methods_are_extended_in_one_module():
    """In a class that is derived from one of Panel's: what it defines again, or uses of itself."""
    for module in pkgutil.walk_packages(dpml_app.__path__, "dpml_app."):
        if module.name != "dpml_app.__main__":
            importlib.import_module(module.name)
    again = set()
    kinds = [pn.viewable.Viewable]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if kind.__module__.startswith("dpml_app.") and kind.__module__ != compat.__name__:
            theirs = {name for base in kind.__mro__ if base.__module__.startswith(LIBRARIES) for name in vars(base)}
            used = set(re.findall(r"(?:def |self\.|^    )(_[a-z]\w*)", inspect.getsource(kind), re.MULTILINE))
            again |= {f"{kind.__qualname__}.{name}" for name in used & theirs - DOCUMENTED}
    assert not again


def test_at_most_five_private_names():
    tree = ast.parse(Path(compat.__file__).read_text(encoding="utf-8"))
    assert len({name for _line, name in private_names(tree)}) <= 5


def test_next_major_releases_are_not_allowed():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    bounds = dict(re.split(">=", each, maxsplit=1) for each in tomllib.loads(text)["project"]["dependencies"])
    assert {name: bounds[name].partition(",<")[2] for name in NEXT_MAJOR} == NEXT_MAJOR


# ---- that they are there, work and are needed ------------------------------------------------------------------------


def test_the_sockets_of_a_session():
    doc, socket = Document(), object()
    session = ServerSession("one", doc)
    ServerConnection(None, socket, None, session)
    doc._session_context = lambda: SimpleNamespace(session=session)
    assert compat.sockets(doc) == [socket]
    assert compat.sockets(Document()) == compat.sockets(None) == []
    # a public way to a session's connections, or a socket that sends at once by itself, makes it superfluous
    public = {name for name in dir(ServerSession) if "connection" in name and name[0] != "_"}
    assert public == {"connection_count", "notify_connection_lost"}
    assert not [n for n in dir(ServerConnection) if "socket" in n and n[0] != "_"]
    assert "nodelay" not in inspect.getsource(inspect.getmodule(WSHandler))
    assert callable(WSHandler.set_nodelay)
    assert callable(WSHandler.close)


@pytest.mark.parametrize(("soon", "after"), [(False, 50), (True, compat.DEBOUNCE)])
def test_a_widget_hands_its_change_on_soon(monkeypatch, soon, after):
    """At 50 by itself; if Panel no longer waits, `answer_soon` can go."""
    doc, waits = Document(), []
    context = SimpleNamespace(request=SimpleNamespace(arguments={}), server_context=None)
    doc._session_context = lambda: context
    monkeypatch.setattr(doc, "add_timeout_callback", lambda _callback, wait: waits.append(wait))
    with set_curdoc(doc):
        slider = pmui.FloatSlider(start=0, end=1, value=0.5)
        if soon:
            compat.answer_soon(slider)
        slider.get_root(doc).data.value = 0.7
    assert waits == [after]


def test_what_was_laid_into_a_document_is_forgotten():
    """Panel itself forgets only what it has added to a document; if it forgets this, too, `forget` can go."""
    doc, laid = Document(), pn.Column(pn.pane.HTML("text"))
    root = laid.get_root(doc)
    assert root.ref["id"] in pn.state._views
    assert laid[0]._models
    content = laid[0]
    laid.clear()
    assert not content._models
    assert root.ref["id"] in pn.state._views
    compat.forget(root)
    assert root.ref["id"] not in pn.state._views


def test_a_message_that_panel_kept_goes_with_the_next(monkeypatch):
    """Panel keeps the second message until a third one. If it no longer does, the empty change can go."""
    written, doc = [], Document()

    async def write_three():
        first, done = (asyncio.get_running_loop().create_future() for _ in range(2))
        done.set_result(None)
        send = lambda _connection, msg: written.append(msg) or [first if msg == "first" else done]  # noqa: E731
        monkeypatch.setattr(panel_document, "extra_socket_handlers", {SimpleNamespace: send})
        connection = Mock(_socket=SimpleNamespace())
        connection.protocol.create = lambda _kind, events: events
        panel_document.schedule_write_events(doc, [connection], "first")
        await asyncio.sleep(0.01)
        # the first is sent in the moment in which the second is written
        first.set_result(None)
        panel_document.schedule_write_events(doc, [connection], "second")
        await asyncio.sleep(0.01)
        assert written == ["first"]
        panel_document.schedule_write_events(doc, [connection], "third")
        await asyncio.sleep(0.01)

    asyncio.run(write_three())
    assert written == ["first", "second", "third"]


@pytest.mark.parametrize("serves", [True, False])
def test_one_empty_change_follows_messages_of_a_session(monkeypatch, serves):
    monkeypatch.setattr(sending, "FLUSH_DELAY", 0.01)
    doc, messages, context = Document(), Messages(name=sending.MESSAGES), SimpleNamespace()
    doc.add_root(Div(tags=[messages]))
    if serves:
        doc._session_context = lambda: context

    async def send_three():
        for _ in range(3):
            with sending.one_message(doc):
                pass
        assert messages.flush == 0
        await asyncio.sleep(0.1)

    asyncio.run(send_three())
    assert messages.flush == int(serves)
