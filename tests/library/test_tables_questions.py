"""Files that can be read in two ways: a study asks, an option answers, and a release is refused until one is stated."""

import pickle
import shlex
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from hypothesis import given
from hypothesis import strategies as st

from dpml.__main__ import main
from dpml.budget import Budget
from dpml.exceptions import InvalidParameter, InvalidTable, TableAmbiguous
from dpml.release import Plan
from dpml.schema import Feature, Schema
from dpml.tables import examine_table, merge_options, read_table
from dpml.tables.cells import CODES as CODES_READ
from dpml.tables.reading import FEWEST, OF_RELEASE

N = 60
LABELS = ["no", "yes"]


def lines(names, cells, label=True, end="\n", n=N):
    """Return a file whose records repeat `cells`, with a label of two classes."""
    rows = [f"{cells[i % len(cells)]}{f',{LABELS[i % 2]}' if label else ''}" for i in range(n)]
    return end.join([names, *rows, ""])


def cyrillic(encoding):
    return "возраст;город;label\n".encode(encoding) + "".join(
        f"{20 + i};{'Москва' if i % 2 else 'Казань'};{LABELS[i % 2]}\n" for i in range(N)
    ).encode(encoding)


SURVEY = "RespondentID,Which apply?,,,label\n,Work,School,Family,Response\n" + "".join(
    f"{3292000000 + i},{'Work' if i % 2 else ''},{'' if i % 3 else 'School'},,{LABELS[i % 2]}\n" for i in range(N)
)
# a file; the kind of its question; the first values of a column as a study reads it; the same with another reading
ASKED = {
    "a category None": (lines("severity,label", ["None", "Mild", "None", "Severe"]), "missing",
        ("severity", [np.nan, "Mild"]), ("severity", ["None", "Mild"])),
    "German thousands": (lines("pay;label", ["1.250;a", "980;b", "2.300;a"], label=False), "numbers",
        ("pay", [1250, 980]), ("pay", [1.25, 980])),
    "thousands between quotes": (lines("pay,label", ['"1,250"', "980", '"2,300"']), "numbers", ("pay", [1250, 980]),
        ("pay", [1.25, 980])),
    "cells that disagree": (lines("people;label", ["1,411,778,724;a", "333,022;b", "682,3;a"], label=False),
        "numbers", ("people", ["1,411,778,724", "333,022"]), None),
    "thousands as a letter": (lines("income,label", ["950", "5k", "12k"]), "units", ("income", ["950", "5k"]),
        ("income", [950, 5000])),
    "percentages beside shares": (lines("share,label", ["50%", "0.25"]), "units", ("share", ["50%", "0.25"]),
        ("share", [0.5, 0.25])),
    "a record instead of names": (
        "".join(f"{20 + i},Clerk,{1000 + i},{'ab'[i % 2]},{LABELS[i % 2]}\n" for i in range(N)), "names",
        ("column 1", [20, 21]), ("20", [21, 22])),
    "spaces": (lines("age  plan label", ["20 a   no", "21  b yes"], label=False), "delimiter", ("age", [20, 21]),
        ("age  plan label", ["20 a   no", "21  b yes"])),
    "a name twice": (lines("score,score,label", ["1,2", "3,4"]), "names", ("score (2)", [2, 4]), ("score (2)", [2, 4])),
    "a record of texts": ("".join(f"User_{i},ada{i}@example.org,{('Bonn', 'Ulm')[i % 2]}\n" for i in range(N)),
        "names", ("column 1", ["User_0", "User_1"]), ("User_0", ["User_1", "User_2"])),
    "a question of several answers": (SURVEY, "names", ("School", ["School", np.nan]),
        ("column 3", ["School", "School"])),
    "comments": ("# exported 2021\n# by the office, for you\n" + lines("age,city,label", ["20,Koln", "21,Bonn"]),
        "comments", ("age", [20, 21]), None),
    "cp1251": (cyrillic("cp1251"), "encoding", ("город", ["Казань", "Москва"]), None),
    "Mac Roman": (lines("age,city,label", ["20,Köln", "21,Größe", "22,München"]).encode("mac_roman"), "encoding",
        ("city", ["Köln", "Größe"]), None),
    "GBK": (lines("age,city,label", ["20,北京", "21,上海"]).encode("gbk"), "encoding",
        ("city", ["北京", "上海"]), None),
    "a number for a missing value": (lines("bmi,label", ["-999", "22.5", "31.0", "27.5"]), "sentinels",
        ("bmi", [-999, 22.5]), ("bmi", [np.nan, 22.5])),
    "the only negative number": (lines("days,label", ["-1", "3", "10", "0"]), "sentinels", ("days", [-1, 3]),
        ("days", [np.nan, 3])),
    "a text beside numbers": (lines("age,label", ["k.A.", *map(str, range(20, 40))]), "codes",
        ("age", [np.nan, 20]), ("age", ["k.A.", "20"])),
    "a category with a digit": (lines("children,label", ["1", "3+", "2"]), "codes", ("children", ["1", "3+"]),
        ("children", [1, np.nan])),
    "case": (lines("smokes,label", ["Yes", "yes", "YES", "no"]), "twins", ("smokes", ["Yes", "yes"]),
        ("smokes", ["yes", "yes"])),
    "what cannot be seen": (lines("city,label", ["Zoe\u0308", "Zoë", "Zoë\u200b"]), "twins",
        ("city", ["Zoe\u0308", "Zoë"]), ("city", ["zoë", "zoë"])),
    "digits that a number loses": (
        "account,label\n" + "".join(f"{1234567890123456700 + i},{LABELS[i % 2]}\n" for i in range(N)), "digits",
        ("account", ["1234567890123456700", "1234567890123456701"]),
        ("account", [1234567890123456768, 1234567890123456768])),
    "years of two digits": (lines("joined,label", ["1/1/15", "2/28/16"]), "dates", ("joined", ["1/1/15", "2/28/16"]),
        ("joined_year", [2015, 2016])),
    "a time zone": (lines("seen,label", ["2020-01-02T23:00:00+05:00", "2021-01-02T10:00:00Z"]), "dates",
        ("seen", ["2020-01-02T23:00:00+05:00", "2021-01-02T10:00:00Z"]), ("seen_year", [2020, 2021])),
    "identifiers": ("customerID,label\n" + "".join(f"{i:04}-ABCD,{LABELS[i % 2]}\n" for i in range(N)), "identifiers",
        ("customerID", ["0000-ABCD", "0001-ABCD"]), ("label", LABELS)),
}  # fmt: skip


def content_of(name):
    content = ASKED[name][0]
    return content.encode() if isinstance(content, str) else content


def question_of(content, kind, **options):
    return [question for question in examine_table(content, **options).questions if question.kind == kind]


def readable(question):
    """Return the readings of a question that end in a table: a comment as a line of names has too few names."""
    return question.readings[:1] if question.kind == "comments" else question.readings


def check_values(reading, column, expected):
    found = reading.frame[column].iloc[: len(expected)].tolist()
    assert [None if value != value else value for value in found] == [
        None if value != value else value for value in expected
    ]


@pytest.mark.parametrize("name", ASKED)
def test_each_reading_answers_its_question(name):
    content, kind = content_of(name), ASKED[name][1]
    reading = examine_table(content)
    [question] = [each for each in reading.questions if each.kind == kind]
    check_values(reading, *ASKED[name][2])
    assert len(question.readings) > 1
    assert all(question.option in each.options for each in question.readings)
    for each in readable(question):
        assert not question_of(content, kind, **each.options)
    check_values(examine_table(content, **question.readings[0].options), *ASKED[name][2])
    if ASKED[name][3] is not None:
        check_values(examine_table(content, **question.readings[1].options), *ASKED[name][3])


@pytest.mark.parametrize("name", ASKED)
def test_a_release_is_refused_with_the_name_of_the_option(name):
    content, kind = content_of(name), ASKED[name][1]
    others = {}
    [about] = question_of(content, kind)
    for question in examine_table(content).questions:
        if question.kind != kind and not {*about.columns} & {*question.columns}:
            others = merge_options(others, question.readings[0].options)
    [question] = question_of(content, kind, **others)
    if kind in OF_RELEASE:
        with pytest.raises(TableAmbiguous) as raised:
            read_table(content, release=True, **others)
        assert raised.value.option in question.readings[0].options
        assert f"`{raised.value.option}`" in str(raised.value)
        others = merge_options(others, question.readings[0].options)
    if others.get("header") == 0:
        width = content.splitlines()[0].count(b",") + 1
        others |= {"delimiter": ",", "names": tuple(f"column {i + 1}" for i in range(width))}
    table = read_table(content, release=True, **others)
    assert len(table) == len(examine_table(content, **others).frame)


@pytest.mark.parametrize("name", ASKED)
def test_the_format_of_a_reading_is_that_of_a_release(name):
    """As a study reads a file, so does a release that is given the format: a page may take it over."""
    content = content_of(name)
    reading = examine_table(content)
    columns = {each.name: "text" for each in reading.columns if each.kind == "text"}
    missing = {each.name: tuple(filter(None, each.missing)) for each in reading.columns}
    table = read_table(content, release=True, columns=columns, **{**asdict(reading.format), "missing": missing})
    assert table.columns.tolist() == reading.frame.columns.tolist()
    assert len(table) == len(reading.frame)


@pytest.mark.parametrize(
    "content",
    [
        lines("age,city,label", ["31,Köln", "40,Bonn"]),
        lines("price;label", ["1,50;a", "1.250,00;b"], label=False),
        lines("a,pay,label", ['1.5,"1,250"', "2.5,980"]),
        lines("size,label", ["31 cm", "40"]),
        lines("rate,label", ["5%", "7%"]),
        lines("pay,label", ["5k", "12k"]),
        lines("score,label", ["99", "97", "98", "90", "80"]),
        lines("change,label", ["-1", "1", "-2", "0"]),
        lines("age,label", ["NA", "31", "None"]),
        lines("year,label", ["2020", "2021"]),
        lines("day,label", ["2020-01-31", "2021-02-28"]),
        lines("name of city,label", ["Bad Tölz", "Bonn"]),
        lines("id_of_nothing,label", ["a", "b"]),
    ],
)
def test_a_usual_file_raises_no_question(content):
    assert examine_table(content.encode()).questions == ()
    read_table(content.encode(), release=True, decimal=examine_table(content.encode()).format.decimal)


@pytest.mark.parametrize(
    "encoding", ["cp1251", "koi8_r", "shift_jis", "gb18030", "cp866", "utf-16-le", "utf-8", "cp500"]
)
def test_every_codec_can_be_stated(encoding):
    text = "name,x\nДа,1\n" if encoding != "cp500" else "name,x\nja,1\n"
    table = read_table(text.encode(encoding), encoding=encoding)
    assert table.iloc[0].tolist() == [text[7:9], 1]
    if encoding in ("utf-16-le", "cp500"):
        with pytest.raises(InvalidParameter, match="one byte"):
            read_table(text.encode(encoding), encoding=encoding, release=True)
    else:
        assert read_table(text.encode(encoding), encoding=encoding, release=True).iloc[0].tolist() == [text[7:9], "1"]


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("end", [b"\x1a", b"\x1a\x1a\x1a", b"x,1\x1a"])
def test_the_end_mark_of_dos_is_no_record(release, end):
    table = read_table(b"a,b\nx,1\ny,2\n" + end, release=release)
    assert len(table) == 2 + (end[0] != 0x1A)
    assert table["b"].notna().all()


# ---- names -----------------------------------------------------------------------------------------------------------


def test_names_replace_those_of_the_file():
    content = b"a,a,\n1,2,3\n4,5,6\n"
    for release in (False, True):
        reading = examine_table(content, names=["x", "y", "z"], release=release)
        assert reading.frame.columns.tolist() == ["x", "y", "z"]
        assert len(reading.frame) == 2
        assert reading.questions == ()
    with pytest.raises(InvalidParameter, match="a name for each of the 3 columns"):
        read_table(content, names=["x", "y"])
    with pytest.raises(InvalidParameter, match="each once"):
        read_table(content, names=["x", "y", "x"])
    with pytest.raises(InvalidParameter, match="two-lines"):
        read_table(content, names="twice")


def test_no_record_decides_on_a_release_without_names():
    """The first record would give the number of columns, by which all others are records or not."""
    content = b"20,a\n21,b\n"
    for options in ({}, {"delimiter": ","}, {"names": ["x", "y"]}):
        with pytest.raises(TableAmbiguous, match="no record decides") as raised:
            read_table(content, header=0, release=True, **options)
        assert raised.value.option == "names"
    for first in (b"20,a\n", b"20,a,b\n", b"\n", b"\xff\n", b"\0\n", b"7" * 2_000_000 + b"\n"):
        table = read_table(first + content, header=0, delimiter=",", names=["x", "y"], release=True)
        assert table.iloc[1:].values.tolist() == [["20", "a"], ["21", "b"]]


# ---- missing values --------------------------------------------------------------------------------------------------

SEVERITY = Schema(
    (Feature("severity", "categorical", ("Mild", "None", "Severe")), Feature("dose", "numeric", lower=0, upper=9)),
    ("None", "ill"),
    n_lower=20,
)
CODES = ["None", "NA", "N/A", "null", "NaN"]


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("code", CODES)
def test_a_stated_category_or_class_is_no_missing_value(code, release):
    content = "".join([f"severity,dose,label,{'note'}\n", *(f"{code},1,{code},x\nMild,NA,ill,x\n" for _ in range(N))])
    schema = Schema((Feature("severity", "categorical", ("Mild", code)), SEVERITY.features[1]), (code, "ill"))
    reading = examine_table(content.encode(), schema=schema, release=release)
    assert reading.frame["severity"].tolist()[:2] == [code, "Mild"]
    assert reading.frame["label"].tolist()[:2] == [code, "ill"]
    assert reading.frame["dose"].isna().tolist()[:2] == [False, True]
    assert reading.questions == ()
    # the schema wins over codes that are stated, too
    assert read_table(content.encode(), schema=schema, missing=[code], release=True)["severity"][0] == code


@pytest.mark.parametrize("release", [False, True])
def test_missing_codes_are_stated_for_all_columns_or_by_column(release):
    content = b"bmi,job\n-999.0,NA\n31,-999\n,cook\n"
    table = read_table(content, missing=["-999"], release=release)
    assert table.isna().to_numpy().tolist() == [[True, False], [False, True], [True, False]]
    table = read_table(content, missing={"bmi": ["-999"]}, release=release)
    assert table.isna().to_numpy().tolist() == [[True, True], [False, False], [True, False]]
    table = read_table(content, missing=(), release=release)
    assert table.isna().to_numpy().tolist() == [[False, False], [False, False], [True, False]]
    with pytest.raises(InvalidParameter, match="missing"):
        read_table(content, missing="NA")


def with_texts(texts, gaps, n=400, numbers=60):
    """Return the cells of a column of `numbers` different numbers, of which `gaps` are texts in turn."""
    return [texts[i % len(texts)] if i < gaps else str(18 + i % numbers) for i in range(n)]


@given(
    st.lists(st.sampled_from(["-", "--", "k.A.", "missing", "na", "none", "90+"]), min_size=1, max_size=2, unique=True),
    st.integers(2, 200),
    st.sampled_from([3, 60]),
)
def test_one_or_two_texts_among_numbers_are_asked_about(texts, gaps, numbers):
    cells = with_texts(texts, gaps, numbers=numbers)
    content = lines("age,label", cells, n=len(cells)).encode()
    [question] = question_of(content, "codes")
    assert (question.column, len(question.readings)) == ("age", 2)
    assert all(f"{text!r} ({cells.count(text)} of 400" in question.text for text in texts)
    for each in question.readings:
        found = read_table(content, **each.options)["age"]
        if each.options["columns"]["age"] == "number":
            assert found[:gaps].isna().all()
            assert found[gaps:].tolist() == [float(cell) for cell in cells[gaps:]]
        else:
            assert found.tolist() == cells
    # few different numbers, or a text with a digit, are rather categories
    few = gaps <= 20 or (numbers == 60 and "90+" not in texts)
    assert (read_table(content)["age"].dtype == float) == few


@given(st.sampled_from(sorted(CODES_READ - {""})), st.integers(1, 300))
def test_usual_codes_are_missing_at_any_share(code, gaps):
    cells = with_texts([code], gaps)
    reading = examine_table(lines("age,label", cells, n=len(cells)).encode())
    assert reading.frame["age"].dtype == float
    assert reading.frame["age"].isna().tolist() == [cell == code for cell in cells]
    assert reading.columns[0].missing == {code: gaps}
    assert reading.questions == ()


@pytest.mark.parametrize(
    "cells",
    [
        with_texts(["-"], 201),
        with_texts(["a", "b", "c"], 60),
        ["7 kg", "9 g", "-"] * 9,
        ["01", "10", "11"] * 9,
        [str(2**53 + 1), str(2**53 + 5), "-"] * 9,
    ],
    ids=["most", "three", "units", "leading zeros", "digits"],
)
def test_a_column_of_other_texts_is_not_asked_about(cells):
    content = lines("size,label", cells, n=len(cells)).encode()
    assert examine_table(content).columns[0].kind == "text"
    assert not question_of(content, "codes")


def test_an_identifier_with_a_text_is_asked_about_once():
    cells = with_texts(["-"], 20, numbers=400)
    reading = examine_table(lines("customerID,label", cells, n=len(cells)).encode())
    assert [question.kind for question in reading.questions] == ["identifiers"]


def test_a_schema_answers_a_text_among_numbers():
    cells = with_texts(["more"], 60)
    content = lines("children,label", cells, n=len(cells)).encode()
    numeric = Schema((Feature("children", "numeric", lower=0, upper=99),), ("no", "yes"))
    assert examine_table(content, schema=numeric).questions == ()
    assert read_table(content, schema=numeric)["children"].isna().sum() == 60
    schema = Schema((Feature("children", "categorical", tuple(sorted({*cells}))),), ("no", "yes"))
    for release in (False, True):
        assert examine_table(content, schema=schema, release=release).questions == ()
        assert read_table(content, schema=schema, release=release)["children"].tolist() == cells


@pytest.mark.parametrize("gaps", [0, 1, 20, 21, 200, 400])
def test_a_text_among_numbers_does_not_change_a_release(gaps):
    cells = with_texts(["-"], gaps)
    content = lines("age,label", cells, n=len(cells)).encode()
    assert read_table(content, release=True)["age"].tolist() == cells
    found = read_table(content, release=True, columns={"age": "number"})["age"]
    assert found.tolist() == [None if cell == "-" else cell for cell in cells]


def test_thousands_are_asked_about_beside_a_code():
    content = lines("pay;label", ["1.250;a", "980;b", "2.300;a", "k.A.;b"], label=False)
    assert question_of(content.encode(), "numbers")


@pytest.mark.parametrize("hosts", [["192.168.100.{}", "10.0.0.{}"], ["192.168.100.{}"]])
def test_ip_addresses_say_nothing_of_thousands(hosts):
    """Their points separated thousands, and 9.417 beside them was 9417, without a question."""
    rows = [f"{hosts[i % len(hosts)].format(100 + i)},{1 + i}.417" for i in range(N)]
    content = lines("host,dose,label", rows, n=N).encode()
    assert question_of(content, "numbers")
    table = read_table(content)
    assert table["dose"].tolist() == [1 + i + 0.417 for i in range(N)]
    assert table["host"].tolist() == [row.split(",")[0] for row in rows]


def test_a_record_with_a_code_is_no_line_of_names():
    rows = "".join(f"{'-' if i % 9 == 4 else i},{'xyz'[i % 3]}\n" for i in range(1, N))
    assert question_of(rows.encode(), "names")


@pytest.fixture
def command(tmp_path, capfd):
    """Return the exit code and the output of a command on a file with the schema `SEVERITY`."""

    def run(name, content, *more, schema=SEVERITY, label="label"):
        (tmp_path / "table.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        (tmp_path / "schema.yaml").write_text(schema.to_yaml(), encoding="utf-8")
        arguments = [name, str(tmp_path / "table.csv")]
        if name == "release":
            arguments += [str(tmp_path / "schema.yaml"), "--label", label, "--epsilon", "1", "--share", "training=1"]
            arguments += ["--out", str(tmp_path / f"out{len(list(tmp_path.iterdir()))}")]
        code = main([*arguments, *more])
        said = capfd.readouterr()
        return code, said.out + said.err

    return run


def test_a_release_counts_a_category_spelt_none():
    rng = np.random.default_rng(0)
    severity = rng.choice(["Mild", "None", "Severe"], 3000, p=[0.3, 0.5, 0.2])
    rows = "".join(f"{cell},{i % 9},{('None', 'ill')[i % 2]}\n" for i, cell in enumerate(severity))
    table = read_table(f"severity,dose,label\n{rows}".encode(), schema=SEVERITY, release=True)
    plan = Plan(SEVERITY, 2.0, shares={"training": 0.4, "evaluation": 0.2, "publishing": 0.4}, max_grids=50)
    released = plan.run(table, "label", secure=False, random_state=0)
    published = released.table["severity"].value_counts()
    # the noise of a count has a standard error of a few records
    assert abs(published["None"] - (severity == "None").sum()) < 150
    # the labels take turns, so that nothing can be learnt
    assert 0.4 < released.evaluation.set_index("measure").loc["accuracy", "value"] < 0.6


def test_the_command_reads_with_the_schema_and_the_options(command):
    rows = "".join(f"{('None', 'Mild')[i % 2]},{-999 if i % 3 else i % 9},{('None', 'ill')[i % 2]}\n" for i in range(N))
    content = f"severity,dose,label\n{rows}"
    code, said = command("release", content)
    assert code == 2
    assert "--missing dose=-999" in said
    assert command("release", content, "--missing", "dose=-999")[0] == 0
    assert command("release", content, "--missing", "dose=")[0] == 0
    code, said = command("release", content, "--missing", "dose=-999", "--missing", "NA")
    assert code == 2
    assert "--missing" in said


@pytest.mark.parametrize(
    "name", others_in_full([*ASKED], *{kind: name for name, (_, kind, *_) in ASKED.items()}.values())
)
def test_the_command_takes_the_options_that_it_prints(command, name):
    content = content_of(name)
    code, said = command("examine", content)
    assert code == 0
    [question] = question_of(content, ASKED[name][1])
    assert f"? {question.text}" in said
    assert all(" ".join(each.arguments) in said for each in question.readings)
    for each in readable(question):
        code, said = command("examine", content, *shlex.split(" ".join(each.arguments)))
        assert code == 0
        assert f"? {question.text}" not in said


# ---- a release is refused before anything is charged, and by no record where the options are stated -----------------


def test_nothing_is_charged_for_a_file_that_is_refused(command, tmp_path):
    rows = "".join(f"{('NONE', 'None')[i % 2]},5,{('None', 'ill')[i % 2]}\n" for i in range(N))
    more = ["--ledger", str(tmp_path / "ledger"), "--total", "3"]
    code, said = command("release", f"severity,dose,label\n{rows}", *more)
    assert code == 2
    assert "--column severity=lower" in said
    assert Budget(3, path=tmp_path / "ledger").ledger["epsilon"].sum() == 0
    assert command("release", f"severity,dose,label\n{rows}", *more, "--column", "severity=lower")[0] == 0
    assert Budget(3, path=tmp_path / "ledger").ledger["epsilon"].sum() == 1


@pytest.mark.parametrize("few", range(1, FEWEST))
@pytest.mark.parametrize("odd", ["YES,0.5,a", "yes,5k,a", "yes,-999,a", "yes,1,None", "yes,1,\xff", "Yes,50%,A"])
def test_a_few_records_do_not_end_a_release(few, odd):
    rows = "".join(f"{LABELS[i % 2]},{i / 10},{'ab'[i % 2]}\n" for i in range(N))
    content = (f"label,x,y\n{rows}" + f"{odd}\n" * few).encode("latin-1")
    assert len(read_table(content, release=True)) == N + few


STATED = {
    "encoding": "utf-8", "delimiter": ",", "decimal": ".", "header": 1, "names": "numbered", "missing": (),
    "columns": {"a": "text", "a (2)": "number", "column 3": "lower", "d": "share"},
}  # fmt: skip


@given(
    st.lists(
        st.binary(max_size=30) | st.sampled_from([b"1.250,5k,Yes,50%", b"None,-999,yes,NA", b"x,1,YES,3"]), max_size=40
    )
)
def test_no_record_ends_a_reading_whose_options_are_stated(some):
    records = [line.replace(b"\n", b"") for line in some]
    table = read_table(b"\n".join([b"a,a,,d", *records, b""]), release=True, **STATED)
    assert len(table) == len(records)
    for i, line in enumerate(records):
        alone = read_table(b"\n".join([b"a,a,,d", line, b""]), release=True, **STATED)
        assert alone.iloc[0].tolist() == table.iloc[i].tolist()


def test_a_refusal_quotes_no_record():
    secrets = ["7.654", "Москва", "77k", "Ada", "SECRET", "20"]
    files = [
        lines("pay;x", ["7.654;a", "980;b", "7.321;a"], label=False),
        cyrillic("cp1251"),
        lines("income,label", ["950", "77k", "12k"]),
        "20,Ada,1000\n21,Bob,1001\n" * 9,
        lines("name_of,label", ["SECRET", "secret"]),
    ]
    for content in files:
        with pytest.raises(TableAmbiguous) as raised:
            read_table(content.encode() if isinstance(content, str) else content, release=True)
        assert not [secret for secret in secrets if secret in str(raised.value)]


def test_utf16_without_a_mark_is_read_and_named():
    content = lines("age,city,label", ["20,Köln", "21,Bonn"]).encode("utf-16-le")
    reading = examine_table(content)
    assert reading.format.encoding == "utf-16-le"
    assert reading.frame["city"][0] == "Köln"
    with pytest.raises(InvalidParameter, match="utf-16"):
        read_table(content, release=True)


def test_lines_of_names_in_the_middle_are_no_sign_of_a_record():
    content = lines("age,plan,label", ["20,a", "21,b", "22,a"]) + "age,plan,label\n"
    reading = examine_table(content.encode())
    assert reading.frame.columns.tolist() == ["age", "plan", "label"]
    assert not [question for question in reading.questions if question.kind == "names"]


def test_an_error_of_a_question_is_of_the_family_and_pickles():
    with pytest.raises(InvalidTable) as raised:
        read_table(b"a,a\n1,2\n", release=True, name="people.csv")
    with pytest.raises(TableAmbiguous) as of_column:
        read_table(lines("income,label", ["950", "77k", "12k"]).encode(), release=True, name="people.csv")
    assert "'people.csv', column 'income': Numbers with a unit" in str(of_column.value)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), again.option, str(again)) == (TableAmbiguous, "names", str(raised.value))
    assert pd.isna(again.column) if again.column is not None else again.column is None
