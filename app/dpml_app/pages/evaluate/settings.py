"""The settings of the ROC curve page alone. Each name begins with ``evaluate_``.

What it shares with the Explore page (data set, relation, ε, draws, seed) are the settings of that page.
"""

from dataclasses import dataclass, replace
from typing import Self

import param

from dpml.evaluation import roc_thresholds
from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.drawing.styles import styles_of
from dpml_app.settings import MultiSelect, Shared, choice

CLASSIFIERS = {"naive-bayes": "Naive Bayes", "logistic": "Logistic regression"}
# noise in its scores, so that the area under its curve comes near a number
WEAKENED = {"none": "As trained", "some": "Weakened to AUC 0.9", "much": "Weakened to AUC 0.75"}
# as Stoddard et al. 2014 publish them, and with noise for all of ε and public thresholds or the exact calibration
ROC_STYLES = styles_of("curve")
METHODS = {name: style.label for name, style in ROC_STYLES.items()}
METRICS = {"roc_auc": "AUC", "accuracy": "Accuracy"}
# thresholds that can be asked for on the last plot of errors
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
# log-odds between two of the default bins, lowest first
CUTS = tuple(float(f"{value:.3g}") + 0.0 for value in roc_thresholds(score_scale="log-odds")[-2:0:-1])


@dataclass(frozen=True)
class EvaluateValues(DatasetValues):
    """The settings of the ROC curve page. Curves are in the order of their list."""

    draws: int
    evaluate_classifier: str = choice("naive-bayes", CLASSIFIERS, "Classifier A")
    evaluate_weakened: str = choice("none", WEAKENED, "Quality of A")
    evaluate_rival: str = choice("logistic", CLASSIFIERS, "Classifier B")
    evaluate_rival_weakened: str = choice("none", WEAKENED, "Quality of B")
    evaluate_metric: str = choice("roc_auc", METRICS, "Metric")
    evaluate_methods: tuple[str, ...] = choice(
        ["histogram", "recursive-medians", "fixed-space", "laplace"], METHODS, "Private curves", MultiSelect
    )
    evaluate_cut: float = choice(0.0, CUTS, "Threshold for the positive class")

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        return replace(values, evaluate_methods=tuple(m for m in METHODS if m in values.evaluate_methods))

    def classifier_key(self, which: str = "A") -> tuple[str, str, str]:
        """Return data set, kind and weakening of a classifier: A, which is judged, or B, its rival."""
        if which == "A":
            return self.dataset, self.evaluate_classifier, self.evaluate_weakened
        return self.dataset, self.evaluate_rival, self.evaluate_rival_weakened

    def curve_key(self, method: str, draws: int, epsilon: float, size: int = 0) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.curves` and `errors`; size 0: the method's own."""
        return (method, *self.classifier_key(), self.relation, epsilon, size, draws, self.seed)

    def comparison_key(self, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.comparison`."""
        first, second = (self.classifier_key(which) for which in "AB")
        cut = self.evaluate_cut if self.evaluate_metric == "accuracy" else 0.0
        classifiers = *first, *second[1:]
        return (self.evaluate_metric, *classifiers, self.relation, epsilon, cut, self.draws, self.seed)

    def attack_key(self, view: str, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.evaluate.compute.attack`."""
        return (view, *self.classifier_key(), self.relation, epsilon, self.draws, self.seed)


@declared_by(EvaluateValues)
class EvaluateSettings(Shared):
    """Every control that only the Evaluate page has."""
