"""Cards: one release, its grid, the chances of the best candidates, and its cells."""

from __future__ import annotations

from collections.abc import Mapping

from dpml_app.core.card import WORKER, Card, ResultKey, Results
from dpml_app.pages.publish import words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.pages.publish.release_figures import CellsFigure, ChancesFigure, GridFigure
from dpml_app.pages.publish.settings import PublishValues
from dpml_app.work.pool import Task

HERE = ("release", WORKER)


class _ReleaseCard(Card[PublishValues, PublishFacts]):
    """A card that shows the release of the table that is shown."""

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {HERE: Task(release_facts, values.drawn_key())}

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self._classes = facts.classes
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if HERE in results:
            self.reveal(results[HERE])

    def reveal(self, release: Mapping) -> None:
        """Show a release."""
        self.figure.show(release)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return words.release(self.name, results[HERE]) if HERE in results else "Computing…"


class GridCard(_ReleaseCard):
    """The chosen grid on its taxonomies."""

    draw = GridFigure
    name, title, caption = "grid", "Which groups are kept?", words.CAPTIONS["grid"]

    def reveal(self, release: Mapping) -> None:
        self.figure.show(release["taxonomies"], release["levels"])


class ChancesCard(_ReleaseCard):
    """The exponential mechanism's exact probabilities."""

    draw = ChancesFigure
    name, title, caption = "chances", "Which grid is chosen?", words.CAPTIONS["chances"]


class CellsCard(_ReleaseCard):
    """True and noisy counts of the largest cells."""

    draw = CellsFigure
    name, title, caption = "cells", "What the noise does to the cells", words.CAPTIONS["cells"]

    def lay_out(self, facts: PublishFacts) -> None:
        self.figure.lay_out(facts.classes)

    def reveal(self, release: Mapping) -> None:
        self.figure.show(release, self._classes)
