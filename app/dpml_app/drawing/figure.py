"""What all figures have in common: size, tools and axes."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BoxZoomTool,
    CategoricalColorMapper,
    ColumnDataSource,
    CustomJS,
    CustomJSHover,
    CustomJSTickFormatter,
    CustomJSTransform,
    FixedTicker,
    GlyphRenderer,
    HoverTool,
    Label,
    NoOverlap,
    NumeralTickFormatter,
    PanTool,
    ResetTool,
    SaveTool,
    Span,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.transform import transform

from dpml_app.drawing.styles import INKS, REFERENCE

HEIGHT = 520
# the last number of an axis reaches beyond it, and must not touch the card's edge
RIGHT = 18
# of what is written on a canvas: the axes have it from the theme, other texts have not
FONT = "Roboto, Helvetica, Arial, sans-serif"
# of texts that are cut, in px
CUT_SIZE = 13
# the theme paints the ground of a figure, also of one that is shown later, and its words follow
INK_SCRIPT = "target.setv({[name]: /^#[0-7]/.test(cb_obj.background_fill_color) ? dark : light}, {sync: false})"
# says thousands as they are written
PLAIN_DIGITS = "tick.toLocaleString('en')"
# of a source that says where words stand: it has no numbers
LAYOUT = "layout"
# a column that a hover shows with decimals, and the JavaScript that formats it
DECIMAL = r"@(\w+)\{0(?:\.0+)?(?: ?%)?\}"
MINUS = """
const unit = format.endsWith("%") ? "%" : "", digits = format.replace(/ ?%/, "").split(".")[1]?.length ?? 0
const text = ((unit ? 100 : 1) * value).toFixed(digits)
return text.replace("-", Number(text) === 0 ? "" : "−") + unit
"""
EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def script(*names: str) -> str:
    """Return what the browser runs or is styled by, from files of this package, in this order."""
    here = Path(__file__).parents[1]
    return "\n".join((here / name).read_text(encoding="utf-8") for name in names)


def run_script(code: str, arguments: dict[str, Any], *triggers: ColumnDataSource) -> CustomJS:
    """Have the browser run its own code whenever one of these sources has changed; return the code."""
    callback = CustomJS(args=arguments, code=code)
    for source in triggers:
        source.js_on_change("data", callback)
    return callback


def new_figure(name: str, **options) -> figure:
    """Return an empty figure in the page's style."""
    p = figure(
        name=name,
        height=HEIGHT,
        sizing_mode="stretch_width",
        output_backend="canvas",
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


def write(p: figure, x: Any, y: Any, text: Any, *, color: str | None = None, **look: Any) -> GlyphRenderer:
    """Write a column of texts on a canvas, in the font of the axes and the ink of a colour, or of a column of them."""
    written = p.text(x, y, text, text_font=value(FONT), **look)
    if color in INKS:
        ink(p, written.glyph, color)
    elif color is not None:
        light, dark = (list(inks) for inks in zip(*INKS.values(), strict=True))
        mapper = CategoricalColorMapper(factors=list(INKS), palette=light)
        written.glyph.text_color = transform(color, mapper)
        follow_ground(p, mapper, "palette", light, dark)
    return written


def write_cut(p: figure, x: Any, y: Any, text: str, *, source: ColumnDataSource, **look: Any) -> None:
    """Write a column of texts, each cut where the frame, or its share of the frame in a column "part", has no room."""
    arguments = {"plot": p, "source": source, "size": CUT_SIZE, "font": FONT}
    cut = CustomJSTransform(args=arguments, v_func=script("drawing/cut.js"))
    write(p, x, y, transform(text, cut), source=source, text_font_size=f"{CUT_SIZE}px", **look)
    # a frame of another width has other room
    again = CustomJS(args={"source": source}, code="source.change.emit()")
    p.js_on_change("inner_width", again)


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
    tool = HoverTool(renderers=list(renderers), tooltips=list(tips), **{"formatters": signs(tips), **options})
    p.add_tools(tool)
    return tool


def signs(tips: Iterable[tuple[str, str]]) -> dict[str, CustomJSHover]:
    """Return what writes the decimals of the pointer's words, with the minus sign that axes have."""
    columns = [column for _name, tip in tips for column in re.findall(DECIMAL, tip)]
    return dict.fromkeys([f"@{column}" for column in columns], CustomJSHover(code=MINUS))


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


def epsilon_axis(p: figure) -> None:
    """Label the x axis as ε, with its private end marked."""
    set_ticks(p.xaxis[0], EPSILON_TICKS, grid=p.xgrid[0])
    p.xaxis.axis_label = "← more private  ε (log scale)  less private →"


def over_epsilon(name: str, start: float = 0.009, end: float = 11.0, **options: Any) -> figure:
    """Return a figure whose x axis is ε."""
    p = new_figure(name, x_axis_type="log", x_range=(start, end), **options)
    epsilon_axis(p)
    return p


def square(name: str, x: str, y: str) -> figure:
    """Return a figure of shares against shares."""
    p = new_figure(name, x_range=(-0.02, 1.02), y_range=(-0.02, 1.02), x_axis_label=x, y_axis_label=y)
    percent_axis(p.xaxis)
    percent_axis(p.yaxis)
    return p


def edges(values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper edges of cells around values on a log scale, halfway between neighbours.

    >>> [e.round(3).tolist() for e in edges([1, 4])]
    [[0.5, 2.0], [2.0, 8.0]]
    """
    logs = np.log(np.asarray(values, dtype=float))
    middle = (logs[1:] + logs[:-1]) / 2
    first, last = 2 * logs[0] - middle[0], 2 * logs[-1] - middle[-1]
    cuts = np.exp(np.concatenate([[first], middle, [last]]))
    return cuts[:-1], cuts[1:]


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


def percent_axis(axis) -> None:
    """Label shares as percentages."""
    axis.formatter = NumeralTickFormatter(format="0%")
