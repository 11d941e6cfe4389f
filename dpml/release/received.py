"""Files that somebody else has written: regular files of one folder, bounded in number, size and time."""

import csv
import hashlib
import io
import json
import math
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from dpml.exceptions import shown

PART = 1 << 20
MOST_ENTRIES = 64
# the beginning of a text that a spreadsheet computes, as in dpml.tables.files
FORMULA = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RefusedError(ValueError):
    """A file is refused: words for it that can follow its name."""


def name_shown(name: str) -> str:
    r"""Return a file's name, in quotes and escaped unless it is plain.

    >>> name_shown("table.csv"), name_shown("a b"), name_shown("\x1b[2J")
    ('table.csv', "'a b'", "'\\x1b[2J'")
    """
    return name if PLAIN_NAME.fullmatch(name) else shown(name)


class Deadline:
    """A number of seconds from now."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise `RefusedError` after its end."""
        if time.monotonic() > self._end:
            raise RefusedError(f"could not be checked within {self.seconds:g} s")


def entries(folder: Path) -> tuple[list[str], bool]:
    """Return the names in a folder, sorted, and whether it has more than are returned."""
    names: list[str] = []
    with os.scandir(folder) as scan:
        for entry in scan:
            if len(names) == MOST_ENTRIES:
                return sorted(names), True
            names.append(entry.name)
    return sorted(names), False


def open_regular(path: Path, most: int) -> BinaryIO:
    """Open a regular file of at most so many bytes. Links are not followed, and pipes and devices are not opened."""
    try:
        before = os.lstat(path)
        _check_regular(before)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise RefusedError("is missing") from None
    except OSError as error:
        raise RefusedError(f"cannot be read ({error.strerror})") from None
    try:
        after = os.fstat(handle)
        _check_regular(after)
        if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
            raise RefusedError("was replaced while it was read")
        if after.st_size > most:
            raise RefusedError(f"has {after.st_size:,} bytes, the limit is {most:,}")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = (
            "link" if stat.S_ISLNK(status.st_mode) else "folder" if stat.S_ISDIR(status.st_mode) else "pipe or device"
        )
        raise RefusedError(f"is a {kind}, not a regular file")


def parts(file: BinaryIO, most: int, deadline: Deadline) -> Iterator[bytes]:
    """Yield the bytes of a file, and refuse one that grows beyond its limit."""
    size = 0
    while part := file.read(PART):
        size += len(part)
        if size > most:
            raise RefusedError(f"has more than {most:,} bytes")
        deadline.check()
        yield part


def content(path: Path, most: int, deadline: Deadline) -> bytes:
    """Return the bytes of a small file."""
    with open_regular(path, most) as file:
        return b"".join(parts(file, most, deadline))


def digest_of(path: Path, most: int, deadline: Deadline, texts: tuple[bytes, ...]) -> tuple[str, int, set[bytes]]:
    """Return the SHA-256 of a large file, its size, and those of some short texts that are in it."""
    whole, size, contained, end = hashlib.sha256(), 0, set(), b""
    longest = max(map(len, texts), default=0)
    with open_regular(path, most) as file:
        for part in parts(file, most, deadline):
            whole.update(part)
            size += len(part)
            contained |= {text for text in texts if text in end + part}
            end = part[-longest:]
    return whole.hexdigest(), size, contained


def json_values(text: bytes) -> Any:
    """Return the values of a file in JSON: each key once, and finite numbers.

    >>> json_values(b'{"a": 1e999}')
    Traceback (most recent call last):
    dpml.release.received.RefusedError: has a number that is not finite
    """
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_each_once, parse_float=_finite, parse_constant=_none)
    except RefusedError:
        raise
    except RecursionError:
        raise RefusedError("has too deeply nested values") from None
    except (ValueError, OverflowError):
        raise RefusedError("is not valid JSON") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise RefusedError("has a key twice")
    return values


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise RefusedError("has a number that is not finite")
    return value


def _none(_text: str) -> float:
    raise RefusedError("has a number that is not finite")


def csv_header(path: Path, most: int, deadline: Deadline) -> list[str]:
    """Return the names of the columns of a CSV file, after a look at every cell: a number, or text in quotes."""
    with open_regular(path, most) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        try:
            records = csv.reader(_lines(text, deadline), strict=True, quoting=csv.QUOTE_NONNUMERIC)
            header = next(records, [])
            for record in records:
                if len(record) != len(header):
                    raise RefusedError("has a record with more or fewer cells than columns")
                for cell in record:
                    if FORMULA.match(cell) if isinstance(cell, str) else not math.isfinite(cell):
                        raise RefusedError("has a spreadsheet formula or a number that is not finite")
        except RefusedError:
            raise
        except (csv.Error, ValueError):
            raise RefusedError("is not a table of a release") from None
    if not header or not all(isinstance(name, str) for name in header) or len(set(header)) < len(header):
        raise RefusedError("has missing or repeated column names")
    return header


def _lines(text: Any, deadline: Deadline) -> Iterator[str]:
    # a line without end is cut, and is then no record
    while line := text.readline(PART):
        if "\0" in line:
            raise RefusedError("has a NUL character")
        deadline.check()
        yield line
