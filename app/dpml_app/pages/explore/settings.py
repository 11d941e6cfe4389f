"""The settings of the Explore page, and what each thing on it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from dpml_app.settings import LAMBDAS, MOST_FEATURES, SHARED, SWEEP_EPSILONS, Shared, choice

__all__ = ["ExploreSettings"]


class ExploreSettings(Shared):
    """Every control of the Explore page that no other page has."""

    reg_lambda: Any = choice(50.0, LAMBDAS, "λ")
    wanted = param.Number(default=85.0, bounds=(50.0, 100.0), step=0.5, label="What ε for … %?")
    row_bound = param.Integer(default=0, bounds=(0, MOST_FEATURES), label="Row bound")
    map_score: Any = choice(
        "count", {"count": "Counts", "mutual_information": "Mutual information"}, "Map: features chosen by"
    )

    @classmethod
    def explore_names(cls) -> list[str]:
        """Return the names of all settings that the Explore page depends on."""
        return [*SHARED, "wanted", "reg_lambda", "row_bound", "map_score"]

    def explore_values(self) -> dict[str, Any]:
        """Return their values, as a dictionary that does not change."""
        return {name: getattr(self, name) for name in self.explore_names()}

    @staticmethod
    def options(values: Mapping[str, Any], method: str) -> tuple:
        """Return the settings that a method depends on besides data set, relation, ε, draws and seed."""
        if method == "published":
            return (values["threshold_percentile"],)
        if method == "row-bounded":
            return (values["row_bound"],)
        if method == "logistic":
            return (values["reg_lambda"],)
        return values["n_features"], values["selection_share"], values["threshold_percentile"]

    @classmethod
    def accuracy_key(cls, values: Mapping[str, Any], method: str, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.data.measures.accuracy`."""
        options = cls.options(values, method)
        return (values["dataset"], method, values["relation"], epsilon, options, values["draws"], values["seed"])

    @classmethod
    def map_key(cls, values: Mapping[str, Any], n_features: int) -> tuple:
        """Return the arguments of `dpml_app.data.measures.map_row`."""
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
    def roc_key(cls, values: Mapping[str, Any]) -> tuple:
        """Return the arguments of `dpml_app.data.measures.roc`."""
        names = ("dataset", "relation", "row_bound", "epsilon", "draws", "seed")
        return tuple(values[name] for name in names)
