"""The records of a CSV file for a release: a record is one line, and each line is read by itself.

A reader for simulations may read one line by others: a quotation mark that is opened in one record may close in
another, and one text makes its whole column texts. Here nothing of a record reaches another one. Only the first line,
which has the names, and the caller's options decide the reading of the others, and every cell stays text. A line that
is no record becomes a record without any value, for any fault. So no line is refused.

A file that can be read in two ways is refused as a whole until the caller states the option that decides
(`TableAmbiguous`). The refusal depends on the records, and only the table's owner gets it, before anything is charged.
Where the options are stated, no records raise such a question.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dpml.exceptions import InvalidParameter, TableTooLarge, TableUnreadable
from dpml.tables.column_questions import CellCounts, ask_about_columns, in_lower_case, is_often
from dpml.tables.detection import COMMENT, Signs, ask_about_comments, ask_about_one_column, signs_of
from dpml.tables.encodings import BLOCK, has_nul_pattern, likely_encoding
from dpml.tables.limits import Limits, check_size
from dpml.tables.missing import MissingCodes
from dpml.tables.names import MOST_NUMBERS, ask_about_header, column_names
from dpml.tables.numbers import NumberReader
from dpml.tables.questions import Questions, Reading
from dpml.tables.reading import LOWER, NUMBER, SHARE, TEXT, ColumnReading, TableReading, check_kinds
from dpml.tables.text_format import SIGN_WORDS, SPACE, TWO_LINES, TextFormat, delimiter_of

CELLS_AT_A_TIME = 100_000
OTHER = "cp1252"
# the last byte of a text of DOS
END_MARK = b"\x1a"
ONE_BYTE = "one whose lines end with one byte for a release"


def read_lines(
    file: BinaryIO,
    name: str,
    limits: Limits,
    given: Mapping[str, Any],
    kinds: Mapping[str, str],
    schema: Any,
    progress: Any,
) -> TableReading:
    """Return a table of one record a line, its cells texts or None.

    Raises for the names' line, the file's size, or a question about the whole file that nothing stated answers. A file
    that is too large is refused before a record is looked at.
    """
    total = file.seek(0, io.SEEK_END)
    stated = {option: value for option, value in given.items() if value is not None}
    questions = Questions()
    line = _Line(limits, TextFormat(**stated))
    _check_encoding(line.form.encoding)
    comments = _comments(file)
    if "header" not in stated and comments:
        ask_about_comments(1, 1 + comments, questions)
        questions.refuse(name, line=1)
    # without a line of names every line is a record: whether one is a comment would depend on those before it
    before = line.form.header + (line.form.names == TWO_LINES) if line.form.header else 0
    if line.form.header:
        names = _names(file, name, limits, before, line, stated, questions)
    else:
        names = _stated_names(file, name, limits, line.form, stated, questions)
    form = line.form
    lines = max(_count(file) - before, 0)
    check_kinds(kinds, names)
    check_size(name, lines, len(names), limits)
    codes = MissingCodes(form.missing, schema)
    kinds = codes.with_numbers(kinds, names)
    columns = [_Cells(called, lines, codes) for called in names]
    start, some = 0, max(CELLS_AT_A_TIME // len(names), 1)
    _go_after(file, before)
    while part := [line.cells(raw, len(names)) for raw in islice(file, some)]:
        for column, cells in zip(columns, zip(*part, strict=True), strict=True):
            column.take(start, cells)
        start += len(part)
        if progress is not None:
            progress(min(file.tell(), total), total)
    _ask(file, name, line, columns, stated, kinds, codes, questions)
    questions.refuse(name)
    frame = pd.DataFrame({c.name: pd.Series(c.read(form, kinds.get(c.name)), dtype=object) for c in columns})
    return TableReading(frame, form)


def _names(
    file: BinaryIO,
    name: str,
    limits: Limits,
    before: int,
    line: "_Line",
    stated: Mapping[str, Any],
    questions: Questions,
) -> list[str]:
    """Return the names of the columns from the line that has them, and give the reader of lines its delimiter."""
    header = line.form.header
    first = _first_lines(file, name, limits, before)
    _check_mark(first[0], line.form.encoding)
    if line.form.encoding == "utf-8":
        first[0] = first[0].removeprefix(codecs.BOM_UTF8)
    readable = first[header - 1].decode(line.form.encoding, "replace")
    if "delimiter" not in stated:
        line.form = replace(line.form, delimiter=delimiter_of(readable))
        ask_about_one_column(readable, questions)
    fields = [each for each in map(line.fields, first[header - 1 :]) if each is not None]
    if len(fields) < len(first[header - 1 :]):
        likely = None
        if "encoding" not in stated and line.undecoded:
            likely = likely_encoding(file, name, questions)
            questions.refuse(name, line=header)
        cause = f"its names are no line of text in {line.form.encoding.upper()} whose quotation marks fit"
        raise TableUnreadable(name, f'{cause}. State its encoding, such as encoding="{likely or OTHER}"', line=header)
    check_size(name, 0, len(fields[0]), limits)
    if "header" not in stated:
        ask_about_header(fields[0], header, questions, record=False, delimiter=line.form.delimiter)
    names = column_names(name, fields, limits, line.form, questions)
    questions.refuse(name, line=header)
    return names


def _stated_names(
    file: BinaryIO, name: str, limits: Limits, form: TextFormat, stated: Mapping[str, Any], questions: Questions
) -> list[str]:
    """Return the names that are stated for a file without a line of names, of which a record must not decide."""
    if isinstance(form.names, tuple) and "delimiter" in stated:
        check_size(name, 0, len(form.names), limits)
        return column_names(name, [form.names], limits, form, questions)
    _go_after(file, _comments(file))
    text = file.readline(limits.line).decode(form.encoding, "replace").rstrip("\r\n")
    delimiter = stated.get("delimiter", delimiter_of(text))
    fields = _Line(limits, replace(form, delimiter=delimiter)).fields(text.encode(form.encoding, "replace")) or [text]
    numbered = tuple(column_names(name, [fields], limits, replace(form, names=None), questions))
    readings = [Reading("no line has names", {"delimiter": delimiter, "header": 0, "names": numbered})]
    readings.append(Reading("line 1 has the names", {"header": 1}))
    text = "The file has no line of names, so its delimiter and its names must be stated: no record decides on them."
    questions.ask("names", (), text, readings, "names")
    questions.refuse(name)
    return []


class _Cells:
    """The cells of a column, texts or None, and how often they occur."""

    def __init__(self, name: str, lines: int, codes: MissingCodes):
        self.name, self.codes = name, codes
        self.cells = np.full(lines, None, dtype=object)
        self.present = 0
        self.missing: Counter[str] = Counter()
        self.counts = CellCounts()

    def take(self, start: int, cells: Sequence[str | None]) -> None:
        """Take some more cells. Those that stand for a missing value become None."""
        absent = self.codes.absent(self.name, {cell for cell in cells if cell is not None})
        self.missing.update(cell for cell in cells if cell in absent)
        kept = [None if cell in absent else cell for cell in cells] if absent else cells
        present = [cell for cell in kept if cell is not None]
        self.present += len(present)
        self.counts.add(present)
        self.cells[start : start + len(kept)] = kept

    def read(self, form: TextFormat, kind: str | None) -> Any:
        """Return the cells as a column of a kind has them, each read by itself."""
        if kind in (NUMBER, SHARE):
            numbers = NumberReader(form.decimal, form.thousands, share=kind == SHARE)
            return [None if cell is None else _number_text(numbers, cell) for cell in self.cells]
        if kind == LOWER:
            values = self.codes.values(self.name)
            return [None if cell is None else in_lower_case(cell, values) for cell in self.cells]
        return self.cells

    def reading(self, kind: str | None, reader: NumberReader) -> ColumnReading:
        """Return the reading of the column, of numbers where it is said or where most of its cells are."""
        if kind is None:
            some = self.counts.counts
            numbers = sum(number for cell, number in some.items() if reader.read(cell) is not None)
            kind = NUMBER if numbers >= MOST_NUMBERS * self.counts.number and numbers else TEXT
        return ColumnReading(self.name, NUMBER if kind == SHARE else kind, self.present, missing=dict(self.missing))


def _ask(
    file: BinaryIO,
    name: str,
    line: "_Line",
    columns: Sequence[_Cells],
    stated: Mapping[str, Any],
    kinds: Mapping[str, str],
    codes: MissingCodes,
    questions: Questions,
) -> None:
    """Ask what the records raise, where nothing that is stated answers it."""
    rows = len(columns[0].cells)
    if "encoding" not in stated and not line.letters and is_often(line.undecoded, rows):
        _ask_about_encoding(file, name, questions)
        return
    if "decimal" not in stated and "thousands" not in stated:
        numbers = [column if kinds.get(column.name, NUMBER) == NUMBER else None for column in columns]
        signs = _signs(numbers, line.form)
        if signs.doubtful:
            signs.ask([column.name for column in columns], questions)
        else:
            _ask_about_signs(_signs([c if c and c.name in kinds else None for c in numbers], line.form), questions)
    reader = NumberReader(line.form.decimal, line.form.thousands)
    readings = [column.reading(kinds.get(column.name), reader) for column in columns]
    ask_about_columns(readings, [column.counts for column in columns], kinds, codes, reader, questions, few=False)


def _signs(columns: Sequence[_Cells | None], form: TextFormat) -> Signs:
    """Return the signs that some columns are written with, those of a release where few cells have others."""
    plain = NumberReader()
    odd = [
        {cell: n for cell, n in column.counts.counts.items() if plain.read(cell) is None or "." in cell}
        if column
        else {}
        for column in columns
    ]
    cells = [
        column.counts.counts if column and is_often(sum(some.values()), column.counts.number) else ()
        for column, some in zip(columns, odd, strict=True)
    ]
    return signs_of(cells, form.delimiter, None, None)


def _ask_about_encoding(file: BinaryIO, name: str, questions: Questions) -> None:
    encoding = likely_encoding(file, name, questions)
    if encoding is not None and not questions.asked:
        readings = [Reading(f"it is in {each}", {"encoding": each}) for each in (encoding, "utf-8")]
        questions.ask("encoding", (), "The file is not in UTF-8: lines would be left out.", readings)


def _ask_about_signs(signs: Signs, questions: Questions) -> None:
    usual = TextFormat()
    if (signs.decimal, signs.thousands) == (usual.decimal, usual.thousands):
        return
    readings = []
    for each in (signs, usual):
        words = f"decimal {SIGN_WORDS[each.decimal]}, thousands {SIGN_WORDS[each.thousands]}"
        readings.append(Reading(words, {"decimal": each.decimal, "thousands": each.thousands}))
    text = "Numbers are written with other signs than a decimal point: such cells would be missing."
    questions.ask("numbers", (), text, readings, "decimal")


def _number_text(reader: NumberReader, cell: str) -> str | None:
    """Return a number as it is written with a decimal point and nothing else, None for a cell that is none."""
    reading = reader.read(cell)
    return None if reading is None else f"{reading[0]:.17g}"


class _Line:
    """How a line is read, which is the same for all."""

    def __init__(self, limits: Limits, form: TextFormat):
        self.limits, self.form = limits, form
        # lines that are no text, and texts that have letters beyond ASCII
        self.undecoded = self.letters = 0

    def cells(self, raw: bytes, width: int) -> Sequence[str | None]:
        """Return the cells of a line, all missing where it is no record."""
        fields = self.fields(raw)
        if fields is None or len(fields) != width or max(map(len, fields)) > self.limits.field:
            return [None] * width
        return fields

    def fields(self, raw: bytes) -> list[str] | None:
        """Return the fields of a line without spaces around them, None where it is no text or its quotes do not fit."""
        # the marks at the start and the end of a file may stand in any line: a record more moves them there
        raw = raw.removesuffix(b"\n").rstrip(b"\r" + END_MARK).removeprefix(codecs.BOM_UTF8)
        try:
            text = raw.decode(self.form.encoding)
        except UnicodeError:
            self.undecoded += 1
            return None
        self.letters += not text.isascii()
        if "\0" in text or len(text) > self.limits.line:
            return None
        delimiter = self.form.delimiter
        if delimiter == SPACE:
            text = text.strip(SPACE)
        if '"' not in text and "\r" not in text:
            fields = re.split(" +", text) if delimiter == SPACE else text.split(delimiter)
        else:
            try:
                [fields] = csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=True)
            except (csv.Error, ValueError):
                return None
        return [field.strip() for field in fields]


def _check_encoding(encoding: str) -> None:
    """Raise where a line does not end with one byte: one record could then move all that follow."""
    if "\n".encode(encoding) != b"\n":
        raise InvalidParameter("encoding", encoding, f"{ONE_BYTE}, and not utf-16: save it as UTF-8")


def _check_mark(first: bytes, encoding: str) -> None:
    """Raise where the line of names looks like one of UTF-16."""
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or has_nul_pattern(first):
        raise InvalidParameter("encoding", encoding, f"{ONE_BYTE}: the file looks like utf-16. Save it as UTF-8")


def _first_lines(file: BinaryIO, name: str, limits: Limits, number: int) -> list[bytes]:
    """Return so many lines from the start; the file stands after them."""
    file.seek(0)
    lines = []
    for place in range(1, number + 1):
        line = file.readline(limits.line + 1)
        if len(line) > limits.line:
            cause = f"it has more than {limits.line:,} bytes, which is the most that a line up to the names may have"
            raise TableTooLarge(name, cause, line=place)
        lines.append(line)
    return lines


def _go_after(file: BinaryIO, number: int) -> None:
    """Go to the end of so many lines."""
    file.seek(0)
    for _line in range(number):
        file.readline()


def _comments(file: BinaryIO) -> int:
    """Return how many of the first lines begin with the sign of a comment."""
    file.seek(0)
    number = 0
    while file.readline().removeprefix(codecs.BOM_UTF8).startswith(COMMENT.encode()):
        number += 1
    return number


def _count(file: BinaryIO) -> int:
    """Return how many lines there are; the last one need not end."""
    file.seek(0)
    number, last = 0, b"\n"
    while block := file.read(BLOCK):
        number, last = number + block.count(b"\n"), block[-1:]
    return number + (last != b"\n")
