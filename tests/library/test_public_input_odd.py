"""Odd input on public input: forked budgets, odd cells, odd columns."""

import numpy as np
import pytest
from scipy import sparse

from dpml.budget import Budget
from dpml.exceptions import DpmlError, InvalidParameter, InvalidSchema
from dpml.schema import Feature, Schema


@pytest.mark.parametrize(
    "make",
    [
        lambda: Feature("a", "categorical", categories=("x", "y"), missing="?"),
        lambda: Feature("a", "numeric", lower=0, upper=1, missing=7),
        lambda: Feature("a", "numeric", lower=0, upper=1, missing="u"),
        lambda: Feature("a", missing=7),
    ],
)
def test_missing_must_lie_in_the_domain(make):
    with pytest.raises(InvalidSchema):
        make()


@pytest.mark.parametrize(
    "feature",
    [
        Feature("a", "numeric", lower=np.int64(0), upper=np.int64(9)),
        Feature("a", "numeric", lower=np.float32(0), upper=np.float32(9)),
        Feature("a", "categorical", categories=tuple(np.arange(3))),
    ],
)
def test_numpy_scalars_survive_json(feature):
    schema = Schema((feature,))
    assert Schema.from_json(schema.to_json()) == schema


def test_float16_labels():
    assert Schema.binary(1).check_labels(np.array([0, 1], np.float16)).tolist() == [0, 1]


def test_sparse_with_a_numeric_feature():
    schema = Schema((Feature("a", "numeric", lower=0, upper=1), Feature("b")))
    X, _ = schema.check_features(sparse.csr_array(np.eye(2)))
    assert X.to_numpy().tolist() == [[1, 0], [0, 1]]


def test_subset_by_mask_is_not_by_position():
    # a boolean mask is read as positions 1 and 0: either support it or refuse it
    assert Schema.binary(2).subset(np.array([True, False])).feature_names == ["x0"]


@pytest.mark.parametrize("columns", [["zz"], [9], [-3], [0.5]])
def test_unknown_column_of_a_subset_is_a_named_error(columns):
    with pytest.raises(DpmlError):
        Schema.binary(2).subset(columns)


def test_second_split_has_parts_of_its_own():
    budget = Budget(1.0)
    budget.split(1, 1)[0].spend(0.25)
    part = budget.split(1, 1)[0]
    assert part.remaining == 0.375
    part.spend(part.epsilon)  # BudgetExceeded: it is charged with what the first 'part 1' spent


def test_check_labels_refuses_an_unknown_mode():
    with pytest.raises(InvalidParameter):
        Schema.binary(1).check_labels([5], "warn")


def test_split_with_huge_weights():
    assert [p.epsilon for p in Budget(1.0).split(1e308, 1e308)] == [0.5, 0.5]


def test_name_must_be_text():
    with pytest.raises(InvalidSchema):
        Feature(5)  # accepted, then no DataFrame column is ever found under it


def test_total_cannot_be_raised_afterwards():
    budget = Budget(1.0)
    with pytest.raises(AttributeError):
        budget.epsilon = 5.0
