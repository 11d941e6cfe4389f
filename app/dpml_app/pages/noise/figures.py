"""The figures of the Noise page about mechanisms: made once a page, then changed through their data sources alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.palettes import Blues256
from contourpy import contour_generator

from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty,
    empty_source,
    epsilon_axis,
    hover,
    new_figure,
    set_ticks,
)
from dpml_app.drawing.legend import PlotLegend, area, mark, stroke
from dpml_app.drawing.styles import BLUE, HERE, ORANGE, OVERLAY, VERMILION, YELLOW, Style, style_of, styles_of
from dpml_app.pages.noise.compute import HELD, RIVALS, Histogram, Plane
from dpml_app.pages.noise.settings import NOISE_EPSILONS

FLOOR = 1e-6
RIVAL_STYLES = {name: style_of(name, "noise") for name in RIVALS}
CHOICE_STYLES, CALIBRATION_STYLES = styles_of("noise", "choice"), styles_of("noise", "cauchy")


def log_ticks(axis, powers: range) -> None:
    """Label powers of ten in plain digits."""
    set_ticks(axis[0], [10.0**k for k in powers], f"tick >= 1 ? {PLAIN_DIGITS} : String(tick)")


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
        """Show draws."""
        left, right = bins.edges[:-1], bins.edges[1:]
        self.plot.x_range.update(start=float(bins.edges[0]), end=float(bins.edges[-1]))
        share, low, high, exact = (np.maximum(of, FLOOR) for of in (bins.share, bins.low, bins.high, bins.exact))
        ends = {"left": left, "right": right}
        self.bars.data = {**ends, "share": share, "exact": bins.exact, "low": low, "high": high}
        self.exact.data = {"x": np.column_stack([left, right]).ravel(), "exact": np.repeat(exact, 2)}


class PlaneFigure(Figure):
    """Draws of two numbers' noise over their density, with the contours that hold stated shares."""

    computed = ("grid", "dots", "contours")

    def __init__(self):
        self.plot = p = new_figure(
            "noise-plane",
            x_range=(-10, 10),
            y_range=(-10, 10),
            x_axis_label="noise of the first number",
            y_axis_label="noise of the second number",
        )
        p.update(height=None, aspect_ratio=1, sizing_mode="scale_width", max_width=620, align="center")
        p.grid.visible = False
        self.grid = ColumnDataSource({"image": [], "x": [], "y": [], "size": []}, name="noise-grid")
        self.dots = empty_source("noise-dots", "x", "y")
        self.contours = empty_source("noise-contours", "xs", "ys", "held")
        # darker is denser; the lightest is a thousandth of the peak
        mapper = LinearColorMapper(palette=Blues256[::-1], low=-3, high=0)
        p.image("image", x="x", y="y", dw="size", dh="size", source=self.grid, color_mapper=mapper, alpha=0.75)
        look = {"fill_color": "#333333", "line_color": "white", "line_width": 0.5, "alpha": 0.6}
        dots = p.scatter("x", "y", source=self.dots, size=4.5, **look)
        lines = p.multi_line("xs", "ys", source=self.contours, color=VERMILION, line_width=2.5)
        legend = PlotLegend(p, hides=True)
        legend.add("Samples", [mark("circle", "#333333", line_color="white", line_width=0.5, fill_alpha=0.6)], [dots])
        legend.add("50%, 90%, 99% of samples", [stroke(VERMILION)], [lines])
        hover(p, [lines], ("inside", "about @held of samples"))

    def show(self, plane: Plane, reach: float) -> None:
        """Show draws."""
        for axis in (self.plot.x_range, self.plot.y_range):
            axis.update(start=-reach, end=reach)
        image = [plane.grid.astype(np.float32)]
        self.grid.data = {"image": image, "x": [-reach], "y": [-reach], "size": [2 * reach]}
        self.dots.data = {"x": plane.x, "y": plane.y}
        generator = contour_generator(plane.axis, plane.axis, plane.grid)
        xs, ys, held = [], [], []
        for share, level in zip(HELD, plane.levels, strict=True):
            for path in map(np.asarray, generator.lines(level)):
                xs.append(path[:, 0])
                ys.append(path[:, 1])
                held.append(f"{share:.0%}")
        self.contours.data = {"xs": xs, "ys": ys, "held": held}


class CurveFigure(Figure):
    """Curves over ε (or over the size of an error), one source each, with a marker where one stands."""

    computed = ("sources", "here")

    def __init__(
        self,
        name: str,
        styles: Mapping[str, Style],
        label: str,
        powers: tuple[int, int],
        best: str | None = None,
        values: str = "value",
        **options,
    ):
        self.name = name
        over_epsilon = "x_range" not in options
        if over_epsilon:
            low, high = NOISE_EPSILONS[0] / 1.15, NOISE_EPSILONS[-1] * 1.15
            options |= {"x_axis_type": "log", "x_range": (low, high)}
        options |= {"y_axis_type": "log", "y_axis_label": label}
        self.plot = p = new_figure(name, y_range=(10.0 ** powers[0], 1.5 * 10.0 ** powers[1]), **options)
        if over_epsilon:
            epsilon_axis(p)
        log_ticks(p.yaxis, range(powers[0], powers[1] + 1))
        self.marker = across(p, "height", 1, name=f"{name}-marker", level=OVERLAY)
        self.sources: dict[str, ColumnDataSource] = {}
        legend = PlotLegend(p, hides=True)
        if best is not None:
            self.best = empty_source(f"{name}-best", "x", "y")
            halo = p.line("x", "y", source=self.best, color=YELLOW, line_width=11, line_alpha=0.75)
            legend.add(best, [stroke(YELLOW, width=11, line_alpha=0.75)], [halo])
        lines = []
        for key, style in styles.items():
            self.sources[key] = source = empty_source(f"{name}-{key}", "x", "y", "label")
            look = {"color": style.color, "line_width": 2.5, "line_dash": style.dash}
            lines.append(p.line("x", "y", source=source, **look))
            legend.add(style.label, [stroke(style.color, style.dash)], [lines[-1]])
        self.here = empty_source(f"{name}-here", "x", "y")
        p.scatter("x", "y", source=self.here, size=13, fill_alpha=0, line_color=HERE, line_width=3)
        self.styles = styles
        hover(p, lines, ("", "@label"), (values, "@y{0.000 a}"), mode="mouse")

    def show(self, curves: Mapping[str, np.ndarray], x=NOISE_EPSILONS) -> None:
        """Show curves; those left out are cleared."""
        x = np.asarray(x, dtype=float)
        for key, source in self.sources.items():
            if key in curves:
                source.data = {"x": x, "y": curves[key], "label": [self.styles[key].label] * len(x)}
            else:
                empty(source)
        if hasattr(self, "best"):
            self.best.data = {"x": x, "y": np.nanmin(np.stack(list(curves.values())), axis=0)}

    def mark(self, x: float, values: Mapping[str, float]) -> None:
        """Mark where one stands."""
        self.marker.location = x
        self.here.data = {"x": [x] * len(values), "y": list(values.values())}
