"""Code behind the plots: every script runs and gives the numbers that the plot draws, to the last digit."""

import ast
import contextlib
import csv
import io
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import uploaded_tables
from dpml_app import uploaded_table
from dpml_app.code.payload import payload, script_of
from dpml_app.code.script import literal
from dpml_app.code.tables import tables_of_plots
from dpml_app.core.page import CardPage
from dpml_app.data import default_study
from dpml_app.jobs import forget
from dpml_app.page_list import PAGES as PAGE_CLASSES
from dpml_app.pages.mydata.compute import Draft
from page_alone import PageAlone, pool_here

from dpml.tables import read_table

TOY = "&dataset=toy&draws=10"
PUBLISH = "&dataset=toy&publish_draws=5&publish_grids=100"
OTHER = "&seed=3&relation=replace-one"
# of each page the defaults on a small data set, and another setting; the third names the cards that it is about
SETTINGS = [
    ("noise", "", ()),
    ("noise", "&noise_mechanism=gaussian&noise_sensitivity=3&noise_epsilon=0.5&noise_preset=clumps", ()),
    ("explore", TOY + "&seed=1", ()),
    ("explore", f"{TOY}{OTHER}&epsilon=1&n_features=7&map_score=mutual_information", ()),
    ("select", TOY, ()),
    ("select", f"{TOY}{OTHER}&epsilon=1&n_features=7&select_order=mutual_information", ()),
    ("train", TOY, ()),
    ("train", f"{TOY}{OTHER}&epsilon=1&train_methods=objective.output", ("accuracy", "lambda")),
    ("publish", PUBLISH, ()),
    (
        "publish",
        f"{PUBLISH}{OTHER}&epsilon=1&publish_share=0.47&publish_classifier=logistic",
        ("tables", "chances"),
    ),
    ("evaluate", TOY, ()),
    ("evaluate", f"{TOY}{OTHER}&epsilon=1&evaluate_tested=200&evaluate_methods=histogram.laplace-exact", ()),
    ("audit", "&audit_draws=1000", ()),
    ("audit", "&audit_draws=1000&audit_method=laplace&audit_epsilon=0.5&audit_seed=3", ()),
]
# so that a script is read at a glance
MOST_LINES = 40
PAGES = [name for name, page in PAGE_CLASSES.items() if issubclass(page, CardPage)]
# of each page, the card whose script is run at each commit
ONE_OF_EACH = {
    "noise": "smooth",
    "explore": "roc",
    "select": "chosen",
    "train": "methods",
    "publish": "chances",
    "evaluate": "roc",
    "audit": "output",
}


@pytest.fixture(scope="module")
def alone():
    opened = PageAlone(pool_here())
    yield opened
    opened.close()


def run(script):
    """Return the tables that a script makes."""
    made = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(script.text, script.name, "exec"), made)
    return made["tables"]


def different(one, other):
    """Return where two tables differ, empty where they are equal to the last digit."""
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        return f"{len(one)} rows of {list(one.columns)}, and {len(other)} of {list(other.columns)}"
    for column in one.columns:
        for row, (a, b) in enumerate(zip(one[column].tolist(), other[column].tolist(), strict=True)):
            same = np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray | float) else a == b
            if not same:
                return f"{column}, row {row}: {a} and {b}"
    return ""


def check_scripts(alone, page_id, query, only):
    alone.enter(page_id, query, only)
    page, faults, ran = alone.page, {}, 0
    for name, card in page.cards.items():
        script = script_of(page, name)
        # what takes long has a test of its own
        if script is None or card.takes or (only and name not in only):
            continue
        ran += 1
        assert len(script.text.splitlines()) <= MOST_LINES, name
        plotted, made = tables_of_plots(card.plots), run(script)
        missing = [table for table in plotted if table not in made]
        wrong = {table: different(rows, made[table]) for table, rows in plotted.items() if table in made}
        if missing or any(wrong.values()) or not made:
            faults[name] = missing, wrong
    assert faults == {}
    assert ran >= (len(only) or 1)


@pytest.mark.full
@pytest.mark.parametrize(("page_id", "query", "only"), SETTINGS)
def test_every_script_gives_the_numbers_of_its_plot(alone, page_id, query, only):
    check_scripts(alone, page_id, query, only)


@pytest.mark.parametrize(("page_id", "card"), ONE_OF_EACH.items())
def test_a_script_of_each_page_gives_the_numbers_of_its_plot(alone, short_curves, page_id, card):
    query = next(query for r, query, _only in SETTINGS if r == page_id)
    check_scripts(alone, page_id, query, (card,))


def test_one_script_of_each_page_is_run_at_each_commit():
    assert set(ONE_OF_EACH) == set(PAGES)


def test_the_script_of_the_first_picture_gives_what_ships(alone, monkeypatch):
    monkeypatch.setattr(default_study, "_predicted", None)  # nothing is fitted
    alone.enter("explore", "&dataset=toy", ("cost",))
    script = script_of(alone.page, "cost")
    assert len(script.text.splitlines()) <= MOST_LINES
    assert "The script takes seconds if the results ship" in script.text.split('"""')[1]
    assert different(tables_of_plots(alone.page.cards["cost"].plots)["cost-curve"], run(script)["cost-curve"]) == ""


def test_a_difference_in_the_last_digit_is_seen():
    one = pd.DataFrame({"x": [0.1, math.nan], "xs": [np.array([1.0, 2.0]), np.array([3.0])]})
    assert different(one, one.copy()) == ""
    other = one.assign(x=[np.nextafter(0.1, 1), math.nan])
    assert different(one, other).startswith("x, row 0")
    assert different(one, one.assign(xs=[np.array([1.0, 2.0]), np.array([4.0])])).startswith("xs, row 1")


@pytest.mark.parametrize("page_id", PAGES)
def test_each_card_has_a_script_at_one_of_the_settings_or_is_named_with_a_reason(page_id):
    # by name, so that a new card is seen: those that a data set refuses have a setting of their own
    about = {
        name for r, _q, only in (getattr(entry, "values", entry) for entry in SETTINGS) if r == page_id for name in only
    }
    refused_elsewhere = {"train": {"lambda"}}
    assert about >= refused_elsewhere.get(page_id, set())
    reasons = [kind.no_script for kind in PAGE_CLASSES[page_id].kinds if kind.no_script]
    assert all(len(reason.split()) > 3 for reason in reasons)


@pytest.mark.parametrize("page_id", PAGES)
def test_cards_without_a_script_are_those_that_are_named_or_refuse(alone, few_fits, short_curves, page_id):
    query = (
        next(query for r, query, _only in SETTINGS[:12] if r == page_id) if page_id != "audit" else "&audit_draws=1000"
    )
    alone.enter(page_id, query, only=("none",))
    page = alone.page
    without = {name for name in page.cards if script_of(page, name) is None}
    refused = {name for name, card in page.cards.items() if card.refusal(page.values(), page.known)}
    named = {name for name, card in page.cards.items() if card.no_script}
    assert without == named | refused
    for name in page.cards:
        told_of = payload(page, page.cards.readouts[name].name, ())
        assert ("script" in told_of) == (name not in without)
        assert told_of["file"].startswith(f"dpml-{page_id}-{name}")


def test_a_script_that_is_run_elsewhere_prints_and_keeps_the_same(alone, tmp_path):
    alone.enter("noise", "&noise_touched=5", ("rivals",))
    script = script_of(alone.page, "rivals")
    path = tmp_path / f"{script.name}.py"
    path.write_text(script.text.replace("    # table.to_csv", "    table.to_csv"), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "noise-rivals-laplace" in done.stdout
    with (tmp_path / "noise-rivals-laplace.csv").open(encoding="utf-8", newline="") as file:
        kept = pd.DataFrame(csv.DictReader(file)).drop(columns="label").map(float)
    plotted = tables_of_plots(alone.page.cards["rivals"].plots[:1])["noise-rivals-laplace"]
    assert different(kept, plotted.drop(columns="label")) == ""


def test_what_the_browser_draws_is_in_the_script_by_the_same_names(alone, few_fits):
    alone.enter("evaluate", TOY, ("roc",))
    made = run(script_of(alone.page, "roc"))
    for name in ("evaluate-roc-band", "evaluate-roc-release"):
        assert list(made[name].columns) == list(alone.sources[name].data)
        assert len(made[name]) > 0


def test_values_are_written_so_that_python_reads_them_again():
    for value in (0.1, 1e-06, "it's “ε”", (1,), (("a", 0.5), None, True), ()):
        assert ast.literal_eval(literal(value)) == value
    assert literal(math.inf) == 'float("inf")'
    with pytest.raises(TypeError, match="a plain value"):
        literal(np.array([1.0]))


OWN = [("explore", "&draws=10&seed=1"), ("select", "&draws=10"), ("train", "&draws=10"), ("evaluate", "&draws=10")]


@pytest.mark.parametrize(("page_id", "query"), OWN)
def test_scripts_of_a_table_of_one_s_own_name_files_and_none_of_its_values(alone_of_few_fits, table, page_id, query):
    alone = alone_of_few_fits
    alone.enter(page_id, query + "&dataset=toy", PAGE_CLASSES[page_id].details[:1])
    alone.page.settings.hold(table)
    alone.act(dataset=table.name)
    scripts = [script_of(alone.page, name) for name in alone.page.cards]
    made = [script for script in scripts if script is not None]
    assert made != []
    for script in made:
        text = script.text + script.name
        assert 'Path("table.csv")' in script.text
        assert "my-table" in script.name
        for secret in (*uploaded_tables.SECRETS, table.name, table.name.removeprefix(uploaded_table.PREFIX)):
            assert secret not in text
        ast.parse(script.text)


def test_the_script_of_a_table_of_one_s_own_reads_its_file_as_it_was_stated(alone_of_few_fits, tmp_path, monkeypatch):
    alone = alone_of_few_fits
    content = uploaded_tables.customers().assign(age=lambda table: 40 + table["age"] / 2).to_csv(sep="|", index=False)
    (tmp_path / "table.csv").write_text(content.replace(".", ","), encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(uploaded_tables.SCHEMA.to_yaml(), encoding="utf-8")
    stated = {"delimiter": "|", "decimal": ",", "columns": {"plan": "text"}}
    draft = Draft(read_table(tmp_path / "table.csv", **stated), "table.csv", stated={"delimiter": "|", "decimal": ","})
    draft.kinds = stated["columns"]
    frame = draft.frame[[*uploaded_tables.SCHEMA.feature_names, "label"]]
    table = uploaded_table.make(frame, "label", uploaded_tables.SCHEMA, "table.csv", draft.stated_format)
    uploaded_table.attach(table)
    alone.enter("explore", "&dataset=toy&draws=10&seed=1", ("roc",))
    alone.page.settings.hold(table)
    alone.act(dataset=table.name)
    script = script_of(alone.page, "roc")
    assert 'name="table.csv", delimiter="|", decimal=",", columns={"plan": "text"})' in script.text
    monkeypatch.chdir(tmp_path)
    found = run(script)
    for source, rows in tables_of_plots(alone.page.cards["roc"].plots).items():
        assert different(rows, found[source]) == ""
    forget(table.name)


def test_the_script_of_a_table_of_one_s_own_gives_its_numbers_from_the_files(
    alone_of_few_fits, table, tmp_path, monkeypatch
):
    alone = alone_of_few_fits
    alone.enter("explore", "&dataset=toy&draws=10&seed=1", ("roc",))
    alone.page.settings.hold(table)
    alone.act(dataset=table.name)
    uploaded_tables.customers().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.yaml").write_text(uploaded_tables.SCHEMA.to_yaml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = run(script_of(alone.page, "roc"))
    for source, rows in tables_of_plots(alone.page.cards["roc"].plots).items():
        assert different(rows, found[source]) == ""
