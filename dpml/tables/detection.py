"""The format of a file of text, detected from its first lines, and the questions that they raise."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, NamedTuple

from dpml.tables.missing import CODES
from dpml.tables.names import MOST_NUMBERS, ask_about_header, has_second_line, looks_like_a_record
from dpml.tables.numbers import CURRENCIES, UNIT, NumberReader
from dpml.tables.questions import Questions, Reading
from dpml.tables.text_format import (
    DECIMALS,
    DELIMITERS,
    NUMBERED,
    SIGN_WORDS,
    SPACE,
    TWO_LINES,
    TextFormat,
    delimiter_of,
)

# Excel writes and reads the delimiter in a line before the names
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.I)
# a number in any style, with what may stand around it
NUMBER_LIKE = re.compile(
    rf"[+\-−]?\s?(?:{CURRENCIES})?\s?(?P<whole>\d[\d.,'’ \u00a0\u202f]*\d|\d)\s?(?:{UNIT})?", re.VERBOSE
)
SEPARATORS = re.compile(r"[^\d]")
COMMENT = "#"


def detect_format(lines: Sequence[str], questions: Questions | None = None, **given: Any) -> TextFormat:
    """Return the format that a file's first lines show, with the given fields unchanged.

    `given`: the fields of `TextFormat` that are known already, None where one is not.
    `questions`: gets those that the lines raise.

    >>> detect_format(["name;height", "Ada;171,3", "Jo;1.080,25"]).words
    'UTF-8, delimiter semicolon, decimal comma, thousands point'
    >>> detect_format(["sep=;", "a;b", "1;2"]).header
    2
    >>> detect_format(["# exported", "age city", "31  Bonn"]).words
    'UTF-8, delimiter spaces, decimal point, names in line 2'
    """
    questions = Questions() if questions is None else questions
    known = {name: value for name, value in given.items() if value is not None}
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    stated = SEPARATOR_LINE.fullmatch(lines[first].strip()) if lines else None
    if stated and stated[1] in DELIMITERS:
        first += 1
        known.setdefault("delimiter", stated[1])
    if "header" in known:
        first = max(known["header"] - 1, 0)
    comments = 0 if "header" in known else _comments(lines[first:], known.get("delimiter"))
    following = lines[first + comments :]
    delimiter = known.get("delimiter") or _delimiter(following)
    if "delimiter" not in known and delimiter == SPACE:
        _ask_about_spaces(questions)
    header = known.get("header")
    if header is None:
        header = 1 + first + comments + _titles(following, delimiter)
    rows = _rows(lines[header - 1 :] if header else without_comments(lines), delimiter)
    names, records = (rows[0], rows[1:]) if rows and header else ([], rows)
    second = known.get("names") == TWO_LINES
    signs = signs_of(_columns(records[second:]), delimiter, known.get("decimal"), known.get("thousands"))
    signs.ask([name or f"column {place}" for place, name in enumerate(names, 1)], questions)
    reader = NumberReader(signs.decimal, signs.thousands)
    if "header" not in known and looks_like_a_record(names, records, reader):
        ask_about_header(names, header, questions, record=True)
        header = comments = 0
    elif "names" not in known and header and has_second_line(names, records, reader):
        known["names"] = TWO_LINES
        readings = [
            Reading("it has the names of the columns that have none above", {"names": TWO_LINES}),
            Reading("it is a record, and these columns are called column 1, column 2, ...", {"names": NUMBERED}),
        ]
        text = f"Columns have no name, and line {header + 1} looks like a second line of names."
        questions.ask("names", (), text, readings)
    if comments:
        ask_about_comments(first + 1, first + comments + 1, questions)
    known |= {"delimiter": delimiter, "decimal": signs.decimal, "thousands": signs.thousands, "header": header}
    return TextFormat(**known)


def ask_about_comments(first: int, header: int, questions: Questions) -> None:
    """Ask whether lines that begin with # come before the names."""
    lines = (
        f"Line {first} looks like a comment"
        if header == first + 1
        else (f"Lines {first} to {header - 1} look like comments")
    )
    readings = [
        Reading(f"the names are in line {header}", {"header": header}),
        Reading(f"the names are in line {first}", {"header": first}),
    ]
    questions.ask("comments", (), f"{lines}.", readings)


def _ask_about_spaces(questions: Questions) -> None:
    readings = [
        Reading("spaces separate the columns", {"delimiter": SPACE}),
        Reading("the table has one column", {"delimiter": ","}),
    ]
    questions.ask(
        "delimiter", (), "No line has a comma, semicolon, tab or bar, and all have equally many spaces.", readings
    )


def ask_about_one_column(line: str, questions: Questions) -> None:
    """Ask whether spaces separate the columns, where only the line with the names is looked at."""
    if len(line.split()) > 1 and not any(delimiter in line for delimiter in DELIMITERS):
        readings = [
            Reading("spaces separate the columns", {"delimiter": SPACE}),
            Reading("the table has one column", {"delimiter": ","}),
        ]
        text = "The names of the columns have no comma, semicolon, tab or bar between them, and they have spaces."
        questions.ask("delimiter", (), text, readings)


def without_comments(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines after those at the start that begin with the sign of a comment."""
    return dropwhile(lambda line: line.startswith(COMMENT), lines)


def _comments(lines: Sequence[str], delimiter: str | None) -> int:
    """Return how many of the first lines are comments: a # begins them, and they have other fields than the table."""
    number = next((place for place, line in enumerate(lines) if not line.startswith(COMMENT)), len(lines))
    rest = [line for line in lines[number:] if line.strip()]
    if not number or not rest:
        return 0
    delimiter = delimiter or _delimiter(rest)
    usual = Counter(_fields(line, delimiter) for line in rest).most_common(1)[0][0]
    last_is_names = _fields(lines[number - 1], delimiter) == usual and any(character.isdigit() for character in rest[0])
    return number - last_is_names


def _fields(line: str, delimiter: str) -> int:
    outside = "".join(line.split('"')[::2])
    return len(outside.split()) if delimiter == SPACE else outside.count(delimiter) + 1


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter of which most lines have equally many, and the names at least one if any has."""
    written = [line for line in lines if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        numbers = Counter(_fields(line, delimiter) for line in written)
        number, agreeing = max(numbers.items(), key=lambda item: item[1], default=(1, 0))
        return (agreeing, number) if number > 1 else (0, 0)

    best = max(DELIMITERS, key=agreement)
    if not agreement(best)[0] and len(written) > 1 and agreement(SPACE)[0] == len(written):
        return SPACE
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


def _rows(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(split_spaces(lines, delimiter), delimiter=delimiter, skipinitialspace=True):
            if row:
                rows.append([cell.strip() for cell in row])
    except csv.Error:  # the reader of all lines says where
        pass
    return rows


def split_spaces(lines: Iterable[str], delimiter: str) -> Iterable[str]:
    """Return lines without spaces around them where spaces are the delimiter: they would begin or end a field."""
    return (line.strip(" \r\n") + "\n" for line in lines) if delimiter == SPACE else lines


def _columns(rows: Sequence[Sequence[str]]) -> list[set[str]]:
    """Return the different cells of each column."""
    width = max(map(len, rows), default=0)
    return [{row[place] for row in rows if place < len(row)} for place in range(width)]


# ---- decimal sign and thousands --------------------------------------------------------------------------------------


class Signs(NamedTuple):
    """The decimal sign and the separator of thousands, and the columns whose numbers can be read in two ways."""

    decimal: str
    thousands: str
    doubtful: tuple[int, ...] = ()
    sign: str = ""
    example: tuple[str, ...] = ()

    def ask(self, names: Sequence[str], questions: Questions) -> None:
        """Ask for the decimal sign, if there is a doubt."""
        if not self.doubtful:
            return
        other = {".": ",", ",": "."}[self.sign]
        as_decimal = {"decimal": self.sign, "thousands": ""}
        as_thousands = {"decimal": other, "thousands": self.sign}
        readings = []
        for options in (as_decimal, as_thousands):
            reader = NumberReader(options["decimal"], options["thousands"])
            read = ((cell, reader.read(cell)) for cell in self.example)
            cells = tuple(f"{cell} is {number[0]:.12g}" for cell, number in read if number is not None)
            kind = "decimal" if options is as_decimal else "thousands"
            readings.append(Reading(f"{kind} {SIGN_WORDS[self.sign]}", options, cells))
        columns = [names[place] if place < len(names) else f"column {place + 1}" for place in self.doubtful]
        listed = ", ".join(map(repr, columns[:3]))
        text = f"Numbers in {listed} can be read in two ways: {', '.join(self.example)}."
        if self.thousands == self.sign:
            readings.reverse()
        questions.ask("numbers", columns, text, readings, "decimal")


def signs_of(columns: Sequence[Collection[str]], delimiter: str, decimal: str | None, thousands: str | None) -> Signs:
    """Return the decimal sign and the separator of thousands, by the cells that allow one reading alone.

    "1,234" allows two. Where no other cell decides, whole numbers of three digits beside it say that its comma
    separates thousands, if none has more digits. Else a comma is decimal if the delimiter is a semicolon, and a point
    always.
    """
    decimals: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    places: dict[str, dict[int, list[str]]] = {sign: {} for sign in DECIMALS}
    # of each column and sign, a cell of which it is the decimal sign, and one of which it separates thousands
    decided: dict[tuple[int, str], dict[str, str]] = {}
    for place, cells in enumerate(columns):
        for cell in sorted(cells):
            match = NUMBER_LIKE.fullmatch(cell)
            signs = SEPARATORS.findall(match["whole"]) if match else []
            if not match or not signs:
                continue
            parts = SEPARATORS.split(match["whole"])
            grouped = 1 <= len(parts[0]) <= 3 and parts[0] != "0" and all(len(part) == 3 for part in parts[1:])
            last = signs[-1]
            between = all(len(part) == 3 for part in parts[1:-1])
            if len(set(signs)) == 2 and last in DECIMALS and last not in signs[:-1] and between:
                decimals[last] += 1
                groups[signs[0]] += 1
            elif len(set(signs)) > 1:
                continue
            elif len(signs) > 1 and grouped:
                groups[last] += 1
                decided.setdefault((place, last), {})["thousands"] = cell
            elif len(signs) == 1 and last in DECIMALS:
                (undecided if grouped else decimals)[last] += 1
                if grouped:
                    places[last].setdefault(place, []).append(cell)
                else:
                    decided.setdefault((place, last), {})["decimal"] = cell
            elif len(signs) == 1 and grouped:
                groups[last] += 1
    for there in places.values():
        for place in [place for place in there if not _are_numbers(columns[place])]:
            del there[place]
    doubtful, as_groups = "", False
    unstated = decimal is None and thousands is None
    conflicts = [key for key, cells in decided.items() if len(cells) > 1 and key[1] in DECIMALS]
    conflicts = [(place, sign) for place, sign in conflicts if _are_numbers(columns[place])]
    if unstated and conflicts:
        doubtful = conflicts[0][1]
        places[doubtful] = {place: list(decided[place, sign].values()) for place, sign in conflicts if sign == doubtful}
        as_groups = groups[doubtful] >= decimals[doubtful]
        (decimals if as_groups else groups).pop(doubtful)
    elif unstated and not decimals and not groups and undecided:
        sign = max(undecided, key=lambda each: undecided[each])
        doubtful = sign if places[sign] else ""
        as_groups = any(_beside_groups(columns[place]) for place in places[sign])
    if decimal is None:
        others = {",": ".", ".": ","}
        seen = decimals or Counter({others[sign]: n for sign, n in groups.items() if sign in others})
        usual = "," if delimiter == ";" and undecided["."] < undecided[","] else "."
        usual = others[doubtful] if as_groups else usual
        decimal = max(seen, key=lambda sign: seen[sign]) if seen else usual
    if thousands is None:
        known = groups + Counter({sign: n for sign, n in undecided.items() if sign != decimal})
        known.pop(decimal, None)
        thousands = max(known, key=lambda sign: known[sign], default="")
    if not doubtful:
        return Signs(decimal, thousands)
    cells = [cell for some in places[doubtful].values() for cell in some]
    plain = sorted(cell for place in places[doubtful] for cell in columns[place] if cell.isascii() and cell.isdigit())
    return Signs(decimal, thousands, tuple(places[doubtful]), doubtful, (*cells[:2], *plain[-1:]))


def _are_numbers(cells: Collection[str]) -> bool:
    present = [cell for cell in cells if cell not in CODES]
    return sum(NUMBER_LIKE.fullmatch(cell) is not None for cell in present) >= MOST_NUMBERS * len(present)


def _beside_groups(cells: Collection[str]) -> bool:
    """Return whether the whole numbers of a column leave off where a group of three digits begins."""
    lengths = {len(cell) for cell in cells if cell.isascii() and cell.isdigit()}
    return 3 in lengths and max(lengths) == 3
