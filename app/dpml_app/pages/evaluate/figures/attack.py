"""The figure of what an attacker takes a few records' labels to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import FactorRange, FixedTicker, HoverTool, Range1d

from dpml_app.drawing.figure import Figure, empty_source, new_figure
from dpml_app.drawing.legend import PlotLegend, mark
from dpml_app.drawing.styles import ORANGE, OVERLAY, REFERENCE, SKY
from dpml_app.pages.evaluate.figures.parts import send

LABEL_COLORS = (SKY, ORANGE)
PRIVATE_ROWS = 5


class AttackFigure(Figure):
    """What an attacker takes each of a few records' labels to be: from the exact curve, and from private releases."""

    computed = ("cells", "wrong")

    def __init__(self, n_records: int):
        rows = ["true label", "exact curve", *(f"release {k + 1}" for k in range(PRIVATE_ROWS))]
        self.rows = rows
        self.plot = p = new_figure(
            "evaluate-attack",
            x_range=Range1d(start=0.4, end=n_records + 0.6),
            y_range=FactorRange(factors=rows[::-1]),
            x_axis_label="records, one attack each",
        )
        p.height = 420
        p.grid.visible = False
        p.yaxis.major_label_text_font_size = "14px"
        p.xaxis.ticker = FixedTicker(ticks=[1, *range(5, n_records + 1, 5)])
        self.cells = empty_source("evaluate-attack-cells", "record", "row", "color", "label", "said")
        self.wrong = empty_source("evaluate-attack-wrong", "record", "row")
        look: dict[str, Any] = {"color": "color", "line_alpha": 0, "level": OVERLAY}
        cells = p.rect("record", "row", width=0.86, height=0.8, source=self.cells, **look)
        wrong: dict[str, Any] = {"marker": "x", "size": 10, "color": "#202020", "line_width": 3}
        p.scatter("record", "row", source=self.wrong, level=OVERLAY, **wrong)
        legend = PlotLegend(p, 1)
        # each is named once the classes are known
        self.keys = [legend.add("-", [mark("square", color)]) for color in LABEL_COLORS]
        legend.add("Wrong", [mark("x", REFERENCE, line_width=2)])
        tips = [("record", "@record"), ("", "@row"), ("label", "@label"), ("", "@said")]
        p.add_tools(HoverTool(renderers=[cells], tooltips=tips))

    def name_classes(self, classes: Sequence[str]) -> None:
        """Write the classes into the legend."""
        for key, name in zip(self.keys, classes, strict=True):
            key.label = {"value": f"Taken for {name}"}

    def show(self, true: np.ndarray, exact: np.ndarray, private: np.ndarray, classes: Sequence[str]) -> None:
        """Show labels: `true` and `exact` (n,), `private` (releases, n)."""
        table = np.vstack([true, exact, private[:PRIVATE_ROWS]])
        right = table == true
        n, rows = len(true), self.rows[: len(table)]
        record = np.tile(np.arange(1, n + 1), len(rows))
        row = np.repeat(rows, n)
        cells = {
            "record": record,
            "row": row.tolist(),
            "color": [LABEL_COLORS[label] for label in table.ravel()],
            "label": [str(classes[label]) for label in table.ravel()],
            "said": ["" if k < n else "right" if ok else "wrong" for k, ok in enumerate(right.ravel())],
        }
        send(self.cells, cells)
        off = ~right.ravel()
        send(self.wrong, {"record": record[off], "row": row[off].tolist()})
