"""How each method and each kind of mark looks, and what it is called, on every plot.

Colours are Okabe and Ito's, which colour-blind people tell apart; marker and dash do without colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["EXACT", "HERE", "OVERLAY", "REFERENCE", "STALE", "STYLES", "Style"]

STALE = 0.3


# what moves with a slider is on a layer of its own: axes, bands and legend are not painted again (measured: 10 ms less)
OVERLAY: Final = "overlay"


REFERENCE = "#808080"


EXACT = "#9C4DB0"


HERE = "#FF3B30"


@dataclass(frozen=True)
class Style:
    """How a method looks, and is called, on every plot."""

    label: str
    color: str
    marker: str
    dash: str


STYLES = {
    "row-bounded": Style("Row-bounded", "#009E73", "diamond", "solid"),
    "published": Style("All features", "#0072B2", "circle", "dashed"),
    "count": Style("By counts", "#E69F00", "square", "dashdot"),
    "mutual_information": Style("By mutual information", "#CC79A7", "triangle", "dotted"),
    "logistic": Style("Logistic regression", "#D55E00", "inverted_triangle", "solid"),
}
