"""The table of facts: a row for each column of the uploaded table, with cells to type in.

Plain controls of the browser, one message for an edit and the row for an answer. Two hundred columns are some thousand
controls: as widgets each would be a model of its own in the server. Tabulator has one editor a cell, not several, and
its script would be loaded with the first page.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from panel.custom import JSComponent

from dpml_app.drawing.figure import script
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.rows import LABEL, Rows

# of the tables that the page shows besides
TABLE_STYLE = script("pages/mydata/tables.css")
STYLE = script("pages/mydata/facts_table.css")


class FactsTable(JSComponent):
    """The table for one draft.

    `changed`: called after each edit.
    `use`: called when the table is to be used; returns whether its facts are whole.
    """

    _esm = Path(__file__).with_name("facts_table.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar = [STYLE]

    def __init__(self, draft: Draft, changed: Callable[[], None], use: Callable[[], bool], **params: Any):
        super().__init__(**params)
        self.draft, self.rows = draft, Rows(draft)
        self._on_edit, self._on_use = changed, use

    def show_all(self) -> None:
        """Show every row anew."""
        self._send_msg({"rows": self.rows.every(), "all": True})

    def _handle_msg(self, data: Any) -> None:
        """Take an edit; what comes from a browser is not trusted."""
        if not isinstance(data, dict):
            return
        if data.get("ask"):
            self.show_all()
        elif data.get("use"):
            if not self._on_use():
                self._send_msg({"rows": [], "wanted": True})
        else:
            self._say(data)

    def _say(self, message: dict[str, Any]) -> None:
        label = self.draft.label
        self.rows.say(message)
        name, fact = message.get("column"), message.get("fact")
        if self.draft.label != label:
            self.show_all()
        elif name in self.draft.columns:
            self._send_msg({"rows": [self.rows.of(str(name))]})
        elif fact in (LABEL, "classes"):
            self._send_msg({"rows": [self.rows.of(label)]})
        elif fact in self.draft.marks or fact == "n_lower":
            self._send_msg({"rows": [self.rows.of_table(str(fact))]})
        self._on_edit()
