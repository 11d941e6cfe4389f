"""The selectors of features: of the T best ones, and of all above a threshold."""

from __future__ import annotations

from typing import Any

from dpml.methods.registry import Method, register


def _selector(key: str, title: str, target: str, *claims: str, group: str = "top", **options: Any) -> None:
    place = f"dpml.{target}" if target else ""
    register(Method(key, title, "selector", place, options, group=group, claims=claims))


COUNTS, INFORMATION = {"score": "count"}, {"score": "mutual_information"}
PUBLISHED, SCORES = "selection.PublishedSelector", "selection.NoisyScoreSelector"
_selector("mask-count", "Masks, by counts", "selection.MaskSelector", "mask-count", **COUNTS)
_selector("mask-mi", "Masks, by mutual information", "selection.MaskSelector", "mask-mutual_information", **INFORMATION)
_selector("joint", "Joint mechanism, by counts", "selection.TopSelector", "top-joint", method="joint", **COUNTS)
_selector(
    "one-shot", "One shot of noise, by counts", "selection.TopSelector", "top-one-shot", method="one-shot", **COUNTS
)
_selector("noisy-scores", "Noisy scores, by mutual information", SCORES, "score-perturbation", **INFORMATION)
_selector("noisy-counts", "Noisy counts of r ones", "selection.NoisyCountSelector", "noisy-counts-selection")
_selector("iterative", "Iterative sampling", PUBLISHED, "iterative-sampling", method="iterative", **INFORMATION)
_selector("exact", "Exact choice", "")
# chooses T by itself
_selector("best-selector", "BestSelector", "tuning.BestSelector", "best-selector", group="other")

ABOVE = {"group": "threshold"}
_selector("perturbation", "Noisy scores", SCORES, "score-perturbation-threshold", **ABOVE)
_selector("noisy-clusters", "Noisy clusters", "selection.NoisyClusterSelector", "noisy-clusters-selection", **ABOVE)
_selector("sparse-vector", "Sparse vector", "selection.SparseVectorSelector", "sparse-vector-selection", **ABOVE)
_selector("mask", "Masks of the true number", "selection.MaskSelector", "mask-total_count", **ABOVE)
_selector(
    "threshold-testing",
    "Threshold testing",
    PUBLISHED,
    "private-threshold-testing",
    method="threshold-testing",
    **ABOVE,
)
_selector("noisy-cut", "NoisyCut", PUBLISHED, "noisy-cut", method="noisy-cut", **ABOVE)
_selector("clusters", "Clusters", PUBLISHED, "cluster-selection", method="clusters", **ABOVE)
