"""The settings of the Classifiers page. Its own names begin with ``train_``, those shared with other pages do not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import param

from dpml.registry import method
from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.pages.train.methods import DEFAULTS, EVERY, FAMILIES, LINEAR, METHODS, SMOOTH_DELTAS, Method
from dpml_app.settings import MultiSelect, Shared, choice, number

# a number's share of ε to a categorical attribute's; Zafarani and Clifton take 2 : 1
WEIGHTS = {"1:8": (1, 8), "1:4": (1, 4), "1:2": (1, 2), "1:1": (1, 1), "2:1": (2, 1), "4:1": (4, 1), "8:1": (8, 1)}
NOISES = {name: method(key, "noise").title for name, key in (("cauchy", "cauchy"), ("student-t", "student"))}
NOISES |= {name: f"Gaussian, {delta}" for name, delta in SMOOTH_DELTAS.items()}
LIKELIHOODS = {"truncated-normal": "Truncated normal", "gaussian": "Normal"}
MEASURES = {"accuracy": "Accuracy", "auc": "AUC"}
FUNCTIONAL = {
    "exact": "Exact (FMsens3)",
    "improved": "Improved (FMsens2)",
    "original": "Original (FMsens1)",
}
TUNED = {"reg_lambda": "λ of logistic regression", "row_bound": "Contribution bound of naive Bayes"}
MOST_FEATURES = 1000
# λ of the sum of the losses; 0 stands for the library's public rule
TRAIN_LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-2, 4) for step in (1, 2, 5)), 10_000.0)
RULE = 0.0
GROUPS = {"train_begin": DEFAULTS, "train_methods": METHODS, "train_linear": LINEAR}


def _marked(methods: Mapping[str, Method]) -> dict[str, str]:
    """Return the titles of methods, marked where the claim is violated or needs a δ."""
    marks = {name: "" if m.claim_holds and m.pure else " ✗" if m.pure else " (ε, δ)" for name, m in methods.items()}
    return {name: m.title + marks[name] for name, m in methods.items()}


def _titles(methods: Mapping[str, Method]) -> dict[str, str]:
    return {name: method.title for name, method in methods.items()}


@dataclass(frozen=True)
class TrainValues(DatasetValues):
    """The settings of the Classifiers page. Methods are in the order of their lists."""

    threshold_percentile: int
    draws: int
    train_begin: tuple[str, ...] = choice(["auto"], _marked(DEFAULTS), "Default and other libraries", MultiSelect)
    train_methods: tuple[str, ...] = choice(
        ["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        _marked(METHODS),
        "Naive Bayes",
        MultiSelect,
    )
    train_family: str = choice("naive-bayes", FAMILIES, "Classifier family")
    train_linear: tuple[str, ...] = choice(
        ["rule", "l1", "objective", "output"], _marked(LINEAR), "Linear models", MultiSelect
    )
    train_lambda: float = choice(RULE, (RULE, *TRAIN_LAMBDAS), "λ of linear models")
    train_functional: str = choice("exact", FUNCTIONAL, "Sensitivity of the functional mechanism")
    train_tune: str = choice("reg_lambda", TUNED, "Hyperparameter")
    train_shown: str = choice("l1", _titles(LINEAR), "Linear model shown")
    train_measure: str = choice("accuracy", MEASURES, "Metric")
    train_wanted: float = number(85.0, (50.0, 100.0), "Target accuracy (%)", 0.5)
    train_weight: str = choice("2:1", list(WEIGHTS), "Weight (numeric:categorical)")
    train_noise: str = choice("cauchy", NOISES, "Noise for smooth sensitivity")
    train_trim: int = number(0, (0, 50), "Values trimmed at each end")
    train_likelihood: str = choice("truncated-normal", LIKELIHOODS, "Distribution of a number within a class")
    train_bins: int = number(0, (0, 64), "Bins per numeric feature")
    train_model: str = choice("binned", _titles(METHODS), "Method shown")
    train_feature: int = number(1, (1, MOST_FEATURES), "Feature")

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


@declared_by(TrainValues)
class TrainSettings(Shared):
    """Every control of the Train page that no other page has."""
