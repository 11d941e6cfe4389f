"""Pages and cards in a notebook's cell, without a browser: a stand-in takes what the kernel would send."""

import asyncio
import inspect
import re
import threading

import dpml_app
import numpy as np
import pandas as pd
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, Model, UIElement
from dpml_app import uploaded_table
from dpml_app.notebook.cells import NOT_HERE
from dpml_app.page_list import PAGES
from jupyter_bokeh.widgets import BokehModel
from page_alone import pool_here
from panel.io.model import add_to_doc
from panel.io.resources import CDN_DIST, LOCAL_DIST, set_resource_mode
from panel.io.state import set_curdoc
from panel.theme import Native
from uploaded_tables import SCHEMA, SECRETS, customers, made

from dpml.exceptions import DpmlError, InvalidParameter
from dpml.schema import Feature, Schema

PATIENCE = 120


class Wire:
    """What a notebook's output is reached by."""

    id, _comm = "wire", True

    def __init__(self):
        self.sent = []

    def send(self, data=None, metadata=None, buffers=()):
        self.sent.append(data or "")


@pytest.fixture
def cells(monkeypatch):
    """A pool in this process instead of workers."""
    here = pool_here()
    monkeypatch.setattr("dpml_app.notebook.cells.pool", lambda: here)
    # as in a notebook
    monkeypatch.setattr(pn.config, "design", Native)
    yield here
    here.stop()


def table():
    frame = customers()
    return frame.drop(columns="label"), frame["label"], SCHEMA


def shown(live, wire, until, **changes):
    """Show a cell's output, and run the kernel's loop until something holds."""

    async def run():
        doc = Document()
        root = live.get_root(doc, wire)
        add_to_doc(root, doc, hold=True)  # as a notebook's display does
        await asyncio.sleep(0.3)
        before = list(wire.sent), live.page.state.data["answers"][0]
        with set_curdoc(doc):
            live[0].opened = True  # as its script does
        for _ in range(PATIENCE * 20):
            await asyncio.sleep(0.05)
            if live.page.state.data["answers"][0] and not live.page.work.running and not live.page.sender.tasks:
                if until(live):
                    return before
                live.page.settings.param.update(**changes)
        raise AssertionError("it never held")

    return asyncio.run(run())


def said(live, name):
    return re.sub("<[^>]+>", "", live.page.cards.readouts[name].text)


def test_every_card_has_a_name():
    names = dpml_app.cards_of()
    assert len(names) == len(set(names)) == sum(len(getattr(page, "kinds", ())) for page in PAGES.values())
    assert {"explore.roc", "evaluate.roc", "train.lambda"} < set(names)


@pytest.mark.parametrize("name", ["card", "cards_of", "explore"])
def test_public_functions_are_functions_of_the_package_itself(name):
    function = getattr(dpml_app, name)
    assert inspect.isfunction(function)
    assert function.__module__ == "dpml_app"


def test_nothing_is_computed_before_the_browser_listens_and_then_it_is_told(cells):
    wire = Wire()
    live = dpml_app.card("select.accuracy", data="toy", epsilon=0.5, draws=10)
    card = live.page.cards["accuracy"]
    assert not any(len(source.data["label"]) for source in card.figure.sources.values() if "label" in source.data)
    before = shown(live, wire, lambda live: True)
    assert before == ([], 0)
    assert "Best T tried" in said(live, "accuracy")
    curve = card.figure.sources["mask-count"]
    assert len(curve.data["n_features"]) > 1
    assert any(f'"{curve.id}"' in str(text) for text in wire.sent)
    live.close()


def test_a_card_computes_for_itself_alone(cells):
    live = dpml_app.card("select.accuracy", data="toy", draws=10)
    shown(live, Wire(), lambda live: True)
    assert {name for name, slot in live.page.slots.items() if slot.objects} == {"accuracy"}
    live.close()


def test_a_moved_setting_is_answered_without_another_host(cells):
    live, wire = dpml_app.card("cost", data="toy", draws=10), Wire()
    shown(live, wire, lambda live: "at ε = 1" in said(live, "cost"), epsilon=1.0)
    assert "at ε = 1" in said(live, "cost")
    assert len(wire.sent) > 1
    assert not any(f'"{host}' in str(sent) for host in (CDN_DIST, LOCAL_DIST) for sent in wire.sent)
    live.close()


def test_messages_in_a_thread_that_ends_are_answered(cells):
    async def run():
        live, doc = dpml_app.card("select.accuracy", data="toy", draws=10), Document()
        add_to_doc(live.get_root(doc, Wire()), doc, hold=True)
        page = live.page

        async def in_a_thread(change):
            async def message():
                with set_curdoc(doc):
                    change()

            # its loop ends at once
            await asyncio.to_thread(asyncio.run, message())
            while page.sender.tasks or page.work.running:
                await asyncio.sleep(0.01)

        with set_curdoc(doc):
            live[0].opened = True
        while not page.state.data["answers"][0] or page.sender.tasks:
            await asyncio.sleep(0.01)
        await in_a_thread(lambda: page.settings.param.update(epsilon=1.0))
        assert page.progress.state.data["done"] == page.progress.state.data["total"] != [0]
        page.settings.epsilon = 0.5
        while not page.work.running:
            await asyncio.sleep(0.01)
        page.work.press()
        # resumes the run
        await in_a_thread(page.work.press)
        assert page.progress.state.data["done"] == page.progress.state.data["total"] != [0]
        live.close()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_messages_of_two_outputs_and_inner_ones_ask_no_other_host(cells):
    lives, wire = [dpml_app.card("rivals") for _ in range(2)], Wire()
    for live in lives:
        doc = Document()
        add_to_doc(live.get_root(doc, wire), doc, hold=True)

    def change(live, text):
        with live._one_message():
            live.page.headline.object = live.page.progress.status.object = text

    # JupyterLab gives each output a thread
    another = threading.Thread(target=change, args=(lives[1], "second"))
    with lives[0]._one_message():
        another.start()
        another.join(1)
        change(lives[0], "inner")
        lives[0].page.progress.status.object = "outer"
    another.join()
    assert all(f'"{text}"' in str(wire.sent) for text in ("second", "outer"))
    assert not any(f'"{host}' in str(sent) for host in (CDN_DIST, LOCAL_DIST) for sent in wire.sent)
    for live in lives:
        live.close()


def test_style_that_is_not_inlined_asks_no_other_host(cells):
    live, doc, wire = dpml_app.card("rivals"), Document(), Wire()
    add_to_doc(live.get_root(doc, wire), doc, hold=True)
    with live._one_message():
        pass
    live.page.progress.status.object = "outside of a message"
    assert f'"{LOCAL_DIST}' in str(wire.sent)
    assert CDN_DIST not in str(wire.sent)
    live.close()


def test_widget_sends_whole_answers_without_another_host(cells, monkeypatch):
    sent = []
    monkeypatch.setattr(BokehModel, "send", lambda self, content, buffers=None: sent.append(str(content)))

    async def answered():
        live = dpml_app.card("rivals", noise_epsilon=0.5)
        empty = Document()
        pn.ipywidget(live, doc=empty)
        sent.clear()
        with set_curdoc(empty):
            live[0].opened = True  # as its script does
        while not live.page.state.data["answers"][0] or live.page.sender.tasks:
            await asyncio.sleep(0.05)
        with live._one_message():
            live.page.alerts.report("topic", "Reason.")
            assert not any("Reason." in message for message in sent)
        live.close()

    asyncio.run(asyncio.wait_for(answered(), PATIENCE))
    assert any("Reason." in message for message in sent)
    assert not any(host in message for host in (CDN_DIST, f'"{LOCAL_DIST}') for message in sent)


def test_a_table_of_ones_own_is_shown_and_goes_with_the_output(cells):
    live = dpml_app.explore(*table(), draws=10)
    name = live.page.settings.dataset
    assert uploaded_table.is_uploaded(name)
    assert uploaded_table.here(name)
    X, y, _ = table()
    expected = uploaded_table.dataset(name)
    assert len(expected.y_train) + len(expected.y_test) == len(X) == len(y)
    live.close()
    assert not uploaded_table.here(name)


def test_a_matrix_is_taken_in_the_order_of_the_schema(cells):
    schema = Schema(tuple(Feature(name) for name in "ab"), (0, 1), n_lower=50)
    X = np.random.default_rng(0).integers(2, size=(60, 2))
    live = dpml_app.explore(X, X[:, 0], schema)
    data = uploaded_table.dataset(live.page.settings.dataset)
    # the label is the first column
    assert (np.asarray(data.X_train)[:, 0] == data.y_train).all()
    live.close()


def test_a_table_of_three_classes_opens_the_page_that_shows_it(cells):
    frame = pd.DataFrame({"a": [0, 1, 0] * 30})
    schema = Schema((Feature("a"),), ("x", "y", "z"), n_lower=50)
    live = dpml_app.explore(frame, ["x", "y", "z"] * 30, schema)
    assert live.page.page_id == "train"
    live.close()
    with pytest.raises(InvalidParameter, match=r"`page` must be .* 3 classes: one of train.*Got 'explore'"):
        dpml_app.explore(frame, ["x", "y", "z"] * 30, schema, page="explore")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y, s: dpml_app.explore(X, y), r"`schema` must be .* Schema\.describe\(table\).*Got None"),
        (lambda X, y, s: dpml_app.explore(X, None, s), "`y` must be .* labels.*Got None"),
        (lambda X, y, s: dpml_app.explore(None, y, s), "`X` must be .*Got None"),
        (lambda X, y, s: dpml_app.explore(X, y[:-1], s), "800 records and y has 799 labels"),
        (lambda X, y, s: dpml_app.explore(X.drop(columns="age"), y, s), "no column 'age', which the schema names"),
        (lambda X, y, s: dpml_app.explore(np.zeros((9, 2)), np.zeros(9), s), r"shape \(9, 2\): it must be \(n, 3\)"),
        (lambda X, y, s: dpml_app.explore(X, np.zeros((800, 2)), s), r"y has shape \(800, 2\)"),
        (lambda X, y, s: dpml_app.explore(page="mydata"), "`page` must be .*one of explore.*Got 'mydata'"),
        (lambda X, y, s: dpml_app.explore(X, y, s, epsilon=-1), "`epsilon` must be .*one of 0.01.*Got -1"),
        (lambda X, y, s: dpml_app.explore(audit_epsilon=1), "`audit_epsilon` must be .* settings are dataset.*Got 1"),
        (lambda X, y, s: dpml_app.card("pie"), "`name` must be .* explore.cost.*Got 'pie'"),
        (lambda X, y, s: dpml_app.card("roc", data="iris"), "`data` must be .*one of census.*Got 'iris'"),
        (lambda X, y, s: dpml_app.card("roc", data=(X, y, None)), "`schema` must be .*Got None"),
    ],
)
def test_what_is_wrong_is_named_and_no_table_stays(cells, call, message):
    held = dict(uploaded_table._HELD)
    with pytest.raises(DpmlError, match=message) as caught:
        call(*table())
    assert held == uploaded_table._HELD
    # no value of a record
    assert not any(secret in str(caught.value) for secret in SECRETS if secret not in SCHEMA.feature_names)


def test_data_that_are_not_here_are_named(cells, monkeypatch, tmp_path):
    monkeypatch.setenv("DPML_DATA", str(tmp_path))
    with pytest.raises(InvalidParameter, match=r"`data` must be .* dpml\.datasets\.fetch\('adult'\).*Got 'adult'"):
        dpml_app.explore(data="adult")


def test_two_outputs_hold_tables_of_their_own(cells):
    first, second = (dpml_app.explore(*table()) for _ in range(2))
    names = [live.page.settings.dataset for live in (first, second)]
    first.close()
    assert [uploaded_table.here(name) for name in names] == [False, True]
    second.close()


def test_a_second_display_is_a_page_of_its_own(cells):
    live = dpml_app.explore(*table(), epsilon=0.5)
    live.page.settings.epsilon = 2.0
    again = live._another()
    assert again.page is not live.page
    assert again.page.settings.epsilon == 2.0
    assert again.page.settings.dataset != live.page.settings.dataset
    live.close()
    assert uploaded_table.here(again.page.settings.dataset)
    again.close()


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {NOT_HERE}))
def test_output_is_small_and_asks_no_other_host(cells, page):
    live, doc = dpml_app.explore(page=page), Document()
    with set_resource_mode("inline"):
        root = live.get_root(doc, Wire())
    add_to_doc(root, doc, hold=True)
    live.page.alerts.report("topic", "Reason.")
    scripts = [model.esm for model in root.select({"type": Model}) if "esm" in model.properties()]
    assert sum(map(len, scripts)) < 10_000
    styles = [style for model in root.select({"type": UIElement}) for style in model.stylesheets]
    assert [style.url for style in styles if isinstance(style, ImportedStyleSheet)] == []
    live.close()


def test_deleted_output_is_closed(cells):
    live = dpml_app.explore(*table())
    root = live.get_root(Document())
    name = live.page.settings.dataset
    pn.extension._process_comm_msg({"event_type": "delete", "id": "another"})
    assert uploaded_table.here(name)
    pn.extension._process_comm_msg({"event_type": "delete", "id": root.ref["id"]})
    assert not uploaded_table.here(name)


def test_the_shipped_data_need_no_table():
    live = dpml_app.explore()
    assert not uploaded_table.is_uploaded(live.page.settings.dataset)
    assert live.page.question in str(live[1].object)


def test_what_own_tables_makes_is_what_a_cell_makes(cells):
    live = dpml_app.explore(*table())
    cell, uploaded = uploaded_table.dataset(live.page.settings.dataset), made().data
    assert (cell.y_test == uploaded.y_test).all()
    assert (np.asarray(cell.X_train) == np.asarray(uploaded.X_train)).all()
    live.close()
