"""A cell has one value, however a reader of files or NumPy spells it."""

import io
import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fuzz_cells import CELLS, OddFloat, OddText

from dpml.exceptions import InvalidSchema
from dpml.schema import Feature, Schema
from dpml.schema.cells import cell_key, equal_values, is_null, plain_features, plain_numbers, plain_positions

SPELLINGS = {
    1.0: (1, 1.0, "1", "1.0", " 01\t", "+1", True, "True", "TRUE", b"1", b"True", 1 + 0j, "(1+0j)", Decimal(1),
        np.int8(1), np.float32(1), np.bool_(True), np.str_("1"), np.bytes_(b"1"), np.complex64(1), OddFloat(1),
        "1\0"),
    0.0: (0, -0.0, "-0", "00", False, "false", "\ufeff0", Fraction(0), np.longdouble(0)),
    0.1: (0.1, "0.1", ".10", "1e-1", Decimal("0.1"), "0.1000000000000000055511151231257827"),
    2.0**53: (2**53, 2**53 + 1, "9007199254740993", np.uint64(2**53)),
    np.inf: ("inf", "Infinity", np.inf, 10**400, "1" * 400, "1e400"),
    1j: (1j, "1j", np.complex64(1j), b"1j", complex(-0.0, 1)),
    "é": ("é", "e\u0301", " é\u200b", "\u200eé", "é\xad ", "é".encode(), OddText("é")),
    "a b": ("a b", "a b\r\n", np.str_("a b"), b"a b"),
    None: (None, np.nan, pd.NA, pd.NaT, "nan", "", " \u200b", Decimal("NaN"), complex(np.nan), np.datetime64("2020"),
        b"\xff", [1]),
}  # fmt: skip


@pytest.mark.parametrize("key", SPELLINGS, ids=repr)
def test_spellings_of_one_value_have_one_key(key):
    assert [cell_key(value) for value in SPELLINGS[key]] == [key] * len(SPELLINGS[key])


def test_other_texts_stay_apart():
    texts = ["1_0", "0x10", "j", "J", "NaN", "NA", "None", "1,5", "1 500", "Yes", "yes", "5%", "٣x"]
    assert [cell_key(text) for text in texts] == texts
    assert len({cell_key(value) for values in SPELLINGS.values() for value in values}) == len(SPELLINGS)


def test_no_cell_makes_its_key_fail():
    keys = [cell_key(value) for some in CELLS for value in some]
    assert {type(key) for key in keys} == {float, complex, str, type(None)}
    assert all(unicodedata.is_normalized("NFC", key) for key in keys if isinstance(key, str))


TEXTS = ("1", "01", "+1", "1.", ".5", "1e5", "0x10", "1_500", "Inf", "-infinity", "1e400", "1e-400", " 5", "5 ")
TEXTS += ("٣", "9223372036854775807", "18446744073709551616", "True", "true", "1" * 400, "1d5", "-0", "１", "5\u200b")
TEXTS += ("\u00a05", "nan", "", "0.1234567890123456789", "123456789.123456789", "j", "1j", "2020-01-01")


@pytest.mark.parametrize("text", TEXTS)
def test_what_pandas_makes_of_a_column_changes_no_key(text):
    keys = set()
    for other in ("7", "7.5", "x", "True", "", "1" * 20):
        cell = pd.read_csv(io.StringIO(f'c,d\n"{text}",0\n{other},0\n'))["c"]
        keys |= {cell_key(cell[0]), cell_key(cell.tolist()[0])}
        numbers = plain_numbers(cell.to_numpy())
        assert repr(numbers[0]) == repr(plain_numbers(np.array([cell[0]], dtype=object))[0])
    assert len(keys) == 1


CELL = (0, 1, -1, 0.5, 0.1, True, "1", "a", "é", b"1", b"a", 1j, 2 + 0j, np.nan, None, 2**53 + 1, 2**63, 10**30)
CELL += (np.int8(1), np.bool_(False), np.str_("b"), 1e16, 1e-7, np.inf, "nan", "a\0", np.timedelta64(1, "D"))


@pytest.mark.parametrize("cell", CELL, ids=repr)
def test_what_numpy_makes_of_a_column_changes_no_key(cell):
    for other in CELL:
        try:
            array = np.array([cell, other])
        except UnicodeDecodeError:  # NumPy refuses such bytes beside a text
            continue
        at = plain_positions(array, (0, 1, -1, 0.5, 0.1, "a", "é", "b", 2, 1e-7))
        assert at[0] == plain_positions([cell], (0, 1, -1, 0.5, 0.1, "a", "é", "b", 2, 1e-7))[0], (other, array.dtype)
        column = array if array.dtype.kind != "m" else array.astype(np.int64)
        assert repr(plain_numbers(column)[0]) == repr(plain_numbers(np.array([cell], dtype=object))[0]), other


@pytest.mark.parametrize("nulls", [[None, np.nan, pd.NA], ["nan", np.float64("nan")]])
def test_category_nan_takes_every_null(nulls):
    assert plain_positions(nulls, ("a", "nan")).tolist() == [1] * len(nulls)
    assert plain_positions(nulls, ("a", "NaN", "None", "NA")).tolist() == [-1] * len(nulls)
    assert plain_positions(["NaN", "None", "NA"], ("NaN", "None", "NA")).tolist() == [0, 1, 2]


PAIRS = [("0", "FALSE"), ("é", "e\u0301"), ("a", "a "), (1, "01"), ("1", "1.0"), ("x", "x\u200b"), ("True", 1)]


@pytest.mark.parametrize("pair", PAIRS, ids=ascii)
def test_stated_values_with_one_key_are_found(pair):
    assert equal_values(("other", *pair)) == pair
    feature = Feature("c", "categorical", ("other", *pair))
    [error] = Schema((feature,)).ambiguities
    assert repr(pair) in str(error)
    # where nothing is released, what is stated is itself
    assert feature.clean(list(pair), "raise").tolist() == list(pair)
    assert feature.count_outside(["other ", None]) == 1


def test_different_values_are_no_ambiguity():
    stated = ("a", "A", 0, 2, 0.5, "0.25", "1_0", "10", "nan", "NaN", "ß", "ss")
    assert equal_values(stated) is None
    assert Schema((Feature("c", "categorical", stated),), ("no", "yes")).ambiguities == ()
    assert [is_null(value) for value in stated] == [False] * len(stated)
    with pytest.raises(InvalidSchema, match="all different"):
        Feature("c", "categorical", (1, True))


def test_texts_of_any_length_are_read_as_numbers():
    texts = np.array(["1", "x", "0.5"], dtype=np.dtypes.StringDType())
    assert plain_numbers(texts).tolist()[::2] == [1.0, 0.5]
    assert plain_positions(texts, ("x", 1)).tolist() == [1, 0, -1]


@pytest.mark.parametrize("rows", [[{"a": 1}, {"a": 2}], [[1, 2], [3, 4]]])
def test_a_nested_column_has_no_values(rows):
    polars = pytest.importorskip("polars")
    kind = polars.Array(polars.Int64, 2) if isinstance(rows[0], list) else None
    frame = polars.DataFrame({"a": polars.Series(rows, dtype=kind)})
    assert np.isnan(plain_features(frame).to_numpy()).all()
    assert plain_positions(frame["a"], (0, 1)).tolist() == [-1, -1]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("binary", [True, False])
def test_a_date_beyond_those_of_python_raises_nothing(zone, binary):
    arrow = pytest.importorskip("pyarrow")
    kind = arrow.date32() if zone is None else arrow.timestamp("us", tz=zone)
    far = 4_000_000 if zone is None else 2**60
    dates = arrow.array([1, far], arrow.int32() if zone is None else arrow.int64()).cast(kind)
    series = pd.Series(pd.arrays.ArrowExtensionArray(arrow.chunked_array([dates])))
    feature = Feature("a") if binary else Feature("a", "categorical", ("x", "y"), missing="y")
    schema = Schema((feature,), ("u", "v"))
    for table, labels in ((arrow.table({"a": dates}), dates), (pd.DataFrame({"a": series}), series)):
        checked = schema.check_features(table, "clip")[0]
        assert (checked == 0).all() if binary else checked["a"].tolist() == ["y", "y"]
        assert schema.check_labels(labels, "clip").tolist() == [-1, -1]
