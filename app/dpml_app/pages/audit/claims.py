"""Card: all claims of the catalogue, which are checked when nothing else is computed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from dpml.catalogue import CATALOGUE, claims
from dpml_app.core.card import Card, Results
from dpml_app.data.facts import NoFacts
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.pages.audit.tables import ClaimsTable, claim_key
from dpml_app.work.fair_queue import Priority
from dpml_app.work.pool import Task
from dpml_app.work.task_runner import TaskRunner

CHECK_SEED = 0
CHECKS = [Task(compute.check_exactly, claim) for claim in claims()]
CHECKS += [Task(compute.check_sampled, (*claim, CHECK_SEED)) for claim in claims()]
POLL_SECONDS = 0.2


class Checks(TaskRunner):
    """Checks every claim, by formula at once and from draws when the page has nothing else to do."""

    priority = Priority.IDLE
    # returns whether the page is shown and computes nothing
    rests: Callable[[], bool]

    async def turn(self) -> None:
        while not self.rests():
            await asyncio.sleep(POLL_SECONDS)


class ClaimsCard(Card[AuditValues, NoFacts]):
    """The table of claims, with a mark for each check.

    Parameters
    ----------
    choose : callable
        Takes the method and the relation of the claim that was chosen.
    """

    name, title, caption = "claims", "All claims of the catalogue", words.AUDIT_CAPTIONS["claims"]
    wide = True
    no_script = "it has no plot: a table of every claim"

    def __init__(self, choose: Callable[[str, str], None]):
        super().__init__()
        self.table = ClaimsTable(choose, sizing_mode="stretch_width", margin=(0, 12, 12, 12))
        self.marks: dict[str, list] = {}

    def content(self) -> list[Any]:
        return [self.table]

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        by_hand = values.audit_neighbours == "table"
        self.table.selected = "" if by_hand else claim_key(values.audit_method, values.audit_relation)

    def add(self, checks: Mapping[Task, Any]) -> str:
        """Show checks beside those before, and return in words how many claims stand."""
        for task, check in checks.items():
            name, relation = task.arguments[:2]
            entry, sampled = CATALOGUE[name], task.function is compute.check_sampled
            unchecked = words.mark(entry, None, sampled=False)
            marks = self.marks.setdefault(claim_key(name, relation), [unchecked, unchecked])
            marks[sampled] = words.mark(entry, check, sampled)
        self.table.marks = {key: list(pair) for key, pair in self.marks.items()}
        return words.claims_readout(self.marks)
