"""The figures of the page Noise: made once, then changed through their data sources alone."""

import math
from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import ColumnDataSource, CustomJSHover, PointDrawTool, Range1d

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
    Style,
    style_of,
    styles_of,
)
from dpml_app.pages.noise.compute import LOWER, RIVALS, UPPER, Pair, Smooth, heights
from dpml_app.text.phrases import number
from dpml_app.views.frame import Axis, framed, line
from dpml_app.views.rendered import Table, ViewFigure

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
PLACES = (1.0, 0.0)


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


TERMS, LEVEL = ("k", "sensitivity", "term"), ("x", "y", "value")
LEVELS = {
    "local": Style("Local", VERMILION, "dot", "dotted"),
    "smooth": Style("Smooth", GREEN, "dot"),
    "global": Style("Global", REFERENCE, "dot", "dotdash"),
}
INTERVALS = ("row", "color", "y", "end", "half_low", "half_high", "most_low", "most_high")


def envelope_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the envelope of sensitivities against the number of changed points, with their levels."""
    ring: dict[str, Any] = {"size": 20, "fill_alpha": 0, "line_color": HERE, "line_width": 4}
    named: dict[str, Any] = {"group": "terms", "label": "exp(−βk) · A(k)"}
    layers = [
        line(tables, "terms", ("k", "sensitivity"), Style("A(k)", ORANGE, "dot", "dashed")),
        hv.Curve(tables["terms"], "k", "term", **named).opts(color=BLUE, line_width=2),
        hv.Scatter(tables["terms"], "k", ["term"], **named).opts(color=BLUE, size=5, tools=["hover"]),
        hv.Scatter(tables["best"], "k", "term", group="best", label="Largest").opts(**ring),
    ]
    layers += [line(tables, name, LEVEL, style) for name, style in LEVELS.items()]
    y = Axis("share of the global sensitivity (log scale)", log=True, share=True, ticks=(1e-4, 1e-3, 1e-2, 1e-1, 1.0))
    return framed(layers, Axis("changed points k"), y, xlim=(-0.5, 50.5), ylim=(1e-4, 1.6))


def release_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return samples of two releases, over bars that hold 50% and 90% of releases."""

    def bars(ends: str, **look: Any) -> hv.Segments:
        places = [f"{ends}_low", "y", f"{ends}_high", "end"]
        return hv.Segments(tables["intervals"], places, "color", group="intervals").opts(color=hv.dim("color"), **look)

    dots = hv.Scatter(tables["releases"], "x", "y", group="releases").opts(color=BLUE, size=4, alpha=0.55)
    ticks = list(zip(PLACES, ROWS.values(), strict=True))
    layers = [bars("most", line_width=12, alpha=0.45), bars("half", line_width=26, alpha=0.75), dots]
    return framed(layers, Axis("released value"), Axis(""), xlim=(-4, 104), ylim=(-0.5, 1.5), yticks=ticks)


class SmoothFigures:
    """The points that one drags, the envelope of their sensitivities, and samples of two releases."""

    def __init__(self) -> None:
        self.points = empty_source("noise-points", "x", "y")
        self._points_figure()
        terms = {"terms": TERMS, "best": ("k", "term"), **dict.fromkeys(LEVELS, LEVEL)}
        tips = [("k", "@k"), ("A(k)", "@sensitivity{0.00%} of global"), ("term", "@term{0.00%} of global")]
        self.envelope = ViewFigure("noise-envelope", envelope_view, terms, tips)
        released = {"intervals": INTERVALS, "releases": ("x", "y")}
        exact = {"line_color": EXACT, "line_width": 3, "line_dash": "dashed"}
        self.release = ViewFigure("noise-release", release_view, released, marker=exact, height=250)
        self.release.plot.toolbar_location = None

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

    def show_points(self, x: np.ndarray) -> None:
        """Show points, unless they are where a drag has left them."""
        if np.array_equal(x, np.round(np.clip(np.asarray(self.points.data["x"], dtype=float), LOWER, UPPER), 1)):
            return
        n = len(x)
        self.dots.glyph.size = 13 if n <= 50 else 10
        self.envelope.plot.x_range.update(start=-0.02 * n, end=1.02 * n)
        self.points.data = {"x": x, "y": heights(n)}

    def show(self, found: Smooth, kind: str) -> None:
        """Show the sensitivities as shares of the global one, and the releases."""
        whole = found.levels["global"] or 1.0

        def share(sizes: Any) -> np.ndarray:
            """Return shares of the global sensitivity; a log axis has no place for 0."""
            sizes = np.asarray(sizes, dtype=float)
            return np.where(sizes > 0, sizes / whole, np.nan)

        terms, best = share(found.terms), found.best
        self.envelope.show(
            {
                "terms": {"k": np.arange(len(terms)), "sensitivity": share(found.envelope), "term": terms},
                "best": {"k": [best], "term": terms[[best]]},
                **{
                    name: {"x": [0, 1000], "y": share([each] * 2), "value": [each] * 2}
                    for name, each in found.levels.items()
                },
            }
        )
        value = found.value
        half, most = (np.array([found.widths[row][k] for row in ROWS]) for k in (0, 1))
        intervals = {
            "row": list(ROWS),
            "color": [LEVELS[row].color for row in ROWS],
            "y": PLACES,
            "end": PLACES,
            "half_low": value - half,
            "half_high": value + half,
        }
        intervals |= {"most_low": value - most, "most_high": value + most}
        y = np.concatenate([place + np.array(found.off) for place in PLACES])
        releases = {"x": np.concatenate([found.samples[row] for row in ROWS]), "y": y}
        end = (UPPER - LOWER) ** 2 / 4 if kind == "variance" else UPPER
        self.release.plot.x_range.update(start=-0.04 * end, end=1.04 * end)
        self.release.show({"intervals": intervals, "releases": releases})
        self.release.mark(value)

    def clear(self) -> None:
        """Keep the points: every setting has some."""
