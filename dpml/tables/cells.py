"""Cells of text as numbers, dates and missing values, and columns that identify a record."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

# ---- numbers -------------------------------------------------------------------------------------------------------

CURRENCIES = r"[€$£¥]|EUR|USD|GBP|CHF|JPY"
UNIT = rf"%|{CURRENCIES}|[^\W\d_]{{1,4}}[²³]?"
# letters that follow a number at once, and what they multiply it by
FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "mn": 1e6, "Mrd": 1e9, "bn": 1e9}
PERCENT = "%"
# whole numbers are exact below it
EXACT = 2.0**53


class NumberReader:
    """Reads cells as numbers, each by itself.

    Parameters
    ----------
    decimal, thousands : str
        As `TextFormat` has them.
    share : bool
        Whether a percentage is a share: 50% is 0.5.

    >>> german = NumberReader(",", ".")
    >>> german.read("1.234,5"), german.read("171,3 cm"), german.read("n/a")
    ((1234.5, ''), (171.3, 'cm'), None)
    >>> NumberReader(".", "").read("007") is None
    True
    >>> NumberReader().read("5k"), NumberReader(share=True).read("50%")
    ((5000.0, 'k'), (0.5, ''))
    """

    def __init__(self, decimal: str = ".", thousands: str = "", *, share: bool = False):
        self.share = share
        self.plain = decimal == "." and not thousands
        self.decimal, self.thousands = decimal, thousands
        group, point = re.escape(thousands), re.escape(decimal)
        whole = rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+" if thousands else r"\d+"
        body = rf"(?:{whole})(?:{point}\d*)?|{point}\d+"
        self._pattern = re.compile(
            rf"(?P<sign>[+\-−]?)\s?(?P<before>{CURRENCIES})?\s?(?P<body>{body})(?P<power>[eE][+-]?\d+)?(?P<space>\s?)(?P<after>{UNIT})?"
        )

    def read(self, cell: str) -> tuple[float, str] | None:
        """Return a cell's number and its unit, or None. A code such as 007 is no number, and neither is 1_000 or ٣."""
        if self.plain:
            try:
                return self._float(cell), ""
            except ValueError:
                pass
        match = self._pattern.fullmatch(cell)
        if match is None or (match["before"] and match["after"]):
            return None
        body = match["body"].replace(self.thousands, "") if self.thousands else match["body"]
        try:
            value = self._float(body.replace(self.decimal, ".") + (match["power"] or ""))
        except ValueError:
            return None
        value = -value if match["sign"] in ("-", "−") else value
        unit = match["before"] or match["after"] or ""
        if unit in FACTORS and match["space"] == "":
            return value * FACTORS[unit], unit
        return (value / 100, "") if self.share and unit == PERCENT else (value, unit)

    def code(self, cell: str) -> bool:
        """Return whether a cell is a code of digits, whose leading zeros a number would lose."""
        return len(cell) > 1 and cell[0] == "0" and cell.isascii() and cell.isdigit()

    def whole(self, cell: str) -> bool:
        """Return whether a cell is written as a whole number."""
        return self.decimal not in cell and not any(letter in cell for letter in "eEkKM")

    @staticmethod
    def _float(text: str) -> float:
        if not text.isascii() or "_" in text or (text[:1] == "0" and text[1:2].isdigit()):
            raise ValueError
        value = float(text)
        if not math.isfinite(value):
            raise ValueError
        return value


# ---- dates ---------------------------------------------------------------------------------------------------------

DAYS = {
    "%Y-%m-%d": "year-month-day",
    "%Y/%m/%d": "year/month/day",
    "%d.%m.%Y": "day.month.year",
    "%d/%m/%Y": "day/month/year",
    "%m/%d/%Y": "month/day/year",
    "%d-%m-%Y": "day-month-year",
    "%d.%m.%y": "day.month.year of two digits",
    "%d/%m/%y": "day/month/year of two digits",
    "%m/%d/%y": "month/day/year of two digits",
    "%d-%m-%y": "day-month-year of two digits",
    "%d %b %Y": "day month year",
    "%d-%b-%Y": "day-month-year",
    "%d-%b-%y": "day-month-year of two digits",
    "%b %d, %Y": "month day, year",
}
CLOCKS = {
    "": "",
    " %H:%M": " and time",
    " %H:%M:%S": " and time",
    " %H:%M:%S.%f": " and time",
    " %I:%M %p": " and time",
    " %I:%M:%S %p": " and time",
    "T%H:%M": " and time",
    "T%H:%M:%S": " and time",
    "T%H:%M:%S.%f": " and time",
    "T%H:%M:%S%z": " and time of a zone",
    "T%H:%M:%S.%f%z": " and time of a zone",
    " %H:%M:%S%z": " and time of a zone",
    " %H:%M:%S.%f%z": " and time of a zone",
}
# the formats that are known, and each in words
DATE_FORMATS = {day + time: words + more for day, words in DAYS.items() for time, more in CLOCKS.items()}
PARTS = ("year", "month", "weekday")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _date(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def date_formats(texts: Collection[str]) -> tuple[str, ...]:
    """Return the formats in which all texts are dates. With a time zone they may have different ones.

    >>> date_formats(["31.12.2020", "01.02.2021"])
    ('%d.%m.%Y',)
    >>> date_formats(["01/02/2021"])
    ('%d/%m/%Y', '%m/%d/%Y')
    """
    return tuple(form for form in DATE_FORMATS if len(texts) and all(_date(text, form) is not None for text in texts))


def part_names(name: str) -> tuple[str, ...]:
    """Return the names of the columns that a column of dates becomes."""
    return tuple(f"{name}_{part}" for part in PARTS)


def date_parts(texts: pd.Series, form: str, *, as_text: bool = False) -> pd.DataFrame:
    """Return year and month as numbers and the weekday as a text, missing in each for a cell that is no date.

    Each cell is read by itself, and a date in its own time zone. `as_text`: all parts are texts or None, as a release
    has them.

    >>> print(date_parts(pd.Series(["31.12.2020", "soon"], name="joined"), "%d.%m.%Y"))
       joined_year  joined_month joined_weekday
    0       2020.0          12.0       Thursday
    1          NaN           NaN            NaN
    """
    cells = texts.to_numpy(dtype=object, na_value=None)
    dates = {cell: _date(cell, form) for cell in dict.fromkeys(cells) if cell is not None}
    days = [dates.get(cell) for cell in cells]
    of_day: tuple[Callable[[datetime], Any], ...] = (
        lambda day: day.year,
        lambda day: day.month,
        lambda day: WEEKDAYS[day.weekday()],
    )
    parts = {}
    for name, part, numeric in zip(part_names(str(texts.name)), of_day, (True, True, False), strict=True):
        values = [None if day is None else part(day) for day in days]
        if as_text:
            parts[name] = pd.Series([None if value is None else str(value) for value in values], dtype=object)
        elif numeric:
            parts[name] = pd.Series(values, dtype=float if None in values else int)
        else:
            parts[name] = pd.Series(pd.Categorical(values, categories=list(WEEKDAYS)))
    return pd.DataFrame(parts).set_axis(texts.index, axis=0)


# ---- missing values ------------------------------------------------------------------------------------------------

# pandas' default codes in any case, without "na", "none" and "NONE", which are rather words of a category
CODES = frozenset({"", "?", "#N/A N/A", "NA", "N/A", "N/a", "n/a", "#N/A", "#n/a", "#NA", "<NA>", "<na>", "None"})
CODES |= {"NaN", "NAN", "nan", "-NaN", "-nan", "NULL", "Null", "null", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
# those that a person may have meant as a category
WORDS = CODES - {"", "?"}


class MissingCodes:
    """The texts that stand for a missing value.

    `stated`: as `TextFormat.missing` has it.
    `schema`: a `dpml.schema.Schema`, of which the categories and classes are values, or None.

    >>> codes = MissingCodes({"bmi": ("-999",)}, None)
    >>> sorted(codes.of("bmi")), codes.absent("bmi", ["-999.0", "31", "NA"]), "NA" in codes.of("job")
    (['', '-999'], {'-999.0'}, True)
    """

    def __init__(self, stated: Any, schema: Any):
        self.stated, self.schema = stated, schema
        self.features = {} if schema is None else {f.name: f for f in schema.features}
        self._codes: dict[str, frozenset[str]] = {}
        self._numbers: dict[str, frozenset[float]] = {}

    def of(self, column: str) -> frozenset[str]:
        """Return the codes of a column, without the values that the schema states for it."""
        if column not in self._codes:
            stated = self.stated.get(column) if isinstance(self.stated, Mapping) else self.stated
            codes = CODES if stated is None else frozenset(stated)
            self._codes[column] = (codes | {""}) - self.values(column)
            numbers = (_number(code) for code in self._codes[column])
            self._numbers[column] = frozenset(number for number in numbers if number is not None)
        return self._codes[column]

    def values(self, column: str) -> frozenset[str]:
        """Return the texts that the schema states as values of a column: its categories, or the classes."""
        if self.schema is None or column in self.schema.ignored:
            return frozenset()
        feature = self.features.get(column)
        if feature is None:  # the labels' column, whichever it is
            return frozenset(map(str, self.schema.classes))
        return frozenset(map(str, feature.categories or ())) if feature.kind == "categorical" else frozenset()

    def with_numbers(self, kinds: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
        """Return stated kinds of columns, and that of each column of numbers that the schema has."""
        numbers = [f.name for f in self.features.values() if f.kind == "numeric" and f.name in names]
        return {**dict.fromkeys(numbers, "number"), **kinds}

    def is_stated(self, column: str) -> bool:
        """Return whether a caller has stated the codes of a column."""
        return self.stated is not None and (not isinstance(self.stated, Mapping) or column in self.stated)

    def absent(self, column: str, cells: Collection[str]) -> set[str]:
        """Return the cells that stand for a missing value. A code that is a number is compared as one."""
        codes = self.of(column)
        absent = {cell for cell in cells if cell in codes}
        if numbers := self._numbers[column]:
            absent |= {cell for cell in cells if _number(cell) in numbers}
        return absent


def _number(text: str) -> float | None:
    # a code such as 007 is no number
    digits = text.lstrip("+-")
    if not digits[:1].isdigit() or (digits[0] == "0" and digits[1:2].isdigit()) or not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


# ---- identifiers ---------------------------------------------------------------------------------------------------

# the last word of a name, or the first of two, that identifies a record
ALONE = re.compile(
    "id|uid|pk|uuid|guid|ssn|nin|iban|email|mail|phone|telephone|mobile|url|uri|rowid|rownum|surname|passport|imei"
)
# what a number, a name or a key identifies
HOLDERS = (
    "account|applicant|application|booking|card|case|client|contract|customer|device|employee|encounter|household|"
    "index|invoice|loan|member|order|participant|passenger|patient|person|phone|policy|record|resp|respondent|response|"
    "row|sample|serial|session|student|subject|survey|tax|ticket|transaction|user|visit"
)
ENDS = "id|no|nr|nbr|num|number|name|uuid|guid|key|index"
JOINED = re.compile(rf"({HOLDERS})_?({ENDS})|(first|last|full|middle|given|family)_?name")
WHOLE = re.compile(r"name|address|index|row|unnamed(_\d+)?|index_level_\d+|level_\d+")
PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?",  # UUID, MD5
        r"[0-9a-f]{40}|[0-9a-f]{64}",  # SHA-1, SHA-256
        r"[^@\s]+@[^@\s]+\.[^@\s]+",
        r"(https?|ftp)://\S+|www\.\S+",
        r"[a-z]{2}\d{2}( ?[a-z0-9]{4}){3,7}( ?[a-z0-9]{1,4})?",  # IBAN
    )
)
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
TIMES = re.compile(r".*(year|date|time|month|week|day|quarter)s?", re.I)
# fewer values than these all differ by chance
FEWEST = 20
# a column of more different values is no code
MOST_CODES = 50
REASONS = {
    "name": "its name is that of an identifier",
    "pattern": "its values look like identifiers",
    "unique": "no two of its values are the same",
}


def identifier_reason(name: str, values: pd.Series | None = None) -> str | None:
    """Return by which of `REASONS` a column looks like an identifier, or None.

    A name counts, unless its values are those of a code (`is_code`). A pattern counts if all texts follow it and most
    differ. Whole numbers count if all differ, and they ascend from record to record or leave few numbers out. Texts of
    one word count if all differ.

    >>> identifier_reason("email", pd.Series(["yes", "no"] * 20)) is None
    True
    >>> identifier_reason("contact", pd.Series([f"p{i}@example.org" for i in range(30)]))
    'pattern'
    """
    present = None if values is None else values.dropna()
    if identifies(name):
        code = present is not None and len(present) >= FEWEST and is_code(present.astype(str).nunique(), len(present))
        return None if code else "name"
    if present is None or len(present) < FEWEST or TIMES.fullmatch(name):
        return None
    if pd.api.types.is_bool_dtype(present.dtype) or pd.api.types.is_complex_dtype(present.dtype):
        return None
    if pd.api.types.is_numeric_dtype(present.dtype):
        return "unique" if _numbered(present.to_numpy(dtype=float)) else None
    if not (present.dtype == object or pd.api.types.is_string_dtype(present.dtype)):
        return None
    texts = present.astype(str)
    different = texts.nunique()
    if 2 * different > len(texts) and any(texts.map(pattern.fullmatch).notna().all() for pattern in PATTERNS):
        return "pattern"
    words = different == len(texts) and not texts.str.contains(r"\s").any()
    return "unique" if words and not texts.map(DATE.fullmatch).notna().all() else None


def is_code(different: int, values: int) -> bool:
    """Return whether so few different values are those of a code, as of a department, and identify no record."""
    return different <= MOST_CODES and 5 * different < values


def identifies(name: str) -> bool:
    """Return whether a column's name alone is that of an identifier.

    >>> [name for name in ("userid", "EmployeeNumber", "__index_level_0__", "Unnamed: 0") if not identifies(name)]
    []
    >>> [name for name in ("number_of_children", "hybrid", "PhoneService", "price_index") if identifies(name)]
    []
    """
    joined = "_".join(words_of(name))
    words = joined.split("_")
    return bool(
        ALONE.fullmatch(words[-1])
        or (len(words) == 2 and words[0] in ("id", "uuid", "guid"))
        or WHOLE.fullmatch(joined)
        or JOINED.fullmatch("_".join(words[-2:]))
    )


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in small letters, for all ways of joining them.

    >>> words_of("customerID"), words_of("Unnamed: 0"), words_of("arrival_date-year"), words_of("HTTPStatusCode")
    (['customer', 'id'], ['unnamed', '0'], ['arrival', 'date', 'year'], ['http', 'status', 'code'])
    """
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return [word.lower() for word in re.split(r"[\W_]+", apart) if word] or [""]


def _numbered(numbers: np.ndarray) -> bool:
    """Return whether whole numbers count the records: all differ, and they ascend or leave few out."""
    if not np.isfinite(numbers).all() or (numbers != np.trunc(numbers)).any():
        return False
    steps = np.diff(np.sort(numbers))
    if not (steps > 0).all():
        return False
    return bool((np.diff(numbers) > 0).all() or steps.sum() <= 2 * len(numbers))
