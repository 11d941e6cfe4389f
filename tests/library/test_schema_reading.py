"""Each cell is read by itself: an odd record leaves the reading of all others the same, whatever holds them."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fuzz_cells import OddText
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import ALIKE, CONTAINERS, ODD, column, frame
from scipy import sparse

from dpml.encoding import BinaryEncoding
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema import Feature, Schema
from dpml.schema.cells import cell_key, is_null

EXAMPLES = int(os.environ.get("DPML_READING", "60"))
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
VALUES = ("a", 1, "1", 0, 0.5, 2**53 - 1, "True", "nan", 2, "yes")


@st.composite
def cells(draw, n):
    some = st.sampled_from(draw(st.sampled_from(ALIKE)))
    return draw(st.lists(some, min_size=n, max_size=n))


@st.composite
def features(draw, name):
    kind = draw(st.sampled_from(["categorical", "numeric", "binary"]))
    filled = draw(st.booleans())
    if kind == "categorical":
        values = tuple(draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=4, unique_by=cell_key)))
        return Feature(name, kind, values, missing=values[-1] if filled else None)
    if kind == "binary":
        return Feature(name, missing=1 if filled else None)
    lower, upper = draw(st.sampled_from([(0, 1), (0.5, 1e16), (-2, 2**53)]))
    return Feature(name, kind, lower=lower, upper=upper, missing=upper if filled else None)


@st.composite
def two_tables(draw):
    """Return columns and labels without and with an odd record, and where it is."""
    n, names = draw(st.integers(1, 5)), ["c", "d"][: draw(st.integers(1, 2))]
    at = draw(st.integers(0, n))
    columns = {name: draw(cells(n)) for name in [*names, "label"]}
    odd = {name: [*c[:at], ODD[draw(st.integers(0, len(ODD) - 1))], *c[at:]] for name, c in columns.items()}
    return columns, odd, at


def without(values, at):
    values = list(values)
    del values[at]
    return values


def bits(read):
    """Return a checked table as texts, one for each record, with the type of each category; -0 is 0."""
    table = (
        read if isinstance(read, pd.DataFrame) else pd.DataFrame(read.toarray() if hasattr(read, "toarray") else read)
    )
    return [
        repr([v + 0.0 if isinstance(v, float) else v for v in row])
        for row in zip(*(table.iloc[:, i].tolist() for i in range(table.shape[1])), strict=True)
    ]


@many
@given(
    two_tables(),
    st.tuples(features("c"), features("d")),
    st.lists(st.sampled_from(VALUES), min_size=2, max_size=4, unique_by=cell_key),
    st.sampled_from(list(CONTAINERS)),
    st.sampled_from(list(CONTAINERS)),
)
def test_an_odd_record_changes_the_reading_of_no_other(tables, two, classes, kind, kind_of_labels):
    columns, odd, at = tables
    labels, odd_labels = column(kind_of_labels, columns.pop("label")), column(kind_of_labels, odd.pop("label"), at)
    schema = Schema(two[: len(columns)], tuple(classes))
    X, more = frame(kind, columns), frame(kind, odd, at)
    if labels is not None and odd_labels is not None:
        codes, others = schema.check_labels(labels, "clip"), schema.check_labels(odd_labels, "clip")
        assert codes.tolist() == without(others, at)
    if X is None or more is None:
        return
    checked, others = schema.check_features(X, "clip")[0], schema.check_features(more, "clip")[0]
    assert bits(checked) == without(bits(others), at)
    if labels is not None and odd_labels is not None:
        kept, its = schema.without_unknown(checked, codes, "clip")
        both, all_ = schema.without_unknown(others, schema.check_labels(odd_labels, "clip"), "clip")
        odd_is_kept = len(all_) > len(its)
        place = int((codes[:at] >= 0).sum())
        assert its.tolist() == (without(all_, place) if odd_is_kept else all_.tolist())
        assert bits(kept) == (without(bits(both), place) if odd_is_kept else bits(both))
    if hasattr(X, "columns"):
        encoding = BinaryEncoding(
            schema, {f.name: (f.lower / 2 + f.upper / 2,) for f in two[: len(columns)] if f.upper}, on_invalid="clip"
        )
        try:
            one_hot = [encoding.transform(table) for table in (X, more)]
        except InvalidSchema:  # two categories make the same name of a column
            return
        np.testing.assert_array_equal(one_hot[0], np.delete(one_hot[1], at, axis=0))


@many
@given(two_tables(), features("c"), st.sampled_from(list(CONTAINERS)))
def test_an_odd_record_changes_no_other_in_a_simulation(tables, feature, kind):
    columns, odd, at = tables
    columns, odd = {"c": columns["c"]}, {"c": odd["c"]}
    X, more = frame(kind, columns), frame(kind, odd, at)
    if X is None or more is None:
        return
    schema = Schema((feature,))
    try:
        read = [schema.check_features(table, "raise")[0] for table in (X, more)]
    except InvalidData:
        return
    assert bits(read[0]) == without(bits(read[1]), at)


# ---- what was found, each by itself ----------------------------------------------------------------------------------


def test_a_text_of_a_subclass_has_the_value_of_its_text():
    """pandas found it equal, and one such cell made "yes" of all other records unknown; NumPy keeps its text alone."""
    categories = Feature("c", "categorical", ("no", "yes"))
    plain = np.array(["no", "yes"], dtype=object)
    odd = np.array([OddText("yes"), "no", "yes"], dtype=object)
    assert categories.positions(plain, "clip").tolist() == [0, 1]
    assert categories.positions(odd, "clip").tolist() == [1, 0, 1]


@pytest.mark.parametrize("make", [lambda a: pa.chunked_array([a]), lambda a: a])
@pytest.mark.parametrize("encode", [lambda a: a, lambda a: a.dictionary_encode()])
def test_a_null_of_arrow_is_a_null(make, encode):
    """A null of a dictionary took the value of another record, and one in a plain array raised an error."""
    values = make(encode(pa.array(["yes", None, "no"])))
    schema = Schema((Feature("c", "categorical", ("no", "yes"), missing="yes"),), ("no", "yes"))
    assert schema.check_labels(values, "clip").tolist() == [1, -1, 0]
    for table in (pa.table({"c": values}), pd.DataFrame({"c": values.to_pandas()})):
        assert schema.check_features(table, "clip")[0]["c"].tolist() == ["yes", "yes", "no"]
    numbers = make(encode(pa.array([0.25, None, 0.5])))
    assert Feature("c", "numeric", lower=0, upper=1, missing=1).clean(numbers, "clip").tolist() == [0.25, 1.0, 0.5]


@pytest.mark.parametrize("dtype", [pd.StringDtype("pyarrow"), pd.ArrowDtype(pa.string()), "dictionary"])
def test_bytes_that_are_no_text_are_one_null(dtype):
    """One such cell of a Parquet file made all cells of its column nulls, or a release raise an error."""
    bad = pa.array([b"2", b"\xff", b"0", b"2"]).view(pa.string())
    if dtype == "dictionary":
        bad = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), bad[:3])
        dtype = pd.ArrowDtype(bad.type)
    column = pd.Series(pd.array(bad, dtype))
    category = Feature("c", "categorical", ("0", "1", "2"), missing="1")
    assert category.clean(column, "clip").tolist() == ["2", "1", "0", "2"]
    assert Feature("c", "numeric", lower=0, upper=2, missing=1).clean(column, "clip").tolist() == [2.0, 1.0, 0.0, 2.0]
    assert Schema.binary(1, classes=(0, 2)).check_labels(column, "clip").tolist() == [1, -1, 0, 1]
    encoding = BinaryEncoding(Schema((category,)), on_invalid="clip")
    assert encoding.transform(pd.DataFrame({"c": column})).argmax(axis=1).tolist() == [2, 1, 0, 2]


def test_a_masked_cell_is_a_null():
    X = np.ma.masked_array([[0.25], [0.5]], mask=[[False], [True]])
    schema = Schema((Feature("c", "numeric", lower=0, upper=1, missing=1),))
    assert schema.check_features(X)[0]["c"].tolist() == [0.25, 1.0]


def test_half_of_a_surrogate_pair_is_in_no_category():
    """pandas made text of Arrow's of all columns, which cannot hold it."""
    X = np.array([["a"], ["\ud800"], ["b"]])
    schema = Schema((Feature("c", "categorical", ("a", "b")),))
    assert schema.check_features(X, "clip")[0]["c"].tolist() == ["a", "a", "b"]


def test_an_integer_of_more_than_64_bits_in_polars_is_read():
    pl = pytest.importorskip("polars")
    schema = Schema((Feature("c", "numeric", lower=0, upper=9),))
    table = pl.DataFrame({"c": pl.Series([2, 1, -(2**63) - 1], dtype=pl.Int128)})
    assert schema.check_features(table, "clip")[0]["c"].tolist() == [2.0, 1.0, 0.0]


def test_text_in_a_row_leaves_truth_values_of_others():
    """NumPy made "True" of True, which spells no number."""
    schema = Schema.binary(2)
    assert schema.check_features([[True, 0], ["1", 1]])[0].tolist() == [[1.0, 0.0], [1.0, 1.0]]


def test_every_null_is_one():
    nulls = [value for value in ODD if is_null(value)]
    feature = Feature("c", "categorical", ("a", "b"), missing="b")
    number = Feature("c", "numeric", lower=0, upper=1, missing=1)
    assert len(nulls) > 8
    for value in nulls:
        for on_invalid in ("raise", "clip"):
            assert feature.clean([value, "a"], on_invalid).tolist() == ["b", "a"]
            assert number.clean([value, 0], on_invalid).tolist() == [1.0, 0.0]
        assert feature.count_outside([value, "a"]) == number.count_outside([value, 0]) == 0
        assert Schema.binary(1, classes=("a", "b")).check_labels([value, "b"], "clip").tolist() == [-1, 1]


def test_what_is_no_number_is_no_gap_in_a_study():
    number = Feature("c", "numeric", lower=0, upper=1, missing=1)
    assert number.clean(["?", 0], "clip").tolist() == [1.0, 0.0]
    with pytest.raises(InvalidData, match="'c' has the value '\\?'"):
        number.clean(["?", 0], "raise")


def test_of_a_sparse_table_the_first_cell_outside_is_named():
    table = sparse.csr_array([[0, 0, 7], [5, 0, 0]])
    with pytest.raises(InvalidData, match="'x2' has the value 7"):
        Schema.binary(3).check_features(table)


def test_numbers_and_truth_values_match_spelled_categories():
    digits = Feature("a", "categorical", ("1", "2", "10"))
    truth = Feature("b", "categorical", ("False", "True"))
    for cells in ([1, 10], np.array([1.0, 10.0]), pd.Series([1, 10], dtype="Int64"), [np.int8(1), "10"]):
        assert digits.clean(cells, "raise").tolist() == ["1", "10"]
    for cells in ([True, False], np.array([True, False]), pd.Series([1.0, 0.0])):
        assert truth.clean(cells, "raise").tolist() == ["True", "False"]
    assert digits.count_outside(["1 ", "01", 3, 1.5, None]) == 3  # texts are categories by value
    # what two categories spell is neither, and what is stated is itself
    assert Feature("c", "categorical", ("1", "01")).count_outside([1]) == 1
    assert Feature("c", "categorical", ("1", 1)).clean([1, "1"], "raise").tolist() == [1, "1"]


def test_an_odd_record_changes_no_other_text_category():
    feature = Feature("a", "categorical", ("0", "1", "2"))
    column = [0, 1, 2, 1]
    alone = feature.positions(pd.Series(column), "clip").tolist()
    for odd in ("?", None, 1.5, np.nan, 2**60, [1], "1"):
        assert feature.positions(pd.Series([*column, odd]), "clip").tolist()[:4] == alone == column


def test_a_missing_value_is_named_as_the_category_is_stated():
    with pytest.raises(InvalidSchema, match="missing of 'a'"):
        Feature("a", "categorical", ("0", "1"), missing=1)
