"""CSV that a spreadsheet opens without computing it: text that begins like a formula stays text.

The rules are those of OWASP's page "CSV Injection". A number keeps its minus, for only text can be a formula.
"""

import csv
import io
from typing import Any

import numpy as np
import pandas as pd

# also the wide forms that some spreadsheets take for the narrow ones
BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: Any) -> Any:
    """Return a cell with an apostrophe before it if it is text that a spreadsheet would compute.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    object
        A safe text, or the cell itself.

    See Also
    --------
    safe_csv : Writes a table of safe cells.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell(-5), safe_cell("a=b")
    ("'=1+1", "'-5", -5, 'a=b')
    """
    if isinstance(value, str) and (value.startswith(BEGINNINGS) or value.lstrip().startswith(BEGINNINGS)):
        return f"'{value}"
    return value


def safe_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV without its index, every text in quotes and none of it a formula.

    Parameters
    ----------
    table : DataFrame
        The table.

    Returns
    -------
    str
        The file's content.

    See Also
    --------
    safe_cell : Makes one cell safe.
    read_table : Reads a table.

    Examples
    --------
    >>> print(safe_csv(pd.DataFrame({"@who": ["=cmd()", "a, b"], "x": [-1.5, None]})), end="")
    "'@who","x"
    "'=cmd()",-1.5
    "a, b",""
    """
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow([safe_cell(str(name)) for name in table.columns])
    for row in table.itertuples(index=False, name=None):
        writer.writerow([_plain(value) for value in row])
    return written.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value == value:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        return "" if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)) else safe_cell(str(value))
    return value
