"""The figures of the ROC curve page: made once a page, then changed through their data sources alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter
from bokeh.plotting import figure
from scipy.special import logit

from dpml.evaluation import PrivateEvaluation
from dpml_app.drawing.band import BandFigure, draw_band
from dpml_app.drawing.figure import (
    PLAIN_DIGITS,
    Figure,
    across,
    empty,
    empty_source,
    hover,
    label,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
    square,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, OVERLAY, REFERENCE, VERMILION, Style
from dpml_app.pages.evaluate.controls import probability
from dpml_app.pages.evaluate.settings import ROC_STYLES, SIZES

# room for a legend of one column, which a phone needs
TALL = 640


def name_curves(p: figure, names: Iterable[tuple[str, str]], x: float = 1.0, align: str = "right") -> None:
    """Write the names of curves, in their colours, where the plane of shares is empty: below them."""
    for place, (text, color) in enumerate(names):
        label(p, x, 0.3 - 0.1 * place, text, color, 16, text_align=align)


def send(source: ColumnDataSource, data: Mapping[str, Any]) -> None:
    """Change a source if anything of it has changed: a figure that stays need not be painted."""
    if not all(np.array_equal(source.data[c], column) for c, column in data.items()):
        source.data = dict(data)


RATES = ("false positive rate", "true positive rate")
BAND = ("fpr", "low", "mid", "high")
TIPS = ("median", "@mid{0.0%}"), ("90%", "@low{0.0%} to @high{0.0%}")


class RocFigure(Figure):
    """The true curve, one private release, and a band of 90 % of them; the browser draws the release, page.js."""

    computed = ("exact", "band", "release")

    def __init__(self):
        self.plot = p = square("evaluate-roc", *RATES)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.band = empty_source("evaluate-roc-band", *BAND)
        self.release = empty_source("evaluate-roc-release", "fpr", "tpr")
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        _median, area = draw_band(self.band, ROC_STYLES["histogram"], "fpr", "mid", level=OVERLAY)
        p.renderers.append(area)
        p.line("fpr", "tpr", source=self.release, color=GREEN, line_width=3, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        private = ("one private release", GREEN), ("band: 90% of releases", GREEN)
        name_curves(p, (("non-private: reveals labels", EXACT), *private))

    def show_exact(self, fpr: np.ndarray, tpr: np.ndarray) -> None:
        """Draw the true curve."""
        self.exact.data = {"fpr": fpr, "tpr": tpr}


class MethodFigure(Figure):
    """A method's median curve, a band of 90 % of its draws, single draws, faint, and the true curve.

    `exact`: of the true curve, which all these figures share.
    """

    computed = ("band", "faint")

    def __init__(self, method: str, exact: ColumnDataSource):
        style = ROC_STYLES[method]
        self.plot = p = square(f"evaluate-{method}", *RATES)
        p.update(height=260, title=style.label)
        for axis in p.axis:
            axis.ticker = FixedTicker(ticks=[0, 0.5, 1])
        self.band = empty_source(f"evaluate-roc-{method}", *BAND)
        self.faint = empty_source(f"evaluate-roc-{method}-draws", "fpr", "tpr")
        p.line("fpr", "tpr", source=self.faint, color=style.color, line_alpha=0.18, line_width=1)
        median, area = draw_band(self.band, style, "fpr", "mid")
        p.renderers += [area, median]
        p.line("fpr", "tpr", source=exact, color=EXACT, line_width=2)

    def show(self, curves: Mapping[str, Any], grid: np.ndarray) -> None:
        """Show what the method's draws gave."""
        self.band.data = {"fpr": grid, **{c: curves[c] for c in BAND[1:]}}
        rows = ([np.append(row, np.nan) for row in curves[c]] for c in ("fpr", "tpr"))
        self.faint.data = {c: np.concatenate(row) for c, row in zip(("fpr", "tpr"), rows, strict=True)}


class RecallFigure(Figure):
    """Precision against recall."""

    computed = ("exact", "band")

    def __init__(self):
        self.plot = p = square("evaluate-recall", "recall (true positive rate)", "precision")
        self.exact = empty_source("evaluate-recall-exact", "recall", "precision")
        self.band = empty_source("evaluate-recall-private", "recall", "low", "mid", "high")
        style = Style("Private: median and 90% of samples", GREEN, "circle")
        drawn = draw_band(self.band, style, "recall", "mid", level=OVERLAY)
        p.renderers += drawn[::-1]
        p.line("recall", "precision", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        names = ("non-private curve", EXACT), ("private: median", GREEN), ("band: 90% of releases", GREEN)
        name_curves(p, names, 0.02, "left")
        hover(p, drawn[:1], ("recall", "@recall{0%}"), *TIPS)

    def show(self, true: tuple[np.ndarray, np.ndarray], private: Mapping[str, np.ndarray]) -> None:
        """Show the true curve, as recall and precision, and the draws'."""
        send(self.exact, {"recall": true[0], "precision": true[1]})
        self.band.data = {c: private[c] for c in self.band.data}


class CalibrationFigure(Figure):
    """The share of the second class in each bin of the score, beside the probability that stands for the bin.

    `thresholds`, ndarray of shape (B + 1,): between bins, in log-odds, the highest first.
    """

    computed = ("exact", "band")

    def __init__(self, thresholds: np.ndarray):
        B = len(thresholds) - 1
        nothing = PrivateEvaluation(np.zeros((2, B)), thresholds, 1.0, 1.0, score_scale="log-odds")
        probabilities = nothing.bin_probabilities()[::-1]
        self.labels = [probability(float(logit(p))) for p in probabilities]
        self.plot = p = new_figure(
            "evaluate-calibration",
            x_range=(-0.7, B - 0.3),
            y_range=(-0.03, 1.03),
            x_axis_label="stated probability",
            y_axis_label="share of positive records",
        )
        percent_axis(p.yaxis)
        p.xaxis.ticker = FixedTicker(ticks=list(range(0, B, 3)))
        p.xaxis.major_label_overrides = {k: _short(float(probabilities[k])) for k in range(0, B, 3)}
        stated = p.line(list(range(B)), list(probabilities), color=REFERENCE, line_width=2, line_dash="dotted")
        self.exact = empty_source("evaluate-calibration-exact", "bin", "share", "said")
        self.band = empty_source("evaluate-calibration-private", "bin", "low", "mid", "high", "alpha", "said")
        look: dict[str, Any] = {"source": self.band, "level": OVERLAY, "color": GREEN, "alpha": "alpha"}
        bars = p.segment("bin", "low", "bin", "high", line_width=5, **look)
        dots = p.scatter("bin", "mid", size=9, **look)
        true = p.scatter(
            "bin", "share", source=self.exact, marker="x", size=11, color=EXACT, line_width=3, level=OVERLAY
        )
        legend = PlotLegend(p, 1, hides=True)
        legend.add("Non-private (never publish)", [mark("x", EXACT, line_width=2)], [true])
        samples = [stroke(GREEN), mark("circle", GREEN)]
        legend.add("Private: median and 90% of samples", samples, [dots, bars])
        legend.add("Calibrated", [stroke(REFERENCE, "dotted")], [stated])
        hover(p, [dots], ("stated", "@said"), *TIPS)
        hover(p, [true], ("stated", "@said"), ("non-private", "@share{0.0%}"))

    def show(self, true: Mapping[str, np.ndarray], private: Mapping[str, np.ndarray], n_std: float) -> None:
        """Show the true shares and the draws'; pale where noise is larger than the number of records."""
        some = np.flatnonzero(true["records"] > 0)
        labels = np.array(self.labels, dtype=object)
        send(self.exact, {"bin": some, "share": true["share"][some], "said": labels[some].tolist()})
        there = np.flatnonzero(private["said"] > 0)
        self.band.data = {
            "bin": there,
            **{c: private[c][there] for c in ("low", "mid", "high")},
            "alpha": np.where(true["records"][there] > n_std, 0.9, 0.25),
            "said": labels[there].tolist(),
        }


def _short(share: float) -> str:
    """Return a probability for an axis, whose ends need no digits."""
    return "< 0.1%" if share < 0.001 else "> 99.9%" if share > 0.999 else f"{100 * share:.3g}%"


def _error_options() -> dict[str, Any]:
    return {
        "y_axis_type": "log",
        "y_range": (0.0008, 1.0),
        "y_axis_label": "area to the non-private curve (log scale)",
    }


def _error_axis(p: figure) -> None:
    set_ticks(p.yaxis[0], [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1], grid=p.ygrid[0])


def error_figure() -> BandFigure:
    """Return Stoddard et al.'s Fig. 7: the error against ε."""
    p = over_epsilon("evaluate-errors", **_error_options())
    p.height = TALL
    _error_axis(p)
    return BandFigure(p, ROC_STYLES, "epsilon", middle="median", tip="0.0000")


def size_figure() -> BandFigure:
    """Return Stoddard et al.'s Fig. 8: the error against the number of thresholds."""
    p = new_figure(
        "evaluate-sizes",
        x_axis_type="log",
        x_range=(SIZES[0] / 1.2, SIZES[-1] * 1.2),
        x_axis_label="number of bins (log scale)",
        **_error_options(),
    )
    p.height = TALL
    set_ticks(p.xaxis[0], [*SIZES[::2], SIZES[-1]], PLAIN_DIGITS)
    _error_axis(p)
    return BandFigure(p, ROC_STYLES, "size", middle="median", tip="0.0000")


GAP_STYLES = {"difference": Style("Private difference A − B", GREEN, "circle")}
SURE_STYLES = {"probability": Style("Probability that A is better", BLUE, "circle")}


def gap_figure() -> BandFigure:
    """Return the private difference of two classifiers against ε, with the true one."""
    p = over_epsilon("evaluate-gap", y_range=(-0.2, 0.2), y_axis_label="difference A − B")
    p.height = 420
    chart = BandFigure(p, GAP_STYLES, "epsilon", middle="median", tip="0.000")
    chart.level("true", "Non-private difference (never publish)", EXACT)
    across(p, "width", 0, line_width=1.5, line_dash="dotted")
    return chart


def sure_figure() -> BandFigure:
    """Return how probable a release makes it that A is better, against ε."""
    p = over_epsilon("evaluate-sure", y_range=(-0.02, 1.02), y_axis_label="probability that A is better")
    p.height = 420
    percent_axis(p.yaxis)
    chart = BandFigure(p, SURE_STYLES, "epsilon", middle="median")
    coin = across(p, "width", 0.5, line_width=1.5, line_dash="dotted")
    chart.legend.add("Chance", [stroke(REFERENCE, "dotted")], [coin])
    return chart


class IntervalFigure:
    """The area of each of a few releases with the interval that it prints, beside the true area."""

    def __init__(self):
        self.plot = p = new_figure("evaluate-intervals", x_range=(0, 1), y_range=(-0.5, 10), x_axis_label="AUC")
        p.height = 300
        p.yaxis.visible = False
        p.ygrid.visible = False
        p.xaxis.formatter = NumeralTickFormatter(format="0.00")
        self.rows = empty_source("evaluate-intervals-rows", "row", "value", "low", "high", "color", "holds")
        self.true = across(p, "height", line_color=EXACT, line_width=3, name="evaluate-true-auc")
        self.binned = across(p, "height", line_dash="dashed", name="evaluate-binned-auc")
        look: dict[str, Any] = {"source": self.rows, "level": OVERLAY}
        lines = p.segment("low", "row", "high", "row", color="color", line_width=3, **look)
        dots = p.scatter("value", "row", color="color", size=8, **look)
        tips = ("AUC", "@value{0.000}"), ("90% interval", "@low{0.000} to @high{0.000}"), ("", "@holds")
        hover(p, [lines, dots], *tips)
        # no labels of an axis stand to the left of this plot
        legend = PlotLegend(p, 1, location=(0, 0))
        for title, color, dash in (
            ("Non-private AUC (never publish)", EXACT, "solid"),
            ("Same bins without noise", REFERENCE, "dashed"),
            ("Interval contains it", GREEN, "solid"),
            ("Interval misses it", VERMILION, "solid"),
        ):
            legend.add(title, [stroke(color, dash)])

    def show(self, true: float, binned: float, values: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
        """Show the draws, the first one on top, and return how many hold the area of the bins."""
        n = len(values)
        holds = (low <= binned) & (binned <= high)
        if self.plot.y_range.end != n - 0.5:
            self.plot.y_range.end = n - 0.5
        reach = max(0.02, float(np.max(np.abs(np.concatenate([low, high]) - true))))
        # few steps, so that a slider does not move the axis at every step
        reach = float(np.clip(0.02 * 2 ** np.ceil(np.log2(reach / 0.02)), 0.02, 1.0))
        start, end = max(0.0, true - 1.05 * reach), min(1.005, true + 1.05 * reach)
        if (self.plot.x_range.start, self.plot.x_range.end) != (start, end):
            self.plot.x_range.update(start=start, end=end)
        self.true.location, self.binned.location = true, binned
        self.rows.data = {
            "row": np.arange(n)[::-1],
            "value": values,
            "low": low,
            "high": high,
            "color": np.where(holds, GREEN, VERMILION),
            "holds": np.where(holds, "contains the AUC without noise", "misses the AUC without noise"),
        }
        return int(holds.sum())

    def clear(self) -> None:
        """Show nothing."""
        self.true.location = self.binned.location = None
        empty(self.rows)


ATTACK_STYLES = {
    "counts": Style("from noisy counts", BLUE, "circle"),
    "curve": Style("from private curve", ORANGE, "square"),
}


class SuccessFigure(BandFigure):
    """How often the attacker is right against ε: measured, the best that there is, and the bound."""

    computed = ("best",)

    def __init__(self):
        p = over_epsilon("evaluate-success", y_range=(0.45, 1.03), y_axis_label="labels guessed correctly")
        p.height = 420
        percent_axis(p.yaxis)
        super().__init__(p, ATTACK_STYLES, "epsilon")
        self.best = empty_source("evaluate-success-best", "epsilon", "bound", "best")
        bound = p.line("epsilon", "bound", source=self.best, color=REFERENCE, line_width=2.5)
        best = p.line("epsilon", "best", source=self.best, color=GREEN, line_width=2.5, line_dash="dashed")
        always = across(p, "width", 1.0, line_color=EXACT, line_width=3)
        coin = across(p, "width", 0.5, line_width=1, line_dash="dotted")
        lines = [
            self.legend.item("non-private curve", [stroke(EXACT, width=3)], [always]),
            self.legend.item("bound", [stroke(REFERENCE)], [bound]),
            self.legend.item("best attack", [stroke(GREEN, "dashed")], [best]),
        ]
        self.legend.place([*lines, *self.items.values()])
        self.legend.add("chance", [stroke(REFERENCE, "dotted")], [coin])

    def show_lines(self, epsilons: Sequence[float], lines: Mapping[str, np.ndarray]) -> None:
        """Show the bound and the best attack."""
        send(self.best, {"epsilon": np.array(epsilons), **lines})
