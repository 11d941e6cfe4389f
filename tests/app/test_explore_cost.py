"""What privacy costs: the numbers of the first picture, what of them ships, and how they are drawn."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE, WORKER
from dpml_app.data import default_study
from dpml_app.data.default_study import shipped_facts, shipped_results
from dpml_app.jobs import Pool
from dpml_app.pages.explore import compute
from dpml_app.pages.explore.compute import ExploreValues
from dpml_app.pages.explore.figures import CostFigure, Private
from dpml_app.pages.explore.page import ExplorePage, MainCard
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from each_commit import others_in_full

from dpml.classifiers import AutoClassifier
from dpml.datasets import load
from dpml.studies import AutoStudy, best_without_noise
from dpml.studies import cost as library_cost

SHIPPED = sorted(path.stem for path in default_study.SHIPPED.glob("*.json"))
NO_FILE = ("census", "toy", "breast_cancer")


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_the_draws_are_fits_of_the_default_classifier(epsilon, monkeypatch):
    monkeypatch.setattr(default_study, "DRAWS", 6)
    data = load("toy")
    found = default_study.default_runs("toy", "replace-one", epsilon, 3)
    model = AutoClassifier(
        epsilon, relation="replace-one", schema=data.frame_schema, random_state=np.random.default_rng([3, 5])
    )
    frame = data.frame[data.frame_schema.feature_names]
    labels = np.asarray(data.frame_schema.classes)
    model.fit(frame.loc["train"], labels[data.y_train])
    predicted = np.searchsorted(labels, model.predict(frame.loc["test"]))
    assert found["accuracy"][5] == np.mean(predicted == data.y_test)
    assert found["recall"][5] == pytest.approx([np.mean(predicted[data.y_test == c] == c) for c in (0, 1)])
    assert found["accuracy"].shape == (default_study.DRAWS,)
    assert found["groups"].shape == (default_study.DRAWS, 0)
    assert np.ptp(found["accuracy"]) > 0


def test_the_best_and_the_simpler_method_are_the_librarys():
    parts = library_cost(load("toy"), [0.05, 1.0], draws=2, rng=np.random.default_rng(0))
    assert default_study.non_private("toy", "add-remove")["accuracy"] == parts["best"][0]
    exact = [default_study.noiseless_accuracy("toy", "add-remove", epsilon) for epsilon in (0.05, 1.0)]
    np.testing.assert_allclose(exact, parts["best"] - parts["simpler"], atol=1e-12)


def test_the_best_of_a_table_whose_size_is_not_stated_knows_it(monkeypatch):
    data = load("toy")
    unstated = replace(data, frame_schema=replace(data.frame_schema, n_lower=1))
    monkeypatch.setattr(default_study, "dataset", lambda name: unstated)
    assert default_study.non_private("toy", "add-remove")["accuracy"] == best_without_noise(
        AutoStudy(default_study._sized(unstated))
    )


@pytest.mark.parametrize("name", others_in_full(NO_FILE, "toy"))
def test_what_ships_is_what_is_computed(name):
    kept = json.loads((default_study.SHIPPED / f"{name}.json").read_text())
    places = [0, EPSILONS.index(0.1), len(EPSILONS) - 1]
    made = default_study.make(name, tuple(EPSILONS[i] for i in places))
    n = sum(kept["records"])
    assert made["records"] == kept["records"]
    assert made["majority"] == kept["majority"]
    assert made["groups"] == kept.get("groups", [])
    assert made["members"] == kept.get("members", [])
    # other versions of the linear algebra may decide a record on the edge otherwise
    close = {"atol": 0.001 * n, "rtol": 0}
    np.testing.assert_allclose(made["best"], kept["best"], **close)
    for series in ("private", "exact"):
        np.testing.assert_allclose(made[series], [kept[series][i] for i in places], **close)
    custom, own = compute.read(name)["custom"], compute.make(name, tuple(EPSILONS[i] for i in places))
    np.testing.assert_allclose(own["custom"], [custom[i] for i in places], **close)


def test_the_share_of_each_group_is_of_its_own_people(monkeypatch):
    monkeypatch.setattr(default_study, "DRAWS", 5)
    data = load("census")
    best = default_study.default_runs("census", "add-remove", 0.05, 0)
    schema = data.frame_schema
    frame = data.frame[schema.feature_names]
    model = AutoClassifier(0.05, schema=schema, random_state=np.random.default_rng([0, 4]))
    labels = np.asarray(schema.classes)
    hit = model.fit(frame.loc["train"], labels[data.y_train]).predict(frame.loc["test"]) == labels[data.y_test]
    best = {name: draws[4] for name, draws in best.items()}
    people = data.frame.loc["test"]
    shares = dict(zip(data.groups, best["groups"], strict=True))
    assert shares["sex=female"] == pytest.approx(hit[people["sex"] == "female"].mean())
    assert shares["25<=age<35"] == pytest.approx(hit[(people["age"] >= 25) & (people["age"] < 35)].mean())
    # a mean over the groups of one attribute, by their sizes, is that of all
    sizes, sexes = default_study.members(data).sum(axis=0)[:2], best["groups"][:2]
    assert sizes @ sexes / sizes.sum() == pytest.approx(best["accuracy"])


@pytest.mark.parametrize("name", SHIPPED)
def test_privacy_never_pays_on_average(name):
    # beside the one best without privacy: no more than chance, of twenty runs
    results = shipped_results(name)
    by_key = {task.arguments: result for task, result in results.items()}
    best = by_key[name, default_study.RELATION]["accuracy"]
    for epsilon in EPSILONS:
        draws = by_key[name, default_study.RELATION, epsilon, default_study.SEED]["accuracy"]
        assert draws.mean() - best <= 3 * draws.std() / np.sqrt(len(draws)) + 1e-9


def test_the_first_picture_comes_with_the_page():
    page = ExplorePage(Settings(), Pool(1))
    figure = page.cards["cost"].figure
    assert list(figure.curve.data["epsilon"]) == list(EPSILONS)
    assert len(figure.draws.data["accuracy"]) == default_study.DRAWS * len(EPSILONS)
    assert "points" in page.headline.object
    assert "52.5" in page.risk.object
    low, high = figure.plot.y_range.start, figure.plot.y_range.end
    shown = np.concatenate([figure.curve.data[c] for c in ("low", "high", "best", "guess")])
    shown = np.concatenate([shown, figure.hand.data["low"], figure.hand.data["high"]])
    assert list(figure.hand.data["epsilon"]) == list(EPSILONS)
    assert len(set(figure.curve.data["best"])) == 1
    assert "below the default" in page.controls.custom.object
    assert low < shown.min()
    assert shown.max() < high
    assert high - low < 1.5 * np.ptp(shown)


def test_a_data_set_of_which_nothing_ships_is_computed():
    settings = Settings(dataset="toy", seed=7)
    card = ExplorePage(settings, Pool(1)).cards["cost"]
    assert isinstance(card, MainCard)
    assert len(card.figure.curve.data["epsilon"]) == 0
    wanted = card.work(ExploreValues.of(settings), {})
    assert len([place for place in wanted if place[0] == "private"]) == len(SWEEP_EPSILONS) + 1
    result = {place: task.function(*task.arguments) for place, task in wanted.items() if place[1] in (WORKER, 0.1)}
    people = SimpleNamespace(classes=("a", "b"), groups=())
    assert card.readout(SimpleNamespace(epsilon=0.1), people, result).startswith("Privacy cost at ε = 0.1")


def test_the_axis_is_held_until_all_is_there():
    figure = CostFigure()
    first = Private(np.array([0.1]), np.array([[0.7, 0.8]]), np.array([0.8]), 0.85, 0.6, False)
    figure.show(first)
    held = figure.plot.y_range.start, figure.plot.y_range.end
    assert held == (0.5, 1.0)
    figure.show(replace(first, whole=True))
    assert (figure.plot.y_range.start, figure.plot.y_range.end) != held
    figure.show_custom("levers", {0.1: np.array([0.5, 0.55])}, True)
    assert figure.plot.y_range.start < 0.5
    figure.clear()
    assert not len(figure.curve.data["epsilon"])
    assert not len(figure.hand.data["epsilon"])


def test_a_curve_of_other_levers_stays_until_the_new_one_is_whole():
    figure = CostFigure()
    figure.show_custom("a", {0.1: np.array([0.5, 0.6]), 1.0: np.array([0.6, 0.7])}, True)
    figure.show_point(0.1, np.array([0.7, 0.8]))
    assert figure.point.data["mean"] == [0.75]
    figure.show_custom("b", {0.1: np.array([0.7, 0.8])}, False)
    assert list(figure.hand.data["mean"]) == pytest.approx([0.55, 0.65])
    figure.show_custom("b", {0.1: np.array([0.7, 0.8])}, True)
    assert list(figure.hand.data["mean"]) == [0.75]


def test_only_the_custom_curve_is_greyed_while_it_alone_waits():
    card = MainCard()
    wanted = card.work(ExploreValues.of(Settings(dataset="toy")), {})
    curve = {key for key in wanted if key[0] == "hand" and key[1] != IMMEDIATE}
    rest = dict.fromkeys(wanted.keys() - curve)
    assert not card.greyed(rest, wanted, True)
    assert all(renderer.muted for renderer in card.figure.custom)
    assert card.figure.custom_item.label.value == "custom model: computing…"
    assert not card.greyed(rest, wanted, False)
    assert card.figure.custom_item.label.value == "custom model"
    assert not card.greyed(dict.fromkeys(wanted), wanted, False)
    assert not any(renderer.muted for renderer in card.figure.custom)
    assert card.greyed(dict.fromkeys(wanted.keys() - {("hand", IMMEDIATE)}), wanted, True)
    assert card.greyed(dict.fromkeys(wanted.keys() - {("private", WORKER)}), wanted, True)


def test_a_target_accuracy_moves_epsilon_and_its_interval_is_said():
    page = ExplorePage(Settings(dataset="toy"), Pool(1))
    figure, wanted = page.cards["cost"].figure, page.controls.widgets["wanted"]
    wanted.value = 80.0
    means, facts = figure.curve.data["mean"], shipped_facts("toy")
    first = page.settings.epsilon
    assert means[EPSILONS.index(first)] >= 0.8 > means[EPSILONS.index(first) - 1]
    page.words(page.values(), facts, {})
    assert page.controls.needed.object.startswith("<b>ε = ")
    wanted.value = 99.0
    assert (page.settings.wanted, page.settings.epsilon) == (99.0, first)
    page.words(page.values(), facts, {})
    assert "No ε up to 10 reaches it" in page.controls.needed.object
    # a link has an ε of its own
    page.settings.param.update(wanted=70.0, epsilon=0.02)
    assert page.settings.epsilon == 0.02
    # nothing is called out of reach while the curve loads
    figure.show(replace(figure.private, whole=False))
    wanted.value = 85.0
    page.words(page.values(), facts, {})
    assert (page.controls.needed.object, page.settings.epsilon) == ("Loading…", 0.02)


def test_shipped_files_say_what_they_were_made_with():
    for name in SHIPPED:
        kept = json.loads(Path(default_study.SHIPPED / f"{name}.json").read_text())
        assert set(kept["made with"]) == set(default_study.VERSIONS)
        assert {len(kept[series]) for series in ("private", "exact")} == {len(EPSILONS)}
        assert len(compute.read(name)["custom"]) == len(EPSILONS)
    assert set(NO_FILE) <= set(SHIPPED)
