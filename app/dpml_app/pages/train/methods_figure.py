"""The picture of the methods at one ε: a row each, best first, and apart below them those whose claim is wrong."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bokeh.models import NumeralTickFormatter, SaveTool

from dpml_app.drawing.figure import (
    FONT,
    LAYOUT,
    Figure,
    empty_source,
    fill,
    follow_ground,
    hover,
    new_figure,
    run_script,
    script,
    write,
)
from dpml_app.drawing.styles import OVERLAY, REFERENCE, STALE, Style
from dpml_app.text.phrases import percent

# room for the shares beside the rows, and for the names until the browser has measured them
LEFT, RIGHT = 190, 96
# of an axis: the first of these steps of which it has at least six
STEPS = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
# so far does an interval, or a guess, make the axis longer than what is compared, at either end
MOST_BEYOND = 0.25
# the name of the method in the ink of the page
INK = ("#16202c", "#e6e8ea")


@dataclass(frozen=True)
class Row:
    """A method at the ε that is chosen; `true_epsilon` is said of one that costs more than it claims."""

    style: Style
    mean: float
    low: float
    high: float
    without: float | None = None
    true_epsilon: str = ""
    stale: bool = False


def fitted(rows: Sequence[Row], guess: float) -> tuple[float, float]:
    """Return the ends of the axis: all means and levels, and a little more for intervals and a guess.

    >>> [round(end, 2) for end in fitted([Row(Style("a", "", ""), 0.8, 0.3, 0.82, 0.85)], 0.5)]
    [0.78, 0.86]
    """
    compared = [value for row in rows for value in (row.mean, row.without) if value is not None]
    low, high = min(compared), max(compared)
    beyond = max(MOST_BEYOND * (high - low), 0.005)
    low = max(min(low, guess, *(row.low for row in rows)), low - beyond)
    high = min(max(high, *(row.high for row in rows)), high + beyond)
    step = next((step for step in STEPS if high - low >= 6 * step), STEPS[-1])
    # what lies on a tick is not cut
    return math.floor(low / step - 0.2) * step, min(math.ceil(high / step + 0.2) * step, 1 + step / 2)


class MethodsFigure(Figure):
    """Of each method its mean, the bar that holds 90 % of its runs, and its own level without privacy."""

    computed = ("rows", "clipped", "words", "guess")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "train-methods",
            x_range=(0.7, 0.9),
            y_range=(1, -1),
            x_axis_location="above",
            min_border_left=LEFT,
            min_border_right=RIGHT,
        )
        # Bokeh 3.9 does not clear the first column of pixels, where a name was painted before there was room for it
        p.styles = {"clip-path": "inset(0 0 0 1px)"}
        # the names stand at the ends of the axis, which therefore stays
        p.toolbar.tools = [tool for tool in p.tools if isinstance(tool, SaveTool)]
        p.xaxis.update(formatter=NumeralTickFormatter(format="0.[0]%"), axis_line_color=None)
        p.yaxis.visible = False
        p.ygrid.visible = False
        columns = ("method", "mean", "low", "high", "without", "shown", "y", "color", "marker", "alpha")
        self.rows = rows = empty_source(
            "train-methods-rows", *columns, "broken", "start", "end", "from", "to", "top", "bottom"
        )
        self.clipped = empty_source("train-methods-clipped", "x", "y", "text", "color", "angle", "side", "off")
        self.words = empty_source("train-methods-words", "x", "y", "text", "side", "off", "down", "base", "role")
        self.guess = empty_source("train-methods-guess", "guess", "top", "bottom")
        self.strikes = empty_source("train-methods-strikes", "x0", "x1", "y")
        for source in (self.clipped, self.words, self.strikes):
            source.tags = [LAYOUT]
        grey: Any = {"line_color": REFERENCE}
        p.segment("guess", "bottom", "guess", "top", source=self.guess, line_dash="dotted", line_width=2.5, **grey)
        paint: Any = {"fill_color": "color", "line_color": "color", "line_alpha": "alpha", "source": rows}
        bars = p.hbar("y", left="from", right="to", height=0.36, fill_alpha=0.3, line_width=1.5, **paint)
        levels = p.segment("without", "bottom", "without", "top", source=rows, line_width=4, **grey)
        dots = p.scatter("mean", "y", marker="marker", size=12, line_width=2, fill_alpha="alpha", **paint)
        look: Any = {"source": self.clipped, "color": "color", "level": OVERLAY}
        p.scatter("x", "y", marker="triangle", size=11, angle="angle", **look)
        small: Any = {"text_font_size": "13px", "text_align": "side", "x_offset": "off"}
        numbers = write(p, "x", "y", "text", source=self.clipped, text_baseline="middle", y_offset=1, **small)
        large: Any = {"source": rows, "text_font_size": "15px", "text_baseline": "middle", "level": OVERLAY}
        names = write(p, "start", "y", "method", text_align="right", x_offset=-12, **large)
        shares = write(p, "end", "y", "shown", text_align="left", x_offset=12, text_font_style="bold", **large)
        p.segment("x0", "y", "x1", "y", source=self.strikes, line_width=1.5, level=OVERLAY, **grey)
        for written in (names, shares, numbers):
            written.glyph.text_color = INK[0]
            follow_ground(p, written.glyph, "text_color", *INK)
        small |= {"text_baseline": "base", "y_offset": "down", "color": REFERENCE, "level": OVERLAY}
        write(p, "x", "y", "text", source=self.words, **small)
        tips = [("", "@method"), ("mean", "@mean{0.0%}"), ("90% of runs", "@low{0.0%} to @high{0.0%}")]
        tips += [("without noise", "@without{0.0%}"), ("actual ε", "@broken")]
        hover(p, [bars, dots, levels], *tips, point_policy="follow_mouse")
        arguments = {
            "plot": p,
            "rows": rows,
            "words": self.words,
            "strikes": self.strikes,
            "names": names.glyph,
            "shares": shares.glyph,
        }
        fit = run_script(
            script("pages/train/methods_figure.js").replace("FONT", FONT).replace("RIGHT", str(RIGHT)), arguments, rows
        )
        for model, names in ((p, ("inner_width", "inner_height")), (p.x_range, ("start", "end"))):
            for name in names:
                model.js_on_change(name, fit)

    def show(self, rows: Sequence[Row], guess: float) -> None:
        """Show the methods, best first; those with a true ε of their own stand below."""
        if not rows:
            self.clear()
            return
        start, end = fitted(rows, guess)
        if (self.plot.x_range.start, self.plot.x_range.end) != (start, end):
            self.plot.x_range.update(start=start, end=end)
        best_first = sorted(rows, key=lambda row: (bool(row.true_epsilon), -row.mean))
        kept = sum(not row.true_epsilon for row in rows)
        y = [place + (0.85 if row.true_epsilon else 0.0) for place, row in enumerate(best_first)]
        top, bottom = -0.95, y[-1] + 0.85
        if (self.plot.y_range.start, self.plot.y_range.end) != (bottom, top):
            self.plot.y_range.update(start=bottom, end=top)
        each = list(zip(best_first, y, strict=True))
        self.rows.data = {
            "method": [row.style.label for row in best_first],
            "mean": [row.mean for row in best_first],
            "low": [row.low for row in best_first],
            "high": [row.high for row in best_first],
            "without": [math.nan if row.without is None else row.without for row in best_first],
            "shown": [f"actual ε: {row.true_epsilon}" if row.true_epsilon else percent(row.mean) for row in best_first],
            "y": y,
            "color": [row.style.color for row in best_first],
            "marker": [row.style.marker for row in best_first],
            "alpha": [STALE if row.stale else 1.0 for row in best_first],
            "broken": [row.true_epsilon or "as claimed" for row in best_first],
            "start": [start] * len(rows),
            "end": [end] * len(rows),
            "from": [max(row.low, start) for row in best_first],
            "to": [min(row.high, end) for row in best_first],
            "top": [at - 0.22 for at in y],
            "bottom": [at + 0.22 for at in y],
        }
        cut = [(start, at, row.low, row, math.pi / 2, "left", 9) for row, at in each if row.low < start]
        cut += [(end, at, row.high, row, -math.pi / 2, "right", -9) for row, at in each if row.high > end]
        fill(self.clipped, [(x, at, f"to {percent(end)}", row.style.color, *look) for x, at, end, row, *look in cut])
        inside = start <= guess <= end
        fill(self.guess, [(guess, top, bottom)] * inside)
        words: list[tuple[Any, ...]] = []
        named = next(((row, at) for row, at in each if row.without is not None), None)
        if named is not None:
            words.append((named[0].without, named[1] - 0.26, "without noise", "right", 5, -1, "bottom", "level"))
        if inside:
            words.append((guess, bottom, "majority-class baseline", "left", 7, 0, "bottom", "guess"))
        if kept < len(rows):
            words.append((start, y[kept] - 0.85, "Claim violated", "right", -12, 0, "middle", "heading"))
        fill(self.words, words)
