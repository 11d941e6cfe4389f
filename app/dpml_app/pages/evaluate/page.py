"""The ROC curve page: private ROC curves of a classifier, and labels that a non-private one reveals.

The browser draws the private ROC curve while ε moves. Workers compute the errors of all private curves.
"""

from collections.abc import Mapping
from typing import cast

from dpml_app.core.card import IMMEDIATE, Results
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import COLUMNS, Controls, divider
from dpml_app.data import measures
from dpml_app.data.facts import BinaryFacts
from dpml_app.drawing.figure import run_script, script
from dpml_app.jobs import Pool
from dpml_app.pages.evaluate.compute import EvaluateSettings, EvaluateValues
from dpml_app.pages.evaluate.figures import ErrorsCard, RocCard, SuccessCard
from dpml_app.pages.evaluate.lesson import FIGURES
from dpml_app.pages.evaluate.text import headline

SCRIPT = script("pages/evaluate/page.js")


class EvaluateControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture, `widgets` holds those of cards, too."""

    most_classes = 2

    def middle(self) -> list:
        """Return the components of "Advanced" between relation and draws."""
        return [divider(), self.add("evaluate_tested")]

    def in_cards(self) -> None:
        self.add("evaluate_methods", sx=COLUMNS)


class EvaluatePage(CardPage[EvaluateValues, BinaryFacts]):
    """The page of one session."""

    page_id = "evaluate"
    title = "ROC curve"
    settings_kind, values_kind = EvaluateSettings, EvaluateValues
    lesson_figures = FIGURES
    question = "How accurate is a classifier, measured privately?"
    lead = "Drag <b>ε</b>. The attacker knows all but one label."
    settings: EvaluateSettings
    facts_of = staticmethod(measures.facts)
    kinds = (RocCard, ErrorsCard, SuccessCard)
    what = "errors"
    controls_kind = EvaluateControls
    main_card = "roc"
    details = ("success",)

    def __init__(self, settings: EvaluateSettings, pool: Pool):
        super().__init__(settings, pool)
        browser, roc = self.controls.tell_browser("evaluate-browser", "epsilon"), cast(RocCard, self.cards["roc"])
        arguments = {
            "controls": browser,
            "counts": roc.counts,
            "noise": roc.noise,
            "now": roc.now,
            "grid": roc.grid,
            "band": roc.figure.band,
            "release": roc.figure.release,
        }
        run_script(SCRIPT, arguments, browser, roc.now, roc.noise, roc.counts)
        roc.figure.plot.tags += list(arguments.values())

    def words(self, values: EvaluateValues, facts: BinaryFacts, results: Mapping[str, Results]) -> str:
        return headline(facts, results["roc"]["answer", IMMEDIATE])
