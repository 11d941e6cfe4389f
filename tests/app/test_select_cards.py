"""The page Feature selection shows the library's numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.core.card import IMMEDIATE
from dpml_app.data.measures import expected_best
from dpml_app.data.measures import facts as facts_of
from dpml_app.pages.select import compute as own
from dpml_app.pages.select import text as texts
from dpml_app.pages.select.compute import SELECTOR_STYLES, SELECTORS, SelectValues
from dpml_app.pages.select.figures import ChosenFigure
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


# ---- probabilities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", own.KINDS)
def test_inclusion_is_the_selector_s(toy, kind, relation):
    data, exact = toy
    weights = MaskSelector(0.3, 6, kind, relation=relation).weight(data.schema) * scores_from_counts(exact, kind)
    assert own.inclusion("toy", kind, relation, 0.3, 6) == pytest.approx(inclusion_probabilities(weights, 6), abs=1e-12)


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
    result = {("best", 0): np.array([0.7, 0.8])}
    card.show(values, facts, result, result)
    data = card.figure.sources["best"].data
    assert data["mean"].tolist() == [0.75, 0.75]
    assert data["n_features"][0] < 1 < facts.n_features < data["n_features"][-1]
    shown = {item.label.value for item in card.figure.legend.model.items}
    assert {"Joint mechanism, by counts", "BestSelector"} < shown
    assert "Masks, by counts" not in shown


def test_rows_are_the_best_features_and_means_of_the_others():
    facts, figure = facts_of("toy"), ChosenFigure()
    chances = {kind: np.linspace(0, 0.9, 40) for kind in own.KINDS}
    order = own.places(facts.scores["count"])
    figure.show(facts, "count", chances, 30)
    rows = figure.rows.data
    assert rows["name"][:20] == [facts.names[i] for i in order[:20]]
    assert rows["name"][20:] == ["mean of 21 to 30", "mean of 31 to 40"]
    assert rows["count"][:20] == pytest.approx(chances["count"][order[:20]])
    for column, of in (("count", np.mean), ("count_low", np.min), ("count_high", np.max)):
        assert rows[column][21] == pytest.approx(of(chances["count"][order[30:]]))
    assert (figure.cut.location, figure.chance.location) == (21.5, 30 / 40)
    assert figure.plot.x_range.end == pytest.approx(1.02)
    # one of 40: the axis ends where the largest probability is in sight
    figure.show(facts, "count", {kind: np.full(40, 1 / 40) for kind in own.KINDS}, 1)
    assert figure.plot.x_range.end == pytest.approx(1.02 * 0.05)


# ---- texts --------------------------------------------------------------------------------------------------------


def test_headline_counts_the_best_features_and_sensitivities_compare_scores():
    facts = SimpleNamespace(
        n_features=4,
        scores={"count": np.array([4.0, 3.0, 2.0, 1.0]), "mutual_information": np.array([0.1, 0.2, 0.0, 0.0])},
        unit={("count", "add-remove"): 1.0, ("mutual_information", "add-remove"): 0.1},
    )
    values = SelectValues.of(Settings(epsilon=1.0, n_features=2))
    said = texts.headline(values, facts, {("count", IMMEDIATE): np.array([0.9, 0.6, 0.3, 0.2])})
    assert "By counts, private selection finds on average <b>1.5</b> of the 2 best features (chance: 1.0)" in said
    assert "It spends ε = 0.5." in said
    everything = {("count", IMMEDIATE): np.ones(4)}
    assert "All 4 features" in texts.headline(SelectValues.of(Settings(n_features=4)), facts, everything)
    compared = texts.sensitivities(values, facts)
    assert "mutual information <b>2</b>, counts <b>3</b>" in compared
