"""The registry of methods: what each is called, which class it is, which study measures it, and what is claimed of it.

An entry names classes and studies by dotted names, so that reading the list imports none of them. Whether a method is
private, its δ and its relations are not here: they stand in the catalogue, under the names in `claims`
(`dpml.catalogue.standing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpml._validate import check_choice
from dpml.exceptions import InvalidParameter

__all__ = [
    "FAMILIES",
    "METHODS",
    "Method",
    "by_sweep",
    "method",
    "of_family",
    "register",
    "study_by_name",
    "unregister",
]

FAMILIES = ("classifier",)
GROUPS = ("naive-bayes", "linear", "other")


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    key : str
        Its one name in code, files and links.
    title, label, phrase : str
        What people read: in a list, in a legend, and within a sentence. A label that is not given is the title, and a
        phrase the label.
    family : {"classifier"}
    group : {"naive-bayes", "linear", "other"}
        The kind of classifier.
    target : str
        The public class, as ``module.name``; empty for a model of another project, whose results are recorded.
    options : mapping
        Parameters of the class that make it this method.
    study : str
        The class that measures it, as ``module.name``: ``study(dataset, relation=...)``; empty for none.
    study_options : mapping
        More parameters of the study's class.
    sweep : str
        What a sweep calls the study. A method with a study and without this name is swept under its key.
    advised : bool
        Whether `dpml.studies.advise` compares it.
    claims : tuple of str
        Names of its entries in the catalogue.
    numeric_claims : tuple of str
        Those for a table with numeric attributes, where they differ.
    table, numbers : bool
        Whether it is trained on the raw table, else on binary columns; and whether it is about numbers only.
    """

    key: str
    title: str
    family: str
    target: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    label: str = ""
    phrase: str = ""
    group: str = "other"
    study: str = ""
    study_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sweep: str = ""
    advised: bool = False
    claims: tuple[str, ...] = ()
    numeric_claims: tuple[str, ...] = ()
    table: bool = False
    numbers: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.title)
        object.__setattr__(self, "phrase", self.phrase or self.label)
        if not isinstance(self.key, str) or not self.key.strip():
            raise InvalidParameter("key", self.key, "a name")
        check_choice(self.family, "family", FAMILIES)
        check_choice(self.group, "group", GROUPS)
        if self.advised and not self.study:
            raise InvalidParameter("study", self.study, "the class that measures it, for a method that is advised")

    @property
    def kind(self) -> Any:
        """The public class, imported."""
        return _object(self.target, "target")

    def make(self, epsilon: float, **options: Any) -> Any:
        """Return an estimator at ε, with more of its parameters where they are given."""
        return self.kind(epsilon, **{**self.options, **options})

    def study_of(self, dataset: Any, *, relation: str = "add-remove") -> Any:
        """Return the study that measures it on a data set."""
        return study_by_name(self.study)(dataset, relation=relation, **self.study_options)


def study_by_name(dotted: str) -> Any:
    """Return the class of a study by its name ``module.name``; another process needs no more than the name."""
    return _object(dotted, "study")


def _object(dotted: str, name: str) -> Any:
    module, _, attribute = dotted.rpartition(".")
    if not module:
        raise InvalidParameter(name, dotted, "stated as module.name")
    return getattr(import_module(module), attribute)


METHODS: dict[str, Method] = {}


def register(entry: Method) -> Method:
    """Add a method under a key that is not taken, and return it.

    Its claims are looked up in the catalogue when they are asked for, so that they can be registered afterwards.

    Parameters
    ----------
    entry : Method

    Raises
    ------
    InvalidParameter
        The key is taken.

    Examples
    --------
    >>> register(METHODS["binned"])
    Traceback (most recent call last):
    dpml.exceptions.InvalidParameter: key = 'binned' is not allowed: it must be ...
    """
    if entry.key in METHODS:
        raise InvalidParameter("key", entry.key, f"a key that is not taken; taken are {', '.join(METHODS)}")
    METHODS[entry.key] = entry
    return entry


def unregister(key: str) -> None:
    """Take a method out of the registry."""
    del METHODS[check_choice(key, "key", tuple(METHODS))]


def method(key: str) -> Method:
    """Return the method of a key.

    Examples
    --------
    >>> method("row-bounded").make(1.0)
    BernoulliNB(epsilon=1.0)
    """
    return METHODS[check_choice(key, "key", tuple(METHODS))]


def of_family(family: str = "classifier", group: str | None = None) -> tuple[Method, ...]:
    """Return the methods of a family, in the order in which they were registered.

    Examples
    --------
    >>> [each.key for each in of_family("classifier", "linear")][:4]
    ['rule', 'l1', 'objective', 'output']
    """
    check_choice(family, "family", FAMILIES)
    return tuple(each for each in METHODS.values() if each.family == family and group in (None, each.group))


def by_sweep(name: str, option: str = "") -> Method | None:
    """Return the method that a sweep measures under a name; None if there is none.

    Parameters
    ----------
    name : str
        What stands in the column ``study`` of a sweep's table.
    option : str
        The value of the column ``method``, where one study has several.

    Examples
    --------
    >>> by_sweep("moments-naive-bayes", "smooth").key, by_sweep("automatic").key
    ('smooth', 'auto')
    """
    for each in METHODS.values():
        if each.study and (each.sweep or each.key) == name and each.study_options.get("method", "") == option:
            return each
    return None


# ---- the classifiers ----------------------------------------------------------------------------------------------


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
        sweep="automatic",
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
