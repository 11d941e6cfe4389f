"""Dates in cells of text, and their parts: year, month and weekday."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

import pandas as pd

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
TIMES = {
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
DATE_FORMATS = {day + time: words + more for day, words in DAYS.items() for time, more in TIMES.items()}
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
    return (
        ()
        if not len(texts)
        else tuple(form for form in DATE_FORMATS if all(_date(text, form) is not None for text in texts))
    )


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
