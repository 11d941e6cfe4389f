"""Tables as text with a delimiter, read for a simulation (`read_delimited`) or a release (`read_lines`).

For a simulation the file is read twice, some lines at a time. The first time each limit is checked and each column's
kind is found, and no cell is kept. The second time numbers go into an array of known size and texts into a dictionary
and codes. So a table takes memory once it is known to be one, and no more than its cells.

For a release a record is one line, and each line is read by itself. Only the line with the names and the caller's
options decide the reading of the others, and every cell stays text. A line that is no record becomes a record without
any value, for any fault. So no line is refused. A file that can be read in two ways is refused as a whole until the
caller states the option that decides (`TableAmbiguous`). The refusal depends on the records, and only the table's owner
gets it, before anything is charged. Where the options are stated, no records raise such a question.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.exceptions import InvalidParameter, TableEmpty, TableRagged, TableTooLarge, TableUnreadable
from dpml.tables.cells import EXACT, MissingCodes, NumberReader, date_formats
from dpml.tables.detection import (
    BLOCK,
    COMMENT,
    MOST_NUMBERS,
    Signs,
    ask_about_comments,
    ask_about_header,
    ask_about_spaces,
    column_names,
    decoder_name,
    detect_format,
    has_nul_pattern,
    likely_encoding,
    read_encoding,
    signs_of,
    split_spaces,
    without_comments,
)
from dpml.tables.reading import (
    LOWER,
    NUMBER,
    SHARE,
    TEXT,
    CellCounts,
    ColumnReading,
    Questions,
    Reading,
    TableReading,
    are_codes,
    ask_about_columns,
    check_kinds,
    end_notes,
    in_lower_case,
    is_often,
    mixes_units,
)
from dpml.tables.text_format import (
    DELIMITERS,
    NUMBERED,
    SIGN_WORDS,
    SPACE,
    TWO_LINES,
    Limits,
    TextFormat,
    check_size,
    delimiter_of,
)

# ---- simulation ----------------------------------------------------------------------------------------------------

# a column is one of numbers where `MOST_NUMBERS` of at least so many values are, and so few different ones are not, or
# where it has more different numbers than that and all others are one or two codes without a digit
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

    def add(self, part: _Part) -> None:
        """Count the cells of a part."""
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
        self.numbers = self.values - self.others.total()
        if self.kind is not None:
            return
        if self.others:
            different = len(self.cells.counts) - len(self.others)
            codes = self.codes.schema is None and different > MOST_OTHERS and are_codes(self.others, self.values)
            most = self.numbers >= MOST_NUMBERS * self.values or codes
            self.text = self.text or self.values < FEWEST_VALUES or not most
        self.text = self.text or mixes_units(self.units) or bool(self.long)

    @property
    def dtype(self) -> type:
        """The type of its array: codes of texts, or numbers."""
        return np.int32 if self.text else np.int64 if self.whole and self.values else np.float64

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

    def report(done: int) -> None:
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
    rows = 0
    first: list[str] = []
    last: list[str] = []
    for part in table.parts():
        rows += len(part[0].cells)
        for column, mine in zip(columns, part, strict=True):
            column.add(mine)
        first = first or [column.cells[0] for column in part]
        last = [column.cells[-1] for column in part]
        report(file.tell())
    if not rows:
        raise TableEmpty(name, "it has names of columns, and no records")
    if not any(column.values for column in columns):
        raise TableEmpty(name, f"it has {rows:,} records, and not one value in them")
    for column in columns:
        column.end()
    arrays: list[NDArray] = [np.empty(rows, dtype=column.dtype) for column in columns]
    again, start = _Text(file, name, limits, form), 0
    texts = _Texts(name, limits)
    for part in again.parts():
        end = start + len(part[0].cells)
        for place, (column, mine) in enumerate(zip(columns, part, strict=True)):
            cell_values = texts.codes(place, mine, column) if column.text else _numbers(mine, column)
            arrays[place][start:end] = list(map(cell_values.__getitem__, mine.cells))
        start = end
        report(total // 2 + file.tell())
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
    return TableReading(frame, form, tuple(readings), end_notes(first, last, readings), questions.in_order())


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


# ---- release -------------------------------------------------------------------------------------------------------

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
    if "\n".encode(line.form.encoding) != b"\n":  # one record could move all that follow
        raise InvalidParameter("encoding", line.form.encoding, f"{ONE_BYTE}, and not utf-16: save it as UTF-8")
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
    line: _Line,
    stated: Mapping[str, Any],
    questions: Questions,
) -> list[str]:
    """Return the names of the columns from the line that has them, and give the reader of lines its delimiter."""
    header = line.form.header
    first = _raw_lines(file, name, limits, before)
    if first[0].startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or has_nul_pattern(first[0]):
        allowed = f"{ONE_BYTE}: the file looks like utf-16. Save it as UTF-8"
        raise InvalidParameter("encoding", line.form.encoding, allowed)
    if line.form.encoding == "utf-8":
        first[0] = first[0].removeprefix(codecs.BOM_UTF8)
    readable = first[header - 1].decode(line.form.encoding, "replace")
    if "delimiter" not in stated:
        line.form = replace(line.form, delimiter=delimiter_of(readable))
        if len(readable.split()) > 1 and not any(delimiter in readable for delimiter in DELIMITERS):
            text = "The names of the columns have no comma, semicolon, tab or bar between them, and they have spaces."
            ask_about_spaces(text, questions)
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
    line: _Line,
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


def _raw_lines(file: BinaryIO, name: str, limits: Limits, number: int) -> list[bytes]:
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
