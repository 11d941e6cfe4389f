"""Every control of the app in one place; the address holds all of them.

Those of the Explore page stand here, those of other pages in modules of their own that `Settings` inherits from.
"""

from __future__ import annotations

from typing import Any

import param

from dpml_app.audit.settings import AuditSettings
from dpml_app.evaluate.settings import EvaluateSettings
from dpml_app.noise.settings import NoiseSettings, Points
from dpml_app.select.settings import SelectSettings
from dpml_app.train.settings import TrainSettings

__all__ = ["DATASETS", "EPSILONS", "LAMBDAS", "LEFT_OUT", "PAGES", "RELATIONS", "SWEEP_EPSILONS", "Settings"]

# two classes only: a ROC curve and its cost are about two
DATASETS = (
    "census",
    "adult",
    "newsgroup1",
    "newsgroup2",
    "newsgroup3",
    "mushrooms",
    "xwindows",
    "sms",
    "bank",
    "skin",
    "breast_cancer",
    "toy",
)
LEFT_OUT = ("seeds", "glass")
RELATIONS = ("add-remove", "replace-one")

# ten a decade, rounded to numbers that can be said aloud
_STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)
EPSILONS = (*(float(f"{step * 10**decade:.3g}") for decade in (-2, -1, 0) for step in _STEPS), 10.0)
SWEEP_EPSILONS = EPSILONS[::2]
LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-1, 4) for step in (1, 2, 5)), 10_000.0)
MOST_FEATURES = 100


PAGES = {
    "explore": "Explore",
    "audit": "Audit",
    "noise": "Noise",
    "select": "Select",
    "train": "Train",
    "evaluate": "Evaluate",
}
# what the settings of the other pages begin with
PREFIXES = ("audit_", "noise_", "select_", "train_", "evaluate_")


class Settings(AuditSettings, EvaluateSettings, NoiseSettings, SelectSettings, TrainSettings):
    """All settings of the app; a parameter's name is its name in the link."""

    page: Any = param.Selector(default="explore", objects=list(PAGES), label="Page")

    dataset: Any = param.Selector(default="census", objects=list(DATASETS), label="Data set")
    relation: Any = param.Selector(default="add-remove", objects=list(RELATIONS), label="Neighbouring relation")
    epsilon: Any = param.Selector(default=0.1, objects=list(EPSILONS), label="ε")
    reg_lambda: Any = param.Selector(default=50.0, objects=list(LAMBDAS), label="λ, logistic regression")
    threshold_percentile = param.Integer(default=65, bounds=(50, 99), label="Threshold percentile")
    n_features = param.Integer(default=20, bounds=(1, MOST_FEATURES), label="Features selected, T")
    selection_share = param.Number(default=0.5, bounds=(0.05, 0.95), step=0.05, label="Share of ε for selection")
    row_bound = param.Integer(default=0, bounds=(0, MOST_FEATURES), label="Row bound")
    draws = param.Integer(default=50, bounds=(10, 200), label="Draws")
    seed = param.Integer(default=0, bounds=(0, 2**31 - 1), label="Seed")
    map_score: Any = param.Selector(
        default="count", objects=["count", "mutual_information"], label="Map: features chosen by"
    )

    @classmethod
    def all_names(cls) -> list[str]:
        """Return the names of all settings, the page first."""
        return ["page", *cls.names(), *(name for name in cls.param if name.startswith(PREFIXES))]

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the Explore page's settings."""
        return [name for name in cls.param if name not in ("name", "page") and not name.startswith(PREFIXES)]

    def everything(self) -> dict[str, Any]:
        """Return all values, as a dictionary that does not change."""
        return {name: getattr(self, name) for name in self.all_names()}

    def snapshot(self) -> dict[str, Any]:
        """Return the Explore page's values, as a dictionary that does not change."""
        return {name: getattr(self, name) for name in self.names()}

    @classmethod
    def allowed(cls, name: str) -> str:
        """Return in words which values a setting can have."""
        parameter = cls.param[name]
        if isinstance(parameter, param.Selector):
            values = parameter.objects
            if isinstance(parameter, param.ListSelector):
                return f"some of {', '.join(values)}, with dots between them"
            if len(values) > 12 and isinstance(values[0], str):
                return f"one of {', '.join(values[:3])}, ... {values[-1]}"
            if len(values) > 12:
                return f"one of {values[0]:g}, {values[1]:g}, {values[2]:g}, ... {values[-1]:g}"
            return "one of " + ", ".join(str(v) for v in values)
        if isinstance(parameter, Points):
            return parameter.allowed
        if isinstance(parameter, param.String):
            return "records with a dot between them, each its class, n or y, then those of a, b, c, d that it has"
        low, high = parameter.bounds
        kind = "a whole number" if isinstance(parameter, param.Integer) else "a number"
        return f"{kind} from {low} to {high}"

    def assign(self, values: dict[str, Any]) -> list[str]:
        """Set each value that is allowed and return a sentence for each that is not.

        Examples
        --------
        >>> settings = Settings()
        >>> settings.assign({"epsilon": -1, "draws": 100})
        ['epsilon = -1 is not allowed: it must be one of 0.01, 0.0125, 0.016, ... 10. It stays at 0.1.']
        >>> settings.draws
        100
        """
        problems = []
        for name, value in values.items():
            try:
                if isinstance(value, bool):
                    raise ValueError("a truth value is no number")
                if isinstance(self.param[name], param.Selector):
                    # 1 in a link is the 1.0 of the list
                    value = next((v for v in self.param[name].objects if v == value), value)
                setattr(self, name, value)
            except (ValueError, TypeError):
                stays = getattr(self, name)
                shown = f"{stays:g}" if isinstance(stays, float) else stays
                problems.append(
                    f"{name} = {value} is not allowed: it must be {self.allowed(name)}. It stays at {shown}."
                )
        return problems

    def fit(self, n_features: int, row_bound: int) -> list[str]:
        """Lower what a data set does not have; return a sentence for each."""
        changes = []
        for name, most, what in (
            ("n_features", min(n_features, MOST_FEATURES), "features"),
            ("row_bound", min(row_bound, MOST_FEATURES), "ones at most in a record"),
            ("select_row_bound", min(row_bound, MOST_FEATURES), "ones at most in a record"),
            ("select_feature", n_features, "features"),
        ):
            if getattr(self, name) > most:
                changes.append(f"{name} = {getattr(self, name)} lowered to {most}: {self.dataset} has {most} {what}.")
                setattr(self, name, most)
        return changes

    # ---- what each thing on the page depends on ----------------------------------------------------------------

    @staticmethod
    def options(values: dict[str, Any], method: str) -> tuple:
        """Return the settings that a method depends on besides data set, relation, ε, draws and seed."""
        if method == "published":
            return (values["threshold_percentile"],)
        if method == "row-bounded":
            return (values["row_bound"],)
        if method == "logistic":
            return (values["reg_lambda"],)
        return values["n_features"], values["selection_share"], values["threshold_percentile"]

    @classmethod
    def accuracy_key(cls, values: dict[str, Any], method: str, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.data.accuracy`."""
        options = cls.options(values, method)
        return (values["dataset"], method, values["relation"], epsilon, options, values["draws"], values["seed"])

    @classmethod
    def map_key(cls, values: dict[str, Any], n_features: int) -> tuple:
        """Return the arguments of `dpml_app.data.map_row`."""
        options = values["selection_share"], values["threshold_percentile"]
        return (
            values["dataset"],
            values["map_score"],
            values["relation"],
            n_features,
            SWEEP_EPSILONS,
            options,
            values["draws"],
            values["seed"],
        )

    @classmethod
    def roc_key(cls, values: dict[str, Any]) -> tuple:
        """Return the arguments of `dpml_app.data.roc`."""
        names = ("dataset", "relation", "row_bound", "epsilon", "draws", "seed")
        return tuple(values[name] for name in names)
