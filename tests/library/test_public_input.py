"""Bad input is refused by name on public input: parameters and schemas."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpml import _validate
from dpml.budget import Budget
from dpml.classifiers import BernoulliNB
from dpml.exceptions import DpmlError, InvalidData, InvalidParameter, InvalidSchema
from dpml.mechanisms import Laplace
from dpml.schema import Feature, Schema, resolve_schema

EPSILONS = [0, -0.0, -1, -1e-300, math.nan, math.inf, -math.inf, True, np.True_, "1", None, 1j, [1.0]]
COUNTS = [0, 6, -1, 2.0, 2.5, math.nan, True, "2", None, np.float64(2)]


def fit(**options):
    return BernoulliNB(1.0, **options).fit([[0]], [0])


# what is refused: the call with a value, its name in the message, values, and what the message allows
REFUSED = [
    (Budget, "epsilon", EPSILONS, "a finite number in (0, inf)"),
    (lambda v: Budget(1.0, v), "delta", [-1e-9, 1, 1.0, math.nan, math.inf, True, "0", None], "[0, 1)"),
    (lambda v: Budget(1.0, relation=v), "relation", ["add/remove", "ADD-REMOVE", "", None, 1, ["add-remove"]],
     "'add-remove', 'replace-one'"),
    (lambda v: _validate.check_integer(v, "n", 1, 5), "n", COUNTS, "an integer from 1 to 5"),
    (lambda v: Laplace(1.0).release(0.0, rng=v), "rng", [None, 0, np.random.RandomState(0), "rng"],
     "numpy.random.Generator"),
    (lambda v: fit(random_state=v), "random_state", [-1, 1.5, True, "0", np.random.PCG64(0)], "an integer >= 0"),
    (lambda v: Schema.binary(2, row_bound=v), "row_bound", [0, 1.5], "integer >= 1"),
    (lambda v: Schema.binary(2, n_rows=v), "n_rows", [0], "an integer from 1 to 9007199254740992"),
    (lambda v: Schema.binary(2, n_lower=v), "n_lower", [0], "an integer from 1 to 9007199254740992"),
    (lambda v: Schema.binary(2, n_rows=10, n_lower=v), "n_lower", [11], "from 1 to 10"),
    (lambda v: Schema.binary(1).check_labels([5], v), "on_invalid", ["warn"], "'raise', 'clip'"),
    (lambda v: Feature("age", v), "kind", ["ordinal"], "'binary', 'categorical', 'numeric'"),
    (lambda v: Feature("age", "numeric", lower=v, upper=1), "lower of 'age'", [None, "0"], "finite number"),
    (lambda v: Feature("age", "numeric", lower=0, upper=v), "upper of 'age'", [math.inf, math.nan], "finite number"),
    (lambda v: Feature("age", "numeric", lower=v[0], upper=v[1]), "(lower, upper) of 'age'",
     [(1.0, 1.0), (2.0, 1.0), (0.0, -0.0)], "lower < upper"),
    (lambda v: Feature("job", "categorical", categories=v), "categories of 'job'", [None, (), ("x", "x"), (1, 1.0)],
     "at least one, all different"),
    (lambda v: Schema((Feature("a"), Feature(v), Feature("b"))), "feature name", ["a"], "one feature only"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "name", "value", "allowed"),
    [(call, name, value, allowed) for call, name, values, allowed in REFUSED for value in values],
    # all processes of a run need the same names, so without the address of an object
    ids=[f"{name}-{repr(value).partition(' at 0x')[0]}" for _, name, values, _ in REFUSED for value in values],
)
def test_a_value_outside_its_range_is_named(call, name, value, allowed):
    with pytest.raises(InvalidParameter) as caught:
        call(value)
    assert caught.value.name == name
    for part in (name, repr(value), allowed):
        assert part in str(caught.value)


@pytest.mark.parametrize("epsilon", [1, 0.5, 1e-300, Fraction(1, 3), np.float32(0.25), np.int64(2)])
def test_epsilon_of_any_real_type_becomes_a_float(epsilon):
    number = Budget(epsilon).epsilon
    assert type(number) is float
    assert number == float(epsilon)


@pytest.mark.parametrize("value", [1, 5, np.int8(3), np.uint64(2)])
def test_an_integer_of_any_type_becomes_an_int(value):
    number = _validate.check_integer(value, "n", 1, 5)
    assert type(number) is int
    assert number == value


@pytest.mark.parametrize("open_lower", [False, True])
@pytest.mark.parametrize("open_upper", [False, True])
def test_ends_of_an_interval_are_open_or_closed(open_lower, open_upper):
    ends = {"open_lower": open_lower, "open_upper": open_upper}
    for value, fits in ((0.0, not open_lower), (1.0, not open_upper), (0.5, True), (-0.1, False), (1.1, False)):
        if fits:
            assert _validate.check_number(value, "share", 0, 1, **ends) == value
            continue
        with pytest.raises(InvalidParameter) as caught:
            _validate.check_number(value, "share", 0, 1, **ends)
        assert f"{'(' if open_lower else '['}0, 1{')' if open_upper else ']'}" in str(caught.value)


@pytest.mark.parametrize("kind", [InvalidParameter, InvalidSchema])
def test_errors_survive_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("epsilon", -1, "positive")))
    assert type(error) is kind
    assert isinstance(error, ValueError)
    assert str(error) == str(kind("epsilon", -1, "positive"))


# ---- schemas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *(
            (lambda classes=classes: Schema.binary(2, classes=classes), "at least two different labels")
            for classes in [(), (1,), ("a",), (0, 0), (0, 1, 0), (1, True), (0, 0.0), (np.int64(1), 1)]
        ),
        (lambda: Schema(()), "at least one feature"),
        (lambda: Schema.binary(2, ["a"]), "1 names"),
        (lambda: Schema.binary(2, ["a", "b", "c"]), "3 names"),
        (lambda: Feature("a", "categorical", categories=("x", "y"), missing="?"), "missing"),
        (lambda: Feature("a", "numeric", lower=0, upper=1, missing=7), "missing"),
        (lambda: Feature("a", "numeric", lower=0, upper=1, missing="u"), "missing"),
        (lambda: Feature("a", missing=7), "missing"),
        (lambda: Feature(5), "name"),
        (lambda: resolve_schema({}, np.zeros((2, 3))), r"`schema` must be .*Got 'dict'"),
    ],
)
def test_a_schema_that_states_no_domain_is_refused(make, message):
    with pytest.raises(InvalidSchema, match=message):
        make()


def test_row_bound_counts_one_for_each_block():
    features = [Feature("a", block="A"), Feature("b", block="A"), Feature("c", block="B"), Feature("d")]
    assert Schema(features).row_bound == 3
    assert Schema(features, row_bound=2).row_bound == 2
    assert Schema(features, row_bound=9).row_bound == 3
    assert Schema(features).subset(["a", "b"]).row_bound == 1


def test_without_a_schema_columns_are_binary():
    given_schema = Schema.binary(2)
    assert resolve_schema(given_schema, np.zeros((2, 9))) is given_schema
    assert resolve_schema(None, np.zeros((2, 3))) == Schema.binary(3)
    assert resolve_schema(None, pd.DataFrame({"p": [0], "q": [1]})).feature_names == ["p", "q"]
    with pytest.raises(InvalidData, match="1 dimensions"):
        resolve_schema(None, np.zeros(3))
    with pytest.raises(InvalidData, match="0 columns"):
        resolve_schema(None, np.zeros((3, 0)))


def test_a_subset_is_by_mask_or_by_known_columns():
    assert Schema.binary(2).subset(np.array([True, False])).feature_names == ["x0"]
    for columns in (["zz"], [9], [-3], [0.5]):
        with pytest.raises(DpmlError):
            Schema.binary(2).subset(columns)
