"""Categories of whole columns, looked up once for each different value: the same as cell by cell."""

import numpy as np
import pandas as pd
import pytest

from dpml.exceptions import InvalidData
from dpml.schema import Feature, Schema
from dpml.schema.untrusted import plain_labels, plain_positions

CATEGORIES = ("a", "b", 1, 2.5)


class Odd(str):
    def __hash__(self):
        raise ValueError("no hash")


COLUMNS = [
    np.array(["b", "a", "x", "b"], dtype=object),
    np.array(["b", "a", "x"]),
    np.array([1, 2, 1]),
    np.array([1.0, np.nan, 2.5]),
    np.array([True, False]),
    np.array(["a", 1, None, np.nan, [1], 2.5], dtype=object),
    np.array([Odd("a"), "b"], dtype=object),
    np.array([], dtype=object),
    pd.Series(["a", None, "b"], dtype="category"),
    pd.Series(pd.Categorical(["b", "z"], categories=["z", "b", "a"])),
    pd.Series(["a", None], dtype="string"),
    pd.Series([1, None], dtype="Int64"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=range(len(COLUMNS)))
def test_a_column_is_read_as_its_cells_are(column):
    expected = plain_labels(list(column), CATEGORIES)
    np.testing.assert_array_equal(plain_positions(column, CATEGORIES), expected)


@pytest.mark.parametrize("column", COLUMNS[:9], ids=range(9))
@pytest.mark.parametrize("missing", [None, "b"])
def test_cleaning_a_column_sends_what_is_unknown_to_one_category(column, missing):
    feature = Feature("c", "categorical", categories=CATEGORIES, missing=missing)
    known = plain_labels(list(column), CATEGORIES)
    fallback = CATEGORIES[0] if missing is None else missing
    expected = [CATEGORIES[k] if k >= 0 else fallback for k in known]
    assert feature.clean(column, "clip").tolist() == expected
    # a series keeps its dtype: a frame may make text of cells that only look like it
    checked, _ = Schema((feature,)).check_features(pd.DataFrame({"c": pd.Series(column, dtype=column.dtype)}), "clip")
    assert checked["c"].tolist() == expected


def test_the_first_unknown_cell_is_named():
    feature = Feature("c", "categorical", categories=("a", "b"), missing="b")
    assert feature.clean(np.array(["a", None], dtype=object), "raise").tolist() == ["a", "b"]
    with pytest.raises(InvalidData, match="column 'c' has the value 'x': it must be one of 'a', 'b'"):
        feature.clean(np.array(["a", None, "x", "y"], dtype=object), "raise")
