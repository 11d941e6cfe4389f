"""How a table was read: the format of its file, each column's kind, and what became a gap. For the table's owner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from dpml.exceptions import InvalidParameter, TableNames
from dpml.tables.dates import DATE_FORMATS, date_formats, date_parts, part_names
from dpml.tables.numbers import NumberReader
from dpml.tables.text_format import TextFormat

NUMBER, TEXT = "number", "text"
# different cells that are shown as examples
EXAMPLES = 3
TOTALS = re.compile(
    r"(grand\s)?total|sub-?total|sum|summe|gesamt|insgesamt|average|mean|mittelwert|somme|suma|totale", re.I
)


@dataclass(frozen=True)
class ColumnReading:
    """How a column was read.

    Attributes
    ----------
    name : str
    kind : str
        "number", "text", or the format of its dates.
    values : int
        Cells that are not missing.
    units : tuple of str
        What stands beside its numbers.
    others : dict of str to int
        For a column of numbers the cells that are none, which became gaps, with how often. For one of text, those that
        made it text, as far as they were looked at.
    formats : tuple of str
        Formats in which all its texts are dates.
    """

    name: str
    kind: str
    values: int
    units: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)
    formats: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its surprises in a sentence; empty if there is none."""
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
            return f"dates, {orders}: no cell says which; kept as text"
        if len(self.units) > 1:
            return f"text: its numbers have the units {', '.join(map(repr, self.units[:EXAMPLES]))}"
        return ""

    def _gaps(self) -> str:
        gaps = sum(self.others.values())
        if not gaps:
            return ""
        often = sorted(self.others, key=lambda cell: (-self.others[cell], cell))
        examples = ", ".join(map(repr, often[:EXAMPLES]))
        became = "1 became a gap" if gaps == 1 else f"{gaps:,} became gaps"
        return f"{self.values - gaps:,} of {self.values:,} values read as numbers; {became}: {examples}"


@dataclass(frozen=True)
class TableReading:
    """A table and how it was read. Private, as the table is.

    Attributes
    ----------
    frame : DataFrame
    format : TextFormat or None
        None for Parquet, which says itself what it holds.
    columns : tuple of ColumnReading
        Of the file's columns, in order.
    notes : tuple of str
        What looks like no record.
    """

    frame: pd.DataFrame
    format: TextFormat | None = None
    columns: tuple[ColumnReading, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences on how the table was read: its format, the columns of which something is to be said, the notes."""
        form = () if self.format is None else (f"Read as {self.format.words}.",)
        columns = tuple(f"{each.name}: {each.words}." for each in self.columns if each.words)
        return (*form, *columns, *self.notes)

    def with_dates(self, file: str, kinds: Mapping[str, str]) -> TableReading:
        """Return the reading with the columns of dates that are stated as parts, and those that look so named."""
        frame = self.frame
        for name, kind in kinds.items():
            if kind in DATE_FORMATS:
                frame = _with_parts(frame, file, name, kind)
        columns = []
        for each in self.columns:
            if each.name not in kinds and each.kind == TEXT:
                columns.append(replace(each, formats=date_formats(frame[each.name].cat.categories)))
            else:
                columns.append(replace(each, kind=kinds.get(each.name, each.kind)))
        return replace(self, frame=frame, columns=tuple(columns))


def as_numbers(name: str, cells: pd.Series, form: TextFormat) -> tuple[pd.Series, ColumnReading]:
    """Return a column of texts as numbers, gaps where a text is none, and how it was read.

    >>> cells = pd.Series(["171,3", "tall", None], name="height")
    >>> numbers, reading = as_numbers("height", cells, TextFormat(decimal=","))
    >>> numbers.tolist(), reading.words
    ([171.3, nan, nan], "1 of 2 values read as numbers; 1 became a gap: 'tall'")
    """
    reader = NumberReader(form.decimal, form.thousands)
    texts = cells.astype(object)
    readings = {text: reader.read(str(text)) for text in texts.dropna().unique()}
    values = {text: None if reading is None else reading[0] for text, reading in readings.items()}
    units = tuple(dict.fromkeys(reading[1] for reading in readings.values() if reading is not None and reading[1]))
    others = texts[[text in values and values[text] is None for text in texts]].value_counts()
    reading = ColumnReading(name, NUMBER, int(texts.notna().sum()), units, {str(k): int(n) for k, n in others.items()})
    return texts.map(values).astype(float), reading


def _with_parts(frame: pd.DataFrame, file: str, name: str, form: str) -> pd.DataFrame:
    taken = [part for part in part_names(name) if part in frame]
    if taken:
        raise TableNames(file, f"the parts of the date in {name!r} need its name: rename it", column=taken[0])
    place = frame.columns.get_loc(name)
    before, after = frame.iloc[:, :place], frame.iloc[:, place + 1 :]
    parts = date_parts(frame[name], form, as_text=frame[name].dtype == object)
    return pd.concat([before, parts, after], axis=1)


def check_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise where a kind is stated of no column, or is none."""
    for name, kind in kinds.items():
        if name not in names:
            raise InvalidParameter("columns", name, f"columns of the table: {', '.join(map(str, names[:8]))}")
        if kind not in (NUMBER, TEXT, *DATE_FORMATS):
            allowed = f"{NUMBER!r}, {TEXT!r} or one of {', '.join(DATE_FORMATS)}"
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
