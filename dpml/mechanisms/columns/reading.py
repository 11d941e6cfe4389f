"""Rules for reading the cells of one column: each by itself, and one without a value is counted nowhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.exceptions import InvalidData
from dpml.mechanisms.private import Private, for_study, statistic
from dpml.schema.cells import cell_key, distinct_cells, plain_cells, plain_numbers
from dpml.schema.feature import MOST_WHOLE


def read_numbers(values: Any, on_invalid: str) -> Any:
    """Return the numbers of a column, NaN for a cell that is none: private.

    With ``on_invalid="raise"``, for a simulation, such a cell or an infinite one is an error.
    """
    numbers = _numbers(Private(values))
    _refuse(on_invalid, _valid(numbers), "finite number")
    return numbers


def read_texts(values: Any, on_invalid: str) -> Any:
    """Return the value of each cell of a column as text, None for one without a value (`cell_key`): private.

    With ``on_invalid="raise"``, for a simulation, such a cell or one with characters that cannot be printed is an
    error.
    """
    texts = _texts(Private(values))
    _refuse(on_invalid, _stated(texts), "printable text")
    return texts


def _refuse(on_invalid: str, valid: Any, what: str) -> None:
    """Raise, in a simulation, where a cell is not valid."""
    if on_invalid == "raise" and not for_study(valid, False):
        raise InvalidData(f'values has a cell that is no {what}: leave it out, or state on_invalid="clip"')


@statistic
def _valid(numbers: Any) -> bool:
    return bool(np.isfinite(numbers).all())


@statistic
def _stated(texts: Any) -> bool:
    return None not in texts.tolist()


@statistic
def _numbers(values: Any) -> NDArray[np.float64]:
    return plain_numbers(_one_dimension(values))


@statistic
def _texts(values: Any) -> NDArray[np.object_]:
    where, cells = distinct_cells(_one_dimension(values))
    texts = [_text(cell_key(cell)) for cell in cells]
    return np.array([*(text if text.isprintable() else None for text in texts), None], dtype=object)[where]


def _text(key: float | complex | str | None) -> str:
    """Return the value of a cell as text, a line break for none.

    A whole number has one spelling, as one gap in its column makes floats of all others.

    >>> [_text(cell_key(cell)) for cell in (1, "01", -0.0, 0.5, True, "True")]
    ['1', '1', '0', '0.5', '1', '1']
    """
    if isinstance(key, float) and abs(key) < MOST_WHOLE and key.is_integer():
        return str(int(key))
    return "\n" if key is None else str(key)


def _one_dimension(values: Any) -> NDArray:
    """Return the cells: a record is one of them."""
    cells = plain_cells(values)
    if cells.ndim != 1:
        raise InvalidData(f"values has {cells.ndim} dimensions: it must have 1")
    return cells
