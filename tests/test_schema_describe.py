"""A proposed schema reads no value unless it is told to, marks what it read, and asks for the rest."""

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, PrivPfCClassifier
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema import Feature, Schema
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
    assert {f.name: f.domain for f in proposal.features} == {"Age": "a number from 0 to 120", "member": "0 or 1"}
    assert [question.partition(":")[0] for question in proposal.questions] == ["income", "city", "classes", "n_lower"]
    # other values of the same types give the same proposal
    other = TABLE.assign(Age=-5.0, income=0.0, city="Bern", outcome="?")
    assert Schema.describe(other) == proposal
    assert Schema.describe(TABLE.iloc[:0]) == proposal


def test_what_is_read_off_the_data_is_marked_and_asked_for():
    proposal = Schema.describe(TABLE, peek=True)
    found = {f.name: f for f in proposal.features}
    assert (found["income"].lower, found["income"].upper) == (1.5e4, 9e4)
    assert found["city"].categories == ("Oslo", "Rome")
    assert [f.name for f in proposal.features if f.peeked] == ["income", "city"]
    assert any(question.startswith("city: is it true for everybody") for question in proposal.questions)
    assert "(peeked)" in str(proposal)


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
    assert (schema.n_lower, schema.ignored, schema.peeked) == (4, ("customer_id",), ())
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(InvalidSchema, match="domain of 'customer_id'"):  # it must then get a domain
        proposal.complete(**answers, domains={"income": (0, 1e6), "city": ["Rome"]}, ignored=())


def test_an_identifier_may_be_stated_as_a_feature_after_all():
    proposal = Schema.describe(TABLE[["customer_id", "outcome"]])
    schema = proposal.complete(classes=("left", "stays"), n_lower=1, domains={"customer_id": (0, 10)})
    assert schema.feature_names == ["customer_id"]
    assert schema.ignored == ()


@pytest.mark.parametrize("estimator", [AutoClassifier, BernoulliNB, LinearClassifier, PrivPfCClassifier, BestSelector])
def test_a_release_refuses_peeked_facts(estimator):
    schema = Schema((Feature("a", peeked=True), Feature("b")), n_lower=4)
    X, y = [[0, 1], [1, 0]] * 2, [0, 1] * 2
    with pytest.raises(InvalidSchema, match=r"'a'.*confirmed by a person"):
        estimator(1.0, schema=schema, release=True).fit(X, y)
    confirmed = Schema((Feature("a"), Feature("b")), n_lower=4)
    estimator(1.0, schema=confirmed, release=True).fit(X, y)
    estimator(1.0, schema=schema, random_state=0).fit(X, y)


def test_confirming_takes_the_mark_away():
    proposal = Schema.describe(TABLE, peek=True)
    answers = {"classes": ("left", "stays"), "n_lower": 4}
    assert proposal.complete(**answers).peeked == ("income", "city")
    assert proposal.complete(**answers, confirm=["city"]).peeked == ("income",)


def test_a_table_without_names_and_a_label_that_is_not_there():
    with pytest.raises(InvalidData, match="column names"):
        Schema.describe(np.zeros((2, 2)))
    with pytest.raises(InvalidSchema, match="label = 'churn'"):
        Schema.describe(TABLE, label="churn")
    assert Schema.describe(TABLE, label="city").columns[-1] == "outcome"


def test_columns_left_out_are_named_once_and_are_no_features():
    with pytest.raises(InvalidSchema, match="ignored"):
        Schema.binary(2).__class__((Feature("a"),), ignored=("a",))
    with pytest.raises(InvalidSchema, match="ignored"):
        Schema((Feature("a"),), ignored="b")
    schema = Schema((Feature("a"), Feature("b")), ignored=("number",))
    X, found = schema.check_features(pd.DataFrame({"number": [7], "b": [1], "a": [0]}))
    assert found.feature_names == ["b", "a"]
    assert X.tolist() == [[1.0, 0.0]]


def test_misfits_are_counted_by_column():
    schema = Schema((Feature("x", "numeric", lower=0, upper=1, missing=0.5), Feature("b")), (0, 1))
    X = pd.DataFrame({"x": [0.5, 2.0, None, -1.0], "b": [0, 1, 2, None]})
    assert schema.misfits(X, [0, 1, 2, "a"]) == {"x": 2, "b": 2, "label": 2}
    assert schema.misfits([[0.5, 1]], [0]) == {}


def test_a_person_says_what_stands_for_a_gap():
    answers = {"classes": ("left", "stays"), "n_lower": 4, "domains": {"income": (0, 1e6), "city": ["Rome", "Oslo"]}}
    schema = Schema.describe(TABLE).complete(**answers, missing={"Age": 40, "city": "Oslo"})
    clean, _ = schema.check_features(TABLE.drop(columns="outcome"))
    assert clean["Age"].tolist() == [20.0, 35.0, 50.0, 40.0]
    assert list(clean["city"]) == ["Rome", "Oslo", "Oslo", "Rome"]
    with pytest.raises(InvalidSchema, match="missing of 'Age'"):
        Schema.describe(TABLE).complete(**answers, missing={"Age": 400})
    with pytest.raises(InvalidSchema, match="column = 'town'"):
        Schema.describe(TABLE).complete(**answers, missing={"town": 1})
