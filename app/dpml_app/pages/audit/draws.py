"""Cards of one audit: the attacker's ROC curve, the outputs, and the bound as draws accumulate, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.core.card import DEFERRED, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.figures import AttackFigure, BoundFigure
from dpml_app.pages.audit.output_figure import OutputFigure
from dpml_app.pages.audit.outputs import allowed
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.work.pool import Task
from dpml_app.work.progress import ButtonLabels
from dpml_app.work.task_runner import TaskRunner

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
    button_labels = ButtonLabels(stop="Pause", go_on="Go on", stopped="Paused", again="Start again")

    def here(self, task: Task) -> bool:
        return task.arguments[-1] < AT_ONCE or not self.pool.warm

    def said(self, done: int, total: int) -> str:
        drawn = compute.LADDER[done - 1] if done else 0
        return f"{drawn:,} of {compute.LADDER[total - 1]:,} draws each"


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
    name, title, caption = "output", "What comes out, with D and with D′", words.AUDIT_CAPTIONS["output"]
    wide = True

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        entry = CATALOGUE[self.values.audit_method]
        step, labels, axis, known = words.picture_labels(entry, steps[-1], exact)
        limits = allowed(step, known, self.values.audit_epsilon, entry.delta, self.values.audit_confidence)
        self.figure.show(step["picture"], limits, labels, axis, known)

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        shown, labels, axis, _known = words.picture_labels(CATALOGUE[values.audit_method], steps[-1], exact)
        return words.output_readout(shown, labels, axis)


class AttackCard(AuditCard):
    """The attacker's ROC curve of the latest step, in the region that the claim allows."""

    draw = AttackFigure
    name, title, caption = "attack", "The attacker's ROC curve", words.AUDIT_CAPTIONS["attack"]

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.figure.claim(values.audit_epsilon, CATALOGUE[values.audit_method].delta)

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(steps[-1])

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        return words.attack_readout(steps[-1])


class BoundCard(AuditCard):
    """The bounds of all steps, beside the claim and what is known exactly."""

    draw = BoundFigure
    name, title, caption = "bound", "What the draws have shown", words.AUDIT_CAPTIONS["bound"]

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self._claim(now)

    def _claim(self, results: Results) -> None:
        delta = CATALOGUE[self.values.audit_method].delta
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
