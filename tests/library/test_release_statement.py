"""The statement of a release names every charge, rounds up, escapes every text, and loads nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from release_table import CANARY, DATE, SCHEMA, SHARES, customers, demonstrated, without_label

import dpml
from dpml.evaluation import attack_bound
from dpml.release import Plan, Released
from dpml.schema import Feature, Schema


@pytest.fixture(scope="module")
def demonstration():
    return demonstrated()


@pytest.fixture(scope="module")
def released():
    plan = Plan(SCHEMA, 1.0, shares=SHARES, max_grids=40)
    return plan.run(*without_label(customers()))


class Page(HTMLParser):
    """The texts of a page, and its tags with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_statement_names_every_charge_and_loads_nothing(released):
    page = Page(released.statement(date=DATE, stated_by="the data office"))
    text = " ".join(page.texts)
    for row in released.ledger.to_dict(orient="records"):
        assert row["released"] in page.texts
        assert f"{row['epsilon']:.6g}" in page.texts
        assert row["source"] in page.texts
    assert "2026-11-22" in text
    assert f"dpml {dpml.__version__}" in text
    assert "Declared by the data office" in text
    assert "OpenDP" in text
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    assert not any(name.startswith("on") or name in ("src", "href") for _, attrs in page.tags for name in attrs)
    assert CANARY not in text


def test_the_statement_rounds_chances_up(released):
    text = released.statement(date=DATE)
    # e = 2.71828..., e/(1 + e) = 0.73105..., and at 2ε 0.88079..., for five people e^5 = 148.413...
    for number in ("2.72", "73.2%", "88.1%", "148.42"):
        assert number in text
    assert attack_bound(1.0) < 0.732


def test_the_statement_asks_the_question_of_its_relation(released):
    present, replaced = (replace(released, relation=r).statement(date=DATE) for r in ("add-remove", "replace-one"))
    assert "who asks whether one person's record is in the table" in present
    assert "who asks which of two possible contents one person's record has" in replaced
    assert "removes one record and adds another" in present
    assert "removes one record and adds another" not in replaced


def test_every_text_in_the_statement_is_escaped():
    evil = "<script>alert('&')</script>"
    features = (Feature(evil, "categorical", (evil, "b")), *SCHEMA.features[:1])
    schema = Schema(features, ("no", evil), n_lower=10, ignored=("<img src=x>",))
    table = pd.DataFrame({evil: ["b"] * 20, "age": range(20)})
    plan = Plan(schema, 1.0, shares={"training": 1.0})
    statement = plan.run(table, ["no"] * 20, secure=False, random_state=0).statement(date=DATE, stated_by=evil)
    tags = {tag for tag, _ in Page(statement).tags}
    assert not tags & {"script", "img"}
    assert Page(statement).texts.count(evil) == 1  # the name of the column; elsewhere it is in a longer text


def test_the_statement_of_a_demonstration_run_is_one(demonstration):
    text = demonstration.statement(date=DATE)
    assert "Simulation, not a release" in text
    assert "NumPy" in text
    assert "OpenDP" not in text


def test_of_each_fact_it_is_told_whether_a_person_stated_it():
    age, plan, spent = SCHEMA.features
    age = replace(age, confirmed="upper")
    plan = replace(plan, data_derived=True)
    schema = replace(SCHEMA, features=(age, plan, spent), data_derived="n_lower", confirmed="classes")
    facts = demonstrated(schema=schema).statement(date=DATE).partition("Column or property")[2]
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", facts)
    origin = {name: by for name, _said, by in rows}
    off = "DATA-DERIVED, not confirmed"
    assert origin == {
        "age": "lower stated, upper confirmed", "plan": off, "spent": "stated", "classes": "confirmed",
        "records, at least": off, "columns left out": "stated",
    }  # fmt: skip


def test_a_huge_epsilon_is_told_without_an_error():
    text = demonstrated(epsilon=5_000.0).statement(date=DATE)
    assert "more than 1e308" in text
    assert "100.0%" in text
    assert isinstance(demonstrated(epsilon=5_000.0), Released)
