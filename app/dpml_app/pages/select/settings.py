"""The settings of the Select page that other pages do not have; each name begins with ``select_``.

What it shares with the Explore page (data set, relation, ε, T, share, draws, seed) are the settings of that page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from dpml_app.core.multi_select import MultiSelect
from dpml_app.drawing.looks import LOOKS
from dpml_app.settings import Shared, choice

__all__ = ["CALIBRATIONS", "SCORES", "SELECTORS", "SELECTOR_STYLES", "SHARED", "THRESHOLDS", "SelectSettings"]

SHARED = ("dataset", "relation", "epsilon", "n_features", "selection_share", "draws", "seed")
SCORES = {
    "total_count": "Total count",
    "difference_count": "Difference of counts",
    "count": "Count heuristic",
    "mutual_information": "Mutual information",
}
# how one unit of score is weighed
CALIBRATIONS = {
    "range": "calibrated",
    "published": "as published",
    "per-feature": "per feature",
}
# τ as a share of the public number of records, or in bits
_STEPS = (1, 1.6, 2.5, 4, 6.3)
THRESHOLDS = (*(float(f"{step * 10**decade:.3g}") for decade in (-3, -2, -1) for step in _STEPS), 1.0)
SELECTOR_STYLES = {
    "mask-count": LOOKS["mask-count"],
    "mask-mi": LOOKS["mask-mi"],
    "joint": LOOKS["joint"],
    "one-shot": LOOKS["one-shot"],
    "noisy-scores": LOOKS["noisy-scores"],
    "noisy-counts": LOOKS["noisy-counts"],
    "iterative": LOOKS["iterative"],
    "exact": LOOKS["exact-choice"],
}
SELECTORS = {name: style.label for name, style in SELECTOR_STYLES.items()}


class SelectSettings(Shared):
    """Every control that only the Select page has."""

    select_calibration: Any = choice("range", CALIBRATIONS, "Weight of a score")
    select_score: Any = choice("total_count", SCORES, "Score against the threshold")
    select_threshold: Any = choice(
        0.04, {share: f"{100 * share:g} %" for share in THRESHOLDS}, "Threshold τ, as a share"
    )
    select_row_bound = param.Integer(default=0, bounds=(0, 100), label="Ones kept of a record, r")
    select_methods: Any = choice(["mask-count", "mask-mi", "exact"], SELECTORS, "Features chosen by", MultiSelect)
    select_feature = param.Integer(default=0, bounds=(0, 100_000), label="Feature shown, by its column")

    @classmethod
    def select_names(cls) -> list[str]:
        """Return the names of all settings that the Select page depends on."""
        return [*SHARED, *(name for name in SelectSettings.param if name.startswith("select_"))]

    def select_values(self) -> dict[str, Any]:
        """Return their values, as a dictionary that does not change."""
        return {name: getattr(self, name) for name in self.select_names()}

    @staticmethod
    def f1_key(values: Mapping[str, Any], rule: str, threshold: float) -> tuple:
        """Return the arguments of `dpml_app.pages.select.compute.f1`."""
        paid = values["epsilon"] * values["selection_share"]
        # the mask's curve is exact, and only the sparse vector technique has a cut-off
        cutoff = values["n_features"] if rule == "sparse-vector" else 0
        drawn = (0, 0) if rule == "mask" else (values["draws"], values["seed"])
        names = ("dataset", "relation", "select_score", "select_row_bound")
        return (rule, *(values[n] for n in names), paid, threshold, cutoff, *drawn)

    @staticmethod
    def accuracy_key_of(values: Mapping[str, Any], selector: str, n_features: int) -> tuple:
        """Return the arguments of `dpml_app.pages.select.compute.accuracy`."""
        bound = values["select_row_bound"] if selector == "noisy-counts" else 0
        names = ("dataset", "relation", "epsilon", "selection_share")
        return (selector, *(values[n] for n in names), n_features, bound, values["draws"], values["seed"])
