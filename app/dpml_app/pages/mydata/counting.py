"""The number of a file's records, counted in a fraction of a second before the file is read, which takes minutes."""

import codecs

import numpy as np

from dpml.exceptions import TableTooLarge
from dpml.tables import Limits

NEWLINE, RETURN, QUOTE = 10, 13, 34
UNITS = {codecs.BOM_UTF16_LE: "<u2", codecs.BOM_UTF16_BE: ">u2"}
# what is no text with a record a line
PARQUET = b"PAR1"
# characters at a time, and lines that need not be records: empty ones, and those before the names
BLOCK, SPARE = 1 << 22, 10_000


def check_lines(name: str, content: bytes, limits: Limits) -> None:
    """Raise `TableTooLarge` where a file has more lines than records are read. A line end in quotes ends no line."""
    most = limits.rows + SPARE
    # most files have too few line ends of any kind
    if content.count(b"\n") + content.count(b"\r") <= most or content.startswith(PARQUET):
        return
    unit = np.dtype(UNITS.get(content[:2], "u1"))
    whole = np.frombuffer(content, unit, len(content) // unit.itemsize)
    lines, quoted, after_return = 0, False, False
    for start in range(0, len(whole), BLOCK):
        block = whole[start : start + BLOCK]
        inside = np.logical_xor.accumulate(block == QUOTE) ^ quoted
        returns, newlines = block == RETURN, block == NEWLINE
        # a newline after a return ends the same line
        newlines &= ~np.append(after_return, returns[:-1])
        lines += int(np.count_nonzero((returns | newlines) & ~inside))
        if lines > most:
            raise TableTooLarge(name, f"the file has more than {most:,} lines, the limit is {limits.rows:,} records")
        quoted, after_return = bool(inside[-1]), bool(returns[-1])
