"""Bad input is refused by name on public input: parameters and schemas."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpml import _validate
from dpml.budget import Budget
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema
from dpml.schema import Feature, Schema, resolve_schema


def assert_refused(error, name, value, *allowed):
    """The message carries the name, the value and what would be allowed."""
    assert isinstance(error, InvalidParameter)
    assert error.name == name
    for part in (name, repr(value), *allowed):
        assert part in str(error)


# ---- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [0, 0.0, -0.0, -1, -1e-300, math.nan, math.inf, -math.inf, True, False, np.True_, "1", None, 1j, [1.0]]
)
@pytest.mark.parametrize("boundary", [_validate.check_epsilon, Budget], ids=["check_epsilon", "Budget"])
def test_epsilon_out_of_range_is_refused(boundary, epsilon):
    with pytest.raises(InvalidParameter) as caught:
        boundary(epsilon)
    assert_refused(caught.value, "epsilon", epsilon, "a finite number in (0, inf)")


@pytest.mark.parametrize("epsilon", [1, 0.5, 1e-300, Fraction(1, 3), np.float32(0.25), np.int64(2)])
def test_epsilon_of_any_real_type_becomes_a_float(epsilon):
    number = _validate.check_epsilon(epsilon)
    assert type(number) is float
    assert number == float(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.0, math.nan, math.inf, True, "0", None])
def test_delta_out_of_range_is_refused(delta):
    with pytest.raises(InvalidParameter) as caught:
        Budget(1.0, delta)
    assert_refused(caught.value, "delta", delta, "[0, 1)")


@pytest.mark.parametrize(
    ("value", "open_lower", "open_upper", "fits"),
    [
        (0.0, False, True, True),
        (0.0, True, True, False),
        (1.0, False, False, True),
        (1.0, False, True, False),
        (0.5, True, True, True),
        (-0.1, False, False, False),
        (1.1, False, False, False),
    ],
)
def test_fraction_at_open_and_closed_ends(value, open_lower, open_upper, fits):
    ends = {"open_lower": open_lower, "open_upper": open_upper}
    if fits:
        assert _validate.check_number(value, "share", 0, 1, **ends) == value
    else:
        with pytest.raises(InvalidParameter) as caught:
            _validate.check_number(value, "share", 0, 1, **ends)
        assert_refused(caught.value, "share", value, f"{'(' if open_lower else '['}0, 1{')' if open_upper else ']'}")


@pytest.mark.parametrize("n_features", [0, 6, -1, 2.0, 2.5, math.nan, True, "2", None, np.float64(2)])
def test_n_features_outside_one_to_all_is_refused(n_features):
    with pytest.raises(InvalidParameter) as caught:
        _validate.check_integer(n_features, "n_features", 1, 5)
    assert_refused(caught.value, "n_features", n_features, "an integer from 1 to 5")


@pytest.mark.parametrize("n_features", [1, 5, np.int8(3), np.uint64(2)])
def test_n_features_within_one_to_all_becomes_an_int(n_features):
    number = _validate.check_integer(n_features, "n_features", 1, 5)
    assert type(number) is int
    assert number == n_features


@pytest.mark.parametrize("relation", ["add/remove", "ADD-REMOVE", "", None, 1, ["add-remove"]])
def test_unknown_relation_is_refused(relation):
    with pytest.raises(InvalidParameter) as caught:
        Budget(1.0, relation=relation)
    assert_refused(caught.value, "relation", relation, "'add-remove'", "'replace-one'")


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0), "rng"])
def test_rng_must_be_a_generator(rng):
    with pytest.raises(InvalidParameter) as caught:
        _validate.check_rng(rng)
    assert_refused(caught.value, "rng", rng, "numpy.random.Generator")


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0", np.random.PCG64(0)])
def test_random_state_must_be_none_seed_or_generator(seed):
    with pytest.raises(InvalidParameter) as caught:
        _validate.as_generator(seed)
    assert_refused(caught.value, "random_state", seed, "an integer >= 0")


def test_random_state_as_seed_and_as_generator():
    expected = np.random.default_rng(3).random(4)
    assert (_validate.as_generator(3).random(4) == expected).all()
    rng = np.random.default_rng(3)
    assert _validate.as_generator(rng) is rng


@pytest.mark.parametrize("kind", [InvalidParameter, InvalidSchema])
def test_errors_survive_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("epsilon", -1, "positive")))
    assert type(error) is kind
    assert isinstance(error, ValueError)
    assert_refused(error, "epsilon", -1, "positive")


# ---- schemas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [(), (1,), ("a",), (0, 0), (0, 1, 0), (1, True), (0, 0.0), (np.int64(1), 1)])
def test_schema_needs_two_different_classes(classes):
    with pytest.raises(InvalidSchema, match="at least two different labels") as caught:
        Schema.binary(2, classes=classes)
    assert caught.value.name == "classes"


def test_schema_needs_different_names():
    with pytest.raises(InvalidSchema) as caught:
        Schema((Feature("a"), Feature("b"), Feature("a")))
    assert_refused(caught.value, "feature name", "a", "one feature only")


def test_schema_needs_features():
    with pytest.raises(InvalidSchema, match="at least one feature"):
        Schema(())


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_binary_schema_needs_a_name_for_each_feature(names):
    with pytest.raises(InvalidSchema, match=f"{len(names)} names"):
        Schema.binary(2, names)


@pytest.mark.parametrize("categories", [None, (), ("x", "x"), (1, 1.0)])
def test_categorical_feature_needs_different_categories(categories):
    with pytest.raises(InvalidSchema) as caught:
        Feature("job", "categorical", categories=categories)
    assert_refused(caught.value, "categories of 'job'", categories, "at least one, all different")


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (0.0, -0.0)])
def test_numeric_feature_needs_lower_below_upper(lower, upper):
    with pytest.raises(InvalidSchema) as caught:
        Feature("age", "numeric", lower=lower, upper=upper)
    assert_refused(caught.value, "(lower, upper) of 'age'", (float(lower), float(upper)), "lower < upper")


@pytest.mark.parametrize(("side", "value"), [("lower", None), ("upper", math.inf), ("upper", math.nan), ("lower", "0")])
def test_numeric_feature_needs_finite_bounds(side, value):
    bounds = {"lower": 0, "upper": 1} | {side: value}
    with pytest.raises(InvalidParameter) as caught:
        Feature("age", "numeric", **bounds)
    assert_refused(caught.value, f"{side} of 'age'", value, "finite number")


def test_unknown_kind_of_feature_is_refused():
    with pytest.raises(InvalidParameter) as caught:
        Feature("age", "ordinal")
    assert_refused(caught.value, "kind", "ordinal", "'binary'", "'categorical'", "'numeric'")


@pytest.mark.parametrize(("name", "value"), [("row_bound", 0), ("row_bound", 1.5), ("n_rows", 0), ("n_lower", 0)])
def test_counts_in_a_schema_are_positive_integers(name, value):
    with pytest.raises(InvalidParameter) as caught:
        Schema.binary(2, **{name: value})
    allowed = "integer >= 1" if name == "row_bound" else "an integer from 1 to 9007199254740992"
    assert_refused(caught.value, name, value, allowed)


def test_lower_bound_on_records_cannot_pass_their_number():
    with pytest.raises(InvalidParameter) as caught:
        Schema.binary(2, n_rows=10, n_lower=11)
    assert_refused(caught.value, "n_lower", 11, "from 1 to 10")


def test_row_bound_counts_one_for_each_block():
    features = [Feature("a", block="A"), Feature("b", block="A"), Feature("c", block="B"), Feature("d")]
    assert Schema(features).row_bound == 3
    assert Schema(features, row_bound=2).row_bound == 2
    assert Schema(features, row_bound=9).row_bound == 3
    assert Schema(features).subset(["a", "b"]).row_bound == 1


def test_resolve_schema():
    given_schema = Schema.binary(2)
    assert resolve_schema(given_schema, np.zeros((2, 9))) is given_schema
    assert resolve_schema(None, np.zeros((2, 3))) == Schema.binary(3)
    assert resolve_schema(None, pd.DataFrame({"p": [0], "q": [1]})).feature_names == ["p", "q"]
    with pytest.raises(InvalidSchema, match=r"`schema` must be .*Got 'dict'"):
        resolve_schema({}, np.zeros((2, 3)))
    with pytest.raises(InvalidData, match="1 dimensions"):
        resolve_schema(None, np.zeros(3))
    with pytest.raises(InvalidData, match="0 columns"):
        resolve_schema(None, np.zeros((3, 0)))
