"""The reading of a table: the format of its file, the kinds of its columns, its missing values, and open questions.

For the table's owner alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from dpml.exceptions import InvalidParameter, TableNames
from dpml.tables.dates import DATE_FORMATS, date_parts, part_names
from dpml.tables.numbers import NumberReader
from dpml.tables.questions import Question
from dpml.tables.text_format import TextFormat

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
        reading. To answer one otherwise, read the file again with the options of another reading, joined with those
        that were stated before: `examine_table(file, **merge_options(stated, reading.options))`. A question whose
        option is stated is not asked again. Questions on the encoding, the delimiter and the line of names come first:
        answer them before the others, which they can change. Empty for a release, which refuses a file instead of
        asking (`TableAmbiguous`).

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

    def with_kinds(self, file: str, kinds: Mapping[str, str]) -> TableReading:
        """Return the reading with stated kinds of columns.

        Parameters
        ----------
        file : str
            Name of the file, for errors.
        kinds : mapping of str to str
            The kind of a column. The format of its dates turns it into year, month and weekday, and "ignore" leaves it
            out.

        Returns
        -------
        TableReading
            The reading with another `frame`.
        """
        frame = self.frame
        for name, kind in kinds.items():
            if kind in DATE_FORMATS:
                frame = _with_parts(frame, file, name, kind)
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
