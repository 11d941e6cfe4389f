"""The Audit page: the claims of the whole catalogue, and an attacker against one of them, as draws accumulate.

The wall of all claims ships. The first steps of an audit are computed in the server, so that there is something to see
at once; longer ones in the worker processes, and a newer request makes the older one stop.
"""

from collections.abc import Mapping
from typing import Any

from dpml.audit.cases import AUDITED
from dpml_app.core.card import Card, ResultKey, Results
from dpml_app.core.card_page import CardPage
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import script
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.controls import AuditControls
from dpml_app.pages.audit.draws import AttackCard, BoundCard, Draws, OutputCard, exact_of, steps_of
from dpml_app.pages.audit.lesson_figures import figure, lesson_plot
from dpml_app.pages.audit.neighbours import NeighboursCard
from dpml_app.pages.audit.one_run import OneRunCard
from dpml_app.pages.audit.settings import AuditSettings, AuditValues
from dpml_app.pages.audit.shipped import Claim
from dpml_app.pages.audit.wall import WallCard
from dpml_app.work.pool import Pool, Task

VERDICT_STYLE = script("pages/audit/verdict.css")


class AuditPage(CardPage[AuditValues, NoFacts]):
    """The page of one session."""

    page_id = "audit"
    title = "Audit"
    settings_kind, values_kind = AuditSettings, AuditValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "Does a method keep its claimed ε?"
    lead = "Each dot is a method that claims an <b>ε</b>. Click a dot to see the evidence."
    settings: AuditSettings
    controls: AuditControls
    kinds = (WallCard, OutputCard, AttackCard, NeighboursCard, BoundCard, OneRunCard)
    sources = ("audit-state", "audit-work")
    readout_name = "audit-{}-readout"
    what = "this audit"
    runner = Draws
    controls_kind = AuditControls
    main_card = "claims"
    details = ("output", "attack", "neighbours")
    risk_of = ("audit_epsilon", "audit_relation")

    def __init__(self, settings: AuditSettings, pool: Pool):
        sentences = settings.fit_audit()  # before the widgets, which can only offer what there is
        super().__init__(settings, pool)
        self._tell_changes(sentences)
        self.headline.param.update(stylesheets=[VERDICT_STYLE], margin=(4, 16))
        self.regions["advanced"].insert(0, self.risk)

    def side(self) -> list[Any]:
        return [self.controls.side]

    def make(self, kind: type[Card]) -> Card:
        own = {NeighboursCard: (self.settings, self.report), WallCard: (self._choose,)}
        return kind(*own.get(kind, ()))

    def _choose(self, claim: Claim) -> None:
        names = {"method": claim.method, "relation": claim.relation, "epsilon": claim.claimed, "neighbours": "worst"}
        self.settings.param.update(**{f"audit_{name}": value for name, value in names.items()})

    def _tell_changes(self, sentences: list[str]) -> None:
        if sentences:
            self.report("fit", " ".join(sentences), "info")

    def offer(self, changed: set[str]) -> None:
        self._tell_changes(self.settings.fit_audit())
        self.controls.offer()
        self.clear("draws")

    # ---- steps -----------------------------------------------------------------------------------------------------

    def _missing(self, values: AuditValues, wanted: Mapping[str, Mapping[ResultKey, Task]]) -> list[Task]:
        """Return every step, also those that are kept: one sees the bound move."""
        return _steps(wanted[self.main_card])

    def _kept(self, work: Mapping[ResultKey, Task]) -> dict[ResultKey, Any]:
        """Return the results that are there; of the steps, those that have had their turn."""
        waiting = set(_steps(work)) - self.work.seen
        return super()._kept({result_key: task for result_key, task in work.items() if task not in waiting})

    def _chosen(self, work: Mapping[ResultKey, Task]) -> dict[ResultKey, Any]:
        return self._kept(work)

    def adopt(self, task: Task, result: Any) -> None:
        """Say so where a method refuses to draw."""
        if task.function is compute.step and "problem" in result:
            title = AUDITED[self.settings.audit_method].title
            self.report("draws", f"{title} cannot be sampled: {result['problem']}", "warning")
            self.work.rest("No samples")

    def words(self, values: AuditValues, facts: NoFacts, results: Mapping[str, Results]) -> str:
        main_results = results.get(self.main_card, {})
        steps, entry = steps_of(main_results), AUDITED[values.audit_method]
        state, text = words.verdict(entry, values, exact_of(main_results), steps[-1] if steps else None)
        return f'<div class="{state}">{text}</div>'


def _steps(work: Mapping[ResultKey, Task]) -> list[Task]:
    """Return the steps of the audit among tasks."""
    return [task for task in work.values() if task.function is compute.step]
