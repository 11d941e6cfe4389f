"""Reordering of two tables that differ by one record, such that this record comes last."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.auditing.sameness import fingerprint
from dpml.schema.cells import cell_key


def difference_last(data: Any, neighbour: Any) -> tuple[Any, Any]:
    """Return two data sets with the differing record at the end and the other records in their order.

    A table is a set of records, so its order carries no information. With the differing record last, the records that
    both tables hold receive the same per-record randomness. Only a tuple of a table and columns of the same length is
    reordered. In anything else the order may have a meaning, so it is returned unchanged. Where the types of the two
    tables differ, because pandas or NumPy took them from all cells, records are compared by value.

    >>> first, second = difference_last((np.eye(3), [0, 1, 2]), (np.eye(3)[[0, 2]], [0, 2]))
    >>> first[1], second[1]
    ([0, 2, 1], [0, 2])
    """
    n, m = _size(data), _size(neighbour)
    if n is None or m is None or len(data) != len(neighbour) or abs(n - m) > 1:
        return data, neighbour
    shorter = min(n, m)
    # with equal numbers of records the one at `first` differs; otherwise the longer side has an extra record there
    skip, other_skip = int(n >= m), int(m >= n)
    for entries in (_entries, _values):
        one, other = (_records(data, n, entries), _records(neighbour, m, entries))
        first = next((i for i in range(shorter) if one[i] != other[i]), shorter)
        if first == shorter:
            break
        if one[first + skip :] == other[first + other_skip :]:
            return (_moved(data, first) if skip else data), (_moved(neighbour, first) if other_skip else neighbour)
    return data, neighbour


def entries_of_a_record(data: Any, neighbour: Any) -> int:
    """Return the number of entries per record, which is 1 if neither side is a table.

    >>> entries_of_a_record((np.eye(3), [0, 1, 2]), np.eye(4)), entries_of_a_record([1.0], [2.0])
    (4, 1)
    """
    tables = [side[0] if isinstance(side, tuple) and side else side for side in (data, neighbour)]
    return max([1, *(table.shape[1] for table in tables if getattr(table, "ndim", 0) == 2)])


def _size(data: Any) -> int | None:
    """Return the number of records of a table and its columns; None for anything else."""
    if not isinstance(data, tuple) or len(data) < 2 or getattr(data[0], "ndim", 0) != 2:
        return None
    sizes = {part.shape[0] if hasattr(part, "shape") and part.shape else _length(part) for part in data}
    return sizes.pop() if len(sizes) == 1 else None


def _length(part: Any) -> int | None:
    return len(part) if isinstance(part, (list, tuple)) else None


def _records(data: tuple, size: int, entries: Callable[[Any, int], list]) -> list[tuple]:
    """Return each record, in a form that can be compared."""
    return list(zip(*(entries(part, size) for part in data), strict=True))


def _entries(part: Any, size: int) -> list[bytes]:
    if isinstance(part, np.ndarray) and not part.dtype.hasobject:
        kind = str(part.dtype).encode()
        return [kind + row.tobytes() for row in part]
    if isinstance(part, pd.DataFrame) and part.columns.is_unique:
        columns = [_entries(column.to_numpy(), size) for _, column in part.items()]
        return [b"\0".join(row) for row in zip(*columns, strict=True)] if columns else [b""] * size
    return [fingerprint(_taken(part, [i])) for i in range(size)]


def _values(part: Any, size: int) -> list[list]:
    """Return the values of each record's cells."""
    if isinstance(part, pd.DataFrame):
        columns = [map(cell_key, column) for _, column in part.items()]
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * size
    if sparse.issparse(part):
        part = part.toarray()
    return [list(map(cell_key, row)) if np.ndim(row) == 1 else [cell_key(row)] for row in part]


def _moved(data: tuple, i: int) -> tuple:
    size = _size(data)
    assert size is not None
    order = [*range(i), *range(i + 1, size), i]
    return tuple(_taken(part, order) for part in data)


def _taken(part: Any, rows: list[int]) -> Any:
    if isinstance(part, (list, tuple)):
        return type(part)([part[i] for i in rows])
    if hasattr(part, "iloc"):
        return part.iloc[rows].reset_index(drop=True)
    table = part.tocsr() if sparse.issparse(part) else part
    return table[np.asarray(rows, dtype=np.intp)]
