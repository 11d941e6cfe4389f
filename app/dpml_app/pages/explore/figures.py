"""The Bokeh figures below the main picture of the Explore page: made once, then changed through their data sources.

Every model that a test or the browser's own code reads has a name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColorBar, ColumnDataSource, FactorRange, LinearColorMapper, NumeralTickFormatter
from bokeh.palettes import Viridis256

from dpml.studies import compared
from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    HEIGHT,
    LAYOUT,
    Figure,
    across,
    edges,
    empty,
    empty_source,
    fill,
    hover,
    new_figure,
    over_epsilon,
    percent_axis,
    set_ticks,
    square,
    write,
)
from dpml_app.drawing.legend import ROW, PlotLegend, mark, stroke
from dpml_app.drawing.styles import EXACT, HERE, OVERLAY, REFERENCE, STALE, style_of
from dpml_app.pages.explore.main_figure import HAND
from dpml_app.settings import EPSILONS

STYLES = {
    "row-bounded": style_of("row-bounded"),
    "published": style_of("algorithm-1"),
    "count": style_of("mask-count", "selector"),
    "mutual_information": style_of("mask-mi", "selector"),
    "logistic": style_of("output"),
}
SCORE_WORDS = {"count": "counts", "mutual_information": "mutual information"}
SCORE_STYLES = {kind: STYLES[kind] for kind in ("count", "mutual_information")}


class AccuracyFigure(BandFigure):
    """Accuracy of each method against ε."""

    def __init__(self) -> None:
        p = over_epsilon(
            "accuracy",
            EPSILONS[0] / 1.15,
            EPSILONS[-1] * 1.15,
            y_range=(0.4, 1.0),
            y_axis_label="test accuracy",
        )
        percent_axis(p.yaxis)
        # one column of the legend, which a phone needs: three rows more than two columns
        p.height = HEIGHT + 3 * ROW
        super().__init__(p, STYLES, "epsilon", tips=(("method", "@label"), ("ε", "@epsilon")), dots=True)
        self.reference("non_private", "Non-private naive Bayes", "solid")
        self.reference("majority", "Majority class", "dotted")


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
    """Return a feature's name in 24 characters: its value tells more than its column.

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
        p.line("fpr", "tpr", source=self.private, color=HAND.color, line_alpha=0.35, line_width=1.5, level=OVERLAY)
        p.line("fpr", "tpr", source=self.exact, color=EXACT, line_width=3, level=OVERLAY)
        # below the diagonal, where no curve is that is better than a guess
        named = {"exact": EXACT, "private": HAND.color, "dotted: chance": REFERENCE}
        places = {"x": [1.0] * 3, "y": [0.2, 0.13, 0.06], "text": list(named), "color": list(named.values())}
        look = {"text_align": "right", "text_baseline": "middle", "text_font_size": "15px", "text_font_style": "bold"}
        write(p, "x", "y", "text", source=ColumnDataSource(places, tags=[LAYOUT]), color="color", **look)

    def show(self, curves: dict[str, np.ndarray]) -> None:
        """Show the result of `dpml_app.pages.explore.compute.roc`."""
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
        """Lay out empty cells for a data set and set the range of colours."""
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
            here = data["n_features"] == n_features
            values[here], alpha[here] = row.mean(axis=1), 1.0
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
