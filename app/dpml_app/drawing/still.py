"""A figure as a still picture in the document: it is seen before the scripts that draw the figure are there.

It is made of the figure itself, so that it has its curves, its colours and its names. What the browser adds to a figure
(the gap at the ε that is chosen, every run) comes with the figure, which takes its place. A line that can be dragged in
the figure can be dragged in the picture, too; the figure then begins where it was left.
"""

import json
import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np
from bokeh.core.property.vectorization import Field, Value
from bokeh.models import FixedTicker, GlyphRenderer, Line, NumeralTickFormatter, Range1d, Span, Step, Text, VArea
from bokeh.plotting import figure

from dpml_app.drawing.figure import script

# the frame is this large, and stretched to the room that the figure will have
SIZE = 1000
TICKS = 6
STYLE, SCRIPT = script("drawing/still.css"), script("drawing/still.js")


def still(p: figure, steps: Mapping[float, str] | None = None) -> str:
    """Return a figure as HTML; empty where it has no curve yet, or where only the browser knows its frame.

    `steps` says where the line across the frame can be dragged to, and what is said of it there.
    """
    if p.min_border_left is None or not all(isinstance(side, Range1d) for side in (p.x_range, p.y_range)):
        return ""
    curves = "".join(_curves(p))
    if not curves:
        return ""
    edges = f"left: {p.min_border_left}px; --right: {p.min_border_right}px"
    lines = list(_lines(p)) if steps else []
    if steps and lines:
        places = [(value, round(float(_x(p, value)), 4), words) for value, words in steps.items()]
        line, at = escape(lines[0].name), lines[0].location
        dragged = f'data-line="{line}" data-at="{at}" data-steps="{escape(json.dumps(places))}"'
    else:
        dragged = 'data-steps="[]"'
    return (
        f'<style>{STYLE}</style><div class="still" data-figure="{escape(p.name or "")}" {dragged} aria-hidden="true">'
        f'<div style="{edges}">{"".join(_ticks(p))}<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none">{curves}'
        f"{''.join(_spans(p))}</svg>{''.join(_words(p))}<output></output></div></div><script>{{\n{SCRIPT}}}</script>"
    )


def _place(axis: Any, scale: Any, values: Any) -> Any:
    """Return shares of an axis."""
    start, end, at = float(axis.start), float(axis.end), np.asarray(values, dtype=float)
    if type(scale).__name__ == "LogScale":
        start, end, at = math.log(start), math.log(end), np.log(at)
    return (at - start) / (end - start)


def _x(p: figure, values: Any) -> Any:
    return _place(p.x_range, p.x_scale, values)


def _y(p: figure, values: Any) -> Any:
    return 1 - _place(p.y_range, p.y_scale, values)


def _column(renderer: GlyphRenderer, spec: Any) -> list[Any]:
    """Return what a property of a glyph says in each row of its source."""
    data = renderer.data_source.data
    rows = len(next(iter(data.values()), ()))
    name = spec.field if isinstance(spec, Field) else spec.get("field") if isinstance(spec, dict) else spec
    if isinstance(name, str) and name in data:
        return list(data[name])
    return [spec.value if isinstance(spec, Value) else spec] * rows


def _path(p: figure, x: Any, y: Any) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(SIZE * _x(p, x), SIZE * _y(p, y), strict=True))


def _drawn(p: figure, kinds: Any) -> Iterator[tuple[GlyphRenderer, Any]]:
    for renderer in p.renderers:
        if isinstance(renderer, GlyphRenderer) and isinstance(renderer.glyph, kinds) and renderer.visible:
            yield renderer, renderer.glyph


def _curves(p: figure) -> Iterator[str]:
    """Yield the curves and bands."""
    for renderer, glyph in _drawn(p, VArea | Line | Step):
        x = np.array(_column(renderer, glyph.x), dtype=float)
        ends = [float(end) for side in (p.x_range, p.y_range) for end in (side.start, side.end)]
        # where nothing is known yet, a source may have a row without a place
        if not len(x) or not np.isfinite([*x, *ends]).all():
            continue
        if isinstance(glyph, VArea):
            low, high = (np.array(_column(renderer, spec), dtype=float) for spec in (glyph.y1, glyph.y2))
            outline = _path(p, [*x, *x[::-1]], [*low, *high[::-1]])
            yield f'<path class="band" d="{outline}Z" fill="{glyph.fill_color}" fill-opacity="{glyph.fill_alpha}"/>'
            continue
        y = np.array(_column(renderer, glyph.y), dtype=float)
        if not np.isfinite(y).all():
            continue
        dash = " ".join(str(part) for part in glyph.line_dash or ())
        look = f'stroke="{glyph.line_color}" stroke-width="{glyph.line_width}" stroke-dasharray="{dash}"'
        yield f'<path d="{_path(p, x, y)}" {look}/>'


def _lines(p: figure) -> Iterator[Span]:
    """Yield the lines across the frame."""
    yield from (span for span in p.center if isinstance(span, Span) and span.dimension == "height")


def _spans(p: figure) -> Iterator[str]:
    for span in _lines(p):
        at = f"{SIZE * float(_x(p, span.location)):.1f}"
        yield f'<path class="span" d="M{at} 0L{at} {SIZE}" stroke="{span.line_color}"/>'


def _words(p: figure) -> Iterator[str]:
    """Yield the texts, such as the curves' names."""
    for renderer, glyph in _drawn(p, Text):
        columns = [_column(renderer, s) for s in (glyph.x, glyph.y, glyph.text, glyph.x_offset, glyph.y_offset)]
        colors = _column(renderer, glyph.text_color)
        for x, y, text, right, down, color in zip(*columns, colors, strict=True):
            left, top = 100 * float(_x(p, x)), 100 * float(_y(p, y))
            if text and 0 <= top <= 100:
                at = f"left: calc({left:.2f}% + {right}px); top: calc({top:.2f}% + {down}px); --ink: {color}"
                below = ' class="below"' if float(down) > 0 else ""
                yield f'<b{below} style="{at}">{escape(str(text))}</b>'


def _ticks(p: figure) -> Iterator[str]:
    """Yield the ends and steps of the axes, with a line for each of the y axis."""
    fixed = p.xaxis[0].ticker
    for tick in fixed.ticks if isinstance(fixed, FixedTicker) else ():
        yield f'<i class="x" style="left: {100 * float(_x(p, tick)):.2f}%">{tick:g}</i>'
    start, end = float(p.y_range.start), float(p.y_range.end)
    percent = isinstance(p.yaxis[0].formatter, NumeralTickFormatter)
    rough = (end - start) / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = min((power * m for m in (1, 2, 5, 10)), key=lambda size: abs(size - rough))
    for i in range(math.ceil(start / step), math.floor(end / step) + 1):
        text = f"{100 * i * step:.3g}%" if percent else f"{i * step:.3g}"
        yield f'<i class="y" style="top: {100 * float(_y(p, i * step)):.2f}%"><span>{text}</span></i>'
