"""What the columns of the library's tables are called on an axis, with their units, and how they are drawn there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import holoviews as hv

__all__ = ["AXES", "Axis", "axis", "dimension"]


@dataclass(frozen=True)
class Axis:
    """A column's name with its unit, its symbol in a legend, and its scale."""

    label: str
    symbol: str = ""
    log: bool = False
    # a part of a whole, shown in per cent
    share: bool = False


AXES = {
    "epsilon": Axis("← more private      ε (log scale)      less private →", "ε", log=True),
    "accuracy": Axis("test accuracy", share=True),
    "error": Axis("test error", share=True),
    "auc": Axis("area under the ROC curve", share=True),
    "share": Axis("share", share=True),
    "probability": Axis("probability", share=True),
    "delta": Axis("δ (log scale)", "δ", log=True),
    "n_features": Axis("number of features T (log scale)", "T", log=True),
    "reg_lambda": Axis("λ (log scale)", "λ", log=True),
    "row_bound": Axis("row bound, ones of a record", "r"),
    "n": Axis("number of records (log scale)", "N", log=True),
    "draws": Axis("number of draws (log scale)", "draws", log=True),
    "threshold_percentile": Axis("threshold, percentile", "percentile"),
    "fpr": Axis("false positive rate", share=True),
    "tpr": Axis("true positive rate", share=True),
}
AXES |= {"ε": AXES["epsilon"], "λ": AXES["reg_lambda"]}  # as a table for reading calls them


def axis(column: str, *, log: bool | None = None) -> Axis:
    """Return how a column is drawn; one that is not known is called by its own name.

    Examples
    --------
    >>> axis("reg_lambda").label, axis("mean_size").label
    ('λ (log scale)', 'mean size')
    """
    known = AXES.get(column)
    drawn = known or Axis(column.replace("_", " "), column, log=False)
    if log is None or log == drawn.log:
        return drawn
    label = drawn.label.replace(" (log scale)", "")
    return Axis(f"{label} (log scale)" if log else label, drawn.symbol, log, drawn.share)


def dimension(column: str, shown: Axis) -> Any:
    """Return the dimension of HoloViews by which plots side by side share an axis."""
    return hv.Dimension(column, label=shown.label)
