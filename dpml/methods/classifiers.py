"""The classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml.methods.registry import Method, register


def _naive_bayes(key: str, title: str, kind: str, method: str, label: str = "", **facts: Any) -> None:
    register(Method(key, title, "classifier", kind, {"method": method}, label, group="naive-bayes", **facts))


def _moments(key: str, title: str, label: str = "", **facts: Any) -> None:
    """Register a method of `MixedNB` that keeps numbers as numbers."""
    study = {"study": "dpml.studies.mixed.MomentsNBStudy", "study_options": {"method": key}}
    _naive_bayes(key, title, MIXED, key, label, **study, sweep="moments-naive-bayes", table=True, **facts)


def _linear(key: str, title: str, kind: str, options: Mapping[str, Any], label: str, *claims: str) -> None:
    facts: dict[str, Any] = {"group": "linear", "claims": claims}
    if key in ("objective", "output"):
        facts |= {"study": "dpml.studies.accuracy.LogisticStudy", "study_options": {"method": key}}
        facts["sweep"] = "logistic-regression"
    register(Method(key, title, "classifier", f"dpml.classifiers.{kind}", options, label, **facts))


# the default classifier
register(
    Method(
        "auto",
        "AutoClassifier",
        "classifier",
        "dpml.classifiers.AutoClassifier",
        study="dpml.studies.automatic.AutoStudy",
        advised=True,
        claims=(
            "auto-counts",
            "auto-number",
            "auto-bins",
            "auto-alone",
            "auto-weights",
            "auto-words",
            "auto-few-words",
            "auto-dense",
            "auto-mixed",
            "auto-bins-release",
            "auto-words-release",
            "auto-few-words-release",
        ),
    )
)

BINARY, MIXED = "dpml.classifiers.BernoulliNB", "dpml.classifiers.MixedNB"
_naive_bayes(
    "binned",
    "Binned counts",
    MIXED,
    "binned",
    phrase="naive Bayes, binned counts",
    study="dpml.studies.mixed.BinnedNBStudy",
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
    study="dpml.studies.accuracy.RowBoundedNBStudy",
    sweep="row-bounded-naive-bayes",
    advised=True,
    claims=("nb-row-bounded", "nb-row-bounded-clip", "nb-row-bounded-release", "nb-selecting"),
)
_moments("global", "Global sensitivity", claims=("mixed-nb-global",))
_moments(
    "smooth",
    "Smooth sensitivity",
    claims=("mixed-nb-smooth-cauchy", "mixed-nb-smooth-student-t"),
    numbers=True,
)
_moments(
    "bun-steinke",
    "Bun and Steinke",
    claims=("mixed-nb-bun-steinke-cauchy", "mixed-nb-bun-steinke-student-t"),
    numbers=True,
)
_naive_bayes(
    "algorithm-1",
    "Algorithm 1 of the thesis",
    BINARY,
    "published",
    phrase="naive Bayes, Algorithm 1 of the thesis",
    study="dpml.studies.accuracy.PublishedNBStudy",
    sweep="naive-bayes",
    advised=True,
    claims=("nb-published",),
)
_naive_bayes(
    "partitioned",
    "Partitioned, thesis",
    BINARY,
    "partitioned",
    study="dpml.studies.accuracy.PartitionedNBStudy",
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
_moments("published", "Algorithm 1 of Zafarani and Clifton", "Z. & C.", claims=("gaussian-nb-published",))

OBJECTIVE = {"method": "objective"}
_linear(
    "rule",
    "Public rule: naive Bayes or SVM",
    "LinearClassifier",
    {},
    "Public rule",
    "linear-classifier-auto",
    "linear-classifier-naive-bayes",
    "linear-classifier-objective",
)
_linear(
    "l1",
    "Objective perturbation, L1",
    "LogisticRegression",
    {**OBJECTIVE, "norm": "l1"},
    "Objective L1",
    "logistic-objective-laplace",
)
_linear(
    "objective",
    "Objective perturbation, L2",
    "LogisticRegression",
    OBJECTIVE,
    "Objective L2",
    "logistic-objective",
    "logistic-objective-published",
)
_linear(
    "output",
    "Output perturbation",
    "LogisticRegression",
    {"method": "output"},
    "Logistic, output",
    "logistic-output",
    "logistic-output-published",
)
_linear(
    "functional",
    "Functional mechanism",
    "LogisticRegression",
    {"method": "functional"},
    "Functional",
    "functional",
    "functional-improved",
    "functional-original",
    "functional-fit",
)
_linear("svm", "Linear SVM", "LinearSVC", OBJECTIVE, "", "svc-objective", "svc-objective-published")
_linear("local", "PrivLocal of Su et al.", "PrivLocal", {}, "PrivLocal", "priv-local", "priv-local-published")
_linear("genetic", "PrivGene", "PrivGene", {}, "", "priv-gene", "priv-gene-published")
_linear(
    "descent",
    "Noisy gradient descent",
    "LogisticRegression",
    {"method": "noisy-descent"},
    "Descent",
    "logistic-noisy-descent",
)

# models of other projects, whose results are recorded
register(Method("peer-descent", "DP-SGD, logistic regression", "classifier", label="DP-SGD, recorded"))
register(Method("peer-boosting", "Private EBM of interpret", "classifier", label="Private EBM, recorded"))
register(Method("peer-logistic", "Logistic regression of diffprivlib", "classifier", label="diffprivlib, recorded"))
