"""Draw the accuracy of private classifiers: the cards of the Classifiers page and their figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from bokeh.models import CustomJS, FactorRange, NumeralTickFormatter

from dpml_app.core.card import IMMEDIATE, WORKER, Card, ResultKey, Results, here
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.figure import Figure, across, empty_source, fill, hover, new_figure, spread
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import (
    METHODS,
    PERCENTILES,
    RULE,
    Row,
    TrainFacts,
    TrainValues,
    chosen,
    measured,
    nearest,
    nothing_to_compare,
    private,
    true_epsilon,
    why_not,
    without_privacy,
)
from dpml_app.pages.train.text import CAPTIONS, fewer_draws
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import interval, percent
from dpml_app.views.frame import Axis

ACCURACY = "accuracy on test records"


def styles(names: Sequence[str], facts: TrainFacts) -> dict[str, Style]:
    """Return how methods look on such a table; the label says so if their claim does not hold, or needs a δ."""
    by_name = {}
    for name in names:
        style, note = METHODS[name].look, ""
        if not METHODS[name].pure:
            note = ", needs δ"
        elif not private(name, facts):
            note = ", not private"
        elif not METHODS[name].claim_holds:
            note = ", stated ε"
        by_name[name] = replace(style, label=style.label + note)
    return by_name


# ---- Methods at the chosen ε ---------------------------------------------------------------------------------------


# so far does an interval make the axis longer than what is compared, at either end
MOST_BEYOND = 0.25
# pixels of a row, and of axis and legend
ROW_HEIGHT, FRAME = 36, 150

# a legend draws no sample at an angle, and makes a dash so short that it looks like a dot
UPRIGHT = """export default (_args, _mark, {ctx, i, r, visuals}) => {
  ctx.moveTo(0, -2 * r)
  ctx.lineTo(0, 2 * r)
  visuals.line.apply(ctx, i)
}"""


def fitted(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of the axis: all means and levels, and a little more for intervals.

    >>> [round(end, 2) for end in fitted([Row(Style("a", "", ""), 0.8, 0.3, 0.9, 0.84)])]
    [0.79, 0.85]
    """
    compared = [value for row in rows for value in (row.mean, row.without) if value is not None]
    low, high = min(compared), max(compared)
    beyond = max(MOST_BEYOND * (high - low), 0.005)
    least, most = min(low, *(row.low for row in rows)), max(high, *(row.high for row in rows))
    return max(least - 0.005, low - beyond), min(most + 0.005, high + beyond)


class MethodsFigure(Figure):
    """Of each method its mean, the bar that holds 90 % of its runs, and its own level without privacy."""

    computed = ("rows",)

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "train-methods", x_range=(0.7, 0.9), y_range=FactorRange(factors=[]), x_axis_label=ACCURACY
        )
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
        # on a phone the names take half of the width
        p.yaxis.major_label_text_font_size = "13px"
        p.ygrid.visible = False
        self.rows = empty_source("train-methods-rows", "method", "mean", "low", "high", "without", "color", "marker")
        self._cells: list[tuple] = []
        self.guess = across(p, "height", line_dash="dotted", line_width=2.5)
        paint: Any = {"color": "color", "source": self.rows}
        bars = p.hbar("method", left="low", right="high", height=0.5, fill_alpha=0.3, **paint)
        tick: Any = {"marker": "dash", "angle": math.pi / 2, "line_color": REFERENCE, "line_width": 4}
        levels = p.scatter("without", "method", source=self.rows, size=18, **tick)
        dots = p.scatter("mean", "method", marker="marker", size=12, line_width=2, **paint)
        legend = PlotLegend(p)
        upright = {"@upright": CustomJS(code=UPRIGHT)}
        legend.add("without noise", [mark("@upright", REFERENCE, defs=upright, line_width=4)])
        legend.add("majority-class baseline", [stroke(REFERENCE, "dotted")])
        tips = [("", "@method"), ("mean", "@mean{0.0%}"), ("90% of runs", "@low{0.0%} to @high{0.0%}")]
        hover(p, [bars, dots, levels], *tips, ("without noise", "@without{0.0%}"), point_policy="follow_mouse")

    def show(self, rows: Sequence[Row], guess: float) -> None:
        """Show the methods, best first; those with a true ε of their own stand below."""
        if not rows:
            self.clear()
            return
        start, end = fitted(rows)
        self.plot.x_range.update(start=start, end=end)
        self.plot.min_height = ROW_HEIGHT * len(rows) + FRAME
        self.guess.location = guess
        cells = [
            (
                row.style.label + (f", ε = {row.true_epsilon}" if row.true_epsilon else ""),
                *(row.mean, row.low, row.high, math.nan if row.without is None else row.without),
                *(row.style.color, row.style.marker),
            )
            for row in sorted(rows, key=lambda row: (bool(row.true_epsilon), -row.mean))
        ]
        if cells != self._cells:
            self._cells = cells
            self.plot.y_range.factors = [cell[0] for cell in cells][::-1]
            fill(self.rows, cells)

    def clear(self) -> None:
        super().clear()
        self._cells, self.guess.location = [], None


# ---- What cards have in common -------------------------------------------------------------------------------------


# what a method reaches without noise, and the level of the one method that a card compares with
WITHOUT = "without "
NON_PRIVATE = "non-private"
MAJORITY = Style("Majority-class baseline", REFERENCE, "dot", "dotted")


class TrainCard(Card[TrainValues, TrainFacts]):
    """A card of the Train page, with the caption of its name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            cls.caption = CAPTIONS[cls.name]


class BandCard(TrainCard, CurvesCard[TrainValues, TrainFacts]):
    """A card of accuracies with bands, the majority-class baseline, and the level of one method without noise."""

    y = Axis(ACCURACY, share=True)
    column = "accuracy"
    look: ClassVar[Mapping[str, Any]] = {"marks": True}
    levels: ClassVar[Mapping[str, Style]] = {
        NON_PRIVATE: Style("Non-private", REFERENCE, "dot", "dotdash"),
        "majority": MAJORITY,
    }

    def level_values(self, values: TrainValues, facts: TrainFacts, results: Results) -> Mapping[str, float]:
        exact = here(results, NON_PRIVATE)
        return {"majority": facts.majority} | ({} if exact is None else {NON_PRIVATE: float(exact["accuracy"].mean())})

    def ranking(self, results: Results, at: Any) -> str:
        """Return the means of the series at one place, best first, each with the range of 90 % of its draws.

        At IMMEDIATE those that are slow are in it, too.
        """
        ranked = []
        for series, style in self._styles.items():
            result = here(results, series) if at == IMMEDIATE else results.get((series, at))
            if result is not None:
                draws = self.draws(series, result)
                ranked.append((draws.mean(), f"{style.label} <b>{percent(draws.mean())}</b> ({interval(draws)})"))
        return ", ".join(text for _mean, text in sorted(ranked, reverse=True))


class MethodsCard(TrainCard):
    """Every chosen method at one ε, each with its own level without privacy."""

    draw = MethodsFigure
    name, title = "methods", "Methods at the chosen ε"

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        methods = chosen(values, facts)
        work: dict[ResultKey, Task] = {(m, _when(m)): measured(m, values, values.epsilon) for m in methods}
        return work | {(WITHOUT + m, _when(m)): without_privacy(m, values) for m in methods}

    def show(self, values: TrainValues, facts: TrainFacts, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self.figure.show(list(self.rows(values, facts, results).values()), facts.majority)

    def rows(self, values: TrainValues, facts: TrainFacts, results: Results) -> dict[str, Row]:
        """Return the rows of the methods whose results are there."""
        methods = (method for method in chosen(values, facts) if here(results, method) is not None)
        return {method: _row(method, values, facts, results) for method in methods}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        rows, drawn = self.rows(values, facts, results).values(), chosen(values, facts)
        if not rows:
            return ""
        ranked = sorted((row for row in rows if not row.true_epsilon), key=lambda row: -row.mean)
        each = (f"{r.style.label} <b>{percent(r.mean)}</b> ({percent(r.low)} to {percent(r.high)})" for r in ranked)
        text = f"At ε = {values.epsilon:g}, mean and 90% of runs: {', '.join(each)}."
        paid = true_epsilon("vaidya", values.epsilon, facts, values.relation)
        if "vaidya" in drawn and paid is not None:
            text += f" Vaidya et al. state ε = {values.epsilon:g} for each count. The actual ε is <b>{paid:g}</b>."
        broken = [METHODS[m].title for m in drawn if not private(m, facts)]
        if broken:
            text += f" <b>Not private at any ε</b>: {', '.join(broken)}."
        missing = [why for m in values.train_methods if (why := why_not(m, facts))]
        if missing:
            text += f" Not shown: {', '.join(missing)}."
        return text + fewer_draws(drawn, values.draws)


def _row(method: str, values: TrainValues, facts: TrainFacts, results: Results) -> Row:
    """Return the row of a method whose result is there."""
    without = here(results, WITHOUT + method)
    mean, low, high = (float(value) for value in spread(here(results, method)["accuracy"]))
    paid = ""
    if not METHODS[method].claim_holds:
        epsilon = true_epsilon(method, values.epsilon, facts, values.relation)
        paid = "∞" if epsilon is None else f"{epsilon:g}"
    level = None if without is None else float(without["accuracy"].mean())
    return Row(METHODS[method].look, mean, low, high, level, paid)


def _when(method: str) -> str:
    return WORKER if METHODS[method].anew else IMMEDIATE


# ---- Curves --------------------------------------------------------------------------------------------------------


class AccuracyCard(BandCard):
    """Every chosen method over all ε."""

    name, title = "accuracy", "Accuracy against ε"
    wide = True
    plot_name, xlim = "train-accuracy", (EPSILONS[0] / 1.15, EPSILONS[-1] * 1.15)

    def shown(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return styles(chosen(values, facts), facts)

    def shown_levels(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        return {
            name: style for name, style in self.levels.items() if name != NON_PRIVATE or "auto" in values.train_methods
        }

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        methods = chosen(values, facts)
        tasks: dict[ResultKey, Task] = {(m, e): measured(m, values, e) for m in methods for e in SWEEP_EPSILONS}
        if "auto" in methods:
            tasks[NON_PRIVATE, WORKER] = without_privacy("auto", values)
        return tasks

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        near = nearest(SWEEP_EPSILONS, values.epsilon)
        ranked = self.ranking(results, near)
        return f"At ε = {near:g}, mean and 90% of runs: {ranked}." if ranked else ""


class ThresholdCard(BandCard):
    """Accuracy over the percentile of the noise that is the threshold."""

    name, title = "threshold", "Threshold of Algorithm 1"
    controls = ("threshold_percentile",)
    plot_name, styles = "train-threshold", {"algorithm-1": style_of("algorithm-1")}
    x, xlim, x_column = Axis("threshold (percentile of the noise)"), (49, 100), "threshold_percentile"
    with_chosen = True

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(percentile: int) -> Task:
            return measured("algorithm-1", replace(values, threshold_percentile=percentile), values.epsilon)

        tasks: dict[ResultKey, Task] = {("algorithm-1", float(p)): task(p) for p in PERCENTILES}
        tasks[NON_PRIVATE, IMMEDIATE] = without_privacy("algorithm-1", values)
        return {("algorithm-1", IMMEDIATE): task(values.threshold_percentile), **tasks}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        chosen = self.ranking(results, IMMEDIATE)
        at = f"At ε = {values.epsilon:g} and percentile {values.threshold_percentile}"
        return f"{at}, mean and 90% of runs: {chosen}." if chosen else "Computing…"


NOISY = ("objective", "output")
PLAIN = "plain"
# two a decade, so that the curves do not take long
LAMBDA_STEPS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 9))


class LambdaCard(BandCard):
    """Accuracy over λ with noise, and without: what is lost to the right is bias, to the left noise."""

    name, title = "lambda", "Regularisation λ: bias and noise"
    plot_name, x_column, with_chosen = "train-lambda", "reg_lambda", True
    controls = ("train_lambda",)
    x = Axis("← more noise      λ (log scale)      more bias →", log=True, ticks=LAMBDA_STEPS[::2])
    xlim = (LAMBDA_STEPS[0] / 1.3, LAMBDA_STEPS[-1] * 1.3)
    styles: ClassVar[Mapping[str, Style]] = {
        **{name: METHODS[name].look for name in NOISY},
        PLAIN: Style("Without noise", REFERENCE, "dot", "dotted"),
    }
    levels: ClassVar[Mapping[str, Style]] = {"majority": replace(MAJORITY, dash="dotdash")}

    def at(self, values: TrainValues) -> float | None:
        return None if values.train_lambda == RULE else values.train_lambda

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def tasks(reg_lambda: float) -> dict[str, Task]:
            at = replace(values, train_lambda=reg_lambda)
            return {**{m: measured(m, at, values.epsilon) for m in NOISY}, PLAIN: without_privacy("output", at)}

        now = tasks(values.train_lambda)
        chosen: dict[ResultKey, Task] = {(m, _when(m)): now[m] for m in NOISY}
        return chosen | {(name, x): task for x in LAMBDA_STEPS[::-1] for name, task in tasks(x).items()}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        chosen = self.ranking(results, IMMEDIATE)
        at = "of the public rule" if values.train_lambda == RULE else f"= {values.train_lambda:g}"
        return f"At ε = {values.epsilon:g} and λ {at}, mean and 90% of runs: {chosen}." if chosen else "Computing…"
