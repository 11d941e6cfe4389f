"""What the Select page computes is what the library does, and its keys and words hold what they should."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.data import measures as shared
from dpml_app.pages.select import compute as own
from dpml_app.pages.select import words as select_words
from dpml_app.pages.select.figures import RULE_STYLES, SELECTOR_STYLES, AccuracyFigure, F1Figure
from dpml_app.pages.select.settings import CALIBRATIONS, SCORES, SELECTORS, THRESHOLDS
from dpml_app.state import Settings
from dpml_app.work.cache import Cache
from dpml_app.work.pool import Task

from dpml.classifiers import BernoulliNB
from dpml.counts import contingency
from dpml.datasets import load
from dpml.evaluation import expected_f1, selection_quality
from dpml.registry import method
from dpml.selection import (
    MaskSelector,
    NoisyScoreSelector,
    PublishedSelector,
    change_range,
    inclusion_probabilities,
    scores_from_counts,
)
from dpml.studies.accuracy import SelectionStudy

RELATIONS = ("add-remove", "replace-one")


@pytest.fixture(scope="module")
def toy():
    data = load("toy")
    return data, contingency(data.X_train, data.y_train, 2)


# ---- masks and coins ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", own.KINDS)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_inclusion_and_cost_are_the_selector_s(toy, kind, calibration, relation):
    data, exact = toy
    selector = MaskSelector(0.3, 6, kind, calibration=calibration, relation=relation)
    weights = selector.weight(data.schema) * scores_from_counts(exact, kind)
    p = own.inclusion("toy", kind, calibration, relation, 0.3, 6)
    assert p == pytest.approx(inclusion_probabilities(weights, 6), abs=1e-12)
    cost = own.true_cost("toy", kind, calibration, relation, 0.3, 6)
    if calibration == "published":
        assert 0 < cost <= 0.3 * (1 + 1e-12)
    else:
        assert cost == pytest.approx(selector.cost(data.schema))
    assert (cost > 0.3 * (1 + 1e-9)) == (calibration == "per-feature")


def test_true_cost_is_the_largest_log_ratio_of_masks():
    # Antonova's weights for each feature, by hand: with K = min(T, D - T) = 20 the counts' range is 20, Δ = 1
    assert own.true_cost("toy", "count", "per-feature", "add-remove", 0.05, 20) == pytest.approx(0.5)
    assert own.true_cost("toy", "count", "published", "add-remove", 0.05, 20) == pytest.approx(0.025)
    # under replace-one the range is 40 and Δ = 2
    assert own.true_cost("toy", "count", "per-feature", "replace-one", 0.05, 20) == pytest.approx(0.5)
    assert own.true_cost("toy", "count", "range", "add-remove", 0.05, 40) == 0


def test_coin_is_even_at_place_t_plus_one(toy):
    _, exact = toy
    scores = scores_from_counts(exact, "count")
    coins = own.coins("toy", "count", "per-feature", "add-remove", 0.1, 5)
    sixth = np.sort(scores)[::-1][5]
    assert coins == pytest.approx(1 / (1 + np.exp(-0.05 * (scores - sixth))))
    assert (coins[scores == sixth] == 0.5).all()


def test_expected_best_is_that_of_all_masks():
    scores, p = np.array([4.0, 3.0, 3.0, 1.0]), np.array([0.9, 0.6, 0.3, 0.2])
    # the two best are the first and one of the two that share place two, each as likely
    assert own.expected_best(scores, p, 2) == pytest.approx(0.9 + (0.6 + 0.3) / 2)


def test_feature_is_that_of_the_table(toy):
    data, exact = toy
    found = own.feature("toy", 3, "add-remove")
    column = np.asarray(data.X_train[:, 3]).ravel()
    for c in (0, 1):
        assert found["on"][c] == column[data.y_train == c].sum()
        assert found["off"][c] == (1 - column[data.y_train == c]).sum()
    for kind in own.KINDS:
        scores = scores_from_counts(exact, kind)
        assert found["score"][kind] == scores[3]
        assert found["place"][kind] == 1 + (scores > scores[3]).sum()
        assert found["range"][kind] == change_range(kind, "add-remove", 40, n_rows=1000)


# ---- F1 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_f1_is_that_of_the_selector_s_masks(toy, relation):
    data, exact = toy
    threshold = 0.25 * data.schema.n_lower
    truth = scores_from_counts(exact, "total_count") >= threshold
    assert 0 < truth.sum() < 40
    masks = NoisyScoreSelector(0.1, score="total_count", threshold=threshold, relation=relation).masks(
        exact, data.schema, draws=30, rng=np.random.default_rng(4)
    )
    found = own.f1("perturbation", "toy", relation, "total_count", 0, 0.1, 0.25, 0, 30, 4)
    assert found == pytest.approx(selection_quality(truth, masks)["f1"])
    assert len(np.unique(found)) > 1


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("share", THRESHOLDS)
def test_exact_f1_of_masks_on_both_sides_of_half(toy, score, share):
    data, exact = toy
    scores = scores_from_counts(exact, score)
    truth = scores >= own.threshold_of(data.schema.n_lower, score, share)
    T = int(truth.sum())
    found = own.f1("mask", "toy", "add-remove", score, 0, 0.7, share, 0, 0, 0)
    weight = MaskSelector(0.7, max(T, 1), score).weight(data.schema)
    assert found == pytest.approx([expected_f1(truth, inclusion_probabilities(weight * scores, T))], abs=1e-9)


def test_exact_f1_is_the_mean_over_all_masks(monkeypatch):
    # four features of which two are true: all six masks by hand
    scores, weight = np.array([5.0, 4.0, 2.0, 1.0]), 0.5
    masks = [np.isin(np.arange(4), pair) for pair in itertools.combinations(range(4), 2)]
    chances = np.exp([weight * scores[m].sum() for m in masks])
    mean = np.dot(chances, [2 * m[:2].sum() / 4 for m in masks]) / chances.sum()
    monkeypatch.setattr(own, "scores_from_counts", lambda counts, kind: scores)
    monkeypatch.setattr(MaskSelector, "weight", lambda self, schema: weight)
    found = own._exact_f1(np.array([True, True, False, False]), None, None, 1.0, "count", {})
    assert found == pytest.approx([mean])


def test_f1_of_cut_records_is_against_the_whole_ones(toy):
    data, exact = toy
    truth = scores_from_counts(exact, "total_count") >= 0.25 * data.schema.n_lower
    # huge ε: what is chosen is what reaches τ in the cut records, and that is less
    found = own.f1("threshold-testing", "toy", "add-remove", "total_count", 3, 1e6, 0.25, 0, 20, 0)
    whole = own.f1("threshold-testing", "toy", "add-remove", "total_count", 0, 1e6, 0.25, 0, 20, 0)
    assert whole == pytest.approx(np.ones(20))
    cut = own._counts("toy", 3, 0)
    assert cut.on.shape == (own.SUBSAMPLES, 2, 40)
    reach = scores_from_counts(cut, "total_count") >= 0.25 * data.schema.n_lower
    assert found == pytest.approx(np.tile(selection_quality(truth, reach)["f1"], 2))
    assert found.max() < 1


@pytest.mark.parametrize("rule", [r for r in own.RULES if r != "mask"])
def test_rule_draws_by_its_seed_and_says_if_it_is_not_private(rule):
    score = "total_count"
    arguments = ("toy", "add-remove", score, 0, 0.5, 0.25, 10, 12)
    first = own.f1(rule, *arguments, 3)
    assert first.shape == (12,)
    assert (own.f1(rule, *arguments, 3) == first).all()
    assert ((first >= 0) & (first <= 1)).all()
    private = method(rule, "selector").kind.private
    style = RULE_STYLES[rule]
    assert (style.dash == "dashed") == (not private) == style.label.endswith(": not private")


def test_too_many_features_leave_a_gap_and_no_value(monkeypatch):
    monkeypatch.setattr(own, "MOST_STEPS", 10)
    assert np.isnan(own.f1("mask", "toy", "add-remove", "total_count", 0, 1.0, 0.25, 0, 0, 0)).all()


def test_true_numbers_fall_and_clusters_are_of_total_counts():
    for score in SCORES:
        numbers = own.true_numbers("toy", score)
        assert len(numbers) == len(THRESHOLDS)
        assert (np.diff(numbers) <= 0).all()
        assert ("clusters" in own.rules_of(score)) == (score == "total_count")
    assert set(RULE_STYLES) == set(own.RULES)


# ---- accuracy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", SELECTORS)
def test_accuracy_of_each_selector(toy, selector):
    data, exact = toy
    arguments = ("toy", "add-remove", 1.0, 0.4, 5, 0, 10, 2)
    found = own.accuracy(selector, *arguments)
    assert found.shape == (10,)
    assert (own.accuracy(selector, *arguments) == found).all()
    rng = np.random.default_rng(2)
    private = True
    if selector == "exact":
        order = np.argsort(-scores_from_counts(exact, "mutual_information"), kind="stable")[:5]
        columns = np.sort(order)
        model = BernoulliNB(0.6, schema=data.schema.subset(columns), random_state=rng)
        model.fit(data.X_train[:, columns], data.y_train)
        assert found[0] == model.score(data.X_test[:, columns], data.y_test)
        private = False
    else:
        made = method(selector, "selector").make(1.0, n_features=1)
        private = made.private
        whole = SelectionStudy(data, made)(1.0, draws=10, rng=rng, selection_share=0.4, n_features=5)
        assert found == pytest.approx(whole["accuracy"])
    style = SELECTOR_STYLES[selector]
    assert (style.dash == "dashed") == (not private) == style.label.endswith(": not private")


def test_best_selector_is_drawn_afresh_and_by_its_seed():
    first = own.best("toy", "add-remove", 1.0, 12, 0)
    assert first.shape == (12,)
    assert len(np.unique(first)) > 1
    assert (own.best("toy", "add-remove", 1.0, 12, 0) == first).all()
    assert (own.best("toy", "add-remove", 1.0, 12, 1) != first).any()


def test_ladder_leaves_all_features_out():
    assert own.selector_ladder(40)[-1] < 40
    assert own.selector_ladder(8444)[-1] == 100
    assert isinstance(method("iterative", "selector").make(1.0, n_features=1), PublishedSelector)  # which needs T < D


# ---- keys, settings, words ----------------------------------------------------------------------------------------


def test_functions_of_one_name_have_results_of_their_own():
    assert Task(shared.facts, ("toy",)).key != Task(own.facts, ("toy",)).key
    cache = Cache()
    assert not hasattr(cache.call(shared.facts, "toy"), "step")
    assert hasattr(cache.call(own.facts, "toy"), "step")


def test_wrong_lists_are_named_and_good_ones_taken():
    settings = Settings()
    (problem,) = settings.assign({"select_methods": ["joint", "luck"]})
    assert "some of mask-count" in problem
    assert settings.select_methods == ["mask-count", "mask-mi", "exact"]
    assert settings.assign({"select_methods": ["joint"]}) == []
    assert settings.select_methods == ["joint"]


def test_fit_lowers_feature_and_row_bound():
    settings = Settings(select_feature=90, select_row_bound=12)
    assert len(settings.fit(24, 3)) == 2
    assert (settings.select_feature, settings.select_row_bound) == (24, 3)


def test_f1_words_keep_private_and_other_methods_apart():
    values = SimpleNamespace(select_score="total_count", select_threshold=0.04)
    found = {"perturbation": np.array([0.5, 0.7]), "noisy-cut": np.array([0.9]), "mask": np.array([np.nan])}
    text = select_words.f1_words(values, 5000, 7, found)
    before, after = text.split(select_words.NOT_PRIVATE)
    assert "7 features reach τ = 200 records" in before
    assert "Noisy scores <b>60" in before
    assert "NoisyCut <b>90" in after
    assert "gaps" in after
    assert "Computing" in select_words.f1_words(values, 5000, 7, {})


def test_accuracy_words_name_the_best_of_those_tried():
    found = {"joint": {1: np.array([0.6]), 5: np.array([0.8])}, "all": {0: np.array([0.85])}}
    found[select_words.WITHOUT] = {"soon": np.array([0.9])}
    text = select_words.accuracy_words(SimpleNamespace(select_methods=["joint"]), found)
    assert select_words.percent(0.8) in text
    assert "at T = 5" in text
    # of the same model: another one's may lie below what is reached with privacy
    assert f"Non-private, all features: {select_words.percent(0.9)}" in text
    assert "privacy cost 5.0 points" in text
    assert select_words.accuracy_words(SimpleNamespace(select_methods=[]), {}) == "Computing…"
    marked = select_words.accuracy_words(SimpleNamespace(select_methods=["exact"]), {"exact": {1: np.array([0.6])}})
    assert select_words.NOT_PRIVATE in marked


def test_names_of_features_are_escaped():
    facts = SimpleNamespace(names=["<b>x"], n_features=1)
    kinds = dict.fromkeys(own.KINDS, 1.0)
    found = {
        "score": kinds,
        "range": kinds,
        "place": dict.fromkeys(own.KINDS, 1),
    }
    inclusion = {(k, c): np.array([0.25]) for k in own.KINDS for c in CALIBRATIONS}
    text = select_words.feature_words(facts, 0, found, inclusion)
    assert "&lt;b&gt;x" in text
    assert select_words.percent(0.25, 2) in text


# ---- figures ------------------------------------------------------------------------------------------------------


def test_level_lines_reach_over_the_whole_axis():
    figure = AccuracyFigure()
    figure.show_references(SimpleNamespace(majority=0.6, non_private=0.9), 30)
    figure.show("best", {0: np.array([0.7, 0.8])}, complete=True)
    data = figure.curves["best"].data
    assert list(data["mean"]) == [0.75, 0.75]
    assert data["n_features"][0] < 1 < 30 < data["n_features"][-1]
    figure.name_methods(["joint"])
    visible = {item.label.value for item in figure.legend.model.items if item.visible}
    assert "Joint mechanism, by counts" in visible
    assert "BestSelector" in visible
    assert "Masks, by counts" not in visible


def test_axis_above_counts_true_features():
    figure = F1Figure()
    figure.show_axis([1.0, 10.0, 100.0], [40, 7, 1200], "records")
    assert figure.above.major_label_overrides == {1.0: "40", 10.0: "7", 100.0: "1,200"}
    assert figure.above.ticker.ticks == [1.0, 100.0]
    assert "records" in figure.plot.xaxis[-1].axis_label
