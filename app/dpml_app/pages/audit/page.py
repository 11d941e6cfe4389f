"""The page Audit: the claims of the whole catalogue, and an attacker with samples against one of them.

All claims ship. The server computes the exact ε, workers the samples.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import panel as pn
import panel_material_ui as pmui

from dpml.audit.cases import AUDITED, AuditedClaim
from dpml_app.core.card import DEFERRED, WHOLE, WORKER, Card, ResultKey, Results
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, note
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import script
from dpml_app.jobs import Pool, Task
from dpml_app.pages.audit import compute, text
from dpml_app.pages.audit.compute import CHECKED_AT, AuditSettings, AuditValues, Claim
from dpml_app.pages.audit.figures import ClaimsFigure, OutputFigure
from dpml_app.pages.audit.lesson import FIGURES

VERDICT_STYLE = script("pages/audit/verdict.css")
EXACT, SAMPLE = ("exact", DEFERRED), ("sample", WORKER)
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
    """The widgets of the page; the relations that they offer depend on the method."""

    settings: AuditSettings
    in_top = "audit_epsilon"
    seed = "audit_seed"

    def lay_out(self) -> None:
        """Make the widgets beside the picture and under "Advanced"."""
        self.relation_note = note("")
        self.side = pn.Column(self.add("audit_method", pmui.AutocompleteInput, options=methods(), **SEARCH), **WHOLE)
        self.advanced = pn.Column(
            self.add("audit_relation", pmui.RadioBoxGroup),
            self.relation_note,
            self.add("audit_draws"),
            self.add("audit_seed", pmui.IntInput),
            self.redraw,
            **WHOLE,
        )
        self.offer()

    def offer(self) -> None:
        """Offer the relations that the chosen method has."""
        entry = AUDITED[self.settings.audit_method]
        every = self.settings.param.audit_relation.names
        options = {text: value for text, value in every.items() if value in entry.relations}
        relation: Any = self.widgets["audit_relation"]
        if relation.options != options:
            relation.param.update(options=options, value=self.settings.audit_relation)
        self.relation_note.object = "" if len(options) > 1 else "The method claims privacy for this relation only."


def exact_of(results: Results) -> Mapping[str, Any]:
    """Return the exact cost, pending while its formula is computed."""
    exact: Mapping[str, Any] = results.get(EXACT, {"pending": True})
    return exact


def sample_of(results: Results) -> Mapping[str, Any] | None:
    """Return the audit by samples, None before it is there; its bound does not exceed the exact ε."""
    sample = results.get(SAMPLE)
    # a bound of 95% confidence exceeds it in some samples; the smaller one of both holds as well
    return sample and {**sample, "lower": min(sample["lower"], exact_of(results).get("epsilon", math.inf))}


class AuditCard(Card[AuditValues, NoFacts]):
    """A card about an audit."""

    def work(self, values: AuditValues, facts: NoFacts) -> dict[ResultKey, Task]:
        key = values.key()
        return {
            EXACT: Task(compute.exact, (key,)),
            SAMPLE: Task(compute.sample, (key, values.audit_seed, values.audit_draws)),
        }


class ClaimsCard(AuditCard):
    """All claims that ship, and the chosen one as far as it is sampled."""

    draw = ClaimsFigure
    name, title, caption = "claims", "Actual ε of every claim", text.CAPTIONS["claims"]
    no_script = "its results are precomputed by python -m benchmarks.shipped claims"
    # takes the claim whose dot was clicked
    choose: Callable[[Claim], None]

    def __init__(self) -> None:
        super().__init__()
        self.figure.show(compute.claims())
        self.figure.dots.selected.on_change("indices", self._tapped)

    def show(self, values: AuditValues, facts: NoFacts, results: Results, wanted: Mapping) -> None:
        cost, sample = exact_of(results).get("epsilon"), sample_of(results)
        shown = cost if cost is not None else sample["lower"] if sample else math.nan
        chosen = Claim(values.audit_method, values.audit_relation, values.audit_epsilon, shown, cost is None)
        self.figure.choose(chosen, AUDITED[chosen.method].title)

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        return text.claims_readout(compute.claims())

    def greyed(self, results: Results, wanted: Mapping[ResultKey, Task], computing: bool) -> bool:
        return False

    def clear(self) -> None:
        """Keep the claims: they need no samples."""

    def _tapped(self, _attribute: str, _old: list[int], new: list[int]) -> None:
        if new:
            self.figure.dots.selected.indices = []  # or a second click on it would be no change
            self.choose(compute.claims()[new[0]])


class OutputCard(AuditCard):
    """The outputs with either data set, and the most that the claim allows: the evidence."""

    draw = OutputFigure
    name, title, caption = "output", "Outputs with D and with D′", text.CAPTIONS["output"]
    wide = True

    def show(self, values: AuditValues, facts: NoFacts, results: Results, wanted: Mapping) -> None:
        sample, entry = sample_of(results), AUDITED[values.audit_method]
        if sample:
            limits = compute.allowed(sample, values.audit_epsilon, entry.delta)
            self.figure.show_outputs(sample["picture"], limits, *text.picture_labels(entry.family, sample))

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        sample = sample_of(results)
        if not sample:
            return ""
        return text.output_readout(sample, *text.picture_labels(AUDITED[values.audit_method].family, sample))


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
    kinds = (ClaimsCard, OutputCard)
    what = "this audit"
    controls_kind = AuditControls
    main_card = "claims"
    details = ("output",)
    risk_of = ("audit_epsilon", "audit_relation")

    def __init__(self, settings: AuditSettings, pool: Pool):
        change = settings.fit_audit()  # before the widgets, which offer only existing choices
        super().__init__(settings, pool)
        self.alerts.report("fit", change, "info")
        cast(ClaimsCard, self.cards["claims"]).choose = self._choose
        self.headline.param.update(stylesheets=[VERDICT_STYLE], margin=(4, 16))
        self.regions["side"].remove(self.risk)
        self.regions["advanced"].insert(0, self.risk)

    def _choose(self, claim: Claim) -> None:
        names = {"method": claim.method, "relation": claim.relation, "epsilon": claim.claimed}
        self.settings.param.update(**{f"audit_{name}": value for name, value in names.items()})

    def offer(self, changed: set[str]) -> None:
        change = self.settings.fit_audit()
        if change:
            self.alerts.report("fit", change, "info")
        self.controls.offer()

    def words(self, values: AuditValues, facts: NoFacts, results: Mapping[str, Results]) -> str:
        main_results = results.get(self.main_card, {})
        entry = AUDITED[values.audit_method]
        state, verdict = text.verdict(entry, values, exact_of(main_results), sample_of(main_results))
        return f'<div class="{state}">{verdict}</div>'
