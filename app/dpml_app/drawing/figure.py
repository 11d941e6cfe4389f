"""What all figures have in common: size, tools and axes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BoxZoomTool,
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    FixedTicker,
    GlyphRenderer,
    HoverTool,
    Label,
    NoOverlap,
    PanTool,
    ResetTool,
    SaveTool,
    Span,
    Text,
    WheelZoomTool,
)
from bokeh.plotting import figure

from dpml_app.drawing.styles import INKS, REFERENCE

HEIGHT = 520
# the last number of an axis reaches beyond it, and must not touch the card's edge
RIGHT = 18
# of what is written on a canvas: the axes have it from the theme, other texts have not
FONT = "Roboto, Helvetica, Arial, sans-serif"
# the theme paints the ground of a figure, also of one that is shown later, and its words follow
INK_SCRIPT = "target.setv({[name]: /^#[0-7]/.test(cb_obj.background_fill_color) ? dark : light}, {sync: false})"
# of a source that says where words stand: it has no numbers
LAYOUT = "layout"
EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def script(*names: str) -> str:
    """Return what the browser runs or is styled by, from files of this package, in this order."""
    here = Path(__file__).parents[1]
    return "\n".join((here / name).read_text(encoding="utf-8") for name in names)


def run_script(code: str, arguments: dict[str, Any], *triggers: ColumnDataSource) -> CustomJS:
    """Have the browser run its own code whenever one of these sources has changed; return the code."""
    callback = CustomJS(args=arguments, code=code)
    for source in triggers:
        for change in ("data", "patching"):
            source.js_on_change(change, callback)
    return callback


def new_figure(name: str, **options) -> figure:
    """Return an empty figure in the page's style."""
    p = figure(
        name=name,
        height=HEIGHT,
        sizing_mode="stretch_width",
        output_backend="canvas",
        tools="",
        **{"outline_line_color": None, "min_border_right": RIGHT, **options},
    )
    style_tools(p)
    return p


def style_tools(p: figure) -> None:
    """Give a figure the tools and the axes of the page's style."""
    p.tools = [PanTool(), BoxZoomTool(), WheelZoomTool(), ResetTool(), SaveTool()]
    # nothing is active at first, so that a finger on a phone scrolls the page
    p.toolbar.update(logo=None, autohide=True, active_drag=None, active_scroll=None)
    p.toolbar_location = "above"
    for axis in p.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "15px"
        axis.major_label_text_font_size = "14px"
    p.xaxis.major_label_policy = NoOverlap()  # of crowded ticks some have no label


def write(p: figure, source: ColumnDataSource, text: Text, color: str, **options: Any) -> GlyphRenderer:
    """Write a column of texts on a canvas, in the font of the axes and the ink of a colour."""
    text.text_font = value(FONT)
    ink(p, text, color)
    return p.add_glyph(source, text, **options)


def label(p: figure, x: float, y: float, text: str, color: str, size: int = 15, **look: Any) -> Label:
    """Write a text at one place, in the font of the axes and the ink of a colour."""
    words = Label(x=x, y=y, text=text, text_font=FONT, text_font_size=f"{size}px", **look)
    p.add_layout(words)
    ink(p, words, color)
    return words


def across(p: figure, dimension: str, location: float | None = None, **look: Any) -> Span:
    """Draw a line across the frame; without a location it is placed later."""
    line = Span(location=location, dimension=dimension, **{"line_color": REFERENCE, "line_width": 2, **look})
    p.add_layout(line)
    return line


def hover(p: figure, renderers: Iterable[GlyphRenderer], *tips: tuple[str, str], **options: Any) -> HoverTool:
    """Have the pointer tell of what it is on: names, and the columns of its source."""
    tool = HoverTool(renderers=list(renderers), tooltips=list(tips), **options)
    p.add_tools(tool)
    return tool


def ink(p: figure, words: Any, color: str) -> None:
    """Write words of a figure so that they can be read on its ground, in the ink of a colour."""
    light, dark = INKS[color]
    words.text_color = light
    follow_ground(p, words, "text_color", light, dark)


def follow_ground(p: figure, target: Any, name: str, light: Any, dark: Any) -> None:
    """Set a property of a model to one thing on a light ground and another on a dark one."""
    arguments = {"target": target, "name": name, "light": light, "dark": dark}
    p.js_on_change("background_fill_color", CustomJS(args=arguments, code=INK_SCRIPT))


def fix_ticks(axis: Any, ticks: Sequence[float]) -> None:
    """Set the ticks of an axis, in its model: for another model all of a document's models are gathered anew."""
    if not isinstance(axis.ticker, FixedTicker):
        axis.ticker = FixedTicker()
    axis.ticker.ticks = list(ticks)


def set_ticks(axis: Any, ticks: Sequence[float], words: str = "String(tick)", grid: Any = None) -> None:
    """Set the ticks of an axis, and the lines of a grid with them; `words` is JavaScript that says a tick."""
    fix_ticks(axis, ticks)
    if not isinstance(axis.formatter, CustomJSTickFormatter):
        axis.formatter = CustomJSTickFormatter()
    axis.formatter.code = f"return {words}"
    if grid is not None:
        grid.ticker = axis.ticker


def spread(draws: np.ndarray, middle: str = "mean") -> tuple[float, float, float]:
    """Return the mean or the median of draws, and the ends of what holds 90 % of them.

    >>> [round(float(v), 2) for v in spread(np.arange(101) ** 2 / 10_000)]
    [0.34, 0.0, 0.9]
    """
    low, high = np.quantile(draws, [0.05, 0.95])
    return draws.mean() if middle == "mean" else np.quantile(draws, 0.5), low, high


def empty_source(name: str, *columns: str) -> ColumnDataSource:
    """Return a named source with empty columns."""
    return ColumnDataSource({c: [] for c in columns}, name=name)


def empty(source: ColumnDataSource) -> None:
    """Take the rows of a source away, if it has any."""
    if any(len(column) for column in source.data.values()):
        source.data = {c: [] for c in source.data}


def fill(source: ColumnDataSource, rows: Iterable[Sequence[Any]]) -> None:
    """Show rows, each in the order of the source's columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(source.data)
    source.data = {name: list(column) for name, column in zip(source.data, columns, strict=True)}


class Figure:
    """A plot, and the sources of what is computed for it."""

    plot: figure
    # the attributes that hold those sources: one, several by their names, or a list of them
    computed: ClassVar[tuple[str, ...]] = ()

    def clear(self) -> None:
        """Show nothing."""
        for sources in (getattr(self, name) for name in self.computed):
            several = sources.values() if isinstance(sources, dict) else sources
            for source in [sources] if isinstance(sources, ColumnDataSource) else several:
                empty(source)
