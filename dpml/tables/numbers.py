"""One cell of text as a number: signs for decimals and thousands, one currency or unit.

A letter for thousands or millions multiplies the number: 5k is 5000, in every column.
"""

import math
import re

CURRENCIES = r"[€$£¥]|EUR|USD|GBP|CHF|JPY"
UNIT = rf"%|{CURRENCIES}|[^\W\d_]{{1,4}}[²³]?"
# letters that follow a number at once, and what they multiply it by
FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "mn": 1e6, "Mrd": 1e9, "bn": 1e9}
PERCENT = "%"


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
