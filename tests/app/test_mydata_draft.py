"""What a person says of an uploaded table becomes a schema; what was read off the data stays marked."""

import pandas as pd
import pytest
from dpml_app.pages.mydata.compute import Draft

from dpml.exceptions import InvalidParameter, InvalidSchema
from dpml.schema import Feature, Schema
from dpml.tables import read_table

CSV = b"id,age,plan,spent,left\n1,31,basic,2.5,no\n2,58,family,,yes\n3,44,basic,9,no\n4,23,,7,yes\n"


def draft():
    return Draft(read_table(CSV), "customers.csv")


def unconfirmed(made):
    return [(each.column, each.fact) for each in made.unconfirmed]


EVERY = [("plan", "categories"), ("spent", "lower"), ("spent", "upper"), ("", "classes"), ("", "n_lower")]


def test_a_proposal_marks_what_it_read_off_the_data():
    made = draft()
    assert made.label == "left"
    assert made.classes == ("no", "yes")
    assert {n: c.kind for n, c in made.columns.items()} == {
        "id": "ignored", "age": "numeric", "plan": "categorical", "spent": "numeric",
    }  # fmt: skip
    assert unconfirmed(made) == EVERY
    plan, spent = made.columns["plan"], made.columns["spent"]
    assert (plan.categories, spent.lower, spent.upper, made.n_lower) == (("basic", "family"), 0, 10, 2)
    names = ("categories of 'plan'", "lower of 'spent'", "upper of 'spent'", "classes", "n_lower")
    assert made.schema().unconfirmed == names


@pytest.mark.parametrize("fact", EVERY)
def test_each_fact_is_confirmed_by_itself_and_may_be_taken_back(fact):
    made = draft()
    made.confirm(*fact)
    assert unconfirmed(made) == [each for each in EVERY if each != fact]
    assert len(made.schema().unconfirmed) == 4
    assert [(each.column, each.fact) for each in made.proposed if each.confirmed] == [fact]
    again = draft()
    again.take(Schema.from_yaml(made.schema().to_yaml()))
    assert again.proposed == made.proposed
    made.confirm(*fact, sure=False)
    assert made.proposed == draft().proposed


def test_what_was_not_proposed_cannot_be_confirmed():
    made = draft()
    for fact in (("age", "lower"), ("plan", "lower"), ("", "row_bound"), ("", "lower")):
        made.confirm(*fact)
    assert made.proposed == draft().proposed


def test_a_stated_bound_leaves_the_mark_of_the_other():
    made = draft()
    made.say("spent", lower=1.0)
    assert unconfirmed(made) == [fact for fact in EVERY if fact != ("spent", "lower")]
    # what is the same as before is not said
    made.say("spent", upper=10.0)
    assert ("spent", "upper") in unconfirmed(made)
    # and neither another kind nor its way back takes a mark away
    made.say("spent", kind="ignored")
    made.say("spent", kind="numeric")
    assert [fact for fact in unconfirmed(made) if fact[0] == "spent"] == [("spent", "upper")]


def test_a_column_that_is_left_out_because_of_its_cells_is_marked_and_one_by_its_name_is_not():
    frame = pd.DataFrame({"id": range(60), "note": [f"text {i}" for i in range(60)], "left": ["no", "yes"] * 30})
    made = Draft(frame.assign(one=3.0), "notes.csv")
    made.say_label("left")
    assert unconfirmed(made)[:2] == [("note", "kind"), ("one", "kind")]
    made.say("id", kind="numeric", lower=0.0, upper=1e6)
    assert made.schema().data_derived == ("classes", "n_lower", "ignored")
    made.confirm("note", "kind")
    assert "ignored" in made.schema().data_derived
    made.confirm("one", "kind")
    assert made.schema().confirmed == ("ignored",)
    again = Draft(frame.assign(one=3.0), "notes.csv")
    again.take(made.schema())
    assert again.schema() == made.schema()
    made.say("one", kind="binary")
    made.say("one", kind="ignored")
    assert made.schema().confirmed == ("ignored",)  # of the note; of the other one it is said


def test_a_release_reads_the_file_line_by_line():
    lines = CSV + b'5,30,"basic,1,no\n'
    made = Draft(read_table(CSV), "customers.csv", lines)
    records = made.records()
    assert records["age"].tolist() == ["31", "58", "44", "23", None]
    assert Draft(made.frame, "customers.csv").records() is made.frame


def test_what_a_person_says_is_not_marked_and_comes_into_the_schema():
    made = draft()
    made.say("plan", categories=("basic", "family", "student"))
    made.say("spent", lower=1.0, upper=100.0)
    made.say("age", kind="ignored")
    made.say_classes(made.classes)
    made.say_records(made.n_lower)
    assert {("", "classes"), ("", "n_lower")} <= set(unconfirmed(made)), "repeated is not stated"
    made.say_classes(("yes", "no", "maybe"))
    made.say_records(3)
    assert made.proposed == []
    schema = made.schema()
    assert schema.feature_names == ["plan", "spent"]
    assert schema.features[0].categories == ("basic", "family", "student")
    assert (schema.classes, schema.n_lower, schema.ignored) == (("yes", "no", "maybe"), 3, ("id", "age"))
    assert Schema.from_yaml(schema.to_yaml()) == schema


def test_a_column_that_becomes_another_kind_is_proposed_from_the_data_and_marked():
    made = draft()
    made.say("age", kind="categorical")
    assert made.columns["age"].categories == ("23", "31", "44", "58")
    assert ("age", "categories") in unconfirmed(made)
    made.say("id", kind="numeric")
    assert (made.columns["id"].lower, made.columns["id"].upper) == (1, 4)
    assert {("id", "lower"), ("id", "upper")} <= set(unconfirmed(made))
    made.say("plan", kind="numeric")
    assert made.columns["plan"].description.startswith("bounds must be two numbers")
    with pytest.raises(InvalidParameter, match="of 'plan'"):
        made.schema()


def test_what_a_gap_counts_as_comes_into_the_schema_and_confirms_nothing():
    made = draft()
    made.say("plan", missing="family")
    made.say("spent", missing=5.0)
    assert unconfirmed(made) == EVERY
    plan, spent = (next(f for f in made.schema().features if f.name == name) for name in ("plan", "spent"))
    assert list(plan.clean(made.frame["plan"], "raise")) == ["basic", "family", "basic", "family"]
    assert list(spent.clean(made.frame["spent"], "raise")) == [2.5, 5.0, 9.0, 7.0]
    made.say("spent", missing=500.0)
    assert made.columns["spent"].description == "missing must be a number from 0 to 10"
    with pytest.raises(InvalidSchema, match=r"missing of 'spent' must be .*Got 500"):
        made.schema()
    # it goes with its category, and with the kind of its column
    made.say("plan", categories=("basic", "student"))
    assert made.columns["plan"].missing is None
    made.say("spent", kind="categorical")
    assert made.columns["spent"].missing is None
    made.schema()


def test_another_label_takes_its_column_from_the_features_and_gives_the_old_one_back():
    made = draft()
    made.say("spent", lower=1.0, upper=100.0)
    made.say_label("plan")
    assert made.classes == ("basic", "family")
    assert list(made.columns) == ["id", "age", "spent", "left"]
    assert made.columns["spent"].upper == 100.0
    made.say_label("id")
    assert made.classes == (1, 2, 3, 4)
    made.say_classes(("1", "2"))
    assert made.classes == (1, 2)


def test_what_cannot_be_is_named():
    made = draft()
    made.say_records(5)
    with pytest.raises(InvalidSchema, match=r"number of records must be .*Got 5"):
        made.schema()
    made = draft()
    for name in made.columns:
        made.say(name, kind="ignored")
    with pytest.raises(InvalidSchema, match="all left out"):
        made.schema()
    made = draft()
    made.say_classes(("no",))
    with pytest.raises(InvalidSchema, match="classes"):
        made.schema()


def test_a_schema_that_was_saved_is_taken_and_one_of_another_table_is_not():
    made = draft()
    features = (
        Feature("age", "numeric", lower=0, upper=99, missing=40),
        Feature("plan", "categorical", ("basic", "x")),
    )
    schema = Schema(features, ("yes", "no"), n_lower=2, ignored=("id", "spent"))
    made.take(schema)
    assert made.schema() == schema
    assert made.proposed == []
    # what was marked when it was saved still is
    made.take(Schema(features, ("yes", "no"), n_lower=2, ignored=("id", "spent"), data_derived=("n_lower",)))
    assert unconfirmed(made) == [("", "n_lower")]
    other = Schema((Feature("height", "numeric", lower=0, upper=3),), ("yes", "no"))
    with pytest.raises(InvalidSchema, match=r"`feature` must be .*Got 'height'"):
        made.take(other)
    every = tuple(Feature(str(name)) for name in made.frame)
    with pytest.raises(InvalidSchema, match="every column"):
        made.take(Schema(every, ("yes", "no")))


@pytest.mark.parametrize("rows", [1, 2])
def test_a_table_of_one_class_or_of_one_record_is_proposed_too(rows):
    made = Draft(pd.DataFrame({"age": [30, 30][:rows], "left": ["no", "no"][:rows]}), "small.csv")
    with pytest.raises(InvalidSchema, match="classes"):
        made.schema()
    made.say_classes(("no", "yes"))
    assert made.schema().classes == ("no", "yes")
