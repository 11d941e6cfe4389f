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
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.exceptions import TableEmpty, TableRagged, TableTooLarge, TableUnreadable
from dpml.tables.limits import Limits, check_names, check_size
from dpml.tables.lines import BLOCK, CELLS_AT_A_TIME, MISSING, delimiter_of

__all__ = ["ENCODINGS", "read_delimited"]

ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1")
EXACT = 2.0**53


class _Column:
    """The facts of a column after the first reading."""

    def __init__(self) -> None:
        self.numbers, self.whole, self.there = True, True, False

    def look(self, distinct: Collection[str]) -> None:
        """Take note of the different cells of a part."""
        present = [cell for cell in distinct if cell not in MISSING]
        self.there = self.there or bool(present)
        self.whole = self.whole and len(present) == len(distinct)
        if not self.numbers or not present:
            return
        try:
            values = [_number(cell) for cell in present]
        except ValueError:
            self.numbers = False
            return
        self.whole = self.whole and all(abs(value) < EXACT and value.is_integer() for value in values)
        self.whole = self.whole and not any(letter in cell for cell in present for letter in ".eE")


def _number(cell: str) -> float:
    """Return a number; what Python reads besides, 1_000 or nan or ٣, is text, and so is a code such as 007."""
    if not cell.isascii() or "_" in cell or (cell[:1] == "0" and cell[1:2].isdigit()):
        raise ValueError
    value = float(cell)
    if not math.isfinite(value):
        raise ValueError
    return value


def read_delimited(
    file: BinaryIO, name: str, limits: Limits, encoding: str | None, delimiter: str | None, progress: Any
) -> pd.DataFrame:
    """Return the table in a file of text, or raise what is wrong with it."""
    total = 2 * file.seek(0, io.SEEK_END)
    encoding = _checked_text(file, name, encoding)

    def tell(done: int) -> None:
        if progress is not None:
            progress(min(done, total), total)

    table = _Text(file, name, limits, encoding, delimiter)
    columns: list[_Column] = [_Column() for _ in table.names]
    rows = 0
    for part in table.parts():
        rows += len(part[0].cells)
        for column, mine in zip(columns, part, strict=True):
            column.look(mine.distinct)
        tell(file.tell())
    if not rows:
        raise TableEmpty(name, "it has names of columns, and no records")
    if not any(column.there for column in columns):
        raise TableEmpty(name, f"it has {rows:,} records, and not one value in them")
    arrays = [_made(column, rows) for column in columns]
    again, start = _Text(file, name, limits, encoding, delimiter), 0
    texts = _Texts(name, limits)
    for part in again.parts():
        end = start + len(part[0].cells)
        for place, (column, mine) in enumerate(zip(columns, part, strict=True)):
            codes = _numbers(mine, column) if column.numbers else texts.codes(place, mine, table.names[place])
            arrays[place][start:end] = list(map(codes.__getitem__, mine.cells))
        start = end
        tell(total // 2 + file.tell())
    contents = {
        called: arrays[place] if columns[place].numbers else texts.categories(place, arrays[place])
        for place, called in enumerate(table.names)
    }
    return pd.DataFrame(contents, copy=False)


def _made(column: _Column, rows: int) -> NDArray:
    if not column.numbers:
        return np.empty(rows, dtype=np.int32)
    return np.empty(rows, dtype=np.int64 if column.whole else np.float64)


def _numbers(part: _Part, column: _Column) -> dict[str, Any]:
    if column.whole:
        return {cell: int(cell) for cell in part.distinct}
    return {cell: math.nan if cell in MISSING else float(cell) for cell in part.distinct}


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

    def __init__(self, file: BinaryIO, name: str, limits: Limits, encoding: str, delimiter: str | None):
        file.seek(0)
        self.name, self.limits = name, limits
        self._lines = _lines(file, name, limits, encoding)
        first = next((line for line in self._lines if line.strip()), "")
        delimiter = delimiter or delimiter_of(first)
        self._reader = csv.reader(_before(first, self._lines), delimiter=delimiter, strict=True, skipinitialspace=True)
        header = next(self._rows(), (0, []))[1]
        check_size(name, 0, len(header), limits)
        self.names = check_names(name, header, limits, line=1)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which each record begins, and its fields."""
        while True:
            line = self._reader.line_num + 1
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


def _before(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _lines(file: BinaryIO, name: str, limits: Limits, encoding: str) -> Iterator[str]:
    """Yield lines, none longer than is allowed; the file stays open."""
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
    """Return the encoding with which all of a file is text, or raise where it is not."""
    file.seek(0)
    first = file.read(4)
    if encoding is None:
        encoding = "utf-16" if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    if encoding == "utf-8":
        encoding = "utf-8-sig"
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line = 1
    while True:
        block = file.read(BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            bad, before = error.object[error.start : error.start + 1], error.object[: error.start]
            cause = (
                f"the byte {bad.hex()} is no text in {encoding.removesuffix('-sig').upper()}. Save the file as UTF-8, "
                'or say its encoding, such as encoding="cp1252"'
            )
            raise TableUnreadable(name, cause, line=line + before.count(b"\n")) from error
        if "\0" in text:
            at = line + text[: text.index("\0")].count("\n")
            raise TableUnreadable(name, "it holds a NUL character, so it is no text", line=at)
        line += text.count("\n")
        if not block:
            return encoding
