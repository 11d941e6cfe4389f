"""Each record of a data set of any kind is read by itself."""

from itertools import chain

import pandas as pd
from fuzz_cells import CELLS, LIKELY, objects
from hypothesis import given
from hypothesis import strategies as st

from dpml.counts import contingency
from dpml.schema import Schema
from dpml.schema.untrusted import plain_features, plain_labels

ODD = [*LIKELY, *chain(*CELLS)]
# by their places: a strategy compares and names what it samples from, which some of these refuse
cells = st.integers(0, len(ODD) - 1).map(ODD.__getitem__) | st.floats() | st.integers() | st.text(max_size=5)
schemas = [
    Schema.binary(3),
    Schema.binary(3, classes=("yes", "no"), row_bound=1),
    Schema.binary(3, classes=(True, False)),
    Schema.binary(3, classes=(0, 1, "no")),
]
NAMES = Schema.binary(3).feature_names


def as_table(flat, kind):
    X = objects(flat, (-1, 3))
    if kind == "rows":
        return [list(row) for row in X]
    if kind == "frame":
        return pd.DataFrame(X, columns=NAMES)
    return X


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
