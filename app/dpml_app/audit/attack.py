"""Card: the attacker's ROC curve against what the claim allows. The page's picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.audit import words
from dpml_app.audit.draws import AuditCard
from dpml_app.audit.figures import AttackFigure
from dpml_app.card import Results, Values

__all__ = ["AttackCard"]


class AttackCard(AuditCard):
    """The latest step."""

    draw = AttackFigure
    name, title, caption = "attack", "The attacker's ROC curve", words.AUDIT_CAPTIONS["attack"]

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        super().prepare(values, facts, now)
        self.figure.claim(values["audit_epsilon"], CATALOGUE[values["audit_method"]].delta)

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(steps[-1])

    def say(self, steps: list[dict[str, Any]], values: Values, exact: Mapping[str, Any]) -> str:
        return words.attack_readout(steps[-1])
