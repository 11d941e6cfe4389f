"""No data set makes a release raise, and each record is read by itself."""

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from private_values import Hostile
from scipy import sparse

from dpml.classifiers import BernoulliNB
from dpml.counts import (
    contingency,
)
from dpml.schema import Schema
from dpml.schema.untrusted import plain_features, plain_labels

METHODS = ["row-bounded", "published"]


# ---- no data set makes a release raise -------------------------------------------------------------------------------


cells = st.one_of(
    st.sampled_from([0, 1, 0.0, 1.0, True, False, np.True_, "0", "1"]),
    st.floats(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 2**63, np.uint64(2**64 - 1), np.float16("inf"), np.longdouble(1e300) ** 2]),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.sampled_from(
        [None, pd.NA, pd.NaT, np.datetime64("2020-01-01"), date(2020, 1, 1), Decimal("sNaN"), Fraction(1, 3)]
    ),
    st.sampled_from([np.timedelta64("NaT"), 1j, (), (1,), frozenset()]),
    st.builds(Hostile),
    st.builds(list),
    st.builds(dict),
    st.builds(lambda: np.zeros(2)),
)
schemas = [
    Schema.binary(3),
    Schema.binary(3, classes=("yes", "no"), row_bound=1),
    Schema.binary(3, classes=(True, False)),
    Schema.binary(3, classes=(0, 1, "no")),
]
NAMES = Schema.binary(3).feature_names


def objects(values, shape):
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array.reshape(shape)


def as_table(flat, kind):
    X = objects(flat, (-1, 3))
    if kind == "rows":
        return [list(row) for row in X]
    if kind == "frame":
        return pd.DataFrame(X, columns=NAMES)
    if kind == "inferred frame":
        return pd.DataFrame(X, columns=NAMES).infer_objects()
    if kind == "text":
        return np.array([repr(type(v).__name__)[:9] for v in flat], dtype=str).reshape(-1, 3)
    return X


@pytest.mark.filterwarnings("error", "ignore::dpml.exceptions.FactWarning")
@given(
    st.integers(0, 5).flatmap(lambda n: st.tuples(*(st.lists(cells, min_size=k * n, max_size=k * n) for k in (3, 1)))),
    st.sampled_from(["objects", "rows", "frame", "inferred frame", "text"]),
    st.sampled_from(["list", "objects", "series"]),
    st.sampled_from(METHODS),
    st.sampled_from(schemas),
    st.sampled_from(["raise", "clip"]),
)
def test_no_cell_and_no_label_makes_a_release_raise(data, kind, kind_of_labels, method, schema, on_invalid):
    flat, labels = data
    X, y = as_table(flat, kind), objects(labels, (-1,))
    y = {"list": list(y), "objects": y, "series": pd.Series(y, index=np.arange(len(y))[::-1], dtype=object)}[
        kind_of_labels
    ]
    model = BernoulliNB(1.0, method=method, schema=schema, on_invalid=on_invalid, release=True)
    model.fit(X, y)
    assert model.classes_.tolist() == list(schema.classes)
    assert np.isfinite(model.feature_log_prob_).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.filterwarnings("error", "ignore::dpml.exceptions.FactWarning")
@given(
    st.integers(0, 6).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, 2), st.floats()), max_size=8 if n else 0),
            st.lists(st.integers(-1, 3), min_size=n, max_size=n),
        )
    ),
    st.sampled_from(["csr", "csc", "coo", "lil", "dok"]),
    st.sampled_from([float, np.float32, complex, np.longdouble]),
    st.sampled_from(METHODS),
)
def test_no_sparse_table_makes_a_release_raise(data, kind, dtype, method):
    """Stored zeros, duplicates, NaN, infinities and empty tables."""
    n, entries, y = data
    rows, columns, values = (list(part) for part in zip(*entries, strict=True)) if entries else ([], [], [])
    with np.errstate(all="ignore"):
        X = sparse.coo_array((np.array(values, dtype=dtype), (rows, columns)), shape=(n, 3)).asformat(kind)
    model = BernoulliNB(1.0, method=method, release=True).fit(X, y)
    assert np.isfinite(model.feature_log_prob_).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-01-01", None]),
        pd.to_datetime(["2020-01-01", None], utc=True),
        pd.to_timedelta([1, None]),
        pd.Categorical(["a", None]),
        pd.Categorical([1, 0]),
        pd.array([1, None], dtype="Int64"),
        pd.array([True, None], dtype="boolean"),
        pd.array(["1", None], dtype="string"),
        pd.arrays.SparseArray([1.0, np.nan]),
        pd.period_range("2020", periods=2),
        pd.IntervalIndex.from_breaks([0, 1, 2]),
        np.array([1j, 1]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_no_type_of_column_makes_a_release_raise(method, column):
    frame = pd.DataFrame({"x0": column, "x1": [0, 1]})
    for y in ([0, 1], column):
        model = BernoulliNB(1.0, method=method, release=True).fit(frame, y)
        assert np.isfinite(model.predict_proba(frame)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("y", [[0] * 9, [1] * 9, ["neither"] * 9, [None] * 9, [math.nan] * 9, []])
def test_one_class_no_class_and_no_record_are_released(method, y):
    model = BernoulliNB(1.0, method=method, release=True).fit(np.ones((len(y), 3)), y)
    assert np.isfinite(model.predict_proba(np.eye(3))).all()
    assert model.classes_.tolist() == [0, 1]


def test_a_list_of_no_rows_has_the_schemas_width():
    assert BernoulliNB(1.0, schema=Schema.binary(3), release=True).fit([], []).feature_log_prob_.shape == (2, 3)


# ---- each record is read by itself -----------------------------------------------------------------------------------


@given(
    st.integers(0, 4).flatmap(lambda n: st.tuples(*(st.lists(cells, min_size=k * n, max_size=k * n) for k in (3, 1)))),
    st.lists(cells, min_size=3, max_size=3),
    cells,
    st.sampled_from(["objects", "rows", "frame"]),
    st.sampled_from(schemas),
)
def test_one_more_record_of_any_kind_changes_the_counts_by_its_own(data, record, label, kind, schema):
    """Sensitivity as it is promised: at most one class, one record there and one 1 in each of its columns."""
    flat, labels = data

    def counts(flat, labels):
        X, _ = schema.check_features(plain_features(as_table(flat, kind), 3), "clip")
        codes = plain_labels(list(labels), schema.classes)
        return contingency(X[codes >= 0], codes[codes >= 0], schema.n_classes)

    one, two = counts(flat, labels), counts([*flat, *record], [*labels, label])
    n, on = two.n - one.n, two.on - one.on
    assert n.min() >= 0
    assert n.sum() <= 1
    assert on.min() >= 0
    assert (on <= n[:, None]).all()
