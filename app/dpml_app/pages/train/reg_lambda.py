"""Card: the regulariser λ, bias against noise."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource

from dpml_app.core.card import IMMEDIATE, WORKER, ResultKey, Results, here
from dpml_app.drawing.figure import PLAIN_DIGITS, empty_source, fill, hover, set_ticks
from dpml_app.drawing.legend import mark
from dpml_app.drawing.styles import OVERLAY, REFERENCE, Style
from dpml_app.pages.train.card import BandCard, every_style, share_figure
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.linear_compute import lambda_without_noise, public_lambda
from dpml_app.pages.train.measure import measured
from dpml_app.pages.train.methods import LINEAR
from dpml_app.pages.train.settings import RULE, TrainValues
from dpml_app.text.phrases import percent, points
from dpml_app.work.pool import Task

NOISY = ("l1", "objective", "output")
PLAIN = "plain"
# the places of a series' mark at the λ of the public rule
RULES = {method: f"rule:{method}" for method in NOISY}
# two a decade, so that the curves do not take long
LAMBDA_STEPS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 9))
MARKS = ("x", "y", "low", "high", "label", "what")


def best_of(results: Results, series: str) -> tuple[float, float] | None:
    """Return the λ of the largest mean of a series and that mean, None until all of them are there."""
    means = {x: results[series, x]["accuracy"].mean() for x in LAMBDA_STEPS if (series, x) in results}
    if len(means) < len(LAMBDA_STEPS):
        return None
    best = max(means, key=lambda x: means[x])
    return best, float(means[best])


def _looks() -> dict[str, Style]:
    noisy = {name: every_style()[name] for name in NOISY}
    return {**noisy, PLAIN: Style("Without noise", REFERENCE, "dot", "dotted")}


class LambdaCard(BandCard):
    """Accuracy over λ with noise, and without: what is lost to the right is bias, to the left noise."""

    name, title = "lambda", "Regularisation λ: bias and noise"
    families = ("linear",)

    def __init__(self):
        looks = _looks()
        ends = LAMBDA_STEPS[0] / 1.3, LAMBDA_STEPS[-1] * 1.3
        axis: Any = {"x_range": ends, "x_axis_label": "← more noise      λ (log scale)      more bias →"}
        figure = share_figure(
            "train-lambda", looks, {"majority": ("Majority-class baseline", "dotdash")}, columns=1, **axis
        )
        set_ticks(figure.plot.xaxis[0], LAMBDA_STEPS[::2], PLAIN_DIGITS, figure.plot.xgrid[0])
        self.marks: dict[str, dict[str, ColumnDataSource]] = {}
        drawn = []
        for key, label, marker in (
            ("rule", "λ of the public rule", "diamond"),
            ("best", "best λ tried (not private)", "star"),
        ):
            # a source for each colour: Bokeh 3.9 now and then paints an overlay with fewer colours than rows
            self.marks[key] = {m: empty_source(f"train-lambda-{key}-{m}", *MARKS) for m in NOISY}
            shown = []
            for method, source in self.marks[key].items():
                look = {"source": source, "color": looks[method].color, "level": OVERLAY, "line_width": 2}
                shown.append(figure.plot.segment("x", "low", "x", "high", **look))
                drawn.append(figure.plot.scatter("x", "y", marker=marker, size=17, fill_alpha=0.25, **look))
                shown.append(drawn[-1])
            figure.legend.add(label, [mark(marker, REFERENCE, fill_alpha=0.25, line_width=2)], shown)
        hover(figure.plot, drawn, ("", "@label, @what"), ("λ", "@x{0.[00]}"), ("mean", "@y{0.0%}"))
        super().__init__(figure)

    def styles(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return _looks()

    def at(self, values: TrainValues, facts: TrainFacts) -> float | None:
        return None if values.train_lambda == RULE else values.train_lambda

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(method: str, reg_lambda: float) -> Task:
            return measured(method, replace(values, train_lambda=reg_lambda), values.epsilon)

        tasks: dict[ResultKey, Task] = {}
        for method in NOISY:
            result_key = WORKER if LINEAR[method].anew else IMMEDIATE
            tasks[RULES[method], result_key] = task(method, RULE)
            if values.train_lambda != RULE:
                tasks[method, result_key] = task(method, values.train_lambda)
        for x in LAMBDA_STEPS[::-1]:
            tasks[PLAIN, x] = Task(lambda_without_noise, (values.dataset, x))
            tasks |= {(method, x): task(method, x) for method in NOISY}
        return tasks

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self._rules = {m: public_lambda(values.dataset, m, values.epsilon, values.relation) for m in NOISY}
        self._mark_rules(now)
        self._mark("best", {}, "")

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        super().show(results, wanted)
        self._mark_rules(results)
        best = {m: pair for m in NOISY if (pair := best_of(results, m))}
        self._mark("best", {m: (x, y, y, y) for m, (x, y) in best.items()}, "best λ tried (not private)")

    def _mark_rules(self, results: Results) -> None:
        marks = {}
        for m in NOISY:
            result = here(results, RULES[m])
            if result is not None:
                low, high = np.quantile(result["accuracy"], [0.05, 0.95])
                marks[m] = self._rules[m], result["accuracy"].mean(), low, high
        self._mark("rule", marks, "λ of the public rule")

    def _mark(self, key: str, marks: Mapping[str, tuple], what: str) -> None:
        for method, source in self.marks[key].items():
            row = [(*marks[method], LINEAR[method].look.label, what)] if method in marks else []
            if row != list(zip(*source.data.values(), strict=True)):
                fill(source, row)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        sentences = []
        for m in NOISY:
            result = here(results, RULES[m])
            if result is None:
                continue
            draws = result["accuracy"]
            # of the difference of two means of as many draws
            mean, error = draws.mean(), np.sqrt(2 / len(draws)) * draws.std(ddof=1)
            text = f"{LINEAR[m].look.label}: <b>{percent(mean)}</b> at λ = {self._rules[m]:.3g} of the public rule"
            best = best_of(results, m)
            if best and best[1] > mean:
                text += f", {points(best[1] - mean)} more (± {points(error)}) at the best λ tried, {best[0]:g}"
            elif best:
                text += ", no λ tried is better"
            sentences.append(text)
        if not sentences:
            return "Computing…"
        chosen = self.ranking(results, IMMEDIATE)
        at = f" At λ = {values.train_lambda:g}: {chosen}." if values.train_lambda != RULE and chosen else ""
        return f"At ε = {values.epsilon:g}. {'. '.join(sentences)}.{at}"

    def clear(self) -> None:
        super().clear()
        for key in self.marks:
            self._mark(key, {}, "")
