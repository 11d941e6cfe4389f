"""The selectors of features: of the T best ones, and of all above a threshold."""

from typing import Any

from dpml.methods.registry import Method, register


def _selector(key: str, title: str, target: str, *claims: str, group: str = "top", **options: Any) -> None:
    place = f"dpml.{target}" if target else ""
    register(Method(key, title, "selector", place, options, group=group, claims=claims))


COUNTS, INFORMATION = {"score": "count"}, {"score": "mutual_information"}
MASKS, TOP = "selection.MaskSelector", "selection.TopSelector"
PUBLISHED, SCORES = "selection.PublishedSelector", "selection.NoisyScoreSelector"
_selector("mask-count", "Masks, by counts", MASKS, "mask-count", **COUNTS)
_selector("mask-mi", "Masks, by mutual information", MASKS, "mask-mutual_information", **INFORMATION)
_selector("joint", "Joint mechanism, by counts", TOP, "top-joint", method="joint", **COUNTS)
_selector("one-shot", "One-shot noise, by counts", TOP, "top-one-shot", method="one-shot", **COUNTS)
_selector(
    "peeling-delta", "Peeling with δ, by counts", TOP, "top-peeling-delta", method="peeling", delta=1e-5, **COUNTS
)
_selector(
    "limited-domain", "Limited domain with δ, by counts", TOP, "top-limited-domain", method="limited-domain",
    delta=1e-5, **COUNTS,
)  # fmt: skip
_selector("noisy-scores", "Noisy scores, by mutual information", SCORES, "score-perturbation", **INFORMATION)
_selector("noisy-counts", "Noisy counts, r ones per record", "selection.NoisyCountSelector", "noisy-counts-selection")
_selector("iterative", "Iterative sampling", PUBLISHED, "iterative-sampling", method="iterative", **INFORMATION)
_selector("exact", "Exact selection", "")
# chooses T by itself
_selector("best-selector", "BestSelector", "tuning.BestSelector", "best-selector", group="other")

ABOVE, CLUSTERS = {"group": "threshold"}, "selection.NoisyClusterSelector"
_selector("perturbation", "Noisy scores", SCORES, "score-perturbation-threshold", **ABOVE)
_selector("noisy-clusters", "Noisy clusters", CLUSTERS, "noisy-clusters-selection", **ABOVE)
_selector("sparse-vector", "Sparse vector", "selection.SparseVectorSelector", "sparse-vector-selection", **ABOVE)
_selector("mask", "Masks of the exact number", MASKS, "mask-total_count", **ABOVE)
for key, title, claim in (
    ("threshold-testing", "Threshold testing", "private-threshold-testing"),
    ("noisy-cut", "NoisyCut", "noisy-cut"),
    ("clusters", "Clusters", "cluster-selection"),
):
    _selector(key, title, PUBLISHED, claim, method=key, **ABOVE)
