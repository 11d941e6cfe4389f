"""Bounds that a person pays for on the page My data: what they would be, the charge, the facts and the statement."""

import json
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from dpml_app.pages.mydata import paid_bounds
from dpml_app.pages.mydata.draft import Draft
from own_session import release, say

from dpml.mechanisms import PrivateBounds
from dpml.schema import Schema

N = 3000


def people(n=N):
    """Return a table with two numbers whose names say no bounds."""
    rng = np.random.default_rng(3)
    spent, visits = rng.lognormal(4, 1, n), rng.poisson(6, n)
    return pd.DataFrame({"spent": spent, "visits": visits, "age": 40, "left": np.where(spent < 50, "no", "yes")})


@pytest.fixture
def with_table(session):
    def make(table=None):
        one = session()
        one.upload((people() if table is None else table).to_csv(index=False).encode())
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
    wide = paid_bounds.preview(people(), ["spent"], 0.05)
    assert wide != paid_bounds.preview(people(), ["spent"], 3.0)


def test_no_more_is_paid_than_is_left_and_a_name_of_the_table_is_text(with_table):
    assert "&lt;b&gt;" in paid_bounds.preview(people().rename(columns={"spent": "<b>"}), ["<b>"], 1.0)
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
    one = with_table(people(30))
    # noise makes a column of empty cells stand out in four of a thousand runs
    card = pay(one, 0.01, ("spent",))
    assert "bounds for 0 of 1 columns. Noise hides spent." in card.said.object
    assert one.page.release.budget.spent == 0.01
    assert sources(one, "spent") == {"lower": "proposed", "upper": "proposed"}


def test_bounds_that_are_not_found_stay_a_question_and_say_why(with_table):
    rng = np.random.default_rng(3)
    far, zero = rng.lognormal(size=N) * 1e30, np.zeros(N)
    visited = rng.integers(1_700_000_000_000, 1_730_000_000_000, N)
    table = people().assign(far=far, zero=zero, visited=visited).drop(columns=["spent", "visits"])
    text = paid_bounds.preview(table, ["far", "zero", "visited"], 1.0)
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
    draft = Draft(people(), "people.csv")
    bounds = PrivateBounds(2.5, 90.0, np.full(225, 1e9), 1.0)
    draft.take_bounds({"visits": bounds}, {}, public=True)
    assert (draft.columns["visits"].lower, draft.columns["visits"].upper) == (2, 90)
    draft.take(Schema.from_yaml(draft.schema().to_yaml()))
    assert draft.source("visits", "lower") == "paid"
    assert draft.without_bounds() == ["spent"]
