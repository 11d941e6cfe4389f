"""The format in which a file of text writes a table: encoding, delimiter, numbers, names and missing values."""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpml._validate import check_choice, check_integer
from dpml.exceptions import InvalidParameter

# those that are offered first: every codec of Python can be stated
ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1")
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
        each column that a dict does not have, take `dpml.tables.missing.CODES`.

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
