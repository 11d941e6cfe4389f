"""No data set makes a release raise, and each record is read by itself."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from private_values import Hostile

from dpml.counts import (
    contingency,
)
from dpml.schema import Schema
from dpml.schema.untrusted import plain_features, plain_labels

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
