"""The card of the best method: it shows the standard study that ships, and says what `frontier` and the others find."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE
from dpml_app.pages.train.compute import (
    MAPPED_METHODS,
    TrainValues,
    map_cells,
    method_of,
    nb_facts,
    setting_of,
)
from dpml_app.pages.train.figures import BestCard
from dpml_app.state import Settings

from dpml.studies import frontier
from dpml.sweep import STANDARD, standard_study


def shown(**changes):
    """Return the card as it is shown at some settings, and its line."""
    settings = Settings()
    settings.param.update(**changes)
    values, made = TrainValues.of(settings), BestCard()
    facts = nb_facts(values.dataset)
    assert made.refusal(values, facts) == ""
    results = {place: task.function(*task.arguments) for place, task in made.work(values, facts).items()}
    made.prepare(values, facts, results)
    return made.figure, made.readout(values, facts, results)


@pytest.mark.parametrize("name", STANDARD)
def test_every_candidate_that_ships_is_of_a_method_of_the_map(name):
    rows = standard_study(name).table.drop(columns=["draw", "accuracy"]).drop_duplicates().to_dict("records")
    assert {method_of(row) for row in rows} <= set(MAPPED_METHODS.values())
    named = {(row["epsilon"], method_of(row), setting_of(row)) for row in rows}
    assert len(named) == len(rows), "two candidates have the same name"


def test_a_cell_is_the_mean_of_the_draws_that_did_not_choose():
    table = standard_study("toy").table
    cells = map_cells("toy")
    rows = zip(*(cells[name] for name in ("epsilon", "method", "setting", "mean", "behind")), strict=True)
    found = {(epsilon, method): rest for epsilon, method, *rest in rows}
    assert len(found) == len(cells["mean"]) == 10 * 11
    mine = table[(table["epsilon"] == 0.5) & (table["study"] == "naive-bayes") & (table["score"] == "count")]
    draws = mine.pivot(index="n_features", columns="draw", values="accuracy")
    T = draws.loc[:, ::2].mean(axis=1).idxmax()
    setting, mean, behind = found[0.5, MAPPED_METHODS["naive-bayes", "count"]]
    assert (setting, mean) == (f"T = {T:g}", pytest.approx(draws.loc[T, 1::2].mean()))
    best = table[(table["epsilon"] == 0.5) & (table["study"] == "row-bounded-naive-bayes")].set_index("draw")
    assert behind == pytest.approx((best["accuracy"] - draws.loc[T]).mean())


def test_the_picture_is_the_frontier_of_the_library():
    figure, text = shown(dataset="toy", epsilon=0.5)
    found = frontier(standard_study("toy").table, rng=np.random.default_rng(0))
    assert figure.best.data["epsilon"] == found["epsilon"].tolist()
    assert figure.best.data["method"] == [method_of(row) for row in found.to_dict("records")]
    # rings and dots are all that are as good, and every best cell is nothing behind
    assert len(figure.equal.data["epsilon"]) + 10 <= found["equal"].sum()
    behind = dict(zip(zip(figure.cells.data["epsilon"], figure.cells.data["method"], strict=True),
                      figure.cells.data["behind"], strict=True))  # fmt: skip
    assert [behind[key] for key in zip(found["epsilon"], figure.best.data["method"], strict=True)] == [0.0] * 10
    assert figure.marker.location == 0.5
    row = found[found["epsilon"] == 0.5].iloc[0]
    assert f"{100 * row['mean']:.1f}" in text
    assert f"Equally good: {row['equal'] - 1} of {row['candidates'] - 1} other candidates" in text


def test_what_does_not_ship_is_refused_and_says_what_does():
    settings = Settings()
    settings.param.update(dataset="census", relation="replace-one")
    values = TrainValues.of(settings)
    assert "add or remove one record" in BestCard().refusal(values, {})
    assert "census, adult" in BestCard().refusal(replace(values, dataset="skin"), {})


def test_the_page_shows_the_map_at_once(alone):
    alone.enter("train", "&dataset=toy&draws=10&epsilon=1&train_begin=none", only=["best"])
    assert len(alone.read("train-best-cells")["mean"]) == 110
    assert "Equally good: " in alone.text
    alone.act(relation="replace-one")
    assert alone.read("train-best-cells")["mean"] == []
    assert "add or remove one record" in alone.text
    assert {place for place, _task in alone.page._wanted["best"].items()} == set()
    alone.act(relation="add-remove")
    assert {place[1] for place in alone.page._wanted["best"]} == {IMMEDIATE}
