"""The page Audit: the claims of the whole catalogue, and an attacker against one of them as samples accumulate.

All claims ship. The server computes the first steps of an audit, workers the longer ones.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param
from panel.custom import JSComponent

from dpml.audit.cases import AUDITED, AuditedClaim
from dpml_app.core.card import DEFERRED, IMMEDIATE, WHOLE, Card, ResultKey, Results
from dpml_app.core.curves_card import CurvesCard
from dpml_app.core.page import CardPage
from dpml_app.core.runner import ButtonLabels, TaskRunner
from dpml_app.core.widgets import Controls, note
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import script
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, REFERENCE, Style
from dpml_app.jobs import Pool, Task
from dpml_app.pages.audit import compute, text
from dpml_app.pages.audit.compute import CHECKED_AT, AuditSettings, AuditValues, Claim
from dpml_app.pages.audit.figures import ClaimsFigure, OutputFigure
from dpml_app.pages.audit.lesson import FIGURES
from dpml_app.views.frame import Axis

EDITOR_STYLE, VERDICT_STYLE = script("pages/audit/editor.css"), script("pages/audit/verdict.css")
STEP = "step"
PENDING: Mapping[str, Any] = {"known": False, "pending": True}
# steps up to 1,000 samples take a few hundredths of a second
AT_ONCE = 6
# the largest exact ε that is drawn: sampled bounds end below 9
MOST_SHOWN = 12.0
EDITED = ("table", "record", "replaced")
# a method is found by any part of its title
SEARCH: dict[str, Any] = {"search_strategy": "includes", "case_sensitive": False, "min_characters": 0}


def title(entry: AuditedClaim) -> str:
    """Return a method's name in the list, with a sign and the reason where its claim fails.

    Examples
    --------
    >>> from dpml.registry import claim
    >>> title(claim("laplace")), title(claim("private-threshold-testing"))
    ('Laplace mechanism', '✗ Private threshold testing (not private)')
    """
    if not entry.private:
        return f"✗ {entry.title} (not private)"
    return entry.title if entry.holds(CHECKED_AT) else f"✗ {entry.title} (claimed ε too small)"


def methods() -> dict[str, str]:
    """Return the keys of the methods of the catalogue by their titles in the list."""
    return {title(entry): key for key, entry in AUDITED.items()}


class AuditControls(Controls):
    """The widgets of the page; the relations and neighbours that they offer depend on the method."""

    settings: AuditSettings
    in_top = "audit_epsilon"
    seed = "audit_seed"

    def lay_out(self) -> None:
        """Make the widgets beside the picture and under "Advanced"."""
        self.relation_note, self.neighbours_note = note(""), note("")
        self.side = pn.Column(
            self.add("audit_method", pmui.AutocompleteInput, options=methods(), **SEARCH),
            self.add("audit_neighbours", pmui.RadioBoxGroup),
            self.neighbours_note,
            **WHOLE,
        )
        self.advanced = pn.Column(
            self.add("audit_relation", pmui.RadioBoxGroup),
            self.relation_note,
            self.add("audit_draws"),
            self.add("audit_confidence", pmui.DiscreteSlider),
            note("Probability that a correct claim is not refuted."),
            self.add("audit_seed", pmui.IntInput),
            self.redraw,
            **WHOLE,
        )
        self.offer()

    def offer(self) -> None:
        """Offer the relations and the neighbours that the chosen method has."""
        entry = AUDITED[self.settings.audit_method]
        every = self.settings.param.audit_relation.names
        options = {text: value for text, value in every.items() if value in entry.relations}
        relation: Any = self.widgets["audit_relation"]
        if relation.options != options:
            relation.param.update(options=options, value=self.settings.audit_relation)
        self.relation_note.object = "" if len(options) > 1 else "The method claims privacy for this relation only."
        editable = entry.typed is not None
        self.widgets["audit_neighbours"].disabled = not editable
        self.neighbours_note.object = "" if editable else "This method does not run on a small table."


def exact_of(results: Results) -> Mapping[str, Any]:
    """Return the exact cost, pending while its formula is computed."""
    exact: Mapping[str, Any] = results.get(("exact", DEFERRED), PENDING)
    return exact


def steps_of(results: Results) -> list[dict[str, Any]]:
    """Return the steps that have been sampled, without one that the method refused; no bound exceeds the exact ε."""
    by_index = {
        result_key[1]: step for result_key, step in results.items() if result_key[0] == STEP and "problem" not in step
    }
    # a bound of 95% confidence exceeds it in some samples; the smaller one of both holds as well
    most = exact_of(results).get("epsilon", math.inf)
    return [{**step, "lower": min(step["lower"], most)} for _, step in sorted(by_index.items())]


class Draws(TaskRunner):
    """Sample step by step, slowly enough to see the bound move; the server computes the first steps."""

    pace = 0.12
    button_labels = ButtonLabels(stop="Pause", go_on="Resume", stopped="Paused", again="Restart")

    def here(self, task: Task) -> bool:
        return task.arguments[-1] < AT_ONCE or not self.pool.warm

    def said(self, done: int, total: int) -> str:
        drawn = compute.LADDER[done - 1] if done else 0
        return f"{drawn:,} of {compute.LADDER[total - 1]:,} samples per side"


def audit_work(values: AuditValues) -> dict[ResultKey, Task]:
    """Return the tasks of the exact ε and of each step of the ladder."""
    drawn = values.audit_seed, values.audit_confidence
    steps = range(compute.LADDER.index(values.audit_draws) + 1)
    work: dict[ResultKey, Task] = {("exact", DEFERRED): Task(compute.exact, (values.key(),))}
    return work | {(STEP, index): Task(compute.step, (values.key(), *drawn, index)) for index in steps}


class AuditCard(Card[AuditValues, NoFacts]):
    """A card about the samples of an audit."""

    def work(self, values: AuditValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return audit_work(values)

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        return (STEP, 0) not in results  # the bound moves from there on

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        self.values = values


class ClaimsCard(AuditCard):
    """All claims that ship, and the chosen one as far as it is sampled.

    `choose`: takes the claim whose dot was clicked.
    """

    draw = ClaimsFigure
    name, title, caption = "claims", "Actual ε of every claim", text.CAPTIONS["claims"]
    no_script = "its results are precomputed by python -m benchmarks.shipped claims"

    def __init__(self, choose: Callable[[Claim], None]):
        super().__init__()
        self._choose = choose
        self.figure.show(compute.claims())
        self.figure.dots.selected.on_change("indices", self._tapped)

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        cost = exact_of(results).get("epsilon")
        steps = steps_of(results)
        shown = cost if cost is not None else steps[-1]["lower"] if steps else math.nan
        chosen = Claim(
            self.values.audit_method, self.values.audit_relation, self.values.audit_epsilon, shown, cost is None
        )
        self.figure.choose(chosen, AUDITED[chosen.method].title)

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        return text.claims_readout(compute.claims())

    def clear(self) -> None:
        """Keep the claims: they need no samples."""

    def _tapped(self, _attribute: str, _old: list[int], new: list[int]) -> None:
        if new:
            self.figure.dots.selected.indices = []  # or a second click on it would be no change
            self._choose(compute.claims()[new[0]])


class OutputCard(AuditCard):
    """The outputs of the latest step from either data set, and the most that the claim allows: the main evidence."""

    draw = OutputFigure
    name, title, caption = "output", "Outputs with D and with D′", text.CAPTIONS["output"]
    wide = True

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        steps, entry = steps_of(results), AUDITED[self.values.audit_method]
        if steps:
            step, labels, axis, known = text.picture_labels(entry, steps[-1], exact_of(results))
            limits = compute.allowed(step, known, self.values.audit_epsilon, entry.delta, self.values.audit_confidence)
            self.figure.show_step(step["picture"], limits, labels, axis, known)
        elif (STEP, 0) in results:  # the method refused
            self.clear()

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        steps = steps_of(results)
        if not steps:
            return ""
        shown, labels, axis, _known = text.picture_labels(AUDITED[values.audit_method], steps[-1], exact_of(results))
        return text.output_readout(shown, labels, axis)


class BoundCard(CurvesCard[AuditValues, NoFacts]):
    """The bounds of all steps, beside the claim and the exact ε."""

    plot_name, x_column = "audit-bound", "draws"
    x = Axis("samples from each table (log scale)", log=True, ticks=(100, 1_000, 10_000, 100_000))
    y, xlim = Axis("ε"), (0.8 * compute.LADDER[0], 1.25 * compute.LADDER[-1])
    styles: ClassVar[Mapping[str, Style]] = {
        "bounds": Style("Lower bound", BLUE, "circle"),
        "ceiling": Style("Highest possible bound", REFERENCE, "dot", "dotted"),
    }
    levels: ClassVar[Mapping[str, Style]] = {
        "claim": Style("Claim", GREEN, "dot"),
        "exact": Style("Exact", EXACT, "dot", "dashed"),
    }
    look: ClassVar[Mapping[str, Any]] = {"tip": "0.000"}
    name, title, caption = "bound", "Lower bound on ε", text.CAPTIONS["bound"]

    def work(self, values: AuditValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return audit_work(values)

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        return (STEP, 0) not in results

    def at(self, values: AuditValues) -> None:
        return None

    def level_values(self, values: AuditValues, facts: NoFacts, results: Results) -> Mapping[str, float]:
        exact = exact_of(results).get("epsilon", math.inf)
        return {"claim": values.audit_epsilon} | ({"exact": exact} if exact <= MOST_SHOWN else {})

    def series(self, results: Results) -> Mapping[str, Mapping[float, np.ndarray]]:
        values, exact = self._values, exact_of(results)
        limits = values.audit_confidence, AUDITED[values.audit_method].delta
        most = {draws: compute.ceiling(draws, *limits) for draws in compute.LADDER}
        # far beyond a claim that holds there is nothing to see
        seen = 1.5 * values.audit_epsilon if exact.get("passed") else math.inf
        return {
            "bounds": {step["draws"]: np.array([step["lower"]]) for step in steps_of(results)},
            "ceiling": {draws: np.array([bound]) for draws, bound in most.items() if bound <= seen},
        }

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        steps = steps_of(results)
        return text.bound_readout(steps, values, exact_of(results)) if steps else ""


class RecordEditor(JSComponent):
    """The table, the record by which its neighbour differs, and which one that replaces."""

    table = param.String("n")
    record = param.String("n")
    replaced = param.Integer(1)
    relation = param.String("add-remove")

    _esm = Path(__file__).with_name("editor.js")
    _stylesheets = [EDITOR_STYLE]  # noqa: RUF012


class NeighboursCard(Card[AuditValues, NoFacts]):
    """The worst that are known, or a table, its new record, and the one that it replaces.

    `report`: takes a topic and a sentence for the page.
    """

    name, title, caption = "neighbours", "Neighbouring tables D and D′", text.CAPTIONS["neighbours"]
    says = True
    no_script = "it has no plot, only two tables"

    def __init__(self, settings: AuditSettings, report: Callable[[str, str], None]):
        super().__init__()
        self.settings, self.report = settings, report
        self.editor = RecordEditor(sizing_mode="stretch_width", margin=(4, 12), visible=False)
        self._follow(AuditValues.of(settings))
        self.editor.param.watch(self._on_edit, list(EDITED))

    def content(self) -> list[Any]:
        return [self.editor]

    def work(self, values: AuditValues, facts: NoFacts) -> dict[ResultKey, Task]:
        return {("case", IMMEDIATE): Task(compute.case, (values.key(),))}

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        self.editor.visible = values.audit_neighbours == "table"
        self._follow(values)

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        return text.neighbours_readout(AUDITED[values.audit_method], values, results["case", IMMEDIATE])

    def _follow(self, values: AuditValues) -> None:
        self.editor.param.update(**{name: getattr(values, f"audit_{name}") for name in (*EDITED, "relation")})

    def _on_edit(self, event) -> None:
        problems = self.settings.assign({f"audit_{event.name}": event.new})
        if problems:
            self.report("table", problems[0])
            setattr(self.editor, event.name, getattr(self.settings, f"audit_{event.name}"))


class AuditPage(CardPage[AuditValues, NoFacts]):
    """The page of one session."""

    page_id = "audit"
    title = "Audit"
    settings_kind, values_kind = AuditSettings, AuditValues
    lesson_figures = FIGURES
    question = "Does a method keep its claimed ε?"
    lead = "Each dot is a method that claims an <b>ε</b>. Click a dot to see the evidence."
    settings: AuditSettings
    controls: AuditControls
    kinds = (ClaimsCard, OutputCard, NeighboursCard, BoundCard)
    sources = ("audit-state", "audit-work")
    readout_name = "audit-{}-readout"
    what = "this audit"
    runner = Draws
    controls_kind = AuditControls
    main_card = "claims"
    details = ("output", "neighbours")
    risk_of = ("audit_epsilon", "audit_relation")

    def __init__(self, settings: AuditSettings, pool: Pool):
        sentences = settings.fit_audit()  # before the widgets, which offer only existing choices
        super().__init__(settings, pool)
        self._report_changes(sentences)
        self.headline.param.update(stylesheets=[VERDICT_STYLE], margin=(4, 16))
        self.regions["advanced"].insert(0, self.risk)

    def side(self) -> list[Any]:
        return [self.controls.side]

    def make(self, kind: type[Card]) -> Card:
        own = {NeighboursCard: (self.settings, self.report), ClaimsCard: (self._choose,)}
        return kind(*own.get(kind, ()))

    def _choose(self, claim: Claim) -> None:
        names = {"method": claim.method, "relation": claim.relation, "epsilon": claim.claimed, "neighbours": "worst"}
        self.settings.param.update(**{f"audit_{name}": value for name, value in names.items()})

    def _report_changes(self, sentences: list[str]) -> None:
        if sentences:
            self.report("fit", " ".join(sentences), "info")

    def offer(self, changed: set[str]) -> None:
        self._report_changes(self.settings.fit_audit())
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
        state, verdict = text.verdict(entry, values, exact_of(main_results), steps[-1] if steps else None)
        return f'<div class="{state}">{verdict}</div>'


def _steps(work: Mapping[ResultKey, Task]) -> list[Task]:
    """Return the steps of the audit among tasks."""
    return [task for task in work.values() if task.function is compute.step]
