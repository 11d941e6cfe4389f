"""A view as a figure of the app: rendered once, it then follows the named sources of its tables.

An element names its table as its group. Its glyph reads the columns of that table, so new numbers need no HoloViews.
With new elements an update of fifteen took 50 ms, and of their sources alone 2 ms.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import holoviews as hv
from bokeh.core.properties import field, value
from bokeh.core.property.vectorization import Field, Value
from bokeh.models import (
    ColumnDataSource,
    Glyph,
    GlyphRenderer,
    LegendItem,
    Line,
    Quad,
    Scatter,
    Segment,
    VArea,
)

from dpml_app.drawing.figure import HEIGHT, RIGHT, Figure, across, empty, empty_source, hover, style_tools
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.styles import OVERLAY

Table = Mapping[str, Any]
# the elements that show tables
View = Callable[[Mapping[str, Table]], hv.Overlay]


class ViewFigure(Figure):
    """A figure of the app that draws a view of named tables.

    `view`: returns the view of tables, called once, with empty ones. More may be added.
    `columns`: of each table; the name of its source begins with that of the figure.
    `tips`: what the pointer is told of elements with the tool "hover".
    `marker`: how a line looks that shows a place on the x axis; None: there is none.
    """

    computed = ("sources",)

    def __init__(
        self,
        name: str,
        view: View,
        columns: Mapping[str, Sequence[str]],
        tips: Sequence[tuple[str, str]] = (),
        *,
        marker: Mapping[str, Any] | None = None,
        height: int = HEIGHT,
    ):
        self._name = name
        self.sources: dict[str, ColumnDataSource] = {}
        self.items: dict[str, LegendItem] = {}
        drawn, plot = self._rendered(view, columns)
        self.plot = p = plot.state
        p.update(name=name, width=None, height=height, sizing_mode="stretch_width", title=None, above=[], right=[])
        p.update(outline_line_color=None, output_backend="canvas", min_border_right=RIGHT)
        style_tools(p)
        self._pointer = hover(p, (), *tips) if tips else None
        self._take(drawn, plot)
        line = {"name": f"{name}-marker", "level": OVERLAY}
        self.marker = None if marker is None else across(p, "height", **line | dict(marker))

    def add(self, view: View, columns: Mapping[str, Sequence[str]]) -> None:
        """Draw the elements of one more view."""
        drawn, plot = self._rendered(view, columns)
        self._take(drawn, plot)
        self.plot.renderers.extend(plot.state.renderers)

    def _rendered(self, view: View, columns: Mapping[str, Sequence[str]]) -> tuple[hv.Overlay, Any]:
        """Return a view of new, empty tables, and HoloViews' plot of it."""
        new = {table: empty_source(f"{self._name}-{table}", *names) for table, names in columns.items()}
        self.sources |= new
        drawn = view({table: dict(source.data) for table, source in new.items()})
        return drawn, hv.renderer("bokeh").get_plot(drawn)

    def _take(self, drawn: hv.Overlay, plot: Any) -> None:
        """Let the elements of a view follow their sources, and name them in the legend and to the pointer."""
        samples: dict[str, list[Glyph]] = {}
        groups: dict[str, str] = {}
        for element, part in zip(drawn, plot.subplots.values(), strict=True):
            renderer = part.handles.get("glyph_renderer")
            if renderer is None:
                continue
            renderer.glyph = _plain(renderer.glyph)
            if element.group in self.sources:
                _follow(renderer, self.sources[element.group], [each.name for each in element.dimensions()])
            if element.label:
                samples.setdefault(element.label, []).append(_sample(renderer.glyph))
                groups[element.group] = renderer.name = element.label
            told = "hover" in (hv.Store.lookup_options("bokeh", element, "plot").kwargs.get("tools") or ())
            if told and self._pointer is not None:
                self._pointer.renderers = [*self._pointer.renderers, renderer]
        # before series that come later: Bokeh draws twice what joins a plot on the page together with its renderers
        if (samples or not self.sources) and not hasattr(self, "legend"):
            self.legend = PlotLegend(self.plot)
        items = {label: self.legend.add(label, each) for label, each in samples.items()}
        self.items |= {group: items[label] for group, label in groups.items()}

    def name_series(self, labels: Mapping[str, str]) -> None:
        """Show these series in the legend, by these labels."""
        for name, label in labels.items():
            self.items[name].label = value(label)
        items = [self.items[name] for name in labels]
        if items != self.legend.model.items:
            self.legend.model.items = items

    def show(self, tables: Mapping[str, Table]) -> None:
        """Show tables, those that are left out empty."""
        for name, source in self.sources.items():
            if name in tables:
                source.data = {column: tables[name][column] for column in source.data}
            else:
                empty(source)

    def mark(self, x: float | None) -> None:
        """Put the marker at a place."""
        if self.marker is not None:
            self.marker.location = x

    def fit(self, values: Sequence[float]) -> None:
        """Fit the y axis to values."""
        low, high = float(min(values)), float(max(values))
        margin = max(0.06 * (high - low), 0.004)
        self.plot.y_range.update(start=low - margin, end=high + margin)

    def clear(self) -> None:
        super().clear()
        self.mark(None)


def _plain(glyph: Glyph, **changes: Any) -> Glyph:
    """Return a glyph whose looks are plain numbers and colours, as those that the app itself draws."""
    looks = glyph.properties_with_values(include_defaults=False)
    return type(glyph)(**{name: v.value if isinstance(v, Value) else v for name, v in looks.items()} | changes)


def _follow(renderer: GlyphRenderer, source: ColumnDataSource, columns: Sequence[str]) -> None:
    """Let a renderer draw from the columns of a source."""
    glyph = renderer.glyph
    if type(glyph).__name__ == "Patch":  # a band: HoloViews joins both ends to one outline
        look = {"fill_color": glyph.fill_color, "fill_alpha": glyph.fill_alpha}
        renderer.glyph = VArea(x=columns[0], y1=columns[1], y2=columns[2], **look)
    elif isinstance(glyph, Segment):
        glyph.update(**dict(zip(("x0", "y0", "x1", "y1"), columns, strict=False)))
    elif isinstance(glyph, Quad):
        glyph.update(**dict(zip(("left", "bottom", "right", "top"), columns, strict=False)))
    for name in ("line_color", "fill_color", "hatch_color"):
        if isinstance(getattr(glyph, name, None), Field):
            # of an empty column of colours HoloViews maps numbers
            setattr(glyph, name, field("color"))
    others = dict.fromkeys(("nonselection_glyph", "selection_glyph", "muted_glyph"), "auto")
    renderer.update(data_source=source, hover_glyph=None, **others)


def _sample(glyph: Glyph) -> Glyph:
    """Return the sample of a glyph for a legend."""
    if isinstance(glyph, Line | Scatter):
        return _plain(glyph, x="x", y="y")
    if isinstance(glyph, Segment):
        return stroke(glyph.line_color, glyph.line_dash)
    outline = None if glyph.fill_alpha else glyph.line_color
    look = {"fill_color": glyph.fill_color, "fill_alpha": glyph.fill_alpha, "line_color": outline}
    return Quad(left="x", right="x", bottom="y", top="y", **look)
