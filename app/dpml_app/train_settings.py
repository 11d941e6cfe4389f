"""The settings of the Train page; its own begin with ``train_``, what it shares with the other pages does not."""

from __future__ import annotations

from typing import Any

import param

from dpml_app.several import Several
from dpml_app.train_methods import METHODS

__all__ = ["LIKELIHOODS", "MEASURES", "MOST_FEATURES", "NOISES", "SHARED", "TRAIN_DATASETS", "WEIGHTS", "TrainSettings"]

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
# a number's share of ε to a categorical attribute's; 001 takes 2 : 1
WEIGHTS = {"1:8": (1, 8), "1:4": (1, 4), "1:2": (1, 2), "1:1": (1, 1), "2:1": (2, 1), "4:1": (4, 1), "8:1": (8, 1)}
NOISES = {"cauchy": "Cauchy", "student-t": "Student's t, 3 degrees"}
LIKELIHOODS = {"truncated-normal": "Normal, cut off at the bounds", "gaussian": "Normal"}
MEASURES = {"accuracy": "Accuracy", "auc": "Area under the ROC curve"}
MOST_FEATURES = 1000
# mean the same on every page
SHARED = ("relation", "epsilon", "threshold_percentile", "draws", "seed")


def _choice(default: Any, objects: Any, label: str) -> Any:
    return param.Selector(default=default, objects=list(objects), label=label)


class TrainSettings(param.Parameterized):
    """Every control of the Train page that no other page has."""

    train_dataset: Any = _choice("census", TRAIN_DATASETS, "Data set to train on")
    train_methods: Any = Several(
        default=["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        objects=list(METHODS),
        label="Methods",
    )
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
        return {**values, "train_methods": tuple(m for m in METHODS if m in values["train_methods"])}
