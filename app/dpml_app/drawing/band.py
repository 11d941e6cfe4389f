"""A line of means with the band of its draws, and the look of bands beside one another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    HoverTool,
    Line,
    VArea,
)

from dpml_app.drawing.figure import script
from dpml_app.drawing.styles import FAINT_BAND_ALPHA, Style

# one band is seen at a time, for many bands over one another are mud
FOCUS = script("drawing/focus.js")


def fade(renderer: GlyphRenderer, **look: Any) -> None:
    """Give a renderer the look that it has while it is muted.

    Change `muted` alone later: Panel returns a changed look to a notebook's kernel, where Bokeh cannot read it.
    Without a look for what is not selected, `figure_pane` keeps this one.
    """
    renderer.update(muted_glyph=renderer.glyph.clone(**look), nonselection_glyph=None)


def focus(hover: HoverTool, curves: Sequence[tuple[Sequence[GlyphRenderer], GlyphRenderer]]) -> None:
    """Let one band be seen at a time: that of the first curve, until the pointer is on another.

    `curves`: of each curve, what the pointer finds, and its band.
    """
    areas = [area for _found, area in curves]
    hover.renderers = [renderer for renderers, _area in curves for renderer in renderers]
    for place, area in enumerate(areas):
        fade(area, fill_alpha=FAINT_BAND_ALPHA)
        area.muted = place > 0
    if len(areas) > 1:
        found = [list(renderers) for renderers, _area in curves]
        hover.callback = CustomJS(args={"renderers": found, "areas": areas}, code=FOCUS)


def spread(draws: np.ndarray, middle: str = "mean") -> tuple[float, float, float]:
    """Return the mean or the median of draws, and the ends of what holds 90 % of them.

    >>> [round(float(v), 2) for v in spread(np.arange(101) ** 2 / 10_000)]
    [0.34, 0.0, 0.9]
    """
    low, high = np.quantile(draws, [0.05, 0.95])
    return draws.mean() if middle == "mean" else np.quantile(draws, 0.5), low, high


def draw_band(
    source: ColumnDataSource, style: Style, x: str, middle: str = "mean", width: float | None = None, **options: Any
) -> list[GlyphRenderer]:
    """Return the renderers of a line and of its band, whose ends are the columns low and high."""
    line = Line(x=x, y=middle, **{**style.line, **({"line_width": width} if width else {})})
    area = VArea(x=x, y1="low", y2="high", **style.band)
    # not by the figure's own methods, which make two more glyphs for each
    return [GlyphRenderer(data_source=source, glyph=glyph, view=CDSView(), **options) for glyph in (line, area)]
