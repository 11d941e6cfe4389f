"""The figures of the page Noise: made once, then changed through their data sources alone."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJSHover,
    CustomJSTickFormatter,
    FactorRange,
    PointDrawTool,
    Range1d,
)
from bokeh.transform import factor_cmap

from dpml_app.drawing.figure import (
    LAYOUT,
    PLAIN_DIGITS,
    Figure,
    across,
    empty_source,
    fill,
    hover,
    new_figure,
    over_epsilon,
    round_ticks,
    run_script,
    script,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, area, mark, stroke
from dpml_app.drawing.styles import (
    BLUE,
    COST,
    EXACT,
    GREEN,
    HERE,
    ORANGE,
    OVERLAY,
    REFERENCE,
    VERMILION,
    YELLOW,
    Style,
    style_of,
    styles_of,
)
from dpml_app.pages.noise.compute import LOWER, RIVALS, UPPER, Histogram, Pair, Smooth, heights
from dpml_app.settings import EPSILONS
from dpml_app.text.phrases import number

FLOOR = 1e-6
RIVAL_STYLES = {name: style_of(name, "noise") for name in RIVALS}
CALIBRATION_STYLES = styles_of("noise", "cauchy")
DROPS_SCRIPT = script("pages/noise/drops.js")
# of the frame's width, the part of the densities; the rest is the column of the bar
PART = 0.86
MIDDLE = (1 + PART) / 2
DROP = ("x", "y", "release", "ratio")
# end of the bar's axis, where 1 is e^ε
HIGHEST = 1.28
# JavaScript that writes a release as the axis does
RELEASED = "return `n ${value < 0 ? '−' : '+'} ${Math.abs(value).toFixed(2)}`"
ROWS = {"smooth": "Cauchy, smooth", "global": "Laplace, global"}


def log_ticks(axis, powers: range) -> None:
    """Label powers of ten in plain digits."""
    set_ticks(axis[0], [10.0**k for k in powers], f"tick >= 1 ? {PLAIN_DIGITS} : String(tick)")


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
        # of the browser alone: the releases that have fallen, and the last of them
        self.fallen, self.last = (ColumnDataSource({c: [] for c in DROP}) for _ in range(2))
        for source in (self.names, self.ratio):
            source.tags = [LAYOUT]
        for name, color in (("without", ORANGE), ("with", BLUE)):
            p.line("x", name, source=self.densities, color=color, line_width=3)
        p.varea("x", 0, "both", source=self.densities, fill_color=REFERENCE, fill_alpha=0.3)
        on: dict[str, Any] = {"level": OVERLAY}
        look: dict[str, Any] = {"size": 9, "line_color": "white", "line_width": 1, "fill_color": BLUE, **on}
        # the first of them are drawn; all are among the plot's numbers
        p.scatter("x", "y", source=self.drops, visible=False)
        dots = p.scatter("x", "y", source=self.fallen, **look)
        p.scatter("x", "y", source=self.last, size=15, fill_color=BLUE, line_color=HERE, line_width=3, **on)
        self._make_bar()
        look = {"text_align": "align", "x_offset": "off", "text_font_size": "15px", "text_font_style": "bold", **on}
        write(p, "x", "y", "text", source=self.names, color="color", text_baseline="middle", **look)
        tips = ("release", "@release{0.00}"), ("likelihood ratio", "@ratio{0.000}")
        hover(p, [dots], *tips, formatters={"@release": CustomJSHover(code=RELEASED)})
        arguments = {name: getattr(self, name) for name in ("drops", "fallen", "last", "ratio")}
        run_script(DROPS_SCRIPT, arguments, self.drops)

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


class HistogramFigure(Figure):
    """Shares of draws by bin, beside the exact ones and the band that holds 95% of such experiments."""

    computed = ("bars", "exact")

    def __init__(self):
        self.plot = p = new_figure(
            "noise-histogram",
            x_range=(-10, 10),
            y_range=(1e-4, 1.4),
            y_axis_type="log",
            x_axis_label="noise",
            y_axis_label="share of samples per bin (log scale)",
        )
        log_ticks(p.yaxis, range(-4, 1))
        self.bars = empty_source("noise-bars", "left", "right", "share", "exact", "low", "high")
        self.exact = empty_source("noise-exact", "x", "exact")
        look: dict[str, Any] = {"source": self.bars, "line_color": None}
        bars = p.quad("left", "right", "share", FLOOR, fill_color=BLUE, fill_alpha=0.45, **look)
        band = p.quad("left", "right", "high", "low", fill_color=ORANGE, fill_alpha=0.35, **look)
        line = p.line("x", "exact", source=self.exact, color=VERMILION, line_width=2.5)
        legend = PlotLegend(p, hides=True)
        legend.add("Samples", [area(BLUE, 0.45)], [bars])
        legend.add("Exact", [stroke(VERMILION)], [line])
        legend.add("95% of bars", [area(ORANGE, 0.35)], [band])
        shares = ("samples", "@share{0.00%}"), ("exact", "@exact{0.00%}")
        hover(p, [bars], ("bin", "@left{0.00} to @right{0.00}"), *shares)

    def show(self, bins: Histogram) -> None:
        """Show samples."""
        left, right = bins.edges[:-1], bins.edges[1:]
        self.plot.x_range.update(start=float(bins.edges[0]), end=float(bins.edges[-1]))
        share, low, high, exact = (np.maximum(of, FLOOR) for of in (bins.share, bins.low, bins.high, bins.exact))
        ends = {"left": left, "right": right}
        self.bars.data = {**ends, "share": share, "exact": bins.exact, "low": low, "high": high}
        self.exact.data = {"x": np.column_stack([left, right]).ravel(), "exact": np.repeat(exact, 2)}


class CurveFigure(Figure):
    """Curves over ε, one source each, with a marker at the chosen ε."""

    computed = ("sources", "here")

    def __init__(self, name: str, styles: Mapping[str, Style], label: str, powers: tuple[int, int], best: str = ""):
        ends: Any = {"y_axis_type": "log", "y_range": (10.0 ** powers[0], 1.5 * 10.0 ** powers[1])}
        self.plot = p = over_epsilon(name, EPSILONS[0] / 1.15, EPSILONS[-1] * 1.15, y_axis_label=label, **ends)
        log_ticks(p.yaxis, range(powers[0], powers[1] + 1))
        self.marker = across(p, "height", 1, name=f"{name}-marker", level=OVERLAY)
        self.sources: dict[str, ColumnDataSource] = {}
        self.styles = styles
        legend = PlotLegend(p, hides=True)
        self.best = empty_source(f"{name}-best", "x", "y") if best else None
        if best:
            halo = p.line("x", "y", source=self.best, color=YELLOW, line_width=11, line_alpha=0.75)
            legend.add(best, [stroke(YELLOW, width=11, line_alpha=0.75)], [halo])
        lines = []
        for key, style in styles.items():
            self.sources[key] = source = empty_source(f"{name}-{key}", "x", "y", "label")
            lines.append(p.line("x", "y", source=source, **style.line))
            legend.add(style.label, [stroke(style.color, style.dash)], [lines[-1]])
        self.here = empty_source(f"{name}-here", "x", "y")
        p.scatter("x", "y", source=self.here, size=13, fill_alpha=0, line_color=HERE, line_width=3)
        hover(p, lines, ("", "@label"), ("value", "@y{0.000 a}"), mode="mouse")

    def show(self, curves: Mapping[str, np.ndarray], epsilon: float) -> None:
        """Show all curves, and where they are at the chosen ε."""
        # 0 has no place on a log axis
        drawn = {key: np.where(curve > 0, curve, np.nan) for key, curve in curves.items()}
        for key, source in self.sources.items():
            source.data = {"x": EPSILONS, "y": drawn[key], "label": [self.styles[key].label] * len(EPSILONS)}
        if self.best is not None:
            self.best.data = {"x": EPSILONS, "y": np.nanmin(np.stack(list(drawn.values())), axis=0)}
        self.marker.location = epsilon
        place = EPSILONS.index(epsilon)
        self.here.data = {"x": [epsilon] * len(drawn), "y": [float(curve[place]) for curve in drawn.values()]}


class SmoothFigures:
    """The points that one drags, the envelope of their sensitivities, and samples of two releases."""

    def __init__(self) -> None:
        self.points = empty_source("noise-points", "x", "y")
        self._points_figure()
        self._envelope_figure()
        self._release_figure()

    def _points_figure(self) -> None:
        margin = 0.04 * (UPPER - LOWER)
        ends = LOWER - margin, UPPER + margin
        self.line = p = new_figure(
            "noise-line",
            x_range=Range1d(start=ends[0], end=ends[1], bounds=ends),
            y_range=Range1d(start=0, end=1, bounds=(0, 1)),
            x_axis_label="value (drag a point, heights are arbitrary)",
        )
        p.height = 230
        p.toolbar_location = None
        p.yaxis.visible = False
        p.ygrid.visible = False
        look = {"fill_color": BLUE, "fill_alpha": 0.75, "line_color": "white"}
        self.dots = p.scatter("x", "y", source=self.points, size=13, **look)
        self.dots.nonselection_glyph = None
        drag = PointDrawTool(renderers=[self.dots], add=False)
        p.toolbar.tools = [drag]
        p.toolbar.update(active_drag=drag, active_tap=drag)

    def _envelope_figure(self) -> None:
        self.envelope = p = new_figure(
            "noise-envelope",
            x_range=(-0.5, 50.5),
            y_range=(1e-4, 1.6),
            y_axis_type="log",
            x_axis_label="changed points k",
            y_axis_label="share of the global sensitivity (log scale)",
        )
        set_ticks(p.yaxis[0], [1e-4, 1e-3, 1e-2, 1e-1, 1], "`${Number((100 * tick).toPrecision(1))}%`")
        self.terms = empty_source("noise-terms", "k", "sensitivity", "term")
        self.best = empty_source("noise-best", "k", "term")
        look = {"source": self.terms}
        p.line("k", "sensitivity", color=ORANGE, line_width=2.5, line_dash="dashed", **look)
        p.line("k", "term", color=BLUE, line_width=2, **look)
        dots = p.scatter("k", "term", color=BLUE, size=5, **look)
        p.scatter("k", "term", source=self.best, size=20, fill_alpha=0, line_color=HERE, line_width=4)
        legend = PlotLegend(p)
        legend.add("A(k)", [stroke(ORANGE, "dashed")])
        legend.add("exp(−βk) · A(k)", [stroke(BLUE, width=2), mark("circle", BLUE)])
        legend.add("Largest", [mark("circle", HERE, fill_alpha=0, line_width=3)])
        self.levels: dict[str, ColumnDataSource] = {}
        for name, color, dash in (
            ("local", VERMILION, "dotted"),
            ("smooth", GREEN, "solid"),
            ("global", REFERENCE, "dotdash"),
        ):
            self.levels[name] = source = empty_source(f"noise-{name}", "x", "y", "value")
            p.line("x", "y", source=source, color=color, line_width=2.5, line_dash=dash)
            legend.add(name.capitalize(), [stroke(color, dash)])
        hover(p, [dots], ("k", "@k"), ("A(k)", "@sensitivity{0.00%} of global"), ("term", "@term{0.00%} of global"))

    def _release_figure(self) -> None:
        self.release = p = new_figure(
            "noise-release",
            x_range=(-4, 104),
            y_range=FactorRange(factors=list(ROWS)[::-1]),
            x_axis_label="released value",
        )
        p.height = 250
        p.yaxis.formatter = CustomJSTickFormatter(args={"words": ROWS}, code="return words[tick]")
        p.ygrid.visible = False
        p.toolbar_location = None
        self.intervals = empty_source("noise-intervals", "row", "half_low", "half_high", "most_low", "most_high")
        self.releases = empty_source("noise-releases", "x", "row")
        color = factor_cmap("row", [GREEN, REFERENCE], list(ROWS))
        look = {"y": "row", "source": self.intervals, "color": color}
        p.hbar(left="most_low", right="most_high", height=0.16, alpha=0.45, **look)
        p.hbar(left="half_low", right="half_high", height=0.34, alpha=0.75, **look)
        p.scatter("x", "row", source=self.releases, size=4, color=BLUE, alpha=0.55)
        look = {"line_color": EXACT, "line_width": 3, "line_dash": "dashed"}
        self.exact = across(p, "height", 50, name="noise-value", **look)

    def show_points(self, x: np.ndarray) -> None:
        """Show points, unless they are where a drag has left them."""
        if np.array_equal(x, np.round(np.clip(np.asarray(self.points.data["x"], dtype=float), LOWER, UPPER), 1)):
            return
        n = len(x)
        self.dots.glyph.size = 13 if n <= 50 else 10
        self.envelope.x_range.update(start=-0.02 * n, end=1.02 * n)
        self.points.data = {"x": x, "y": heights(n)}

    def show(self, found: Smooth, kind: str) -> None:
        """Show the sensitivities as shares of the global one, and the releases."""
        whole = found.levels["global"] or 1.0

        def share(sizes: Any) -> np.ndarray:
            """Return shares of the global sensitivity; a log axis has no place for 0."""
            sizes = np.asarray(sizes, dtype=float)
            return np.where(sizes > 0, sizes / whole, np.nan)

        terms = share(found.terms)
        self.terms.data = {"k": np.arange(len(terms)), "sensitivity": share(found.envelope), "term": terms}
        self.best.data = {"k": [found.best], "term": terms[[found.best]]}
        for name, level in found.levels.items():
            self.levels[name].data = {"x": [0, 1000], "y": share([level, level]), "value": [level, level]}
        value, rows, x = found.value, [], []
        for row, (half, most) in found.widths.items():
            rows.append((row, value - half, value + half, value - most, value + most))
            x += [(at, (row, off)) for at, off in zip(found.samples[row], found.off, strict=True)]
        fill(self.intervals, rows)
        fill(self.releases, x)
        end = (UPPER - LOWER) ** 2 / 4 if kind == "variance" else UPPER
        self.release.x_range.update(start=-0.04 * end, end=1.04 * end)
        self.exact.location = value

    def clear(self) -> None:
        """Keep the points: every setting has some."""
