"""The main plot of the page Privacy cost: default classifier, custom model and non-private baseline against ε."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bokeh.io import save
from bokeh.models import ColumnDataSource, NumeralTickFormatter, Span
from bokeh.plotting import figure
from bokeh.resources import INLINE
from numpy.typing import NDArray

from dpml_app.drawing.band import draw_band, spread
from dpml_app.drawing.figure import (
    EPSILON_TICKS,
    HEIGHT,
    LAYOUT,
    Figure,
    across,
    empty,
    empty_source,
    epsilon_axis,
    fill,
    hover,
    new_figure,
    write,
)
from dpml_app.drawing.legend import ROW
from dpml_app.drawing.styles import BAND_ALPHA, BLUE, COST, GREEN, OVERLAY, REFERENCE, STALE, Style
from dpml_app.settings import EPSILONS

FloatArray = NDArray[np.float64]
# the custom model: on this page no other method is drawn beside it
HAND = Style("custom model", GREEN, "diamond")
# of the gap, the part that a simpler method leaves: a lighter tone of the noise's
SIMPLER_ALPHA = 0.45
# room for the names of the curves beside their ends, and for the labels of the axis; the slider is as wide as between
LEFT, RIGHT = 76, 178
CURVE = ("epsilon", "mean", "low", "high")
NAMES = (
    ("non-private baseline", REFERENCE),
    ("default classifier", BLUE),
    ("thin: one run", BLUE),
    ("custom model", HAND.color),
    ("majority class", REFERENCE),
)


@dataclass(frozen=True)
class Private:
    """What is known of the default classifier: draws of shape (ε, draws), and the same fits without noise."""

    epsilons: FloatArray
    draws: FloatArray
    exact: FloatArray
    best: float
    majority: float
    # whether all that is wanted is there
    whole: bool


@dataclass
class ByHand:
    """Known results of the custom model by ε, and its settings."""

    levers: object = None
    draws: dict[float, FloatArray] = field(default_factory=dict)


class CostFigure(Figure):
    """Accuracy against ε of two private models, the non-private baseline and the majority class.

    The browser moves what belongs to the ε that is chosen: all draws at every ε are in the page.
    """

    computed = ("curve", "draws", "gap", "dots", "names", "hand", "point")

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
        epsilon_axis(p)
        p.xaxis.axis_label, p.yaxis.axis_label = "ε (log scale)", "test accuracy"
        p.xaxis.ticker.ticks = [*EPSILON_TICKS]
        p.xgrid.visible = False
        p.yaxis.formatter = NumeralTickFormatter(format="0%")
        for axis in p.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None)
        self.curve = empty_source("cost-curve", *CURVE, "exact", "best", "guess")
        self.draws = empty_source("cost-draws", "epsilon", "run", "accuracy")
        self.hand = empty_source("cost-hand", *CURVE)
        self.point = empty_source("cost-hand-now", *CURVE)
        # the browser's own: which run it is says nothing
        self.one = ColumnDataSource({"epsilon": [], "accuracy": []})
        columns = ("epsilon", "mean", "exact", "best", "text", "size", "align", "base", "off", "down")
        self.gap = empty_source("cost-gap", *columns)
        self.dots = empty_source("cost-dots", "epsilon", "accuracy")
        self.names = empty_source("cost-names", "x", "y", "text", "color", "down", "side", "off")
        self.names.tags = [LAYOUT]
        self.goal_words = empty_source("cost-goal-words", "x", "y", "text", "shown", "base", "down")
        fill(self.goal_words, [(EPSILONS[0], 0.5, "", "", "bottom", -3)])
        self.goal_words.tags = [LAYOUT]
        # accuracies besides that the axis shows
        self._beside: list[float] = []
        self.private: Private | None = None
        self._by_hand = ByHand()
        self.goal = self._line("cost-goal", "width", 0.5, [2, 4])
        self.marker = self._line("cost-marker", "height", 0.1, [5, 4])
        self._draw(p)

    def _line(self, name: str, dimension: str, location: float, dash: list[int]) -> Span:
        look: dict[str, Any] = {"editable": True, "hover_line_color": BLUE, "hover_line_width": 4, "level": OVERLAY}
        return across(self.plot, dimension, location, line_dash=dash, name=name, **look)

    def _draw(self, p: figure) -> None:
        mean, band = draw_band(self.curve, Style("private", BLUE, "circle"), "epsilon", width=4)
        hand, hand_band = draw_band(self.hand, HAND, "epsilon", width=3)
        self._hand_looks = hand.glyph, hand_band.glyph
        p.renderers += [band, hand_band]
        best = p.line("epsilon", "best", source=self.curve, color=REFERENCE, line_width=3)
        p.line("epsilon", "guess", source=self.curve, color=REFERENCE, line_width=2, line_dash="dotted")
        p.renderers += [hand, mean]
        p.line("epsilon", "accuracy", source=self.one, color=BLUE, line_width=1.5)
        for start, end, alpha in (("mean", "exact", 1.0), ("exact", "best", SIMPLER_ALPHA)):
            look: dict[str, Any] = {"color": COST, "line_alpha": alpha, "line_width": 7, "level": OVERLAY}
            p.segment("epsilon", start, "epsilon", end, source=self.gap, **look)
        p.scatter("epsilon", "accuracy", source=self.dots, color=BLUE, size=6, alpha=0.45, level=OVERLAY)
        dot = {"line_color": "white", "line_width": 2.5, "level": OVERLAY}
        p.scatter("epsilon", "mean", source=self.gap, size=17, color=BLUE, **dot)
        p.segment("epsilon", "low", "epsilon", "high", source=self.point, color=HAND.color, line_width=4, level=OVERLAY)
        p.scatter("epsilon", "mean", source=self.point, size=19, marker=HAND.marker, color=HAND.color, **dot)
        bold = {"text_font_style": "bold", "level": OVERLAY}
        # where no curve is: the browser knows, who fits the plot to its window
        place = {"text_align": "align", "text_baseline": "base", "x_offset": "off", "y_offset": "down"}
        look = {"text_font_size": "size", "name": "cost-words", **place, **bold}
        write(p, "epsilon", "best", "text", source=self.gap, color=COST, **look)
        beside = {"text_align": "side", "text_baseline": "middle", "x_offset": "off", "y_offset": "down"}
        write(p, "x", "y", "text", source=self.names, color="color", text_font_size="15px", **beside, **bold)
        above = {"text_font_size": "14px", "x_offset": 6, "y_offset": "down", "text_baseline": "base", "level": OVERLAY}
        write(p, "x", "y", "shown", source=self.goal_words, color=REFERENCE, **above)
        tips = [("ε", "@epsilon"), ("mean accuracy", "@mean{0.0%}"), ("90% of runs", "@low{0.0%} to @high{0.0%}")]
        hover(p, [mean, best], *tips, ("non-private baseline", "@best{0.0%}"))
        hover(p, [hand], ("custom model", "ε = @epsilon"), *tips[1:])

    def begin(self, epsilon: float) -> None:
        """Mark the ε that a page opens with; the browser moves the mark later.

        What the server would send then is of an ε that has been left meanwhile, and would count as a drag back to it.
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

    def show_by_hand(self, levers: object, draws: dict[float, FloatArray], whole: bool) -> None:
        """Show the custom model's curve; fade an earlier one until the new curve is complete."""
        if not whole and self._by_hand.draws and levers != self._by_hand.levers:
            self._look(STALE)
            return
        self._by_hand = ByHand(levers, draws)
        rows = [(epsilon, *spread(draws[epsilon])) for epsilon in sorted(draws)]
        fill(self.hand, rows)
        self._look(1.0)
        self._fit()

    def show_point(self, levers: object, epsilon: float, draws: FloatArray | None) -> None:
        """Show the custom model at the chosen ε; fade the curve of other settings."""
        if draws is None:
            empty(self.point)
        else:
            point = (epsilon, *spread(draws))
            self.point.data = {name: [value] for name, value in zip(CURVE, point, strict=True)}
            self._keep_in_sight(point[2:])
        self._look(1.0 if levers == self._by_hand.levers else STALE)

    def _look(self, alpha: float) -> None:
        line, band = self._hand_looks
        line.line_alpha, band.fill_alpha = alpha, BAND_ALPHA * alpha

    def _fit(self) -> None:
        """Fit the axis to what is compared, and name the curves at their ends."""
        private, hand = self.private, self.hand.data
        if private is None or not len(private.epsilons):
            return
        curve = self.curve.data
        shown = [curve["low"], curve["high"], curve["best"], curve["guess"], hand["low"], hand["high"], self._beside]
        seen = np.concatenate([np.asarray(values, dtype=float) for values in shown])
        bottom, top = seen.min(), seen.max()
        y, margin = self.plot.y_range, 0.06 * (top - bottom)
        if private.whole or y.start > bottom or y.end < top:
            y.update(start=bottom - margin, end=top + margin)
        ends = [private.best, curve["mean"][-1], curve["mean"][-1], *hand["mean"][-1:], private.majority]
        named = [name for name in NAMES if len(hand["mean"]) or name[1] != HAND.color]
        text, color = (list(column) for column in zip(*named, strict=True))
        n, at, down = len(named), -np.inf, {}
        # one below the other, until the browser knows how high the plot is
        for place in np.argsort(-np.array(ends), kind="stable"):
            wished = HEIGHT * (y.end - ends[place]) / (y.end - y.start)
            at = max(wished, at + ROW)
            down[place] = round(at - wished)
        rest = {"down": [down[i] for i in range(n)], "side": ["left"] * n, "off": [12] * n}
        self.names.data = {"x": [EPSILONS[-1]] * n, "y": ends, "text": text, "color": color, **rest}

    def save(self, path: str) -> None:
        """Save the picture as a page, without what the browser adds to it."""
        kept = [i for i, text in enumerate(self.names.data["text"]) if not text.startswith("thin")]
        self.names.data = {column: [values[i] for i in kept] for column, values in self.names.data.items()}
        # a font of another page may be wider
        self.plot.min_border_right = RIGHT + 30
        save(self.plot, path, resources=INLINE, title="Accuracy")

    def _keep_in_sight(self, accuracies: Sequence[float]) -> None:
        y, least, most = self.plot.y_range, min(accuracies, default=1.0), max(accuracies, default=0.0)
        if least < y.start or most > y.end:
            y.update(start=min(y.start, least - 0.01), end=max(y.end, most + 0.01))

    def make_room(self, accuracies: Sequence[float]) -> None:
        """Have these in sight as well, from now on."""
        self._beside = list(accuracies)
        self._keep_in_sight(self._beside)

    def say_goal(self, text: str) -> None:
        """Label the target's line with the ε that it needs."""
        if self.goal_words.data["text"] != [text]:
            self.goal_words.data = {**self.goal_words.data, "text": [text], "shown": [text]}

    def clear(self, series: str | None = None) -> None:
        super().clear(series)
        self.private, self._by_hand = None, ByHand()
        self.say_goal("")
