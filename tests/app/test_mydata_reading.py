"""How My data reads a file: its questions, what a person changes, and what a release is told."""

import time

import numpy as np
import pytest
from dpml_app.pages.mydata.compute import DERIVED, SPARE, Draft, check_lines

from dpml.exceptions import TableTooLarge
from dpml.tables import Limits, examine_table

N = 400
PEOPLE = [("no", "yes")[i % 2] for i in range(N)]


def lines(head, *columns, separator=","):
    rows = [separator.join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join([head, *rows, ""]).encode()


def repeated(*cells):
    return [cells[i % len(cells)] for i in range(N)]


AGES = [20 + i % 50 for i in range(N)]
MISSING = lines("severity,dose,label", repeated("None", "Mild", "None", "Severe"), AGES, PEOPLE)
THOUSANDS = lines("income;label", repeated("1.250", "980", "2.300"), PEOPLE, separator=";")
NO_NAMES = lines("20,Clerk,no\n21,Cook,yes", AGES, repeated("Clerk", "Cook"), PEOPLE)
TWICE = lines("score,score,label", AGES, repeated(1, 2, 3), PEOPLE)
CYRILLIC = lines("возраст;город;label", AGES, repeated("Москва", "Казань"), PEOPLE, separator=";")
CYRILLIC = CYRILLIC.decode().encode("cp1251")
TWO_ENCODINGS = lines("age,city,label", AGES, repeated("München"), PEOPLE) + "30,Köln,yes\n".encode("cp1252")
UNITS = lines("income,label", repeated("950", "5k"), PEOPLE)
GAPS = lines("age,label", repeated("k.A.", *AGES[:20]), PEOPLE)
SENTINEL = lines("bmi,label", repeated("-999", "22.5", "24", "31"), PEOPLE)
TWINS = lines("smoker,label", repeated("Yes", "yes", "No"), PEOPLE)
IDENTIFIER = lines("customerID,age,label", range(5000, 5000 + N), AGES, PEOPLE)
CASES = {
    "missing": (MISSING, "severity", "They are categories"),
    "numbers": (THOUSANDS, "income", "Decimal point"),
    "names": (NO_NAMES, "the file: names", "It has the names"),
    "repeated": (TWICE, "the file: names", "State the names"),
    "encoding": (CYRILLIC, "the file: encoding", "cp1251"),
    "units": (UNITS, "income", "They are numbers"),
    "codes": (GAPS, "age", "They are texts"),
    "sentinels": (SENTINEL, "bmi", "It stands for a missing value"),
    "twins": (TWINS, "smoker", "They are the same"),
    "identifiers": (IDENTIFIER, "customerID", "It describes a record"),
}


def choices(one):
    return {question.kind: (question, widget) for question, widget in one.page.questions.choices}


def choose(one, kind, position):
    one.do(lambda: setattr(choices(one)[kind][1], "value", position))


def confirm(one):
    one.do(lambda: one.page.questions.confirm.param.trigger("clicks"))


@pytest.mark.parametrize(
    ("content", "kind", "column", "first", "second"),
    [
        (MISSING, "missing", "severity", ["Mild", "Severe"], ["Mild", "None", "Severe"]),
        (UNITS, "units", "income", ["5k", "950"], [950, 5000]),
        (GAPS, "codes", "age", AGES[:20], sorted(map(str, [*AGES[:20], "k.A."]))),
        (SENTINEL, "sentinels", "bmi", [-999, 22.5, 24, 31], [22.5, 24, 31]),
        (TWINS, "twins", "smoker", ["No", "Yes", "yes"], ["no", "yes"]),
        (THOUSANDS, "numbers", "income", [980, 1250, 2300], [1.25, 2.3, 980]),
    ],
    ids=["missing", "units", "codes", "sentinels", "twins", "numbers"],
)
def test_reading_of_a_column_is_chosen_and_undone(session, content, kind, column, first, second):
    one = session()
    one.upload(content)

    def values():
        return sorted(one.page.draft.frame[column].dropna().unique().tolist())

    question, widget = choices(one)[kind]
    assert question.column in (column, None)
    assert len(widget.options) >= 2
    assert values() == first
    choose(one, kind, 1)
    assert values() == second
    # answered, still shown, and no longer open
    assert kind not in {each.kind for each in one.page.draft.reading.questions}
    assert choices(one)[kind][1].value == 1
    choose(one, kind, 0)
    assert values() == first
    assert choices(one)[kind][1].value == 0


def test_names_of_a_file_without_names_are_asked(session):
    one = session()
    one.upload(NO_NAMES)
    assert list(one.page.draft.frame) == ["column 1", "column 2", "column 3"]
    assert len(one.page.draft.frame) == N + 2
    choose(one, "names", 1)
    assert list(one.page.draft.frame) == ["20", "Clerk", "no"]
    choose(one, "names", 0)
    assert len(one.page.draft.frame) == N + 2


def test_repeated_name_is_numbered_and_asked(session):
    one = session()
    one.upload(TWICE)
    assert list(one.page.draft.columns) == ["score", "score (2)"]
    assert "score (2)" in next(iter(choices(one)["names"][1].options))


def test_doubtful_encoding_is_asked_with_cells(session):
    one = session()
    one.upload(CYRILLIC)
    question, widget = choices(one)["encoding"]
    assert next(iter(widget.options)).endswith("(возраст, город, Москва)")
    assert one.page.draft.columns["город"].categories == ("Казань", "Москва")
    other = next(i for i, each in enumerate(question.readings) if each.options["encoding"] == "cp1253")
    choose(one, "encoding", other)
    assert "город" not in one.page.draft.columns


def test_unknown_encoding_is_chosen(session):
    one = session()
    one.upload(TWO_ENCODINGS)
    assert one.page.draft is None
    assert "State its encoding" in one.said[0]
    assert one.page.encoding.visible
    one.do(lambda: setattr(one.page.encoding, "value", "utf-16"))
    assert one.page.draft is None
    one.do(lambda: setattr(one.page.encoding, "value", "cp1252"))
    assert one.said == []
    assert not one.page.encoding.visible
    assert set(one.page.draft.frame["city"]) == {"MÃ¼nchen", "Köln"}
    assert one.page.draft.stated == {"encoding": "cp1252"}
    one.upload(TWO_ENCODINGS)
    assert one.page.encoding.value == ""
    one.do(one.page.drop)
    assert (one.page.encoding.visible, one.page._undecoded) == (False, None)


def test_identifier_is_left_out_until_a_person_says_otherwise(session):
    one = session()
    one.upload(IDENTIFIER)
    assert one.page.draft.columns["customerID"].kind == "ignored"
    assert choices(one)["identifiers"][1].value == 1
    choose(one, "identifiers", 0)
    column = one.page.draft.columns["customerID"]
    assert column.kind == "numeric"
    assert column.marked(DERIVED) == ("lower", "upper")
    choose(one, "identifiers", 1)
    assert "customerID" not in one.page.draft.columns


@pytest.mark.parametrize("case", [name for name in CASES if name not in ("identifiers", "codes")])
def test_release_waits_for_an_open_question(session, case):
    one = session()
    one.upload(CASES[case][0])
    assert one.page.draft.open_questions
    one.confirm()
    step = one.page.release
    one.do(step.enter)
    assert "Was the file read correctly?" in step.problems.object
    assert step.button.disabled
    one.do(step.leave)
    confirm(one)
    assert one.page.draft.open_questions == []
    assert not one.page.questions.confirm.visible
    # what was confirmed is how a release reads the file, record by record
    study, release = one.page.draft.frame, one.page.draft.records()
    assert list(release) == list(study)
    assert len(release) == len(study)


def test_stated_category_is_no_missing_value_in_a_release(session):
    one = session()
    one.upload(MISSING)
    choose(one, "missing", 1)
    assert one.page.draft.columns["severity"].categories == ("Mild", "None", "Severe")
    records = one.page.draft.records(one.page.draft.schema())
    assert (records["severity"] == "None").sum() == N / 2


@pytest.mark.browser
@pytest.mark.parametrize("case", ["missing", "numbers", "names"])
def test_question_is_answered_in_a_browser(make_app, server, tmp_path, case):
    from playwright.sync_api import expect

    content, about, reading = CASES[case]
    (tmp_path / "table.csv").write_bytes(content)
    page = make_app(server, width=1440, height=900).page
    page.goto(f"{server.url}?page=mydata")
    page.locator("section.shown input[type=file]").first.set_input_files(tmp_path / "table.csv")
    expect(page.get_by_role("heading", name="Was the file read correctly?")).to_be_visible()
    group = page.get_by_role("radiogroup", name=f"Reading of {about}")
    expect(group.get_by_role("radio").first).to_be_checked()
    chosen = group.get_by_role("radio", name=reading)
    if chosen.is_checked():
        page.get_by_role("button", name="Confirm all").click()
    else:
        chosen.check()
    told = {
        "missing": lambda: page.get_by_role("textbox", name="Categories"),
        "numbers": lambda: page.get_by_role("textbox", name="Lower bound"),
        "names": lambda: page.get_by_role("rowheader", name="Clerk"),
    }[case]()
    expect(told).to_be_visible()
    if case == "missing":
        expect(told).to_have_value("Mild, None, Severe")
    expect(page.get_by_text("Answered.").first).to_be_visible()


# ---- the format ------------------------------------------------------------------------------------------------------


def german(n=60):
    """Return a file with decimal commas, dates and a column of mostly numbers, as a spreadsheet writes it."""
    rng = np.random.default_rng(0)
    rows = ["Größe_cm;Beginn;Lohn;Notiz;bleibt"]
    for i in range(n):
        wage = "n.a." if i in (3, 9) else f"{rng.integers(1, 9)}.{rng.integers(100, 999)},50 €"
        note = f"Zimmer {i}"
        height = f"{rng.uniform(150, 200):.1f}".replace(".", ",")
        rows.append(f"{height};{1 + i % 28}.0{1 + i % 9}.2020;{wage};{note};{rng.choice(['ja', 'nein'])}")
    return ("\r\n".join(rows) + "\r\n").encode("cp1252")


def draft(content=None):
    content = german() if content is None else content
    reading = examine_table(content)
    return Draft(reading.frame, "people.csv", content, reading)


def test_the_page_says_how_a_file_was_read_and_what_became_a_gap(session):
    one = session()
    one.upload(german())
    assert one.said == []
    words = one.page.steps.objects[0].objects[0].object
    assert "Windows-1252, delimiter semicolon, decimal comma, thousands point" in words
    assert (
        "Lohn: 58 of 60 values read as numbers, 2 became missing values: &#x27;n.a.&#x27;; unit &#x27;€&#x27; left out."
        in words
    )
    assert "Beginn: dates (day.month.year), kept as text." in words
    one.do(lambda: setattr(one.page.facts.which, "value", "Notiz"))
    assert one.page.facts.about.object.endswith("60 different texts.</p>")
    assert one.page.draft.columns["Größe_cm"].kind == "numeric"


def test_dates_become_parts_at_a_click(session):
    one = session()
    one.upload(german())
    one.do(lambda: one.page.steps.objects[0].objects[1].param.trigger("clicks"))
    assert one.said == []
    names = list(one.page.draft.columns)
    assert names[:4] == ["Größe_cm", "Beginn_year", "Beginn_month", "Beginn_weekday"]


def test_a_release_is_told_the_format_once_a_person_has_confirmed_it():
    made = draft()
    assert [each.fact for each in made.unconfirmed].count("format") == 1
    assert "decimal comma" in made.reading.format.words
    for each in made.unconfirmed:
        made.confirm(each.column, each.fact)
    assert made.unconfirmed == []
    assert "format" not in made.schema().confirmed
    records = made.records()
    heights = made.frame["Größe_cm"]
    assert [float(cell) for cell in records["Größe_cm"]] == heights.tolist()
    assert records["Lohn"].isna().tolist() == made.frame["Lohn"].isna().tolist()
    made.take(made.schema())
    assert made.marks["format"] == "confirmed"


def test_a_format_that_was_stated_or_is_the_usual_one_is_no_fact_of_the_data():
    stated = {"decimal": ",", "thousands": ".", "encoding": "cp1252"}
    reading = examine_table(german(), **stated)
    assert "format" not in Draft(reading.frame, "people.csv", german(), reading, stated).marks
    usual = examine_table(b"age,left\n1,no\n2,yes\n")
    assert "format" not in Draft(usual.frame, "people.csv", b"", usual).marks


def test_a_column_of_text_that_is_called_a_number_says_what_became_a_gap_and_goes_back():
    content = b"height,left\n" + b"".join(b"%d,no\nover 2 m,yes\n" % i for i in range(150, 180))
    made = draft(content)
    assert made.columns["height"].kind == "categorical"
    made.say("height", kind="numeric")
    column = made.columns["height"]
    assert column.note == "30 of 60 values read as numbers, 30 became missing values: 'over 2 m'"
    assert (column.lower, column.upper) == (142, 187)
    assert made.frame["height"].isna().sum() == 30
    assert made.schema().features[0].kind == "numeric"
    assert made.records()["height"].isna().sum() == 30
    made.say("height", kind="categorical")
    assert made.columns["height"].note == ""
    assert "over 2 m" in set(made.frame["height"])
    assert made.records()["height"].isna().sum() == 0


# ---- too many lines --------------------------------------------------------------------------------------------------


MANY = SPARE + 12
LIMITS = Limits(rows=10)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_lines_are_counted_however_they_end(end, encoding):
    line = '"a","é"'
    check_lines("a.csv", (f"{line}{end}" * (SPARE + 10)).encode(encoding), LIMITS)
    with pytest.raises(TableTooLarge, match=r"'a\.csv': the file has more than 10,010 lines, the limit is 10 records"):
        check_lines("a.csv", (f"{line}{end}" * (SPARE + 11)).encode(encoding), LIMITS)


def test_letters_with_the_byte_of_a_line_end_and_parquet_are_no_lines():
    check_lines("a.csv", ("ਊ" * 50 + "\n").encode("utf-16") + ("ਊ" * MANY).encode("utf-16-le"), LIMITS)
    check_lines("a.parquet", b"PAR1" + b"\n" * MANY, LIMITS)


def test_millions_of_tiny_lines_are_refused_at_once(session):
    """The page says so, and nobody's file waits for a reader."""
    mine, content = session(), b'"",""\n' * 6_000_000
    begun = time.monotonic()
    mine.do(lambda: mine.page._on_file("tiny.csv", content))
    assert "the file has more than 2,010,000 lines, the limit is 2,000,000 records" in mine.said[0]
    assert time.monotonic() - begun < 20  # 0.2 s where nothing else runs; reading took 81 s
    assert mine.page.draft is None
