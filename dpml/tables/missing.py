"""The texts that stand for a missing value in a file, by column. A value that a schema states is never one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

CODES = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
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
