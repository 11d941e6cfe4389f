"""Columns that identify a person or a record: by their name, or by cells that are all different and of one pattern."""

import re
from collections.abc import Collection

# the last word of a name, or the whole name
LAST_WORDS = re.compile(r"ids?|uuid|guid|uid|ssn|e?mail|phone|iban|url|rowid|index|identifier|passport")
WHOLE_NAMES = re.compile(r"name|address|unnamed 0|rownames|row names|(index level \d+)")
# where a word of CamelCase begins
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORDS = re.compile(r"[^\W\d_]+|\d+")
# patterns of times and of numbers: 2020-01-02T10:00Z, 1e5, 31cm, 2Mar2020
NO_CODE = re.compile(r"[9:/.-]+A[9:.]+[+-]?[9:]*A?|[+-]?9+([.,]9+)?(A9+|A{1,4})|9+[-/. ]?A{3,}[-/. ]?9+")
# cells of a column whose pattern is looked at, and the fewest from which it is known
LOOKED_AT, FEWEST = 1000, 20


def is_identifier_name(name: str) -> bool:
    """Return whether a column's name is that of an identifier; the parts of CamelCase are words.

    >>> [is_identifier_name(name) for name in ("customerID", "PassengerId", "RespId", "__index_level_0__", "e-mail")]
    [True, True, True, True, True]
    >>> [is_identifier_name(name) for name in ("paid", "age", "Valid", "index_of_health", "humid")]
    [False, False, False, False, False]
    """
    words = [word.lower() for word in WORDS.findall(HUMPS.sub(" ", name))]
    if not words:
        return False
    return bool(WHOLE_NAMES.fullmatch(" ".join(words)) or LAST_WORDS.fullmatch(words[-1]))


def pattern_of(cells: Collection[str]) -> str | None:
    """Return the pattern that different cells have in common, of digits and letters; None where they have none.

    Whole numbers are no pattern: a wage is different for everybody, too. Numbers that count the records are one.

    >>> pattern_of([f"{i:04}-ABCD" for i in range(50)])
    '9999-AAAA'
    >>> pattern_of([str(i) for i in range(50)]), pattern_of([str(7 * i) for i in range(50)])
    ('row numbers', None)
    """
    some = list(cells)[:LOOKED_AT]
    if len(some) < FEWEST:
        return None
    if all(cell.isascii() and cell.isdigit() for cell in some):
        numbers = sorted(map(int, some))
        in_turn = numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        return "row numbers" if in_turn else None
    patterns = {re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", cell)) for cell in some}
    only = patterns.pop() if len(patterns) == 1 else ""
    # words of one length, times, and numbers with a unit are no codes
    is_code = "9" in only and "A" in only and " " not in only and not NO_CODE.fullmatch(only)
    return only if is_code else None
