"""Labels, scores and weights of a private test set: each record is read by itself, and what is read is private.

Errors name invalid values. They are for simulations. A release drops or clips such values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import LEAST_WIDTH, check_integer, check_number
from dpml.encoding import SHARE_GRID
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.private import Private, for_study, statistic, to_integers
from dpml.schema import Schema
from dpml.schema.cells import plain_cells, plain_numbers
from dpml.schema.feature import stated_values


def different_classes(classes: Sequence) -> tuple:
    """Return public labels, at least two, or raise `InvalidSchema` where two of them have the same value."""
    classes = stated_values(classes, "classes", 2)
    for error in Schema.binary(1, classes=classes).ambiguities:
        raise error
    return classes


def check_two_classes(classes: Sequence, pos_label: Any) -> tuple:
    """Return the two public labels, one of them the positive one."""
    classes = different_classes(classes)
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
) -> tuple[Any, list[Any], Any]:
    """Return class positions, named columns of scores, and weights, for the records that are valid in all of them.

    All are private. Without weights the last holds None.
    """
    given = to_read((y_true, dict(columns), sample_weight), on_invalid)
    codes, weights, *scores = map(Private, _read(given, score_scale, classes, on_invalid, bound))
    return codes, scores, weights


def to_read(given: Any, on_invalid: str) -> Any:
    """Return a caller's data as read: private, but open in a simulation that raises errors for invalid values."""
    # `check_start` of a release turns "raise" into "clip"
    return for_study(given, False, "an invalid value") if on_invalid == "raise" else Private(given)


@statistic
def _read(given: tuple, score_scale: str, classes: Sequence, on_invalid: str, bound: float) -> tuple:
    y_true, columns, sample_weight = given
    scores = [read_scores(values, name, score_scale, on_invalid) for name, values in columns.items()]
    codes = Schema.binary(1, classes=classes).check_labels(y_true, on_invalid)
    names, weights = ["y_true", *columns], None
    if sample_weight is not None:
        allowed = f"a number from 0 to weight_bound = {bound:g}"
        weights = np.clip(read_numbers(sample_weight, "sample_weight", 0.0, bound, allowed, on_invalid), 0.0, bound)
    read = scores if weights is None else [*scores, weights]
    aligned([*names, "sample_weight"][: len(read) + 1], codes, *read)
    drop = codes < 0
    for column in read:
        drop |= np.isnan(column)
    if drop.any():
        codes, scores = codes[~drop], [column[~drop] for column in scores]
        weights = None if weights is None else weights[~drop]
    return codes, weights, *scores


@statistic
def aligned(names: Sequence[str], *columns: Any) -> tuple:
    """Return columns that have one entry for each record, or raise `InvalidData`."""
    if any(len(column) != len(columns[0]) for column in columns):
        # the number of records is private, so the message does not contain it
        every = ", ".join(names[:-1]) + " and " + names[-1]
        raise InvalidData(f"{every} have different lengths: they must have one entry for each record")
    return columns


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


# ---- statistics ----------------------------------------------------------------------------------------------------


def private_histogram(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    thresholds: NDArray[np.float64],
    score_scale: str,
    pos_label: Any,
    classes: Sequence,
    on_invalid: str,
    weight_bound: float | None,
    grid: int | None,
) -> Any:
    """Return `roc_histogram` as a private value. Labels, scores and weights may be private."""
    classes = check_two_classes(classes, pos_label)
    bound = check_weight_bound(sample_weight, weight_bound)
    if grid is not None:
        check_integer(grid, "grid", 1, SHARE_GRID)
    codes, [scores], weights = read_records(
        y_true, {"y_score": y_score}, score_scale, classes, on_invalid, sample_weight, bound
    )
    return _cell_counts(codes, scores, weights, thresholds, classes[1] == pos_label, bound, grid)


@statistic
def _cell_counts(
    codes: NDArray[np.intp],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    thresholds: NDArray[np.float64],
    positive_last: bool,
    bound: float,
    grid: int | None,
) -> NDArray[Any]:
    n_bins = len(thresholds) - 1
    ascending = thresholds[-2:0:-1]
    cells = np.searchsorted(ascending, scores, side="right")
    cells += n_bins * codes
    units = weights
    if weights is not None and grid is not None:
        # whole numbers below 2^53 add up without rounding
        units = to_integers(weights, grid / bound)
    counts = np.bincount(cells, units, minlength=2 * n_bins).reshape(2, n_bins)[:, ::-1]
    if grid is not None:
        counts = to_integers(counts, grid if weights is None else 1)
    return counts if positive_last else counts[::-1]
