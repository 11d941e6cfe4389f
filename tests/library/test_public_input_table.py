"""Tables and labels against their schema: named errors in demonstration, and clipping that nothing makes raise."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from dpml.exceptions import InvalidData
from dpml.schema import Feature, Schema

AGE = Feature("age", "numeric", lower=17, upper=90)
JOB = Feature("job", "categorical", categories=("clerk", "smith", "?"), missing="?")
MEMBER = Feature("member")
MIXED = Schema((AGE, JOB, MEMBER), classes=("no", "yes"))


def mixed_frame(**changes):
    return pd.DataFrame({"age": [30.0, 40.0], "job": ["clerk", "smith"], "member": [0, 1]} | changes)


@pytest.mark.parametrize(
    ("column", "value", "domain"),
    [
        ("age", 16.9, "a number from 17 to 90"),
        ("age", 91, "a number from 17 to 90"),
        ("age", math.nan, "a number from 17 to 90"),
        ("age", math.inf, "a number from 17 to 90"),
        ("job", "king", "one of 'clerk', 'smith', '?'"),
        ("member", 2, "0 or 1"),
        ("member", 0.5, "0 or 1"),
        ("member", math.nan, "0 or 1"),
    ],
)
def test_value_outside_its_domain_is_named(column, value, domain):
    inside = mixed_frame()[column].iloc[0]
    frame = mixed_frame(**{column: [inside, value]})
    with pytest.raises(InvalidData) as caught:
        MIXED.check_features(frame)
    for part in (repr(column), f"{value:g}" if isinstance(value, float) else str(value), domain):
        assert part in str(caught.value)


def test_clipping_sends_each_value_to_its_domain():
    ages = [-1.0, 17.0, 200.0, math.nan, math.inf, -math.inf]
    jobs = ["clerk", "king", None, math.nan, "?", 3]
    frame = pd.DataFrame({"age": ages, "job": pd.Series(jobs, dtype=object), "member": [-3, 0.4, 0.6, math.nan, 7, 1]})
    clean, schema = MIXED.check_features(frame, "clip")
    assert schema is MIXED
    assert clean["age"].tolist() == [17, 17, 90, 53.5, 90, 17]
    named, _ = MIXED.check_features(mixed_frame(job=["clerk", None]))
    assert named["job"].tolist() == ["clerk", "?"]
    assert clean["job"].tolist() == ["clerk", "?", "?", "?", "?", "?"]
    assert clean["member"].tolist() == [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("on_invalid", ["raise", "clip"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 2)), "X has 2 columns: the schema has 3 features"),
        (sparse.csr_array((2, 4)), "X has 4 columns: the schema has 3 features"),
        (np.zeros(3), "X has 1 dimensions"),
        (np.zeros((1, 1, 3)), "X has 3 dimensions"),
        (pd.DataFrame({"x3": [1]}), "'x3' is not in the schema, which has 'x0', 'x1', 'x2'"),
    ],
)
def test_wrong_columns_are_an_error_in_both_modes(X, message, on_invalid):
    with pytest.raises(InvalidData, match=message):
        Schema.binary(3).check_features(X, on_invalid)


@pytest.mark.parametrize("to_X", [np.array, sparse.csr_array, sparse.coo_array], ids=["dense", "csr", "coo"])
def test_binary_value_outside_its_domain(to_X):
    X = to_X(np.array([[0.0, 1.0, 3.0], [-2.0, 0.0, math.nan]]))
    before = X.copy()
    with pytest.raises(InvalidData, match=r"column 'x[02]' has the value (3\.0|-2\.0|nan): it must be 0 or 1"):
        Schema.binary(3).check_features(X)
    clean, _ = Schema.binary(3).check_features(X, "clip")
    dense = clean.toarray() if sparse.issparse(clean) else clean
    assert dense.tolist() == [[0, 1, 1], [0, 0, 0]]
    assert str(X) == str(before)


def test_sparse_input_stays_sparse_and_is_freed_of_stored_zeros():
    X = sparse.coo_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 2])), shape=(2, 3))
    clean, _ = Schema.binary(3).check_features(X)
    assert isinstance(clean, sparse.csr_array)
    assert clean.nnz == 2
    assert clean.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    twice = sparse.csr_array((np.ones(2), np.zeros(2, int), np.array([0, 2])), shape=(1, 3))
    with pytest.raises(InvalidData, match=r"column 'x0' has the value 2\.0"):
        Schema.binary(3).check_features(twice)
    assert twice.nnz == 2


any_matrix = arrays(
    st.sampled_from([np.float64, np.float32]),
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
)


@given(any_matrix)
def test_clipping_never_raises_and_lands_in_the_domain(X):
    schema = Schema.binary(X.shape[1])
    dense, _ = schema.check_features(X, "clip")
    assert ((dense == 0) | (dense == 1)).all()
    assert dense.shape == X.shape
    inside = (X == 0) | (X == 1)
    assert (dense[inside] == X[inside]).all()
    scattered, _ = schema.check_features(sparse.csr_array(X), "clip")
    assert (scattered.toarray() == dense).all()
    again, _ = schema.check_features(dense, "raise")
    assert (again == dense).all()


@given(any_matrix)
def test_raising_happens_exactly_when_a_value_is_outside(X):
    schema = Schema.binary(X.shape[1])
    if ((X == 0) | (X == 1)).all():
        assert (schema.check_features(X)[0] == X).all()
    else:
        with pytest.raises(InvalidData, match=r"column 'x\d' has the value .* 0 or 1"):
            schema.check_features(X)


@given(
    arrays(np.float64, st.integers(1, 8), elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
)
def test_clipping_numbers_lands_between_the_bounds(values, lower, width):
    feature = Feature("v", "numeric", lower=lower, upper=lower + width)
    clean = feature.clean(values, "clip")
    assert ((clean >= lower) & (clean <= lower + width)).all()
    inside = (values >= lower) & (values <= lower + width)
    assert (clean[inside] == values[inside]).all()


scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**40), 10**40), st.floats(), st.text(max_size=3))


@given(st.lists(st.tuples(scalars, scalars, scalars), min_size=1, max_size=5))
def test_clipping_a_frame_of_anything_lands_in_the_domain(rows):
    frame = pd.DataFrame(rows, columns=MIXED.feature_names, dtype=object)
    clean, _ = MIXED.check_features(frame, "clip")
    assert clean["age"].between(17, 90).all()
    assert set(clean["job"]) <= set(JOB.categories)
    assert set(clean["member"]) <= {0.0, 1.0}


# ---- labels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "y", "codes"),
    [
        ((0, 1), [0, 1, 1], [0, 1, 1]),
        ((0, 1), [False, True], [0, 1]),
        ((0, 1), [0.0, 1.0], [0, 1]),
        ((0, 1), [1, 1], [1, 1]),
        ((1, 0), [0, 1], [1, 0]),
        (("no", "yes"), ["yes", "no"], [1, 0]),
        ((5, 7, 9), [9, 5], [2, 0]),
        ((0, 1), np.array([0, 1], np.float16), [0, 1]),
        ((0, 1), [], []),
    ],
)
def test_labels_become_positions(classes, y, codes):
    found = Schema.binary(1, classes=classes).check_labels(np.array(y))
    assert found.tolist() == codes
    assert found.dtype == np.intp


@pytest.mark.parametrize(
    ("classes", "y", "value"),
    [((0, 1), [0, 2], "2"), ((0, 1), [-1, 1], "-1"), ((0, 1), [0, math.nan], "nan"), (("a", "b"), ["a", "c"], "'c'")],
)
def test_unknown_label_is_named_or_marked(classes, y, value):
    schema = Schema.binary(1, classes=classes)
    with pytest.raises(InvalidData) as caught:
        schema.check_labels(y)
    assert f"y has the label {value}: it must be one of {', '.join(map(repr, classes))}" in str(caught.value)
    assert (schema.check_labels(y, "clip") == -1).sum() == 1


@pytest.mark.parametrize("to_X", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_record_with_an_unknown_label_is_dropped_when_clipping(to_X):
    X, y, _ = Schema.binary(2).check_table(to_X([[1, 0], [0, 1], [1, 1]]), [0, 5, 1], "clip")
    assert X.shape == (2, 2)
    assert y.tolist() == [0, 1]


def test_a_record_has_one_label():
    with pytest.raises(InvalidData, match="y has 2 dimensions"):
        Schema.binary(1).check_labels([[0], [1]])
    with pytest.raises(InvalidData, match="X has 2 records and y has 3 labels"):
        Schema.binary(1).check_table([[0], [1]], [0, 1, 1])
