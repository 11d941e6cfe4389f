"""The settings of the Train page; its own begin with ``train_``, what it shares with the other pages does not."""

from __future__ import annotations

from typing import Any

import param

from dpml_app.settings import Shared
from dpml_app.several import Several
from dpml_app.train.methods import FAMILIES, LINEAR, METHODS

__all__ = [
    "FUNCTIONAL",
    "LIKELIHOODS",
    "MEASURES",
    "MOST_FEATURES",
    "NOISES",
    "RULE",
    "SHARED",
    "TRAIN_DATASETS",
    "TRAIN_LAMBDAS",
    "TUNED",
    "WEIGHTS",
    "TrainSettings",
]

TRAIN_DATASETS = {
    "census": "Census, generated (no file)",
    "adult": "Adult: income",
    "bank": "Bank: subscribes?",
    "mushrooms": "Mushrooms: poisonous?",
    "skin": "Skin colours",
    "seeds": "Seeds: three varieties",
    "glass": "Glass: six kinds",
    "breast_cancer": "Breast cancer (no file)",
    "toy": "Toy, generated (no file)",
    "newsgroup1": "Newsgroups: rec or comp",
    "newsgroup2": "Newsgroups 2",
    "newsgroup3": "Newsgroups 3",
    "xwindows": "X windows or MS Windows",
    "sms": "SMS: spam? (8,444 words)",
}
# a number's share of ε to a categorical attribute's; Zafarani and Clifton take 2 : 1
WEIGHTS = {"1:8": (1, 8), "1:4": (1, 4), "1:2": (1, 2), "1:1": (1, 1), "2:1": (2, 1), "4:1": (4, 1), "8:1": (8, 1)}
NOISES = {"cauchy": "Cauchy", "student-t": "Student's t, 3 degrees"}
LIKELIHOODS = {"truncated-normal": "Normal, cut off at the bounds", "gaussian": "Normal"}
MEASURES = {"accuracy": "Accuracy", "auc": "Area under the ROC curve"}
FUNCTIONAL = {
    "exact": "Exact (FMsens3)",
    "improved": "Improved (FMsens2)",
    "original": "Original (FMsens1)",
}
TUNED = {"reg_lambda": "λ of logistic regression", "row_bound": "Row bound of naive Bayes"}
MOST_FEATURES = 1000
# λ of the sum of the losses; 0 stands for the library's public rule
TRAIN_LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-2, 4) for step in (1, 2, 5)), 10_000.0)
RULE = 0.0
GROUPS = {"train_methods": METHODS, "train_linear": LINEAR}
# mean the same on every page
SHARED = ("dataset", "relation", "epsilon", "threshold_percentile", "draws", "seed")


def _choice(default: Any, objects: Any, label: str) -> Any:
    return param.Selector(default=default, objects=list(objects), label=label)


class TrainSettings(Shared):
    """Every control of the Train page that no other page has."""

    train_methods: Any = Several(
        default=["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        objects=list(METHODS),
        label="Naive Bayes methods",
    )
    train_family: Any = _choice("naive-bayes", FAMILIES, "Family of classifiers")
    train_linear: Any = Several(
        default=["rule", "l1", "objective", "output"], objects=list(LINEAR), label="Linear models"
    )
    train_lambda: Any = _choice(RULE, (RULE, *TRAIN_LAMBDAS), "λ, linear models")
    train_functional: Any = _choice("exact", FUNCTIONAL, "Sensitivity of the functional mechanism")
    train_tune: Any = _choice("reg_lambda", TUNED, "What is tuned")
    train_shown: Any = _choice("l1", LINEAR, "Method whose weights are shown")
    train_measure: Any = _choice("accuracy", MEASURES, "Measured by")
    train_weight: Any = _choice("2:1", WEIGHTS, "Weight, numeric : categorical")
    train_noise: Any = _choice("cauchy", NOISES, "Noise of smooth sensitivity")
    train_trim = param.Integer(default=0, bounds=(0, 50), label="Trimmed at each end")
    train_likelihood: Any = _choice("truncated-normal", LIKELIHOODS, "A number within a class")
    train_bins = param.Integer(default=0, bounds=(0, 64), label="Bins of a number")
    train_model: Any = _choice("binned", METHODS, "Method whose parameters are shown")
    train_feature = param.Integer(default=1, bounds=(1, MOST_FEATURES), label="Feature")

    @classmethod
    def train_names(cls) -> list[str]:
        """Return the names of what this page depends on."""
        return [*SHARED, *(name for name in TrainSettings.param if name.startswith("train_"))]

    def train_values(self) -> dict[str, Any]:
        """Return what this page depends on, as a dictionary that does not change."""
        values = {name: getattr(self, name) for name in self.train_names()}
        methods = {name: tuple(m for m in of if m in values[name]) for name, of in GROUPS.items()}
        return {**values, **methods}
