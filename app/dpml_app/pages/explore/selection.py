"""Card: which features a private choice takes; the browser draws it, and says in words what it has drawn."""

from __future__ import annotations

from dpml_app.code.script import Code
from dpml_app.core.card import Card, Results, Values
from dpml_app.drawing.figure import empty
from dpml_app.pages.explore import words
from dpml_app.pages.explore.code import selection_code
from dpml_app.pages.explore.figures import SelectionFigure

__all__ = ["SelectionCard"]


class SelectionCard(Card):
    """Inclusion probabilities of the best features."""

    draw = SelectionFigure
    _relation = ""
    name, title, caption = "selection", "Features chosen", words.CAPTIONS["selection"]

    def lay_out(self, facts: Values) -> None:
        self.figure.show_dataset(facts["names"], facts["count"], facts["mutual_information"])

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        if values["relation"] != self._relation:
            self._relation = values["relation"]
            self.figure.show_unit(*(facts["unit"][kind, self._relation] for kind in ("count", "mutual_information")))

    def code(self, values: Values, facts: Values) -> Code:
        return selection_code(values)

    def clear(self) -> None:
        self._relation = ""
        empty(self.figure.drawn)
