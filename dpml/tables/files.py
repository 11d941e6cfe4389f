"""Files of unknown kind read as tables, and tables written as CSV that a spreadsheet opens safely."""

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dpml._validate import check_flag
from dpml.exceptions import DataNotFound, InvalidParameter, TableEmpty, TableTooLarge, TableUnreadable
from dpml.tables.delimited import END_MARK, read_delimited, read_lines
from dpml.tables.parquet import read_parquet
from dpml.tables.reading import TableReading
from dpml.tables.text_format import Limits, TextFormat

PARQUET = b"PAR1"
# nothing that is packed is unpacked: a few bytes can become any number of them
PACKED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: save the sheet as CSV, or take the table out of the archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "packed by gzip: unpack it",
    b"BZh": "packed by bzip2: unpack it",
    b"\xfd7zXZ\x00": "packed by xz: unpack it",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it",
    b"7z\xbc\xaf": "a 7z archive: take the table out of it",
    b"Rar!": "a rar archive: take the table out of it",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save the sheet as CSV",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "a database: write the table to CSV",
    b"ARROW1": "an Arrow file: write the table to Parquet or CSV",
}
OTHER_SIGN = {",": ".", ".": ","}
Told = Callable[[int, int], None]


def read_table(source: str | os.PathLike | bytes | BinaryIO, **options: Any) -> pd.DataFrame:
    r"""Return the table in an unchecked CSV or Parquet file: `examine_table(...).frame`.

    The table is private, and so are the errors: they name lines and columns of the file.

    Parameters
    ----------
    source : path, bytes or binary file
        Path of the file, its content, or the open file.
    **options
        Further arguments of `examine_table`.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    InvalidTable
        `TableTooLarge`, `TableUnreadable`, `TableRagged`, `TableNames`, `TableEmpty` or `TableAmbiguous`. Each names
        the file and, if there is one, the line and the column.
    DataNotFound
        If there is no file.
    InvalidParameter
        If an option is not allowed.
    MissingExtra
        If pyarrow is not installed.

    See Also
    --------
    examine_table : Returns the table with its reading and questions.
    safe_csv : Writes a table that a spreadsheet opens safely.

    Notes
    -----
    With ``release=True`` no record changes how another one is read. Errors are then about the first line, the type and
    the size of the file, or a question on the whole file that no option answers (`TableAmbiguous`). With these options
    stated, no record makes an error (docs/explanation/privacy.md, "The file as a whole").

    Examples
    --------
    >>> table = read_table(b"age,job\n31,clerk\n58,\n")
    >>> table["age"].tolist(), table["job"].tolist()
    ([31, 58], ['clerk', nan])
    """
    return examine_table(source, **options).frame


def examine_table(
    source: str | os.PathLike | bytes | BinaryIO,
    *,
    name: str | None = None,
    limits: Limits | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: int | None = None,
    names: str | Sequence[str] | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    schema: Any = None,
    columns: Mapping[str, str] | None = None,
    progress: Told | None = None,
    release: bool = False,
) -> TableReading:
    r"""Return the table in a file and its reading: format, kinds of columns, missing values, and open questions.

    Table and reading are private. For a simulation, the options that are not given are detected from the file's first
    1,000 lines. Parts that can be read in two ways become `TableReading.questions`. For a release only the delimiter is
    detected, from the line of names. The other defaults are UTF-8, a decimal point, no thousands, and names in the
    first line. A file that these do not settle is refused with the name of the option that does.

    Parameters
    ----------
    source : path, bytes or binary file
        Path of the file, its content, or the open file.
    name : str, optional
        Name of the file in errors. By default it is the path's last part, else "table".
    limits : Limits, optional
        Bounds of the size of the table.
    encoding, delimiter, decimal, thousands, header, names, missing : optional
        The fields of `TextFormat`. A release takes an encoding whose lines end with one byte. With ``header=0`` it also
        needs `names` and `delimiter`, and each line is a record.
    schema : Schema, optional
        Public metadata of the table. Its categories, and its classes in a column that it has no feature for, are
        values: no missing-value code takes them away. Its numeric features are columns of numbers.
    columns : mapping of str to str, optional
        The kind of a column of CSV. "number": a text that is no number is missing. "share": the same, where 50% is 0.5.
        "text". "lower": texts in lower case without characters that cannot be seen, or the category of `schema` that
        differs in that alone. "ignore": left out. The format of its dates, such as "%d.%m.%Y": they become year, month
        and weekday. By default a column has numbers where 95% of at least 20 values are numbers and at most ten
        different ones are not, or where all are, without units that multiply some of them and without digits that a
        number would lose. Otherwise it has text. For a release all cells are texts, and those of a column of numbers
        are written with a decimal point.
    progress : callable, optional
        Function of (done, total) that is called as CSV is read. Both are bytes of the file, which is read twice, or
        once for a release.
    release : bool, default=False
        Whether the table is for a release: each line of CSV after the names is one record, whose cells are texts or
        missing. A line that cannot be read as one is a record without any value. A quoted field ends on its line.

    Returns
    -------
    TableReading
        The table with its reading. `frame` has numbers in a column of numbers, missing ones as NaN, and categories in a
        column of text. `words` describe the detected format, and list the texts that were read as missing. `questions`
        have the possible readings, each with the options to call this function with.

    Raises
    ------
    InvalidTable
        `TableTooLarge`, `TableUnreadable`, `TableRagged`, `TableNames`, `TableEmpty` or `TableAmbiguous`. Each names
        the file and, if there is one, the line and the column.
    DataNotFound
        If there is no file.
    InvalidParameter
        If an option is not allowed.
    MissingExtra
        If pyarrow is not installed.

    See Also
    --------
    read_table : Returns the table alone.
    merge_options : Merges the options of readings.

    Notes
    -----
    Questions are about the `encoding`, the `delimiter`, comments before the names (`header`), the names (`header` or
    `names`), the decimal character (`decimal`), units and digits that a number would lose (`columns`), texts and
    numbers that stand for a missing value (`missing`), texts that differ in case or in characters that cannot be seen,
    dates, and identifiers (`columns`). Each has the option that answers it.

    Examples
    --------
    >>> reading = examine_table(b"age,score,score\n31,1.5,2\n")
    >>> print(*reading.words)
    Read as UTF-8, delimiter comma, decimal point.
    >>> [(question.kind, question.option) for question in reading.questions]
    [('names', 'names')]
    >>> examine_table(b"age,score,score\n31,1.5,2\n", **reading.questions[0].readings[0].options).questions
    ()
    """
    check_flag(release, "release")
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise InvalidParameter("limits", limits, "a dpml.tables.Limits or None")
    given: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal, "thousands": thousands}
    given |= {"header": header, "names": names, "missing": missing}
    known = {option: value for option, value in given.items() if value is not None}
    if decimal is None and thousands in OTHER_SIGN:
        known["decimal"] = OTHER_SIGN[thousands]
    form = TextFormat(**known)
    given |= {option: getattr(form, option) for option in known}
    file, called, opened = _open(source, name, limits)
    try:
        size = file.seek(0, io.SEEK_END)
        if size > limits.bytes:
            raise TableTooLarge(called, f"it has {size:,} bytes: at most {limits.bytes:,} are read")
        file = _without_end_mark(file, size)
        first = file.read(512)
        if release:
            first = first.partition(b"\n")[0]
        if release and header == 0:  # the caller has said that it is CSV, and the first line is a record
            first = b"CSV"
        if not first.strip():
            raise TableEmpty(called, "it is empty")
        if first.startswith(PARQUET):
            file.seek(0)
            return TableReading(read_parquet(file.read(limits.bytes + 1), called, limits, release=release))
        for magic, what in PACKED.items():
            if first.startswith(magic):
                raise TableUnreadable(called, f"it is {what}. CSV and Parquet are read")
        if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"{", b"[")):
            raise TableUnreadable(called, "it is HTML, XML or JSON. CSV and Parquet are read")
        kinds = dict(columns or {})
        reading = (read_lines if release else read_delimited)(file, called, limits, given, kinds, schema, progress)
        return reading._with_kinds(called, kinds)
    finally:
        if opened:
            file.close()


def _without_end_mark(file: BinaryIO, size: int) -> BinaryIO:
    """Return a file from its start, without the bytes that end a text of DOS."""
    file.seek(max(size - 1, 0))
    marked = file.read(1) == END_MARK
    file.seek(0)
    return io.BytesIO(file.read(size).rstrip(END_MARK)) if marked else file


def _open(source: Any, name: str | None, limits: Limits) -> tuple[BinaryIO, str, bool]:
    """Return a file in which one can go back, its name, and whether it was opened here."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(source), name or "table", True
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return path.open("rb"), name or path.name, True
        except (OSError, ValueError) as error:
            raise DataNotFound(f"there is no file at {str(path)!r} that can be read") from error
    if not hasattr(source, "read"):
        raise InvalidParameter("source", type(source).__name__, "a path, bytes or a binary file")
    called = name or Path(str(getattr(source, "name", "table"))).name
    content = source.read(limits.bytes + 1)
    if not isinstance(content, bytes):
        raise InvalidParameter("source", "a file of text", "a file that is opened as binary, 'rb'")
    return io.BytesIO(content), called, True


# also the wide forms that some spreadsheets take for the narrow ones
BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: Any) -> Any:
    """Return a cell with an apostrophe before it if it is text that a spreadsheet would compute.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    object
        A safe text, or the cell itself.

    See Also
    --------
    safe_csv : Writes a table of safe cells.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell(-5), safe_cell("a=b")
    ("'=1+1", "'-5", -5, 'a=b')
    """
    if isinstance(value, str) and (value.startswith(BEGINNINGS) or value.lstrip().startswith(BEGINNINGS)):
        return f"'{value}"
    return value


def safe_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV without its index, every text in quotes and none of it a formula.

    Parameters
    ----------
    table : DataFrame
        The table.

    Returns
    -------
    str
        The file's content.

    See Also
    --------
    safe_cell : Makes one cell safe.
    read_table : Reads a table.

    Examples
    --------
    >>> print(safe_csv(pd.DataFrame({"@who": ["=cmd()", "a, b"], "x": [-1.5, None]})), end="")
    "'@who","x"
    "'=cmd()",-1.5
    "a, b",""
    """
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow([safe_cell(str(name)) for name in table.columns])
    for row in table.itertuples(index=False, name=None):
        writer.writerow([_plain(value) for value in row])
    return written.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value == value:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        return "" if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)) else safe_cell(str(value))
    return value
