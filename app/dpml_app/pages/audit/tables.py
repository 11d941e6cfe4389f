"""Two tables of the Audit page that no widget offers: records with cells to click on, and the catalogue's claims.

Plain HTML of our own: real buttons with names, readable on a phone, and nothing to be fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dpml.catalogue import CATALOGUE, claims
from dpml_app.drawing.figure import script
from dpml_app.pages.audit.compute import CHECKED_AT
from dpml_app.pages.audit.words import FAMILIES, RELATION_SHORT

HERE = Path(__file__).parent
EDITOR_STYLE = script("pages/audit/editor.css")
CLAIMS_STYLE = script("pages/audit/claims.css")


class RecordEditor(JSComponent):
    """The table, the record by which its neighbour differs, and which one that replaces."""

    table = param.String("n")
    record = param.String("n")
    replaced = param.Integer(1)
    relation = param.String("add-remove")

    _esm = HERE / "editor.js"
    _stylesheets = [EDITOR_STYLE]  # noqa: RUF012


class ClaimsTable(JSComponent):
    """The catalogue's claims with their marks."""

    rows = param.List([])
    marks = param.Dict({})
    families = param.Dict({})
    selected = param.String("")

    _esm = HERE / "claims.js"
    _stylesheets = [CLAIMS_STYLE]  # noqa: RUF012

    def __init__(self, choose: Callable[[str, str], None], **params: Any):
        self._choose = choose
        present = {entry.family for entry in CATALOGUE.values()}
        super().__init__(
            rows=[_row(name, relation) for name, relation in claims()],
            families={family: title for family, title in FAMILIES.items() if family in present},
            **params,
        )

    def _handle_msg(self, msg: Mapping[str, str]) -> None:
        if (msg.get("method"), msg.get("relation")) in claims():
            self._choose(msg["method"], msg["relation"])


def claim_key(name: str, relation: str) -> str:
    """Return what a claim's marks are kept under."""
    return f"{name}|{relation}"


def _row(name: str, relation: str) -> dict[str, Any]:
    entry = CATALOGUE[name]
    return {
        "key": claim_key(name, relation),
        "method": name,
        "relation": relation,
        "relation_words": RELATION_SHORT[relation],
        "title": entry.title,
        "family": entry.family,
        "claim": entry.claim,
        "private": "yes" if entry.private else "no",
        "cost": entry.cost,
        "source": entry.citation,
        "holds": entry.holds(CHECKED_AT),
    }
