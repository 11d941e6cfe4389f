"""How the cells of one column are read: each by itself, and one that says nothing is counted nowhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.exceptions import InvalidData
from dpml.mechanisms.private import Private, for_study, statistic
from dpml.schema.stated import plain_value
from dpml.schema.untrusted import is_null, plain_cells, plain_numbers

__all__ = ["read_numbers", "read_texts"]


def read_numbers(values: Any, on_invalid: str) -> Any:
    """Return the numbers of a column, NaN for a cell that is none: private.

    With ``on_invalid="raise"``, for study, such a cell or an infinite one is an error.

    Raises
    ------
    InvalidData
    """
    numbers = _numbers(Private(values))
    _refuse(on_invalid, _valid(numbers), "finite number")
    return numbers


def read_texts(values: Any, on_invalid: str) -> Any:
    """Return the cells of a column as texts, None for one that is no text, number or truth value: private.

    With ``on_invalid="raise"``, for study, such a cell or one with signs that cannot be printed is an error.

    Raises
    ------
    InvalidData
    """
    texts = _texts(Private(values))
    _refuse(on_invalid, _stated(texts), "printable text")
    return texts


def _refuse(on_invalid: str, valid: Any, what: str) -> None:
    """Raise, for study, where a cell is not valid."""
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
    cells = [plain_value(cell) for cell in _one_dimension(values)]
    known = (type(cell) in (str, bool, int, float) and not is_null(cell) for cell in cells)
    texts = [str(cell) if is_known else "\n" for cell, is_known in zip(cells, known, strict=True)]
    return np.array([text if text.isprintable() else None for text in texts], dtype=object)


def _one_dimension(values: Any) -> NDArray:
    """Return the cells: a record is one of them."""
    cells = plain_cells(values)
    if cells.ndim != 1:
        raise InvalidData(f"values has {cells.ndim} dimensions: it must have 1")
    return cells
