"""The reading of a table: its format, the kinds of its columns, its missing values, and open questions.

For the table's owner alone: a question quotes cells of the table. A simulation takes the first reading of a question,
which is part of the `TableReading`. A release asks no question, so it refuses the file until the option is given.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dpml.exceptions import InvalidParameter, TableAmbiguous, TableNames
from dpml.tables.cells import (
    DATE_FORMATS,
    EXACT,
    FACTORS,
    PERCENT,
    REASONS,
    WORDS,
    MissingCodes,
    NumberReader,
    date_parts,
    identifier_reason,
    is_code,
    part_names,
)
from dpml.tables.text_format import TextFormat

# ---- questions -----------------------------------------------------------------------------------------------------

# in the order in which they are asked: what a later one shows depends on the earlier ones
QUESTIONS = (
    "encoding",
    "delimiter",
    "comments",
    "names",
    "numbers",
    "units",
    "digits",
    "codes",
    "missing",
    "sentinels",
    "twins",
    "dates",
    "identifiers",
)
# those that change how cells of a release are read, or that the schema does not answer
OF_RELEASE = (*QUESTIONS[:6], "missing", "sentinels", "twins")


# a refusal quotes no record: it has these words instead of the question's
WITHOUT_CELLS = {
    "encoding": "The file is not in UTF-8, and its encoding is doubtful.",
    "numbers": "Numbers can be read in two ways.",
    "units": "Numbers with a unit are beside numbers without one.",
    "missing": "Frequent texts can be a missing value or a category.",
    "sentinels": "A frequent number far from the others can stand for a missing value.",
    "twins": "Texts differ in case, or in what cannot be seen.",
}
HEADER = "The first line must hold the names of the columns, and it looks like a record."


@dataclass(frozen=True)
class Reading:
    r"""Describe a possible reading of a file.

    Attributes
    ----------
    rule : str
        The reading in words, without a full stop and without a cell.
    options : dict
        Keyword arguments of `read_table` that choose it and answer the question. Merge a dict of columns (`columns`,
        `missing`) with earlier options by `merge_options`.
    cells : tuple of str
        Up to three cells in this reading, empty where none are shown. They are private.

    See Also
    --------
    Question : Has the possible readings.
    merge_options : Merges the options of readings.

    Examples
    --------
    >>> print(*Reading("decimal comma", {"decimal": ",", "columns": {"a b": "text"}}).arguments)
    --decimal , --column 'a b=text'
    """

    rule: str
    options: Mapping[str, Any]
    cells: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The rule with its cells. Private."""
        return f"{self.rule} ({', '.join(self.cells)})" if self.cells else self.rule

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same on the command line of ``python -m dpml release``, quoted for a shell."""
        return tuple(_arguments(self.options))


@dataclass(frozen=True)
class Question:
    """Describe a part of a file that can be read in more than one way. Private, as the table is.

    Attributes
    ----------
    kind : str
        One of `QUESTIONS`.
    columns : tuple of str
        Columns of the question, empty for the whole file.
    text : str
        The question and its cause, in one or two sentences.
    readings : tuple of Reading
        The possible readings, two or more. A simulation takes the first.
    option : str
        Name of the option of `read_table` that answers it.

    See Also
    --------
    examine_table : Returns the questions of a file.
    Reading : Describes a possible reading.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
    readings: tuple[Reading, ...]
    option: str

    @property
    def column(self) -> str | None:
        """The column of the question, or None for several or the whole file."""
        return self.columns[0] if len(self.columns) == 1 else None

    @property
    def answers(self) -> str:
        """All readings with the options that choose them. Private."""
        return "; ".join(f"{each.words}: {_call(each.options)} ({' '.join(each.arguments)})" for each in self.readings)


@dataclass
class Questions:
    """The questions of one file, in the order of `QUESTIONS`."""

    asked: list[Question] = field(default_factory=list)

    def ask(
        self, kind: str, columns: Sequence[str], text: str, readings: Sequence[Reading], option: str | None = None
    ) -> None:
        """Add a question. By default its option is that of its first reading."""
        option = next(iter(readings[0].options)) if option is None else option
        self.asked.append(Question(kind, tuple(columns), text, tuple(readings), option))

    def in_order(self) -> tuple[Question, ...]:
        """Return all questions, those about the whole file first."""
        return tuple(sorted(self.asked, key=lambda question: QUESTIONS.index(question.kind)))

    def refuse(self, file: str, *, line: int | None = None) -> None:
        """Raise the first question that a release cannot leave open."""
        for question in self.in_order():
            if question.kind in OF_RELEASE:
                raise refusal(question, file, line=line)


def refusal(question: Question, file: str, *, line: int | None = None) -> TableAmbiguous:
    """Return the error with which a release refuses a file because of a question.

    Of the records it shows nothing but a frequent text or number that can stand for a missing value.
    """
    text = HEADER if question.option == "header" and question.kind == "names" else question.text
    if question.kind in WITHOUT_CELLS:
        # the error names a single column itself
        about = "" if question.column else ", ".join(map(repr, question.columns[:3]))
        text = f"{about}: {WITHOUT_CELLS[question.kind]}" if about else WITHOUT_CELLS[question.kind]
    answers = "; ".join(
        f"{_call(each.options)} ({' '.join(each.arguments)}): {each.rule}" for each in question.readings
    )
    cause = f"{text} State `{question.option}` for a release. {answers}. `python -m dpml examine` shows the cells"
    return TableAmbiguous(file, cause, option=question.option, line=line, column=question.column)


def merge_options(stated: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return stated options of `read_table` with those of a reading.

    Parameters
    ----------
    stated : mapping of str to object
        Options that were stated before.
    chosen : mapping of str to object
        Options of a reading.

    Returns
    -------
    dict of str to object
        All options. Dicts of columns are joined, and other options of `stated` replaced.

    See Also
    --------
    Reading : Has the options of a reading.
    read_table : Reads a table with these options.

    Examples
    --------
    >>> merge_options({"decimal": ",", "columns": {"a": "text"}}, {"columns": {"b": "number"}})
    {'decimal': ',', 'columns': {'a': 'text', 'b': 'number'}}
    """
    merged = dict(stated)
    for name, value in chosen.items():
        before = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = {**before, **value} if both else value  # type: ignore[dict-item]
    return merged


def _call(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        flag = {"columns": "--column"}.get(name, f"--{name}")
        if isinstance(value, Mapping):
            for column, each in value.items():
                for one in (each,) if isinstance(each, str) else each or ("",):
                    yield f"{flag} {shlex.quote(f'{column}={one}')}"
        else:
            for one in (value,) if isinstance(value, str) or not isinstance(value, Sequence) else value or ("",):
                yield f"{flag} {shlex.quote(str(one))}"


# ---- columns and tables --------------------------------------------------------------------------------------------

NUMBER, TEXT, SHARE, LOWER, IGNORE = "number", "text", "share", "lower", "ignore"
# the kinds that a person can state of a column, beside the formats of dates
KINDS = {
    NUMBER: "numbers",
    SHARE: "numbers, where 50% is 0.5",
    TEXT: "texts",
    LOWER: "texts in lower case, composed and without characters that cannot be seen",
    IGNORE: "left out",
}
# different cells that are shown as examples
EXAMPLES = 3
TOTALS = re.compile(
    r"(grand\s)?total|sub-?total|sum|summe|gesamt|insgesamt|average|mean|mittelwert|somme|suma|totale", re.I
)


@dataclass(frozen=True)
class ColumnReading:
    """Describe the reading of one column.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        "number", "text", "ignore" for a column that was left out, or the format of its dates.
    values : int
        Number of cells that are not missing.
    units : tuple of str
        Units beside its numbers.
    others : dict of str to int
        Number of each cell of a column of numbers that is no number, and became a missing value. For a column of text,
        cells that made it text, up to a limit.
    formats : tuple of str
        Formats in which all its texts are dates.
    missing : dict of str to int
        Number of each text that was read as a missing value. "" stands for the empty cells.
    long : str
        A whole number of it that would lose digits as a number, empty if there is none.

    See Also
    --------
    TableReading : Has the readings of all columns.
    """

    name: str
    kind: str
    values: int
    units: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    long: str = ""

    @property
    def words(self) -> str:
        """Its surprises in a sentence, with the texts that were read as missing, or an empty text."""
        texts = {text: number for text, number in self.missing.items() if text}
        often = ", ".join(
            f"{text!r} ({texts[text]:,})" for text in sorted(texts, key=lambda text: (-texts[text], text))
        )
        return "; ".join(filter(None, (self._surprises(), f"read as missing: {often}" if texts else "")))

    def _surprises(self) -> str:
        if self.kind == IGNORE:
            return "left out"
        if not self.values:
            return "empty"
        if self.kind == NUMBER:
            return "; ".join(filter(None, (self._gaps(), f"unit {self.units[0]!r} left out" if self.units else "")))
        if self.kind != TEXT:
            return f"dates ({DATE_FORMATS.get(self.kind, self.kind)}) as year, month and weekday"
        if len(self.formats) == 1:
            return f"dates ({DATE_FORMATS[self.formats[0]]}), kept as text"
        if self.formats:
            orders = " or ".join(DATE_FORMATS[each] for each in self.formats)
            return f"dates, {orders}: no cell decides the order, so they are kept as text"
        if len(self.units) > 1:
            return f"text: its numbers have the units {', '.join(map(repr, self.units[:EXAMPLES]))}"
        return f"text: as a number, {self.long} would lose digits" if self.long else ""

    def _gaps(self) -> str:
        gaps = sum(self.others.values())
        if not gaps:
            return ""
        often = sorted(self.others, key=lambda cell: (-self.others[cell], cell))
        examples = ", ".join(map(repr, often[:EXAMPLES]))
        became = "1 became a missing value" if gaps == 1 else f"{gaps:,} became missing values"
        return f"{self.values - gaps:,} of {self.values:,} values read as numbers, {became}: {examples}"


@dataclass(frozen=True)
class TableReading:
    """Hold a table and describe its reading. Private, as the table is.

    Attributes
    ----------
    frame : DataFrame
        The table.
    format : TextFormat or None
        Format of a file of text, None for Parquet.
    columns : tuple of ColumnReading
        Reading of each of the file's columns, in order.
    notes : tuple of str
        Sentences on lines that look like no record.
    questions : tuple of Question
        Parts that can be read in more than one way, and that no option settles. Each was answered with its first
        reading. To choose another reading, read the file again with its options:
        `examine_table(file, **merge_options(stated, reading.options))`. Answer questions on the whole file first, since
        they can change the others. Empty for a release, which refuses such a file (`TableAmbiguous`).

    See Also
    --------
    examine_table : Returns the reading of a file.
    Question : Describes an open question.
    """

    frame: pd.DataFrame
    format: TextFormat | None = None
    columns: tuple[ColumnReading, ...] = ()
    notes: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences on the reading: its format, its surprising columns, and the notes."""
        form = () if self.format is None else (f"Read as {self.format.words}.",)
        columns = tuple(f"{each.name}: {each.words}." for each in self.columns if each.words)
        return (*form, *columns, *self.notes)

    def _with_kinds(self, file: str, kinds: Mapping[str, str]) -> TableReading:
        """Return the reading with columns of dates as their parts, and without ignored columns."""
        frame = self.frame
        for name, kind in kinds.items():
            if kind in DATE_FORMATS:
                if taken := [part for part in part_names(name) if part in frame]:
                    cause = f"the parts of the date in {name!r} need its name: rename it"
                    raise TableNames(file, cause, column=taken[0])
                parts = date_parts(frame[name], kind, as_text=frame[name].dtype == object)
                place = frame.columns.get_loc(name)
                frame = pd.concat([frame.iloc[:, :place], parts, frame.iloc[:, place + 1 :]], axis=1)
            elif kind == IGNORE:
                frame = frame.drop(columns=name)
        if not frame.shape[1]:
            raise InvalidParameter("columns", dict(kinds), "such that a column is left")
        return replace(self, frame=frame)


def as_numbers(name: str, cells: pd.Series, form: TextFormat) -> tuple[pd.Series, ColumnReading]:
    """Return a column of texts as numbers, gaps where a text is none, and how it was read.

    >>> cells = pd.Series(["171,3", "tall", None], name="height")
    >>> numbers, reading = as_numbers("height", cells, TextFormat(decimal=","))
    >>> numbers.tolist(), reading.words
    ([171.3, nan, nan], "1 of 2 values read as numbers, 1 became a missing value: 'tall'")
    """
    reader = NumberReader(form.decimal, form.thousands)
    texts = cells.astype(object)
    readings = {text: reader.read(str(text)) for text in texts.dropna().unique()}
    values = {text: None if reading is None else reading[0] for text, reading in readings.items()}
    units = tuple(dict.fromkeys(reading[1] for reading in readings.values() if reading is not None and reading[1]))
    others = texts[[text in values and values[text] is None for text in texts]].value_counts()
    reading = ColumnReading(name, NUMBER, int(texts.notna().sum()), units, {str(k): int(n) for k, n in others.items()})
    return texts.map(values).astype(float), reading


def check_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise where a kind is stated of no column, or is none."""
    for name, kind in kinds.items():
        if name not in names:
            raise InvalidParameter("columns", name, f"columns of the table: {', '.join(map(str, names[:8]))}")
        if kind not in (*KINDS, *DATE_FORMATS):
            allowed = f"{', '.join(map(repr, KINDS))} or one of {', '.join(DATE_FORMATS)}"
            raise InvalidParameter(f"columns[{name!r}]", kind, allowed)


def end_notes(first: Sequence[str], last: Sequence[str], readings: Sequence[ColumnReading]) -> tuple[str, ...]:
    """Return sentences on a first or last record that looks like none."""
    notes = []
    numbers = [place for place, each in enumerate(readings) if each.kind == NUMBER and each.values]
    beside = [first[place] for place in numbers if first[place] in readings[place].others]
    if numbers and len(beside) == len(numbers):
        examples = ", ".join(map(repr, beside[:EXAMPLES]))
        notes.append(f"The first record has no numbers ({examples}). If it is a second line of names, take it out.")
    if any(TOTALS.fullmatch(cell.rstrip(" :")) for cell in last):
        notes.append("The last record looks like a total. It counts as a record: take it out.")
    return tuple(notes)


# ---- questions that cells raise ------------------------------------------------------------------------------------

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
# different texts beside numbers that raise a question
MOST_TEXTS = 2


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
        if codes.schema is None and not stated and not _ask_about_identifier(column, counted, reader, questions):
            _ask_about_codes(column, counted, reader, questions)
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


def _ask_about_identifier(column: ColumnReading, cells: CellCounts, reader: NumberReader, questions: Questions) -> bool:
    """Ask about a column that looks like an identifier, and return whether it does."""
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
        return False
    readings = [
        Reading("keep it", {"columns": {column.name: column.kind}}),
        Reading("leave it out, as an identifier", {"columns": {column.name: IGNORE}}),
    ]
    questions.ask("identifiers", (column.name,), f"{column.name}: {REASONS[reason]}.", readings)
    return True


def are_few(others: Mapping[str, int], values: int) -> bool:
    """Return whether one or two different texts, and at most half of the values, are all that is no number."""
    return 0 < len(others) <= MOST_TEXTS and 2 * sum(others.values()) <= values


def are_codes(others: Mapping[str, int], values: int) -> bool:
    """Return whether few texts without a digit are all that is no number. "90+" has a value."""
    return are_few(others, values) and not any(letter.isdigit() for text in others for letter in text)


def mixes_units(units: Collection[str]) -> bool:
    """Return whether numbers with these units, "" for none, cannot be compared."""
    named = {unit for unit in units if unit}
    return len(named) > 1 or ("" in units and bool(named & {*FACTORS, PERCENT}))


def _ask_about_codes(column: ColumnReading, cells: CellCounts, reader: NumberReader, questions: Questions) -> None:
    """Ask whether one or two texts among numbers stand for a missing value."""
    others = column.others
    if not are_few(others, column.values) or any(map(reader.code, others)):
        return
    read = [number for number in map(reader.read, cells.counts) if number is not None]
    if len(read) < 2 or mixes_units({unit for _number, unit in read}) or any(abs(n) >= EXACT for n, _unit in read):
        return
    often = ", ".join(f"{text!r} ({others[text]:,} of {column.values:,} values)" for text in sorted(others))
    readings = [
        Reading("they are numbers, and the exceptions are missing values", {"columns": {column.name: NUMBER}}),
        Reading("they are texts", {"columns": {column.name: TEXT}}),
    ]
    text = f"{column.name}: all values are numbers except {often}."
    questions.ask("codes", (column.name,), text, readings if column.kind == NUMBER else readings[::-1])


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
