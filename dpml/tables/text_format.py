"""The format of a file of text, and the limits of a table that is read."""

import codecs
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from dpml._validate import check_choice, check_integer, check_number
from dpml.exceptions import InvalidParameter, TableEmpty, TableNames, TableTooLarge

MARKUP = re.compile(r"<\s*[A-Za-z/!?]")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Limits:
    """Bound the size of a table that is read.

    Each bound is checked before the excess takes memory.

    Parameters
    ----------
    bytes : int, default=50_000_000
        Largest size of the file, in bytes.
    rows : int, default=2_000_000
        Largest number of records.
    columns : int, default=1_000
        Largest number of columns.
    cells : int, default=20_000_000
        Largest number of records times columns.
    field : int, default=10_000
        Largest number of characters of a cell.
    name : int, default=200
        Largest number of characters of a column's name.
    line : int, default=1_000_000
        Largest number of characters of a line of text.
    distinct : int, default=1_000_000
        Largest number of different texts in all columns together.
    memory : int, default=2**30
        Bytes that a Parquet file may take while it is read.
    seconds : float, default=120
        Time in seconds that the reading of a Parquet file may take.

    See Also
    --------
    read_table : Reads a table within these limits.
    examine_table : Reads a table and describes its reading.

    Examples
    --------
    >>> Limits(rows=10).rows, Limits().bytes
    (10, 50000000)
    """

    bytes: int = 50_000_000
    rows: int = 2_000_000
    columns: int = 1_000
    cells: int = 20_000_000
    field: int = 10_000
    name: int = 200
    line: int = 1_000_000
    distinct: int = 1_000_000
    memory: int = 1 << 30
    seconds: float = 120

    def __post_init__(self):
        for each in fields(self):
            if each.name != "seconds":
                check_integer(getattr(self, each.name), each.name, 1)
        check_number(self.seconds, "seconds", 0.0, open_lower=True)


def check_size(file: str, rows: int, columns: int, limits: Limits, *, line: int | None = None) -> None:
    """Raise where a table has more columns, records or cells than are allowed."""
    for what, number, most in (
        ("columns", columns, limits.columns),
        ("records", rows, limits.rows),
        ("cells", rows * columns, limits.cells),
    ):
        if number > most:
            raise TableTooLarge(file, f"it has more than {most:,} {what}, which is the most that is read", line=line)


def check_names(file: str, names: Sequence[str], limits: Limits, *, line: int | None = None) -> list[str]:
    """Return the columns' names without spaces around them, or raise an error that describes their fault."""
    if not names:
        raise TableEmpty(file, "it has no columns", line=line)
    seen: dict[str, int] = {}
    for number, given in enumerate(names, 1):
        name = check_name(file, given, limits, line=line, number=number)
        if not name:
            cause = "it has no name. Name it, or leave out the row numbers when the table is written (index=False)"
            if number == len(names) > 1:
                cause = "it has no name. Name it, or take out the delimiter at the end of each line"
            raise TableNames(file, cause, line=line, column=number)
        if name in seen:
            cause = f"columns {seen[name]} and {number} have the same name: each needs one of its own"
            raise TableNames(file, cause, line=line, column=name)
        seen[name] = number
    if all(NUMBER.fullmatch(name) for name in seen):
        raise TableNames(file, "all names of columns are numbers: the first line must hold the names", line=line)
    return list(seen)


def check_name(file: str, given: str, limits: Limits, *, line: int | None, number: int) -> str:
    """Return a name without spaces around it, or raise where it cannot be shown safely. It may be empty."""
    if len(given) > limits.name:
        cause = f"its name has {len(given):,} characters: at most {limits.name} are allowed. Is there a header? "
        cause += "Or state the names of all columns (`names`)"
        raise TableNames(file, cause, line=line, column=number)
    name = given.strip()
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in name):
        cause = "its name holds characters that cannot be seen, such as a line break: they are not allowed. "
        cause += "Or state the names of all columns (`names`)"
        raise TableNames(file, cause, line=line, column=number)
    if MARKUP.search(name):
        raise TableNames(file, f"its name {name[:60]!r} is markup, which is not allowed", line=line, column=number)
    return name


DELIMITERS = (",", ";", "\t", "|")
# a space is any number of them
SPACE = " "
NUMBERED, TWO_LINES = "numbered", "two-lines"
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", "'", "’", " ", "\u00a0", "\u202f")
ENCODING_WORDS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
SIGN_WORDS = {
    "": "none",
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar",
    ".": "point",
    "'": "apostrophe",
    "’": "apostrophe",
    " ": "space",
    "\u00a0": "space",
    "\u202f": "space",
}


@dataclass(frozen=True)
class TextFormat:
    r"""Describe the format in which a file of text writes a table.

    Parameters
    ----------
    encoding : str, default="utf-8"
        A codec of Python, such as "utf-8", "cp1252" or "shift_jis".
    delimiter : {",", ";", "\t", "|", " "}, default=","
        Delimiter of fields. A space stands for any number of spaces.
    decimal : {".", ","}, default="."
        The character before a number's fraction.
    thousands : str, default=""
        The separator of groups of three digits: comma, point, apostrophe, a space, or "" for none.
    header : int, default=1
        The line that has the names of the columns, counted from 1. Lines before it are no part of the table. With 0 no
        line has names, and the first line that does not begin with # is a record.
    names : None, "numbered", "two-lines" or tuple of str
        Names of the columns. None takes the names in the line `header`. "numbered" takes the same, where a column
        without a name is called "column 3" by its place, and a repeated name "score (2)". "two-lines" does as
        "numbered", where a column without a name gets the text of the line after `header`, which is no record. A tuple
        has the names of all columns, which replace those of the file.
    missing : None, tuple of str, or dict of str to tuple of str
        The texts that stand for a missing value, in every column or by column. An empty cell always does. None, and
        each column that a dict does not have, take `dpml.tables.cells.CODES`.

    See Also
    --------
    examine_table : Detects the format of a file.
    TableReading : Has the format of a file.

    Examples
    --------
    >>> TextFormat(delimiter=";", decimal=",", thousands=".").words
    'UTF-8, delimiter semicolon, decimal comma, thousands point'
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    header: int = 1
    names: str | tuple[str, ...] | None = None
    missing: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None

    def __post_init__(self):
        check_encoding(self.encoding)
        for name, allowed in (("delimiter", (*DELIMITERS, SPACE)), ("decimal", DECIMALS), ("thousands", THOUSANDS)):
            check_choice(getattr(self, name), name, allowed)
        check_integer(self.header, "header", 0)
        if self.thousands == self.decimal:
            raise InvalidParameter("thousands", self.thousands, "another sign than that of the decimals")
        object.__setattr__(self, "names", _checked_names(self.names))
        object.__setattr__(self, "missing", _checked_missing(self.missing))
        if self.names == TWO_LINES and not self.header:
            raise InvalidParameter("names", self.names, "another one where no line has names (header=0)")

    @property
    def words(self) -> str:
        """The format in words."""
        encoding = ENCODING_WORDS.get(self.encoding, self.encoding)
        words = [encoding, "delimiter spaces" if self.delimiter == SPACE else f"delimiter {SIGN_WORDS[self.delimiter]}"]
        words.append(f"decimal {SIGN_WORDS[self.decimal]}")
        if self.thousands:
            words.append(f"thousands {SIGN_WORDS[self.thousands]}")
        if self.header != 1:
            words.append(f"names in line {self.header}" if self.header else "no line of names")
        if self.names == TWO_LINES:
            words.append(f"names also in line {self.header + 1}")
        return ", ".join(words)


def check_encoding(encoding: Any) -> str:
    """Return a codec's name, or raise where Python has no such codec of text."""
    try:
        codecs.lookup(encoding)
        b"a".decode(encoding, "replace")
        "a".encode(encoding)
    except (LookupError, TypeError, ValueError):
        allowed = "a codec of Python for text, such as utf-8, cp1252, cp1251, shift_jis or gb18030"
        raise InvalidParameter("encoding", encoding, allowed) from None
    return encoding


def _checked_names(names: Any) -> str | tuple[str, ...] | None:
    if names is None or names in (NUMBERED, TWO_LINES):
        return names
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InvalidParameter("names", names, f"{NUMBERED!r}, {TWO_LINES!r} or a sequence of all columns' names")
    return tuple(names)


def _checked_missing(missing: Any) -> tuple[str, ...] | Mapping[str, tuple[str, ...]] | None:
    if isinstance(missing, Mapping):
        return {str(name): _checked_codes(codes) for name, codes in missing.items()}
    return None if missing is None else _checked_codes(missing)


def _checked_codes(codes: Any) -> tuple[str, ...]:
    if isinstance(codes, str) or not isinstance(codes, (Sequence, set, frozenset)):
        raise InvalidParameter("missing", codes, "a sequence of the texts that stand for a missing value")
    # a code of numbers is often given as one
    return tuple(dict.fromkeys(str(code).strip() for code in codes))


def delimiter_of(line: str) -> str:
    """Return the delimiter that a line has most of, outside quotation marks."""
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)
