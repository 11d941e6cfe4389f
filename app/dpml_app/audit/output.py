"""Card: the outputs, and on which of them the attacker bets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.audit import words
from dpml_app.audit.draws import AuditCard
from dpml_app.audit.figures import OutputFigure
from dpml_app.card import Values

__all__ = ["OutputCard"]


class OutputCard(AuditCard):
    """The latest step."""

    draw = OutputFigure
    name, title, caption = "output", "Outputs, and where the attacker bets", words.AUDIT_CAPTIONS["output"]

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(*words.picture_labels(CATALOGUE[self.values["audit_method"]], steps[-1], exact))

    def say(self, steps: list[dict[str, Any]], values: Values, exact: Mapping[str, Any]) -> str:
        shown, labels, axis, _known = words.picture_labels(CATALOGUE[values["audit_method"]], steps[-1], exact)
        return words.output_readout(shown, labels, axis)
