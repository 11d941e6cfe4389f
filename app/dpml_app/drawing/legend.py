"""Legends below plots.

Bokeh's legend view (3.9) watches everything that its items refer to, data included. At each change it makes its
samples again, and they stay empty until the next paint of the plot. So an item refers to renderers of its own, which
never change, and the legend itself passes on a click on a name.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bokeh.events import LegendItemClick
from bokeh.models import (
    AllIndices,
    CDSView,
    ColumnDataSource,
    CustomJS,
    Glyph,
    GlyphRenderer,
    Legend,
    LegendItem,
    Line,
    Model,
    Quad,
    Scatter,
)
from bokeh.plotting import figure

from dpml_app.drawing.styles import BAND_ALPHA, Style

# the legend has hidden or shown its samples; the renderers that they stand for follow
CLICKED = "for (const one of shown[items.indexOf(cb_obj.item)] ?? []) { one.visible = !one.visible }"
# names stand side by side, as many as fit
FLOW = ".bk-grid { display: flex; flex-wrap: wrap; width: auto; } .bk-item { margin-right: 12px; }"
# paint the plot when an item is renamed, hidden or shown; by name, because a reference would be watched
CHANGED = "cb_obj.document?.get_model_by_name(name)?.change.emit()"


def stroke(color: str, dash: str = "solid", width: float = 2.5, **look: Any) -> Line:
    """Return the sample of a line."""
    return Line(x="x", y="y", line_color=color, line_dash=dash, line_width=width, **look)


def mark(marker: str, color: str, **look: Any) -> Scatter:
    """Return the sample of a marker."""
    return Scatter(x="x", y="y", marker=marker, **{"fill_color": color, "line_color": color, **look})


def area(color: str, alpha: float, **look: Any) -> Quad:
    """Return the sample of an area or a bar."""
    edges: dict[str, Any] = {"left": "x", "right": "x", "bottom": "y", "top": "y"}
    return Quad(fill_color=color, fill_alpha=alpha, **{"line_color": None, **look}, **edges)


def band(style: Style) -> tuple[Quad, Line]:
    """Return the samples of a line with a band around it."""
    return area(style.color, BAND_ALPHA), stroke(style.color, style.dash)


class PlotLegend:
    """A legend below a plot, which fits a phone's width.

    The plot `p` needs a name. With `hides`, a click on a name hides or shows its renderers. The `options` go to
    Bokeh's legend.

    >>> p = figure(name="example")
    >>> line = p.line([0, 1], [0, 1])
    >>> legend = PlotLegend(p, hides=True)
    >>> item = legend.add("A line", [stroke("black")], [line])
    >>> line in item.renderers
    False
    """

    def __init__(self, p: figure, *, hides: bool = False, **options: Any):
        self._plot = p
        self._source, self._every = ColumnDataSource({"x": [np.nan], "y": [np.nan]}), AllIndices()
        self._shown: dict[LegendItem, list[Model]] = {}
        options = {"location": (-45, 0), "click_policy": "hide" if hides else "none", **options}
        self.model = Legend(name=f"{p.name}-legend", label_text_font_size="14px", stylesheets=[FLOW], **options)
        self.model.update(spacing=2, padding=2, margin=4, border_line_alpha=0, background_fill_alpha=0)
        p.add_layout(self.model, "below")
        self._changed = CustomJS(args={"name": self.model.name}, code=CHANGED)
        self._clicked = CustomJS(args={"items": [], "shown": []}, code=CLICKED)
        if hides:
            self.model.js_on_event(LegendItemClick, self._clicked)

    def item(self, label: str, samples: Iterable[Glyph], shown: Sequence[Model] = (), **options: Any) -> LegendItem:
        """Return an item that is not in the legend yet.

        The `samples` are painted one over the other. `shown` are the renderers and annotations that a click hides. The
        `options` go to Bokeh's item.
        """
        # a view shared by two kinds of renderers would change
        keys = [
            GlyphRenderer(data_source=self._source, glyph=glyph, view=CDSView(filter=self._every)) for glyph in samples
        ]
        self._plot.renderers.extend(keys)
        item = LegendItem(label=label, renderers=keys, **options)
        for name in ("visible", "label"):
            item.js_on_change(name, self._changed)
        self._shown[item] = list(shown)
        return item

    def place(self, items: Sequence[LegendItem]) -> None:
        """Show these items, in this order."""
        shown = [self._shown[item] for item in items]
        self._clicked.args = {"items": list(items), "shown": shown}
        self.model.items = list(items)

    def add(self, label: str, samples: Iterable[Glyph], shown: Sequence[Model] = (), **options: Any) -> LegendItem:
        """Make an item and show it after the others."""
        item = self.item(label, samples, shown, **options)
        self.place([*self.model.items, item])
        return item

    def shown(self, item: LegendItem) -> list[Model]:
        """Return the renderers and annotations that an item stands for."""
        return list(self._shown[item])
