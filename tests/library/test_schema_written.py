"""A schema is kept as YAML and comes back the same; whatever else is given as one is refused by name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpml._yaml import MOST_CHARACTERS
from dpml.exceptions import InvalidSchema
from dpml.schema import Feature, Schema

VALUES = st.one_of(
    st.text(max_size=8),
    st.integers(1 - 2**53, 2**53 - 1),
    st.floats(1 - 2.0**53, 2.0**53 - 1),
    st.sampled_from(["no", "yes", "on", "NULL", "~", "", "012", "1e3", "12:30", "2020-01-01", "0x1F", "1_000", ".5"]),
)
# control characters that YAML cannot hold are no categories of a file
PRINTED = VALUES.filter(lambda value: not isinstance(value, str) or value.isprintable())


@given(
    st.lists(PRINTED, min_size=1, max_size=5, unique=True),
    st.lists(PRINTED, min_size=2, max_size=3, unique=True),
    st.integers(1, 10**6),
)
def test_a_schema_comes_back_as_it_was(categories, classes, n_lower):
    features = (
        Feature("a", "categorical", tuple(categories), missing=categories[0], data_derived=True),
        Feature("no", "numeric", lower=-1.5, upper=1e6, levels=((0.0,), (-1.0, 0.0, 1.0))),
        Feature("b"),
    )
    schema = Schema(features, tuple(classes), n_lower=n_lower, ignored=("id",))
    again = Schema.from_yaml(schema.to_yaml())
    assert again == schema == Schema.from_json(schema.to_json())
    assert again.unconfirmed == ("categories of 'a'",)
    assert list(map(type, again.classes)) == list(map(type, schema.classes))


def test_a_person_may_write_it_by_hand():
    text = """
    # who leaves
    features:
      - name: age
        kind: numeric
        lower: 18
        upper: 1e2
      - {name: plan, kind: categorical, categories: [no, yes, 007, 2020-01-01]}
    classes: [no, yes]
    """
    schema = Schema.from_yaml(text)
    assert schema.features[0].upper == 100.0
    assert schema.features[1].categories == ("no", "yes", "007", "2020-01-01")
    assert schema.classes == ("no", "yes")
    assert schema.n_lower == 1


AGE = "features: [{name: age, kind: numeric, lower: 0, upper: 9}]\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "`schema` must be .*Got None"),
        ("- a", "`schema` must be "),
        ("features: [", "line 1, column 12"),
        (AGE, "classes of the schema"),
        (AGE + "classes: [a, b]\nepsilon: 1", "key of the schema must be .*Got 'epsilon'"),
        (AGE + "classes: [a, b]\nclasses: [a, c]", "stands twice"),
        (AGE + "classes: &x [a, b]\nignored: *x", "anchors are not read"),
        (AGE + "classes: !!python/object:os.system [a]", "could not determine a constructor"),
        (AGE + "classes: [[a], b]", "`classes` must be "),
        (AGE + "classes: [a, b]\nn_lower: -3", "`n_lower` must be .*Got -3"),
        ("features: age\nclasses: [a, b]", "`features` must be .*Got 'age'"),
        ("features: [{kind: numeric}]\nclasses: [a, b]", "name of the feature"),
        ("features: [{name: age, kind: number}]\nclasses: [a, b]", "`kind` must be .*Got 'number'"),
        ("features: [{name: age, kind: numeric, lower: low, upper: 9}]\nclasses: [a, b]", "lower of 'age'"),
        ("features: [{name: age, range: 9}]\nclasses: [a, b]", "key of the feature must be .*Got 'range'"),
        ("features: [{name: [1], kind: binary}]\nclasses: [a, b]", "feature name"),
        ("features: [{name: a, kind: categorical, categories: [[x]]}]\nclasses: [a, b]", "categories of 'a'"),
        ("features: [{name: a, data_derived: maybe}]\nclasses: [a, b]", "data_derived of 'a'"),
        (
            "features: [{name: a, data_derived: [lower]}]\nclasses: [a, b]",
            "fact in data_derived of 'a' must be .*Got 'lower'",
        ),
        (
            "features: [{name: a, data_derived: [kind], confirmed: [kind]}]\nclasses: [a, b]",
            "fact in confirmed of 'a' must be .*Got 'kind'",
        ),
        ("features: [{name: a, exhaustive: maybe}]\nclasses: [a, b]", "exhaustive of 'a'"),
        ("features: [{name: a, missing: [1]}]\nclasses: [a, b]", "missing of 'a'"),
        ("#" * (MOST_CHARACTERS + 1), "more than 1,000,000 characters"),
        ("[" * 5000, "schema"),
    ],
)
def test_a_fault_is_named(text, says):
    with pytest.raises(InvalidSchema, match=r" must be .* Got ") as raised:
        Schema.from_yaml(text)
    assert re.search(says, str(raised.value))
    assert len(str(raised.value)) < 500


@given(st.text(alphabet="features: [{name,}]\n-abc!&*'\"01.%@", max_size=80))
def test_whatever_is_read_is_a_schema_or_a_named_error(text):
    try:
        found = Schema.from_yaml(text)
    except InvalidSchema as error:
        found = error
    assert isinstance(found, (Schema, InvalidSchema))


def test_a_value_that_yaml_has_no_word_for_is_named():
    schema = Schema((Feature("a", block=b"x"),))
    with pytest.raises(InvalidSchema, match="to be written as YAML"):
        schema.to_yaml()


def test_cuts_and_scale_are_read_and_written_as_levels():
    text = "features:\n- {name: a, kind: numeric, lower: 0, upper: 9, %s}\nclasses: [0, 1]\n"
    for short, facts in (("cuts: [1, 4]", {"cuts": (1, 4)}), ("scale: log", {"scale": "log"})):
        schema = Schema.from_yaml(text % short)
        assert schema.features[0] == Feature("a", "numeric", lower=0, upper=9, **facts)
        assert Schema.from_yaml(schema.to_yaml()) == schema == Schema.from_json(schema.to_json())
    with pytest.raises(InvalidSchema, match="cuts of 'a'"):
        Schema.from_yaml(text % "cuts: 4")
