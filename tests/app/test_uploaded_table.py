"""A session's table: pages of that session show it; no link, no log and no other session does; it goes with it."""

import gc
import inspect
import logging
import sys
import weakref
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
import uploaded_tables
from dpml_app import shell as shells
from dpml_app import uploaded_table
from dpml_app.core import link
from dpml_app.data import measures
from dpml_app.data.default_study import non_private
from dpml_app.jobs import Cache, Pool, Task, forget, kept
from dpml_app.pages.explore import compute as explore
from dpml_app.pages.publish.compute import published, tables
from dpml_app.pages.train import compute as training
from dpml_app.serving.limits import ServerFull
from dpml_app.settings import Shared
from dpml_app.shell import Shell
from dpml_app.state import Settings
from page_alone import PageAlone, pool_here

from dpml.exceptions import TableTooLarge

# the other cards draw many tables
PUBLISHED = ("models", "tables", "chances")


@pytest.fixture
def alone():
    page = PageAlone(pool_here())
    yield page
    page.close()
    page.pool.stop()


# ---- whose it is -----------------------------------------------------------------------------------------------------


def test_a_table_is_offered_to_its_own_session_and_to_no_other(table):
    mine, theirs = Settings(), Settings()
    mine.hold(table)
    assert mine.assign({"dataset": table.name}) == []
    assert mine.dataset == table.name
    assert theirs.assign({"dataset": table.name}) != []
    assert theirs.dataset == "census"
    assert table.name not in Settings().param["dataset"].objects
    assert table.name not in Shared.param["dataset"].objects
    assert table.name not in Settings.allowed("dataset")
    mine.hold(None)
    assert mine.dataset == "census"
    assert mine.assign({"dataset": table.name}) != []


def test_two_tables_have_names_that_nobody_can_guess():
    names = {uploaded_tables.made().name for _ in range(3)}
    assert len(names) == 3
    assert all(len(name.removeprefix(uploaded_table.PREFIX)) == 32 for name in names)


def test_a_link_names_no_table_and_brings_none():
    one, other = Shell(), Shell()
    for each in (one, other):
        each.link({})
    one.settings.hold(uploaded_tables.made())
    one.settings.dataset = one.settings.uploaded.table.name
    one.settings.epsilon = 0.5
    query = one.address["query"]
    assert link.parse(query) == {"epsilon": "0.5"}
    other._visit(query)
    assert other.settings.dataset == "census"
    # Back and Forward stay with the table
    one._visit("?page=train")
    assert uploaded_table.is_uploaded(one.settings.dataset)
    other.settings.assign({"page": "explore"})
    other._visit(f"?dataset={one.settings.dataset}")
    assert not uploaded_table.is_uploaded(other.settings.dataset)
    for each in (one, other):
        each.stop()


def three_classes():
    frame = uploaded_tables.customers()
    frame["label"] = np.where(frame["age"] > 80, "left", frame["label"])
    return frame, replace(uploaded_tables.SCHEMA, classes=("stays", "leaves-by-sea", "left"))


@pytest.mark.parametrize(
    ("table_of", "page_id", "says"),
    [
        (three_classes, "explore", "My table has 3 classes, and this page needs two, so it shows census."),
        (three_classes, "select", "My table has 3 classes, and this page needs two, so it shows census."),
        (three_classes, "evaluate", "My table has 3 classes, and this page needs two, so it shows census."),
    ],
)
def test_a_page_that_cannot_show_it_says_why(table_of, page_id, says):
    frame, schema = table_of()
    shell = Shell()
    shell.link({"page": "train"})
    shell.settings.hold(uploaded_table.make(frame, "label", schema, "customers.csv"))
    shell.settings.dataset = name = shell.settings.uploaded.table.name
    # a page without a data set and one that shows the table leave it chosen
    for page in ("noise", "train"):
        shell.settings.page = page
        assert shell.settings.dataset == name
    shell.settings.page = page_id
    assert shell.settings.dataset == "census"
    assert (alert := shell.shown.alerts.topics["dataset"]).severity == "info"
    assert unescape(alert.object) == says
    assert uploaded_table.TITLE not in shell.shown.controls.widgets["dataset"].options
    shell.stop()


# ---- what is computed of it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page_id", "query", "cards", "source", "column"),
    [
        ("explore", "draws=10&n_features=5", ("cost", "roc"), "cost-curve", "mean"),
        ("select", "draws=10&n_features=5", ("chosen", "accuracy"), "select-accuracy-mask-count", "mean"),
        ("train", "dataset=toy&draws=10&n_features=5", ("accuracy", "size"), "train-accuracy-binned", "mean"),
        ("publish", "dataset=toy&publish_draws=5&publish_grids=10", PUBLISHED, "publish-models-table", "mean"),
        ("evaluate", "dataset=toy&draws=10", ("roc", "errors"), "evaluate-errors-histogram", "median"),
    ],
)
def test_pages_show_it(page_id, query, cards, source, column, table, alone, caplog):
    with caplog.at_level(logging.DEBUG):
        alone.enter(page_id, f"&{query}", only=cards)
        alone.page.settings.hold(table)
        alone.act(dataset=table.name)
        shown = alone.read(source)
    assert len(shown[column]) > 5
    assert all(0 <= value <= 1 for value in shown[column])
    assert len(set(shown[column])) > 1
    assert alone.alerts == []
    assert "leaves-by-sea" in alone.page.controls.dataset_note.object + alone.text
    assert uploaded_table.TITLE in alone.page.controls.widgets["dataset"].options
    assert not any(secret in caplog.text for secret in (*uploaded_tables.SECRETS, table.name))
    assert table.name not in alone.text


def test_gaps_are_what_the_schema_says_of_them():
    """A gap becomes the category or the number that its public facts name, on the page that publishes, too."""
    frame = uploaded_tables.customers()
    frame["age"] = frame["age"].astype(float)
    frame.loc[::3, "age"], frame.loc[::4, "plan"] = np.nan, None
    features = {f.name: f for f in uploaded_tables.SCHEMA.features}
    filled = {"age": replace(features["age"], missing=18), "plan": replace(features["plan"], missing="student")}
    schema = replace(uploaded_tables.SCHEMA, features=tuple(filled.get(name, f) for name, f in features.items()))
    made = uploaded_table.make(frame, "label", schema, "customers.csv")
    uploaded_table.attach(made)
    try:
        found = tables(made.name)
        both = pd.concat([found.train, found.test])
        assert (both["plan"] == "student").sum() == 200
        assert (both["age"] == 18).sum() >= 267
        assert not both.isna().any(axis=None)
        drawn = published(made.name, "add-remove", 1.0, 10, 0.37, "cart", 3, 0)
        assert drawn.shape == (3,)
        assert drawn.min() > 0.4
    finally:
        forget(made.name)


def test_results_are_under_its_name_and_go_with_it(table):
    cache = Cache()
    for name in (table.name, "toy"):
        cache.put(Task(measures.facts, (name,)), measures.facts(name))
    assert len(cache._results) == 2
    cache.drop(table.name)
    assert [uploaded_table.named(key) for key in cache._results] == [set()]
    # what comes late is not kept
    forget(table.name)
    assert cache.put(("module", "function", table.name, 0.1), np.zeros(2)) is not None
    assert len(cache._results) == 1


def custom_model(name, epsilon=1.0):
    arguments = (name, "add-remove", epsilon, "naive-bayes", "count", (3, 0.5, 65), 10, 0)
    return Task(explore.custom_accuracy, arguments)


def test_nothing_is_left_of_it_when_its_session_ends(monkeypatch):
    pool = pool_here()
    monkeypatch.setattr(shells, "pool", lambda: pool)
    shell = Shell()
    shell.link({})
    made = uploaded_tables.made()
    uploaded_table.attach(made)
    shell.settings.hold(made)
    key = made.name
    watched = weakref.ref(made.data)
    non_private(key, "add-remove")
    assert pool.submit(custom_model(key)).result(60).shape
    assert any(key in uploaded_table.named(one) for one in pool.cache._results)
    del made
    shell.stop()
    pool.stop()
    with pytest.raises(uploaded_table.NotHere, match="Upload it again"):
        measures.dataset(key)
    assert not any(key in uploaded_table.named(one) for one in pool.cache._results)
    gc.collect()
    assert watched() is None


@pytest.fixture
def two_sessions(monkeypatch):
    """Two sessions of one server, each with a table of its own."""
    pool = pool_here()
    monkeypatch.setattr(shells, "pool", lambda: pool)
    shells_of_two, names = (Shell(), Shell()), []
    for seed, shell in enumerate(shells_of_two):
        shell.link({})
        made = uploaded_tables.made(seed)
        names.append(made.name)
        uploaded_table.attach(made)
        shell.settings.hold(made)
    yield shells_of_two, names
    for shell in shells_of_two:
        shell.stop()
    pool.stop()


def test_the_end_of_one_session_leaves_the_results_of_the_others(two_sessions):
    """Studies take seconds to make again: what is kept of other tables, and of the published ones, stays."""
    (one, _other), names = two_sessions

    def studies(name):
        return [
            explore._study(name, "naive-bayes", "count", "add-remove"),
            training._study(name, "global", "add-remove"),
        ]

    before = {name: studies(name) for name in (*names, "toy")}
    assert before[names[0]] == studies(names[0])
    one.stop()
    for name in (names[1], "toy"):
        assert all(a is b for a, b in zip(before[name], studies(name), strict=True))
    with pytest.raises(uploaded_table.NotHere):
        studies(names[0])


def test_what_is_on_its_way_when_a_table_goes_is_not_kept(table):
    made = []

    @kept(4)
    def slow(name):
        made.append(measures.dataset(name))
        forget(name)
        return np.zeros(3)

    assert slow(table.name).shape == (3,)
    with pytest.raises(uploaded_table.NotHere):
        slow(table.name)
    assert len(made) == 1


def test_what_is_kept_of_a_data_set_is_kept_where_its_end_is_seen():
    """`functools` keeps results of a table until they are pushed out; a function with a name of a data set must not."""
    others = {
        "_levels",
        "_choice_loss",
        "read_shipped",
        "shipped_results",
        "results",
        "methods",
    }  # of mechanisms, and of what ships
    for module in [module for path, module in sys.modules.items() if path.startswith("dpml_app.")]:
        for name, function in vars(module).items():
            if hasattr(function, "cache_clear") and function.__module__ == module.__name__:
                assert name in others or not {"name", "dataset"} & set(inspect.signature(function).parameters), name


def test_a_worker_is_given_the_table_once_and_drops_it():
    """A process of its own: it computes with what is attached alone."""
    pool = Pool(1)
    made = uploaded_tables.made()
    name = made.name
    task = custom_model(name)
    try:
        with pytest.raises(uploaded_table.NotHere):
            pool.submit(task).result(120)
        uploaded_table.attach(made)
        assert pool.submit(task).result(120).shape == (10,)
        other = custom_model(name, 2.0)
        assert pool.submit(other).result(120).shape == (10,)
        [worker] = pool._workers
        assert worker.tables == {name}
        pool.forget(name)
        assert pool.cache.get(task) is None
        assert pool.submit(Task(uploaded_table.here, (name,))).result(120) is False
        assert worker.tables == set()
    finally:
        pool.stop()
        forget(name)


def test_a_table_that_is_too_large_once_encoded_is_named(monkeypatch):
    monkeypatch.setenv("DPML_SESSION_MB", "0.1")
    with pytest.raises(TableTooLarge, match=r"'customers\.csv'.*15,200 cells: they need 0\.1 MB .* limit is 0\.1 MB"):
        uploaded_tables.made()


def test_a_server_holds_so_many_bytes_of_tables(monkeypatch):
    """The encoded records of 8 bytes a cell, and what a worker makes them from."""
    monkeypatch.setattr(uploaded_table, "_HELD", {})  # sessions of other tests may still hold theirs
    one, other = uploaded_tables.made(), uploaded_tables.made(1)
    assert one.bytes == 8 * 15_200 + len(one.payload)
    monkeypatch.setenv("DPML_TABLES_MB", f"{1.5 * one.bytes / 1e6}")
    uploaded_table.attach(one)
    try:
        with pytest.raises(ServerFull, match="no memory left for tables"):
            uploaded_table.attach(other)
        assert not uploaded_table.here(other.name)
    finally:
        forget(one.name)
    uploaded_table.attach(other)
    forget(other.name)
