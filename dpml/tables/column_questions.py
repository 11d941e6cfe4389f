"""Questions that the cells of a column raise: units, lost digits, missing values, twins, dates and identifiers."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from dpml.tables.dates import DATE_FORMATS
from dpml.tables.identifiers import REASONS, identifier_reason, is_code
from dpml.tables.missing import WORDS, MissingCodes
from dpml.tables.numbers import FACTORS, PERCENT, NumberReader
from dpml.tables.questions import Questions, Reading
from dpml.tables.reading import IGNORE, LOWER, NUMBER, SHARE, TEXT, ColumnReading

# a column of more different texts has no categories
MOST_CATEGORIES = 100
# cells are counted until a column has so many different ones
MOST_DIFFERENT = 10_000
# the fewest cells, and their least share of a column, that raise a question of missing values
FEWEST, LEAST_SHARE = 5, 0.01
# numbers that are often written for a missing value
SENTINELS = frozenset(sign * number for sign in (-1, 1) for number in (99, 999, 9999, 99999, 999999, 99.9, 999.9))
NEGATIVE_SENTINELS = frozenset({-1.0, -9.0, -8.0})
SHOWN = 3


class CellCounts:
    """Counts of each cell of a column, until it has too many different ones. Missing cells do not count.

    >>> cells = CellCounts()
    >>> cells.add(["Yes", "yes", "yes"])
    >>> cells.number, cells.counts.most_common(1)
    (3, [('yes', 2)])
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.number = 0

    def add(self, cells: Collection[str]) -> None:
        """Count some more cells."""
        if len(self.counts) < MOST_DIFFERENT:
            self.counts.update(cells)
            self.number += len(cells)


def ask_about_columns(
    columns: Sequence[ColumnReading],
    cells: Sequence[CellCounts],
    kinds: Mapping[str, str],
    codes: MissingCodes,
    reader: NumberReader,
    questions: Questions,
    *,
    few: bool = True,
) -> None:
    """Ask the questions that the cells of the columns raise.

    `kinds`: those that are stated, which are no question.
    `few`: whether a single cell may raise a question. Otherwise no single record does.
    """
    words: dict[str, int] = {}
    for column, counted in zip(columns, cells, strict=True):
        stated = column.name in kinds
        if not stated:
            _ask_about_units(column, counted, reader, questions, few)
            _ask_about_digits(column, questions)
            _ask_about_dates(column, questions)
        if codes.schema is None and not stated:
            _ask_about_identifier(column, counted, reader, questions)
        if not codes.is_stated(column.name) and (codes.schema is None or column.name in codes.features):
            _ask_about_sentinels(column, counted, codes, reader, questions)
        if not stated:
            _ask_about_twins(column, counted, codes, questions, few)
        some = {text: number for text, number in column.missing.items() if text in WORDS}
        often = is_often(sum(some.values()), column.values + sum(column.missing.values()))
        is_text = column.kind == TEXT or kinds.get(column.name) == TEXT
        if is_text and often and codes.schema is None and not codes.is_stated(column.name):
            words[column.name] = sum(some.values())
    if words:
        _ask_about_missing(words, {column.name: column for column in columns}, questions)


def _ask_about_missing(words: Mapping[str, int], columns: Mapping[str, ColumnReading], questions: Questions) -> None:
    name = max(words, key=lambda each: words[each])
    texts = {each: tuple(text for text in columns[each].missing if text in WORDS) for each in words}
    rows = columns[name].values + sum(columns[name].missing.values())
    often = ", ".join(f"{text!r} ({columns[name].missing[text]:,} of {rows:,} cells)" for text in texts[name][:SHOWN])
    others = "" if len(words) == 1 else f", and such texts in {len(words) - 1} more columns"
    readings = [
        Reading("they are missing values", {"missing": texts}),
        Reading("they are categories", {"missing": dict.fromkeys(words, ())}),
    ]
    text = f"{name}: {often} can be a missing value or a category{others}."
    questions.ask("missing", tuple(words), text, readings)


def is_often(number: int, rows: int) -> bool:
    """Return whether so many of a column's cells raise a question for themselves."""
    return number >= max(FEWEST, LEAST_SHARE * rows)


def _ask_about_units(
    column: ColumnReading, cells: CellCounts, reader: NumberReader, questions: Questions, few: bool
) -> None:
    """Ask about numbers of which some are multiplied by a letter, or are percentages, and others are not."""
    if column.kind == TEXT and not column.units:
        return
    units: dict[str, str] = {}
    times: Counter[str] = Counter()
    for cell, number in cells.counts.items():
        if (value := reader.read(cell)) is not None:
            units.setdefault(value[1], cell)
            times[value[1]] += number
    units = {unit: cell for unit, cell in units.items() if few or is_often(times[unit], cells.number)}
    factors = [unit for unit in units if unit in FACTORS]
    if len(units) < 2 or "" not in units or not (factors or PERCENT in units):
        return
    kind = SHARE if PERCENT in units else NUMBER
    with_unit = units[PERCENT if PERCENT in units else factors[0]]
    read = NumberReader(reader.decimal, reader.thousands, share=True).read(with_unit)
    example = () if read is None else (f"{with_unit} is {read[0]:.12g}",)
    readings = [
        Reading("they are texts", {"columns": {column.name: TEXT}}),
        Reading("they are numbers", {"columns": {column.name: kind}}, example),
    ]
    text = f"{column.name}: {with_unit!r} is beside {units['']!r}."
    questions.ask("units", (column.name,), text, readings)


def _ask_about_digits(column: ColumnReading, questions: Questions) -> None:
    if not column.long:
        return
    readings = [
        Reading("they are texts, and keep all digits", {"columns": {column.name: TEXT}}),
        Reading("they are numbers, of which the last digits are rounded", {"columns": {column.name: NUMBER}}),
    ]
    text = f"{column.name}: a number above 2^53 would lose digits, such as {column.long}."
    questions.ask("digits", (column.name,), text, readings)


def _ask_about_dates(column: ColumnReading, questions: Questions) -> None:
    uncertain = [form for form in column.formats if "%y" in form or "%z" in form]
    if len(column.formats) < 2 and not uncertain:
        return
    readings = [Reading("they are texts", {"columns": {column.name: TEXT}})]
    for form in column.formats:
        readings.append(Reading(f"they are dates, {DATE_FORMATS[form]}", {"columns": {column.name: form}}))
    text = f"{column.name}: its texts are dates, and no cell says in which order."
    if len(column.formats) == 1:
        text = f"{column.name}: its texts are dates, {DATE_FORMATS[column.formats[0]]}."
    questions.ask("dates", (column.name,), text, readings)


def _ask_about_identifier(column: ColumnReading, cells: CellCounts, reader: NumberReader, questions: Questions) -> None:
    # the different cells in the order of the file, which are all cells where none occurs twice
    texts = list(cells.counts)
    if column.kind == NUMBER:
        numbers = [number[0] for number in map(reader.read, texts) if number is not None]
        values = pd.Series(numbers, dtype=float)
    else:
        values = pd.Series(texts, dtype=object)
    different = len(texts) == cells.number
    reason = identifier_reason(column.name, values if different else None)
    if reason is None or is_code(len(texts), cells.number):
        return
    readings = [
        Reading("keep it", {"columns": {column.name: column.kind}}),
        Reading("leave it out, as an identifier", {"columns": {column.name: IGNORE}}),
    ]
    questions.ask("identifiers", (column.name,), f"{column.name}: {REASONS[reason]}.", readings)


def _ask_about_sentinels(
    column: ColumnReading, cells: CellCounts, codes: MissingCodes, reader: NumberReader, questions: Questions
) -> None:
    """Ask about a number that is frequent, far from the others, and often written for a missing value."""
    if column.kind != NUMBER:
        return
    feature = codes.features.get(column.name)
    read = {cell: reader.read(cell) for cell in cells.counts}
    numbers = {cell: number[0] for cell, number in read.items() if number is not None}
    usual = [number for number in numbers.values() if number not in SENTINELS]
    for cell, number in numbers.items():
        if number not in SENTINELS | NEGATIVE_SENTINELS or not is_often(cells.counts[cell], cells.number):
            continue
        rest = [other for other in usual if other != number]
        if len(rest) < 2:
            continue
        low, high, share = min(rest), max(rest), cells.counts[cell] / cells.number
        far = number in SENTINELS and max(low - number, number - high) > high - low
        if not far and not (number in NEGATIVE_SENTINELS and low >= 0):
            continue
        if feature is not None and (feature.kind != "numeric" or feature.lower <= number <= feature.upper):
            continue
        readings = [
            Reading("it is a number as the others", {"missing": {column.name: ()}}),
            Reading("it stands for a missing value", {"missing": {column.name: (*filter(None, column.missing), cell)}}),
        ]
        where = "far from the others" if far else "the only negative number"
        text = f"{column.name}: {cell} is {share:.0%} of its values and {where} ({low:.12g} to {high:.12g})."
        questions.ask("sentinels", (column.name,), text, readings)
        return


def plain_text(cell: str) -> str:
    """Return a text in lower case, composed (NFC), and without characters that cannot be seen.

    >>> plain_text("Cafe\u0301\u200b") == plain_text("CAFÉ")
    True
    """
    visible = (letter for letter in cell if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", "".join(visible)).lower().strip()


def in_lower_case(cell: str, values: Collection[str] = ()) -> str:
    """Return a text as `plain_text` does, or the one of the stated values that it is then."""
    plain = plain_text(cell)
    alike = [value for value in values if plain_text(value) == plain]
    return alike[0] if len(alike) == 1 else plain


def _ask_about_twins(
    column: ColumnReading, cells: CellCounts, codes: MissingCodes, questions: Questions, few: bool
) -> None:
    """Ask about texts that differ in upper and lower case alone, or in characters that cannot be seen."""
    if column.kind != TEXT or len(cells.counts) > MOST_CATEGORIES:
        return
    alike: dict[str, list[str]] = {}
    for cell, number in cells.counts.items():
        if few or is_often(number, cells.number):
            alike.setdefault(plain_text(cell), []).append(cell)
    twins = [sorted(some, key=lambda cell: -cells.counts[cell]) for some in alike.values() if len(some) > 1]
    known = codes.values(column.name)
    twins = [some for some in twins if not known or known.intersection(some)]
    if not twins or all(known.issuperset(some) for some in twins):
        return
    shown = ", ".join(
        f"{ascii(cell) if _is_hidden(cell) else repr(cell)} ({cells.counts[cell]:,})" for cell in twins[0][:SHOWN]
    )
    readings = [
        Reading("they are different categories", {"columns": {column.name: TEXT}}),
        Reading("they are the same, and written in lower case", {"columns": {column.name: LOWER}}),
    ]
    more = "" if len(twins) == 1 else f", and {len(twins) - 1} more"
    text = f"{column.name}: texts differ in case, or in what cannot be seen: {shown}{more}."
    questions.ask("twins", (column.name,), text, readings)


def _is_hidden(cell: str) -> bool:
    return unicodedata.normalize("NFC", cell) != cell or any(unicodedata.category(letter) == "Cf" for letter in cell)
