"""The settings of the Select page that other pages do not have; each name begins with ``select_``.

What it shares with the Explore page (data set, relation, ε, T, share, draws, seed) are the settings of that page.
"""

from dataclasses import dataclass

from dpml_app.core.values import DatasetValues, declared_by
from dpml_app.drawing.styles import styles_of
from dpml_app.settings import MultiSelect, Shared, choice, number

SCORES = {
    "total_count": "Total count",
    "difference_count": "Difference of counts",
    "count": "Count heuristic",
    "mutual_information": "Mutual information",
}
ORDERS = {"count": "Counts", "mutual_information": "Mutual information"}
# how one unit of score is weighed
CALIBRATIONS = {
    "range": "Calibrated",
    "published": "As published",
    "per-feature": "Per feature",
}
# τ as a share of the public number of records, or in bits
_STEPS = (1, 1.6, 2.5, 4, 6.3)
THRESHOLDS = (*(float(f"{step * 10**decade:.3g}") for decade in (-3, -2, -1) for step in _STEPS), 1.0)
SELECTOR_STYLES = styles_of("selector", "top")
SELECTORS = {name: style.label for name, style in SELECTOR_STYLES.items()}


@dataclass(frozen=True)
class SelectValues(DatasetValues):
    """All settings that the page Feature selection depends on."""

    n_features: int
    selection_share: float
    draws: int
    select_calibration: str = choice("range", CALIBRATIONS, "Score weights")
    select_order: str = choice("count", ORDERS, "Rank features by")
    select_draw: int = number(0, (0, 2**31 - 1), "Resample set")
    select_score: str = choice("total_count", SCORES, "Score for the threshold")
    select_threshold: float = choice(0.04, {s: f"{100 * s:g}%" for s in THRESHOLDS}, "Threshold τ")
    select_row_bound: int = number(0, (0, 100), "Contribution bound r")
    select_methods: tuple[str, ...] = choice(
        ["mask-count", "mask-mi", "exact"], SELECTORS, "Selection methods", MultiSelect
    )
    select_feature: int = number(0, (0, 100_000), "Feature")

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


@declared_by(SelectValues)
class SelectSettings(Shared):
    """Every control that only the Select page has."""
