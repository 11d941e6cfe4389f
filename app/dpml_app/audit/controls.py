"""The widgets of the Audit page, each tied to one setting both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.catalogue import CATALOGUE
from dpml_app.audit.method_list import MethodList
from dpml_app.audit.settings import AUDIT_DRAWS, AUDIT_EPSILONS, CONFIDENCES, AuditSettings
from dpml_app.card import WHOLE
from dpml_app.widgets import note, tie

__all__ = ["AuditControls"]

RELATION_WORDS = {"Add or remove one record": "add-remove", "Replace one record": "replace-one"}
NEIGHBOUR_WORDS = {"Worst that is known": "worst", "Edit by hand": "table"}


class AuditControls:
    """All widgets; `side` and `advanced` are for beside the picture.

    Parameters
    ----------
    settings : AuditSettings
    report : callable
        Takes the name of a control and a sentence for the page.
    """

    def __init__(self, settings: AuditSettings, report: Callable[[str, str], None]):
        self.settings = settings
        wide = {"sizing_mode": "stretch_width", "margin": (6, 12)}
        label = lambda name: settings.param[name].label  # noqa: E731
        self.widgets: dict[str, Any] = {
            "audit_method": MethodList(label=label("audit_method"), **wide),
            "audit_epsilon": pmui.DiscreteSlider(
                label=label("audit_epsilon"), options={f"{e:g}": e for e in AUDIT_EPSILONS}, **wide
            ),
            "audit_relation": pmui.RadioBoxGroup(label=label("audit_relation"), options=RELATION_WORDS, **wide),
            "audit_neighbours": pmui.RadioBoxGroup(label=label("audit_neighbours"), options=NEIGHBOUR_WORDS, **wide),
            "audit_draws": pmui.DiscreteSlider(
                label=label("audit_draws"), options={f"{n:,}": n for n in AUDIT_DRAWS}, **wide
            ),
            "audit_confidence": pmui.DiscreteSlider(
                label=label("audit_confidence"), options={f"{100 * c:g} %": c for c in CONFIDENCES}, **wide
            ),
            "audit_seed": pmui.IntInput(label=label("audit_seed"), start=0, end=2**31 - 1, step=1, **wide),
        }
        for name, widget in self.widgets.items():
            tie(settings, name, widget, report)
        self.redraw = pmui.Button(label="Redraw", icon="casino", variant="contained", **wide)
        self.redraw.on_click(self._redraw)
        self.start = pmui.Button(label="Pause", icon="pause", variant="outlined", **wide)
        self.relation_note, self.neighbours_note = note(""), note("")
        w = self.widgets
        self.side = pn.Column(
            w["audit_method"],
            w["audit_neighbours"],
            self.neighbours_note,
            self.start,
            **WHOLE,
        )
        self.advanced = pn.Column(
            w["audit_relation"],
            self.relation_note,
            w["audit_draws"],
            w["audit_confidence"],
            note("With which no honest method is accused."),
            w["audit_seed"],
            self.redraw,
            **WHOLE,
        )
        self.offer()

    def offer(self) -> None:
        """Offer the relations and the neighbours that the chosen method has."""
        entry = CATALOGUE[self.settings.audit_method]
        options = {text: value for text, value in RELATION_WORDS.items() if value in entry.relations}
        relation: Any = self.widgets["audit_relation"]
        if relation.options != options:
            relation.param.update(options=options, value=self.settings.audit_relation)
        self.relation_note.object = "" if len(options) > 1 else "The claim is made for this relation only."
        editable = entry.editable is not None
        self.widgets["audit_neighbours"].disabled = not editable
        self.neighbours_note.object = "" if editable else "This method does not run on a small table."

    def _redraw(self, _event) -> None:
        self.settings.audit_seed = (self.settings.audit_seed + 1) % 2**31
