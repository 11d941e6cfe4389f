"""The limits of a table from a file, and the checks that its columns' names pass."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields

from dpml._validate import check_integer, check_number
from dpml.exceptions import TableEmpty, TableNames, TableTooLarge

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
