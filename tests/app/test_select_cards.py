"""The page Feature selection shows the library's numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE
from dpml_app.data.measures import expected_best
from dpml_app.data.measures import facts as facts_of
from dpml_app.pages.select import compute as own
from dpml_app.pages.select import text as texts
from dpml_app.pages.select.compute import CALIBRATIONS, SELECTOR_STYLES, SELECTORS, SelectValues
from dpml_app.pages.select.figures import ChosenFigure, coins_tables
from dpml_app.pages.select.page import AccuracyCard
from dpml_app.state import Settings

from dpml.classifiers import BernoulliNB
from dpml.counts import contingency
from dpml.datasets import load
from dpml.registry import method
from dpml.selection import MaskSelector, PublishedSelector, inclusion_probabilities, scores_from_counts
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
    cost = own.actual_epsilon("toy", kind, calibration, relation, 0.3, 6)
    if calibration == "published":
        assert 0 < cost <= 0.3 * (1 + 1e-12)
    else:
        assert cost == pytest.approx(selector.cost(data.schema))
    assert (cost > 0.3 * (1 + 1e-9)) == (calibration == "per-feature")


def test_actual_epsilon_is_the_largest_log_ratio_of_masks():
    # with K = min(T, D - T) = 20 the range of the count score is 20 and Δ = 1
    found = {c: own.actual_epsilon("toy", "count", c, "add-remove", 0.05, 20) for c in CALIBRATIONS}
    assert found == pytest.approx({"range": 0.05, "published": 0.025, "per-feature": 0.5})
    # under replace-one the range is 40 and Δ = 2
    assert own.actual_epsilon("toy", "count", "per-feature", "replace-one", 0.05, 20) == pytest.approx(0.5)
    assert own.actual_epsilon("toy", "count", "range", "add-remove", 0.05, 40) == 0


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
    assert expected_best(scores, p, 2) == pytest.approx(0.9 + (0.6 + 0.3) / 2)


# ---- accuracy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", SELECTORS)
def test_accuracy_of_each_selector(toy, selector):
    data, exact = toy
    arguments = ("toy", "add-remove", 1.0, 0.4, 5, 10, 2)
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


def test_wrong_lists_are_named_and_good_ones_taken():
    settings = Settings()
    (problem,) = settings.assign({"select_methods": ["joint", "luck"]})
    assert "some of mask-count" in problem
    assert settings.select_methods == ["mask-count", "mask-mi", "exact"]
    assert settings.assign({"select_methods": ["joint"]}) == []
    assert settings.select_methods == ["joint"]


def test_accuracy_words_name_the_best_of_those_tried():
    found = {"joint": {1: np.array([0.6]), 5: np.array([0.8])}, "all": {0: np.array([0.85])}}
    found[texts.WITHOUT] = {"soon": np.array([0.9])}
    said = texts.accuracy_readout(SimpleNamespace(select_methods=["joint"]), found)
    assert texts.percent(0.8) in said
    assert "at T = 5" in said
    # of the same model: another one's may lie below what is reached with privacy
    assert f"Non-private naive Bayes, all features: {texts.percent(0.9)}" in said
    assert "privacy cost 5.0 points" in said
    assert texts.accuracy_readout(SimpleNamespace(select_methods=[]), {}) == "Computing…"
    marked = texts.accuracy_readout(SimpleNamespace(select_methods=["exact"]), {"exact": {1: np.array([0.6])}})
    assert texts.NOT_PRIVATE in marked


# ---- figures ------------------------------------------------------------------------------------------------------


def test_level_lines_reach_over_the_whole_axis():
    card, facts = AccuracyCard(), facts_of("toy")
    values = SelectValues.of(Settings(dataset="toy", select_methods=["joint"]))
    card.lay_out(facts)
    card.prepare(values, facts, {})
    result = {("best", 0): np.array([0.7, 0.8])}
    card.show(result, result)
    data = card.figure.sources["best"].data
    assert data["mean"].tolist() == [0.75, 0.75]
    assert data["n_features"][0] < 1 < facts.n_features < data["n_features"][-1]
    shown = {item.label.value for item in card.figure.legend.model.items}
    assert {"Joint mechanism, by counts", "BestSelector"} < shown
    assert "Masks, by counts" not in shown


def test_samples_follow_their_probabilities():
    setting = ("toy", "count", "range", "add-remove", 1.0, 22)
    masks = np.array([own.one_set(*setting, seed) for seed in range(400)])
    assert (masks.sum(axis=1) == 22).all()
    # 400 samples: five standard errors, of 40 features at once
    assert np.abs(masks.mean(axis=0) - own.inclusion(*setting)).max() < 5 * 0.5 / 20


def test_rows_are_the_best_features_and_means_of_the_others():
    facts, figure = facts_of("toy"), ChosenFigure()
    chances = {kind: np.linspace(0, 0.9, 40) for kind in own.KINDS}
    order = own.places(facts.scores["count"])
    mask = np.isin(np.arange(40), [*order[:29], order[35]])
    figure.show(facts, "count", chances, mask)
    rows = figure.rows.data
    assert rows["name"][:20] == [facts.names[i] for i in order[:20]]
    assert rows["name"][20:] == ["mean of 21 to 30", "mean of 31 to 40"]
    assert rows["count"][:20] == pytest.approx(chances["count"][order[:20]])
    for column, of in (("count", np.mean), ("count_low", np.min), ("count_high", np.max)):
        assert rows[column][21] == pytest.approx(of(chances["count"][order[30:]]))
    assert figure.sample.data["outcome"] == ["hit"] * 20 + ["", ""]
    assert figure.sample.data["text"][20:] == ["9 of 10", "1 of 10"]
    assert (figure.cut.location, figure.chance.location) == (21.5, 30 / 40)
    assert figure.plot.x_range.end == pytest.approx(1 / 0.82)
    # one of 40: the axis ends where the largest probability is in sight
    small = {kind: np.full(40, 1 / 40) for kind in own.KINDS}
    figure.show(facts, "count", small, np.arange(40) == order[0])
    assert figure.plot.xaxis[0].ticker.ticks[-1] == pytest.approx(0.05)


def test_coins_are_drawn_in_units_of_sensitivity():
    facts = facts_of("toy")
    coins = {k: own.coins("toy", k, "published", "replace-one", 0.2, 7) for k in own.KINDS}
    tables = coins_tables(facts, "replace-one", coins)
    for kind in own.KINDS:
        drawn, order = tables[kind], own.places(facts.scores[kind])
        assert list(drawn["coin"]) == coins[kind][order].tolist()
        steps = (facts.scores[kind] - facts.scores[kind].min()) / facts.unit[kind, "replace-one"]
        assert drawn["units"] == pytest.approx(np.maximum(steps[order], 0.1))


# ---- texts --------------------------------------------------------------------------------------------------------


def headline(mask, **settings):
    facts = SimpleNamespace(n_features=4, scores={"count": np.array([4.0, 3.0, 2.0, 1.0])})
    values = SelectValues.of(Settings(epsilon=1.0, **{"n_features": 2, **settings}))
    costs = {"range": 0.5, "published": 0.2, "per-feature": 2.5}
    results = {"set": np.array(mask, bool), "count": np.full(4, 0.5), "cost": costs[values.select_calibration]}
    return texts.headline(values, facts, {(name, IMMEDIATE): result for name, result in results.items()})


def test_headline_counts_hits_and_states_the_actual_epsilon():
    said = headline([1, 0, 1, 0])
    assert "<b>1</b> of the 2 best features (●), 1 missed (○), 1 others (×)" in said
    assert "On average 1.0 (chance: 1.0). Selection spends ε = 0.5.</p>" in said
    assert "One sample by counts: <b>the best feature</b> (●). On" in headline([1, 0, 0, 0], n_features=1)
    assert "<b>another feature</b> (×)" in headline([0, 1, 0, 0], n_features=1)
    broken = headline([1, 0, 1, 0], select_calibration="per-feature")
    assert f"ε = 0.5 as stated, but actual ε = <b>2.5</b>: {texts.NOT_PRIVATE}" in broken
    assert "features are selected" in headline([1, 1, 1, 1], n_features=4)


def test_coins_readout_compares_sensitivities():
    facts, values = facts_of("toy"), SimpleNamespace(relation="add-remove", select_calibration="range")
    said = texts.coins_readout(facts, values, {k: np.array([0.4, 0.6]) for k in own.KINDS})
    steps = {k: np.ptp(facts.scores[k]) / facts.unit[k, "add-remove"] for k in own.KINDS}
    for value in steps.values():
        assert f"<b>{texts.number(value)}</b> sensitivities" in said
    assert f"ε/{texts.number(steps['count'] / steps['mutual_information'])}" in said


def test_page_states_the_actual_epsilon(alone):
    alone.enter("select", "&dataset=toy&n_features=20&epsilon=0.1&select_calibration=per-feature&select_threshold=0.25")
    assert "Selection spends ε = 0.05 as stated, but actual ε = 0.5: not private" in alone.text
    # a setting of earlier versions
    assert "select_threshold: unknown setting" in " ".join([*alone.faults, *alone.alerts])
