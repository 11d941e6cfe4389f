"""The settings of the Evaluate page that other pages do not have; each name begins with ``evaluate_``.

What it shares with the Explore page (data set, relation, ε, draws, seed) are the settings of that page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.evaluation import roc_thresholds
from dpml_app.core.multi_select import MultiSelect
from dpml_app.drawing.looks import LOOKS
from dpml_app.settings import Shared, choice

__all__ = [
    "CLASSIFIERS",
    "CUTS",
    "METHODS",
    "METHOD_STYLES",
    "METRICS",
    "SHARED",
    "SIZES",
    "WEAKENED",
    "EvaluateSettings",
]

SHARED = ("dataset", "relation", "epsilon", "draws", "seed")
CLASSIFIERS = {"naive-bayes": "Naive Bayes", "logistic": "Logistic regression"}
# noise in its scores, so that the area under its curve comes near a number
WEAKENED = {"none": "As trained", "some": "Weakened to about 0.9", "much": "Weakened to about 0.75"}
# as Stoddard et al. 2014 publish them, and with noise for all of ε and public thresholds or the exact calibration
METHOD_STYLES = {
    "histogram": LOOKS["roc-histogram"],
    "recursive-medians": LOOKS["roc-medians"],
    "recursive-medians-exact": LOOKS["roc-medians-exact"],
    "fixed-space": LOOKS["roc-fixed-space"],
    "fixed-space-exact": LOOKS["roc-fixed-space-exact"],
    "laplace": LOOKS["roc-laplace"],
    "laplace-exact": LOOKS["roc-laplace-exact"],
}
METHODS = {name: style.label for name, style in METHOD_STYLES.items()}
METRICS = {"roc_auc": "Area under the ROC curve", "accuracy": "Accuracy"}
# thresholds that can be asked for on the last plot of errors
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
# log-odds between two of the default bins, lowest first
CUTS = tuple(float(f"{value:.3g}") + 0.0 for value in roc_thresholds(score_scale="log-odds")[-2:0:-1])


class EvaluateSettings(Shared):
    """Every control that only the Evaluate page has."""

    evaluate_classifier: Any = choice("naive-bayes", CLASSIFIERS, "Classifier A")
    evaluate_weakened: Any = choice("none", WEAKENED, "A is")
    evaluate_rival: Any = choice("logistic", CLASSIFIERS, "Classifier B")
    evaluate_rival_weakened: Any = choice("none", WEAKENED, "B is")
    evaluate_metric: Any = choice("roc_auc", METRICS, "Compared by")
    evaluate_methods: Any = choice(
        ["histogram", "recursive-medians", "fixed-space", "laplace"], METHODS, "Private curves by", MultiSelect
    )
    evaluate_cut: Any = choice(0.0, CUTS, "Second class is predicted from")

    @classmethod
    def evaluate_names(cls) -> list[str]:
        """Return the names of all settings that the Evaluate page depends on."""
        return [*SHARED, *(name for name in EvaluateSettings.param if name.startswith("evaluate_"))]

    def evaluate_values(self) -> dict[str, Any]:
        """Return their values, as a dictionary that does not change."""
        values = {name: getattr(self, name) for name in self.evaluate_names()}
        return {**values, "evaluate_methods": tuple(m for m in METHODS if m in values["evaluate_methods"])}

    @staticmethod
    def classifier_key(values: Mapping[str, Any], which: str = "A") -> tuple[str, str, str]:
        """Return data set, kind and weakening of a classifier: A, which is judged, or B, its rival."""
        name = "evaluate_classifier" if which == "A" else "evaluate_rival"
        weakened = "evaluate_weakened" if which == "A" else "evaluate_rival_weakened"
        return values["dataset"], values[name], values[weakened]

    @classmethod
    def curve_key(cls, values: Mapping[str, Any], method: str, draws: int, epsilon: float, size: int = 0) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.curves` and `errors`; size 0: the method's own."""
        key = cls.classifier_key(values)
        return (method, *key, values["relation"], epsilon, size, draws, values["seed"])

    @classmethod
    def comparison_key(cls, values: Mapping[str, Any], epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.comparison`."""
        first, second = (cls.classifier_key(values, which) for which in "AB")
        metric = values["evaluate_metric"]
        cut = values["evaluate_cut"] if metric == "accuracy" else 0.0
        return (metric, *first, *second[1:], values["relation"], epsilon, cut, values["draws"], values["seed"])

    @classmethod
    def attack_key(cls, values: Mapping[str, Any], view: str, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.attack`."""
        return (view, *cls.classifier_key(values), values["relation"], epsilon, values["draws"], values["seed"])
