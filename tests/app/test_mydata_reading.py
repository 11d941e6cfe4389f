"""How My data reads a file: what it says of it, what a person changes, and what a release is told."""

import numpy as np
from dpml_app.pages.mydata.draft import Draft

from dpml.tables import examine_table

N = 60


def german(n=N):
    """Return a file with decimal commas, dates and a column of mostly numbers, as a spreadsheet writes it."""
    rng = np.random.default_rng(0)
    rows = ["Größe_cm;Beginn;Lohn;Notiz;bleibt"]
    for i in range(n):
        wage = "n/a" if i in (3, 9) else f"{rng.integers(1, 9)}.{rng.integers(100, 999)},50 €"
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
    words = one.page.file_format.words.object
    assert "Windows-1252, delimiter semicolon, decimal comma, thousands point" in words
    assert (
        "Lohn: 58 of 60 values read as numbers, 2 became missing values: &#x27;n/a&#x27;; unit &#x27;€&#x27; left out."
        in words
    )
    assert "Beginn: dates (day.month.year), kept as text." in words
    assert one.page.facts.rows.of("Notiz")["note"] == "60 different texts"
    assert one.page.draft.columns["Größe_cm"].kind == "numeric"


def test_dates_become_parts_at_a_click_and_another_sign_reads_the_file_again(session):
    one = session()
    one.upload(german())
    one.do(lambda: one.page.file_format.parts.param.trigger("clicks"))
    assert one.said == []
    names = list(one.page.draft.columns)
    assert names[:4] == ["Größe_cm", "Beginn_year", "Beginn_month", "Beginn_weekday"]
    choice = one.page.file_format.choices["thousands"]
    one.do(lambda: setattr(choice, "value", ""))
    assert one.said == []
    assert one.page.draft.columns["Lohn"].kind != "numeric"
    assert "Beginn_month" in one.page.draft.columns
    one.do(lambda: setattr(one.page.file_format.choices["thousands"], "value", "."))
    assert one.page.draft.columns["Lohn"].kind == "numeric"


def test_a_release_is_told_the_format_once_a_person_has_confirmed_it():
    made = draft()
    [format_fact] = [each for each in made.unconfirmed if each.fact == "format"]
    assert "decimal comma" in format_fact.words
    for each in made.unconfirmed:
        made.confirm(each.column, each.fact)
    assert made.unconfirmed == []
    assert "format" not in made.schema().confirmed
    records = made.records()
    heights = made.frame["Größe_cm"]
    assert [float(cell) for cell in records["Größe_cm"]] == heights.tolist()
    assert records["Lohn"].isna().tolist() == made.frame["Lohn"].isna().tolist()
    made.take(made.schema())
    assert made.marks["format"]


def test_a_format_that_was_stated_or_is_the_usual_one_is_no_fact_of_the_data():
    stated = {"decimal": ",", "thousands": ".", "encoding": "cp1252"}
    reading = examine_table(german(), **stated)
    assert "format" not in Draft(reading.frame, "people.csv", german(), reading, stated).marks
    usual = examine_table(b"age,left\n1,no\n2,yes\n")
    assert "format" not in Draft(usual.frame, "people.csv", b"", usual).marks


def test_a_column_of_text_that_is_called_a_number_says_what_became_a_gap_and_goes_back():
    content = b"height,left\n" + b"".join(b"%d,no\ntall,yes\n" % i for i in range(150, 180))
    made = draft(content)
    assert made.columns["height"].kind == "categorical"
    made.say("height", kind="numeric")
    column = made.columns["height"]
    assert column.note == "30 of 60 values read as numbers, 30 became missing values: 'tall'"
    assert (column.lower, column.upper) == (142, 187)
    assert made.frame["height"].isna().sum() == 30
    assert made.schema().features[0].kind == "numeric"
    assert made.records()["height"].isna().sum() == 30
    made.say("height", kind="categorical")
    assert made.columns["height"].note == ""
    assert "tall" in set(made.frame["height"])
    assert made.records()["height"].isna().sum() == 0
