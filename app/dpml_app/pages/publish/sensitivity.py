"""Card: how much one record changes the quality of a grid, which sets the noise of the choice."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.grid import GridQuality, quality_range, quality_sensitivity
from dpml.classifiers.grid.cells import quality_excess
from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results, here
from dpml_app.drawing.figure import Figure, across, empty_source, epsilon_axis, fill, hover, new_figure, set_ticks
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import GREEN, LONG, OVERLAY, REFERENCE, VERMILION
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.settings import PublishValues, shares_of
from dpml_app.text.phrases import minus
from dpml_app.work.pool import Task

# every table of two counts up to this one is tried
MOST_COUNT = 60
# below the first one counts are too small to reach the ends
TRIED = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ENDS = 0.004, 10.0
CURVE = np.geomspace(*ENDS, 121)
PUBLISHED = 1.1
CAPTION = (
    "As in Su et al. 2018, Fig. 2. Dots: smallest and largest change by one record, over all pairs of counts up to "
    f"{MOST_COUNT}. All grids change in the same direction, so the noise of the selection depends only on the width of "
    "the range."
)


@cache
def tried(epsilon: float) -> tuple[float, float]:
    """Return the smallest and the largest change of a cell's quality by one more record of its first class."""
    counts = np.arange(MOST_COUNT + 1, dtype=np.int32)
    quality = GridQuality(epsilon, 2 * MOST_COUNT + 1)
    first, second = (grid.ravel() for grid in np.meshgrid(counts, counts))
    cells = np.arange(first.size)

    def of(first: NDArray, second: NDArray) -> NDArray:
        # each pair is a grid of one cell, whose records are all that there are
        by_lead = quality.of_grids((first - second)[None, None, :], cells)
        return by_lead - quality.n / 2 + (first + second) / 2

    change = of(first + 1, second) - of(first, second)
    return float(change.min()), float(change.max())


def change(epsilon: float) -> tuple[float, float]:
    """Return the range of the change and Lemma 1's sensitivity at an ε of the counts."""
    return quality_range(epsilon), quality_sensitivity(epsilon)


class SensitivityFigure(Figure):
    """Both ends of the change against ε, beside what Lemma 1 and the paper allow."""

    def __init__(self) -> None:
        ends: dict[str, Any] = {"x_range": (ENDS[0], ENDS[1]), "y_range": (-1.3, 1.3)}
        label = "change in quality by one record"
        self.plot = p = new_figure("publish-sensitivity", x_axis_type="log", y_axis_label=label, **ends)
        epsilon_axis(p)
        p.xaxis.axis_label = "ε of the counts (log scale)"
        set_ticks(p.yaxis[0], [-1, 0, 1], "String(tick).replace('-', '\\u2212')", p.ygrid[0])
        self.here = across(p, "height", level=OVERLAY)
        excess = np.array([quality_excess(e) for e in CURVE])
        kinds = {
            "range": ("range", GREEN, "solid", (-excess, 1 + excess)),
            "lemma": ("Lemma 1", VERMILION, LONG, (-1 - excess, 1 + excess)),
            "published": ("1.1, as published", REFERENCE, "dotted", (-PUBLISHED + 0 * CURVE, PUBLISHED + 0 * CURVE)),
        }
        legend = PlotLegend(p, 2, hides=True)
        lines = []
        for name, (label_of, color, dash, both) in kinds.items():
            shown = []
            for end, values in zip(("low", "high"), both, strict=True):
                source = empty_source(f"publish-sensitivity-{name}-{end}", "epsilon", "change", "label")
                source.data = {"epsilon": CURVE, "change": values, "label": [label_of] * len(CURVE)}
                look: dict[str, Any] = {"color": color, "line_dash": dash, "line_width": 2.5}
                shown.append(p.line("epsilon", "change", source=source, **look))
            legend.add(label_of, [stroke(color, dash)], shown)
            lines += shown
        self.dots = empty_source("publish-sensitivity-tried", "epsilon", "change", "label")
        fill(self.dots, [(e, change, f"counts up to {MOST_COUNT}") for e in TRIED for change in tried(e)])
        dots = p.scatter("epsilon", "change", source=self.dots, size=10, color=GREEN)
        legend.add(f"enumerated, counts up to {MOST_COUNT}", [mark("circle", GREEN, size=10)], [dots])
        hover(p, [*lines, dots], ("", "@label"), ("ε", "@epsilon{0.000}"), ("change", "@change{0.0000}"))


class SensitivityCard(Card[PublishValues, PublishFacts]):
    """As Su et al.'s Fig. 2, with what the range of the change gains."""

    draw = SensitivityFigure
    name, title, caption = "sensitivity", "Sensitivity of the grid quality", CAPTION

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {("change", IMMEDIATE): Task(change, (for_counts(values),))}

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self.figure.here.location = for_counts(values)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        ends = here(results, "change")
        if ends is None:
            return "Computing…"
        epsilon = for_counts(values)
        ours, lemma = ends
        gain = 2 * PUBLISHED / ours
        return (
            f"With ε = {epsilon:.3g} for the counts, one more record changes a grid's quality by "
            f"{minus(f'{1 - lemma:.4f}')} to {lemma:.4f}. The noise of the selection depends on the width of this "
            f"range, <b>{ours:.3f}</b>. The paper uses 2.2, which needs <b>{gain:.2f}</b> times as much ε for the same "
            "noise."
        )


def for_counts(values: PublishValues) -> float:
    """Return the counts' part of the chosen ε."""
    return float(values.epsilon * shares_of(values.publish_share)[2])
