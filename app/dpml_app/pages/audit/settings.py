"""Every control of the Audit page; `dpml_app.state.Settings` holds them beside those of the other pages."""

from dataclasses import dataclass

import param

from dpml.audit.cases import AUDITED
from dpml.audit.cases.typed import MOST_RECORDS, RECORD, TABLE
from dpml_app.core.values import PageValues, declared_by
from dpml_app.pages.audit.compute import LADDER
from dpml_app.settings import RELATION_TITLES, Shared, choice, number, text

# 24 steps a decade, of two digits each
STEPS = (1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 3, 3.2, 3.5, 4, 4.2, 4.6, 5, 5.6, 6.2, 7, 7.5, 8.3, 9.1)
AUDIT_EPSILONS = (*(float(f"{s * 10**d:.3g}") for d in (-2, -1, 0) for s in STEPS), 10.0)
AUDIT_DRAWS = LADDER[LADDER.index(1_000) :]
CONFIDENCES = (0.8, 0.9, 0.95, 0.99, 0.999)
RELATION_WORDS = {"add-remove": "add or remove one record", "replace-one": "replace one record"}


class Records(param.String):
    """Records of a table, or one of them."""

    allowed = "records separated by dots, each a class (n or y) followed by its features among a, b, c and d"


@dataclass(frozen=True)
class AuditValues(PageValues):
    """The settings of the Audit page."""

    audit_method: str = choice("private-threshold-testing", list(AUDITED), "Method (✗: claim violated)")
    audit_epsilon: float = choice(1.0, AUDIT_EPSILONS, "Claimed ε")
    audit_relation: str = choice("add-remove", RELATION_TITLES, "Claimed relation")
    audit_neighbours: str = choice("worst", {"worst": "Worst known", "table": "Custom table"}, "Neighbouring tables")
    audit_table: str = text("nab.nb.yc.yac", "Table", Records, regex=rf"^{TABLE}\Z")
    audit_record: str = text("yab", "New record", Records, regex=rf"^{RECORD}\Z")
    audit_replaced: int = number(1, (1, MOST_RECORDS), "Replaced record")
    audit_draws: int = choice(25_000, AUDIT_DRAWS, "Maximum number of samples")
    audit_confidence: float = choice(0.95, {c: f"{100 * c:g}%" for c in CONFIDENCES}, "Confidence")
    audit_seed: int = number(0, (0, 2**31 - 1), "Audit seed")

    def key(self) -> tuple:
        """Return what tells one audit from another: the first argument of `dpml_app.pages.audit.compute.step`."""
        edited = None
        if self.audit_neighbours == "table":
            edited = self.audit_table, self.audit_record, self.audit_replaced
        return self.audit_method, self.audit_epsilon, self.audit_relation, edited


@declared_by(AuditValues)
class AuditSettings(Shared):
    """The settings of the Audit page; a parameter's name is its name in the link."""

    def fit_audit(self) -> list[str]:
        """Change what the chosen method does not have; return a sentence for each change."""
        entry, changes, sentences = AUDITED[self.audit_method], {}, []
        if self.audit_relation not in entry.relations:
            changes["audit_relation"] = entry.relations[0]
            sentences.append(f"{entry.title} claims privacy only for “{RELATION_WORDS[entry.relations[0]]}”.")
        if self.audit_neighbours == "table" and entry.typed is None:
            changes["audit_neighbours"] = "worst"
            sentences.append(
                f"{entry.title} does not run on a small binary table. Its worst known neighbours are shown."
            )
        if changes:
            self.param.update(**changes)
        return sentences
