"""Draw models on synthetic tables, one of these tables, and the choice of its grid: the cards of the page."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import holoviews as hv
import numpy as np
from bokeh.models import AllLabels, Text

from dpml_app.core.card import WORKER, Answer, Card, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.data.facts import FirstFacts
from dpml_app.drawing.figure import write
from dpml_app.drawing.styles import BLUE, EXACT, ORANGE, REFERENCE, Style, style_of, styles_of
from dpml_app.jobs import Task
from dpml_app.pages.publish import compute, text
from dpml_app.pages.publish.compute import BEST, PublishFacts, PublishValues
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import shortened
from dpml_app.views.frame import Axis, framed
from dpml_app.views.rendered import Table, ViewFigure

# ---- Figures -------------------------------------------------------------------------------------------------------


_TABLES = styles_of("publisher", "table")
TABLE = replace(_TABLES["privpfc"], label="synthetic table")
STYLES = {
    "table": TABLE,
    "cells": replace(style_of("privpfc-cells", "publisher"), label="model of its cells"),
    "linear": replace(style_of("rule"), label="linear model"),
}


LEVELS = {
    "true": Style("non-private table", EXACT, "dot"),
    "majority": Style("majority-class baseline", REFERENCE, "dot", "dotted"),
}


BARS, DRAWN = ("y", "top", "start", "chance", "name", "shown", "correct"), ("y", "chance", "text")
# letters of a grid's name above its bar, most of which have room on a phone
LETTERS = 60


def chances_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the best candidate grids, each with its probability to be drawn."""
    bars = hv.Rectangles(tables["bars"], ["start", "y", "chance", "top"], group="bars")
    star = hv.Scatter(tables["drawn"], "chance", "y", group="drawn")
    layers = [
        bars.opts(color=BLUE, line_color=None, tools=["hover"]),
        star.opts(marker="star", size=17, color=ORANGE, line_color="white"),
    ]
    return framed(layers, Axis("probability of selection", share=True), Axis(""), yaxis=None, ylim=(-BEST, 0))


def chances_figure() -> ViewFigure:
    """Return the figure of candidate grids, whose names stand above their bars."""
    tips = [("", "@name"), ("probability", "@chance{0.00%}"), ("accuracy without noise", "@correct{0.0%}")]
    chart = ViewFigure("publish-chances", chances_view, {"bars": BARS, "drawn": DRAWN}, tips)
    look: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_baseline": "middle"}
    drawn, bars = chart.sources["drawn"], chart.sources["bars"]
    write(chart.plot, drawn, Text(x="chance", y="y", text="text", x_offset=12, **look), ORANGE)
    look = {"text_font_size": "12px", "x_offset": 3, "y_offset": -2}
    write(chart.plot, bars, Text(x="start", y="top", text="shown", **look), REFERENCE)
    return chart


def chances_tables(release: Mapping[str, Any]) -> dict[str, Table]:
    """Return the tables of the chances of one release."""
    n, place = len(release["names"]), release["place"]
    y = np.arange(n) * -1.0 - 0.9
    shown = [shortened(name, LETTERS) for name in release["names"]]
    bars: dict[str, Any] = {"y": y, "top": y + 0.4, "start": np.zeros(n), "shown": shown}
    bars |= {"chance": release["chances"], "name": release["names"], "correct": release["correct"]}
    star = {"y": [y[place] + 0.2], "chance": [release["chance"]], "text": ["this table"]} if place < n else {}
    return {"bars": bars, **({"drawn": star} if star else {})}


# of a column, the part between its bars and the next one's
GAP = 0.12
LOOKS: dict[str, dict[str, Any]] = {"kept": {"color": BLUE}, "others": {"color": REFERENCE, "alpha": 0.35}}
LABELS = {"kept": "kept column", "others": "column of noise"}
ENDS = ("left", "bottom", "right")


def marginals_view(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return of each column bars: the synthetic table filled, and the non-private one an outline."""
    layers = []
    for name, look in LOOKS.items():
        bars = hv.Rectangles(tables[name], [*ENDS, "synthetic"], label=LABELS[name], group=name)
        outline = hv.Rectangles(tables[name], [*ENDS, "true"], label="non-private table", group=name)
        layers += [
            bars.opts(line_color=None, tools=["hover"], **look),
            outline.opts(fill_alpha=0, line_color=EXACT, line_width=1),
        ]
    columns = Axis("", ticks=tuple(place + 0.5 for place in range(compute.COLUMNS)))
    ends = {"xlim": (0, compute.COLUMNS), "ylim": (0, 1)}
    return framed(layers, columns, Axis("share of records", share=True), xrotation=60, **ends)


def marginals_figure() -> ViewFigure:
    """Return the figure of both tables, column by column."""
    tips = [("", "@column: @group"), ("non-private", "@true{0.0%}"), ("synthetic", "@synthetic{0.0%}")]
    columns = (*ENDS, "synthetic", "true", "column", "group")
    chart = ViewFigure("publish-tables", marginals_view, dict.fromkeys(LOOKS, columns), tips)
    chart.plot.xaxis[0].major_label_policy = AllLabels()
    return chart


def marginals_tables(drawn: Mapping[str, Any]) -> dict[str, Table]:
    """Return the bars of the columns that the synthetic table keeps, and those of the others."""
    rows: dict[str, list[tuple]] = {name: [] for name in LOOKS}
    every = zip(drawn["names"], drawn["groups"], *drawn["shares"].values(), strict=True)
    for place, (name, groups, *shares) in enumerate(every):
        left = place + GAP / 2 + (1 - GAP) * np.arange(len(groups) + 1) / len(groups)
        bars = zip(left, left[1:], *shares, groups, strict=False)
        kept = "kept" if place == 0 or name in drawn["kept"] else "others"
        rows[kept] += [(a, 0.0, b, synthetic, true, name, group) for a, b, true, synthetic, group in bars]
    columns = (*ENDS, "synthetic", "true", "column", "group")
    return {name: dict(zip(columns, zip(*each, strict=True), strict=True)) for name, each in rows.items() if each}


# ---- Cards ---------------------------------------------------------------------------------------------------------


# of the widest label, so that the slider under it begins where the axis does
LEFT = 76


class AccuracyCard(CurvesCard[PublishValues, FirstFacts]):
    """The accuracy of a classifier trained on synthetic tables, beside that on the non-private table."""

    plot_name, xlim = "publish-accuracy", (EPSILONS[0], EPSILONS[-1])
    y, levels = Axis("accuracy on test records", share=True), LEVELS
    styles: ClassVar[Mapping[str, Style]] = {"table": TABLE}
    name, title, caption = "accuracy", "Accuracy after training on a synthetic table", text.CAPTIONS["accuracy"]

    def __init__(self) -> None:
        super().__init__()
        self.plots[0].update(min_border_left=LEFT, min_border_right=24)

    def work(self, values: PublishValues, facts: FirstFacts) -> dict[ResultKey, Task]:
        # every ε of the slider where they ship, and what is near the chosen one first
        whole = compute.table_task(values, values.epsilon) in compute.shipped_results(values.dataset)
        near = sorted(EPSILONS if whole else SWEEP_EPSILONS, key=lambda e: abs(math.log(e / values.epsilon)))
        work: dict[ResultKey, Task] = {("true", WORKER): compute.true_task(values)}
        for place, epsilon in ((WORKER, values.epsilon), *((e, e) for e in near)):
            work |= {(s, place): task for s, task in compute.all_tasks_at(values, epsilon).items() if s in self.styles}
        return work

    def level_values(self, values: PublishValues, facts: FirstFacts, results: Results) -> Mapping[str, float]:
        true = here(results, "true")
        return {"majority": facts.majority} | ({} if true is None else {"true": true})

    def to_pin(self, values: PublishValues, facts: FirstFacts, results: Results) -> Answer | None:
        table, true = (here(results, name) for name in ("table", "true"))
        if table is None or true is None:
            return None
        return Answer(text.numbers(table, true), within="90% of tables")

    def readout(self, values: PublishValues, facts: FirstFacts, results: Results) -> str:
        found = {style.label: here(results, name) for name, style in self.styles.items()}
        return text.models({label: draws for label, draws in found.items() if draws is not None})


class ModelsCard(AccuracyCard):
    """The synthetic table beside a model of its cells, a linear model and other publishers at the same ε."""

    plot_name = "publish-models"
    styles = STYLES | {key: style_of(key, "publisher") for key in compute.REGISTERED}
    name, title, caption = "models", "Models at the same ε", text.CAPTIONS["models"]


class TablesCard(Card[PublishValues, PublishFacts]):
    """Shares of values in both tables."""

    draw = marginals_figure
    name, title, caption = "tables", "Non-private and synthetic table", text.CAPTIONS["tables"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {("drawn", WORKER): compute.drawn_task(values)}

    def show(self, values: PublishValues, facts: PublishFacts, results: Results, wanted: Mapping) -> None:
        if (drawn := here(results, "drawn")) is not None:
            self.figure.show(marginals_tables(drawn))
            labels = {place + 0.5: name for place, name in enumerate(drawn["names"])}
            self.figure.plot.xaxis[0].major_label_overrides = labels
            self.figure.plot.x_range.end = len(labels)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        drawn = here(results, "drawn")
        return "Computing…" if drawn is None else text.kept(drawn)


class ChancesCard(Card[PublishValues, PublishFacts]):
    """Exact probabilities of the exponential mechanism, for the table shown."""

    draw = chances_figure
    name, title, caption = "chances", "Selection of the grid", text.CAPTIONS["chances"]

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {("release", WORKER): Task(compute.release_facts, values.drawn_key())}

    def show(self, values: PublishValues, facts: PublishFacts, results: Results, wanted: Mapping) -> None:
        if (release := here(results, "release")) is not None:
            self.figure.show(chances_tables(release))
            # room for what is written beside the best bar
            self.figure.plot.x_range.update(start=0, end=max(1.35 * max(release["chances"]), 0.001))
            self.figure.plot.y_range.update(start=-len(release["names"]) - 0.1, end=0)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        release = here(results, "release")
        return "Computing…" if release is None else text.choice(release)
