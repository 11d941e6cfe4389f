"""How much memory a cell takes, and how many may be computed at a time under a stated limit."""

import re
from typing import Any

from dpml._validate import check_integer
from dpml.classifiers.linear_models import BLOCK_CELLS
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.sweep.plan import Point

UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}
# arrays of (draws, C, D) that a release, its threshold, its logarithms and the models hold at the same time
ARRAYS_OF_COUNTS = 12
# arrays of (draws, test records) for an area under the curve: decisions, their ranks and what sorting takes
ARRAYS_OF_RECORDS = 8
NUMBER = 8
# of one cell in the list of what is to do
BYTES_OF_PLAN = 400


def check_memory(memory: Any) -> int | None:
    """Return a limit in bytes, from a number of bytes or a text such as "1 GiB".

    >>> check_memory("1.5 GiB")
    1610612736
    """
    if memory is None:
        return None
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)\s*", memory)
        if match and match[2].upper() in UNITS:
            memory = int(float(match[1]) * UNITS[match[2].upper()])
        else:
            raise InvalidParameter("memory", memory, 'a number of bytes, or a text such as "512 MiB" or "1 GiB"')
    return check_integer(memory, "memory", 1)


def bytes_of_cell(point: Point, dataset: Dataset, draws: int) -> int:
    """Return about how many bytes the draws of a cell take while they are computed, beside the data.

    The models of naive Bayes on binary columns are counted: D columns (of a raw table, its binary columns stand for
    the cells), C classes. Scoring takes blocks of a fixed size, an area under the curve all test records at once.
    """
    C, D = dataset.schema.n_classes, dataset.schema.n_features
    scored = 3 * max(BLOCK_CELLS, 64 * draws * C)
    records = ARRAYS_OF_RECORDS * draws * len(dataset.y_test) * max(C - 1, 1) if point.settings.get("auc") else 0
    return NUMBER * (ARRAYS_OF_COUNTS * draws * C * D + scored + records)


def workers_within(memory: int | None, cell: int, workers: int) -> int:
    """Return how many cells may be computed at a time.

    >>> workers_within(100, 40, 8), workers_within(None, 40, 8)
    (2, 8)
    """
    if memory is None:
        return workers
    if cell > memory:
        raise InvalidParameter("memory", memory, f"at least {cell:,} bytes for one block of draws, or a smaller block")
    return min(workers, memory // cell)


def check_rows(memory: int | None, cells: int, rows: int, columns: int, summaries: bool, stored: bool) -> None:
    """Check that the result itself is within the limit: the tidy table, or the measures that its summaries wait for."""
    # while its columns get their types, a table stands in memory twice
    needed = NUMBER * rows * (2 * columns if not summaries else 0 if stored else 2) + BYTES_OF_PLAN * cells
    if memory is not None and needed > memory:
        remedy = "summaries" if not summaries else "a folder (out)"
        raise InvalidParameter("memory", memory, f"at least {needed:,} bytes for {rows:,} rows, or ask for {remedy}")
