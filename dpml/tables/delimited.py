"""Tables as text with a delimiter. The file is read twice, some lines at a time.

The first time each limit is checked and each column's kind is found; what is read is dropped. The second time numbers
go into an array of known size and texts into a dictionary and codes. So a table takes memory once it is known to be
one, and no more than its cells.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.exceptions import TableEmpty, TableRagged, TableTooLarge, TableUnreadable
from dpml.tables.limits import Limits, check_names, check_size
from dpml.tables.lines import BLOCK, CELLS_AT_A_TIME, MISSING
from dpml.tables.numbers import NumberReader
from dpml.tables.reading import NUMBER, ColumnReading, TableReading, check_kinds, end_notes
from dpml.tables.text_format import TextFormat, detect_format

EXACT = 2.0**53
# a column is one of numbers where so many of its values are, and so few different ones are not
MOST_NUMBERS = 0.95
FEWEST_VALUES = 20
MOST_OTHERS = 10
# lines from which the format is detected
FIRST_LINES = 1000


class _Column:
    """The facts of a column after the first reading."""

    def __init__(self, reader: NumberReader, kind: str | None):
        self.reader, self.kind = reader, kind
        self.text = kind not in (None, NUMBER)
        self.whole, self.values, self.numbers = True, 0, 0
        self.units: set[str] = set()
        # what is no number, with how often
        self.others: Counter[str] = Counter()

    def look(self, part: _Part) -> None:
        """Take note of the cells of a part."""
        present = [cell for cell in part.distinct if cell not in MISSING]
        gaps = sum(part.cells.count(cell) for cell in part.distinct if cell in MISSING)
        self.values += len(part.cells) - gaps
        self.whole = self.whole and not gaps
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
        if self.kind is None and (len(self.others) > MOST_OTHERS or any(map(self.reader.code, others))):
            self.text = True

    def end(self) -> None:
        """Decide whether it is a column of numbers."""
        units = sorted(unit for unit in self.units if unit)
        self.numbers = self.values - self.others.total()
        if self.kind is None and self.others:
            self.text = self.text or self.values < FEWEST_VALUES or self.numbers < MOST_NUMBERS * self.values
        if self.kind is None and len(units) > 1:
            self.text = True

    def reading(self, name: str) -> ColumnReading:
        """Return what was read of it, in public words for the table's owner."""
        units = sorted(unit for unit in self.units if unit)
        if self.text:
            mixed = tuple(units) if not self.others else ()
            return ColumnReading(name, "text", self.values, units=mixed, others=dict(self.others))
        return ColumnReading(name, NUMBER, self.values, units=tuple(units), others=dict(self.others))


def read_delimited(
    file: BinaryIO,
    name: str,
    limits: Limits,
    given: Mapping[str, Any],
    kinds: Mapping[str, str],
    progress: Any,
) -> TableReading:
    """Return the table in a file of text and how it was read, or raise what is wrong with it."""
    total = 2 * file.seek(0, io.SEEK_END)
    encoding = _checked_text(file, name, given["encoding"])
    form = detect_format(_first_lines(file, name, limits, encoding), **{**given, "encoding": encoding})

    def tell(done: int) -> None:
        if progress is not None:
            progress(min(done, total), total)

    table = _Text(file, name, limits, form)
    check_kinds(kinds, table.names)
    reader = NumberReader(form.decimal, form.thousands)
    columns = [_Column(reader, kinds.get(called)) for called in table.names]
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
            codes = texts.codes(place, mine, table.names[place]) if column.text else _numbers(mine, column)
            arrays[place][start:end] = list(map(codes.__getitem__, mine.cells))
        start = end
        tell(total // 2 + file.tell())
    contents = {
        called: texts.categories(place, arrays[place]) if columns[place].text else arrays[place]
        for place, called in enumerate(table.names)
    }
    readings = tuple(column.reading(called) for column, called in zip(columns, table.names, strict=True))
    return TableReading(pd.DataFrame(contents, copy=False), form, readings, ends.notes(readings))


class _Ends:
    """The first and the last record."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.last: list[str] = []

    def look(self, part: Sequence[_Part]) -> None:
        self.first = self.first or [column.cells[0] for column in part]
        self.last = [column.cells[-1] for column in part]

    def notes(self, readings: Sequence[ColumnReading]) -> tuple[str, ...]:
        """Return what looks like no record."""
        return end_notes(self.first, self.last, readings)


def _made(column: _Column, rows: int) -> NDArray:
    if column.text:
        return np.empty(rows, dtype=np.int32)
    return np.empty(rows, dtype=np.int64 if column.whole and column.values else np.float64)


def _numbers(part: _Part, column: _Column) -> dict[str, Any]:
    readings = {cell: None if cell in MISSING else column.reader.read(cell) for cell in part.distinct}
    if column.whole and column.values:
        return {cell: int(reading[0]) for cell, reading in readings.items() if reading is not None}
    return {cell: math.nan if reading is None else reading[0] for cell, reading in readings.items()}


class _Texts:
    """The different texts of each column, each kept once."""

    def __init__(self, name: str, limits: Limits):
        self.name, self.limits = name, limits
        self.known: dict[int, dict[str, int]] = {}
        self.number = 0

    def codes(self, place: int, part: _Part, column: str) -> dict[str, int]:
        """Return the code of each different cell, -1 for one that is missing."""
        known = self.known.setdefault(place, {})
        before = len(known)
        codes = {cell: -1 if cell in MISSING else known.setdefault(cell, len(known)) for cell in part.distinct}
        self.number += len(known) - before
        if self.number > self.limits.distinct:
            cause = f"with it the table has more than {self.limits.distinct:,} different texts: leave the column out"
            raise TableTooLarge(self.name, cause, column=column)
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

    def __init__(self, file: BinaryIO, name: str, limits: Limits, form: TextFormat):
        self.name, self.limits, self._before = name, limits, form.header - 1
        lines = islice(_lines(file, name, limits, form.encoding), self._before, None)
        self._reader = csv.reader(lines, delimiter=form.delimiter, strict=True, skipinitialspace=True)
        line, header = next(self._rows(), (1, []))
        check_size(name, 0, len(header), limits)
        self.names = check_names(name, header, limits, line=line)

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
        records = self._rows()
        while some := list(islice(records, max(CELLS_AT_A_TIME // width, 1))):
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
    """Yield lines from the file's start, none longer than is allowed; the file stays open."""
    file.seek(0)
    if encoding == "utf-8":
        encoding = "utf-8-sig"
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
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


def _checked_text(file: BinaryIO, name: str, encoding: str | None) -> str:
    """Return the encoding with which all of a file is text, or raise where it is not.

    A file that is no UTF-8 and holds no letter of it is one of Windows, where a byte is a letter.
    """
    file.seek(0)
    first = file.read(4)
    if encoding is not None or first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _check_text(file, name, encoding or "utf-16")
    try:
        return _check_text(file, name, "utf-8")
    except TableUnreadable as error:
        cause = error.__cause__
        cut = isinstance(cause, UnicodeDecodeError) and cause.reason == "unexpected end of data"
        if cause is None or cut or _has_utf8_letters(file):
            raise
        try:
            return _check_text(file, name, "cp1252")
        except TableUnreadable:
            raise error from None


def _has_utf8_letters(file: BinaryIO) -> bool:
    """Return whether some letters of a file are written as UTF-8 writes them, more bytes than one."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8-sig")("ignore")
    while block := file.read(BLOCK):
        if not decoder.decode(block).isascii():
            return True
    return False


def _check_text(file: BinaryIO, name: str, encoding: str) -> str:
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("strict")
    line = 1
    while True:
        block = file.read(BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            bad, before = error.object[error.start : error.start + 1], error.object[: error.start]
            cause = (
                f"the byte {bad.hex()} is no text in {encoding.upper()}. Save the file as UTF-8, "
                'or say its encoding, such as encoding="cp1252"'
            )
            raise TableUnreadable(name, cause, line=line + before.count(b"\n")) from error
        if "\0" in text:
            at = line + text[: text.index("\0")].count("\n")
            raise TableUnreadable(name, "it holds a NUL character, so it is no text", line=at)
        line += text.count("\n")
        if not block:
            return encoding
