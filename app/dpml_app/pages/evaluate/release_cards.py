"""Cards: what one release shows of a classifier; all of it is answered at once."""

from __future__ import annotations

from dpml.evaluation import roc_thresholds
from dpml_app.core.card import IMMEDIATE, Results
from dpml_app.pages.evaluate import compute, words
from dpml_app.pages.evaluate.answer import AnswerCard
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import CalibrationFigure, IntervalFigure, RecallFigure
from dpml_app.pages.evaluate.settings import EvaluateValues


class NumbersCard(AnswerCard):
    """A table of true figures beside those of one release."""

    draw = IntervalFigure
    name, title, caption = "numbers", "What one release shows", words.CAPTIONS["numbers"]
    controls = ("evaluate_cut",)

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self._holds = self.figure.show(answer["true"]["roc_auc"], answer["binned"], *answer["areas"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        holds = self._holds, len(answer["areas"][0])
        return words.number_words(values, facts, answer["true"], answer["one"], answer["confusion"], holds)


class RecallCard(AnswerCard):
    """Precision against recall."""

    draw = RecallFigure
    name, title, caption = "recall", "Precision and recall", words.CAPTIONS["recall"]

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self.figure.show(answer["true_recall"][:2], answer["recall"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        return words.recall_words(answer["true_recall"][2], answer["recall"]["average"])


class CalibrationCard(AnswerCard):
    """The share of the second class where a probability is stated."""

    name, title, caption = "calibration", "Does it mean what it says?", words.CAPTIONS["calibration"]

    def __init__(self):
        super().__init__(CalibrationFigure(roc_thresholds(**compute.SCALE)))

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self.figure.show(answer["true_calibration"], answer["calibration"], answer["n_std"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        return words.calibration_words(answer["true_calibration"], answer["n_std"])
