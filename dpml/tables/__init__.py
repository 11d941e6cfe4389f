"""Tables that somebody gives as a file: read with limits, and written so that a spreadsheet opens them safely."""

from dpml.tables.limits import Limits
from dpml.tables.read import read_table
from dpml.tables.spreadsheet import safe_cell, safe_csv

__all__ = ["Limits", "read_table", "safe_cell", "safe_csv"]
