"""The frame of a view: its size, its axes and its legend.

An axis has the name, the unit and the scale of a column of the library's tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # what is drawn has its options from there
from bokeh.models import CustomJSTickFormatter, NumeralTickFormatter

from dpml_app.drawing.figure import EPSILON_TICKS
from dpml_app.drawing.styles import Style


@dataclass(frozen=True)
class Axis:
    """A column's name with its unit, its symbol in a legend, and its scale."""

    label: str
    symbol: str = ""
    log: bool = False
    # a part of a whole, shown in per cent
    share: bool = False
    ticks: tuple[float, ...] = ()


AXES = {
    "epsilon": Axis("← more private  ε (log scale)  less private →", "ε", log=True, ticks=EPSILON_TICKS),
    "accuracy": Axis("test accuracy", share=True),
    "error": Axis("test error", share=True),
    "auc": Axis("AUC", share=True),
    "share": Axis("share", share=True),
    "probability": Axis("probability", share=True),
    "delta": Axis("δ (log scale)", "δ", log=True),
    "n_features": Axis("number of features T (log scale)", "T", log=True),
    "reg_lambda": Axis("λ (log scale)", "λ", log=True),
    "row_bound": Axis("contribution bound (ones per record)", "r"),
    "n": Axis("number of records (log scale)", "N", log=True),
    "draws": Axis("number of runs (log scale)", "draws", log=True),
    "fpr": Axis("false positive rate", share=True),
    "tpr": Axis("true positive rate", share=True),
}
AXES |= {"ε": AXES["epsilon"], "λ": AXES["reg_lambda"]}  # as a table for reading calls them


def axis(column: str, *, log: bool | None = None) -> Axis:
    """Return how a column is drawn; one that is not known is called by its own name.

    >>> axis("reg_lambda").label, axis("mean_size").label
    ('λ (log scale)', 'mean size')
    """
    known = AXES.get(column)
    drawn = known or Axis(column.replace("_", " "), column, log=False)
    if log is None or log == drawn.log:
        return drawn
    label = drawn.label.replace(" (log scale)", "")
    return replace(drawn, label=f"{label} (log scale)" if log else label, log=log)


SIZES = {"title": "11pt", "labels": "10pt", "ticks": "9pt", "legend": "9pt"}
# 0.01 and not a power of ten
PLAIN = "return tick >= 1000 ? tick.toLocaleString('en') : String(Number(tick.toPrecision(3)))"


def framed(layers: Sequence[Any], x: Axis, y: Axis, **look: Any) -> hv.Overlay:
    """Return an overlay with its axes named; `look` are options of HoloViews that are asked for."""
    options: dict[str, Any] = {"width": 700, "height": 360, "title": "", "xlabel": x.label, "ylabel": y.label}
    options |= {"logx": x.log, "logy": y.log, "show_grid": True, "show_legend": True, "legend_position": "right"}
    options |= {"fontsize": SIZES, "padding": 0.03}
    for name, one in (("x", x), ("y", y)):
        if one.share:
            options[f"{name}formatter"] = NumeralTickFormatter(format="0.[00]%")
        elif one.log:
            options[f"{name}formatter"] = CustomJSTickFormatter(code=PLAIN)
        if one.ticks:
            options[f"{name}ticks"] = list(one.ticks)
    return hv.Overlay(layers).opts(**options | look)


def line(tables: Mapping[str, Any], name: str, columns: Sequence[str], style: Style, **look: Any) -> hv.Curve:
    """Return a line through the rows of a table; the first of its columns is on the x axis."""
    curve = hv.Curve(tables[name], columns[0], list(columns[1:]), label=style.label, group=name)
    return curve.opts(**style.line | look)
