"""The picture of the Train page: methods by accuracy at one ε, what is cut off, what ships, and how ε is moved."""

import asyncio
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE
from dpml_app.drawing.styles import Style
from dpml_app.jobs import Pool
from dpml_app.pages.train import page as train_page
from dpml_app.pages.train.compute import SHIPPED, Row, TrainSettings, TrainValues, make_shipped, nb_facts, shipped_facts
from dpml_app.pages.train.figures import WITHOUT, MethodsCard, MethodsFigure, fitted
from dpml_app.pages.train.page import TrainPage
from dpml_app.settings import EPSILONS
from dpml_app.state import Settings
from each_commit import others_in_full

STYLE = Style("some", "#0072B2", "circle")


def values_of(**changes):
    return TrainValues.of(TrainSettings(**{"dataset": "toy", "train_begin": [], "draws": 10, **changes}))


def drawn(facts, **changes):
    """Return the card as it is shown once all has come."""
    values, card = values_of(**changes), MethodsCard()
    results = {key: task.function(*task.arguments) for key, task in card.work(values, facts).items()}
    card.prepare(values, facts, results)
    return card, results


def test_rows_stand_by_accuracy_with_their_own_levels_and_what_is_broken_stands_below():
    card, results = drawn(nb_facts("toy"), epsilon=1.0)
    rows = {name: list(column) for name, column in card.figure.rows.data.items()}
    assert ["claim violated" in text for text in rows["shown"]] == [False] * 5 + [True]
    assert rows["mean"][:5] == sorted(rows["mean"][:5], reverse=True)
    assert rows["y"] == sorted(rows["y"])
    assert rows["shown"][5].endswith("actual ε: ∞")
    best = results["binned", IMMEDIATE]["accuracy"]
    at = rows["method"].index("Binned counts")
    assert [rows[name][at] for name in ("mean", "low", "high")] == pytest.approx(
        [best.mean(), *np.quantile(best, [0.05, 0.95])]
    )
    assert rows["without"][at] == results[WITHOUT + "binned", IMMEDIATE]["accuracy"][0]
    assert rows["shown"][at].startswith("Binned counts: ")
    assert len(set(rows["without"])) > 2


def test_a_method_that_pays_more_than_it_claims_shows_what_it_pays():
    facts = replace(nb_facts("census"), numeric=0, categorical=21)
    card = MethodsCard()
    values = values_of(dataset="census", epsilon=0.1, train_methods=["vaidya"])
    card.prepare(values, facts, {("vaidya", IMMEDIATE): {"accuracy": np.array([0.7, 0.8])}})
    assert card.figure.rows.data["shown"][0].endswith("actual ε: 3.1")


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


def test_the_measure_moves_the_picture():
    facts = nb_facts("toy")
    accuracy, area = (drawn(facts, train_measure=measure)[0].figure for measure in ("accuracy", "auc"))
    assert accuracy.rows.data["mean"] != area.rows.data["mean"]
    assert "AUC" in area.plot.xaxis[0].axis_label
    assert area.guess.location == 0.5


def test_what_has_not_come_yet_is_of_the_previous_epsilon_and_faded():
    facts = nb_facts("toy")
    card, _results = drawn(facts, epsilon=1.0)
    before = dict(card.figure.rows.data)
    card.prepare(values_of(epsilon=2.0), facts, {})
    assert card.figure.rows.data["mean"] == before["mean"]
    assert max(card.figure.rows.data["alpha"]) < 1.0
    card.prepare(values_of(epsilon=2.0, train_measure="auc"), facts, {})
    assert card.figure.rows.data["mean"] == []


# ---- what ships ------------------------------------------------------------------------------------------------------


def test_the_page_opens_with_what_ships_and_computes_nothing(monkeypatch):
    monkeypatch.setattr(train_page, "nb_facts", lambda _name: pytest.fail("the data set is loaded"))
    page = TrainPage(Settings(dataset="adult"), Pool(1))
    values, card = page.values(), page.cards["methods"]
    rows = card.figure.rows.data
    assert len(rows["mean"]) == 7
    assert rows["method"][0] in page.headline.object
    facts = asyncio.run(page.facts(values))
    for epsilon in EPSILONS:
        chosen = replace(values, epsilon=epsilon)
        assert page._missing(chosen, {"methods": card.work(chosen, facts)}) == []
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
