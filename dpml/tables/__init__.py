"""Tables from users' files: read with limits, and written so that a spreadsheet opens them safely."""

from dpml.tables.limits import Limits
from dpml.tables.questions import Question, Reading, merge_options
from dpml.tables.read import examine_table, read_table
from dpml.tables.reading import ColumnReading, TableReading
from dpml.tables.spreadsheet import safe_cell, safe_csv
from dpml.tables.text_format import TextFormat

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
