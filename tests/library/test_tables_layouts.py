"""Layouts of CSV as programs and people write them: each ends in the right table, or in words that name the fault."""

import numpy as np
import pandas as pd
import pytest

from dpml.exceptions import InvalidTable
from dpml.tables import examine_table, read_table

N = 40
NAMES = ("Name", "Größe", "Lohn", "Beginn", "Kinder", "bleibt")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def people(n=N):
    """Return the table that most of the files hold."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "Name": [f"Zoë {i % 7}" for i in range(n)],
        "Größe": np.round(rng.uniform(150, 200, n), 1),
        "Lohn": np.round(rng.uniform(900, 9_000_000, n), 2),
        "Beginn": pd.Timestamp("1999-01-28") + pd.to_timedelta(np.arange(n) * 97, unit="D"),
        "Kinder": rng.integers(0, 5, n),
        "bleibt": rng.choice(["ja", "nein"], n),
    })  # fmt: skip


def number(value, decimal=".", thousands="", digits=2):
    text = f"{value:,.{digits}f}"
    return text.replace(",", "T").replace(".", decimal).replace("T", thousands)


def file(
    delimiter=",", decimal=".", thousands="", date="%Y-%m-%d", encoding="utf-8", end="\n", quote="needed", height="{}",
    wage="{}", before="", after="", tail="",
):  # fmt: skip
    """Return the people as one program or another writes them."""

    def quoted(cell):
        needed = delimiter in cell or '"' in cell
        return f'"{cell}"' if quote == "all" or needed else cell

    lines = [delimiter.join(map(quoted, NAMES)) + tail]
    for row in people().itertuples(index=False):
        tall, paid = number(row[1], decimal, thousands, 1), number(row[2], decimal, thousands)
        cells = (row[0], height.format(tall), wage.format(paid), row[3].strftime(date), str(row[4]), row[5])
        lines.append(delimiter.join(map(quoted, cells)) + tail)
    return (before + end.join(lines) + end + after).encode(encoding)


def check(reading, date="%Y-%m-%d"):
    frame, expected = reading.frame, people()
    assert tuple(frame.columns) == NAMES
    assert frame["Name"].tolist() == expected["Name"].tolist()
    np.testing.assert_array_equal(frame["Größe"], expected["Größe"])
    np.testing.assert_array_equal(frame["Lohn"], expected["Lohn"])
    assert frame["Kinder"].dtype == np.int64
    assert frame["Kinder"].tolist() == expected["Kinder"].tolist()
    assert frame["Beginn"].tolist() == expected["Beginn"].dt.strftime(date).tolist()
    assert frame["bleibt"].tolist() == expected["bleibt"].tolist()


RIGHT = {
    "plain": {},
    "semicolons": {"delimiter": ";"},
    "tabs": {"delimiter": "\t"},
    "bars": {"delimiter": "|"},
    "lines of Windows": {"end": "\r\n"},
    "all quoted": {"quote": "all"},
    "German": {"delimiter": ";", "decimal": ",", "date": "%d.%m.%Y"},
    "German, thousands": {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "%d.%m.%Y"},
    "German, comma between quoted fields": {"decimal": ",", "thousands": ".", "date": "%d.%m.%Y"},
    "German, tabs": {"delimiter": "\t", "decimal": ",", "date": "%d.%m.%Y"},
    "German, Windows-1252": {"delimiter": ";", "decimal": ",", "encoding": "cp1252", "end": "\r\n"},
    "French": {"delimiter": ";", "decimal": ",", "thousands": "\u202f", "date": "%d/%m/%Y"},
    "French, other space": {"delimiter": ";", "decimal": ",", "thousands": "\u00a0", "date": "%d/%m/%Y"},
    "Swedish": {"delimiter": ";", "decimal": ",", "thousands": " "},
    "Swiss": {"delimiter": ";", "thousands": "'", "date": "%d.%m.%Y"},
    "American": {"thousands": ",", "date": "%m/%d/%Y"},
    "British": {"thousands": ",", "date": "%d/%m/%Y"},
    "Dutch": {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "%d-%m-%Y"},
    "Japanese": {"date": "%Y/%m/%d"},
    "dates with time": {"date": "%Y-%m-%d %H:%M:%S"},
    "mark of UTF-8": {"encoding": "utf-8-sig"},
    "UTF-16": {"encoding": "utf-16", "delimiter": "\t"},
    "sep= of Excel": {"before": "sep=;\n", "delimiter": ";", "decimal": ","},
    "sep= of Excel, Windows": {"before": "sep=;\r\n", "delimiter": ";", "decimal": ",", "end": "\r\n"},
    "units": {"height": "{} cm", "wage": "{} €", "decimal": ",", "delimiter": ";"},
    "units without space": {"height": "{}cm", "wage": "€{}"},
    "percent": {"height": "{} %"},
    "currency first": {"wage": "USD {}", "thousands": ","},
    "a title": {"before": "People of the firm\n", "delimiter": ";"},
    "a title and an empty line": {"before": "People of the firm, 2024\n\n", "delimiter": ";"},
    "a title of empty fields": {"before": "People of the firm;;;;;\n;;;;;\n", "delimiter": ";"},
    "empty lines at the end": {"after": "\n\n\n"},
    "spaces around delimiters": {"wage": " {} "},
}


@pytest.mark.parametrize("layout", RIGHT)
def test_a_layout_is_read_as_the_right_table(layout):
    written = RIGHT[layout]
    reading = examine_table(file(**written))
    check(reading, written.get("date", "%Y-%m-%d"))
    first, *others = reading.words
    signs = {".": "point", ",": "comma"}
    assert f"decimal {signs[written.get('decimal', '.')]}" in first
    assert any(words.startswith("Beginn: dates") for words in others)
    # what was detected is what one may say oneself
    form = reading.format
    stated = {name: getattr(form, name) for name in ("encoding", "delimiter", "decimal", "thousands", "header")}
    pd.testing.assert_frame_equal(read_table(file(**written), **stated), reading.frame)


@pytest.mark.parametrize("layout", [name for name in RIGHT if RIGHT[name].get("encoding") != "utf-16"])
def test_a_release_reads_the_same_values_with_a_stated_format(layout):
    content = file(**RIGHT[layout]).rstrip(b"\r\n") + b"\n"
    form = examine_table(content).format
    stated = {name: getattr(form, name) for name in ("encoding", "delimiter", "decimal", "thousands", "header")}
    kinds = {"Größe": "number", "Lohn": "number", "Kinder": "number", "Beginn": RIGHT[layout].get("date", "%Y-%m-%d")}
    table = read_table(content, **stated, columns=kinds, release=True)
    expected = people()
    for name in ("Größe", "Lohn", "Kinder"):
        assert [float(cell) for cell in table[name]] == expected[name].tolist()
    assert table["Beginn_year"].tolist() == expected["Beginn"].dt.year.astype(str).tolist()
    assert table["Beginn_month"].tolist() == expected["Beginn"].dt.month.astype(str).tolist()
    assert table["Beginn_weekday"].tolist() == expected["Beginn"].dt.day_name().tolist()


def lines(*rows, delimiter=";"):
    return "\n".join(delimiter.join(row) for row in rows).encode() + b"\n"


RECORDS = [("x", f"{i},5", str(i)) for i in range(60)]
SAID = {
    "gaps of many kinds": (
        lines(("k", "v", "n"), *RECORDS, ("x", "k.A.", "1"), ("x", "-", "2"), ("x", "k.A.", "2")),
        "v: 60 of 63 values read as numbers, 3 became missing values: 'k.A.', '-'.",
    ),
    "two lines of names": (
        lines(("k", "v", "n"), ("", "cm", "items"), *RECORDS),
        "The first record has no numbers ('cm', 'items'). If it is a second line of names, take it out.",
    ),
    "a total at the end": (
        lines(("k", "v", "n"), *RECORDS, ("Total:", "1800,5", "1770")),
        "The last record looks like a total. It counts as a record: take it out.",
    ),
    "two units": (
        lines(("k", "v"), *(("x", f"{i} kg") for i in range(20)), *(("y", f"{i} g") for i in range(20))),
        "v: text: its numbers have the units 'g', 'kg'.",
    ),
    "an empty column": (lines(("k", "v", "n"), *((*row[:2], "") for row in RECORDS)), "n: empty."),
    "day or month": (
        lines(("k", "d"), *(("x", f"0{1 + i % 9}/0{1 + i % 7}/2020") for i in range(30))),
        "d: dates, day/month/year or month/day/year: no cell decides the order, so they are kept as text.",
    ),
    "months by name": (
        lines(("k", "d"), *(("x", f"{1 + i % 28} Mar 2020") for i in range(30))),
        "d: dates (day month year), kept as text.",
    ),
}


@pytest.mark.parametrize("layout", SAID)
def test_what_a_reader_would_not_expect_is_said(layout):
    content, words = SAID[layout]
    assert words in examine_table(content).words


ASKED = {
    "duplicate names": (
        b"a;b;a\n1;2;3\n",
        "Columns 1 and 3 have the same name 'a': each",
    ),
    "a delimiter at each line's end": (file(delimiter=";", tail=";"), "at the end of each line"),
    "row numbers without a name": (b",b\n0,5\n1,6\n", "leave out the row numbers"),
    "no names": (b"1;2\n3;4\n", "The first line must hold the names"),
}


@pytest.mark.parametrize("layout", ASKED)
def test_names_that_are_a_fault_are_asked_about(layout):
    """A study reads the file and asks; a release refuses it with the same words."""
    content, words = ASKED[layout]
    [question] = [each for each in examine_table(content).questions if each.kind == "names"]
    assert words in question.text
    with pytest.raises(InvalidTable, match=words):
        read_table(content, release=True)


REFUSED = {
    "decimal commas between commas": (b"a,b\n1,5,2,5\n3,5,4,5\n", "quote fields that hold the delimiter"),
    "a note at the end": (b"a;b\n1;2\n3;4\nSource: office of statistics\n", "Take out lines that are no records"),
    "two encodings": ("a;b\né;2\n".encode() + b"\xe9;3\n", "State its encoding"),
    "a spreadsheet": (b"PK\x03\x04....", "save the sheet as CSV"),
}


@pytest.mark.parametrize("layout", REFUSED)
def test_a_fault_is_named_with_the_way_out(layout):
    content, words = REFUSED[layout]
    with pytest.raises(InvalidTable, match=words):
        read_table(content)


# ---- one at a time ---------------------------------------------------------------------------------------------------


def test_codes_with_leading_zeros_stay_text():
    table = read_table(lines(("a", "code"), *(("x", str(1000 + i)) for i in range(99)), ("x", "0123")))
    assert table["code"].tolist()[-1] == "0123"


def test_a_column_is_text_where_more_than_a_few_are_no_numbers():
    cells = [str(i) for i in range(94)] + ["six", "five", "four"] * 2
    assert read_table(lines(("a", "v"), *(("x", cell) for cell in cells)))["v"].tolist() == cells
    cells = [str(i) for i in range(96)] + ["six"] * 4
    assert read_table(lines(("a", "v"), *(("x", cell) for cell in cells)))["v"].isna().sum() == 4
    table = read_table(lines(("a", "v"), *(("x", cell) for cell in cells)), columns={"v": "text"})
    assert table["v"].tolist() == cells


@pytest.mark.parametrize(
    ("cells", "decimal", "expected"),
    [
        (["1,234", "2,500"], ",", [1.234, 2.5]),
        (["1,234", "2,50"], ",", [1.234, 2.5]),
        (["1.234", "2.500"], ".", [1.234, 2.5]),
        (["1.234.567", "2.500"], ",", [1234567, 2500]),
        (["0,123", "1.500"], ",", [0.123, 1500]),
    ],
)
def test_other_cells_decide_on_a_decimal_character(cells, decimal, expected):
    reading = examine_table(lines(("a", "v"), *(("x", cell) for cell in cells)))
    assert reading.format.decimal == decimal
    assert reading.frame["v"].tolist() == expected


def test_dates_become_parts_by_choice_and_what_is_no_date_a_gap():
    content = lines(("k", "day"), ("x", "31.12.2020"), ("y", "later"), ("z", "01.01.2021"))
    table = read_table(content, columns={"day": "%d.%m.%Y"})
    assert table.columns.tolist() == ["k", "day_year", "day_month", "day_weekday"]
    np.testing.assert_array_equal(table["day_year"], [2020, np.nan, 2021])
    np.testing.assert_array_equal(table["day_month"], [12, np.nan, 1])
    assert table["day_weekday"].tolist() == ["Thursday", np.nan, "Friday"]
    assert tuple(table["day_weekday"].cat.categories) == WEEKDAYS


def test_in_a_release_one_record_changes_no_other():
    rows = [("a", "v", "day"), ("x", "1.234,5 kg", "31.12.2020"), ("y", "7", "1.2.2021")]
    stated = {"decimal": ",", "thousands": ".", "columns": {"v": "number", "day": "%d.%m.%Y"}, "release": True}
    table = read_table(lines(*rows), **stated)
    assert table.values.tolist() == [["x", "1234.5", "2020", "12", "Thursday"], ["y", "7", "2021", "2", "Monday"]]
    for odd in [("z", "1.5.5", "soon"), ("z", "9 lb", "2020-01-01"), ("z", "", ""), ("\udcff", "x"), ("z",)]:
        content = lines(*rows) + ";".join(odd).encode("utf-8", "surrogateescape") + b"\n"
        longer = read_table(content, **stated)
        assert longer.dtypes.tolist() == table.dtypes.tolist()
        assert longer.iloc[:2].values.tolist() == table.values.tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decimal": "'"}, '`decimal` must be .*Got "\'"'),
        ({"thousands": ";"}, "`thousands` must be .*Got ';'"),
        ({"decimal": ",", "thousands": ","}, "`thousands` must be .*Got ','"),
        ({"header": -1}, "`header` must be .*Got -1"),
        ({"columns": {"nowhere": "number"}}, "`columns` must be .*Got 'nowhere'"),
        ({"columns": {"v": "date"}}, r"`columns\['v'\]` must be .*Got 'date'"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        read_table(lines(("a", "v"), ("x", "1,5")), **options)
