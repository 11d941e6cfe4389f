"""The rows of the Select page and its coins: what is sent to be drawn, one drawn set, and the words beside them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from dpml_app.core.card import IMMEDIATE
from dpml_app.pages.select import compute as own
from dpml_app.pages.select import words as select_words
from dpml_app.pages.select.chosen_figure import ChosenFigures
from dpml_app.pages.select.settings import SelectValues
from dpml_app.state import Settings


def test_figures_show_a_data_set():
    facts = own.facts("toy")
    figures = ChosenFigures()
    figures.show_dataset(facts)
    figures.show_order(facts, "mutual_information")
    figures.mark_feature(4)
    figures.show_setting(facts, "replace-one", "published", 4)
    for kind in own.KINDS:
        order = figures.shown[kind].data["index"]
        assert (np.diff(facts.scores[kind][order]) <= 0).all()
        assert sorted(order) == list(range(40))
        assert figures.now.data[kind] == [facts.unit[kind, "replace-one"]]
        assert figures.now.data[f"{kind}_step"] == [facts.step[kind, "replace-one"]]
    assert figures.now.data["feature"] == [4]
    order = np.argsort(-facts.scores["mutual_information"], kind="stable")
    assert figures.every.data["index"].tolist() == order.tolist()
    assert figures.best.data["index"].tolist() == order[:20].tolist()
    assert figures.mark_row.data["row"].tolist() == ([list(order).index(4) + 1] if 4 in order[:20] else [])


def test_one_set_is_drawn_by_its_probabilities_and_its_rows_are_hits_and_misses():
    facts, setting = own.facts("toy"), ("toy", "count", "range", "add-remove", 1.0, 22)
    masks = np.array([own.one_set(*setting, seed, draw) for seed in range(20) for draw in range(20)])
    assert (masks.sum(axis=1) == 22).all()
    # 400 sets: five standard errors, of 40 features at once
    assert np.abs(masks.mean(axis=0) - own.inclusion(*setting)).max() < 5 * 0.5 / 20
    figures = ChosenFigures()
    figures.show_set(facts, "count", masks[0])
    order = np.argsort(-facts.scores["count"], kind="stable")
    expected = ["hit" if masks[0][i] else "missed" for i in order[:20]]
    assert figures.set.data["outcome"] == [*expected, "", ""]
    assert figures.set.data["text"][20:] == [
        f"{masks[0][order[20:22]].sum()} of 2",
        f"{masks[0][order[22:]].sum()} of 18",
    ]
    few = np.isin(np.arange(40), order[[0, 5]])
    figures.show_set(facts, "count", few)
    assert figures.set.data["outcome"][:7] == ["hit", "missed", "", "", "", "wrong", ""]


def test_headline_says_what_one_set_has_and_what_other_weights_cost():
    facts = SimpleNamespace(n_features=4, scores={"count": np.array([3.0, 2.0, 1.0, 0.0])})
    values = SelectValues.of(Settings(epsilon=1.0, n_features=2))
    costs = {"range": 0.5, "published": 0.1, "per-feature": 2.5}
    results = {"set": np.array([1, 0, 1, 0], bool), "inclusion": np.full(4, 0.5), "costs": costs}
    results = {(name, IMMEDIATE): result for name, result in results.items()}
    text = select_words.headline(values, facts, results)
    assert "<b>1</b> of the 2 best features (●), 1 missed (○), 1 others (×)" in text
    assert "On average 1.0 (chance: 1.0). Selection spends ε = 0.5.</p>" in text
    for mask, said in (
        ([1, 0, 0, 0], "One sample by counts: <b>the best feature</b> (●). On"),
        ([0, 1, 0, 0], "<b>another feature</b> (×)"),
    ):
        one = {**results, ("set", IMMEDIATE): np.array(mask, bool)}
        assert said in select_words.headline(replace(values, n_features=1), facts, one)
    text = select_words.headline(replace(values, select_calibration="per-feature"), facts, results)
    assert f"ε = 0.5 as stated, but actual ε = <b>2.5</b>: {select_words.NOT_PRIVATE}" in text
    assert "features are selected" in select_words.headline(replace(values, n_features=4), facts, results)


def test_words_of_the_choice_state_what_is_paid_and_what_it_costs():
    p, values = np.full(40, 0.5), SimpleNamespace(n_features=20)
    text = select_words.chosen_words("count", 0.05, values, p, 12.34, {"published": 0.025, "per-feature": 2.5})
    assert "Stated ε: <b>0.05</b>. Weights of ε/(2Δ) per feature spend <b>2.5</b>" in text
    assert "<b>12.3</b> of the 20 best features (chance: 10.0)" in text
    assert "spend only 0.025" in text
    same = select_words.chosen_words("count", 0.05, values, p, 12.34, {"published": 0.05, "per-feature": 2.5})
    assert "spend the same" in same
    everything = select_words.chosen_words("count", 0.05, SimpleNamespace(n_features=40), p, 40.0, {})
    assert "reveals nothing" in everything


def test_coin_words_compare_steps():
    facts = own.facts("toy")
    values = SimpleNamespace(relation="add-remove", select_calibration="range")
    found = {k: np.array([0.4, 0.6]) for k in own.KINDS}
    text = select_words.coin_words(facts, values, found)
    steps = {k: np.ptp(facts.scores[k]) / facts.unit[k, "add-remove"] for k in own.KINDS}
    for value in steps.values():
        assert f"<b>{select_words.number(value)}</b> sensitivities" in text
    assert f"ε/{select_words.number(steps['count'] / steps['mutual_information'])}" in text
