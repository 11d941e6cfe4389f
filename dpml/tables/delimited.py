"""Tables as text with a delimiter. The file is read twice, some lines at a time.

The first time each limit is checked and each column's kind is found, and no cell is kept. The second time numbers go
into an array of known size and texts into a dictionary and codes. So a table takes memory once it is known to be one,
and no more than its cells.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.exceptions import TableEmpty, TableRagged, TableTooLarge, TableUnreadable
from dpml.tables.column_questions import CellCounts, ask_about_columns, in_lower_case
from dpml.tables.dates import date_formats
from dpml.tables.detection import detect_format, split_spaces, without_comments
from dpml.tables.encodings import BLOCK, decoder_name, read_encoding
from dpml.tables.limits import Limits, check_size
from dpml.tables.lines import CELLS_AT_A_TIME
from dpml.tables.missing import MissingCodes
from dpml.tables.names import MOST_NUMBERS, column_names
from dpml.tables.numbers import FACTORS, PERCENT, NumberReader
from dpml.tables.questions import Questions
from dpml.tables.reading import LOWER, NUMBER, SHARE, TEXT, ColumnReading, TableReading, check_kinds, end_notes
from dpml.tables.text_format import NUMBERED, TWO_LINES, TextFormat

EXACT = 2.0**53
# a column is one of numbers where `MOST_NUMBERS` of at least so many values are, and so few different ones are not
FEWEST_VALUES = 20
MOST_OTHERS = 10
# lines from which the format is detected
FIRST_LINES = 1000


class _Column:
    """The facts of a column after the first reading."""

    def __init__(self, name: str, form: TextFormat, kind: str | None, codes: MissingCodes):
        self.name, self.kind, self.codes = name, kind, codes
        self.reader = NumberReader(form.decimal, form.thousands, share=kind == SHARE)
        self.text = kind not in (None, NUMBER, SHARE)
        self.whole, self.values, self.numbers = True, 0, 0
        self.units: set[str] = set()
        # what is no number, with how often
        self.others: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.cells = CellCounts()
        self.long = ""

    def look(self, part: _Part) -> None:
        """Take note of the cells of a part."""
        absent = self.codes.absent(self.name, part.distinct)
        gaps = {cell: part.cells.count(cell) for cell in absent}
        self.missing.update(gaps)
        self.values += len(part.cells) - sum(gaps.values())
        self.whole = self.whole and not gaps
        self.cells.add([cell for cell in part.cells if cell not in absent] if absent else part.cells)
        present = [cell for cell in part.distinct if cell not in absent]
        if self.text or not present:
            return
        readings = {cell: self.reader.read(cell) for cell in present}
        others = [cell for cell, reading in readings.items() if reading is None]
        if others:
            numbers = Counter(part.cells)
            self.others.update({cell: numbers[cell] for cell in others})
            self.whole = False
        self.units |= {reading[1] for reading in readings.values() if reading is not None}
        self.whole = self.whole and all(
            reading is not None and abs(reading[0]) < EXACT and reading[0].is_integer() and self.reader.whole(cell)
            for cell, reading in readings.items()
        )
        if not self.whole and not self.long:
            lost = (cell for cell, reading in readings.items() if reading and _loses_digits(cell, reading[0]))
            self.long = next(lost, "")
        if self.kind is None and (len(self.others) > MOST_OTHERS or any(map(self.reader.code, others))):
            self.text = True

    def end(self) -> None:
        """Decide whether it is a column of numbers."""
        units = {unit for unit in self.units if unit}
        self.numbers = self.values - self.others.total()
        if self.kind is not None:
            return
        if self.others:
            self.text = self.text or self.values < FEWEST_VALUES or self.numbers < MOST_NUMBERS * self.values
        self.text = self.text or len(units) > 1 or bool(self.long)
        if "" in self.units and units & {*FACTORS, PERCENT}:
            self.text = True

    def reading(self) -> ColumnReading:
        """Return the reading of the column, for the table's owner."""
        units = tuple(sorted(unit for unit in self.units if unit))
        kind = NUMBER
        if self.text:
            kind = TEXT if self.kind in (None, LOWER) else self.kind
            units = units if not self.others else ()
        missing, long = dict(self.missing), self.long if self.text and not self.others else ""
        return ColumnReading(self.name, kind, self.values, units, dict(self.others), missing=missing, long=long)


def _loses_digits(cell: str, value: float) -> bool:
    return abs(value) >= EXACT and cell.lstrip("+-").isdigit() and int(cell) != int(value)


def read_delimited(
    file: BinaryIO,
    name: str,
    limits: Limits,
    given: Mapping[str, Any],
    kinds: Mapping[str, str],
    schema: Any,
    progress: Any,
) -> TableReading:
    """Return the table in a file of text and its reading with questions, or raise the error of the file."""
    total = 2 * file.seek(0, io.SEEK_END)
    questions = Questions()
    encoding = read_encoding(file, name, given["encoding"], questions)
    form = detect_format(_first_lines(file, name, limits, encoding), questions, **{**given, "encoding": encoding})

    def tell(done: int) -> None:
        if progress is not None:
            progress(min(done, total), total)

    table = _Text(file, name, limits, form, questions)
    if form.names is None and not form.header:
        # a release takes the number of columns from no record
        form = replace(form, names=tuple(table.names))
    elif form.names is None and any(question.kind == "names" for question in questions.asked):
        form = replace(form, names=NUMBERED)
    check_kinds(kinds, table.names)
    codes = MissingCodes(form.missing, schema)
    kinds = codes.with_numbers(kinds, table.names)
    columns = [_Column(called, form, kinds.get(called), codes) for called in table.names]
    rows, ends = 0, _Ends()
    for part in table.parts():
        rows += len(part[0].cells)
        for column, mine in zip(columns, part, strict=True):
            column.look(mine)
        ends.look(part)
        tell(file.tell())
    if not rows:
        raise TableEmpty(name, "it has names of columns, and no records")
    if not any(column.values for column in columns):
        raise TableEmpty(name, f"it has {rows:,} records, and not one value in them")
    for column in columns:
        column.end()
    arrays = [_made(column, rows) for column in columns]
    again, start = _Text(file, name, limits, form), 0
    texts = _Texts(name, limits)
    for part in again.parts():
        end = start + len(part[0].cells)
        for place, (column, mine) in enumerate(zip(columns, part, strict=True)):
            cell_values = texts.codes(place, mine, column) if column.text else _numbers(mine, column)
            arrays[place][start:end] = list(map(cell_values.__getitem__, mine.cells))
        start = end
        tell(total // 2 + file.tell())
    contents = {
        column.name: texts.categories(place, arrays[place]) if column.text else arrays[place]
        for place, column in enumerate(columns)
    }
    readings = []
    for column in columns:
        reading = column.reading()
        content = contents[column.name]
        if reading.kind == TEXT and column.kind is None and isinstance(content, pd.Categorical):
            reading = replace(reading, formats=date_formats(content.categories))
        readings.append(reading)
    reader = NumberReader(form.decimal, form.thousands)
    ask_about_columns(readings, [column.cells for column in columns], kinds, codes, reader, questions)
    frame = pd.DataFrame(contents, copy=False)
    return TableReading(frame, form, tuple(readings), ends.notes(readings), questions.in_order())


class _Ends:
    """The first and the last record."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.last: list[str] = []

    def look(self, part: Sequence[_Part]) -> None:
        self.first = self.first or [column.cells[0] for column in part]
        self.last = [column.cells[-1] for column in part]

    def notes(self, readings: Sequence[ColumnReading]) -> tuple[str, ...]:
        """Return sentences on a first or last record that looks like none."""
        return end_notes(self.first, self.last, readings)


def _made(column: _Column, rows: int) -> NDArray:
    if column.text:
        return np.empty(rows, dtype=np.int32)
    return np.empty(rows, dtype=np.int64 if column.whole and column.values else np.float64)


def _numbers(part: _Part, column: _Column) -> dict[str, Any]:
    absent = column.codes.absent(column.name, part.distinct)
    readings = {cell: None if cell in absent else column.reader.read(cell) for cell in part.distinct}
    if column.whole and column.values:
        return {cell: int(reading[0]) for cell, reading in readings.items() if reading is not None}
    return {cell: math.nan if reading is None else reading[0] for cell, reading in readings.items()}


class _Texts:
    """The different texts of each column, each kept once."""

    def __init__(self, name: str, limits: Limits):
        self.name, self.limits = name, limits
        self.known: dict[int, dict[str, int]] = {}
        self.number = 0

    def codes(self, place: int, part: _Part, column: _Column) -> dict[str, int]:
        """Return the code of each different cell, -1 for one that is missing."""
        known = self.known.setdefault(place, {})
        before = len(known)
        codes = dict.fromkeys(column.codes.absent(column.name, part.distinct), -1)
        values = column.codes.values(column.name)
        for cell in part.distinct:
            if cell not in codes:
                text = in_lower_case(cell, values) if column.kind == LOWER else cell
                codes[cell] = known.setdefault(text, len(known))
        self.number += len(known) - before
        if self.number > self.limits.distinct:
            cause = f"with it the table has more than {self.limits.distinct:,} different texts: leave the column out"
            raise TableTooLarge(self.name, cause, column=column.name)
        return codes

    def categories(self, place: int, codes: NDArray[np.int32]) -> pd.Categorical:
        """Return a column's texts, sorted."""
        texts = list(self.known.get(place, {}))
        order = sorted(range(len(texts)), key=texts.__getitem__)
        position = np.empty(len(texts) + 1, dtype=np.int32)
        position[order], position[-1] = np.arange(len(texts)), -1
        sorted_texts = pd.Index([texts[i] for i in order], dtype=object)
        return pd.Categorical.from_codes(position[codes], categories=sorted_texts)


class _Text:
    """One reading of a file: the columns' names, then its records."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits, form: TextFormat, questions: Questions | None = None):
        self.name, self.limits, self._before = name, limits, max(form.header - 1, 0)
        read = islice(_lines(file, name, limits, form.encoding), self._before, None)
        lines = split_spaces(read if form.header else without_comments(read), form.delimiter)
        self._reader = csv.reader(lines, delimiter=form.delimiter, strict=True, skipinitialspace=True)
        self._records = self._rows()
        first = list(islice(self._records, 2 if form.names == TWO_LINES else 1))
        header = [fields for _line, fields in first] or [[]]
        check_size(name, 0, len(header[0]), limits)
        self.names = column_names(name, header, limits, form, Questions() if questions is None else questions)
        if not form.header:
            self._records = chain(first, self._records)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which each record begins, and its fields."""
        while True:
            line = self._before + self._reader.line_num + 1
            try:
                row = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "field larger" in str(error):
                    cause = f"a field has more than {self.limits.field:,} characters. Is a quotation mark not closed?"
                    raise TableTooLarge(self.name, cause, line=line) from error
                cause = f"the quotation marks do not fit ({error}). A field with one in it is quoted, and has it twice"
                raise TableUnreadable(self.name, cause, line=line) from error
            if row:
                yield line, row

    def parts(self) -> Iterator[list[_Part]]:
        """Yield the cells of each column, some records at a time."""
        width, rows = len(self.names), 0
        while some := list(islice(self._records, max(CELLS_AT_A_TIME // width, 1))):
            for line, row in some:
                if len(row) != width:
                    fields = f"{len(row):,} field{'' if len(row) == 1 else 's'}"
                    cause = f"it has {fields}, and the table has {width:,} column{'' if width == 1 else 's'}"
                    cause += ". Take out lines that are no records, and quote fields that hold the delimiter"
                    raise TableRagged(self.name, cause, line=line)
            rows += len(some)
            check_size(self.name, rows, width, self.limits, line=some[-1][0])
            part = [_part(column) for column in zip(*(row for _, row in some), strict=True)]
            for called, column in zip(self.names, part, strict=True):
                if max(map(len, column.distinct)) > self.limits.field:
                    where = next(i for i, cell in enumerate(column.cells) if len(cell) > self.limits.field)
                    long = len(column.cells[where])
                    cause = f"a field has {long:,} characters: at most {self.limits.field:,} are allowed"
                    raise TableTooLarge(self.name, cause, line=some[where][0], column=called)
            yield part


class _Part(NamedTuple):
    """Some cells of a column, without spaces around them, and the different ones of them."""

    cells: Sequence[str]
    distinct: Collection[str]


def _part(cells: Sequence[str]) -> _Part:
    distinct = set(cells)
    if any(cell != cell.strip() for cell in distinct):
        cells = [cell.strip() for cell in cells]
        distinct = set(cells)
    return _Part(cells, distinct)


def _first_lines(file: BinaryIO, name: str, limits: Limits, encoding: str) -> list[str]:
    lines: list[str] = []
    length = 0
    for line in islice(_lines(file, name, limits, encoding), FIRST_LINES):
        lines.append(line)
        length += len(line)
        if length > BLOCK:
            break
    return lines


def _lines(file: BinaryIO, name: str, limits: Limits, encoding: str) -> Iterator[str]:
    """Yield lines from the file's start, none longer than is allowed. The file stays open."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=decoder_name(encoding), newline="")
    number = 0
    try:
        while line := text.readline(limits.line + 1):
            number += 1
            if len(line) > limits.line:
                cause = f"it has more than {limits.line:,} characters, which is the most that a line may have"
                raise TableTooLarge(name, cause, line=number)
            yield line
    finally:
        if not file.closed:  # an error may outlive the file
            text.detach()
