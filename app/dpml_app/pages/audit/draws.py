"""Cards of one audit: the attacker's ROC curve, the outputs, and the bound as draws accumulate, step by step."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import CustomJSTickFormatter, FixedTicker
from numpy.typing import NDArray

from dpml.audit import simultaneous_confidence
from dpml.audit.cases import AUDITED
from dpml.audit.sampled import clopper_pearson
from dpml_app.core.card import DEFERRED, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import Figure, empty_source, fill, hover, label, new_figure, percent_axis, write
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, ORANGE, VERMILION
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.figures import AttackFigure, BoundFigure
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.work.pool import Task
from dpml_app.work.progress import ButtonLabels
from dpml_app.work.task_runner import TaskRunner

Floats = NDArray[np.float64]
SIDES = ("first", "second")


def allowed(
    step: Mapping[str, Any],
    known: Sequence[tuple[float, float]] | None,
    epsilon: float,
    delta: float,
    confidence: float,
) -> dict[str, Floats | NDArray[np.bool_]]:
    """Return of each output and each side, shape (2, n): ``low`` and ``high`` of its share, ``most``, ``broken``.

    A claim of (ε, δ) allows an output e^ε times its probability on the other side, and δ (Antonova 2016, eq. 2.3).
    Of that probability the draws leave an interval open; all intervals of a picture hold together with `confidence`.
    ``most`` is what the upper end allows. An exact probability is its own interval there.

    >>> step = {"counted": 1000, "picture": {"first": np.array([0.4, 0.6]), "second": np.array([0.0, 1.0])}}
    >>> limits = allowed(step, [(0.4, 0.0), (0.6, 1.0)], 1.0, 0.0, 0.95)
    >>> limits["most"][0].round(2).tolist(), limits["broken"].tolist()
    ([0.0, 1.0], [[True, False], [False, False]])
    """
    shares, n = np.array([step["picture"][side] for side in SIDES], dtype=float), step["counted"]
    low, high = clopper_pearson(np.rint(shares * n), n, 1 - simultaneous_confidence(confidence, shares.size))
    least, largest = (low, high) if known is None else (np.array(known, dtype=float).T,) * 2
    most = np.minimum(math.exp(epsilon) * largest[::-1] + delta, 1.0)
    return {"low": low, "high": high, "most": most, "broken": least > most * (1 + 1e-9)}


DATA, NEIGHBOUR, CLAIM, BEYOND = BLUE, ORANGE, GREEN, VERMILION
# of a pair's width, what is left free between it and the next one
GAP = 0.12
# the height of the picture, as a share of its tallest bar: names stand above that
ROOM = 1.4
# labels of more outputs than this stand upright
LYING = 12


class OutputFigure(Figure):
    """Bars side by side for D and D′; a line is the most that the claim allows, a block above it is beyond."""

    computed = ("first", "second", "claim", "beyond", "known", "names")

    def __init__(self):
        self.plot = p = new_figure("audit-output", x_range=(0, 1), y_range=(0, 1))
        p.height = 275
        p.yaxis.axis_label = "share of samples"
        percent_axis(p.yaxis)
        p.yaxis[0].ticker.desired_num_ticks = 4
        p.xgrid.visible = False
        self.ticker = FixedTicker(ticks=[])
        # labels through the formatter: overrides of an axis, once set, are not taken away by an empty dictionary
        p.xaxis.formatter = CustomJSTickFormatter(
            args={"ticker": self.ticker},
            code="const i = ticker.ticks.indexOf(tick); return ticker.tags[i] ?? String(+tick.toPrecision(4))",
        )
        self._numbers = p.xaxis[0].ticker
        columns = ("left", "right", "x", "share", "low", "high", "label")
        self.first, self.second = (empty_source(f"audit-outputs-{side}", *columns) for side in SIDES)
        self.claim = empty_source("audit-allowed", "left", "right", "most")
        self.beyond = empty_source("audit-beyond-claim", "left", "right", "most", "share")
        self.known = empty_source("audit-known", "x", "p")
        self.names = empty_source("audit-output-names", "x", "y", "name", "align", "ink")
        bars = []
        for source, color, hatch in ((self.first, DATA, None), (self.second, NEIGHBOUR, "right_diagonal_line")):
            look: dict[str, Any] = {"fill_color": color, "fill_alpha": 0.6, "line_color": color}
            look |= {"hatch_pattern": hatch, "hatch_color": color, "hatch_alpha": 0.7} if hatch else {}
            bars.append(p.quad(left="left", right="right", bottom=0, top="share", source=source, **look))
        p.quad(left="left", right="right", bottom="most", top="share", source=self.beyond, color=BEYOND)
        for source in (self.first, self.second):
            p.segment("x", "low", "x", "high", source=source, line_color=value("#606060"), line_width=1.5)
        p.segment("left", "most", "right", "most", source=self.claim, line_color=CLAIM, line_width=4)
        p.scatter("x", "p", source=self.known, marker="diamond", size=11, color=EXACT, line_color="white")
        write(
            p, "x", "y", "name", color="ink", source=self.names, text_align={"field": "align"}, text_baseline="bottom",
            y_offset=-4, text_font_size="16px", text_font_style="bold",
        )  # fmt: skip
        self.key = label(p, 0, 1, "", CLAIM, text_baseline="top", name="audit-key")
        tips = ("share", "@share{0.00%}"), ("interval", "@low{0.00%} to @high{0.00%}")
        hover(p, bars, ("output", "@label"), *tips)

    def show(
        self,
        picture: Mapping[str, Any],
        limits: Mapping[str, np.ndarray],
        labels: Sequence[str],
        axis: str,
        known: Sequence[tuple[float, float]] | None,
    ) -> None:
        """Show the outputs of one step: `limits` of `outputs.allowed`, `labels` of the bars, exact probabilities."""
        p, left, right = self.plot, picture["left"], picture["right"]
        middle, gap = (left + right) / 2, GAP * (right - left)
        edges = ((left + gap, middle), (middle, right - gap))
        shares = np.array([picture[side] for side in SIDES])
        for k, source in enumerate((self.first, self.second)):
            ends = {"left": edges[k][0], "right": edges[k][1], "x": (edges[k][0] + edges[k][1]) / 2}
            spread = {"low": limits["low"][k], "high": limits["high"][k]}
            source.data = {**ends, "share": shares[k], **spread, "label": list(labels)}
        # a claim is about the larger bar of a pair: of the smaller one it allows more than that
        larger, every = (shares[1] > shares[0]).astype(int), np.arange(len(left))
        of = [np.where(larger, edges[1][e], edges[0][e]) for e in (0, 1)]
        most, share, broken = limits["most"][larger, every], shares[larger, every], limits["broken"][larger, every]
        self.claim.data = {"left": of[0], "right": of[1], "most": most}
        columns = {"left": of[0], "right": of[1], "most": most, "share": share}
        self.beyond.data = {name: column[broken] for name, column in columns.items()}
        x = np.concatenate([(e[0] + e[1]) / 2 for e in edges])
        self.known.data = {"x": x, "p": np.array(known).T.ravel()} if known else {"x": [], "p": []}
        tallest = max(limits["high"].max(), np.max(known or 0.0))
        top = ROOM * tallest
        # the tallest pair whose names are not crossed by the green line
        highest = limits["high"].max(axis=0)
        free = most > highest + 0.12 * top
        at = int(np.where(free, highest, highest / 1000).argmax())
        names = ("D ", "right", DATA), (" D′", "left", NEIGHBOUR)
        fill(self.names, [(middle[at], highest[at], *name) for name in names])
        p.x_range.update(start=float(left[0]), end=float(right[-1]))
        p.y_range.update(start=0, end=float(top))
        text = " line: allowed, block: excess" if broken.any() else " line: allowed by the claim"
        self.key.update(x=float(left[0]), y=0.99 * top, text=text)
        few = picture["kind"] != "histogram"
        p.xaxis[0].axis_label = axis
        self.ticker.update(ticks=[float(m) for m in middle] if few else [], tags=list(labels) if few else [])
        p.xaxis[0].ticker = self.ticker if few else self._numbers
        p.xaxis[0].major_label_orientation = "vertical" if few and len(labels) > LYING else "horizontal"


STEP = "step"
PENDING: Mapping[str, Any] = {"known": False, "pending": True}
# steps up to 1,000 draws take a few hundredths of a second
AT_ONCE = 6


def exact_of(results: Results) -> Mapping[str, Any]:
    """Return the exact cost, or that its formula is still being computed."""
    exact: Mapping[str, Any] = results.get(("exact", DEFERRED), PENDING)
    return exact


def steps_of(results: Results) -> list[dict[str, Any]]:
    """Return the steps that have been drawn, without one that the method refused."""
    by_index = {
        result_key[1]: step for result_key, step in results.items() if result_key[0] == STEP and "problem" not in step
    }
    return [by_index[index] for index in sorted(by_index)]


class Draws(TaskRunner):
    """Draws step by step, so slowly that one sees the bound move; the first ones are the server's own."""

    pace = 0.12
    button_labels = ButtonLabels(stop="Pause", go_on="Resume", stopped="Paused", again="Restart")

    def here(self, task: Task) -> bool:
        return task.arguments[-1] < AT_ONCE or not self.pool.warm

    def said(self, done: int, total: int) -> str:
        drawn = compute.LADDER[done - 1] if done else 0
        return f"{drawn:,} of {compute.LADDER[total - 1]:,} samples per side"


class AuditCard(Card[AuditValues, NoFacts]):
    """A card about the draws of an audit; a subclass says how steps are shown, of which there is at least one."""

    def work(self, values: AuditValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.key()
        drawn = values.audit_seed, values.audit_confidence
        steps = range(compute.LADDER.index(values.audit_draws) + 1)
        return {("exact", DEFERRED): Task(compute.exact, (key,))} | {
            (STEP, index): Task(compute.step, (key, *drawn, index)) for index in steps
        }

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        self.values = values

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        steps = steps_of(results)
        if steps:
            self.show_steps(steps, exact_of(results))
        elif (STEP, 0) in results:  # the method refused
            self.clear()

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        steps = steps_of(results)
        return self.say(steps, values, exact_of(results)) if steps else ""

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        """Show steps."""
        raise NotImplementedError

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        """Return in words what they show."""
        raise NotImplementedError


class OutputCard(AuditCard):
    """The outputs of the latest step from either data set, and the most that the claim allows: the main evidence."""

    draw = OutputFigure
    name, title, caption = "output", "Outputs with D and with D′", words.AUDIT_CAPTIONS["output"]
    wide = True

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        entry = AUDITED[self.values.audit_method]
        step, labels, axis, known = words.picture_labels(entry, steps[-1], exact)
        limits = allowed(step, known, self.values.audit_epsilon, entry.delta, self.values.audit_confidence)
        self.figure.show(step["picture"], limits, labels, axis, known)

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        shown, labels, axis, _known = words.picture_labels(AUDITED[values.audit_method], steps[-1], exact)
        return words.output_readout(shown, labels, axis)


class AttackCard(AuditCard):
    """The attacker's ROC curve of the latest step, in the region that the claim allows."""

    draw = AttackFigure
    name, title, caption = "attack", "The attacker's ROC curve", words.AUDIT_CAPTIONS["attack"]

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.figure.claim(values.audit_epsilon, AUDITED[values.audit_method].delta)

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(steps[-1])

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        return words.attack_readout(steps[-1])


class BoundCard(AuditCard):
    """The bounds of all steps, beside the claim and what is known exactly."""

    draw = BoundFigure
    name, title, caption = "bound", "Lower bound on ε", words.AUDIT_CAPTIONS["bound"]

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self._claim(now)

    def _claim(self, results: Results) -> None:
        delta = AUDITED[self.values.audit_method].delta
        exact = exact_of(results).get("epsilon")
        self.figure.claim(self.values.audit_epsilon, delta, self.values.audit_confidence, exact)

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        self._claim(results)
        super().show(results, wanted)

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(steps)

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        return words.bound_readout(steps, values, exact)

    def clear(self) -> None:
        self.figure.show([])
