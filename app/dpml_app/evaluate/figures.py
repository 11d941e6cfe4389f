"""The figures of the Evaluate page: made once a page, then changed through their data sources alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJSTickFormatter,
    FactorRange,
    FixedTicker,
    HoverTool,
    LegendItem,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure
from scipy.special import logit

from dpml.evaluation import PrivateEvaluation
from dpml_app.drawing.bands import Band, Bands
from dpml_app.drawing.figure import (
    empty,
    empty_source,
    epsilon_axis,
    legend_below,
    legend_key,
    new_figure,
    percent_axis,
)
from dpml_app.drawing.looks import EXACT, OVERLAY, REFERENCE, STALE, Style
from dpml_app.evaluate.controls import probability
from dpml_app.evaluate.settings import METHODS

__all__ = [
    "METHOD_STYLES",
    "AttackFigure",
    "BandsFigure",
    "CalibrationFigure",
    "IntervalFigure",
    "MedianBand",
    "RecallFigure",
    "RocFigure",
    "SuccessFigure",
    "error_figure",
    "gap_figure",
    "size_figure",
    "sure_figure",
]

BLUE, ORANGE, GREEN, RED, PINK, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
_LOOKS = {
    "histogram": (GREEN, "diamond", "solid"),
    "recursive-medians": (BLUE, "circle", "dashed"),
    "recursive-medians-exact": (SKY, "circle", "solid"),
    "fixed-space": (ORANGE, "square", "dashed"),
    "fixed-space-exact": ("#B8A600", "square", "solid"),
    "laplace": (RED, "triangle", "dashed"),
    "laplace-exact": (PINK, "triangle", "solid"),
}
METHOD_STYLES = {name: Style(METHODS[name], *look) for name, look in _LOOKS.items()}
GAP_STYLES = {"difference": Style("Private difference A - B", GREEN, "circle", "solid")}
SURE_STYLES = {"probability": Style("Probability that A is better", BLUE, "circle", "solid")}
ATTACK_STYLES = {
    "counts": Style("Attacker who sees the noisy counts", BLUE, "circle", "solid"),
    "curve": Style("Attacker who sees the private curve", ORANGE, "square", "solid"),
}
LABEL_COLORS = (SKY, ORANGE)
TALL = 640
BAND = ("fpr", "low", "mid", "high")
PRIVATE_ROWS = 5


def _square(name: str, x: str, y: str) -> figure:
    p = new_figure(
        name,
        x_range=Range1d(start=-0.02, end=1.02),
        y_range=Range1d(start=-0.02, end=1.02),
        x_axis_label=x,
        y_axis_label=y,
    )
    percent_axis(p.xaxis)
    percent_axis(p.yaxis)
    return p


def _send(source: ColumnDataSource, data: Mapping[str, Any]) -> None:
    """Change a source if anything of it has changed: a figure that stays need not be painted."""
    if not all(np.array_equal(source.data[c], column) for c, column in data.items()):
        source.data = dict(data)


class RocFigure:
    """The true curve and, for each method, its median curve, a band of 90 % of draws, and single draws, faint.

    The browser draws those of the default bins, `dpml_app.evaluate_page.js`; the workers compute the others.
    """

    def __init__(self):
        self.plot = p = _square("evaluate-roc", "false positive rate", "true positive rate")
        p.height = TALL
        p.line([0, 1], [0, 1], color=REFERENCE, line_dash="dotted", line_width=1.5)
        self.exact = empty_source("evaluate-roc-exact", "fpr", "tpr")
        self.bands: dict[str, ColumnDataSource] = {}
        self.faint: dict[str, ColumnDataSource] = {}
        self.stale: dict[str, ColumnDataSource] = {}
        self.items: dict[str, LegendItem] = {}
        medians = []
        for name, style in METHOD_STYLES.items():
            renderers = self._method(name, style)
            medians.append(renderers[0])
            self.items[name] = LegendItem(label=style.label, renderers=renderers, visible=False)
        look: dict[str, Any] = {"color": EXACT, "line_width": 3}
        true = p.line("fpr", "tpr", source=self.exact, level=OVERLAY, **look)
        item = LegendItem(label="True curve (exact: for study)", renderers=[true, legend_key(p, "line", **look)])
        legend_below(p, [item, *self.items.values()], ncols=1, click_policy="hide")
        tips = [("false positives", "@fpr{0.0%}"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=medians, tooltips=tips))

    def _method(self, name: str, style: Style) -> list:
        p = self.plot
        self.bands[name] = band = empty_source(f"evaluate-roc-{name}", *BAND)
        self.faint[name] = faint = empty_source(f"evaluate-roc-{name}-draws", "fpr", "tpr")
        self.stale[name] = stale = empty_source(f"evaluate-roc-{name}-stale", *BAND)
        look: dict[str, Any] = {"color": style.color, "line_dash": style.dash}
        drawn = p.line("fpr", "tpr", source=faint, color=style.color, line_alpha=0.18, line_width=1, level=OVERLAY)
        area = p.varea("fpr", "low", "high", source=band, fill_color=style.color, fill_alpha=0.13, level=OVERLAY)
        median = p.line("fpr", "mid", source=band, line_width=2.5, level=OVERLAY, **look)
        old = p.line("fpr", "mid", source=stale, line_width=2.5, line_alpha=STALE, **look)
        return [median, legend_key(p, "line", line_width=2.5, **look), drawn, area, old]

    def show_exact(self, fpr: np.ndarray, tpr: np.ndarray) -> None:
        """Draw the true curve."""
        self.exact.data = {"fpr": fpr, "tpr": tpr}

    def name_methods(self, methods: Sequence[str]) -> None:
        """Have only the methods that are chosen in the legend."""
        for name, item in self.items.items():
            item.visible = name in methods

    def show(self, name: str, found: Mapping[str, np.ndarray], grid: np.ndarray) -> None:
        """Show what a method's draws gave."""
        rows = [np.append(row, np.nan) for row in found["fpr"]], [np.append(row, np.nan) for row in found["tpr"]]
        self.bands[name].data = {"fpr": grid, **{c: found[c] for c in BAND[1:]}}
        self.faint[name].data = {"fpr": np.concatenate(rows[0]), "tpr": np.concatenate(rows[1])}
        empty(self.stale[name])

    def outdate(self, name: str) -> None:
        """Fade a method's curve."""
        if len(self.bands[name].data["fpr"]):
            self.stale[name].data = dict(self.bands[name].data)
            empty(self.bands[name])
            empty(self.faint[name])

    def clear(self, name: str | None = None) -> None:
        """Take a method's curves away, or everything."""
        for method in METHOD_STYLES if name is None else (name,):
            for source in (self.bands[method], self.faint[method], self.stale[method]):
                empty(source)
        if name is None:
            empty(self.exact)


class IntervalFigure:
    """The area of each of a few releases with the interval that it prints, beside the true area."""

    def __init__(self):
        self.plot = p = new_figure(
            "evaluate-intervals",
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=-0.5, end=10),
            x_axis_label="area under the ROC curve",
        )
        p.height = 300
        p.yaxis.visible = False
        p.ygrid.visible = False
        p.xaxis.formatter = NumeralTickFormatter(format="0.00")
        self.rows = empty_source("evaluate-intervals-rows", "row", "value", "low", "high", "color", "holds")
        self.true = Span(location=None, dimension="height", line_color=EXACT, line_width=3, name="evaluate-true-auc")
        p.add_layout(self.true)
        look_binned: Any = {"line_color": REFERENCE, "line_width": 2, "line_dash": "dashed"}
        self.binned = Span(location=None, dimension="height", name="evaluate-binned-auc", **look_binned)
        p.add_layout(self.binned)
        look: dict[str, Any] = {"source": self.rows, "level": OVERLAY}
        lines = p.segment("low", "row", "high", "row", color="color", line_width=3, **look)
        dots = p.scatter("value", "row", color="color", size=8, **look)
        tips = [("area", "@value{0.000}"), ("90 % interval", "@low{0.000} to @high{0.000}"), ("", "@holds")]
        p.add_tools(HoverTool(renderers=[lines, dots], tooltips=tips))
        keys = (
            ("True area (exact: for study)", EXACT, "solid"),
            ("The same bins without noise", REFERENCE, "dashed"),
            ("Interval holds that", GREEN, "solid"),
            ("Interval misses it", RED, "solid"),
        )
        items = [LegendItem(label=label, renderers=[_key(p, color, dash)]) for label, color, dash in keys]
        legend_below(p, items, ncols=1)
        # no labels of an axis stand to the left of this plot
        p.legend[0].location = (0, 0)

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
            "color": np.where(holds, GREEN, RED),
            "holds": np.where(holds, "holds the area without noise", "misses the area without noise"),
        }
        return int(holds.sum())

    def clear(self) -> None:
        """Show nothing."""
        self.true.location = self.binned.location = None
        empty(self.rows)


class RecallFigure:
    """Precision against recall."""

    def __init__(self):
        self.plot = p = _square("evaluate-recall", "recall (true positive rate)", "precision")
        self.exact = empty_source("evaluate-recall-exact", "recall", "precision")
        self.band = empty_source("evaluate-recall-private", "recall", "low", "mid", "high")
        look: dict[str, Any] = {"source": self.band, "level": OVERLAY}
        area = p.varea("recall", "low", "high", fill_color=GREEN, fill_alpha=0.15, **look)
        line = p.line("recall", "mid", color=GREEN, line_width=2.5, **look)
        true = p.line("recall", "precision", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        items = [
            LegendItem(label="True (exact: for study)", renderers=[true, _key(p, EXACT)]),
            LegendItem(label="Private: median and 90 % of draws", renderers=[line, _key(p, GREEN), area]),
        ]
        legend_below(p, items, ncols=1, click_policy="hide")
        tips = [("recall", "@recall{0%}"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=[line], tooltips=tips))

    def show(self, true: tuple[np.ndarray, np.ndarray], found: Mapping[str, np.ndarray]) -> None:
        """Show the true curve, as recall and precision, and the draws'."""
        _send(self.exact, {"recall": true[0], "precision": true[1]})
        self.band.data = {c: found[c] for c in self.band.data}

    def clear(self) -> None:
        """Show nothing."""
        empty(self.exact)
        empty(self.band)


class CalibrationFigure:
    """The share of the second class in each bin of the score, beside the probability that stands for the bin.

    Parameters
    ----------
    thresholds : ndarray of shape (B + 1,)
        Between bins, in log-odds, the highest first.
    """

    def __init__(self, thresholds: np.ndarray):
        B = len(thresholds) - 1
        nothing = PrivateEvaluation(np.zeros((2, B)), thresholds, 1.0, 1.0, score_scale="log-odds")
        probabilities = nothing.bin_probabilities()[::-1]
        self.labels = [probability(float(logit(p))) for p in probabilities]
        self.plot = p = new_figure(
            "evaluate-calibration",
            x_range=Range1d(start=-0.7, end=B - 0.3),
            y_range=Range1d(start=-0.03, end=1.03),
            x_axis_label="probability that the classifier states",
            y_axis_label="share of records of the second class",
        )
        percent_axis(p.yaxis)
        p.xaxis.ticker = FixedTicker(ticks=list(range(0, B, 3)))
        p.xaxis.major_label_overrides = {k: _short(float(probabilities[k])) for k in range(0, B, 3)}
        p.line(list(range(B)), list(probabilities), color=REFERENCE, line_width=2, line_dash="dotted")
        self.exact = empty_source("evaluate-calibration-exact", "bin", "share", "said")
        self.band = empty_source("evaluate-calibration-private", "bin", "low", "mid", "high", "alpha", "said")
        look: dict[str, Any] = {"source": self.band, "level": OVERLAY, "color": GREEN, "alpha": "alpha"}
        bars = p.segment("bin", "low", "bin", "high", line_width=5, **look)
        dots = p.scatter("bin", "mid", size=9, **look)
        true = p.scatter(
            "bin", "share", source=self.exact, marker="x", size=11, color=EXACT, line_width=3, level=OVERLAY
        )
        key = legend_key(p, "scatter", marker="x", size=10, color=EXACT, line_width=3)
        items = [
            LegendItem(label="True (exact: for study)", renderers=[true, key]),
            LegendItem(label="Private: median and 90 % of draws", renderers=[dots, _key(p, GREEN), bars]),
            LegendItem(label="As stated", renderers=[_key(p, REFERENCE, "dotted")]),
        ]
        legend_below(p, items, ncols=1, click_policy="hide")
        tips = [("stated", "@said"), ("median", "@mid{0.0%}"), ("90 %", "@low{0.0%} to @high{0.0%}")]
        p.add_tools(HoverTool(renderers=[dots], tooltips=tips))
        p.add_tools(HoverTool(renderers=[true], tooltips=[("stated", "@said"), ("true", "@share{0.0%}")]))

    def show(self, true: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray], n_std: float) -> None:
        """Show the true shares and the draws'; pale where noise is larger than the number of records."""
        some = np.flatnonzero(true["records"] > 0)
        labels = np.array(self.labels, dtype=object)
        _send(self.exact, {"bin": some, "share": true["share"][some], "said": labels[some].tolist()})
        there = np.flatnonzero(found["said"] > 0)
        self.band.data = {
            "bin": there,
            **{c: found[c][there] for c in ("low", "mid", "high")},
            "alpha": np.where(true["records"][there] > n_std, 0.9, 0.25),
            "said": labels[there].tolist(),
        }

    def clear(self) -> None:
        """Show nothing."""
        empty(self.exact)
        empty(self.band)


def _short(share: float) -> str:
    """Return a probability for an axis, whose ends need no digits."""
    return "< 0.1 %" if share < 0.001 else "> 99.9 %" if share > 0.999 else f"{100 * share:.3g} %"


def _key(p: figure, color: str, dash: str = "solid"):
    return legend_key(p, "line", color=color, line_width=2.5, line_dash=dash)


class MedianBand(Band):
    """Stoddard et al.'s line of medians, and a band of 90 % of draws; its column is called mean all the same."""

    def show(self, points: Mapping[float, np.ndarray], complete: bool) -> None:
        """Show the draws that are there at each x; the outdated curve goes once all are."""
        at = np.array(sorted(points))
        low, mid, high = np.array([np.quantile(points[x], [0.05, 0.5, 0.95]) for x in at]).reshape(-1, 3).T
        self.curve.data = {self.x: at, "mean": mid, "low": low, "high": high, "label": [self.style.label] * len(at)}
        if complete:
            self.stale.data = {c: [] for c in self.columns}


class BandsFigure(Bands):
    """Lines with bands over one axis, with a marker where one stands, and level lines."""

    def __init__(self, p: figure, styles: Mapping[str, Style], x: str, kind: type[Band] = Band, tip: str = "0.0%"):
        self.plot = p
        self.here = Span(
            location=None,
            dimension="height",
            line_color=REFERENCE,
            line_width=2,
            name=f"{p.name}-marker",
            level=OVERLAY,
        )
        p.add_layout(self.here)
        self.bands = {name: kind(p, f"{p.name}-{name}", style, x) for name, style in styles.items()}
        self.items = {
            name: LegendItem(label=styles[name].label, renderers=band.renderers) for name, band in self.bands.items()
        }
        middle = "median" if kind is MedianBand else "mean"
        ends = f"@low{{{tip}}} to @high{{{tip}}}"
        tips = [("", "@label"), (middle, f"@mean{{{tip}}}"), ("90 % of draws", ends)]
        p.add_tools(HoverTool(renderers=[band.line for band in self.bands.values()], tooltips=tips))
        self.levels: dict[str, Span] = {}

    def level(self, name: str, color: str = EXACT, dash: str = "solid") -> Span:
        """Add a level line, which is placed later."""
        self.levels[name] = span = Span(
            location=None,
            dimension="width",
            line_color=color,
            line_width=2.5,
            line_dash=dash,
            name=f"{self.plot.name}-{name}",
        )
        self.plot.add_layout(span)
        return span

    def name_methods(self, methods: Sequence[str]) -> None:
        """Have only the methods that are chosen in the legend."""
        for name, item in self.items.items():
            item.visible = name in methods

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        for span in self.levels.values() if series is None else ():
            span.location = None


def _over_epsilon(name: str, **options: Any) -> figure:
    p = new_figure(name, x_axis_type="log", x_range=Range1d(start=0.009, end=11), **options)
    epsilon_axis(p)
    return p


def _error_options() -> dict[str, Any]:
    return {
        "y_axis_type": "log",
        "y_range": Range1d(start=0.0008, end=1.0),
        "y_axis_label": "area between private and true curve",
    }


def _error_axis(p: figure) -> None:
    p.yaxis.ticker = FixedTicker(ticks=[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1])
    p.yaxis.formatter = CustomJSTickFormatter(code="return String(tick)")
    p.ygrid.ticker = p.yaxis[0].ticker


def error_figure() -> BandsFigure:
    """Return Stoddard et al.'s Fig. 7: the error against ε."""
    p = _over_epsilon("evaluate-errors", **_error_options())
    p.height = TALL
    _error_axis(p)
    found = BandsFigure(p, METHOD_STYLES, "epsilon", MedianBand, "0.0000")
    legend_below(p, list(found.items.values()), ncols=1, click_policy="hide")
    return found


def size_figure(sizes: Sequence[int]) -> BandsFigure:
    """Return Stoddard et al.'s Fig. 8: the error against the number of thresholds."""
    p = new_figure(
        "evaluate-sizes",
        x_axis_type="log",
        x_range=Range1d(start=sizes[0] / 1.2, end=sizes[-1] * 1.2),
        x_axis_label="number of bins between thresholds (log scale)",
        **_error_options(),
    )
    p.height = TALL
    p.xaxis.ticker = FixedTicker(ticks=[*sizes[::2], sizes[-1]])
    p.xaxis.formatter = CustomJSTickFormatter(code="return tick.toLocaleString('en')")
    _error_axis(p)
    found = BandsFigure(p, METHOD_STYLES, "size", MedianBand, "0.0000")
    legend_below(p, list(found.items.values()), ncols=1, click_policy="hide")
    return found


def gap_figure() -> BandsFigure:
    """Return the private difference of two classifiers against ε, with the true one."""
    p = _over_epsilon("evaluate-gap", y_range=Range1d(start=-0.2, end=0.2), y_axis_label="figure of A minus that of B")
    p.height = 420
    p.yaxis.formatter = NumeralTickFormatter(format="0.00")
    found = BandsFigure(p, GAP_STYLES, "epsilon", MedianBand, "0.000")
    found.level("true")
    p.add_layout(Span(location=0, dimension="width", line_color=REFERENCE, line_width=1.5, line_dash="dotted"))
    items = [
        *found.items.values(),
        LegendItem(label="True difference (exact: for study)", renderers=[_key(p, EXACT)]),
    ]
    legend_below(p, items, ncols=1, click_policy="hide")
    return found


def sure_figure() -> BandsFigure:
    """Return how probable a release makes it that A is better, against ε."""
    p = _over_epsilon(
        "evaluate-sure", y_range=Range1d(start=-0.02, end=1.02), y_axis_label="probability that A is better"
    )
    p.height = 420
    percent_axis(p.yaxis)
    found = BandsFigure(p, SURE_STYLES, "epsilon", MedianBand)
    p.add_layout(Span(location=0.5, dimension="width", line_color=REFERENCE, line_width=1.5, line_dash="dotted"))
    items = [*found.items.values(), LegendItem(label="A coin", renderers=[_key(p, REFERENCE, "dotted")])]
    legend_below(p, items, ncols=1, click_policy="hide")
    return found


class AttackFigure:
    """What an attacker takes each of a few records' labels to be: from the exact curve, and from private releases."""

    def __init__(self, n_records: int):
        rows = ["true label", "exact curve", *(f"release {k + 1}" for k in range(PRIVATE_ROWS))]
        self.rows = rows
        self.plot = p = new_figure(
            "evaluate-attack",
            x_range=Range1d(start=0.4, end=n_records + 0.6),
            y_range=FactorRange(factors=rows[::-1]),
            x_axis_label="records, one attack each",
        )
        p.height = 420
        p.grid.visible = False
        p.yaxis.major_label_text_font_size = "14px"
        p.xaxis.ticker = FixedTicker(ticks=[1, *range(5, n_records + 1, 5)])
        self.cells = empty_source("evaluate-attack-cells", "record", "row", "color", "label", "said")
        self.wrong = empty_source("evaluate-attack-wrong", "record", "row")
        look: dict[str, Any] = {"color": "color", "line_alpha": 0, "level": OVERLAY}
        cells = p.rect("record", "row", width=0.86, height=0.8, source=self.cells, **look)
        wrong: dict[str, Any] = {"marker": "x", "size": 10, "color": "#202020", "line_width": 3}
        p.scatter("record", "row", source=self.wrong, level=OVERLAY, **wrong)
        self.keys = [
            LegendItem(label="-", renderers=[legend_key(p, "scatter", marker="square", size=12, color=color)])
            for color in LABEL_COLORS
        ]
        item = LegendItem(label="Wrong", renderers=[legend_key(p, "scatter", **{**wrong, "color": REFERENCE})])
        legend_below(p, [*self.keys, item], ncols=1)
        tips = [("record", "@record"), ("", "@row"), ("label", "@label"), ("", "@said")]
        p.add_tools(HoverTool(renderers=[cells], tooltips=tips))

    def name_classes(self, classes: Sequence[str]) -> None:
        """Write the classes into the legend."""
        for key, name in zip(self.keys, classes, strict=True):
            key.label = {"value": f"Taken for {name}"}

    def show(self, true: np.ndarray, exact: np.ndarray, private: np.ndarray, classes: Sequence[str]) -> None:
        """Show labels: `true` and `exact` (n,), `private` (releases, n)."""
        table = np.vstack([true, exact, private[:PRIVATE_ROWS]])
        right = table == true
        n, rows = len(true), self.rows[: len(table)]
        record = np.tile(np.arange(1, n + 1), len(rows))
        row = np.repeat(rows, n)
        cells = {
            "record": record,
            "row": row.tolist(),
            "color": [LABEL_COLORS[label] for label in table.ravel()],
            "label": [str(classes[label]) for label in table.ravel()],
            "said": ["" if k < n else "right" if ok else "wrong" for k, ok in enumerate(right.ravel())],
        }
        _send(self.cells, cells)
        off = ~right.ravel()
        _send(self.wrong, {"record": record[off], "row": row[off].tolist()})

    def clear(self) -> None:
        """Show nothing."""
        empty(self.cells)
        empty(self.wrong)


class SuccessFigure(BandsFigure):
    """How often the attacker is right against ε: measured, the best that there is, and the bound."""

    def __init__(self):
        p = _over_epsilon(
            "evaluate-success", y_range=Range1d(start=0.45, end=1.03), y_axis_label="labels that are guessed right"
        )
        p.height = 420
        percent_axis(p.yaxis)
        super().__init__(p, ATTACK_STYLES, "epsilon")
        self.best = empty_source("evaluate-success-best", "epsilon", "bound", "best")
        bound = p.line("epsilon", "bound", source=self.best, color=REFERENCE, line_width=2.5)
        best = p.line("epsilon", "best", source=self.best, color=GREEN, line_width=2.5, line_dash="dashed")
        for location, look in ((1.0, {"line_color": EXACT, "line_width": 3}), (0.5, {"line_color": REFERENCE})):
            p.add_layout(
                Span(location=location, dimension="width", line_dash="solid" if location == 1 else "dotted", **look)
            )
        items = [
            LegendItem(label="From the exact curve: always right", renderers=[_key(p, EXACT)]),
            LegendItem(label="Bound e^ε/(1 + e^ε)", renderers=[bound]),
            LegendItem(label="Best attack on noisy counts", renderers=[best]),
            *self.items.values(),
            LegendItem(label="A coin", renderers=[_key(p, REFERENCE, "dotted")]),
        ]
        legend_below(p, items, ncols=1, click_policy="hide")

    def show_lines(self, epsilons: Sequence[float], lines: Mapping[str, np.ndarray]) -> None:
        """Show the bound and the best attack."""
        _send(self.best, {"epsilon": np.array(epsilons), **lines})

    def clear(self, series: str | None = None) -> None:
        """Take a series away, or all that is shown."""
        super().clear(series)
        if series is None:
            empty(self.best)
