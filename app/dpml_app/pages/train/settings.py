"""The settings of the Train page; its own begin with ``train_``, what it shares with the other pages does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import param

from dpml.methods import method
from dpml_app.core.values import DatasetValues
from dpml_app.pages.train.methods import DEFAULTS, EVERY, FAMILIES, LINEAR, METHODS, Method
from dpml_app.settings import MultiSelect, Shared, choice

# a number's share of ε to a categorical attribute's; Zafarani and Clifton take 2 : 1
WEIGHTS = {"1:8": (1, 8), "1:4": (1, 4), "1:2": (1, 2), "1:1": (1, 1), "2:1": (2, 1), "4:1": (4, 1), "8:1": (8, 1)}
NOISES = {name: method(key, "noise").title for name, key in (("cauchy", "cauchy"), ("student-t", "student"))}
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
GROUPS = {"train_begin": DEFAULTS, "train_methods": METHODS, "train_linear": LINEAR}


def _marked(methods: Mapping[str, Method]) -> dict[str, str]:
    """Return methods by their titles, with a mark where the promise is wrong or weaker."""
    marks = {name: "" if m.claim_holds and m.pure else " ✗" if m.pure else " (ε, δ)" for name, m in methods.items()}
    return {m.title + marks[name]: name for name, m in methods.items()}


def _titles(methods: Mapping[str, Method]) -> dict[str, str]:
    return {name: method.title for name, method in methods.items()}


class TrainSettings(Shared):
    """Every control of the Train page that no other page has."""

    train_begin: Any = MultiSelect(default=["auto"], objects=_marked(DEFAULTS), label="Default and peers")
    train_methods: Any = MultiSelect(
        default=["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        objects=_marked(METHODS),
        label="Naive Bayes methods",
    )
    train_family: Any = choice("naive-bayes", FAMILIES, "Family of classifiers")
    train_linear: Any = MultiSelect(
        default=["rule", "l1", "objective", "output"], objects=_marked(LINEAR), label="Linear models"
    )
    train_lambda: Any = choice(RULE, (RULE, *TRAIN_LAMBDAS), "λ, linear models")
    train_functional: Any = choice("exact", FUNCTIONAL, "Sensitivity of the functional mechanism")
    train_tune: Any = choice("reg_lambda", TUNED, "What is tuned")
    train_shown: Any = choice("l1", _titles(LINEAR), "Method whose weights are shown")
    train_measure: Any = choice("accuracy", MEASURES, "Measured by")
    train_wanted = param.Number(default=85.0, bounds=(50.0, 100.0), step=0.5, label="What ε for … %?")
    train_weight: Any = choice("2:1", list(WEIGHTS), "Weight, numeric : categorical")
    train_noise: Any = choice("cauchy", NOISES, "Noise of smooth sensitivity")
    train_trim = param.Integer(default=0, bounds=(0, 50), label="Trimmed at each end")
    train_likelihood: Any = choice("truncated-normal", LIKELIHOODS, "A number within a class")
    train_bins = param.Integer(default=0, bounds=(0, 64), label="Bins of a number")
    train_model: Any = choice("binned", _titles(METHODS), "Method whose parameters are shown")
    train_feature = param.Integer(default=1, bounds=(1, MOST_FEATURES), label="Feature")


@dataclass(frozen=True)
class TrainValues(DatasetValues):
    """What the Train page depends on; methods stand in the order of their lists."""

    threshold_percentile: int
    draws: int
    train_begin: tuple[str, ...]
    train_methods: tuple[str, ...]
    train_family: str
    train_linear: tuple[str, ...]
    train_lambda: float
    train_functional: str
    train_tune: str
    train_shown: str
    train_measure: str
    train_wanted: float
    train_weight: str
    train_noise: str
    train_trim: int
    train_likelihood: str
    train_bins: int
    train_model: str
    train_feature: int

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        chosen: dict[str, Any] = {
            name: tuple(m for m in of if m in getattr(values, name)) for name, of in GROUPS.items()
        }
        return replace(values, **chosen)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families of classifiers that are shown."""
        return ("naive-bayes", "linear") if self.train_family == "both" else (self.train_family,)

    def options(self, method: str) -> tuple:
        """Return the settings of a method beside ε, relation, draws and seed, with their names."""
        return tuple((name, getattr(self, name)) for name in EVERY[method].options)
