"""Card: what a private model says of one feature, beside what is true of the records."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, GlyphRenderer

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results
from dpml_app.drawing.figure import empty_source, hover, new_figure, percent_axis, round_ticks
from dpml_app.drawing.legend import PlotLegend, area, mark, stroke
from dpml_app.drawing.styles import PALETTE, REFERENCE
from dpml_app.pages.train.card import TrainCard
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.methods import METHODS, feature_names, private, why_not
from dpml_app.pages.train.released import nb_parameters, rates_posterior
from dpml_app.pages.train.settings import TrainValues
from dpml_app.text.phrases import interval, minus, percent
from dpml_app.work.pool import Task

BAR = ("x", "exact", "low", "high", "label")
MOST_DOTS = 8
MOST_LABELS = 12


class ParametersCard(TrainCard):
    """Bars: exact; whiskers and dots: draws; grey: the posterior of the first."""

    name, title = "parameters", "Noisy and exact parameters"
    controls = ("train_model", "train_feature")
    wide = True

    def __init__(self):
        self.plot = p = new_figure(
            "train-parameters", x_range=(-0.6, 0.6), y_range=(0, 1), y_axis_label="probability within the class"
        )
        p.height = 420
        percent_axis(p.yaxis)
        p.xgrid.visible = False
        p.xaxis.ticker = FixedTicker(ticks=[])
        self.plots = [p]
        self.bars: list[ColumnDataSource] = []
        self.dots: list[ColumnDataSource] = []
        self._bars: list[GlyphRenderer] = []
        legend = PlotLegend(p, 1, hides=True)
        for i, color in enumerate(PALETTE):
            self.bars.append(empty_source(f"train-parameters-{i}", *BAR))
            self.dots.append(empty_source(f"train-parameters-{i}-draws", "x", "y"))
            look: Any = {"source": self.bars[i]}
            bar = p.vbar("x", 0.4, "exact", fill_color=color, fill_alpha=0.35, line_color=color, **look)
            whisker = p.segment("x", "low", "x", "high", color=color, line_width=2, **look)
            dot = p.scatter("x", "y", source=self.dots[i], size=5, color=color, alpha=0.7)
            self._bars.append(bar)
            samples = [area(color, 0.35, line_color=color), mark("dot", color)]
            legend.add("", samples, [bar, whisker, dot], visible=False)
        self.posterior = empty_source("train-parameters-posterior", "x", "mean", "low", "high")
        grey: Any = {"source": self.posterior, "color": REFERENCE}
        ends = p.segment("x", "low", "x", "high", line_width=6, **grey)
        mean = p.scatter("x", "mean", marker="dash", size=20, line_width=4, **grey)
        legend.add("One release: 95% posterior", [stroke(REFERENCE, width=6)], [ends, mean], visible=False)
        self.items = legend.model.items
        draws = "90% of samples", "@low{0.0%} to @high{0.0%}"
        hover(p, self._bars, ("", "@label"), ("exact", "@exact{0.0%}"), draws)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        why = why_not(values.train_model, facts)
        return f"{why}. Choose another method." if why else ""

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        method = values.train_model
        common = values.dataset, method, values.relation, values.epsilon, values.options(method)
        tasks: dict[ResultKey, Task] = {
            ("cells", IMMEDIATE): Task(nb_parameters, (*common, values.train_feature, values.draws, values.seed))
        }
        if method == "row-bounded":
            sizes = values.relation, values.epsilon, values.draws, values.seed
            tasks["posterior", WORKER] = Task(rates_posterior, (values.dataset, *sizes))
        return tasks

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        *classes, posterior_item = self.items
        for i, item in enumerate(classes):
            there = i < len(facts.classes)
            item.update(visible=there, label={"value": str(facts.classes[i])} if there else {"value": ""})
        result = now["cells", IMMEDIATE]
        exact, draws = result["exact"], result["draws"]
        posterior_item.visible = values.train_model == "row-bounded"
        C, K = exact.shape
        self._axis(result["labels"], result["edges"], K)
        self.plot.y_range.end = min(1.0, 1.4 * float(exact.max()) + 1e-4)
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        width = 0.8 / C
        for c in range(C):
            x = np.arange(K) + (c - (C - 1) / 2) * width
            self._bars[c].glyph.width = 0.9 * width
            columns = {"x": x, "exact": exact[c], "low": low[c], "high": high[c], "label": list(result["labels"])}
            self.bars[c].data = columns
            few = draws[:MOST_DOTS, c]
            self.dots[c].data = {"x": np.tile(x, len(few)), "y": few.ravel()}
        for c in range(C, len(PALETTE)):
            self._empty(c)
        self._place = values.train_feature - 1
        self._draw_posterior(now)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._draw_posterior(results)

    def _draw_posterior(self, results: Results) -> None:
        if ("posterior", WORKER) not in results:
            self._clear_posterior()
            return
        posterior = results["posterior", WORKER][:, :, self._place]
        self.plot.y_range.end = min(1.0, max(self.plot.y_range.end, 1.05 * float(posterior.max())))
        # beside the whisker of the draws, on the bar's right half
        C = posterior.shape[1]
        x = (np.arange(C) - (C - 1) / 2 + 0.25) * 0.8 / C
        self.posterior.data = {"x": x, **dict(zip(("mean", "low", "high"), posterior, strict=True))}

    def _clear_posterior(self) -> None:
        self.posterior.data = {column: [] for column in self.posterior.data}

    def _axis(self, labels: tuple[str, ...], edges: np.ndarray, K: int) -> None:
        self.plot.x_range.update(start=-0.6, end=K - 0.4)
        if len(edges):
            round_ones = round_ticks(edges[0], edges[-1])
            places = np.interp(round_ones, edges, np.arange(K + 1) - 0.5).tolist()
            names = {place: minus(f"{tick:,.12g}") for place, tick in zip(places, round_ones, strict=True)}
        else:
            names = {float(k): labels[k] for k in range(0, K, -(-K // MOST_LABELS))}
        axis = self.plot.xaxis[0]
        axis.ticker.ticks = list(names)
        axis.major_label_overrides = dict(names)
        axis.major_label_orientation = 0.6 if max(map(len, names.values())) * len(names) > 60 else 0.0

    def _empty(self, c: int) -> None:
        for source in (self.bars[c], self.dots[c]):
            if len(source.data["x"]):
                source.data = {column: [] for column in source.data}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        if ("cells", IMMEDIATE) not in results:
            return "Computing…"
        result, method = results["cells", IMMEDIATE], values.train_model
        error = np.abs(result["draws"] - result["exact"]).mean(axis=(1, 2))
        feature = feature_names(method, facts)[values.train_feature - 1]
        text = (
            f"<b>{feature}</b>, {METHODS[method].title}, ε = {values.epsilon:g}: the mean error of a noisy probability "
            f"is <b>{percent(error.mean())}</b> (90% of samples: {interval(error)})."
        )
        if not private(method, facts):
            text += " <b>Not private at any ε.</b>"
        if ("posterior", WORKER) in results:
            mean, low, high = results["posterior", WORKER][:, :, values.train_feature - 1]
            rates = (
                f"<b>{percent(m)}</b> in {escape(str(name))} ({percent(a)} to {percent(b)})"
                for name, m, a, b in zip(facts.classes, mean, low, high, strict=True)
            )
            text += f" One release alone gives {', '.join(rates)}, with 95% probability each."
        if method == "row-bounded":
            text += (
                " Each record is divided among its ones. Rates of columns that are not one value of an attribute are "
                "therefore lower than the exact rates."
            )
        return text

    def clear(self) -> None:
        for c in range(len(PALETTE)):
            self._empty(c)
        self._clear_posterior()
