"""Legends below plots.

Bokeh's legend view (3.9) watches everything that its items refer to, data included. At each change it makes its
samples again, and they stay empty until the next paint of the plot. So an item refers to renderers of its own, which
never change.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
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
    Scatter,
)
from bokeh.plotting import figure

# names stand side by side, as many as fit
FLOW = ".bk-grid { display: flex; flex-wrap: wrap; width: auto; } .bk-item { margin-right: 12px; }"
# paint the plot when an item is renamed; by name, because a reference would be watched
CHANGED = "cb_obj.document?.get_model_by_name(name)?.change.emit()"


def stroke(color: str, dash: str = "solid", width: float = 2.5, **look: Any) -> Line:
    """Return the sample of a line."""
    return Line(x="x", y="y", line_color=color, line_dash=dash, line_width=width, **look)


def mark(marker: str, color: str, **look: Any) -> Scatter:
    """Return the sample of a marker."""
    return Scatter(x="x", y="y", marker=marker, **{"fill_color": color, "line_color": color, **look})


class PlotLegend:
    """A legend below a plot, which fits a phone's width.

    The plot `p` needs a name. The `options` go to Bokeh's legend.

    >>> p = figure(name="example")
    >>> PlotLegend(p).add("A line", [stroke("black")]).label.value
    'A line'
    """

    def __init__(self, p: figure, **options: Any):
        self._plot = p
        self._source, self._every = ColumnDataSource({"x": [np.nan], "y": [np.nan]}), AllIndices()
        options = {"location": (-45, 0), **options}
        self.model = Legend(name=f"{p.name}-legend", label_text_font_size="14px", stylesheets=[FLOW], **options)
        self.model.update(spacing=2, padding=2, margin=4, border_line_alpha=0, background_fill_alpha=0)
        p.add_layout(self.model, "below")
        self._changed = CustomJS(args={"name": self.model.name}, code=CHANGED)

    def add(self, label: str, samples: Iterable[Glyph]) -> LegendItem:
        """Show one more item; its `samples` are painted one over the other."""
        # a view shared by two kinds of renderers would change
        keys = [
            GlyphRenderer(data_source=self._source, glyph=glyph, view=CDSView(filter=self._every)) for glyph in samples
        ]
        self._plot.renderers.extend(keys)
        item = LegendItem(label=label, renderers=keys)
        item.js_on_change("label", self._changed)
        self.model.items = [*self.model.items, item]
        return item
