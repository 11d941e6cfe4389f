"""Writes a table of results to benchmarks/results as CSV. The first line has the command and the date."""

from __future__ import annotations

import datetime
import shlex
import sys
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent / "results"


def write_results(name: str, table: pd.DataFrame, script: str | None = None, *, command: str | None = None) -> None:
    """Write a table to NAME.csv, below a comment with the command of this run; the script may have another name."""
    command = command or shlex.join(["python", f"benchmarks/{script or name}.py", *sys.argv[1:]])
    head = f"# {command}; recorded {datetime.date.today()}\n"
    (FOLDER / f"{name}.csv").write_text(head + table.to_csv(index=False), encoding="utf-8")
