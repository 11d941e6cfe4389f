"""Card: the lower bound on ε as draws accumulate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.audit import words
from dpml_app.audit.draws import AuditCard, exact_of
from dpml_app.audit.figures import BoundFigure
from dpml_app.card import Place, Results, Values
from dpml_app.work.pool import Chunk

__all__ = ["BoundCard"]


class BoundCard(AuditCard):
    """All steps, beside the claim and what is known exactly."""

    draw = BoundFigure
    name, title, caption = "bound", "What the draws have shown", words.AUDIT_CAPTIONS["bound"]

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        super().prepare(values, facts, now)
        self._claim(now)

    def _claim(self, results: Results) -> None:
        delta = CATALOGUE[self.values["audit_method"]].delta
        exact = exact_of(results).get("epsilon")
        self.figure.claim(self.values["audit_epsilon"], delta, self.values["audit_confidence"], exact)

    def show(self, results: Results, wanted: Mapping[Place, Chunk]) -> None:
        self._claim(results)
        super().show(results, wanted)

    def show_steps(self, steps: list[dict[str, Any]], exact: Mapping[str, Any]) -> None:
        self.figure.show(steps)

    def say(self, steps: list[dict[str, Any]], values: Values, exact: Mapping[str, Any]) -> str:
        return words.bound_readout(steps, values, exact)

    def clear(self) -> None:
        self.figure.show([])
