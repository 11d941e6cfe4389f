"""Tables that somebody gives as a file: read with limits, and written so that a spreadsheet opens them safely."""

from dpml.tables.limits import Limits
from dpml.tables.read import examine_table, read_table
from dpml.tables.reading import ColumnReading, TableReading
from dpml.tables.spreadsheet import safe_cell, safe_csv
from dpml.tables.text_format import TextFormat

__all__ = [
    "ColumnReading",
    "Limits",
    "TableReading",
    "TextFormat",
    "examine_table",
    "read_table",
    "safe_cell",
    "safe_csv",
]
