"""The widgets of the Audit page, and the list of methods with a search: panel-material-ui's lists have none (0.16)."""

from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.custom import JSComponent

from dpml.audit.cases import AUDITED, AuditedClaim
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import Controls, note
from dpml_app.drawing.figure import script
from dpml_app.pages.audit.compute import CHECKED_AT
from dpml_app.pages.audit.settings import AuditSettings
from dpml_app.pages.audit.words import FAMILIES

STYLE = script("pages/audit/method_list.css")


def title(entry: AuditedClaim) -> str:
    """Return a method's name in the list, with a sign and the reason where its claim fails.

    Examples
    --------
    >>> from dpml.registry import claim
    >>> title(claim("laplace")), title(claim("private-threshold-testing"))
    ('Laplace mechanism', '✗ Private threshold testing (not private)')
    """
    if not entry.private:
        return f"✗ {entry.title} (not private)"
    return entry.title if entry.holds(CHECKED_AT) else f"✗ {entry.title} (claimed ε too small)"


def groups() -> list[dict[str, Any]]:
    """Return the methods of the catalogue by family, each with the words of its source, which can be searched too."""
    by_family = {
        name: [
            {"value": key, "shown": title(entry), "words": entry.citation}
            for key, entry in AUDITED.items()
            if entry.family == family
        ]
        for family, name in FAMILIES.items()
    }
    return [{"title": name, "methods": methods} for name, methods in by_family.items() if methods]


class MethodList(JSComponent):
    """A list of methods with a search; `value` is the name of the one that is chosen."""

    label = param.String("")
    groups = param.List([])
    value = param.String("")

    _esm = Path(__file__).with_name("method_list.js")
    _stylesheets = [STYLE]  # noqa: RUF012

    def __init__(self, **params: Any):
        super().__init__(groups=groups(), **params)


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
            note("Probability that a correct claim is not refuted."),
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
        entry = AUDITED[self.settings.audit_method]
        every = self.settings.param.audit_relation.names
        options = {text: value for text, value in every.items() if value in entry.relations}
        relation: Any = self.widgets["audit_relation"]
        if relation.options != options:
            relation.param.update(options=options, value=self.settings.audit_relation)
        self.relation_note.object = "" if len(options) > 1 else "The method claims privacy for this relation only."
        editable = entry.typed is not None
        self.widgets["audit_neighbours"].disabled = not editable
        self.neighbours_note.object = "" if editable else "This method does not run on a small table."
