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
from dpml_app.jobs import Pool
from dpml_app.pages.publish import compute, text
from dpml_app.pages.publish.compute import BEST, PublishSettings, PublishValues, release_facts, shares_of
from dpml_app.pages.publish.figures import STYLE, CostFigure, chances_figure, chances_tables
from dpml_app.pages.publish.page import PublishPage
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

from dpml.classifiers.grid.cells import SHARES

TOY = ("toy", "add-remove", 1.0, 100, 0.37)


def test_shares_are_the_paper_s_by_default_and_always_all_of_epsilon():
    assert shares_of(PublishSettings.param.publish_share.default) == SHARES
    low, high = PublishSettings.param.publish_share.bounds
    for share in (low, 0.5, high):
        assert sum(shares_of(share)) == pytest.approx(1, abs=1e-12)
        assert min(shares_of(share)) > 0


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
    work = {kind.name: kind().work(values, facts) for kind in page.kinds}
    near = [e for series, e in work["tables"] if series == "table" and e != WORKER]
    assert near[0] in (0.1, 0.16), "what is near the chosen ε comes first"
    assert sorted(near) == sorted(SWEEP_EPSILONS)


def test_figures_hold_the_numbers_they_are_given():
    figure = CostFigure()
    figure.show({0.1: np.array([20.0, 10.0]), 1.0: np.array([1.0, 1.0])})
    assert list(figure.curve["mean"]) == pytest.approx([15, 1])
    figure.show_gap(0.1, np.array([20.0, 10.0]), 1)
    assert (figure.gap.data["text"], figure.gap.data["cost"]) == (["15.0 points"], [15])
    assert figure.draws.data["cost"] == [20, 10]
    assert figure.draws.data["size"][1] > figure.draws.data["size"][0], "the table that is shown is the large dot"
    figure.show_gap(0.1, np.array([-5.0]), 0)
    assert figure.gap.data["text"] == ["no cost"], "a table that is better by luck costs nothing"
    figure.fit()
    assert figure.plot.y_range.start < 0
    assert 20 < figure.plot.y_range.end < 25
    figure.clear()
    assert list(figure.gap.data["epsilon"]) == list(figure.draws.data["epsilon"]) == []


def test_figures_of_a_release_hold_it():
    shown = release_facts(*TOY, 0)
    chances = chances_figure()
    chances.show(chances_tables(shown))
    bars, drawn = (chances.sources[name].data for name in ("bars", "drawn"))
    assert bars["chance"].tolist() == shown["chances"].tolist()
    assert list(drawn["chance"]) == ([shown["chance"]] if shown["place"] < BEST else [])
    chances.clear()
    assert list(chances.sources["bars"].data["name"]) == []


def test_headline_says_what_is_kept_and_the_gap_with_an_interval_and_never_a_gain_of_publishing():
    values = SimpleNamespace(epsilon=0.1, publish_classifier="cart")
    table, kept = np.array([0.83, 0.84, 0.838]), {"kept": ["age", "job"], "n_columns": 9}
    said = text.headline(values, table, 0.85, kept)
    low, high = np.quantile(table, [0.05, 0.95])
    for share in (table.mean(), low, high, 0.85):
        assert text.percent(float(share)) in said
    assert f"Cost: <b>{text.points(0.85 - table.mean())}</b>" in said
    assert "<b>2 of 9 columns</b> kept: age, job. The others are noise." in said
    assert "Cost: less than 0.05 points" in text.headline(values, table, 0.8, kept)
    assert "columns" not in text.headline(values, table, 0.85, None), "a table that is not there yet keeps nothing"
    assert text.headline(values, None, 0.85, kept) == "<p>Computing…</p>"


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
    html = text.tables(drawn, SimpleNamespace(draw=2, publish_draws=5))
    assert "Synthetic table 3 of 5: 1,003 records" in html
    assert '<td title="&lt;9" class=kept>&lt;9</td>' in html, "a cell of anybody's table is no markup"
    assert html.count("class=kept") == 6
    figure.clear()
    assert list(figure.bars.data["left"]) == []


def test_what_cards_say_is_what_they_show():
    shown = release_facts(*TOY, 0)
    assert f"best of {shown['n_candidates']} candidates" in text.choice(shown)
