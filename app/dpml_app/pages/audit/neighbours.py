"""Card: the two neighbours, which can be edited by hand where the method runs on a small table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.core.card import IMMEDIATE, Card, Place, Results, Values
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.settings import AuditSettings
from dpml_app.pages.audit.tables import RecordEditor
from dpml_app.work.pool import Chunk

__all__ = ["NeighboursCard"]

EDITED = ("table", "record", "replaced")


class NeighboursCard(Card):
    """The worst that are known, or a table, its new record, and the one that it replaces.

    Parameters
    ----------
    settings : AuditSettings
    report : callable
        Takes a topic and a sentence for the page.
    """

    name, title, caption = "neighbours", "Two neighbours, D and D′", words.AUDIT_CAPTIONS["neighbours"]
    says = True

    def __init__(self, settings: AuditSettings, report: Callable[[str, str], None]):
        super().__init__()
        self.settings, self.report = settings, report
        self.editor = RecordEditor(sizing_mode="stretch_width", margin=(4, 12), visible=False)
        self._follow(settings.audit_values())
        self.editor.param.watch(self._on_edit, list(EDITED))

    def content(self) -> list[Any]:
        return [self.editor]

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        return {("case", IMMEDIATE): Chunk(compute.case, (AuditSettings.audit_key(values),))}

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        self.editor.visible = values["audit_neighbours"] == "table"
        self._follow(values)

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        return words.neighbours_words(CATALOGUE[values["audit_method"]], values, results["case", IMMEDIATE])

    def _follow(self, values: Values) -> None:
        self.editor.param.update(**{name: values[f"audit_{name}"] for name in (*EDITED, "relation")})

    def _on_edit(self, event) -> None:
        problems = self.settings.assign({f"audit_{event.name}": event.new})
        if problems:
            self.report("table", problems[0])
            setattr(self.editor, event.name, getattr(self.settings, f"audit_{event.name}"))
