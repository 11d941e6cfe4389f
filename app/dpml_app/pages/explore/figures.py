"""The Bokeh figures of the page Privacy cost: made once, then changed through their data sources.

Every model that a test or the browser's own code reads has a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.core.properties import value
from bokeh.models import Line, NumeralTickFormatter, Scatter, Segment, Text, VArea
from bokeh.plotting import figure
from numpy.typing import NDArray

from dpml_app.drawing.figure import (
    EPSILON_TICKS,
    Figure,
    across,
    empty,
    empty_source,
    fill,
    hover,
    label,
    new_figure,
    set_ticks,
    write,
)
from dpml_app.drawing.legend import PlotLegend, stroke
from dpml_app.drawing.styles import (
    BLUE,
    COST,
    EXACT,
    GREEN,
    OVERLAY,
    REFERENCE,
    Style,
)
from dpml_app.settings import EPSILONS
from dpml_app.views.frame import AXES, framed, line
from dpml_app.views.rendered import Table, ViewFigure

FloatArray = NDArray[np.float64]
# on this page no other method is drawn beside the custom model
CUSTOM = Style("custom model", GREEN, "diamond")
# of the gap, the part that a simpler method leaves: a lighter tone than the part of the noise
SIMPLER_ALPHA = 0.45
# of a curve of other settings, and of its band
STALE, STALE_BAND = 0.3, 0.04
# room for the labels of the axis; the slider is as wide as the frame
LEFT, RIGHT = 76, 18
CURVE = ("epsilon", "mean", "low", "high")


@dataclass(frozen=True, eq=False)
class Private:
    """Results of the default classifier: draws of shape (ε, draws), and the same fits without noise."""

    epsilons: FloatArray
    draws: FloatArray
    exact: FloatArray
    best: float
    majority: float
    # whether all results are there
    whole: bool


class CostFigure(Figure):
    """Accuracy against ε of two private models, the non-private baseline and the majority class.

    The browser moves what belongs to the ε that is chosen: all draws at every ε are in the page.
    """

    computed = ("curve", "draws", "gap", "dots", "hand", "point")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "cost",
            x_axis_type="log",
            x_range=(EPSILONS[0], EPSILONS[-1]),
            y_range=(0.5, 1.0),
            min_border_left=LEFT,
            min_border_right=RIGHT,
            outline_line_color=None,
        )
        set_ticks(p.xaxis[0], EPSILON_TICKS)
        p.xaxis.axis_label, p.yaxis.axis_label = "ε (log scale)", "test accuracy"
        p.xgrid.visible = False
        p.yaxis.formatter = NumeralTickFormatter(format="0%")
        for axis in p.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None)
        self.curve = empty_source("cost-curve", *CURVE, "exact", "best", "guess")
        self.draws = empty_source("cost-draws", "epsilon", "run", "accuracy")
        self.hand = empty_source("cost-hand", *CURVE)
        self.point = empty_source("cost-hand-now", *CURVE)
        self.gap = empty_source("cost-gap", "epsilon", "mean", "exact", "best", "text", "align", "off")
        self.dots = empty_source("cost-dots", "epsilon", "accuracy")
        self.private: Private | None = None
        # the settings of the custom model whose curve is drawn
        self._levers: object = None
        look: dict[str, Any] = {"editable": True, "hover_line_color": BLUE, "hover_line_width": 4, "level": OVERLAY}
        self.marker = across(p, "height", 0.1, line_dash=[5, 4], name="cost-marker", **look)
        self._draw(p)

    def _draw(self, p: figure) -> None:
        private = Style("private", BLUE, "circle")
        band: dict[str, Any] = {"x": "epsilon", "y1": "low", "y2": "high"}
        p.add_glyph(self.curve, VArea(**band, **private.band))
        custom_band = p.add_glyph(self.hand, VArea(**band, **CUSTOM.band))
        level: dict[str, Any] = {"x": "epsilon", "line_color": REFERENCE}
        best = p.add_glyph(self.curve, Line(y="best", line_width=3, **level))
        guess = p.add_glyph(self.curve, Line(y="guess", line_width=2, line_dash="dotted", **level))
        custom = p.add_glyph(self.hand, Line(x="epsilon", y="mean", **CUSTOM.line | {"line_width": 3}))
        mean = p.add_glyph(self.curve, Line(x="epsilon", y="mean", **private.line | {"line_width": 4}))
        self.custom = custom, custom_band
        # without a look for what is not selected, `figure_pane` keeps that of what is muted
        custom.update(muted_glyph=custom.glyph.clone(line_alpha=STALE), nonselection_glyph=None)
        custom_band.update(muted_glyph=custom_band.glyph.clone(fill_alpha=STALE_BAND), nonselection_glyph=None)
        upright: dict[str, Any] = {"x0": "epsilon", "x1": "epsilon"}
        for start, end, alpha in (("mean", "exact", 1.0), ("exact", "best", SIMPLER_ALPHA)):
            part = Segment(**upright, y0=start, y1=end, line_color=COST, line_alpha=alpha, line_width=7)
            p.add_glyph(self.gap, part, level=OVERLAY)
        faint: dict[str, Any] = {"fill_color": BLUE, "line_color": BLUE, "fill_alpha": 0.45, "line_alpha": 0.45}
        p.add_glyph(self.dots, Scatter(x="epsilon", y="accuracy", size=6, **faint), level=OVERLAY)
        dot: dict[str, Any] = {"x": "epsilon", "y": "mean", "line_color": "white", "line_width": 2.5}
        p.add_glyph(self.gap, Scatter(size=17, fill_color=BLUE, **dot), level=OVERLAY)
        bar = Segment(**upright, y0="low", y1="high", line_color=CUSTOM.color, line_width=4)
        p.add_glyph(self.point, bar, level=OVERLAY)
        diamond = Scatter(size=19, marker=CUSTOM.marker, fill_color=CUSTOM.color, **dot)
        p.add_glyph(self.point, diamond, level=OVERLAY)
        # the browser puts the text where the frame has room
        look: dict[str, Any] = {"text_align": "align", "x_offset": "off", "y_offset": -5, "text_baseline": "bottom"}
        bold = {"text_font_size": "18px", "text_font_style": "bold"}
        words = Text(x="epsilon", y="best", text="text", **look, **bold)
        write(p, self.gap, words, COST, name="cost-words", level=OVERLAY)
        legend = PlotLegend(p)
        named = {"non-private baseline": best, "default classifier": mean, "custom model": custom}
        for name, drawn in {**named, "majority class": guess}.items():
            item = legend.add(name, [stroke(drawn.glyph.line_color, drawn.glyph.line_dash)])
            if drawn is custom:
                self.custom_item = item
        tips = [("ε", "@epsilon"), ("mean accuracy", "@mean{0.0%}"), ("90% of runs", "@low{0.0%} to @high{0.0%}")]
        hover(p, [mean, best], *tips, ("non-private baseline", "@best{0.0%}"))
        hover(p, [custom], ("custom model", "ε = @epsilon"), *tips[1:])

    def begin(self, epsilon: float) -> None:
        """Mark the ε that a page opens with.

        Later the browser moves the mark: a location from the server would count as a drag back to an earlier ε.
        """
        self.marker.location = epsilon

    def show(self, private: Private) -> None:
        """Show the default classifier; fit the axis once all results are there."""
        self.private = private
        if not len(private.epsilons):
            return
        draws, runs = private.draws, private.draws.shape[1]
        mean, (low, high) = draws.mean(axis=1), np.quantile(draws, [0.05, 0.95], axis=1)
        levels = {"best": np.full(len(mean), private.best), "guess": np.full(len(mean), private.majority)}
        shown = {"epsilon": private.epsilons, "mean": mean, "low": low, "high": high}
        self.curve.data = {**shown, "exact": private.exact, **levels}
        self.draws.data = {
            "epsilon": np.repeat(private.epsilons, runs),
            "run": np.tile(np.arange(runs), len(private.epsilons)),
            "accuracy": draws.ravel(),
        }
        self._fit()

    def show_custom(self, levers: object, draws: dict[float, FloatArray], whole: bool) -> None:
        """Show the custom model's curve; an earlier one stays until the new curve is complete."""
        if not whole and len(self.hand.data["epsilon"]) and levers != self._levers:
            return
        self._levers = levers
        fill(self.hand, [(at, draws[at].mean(), *np.quantile(draws[at], [0.05, 0.95])) for at in sorted(draws)])
        self._fit()

    def grey_custom(self, waits: bool, computing: bool) -> None:
        """Fade the custom model's curve while it alone is of other settings, and say so in the legend."""
        label = "custom model" + ": computing…" * (waits and computing)
        if (self.custom[0].muted, self.custom_item.label) != (waits, value(label)):
            self.custom_item.label = value(label)
            for renderer in self.custom:
                renderer.muted = waits

    def show_point(self, epsilon: float, draws: FloatArray | None) -> None:
        """Show the custom model at the chosen ε."""
        if draws is None:
            empty(self.point)
        else:
            y, (least, most) = self.plot.y_range, np.quantile(draws, [0.05, 0.95])
            self.point.data = {"epsilon": [epsilon], "mean": [draws.mean()], "low": [least], "high": [most]}
            if least < y.start or most > y.end:
                y.update(start=min(y.start, least - 0.01), end=max(y.end, most + 0.01))

    def _fit(self) -> None:
        """Fit the axis to what is compared, with room above for the label of the gap."""
        private, custom = self.private, self.hand.data
        if private is None or not len(private.epsilons):
            return
        curve = self.curve.data
        columns = [curve["low"], curve["high"], curve["best"], curve["guess"], custom["low"], custom["high"]]
        seen = np.concatenate([np.asarray(values, dtype=float) for values in columns])
        bottom, top = seen.min(), seen.max()
        y, height = self.plot.y_range, top - bottom
        if private.whole or y.start > bottom or y.end < top:
            y.update(start=bottom - 0.06 * height, end=top + 0.1 * height)

    def clear(self) -> None:
        super().clear()
        self.private = None


RATES = ("fpr", "tpr")


def roc_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the exact ROC curve of one custom model, and private samples of it as one line with gaps."""
    chance = hv.Curve(([0, 1], [0, 1]), *RATES).opts(color=REFERENCE, line_dash="dotted", line_width=2)
    samples = line(tables, "private", RATES, replace(CUSTOM, label=""), line_alpha=0.35, line_width=1.5)
    exact = line(tables, "exact", RATES, Style("", EXACT, "dot"), line_width=3)
    ends: Any = {"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02)}
    return framed([chance, samples, exact], AXES["fpr"], AXES["tpr"], **ends)


def roc_figure() -> ViewFigure:
    """Return the figure of ROC curves, whose names stand below the diagonal, where no curve is better than a guess."""
    chart = ViewFigure("roc", roc_view, {"private": RATES, "exact": RATES})
    named = (("exact", EXACT), ("private", CUSTOM.color), ("dotted: chance", REFERENCE))
    for place, (name, color) in enumerate(named):
        look: Any = {"text_align": "right", "text_baseline": "middle", "text_font_style": "bold"}
        label(chart.plot, 1.0, 0.2 - 0.07 * place, name, color, **look)
    return chart


def roc_tables(curves: Mapping[str, np.ndarray]) -> dict[str, Table]:
    """Return the tables of the result of `compute.roc`."""
    gap = np.full((len(curves["fpr"]), 1), np.nan)
    private = {name: np.hstack([curves[name], gap]).ravel() for name in RATES}
    return {"private": private, "exact": {name: curves[f"exact_{name}"] for name in RATES}}
