"""The cards of My data: advice, and bounds that are paid for."""

import json
import re
import zipfile
from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import uploaded_tables
from dpml_app.drawing.styles import phrase_of, style_of
from dpml_app.pages.mydata import text as words
from dpml_app.pages.mydata.compute import ADVICE_EPSILONS as EPSILONS
from dpml_app.pages.mydata.compute import Draft
from dpml_app.pages.mydata.figures import AdviceCard
from dpml_app.pages.mydata.text import advice_html
from own_session import release, say

from dpml.mechanisms import PrivateBounds
from dpml.schema import Schema
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
    card = AdviceCard(lambda: None)
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


# ---- bounds that are paid for ----------------------------------------------------------------------------------------


def spenders(n=3000):
    """Return a table with two numbers whose names say no bounds."""
    rng = np.random.default_rng(3)
    spent, visits = rng.lognormal(4, 1, n), rng.poisson(6, n)
    return pd.DataFrame({"spent": spent, "visits": visits, "age": 40, "left": np.where(spent < 50, "no", "yes")})


@pytest.fixture
def with_table(session):
    def make(table=None):
        one = session()
        one.upload((spenders() if table is None else table).to_csv(index=False).encode())
        return one

    return make


def pay(one, epsilon=0.1, which=None):
    card = one.page.paid
    one.do(lambda: setattr(card.epsilon, "value", epsilon))
    if which is not None:
        one.do(lambda: setattr(card.which, "value", which))
    one.do(lambda: card.button.param.trigger("clicks"))
    return card


def sources(one, column):
    return {fact["fact"]: fact["source"] for fact in one.page.facts.rows.of(column)["facts"]}


def test_bounds_are_paid_for_once_and_stand_in_the_table_as_private_bounds(with_table):
    one = with_table()
    card, draft = one.page.paid, one.page.draft
    assert card.inside.visible
    assert list(card.which.options) == ["all 2 columns without public bounds", "spent", "visits"]
    assert "ε = 0.1 of the 1 left" in card.button.label
    assert "You state that these columns contain numbers, whole numbers in visits.</p>" in card.about.object
    assert sources(one, "spent") == {"lower": "proposed", "upper": "proposed"}
    pay(one, 0.3)
    assert one.page.release.budget.ledger[["label", "epsilon"]].to_numpy().tolist() == [
        ["facts of 'spent', 'visits'", 0.3]
    ]
    assert "bounds for 2 of 2 columns" in card.said.object
    assert sources(one, "spent") == {"lower": "paid", "upper": "paid"}
    assert one.page.facts.rows.of("spent")["facts"][0]["first"] == "paid"
    visits = draft.schema().features[1]
    assert (visits.paid, visits.data_derived) == (("lower", "upper"), ())
    assert float(visits.upper).is_integer()
    assert 3 <= draft.columns["spent"].lower < draft.columns["spent"].upper < 5000
    # nothing is left to be paid for, and the button pays nothing more
    assert card.which.options == {}
    assert not card.inside.visible
    one.do(card.start)
    assert len(one.page.release.budget.ledger) == 1
    assert one.page.release.total.disabled


def test_a_bound_that_is_stated_after_it_was_paid_for_is_stated(with_table):
    one = with_table()
    pay(one, 0.3, ("spent",))
    one.edit("spent", "upper", "900")
    assert sources(one, "spent") == {"lower": "paid", "upper": "stated"}
    one.edit("spent", "lower", source="stated")
    assert sources(one, "spent") == {"lower": "paid", "upper": "stated"}


def test_what_study_runs_find_is_shown_before_and_costs_nothing(with_table):
    one = with_table()
    text = one.page.paid.text.object
    assert "Simulated bounds" in text
    assert "<th scope='row'>spent</th>" in text
    assert one.page.release.budget is None
    one.do(lambda: setattr(one.page.paid.epsilon, "value", 0.01))
    assert "hidden by noise" in one.page.paid.text.object
    wide = words.bounds_preview(spenders(), ["spent"], 0.05)
    assert wide != words.bounds_preview(spenders(), ["spent"], 3.0)


def test_no_more_is_paid_than_is_left_and_a_name_of_the_table_is_text(with_table):
    assert "&lt;b&gt;" in words.bounds_preview(spenders().rename(columns={"spent": "<b>"}), ["<b>"], 1.0)
    one = with_table()
    pay(one, 1.0, ("spent",))
    assert one.page.release.left == 0
    card = pay(one, 0.3)
    assert card.button.disabled
    assert card.button.label == "Only ε = 0 is left"
    one.do(card.start)
    assert one.page.release.budget.spent == 1.0
    one.do(one.page.drop)
    assert not card.inside.visible
    assert not card.said.object
    assert one.page.release.budget.spent == 1.0


def test_noise_that_hides_a_column_costs_and_says_so(with_table):
    one = with_table(spenders(30))
    # noise makes a column of empty cells stand out in four of a thousand runs
    card = pay(one, 0.01, ("spent",))
    assert "bounds for 0 of 1 columns. Noise hides spent." in card.said.object
    assert one.page.release.budget.spent == 0.01
    assert sources(one, "spent") == {"lower": "proposed", "upper": "proposed"}


def test_bounds_that_are_not_found_stay_a_question_and_say_why(with_table):
    rng = np.random.default_rng(3)
    far, zero = rng.lognormal(size=3000) * 1e30, np.zeros(3000)
    visited = rng.integers(1_700_000_000_000, 1_730_000_000_000, 3000)
    table = spenders().assign(far=far, zero=zero, visited=visited).drop(columns=["spent", "visits"])
    text = words.bounds_preview(table, ["far", "zero", "visited"], 1.0)
    row = "<th scope='row'>{}</th><td colspan='2'>{}"
    assert row.format("far", "beyond ±2e+18: state them yourself</td>") in text
    assert row.format("zero", "hidden by noise") in text
    one = with_table(table[["far", "visited", "age", "left"]])
    card = pay(one, 0.3)
    assert "bounds for 1 of 2 columns." in card.said.object
    assert "Not found: far (beyond ±2e+18: state them yourself)." in card.said.object
    assert sources(one, "far") == {"lower": "proposed", "upper": "proposed"}
    assert sources(one, "visited") == {"lower": "paid", "upper": "paid"}
    column = one.page.draft.columns["visited"]
    assert column.lower <= 1.701e12
    assert column.upper >= 1.729e12


def test_a_release_states_what_its_facts_have_cost(with_table):
    one = with_table()
    pay(one, 0.25)
    one.confirm()
    one.use()
    one.do(one.page.release.enter)
    say(one, epsilon=0.5)
    assert "Privacy budget ε = 1: <b>0.25</b> spent" in one.page.release.spent.object
    release(one)
    [done] = one.page.release.done
    with zipfile.ZipFile(BytesIO(done.files["release-1.zip"][1])) as files:
        texts = {name.rpartition("/")[2]: files.read(name) for name in files.namelist()}
    ledger = json.loads(texts["ledger.json"])
    first = ledger["charges"][0]
    assert (first["part"], first["epsilon"], first["noise"]) == ("facts", 0.25, "integer Laplace noise")
    assert first["released"] == "bounds of spent, visits"
    assert ledger["spent"] == pytest.approx(0.75)
    assert ledger["epsilon"] == pytest.approx(0.75)
    statement = texts["statement.html"].decode()
    assert "bounds of spent, visits" in statement
    assert "released with noise" in statement
    assert "spent ε = 0.75 of its privacy budget" in statement
    schema = Schema.from_yaml(texts["schema.yaml"].decode())
    assert {f.name: f.paid for f in schema.features}["spent"] == ("lower", "upper")


def test_noise_for_study_makes_no_fact_public(with_table, monkeypatch):
    one = with_table()
    monkeypatch.setattr(one.page.release, "secure", False)
    card = pay(one, 0.3)
    assert "the bounds stay data-derived" in card.said.object
    assert one.page.release.budget.spent == 0.3
    assert sources(one, "spent") == {"lower": "proposed", "upper": "proposed"}


def test_bounds_that_were_loaded_as_paid_for_stay_so():
    draft = Draft(spenders(), "people.csv")
    bounds = PrivateBounds(2.5, 90.0, np.full(225, 1e9), 1.0)
    draft.take_bounds({"visits": bounds}, {}, public=True)
    assert (draft.columns["visits"].lower, draft.columns["visits"].upper) == (2, 90)
    draft.take(Schema.from_yaml(draft.schema().to_yaml()))
    assert draft.source("visits", "lower") == "paid"
    assert draft.without_bounds() == ["spent"]
