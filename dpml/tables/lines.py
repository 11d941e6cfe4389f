"""The records of a CSV file for a release: a record is one line, and each line is read by itself.

What a reader for study does with one line may depend on others: a quotation mark that is opened in one record may close
in another, and one text makes its whole column texts. Here nothing of a record reaches another one. Only the first
line, which has the names, and what the caller says decide how the others are read, and every cell stays text. A line
that is no record, whatever is wrong with it, becomes a record without any value. So no line is refused, and no error
tells of one.
"""

import codecs
import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dpml.exceptions import InvalidParameter, TableTooLarge, TableUnreadable
from dpml.tables.limits import Limits, check_names, check_size
from dpml.tables.numbers import NumberReader
from dpml.tables.reading import NUMBER, TableReading, check_kinds
from dpml.tables.text_format import TextFormat, delimiter_of

# what is written for a value that is not there
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
CELLS_AT_A_TIME = 100_000
BLOCK = 1 << 20


def read_lines(
    file: BinaryIO, name: str, limits: Limits, given: Mapping[str, Any], kinds: Mapping[str, str], progress: Any
) -> TableReading:
    """Return a table of one record a line, its cells texts or None; raise for the names' line or its size alone.

    Its size is refused before a record is looked at.
    """
    total = file.seek(0, io.SEEK_END)
    stated = {option: value for option, value in given.items() if value is not None}
    form = TextFormat(**stated)
    lines = max(_count(file) - form.header + 1, 0)
    first = _names_line(file, name, limits, form.header)
    line = _Line(limits, form.encoding, form.delimiter)
    if line.encoding == "utf-16" or first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidParameter("encoding", "utf-16", "one of utf-8, cp1252 and latin-1 for a release: save it as UTF-8")
    if line.encoding == "utf-8":
        first = first.removeprefix(codecs.BOM_UTF8)
    if "delimiter" not in stated:
        form = replace(form, delimiter=delimiter_of(first.decode("latin-1")))
        line.delimiter = form.delimiter
    header = line.fields(first)
    if header is None:
        cause = f"its names are no line of text in {line.encoding.upper()} whose quotation marks fit"
        raise TableUnreadable(name, cause, line=form.header)
    check_size(name, 0, len(header), limits)
    names = check_names(name, header, limits, line=form.header)
    check_kinds(kinds, names)
    check_size(name, lines, len(names), limits)
    columns = [np.full(lines, None, dtype=object) for _ in names]
    start, some = 0, max(CELLS_AT_A_TIME // len(names), 1)
    while part := [line.cells(raw, len(names)) for raw in islice(file, some)]:
        for column, cells in zip(columns, zip(*part, strict=True), strict=True):
            column[start : start + len(part)] = cells
        start += len(part)
        if progress is not None:
            progress(min(file.tell(), total), total)
    numbers = NumberReader(form.decimal, form.thousands)
    for called, column in zip(names, columns, strict=True):
        if kinds.get(called) == NUMBER:
            column[:] = [None if cell is None else _number_text(numbers, cell) for cell in column]
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in zip(names, columns, strict=True)})
    return TableReading(frame, form)


def _number_text(reader: NumberReader, cell: str) -> str | None:
    """Return a number as it is written with a decimal point and nothing else, None for a cell that is none."""
    reading = reader.read(cell)
    return None if reading is None else f"{reading[0]:.17g}"


class _Line:
    """How a line is read, which is the same for all."""

    def __init__(self, limits: Limits, encoding: str, delimiter: str):
        self.limits, self.encoding, self.delimiter = limits, encoding, delimiter

    def cells(self, raw: bytes, width: int) -> list[str | None]:
        """Return the cells of a line, all missing where it is no record."""
        fields = self.fields(raw)
        if fields is None or len(fields) != width or max(map(len, fields)) > self.limits.field:
            return [None] * width
        return [None if field in MISSING else field for field in fields]

    def fields(self, raw: bytes) -> list[str] | None:
        """Return the fields of a line without spaces around them, None where it is no text or its quotes do not fit."""
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = raw.decode(self.encoding)
        except UnicodeDecodeError:
            return None
        if "\0" in text or len(text) > self.limits.line:
            return None
        if '"' not in text and "\r" not in text:
            fields = text.split(self.delimiter)
        else:
            try:
                [fields] = csv.reader([text], delimiter=self.delimiter, strict=True, skipinitialspace=True)
            except (csv.Error, ValueError):
                return None
        return [field.strip() for field in fields]


def _names_line(file: BinaryIO, name: str, limits: Limits, header: int) -> bytes:
    """Return the line with the names; the file stands after it."""
    file.seek(0)
    line = b""
    for number in range(1, header + 1):
        line = file.readline(limits.line + 1)
        if len(line) > limits.line:
            cause = f"it has more than {limits.line:,} bytes, which is the most that a line up to the names may have"
            raise TableTooLarge(name, cause, line=number)
    return line


def _count(file: BinaryIO) -> int:
    """Return how many lines there are after the first; the last one need not end."""
    file.seek(0)
    number, last = 0, b"\n"
    while block := file.read(BLOCK):
        number, last = number + block.count(b"\n"), block[-1:]
    return max(number - (last == b"\n"), 0)
