"""The widgets of the Audit page."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.catalogue import CATALOGUE
from dpml_app.audit.compute import CHECKED_AT
from dpml_app.audit.settings import AuditSettings
from dpml_app.audit.words import FAMILIES
from dpml_app.card import WHOLE
from dpml_app.widgets import Controls, note

__all__ = ["AuditControls"]


def _title(name: str) -> str:
    entry = CATALOGUE[name]
    if not entry.private:
        return f"✗ {entry.title} (not private)"
    return entry.title if entry.holds(CHECKED_AT) else f"✗ {entry.title} (claims too little)"


def _grouped(*, options: Any, **parameters: Any) -> pmui.Select:
    """Return a list whose options stand under the title of their family."""
    groups = {
        title: {_title(name): name for name in options if CATALOGUE[name].family == family}
        for family, title in FAMILIES.items()
    }
    return pmui.Select(groups={title: names for title, names in groups.items() if names}, **parameters)


class AuditControls(Controls):
    """All widgets; what relations and neighbours they offer depends on the method."""

    settings: AuditSettings
    in_top = "audit_epsilon"
    seed = "audit_seed"

    def lay_out(self) -> None:
        """Make what stands beside the picture and under "Advanced"."""
        self.relation_note, self.neighbours_note = note(""), note("")
        self.side = pn.Column(
            self.add("audit_method", _grouped),
            self.add("audit_neighbours", pmui.RadioBoxGroup),
            self.neighbours_note,
            **WHOLE,
        )
        self.advanced = pn.Column(
            self.add("audit_relation", pmui.RadioBoxGroup),
            self.relation_note,
            self.add("audit_draws"),
            self.add("audit_confidence", pmui.DiscreteSlider),
            note("With which no honest method is accused."),
            self.add("audit_seed", pmui.IntInput),
            self.redraw,
            **WHOLE,
        )
        self.offer()

    def in_cards(self) -> None:
        """Make the widget under the picture."""
        self.add("audit_epsilon")

    def offer(self) -> None:
        """Offer the relations and the neighbours that the chosen method has."""
        entry = CATALOGUE[self.settings.audit_method]
        every = self.settings.param.audit_relation.names
        options = {text: value for text, value in every.items() if value in entry.relations}
        relation: Any = self.widgets["audit_relation"]
        if relation.options != options:
            relation.param.update(options=options, value=self.settings.audit_relation)
        self.relation_note.object = "" if len(options) > 1 else "The claim is made for this relation only."
        editable = entry.editable is not None
        self.widgets["audit_neighbours"].disabled = not editable
        self.neighbours_note.object = "" if editable else "This method does not run on a small table."
