"""The figures of importance weights: an answer, the weights, what they teach, other public tables, bias and spread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import CustomJSTickFormatter, FixedTicker, Span
from bokeh.plotting import figure

from dpml.studies.publishing import PUBLIC_TABLES
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty,
    empty_source,
    epsilon_axis,
    fill,
    hover,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import EXACT, HERE, OVERLAY, REFERENCE, STALE, style_of, styles_of
from dpml_app.pages.publish.settings import PENALTIES
from dpml_app.pages.publish.weights import EDGES
from dpml_app.settings import EPSILONS

WEIGHT_STYLES = styles_of("publisher", "weights")


def _lines(name: str, x: str, ends: Sequence[float]) -> BandFigure:
    axis = (ends[0] / 1.15, ends[-1] * 1.15)
    p = new_figure(name, x_axis_type="log", x_range=axis, y_range=(0, 1))
    p.yaxis.axis_label = "answer (share of records)"
    percent_axis(p.yaxis)
    p.height = 460
    chart = BandFigure(p, WEIGHT_STYLES, x, columns=2)
    chart.level("truth", "private table", EXACT)
    # a good answer lies on the truth, so that this line is wider and below
    chart.levels["truth"].update(level="underlay", line_width=8, line_alpha=0.5)
    chart.level("unweighted", "public table, unweighted", dash="dotted")
    return chart


def query_figure() -> BandFigure:
    """Return the figure of an answer against ε."""
    chart = _lines("publish-weights-query", "epsilon", EPSILONS)
    epsilon_axis(chart.plot)
    return chart


def penalty_figure() -> BandFigure:
    """Return the figure of an answer against λ."""
    chart = _lines("publish-weights-penalty", "x", PENALTIES)
    set_ticks(chart.plot.xaxis[0], [0.01, 0.1, 1, 10])
    chart.plot.xaxis.axis_label = "← more variance      λ (log scale)      more bias →"
    return chart


class HistogramFigure(Figure):
    """How many public records have which weight, an outline for each method."""

    computed = ("bars",)

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-weights-histogram",
            x_axis_type="log",
            x_range=(EDGES[0] / 1.1, EDGES[-1] * 1.1),
            y_range=(0, 1),
            x_axis_label="weight of a public record (log scale)",
            y_axis_label="number of public records",
        )
        p.height = 460
        ticks = [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64]
        set_ticks(p.xaxis[0], ticks, "tick < 1 ? `1/${Math.round(1 / tick)}` : String(tick)", p.xgrid[0])
        p.yaxis.formatter = CustomJSTickFormatter(code=f"return {PLAIN_DIGITS}")
        one = across(p, "height", 1, line_dash="dotted", level=OVERLAY, name=f"{p.name}-one")
        self.legend = PlotLegend(p, 1, hides=True)
        self.bars = {}
        for name, style in WEIGHT_STYLES.items():
            source = empty_source(f"{p.name}-{name}", "left", "right", "top", "label")
            self.bars[name] = source
            look = {"fill_color": style.color, "fill_alpha": 0.2, "line_color": style.color, "line_width": 1.5}
            shown = p.quad("left", "right", "top", 0, source=source, **look)
            hover(p, [shown], ("", "@label"), ("weight", "@left{0.00} to @right{0.00}"), ("records", "@top{0,0}"))
            self.legend.add(style.label, [stroke(style.color, style.dash)], [shown])
        self.legend.add("equal weights", [stroke(REFERENCE, "dotted")], [one])

    def show(self, heights: Mapping[str, np.ndarray]) -> None:
        """Show the weights of the methods that are there."""
        for name, source in self.bars.items():
            if name not in heights:
                empty(source)
                continue
            label = [WEIGHT_STYLES[name].label] * len(heights[name])
            source.data = {"left": EDGES[:-1], "right": EDGES[1:], "top": heights[name], "label": label}
        most = max((int(counts.max()) for counts in heights.values()), default=1)
        self.plot.y_range.end = 1.08 * most


CLASSIFIER_STYLES = {**WEIGHT_STYLES, "own": replace(style_of("svm"), label="private SVM, no weights")}
PUBLIC_WORDS = {"same": "copy of private table", "skewed": "other people", "uniform": "uniform"}
HEIGHT, TALL = 460, 540
FAR = "distance to the private table's SVM (log scale)"
# of the norm; what is beyond is off the plot
NEAREST, FARTHEST = 0.01, 60.0
FAR_TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]


def _far_axis(p: figure) -> None:
    set_ticks(p.yaxis[0], FAR_TICKS, "`${Math.round(100 * tick).toLocaleString('en')}%`", p.ygrid[0])


def classifier_figure() -> BandFigure:
    """Return the figure of a classifier's distance against ε."""
    options: Any = {"y_axis_type": "log", "y_axis_label": FAR, "y_range": (NEAREST, FARTHEST)}
    p = over_epsilon("publish-weights-machine", EPSILONS[0] / 1.15, EPSILONS[-1] * 1.15, **options)
    _far_axis(p)
    p.height = TALL
    chart = BandFigure(p, CLASSIFIER_STYLES, "epsilon")  # its labels are long for a phone
    chart.level("unweighted", "public table, unweighted", dash="dotted")
    chart.level("others", "other private records", EXACT)
    chart.level("exact", "Ji and Elkan, no noise", dash="dashed")
    return chart


class TablesFigure:
    """Boxes for each public table and method: the middle half of the draws, 95 % of them, and their median."""

    def __init__(self, p: figure, tip: str, columns: int = 2):
        self.plot = p
        p.height = HEIGHT
        words = [PUBLIC_WORDS[kind] for kind in PUBLIC_TABLES]
        p.xaxis.ticker = FixedTicker(ticks=list(range(len(words))))
        p.xaxis.formatter = CustomJSTickFormatter(code="return words[tick] ?? ''", args={"words": words})
        p.xaxis.axis_label = "public table"
        p.xgrid.visible = False
        self.legend = PlotLegend(p, columns, hides=True)
        self.curves: dict[str, Any] = {}
        self.levels: dict[str, Span] = {}
        tips = [("", "@label"), ("median", f"@median{{{tip}}}"), ("middle 50%", f"@q1{{{tip}}} to @q3{{{tip}}}")]
        for off, (name, style) in zip((-0.16, 0.16), WEIGHT_STYLES.items(), strict=True):
            source = empty_source(f"{p.name}-{name}", "x", "low", "q1", "median", "q3", "high", "label")
            whisker = p.segment("x", "low", "x", "high", source=source, color=style.color, line_width=2)
            box = p.vbar("x", 0.2, "q3", "q1", source=source, fill_color=style.color, fill_alpha=0.25)
            box.glyph.line_color = style.color
            middle = p.scatter("x", "median", source=source, marker=style.marker, color=style.color, size=11)
            hover(p, [box, middle], *tips, ("95% of samples", f"@low{{{tip}}} to @high{{{tip}}}"))
            self.legend.add(style.label, [mark(style.marker, style.color, size=11)], [whisker, box, middle])
            self.curves[name] = source, off, (whisker, box, middle)
        self.unweighted = empty_source(f"{p.name}-unweighted", "x0", "x1", "y")
        look = {"color": REFERENCE, "line_width": 3, "line_dash": "dotted"}
        plain = p.segment("x0", "y", "x1", "y", source=self.unweighted, **look)
        self.legend.add("unweighted", [stroke(REFERENCE, "dotted", 3)], [plain])

    def level(self, name: str, label: str) -> None:
        """Add a level line, which is placed later."""
        span = across(self.plot, "width", line_color=EXACT, line_width=2.5, name=f"{self.plot.name}-{name}")
        self.levels[name] = span
        self.legend.add(label, [stroke(EXACT)], [span])

    def show(self, series: str, points: Mapping[str, np.ndarray], complete: bool) -> None:
        """Show the draws of a method at the public tables that are there."""
        source, off, drawn = self.curves[series]
        kinds = [kind for kind in PUBLIC_TABLES if kind in points]
        ends = np.array([np.quantile(points[kind], [0.025, 0.25, 0.5, 0.75, 0.975]) for kind in kinds]).reshape(-1, 5)
        names = ("low", "q1", "median", "q3", "high")
        label = [f"{WEIGHT_STYLES[series].label}, {PUBLIC_WORDS[kind]}" for kind in kinds]
        at = [PUBLIC_TABLES.index(kind) + off for kind in kinds]
        source.data = {"x": at, "label": label, **dict(zip(names, ends.T, strict=True))}
        self._fade(drawn, 1.0)

    def show_plain(self, values: Mapping[str, float]) -> None:
        """Show what each public table says without weights."""
        at = np.arange(len(PUBLIC_TABLES))
        self.unweighted.data = {"x0": at - 0.34, "x1": at + 0.34, "y": [values[kind] for kind in PUBLIC_TABLES]}

    def fit(self) -> None:
        """Fit the end of an axis of shares to what is shown."""
        shown = [*self.unweighted.data["y"], *(s.location for s in self.levels.values() if s.location is not None)]
        shown += [high for source, *_ in self.curves.values() for high in source.data["high"]]
        self.plot.y_range.end = min(1.08 * max(shown, default=1.0), 1.0)

    def outdate(self, series: str) -> None:
        """Fade a method whose setting has changed."""
        self._fade(self.curves[series][2], STALE)

    @staticmethod
    def _fade(drawn: tuple, alpha: float) -> None:
        whisker, box, middle = drawn
        whisker.glyph.line_alpha = alpha
        box.glyph.update(line_alpha=alpha, fill_alpha=0.25 * alpha)
        middle.glyph.update(line_alpha=alpha, fill_alpha=alpha)

    def clear(self, series: str | None = None) -> None:
        """Take a method away, or all that is shown."""
        for source, _off, _drawn in self.curves.values() if series is None else [self.curves[series]]:
            empty(source)
        if series is None:
            empty(self.unweighted)
            for span in self.levels.values():
                span.location = None


def answers_figure() -> TablesFigure:
    """Return the figure of an answer by each public table."""
    p = new_figure("publish-weights-tables", x_range=(-0.5, 2.5), y_range=(0, 1))
    p.yaxis.axis_label = "share with a high income"
    percent_axis(p.yaxis)
    chart = TablesFigure(p, "0.0%")
    chart.level("truth", "private table")
    return chart


def weighted_classifiers_figure() -> TablesFigure:
    """Return the figure of a classifier's distance by each public table."""
    ends = {"x_range": (-0.5, 2.5), "y_range": (NEAREST, 5)}
    p = new_figure("publish-weights-taught", y_axis_type="log", y_axis_label=FAR, **ends)
    _far_axis(p)
    chart = TablesFigure(p, "0%", columns=1)
    chart.level("others", "other private records")
    return chart


class PlaneFigure:
    """Bias beside standard deviation, a dot for each λ; the chosen λ is ringed."""

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-weights-plane",
            x_range=(0, 0.3),
            y_range=(0, 0.3),
            x_axis_label="absolute bias of the answer",
            y_axis_label="standard deviation of the answer",
        )
        p.height = HEIGHT
        for axis in p.axis:
            # a small spread has ticks of less than a percent
            axis.formatter = CustomJSTickFormatter(code="return `${+(100 * tick).toFixed(1)}%`")
        self.truth, self.chosen = 0.0, 0.0
        self.legend = PlotLegend(p, 2, hides=True)
        self.curves: dict[str, Any] = {}
        tips = [("", "@label"), ("λ", "@x{0.[0000]}"), ("bias", "@bias{0.0%}"), ("standard deviation", "@sd{0.0%}")]
        for name, style in WEIGHT_STYLES.items():
            source = empty_source(f"{p.name}-{name}", "bias", "sd", "x", "label", "size")
            line = p.line("bias", "sd", source=source, color=style.color, line_width=2, line_dash=style.dash)
            dots = p.scatter("bias", "sd", source=source, marker=style.marker, color=style.color, size="size")
            hover(p, [dots], *tips)
            samples = [stroke(style.color, style.dash), mark(style.marker, style.color, size=9)]
            self.legend.add(style.label, samples, [line, dots])
            self.curves[name] = source, (line, dots)
        self.ring = empty_source(f"{p.name}-ring", "bias", "sd")
        ring = {"size": 21, "marker": "circle", "fill_color": None, "line_color": HERE, "line_width": 2.5}
        shown = p.scatter("bias", "sd", source=self.ring, level=OVERLAY, **ring)
        self.legend.add("chosen λ", [mark("circle", HERE, size=13, fill_color=None, line_width=2.5)], [shown])

    def show(self, series: str, points: Mapping[float, np.ndarray], complete: bool) -> None:
        """Show the draws at each λ that are there."""
        source, drawn = self.curves[series]
        bias = {x: abs(float(draws.mean()) - self.truth) for x, draws in sorted(points.items())}
        label = WEIGHT_STYLES[series].label
        fill(source, [(off, float(points[x].std(ddof=1)), x, label, 9) for x, off in bias.items()])
        for one in drawn:
            one.glyph.line_alpha = 1.0
        self._fit()

    def _fit(self) -> None:
        """Fit both axes to what is shown, and place the rings."""
        ends: dict[str, list[float]] = {"bias": [], "sd": []}
        ringed: dict[str, list[float]] = {"bias": [], "sd": []}
        for source, _drawn in self.curves.values():
            for name in ends:
                values = list(source.data[name])
                ends[name] += values
                ringed[name] += [v for v, x in zip(values, source.data["x"], strict=True) if x == self.chosen]
        for name, axis in (("bias", self.plot.x_range), ("sd", self.plot.y_range)):
            end = 1.1 * max([*ends[name], 0.005])
            axis.update(start=-0.04 * end, end=end)
        self.ring.data = ringed

    def outdate(self, series: str) -> None:
        """Fade a method whose setting has changed."""
        for one in self.curves[series][1]:
            one.glyph.line_alpha = STALE

    def clear(self, series: str | None = None) -> None:
        """Take a method away, or all that is shown."""
        for source, _drawn in self.curves.values() if series is None else [self.curves[series]]:
            empty(source)
        if series is None:
            empty(self.ring)
