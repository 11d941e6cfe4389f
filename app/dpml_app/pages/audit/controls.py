"""The widgets of the Audit page."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.catalogue import CATALOGUE
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import Controls, note
from dpml_app.pages.audit.method_list import MethodList
from dpml_app.pages.audit.settings import AuditSettings


def _searched(*, options: Any, **parameters: Any) -> MethodList:
    """Return the list of methods, which knows its options."""
    return MethodList(**parameters)


class AuditControls(Controls):
    """All widgets; what relations and neighbours they offer depends on the method."""

    settings: AuditSettings
    in_top = "audit_epsilon"
    seed = "audit_seed"

    def lay_out(self) -> None:
        """Make what stands beside the picture and under "Advanced"."""
        self.relation_note, self.neighbours_note = note(""), note("")
        self.side = pn.Column(
            self.add("audit_method", _searched),
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
