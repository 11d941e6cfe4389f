"""One cell of text as a number: signs for decimals and thousands, one currency or unit."""

import math
import re

CURRENCIES = r"[€$£¥]|EUR|USD|GBP|CHF|JPY"
UNIT = rf"%|{CURRENCIES}|[^\W\d_]{{1,4}}[²³]?"


class NumberReader:
    """Reads cells as numbers, each by itself.

    Parameters
    ----------
    decimal, thousands : str
        As `TextFormat` has them.

    >>> german = NumberReader(",", ".")
    >>> german.read("1.234,5"), german.read("171,3 cm"), german.read("n/a")
    ((1234.5, ''), (171.3, 'cm'), None)
    >>> NumberReader(".", "").read("007") is None
    True
    """

    def __init__(self, decimal: str = ".", thousands: str = ""):
        self.plain = decimal == "." and not thousands
        self.decimal, self.thousands = decimal, thousands
        group, point = re.escape(thousands), re.escape(decimal)
        whole = rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+" if thousands else r"\d+"
        body = rf"(?:{whole})(?:{point}\d*)?|{point}\d+"
        self._pattern = re.compile(
            rf"(?P<sign>[+\-−]?)\s?(?P<before>{CURRENCIES})?\s?(?P<body>{body})(?P<power>[eE][+-]?\d+)?\s?(?P<after>{UNIT})?"
        )

    def read(self, cell: str) -> tuple[float, str] | None:
        """Return a cell's number and its unit, or None; a code such as 007 is no number, and neither is 1_000 or ٣."""
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
        return (-value if match["sign"] in ("-", "−") else value), match["before"] or match["after"] or ""

    def code(self, cell: str) -> bool:
        """Return whether a cell is a code of digits, whose leading zeros a number would lose."""
        return len(cell) > 1 and cell[0] == "0" and cell.isascii() and cell.isdigit()

    def whole(self, cell: str) -> bool:
        """Return whether a cell is written as a whole number."""
        return self.decimal not in cell and not any(letter in cell for letter in "eE")

    @staticmethod
    def _float(text: str) -> float:
        if not text.isascii() or "_" in text or (text[:1] == "0" and text[1:2].isdigit()):
            raise ValueError
        value = float(text)
        if not math.isfinite(value):
            raise ValueError
        return value
