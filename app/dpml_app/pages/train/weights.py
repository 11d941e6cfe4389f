"""Card: the released weights of a linear model beside those without noise."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import FixedTicker

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results
from dpml_app.drawing.figure import across, empty, empty_source, hover, new_figure
from dpml_app.drawing.legend import PlotLegend, area, mark, stroke
from dpml_app.drawing.styles import BLUE, STALE, VERMILION
from dpml_app.pages.train.card import TrainCard
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.linear_compute import MOST_WEIGHTS, linear_weights
from dpml_app.pages.train.methods import LINEAR, SAID, why_not
from dpml_app.pages.train.settings import TrainValues
from dpml_app.text.phrases import interval, percent, shortened
from dpml_app.work.pool import Task

BAR = ("y", "exact", "low", "mean", "high", "name")
EXACT, RELEASED = BLUE, VERMILION
MOST_DOTS = 8
LONGEST = 16
# how far the axis follows whiskers beyond the longest bar
REACH = 2.5


class WeightsCard(TrainCard):
    """Bars: without noise; whiskers and dots: draws."""

    name, title = "weights", "Noise in the coefficients"
    families = ("linear",)
    controls = ("train_shown",)

    def __init__(self):
        self.plot = p = new_figure(
            "train-weights", x_range=(-1, 1), y_range=(MOST_WEIGHTS - 0.5, -0.5), x_axis_label="coefficient"
        )
        p.ygrid.visible = False
        p.yaxis.ticker = FixedTicker(ticks=[])
        p.yaxis.major_label_text_font_size = "13px"
        across(p, "height", 0, line_width=1)
        self.plots = [p]
        self.bars = empty_source("train-weights-bars", *BAR)
        self.dots = empty_source("train-weights-draws", "x", "y")
        bar = p.hbar("y", 0.6, "exact", fill_color=EXACT, fill_alpha=0.35, line_color=EXACT, source=self.bars)
        whisker = p.segment("low", "y", "high", "y", color=RELEASED, line_width=2, source=self.bars)
        mean = p.scatter("mean", "y", size=9, color=RELEASED, marker="diamond", source=self.bars)
        dot = p.scatter("x", "y", size=4, color=RELEASED, alpha=0.6, source=self.dots)
        self._faded = (whisker, mean, dot)
        legend = PlotLegend(p, hides=True)
        legend.add("Without noise", [area(EXACT, 0.35, line_color=EXACT)], [bar])
        samples = [stroke(RELEASED, width=2), mark("diamond", RELEASED)]
        legend.add("Noisy: mean and 90%", samples, [mean, whisker])
        legend.add("Single runs", [mark("circle", RELEASED, fill_alpha=0.6, line_alpha=0.6)], [dot])
        draws = "90% of runs", "@low{0.00} to @high{0.00}"
        hover(p, [bar], ("", "@name"), ("without noise", "@exact{0.00}"), draws)

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        why = why_not(values.train_shown, facts)
        return f"{why}. Choose another method." if why else ""

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        method = LINEAR[values.train_shown]
        common = values.dataset, values.train_shown, values.relation, values.epsilon
        settings = values.options(values.train_shown), method.draws(values.draws), values.seed
        return {("weights", WORKER if method.anew else IMMEDIATE): Task(linear_weights, (*common, *settings))}

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        if now:
            self._draw(next(iter(now.values())))
        elif len(self.bars.data["y"]):
            self._fade(STALE)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if results:
            self._draw(next(iter(results.values())))

    def _draw(self, result: Mapping[str, Any]) -> None:
        exact, draws = result["exact"], result["draws"]
        T = len(exact)
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        names = list(result["names"])
        axis = self.plot.yaxis[0]
        axis.ticker.ticks = list(range(T))
        axis.major_label_overrides = {j: shortened(name, LONGEST) for j, name in enumerate(names)}
        longest = float(np.abs(exact).max(initial=1e-9))
        end = 1.1 * min(max(longest, float(np.abs([low, high]).max(initial=0))), REACH * longest)
        self.plot.x_range.update(start=-end, end=end)
        y = np.arange(T, dtype=float)
        columns = {"y": y, "exact": exact, "low": low, "mean": draws.mean(axis=0), "high": high, "name": names}
        self.bars.data = columns
        few = draws[:MOST_DOTS]
        self.dots.data = {"x": few.ravel(), "y": np.tile(y, len(few))}
        self._fade(1.0)

    def _fade(self, alpha: float) -> None:
        whisker, mean, dot = self._faded
        whisker.glyph.line_alpha = alpha
        mean.glyph.update(fill_alpha=alpha, line_alpha=alpha)
        dot.glyph.update(fill_alpha=0.6 * alpha, line_alpha=0.6 * alpha)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        if not results:
            return "Computing…"
        result, method = next(iter(results.values())), LINEAR[values.train_shown]
        exact, draws = result["exact"], result["draws"]
        right = (np.sign(draws) == np.sign(exact)).mean(axis=1)
        off = np.abs(draws - exact).mean()
        text = (
            f"{method.title} at ε = {values.epsilon:g}: <b>{percent(right.mean(), 0)}</b> of these {len(exact)} "
            f"coefficients keep their sign (90% of runs: {interval(right, 0)}). Their mean error is <b>{off:.2g}</b>, "
            f"and their mean size without noise is {np.abs(exact).mean():.2g}."
        )
        if not method.pure:
            text += f" It needs δ = {SAID}."
        if len(facts.classes) > 2:
            text += f" Class {facts.classes[0]} against the rest."
        return text

    def clear(self) -> None:
        for source in (self.bars, self.dots):
            empty(source)
