"""What the server answers at once on the Evaluate page: one release, what cards read from it, and the attack on it."""

from functools import partial
from typing import Any

import numpy as np

from dpml.evaluation import roc_thresholds
from dpml_app.core.card import IMMEDIATE, Card, ResultKey, Results
from dpml_app.pages.evaluate import attack, compute, numbers, words
from dpml_app.pages.evaluate.compute import EvaluateFacts
from dpml_app.pages.evaluate.figures import CalibrationFigure, IntervalFigure, RecallFigure
from dpml_app.pages.evaluate.settings import EvaluateValues
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Task


def answer(
    name: str,
    kind: str,
    weakened: str,
    rival: tuple[str, str],
    relation: str,
    epsilon: float,
    draws: int,
    seed: int,
    metric: str,
    cut: float,
) -> dict[str, Any]:
    """Return what is true of a classifier, and what releases for ε say of it."""
    key = name, kind, weakened
    released = compute.evaluation(*key, relation, epsilon, draws, seed)
    labels = compute.labels(name)[attack.victims(*key)]
    guesses = attack.private_attack(released, *key, seed)
    fpr, tpr, _ = released.roc_curve()
    return {
        "counts": compute.exact_counts(*key),
        "curve": compute.thinned(compute.exact_curve(*key)),
        "release": (fpr[0], tpr[0]),
        "true": numbers.true_figures(*key, cut),
        "one": numbers.intervals(released, cut),
        "every_area": released.roc_auc(),
        "areas": numbers.areas(released),
        "binned": numbers.exact_evaluation(*key).roc_auc(),
        "confusion": released.confusion_matrix(cut),
        "true_recall": numbers.true_recall(*key),
        "recall": numbers.recall(released),
        "true_calibration": numbers.true_calibration(*key),
        "calibration": numbers.calibration(released),
        "n_std": released.calibration_curve().n_std,
        "gap": compute.true_difference(metric, name, key[1:], rival, cut),
        "labels": labels,
        "exact_attack": attack.exact_attack(*key),
        "private_attack": guesses[0],
        "rights": np.mean(guesses == labels, axis=1),
        "lines": attack.attack_lines(relation, SWEEP_EPSILONS),
    }


def answered(values: EvaluateValues) -> dict[ResultKey, Task]:
    """Return the task of `answer`, which every card of the page reads."""
    key, rival = (values.classifier_key(which) for which in "AB")
    released = values.relation, values.epsilon, values.draws, values.seed
    return {
        ("answer", IMMEDIATE): Task(answer, (*key, rival[1:], *released, values.evaluate_metric, values.evaluate_cut))
    }


class AnswerCard(Card[EvaluateValues, EvaluateFacts]):
    """A card that shows what is answered at once."""

    def work(self, values: EvaluateValues, facts: EvaluateFacts) -> dict[ResultKey, Task]:
        return answered(values)


class NumbersCard(AnswerCard):
    """A table of true figures beside those of one release."""

    draw = IntervalFigure
    name, title, caption = "numbers", "Figures of one release", words.CAPTIONS["numbers"]
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

    draw = partial(CalibrationFigure, roc_thresholds(**compute.SCALE))
    name, title, caption = "calibration", "Calibration", words.CAPTIONS["calibration"]

    def prepare(self, values: EvaluateValues, facts: EvaluateFacts, now: Results) -> None:
        answer = now["answer", IMMEDIATE]
        self.figure.show(answer["true_calibration"], answer["calibration"], answer["n_std"])

    def readout(self, values: EvaluateValues, facts: EvaluateFacts, results: Results) -> str:
        answer = results["answer", IMMEDIATE]
        return words.calibration_words(answer["true_calibration"], answer["n_std"])
