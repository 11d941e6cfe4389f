"""Card: the two neighbours, which you can edit if the method runs on a small table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dpml.audit.cases import AUDITED
from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import script
from dpml_app.pages.audit import compute, words
from dpml_app.pages.audit.settings import AuditSettings, AuditValues
from dpml_app.work.pool import Task

HERE = Path(__file__).parent
EDITOR_STYLE = script("pages/audit/editor.css")


class RecordEditor(JSComponent):
    """The table, the record by which its neighbour differs, and which one that replaces."""

    table = param.String("n")
    record = param.String("n")
    replaced = param.Integer(1)
    relation = param.String("add-remove")

    _esm = HERE / "editor.js"
    _stylesheets = [EDITOR_STYLE]  # noqa: RUF012


EDITED = ("table", "record", "replaced")


class NeighboursCard(Card[AuditValues, NoFacts]):
    """The worst that are known, or a table, its new record, and the one that it replaces.

    `report`: takes a topic and a sentence for the page.
    """

    name, title, caption = "neighbours", "Neighbouring tables D and D′", words.AUDIT_CAPTIONS["neighbours"]
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
        return words.neighbours_words(AUDITED[values.audit_method], values, results["case", IMMEDIATE])

    def _follow(self, values: AuditValues) -> None:
        self.editor.param.update(**{name: getattr(values, f"audit_{name}") for name in (*EDITED, "relation")})

    def _on_edit(self, event) -> None:
        problems = self.settings.assign({f"audit_{event.name}": event.new})
        if problems:
            self.report("table", problems[0])
            setattr(self.editor, event.name, getattr(self.settings, f"audit_{event.name}"))
