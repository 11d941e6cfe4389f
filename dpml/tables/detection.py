"""The format of a file of text, detected from its first lines, with a question where several formats are possible."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, BinaryIO, NamedTuple

from charset_normalizer import from_bytes

from dpml.exceptions import InvalidParameter, TableEmpty, TableUnreadable
from dpml.tables.cells import CODES, CURRENCIES, UNIT, NumberReader, date_formats
from dpml.tables.reading import Questions, Reading, are_few
from dpml.tables.text_format import (
    DECIMALS,
    DELIMITERS,
    ENCODING_WORDS,
    NUMBER,
    NUMBERED,
    SIGN_WORDS,
    SPACE,
    TWO_LINES,
    Limits,
    TextFormat,
    check_name,
    delimiter_of,
)

# ---- encoding ------------------------------------------------------------------------------------------------------

BLOCK = 1 << 20
# bytes of lines that are not ASCII, from which an encoding is detected
LOOKED_AT = 1 << 16
# the encoding that is named among those that read a file alike
ENCODINGS = ("cp1252", "cp1250", "cp1251", "gb18030", "shift_jis", "cp932", "big5", "mac_roman", "koi8_r", "cp866")
# a file in two encodings has at least this share of its lines that are not ASCII in UTF-8
LEAST_UTF8 = 0.2
CANDIDATES, CELLS = 4, 3
# characters of a cell that a question shows
CONTEXT = 40
# letters and characters that German, French, Spanish, Italian, Portuguese and Scandinavian texts have in Windows-1252
WESTERN = frozenset("äöüßÄÖÜéèêëàâáãçñîïíìôóòõûúùåøæÅØÆÉÈÀÁÂÇÑÓÔÕÚÍÎœ€£°²³µ«»„“”‘’–—…½·¿¡§©® \xa0")
DELIMITED = re.compile(r'[,;\t|"\r\n]+')


def decoder_name(encoding: str) -> str:
    """Return the codec that also leaves out the mark at the start of a file of UTF-8."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def has_nul_pattern(first: bytes) -> str | None:
    """Return the UTF-16 without a mark that a file's first bytes look like, or None for another encoding.

    >>> has_nul_pattern("a,b".encode("utf-16-le")), has_nul_pattern(b"a,b")
    ('utf-16-le', None)
    """
    even, odd = first[0::2].count(0), first[1::2].count(0)
    for mine, other, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        # the delimiters and ends of lines at least
        if not other and mine >= max(len(first) // 20, 2):
            return encoding
    return None


def read_encoding(file: BinaryIO, name: str, encoding: str | None, questions: Questions) -> str:
    """Return the encoding with which all of a file is text, or raise where it is not. A doubtful one is a question.

    A file that is no UTF-8 and holds no letter of it has another encoding.
    """
    file.seek(0)
    first = file.read(512)
    if encoding is not None or first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _check_text(file, name, encoding or "utf-16")
    if (utf16 := has_nul_pattern(first)) is not None:
        return _check_text(file, name, utf16)
    try:
        return _check_text(file, name, "utf-8")
    except TableUnreadable as error:
        cause = error.__cause__
        cut = isinstance(cause, UnicodeDecodeError) and cause.reason == "unexpected end of data"
        if cause is None or cut or _has_utf8_letters(file):
            raise
        for candidate in _likely_encodings(file, questions):
            try:
                return _check_text(file, name, candidate)
            except TableUnreadable:
                continue
        raise


def likely_encoding(file: BinaryIO, name: str, questions: Questions) -> str | None:
    """Return the encoding that `read_encoding` detects, None where the file is no text in any."""
    try:
        return read_encoding(file, name, None, questions)
    except TableUnreadable:
        return None


def _likely_encodings(file: BinaryIO, questions: Questions) -> list[str]:
    """Return the encodings that a file may have, the likeliest first; several are a question."""
    sample = _lines_with_letters(file)
    texts: dict[str, str] = {}
    for match in from_bytes(sample):
        alike = [match.encoding, *match.could_be_from_charset]
        encoding = next((each for each in ENCODINGS if each in alike), match.encoding)
        texts.setdefault(encoding, str(match))
    western = sample.decode("cp1252", "replace")
    if "cp1252" not in texts and "\ufffd" not in western:
        texts["cp1252"] = western
    candidates = sorted(texts, key=lambda encoding: _strange(texts[encoding]))
    if not _is_western(western) and len(candidates) > 1:
        _ask_about_encoding(candidates[:CANDIDATES], texts, questions)
    elif "cp1252" in candidates:
        candidates.remove("cp1252")
        candidates.insert(0, "cp1252")
    return candidates


def _strange(text: str) -> int:
    """Return how many characters of a text stand beside a letter and are none, with those that are not written so."""
    return sum(map(len, re.findall(r"(?<=[^\W\d_])[^\x00-\x7f\w’]+(?=[^\W\d_])|[^\x00-\x7f\w]+(?=[a-z])", text)))


def _is_western(text: str) -> bool:
    """Return whether a text in Windows-1252 has no letter but usual ones, in words that also have ASCII letters."""
    high = [letter for letter in text if letter > "\x7f"]
    words = re.findall(r"[^\W\d_]{3,}", text)
    foreign = [word for word in words if not any(letter.isascii() for letter in word)]
    return set(high) <= WESTERN and not foreign


def _ask_about_encoding(candidates: list[str], texts: dict[str, str], questions: Questions) -> None:
    readings = []
    for encoding in candidates:
        cells = dict.fromkeys(_around_letter(cell) for cell in DELIMITED.split(texts[encoding]) if not cell.isascii())
        some = tuple(list(cells)[:CELLS])
        readings.append(Reading(ENCODING_WORDS.get(encoding, encoding), {"encoding": encoding}, some))
    text = "The file is not in UTF-8, and its encoding is doubtful: which letters are the right ones?"
    questions.ask("encoding", (), text, readings)


def _around_letter(cell: str) -> str:
    """Return the part of a cell around its first letter that is not ASCII."""
    place = next(place for place, letter in enumerate(cell) if not letter.isascii())
    start = max(place - CONTEXT // 2, 0)
    return cell[start : start + CONTEXT].strip()


def _lines_with_letters(file: BinaryIO) -> bytes:
    """Return lines of a file that are not ASCII, some thousands of bytes of them."""
    file.seek(0)
    lines: dict[bytes, None] = {}
    length = 0
    for line in iter(lambda: file.readline(LOOKED_AT), b""):
        if not line.isascii() and line not in lines:
            lines[line] = None
            length += len(line)
        if length > LOOKED_AT:
            break
    return b"".join(lines)


def _has_utf8_letters(file: BinaryIO) -> bool:
    """Return whether many lines of a file that are not ASCII are UTF-8; two bytes of another encoding may look so."""
    file.seek(0)
    right = wrong = 0
    for line in iter(lambda: file.readline(BLOCK), b""):
        if not line.isascii():
            try:
                right += bool(line.decode("utf-8"))
            except UnicodeDecodeError:
                wrong += 1
    return right > LEAST_UTF8 * (right + wrong)


def _check_text(file: BinaryIO, name: str, encoding: str) -> str:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(decoder_name(encoding))("strict")
    line = 1
    while True:
        block = file.read(BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            if not isinstance(error, UnicodeDecodeError):
                raise TableUnreadable(name, f"it is no text in {encoding}", line=line) from error
            bad, before = error.object[error.start : error.start + 1], error.object[: error.start]
            cause = f"the byte {bad.hex()} is no text in {encoding.upper()}. State its encoding, such as cp1252, or "
            cause += "save the file as UTF-8"
            raise TableUnreadable(name, cause, line=line + before.count(b"\n")) from error
        if "\0" in text:
            at = line + text[: text.index("\0")].count("\n")
            raise TableUnreadable(name, "it holds a NUL character, so it is no text", line=at)
        line += text.count("\n")
        if not block:
            return encoding


# ---- names of columns ----------------------------------------------------------------------------------------------

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
# a column is one of numbers where so many of its cells are
MOST_NUMBERS = 0.95
# columns that a question names
SHOWN = 3


def column_names(
    file: str, fields: Sequence[Sequence[str]], limits: Limits, form: TextFormat, questions: Questions
) -> list[str]:
    """Return the columns' names, or raise an error. An empty or repeated name raises a question.

    `fields`: those of the first line of the table, and of the one after it where both have names.
    """
    width, line = len(fields[0]), form.header or None
    if not width:
        raise TableEmpty(file, "it has no columns", line=line)
    if isinstance(form.names, tuple):
        if len(form.names) != width:
            allowed = f"a name for each of the {width:,} columns of the file, not {len(form.names):,} names"
            raise InvalidParameter("names", form.names, allowed)
        given = list(form.names)
    else:
        given = [""] * width if not form.header else list(fields[0])
    names = [check_name(file, name, limits, line=line, number=number) for number, name in enumerate(given, 1)]
    if isinstance(form.names, tuple) and (not all(names) or len(set(names)) < width):
        raise InvalidParameter("names", form.names, "names that are not empty, each once")
    if form.names == TWO_LINES:
        second = [*fields[-1], *[""] * width][:width]
        below = [check_name(file, name, limits, line=form.header + 1, number=i) for i, name in enumerate(second, 1)]
        names = [name or under for name, under in zip(names, below, strict=True)]
    elif form.names is None and form.header:
        _ask_about_names(names, questions)
    return _numbered(names)


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names of which none is empty and each is there once.

    >>> _numbered(["", "score", "score", "score (2)"])
    ['column 1', 'score', 'score (3)', 'score (2)']
    """
    taken, numbered = set(names), []
    for place, name in enumerate(names, 1):
        called = name or f"column {place}"
        number = 2
        while called in numbered or (called in taken and called != name):
            called = f"{name} ({number})" if name else f"column {place} ({number})"
            number += 1
        numbered.append(called)
    return numbered


def _ask_about_names(names: Sequence[str], questions: Questions) -> None:
    width = len(names)
    unnamed = [place for place, name in enumerate(names, 1) if not name]
    repeated = [name for name, number in Counter(names).items() if name and number > 1]
    if not unnamed and not repeated:
        return
    causes = []
    if unnamed:
        shown = [*map(str, unnamed[:SHOWN])] if len(unnamed) <= SHOWN else [*map(str, unnamed[:SHOWN]), "others"]
        listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
        column = f"column {listed} has" if len(unnamed) == 1 else f"columns {listed} have"
        hint = ""
        if unnamed == [1]:
            hint = ". If it has row numbers, leave out the row numbers when the table is written (index=False)"
        elif unnamed == [width]:
            hint = ". Is there a delimiter at the end of each line?"
        causes.append(f"{column} no name{hint}")
    for name in repeated[:SHOWN]:
        places = [place for place, each in enumerate(names, 1) if each == name]
        causes.append(f"columns {places[0]} and {places[1]} have the same name {name!r}")
    numbered = _numbered(names)
    changed = [new for old, new in zip(names, numbered, strict=True) if old != new]
    example = ", ".join(map(repr, changed[:SHOWN]))
    readings = [Reading(f"name them by their place and number, as {example}", {"names": NUMBERED})]
    if unnamed:
        readings.append(Reading("take the missing names from the next line", {"names": TWO_LINES}))
    else:
        own = tuple(numbered)
        readings.append(Reading("state the names of all columns", {"names": own}))
    text = "; ".join(causes)
    questions.ask("names", (), f"{text[0].upper()}{text[1:]}: each column needs a name of its own.", readings)


# ---- a first line that is a record -----------------------------------------------------------------------------------


def is_value(name: str) -> bool:
    """Return whether a name is rather a value of a record: a number, a date or an e-mail address.

    >>> [is_value(name) for name in ("31.5", "2020-01-31", "ada@example.org", "age", "q1")]
    [True, True, True, False, False]
    """
    return bool(NUMBER.fullmatch(name) or EMAIL.fullmatch(name) or date_formats([name]))


def _shape(cell: str) -> str:
    """Return a cell with one letter for each word and one digit for each number."""
    return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", cell))


def looks_like_a_record(names: Sequence[str], rows: Sequence[Sequence[str]], reader: NumberReader) -> bool:
    """Return whether the first line is more likely a record than the names of the columns above which it stands.

    A number above numbers, a text that is a value of its own column, and one of the shape of the others with a digit or
    an @ in it, are those of a record. A text above numbers is a name.
    """
    alike = 0
    numbers = 0
    for place, name in enumerate(names):
        cells = [row[place] for row in rows if place < len(row) and row[place] not in CODES]
        if not cells or name in CODES:
            continue
        others = Counter(cell for cell in cells if reader.read(cell) is None)
        numeric = len(cells) - others.total() >= MOST_NUMBERS * len(cells)
        if numeric or (are_few(others, len(cells)) and reader.read(name) is not None):
            if reader.read(name) is None:
                return False
            numbers += 1
            alike += 1
        else:
            shape = _shape(name)
            same = sum(_shape(cell) == shape for cell in cells) >= MOST_NUMBERS * len(cells)
            alike += name in cells or bool(EMAIL.fullmatch(name)) or (same and "9" in shape)
    return bool(rows) and 2 * alike >= len(names) and (numbers > 0 or alike > 1)


def has_second_line(names: Sequence[str], rows: Sequence[Sequence[str]], reader: NumberReader) -> bool:
    """Return whether the line after the names has the names of those columns that have none."""
    unnamed = [place for place, name in enumerate(names) if not name]
    second, rest = (rows[0], rows[1:]) if rows else ([], [])
    if not unnamed or not rest or len(second) != len(names):
        return False
    if not all(second[place] and reader.read(second[place]) is None for place in unnamed):
        return False
    for place, cell in enumerate(second):
        cells = [row[place] for row in rest if place < len(row) and row[place] not in CODES]
        numbers = sum(reader.read(each) is not None for each in cells)
        if cells and numbers >= MOST_NUMBERS * len(cells) and reader.read(cell) is None:
            return True
    return False


def ask_about_header(
    names: Sequence[str], header: int, questions: Questions, *, record: bool, delimiter: str = ""
) -> None:
    """Ask whether the first line of the table has the names. `record`: whether the line counts as a record.

    Without the records, as for a release, a name that is a value raises the question, and a file without names needs
    its `delimiter` and its names stated.
    """
    if not record and not any(map(is_value, names)):
        return
    first = ", ".join(map(repr, names[: 2 * SHOWN])) + (", ..." if len(names) > 2 * SHOWN else "")
    no_names: dict[str, Any] = {"header": 0}
    if not record:
        no_names |= {"delimiter": delimiter, "names": tuple(_numbered([""] * len(names)))}
    readings = [
        Reading("it is a record, and the columns are called column 1, column 2, ...", no_names),
        Reading("it has the names of the columns", {"header": max(header, 1)}),
    ]
    text = f"The first line must hold the names of the columns, and it looks like a record: {first}."
    questions.ask("names", (), text, readings if record else readings[::-1])


# ---- delimiter, names and comments ---------------------------------------------------------------------------------

# Excel writes and reads the delimiter in a line before the names
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.I)
# a number in any style, with what may stand around it
NUMBER_LIKE = re.compile(
    rf"[+\-−]?\s?(?:{CURRENCIES})?\s?(?P<whole>\d[\d.,'’ \u00a0\u202f]*\d|\d)\s?(?:{UNIT})?", re.VERBOSE
)
SEPARATORS = re.compile(r"[^\d]")
# digits with several equal separators; those of a number; and those of an IP address, of which each part is below 256
SEVERAL = re.compile(r"\d+([.,'’ \u00a0\u202f])\d+(?:\1\d+)+")
GROUPED = re.compile(r"[1-9]\d{0,2}([.,'’ \u00a0\u202f])\d{3}(?:\1\d{3})+")
ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}")
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
        text = "No line has a comma, semicolon, tab or bar, and all have equally many spaces."
        ask_about_spaces(text, questions)
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
    one = header == first + 1
    lines = f"Line {first} looks like a comment" if one else f"Lines {first} to {header - 1} look like comments"
    readings = [
        Reading(f"the names are in line {header}", {"header": header}),
        Reading(f"the names are in line {first}", {"header": first}),
    ]
    questions.ask("comments", (), f"{lines}.", readings)


def ask_about_spaces(text: str, questions: Questions) -> None:
    """Ask whether spaces separate the columns, with this reason."""
    readings = [
        Reading("spaces separate the columns", {"delimiter": SPACE}),
        Reading("the table has one column", {"delimiter": ","}),
    ]
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
        if _are_codes(cells):
            continue
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


def _are_codes(cells: Collection[str]) -> bool:
    """Return whether a column has digits with separators that are no numbers, as IP addresses and dates are.

    >>> _are_codes({"192.168.100.115", "10.0.0.1"}), _are_codes({"1.234.567", "999"})
    (True, False)
    """
    several = [cell for cell in cells if SEVERAL.fullmatch(cell)]
    codes = sum(not GROUPED.fullmatch(cell) or bool(ADDRESS.fullmatch(cell)) for cell in several)
    return codes > (1 - MOST_NUMBERS) * len(cells)


def _are_numbers(cells: Collection[str]) -> bool:
    present = [cell for cell in cells if cell not in CODES]
    others = {cell: 1 for cell in present if NUMBER_LIKE.fullmatch(cell) is None}
    return len(present) - len(others) >= MOST_NUMBERS * len(present) or are_few(others, len(present))


def _beside_groups(cells: Collection[str]) -> bool:
    """Return whether the whole numbers of a column leave off where a group of three digits begins."""
    lengths = {len(cell) for cell in cells if cell.isascii() and cell.isdigit()}
    return 3 in lengths and max(lengths) == 3
