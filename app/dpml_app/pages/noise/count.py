"""Card: one count with and without a person, and releases of it. The page's main plot."""

import math
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSHover, Range1d

from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import (
    LAYOUT,
    Figure,
    empty_source,
    fill,
    hover,
    new_figure,
    round_ticks,
    run_script,
    script,
    set_ticks,
    write,
)
from dpml_app.drawing.styles import BLUE, COST, HERE, ORANGE, OVERLAY, REFERENCE
from dpml_app.pages.noise import compute, words
from dpml_app.pages.noise.compute import Pair
from dpml_app.pages.noise.draws import MECHANISM, no_scale, numbers_of
from dpml_app.pages.noise.settings import NoiseValues
from dpml_app.text.phrases import number
from dpml_app.work.pool import Task

SCRIPT = script("pages/noise/drops.js")
# of the frame's width, what the densities have; the rest is the column of the bar
PART = 0.86
MIDDLE = (1 + PART) / 2
DROP = ("x", "y", "release", "ratio")
# what the bar's place reaches to, where 1 is e^ε
HIGHEST = 1.28
# JavaScript that says a release as the axis does
RELEASED = "return `n ${value < 0 ? '−' : '+'} ${Math.abs(value).toFixed(2)}`"


class CountFigure(Figure):
    """The picture of one count; the browser lets the releases fall."""

    computed = ("densities", "drops", "ratio", "names", "fallen", "last")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "noise-count",
            x_range=(-1, 1),
            y_range=(0, 1),
            extra_x_ranges={"bar": Range1d(start=0, end=1)},
            extra_y_ranges={"bar": Range1d(start=0, end=HIGHEST)},
            x_axis_label="released count (n: count without you)",
        )
        p.yaxis.visible = p.ygrid.visible = p.xgrid.visible = False
        self.densities = empty_source("noise-densities", "x", "without", "with", "both")
        self.drops = empty_source("noise-drops", *DROP)
        self.names = empty_source("noise-names", "x", "y", "text", "color", "align", "off")
        self.ratio = empty_source("noise-ratio", "height", "text", "y")
        # the browser's own: the releases that have fallen, and the last of them
        self.fallen, self.last = (ColumnDataSource({c: [] for c in DROP}) for _ in range(2))
        for source in (self.names, self.ratio):
            source.tags = [LAYOUT]
        for name, color in (("without", ORANGE), ("with", BLUE)):
            p.line("x", name, source=self.densities, color=color, line_width=3)
        p.varea("x", 0, "both", source=self.densities, fill_color=REFERENCE, fill_alpha=0.3)
        on: dict[str, Any] = {"level": OVERLAY}
        look: dict[str, Any] = {"size": 9, "line_color": "white", "line_width": 1, "fill_color": BLUE, **on}
        # what is drawn are the first of them; all are among the plot's numbers
        p.scatter("x", "y", source=self.drops, visible=False)
        dots = p.scatter("x", "y", source=self.fallen, **look)
        p.scatter("x", "y", source=self.last, size=15, fill_color=BLUE, line_color=HERE, line_width=3, **on)
        self._make_bar()
        look = {"text_align": "align", "x_offset": "off", "text_font_size": "15px", "text_font_style": "bold", **on}
        write(p, "x", "y", "text", source=self.names, color="color", text_baseline="middle", **look)
        tips = ("release", "@release{0.00}"), ("likelihood ratio", "@ratio{0.000}")
        hover(p, [dots], *tips, formatters={"@release": CustomJSHover(code=RELEASED)})
        arguments = {name: getattr(self, name) for name in ("drops", "fallen", "last", "ratio")}
        run_script(SCRIPT, arguments, self.drops)

    def _make_bar(self) -> None:
        p = self.plot
        bar: dict[str, Any] = {"x_range_name": "bar", "y_range_name": "bar"}
        # to the bar's end alone: on a narrow page the words above it are wider than its column
        p.quad(PART, 1, 1, 0, color=REFERENCE, alpha=0.12, **bar)
        wide = (1 - PART) / 4
        p.quad(MIDDLE - wide, MIDDLE + wide, "height", 0, source=self.ratio, color=COST, level=OVERLAY, **bar)
        p.segment(PART, 1, 1, 1, color=REFERENCE, line_width=2, line_dash="dashed", level=OVERLAY, **bar)
        small: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_align": "right", **bar}
        write(p, 1, "y", "text", source=self.ratio, color=REFERENCE, text_baseline="bottom", level=OVERLAY, **small)

    def show(self, pair: Pair, epsilon: float, sensitivity: int, seed: int) -> None:
        """Show a count's two densities and its releases."""
        p, (low, high) = self.plot, pair.ends
        p.x_range.update(start=low, end=low + (high - low) / PART)
        set_ticks(p.xaxis[0], round_ticks(low, high), "tick === 0 ? 'n' : tick > 0 ? `n + ${tick}` : `n − ${-tick}`")
        top = 1.15 * max(pair.without.max(), pair.with_you.max(), pair.heights.max(initial=0.0))
        p.y_range.end = top
        columns = {"x": pair.x, "without": pair.without, "with": pair.with_you}
        self.densities.data = {**columns, "both": np.minimum(pair.without, pair.with_you)}
        left, right = (-pair.near, pair.at_near), (sensitivity + pair.near, pair.at_near)
        names = (*left, "without you", ORANGE, "right", -18), (*right, "with you", BLUE, "left", 18)
        fill(self.names, names)
        self.drops.tags = [seed, epsilon]
        most = f"at most {number(math.exp(epsilon))}"
        fill(self.ratio, [(0.0, "", 1.1), (np.nan, most, 1.02), (np.nan, "ringed release:", 1.18)])
        self.drops.data = {
            "x": pair.places,
            "y": pair.heights,
            "release": pair.releases,
            "ratio": np.exp(pair.log_ratios),
        }


class CountCard(Card[NoiseValues, NoFacts]):
    """Two densities, what they share, and releases that fall one by one."""

    draw = CountFigure
    name, title, caption = "count", "Count with and without you", words.CAPTIONS["count"]
    depends = MECHANISM | {"noise_seed"}

    def refusal(self, values: NoiseValues, facts: NoFacts) -> str:
        return no_scale(values)

    def work(self, values: NoiseValues, facts: NoFacts) -> dict[ResultKey, Task]:
        arguments = values.noise_mechanism, numbers_of(values), values.noise_seed
        return {("pair", IMMEDIATE): Task(compute.pair, arguments)}

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        self.figure.show(now["pair", IMMEDIATE], values.noise_epsilon, values.noise_sensitivity, values.noise_seed)

    def readout(self, values: NoiseValues, facts: NoFacts, results: Results) -> str:
        return words.pair_words(values, results["pair", IMMEDIATE])
