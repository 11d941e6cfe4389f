"""The ROC curve page: a private ROC curve of a classifier, and the labels that a non-private curve reveals.

Three speeds. The browser draws the private ROC curve. The server answers every change with the
numbers of a release and the attack on it. Other methods' curves, errors, comparisons and simulated attacks come from
the worker processes; a newer request makes the older one stop.
"""

from collections.abc import Mapping
from typing import Any

from bokeh.models import Model

from dpml_app.core.card import IMMEDIATE, Results
from dpml_app.core.card_page import CardPage
from dpml_app.drawing.figure import run_script, script
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import CalibrationCard, NumbersCard, RecallCard
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.controls import EvaluateControls
from dpml_app.pages.evaluate.curves import CompareCard, ErrorsCard, MethodsCard, SizesCard, SuccessCard, SureCard
from dpml_app.pages.evaluate.lesson_figures import figure, lesson_plot
from dpml_app.pages.evaluate.roc import RocCard
from dpml_app.pages.evaluate.settings import EvaluateSettings, EvaluateValues

SCRIPT = script("drawing/kernels.js", "pages/evaluate/page.js")


class EvaluatePage(CardPage[EvaluateValues, EvaluateFacts]):
    """The page of one session."""

    page_id = "evaluate"
    title = "ROC curve"
    settings_kind, values_kind = EvaluateSettings, EvaluateValues
    lesson_plot, lesson_figures = staticmethod(lesson_plot), figure
    question = "How accurate is a classifier, measured privately?"
    lead = "Drag <b>ε</b>. The attacker knows all but one label."
    settings: EvaluateSettings
    facts_of = staticmethod(compute.facts)
    kinds = (
        RocCard,
        MethodsCard,
        NumbersCard,
        RecallCard,
        CalibrationCard,
        ErrorsCard,
        SizesCard,
        CompareCard,
        SureCard,
        SuccessCard,
    )
    sources = ("evaluate-state", "evaluate-sweep-state")
    readout_name = "evaluate-{}-readout"
    what = "curves and errors"
    controls_kind = EvaluateControls
    main_card = "roc"
    details = ("success", "recall")

    def connect(self) -> list[Any]:
        browser, roc = self.controls.tell_browser("evaluate-browser", "epsilon"), self.cards["roc"]
        assert isinstance(roc, RocCard)
        arguments = {
            "controls": browser,
            "counts": roc.counts,
            "noise": roc.noise,
            "now": roc.now,
            "grid": roc.grid,
            "band": roc.figure.band,
            "release": roc.figure.release,
        }
        arguments["markers"] = [f"evaluate-{name}-marker" for name in ("errors", "gap", "sure", "success")]
        run_script(SCRIPT, arguments, browser, roc.now)
        return [value for value in arguments.values() if isinstance(value, Model)]

    def words(self, values: EvaluateValues, facts: EvaluateFacts, results: Mapping[str, Results]) -> str:
        return words.headline(values, facts, results["roc"]["answer", IMMEDIATE])
