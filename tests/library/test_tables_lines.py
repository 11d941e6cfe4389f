"""A line of a file is read by itself in a release: whatever is in one, all others are read the same to the bit."""

import io
import pickle

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_lines import ODD

from dpml.exceptions import InvalidParameter, TableAmbiguous, TableEmpty, TableTooLarge, TableUnreadable
from dpml.tables import Limits, read_table

HEAD = b"age,plan,spent,left"
WHOLE = [b"31,basic,2.5,no", b'58,"family, two",,yes', b'44,"a ""b""",1_0,no', b"007,?, 9 ,yes"]
NOTHING = [None] * 4


def rows(lines, end=b"\n"):
    """Return the records of a file as pickles, which tell apart what is equal and not the same."""
    table = read_table(end.join([HEAD, *lines, b""]), release=True)
    assert list(table.dtypes) == [object] * 4
    return [pickle.dumps(record) for record in table.values.tolist()]


def test_a_record_is_a_line_and_its_cells_are_texts():
    table = read_table(b"\n".join([HEAD, *WHOLE]), release=True)
    assert table.columns.tolist() == ["age", "plan", "spent", "left"]
    assert table.values.tolist() == [
        ["31", "basic", "2.5", "no"], ["58", "family, two", None, "yes"], ["44", 'a "b"', "1_0", "no"],
        ["007", None, "9", "yes"],
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_odd_line_is_a_record_of_its_own_and_changes_no_other(kind, end):
    without = rows(WHOLE, end)
    for place in (0, 2, len(WHOLE)):
        found = rows([*WHOLE[:place], ODD[kind], *WHOLE[place:]], end)
        assert found[:place] + found[place + 1 :] == without
        if kind not in ("odd and wrong numbers", "the line with the names"):
            assert pickle.loads(found[place]) == NOTHING


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([*WHOLE, *list(ODD.values())[:7]]) | st.binary(max_size=30), max_size=6),
    st.integers(0, 6),
    st.binary(max_size=40) | st.text('",;\r\n\t |a1\ufeff\x00\x85\u2028', max_size=20).map(str.encode),
    st.sampled_from(["add", "change"]),
    st.sampled_from(["utf-8", "cp1252", "latin-1"]),
)
def test_a_changed_line_leaves_the_others_as_they_are(lines, place, odd, how, encoding):
    lines, odd = [line.replace(b"\n", b"") for line in lines], odd.replace(b"\n", b"")
    place = min(place, len(lines))
    rest = lines[place + (how == "change") :]

    def read(lines):
        table = read_table(b"\n".join([HEAD, *lines, b""]), release=True, encoding=encoding)
        assert len(table) == len(lines)
        return [pickle.dumps(record) for record in table.values.tolist()]

    one, two = read(lines), read([*lines[:place], odd, *rest])
    assert one[:place] == two[:place]
    assert one[len(one) - len(rest) :] == two[place + 1 :]


def test_a_quoted_field_ends_on_its_line():
    """In a table for study it goes on: here it would read what is in the next record."""
    lines = [b'31,"basic', b'58,"family",1,yes', b'x",1,no']
    assert [pickle.loads(row) for row in rows(lines)] == [NOTHING, ["58", "family", "1", "yes"], NOTHING]


@pytest.mark.parametrize("lines", [[], [b",,,"], [b",,,"] * 3, [b"?,NA,null,nan"]])
def test_a_table_without_a_record_or_a_value_is_one(lines):
    assert [pickle.loads(row) for row in rows(lines)] == [NOTHING] * len(lines)


def test_encodings_of_one_byte_a_character_are_read():
    content = "name,x\nZoë,1\n".encode("cp1252")
    assert read_table(content, release=True)["name"].tolist() == [None]
    assert read_table(content, release=True, encoding="cp1252")["name"].tolist() == ["Zoë"]
    assert read_table(b"\xef\xbb\xbfa,b\n1,2\n", release=True).columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "kind", "told"),
    [
        (b"", TableEmpty, "empty"),
        (b"\n1,2\n", TableEmpty, "empty"),
        (b"a,a\n1,2\n", TableAmbiguous, "same name"),
        (b'a,"b\n1,2"\n', TableUnreadable, "names"),
        (b"a,b\xe4\n1,2\n", TableUnreadable, "names"),
        (b"a\rb\r1,2\n", TableUnreadable, "names"),
        (b"<a>,b\n", TableUnreadable, "HTML"),
        ("a,b\n1,2\n".encode("utf-16"), InvalidParameter, "utf-16"),
        (b"a,b,c\n", TableTooLarge, "more than 2 columns"),
        (b"a,b\n" + b"1,2\n" * 11, TableTooLarge, "more than 10 records"),
        (b"a,b\n" + b"\n" * 11, TableTooLarge, "more than 10 records"),
        (b"a,b\n" + b"1" * 600, TableTooLarge, "at most 500"),
    ],
)
def test_only_first_line_and_size_make_an_error(content, kind, told):
    with pytest.raises(kind, match=told):
        read_table(content, release=True, limits=Limits(columns=2, rows=10, bytes=500))
    with pytest.raises(InvalidParameter, match="utf-16"):
        read_table(b"a,b\n", release=True, encoding="utf-16")
    with pytest.raises(InvalidParameter, match="release"):
        read_table(b"a,b\n", release=1)


def parquet(frame):
    pytest.importorskip("pyarrow", reason="the extra large is not installed")
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return read_table(written.getvalue(), release=True)


def test_a_record_of_parquet_changes_no_other():
    types = {"whole": "Int64", "yes": "boolean", "text": "string", "kind": "category", "part": "float64"}
    whole = [[1, True, "x", "u", 1.5], [2**60 + 1, False, "y", "v", 2.0]]
    odd = [[None, None, "z" * 10_001, None, float("inf")], [None] * 5, [7, True, "z", "u", 1.0]]
    without = parquet(pd.DataFrame(whole, columns=list(types)).astype(types))
    for record in odd:
        table = parquet(pd.DataFrame([*whole, record], columns=list(types)).astype(types))
        assert table.dtypes.tolist() == without.dtypes.tolist()
        assert table.iloc[:2].equals(without)
        assert table.iloc[2].isna().all() == (record is not odd[2])
    assert len(parquet(pd.DataFrame([], columns=list(types)).astype({**types, "kind": "string"}))) == 0
    nothing = pd.DataFrame([[None] * 5], columns=list(types)).astype({**types, "kind": "string"})
    assert parquet(nothing).isna().to_numpy().all()


@pytest.mark.parametrize("encoded", [False, True])
def test_bytes_that_are_no_text_are_one_gap_in_parquet(encoded):
    """A release refused a file for one such cell, which shows something about its record."""
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra large is not installed")
    import pyarrow as pa

    plan = pa.array([b"basic", b"\xff", b"plus", None]).view(pa.string())
    plan = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), plan[:3]) if encoded else plan
    written = io.BytesIO()
    pq.write_table(pa.table({"plan": plan, "at": pa.array([0, 2**60, 5, None]).cast(pa.time64("us"))}), written)
    table = read_table(written.getvalue(), release=True)
    assert table.fillna("").values.tolist() == [
        ["basic", "00:00:00.000000"],
        ["", ""],
        ["plus", "00:00:00.000005"],
        ["", ""],
    ]
    with pytest.raises(TableUnreadable, match="'plan': its cells cannot be read"):
        read_table(written.getvalue())


@pytest.mark.parametrize("odd", [b"31,basic,2.5,no", b"# a note", b""])
@pytest.mark.parametrize(
    "record", [b"#31,basic,2.5,no", b"\xef\xbb\xbf31,basic,2.5,no", b"31,basic,2.5,no\x1a", b"31,basic,2.5,no\r\x1a"]
)
def test_a_record_is_read_alike_at_each_place(record, odd):
    options = {"header": 0, "names": HEAD.decode().split(","), "delimiter": ",", "columns": {"age": "number"}}

    def read(*lines):
        return read_table(b"\n".join(lines), release=True, **options).values.tolist()

    [found] = read(record)
    assert read(record, odd)[0] == read(odd, record)[1] == found
    assert read(record, record, record) == [found] * 3
    assert found[3] == "no"
