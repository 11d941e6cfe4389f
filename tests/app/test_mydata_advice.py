"""Advice in words: what is best at each ε, the risk, too few records, and the next step."""

import re

import numpy as np
import pytest
import uploaded_tables
from dpml_app.drawing.styles import style_of
from dpml_app.pages.mydata.advice import EPSILONS, advice_html
from dpml_app.pages.mydata.advice_card import AdviceCard, AdviceFigure

from dpml.methods import method
from dpml.studies import Advice, advise, advised

REST = {"se": 0.001, "candidates": 4, "guess": 0.7, "test_error": 0.01}


def one(epsilon, mean, low, method="auto", equal=1):
    return Advice(epsilon=epsilon, method=method, mean=mean, low=low, high=mean + 0.01, equal=equal, **REST)


def plain(text):
    return re.sub(r"<[^>]+>", " ", text).replace("\N{NO-BREAK SPACE}", " ")


def test_the_next_step_is_the_smallest_epsilon_that_is_as_good():
    found = {0.1: one(0.1, 0.72, 0.65), 0.5: one(0.5, 0.85, 0.83, "binned", 3), 2.0: one(2.0, 0.855, 0.85)}
    said = plain(advice_html(found))
    assert "too few records" in said
    assert "naive Bayes, binned counts (or 2 more)" in said
    assert re.search(r"try\s+ε = 0\.5\s+with naive Bayes, binned counts: it is right for 85\.0 %", said)
    assert "no ε here gives more than 85.5 %" in said
    assert "52.5 times in 100" in said
    assert "standard error of each number is up to 1.0 %" in said


def test_too_few_records_everywhere_is_said_with_what_helps():
    found = {epsilon: one(epsilon, 0.7, 0.6) for epsilon in EPSILONS}
    said = plain(advice_html(found))
    assert "Too few records" in said
    assert "collect more" in said
    assert "try" not in said


def test_what_has_not_come_yet_is_shown_as_coming():
    said = plain(advice_html({0.1: one(0.1, 0.8, 0.78)}))
    assert "Computing" in said
    assert said.count("…") == 3


def test_the_figure_has_every_method_at_each_epsilon_with_its_interval():
    data = uploaded_tables.made().data
    found = {e: advise(data, e, draws=4, rng=np.random.default_rng(0)) for e in EPSILONS}
    card = AdviceCard()
    for number in range(1, len(found) + 1):
        card.tell(dict(list(found.items())[:number]))
        for source in card.figure.sources.values():
            assert source.data["epsilon"] == [f"{e:g}" for e in EPSILONS[:number]]
    for name, source in card.figure.sources.items():
        told_of = [next(one for one in found[e].methods if one.method == name) for e in EPSILONS]
        for column in ("mean", "low", "high"):
            assert source.data[column] == [getattr(one, column) for one in told_of]
        assert source.data["as_good"] == ["yes" if one.equal else "no" for one in told_of]
        assert source.data["method"] == [style_of(name).label] * len(EPSILONS)
    assert card.figure.guess.data["right"] == [pytest.approx(found[0.1].guess)]
    # what is best in words is filled in the picture
    for place, epsilon in enumerate(EPSILONS):
        assert card.figure.sources[found[epsilon].method].data["as_good"][place] == "yes"
    card.clear()
    assert not card.known
    for source in (*card.figure.sources.values(), card.figure.guess):
        assert {len(column) for column in source.data.values()} == {0}


def test_words_and_figure_know_every_method_that_is_compared():
    assert tuple(AdviceFigure().sources) == advised()
    for name in advised():
        assert method(name).phrase.casefold().endswith(style_of(name).label.casefold())
