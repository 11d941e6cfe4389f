"""The classifiers."""

from typing import Any

from dpml.methods.registry import Method, register


def _naive_bayes(key: str, title: str, kind: str, method: str, label: str = "", **facts: Any) -> None:
    register(Method(key, title, "classifier", kind, {"method": method}, label, group="naive-bayes", **facts))


def _moments(key: str, title: str, label: str = "", **facts: Any) -> None:
    """Register a method of `MixedNB` that keeps numbers as numbers."""
    study = {"study": "dpml.studies.MomentsNBStudy", "study_options": {"method": key}}
    _naive_bayes(key, title, MIXED, key, label, **study, sweep="moments-naive-bayes", table=True, **facts)


def _linear(key: str, title: str, label: str, kind: str, *claims: str, **options: Any) -> None:
    facts: dict[str, Any] = {"group": "linear", "claims": claims}
    if key in ("objective", "output"):
        facts |= {"study": "dpml.studies.LogisticStudy", "study_options": {"method": key}}
        facts["sweep"] = "logistic-regression"
    register(Method(key, title, "classifier", f"dpml.classifiers.{kind}", options, label, **facts))


def _both(claim: str) -> tuple[str, str]:
    """Return a claim and that of the same method as published."""
    return claim, f"{claim}-published"


# the default classifier, which has no δ; `auto-gaussian` is the claim of a fit with one
WAYS = ("counts", "number", "bins", "classes", "alone", "weights", "words", "few-words", "dense", "mixed")
RELEASES = ("bins", "classes", "alone", "weights", "words", "few-words")
register(
    Method(
        "auto",
        "AutoClassifier",
        "classifier",
        "dpml.classifiers.AutoClassifier",
        study="dpml.studies.AutoStudy",
        advised=True,
        claims=(*(f"auto-{way}" for way in WAYS), *(f"auto-{way}-release" for way in RELEASES)),
    )
)

BINARY, MIXED = "dpml.classifiers.BernoulliNB", "dpml.classifiers.MixedNB"
_naive_bayes(
    "binned",
    "Binned counts",
    MIXED,
    "binned",
    phrase="naive Bayes, binned counts",
    study="dpml.studies.BinnedNBStudy",
    sweep="binned-naive-bayes",
    advised=True,
    claims=("mixed-nb-binned",),
    table=True,
)
_naive_bayes(
    "row-bounded",
    "Row-bounded counts",
    BINARY,
    "row-bounded",
    "Row-bounded",
    phrase="naive Bayes, row-bounded",
    study="dpml.studies.RowBoundedNBStudy",
    sweep="row-bounded-naive-bayes",
    advised=True,
    claims=("nb-row-bounded", "nb-row-bounded-clip", "nb-row-bounded-release", "nb-posterior", "nb-selecting"),
)
_moments("global", "Global sensitivity", claims=("mixed-nb-global",))
for key, title in (("smooth", "Smooth sensitivity"), ("bun-steinke", "Bun and Steinke")):
    _moments(key, title, claims=(f"mixed-nb-{key}-cauchy", f"mixed-nb-{key}-student-t"), numbers=True)
_naive_bayes(
    "algorithm-1",
    "Algorithm 1 (Antonova 2016)",
    BINARY,
    "published",
    phrase="naive Bayes, Algorithm 1 (Antonova 2016)",
    study="dpml.studies.PublishedNBStudy",
    sweep="naive-bayes",
    advised=True,
    claims=("nb-published",),
)
_naive_bayes(
    "partitioned",
    "Partitioned (Antonova 2016)",
    BINARY,
    "partitioned",
    study="dpml.studies.PartitionedNBStudy",
    sweep="partitioned-naive-bayes",
    claims=("nb-partitioned",),
)
_moments(
    "vaidya",
    "Vaidya et al.",
    "Vaidya",
    claims=("mixed-nb-vaidya-add-remove", "mixed-nb-vaidya-replace-one"),
    numeric_claims=("mixed-nb-vaidya-numbers",),
)
_moments("published", "Algorithm 1 (Zafarani and Clifton)", "Zafarani and Clifton", claims=("gaussian-nb-published",))

LOGISTIC = "LogisticRegression"
_linear(
    "rule",
    "Public rule: naive Bayes or SVM",
    "Public rule",
    "LinearClassifier",
    *(f"linear-classifier-{way}" for way in ("auto", "naive-bayes", "objective")),
)
L1, L2 = "Objective perturbation, L1", "Objective perturbation, L2"
_linear("l1", L1, "Objective L1", LOGISTIC, "logistic-objective-laplace", method="objective", norm="l1")
_linear("objective", L2, "Objective L2", LOGISTIC, *_both("logistic-objective"), method="objective")
_linear("output", "Output perturbation", "Logistic, output", LOGISTIC, *_both("logistic-output"), method="output")
_linear(
    "functional",
    "Functional mechanism",
    "Functional",
    LOGISTIC,
    *("functional", "functional-improved", "functional-original", "functional-fit"),
    method="functional",
)
_linear("svm", "Linear SVM", "", "LinearSVC", *_both("svc-objective"), method="objective")
_linear("local", "PrivLocal (Su et al.)", "PrivLocal", "PrivLocal", *_both("priv-local"))
_linear("genetic", "PrivGene", "", "PrivGene", *_both("priv-gene"))
_linear("descent", "Noisy gradient descent", "Descent", LOGISTIC, "logistic-noisy-descent", method="noisy-descent")

register(
    Method(
        "random-trees",
        "Random decision trees",
        "classifier",
        "dpml.classifiers.RandomTrees",
        label="Random trees",
        study="dpml.studies.RandomTreesStudy",
        claims=("random-trees", "random-trees-release"),
        table=True,
    )
)

# models of other projects, whose results are recorded
register(Method("peer-descent", "DP-SGD, logistic regression", "classifier", label="DP-SGD, precomputed"))
register(Method("peer-boosting", "Private EBM (interpret)", "classifier", label="Private EBM, precomputed"))
register(Method("peer-logistic", "Logistic regression (diffprivlib)", "classifier", label="diffprivlib, precomputed"))
