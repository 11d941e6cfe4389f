"""Reading labels, scores and weights of a test set. Each record is read by itself, and errors name invalid values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import LEAST_WIDTH, check_number
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema
from dpml.schema.stated import stated_values
from dpml.schema.untrusted import plain_cells, plain_numbers

__all__ = ["check_two_classes", "check_weight_bound", "read_numbers", "read_records", "read_scores"]


def check_two_classes(classes: Sequence, pos_label: Any) -> tuple:
    """Return the two public labels, one of them the positive one."""
    classes = stated_values(classes, "classes", 2)
    if len(classes) != 2:
        raise InvalidParameter("classes", classes, "two different labels")
    if pos_label not in classes:
        raise InvalidParameter("pos_label", pos_label, f"one of the classes {classes}")
    return classes


def read_records(
    y_true: Any,
    columns: Mapping[str, Any],
    score_scale: str,
    classes: Sequence,
    on_invalid: str,
    sample_weight: Any = None,
    bound: float = 1.0,
) -> tuple[NDArray[np.intp], list[NDArray[np.float64]], NDArray[np.float64] | None]:
    """Return class positions, named columns of scores, and weights, for the records that are valid in all of them."""
    scores = [read_scores(values, name, score_scale, on_invalid) for name, values in columns.items()]
    codes = Schema.binary(1, classes=classes).check_labels(y_true, on_invalid)
    names = ["y_true", *columns]
    weights = None
    if sample_weight is not None:
        allowed = f"a number from 0 to weight_bound = {bound:g}"
        weights = np.clip(read_numbers(sample_weight, "sample_weight", 0.0, bound, allowed, on_invalid), 0.0, bound)
        names.append("sample_weight")
    read = scores if weights is None else [*scores, weights]
    if any(len(codes) != len(column) for column in read):
        # the number of records is private, so the message does not contain it
        every = ", ".join(names[:-1]) + " and " + names[-1]
        raise InvalidData(f"{every} have different lengths: they must have one entry for each record")
    drop = codes < 0
    for column in read:
        drop |= np.isnan(column)
    if drop.any():
        codes, scores = codes[~drop], [column[~drop] for column in scores]
        weights = None if weights is None else weights[~drop]
    return codes, scores, weights


def check_weight_bound(sample_weight: Any, weight_bound: float | None) -> float:
    """Return the public bound on weights, 1 without weights."""
    if sample_weight is None:
        if weight_bound is not None:
            raise InvalidParameter("weight_bound", weight_bound, "None without sample_weight")
        return 1.0
    if weight_bound is None:
        raise InvalidParameter("weight_bound", None, "a public bound > 0 on the weights, which sets the noise")
    return check_number(weight_bound, "weight_bound", LEAST_WIDTH)


def read_scores(values: Any, name: str, score_scale: str, on_invalid: str) -> NDArray[np.float64]:
    """Return one score for each record, read by `read_numbers`."""
    if score_scale == "probability":
        return read_numbers(values, name, 0.0, 1.0, "a number from 0 to 1", on_invalid)
    return read_numbers(values, name, -np.inf, np.inf, "a number, log-odds", on_invalid)


def read_numbers(values: Any, name: str, low: float, high: float, domain: str, on_invalid: str) -> NDArray[np.float64]:
    """Return one float for each record, NaN for a value that is not a number. Each record is read by itself.

    With ``on_invalid="raise"``, a value outside [low, high] or not a number raises `InvalidData`. Otherwise it stays.
    """
    if on_invalid == "raise" and isinstance(values, (list, tuple)):
        dimensions = [np.ndim(v) for v in values if isinstance(v, (list, tuple, np.ndarray))]
        if dimensions:
            raise InvalidData(f"{name} has {max(dimensions) + 1} dimensions: it must have 1")
    cells = plain_cells(values)
    if cells.ndim != 1:
        raise InvalidData(f"{name} has {cells.ndim} dimensions: it must have 1")
    numbers = cells if cells.dtype == np.float64 else plain_numbers(cells)
    if on_invalid == "raise":
        # a NaN fails both comparisons
        allowed = (numbers >= low) & (numbers <= high)
        if not allowed.all():
            raise InvalidData(f"{name} has the value {numbers[~allowed][0].item()!r}: it must be {domain}")
    return numbers
