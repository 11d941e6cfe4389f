"""The cards of Publish: what they ask for, what their figures hold, and what is said of it."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bokeh.models import Label
from dpml_app.core.card import WORKER
from dpml_app.data.two_tables import COLUMNS
from dpml_app.drawing.marginals import FEWER, MarginalsFigure
from dpml_app.pages.publish import compute, shipped, words
from dpml_app.pages.publish.curves import RIVAL_DRAWS, RIVAL_EPSILONS, RecordsCard
from dpml_app.pages.publish.figures import (
    CHOICE_STYLES,
    RECORD_STYLES,
    RIVAL_STYLES,
    ladder_figure,
    models_figure,
    rivals_figure,
    time_figure,
)
from dpml_app.pages.publish.main_card import STYLE, CostFigure
from dpml_app.pages.publish.one_release import BEST, release_facts
from dpml_app.pages.publish.page import PublishPage
from dpml_app.pages.publish.release import MOST_LETTERS, CellsFigure, ChancesFigure, GridFigure
from dpml_app.pages.publish.sensitivity import MOST_COUNT, TRIED, SensitivityCard, SensitivityFigure, tried
from dpml_app.pages.publish.settings import (
    GRIDS,
    SHARE_LADDER,
    PublishSettings,
    PublishValues,
    shares_of,
)
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings
from dpml_app.work.pool import Pool

from dpml.classifiers.grid import quality_range, quality_sensitivity
from dpml.classifiers.grid.cells import SHARES
from dpml.datasets import load

TOY = ("toy", "add-remove", 1.0, 100, 0.37)


def drawn(seed, draw):
    return np.random.default_rng([seed, draw])


def test_shares_are_the_paper_s_by_default_and_always_all_of_epsilon():
    assert shares_of(PublishSettings.param.publish_share.default) == SHARES
    for share in SHARE_LADDER:
        assert sum(shares_of(share)) == pytest.approx(1, abs=1e-12)
        assert min(shares_of(share)) > 0
    low, high = PublishSettings.param.publish_share.bounds
    assert low <= SHARE_LADDER[0] < SHARE_LADDER[-1] <= high


def test_bars_and_records_leave_out_columns_at_the_same_widths():
    widths = {16 * float(width) for width in re.findall(r"max-width: ([\d.]+)rem", STYLE)}
    assert widths == {float(width) for width in re.findall(r"<= (\d+)", FEWER)}


def test_the_line_of_the_true_table_has_its_name():
    name = CostFigure().plot.select_one(Label)
    assert (name.text, name.y) == ("non-private table", 0)


def test_cards_ask_for_what_they_show():
    settings = Settings(page="publish", dataset="toy", epsilon=0.125)
    page, values = PublishPage(settings, Pool(1)), PublishValues.of(settings)
    facts = compute.facts("toy")
    work = {kind.name: page._card(kind).work(values, facts) for kind in page.kinds}
    near = [e for series, e in work["tables"] if series == "table" and e != WORKER]
    assert near[0] in (0.1, 0.16), "what is near the chosen ε comes first"
    assert sorted(near) == sorted(SWEEP_EPSILONS)
    assert [x for series, x in work["grids"] if series == "table"] == list(GRIDS)
    assert [x for series, x in work["shares"] if series == "table"] == list(SHARE_LADDER)
    assert [x for series, x in work["columns"] if series == "table"] == [1, 2, 3, 4, 6, 8, 10]
    asked = {(series, e) for series, e in work["rivals"] if series != "true"}
    assert asked == {(r, e) for r in RIVAL_STYLES for e in RIVAL_EPSILONS}
    asked = {(series, e) for series, e in work["choices"] if series != "true"}
    assert asked == {(r, e) for r in CHOICE_STYLES for e in RIVAL_EPSILONS}
    assert work["choices"]["diffgen", 0.1].key == work["rivals"]["diffgen", 0.1].key, "one fit is for both cards"
    assert [x for series, x in work["records"] if series == "same"] == [100, 300, 1000]
    assert {series for series, _ in work["records"]} == set(RECORD_STYLES)
    assert all(c.arguments[-2] == RIVAL_DRAWS for (s, _), c in work["rivals"].items() if s != "true")
    assert work["time"] == work["rivals"], "one fit is for both cards"
    assert work["grid"] == work["chances"] == work["cells"]
    # the chosen place of a ladder is the task of the picture, so that it is computed once
    assert work["grids"]["table", 3000].key == work["tables"]["table", WORKER].key
    assert work["shares"]["table", 0.37].key == work["tables"]["table", WORKER].key
    assert work["records"]["table", 1000].key == work["tables"]["table", WORKER].key
    assert work["records"]["same", 1000].key == work["tables"]["true", WORKER].key


def test_figures_hold_the_numbers_they_are_given():
    figure = CostFigure()
    figure.show("table", {0.1: np.array([20.0, 10.0]), 1.0: np.array([1.0, 1.0])}, complete=True)
    assert list(figure.curves["table"].data["mean"]) == pytest.approx([15, 1])
    figure.show_gap(0.1, np.array([20.0, 10.0]), 1)
    assert (figure.gap.data["text"], figure.gap.data["cost"]) == (["15.0 points"], [15])
    assert figure.draws.data["cost"] == [20, 10]
    assert figure.draws.data["size"][1] > figure.draws.data["size"][0], "the table that is shown is the large dot"
    figure.show_gap(0.1, np.array([-5.0]), 0)
    assert figure.gap.data["text"] == ["no cost"], "a table that is better by luck costs nothing"
    figure.fit()
    assert figure.plot.y_range.start < 0
    assert 20 < figure.plot.y_range.end < 25
    assert figure.gap.data["top"] == [figure.plot.y_range.end], "the number stands above the curve"
    figure.clear()
    assert list(figure.gap.data["epsilon"]) == list(figure.draws.data["epsilon"]) == []
    assert list(models_figure().curves) == ["table", "cells", "linear"]
    for name in ("grids", "shares", "columns"):
        assert list(ladder_figure(name).curves) == ["table"]
    for made, column in ((rivals_figure(), "accuracy"), (time_figure(), "seconds")):
        rows = shipped.recorded("adult", "cart")
        made.show_recorded(rows, column)
        for name, source in made.recorded.items():
            assert source.data["value"] == [row[column] for row in rows if row["method"] == name]
        assert made.recorded["mst"].data["value"]
        made.show_recorded([], column)
        assert all(source.data["value"] == [] for source in made.recorded.values())


def test_the_axis_of_records_ends_with_all_of_them_and_has_room_for_its_numbers():
    card = RecordsCard()
    for n, least, ticks in ((147, 14, 2), (20_000, 100, 5), (200_000, 100, 4)):
        card.lay_out(SimpleNamespace(n_train=n))
        ends = card.figure.plot.x_range
        assert ends.start < least < n < ends.end
        shown = [tick for tick in card.figure.plot.xaxis[0].ticker.ticks if ends.start <= tick <= ends.end]
        assert len(shown) == ticks


def test_figures_of_a_release_hold_it():
    shown = release_facts(*TOY, 0)
    grid, chances, cells = GridFigure(), ChancesFigure(), CellsFigure()
    grid.show(shown["taxonomies"], shown["levels"])
    taken = grid.taken.data
    assert set(zip(taken["attribute"], taken["level"], strict=True)) == {
        (t.name, level) for t, level in zip(shown["taxonomies"], shown["levels"], strict=True) if level
    }
    assert len(taken["group"]) == sum(
        t.sizes[level] for t, level in zip(shown["taxonomies"], shown["levels"], strict=True) if level
    )
    # boxes of one level cover the width and do not overlap
    for source in (grid.taken.data, grid.others.data):
        rows = pd.DataFrame(dict(source))
        for _, level in rows.groupby(["attribute", "level"]):
            assert (level["left"].iloc[0], level["right"].iloc[-1]) == (0, 1)
            assert (level["left"].to_numpy()[1:] == level["right"].to_numpy()[:-1]).all()
            assert (level["top"] > level["bottom"]).all()
    chances.show(shown)
    assert chances.bars.data["chance"] == shown["chances"].tolist()
    assert chances.drawn.data["chance"] == ([shown["chance"]] if shown["place"] < BEST else [])
    cells.lay_out(("centred", "shifted"))
    cells.show(shown, ("centred", "shifted"))
    assert cells.classes[1].data["noisy"] == shown["noisy"][:, 1].tolist()
    assert cells.classes[0].data["true"] == shown["true"][:, 0].tolist()
    assert [item.visible for item in cells.items] == [True, True, False, False, False, False]
    for figure in (grid, chances, cells):
        figure.clear()
    assert list(grid.words.data["text"]) == list(chances.bars.data["name"]) == list(cells.rows.data["name"]) == []


@pytest.mark.data
def test_a_grid_of_one_cell_and_classes_of_any_number_are_shown():
    shown = release_facts("toy", "add-remove", 0.5, 1, 0.37, 0)
    assert (shown["chosen"], shown["n_cells"], shown["place"], shown["chance"]) == ("one cell", 1, 0, 1.0)
    grid = GridFigure()
    grid.show(shown["taxonomies"], shown["levels"])
    assert list(grid.taken.data["group"]) == []
    many = release_facts("glass", "add-remove", 1.0, 100, 0.37, 0)
    classes = load("glass").class_names
    cells = CellsFigure()
    cells.lay_out(classes)
    cells.show(many, classes)
    assert [len(source.data["y"]) for source in cells.classes] == [len(many["cells"])] * 6
    cells.show({**many, "cells": ["x" * 80] * len(many["cells"])}, classes)
    # what the card has no room for is left to the pointer
    assert cells.rows.data["name"][0] == "x" * (MOST_LETTERS - 1) + "…"
    assert cells.classes[0].data["name"][0] == "x" * 80


def test_headline_says_what_is_kept_and_the_gap_with_an_interval_and_never_a_gain_of_publishing():
    values = SimpleNamespace(epsilon=0.1, publish_classifier="cart")
    table, kept = np.array([0.83, 0.84, 0.838]), {"kept": ["age", "job"], "n_columns": 9}
    text = words.headline(values, table, 0.85, kept)
    low, high = np.quantile(table, [0.05, 0.95])
    for share in (table.mean(), low, high, 0.85):
        assert words.percent(float(share)) in text
    assert f"Cost: <b>{words.points(0.85 - table.mean())}</b>" in text
    assert "<b>2 of 9 columns</b> kept: age, job. The others are noise." in text
    assert "Cost: less than 0.05 points" in words.headline(values, table, 0.8, kept)
    assert "columns" not in words.headline(values, table, 0.85, None), "a table that is not there yet keeps nothing"
    assert words.headline(values, None, 0.85, kept) == "<p>Computing…</p>"


def test_both_tables_stand_under_their_bars_and_what_is_kept_is_marked():
    drawn = {
        "names": ["class", "age", "job"],
        "groups": [["no", "yes"], ["young", "old"], ["a", "b"]],
        "shares": {"true": [[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], "published": [[0.6, 0.4], [0.4, 0.4], [0.5, 0.5]]},
        "rows": {"true": [["no", "<9", "a"]], "published": [["yes", "7", "b"]]},
        "n": {"true": 1000, "published": 1003},
        "kept": ["age"],
        "n_columns": 2,
    }
    figure = MarginalsFigure("publish", COLUMNS)
    figure.show(drawn)
    bars = pd.DataFrame(dict(figure.bars.data))
    assert bars["true"].tolist() == [0.5, 0.5, 0.2, 0.8, 1.0, 0.0]
    assert bars["published"].tolist() == [0.6, 0.4, 0.4, 0.4, 0.5, 0.5]
    assert bars["kept"].tolist() == [True] * 4 + [False] * 2
    assert bars.groupby("kept")["color"].nunique().tolist() == [1, 1]
    assert bars["color"].nunique() == 2, "what is kept has a colour of its own"
    for place, (_name, column) in enumerate(bars.groupby("column", sort=False)):
        assert place < column["left"].min() < column["right"].max() < place + 1
        # one scale for both tables of a column, whose largest bar is as high as the others' largest
        assert max(column["drawn"].max(), column["outline"].max()) == 1
        assert np.allclose(column["drawn"] * column["true"], column["outline"] * column["published"])
    html = words.tables(drawn, SimpleNamespace(draw=2, publish_draws=5))
    assert "Synthetic table 3 of 5: 1,003 records" in html
    assert '<td title="&lt;9" class=kept>&lt;9</td>' in html, "a cell of anybody's table is no markup"
    assert html.count("class=kept") == 6
    figure.clear()
    assert list(figure.bars.data["left"]) == []


def test_what_cards_say_is_what_they_show():
    found = {10: np.array([0.7, 0.8]), 1000: np.array([0.9])}
    text = words.ladder("grids", SimpleNamespace(epsilon=0.5), found)
    assert "<b>90.0" in text
    assert "Θ = 1,000" in text
    assert "the worst 75.0" in text
    alone = words.ladder("grids", SimpleNamespace(epsilon=0.5), {1000: found[1000]})
    assert alone.startswith("At ε = 0.5 the mean is <b>90.0")
    assert "worst" not in alone
    said = words.rivals("accuracy", {"pph": {0.1: np.array([0.7])}, "diffgen": {0.1: np.array([0.8]), 1.0: found[10]}})
    assert said.index("DiffGen") < said.index("PPH")
    said = words.rivals("seconds", {"pph": {0.1: np.array([0.2])}, "diffgen": {0.1: np.array([0.8])}})
    assert said.index("PPH <b>0.2 s") < said.index("DiffGen <b>0.8 s")
    few = {100: np.array([0.6, 0.7]), 1000: np.array([0.8])}
    said = words.records(
        SimpleNamespace(epsilon=0.5), few, {100: np.array([0.75]), 1000: np.array([0.8]), 300: np.array([0.9])}
    )
    assert "Cost at ε = 0.5: <b>10.0 points</b> with 100 records" in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "and less than 0.05 points with 1,000 records" in said
    assert words.records(SimpleNamespace(epsilon=0.5), {}, few) == "Computing…"
    shown = release_facts(*TOY, 0)
    assert shown["chosen"] in words.release("grid", shown)
    assert f"best of {shown['n_candidates']} candidates" in words.release("chances", shown)
    assert words.ladder("shares", SimpleNamespace(epsilon=1.0), {}) == "Computing…"


def test_changes_that_are_tried_are_those_of_the_quality_and_stay_within_its_ends():
    """Every pair of counts, by the definition in the paper's words: expected records that a noisy cell gets right."""

    def right_by_definition(a, b, epsilon):
        lead = epsilon * abs(a - b)
        wrong = np.exp(-lead) / 2 * (1 + lead / 2)
        return max(a, b) * (1 - wrong) + min(a, b) * wrong

    for epsilon in (0.05, 1.0):
        changes = [
            right_by_definition(a + 1, b, epsilon) - right_by_definition(a, b, epsilon)
            for a in range(MOST_COUNT + 1)
            for b in range(MOST_COUNT + 1)
        ]
        assert tried(epsilon) == pytest.approx((min(changes), max(changes)), abs=1e-9)
    figure = SensitivityFigure()
    assert set(figure.dots.data["epsilon"]) == set(TRIED)
    for epsilon, change in zip(figure.dots.data["epsilon"], figure.dots.data["change"], strict=True):
        assert 1 - quality_sensitivity(epsilon) - 1e-9 <= change <= quality_sensitivity(epsilon) + 1e-9


def test_what_one_record_changes_is_said_at_the_counts_part_of_epsilon():
    settings = Settings(page="publish", epsilon=0.1)
    values, card = PublishValues.of(settings), SensitivityCard()
    card.prepare(values, {}, {})
    assert card.figure.here.location == pytest.approx(0.06)
    ((place, task),) = card.work(values, {}).items()
    said = card.readout(values, {}, {place: task.function(*task.arguments)})
    assert f"<b>{quality_range(0.06):.3f}</b>" in said
    assert f"<b>{2.2 / quality_range(0.06):.2f}</b> times" in said
