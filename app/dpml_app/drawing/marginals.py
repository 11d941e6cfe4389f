"""Marginals of two tables as small bars, column by column."""

from collections.abc import Mapping
from typing import Any

from bokeh.models import CustomJS

from dpml_app.drawing.figure import Figure, empty_source, fill, hover, new_figure
from dpml_app.drawing.styles import BLUE, REFERENCE

# of a column, the part between its bars and the next one's, and how high the largest bar is
GAP, HIGHEST = 0.12, 1.0
# as many columns as have room to be told apart; tables.css leaves the same out of the table
FEWER = """
const wide = 16 * target.inner_width / parseFloat(getComputedStyle(document.documentElement).fontSize)
range.end = wide <= 320 ? 4 : wide <= 420 ? 5 : wide <= 640 ? 6 : most
"""
# of what is no method's
NOISE_ALPHA = 0.35


class MarginalsFigure(Figure):
    """Of each column small bars: the true table an outline, the drawn one filled, in colour where the grid keeps it."""

    computed = ("bars",)

    def __init__(self, name: str, columns: int) -> None:
        self.plot = p = new_figure(
            f"{name}-bars",
            x_range=(0, columns),
            y_range=(0, HIGHEST * 1.04),
            min_border=0,
            # else its bars begin where the axis of the figure below it does
            frame_align=False,
            min_border_right=0,
        )
        p.height, p.toolbar_location = 96, None
        p.axis.visible = p.grid.visible = False
        at = ("left", "right", "drawn", "outline", "alpha", "color")
        self.bars = empty_source(f"{name}-marginals", "column", "group", "kept", "true", "published", *at)
        ends: dict[str, Any] = {"left": "left", "right": "right", "bottom": 0, "source": self.bars}
        filled = p.quad(top="drawn", fill_color="color", fill_alpha="alpha", line_color=None, **ends)
        p.quad(top="outline", fill_color=None, line_color=REFERENCE, line_width=1.5, **ends)
        hover(p, [filled], ("@column", "@group"), ("non-private", "@true{0.0%}"), ("synthetic", "@published{0.0%}"))
        p.js_on_change("inner_width", CustomJS(args={"target": p, "range": p.x_range, "most": columns}, code=FEWER))

    def show(self, drawn: Mapping[str, Any]) -> None:
        """Show a drawn table."""
        rows = []
        every = zip(drawn["names"], drawn["groups"], *drawn["shares"].values(), strict=True)
        for place, (name, groups, true, published) in enumerate(every):
            kept = place == 0 or name in drawn["kept"]
            look = (1.0, BLUE) if kept else (NOISE_ALPHA, REFERENCE)
            width, scale = (1 - GAP) / len(groups), HIGHEST / max(*true, *published)
            for bar, (group, t, q) in enumerate(zip(groups, true, published, strict=True)):
                left = place + GAP / 2 + bar * width
                rows.append((name, group, kept, t, q, left, left + width, q * scale, t * scale, *look))
        fill(self.bars, rows)
