"""The figure of thirty people whose labels an attacker reads off: from the true curve, and from one private release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import HoverTool, Range1d

from dpml_app.drawing.figure import LAYOUT, Figure, empty_source, new_figure, write
from dpml_app.drawing.styles import EXACT, GREEN, ORANGE, OVERLAY, REFERENCE, SKY, VERMILION
from dpml_app.pages.evaluate.figures.parts import send

LABEL_COLORS = (SKY, ORANGE)
IN_A_ROW = 15
# of each group of people: what they are read from, the colour of its words, and where its words and first row stand
GROUPS = (("true curve", EXACT, 9.7, 8.5), ("this release", GREEN, 5.6, 4.4))
# from one row to the next, and of a person the width, the height and where the head is
ROW, WIDTH, HEIGHT, HEAD = 1.5, 0.66, 0.62, 0.6
FOOT = 1.1


class PeopleFigure(Figure):
    """One person a record that is attacked, in the colour of the label that is read, or grey and crossed: misread."""

    computed = ("people", "wrong", "words")

    def __init__(self):
        self.plot = p = new_figure(
            "evaluate-people",
            x_range=Range1d(start=0.2, end=IN_A_ROW + 0.8),
            y_range=Range1d(start=0.2, end=10.4),
        )
        p.axis.visible = p.grid.visible = False
        self.people = empty_source(
            "evaluate-people", "record", "seen", "label", "read", "right", "x", "y", "head", "color"
        )
        self.wrong = empty_source("evaluate-people-wrong", "x", "y")
        self.words = empty_source("evaluate-people-words", "x", "y", "text", "ink")
        self.words.tags = [LAYOUT]
        look: dict[str, Any] = {"source": self.people, "color": "color", "line_alpha": 0, "level": OVERLAY}
        bodies = p.rect("x", "y", width=WIDTH, height=HEIGHT, border_radius=5, **look)
        p.circle("x", "head", radius=0.25, radius_dimension="x", **look)
        cross: dict[str, Any] = {"marker": "x", "size": 13, "color": VERMILION, "line_width": 3}
        p.scatter("x", "y", source=self.wrong, level=OVERLAY, **cross)
        write(
            p, "x", "y", "text", color="ink", source=self.words, text_font_size="16px", text_font_style="bold",
            text_baseline="middle",
        )  # fmt: skip
        tips = [("record", "@record"), ("read from", "@seen"), ("label", "@label"), ("attacker says", "@read")]
        p.add_tools(HoverTool(renderers=[bodies], tooltips=tips))

    def show(
        self, true: np.ndarray, exact: np.ndarray, private: np.ndarray, share: float, classes: Sequence[str]
    ) -> None:
        """Show what is read of labels `true`, each of shape (n,); `share`: of right ones, over all releases."""
        n, read = len(true), np.concatenate([exact, private])
        right = read == np.tile(true, 2)
        place = np.arange(n)
        x = np.tile(place % IN_A_ROW + 1.0, 2)
        y = np.concatenate([top - ROW * (place // IN_A_ROW) for _seen, _ink, _words, top in GROUPS])
        send(
            self.people,
            {
                "record": np.tile(place + 1, 2),
                "seen": np.repeat([seen for seen, *_rest in GROUPS], n),
                "label": np.array(classes)[np.tile(true, 2)],
                "read": np.array(classes)[read],
                "right": right,
                "x": x,
                "y": y,
                "head": y + HEAD,
                "color": np.where(right, np.array(LABEL_COLORS)[read], REFERENCE),
            },
        )
        send(self.wrong, {"x": x[~right], "y": y[~right]})
        rows = [
            (0.7, words, f"{seen.capitalize()}: {hits} of {n} right", ink)
            for (seen, ink, words, _top), hits in zip(GROUPS, (right[:n].sum(), right[n:].sum()), strict=True)
        ]
        rows.append((0.7, FOOT + 0.5, f"All releases: {100 * share:.0f} % right", GREEN))
        names = ((str(classes[0]), SKY), (str(classes[1]), ORANGE), ("✗ misread", VERMILION))
        rows += [(0.7 + 4.5 * k, FOOT - 0.5, name, ink) for k, (name, ink) in enumerate(names)]
        send(self.words, dict(zip(self.words.data, map(list, zip(*rows, strict=True)), strict=True)))
