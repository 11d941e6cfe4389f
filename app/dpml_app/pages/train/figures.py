"""Draw the accuracy of private classifiers: the cards of the Classifiers page and their figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import holoviews as hv
import numpy as np
from bokeh.models import (
    ColorBar,
    FactorRange,
    LinearColorMapper,
    NumeralTickFormatter,
    SaveTool,
)
from bokeh.palettes import Viridis256
from bokeh.transform import dodge

from dpml.sweep import STANDARD
from dpml_app.core.card import IMMEDIATE, WORKER, Answer, Card, Number, ResultKey, Results, here, kept_but_for
from dpml_app.core.curves_card import CurvesCard
from dpml_app.drawing.figure import (
    Figure,
    across,
    edges,
    empty_source,
    fill,
    follow_ground,
    hover,
    new_figure,
    over_epsilon,
    spread,
    write,
)
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import (
    HERE,
    OVERLAY,
    REFERENCE,
    STALE,
    VAIDYA_TRUE,
    Style,
    style_of,
)
from dpml_app.jobs import Task
from dpml_app.pages.train.compute import (
    EVERY,
    LINEAR,
    MAPPED_METHODS,
    MAPPED_RELATION,
    PERCENTILES,
    RULE,
    SAID,
    Row,
    TrainFacts,
    TrainValues,
    asked,
    chosen,
    lambda_without_noise,
    levels,
    map_cells,
    measured,
    nb_silenced,
    nearest,
    nothing_to_compare,
    private,
    public_lambda,
    rule_takes,
    true_epsilon,
    why_not,
    without_privacy,
)
from dpml_app.pages.train.text import CAPTIONS, best_in_words, fewer_draws
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.text.phrases import interval, percent
from dpml_app.views.frame import Axis
from dpml_app.views.rendered import Table


def styles(names: tuple[str, ...], facts: TrainFacts) -> dict[str, Style]:
    """Return how methods look on such a table; the label says so if their claim does not hold, or needs a δ."""
    by_name = {}
    for name in names:
        style, note = style_with_delta(name), ""
        if not private(name, facts):
            note = ", not private"
        elif not EVERY[name].claim_holds:
            note = ", stated ε"
        by_name[name] = replace(style, label=style.label + note)
    return by_name


def style_with_delta(name: str) -> Style:
    """Return how a method looks; the label says so if it needs a δ."""
    style = EVERY[name].look
    return style if EVERY[name].pure else replace(style, label=f"{style.label}, needs δ = {SAID}")


# ---- Methods at the chosen ε ---------------------------------------------------------------------------------------


# so far does an interval make the axis longer than what is compared, at either end
MOST_BEYOND = 0.25
# pixels of a row, with its name above its bar, and of axis and legend
ROW_HEIGHT, FRAME = 46, 150
# the name of a method in the ink of the page
INK = ("#16202c", "#e6e8ea")


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
        self.plot = p = new_figure("train-methods", x_range=(0.7, 0.9), y_range=(1, -1), x_axis_location="above")
        # the names begin at the start of the axis, which therefore stays
        p.toolbar.tools = [tool for tool in p.tools if isinstance(tool, SaveTool)]
        p.xaxis.update(formatter=NumeralTickFormatter(format="0.[0]%"), axis_line_color=None)
        p.yaxis.visible = p.ygrid.visible = False
        columns = ("method", "mean", "low", "high", "without", "shown", "color", "marker", "alpha", "y", "start")
        self.rows = rows = empty_source("train-methods-rows", *columns)
        self.guess = across(p, "height", line_dash="dotted", line_width=2.5)
        paint: Any = {"fill_color": "color", "line_color": "color", "line_alpha": "alpha", "source": rows}
        bars = p.hbar("y", left="low", right="high", height=0.25, fill_alpha=0.3, line_width=1.5, **paint)
        tick: Any = {"marker": "dash", "angle": math.pi / 2, "line_color": REFERENCE, "line_width": 4}
        levels = p.scatter("without", "y", source=rows, size=18, **tick)
        dots = p.scatter("mean", "y", marker="marker", size=12, line_width=2, fill_alpha="alpha", **paint)
        large: Any = {"text_font_size": "15px", "text_baseline": "bottom", "x_offset": 2, "y_offset": -3}
        names = write(p, "start", dodge("y", -0.125), "shown", source=rows, level=OVERLAY, **large)
        names.glyph.text_color = INK[0]
        follow_ground(p, names.glyph, "text_color", *INK)
        legend = PlotLegend(p, location=(0, 0))  # there is no axis at its left
        legend.add("without noise", [mark(color=REFERENCE, size=14, **tick)])
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
        self.plot.y_range.start = len(rows) - 0.5
        self.plot.min_height = int(ROW_HEIGHT * (len(rows) + 0.5)) + FRAME
        self.guess.location = guess
        best_first = sorted(rows, key=lambda row: (bool(row.true_epsilon), -row.mean))
        fill(self.rows, [(*_cells(row), place, start) for place, row in enumerate(best_first)])

    def clear(self) -> None:
        super().clear()
        self.guess.location = None


def _cells(row: Row) -> tuple[Any, ...]:
    """Return the columns of a method besides its place."""
    text = f"claim violated, actual ε: {row.true_epsilon}" if row.true_epsilon else percent(row.mean)
    without = math.nan if row.without is None else row.without
    style, alpha = row.style, STALE if row.stale else 1.0
    numbers = row.mean, row.low, row.high, without
    return style.label, *numbers, f"{style.label}: {text}", style.color, style.marker, alpha


# ---- What cards have in common -------------------------------------------------------------------------------------


MEASURED = {
    "accuracy": "accuracy on test records",
    "auc": "AUC (chance: 50%)",
}


def label_measure(axis: Any, values: TrainValues) -> None:
    """Say on an axis what the methods are measured by."""
    if axis.axis_label != MEASURED[values.train_measure]:
        axis.axis_label = MEASURED[values.train_measure]


class TrainCard(Card[TrainValues, TrainFacts]):
    """A card of the Train page, with the caption of its name."""

    # families of methods that it is about; without them it is not on the page
    families: ClassVar[tuple[str, ...]] = ("naive-bayes",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            cls.caption = CAPTIONS[cls.name]

    @classmethod
    def belongs(cls, values: TrainValues) -> bool:
        return bool(set(cls.families) & set(values.families))


class BandCard(TrainCard, CurvesCard[TrainValues, TrainFacts]):
    """A card of accuracies with bands, and of level lines that the facts name."""

    y = Axis(MEASURED["accuracy"], share=True)
    column = "accuracy"
    look: ClassVar[Mapping[str, Any]] = {"marks": True}
    levels: ClassVar[Mapping[str, Style]] = {}

    def level_values(self, values: TrainValues, facts: TrainFacts, results: Results) -> Mapping[str, float]:
        return {name: value for name, value in levels(values, facts).items() if name in self.levels}

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


# of the series of a method's level
WITHOUT = "without "


class MethodsCard(TrainCard):
    """Every chosen method at one ε, each with its own level without privacy."""

    draw = MethodsFigure
    name, title = "methods", "Methods at the chosen ε"
    controls, families = ("train_measure",), ("naive-bayes", "linear")

    def __init__(self) -> None:
        super().__init__()
        self._values: TrainValues | None = None
        self._facts: TrainFacts | None = None
        # of each method what was shown last, until its result at another ε has come
        self._last: dict[str, Row] = {}
        # of which settings and results the picture is
        self._drawn: Any = None

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        methods = chosen(values, facts)
        work: dict[ResultKey, Task] = {(m, _when(m)): measured(m, values, values.epsilon) for m in methods}
        return work | self.without(values, facts)

    @kept_but_for("epsilon")
    def without(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        """Return the tasks of the methods without noise."""
        return {(WITHOUT + m, _when(m)): without_privacy(m, values) for m in chosen(values, facts)}

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        before = self._values
        if before is None or (before.dataset, before.train_measure) != (values.dataset, values.train_measure):
            self._last = {}
        self._values, self._facts = values, facts
        label_measure(self.figure.plot.xaxis[0], values)
        self._draw(now)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._draw(results)

    def _draw(self, results: Results) -> None:
        values, facts = self._values, self._facts
        assert values is not None
        assert facts is not None
        if self._drawn == (values, facts, frozenset(results)):
            return
        self._drawn = values, facts, frozenset(results)
        there = self.rows(values, facts, results)
        self._last |= there
        stale = (m for m in chosen(values, facts) if m in self._last and m not in there)
        shown = [*there.values(), *(replace(self._last[method], stale=True) for method in stale)]
        self.figure.show(shown, levels(values, facts)["majority"])

    def rows(self, values: TrainValues, facts: TrainFacts, results: Results) -> dict[str, Row]:
        """Return the rows of the methods whose results are there."""
        methods = (method for method in chosen(values, facts) if here(results, method) is not None)
        return {method: _row(method, values, facts, results) for method in methods}

    def to_pin(self, values: TrainValues, facts: TrainFacts, results: Results) -> Answer | None:
        numbers = [
            Number(row.style.label, percent(row.mean), f"{percent(row.low)} to {percent(row.high)}")
            for row in self.rows(values, facts, results).values()
            if not row.true_epsilon
        ]
        return Answer(tuple(numbers), within="90% of runs") if numbers else None

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
        broken = [EVERY[m].title for m in drawn if not private(m, facts)]
        if broken:
            text += f" <b>Not private at any ε</b>: {', '.join(broken)}."
        missing = [why for m in asked(values) if (why := why_not(m, facts))]
        if missing:
            text += f" Not shown: {', '.join(missing)}."
        if "rule" in drawn:
            naive = rule_takes(values.dataset, values.epsilon) == "naive-bayes"
            text += f" The public rule selects {'naive Bayes' if naive else 'a linear SVM'} here."
        return text + fewer_draws(chosen(values, facts), values.draws)

    def clear(self) -> None:
        self._last, self._drawn = {}, None
        super().clear()


def _row(method: str, values: TrainValues, facts: TrainFacts, results: Results) -> Row:
    """Return the row of a method whose result is there."""
    measure, without = values.train_measure, here(results, WITHOUT + method)
    mean, low, high = (float(value) for value in spread(here(results, method)[measure]))
    paid = ""
    if not EVERY[method].claim_holds:
        epsilon = true_epsilon(method, values.epsilon, facts, values.relation)
        paid = "∞" if epsilon is None else f"{epsilon:g}"
    level = None if without is None else float(without[measure].mean())
    return Row(style_with_delta(method), mean, low, high, level, paid)


def _when(method: str) -> str:
    return WORKER if EVERY[method].anew else IMMEDIATE


# ---- Best method at each ε -----------------------------------------------------------------------------------------


# what is so many points behind, or more, is darkest
FAR = 10.0


class BestFigure(Figure):
    """A row for each method, a column for each ε: how far it is behind the best, and which are as good."""

    computed = ("cells", "equal", "best")

    def __init__(self) -> None:
        methods = FactorRange(factors=list(MAPPED_METHODS.values())[::-1])
        self.plot = p = over_epsilon("train-best", EPSILONS[0] / 1.5, EPSILONS[-1] * 1.5, y_range=methods)
        p.grid.visible = False
        # on a phone the names take half of the width
        p.yaxis.major_label_text_font_size, p.xaxis.axis_label = "11px", "ε (log scale)"
        columns = ("left", "right", "epsilon", "method", "setting", "mean", "error", "behind")
        self.cells = empty_source("train-best-cells", *columns)
        self.equal = empty_source("train-best-equal", "epsilon", "method")
        self.best = empty_source("train-best-best", "epsilon", "method")
        self.marker = across(p, "height", name="train-best-marker", level=OVERLAY, line_color=HERE, line_width=3)
        mapper = LinearColorMapper(palette=Viridis256[::-1], low=0.0, high=FAR, name="train-best-colors")
        look: dict[str, Any] = {"fill_color": {"field": "behind", "transform": mapper}, "line_color": None}
        cells = p.hbar("method", left="left", right="right", height=1, source=self.cells, **look)
        dot: Any = {"size": 9, "fill_color": "black", "line_color": "white", "level": OVERLAY}
        ring: Any = {"fill_color": "white", "line_color": "black", "line_width": 2}
        p.scatter("epsilon", "method", source=self.equal, **dot)
        p.scatter("epsilon", "method", source=self.best, size=14, level=OVERLAY, **ring)
        legend = PlotLegend(p)
        legend.add("best", [mark("circle", "white", **{k: v for k, v in ring.items() if k != "fill_color"})])
        legend.add("as good", [mark("circle", "black", line_color="white")])
        bar = ColorBar(color_mapper=mapper, height=10, major_label_text_font_size="12px", padding=3)
        bar.title = "percentage points behind the best"
        p.add_layout(bar, "above")
        right = ("accuracy", "@mean{0.0%} ± @error{0.0%}"), ("points behind", "@behind{0.0}")
        hover(p, [cells], ("method", "@method @setting"), ("ε", "@epsilon"), *right)

    def show(self, cells: dict[str, list[Any]]) -> None:
        """Show the cells of a study, and what is best at each ε."""
        methods = list(dict.fromkeys(cells["method"]))
        if list(self.plot.y_range.factors) != methods[::-1]:
            self.plot.y_range.factors = methods[::-1]
        epsilons = sorted(set(cells["epsilon"]))
        ends = dict(zip(epsilons, zip(*edges(epsilons), strict=True), strict=True))
        taken = {name: cells[name] for name in ("epsilon", "method", "setting", "mean")}
        self.cells.data = {
            "left": [float(ends[epsilon][0]) for epsilon in cells["epsilon"]],
            "right": [float(ends[epsilon][1]) for epsilon in cells["epsilon"]],
            **taken,
            "error": cells["se"],
            "behind": (100 * np.array(cells["behind"])).tolist(),
        }
        rows = list(zip(*(cells[name] for name in ("epsilon", "method", "best", "equal")), strict=True))
        fill(self.best, [row[:2] for row in rows if row[2]])
        fill(self.equal, [row[:2] for row in rows if row[3] and not row[2]])


class BestCard(TrainCard):
    """The best method and settings at each ε."""

    draw = BestFigure
    name, title = "best", "Best method at each ε"
    families, wide, says = ("naive-bayes", "linear"), True, True

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        if values.dataset not in STANDARD:
            return (
                f"this study covers {', '.join(STANDARD)}. Run <code>python -m dpml sweep</code> for other data sets."
            )
        if values.relation != MAPPED_RELATION:
            return "this study covers the relation add or remove one record."
        return ""

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        return {("places", IMMEDIATE): Task(map_cells, (values.dataset,))}

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        self.figure.marker.location = values.epsilon
        cells = here(now, "places")
        if cells is not None:
            self.figure.show(cells)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        cells = here(results, "places")
        return "Computing…" if cells is None else best_in_words(cells, nearest(cells["epsilon"], values.epsilon))


# ---- Curves --------------------------------------------------------------------------------------------------------


TRUE = "vaidya-true"
REFERENCES = {
    "table": Style("Non-private, table", REFERENCE, "dot"),
    "binary": Style("Non-private, binary", REFERENCE, "dot", "dotdash"),
    "logistic": Style("Non-private, logistic", REFERENCE, "dot", "dashed"),
    "majority": Style("Majority-class baseline", REFERENCE, "dot", "dotted"),
}


class AccuracyCard(BandCard):
    """Every chosen method over all ε."""

    name, title = "accuracy", "Accuracy against ε"
    wide, families = True, ("naive-bayes", "linear")
    plot_name, xlim, levels = "train-accuracy", (EPSILONS[0] / 1.15, EPSILONS[-1] * 1.15), REFERENCES

    def shown_levels(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        known = levels(values, facts)
        return {name: style for name, style in REFERENCES.items() if name in known}

    def shown(self, values: TrainValues, facts: TrainFacts) -> dict[str, Style]:
        looks = styles(chosen(values, facts), facts)
        if "vaidya" in looks and private("vaidya", facts):
            looks[TRUE] = VAIDYA_TRUE
        return looks

    def draws(self, series: str, result: Mapping[str, Any]) -> np.ndarray:
        return result[self._values.train_measure]

    def drawn_of(self, values: TrainValues) -> str:
        return values.train_measure

    def refusal(self, values: TrainValues, facts: TrainFacts) -> str:
        return nothing_to_compare(values, facts)

    @kept_but_for("epsilon")
    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        tasks: dict[ResultKey, Task] = {}
        for method in chosen(values, facts):
            for epsilon in SWEEP_EPSILONS:
                tasks[method, epsilon] = measured(method, values, epsilon)
                paid = true_epsilon(method, epsilon, facts, values.relation)
                if method == "vaidya" and paid is not None and paid <= EPSILONS[-1]:
                    tasks[TRUE, paid] = tasks[method, epsilon]
        return tasks

    def prepare(self, values: TrainValues, facts: TrainFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        label_measure(self.figure.plot.yaxis[0], values)

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        near = nearest(SWEEP_EPSILONS, values.epsilon)
        ranked = self.ranking(results, near)
        return f"At ε = {near:g}, mean and 90% of runs: {ranked}." if ranked else ""


class ThresholdCard(BandCard):
    """Accuracy over the percentile of the noise that is the threshold."""

    name, title = "threshold", "Threshold of Algorithm 1"
    controls = ("threshold_percentile",)
    plot_name, styles = "train-threshold", {"accuracy": style_of("algorithm-1")}
    x, xlim, x_column = Axis("threshold (percentile of the noise)"), (49, 100), "threshold_percentile"
    with_chosen = True
    levels: ClassVar[Mapping[str, Style]] = {
        "binary": Style("Non-private", REFERENCE, "dot", "dotdash"),
        "majority": REFERENCES["majority"],
    }

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(percentile: int) -> Task:
            common = values.dataset, values.relation, values.epsilon, percentile
            return Task(nb_silenced, (*common, values.draws, values.seed))

        tasks: dict[ResultKey, Task] = {("accuracy", float(p)): task(p) for p in PERCENTILES}
        return {("accuracy", IMMEDIATE): task(values.threshold_percentile), **tasks}

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        if ("accuracy", IMMEDIATE) not in results:
            return "Computing…"
        now, D = results["accuracy", IMMEDIATE], len(facts.binary_columns)
        return (
            f"Accuracy at ε = {values.epsilon:g} and percentile {values.threshold_percentile}: "
            f"<b>{percent(now['accuracy'].mean())}</b> ({interval(now['accuracy'])}). Of {D:,} features, on average "
            f"<b>{now['some'].mean() * D:,.0f}</b> have a raised count of ones in some class, "
            f"<b>{now['on'].mean() * D:,.0f}</b> in all classes, and <b>{now['all'].mean() * D:,.0f}</b> have only "
            "raised counts and carry no information."
        )


NOISY = ("l1", "objective", "output")
PLAIN = "plain"
# the series at the λ of the public rule
RULES = {method: f"rule-{method}" for method in NOISY}
# two a decade, so that the curves do not take long
LAMBDA_STEPS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 9))
MARKS = ("x", "y", "low", "end", "high", "label")


def _marks(tables: Mapping[str, Table]) -> hv.Overlay:
    """Return the marks of each method at the λ of the public rule."""
    layers: list[Any] = []
    for method in NOISY:
        named: dict[str, Any] = {"group": RULES[method], "label": "λ of the public rule"}
        table, color = tables[RULES[method]], LINEAR[method].look.color
        bar = hv.Segments(table, ["x", "low", "end", "high"], **named)
        dot = hv.Points(table, ["x", "y"], **named)
        dot = dot.opts(marker="diamond", size=17, fill_alpha=0.25, color=color, line_width=2, tools=["hover"])
        layers += [bar.opts(color=color, line_width=2), dot]
    return hv.Overlay(layers)


class LambdaCard(BandCard):
    """Accuracy over λ with noise, and without: what is lost to the right is bias, to the left noise."""

    name, title = "lambda", "Regularisation λ: bias and noise"
    families = ("linear",)
    plot_name, x_column, with_chosen = "train-lambda", "reg_lambda", True
    x = Axis("← more noise      λ (log scale)      more bias →", log=True, ticks=LAMBDA_STEPS[::2])
    xlim = (LAMBDA_STEPS[0] / 1.3, LAMBDA_STEPS[-1] * 1.3)
    styles: ClassVar[Mapping[str, Style]] = {
        **{name: EVERY[name].look for name in NOISY},
        PLAIN: Style("Without noise", REFERENCE, "dot", "dotted"),
    }
    levels: ClassVar[Mapping[str, Style]] = {"majority": replace(REFERENCES["majority"], dash="dotdash")}

    def __init__(self) -> None:
        super().__init__()
        self.figure.add(_marks, dict.fromkeys(RULES.values(), MARKS))

    def at(self, values: TrainValues) -> float | None:
        return None if values.train_lambda == RULE else values.train_lambda

    def work(self, values: TrainValues, facts: TrainFacts) -> dict[ResultKey, Task]:
        def task(method: str, reg_lambda: float) -> Task:
            return measured(method, replace(values, train_lambda=reg_lambda, train_measure="accuracy"), values.epsilon)

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

    def more(self, values: TrainValues, facts: TrainFacts, results: Results) -> dict[str, Table]:
        tables: dict[str, Table] = {}
        for m in NOISY:
            rule = here(results, RULES[m])
            if rule is not None:
                x, (mean, low, high) = self._rules[m], spread(rule["accuracy"])
                row = (x, mean, low, x, high, LINEAR[m].look.label)
                tables[RULES[m]] = {column: [value] for column, value in zip(MARKS, row, strict=True)}
        return tables

    def readout(self, values: TrainValues, facts: TrainFacts, results: Results) -> str:
        sentences = []
        for m in NOISY:
            result = here(results, RULES[m])
            if result is None:
                continue
            mean, rule = result["accuracy"].mean(), self._rules[m]
            sentences.append(f"{LINEAR[m].look.label}: <b>{percent(mean)}</b> at λ = {rule:.3g} of the public rule")
        if not sentences:
            return "Computing…"
        chosen = self.ranking(results, IMMEDIATE)
        at = f" At λ = {values.train_lambda:g}: {chosen}." if values.train_lambda != RULE and chosen else ""
        return f"At ε = {values.epsilon:g}. {'. '.join(sentences)}.{at}"
