"""The Bokeh figures of the page Privacy cost: made once, then changed through their data sources.

Every model that a test or the browser's own code reads has a name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bokeh.io import save
from bokeh.models import ColorBar, ColumnDataSource, FactorRange, LinearColorMapper, NumeralTickFormatter, Span
from bokeh.palettes import Viridis256
from bokeh.plotting import figure
from bokeh.resources import INLINE
from numpy.typing import NDArray

from dpml.studies import compared
from dpml_app.drawing.band import draw_band, fade, spread
from dpml_app.drawing.figure import (
    LAYOUT,
    Figure,
    across,
    edges,
    empty,
    empty_source,
    epsilon_axis,
    fill,
    hover,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
    square,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import (
    BAND_ALPHA,
    BLUE,
    COST,
    EXACT,
    GREEN,
    HERE,
    OVERLAY,
    REFERENCE,
    STALE,
    Style,
    style_of,
)
from dpml_app.settings import EPSILONS

FloatArray = NDArray[np.float64]
# on this page no other method is drawn beside the custom model
CUSTOM = Style("custom model", GREEN, "diamond")
SCORE_STYLES = {"count": style_of("mask-count", "selector"), "mutual_information": style_of("mask-mi", "selector")}
SCORE_WORDS = {"count": "counts", "mutual_information": "mutual information"}
# of the gap, the part that a simpler method leaves: a lighter tone than the part of the noise
SIMPLER_ALPHA = 0.45
# room for the labels of the axis; the slider is as wide as the frame
LEFT, RIGHT = 76, 18
CURVE = ("epsilon", "mean", "low", "high")


@dataclass(frozen=True)
class Private:
    """Results of the default classifier: draws of shape (ε, draws), and the same fits without noise."""

    epsilons: FloatArray
    draws: FloatArray
    exact: FloatArray
    best: float
    majority: float
    # whether all results are there
    whole: bool


@dataclass
class Custom:
    """Results of the custom model by ε, and its settings."""

    levers: object = None
    draws: dict[float, FloatArray] = field(default_factory=dict)


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
        epsilon_axis(p)
        p.xaxis.axis_label, p.yaxis.axis_label = "ε (log scale)", "test accuracy"
        p.xgrid.visible = False
        percent_axis(p.yaxis)
        for axis in p.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None)
        self.curve = empty_source("cost-curve", *CURVE, "exact", "best", "guess")
        self.draws = empty_source("cost-draws", "epsilon", "run", "accuracy")
        self.hand = empty_source("cost-hand", *CURVE)
        self.point = empty_source("cost-hand-now", *CURVE)
        self.gap = empty_source("cost-gap", "epsilon", "mean", "exact", "best", "text", "align", "off")
        self.dots = empty_source("cost-dots", "epsilon", "accuracy")
        self.target_label = empty_source("cost-goal-words", "x", "y", "text", "shown", "base", "down", "align", "off")
        self.target_label.tags = [LAYOUT]
        # accuracies of pins, which the axis shows as well
        self._pinned: list[float] = []
        self.private: Private | None = None
        self._custom = Custom()
        self.target = self._line("cost-goal", "width", 0.5, [2, 4])
        self.marker = self._line("cost-marker", "height", 0.1, [5, 4])
        self._draw(p)
        self.label_target(50.0, "")

    def _line(self, name: str, dimension: str, location: float, dash: list[int]) -> Span:
        look: dict[str, Any] = {"editable": True, "hover_line_color": BLUE, "hover_line_width": 4, "level": OVERLAY}
        return across(self.plot, dimension, location, line_dash=dash, name=name, **look)

    def _draw(self, p: figure) -> None:
        mean, band = draw_band(self.curve, Style("private", BLUE, "circle"), "epsilon", width=4)
        custom, custom_band = draw_band(self.hand, CUSTOM, "epsilon", width=3)
        fade(custom, line_alpha=STALE)
        fade(custom_band, fill_alpha=BAND_ALPHA * STALE)
        self._custom_lines = custom, custom_band
        p.renderers += [band, custom_band]
        best = p.line("epsilon", "best", source=self.curve, color=REFERENCE, line_width=3)
        guess = p.line("epsilon", "guess", source=self.curve, color=REFERENCE, line_width=2, line_dash="dotted")
        p.renderers += [custom, mean]
        for start, end, alpha in (("mean", "exact", 1.0), ("exact", "best", SIMPLER_ALPHA)):
            look: dict[str, Any] = {"color": COST, "line_alpha": alpha, "line_width": 7, "level": OVERLAY}
            p.segment("epsilon", start, "epsilon", end, source=self.gap, **look)
        p.scatter("epsilon", "accuracy", source=self.dots, color=BLUE, size=6, alpha=0.45, level=OVERLAY)
        dot = {"line_color": "white", "line_width": 2.5, "level": OVERLAY}
        p.scatter("epsilon", "mean", source=self.gap, size=17, color=BLUE, **dot)
        bar: dict[str, Any] = {"color": CUSTOM.color, "line_width": 4, "level": OVERLAY}
        p.segment("epsilon", "low", "epsilon", "high", source=self.point, **bar)
        p.scatter("epsilon", "mean", source=self.point, size=19, marker=CUSTOM.marker, color=CUSTOM.color, **dot)
        # the browser puts both texts on that side of the frame where the other one is not
        look = {"text_align": "align", "x_offset": "off", "level": OVERLAY}
        bold = {"text_font_size": "18px", "text_font_style": "bold", "text_baseline": "bottom", "y_offset": -5}
        write(p, "epsilon", "best", "text", source=self.gap, color=COST, name="cost-words", **look, **bold)
        look |= {"text_font_size": "14px", "text_baseline": "base", "y_offset": "down"}
        write(p, "x", "y", "shown", source=self.target_label, color=REFERENCE, **look)
        legend = PlotLegend(p, 4)
        named = {"non-private baseline": best, "default classifier": mean, "custom model": custom}
        for name, line in {**named, "majority class": guess}.items():
            legend.add(name, [stroke(line.glyph.line_color, line.glyph.line_dash)], [line])
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
        """Show the custom model's curve; fade an earlier one until the new curve is complete."""
        if not whole and self._custom.draws and levers != self._custom.levers:
            self._fade(stale=True)
            return
        self._custom = Custom(levers, draws)
        rows = [(epsilon, *spread(draws[epsilon])) for epsilon in sorted(draws)]
        fill(self.hand, rows)
        self._fade(stale=False)
        self._fit()

    def show_point(self, levers: object, epsilon: float, draws: FloatArray | None) -> None:
        """Show the custom model at the chosen ε; fade the curve of other settings."""
        if draws is None:
            empty(self.point)
        else:
            point = (epsilon, *spread(draws))
            self.point.data = {name: [value] for name, value in zip(CURVE, point, strict=True)}
            self._keep_in_sight(point[2:])
        self._fade(stale=levers != self._custom.levers)

    def _fade(self, *, stale: bool) -> None:
        for renderer in self._custom_lines:
            renderer.muted = stale

    def _fit(self) -> None:
        """Fit the axis to what is compared, with room above for the label of the gap."""
        private, custom = self.private, self.hand.data
        if private is None or not len(private.epsilons):
            return
        curve = self.curve.data
        columns = [curve["low"], curve["high"], curve["best"], curve["guess"], custom["low"], custom["high"]]
        seen = np.concatenate([np.asarray(values, dtype=float) for values in [*columns, self._pinned]])
        bottom, top = seen.min(), seen.max()
        y, height = self.plot.y_range, top - bottom
        if private.whole or y.start > bottom or y.end < top:
            y.update(start=bottom - 0.06 * height, end=top + 0.1 * height)

    def save(self, path: str) -> None:
        """Save the picture as a page."""
        save(self.plot, path, resources=INLINE, title="Accuracy")

    def _keep_in_sight(self, accuracies: Sequence[float]) -> None:
        y, least, most = self.plot.y_range, min(accuracies, default=1.0), max(accuracies, default=0.0)
        if least < y.start or most > y.end:
            y.update(start=min(y.start, least - 0.01), end=max(y.end, most + 0.01))

    def make_room(self, accuracies: Sequence[float]) -> None:
        """Keep these accuracies in sight as well, from now on."""
        self._pinned = list(accuracies)
        self._keep_in_sight(self._pinned)

    def label_target(self, percent: float, text: str) -> None:
        """Draw the line of a target accuracy with its label; a target beyond the axis is drawn at its end."""
        y = self.plot.y_range
        height = y.end - y.start
        at = min(max(percent / 100, y.start + 0.02 * height), y.end - 0.02 * height)
        # where it was dragged it stays: it may be on its way on
        if abs(self.target.location - at) > 0.0026:
            self.placed = self.target.location = at
        below = at > y.end - 0.1 * height
        row = {"y": at, "text": text, "shown": text, "base": "top" if below else "bottom", "down": 5 if below else -3}
        if any(self.target_label.data[name] != [value] for name, value in row.items() if name != "shown"):
            row |= {"x": EPSILONS[0], "align": "left", "off": 6}
            self.target_label.data = {name: [value] for name, value in row.items()}

    def clear(self, series: str | None = None) -> None:
        super().clear(series)
        self.private, self._custom = None, Custom()
        self.label_target(100 * self.target.location, "")


class SelectionFigure:
    """Inclusion probabilities of the mask distribution, computed in the browser from exact scores."""

    def __init__(self, rows: int = 20):
        self.rows = rows
        self.plot = p = new_figure(
            "selection",
            y_range=FactorRange(factors=[]),
            x_range=(-0.02, 1.02),
            x_axis_label="selection probability",
        )
        p.xaxis.formatter = NumeralTickFormatter(format="0%")
        p.yaxis.major_label_text_font_size = "13px"
        p.ygrid.visible = False
        self.scores = empty_source("selection-scores", "count", "mutual_information")
        self.shown = empty_source("selection-shown", "index", "y", "name")
        self.unit = empty_source("selection-unit", "count", "mutual_information", "serial")
        self.drawn = empty_source("selection-drawn", "y", "name", "count", "mutual_information")
        self.uniform = across(p, "height", 0, line_dash="dotted", name="uniform", level=OVERLAY)
        on: dict[str, Any] = {"source": self.drawn, "level": OVERLAY}
        p.segment("count", "y", "mutual_information", "y", color=REFERENCE, line_alpha=0.5, **on)
        legend, every = PlotLegend(p, 1, hides=True), []
        for kind, style in SCORE_STYLES.items():
            dots = p.scatter(kind, "y", marker=style.marker, size=12, color=style.color, line_color="white", **on)
            every.append(dots)
            legend.add(SCORE_WORDS[kind], [mark(style.marker, style.color)], [dots])
        legend.add("chance", [stroke(REFERENCE, "dotted")], [self.uniform])
        by_scores = ("by counts", "@count{0.00%}"), ("by mutual information", "@mutual_information{0.00%}")
        hover(p, every, ("feature", "@name"), *by_scores)

    def show_dataset(self, names: Sequence[str], count: np.ndarray, mutual_information: np.ndarray) -> None:
        """Send exact scores to the page, and choose the features that are shown: the best of either score."""
        ranks = [np.argsort(np.argsort(-s, kind="stable")) for s in (count, mutual_information)]
        best = np.argsort(np.minimum(*ranks), kind="stable")[: self.rows]
        best = best[np.argsort(-mutual_information[best], kind="stable")]
        labels = _unique([_label(names[i]) for i in best])
        self.plot.y_range.factors = labels[::-1]
        fill(self.drawn, ())
        self.scores.data = {"count": count, "mutual_information": mutual_information}
        self.shown.data = {"index": best, "y": labels, "name": [names[i] for i in best]}

    def show_unit(self, count: float, mutual_information: float) -> None:
        """Send how far one record moves a mask's score for each feature; the browser then draws."""
        serial = (self.unit.data["serial"][0] + 1) if len(self.unit.data["serial"]) else 0
        self.unit.data = {"count": [count], "mutual_information": [mutual_information], "serial": [serial]}


def _label(name: str) -> str:
    """Return a feature's name in 24 characters: its value says more than its column.

    >>> _label("marital-status=Married-AF-spouse")
    'marita…Married-AF-spouse'
    """
    return name if len(name) <= 24 else f"{name[:6]}…{name[-17:]}"


def _unique(labels: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        result.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return result


class RocFigure(Figure):
    """The exact ROC curve of one custom model, and private samples of it."""

    computed = ("private", "exact")

    def __init__(self):
        self.plot = p = square("roc", "false positive rate", "true positive rate")
        self.private = empty_source("roc-private", "fpr", "tpr")
        self.exact = empty_source("roc-exact", "fpr", "tpr")
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=2)
        # one line with gaps: fifty arrays would be fifty messages
        p.line("fpr", "tpr", source=self.private, color=CUSTOM.color, line_alpha=0.35, line_width=1.5, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        # below the diagonal, where no curve is that is better than a guess
        named = {"exact": EXACT, "private": CUSTOM.color, "dotted: chance": REFERENCE}
        places = {"x": [1.0] * 3, "y": [0.2, 0.13, 0.06], "text": list(named), "color": list(named.values())}
        look = {"text_align": "right", "text_baseline": "middle", "text_font_size": "15px", "text_font_style": "bold"}
        write(p, "x", "y", "text", source=ColumnDataSource(places, tags=[LAYOUT]), color="color", **look)

    def show(self, curves: dict[str, np.ndarray]) -> None:
        """Show the result of `compute.roc`."""
        gap = np.full((len(curves["fpr"]), 1), np.nan)
        self.private.data = {k: np.hstack([curves[k], gap]).ravel() for k in ("fpr", "tpr")}
        self.exact.data = {"fpr": curves["exact_fpr"], "tpr": curves["exact_tpr"]}


BEST = ("epsilon", "n_features", "accuracy", "error", "least", "most")
CELL = ("left", "right", "bottom", "top", "epsilon", "n_features", "accuracy", "alpha")


class MapFigure:
    """Mean accuracy over ε and feature count, the best count at each ε, and the current choice."""

    curves = ("map",)

    def __init__(self):
        self.plot = p = over_epsilon(
            "map",
            EPSILONS[0] / 1.3,
            EPSILONS[-1] * 1.3,
            y_axis_type="log",
            y_range=(0.8, 100),
            y_axis_label="number of features T (log scale)",
        )
        p.grid.visible = False
        set_ticks(p.yaxis[0], [1, 2, 5, 10, 20, 50, 100, 200, 500])
        self.mapper = LinearColorMapper(palette=Viridis256, low=0.5, high=1.0, name="map-colors")
        self.cells = empty_source("map-cells", *CELL)
        self.best = empty_source("map-best", *BEST)
        self.current = empty_source("map-current", "epsilon", "n_features")
        fill_color = {"field": "accuracy", "transform": self.mapper}
        look: dict[str, Any] = {"fill_color": fill_color, "fill_alpha": "alpha", "line_color": None}
        quads = p.quad("left", "right", "bottom", "top", source=self.cells, **look)
        on: dict[str, Any] = {"source": self.best, "level": OVERLAY}
        # from the least to the largest count that is as good
        for color, width in (("white", 5), ("black", 2)):
            p.segment("epsilon", "least", "epsilon", "most", color=color, line_width=width, **on)
        p.scatter("epsilon", "n_features", size=13, fill_color="white", line_color="black", line_width=2, **on)
        look = {"marker": "square", "size": 24, "fill_alpha": 0, "line_width": 4, "line_color": HERE, "level": OVERLAY}
        p.scatter("epsilon", "n_features", source=self.current, **look)
        legend = PlotLegend(p)
        best = mark("circle", "white", line_color="black", line_width=2)
        legend.add("best T", [stroke("black", width=2), best])
        legend.add("your T", [mark("square", HERE, fill_alpha=0, line_width=3)])
        bar = ColorBar(color_mapper=self.mapper, width=14, formatter=NumeralTickFormatter(format="0.0%"))
        bar.update(major_label_text_font_size="13px", title="", padding=6)
        p.add_layout(bar, "right")
        hover(p, [quads], ("ε", "@epsilon"), ("features", "@n_features"), ("mean accuracy", "@accuracy{0.0%}"))

    def start(self, epsilons: Sequence[float], ladder: Sequence[int], low: float, high: float) -> None:
        """Lay out empty cells for a data set, and set the range of colours."""
        self.mapper.update(low=low, high=max(high, low + 0.01))
        (left, right), (bottom, top) = edges(epsilons), edges(ladder)
        n, m = len(ladder), len(epsilons)
        self.plot.y_range.update(start=float(bottom[0]), end=float(top[-1]))
        self.cells.data = {
            "left": np.tile(left, n),
            "right": np.tile(right, n),
            "bottom": np.repeat(bottom, m),
            "top": np.repeat(top, m),
            "epsilon": np.tile(np.asarray(epsilons, dtype=float), n),
            "n_features": np.repeat(np.asarray(ladder), m),
            "accuracy": np.full(n * m, np.nan),
            "alpha": np.zeros(n * m),
        }
        empty(self.best)

    def outdate(self, _series: str) -> None:
        """Fade every cell."""
        data = dict(self.cells.data)
        data["alpha"] = np.where(np.isfinite(data["accuracy"]), STALE, 0.0)
        self.cells.data = data
        empty(self.best)

    def show(self, _series: str, rows: Mapping[int, np.ndarray], complete: bool) -> None:
        """Show the rows that are there; mark the best choices once all are."""
        data = dict(self.cells.data)
        values, alpha = data["accuracy"].copy(), data["alpha"].copy()
        for n_features, row in rows.items():
            cells = data["n_features"] == n_features
            values[cells], alpha[cells] = row.mean(axis=1), 1.0
        data.update(accuracy=values, alpha=alpha)
        self.cells.data = data
        if complete:
            ladder = np.array(sorted(rows))
            draws = np.stack([rows[t] for t in ladder], axis=1)
            columns = [compared(candidates) for candidates in draws]
            good = [ladder[each.equal] for each in columns]
            self.best.data = {
                "epsilon": data["epsilon"][: len(columns)],
                "n_features": np.array([ladder[each.best] for each in columns]),
                "accuracy": np.array([each.mean[each.best] for each in columns]),
                "error": np.array([each.se[each.best] for each in columns]),
                "least": np.array([counts.min() for counts in good]),
                "most": np.array([counts.max() for counts in good]),
            }

    def clear(self, _series: str | None = None) -> None:
        """Show no cells."""
        empty(self.cells)
        empty(self.best)
