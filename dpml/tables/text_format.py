"""How a file of text writes its table: its encoding, delimiter, decimal sign, thousands and line of names."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dpml._validate import check_choice, check_integer
from dpml.exceptions import InvalidParameter
from dpml.tables.numbers import CURRENCIES, UNIT

ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1")
DELIMITERS = (",", ";", "\t", "|")
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
# Excel writes and reads the delimiter in a line before the names
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.I)
# a number in any style, with what may stand around it
NUMBER_LIKE = re.compile(
    rf"[+\-−]?\s?(?:{CURRENCIES})?\s?(?P<whole>\d[\d.,'’ \u00a0\u202f]*\d|\d)\s?(?:{UNIT})?", re.VERBOSE
)
SEPARATORS = re.compile(r"[^\d]")


@dataclass(frozen=True)
class TextFormat:
    r"""How a file of text writes its table.

    Parameters
    ----------
    encoding : {"utf-8", "utf-16", "cp1252", "latin-1"}
    delimiter : {",", ";", "\t", "|"}
    decimal : {".", ","}
        The sign before a number's fraction.
    thousands : str
        What stands between groups of three digits: comma, point, apostrophe, a space, or "" for nothing.
    header : int
        The line that has the names of the columns, counted from 1. Lines before it are no part of the table.

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

    def __post_init__(self):
        for name, allowed in (
            ("encoding", ENCODINGS),
            ("delimiter", DELIMITERS),
            ("decimal", DECIMALS),
            ("thousands", THOUSANDS),
        ):
            check_choice(getattr(self, name), name, allowed)
        check_integer(self.header, "header", 1)
        if self.thousands == self.decimal:
            raise InvalidParameter("thousands", self.thousands, "another sign than that of the decimals")

    @property
    def words(self) -> str:
        """The format in words."""
        words = [ENCODING_WORDS[self.encoding], f"delimiter {SIGN_WORDS[self.delimiter]}"]
        words.append(f"decimal {SIGN_WORDS[self.decimal]}")
        if self.thousands:
            words.append(f"thousands {SIGN_WORDS[self.thousands]}")
        if self.header > 1:
            words.append(f"names in line {self.header}")
        return ", ".join(words)


def delimiter_of(line: str) -> str:
    """Return the delimiter that a line has most of, outside quotation marks."""
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def detect_format(
    lines: Sequence[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: int | None = None,
) -> TextFormat:
    """Return the format that a file's first lines show; what is given is taken as it is.

    Parameters
    ----------
    lines : sequence of str
        The first lines, in order.
    encoding, delimiter, decimal, thousands, header : optional
        What is known already.

    >>> detect_format(["name;height", "Ada;171,3", "Jo;1.080,25"]).words
    'UTF-8, delimiter semicolon, decimal comma, thousands point'
    >>> detect_format(["sep=;", "a;b", "1;2"]).header
    2
    """
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    stated = SEPARATOR_LINE.fullmatch(lines[first].strip()) if lines else None
    if stated and stated[1] in DELIMITERS:
        first += 1
        delimiter = delimiter or stated[1]
    following = lines[first:]
    delimiter = delimiter or _delimiter(following)
    if header is None:
        header = 1 + first + _titles(following, delimiter)
    cells = _cells(lines[header:], delimiter)
    decimal, thousands = _signs(cells, delimiter, decimal, thousands)
    return TextFormat(encoding, delimiter, decimal, thousands, header)


def _fields(line: str, delimiter: str) -> int:
    return "".join(line.split('"')[::2]).count(delimiter) + 1


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter of which most lines have equally many, and the names at least one if any has."""
    written = [line for line in lines if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        numbers = Counter(_fields(line, delimiter) for line in written)
        number, agreeing = max(numbers.items(), key=lambda item: item[1], default=(1, 0))
        return (agreeing, number) if number > 1 else (0, 0)

    best = max(DELIMITERS, key=agreement)
    return best if agreement(best)[0] > len(written) / 2 else delimiter_of(written[0] if written else "")


def _titles(lines: Sequence[str], delimiter: str) -> int:
    """Return how many lines stand before the names: empty ones, and where most lines have more fields those of one."""
    numbers = Counter(_fields(line, delimiter) for line in lines if line.strip())
    usual = max(numbers, key=lambda number: numbers[number], default=1)

    def title(line: str) -> bool:
        # what a quotation holds may hold the delimiter
        _first, *others = re.sub(r'"[^"]*"', "x", line).split(delimiter)
        return not any(other.strip() for other in others)

    names = (place for place, line in enumerate(lines) if line.strip() and not (usual > 1 and title(line)))
    return next(names, 0)


def _cells(lines: Sequence[str], delimiter: str) -> list[str]:
    cells: set[str] = set()
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            cells.update(cell.strip() for cell in row)
    except csv.Error:  # whoever reads all of it says where
        pass
    return sorted(cells)


def _signs(cells: Sequence[str], delimiter: str, decimal: str | None, thousands: str | None) -> tuple[str, str]:
    """Return the decimal sign and what stands between thousands, by the cells that allow one reading alone.

    "1,234" allows two. Where no other cell decides, its comma is decimal if the delimiter is a semicolon, which is used
    where commas are taken, and its point is always decimal.
    """
    decimals: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for cell in cells:
        match = NUMBER_LIKE.fullmatch(cell)
        if match is None:
            continue
        body = match["whole"]
        signs = SEPARATORS.findall(body)
        if not signs:
            continue
        parts = SEPARATORS.split(body)
        grouped = 1 <= len(parts[0]) <= 3 and parts[0] != "0" and all(len(part) == 3 for part in parts[1:])
        last = signs[-1]
        before = parts[1:-1]
        if len(set(signs)) == 2 and last in DECIMALS and last not in signs[:-1] and all(len(p) == 3 for p in before):
            decimals[last] += 1
            groups[signs[0]] += 1
        elif len(set(signs)) > 1:
            continue
        elif len(signs) > 1 and grouped:
            groups[last] += 1
        elif len(signs) == 1 and last in DECIMALS:
            (undecided if grouped else decimals)[last] += 1
        elif len(signs) == 1 and grouped:
            groups[last] += 1
    if decimal is None:
        others = {",": ".", ".": ","}
        seen = decimals or Counter({others[sign]: n for sign, n in groups.items() if sign in others})
        usual = "," if delimiter == ";" and undecided["."] < undecided[","] else "."
        decimal = max(seen, key=lambda sign: seen[sign]) if seen else usual
    if thousands is None:
        known = groups + Counter({sign: n for sign, n in undecided.items() if sign != decimal})
        known.pop(decimal, None)
        thousands = max(known, key=lambda sign: known[sign], default="")
    return decimal, thousands
