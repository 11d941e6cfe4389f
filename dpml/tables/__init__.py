"""Tables from users' files: read with limits, and written so that a spreadsheet opens them safely."""

from dpml.tables.files import examine_table, read_table, safe_cell, safe_csv
from dpml.tables.reading import ColumnReading, Question, Reading, TableReading, merge_options
from dpml.tables.text_format import Limits, TextFormat

__all__ = [
    "ColumnReading",
    "Limits",
    "Question",
    "Reading",
    "TableReading",
    "TextFormat",
    "examine_table",
    "merge_options",
    "read_table",
    "safe_cell",
    "safe_csv",
]
