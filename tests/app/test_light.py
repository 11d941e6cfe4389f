"""What the first page loads: how much, how it is kept, and a picture before anything else is there."""

import gzip
import re
import socket
import time
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import panel
import panel_material_ui
import pytest
from app_server import ROOT
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, Range1d, Widget
from bokeh.plotting import figure
from bokeh.settings import settings
from dpml_app import shell
from dpml_app.drawing.figure import new_figure
from dpml_app.drawing.still import still
from dpml_app.page_list import PAGES
from dpml_app.serving import bundles, light
from panel.io.state import set_curdoc
from waiting import wait

BOKEH, PANEL = Path(bundles.settings.bokehjs_path()) / "js", Path(panel.__file__).parent / "dist"
SCRIPTS = [BOKEH / "bokeh.min.js", BOKEH / "bokeh-gl.min.js", BOKEH / "bokeh-widgets.min.js", PANEL / "panel.min.js"]
# bits a second, and what a first visit may take with them: bytes, and seconds until the curves are seen
SLOW, MOST_BYTES, MOST_SECONDS = 500_000, 1_000_000, 15.0


@pytest.fixture(scope="module")
def first_answers(server):
    """Return the page, and all that it names, as a browser that reads gzip gets them."""

    def ask(address):
        with urlopen(Request(address, headers={"Accept-Encoding": "gzip"}), timeout=120) as answer:
            return answer.headers, answer.read()

    answers = {"page": ask(f"{server.url}?page=explore")}
    page = gzip.decompress(answers["page"][1]).decode()
    for name in re.findall(r'<script[^>]* src="([^"]+)"|<link rel="stylesheet" href="([^"]+)"', page):
        address = "".join(name)
        answers[address] = ask(urljoin(server.url, address))
    return answers


# ---- scripts ---------------------------------------------------------------------------------------------------------


def test_scripts_are_taken_apart_and_slim():
    whole = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    slim = bundles.script(SCRIPTS)
    assert all(bundles.read(text) is not None for text in whole if "register_plugin" in text)
    assert len(gzip.compress(slim.encode())) < 420_000 < len(gzip.compress("".join(whole).encode()))
    # names of left-out models are there and say nothing; a compiler of components' code would be a fifth of the rest
    assert "VizzuChart" in slim
    assert '__name__="VizzuChart"' not in slim
    assert "transforms = (" not in slim
    assert "flowParse" not in slim


def test_a_script_of_another_make_is_kept_whole(tmp_path):
    (tmp_path / "panel.min.js").write_text("import x from './y.js'\n")
    (tmp_path / "bokeh-widgets.min.js").write_text("const a = 1\n")
    assert bundles.script(tmp_path.iterdir()).count("\n;\n") == 1
    assert bundles.read("import x from './y.js'") is None


@pytest.fixture(scope="module")
def documents():
    """Return a document of each page, with all of its cards."""
    whole = []
    for name in PAGES:
        session, doc = shell.Shell(), Document()
        with set_curdoc(doc):
            session.settings.page = name
            session.show()
            for slot in session.shown.slots:
                slot.mount()
            for region in session.shown.regions.values():
                doc.add_root(region.get_root(doc))
        whole.append(doc)
        session.stop()
    return whole


def test_every_page_is_made_of_models_that_are_kept(documents):
    used = {type(model) for doc in documents for model in doc.models}
    panels = {kind.__name__ for kind in used if kind.__module__.startswith("panel.models")}
    assert panels
    assert panels <= bundles.PANEL_MODELS
    # what Panel itself derives from them is among its own
    assert [kind for kind in used if issubclass(kind, Widget) and kind.__module__.startswith("bokeh")] == []


def mistakes(caplog, doc):
    caplog.clear()
    doc.validate()
    texts = [record.getMessage() for record in caplog.records]
    return [text for text in texts if "EMPTY_LAYOUT" not in text]  # places wait for what they are for


def test_a_server_leaves_it_to_this_test_to_look_for_mistakes_in_documents(monkeypatch, documents, caplog):
    for name in ("per_app_patterns", "toplevel_patterns"):
        monkeypatch.setattr(light, name, list(getattr(light, name)))
    light.install()
    assert not settings.perform_document_validation()
    settings.perform_document_validation.unset_value()
    assert [mistakes(caplog, doc) for doc in documents] == [[]] * len(PAGES)
    doc = Document()
    doc.add_root(figure())
    assert "MISSING_RENDERERS" in mistakes(caplog, doc)[0]


def test_only_signs_that_pages_have_load_a_font():
    path = Path(panel_material_ui.__file__).parent / "dist" / "panel-material-ui.bundle.css"
    bundles.extension_dirs.setdefault("panel-material-ui", path.parent)
    style = bundles.style([path, path.with_name("material-icons.css")], "../extensions")
    roboto = [face for face in bundles.FACE.findall(style) if "Roboto" in face]
    assert roboto
    assert all("unicode-range" in face for face in roboto)
    assert 'url("../extensions/panel-material-ui/roboto-latin-400' in style
    # an icon by its name loads a font of all icons
    assert [path for path in (ROOT / "app" / "dpml_app").rglob("*.py") if 'icon="' in path.read_text()] == []


# ---- what a server answers -------------------------------------------------------------------------------------------


def test_first_visit_is_compressed(first_answers):
    assert {headers["Content-Encoding"] for headers, _ in first_answers.values()} == {"gzip"}
    assert sum(len(body) for _, body in first_answers.values()) < 450_000


def test_script_and_style_are_kept_by_the_browser(first_answers):
    kept = [headers["Cache-Control"] for name, (headers, _) in first_answers.items() if name.startswith(light.FOLDER)]
    assert len(kept) == 2
    assert all("immutable" in text for text in kept)


def test_components_are_compressed(server):
    address = urljoin(server.url, "static/extensions/panel-material-ui/panel-material-ui.bundle.js")
    with urlopen(Request(address, headers={"Accept-Encoding": "gzip"}), timeout=60) as answer:
        body, tag = answer.read(), answer.headers["Etag"]
        assert answer.headers["Content-Encoding"] == "gzip"
    with urlopen(address, timeout=60) as answer:
        assert answer.read() == gzip.decompress(body)
    assert tag


def test_socket_is_compressed(server):
    lines = [
        "GET /app/ws HTTP/1.1", f"Host: localhost:{server.port}", f"Origin: http://localhost:{server.port}",
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: bokeh, none",
        "Sec-WebSocket-Extensions: permessage-deflate", "", "",
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode())
        answer = connection.recv(4096).decode("latin-1")
    assert "101 Switching Protocols" in answer
    assert "permessage-deflate" in answer


def test_a_session_made_anew_takes_its_styles_from_its_own_server():
    doc = Document()
    with set_curdoc(doc):
        shell.build_app().server_doc(doc)
    addresses = {style.url for root in doc.roots for style in root.select({"type": ImportedStyleSheet})}
    assert addresses
    assert [address for address in addresses if "//" in address] == []


# ---- the still picture -----------------------------------------------------------------------------------------------


def test_still_has_the_figures_curves_and_names():
    session = shell.Shell()
    session.link({"dataset": "census"})
    picture = session.shown.still()
    shown = session.shown.cards["cost"].figure
    assert all(f">{text}</b>" in picture for text in shown.names.data["text"])
    assert picture.count("<path") >= 3
    assert str(shown.plot.min_border_right) in picture
    session.stop()


def test_still_is_where_the_values_are():
    p = new_figure("small", x_range=Range1d(0, 10), y_range=Range1d(0, 1), min_border_left=50)
    p.line([0, 5, 10], [0, 0.5, 1], color="#123456", line_width=2)
    assert 'd="M0.0 1000.0L500.0 500.0L1000.0 0.0" stroke="#123456" stroke-width="2"' in still(p)


def test_no_still_of_what_is_not_drawn_yet():
    empty = new_figure("none", x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_left=50)
    assert still(empty) == ""
    unknown = new_figure("unknown", x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_left=50)
    unknown.line([float("nan")], [float("nan")])
    assert still(unknown) == ""
    floating = figure(x_range=["a", "b"])
    floating.line(["a", "b"], [0, 1])
    assert still(floating) == ""


@pytest.mark.browser
def test_first_visit_on_a_slow_line(start_browser, server):
    chromium = start_browser()
    page, asked = chromium.new_page(), []
    line = chromium.new_cdp_session(page)
    line.send("Network.enable")

    def limit(rate):
        rates = {"downloadThroughput": rate, "uploadThroughput": rate}
        line.send("Network.emulateNetworkConditions", {"offline": False, "latency": 100, **rates})

    limit(SLOW / 8)
    line.on("Network.loadingFinished", lambda event: asked.append(event["encodedDataLength"]))
    begun = time.monotonic()
    page.goto(f"{server.url}?page=explore", wait_until="commit", timeout=120_000)
    picture = page.locator(".still svg")
    picture.wait_for()
    assert page.locator(".still b").first.is_visible()
    # not the time that a busy machine needs to make a session
    seen = (
        time.monotonic() - begun - page.evaluate("performance.getEntriesByType('navigation')[0].responseStart") / 1000
    )
    # its line is dragged meanwhile, and the page begins there
    frame = page.locator(".still > div").bounding_box()
    page.mouse.move(frame["x"] + 0.3 * frame["width"], frame["y"] + 0.5 * frame["height"])
    page.mouse.down()
    page.mouse.move(frame["x"] + 2 / 3 * frame["width"], frame["y"] + 0.5 * frame["height"])
    page.mouse.up()
    assert page.locator(".still output").inner_text().startswith("ε = 1 costs ")
    assert page.evaluate("globalThis.Bokeh === undefined")
    limit(-1)  # what is left is counted, and its time is not
    page.locator("#tools[data-ready]").wait_for(state="attached")
    wait(page, lambda: page.locator(".still").count() == 0)
    wait(page, lambda: "epsilon=1" in page.url)
    wait(page, lambda: page.get_by_role("slider", name="ε", exact=True).get_attribute("aria-valuetext") == "1")
    assert sum(asked) < MOST_BYTES
    assert seen < MOST_SECONDS
    chromium.close()
