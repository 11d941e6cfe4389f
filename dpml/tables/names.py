"""The names of the columns of a file of text, and the questions that a line of names raises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dpml.exceptions import InvalidParameter, TableEmpty
from dpml.tables.dates import date_formats
from dpml.tables.limits import NUMBER, Limits, check_name
from dpml.tables.missing import CODES
from dpml.tables.numbers import NumberReader
from dpml.tables.questions import Questions, Reading
from dpml.tables.text_format import NUMBERED, TWO_LINES, TextFormat

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
# a column is one of numbers where so many of its cells are
MOST_NUMBERS = 0.95
# columns that a question names
SHOWN = 3


def column_names(
    file: str, fields: Sequence[Sequence[str]], limits: Limits, form: TextFormat, questions: Questions
) -> list[str]:
    """Return the columns' names, or raise an error. An empty or repeated name raises a question.

    `fields`: those of the first line of the table, and of the one after it where both have names.
    """
    width, line = len(fields[0]), form.header or None
    if not width:
        raise TableEmpty(file, "it has no columns", line=line)
    if isinstance(form.names, tuple):
        if len(form.names) != width:
            allowed = f"a name for each of the {width:,} columns of the file, not {len(form.names):,} names"
            raise InvalidParameter("names", form.names, allowed)
        given = list(form.names)
    else:
        given = [""] * width if not form.header else list(fields[0])
    names = [check_name(file, name, limits, line=line, number=number) for number, name in enumerate(given, 1)]
    if isinstance(form.names, tuple) and (not all(names) or len(set(names)) < width):
        raise InvalidParameter("names", form.names, "names that are not empty, each once")
    if form.names == TWO_LINES:
        second = [*fields[-1], *[""] * width][:width]
        below = [check_name(file, name, limits, line=form.header + 1, number=i) for i, name in enumerate(second, 1)]
        names = [name or under for name, under in zip(names, below, strict=True)]
    elif form.names is None and form.header:
        _ask(names, questions)
    return _numbered(names)


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names of which none is empty and each is there once.

    >>> _numbered(["", "score", "score", "score (2)"])
    ['column 1', 'score', 'score (3)', 'score (2)']
    """
    taken, numbered = set(names), []
    for place, name in enumerate(names, 1):
        called = name or f"column {place}"
        number = 2
        while called in numbered or (called in taken and called != name):
            called = f"{name} ({number})" if name else f"column {place} ({number})"
            number += 1
        numbered.append(called)
    return numbered


def _ask(names: Sequence[str], questions: Questions) -> None:
    width = len(names)
    unnamed = [place for place, name in enumerate(names, 1) if not name]
    repeated = [name for name, number in Counter(names).items() if name and number > 1]
    if not unnamed and not repeated:
        return
    causes = []
    if unnamed:
        shown = [*map(str, unnamed[:SHOWN])] if len(unnamed) <= SHOWN else [*map(str, unnamed[:SHOWN]), "others"]
        listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
        column = f"column {listed} has" if len(unnamed) == 1 else f"columns {listed} have"
        hint = ""
        if unnamed == [1]:
            hint = ". If it has row numbers, leave out the row numbers when the table is written (index=False)"
        elif unnamed == [width]:
            hint = ". Is there a delimiter at the end of each line?"
        causes.append(f"{column} no name{hint}")
    for name in repeated[:SHOWN]:
        places = [place for place, each in enumerate(names, 1) if each == name]
        causes.append(f"columns {places[0]} and {places[1]} have the same name {name!r}")
    numbered = _numbered(names)
    changed = [new for old, new in zip(names, numbered, strict=True) if old != new]
    example = ", ".join(map(repr, changed[:SHOWN]))
    readings = [Reading(f"name them by their place and number, as {example}", {"names": NUMBERED})]
    if unnamed:
        readings.append(Reading("take the missing names from the next line", {"names": TWO_LINES}))
    else:
        own = tuple(numbered)
        readings.append(Reading("state the names of all columns", {"names": own}))
    text = "; ".join(causes)
    questions.ask("names", (), f"{text[0].upper()}{text[1:]}: each column needs a name of its own.", readings)


# ---- a first line that is a record -----------------------------------------------------------------------------------


def is_value(name: str) -> bool:
    """Return whether a name is rather a value of a record: a number, a date or an e-mail address.

    >>> [is_value(name) for name in ("31.5", "2020-01-31", "ada@example.org", "age", "q1")]
    [True, True, True, False, False]
    """
    return bool(NUMBER.fullmatch(name) or EMAIL.fullmatch(name) or date_formats([name]))


def _shape(cell: str) -> str:
    """Return a cell with one letter for each word and one digit for each number."""
    return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", cell))


def looks_like_a_record(names: Sequence[str], rows: Sequence[Sequence[str]], reader: NumberReader) -> bool:
    """Return whether the first line is more likely a record than the names of the columns above which it stands.

    A number above numbers, a text that is a value of its own column, and one of the shape of the others with a digit or
    an @ in it, are those of a record. A text above numbers is a name.
    """
    alike = 0
    numbers = 0
    for place, name in enumerate(names):
        cells = [row[place] for row in rows if place < len(row) and row[place] not in CODES]
        if not cells or name in CODES:
            continue
        share = sum(reader.read(cell) is not None for cell in cells) / len(cells)
        if share >= MOST_NUMBERS:
            if reader.read(name) is None:
                return False
            numbers += 1
            alike += 1
        else:
            shape = _shape(name)
            same = sum(_shape(cell) == shape for cell in cells) >= MOST_NUMBERS * len(cells)
            alike += name in cells or bool(EMAIL.fullmatch(name)) or (same and "9" in shape)
    return bool(rows) and 2 * alike >= len(names) and (numbers > 0 or alike > 1)


def has_second_line(names: Sequence[str], rows: Sequence[Sequence[str]], reader: NumberReader) -> bool:
    """Return whether the line after the names has the names of those columns that have none."""
    unnamed = [place for place, name in enumerate(names) if not name]
    second, rest = (rows[0], rows[1:]) if rows else ([], [])
    if not unnamed or not rest or len(second) != len(names):
        return False
    if not all(second[place] and reader.read(second[place]) is None for place in unnamed):
        return False
    for place, cell in enumerate(second):
        cells = [row[place] for row in rest if place < len(row) and row[place] not in CODES]
        numbers = sum(reader.read(each) is not None for each in cells)
        if cells and numbers >= MOST_NUMBERS * len(cells) and reader.read(cell) is None:
            return True
    return False


def ask_about_header(
    names: Sequence[str], header: int, questions: Questions, *, record: bool, delimiter: str = ""
) -> None:
    """Ask whether the first line of the table has the names. `record`: whether the line counts as a record.

    Without the records, as for a release, a name that is a value raises the question, and a file without names needs
    its `delimiter` and its names stated.
    """
    if not record and not any(map(is_value, names)):
        return
    first = ", ".join(map(repr, names[: 2 * SHOWN])) + (", ..." if len(names) > 2 * SHOWN else "")
    no_names: dict[str, Any] = {"header": 0}
    if not record:
        no_names |= {"delimiter": delimiter, "names": tuple(_numbered([""] * len(names)))}
    readings = [
        Reading("it is a record, and the columns are called column 1, column 2, ...", no_names),
        Reading("it has the names of the columns", {"header": max(header, 1)}),
    ]
    text = f"The first line must hold the names of the columns, and it looks like a record: {first}."
    questions.ask("names", (), text, readings if record else readings[::-1])
