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
from dpml_app.pages.audit.compute import CHECKED_AT
from dpml_app.pages.audit.words import FAMILIES, RELATION_SHORT

__all__ = ["ClaimsTable", "RecordEditor", "claim_key"]

HERE = Path(__file__).parent
LINES = "color-mix(in srgb, currentColor 22%, transparent)"
EDITOR_STYLE = f"""
:host {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.95rem; margin: 4px auto 8px; }}
caption {{ text-align: left; font-weight: 600; padding: 2px 0; }}
th {{ font-weight: 500; padding: 2px 5px; text-align: center; }}
th[scope=row] {{ text-align: left; white-space: nowrap; }}
td {{ padding: 2px 2px; text-align: center; }}
button {{ font: inherit; color: inherit; cursor: pointer; border: 1px solid {LINES}; border-radius: 6px;
  background: transparent; min-width: 34px; height: 34px; padding: 0 6px; }}
button.wide {{ min-width: 46px; }}
button[aria-pressed=true] {{ background: #0072B2; border-color: #0072B2; color: white; font-weight: 600; }}
tr.comes button[aria-pressed=true] {{ background: #D55E00; border-color: #D55E00; }}
tr.leaves th, tr.leaves td {{ background: color-mix(in srgb, #D55E00 22%, transparent); }}
button.plain {{ border-color: transparent; }}
button:disabled {{ opacity: 0.35; cursor: default; }}
button:focus-visible, input:focus-visible {{ outline: 3px solid #E69F00; outline-offset: 1px; }}
tr.says td {{ text-align: left; padding-top: 8px; }}
tr.says button {{ display: block; margin-bottom: 6px; border-color: {LINES}; }}
input {{ width: 20px; height: 20px; }}
"""
CLAIMS_STYLE = f"""
:host {{ container-type: inline-size; }}
.bar {{ display: flex; flex-wrap: wrap; gap: 6px 24px; padding: 6px 0; }}
select, button {{ font: inherit; color: inherit; }}
select {{ padding: 4px; background: transparent; border: 1px solid {LINES}; border-radius: 6px; }}
option {{ color: black; background: white; }}
.scroll {{ max-height: 560px; overflow: auto; border: 1px solid {LINES}; border-radius: 6px; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.9rem; line-height: 1.3; }}
th, td {{ text-align: left; padding: 6px 8px; border-bottom: 1px solid {LINES}; vertical-align: top; }}
th {{ font-weight: 600; white-space: nowrap; }}
tbody tr {{ cursor: pointer; }}
tbody tr:hover {{ background: color-mix(in srgb, currentColor 8%, transparent); }}
tr[aria-selected=true] {{ background: color-mix(in srgb, #0072B2 28%, transparent) !important; }}
button {{ border: none; background: transparent; padding: 0; text-align: left; cursor: pointer; font-weight: 600;
  text-decoration: underline; text-decoration-color: {LINES}; }}
button:focus-visible, .scroll:focus-visible {{ outline: 3px solid #E69F00; }}
.mark {{ white-space: nowrap; font-weight: 600; font-variant-numeric: tabular-nums; }}
.mark.passed::first-letter {{ color: #009E73; }}
.mark.caught::first-letter, .mark.wrong::first-letter {{ color: #D55E00; }}
.mark.caught, .mark.wrong {{ color: #D55E00; }}
.mark.open {{ opacity: 0.7; }}
tr[hidden] {{ display: none !important; }}
@container (max-width: 760px) {{
  thead {{ position: absolute; clip-path: inset(50%); }}
  table, tbody, tr, td {{ display: block; }}
  tr {{ display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid {LINES}; padding: 6px 2px; }}
  td {{ border: none; padding: 2px 8px; grid-column: 1 / 3; overflow-wrap: anywhere; }}
  td:nth-child(3) {{ order: -1; font-size: 1rem; }}
  td.mark {{ grid-column: auto; }}
  td.mark::before {{ content: "by formula "; font-weight: 400; opacity: 0.8; }}
  td.mark:nth-child(2)::before {{ content: "by draws "; }}
  td[data-name]::before {{ content: attr(data-name) ": "; opacity: 0.7; }}
}}
"""


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
