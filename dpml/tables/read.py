"""A file of unknown kind becomes a table, or an error that names what is wrong with it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from dpml._validate import check_choice, check_flag
from dpml.exceptions import DataNotFound, InvalidParameter, TableEmpty, TableTooLarge, TableUnreadable
from dpml.tables.delimited import ENCODINGS, read_delimited
from dpml.tables.limits import Limits
from dpml.tables.lines import DELIMITERS, read_lines
from dpml.tables.parquet import read_parquet

__all__ = ["read_table"]

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
Told = Callable[[int, int], None]


def read_table(
    source: str | os.PathLike | bytes | BinaryIO,
    *,
    name: str | None = None,
    limits: Limits | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Told | None = None,
    release: bool = False,
) -> pd.DataFrame:
    r"""Return the table in a file, CSV or Parquet, that nobody has checked.

    Released: nothing. The table is private, and so are the errors: they name lines and columns of the file. With
    ``release=True`` no record makes an error, and none changes how another one is read: errors are about the first
    line, the type and the size of the file (docs/privacy.md, "The operator").

    Parameters
    ----------
    source : path, bytes or binary file
        A file's place, what is in it, or the open file.
    name : str, optional
        What errors call it. Default: the path's last part, else "table".
    limits : Limits, optional
        The largest table that is read.
    encoding : {"utf-8", "utf-16", "cp1252", "latin-1"}, optional
        Of CSV. Default: what the file begins with, else UTF-8.
    delimiter : str, optional
        One of comma, semicolon, tab and bar. Default: the one that the first line has most of.
    progress : callable, optional
        Is told (done, total) as CSV is read; both are bytes of the file, which is read twice, or once for a release.
    release : bool
        Whether the table is for a release: each line of CSV after the first is one record, whose cells are texts or
        missing. A line that cannot be read as one is a record without any value. A quoted field ends on its line.

    Returns
    -------
    DataFrame
        A column in which each value is a number has numbers, missing ones as NaN; any other has categories. For a
        release all cells of CSV are texts.

    Raises
    ------
    InvalidTable
        `TableTooLarge`, `TableUnreadable`, `TableRagged`, `TableNames` or `TableEmpty`; each names the file and where
        it has one the line and the column.
    DataNotFound, InvalidParameter, MissingExtra

    Examples
    --------
    >>> table = read_table(b"age,job\n31,clerk\n58,\n")
    >>> table["age"].tolist(), table["job"].tolist()
    ([31, 58], ['clerk', nan])
    >>> read_table(b"age,job\n31,clerk\n58\n", name="people.csv")
    Traceback (most recent call last):
    dpml.exceptions.TableRagged: 'people.csv', line 3: it has 1 field, and the table has 2 columns
    >>> read_table(b"age,job\n31,clerk\n58\n", release=True).values.tolist()
    [['31', 'clerk'], [None, None]]
    """
    check_flag(release, "release")
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise InvalidParameter("limits", limits, "a dpml.tables.Limits or None")
    if encoding is not None:
        check_choice(encoding, "encoding", ENCODINGS)
    if delimiter is not None:
        check_choice(delimiter, "delimiter", DELIMITERS)
    file, called, opened = _open(source, name, limits)
    try:
        size = file.seek(0, io.SEEK_END)
        if size > limits.bytes:
            raise TableTooLarge(called, f"it has {size:,} bytes: at most {limits.bytes:,} are read")
        file.seek(0)
        first = file.read(512)
        if release:
            first = first.partition(b"\n")[0]
        if not first.strip():
            raise TableEmpty(called, "it is empty")
        if first.startswith(PARQUET):
            file.seek(0)
            return read_parquet(file.read(limits.bytes + 1), called, limits, release=release)
        for magic, what in PACKED.items():
            if first.startswith(magic):
                raise TableUnreadable(called, f"it is {what}. CSV and Parquet are read")
        if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"{", b"[")):
            raise TableUnreadable(called, "it is HTML, XML or JSON. CSV and Parquet are read")
        return (read_lines if release else read_delimited)(file, called, limits, encoding, delimiter, progress)
    finally:
        if opened:
            file.close()


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
