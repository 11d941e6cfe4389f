"""Data that are not on this machine: marked, said in words, and got when a button is pressed, from localhost here."""

import asyncio
import hashlib
import json
import os
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from bokeh.document import Document
from dpml_app import shell
from dpml_app.core.link import parse
from dpml_app.data import real_data
from dpml_app.data.facts import CARDS, OF_TWO_CLASSES
from dpml_app.state import Settings

from dpml.datasets import _files, card

NAME, FILE = "skin", "Skin_NonSkin.txt"


def skin_rows(n=600):
    """Return a small file in the format of the skin data: colours, and a class that they tell."""
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (n, 3))
    labels = 1 + (colours[:, 2] + rng.integers(-40, 40, n) < 128)
    return "".join("\t".join(map(str, (*c, y))) + "\n" for c, y in zip(colours, labels, strict=True)).encode()


@contextmanager
def serving(handler):
    """Serve on localhost meanwhile; the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder that localhost serves, with one file; its address and its source."""
    folder = tmp_path_factory.mktemp("published")
    content = skin_rows()
    (folder / FILE).write_bytes(content)

    class Quiet(SimpleHTTPRequestHandler):
        asked = 0

        def log_message(self, *arguments):
            type(self).asked += 1

    with serving(partial(Quiet, directory=folder)) as port:
        sha256 = hashlib.sha256(content).hexdigest()
        source = _files.SourceFile(sha256, (f"http://127.0.0.1:{port}/{FILE}",), len(content))
        yield {"source": source, "asked": lambda: Quiet.asked, "content": content}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """No data on this machine, and localhost is not asked through a proxy."""
    monkeypatch.setenv("DPML_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    return tmp_path / "home"


def press_download(settings):
    """Press the button of an offer and wait for the end; return the offer."""

    async def press():
        offer = real_data.Offer(settings, OF_TWO_CLASSES)
        doc = Document()
        await offer.download(offer.name, doc)
        return offer

    return asyncio.run(press())


def test_data_that_are_not_here_are_marked_and_not_chosen(home):
    options = real_data.titled(OF_TWO_CLASSES)
    assert list(options.values()) == list(OF_TWO_CLASSES)
    marked = {name for title, name in options.items() if title.endswith("(not downloaded)")}
    assert marked == {name for name in OF_TWO_CLASSES if card(name)["files"]}
    settings = Settings()
    sentence = "adult is not on this machine yet. Press Download to get it. The page shows census."
    assert settings.assign({"dataset": "adult"}) == [sentence]
    assert (settings.dataset, settings.missing_dataset.dataset) == ("census", "adult")
    assert settings.assign({"dataset": "toy"}) == []
    assert (settings.dataset, settings.missing_dataset.dataset) == ("toy", "")


def test_an_offer_says_how_much_comes_from_where_and_on_which_terms(home):
    settings = Settings()
    offer = real_data.Offer(settings, OF_TWO_CLASSES)
    assert (offer.column.objects, offer.button.label) == ([offer.button], "Download real data")
    settings.assign({"dataset": "bank"})
    facts = card("bank")
    for word in ("5.8 MB", facts["licence"], facts["source"], facts["title"]):
        assert word in offer.text.object
    assert (offer.column.objects[0], offer.button.label) == (offer.text, "Download")
    # every set that comes from files has what it takes
    for name in OF_TWO_CLASSES:
        assert all(size > 0 for size in real_data.missing(name).values())
        assert card(name)["licence"]


def test_nothing_is_asked_for_before_the_button_and_the_data_are_shown_after_it(home, published, monkeypatch):
    monkeypatch.setitem(_files.FILES, FILE, published["source"])
    before = published["asked"]()
    settings = Settings()
    settings.assign({"dataset": NAME})
    offer = real_data.Offer(settings, OF_TWO_CLASSES)
    assert offer.button.label == "Download"
    assert published["asked"]() == before
    offer = press_download(settings)
    assert published["asked"]() == before + 1
    assert (home / FILE).read_bytes() == published["content"]
    assert [path.name for path in home.iterdir()] == [FILE]
    assert (settings.dataset, settings.missing_dataset.dataset, offer.name) == (NAME, "", "")
    assert CARDS[NAME]["menu"] in real_data.titled([NAME])


@pytest.mark.parametrize("damage", ["half", "refused"])
def test_a_download_that_fails_is_said_and_writes_nothing(home, monkeypatch, damage):
    content = skin_rows()

    class Half(BaseHTTPRequestHandler):
        def do_GET(self):
            if damage == "refused":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])

        def log_message(self, *arguments):
            pass

    settings = Settings()
    with serving(Half) as port:
        urls = (f"http://127.0.0.1:{port}/{FILE}",)
        source = _files.SourceFile(hashlib.sha256(content).hexdigest(), urls, len(content))
        monkeypatch.setitem(_files.FILES, FILE, source)
        settings.assign({"dataset": NAME})
        offer = press_download(settings)
    assert "The download failed, and no file was written." in offer.text.object
    # what to do comes first, the variable is behind a line
    assert "DPML_DATA" not in offer.text.object.partition("<details>")[0]
    assert str(home) in offer.text.object
    assert list(home.iterdir()) == []
    assert settings.dataset == "census"
    assert (offer.button.label, offer.column.objects) == ("Try again", [offer.text, offer.button])


@pytest.mark.parametrize("here", [True, False])
def test_a_bare_link_shows_real_data_where_they_are_and_the_address_names_them(monkeypatch, here):
    monkeypatch.setattr(real_data, "missing", lambda name: {} if here else {"adult.data": 1})
    monkeypatch.setattr("dpml_app.settings.missing", lambda name: {} if here else {"adult.data": 1})
    usual = "adult" if here else "census"
    told = {"": usual, "page=train": usual, "draws=20": "census", "dataset=toy": "toy", "lesson=what-it-costs": None}
    for query, expected in told.items():
        one = shell.Shell()
        one.link(parse(query))
        if expected is None:  # a lesson's numbers are of the data that it names, or of the default
            assert one.settings.dataset != "adult"
        else:
            assert one.settings.dataset == (expected if here or expected != "toy" else "census")
        # another browser comes to the same
        again = shell.Shell()
        again.link(parse(one.address["query"]))
        assert again.settings.dataset == one.settings.dataset
    # and so does who has chosen the usual data instead
    one = shell.Shell()
    one.link({})
    one.settings.dataset = "census"
    again = shell.Shell()
    again.link(parse(one.address["query"]))
    assert again.settings.dataset == "census"


# ---- in a browser ----------------------------------------------------------------------------------------------------

# run at the start of each process of the server: localhost is where the file is published
PATCH = """
import json, os
from dpml.datasets import _files
sha256, urls, size = json.loads(os.environ["PUBLISHED"])
_files.FILES["{file}"] = _files.SourceFile(sha256, tuple(urls), size)
"""


@pytest.mark.browser
def test_a_set_that_is_not_here_is_downloaded_from_the_page(start_server, make_app, published, tmp_path):
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(PATCH.replace("{file}", FILE))
    source = published["source"]
    paths = ":".join([str(tmp_path / "start"), *filter(None, [os.environ.get("PYTHONPATH")])])
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    server = start_server(
        DPML_DATA=str(tmp_path / "home"),
        PYTHONPATH=paths,
        PUBLISHED=json.dumps([source.sha256, source.urls, source.size]),
        no_proxy="localhost,127.0.0.1",
        **nowhere,
    )
    app = make_app(server, width=1440, height=900)
    page = app.page
    app.open("", wait=False)
    page.wait_for_function("globalThis.Bokeh?.documents?.[0]?.get_model_by_name('cost-curve')?.data.epsilon.length > 0")
    assert app.query["dataset"] == "census"
    # real data cannot be had here: that is said with what to do, and nothing is written
    page.get_by_role("button", name="Download real data", exact=True).click()
    page.get_by_text("6.0 MB from").wait_for()
    page.get_by_role("button", name="Download", exact=True).click()
    page.get_by_text("The download failed, and no file was written.").wait_for()
    assert not (tmp_path / "home" / "adult.data").exists()
    # another set can
    app.pick("Data set", "Skin colours (not downloaded)")
    page.get_by_text("Skin segmentation", exact=False).first.wait_for()
    assert app.read("cost-curve")["epsilon"] != []
    page.get_by_role("button", name="Download", exact=True).click()
    page.wait_for_function("location.search.includes('dataset=skin')")
    page.get_by_role("button", name="Download", exact=True).wait_for(state="hidden")
    assert (tmp_path / "home" / FILE).is_file()
    page.wait_for_function("Bokeh.documents[0].get_model_by_name('cost-dots')?.data.accuracy.length > 0")
    page.get_by_role("combobox", name="Data set").click()
    page.get_by_role("menuitem", name="Skin colours", exact=True).wait_for()
