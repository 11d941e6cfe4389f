"""What one bound of a column does to a model's accuracy, on the person's own records: for study, before one pays."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.datasets.own import own_dataset
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.registry import method
from dpml.schema import Schema
from dpml.studies.accuracy import majority_accuracy

# a model with bins of its own for each number
MODEL = "binned"
# how wide the bounds are, as a multiple of what is stated; the other bound stays
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
DRAWS, SEED = 20, 0
# cells of a table that a fit takes seconds for
MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class BoundLoss:
    """Accuracies by the width of a column's bounds, a value of the bound for each, and that of always guessing."""

    column: str
    end: str
    epsilon: float
    accuracies: dict[float, NDArray[np.float64]]
    bounds: dict[float, float]
    guess: float

    @property
    def best(self) -> float:
        """The width that is right most often."""
        return max(self.accuracies, key=lambda width: float(self.accuracies[width].mean()))


def bounded(schema: Schema, column: str, end: str, width: float) -> Schema:
    """Return a schema in which one bound of a column is moved, so that its bounds are so many times as wide.

    >>> from dpml.schema import Feature
    >>> schema = Schema((Feature("age", "numeric", lower=20, upper=60),), ("no", "yes"), n_lower=9)
    >>> moved = bounded(schema, "age", "lower", 0.5).features[0]
    >>> moved.lower, moved.upper
    (40.0, 60.0)
    """
    features = list(schema.features)
    place = schema.feature_names.index(column)
    stated = features[place]
    assert stated.lower is not None
    assert stated.upper is not None
    distance = width * (stated.upper - stated.lower)
    ends = {"lower": stated.lower, "upper": stated.upper}
    ends[end] = stated.lower + distance if end == "upper" else stated.upper - distance
    inside = stated.missing is not None and ends["lower"] <= stated.missing <= ends["upper"]
    options: dict[str, Any] = {**ends, "whole": False, "levels": None, "missing": stated.missing if inside else None}
    features[place] = replace(stated, **options)
    return replace(schema, features=tuple(features))


def bound_loss(
    frame: pd.DataFrame,
    label: str,
    schema: Schema,
    column: str,
    end: str,
    epsilon: float,
    relation: str,
    check: Callable[[], None],
) -> BoundLoss:
    """Return what bounds of several widths reach at one ε; `check` is called before each, and may raise.

    Raises `InvalidData`: the table is too large for an estimate in seconds, or has too few records.
    """
    if len(frame) * schema.n_features > MOST_CELLS:
        raise InvalidData(f"the estimate is limited to tables of at most {MOST_CELLS:,} cells")
    accuracies, bounds, guess = {}, {}, 0.0
    for width in WIDTHS:
        check()
        try:
            moved = bounded(schema, column, end, width)
        except InvalidSchema:  # too close together, or too far apart
            continue
        data = own_dataset(frame, label, moved)
        study = method(MODEL).study_of(data, relation=relation)
        # the same random numbers for each width: what differs is the bound
        accuracies[width] = study(epsilon, draws=DRAWS, rng=np.random.default_rng(SEED))["accuracy"]
        bounds[width] = float(getattr(moved.features[schema.feature_names.index(column)], end))
        guess = majority_accuracy(data)
    return BoundLoss(column, end, epsilon, accuracies, bounds, guess)
