"""The cards of importance weights on the Publish page: their numbers are the library's, and their words say them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from dpml_app.core.card import WORKER
from dpml_app.jobs import Pool
from dpml_app.pages.publish import text
from dpml_app.pages.publish.compute import (
    ASKED,
    CONDITIONS,
    PUBLISH_DATASETS,
    WEIGHT_METHODS,
    PublishValues,
    mask_of,
    pattern_shares,
    share_meeting,
    weighted_patterns,
)
from dpml_app.pages.publish.figures import WeightsQueryCard
from dpml_app.pages.publish.page import PublishPage
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.state import Settings

from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.publishing import ImportanceWeights
from dpml.studies.publishing import SPLITS, split_by_sex


@pytest.fixture(scope="module")
def two():
    return split_by_sex(load("census"), rng=np.random.default_rng(0))


def meets(table, conditions, name="census"):
    """Return which records meet a conjunction, condition by condition."""
    found = np.ones(len(table), dtype=bool)
    for condition in conditions:
        column, allowed, _ = CONDITIONS[name][condition]
        found &= np.isin(table[column].to_numpy(), allowed)
    return found


def page_at(**changes):
    settings = Settings(page="publish", **changes)
    page = PublishPage(settings, Pool(1))
    return page, PublishValues.of(settings)


# ---- the two tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["census", pytest.param("adult", marks=pytest.mark.data)])
def test_nine_of_ten_of_one_sex_and_one_of_ten_of_the_other_are_private(name):
    data = load(name)
    found = split_by_sex(data, rng=np.random.default_rng(0))
    sexes = data.frame.loc["train"]["sex"].astype(str)
    sizes = [round(share * int((sexes == sex).sum())) for sex, share in SPLITS[name].private.items()]
    assert len(found.private) == sum(sizes)
    assert len(found.private) + len(found.public) == len(sexes)
    assert "sex" not in found.private
    assert list(found.private) == list(found.public) == list(found.schema.feature_names)
    D = found.matrix(found.private)
    assert (D.sum(axis=1) == len(found.schema.features)).all(), "one column of each attribute"
    # the record of the split is that of its generator
    again = split_by_sex(data, rng=np.random.default_rng(0))
    pd.testing.assert_frame_equal(again.private, found.private)


def test_a_data_set_without_a_split_is_refused_by_name():
    with pytest.raises(InvalidParameter, match=r"`dataset` must be .*adult, census.*Got 'toy'"):
        split_by_sex(load("toy"), rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"dataset.*toy"):
        pattern_shares("toy")


def test_conditions_are_of_the_schema_and_of_some_records(two):
    assert set(CONDITIONS) == set(SPLITS) <= set(PUBLISH_DATASETS)
    for name, conditions in CONDITIONS.items():
        assert list(conditions) == list(ASKED), name
    categories = {f.name: f.categories for f in two.schema.features}
    for column, allowed, _words in CONDITIONS["census"].values():
        assert set(allowed) <= set(categories[column])
    assert all(0 < meets(two.private, [c]).mean() < 1 for c in ASKED)


@pytest.mark.data
def test_conditions_of_adult_are_of_its_schema():
    found = split_by_sex(load("adult"), rng=np.random.default_rng(0))
    assert all(0 < meets(found.private, [c], "adult").mean() < 1 for c in ASKED)


# ---- the library's own numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("conditions", [["rich"], ["young", "married", "graduate"], list(ASKED)])
def test_true_and_unweighted_answers_are_the_tables_own(two, conditions):
    found, mask = pattern_shares("census"), mask_of(conditions)
    for of, table in (("private", two.private), ("public", two.public)):
        assert share_meeting(found[of], mask) == pytest.approx(meets(table, conditions).mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("method", "reg_lambda", "epsilon"),
    [("output", 0.1, 0.1), ("output", 1.0, 2.0), ("moments", None, 0.1), ("moments", 0.5, 1.0)],
)
def test_answers_are_those_of_the_library_s_weights(two, method, reg_lambda, epsilon):
    made = weighted_patterns(method, "census", epsilon, reg_lambda, 2, 7)
    options = {"calibration": "published", "fit_intercept": False} if method == "output" else {"pairs": 0}
    for draw in range(2):
        model = ImportanceWeights(
            epsilon,
            "public" if reg_lambda is None else reg_lambda,
            method=method,
            schema=two.schema,
            random_state=np.random.default_rng([7, draw]),
            **options,
        )
        table = model.fit(two.private, two.public).weighted(two.public)
        for conditions in (["rich"], ["married", "graduate"]):
            answer = share_meeting(made, mask_of(conditions))[draw]
            assert answer == pytest.approx(table.mean(meets(two.public, conditions)), abs=1e-9)


def test_noisy_moments_are_nearer_to_the_truth_than_algorithm_1_at_its_lambda():
    truth, mask = pattern_shares("census")["private"], mask_of(["rich"])
    error = {
        method: np.abs(
            share_meeting(weighted_patterns(method, "census", 0.1, rule, 10, 0), mask) - share_meeting(truth, mask)
        ).mean()
        for method, rule in (("output", 0.1), ("moments", None))
    }
    # 1.1 against 8.4 points, of 10 draws each
    assert error["moments"] < 0.5 * error["output"]


# ---- cards ----------------------------------------------------------------------------------------------------------


def test_the_card_asks_for_what_it_shows_and_a_question_asks_for_no_work():
    _page, values = page_at(epsilon=0.125, publish_lambda=0.2)
    work = WeightsQueryCard().work(values, {})
    assert {place for place in work if place[1] != WORKER} == {(m, e) for m in WEIGHT_METHODS for e in SWEEP_EPSILONS}
    assert {task.arguments[3] for place, task in work.items() if place[0] == "output"} == {0.2}
    assert {task.arguments[3] for place, task in work.items() if place[0] == "moments"} == {None}
    assert WeightsQueryCard().work(replace(values, publish_query=["young"]), {}) == work


def test_curves_and_levels_follow_the_question():
    card, (_page, values), x = WeightsQueryCard(), page_at(publish_query=["rich"]), SWEEP_EPSILONS[6]
    work = {place: task for place, task in card.work(values, {}).items() if place[1] in (WORKER, x)}
    results = {place: task.function(*task.arguments) for place, task in work.items()}
    both = pattern_shares("census")
    for conditions in (["rich"], ["rich", "married"], ["young"]):
        values, mask = replace(values, publish_query=conditions), mask_of(conditions)
        card.prepare(values, {}, {})
        assert card.readout(values, {}, {}) == "Computing…"
        card.show(results, work)
        for method in WEIGHT_METHODS:
            curve, drawn = card.figure.sources[method].data, share_meeting(results[method, x], mask)
            at = list(curve["epsilon"]).index(x)
            assert [curve[c][at] for c in ("mean", "low", "high")] == pytest.approx(
                [drawn.mean(), *np.quantile(drawn, [0.05, 0.95])]
            )
        assert card.figure.sources["truth"].data["y"][0] == pytest.approx(share_meeting(both["private"], mask))
        assert card.figure.sources["unweighted"].data["y"][0] == pytest.approx(share_meeting(both["public"], mask))
        said = card.readout(values, {}, results)
        answered = share_meeting(results["moments", WORKER], mask).mean()
        assert f"<b>{100 * answered:.1f}%</b>" in said
        assert text.what_is_asked("census", conditions) in said
    assert card.figure.marker.location == values.epsilon
    card.clear()
    assert list(card.figure.sources["truth"].data["y"]) == []


def test_other_data_sets_and_an_empty_question_are_refused_in_words():
    card, (_page, values) = WeightsQueryCard(), page_at(dataset="toy")
    assert "toy has no split into a private and a public table" in card.refusal(values, {})
    assert card.refusal(replace(values, dataset="census"), {}) == ""
    assert "no condition is chosen" in card.refusal(replace(values, dataset="adult", publish_query=[]), {})
