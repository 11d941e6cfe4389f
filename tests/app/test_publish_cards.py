"""The cards of Publish: what they ask for, what their figures hold, and what is said of it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from dpml_app.core.card import WORKER
from dpml_app.jobs import Pool
from dpml_app.pages.publish import compute, text
from dpml_app.pages.publish.compute import BEST, PublishSettings, PublishValues, release_facts, shares_of
from dpml_app.pages.publish.figures import TablesCard, chances_figure, chances_tables
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


def test_cards_ask_for_what_they_show():
    settings = Settings(page="publish", dataset="toy", epsilon=0.125)
    page, values = PublishPage(settings, Pool(1)), PublishValues.of(settings)
    facts = compute.facts("toy")
    work = {kind.name: kind().work(values, facts) for kind in page.kinds}
    near = [e for series, e in work["accuracy"] if series == "table" and e != WORKER]
    assert near[0] in (0.1, 0.16), "what is near the chosen ε comes first"
    assert sorted(near) == sorted(SWEEP_EPSILONS)


def test_figures_of_a_release_hold_it():
    shown = release_facts(*TOY, 0)
    chances = chances_figure()
    chances.show(chances_tables(shown))
    bars, drawn = (chances.sources[name].data for name in ("bars", "drawn"))
    assert bars["chance"].tolist() == shown["chances"].tolist()
    assert list(drawn["chance"]) == ([shown["chance"]] if shown["place"] < BEST else [])
    chances.clear()
    assert list(chances.sources["bars"].data["name"]) == []


def test_headline_says_the_gap_with_an_interval_and_never_a_gain_of_publishing():
    values = SimpleNamespace(epsilon=0.1, publish_classifier="cart")
    table = np.array([0.83, 0.84, 0.838])
    said = text.headline(values, table, 0.85)
    low, high = np.quantile(table, [0.05, 0.95])
    for share in (table.mean(), low, high, 0.85):
        assert text.percent(float(share)) in said
    assert f"Cost: <b>{text.points(0.85 - table.mean())}</b>" in said
    assert "Cost: less than 0.05 points" in text.headline(values, table, 0.8)
    assert text.headline(values, None, 0.85) == "<p>Computing…</p>"


def test_both_tables_have_bars_and_what_is_kept_is_marked():
    drawn = {
        "names": ["class", "<age", "job"],
        "groups": [["no", "yes"], ["young", "old"], ["a", "b"]],
        "shares": {"true": [[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], "published": [[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]]},
        "kept": ["<age"],
        "n_columns": 2,
    }
    card = TablesCard()
    card.show(None, None, {("drawn", WORKER): drawn}, {})
    kept, others = (pd.DataFrame(dict(card.figure.sources[name].data)) for name in ("kept", "others"))
    assert kept["true"].tolist() == [0.5, 0.5, 0.2, 0.8]
    assert kept["synthetic"].tolist() == [0.6, 0.4, 0.4, 0.6]
    assert (others["true"].tolist(), others["synthetic"].tolist()) == ([1.0, 0.0], [0.5, 0.5])
    for place, table, name in ((0, kept, "class"), (1, kept, "<age"), (2, others, "job")):
        bars = table[table["column"] == name]
        assert place < bars["left"].min() < bars["right"].max() < place + 1
        assert card.figure.plot.xaxis[0].major_label_overrides[place + 0.5] == name
    assert text.kept(drawn).startswith("<b>1 of 2 columns</b> kept: &lt;age. The others are noise.")
    card.clear()
    assert list(card.figure.sources["kept"].data["left"]) == []


def test_what_cards_say_is_what_they_show():
    shown = release_facts(*TOY, 0)
    assert f"best of {shown['n_candidates']} candidates" in text.choice(shown)
