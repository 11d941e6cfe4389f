"""A file that nobody has checked becomes a table, or an error that names what is wrong with it and where."""

import csv
import io
import pickle
import tracemalloc
import uuid
from pathlib import Path

import bad_uploads
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpml.exceptions import (
    DataNotFound,
    InvalidParameter,
    InvalidTable,
    MissingExtra,
    TableEmpty,
    TableNames,
    TableRagged,
    TableTooLarge,
    TableUnreadable,
)
from dpml.tables import Limits, read_table, safe_cell, safe_csv
from dpml.tables.cells import identifier_reason, identifies

LIMITS = Limits(**bad_uploads.LIMITS)


def read(content):
    """Return the table and None, or None and the named error."""
    try:
        return read_table(content, name="upload.csv", limits=LIMITS), None
    except InvalidTable as fault:
        return None, fault


def check(number):
    """Read one bad file; it ends in one of the errors that name its fault, or in a table that holds no surprise."""
    kind, content, expected = bad_uploads.upload(number)
    table, fault = read(content)
    if fault is not None:
        assert type(fault) in expected, (number, kind, fault)
        assert str(fault).startswith("'upload.csv'")
        assert len(str(fault)) < 600
        assert fault.line is None or f"line {fault.line:,}" in str(fault)
        return
    assert None in expected, (number, kind, table)
    assert table.columns.is_unique
    assert len(table) <= LIMITS.rows
    for name in table:
        assert isinstance(name, str)
        column = table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            assert all(isinstance(text, str) and len(text) <= LIMITS.field for text in column.cat.categories)
        else:
            assert column.dtype.kind in "bif"
            assert not np.isinf(column.to_numpy(dtype=float)).any()


@pytest.mark.parametrize("number", range(len(bad_uploads.FAULTS)), ids=list(bad_uploads.FAULTS))
def test_a_bad_file_is_read_or_its_fault_named(number):
    if "Parquet" in bad_uploads.upload(number)[0]:
        pytest.importorskip("pyarrow", reason="the extra large is not installed")
    check(number)


@pytest.mark.full
def test_a_thousand_bad_files_are_read_or_their_faults_named():
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    for number in range(len(bad_uploads.FAULTS), 1000):
        check(number)


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_numbers_are_numbers_and_all_else_is_text():
    table = read_table(b"n;w;f;code;mixed\n1;10;-1.5;007;3\n?; 20 ;1e3;010;x\n")
    assert table["n"].dtype == float
    np.testing.assert_array_equal(table["n"], [1, np.nan])
    assert table["w"].dtype == np.int64
    assert table["w"].tolist() == [10, 20]
    assert table["f"].tolist() == [-1.5, 1000.0]
    assert table["code"].tolist() == ["007", "010"]
    assert table["mixed"].tolist() == ["3", "x"]


def test_a_quoted_field_holds_delimiters_quotes_and_lines():
    table = read_table(b'a,b\r\n"x, ""y""\r\nz",1\r\n')
    assert table.iloc[0].tolist() == ['x, "y"\r\nz', 1]


def test_parquet_is_read_as_csv_is(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    frame = pd.DataFrame({
        "whole": [1, 2, 3], "gap": [1.5, None, np.inf], "text": ["b", None, "a"], "flag": [True, False, True],
        "day": pd.to_datetime(["2020-01-02", None, "2021-01-01"]), "kind": pd.Categorical(["u", "v", "u"]),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "table.parquet")
    found = read_table(tmp_path / "table.parquet")
    assert found["whole"].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(found["gap"], [1.5, np.nan, np.nan])
    assert found["text"].cat.categories.tolist() == ["a", "b"]
    assert found["text"].isna().tolist() == [False, True, False]
    assert found["flag"].dtype == bool
    assert found["day"][0].startswith("2020-01-02")
    assert found["kind"].tolist() == ["u", "v", "u"]


# ---- what is wrong, and where ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "kind", "line", "column", "says"),
    [
        (b"a,b\n1,2\n3\n", TableRagged, 3, None, "1 field, and the table has 2 columns"),
        (b'a,b\n1,"2\n3"\n4,5,6\n', TableRagged, 4, None, "3 fields"),
        ("a,b\né,2\n".encode() + b"\xff,3\n", TableUnreadable, 3, None, "the byte ff is no text in UTF-8"),
        (b"a,b\n1,2\n1,\0\n", TableUnreadable, 3, None, "NUL"),
        (b"a,<b onload=x>\n1,2\n", TableNames, 1, 2, "markup"),
        (b"a,b\n1," + b"x" * 501 + b"\n", TableTooLarge, 2, "b", "501 characters: at most 500"),
        (b'a,b\n1,"x\n', TableUnreadable, 2, None, "quotation marks do not fit"),
        (b"a,b\n,NA\n?,\n", TableEmpty, None, None, "not one value"),
        (b"PK\x03\x04....", TableUnreadable, None, None, "zip archive or a spreadsheet"),
    ],
)
def test_an_error_says_where_the_fault_is(content, kind, line, column, says):
    with pytest.raises(kind, match=says) as raised:
        read_table(content, limits=LIMITS)
    assert (raised.value.line, raised.value.column) == (line, column)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.column) == (kind, str(raised.value), column)


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"a,b\n" + b"," * 20_000_000, b'a,b\n1,"' + b"x\n" * 10_000_000, b"a,b\n" + b"1,2,3\n" * 3_000_000],
    ids=["one line", "one field", "wrong at once"],
)
def test_a_large_file_that_is_no_table_takes_little_memory(content):
    tracemalloc.start()
    try:
        with pytest.raises(InvalidTable):
            read_table(content)
        assert tracemalloc.get_traced_memory()[1] < len(content) + 80e6
    finally:
        tracemalloc.stop()


def test_of_a_file_that_is_open_no_more_is_read_than_is_allowed():
    class Endless:
        name, read_so_far = "endless.csv", 0

        def read(self, size):
            self.read_so_far += size
            return b"a" * size

    endless = Endless()
    with pytest.raises(TableTooLarge, match=r"'endless\.csv'"):
        read_table(endless, limits=LIMITS)
    assert endless.read_so_far == LIMITS.bytes + 1


def test_parquet_of_too_much_memory_ends_its_process_alone():
    """A constant column of as many records as are allowed: a few bytes in the file, and 8 for each record read."""
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    pytest.importorskip("resource", reason="this system cannot bound the memory of a process")
    rows = 1_900_000
    frame = pd.DataFrame({f"c{i}": np.zeros(rows) for i in range(10)})
    written = io.BytesIO()
    frame.to_parquet(written, compression="zstd")
    content = written.getvalue()
    assert len(content) < 200_000
    with pytest.raises(TableTooLarge, match="takes more than 60,000,000 bytes to read"):
        read_table(content, limits=Limits(memory=60_000_000))
    assert read_table(content).shape == (rows, 10)


def test_parquet_that_takes_too_long_is_ended():
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    written = io.BytesIO()
    pd.DataFrame({"a": np.arange(1_900_000)}).to_parquet(written)
    with pytest.raises(TableTooLarge, match=r"more than 0\.01 seconds to read"):
        read_table(written.getvalue(), limits=Limits(seconds=0.01))


ROOT = Path(__file__).parents[2]
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1"]
FORMULAS += ["＋1", "－1", "＠x"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_becomes_text_wherever_it_stands(formula):
    assert safe_cell(formula) == f"'{formula}"
    [names, row] = csv.reader(io.StringIO(safe_csv(pd.DataFrame({formula: [formula]})), newline=""))
    assert names == row == [f"'{formula}"]


def test_a_number_keeps_its_sign_and_a_missing_value_is_empty():
    frame = pd.DataFrame({"x": [-1.5, np.nan], "n": [-3, 4], "t": ["a", None], "b": [True, False]})
    assert safe_csv(frame) == '"x","n","t","b"\n-1.5,-3,"a","True"\n"",4,"","False"\n'


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_no_text_is_left_that_a_spreadsheet_computes(rows):
    written = safe_csv(pd.DataFrame(rows, columns=["a", "b"]))
    for row in csv.reader(io.StringIO(written, newline="")):
        for cell in row:
            assert not cell.strip().startswith(("=", "+", "-", "@"))


def test_what_is_written_can_be_read_again():
    frame = pd.DataFrame({"age": [31, 58], "job": ['a "clerk"', "a, b\nc"]})
    pd.testing.assert_frame_equal(
        read_table(safe_csv(frame).encode()).astype({"job": object}), frame.astype({"job": object})
    )


N_RECORDS = 60
RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    "name",
    [
        "customerID", "PassengerId", "RespId", "__index_level_0__", "row_id", "uuid", "ID", "id_client", "CUSTOMERID",
        "userid", "EmployeeNumber", "patient_nbr", "Unnamed: 0", "Surname", "LastName", "e-mail", "Respondent ID",
    ],
)  # fmt: skip
def test_identifier_names_are_recognised(name):
    assert identifies(name)
    assert identifier_reason(name, pd.Series(range(N_RECORDS))) == "name"


@pytest.mark.parametrize(
    "name",
    [
        "paid", "body_mass_index", "PhoneService", "number_of_children", "valid", "humid", "EmployeeCount",
        "job_name", "",
    ],
)  # fmt: skip
def test_names_of_measurements_are_not_identifiers(name):
    assert not identifies(name)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([str(uuid.UUID(int=int(i))) for i in RNG.integers(0, 2**60, N_RECORDS)], "pattern"),
        ([f"person{i}@example.org" for i in range(N_RECORDS)], "pattern"),
        ([f"{i:04}-ABCD" for i in range(N_RECORDS)], "unique"),
        (range(1000, 1000 + N_RECORDS), "unique"),
        (RNG.permutation(N_RECORDS), "unique"),
        (np.cumsum(RNG.integers(1, 1000, N_RECORDS)), "unique"),
        ([float(i) for i in range(N_RECORDS)] + [np.nan], "unique"),
        # what people measure
        (RNG.integers(18, 90, N_RECORDS), None),
        (RNG.permutation(10**6)[:N_RECORDS], None),
        (RNG.normal(size=N_RECORDS), None),
        (RNG.choice(["north", "south"], N_RECORDS), None),
        ([f"a text of {i} words" for i in range(N_RECORDS)], None),
        ([f"2024-01-{i % 28 + 1:02}T{i:02}:00" for i in range(N_RECORDS)], None),
        ([True, False] * 30, None),
        ([], None),
        (range(5), None),
    ],
)
def test_values_of_an_identifier_are_recognised(values, reason):
    assert identifier_reason("x", pd.Series(values)) == reason


def test_a_year_of_each_record_is_no_identifier():
    assert identifier_reason("Year", pd.Series(range(1950, 2020))) is None


def test_a_flag_with_the_name_of_an_identifier_is_none():
    assert identifies("has_email")
    assert identifier_reason("has_email", pd.Series([0, 1] * 60)) is None


def test_what_is_given_besides_is_checked(tmp_path, monkeypatch):
    with pytest.raises(DataNotFound, match="nowhere"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidParameter, match=r"`encoding` must be .*Got 'rot13'"):
        read_table(b"a,b\n1,2\n", encoding="rot13")
    with pytest.raises(InvalidParameter, match="delimiter"):
        read_table(b"a,b\n1,2\n", delimiter="a")
    with pytest.raises(InvalidParameter, match="source"):
        read_table(7)
    with pytest.raises(InvalidParameter, match="binary"):
        read_table(io.StringIO("a,b\n1,2\n"))
    with pytest.raises(InvalidParameter, match="limits"):
        read_table(b"a,b\n1,2\n", limits=10)
    with pytest.raises(InvalidParameter, match=r"`rows` must be .*Got 0"):
        Limits(rows=0)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="large"):
        read_table(b"PAR1")
