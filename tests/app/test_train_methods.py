"""The picture of the Train page: methods by accuracy at one ε, what is cut off, what ships, and how ε is moved."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE
from dpml_app.drawing.styles import Style
from dpml_app.jobs import Pool
from dpml_app.pages.train import compute
from dpml_app.pages.train.compute import (
    SHIPPED,
    Row,
    TrainSettings,
    TrainValues,
    make_shipped,
    shipped_facts,
    train_facts,
)
from dpml_app.pages.train.figures import WITHOUT, MethodsCard, MethodsFigure, fitted
from dpml_app.pages.train.page import TrainPage
from dpml_app.settings import EPSILONS
from dpml_app.state import Settings
from each_commit import others_in_full

STYLE = Style("some", "#0072B2", "circle")
NAIVE = ["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"]


def values_of(**changes):
    return TrainValues.of(TrainSettings(**{"dataset": "toy", "train_methods": NAIVE, "draws": 10, **changes}))


def drawn(facts, **changes):
    """Return the card as it is shown once all has come."""
    values, card = values_of(**changes), MethodsCard()
    results = {key: task.function(*task.arguments) for key, task in card.work(values, facts).items()}
    card.show(values, facts, results, {})
    return card, results


def test_rows_stand_by_accuracy_with_their_own_levels_and_what_is_broken_stands_below():
    card, results = drawn(train_facts("toy"), epsilon=1.0)
    rows = {name: list(column) for name, column in card.figure.rows.data.items()}
    assert ["ε" in text for text in rows["method"]] == [False] * 5 + [True]
    assert rows["mean"][:5] == sorted(rows["mean"][:5], reverse=True)
    assert card.figure.plot.y_range.factors == rows["method"][::-1]
    assert rows["method"][5].endswith(", ε = ∞")
    best = results["binned", IMMEDIATE]["accuracy"]
    at = rows["method"].index("Binned counts")
    assert [rows[name][at] for name in ("mean", "low", "high")] == pytest.approx(
        [best.mean(), *np.quantile(best, [0.05, 0.95])]
    )
    assert rows["without"][at] == results[WITHOUT + "binned", IMMEDIATE]["accuracy"][0]
    assert len(set(rows["without"])) > 2


def test_a_method_that_pays_more_than_it_claims_shows_what_it_pays():
    facts = replace(train_facts("census"), numeric=0, categorical=21)
    card = MethodsCard()
    values = values_of(dataset="census", epsilon=0.1, train_methods=["vaidya"])
    card.show(values, facts, {("vaidya", IMMEDIATE): {"accuracy": np.array([0.7, 0.8])}}, {})
    assert card.figure.rows.data["method"] == ["Vaidya, ε = 3.1"]


def test_the_axis_holds_what_is_compared_and_cuts_a_wide_interval():
    rows = [Row(STYLE, 0.84, 0.83, 0.85, 0.86), Row(STYLE, 0.76, 0.2, 0.99, 0.83)]
    start, end = fitted(rows)
    assert end - start <= 3 * (0.86 - 0.76)
    assert start < 0.76
    assert end > 0.86
    figure = MethodsFigure()
    figure.show(rows, 0.5)
    # a guess far from what is compared does not make the axis longer
    assert (figure.plot.x_range.start, figure.plot.x_range.end, figure.guess.location) == (start, end, 0.5)
    figure.clear()
    assert figure.guess.location is None


# ---- what ships ------------------------------------------------------------------------------------------------------


def test_the_page_opens_with_what_ships_and_computes_nothing(monkeypatch):
    monkeypatch.setattr(compute, "train_facts", lambda _name: pytest.fail("the data set is loaded"))
    page = TrainPage(Settings(dataset="adult"), Pool(1))
    values, card = page.values(), page.cards["methods"]
    rows = card.figure.rows.data
    assert len(rows["mean"]) == 7
    assert rows["method"][0] in page.headline.object
    facts = TrainPage.facts_of("adult")
    for epsilon in EPSILONS:
        chosen = replace(values, epsilon=epsilon)
        page.cards.tasks = {"methods": card.work(chosen, facts)}
        assert page.cards.missing() == []
    # all others are made later
    assert set(page.cards) == {"methods"}


@pytest.mark.data
@pytest.mark.parametrize("epsilon", others_in_full((0.1, 1.0), 1.0))
def test_what_ships_is_what_the_page_computes(data_home, epsilon):
    kept = json.loads((SHIPPED / "adult.json").read_text(encoding="utf-8"))
    made = make_shipped("adult", (epsilon,))
    assert made["facts"] == {**asdict(shipped_facts("adult")), "classes": made["facts"]["classes"]}
    assert list(made["hits"]) == list(kept["hits"])
    for method, hits in made["hits"].items():
        for one, place in zip(hits, [0, 1 + EPSILONS.index(epsilon)], strict=True):
            # other versions of the linear algebra may decide a record on the edge otherwise
            difference = np.abs(np.array(one) - np.array(kept["hits"][method][place]))
            assert difference.max() <= 0.001 * kept["facts"]["n_test"], (method, place)
