"""The advice of My data."""

import re
from dataclasses import replace

import numpy as np
import pytest
import uploaded_tables
from dpml_app.drawing.styles import phrase_of, style_of
from dpml_app.pages.mydata.compute import ADVICE_EPSILONS as EPSILONS
from dpml_app.pages.mydata.figures import AdviceCard
from dpml_app.pages.mydata.text import advice_html

from dpml.studies import Advice, Signal, advise, advised

REST = {"se": 0.001, "candidates": 4, "guess": 0.7, "test_error": 0.01}


def one(epsilon, mean, low, method="auto", equal=1):
    return Advice(epsilon=epsilon, method=method, mean=mean, low=low, high=mean + 0.01, equal=equal, **REST)


def plain(text):
    return re.sub(r"<[^>]+>", " ", text).replace("\N{NO-BREAK SPACE}", " ")


def test_the_next_step_is_the_smallest_epsilon_that_is_as_good():
    found = {0.1: one(0.1, 0.72, 0.65), 0.5: one(0.5, 0.85, 0.83, "binned", 3), 2.0: one(2.0, 0.855, 0.85)}
    said = plain(advice_html(found))
    assert re.search(r"AutoClassifier\s+72\.0%.*too few records", said)
    assert "naive Bayes, binned counts (or 2 more)" in said
    assert re.search(r"Start with\s+ε = 0\.5\s+and naive Bayes, binned counts: accuracy 85\.0", said)
    assert "The highest accuracy at any ε in this table is 85.5%" in said
    assert "attack accuracy up to 52.5%" in said
    assert "standard error of up to 1.0%" in said


@pytest.mark.parametrize(
    ("signal", "verdict", "step"),
    [
        (Signal(0.82, 0.7, 0.0), "too few records", "Collect more"),
        (Signal(0.71, 0.7, 0.4), "no signal", "more records would not help"),
        (Signal(0.7, 0.7, 0.0), "no better than the majority-class baseline", "AUC"),
    ],
)
def test_where_nothing_is_better_than_a_guess_the_reason_is_said_and_a_method_is_still_named(signal, verdict, step):
    found = {epsilon: replace(one(epsilon, 0.7, 0.6), signal=signal) for epsilon in EPSILONS}
    said = plain(advice_html(found))
    assert said.count(verdict) == len(EPSILONS) + (verdict in said.split("Best method")[0])
    assert said.count("AutoClassifier") == len(EPSILONS)
    assert step in said
    assert "try" not in said
    assert f"has {100 * signal.accuracy:.1f}% accuracy, the majority-class baseline 70.0%" in said


def test_an_estimate_is_shown_as_one_until_it_is_measured():
    found = {epsilon: replace(one(epsilon, 0.8, 0.78), estimated=epsilon > 0.1) for epsilon in EPSILONS}
    said = plain(advice_html(found))
    assert said.count("≈") == 3
    assert "first estimate" in said
    assert "estimate" not in plain(advice_html({e: replace(each, estimated=False) for e, each in found.items()}))
    assert "Estimating" in plain(advice_html({}))


def test_the_figure_has_every_method_at_each_epsilon_with_its_interval():
    data = uploaded_tables.made().data
    found = {e: advise(data, e, draws=4, rng=np.random.default_rng(0)) for e in EPSILONS}
    card = AdviceCard()
    for number in range(1, len(found) + 1):
        card.tell(dict(list(found.items())[:number]))
        for source in map(card.figure.sources.get, advised()):
            assert tuple(source.data["epsilon"]) == EPSILONS[:number]
    for name in advised():
        source = card.figure.sources[name]
        told_of = [next(one for one in found[e].methods if one.method == name) for e in EPSILONS]
        for column in ("mean", "low", "high"):
            assert list(source.data[column]) == [getattr(one, column) for one in told_of]
        assert list(source.data["label"]) == [style_of(name).label] * len(EPSILONS)
    assert card.figure.sources["guess"].data["y"] == (found[2.0].guess,) * 2
    assert card.figure.sources["non-private"].data["y"] == (found[2.0].signal.accuracy,) * 2
    assert card.figure.plot.y_range.start < found[2.0].guess
    card.clear()
    assert not card.text.object
    for source in card.figure.sources.values():
        assert {len(column) for column in source.data.values()} == {0}


def test_words_name_every_advised_method():
    for name in advised():
        assert phrase_of(name).casefold().endswith(style_of(name).label.casefold())
