"""The settings of the Select page that other pages do not have; each name begins with ``select_``.

What it shares with the Explore page (data set, relation, ε, T, share, draws, seed) are the settings of that page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import param

from dpml_app.core.values import DatasetValues
from dpml_app.drawing.styles import styles_of
from dpml_app.settings import MultiSelect, Shared, choice

SCORES = {
    "total_count": "Total count",
    "difference_count": "Difference of counts",
    "count": "Count heuristic",
    "mutual_information": "Mutual information",
}
ORDERS = {"count": "Counts", "mutual_information": "Mutual information"}
# how one unit of score is weighed
CALIBRATIONS = {
    "range": "calibrated",
    "published": "as published",
    "per-feature": "per feature",
}
# τ as a share of the public number of records, or in bits
_STEPS = (1, 1.6, 2.5, 4, 6.3)
THRESHOLDS = (*(float(f"{step * 10**decade:.3g}") for decade in (-3, -2, -1) for step in _STEPS), 1.0)
SELECTOR_STYLES = styles_of("selector", "top")
SELECTORS = {name: style.label for name, style in SELECTOR_STYLES.items()}


class SelectSettings(Shared):
    """Every control that only the Select page has."""

    select_calibration: Any = choice("range", CALIBRATIONS, "Weight of a score")
    select_order: Any = choice("count", ORDERS, "Best features by")
    select_draw = param.Integer(default=0, bounds=(0, 2**31 - 1), label="Draw another set")
    select_score: Any = choice("total_count", SCORES, "Score against the threshold")
    select_threshold: Any = choice(
        0.04, {share: f"{100 * share:g} %" for share in THRESHOLDS}, "Threshold τ, as a share"
    )
    select_row_bound = param.Integer(default=0, bounds=(0, 100), label="Ones kept of a record, r")
    select_methods: Any = choice(["mask-count", "mask-mi", "exact"], SELECTORS, "Features chosen by", MultiSelect)
    select_feature = param.Integer(default=0, bounds=(0, 100_000), label="Feature shown")


@dataclass(frozen=True)
class SelectValues(DatasetValues):
    """What the Select page depends on."""

    n_features: int
    selection_share: float
    draws: int
    select_calibration: str
    select_order: str
    select_draw: int
    select_score: str
    select_threshold: float
    select_row_bound: int
    select_methods: tuple[str, ...]
    select_feature: int

    def f1_key(self, rule: str, threshold: float) -> tuple:
        """Return the arguments of `dpml_app.pages.select.compute.f1`."""
        paid = self.epsilon * self.selection_share
        # the mask's curve is exact, and only the sparse vector technique has a cut-off
        cutoff = self.n_features if rule == "sparse-vector" else 0
        drawn = (0, 0) if rule == "mask" else (self.draws, self.seed)
        counts = self.dataset, self.relation, self.select_score, self.select_row_bound
        return (rule, *counts, paid, threshold, cutoff, *drawn)

    def accuracy_key(self, selector: str, n_features: int) -> tuple:
        """Return the arguments of `dpml_app.pages.select.compute.accuracy`."""
        bound = self.select_row_bound if selector == "noisy-counts" else 0
        paid = self.dataset, self.relation, self.epsilon, self.selection_share
        return (selector, *paid, n_features, bound, self.draws, self.seed)
