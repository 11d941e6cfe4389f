"""The figures of the page Noise: made once, then changed through their data sources alone."""

from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np

from dpml_app.drawing.figure import Figure, empty_source, hover, new_figure
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import (
    BLUE,
    EXACT,
    GREEN,
    HERE,
    ORANGE,
    REFERENCE,
    VERMILION,
    Style,
    style_of,
)
from dpml_app.pages.noise.compute import LOWER, MECHANISMS, UPPER, Pair, Smooth
from dpml_app.views.frame import Axis, framed, line
from dpml_app.views.rendered import Table, ViewFigure

RIVAL_STYLES = {name: style_of(name, "noise") for name in MECHANISMS}
# the rows of the points and of two releases, from above
ROWS = {"points": "Points", "smooth": "Cauchy, smooth", "global": "Laplace, global"}
PLACES = {"points": 2.0, "smooth": 1.0, "global": 0.0}


class CountFigure(Figure):
    """The densities of a noisy count with and without a person, what they share, and releases as dots."""

    computed = ("densities", "releases")

    def __init__(self) -> None:
        look: dict[str, Any] = {"x_range": (-1, 1), "y_range": (0, 1), "y_axis_label": "density"}
        self.plot = p = new_figure("noise-count", x_axis_label="noisy count minus the count without you", **look)
        p.grid.visible = False
        self.densities = empty_source("noise-densities", "x", "without", "with", "both")
        self.releases = empty_source("noise-releases", "x", "y", "release", "ratio")
        p.varea("x", 0, "both", source=self.densities, fill_color=REFERENCE, fill_alpha=0.3)
        for name, color in (("without", ORANGE), ("with", BLUE)):
            p.line("x", name, source=self.densities, color=color, line_width=2.5)
        dots = p.scatter("x", "y", source=self.releases, size=8, fill_color=BLUE, line_color="white")
        hover(p, [dots], ("difference", "@release{0.00}"), ("likelihood ratio", "@ratio{0.000}"))
        legend = PlotLegend(p)
        for name, sample in (
            ("Without you", stroke(ORANGE)),
            ("With you", stroke(BLUE)),
            ("Releases with you", mark("circle", BLUE, size=8)),
            ("Overlap", mark("square", REFERENCE, size=16, fill_alpha=0.3, line_color=None)),
        ):
            legend.add(name, [sample])

    def show(self, pair: Pair) -> None:
        """Show a count's two densities and its releases."""
        self.plot.x_range.update(start=float(pair.x[0]), end=float(pair.x[-1]))
        self.plot.y_range.end = float(1.1 * max(pair.without.max(), pair.with_you.max()))
        both = np.minimum(pair.without, pair.with_you)
        self.densities.data = {"x": pair.x, "without": pair.without, "with": pair.with_you, "both": both}
        dots = {"x": pair.places, "y": pair.heights, "release": pair.releases, "ratio": np.exp(pair.log_ratios)}
        self.releases.data = dots


TERMS, LEVEL = ("k", "sensitivity", "term"), ("x", "y", "value")
LEVELS = {
    "local": Style("Local", VERMILION, "dot", "dotted"),
    "smooth": Style("Smooth", GREEN, "dot"),
    "global": Style("Global", REFERENCE, "dot", "dotdash"),
}
INTERVALS = ("color", "y", "end", "half_low", "half_high", "most_low", "most_high")


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

    dots = [hv.Scatter(tables[name], "x", "y", group=name) for name in ("points", "releases")]
    ticks = [(PLACES[name], title) for name, title in ROWS.items()]
    layers = [bars("most", line_width=12, alpha=0.45), bars("half", line_width=26, alpha=0.75)]
    layers += [each.opts(color=BLUE, size=size, alpha=0.55) for each, size in zip(dots, (8, 4), strict=True)]
    return framed(layers, Axis("value"), Axis(""), xlim=(LOWER - 4, UPPER + 4), ylim=(-0.5, 2.5), yticks=ticks)


class EnvelopeFigure(ViewFigure):
    """The envelope of the sensitivities of points, as shares of the global one."""

    def __init__(self) -> None:
        columns = {"terms": TERMS, "best": ("k", "term"), **dict.fromkeys(LEVELS, LEVEL)}
        tips = [("k", "@k"), ("A(k)", "@sensitivity{0.00%} of global"), ("term", "@term{0.00%} of global")]
        super().__init__("noise-envelope", envelope_view, columns, tips)

    def show_envelope(self, found: Smooth) -> None:
        """Show the sensitivities of points."""
        whole, best, size = found.levels["global"], found.best, len(found.points)

        def share(sizes: Any) -> np.ndarray:
            """Return shares of the global sensitivity; a log axis has no place for 0."""
            sizes = np.asarray(sizes, dtype=float)
            return np.where(sizes > 0, sizes / whole, np.nan)

        terms = share(found.terms)
        self.plot.x_range.update(start=-0.02 * size, end=1.02 * size)
        levels = {
            name: {"x": [0, 1000], "y": share([each] * 2), "value": [each] * 2} for name, each in found.levels.items()
        }
        self.show(
            {
                "terms": {"k": np.arange(len(terms)), "sensitivity": share(found.envelope), "term": terms},
                "best": {"k": [best], "term": terms[[best]]},
                **levels,
            }
        )


class ReleaseFigure(ViewFigure):
    """The points, and samples of two releases of their statistic, over bars that hold 50% and 90% of releases."""

    def __init__(self) -> None:
        dots = dict.fromkeys(("points", "releases"), ("x", "y"))
        exact = {"line_color": EXACT, "line_width": 3, "line_dash": "dashed"}
        super().__init__("noise-release", release_view, {"intervals": INTERVALS, **dots}, marker=exact, height=300)

    def show_releases(self, found: Smooth) -> None:
        """Show the points, their statistic, and its releases."""
        rows = list(found.widths)
        half, most = (np.array([found.widths[row][k] for row in rows]) for k in (0, 1))
        places = [PLACES[row] for row in rows]
        intervals = {"color": [LEVELS[row].color for row in rows], "y": places, "end": places}
        for name, width in (("half", half), ("most", most)):
            intervals |= {f"{name}_low": found.value - width, f"{name}_high": found.value + width}
        samples = {row: _scattered(values, PLACES[row]) for row, values in found.samples.items()}
        releases = {column: np.concatenate([each[column] for each in samples.values()]) for column in ("x", "y")}
        points = _scattered(found.points, PLACES["points"])
        self.show({"intervals": intervals, "points": points, "releases": releases})
        self.mark(found.value)


def _scattered(values: np.ndarray, place: float) -> Table:
    """Return values as dots of a row, at heights that keep near ones apart."""
    return {"x": values, "y": place - 0.3 + 0.6 * (np.arange(len(values)) * 0.6180339887498949 % 1.0)}
