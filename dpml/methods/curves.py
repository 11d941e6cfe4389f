"""The ROC curves: of a noisy histogram, and those of Stoddard et al. 2014 as published and with all of ε used."""

from typing import Any

from dpml.methods.registry import Method, register


def _published(key: str, title: str, claim: str, method: str, flaw: str = "not private", **options: Any) -> None:
    own = {"method": method, "halves": not key.endswith("-exact"), **options}
    place = "dpml.evaluation.published_roc_curve"
    register(Method(key, title, "curve", place, own, flaw=flaw, claims=(f"published-roc-{claim}",)))


register(
    Method("histogram", "16 noisy bins", "curve", "dpml.evaluation.private_roc_curve", claims=("private-roc-curve",))
)
MEDIANS, SPACE = "recursive-medians", "fixed-space"
_published(MEDIANS, "RecursiveMedians", "medians-published", MEDIANS, calibration="published")
_published(f"{MEDIANS}-exact", "RecursiveMedians, full ε", "medians-exact", MEDIANS, calibration="exact")
# ⌊n⌋ thresholds would publish n, so the repaired one has a public number of them
_published(SPACE, "FixedSpace", "fixed-space-alpha", SPACE, flaw="reveals n")
_published(f"{SPACE}-exact", "FixedSpace, full ε", SPACE, SPACE, n_thresholds=1024)
_published("laplace", "Laplace", "laplace", "laplace")
_published("laplace-exact", "Laplace, public thresholds", "laplace-fixed", "laplace-fixed")
