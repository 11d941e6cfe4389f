"""Card: the wall of all claims, the claimed ε against the shown one; a click on a dot opens its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dpml.catalogue import CATALOGUE
from dpml_app.core.card import ResultKey, Results
from dpml_app.data.facts import NoFacts
from dpml_app.pages.audit import shipped, words
from dpml_app.pages.audit.draws import AuditCard, exact_of, steps_of
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.pages.audit.wall_figure import WallFigure
from dpml_app.work.pool import Task


class WallCard(AuditCard):
    """The page's picture: all claims as they ship, and the chosen one as far as it is drawn.

    Parameters
    ----------
    choose : callable
        Takes the claim whose dot was clicked.
    """

    draw = WallFigure
    name, title, caption = "claims", "Every claim: what it costs", words.AUDIT_CAPTIONS["claims"]
    no_script = "its results ship: python -m benchmarks.shipped claims makes them"

    def __init__(self, choose: Callable[[shipped.Claim], None]):
        super().__init__()
        self._choose = choose
        self.figure.show(shipped.wall())
        self.figure.dots.selected.on_change("indices", self._tapped)

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        super().prepare(values, facts, now)
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        cost = exact_of(results).get("epsilon")
        steps = steps_of(results)
        shown = cost if cost is not None else steps[-1]["lower"] if steps else math.nan
        chosen = shipped.Claim(
            self.values.audit_method, self.values.audit_relation, self.values.audit_epsilon, shown, cost is None
        )
        self.figure.choose(chosen, CATALOGUE[chosen.method].title)

    def say(self, steps: list[dict[str, Any]], values: AuditValues, exact: Mapping[str, Any]) -> str:
        return words.wall_readout(shipped.wall())

    def clear(self) -> None:
        """Keep the wall: it needs no draws."""

    def _tapped(self, _attribute: str, _old: list[int], new: list[int]) -> None:
        if new:
            self.figure.dots.selected.indices = []  # or a second click on it would be no change
            self._choose(shipped.wall()[new[0]])
