"""The names of what a plot shows: at the ends of curves where few have room, else in a legend.

The legend's samples stay painted: it holds renderers of its own, which never change.

Bokeh's view of a legend watches all that its items refer to, data and callbacks included (3.9). With each change it
makes its samples anew, empty until the whole plot is painted again. So nothing that changes may be reached from an
item: a click on a name is passed on by the legend itself.
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

from dpml_app.drawing.figure import FONT, LAYOUT, RIGHT, run_script, script, write
from dpml_app.drawing.styles import BAND_ALPHA, INKS, OVERLAY, REFERENCE, Style

# pixels of a row
ROW = 24
# so many names stand at the ends of their curves, where so many pixels are left beside the longest of them
MOST_AT_ENDS, LEAST_WIDTH = 5, 300

# the legend has hidden its samples, or shown them again
CLICKED = "for (const one of shown[items.indexOf(cb_obj.item)] ?? []) { one.visible = !one.visible }"
NAMES = (
    script("drawing/stacked.js", "drawing/names.js")
    .replace("MOST_AT_ENDS", str(MOST_AT_ENDS))
    .replace("LEAST_WIDTH", str(LEAST_WIDTH))
    .replace("RIGHT", str(RIGHT))
    .replace("FONT", FONT)
    .replace("GREY", REFERENCE)
)
# an item that is renamed, hidden or shown asks for no paint by itself; by name, for a reference would be watched
CHANGED = "cb_obj.document?.get_model_by_name('NAME')?.change.emit()"


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
    """The names of what a plot shows, in a legend below it or at the ends of its curves.

    The legend begins under the axis labels: nothing is covered, and a phone's width is enough.

    `p`: it must have a name.
    `hides`: whether a click on a name of the legend hides what it stands for.
    `at_ends`: whether the names are of lines, and stand at their right ends where five or fewer have room.
    `**options`: for the legend.

    >>> p = figure(name="example")
    >>> line = p.line([0, 1], [0, 1])
    >>> legend = PlotLegend(p, hides=True)
    >>> item = legend.add("A line", [stroke("black")], [line])
    >>> line in item.renderers
    False
    """

    def __init__(self, p: figure, ncols: int = 2, *, hides: bool = False, at_ends: bool = False, **options: Any):
        self._plot = p
        self._source, self._every = ColumnDataSource({"x": [np.nan], "y": [np.nan]}), AllIndices()
        self._shown: dict[LegendItem, list[Model]] = {}
        options = {"location": (-45, 0), "click_policy": "hide" if hides else "none", **options}
        self.model = Legend(name=f"{p.name}-legend", ncols=ncols, label_text_font_size="14px", **options)
        self.model.update(spacing=2, padding=2, margin=4, border_line_alpha=0, background_fill_alpha=0)
        p.add_layout(self.model, "below")
        self._changed = CustomJS(code=CHANGED.replace("NAME", self.model.name))
        self._clicked = CustomJS(args={"items": [], "shown": []}, code=CLICKED)
        if hides:
            self.model.js_on_event(LegendItemClick, self._clicked)
        self._named = self._at_ends() if at_ends else None

    def _at_ends(self) -> CustomJS:
        """Return the browser's code that writes the names at the ends of the curves, or shows the legend."""
        p, self.model.visible = self._plot, False
        blank = {"x": np.nan, "y": np.nan, "text": "", "color": REFERENCE, "down": 0}
        rows = {column: [one] * MOST_AT_ENDS for column, one in blank.items()}
        names = ColumnDataSource(rows, name=f"{p.name}-names", tags=[LAYOUT])
        look: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_baseline": "middle"}
        write(p, "x", "y", "text", source=names, color="color", x_offset=8, y_offset="down", level=OVERLAY, **look)
        code = run_script(NAMES, {"plot": p, "legend": self.model, "names": names, "items": []})
        self.model.js_on_change("change", code)
        for name in ("inner_width", "inner_height", "outer_width"):
            p.js_on_change(name, code)
        for side in (p.x_range, p.y_range):
            for name in ("start", "end"):
                side.js_on_change(name, code)
        return code

    def item(self, label: str, samples: Iterable[Glyph], shown: Sequence[Model] = (), **options: Any) -> LegendItem:
        """Return an item that is not in the legend yet.

        `samples`: how what it stands for looks, painted one over the other.
        `shown`: the renderers and annotations that it stands for.
        `**options`: for the item.
        """
        # each has a view of its own, which holds what of it is in sight: shared by two kinds it would change
        keys = [
            GlyphRenderer(data_source=self._source, glyph=glyph, view=CDSView(filter=self._every)) for glyph in samples
        ]
        self._plot.renderers.extend(keys)
        item = LegendItem(label=label, renderers=keys, **options)
        for name in ("visible", "label"):
            item.js_on_change(name, self._changed)
        self._shown[item] = list(shown)
        for one in shown if self._named is not None else ():
            moved, end = (one.data_source, "data") if isinstance(one, GlyphRenderer) else (one, "location")
            moved.js_on_change(end, self._named)
        return item

    def place(self, items: Sequence[LegendItem]) -> None:
        """Show these items, in this order."""
        shown = [self._shown[item] for item in items]
        self._clicked.args = {"items": list(items), "shown": shown}
        if self._named is not None:
            looks = [item.renderers[-1].glyph for item in items]
            colors = [look.line_color if look.line_color in INKS else REFERENCE for look in looks]
            self._named.args = {**self._named.args, "items": list(items), "shown": shown, "colors": colors}
        self.model.items = list(items)

    def add(self, label: str, samples: Iterable[Glyph], shown: Sequence[Model] = (), **options: Any) -> LegendItem:
        """Make an item and show it after the others."""
        item = self.item(label, samples, shown, **options)
        self.place([*self.model.items, item])
        return item

    def shown(self, item: LegendItem) -> list[Model]:
        """Return the renderers and annotations that an item stands for."""
        return list(self._shown[item])
