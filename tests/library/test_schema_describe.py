"""A proposed schema reads no value unless it is told to, marks what it read, and asks for the rest."""

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from observing import observing
from sklearn.base import clone

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, PrivPfCClassifier
from dpml.encoding import BinaryEncoding
from dpml.exceptions import BudgetExceeded, InvalidData, InvalidParameter, InvalidSchema
from dpml.schema import Feature, Schema
from dpml.schema.describe import bounds_around, fewer
from dpml.tuning import BestSelector

TABLE = pd.DataFrame(
    {
        "customer_id": [1, 2, 3, 4],
        "Age": [20.0, 35.0, 50.0, np.nan],
        "income": [1.5e4, 9.0e4, 3.0e4, 2.0e4],
        "city": ["Rome", "Oslo", None, "Rome"],
        "member": [True, False, True, True],
        "outcome": ["left", "stays", "left", "stays"],
    }
)


def test_names_and_types_alone_decide_without_a_peek():
    proposal = Schema.describe(TABLE)
    assert proposal.label == "outcome"
    assert proposal.ignored == ("customer_id",)
    assert {f.name: f.domain for f in proposal.features} == {"Age": "a whole number from 0 to 120", "member": "0 or 1"}
    assert [question.partition(":")[0] for question in proposal.questions] == ["income", "city", "classes", "n_lower"]
    # other values of the same types give the same proposal
    other = TABLE.assign(Age=-5.0, income=0.0, city="Bern", outcome="?")
    assert Schema.describe(other) == proposal
    assert Schema.describe(TABLE.iloc[:0]) == proposal


def test_what_is_read_off_the_data_is_marked_and_asked_for():
    proposal = Schema.describe(TABLE, peek=True)
    found = {f.name: f for f in proposal.features}
    assert (found["income"].lower, found["income"].upper) == (0, 1e5)
    assert found["city"].categories == ("Oslo", "Rome")
    assert {f.name: f.data_derived for f in proposal.features if f.data_derived} == {
        "income": ("lower", "upper"), "city": ("categories",),
    }  # fmt: skip
    assert any("city: is it true for everybody, and public, that it is one of Oslo, Rome?" in q
               for q in proposal.questions)  # fmt: skip
    assert any("that it is a whole number of at most 100000 and at least 0?" in q for q in proposal.questions)
    assert "one of 'Oslo', 'Rome' (proposed from the data)" in str(proposal)


NUMBERS = st.floats(allow_nan=False) | st.floats(-1e3, 1e6) | st.integers(-10, 10) | st.integers(-(10**9), 10**12)


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_proposed_bounds_hold_all_values_and_are_not_impossible(values):
    column = pd.Series(values, dtype=float)
    bounds = bounds_around(column)
    finite = column[np.isfinite(column)]
    if bounds is None:
        assert finite.nunique() < 2 or finite.abs().max() > 1e307
        return
    lower, upper = map(Fraction, bounds)
    least, most = Fraction(finite.min()), Fraction(finite.max())
    assert lower <= least
    assert most <= upper
    # a float stands for a number of a few digits
    assert upper - lower <= 2 * (most - least) + 4 * Fraction(math.ulp(max(map(abs, bounds))))
    assert least < 0 or lower >= 0
    assert most > 0 or upper <= 0
    whole = (finite == finite.round()).all()
    natural = {0, 100, 1850, 2200} | (set(range(11)) if whole else set())
    # neither is a value of a record that is not a limit for everybody; three neighbours leave no other choice
    near = whole and most - least < 4
    assert near or (lower < least or least in natural)
    assert near or (upper > most or most in natural)
    if whole:
        assert lower.denominator == upper.denominator == 1


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        (range(18, 65), (0, 70)),  # ages of adults
        ([1, 2, 3, 4, 5], (1, 5)),  # a scale
        ([0, 1, 2], (0, 2)),
        ([3, 4], (3, 4)),
        ([2, 55, 0], (0, 60)),  # guests
        ([4, 40, 0], (0, 50)),
        ([0.0, 12.5, 100.0], (0, 100)),  # a percentage
        ([1999, 2016, 2024], (1992, 2031)),  # years, which no name tells
        ([10.3, 28.1, 97.6], (0, 100)),
        ([1_009, 19_999], (0, 20_000)),
        ([-6.38, 0, 5400], (-7, 6000)),
        ([-9.5, -2.0], (-10, 0)),
        ([0.0, 0.03], (0, 0.04)),  # as a float 0.03 is a little less
        ([36.1, 37.2, 40.4], (35, 42)),
        ([1_000_000.1, 1_000_000.9], (999_999.8, 1_000_001.2)),
    ],
)
def test_proposed_bounds_of_common_columns_are_sensible(values, bounds):
    assert bounds_around(pd.Series(values)) == bounds


@pytest.mark.parametrize("name", ["year", "arrival_date_year", "Year_Birth", "YearBuilt", "yr_sold", "birthYear"])
def test_years_are_proposed_from_1850_to_2200(name):
    for peek in (False, True):
        [year] = Schema.describe(pd.DataFrame({name: [1893, 1996, 2011]}), peek=peek).features
        assert (year.lower, year.upper, year.whole, year.data_derived) == (1850, 2200, True, ())


def test_a_name_that_its_values_contradict_is_read_off():
    table = pd.DataFrame({
        "age": [0.08, 40.5, 82.0], "month": [0, 7, 20], "TrainingTimesLastYear": [0.0, np.nan, 6.0],
        "year of entry": [2015, 2015, 2017],
    })  # fmt: skip
    found = {f.name: f for f in Schema.describe(table, peek=True).features}
    assert {name: (f.lower, f.upper, f.whole) for name, f in found.items()} == {
        "age": (0, 120, False), "month": (0, 30, True), "TrainingTimesLastYear": (0, 7, True),
        "year of entry": (1850, 2200, True),
    }  # fmt: skip
    assert all(f.data_derived == ("lower", "upper") for f in found.values())


def test_an_identifier_that_values_show_is_marked_and_asked_for():
    n = 40
    table = pd.DataFrame({"badge": range(100, 100 + n), "PassengerId": range(n), "x": [0.5, 1.5] * (n // 2)})
    assert Schema.describe(table).ignored == ("PassengerId",)
    proposal = Schema.describe(table, peek=True)
    assert proposal.reasons == {"badge": "unique", "PassengerId": "name"}
    assert proposal.ignored == ("badge", "PassengerId")
    assert any(q.startswith("badge: is it public that it is left out?") for q in proposal.questions)
    schema = proposal.complete(classes=(0, 1), n_lower=20)
    assert schema.data_derived == ("ignored",)
    assert "ignored" not in schema.confirm("ignored").unconfirmed
    said = proposal.complete(classes=(0, 1), n_lower=20, ignored=("badge", "PassengerId"))
    assert said.data_derived == ()


@given(st.integers(1, 10**9))
def test_proposed_number_of_records_is_at_most_half(n):
    assert n == 1 or fewer(n) <= n / 2
    assert fewer(n) == float(f"{fewer(n):.0e}") >= 1


def test_a_person_completes_the_proposal():
    proposal = Schema.describe(TABLE)
    answers = {"classes": ("left", "stays"), "n_lower": 4}
    with pytest.raises(InvalidSchema, match="domain of 'income'"):
        proposal.complete(**answers)
    with pytest.raises(InvalidSchema, match="'town'"):
        proposal.complete(**answers, domains={"town": ("Rome",)})
    schema = proposal.complete(**answers, domains={"income": (0, 1e6), "city": ["Rome", "Oslo", "other"]})
    assert schema.feature_names == ["Age", "income", "city", "member"]
    assert [f.kind for f in schema.features] == ["numeric", "numeric", "categorical", "binary"]
    assert (schema.n_lower, schema.ignored, schema.unconfirmed) == (4, ("customer_id",), ())
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(InvalidSchema, match="domain of 'customer_id'"):  # it must then get a domain
        proposal.complete(**answers, domains={"income": (0, 1e6), "city": ["Rome"]}, ignored=())
    stated = proposal.complete(**answers, domains={"income": (0, 1e6), "city": ["Rome"], "customer_id": (0, 10)})
    assert (stated.feature_names[0], stated.ignored) == ("customer_id", ())


@pytest.mark.parametrize("estimator", [AutoClassifier, BernoulliNB, LinearClassifier, PrivPfCClassifier, BestSelector])
def test_a_release_refuses_facts_that_were_read_off_the_data(estimator):
    schema = Schema((Feature("a", data_derived=True), Feature("b")), n_lower=4)
    X, y = [[0, 1], [1, 0]] * 2, [0, 1] * 2
    with pytest.raises(InvalidSchema, match=r"confirmed by a person.*of 'a'"):
        estimator(1.0, schema=schema, release=True).fit(X, y)
    confirmed = Schema((Feature("a"), Feature("b")), n_lower=4)
    estimator(1.0, schema=confirmed, release=True).fit(X, y)
    estimator(1.0, schema=schema, random_state=0).fit(X, y)


def test_each_fact_is_confirmed_by_its_own_name():
    schema = Schema.describe(TABLE, peek=True).complete(classes=("left", "stays"), n_lower=4)
    assert schema.unconfirmed == ("lower of 'income'", "upper of 'income'", "categories of 'city'")
    some = schema.confirm("income", "lower")
    assert some.unconfirmed == ("upper of 'income'", "categories of 'city'")
    every = some.confirm("income", "upper").confirm("city", "categories")
    assert every.unconfirmed == ()
    assert [f.confirmed for f in every.features] == [(), ("lower", "upper"), ("categories",), ()]
    marked = replace(schema, data_derived=("n_lower", "classes"))
    assert marked.confirm("n_lower").data_derived == ("classes",)
    assert marked.confirm("n_lower").confirmed == ("n_lower",)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("income",), "For a column, name the column and then its facts"),
        (("income", "categories"), "confirmed: lower, upper"),
        (("member", "kind"), "confirmed: none"),
        (("town", "lower"), "`column` must be .*Got 'town'"),
        (("n_lower",), "`fact` must be .*Got 'n_lower'"),
    ],
)
def test_what_was_not_read_off_the_data_cannot_be_confirmed(said, told):
    schema = Schema.describe(TABLE, peek=True).complete(classes=("left", "stays"), n_lower=4)
    with pytest.raises(InvalidSchema, match=told):
        schema.confirm(*said)


def test_a_mark_lasts_through_every_copy_of_a_schema():
    schema = replace(
        Schema.describe(TABLE, peek=True).complete(classes=("left", "stays"), n_lower=4), data_derived=("n_lower",)
    ).confirm("income", "upper")
    marks = ("lower of 'income'", "categories of 'city'", "n_lower")
    copies = [
        copy.copy(schema), copy.deepcopy(schema), pickle.loads(pickle.dumps(schema)), replace(schema, row_bound=1),
        Schema.from_yaml(schema.to_yaml()), Schema.from_json(schema.to_json()), schema.subset(["city", "income"]),
        clone(BernoulliNB(1.0, schema=schema)).schema,
    ]  # fmt: skip
    for made in copies:
        assert set(made.unconfirmed) == set(marks)
        assert next(f for f in made.features if f.name == "income").confirmed == ("upper",)
    # another bound does not take a mark away, a feature that is stated anew does
    income = schema.features[1]
    assert replace(income, lower=0).data_derived == ("lower",)
    # columns of an encoded table are named after the facts that mark them
    encoded = BinaryEncoding(schema, {"Age": [40], "income": [5e4]}).encoded_schema
    assert [f.name for f in encoded.features if f.data_derived] == [
        "income<50000", "income>=50000", "city=Oslo", "city=Rome",
    ]  # fmt: skip
    assert "n_lower" in encoded.unconfirmed


def test_a_table_without_names_and_a_label_that_is_not_there():
    with pytest.raises(InvalidData, match="column names"):
        Schema.describe(np.zeros((2, 2)))
    with pytest.raises(InvalidSchema, match=r"`label` must be .*Got 'churn'"):
        Schema.describe(TABLE, label="churn")
    assert Schema.describe(TABLE, label="city").columns[-1] == "outcome"


def test_violations_are_counted_by_column():
    schema = Schema((Feature("x", "numeric", lower=0, upper=1, missing=0.5), Feature("b")), (0, 1))
    X = pd.DataFrame({"x": [0.5, 2.0, None, -1.0], "b": [0, 1, 2, None]})
    assert schema.violations(X, [0, 1, 2, "a"]) == {"x": 2, "b": 2, "label": 2}
    assert schema.violations([[0.5, 1]], [0]) == {}


def test_a_person_says_what_stands_for_a_gap():
    answers = {"classes": ("left", "stays"), "n_lower": 4, "domains": {"income": (0, 1e6), "city": ["Rome", "Oslo"]}}
    schema = Schema.describe(TABLE).complete(**answers, missing={"Age": 40, "city": "Oslo"})
    clean, _ = schema.check_features(TABLE.drop(columns="outcome"))
    assert clean["Age"].tolist() == [20.0, 35.0, 50.0, 40.0]
    assert list(clean["city"]) == ["Rome", "Oslo", "Oslo", "Rome"]
    with pytest.raises(InvalidSchema, match="missing of 'Age'"):
        Schema.describe(TABLE).complete(**answers, missing={"Age": 400})
    with pytest.raises(InvalidSchema, match=r"`column` must be .*Got 'town'"):
        Schema.describe(TABLE).complete(**answers, missing={"town": 1})


# ---- facts that are paid for -----------------------------------------------------------------------------------------


def paid_table(n=3_000):
    rng = np.random.default_rng(5)
    return pd.DataFrame({
        "id": np.arange(n), "age": rng.integers(18, 90, n), "wage": rng.lognormal(8, 0.5, n),
        "visits": rng.poisson(20, n), "job": rng.choice(["clerk", "cook"], n), "label": rng.choice(["no", "yes"], n),
    })  # fmt: skip


def test_paid_facts_are_marked_and_charged_at_once():
    pytest.importorskip("opendp", reason="the extra release is not installed")
    budget = Budget(1.0, 1e-5, relation="replace-one")
    kinds = {"age": "numeric", "wage": "numeric", "visits": "whole", "job": "categorical"}
    proposal = Schema.describe(paid_table(), epsilon=0.9, delta=1e-6, kinds=kinds, budget=budget, release=True)
    features = {f.name: f for f in proposal.features}
    ends = ("lower", "upper")
    assert {name: f.paid for name, f in features.items()} == {
        "age": (), "wage": ends, "visits": ends, "job": ("categories",)
    }  # fmt: skip
    assert not any(f.data_derived for f in features.values())
    assert features["job"].categories == ("clerk", "cook")
    assert features["visits"].whole
    assert (features["visits"].lower, features["visits"].upper) == (
        int(features["visits"].lower), int(features["visits"].upper)
    )  # fmt: skip
    assert budget.ledger[["label", "epsilon", "delta", "relation"]].to_numpy().tolist() == [
        ["facts of 'wage', 'visits', 'job'", 0.9, 1e-6, "replace-one"]
    ]
    assert "wage: numeric" in str(proposal)
    assert "(charged to ε)" in str(proposal)
    schema = proposal.complete(classes=("no", "yes"), n_lower=1_000)
    assert schema.unconfirmed == ()
    assert Schema.from_yaml(schema.to_yaml()) == schema == Schema.from_json(schema.to_json())
    with pytest.raises(InvalidSchema, match="paid"):
        Feature("x", "numeric", lower=0, upper=1, data_derived=("lower",), paid=True)


@pytest.mark.parametrize("kinds", [None, {"wage": "numeric", "visits": "whole", "job": "categorical"}])
@pytest.mark.parametrize("odd", [{"wage": "none"}, {"visits": 12.5}, {"visits": "few"}, {"job": 7}, {"age": "old"}])
def test_in_a_release_no_odd_cell_changes_what_a_column_is(kinds, odd):
    """Each table has the types that a reader infers from all of its cells."""
    pytest.importorskip("opendp", reason="the extra release is not installed")

    def call(rows):
        frame = pd.DataFrame(rows).infer_objects()
        proposal = Schema.describe(frame, epsilon=0.8, delta=1e-6, kinds=kinds, release=True)
        return proposal.features, proposal.questions

    rows = paid_table(60).to_dict("records")
    cost = recorded_cost(call, rows, [*rows, {**rows[0], **odd}], delta=1e-6, pasts=1)
    assert cost <= 0.8 * (1 + 1e-9) if kinds else cost == 0


def test_what_is_stated_of_a_column_counts_whatever_its_type():
    table = paid_table(300).astype({"visits": float, "age": float})
    proposal = Schema.describe(table, peek=True, kinds={"visits": "whole", "age": "numeric", "wage": "categorical"})
    features = {f.name: f for f in proposal.features}
    assert features["visits"].whole
    assert not features["age"].whole
    assert "wage" not in features, "more texts than are proposed"
    assert any("visits: is it true" in q and "a whole number of at most" in q for q in proposal.questions)
    assert not any("and a whole number" in q for q in proposal.questions)
    with pytest.raises(InvalidSchema, match=r"column in kinds must be .*Got 'wages'"):
        Schema.describe(table, kinds={"wages": "numeric"})
    with pytest.raises(InvalidParameter, match=r"kind of 'wage' must be .*Got 'number'"):
        Schema.describe(table, kinds={"wage": "number"})


def test_a_release_asks_for_the_kind_of_a_column():
    pytest.importorskip("opendp", reason="the extra release is not installed")
    unknown = Schema.describe(paid_table(300), epsilon=0.5, release=True)
    assert unknown.features == ()
    assert unknown.questions[0] == "age: what kind of column is it? State it in `kinds`"
    left_out = ("id", "wage", "visits", "job")
    with pytest.raises(InvalidSchema, match="kind of 'age'"):
        unknown.complete(classes=("no", "yes"), n_lower=1, domains={"age": (0, 99)}, ignored=left_out)


def test_noise_for_study_makes_no_fact_public():
    proposal = Schema.describe(paid_table(), epsilon=0.9, delta=1e-6, rng=np.random.default_rng(0))
    assert not any(f.paid for f in proposal.features)
    schema = proposal.complete(classes=("no", "yes"), n_lower=1_000)
    ends = [f"{end} of {name!r}" for name in ("wage", "visits") for end in ("lower", "upper")]
    assert schema.unconfirmed == (*ends, "categories of 'job'")


def number_table(values):
    return pd.DataFrame({"x": values, "label": np.arange(len(values)) % 2})


@pytest.mark.parametrize("scale", [1e30, -1e300, np.inf, 1e-30, 0.0])
def test_bounds_that_no_cell_shows_stay_a_question(scale):
    table = number_table(np.random.default_rng(0).lognormal(size=2_000) * scale)
    proposal = Schema.describe(table, epsilon=1.0, rng=np.random.default_rng(0))
    assert proposal.features == ()
    assert proposal.questions[0] == "x: between which bounds does it lie?"


def test_a_budget_that_is_too_small_pays_for_no_fact():
    budget = Budget(0.5)
    with observing() as passed, pytest.raises(BudgetExceeded):
        Schema.describe(paid_table(), epsilon=0.6, budget=budget, rng=np.random.default_rng(0))
    assert not passed
    assert budget.spent == 0
    with pytest.raises(InvalidParameter, match="peek"):
        Schema.describe(paid_table(), epsilon=0.1, peek=True, rng=np.random.default_rng(0))


def test_bounds_that_can_be_no_domain_are_asked_for():
    proposal = Schema.describe(pd.DataFrame({"x": [-1e308, 1e308], "one": [3.0, 3.0]}), peek=True)
    assert proposal.features == ()
    assert proposal.questions[:2] == ("x: between which bounds does it lie?", "one: between which bounds does it lie?")


def test_columns_left_out_are_named_once_and_are_no_features():
    with pytest.raises(InvalidSchema, match="ignored"):
        Schema.binary(2).__class__((Feature("a"),), ignored=("a",))
    with pytest.raises(InvalidSchema, match="ignored"):
        Schema((Feature("a"),), ignored="b")
    schema = Schema((Feature("a"), Feature("b")), ignored=("number",))
    X, found = schema.check_features(pd.DataFrame({"number": [7], "b": [1], "a": [0]}))
    assert found.feature_names == ["b", "a"]
    assert X.tolist() == [[1.0, 0.0]]
