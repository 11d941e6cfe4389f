"""A table of the Audit page that no widget offers: records with cells to click on.

Plain HTML of our own: real buttons with names, readable on a phone, and nothing to be fetched.
"""

from __future__ import annotations

from pathlib import Path

import param
from panel.custom import JSComponent

from dpml_app.drawing.figure import script

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
