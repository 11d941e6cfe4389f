"""Reading of files that somebody else has written: regular files of one folder, bounded in number, size and time."""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dpml import __version__
from dpml.exceptions import DISTRIBUTION, shown
from dpml.release.folder import CONTENTS, DEMONSTRATION, MANIFEST, README, digest

PART = 1 << 20
MOST_ENTRIES = 64
# the beginning of a text that a spreadsheet computes, as in dpml.tables.spreadsheet
FORMULA = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# bytes of each file; the two large ones are read in parts
LARGE = {"model.joblib": 1 << 30, "table.csv": 1 << 30}
MOST = {
    MANIFEST: 1 << 16,
    README: 1 << 16,
    "evaluation.json": 1 << 24,
    "ledger.json": 1 << 22,
    "model.json": 1 << 26,
    "schema.yaml": 1 << 20,
    "score.py": 1 << 16,
    "statement.html": 1 << 24,
}
NEEDED = ("README.md", "ledger.json", "schema.yaml", "statement.html")
# a model has its status, under this name
IN_MODEL = (b"status_", DEMONSTRATION.encode())


class RefusedError(ValueError):
    """A file is refused. The message follows the name of the file."""


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
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "pipe or device"
        kind = "link" if stat.S_ISLNK(status.st_mode) else kind
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
    """Return the SHA-256 of a large file, its size, and which of some short texts it contains."""
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
    """Return the column names of a CSV file, in which every cell must be a number, or text in quotes."""
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
    # a line that is too long is cut, so that it is refused as a record
    while line := text.readline(PART):
        if "\0" in line:
            raise RefusedError("has a NUL character")
        deadline.check()
        yield line


@dataclass
class Verified:
    """The terms that a folder states, and its faults in sentences, or none if the folder is unchanged."""

    status: str
    epsilon: float
    delta: float
    relation: str
    digest: str
    problems: list[str] = field(default_factory=list)


class ReceivedFiles:
    """The listed files of a folder, each read once: the content of small ones, the digest of large ones."""

    def __init__(self, folder: Path, facts: dict[str, Any], names: list[str], deadline: Deadline):
        self.folder, self.deadline = folder, deadline
        self.listed = set(facts["files"])
        self.same_version = facts["versions"].get(DISTRIBUTION) == __version__
        self.small: dict[str, bytes] = {}
        # large files that were read, and the texts of `IN_MODEL` that each has
        self.large: dict[str, set[bytes]] = {}
        self._header: list[str] = []
        self.problems: list[str] = []
        sizes = facts.get("bytes")
        for name, expected in sorted(facts["files"].items()):
            if name not in CONTENTS and name != README:
                self.problems.append(f"{name_shown(name)} is in the manifest, but no release writes this file.")
                continue
            size = sizes.get(name) if isinstance(sizes, dict) else None
            try:
                self._read(name, expected, size)
            except RefusedError as error:
                self.problems.append(f"{name} {error}.")
        for name in names:
            if name not in self.listed and name != MANIFEST:
                self.problems.append(
                    f"{name_shown(name)} does not belong to the release: the manifest does not list it."
                )
        self.problems += [f"{name} is missing from the manifest." for name in NEEDED if name not in self.listed]

    def _read(self, name: str, expected: str, size: Any) -> None:
        path = self.folder / name
        if name in LARGE:
            sha256, length, self.large[name] = digest_of(path, LARGE[name], self.deadline, IN_MODEL)
        else:
            self.small[name] = content(path, MOST[name], self.deadline)
            sha256, length = digest(self.small[name]), len(self.small[name])
        if sha256 != expected:
            raise RefusedError("has changed: its SHA-256 digest differs from the manifest")
        if size != length:
            raise RefusedError("has changed: its size differs from the manifest")

    def text(self, name: str) -> str:
        """Return a small file as text, or raise KeyError if it could not be read."""
        return self.small[name].decode("utf-8")

    def json(self, name: str) -> Any:
        """Return the values of a small file in JSON."""
        return json_values(self.small[name])

    def header(self) -> list[str]:
        """Return the column names of the table, after one check of every cell."""
        self._header = self._header or csv_header(self.folder / "table.csv", LARGE["table.csv"], self.deadline)
        return self._header
