"""The registry: the methods that lists, studies and releases compare, and the privacy claims that the code states.

A method names its class and its study by dotted names, so that reading the list imports none of them. A claim stands
beside the class or function that it is about (`dpml.claims`). `claims` collects all of them, `standing` those of one
method.
"""

import math
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from dpml._validate import check_choice
from dpml.claims import STATED, Claim, claims_of
from dpml.exceptions import InvalidParameter

__all__ = [
    "FAMILIES",
    "METHODS",
    "Method",
    "Standing",
    "as_table",
    "claim",
    "claims",
    "method",
    "of_family",
    "register",
    "standing",
]

# of each family, its groups; a method that states no group is of the last one
FAMILIES = {
    "classifier": ("naive-bayes", "linear", "other"),
    # of T features, and of all features above a threshold
    "selector": ("threshold", "other", "top"),
    # models and weights that are published as a table is
    "publisher": ("model", "weights", "table"),
    "curve": ("roc",),
    # for a choice of one candidate, calibrations of Cauchy noise for a smooth sensitivity, and of one number
    "noise": ("choice", "cauchy", "number"),
}
# the packages whose modules state claims
PACKAGES = ("mechanisms", "selection", "classifiers", "publishing", "evaluation", "tuning")


@dataclass(frozen=True)
class Method:
    """One method: its title, its class, the study that measures it, and the names of its claims.

    Attributes
    ----------
    key : str
        Unique name in code, files and links, within its family.
    title : str
        Title in a list.
    family : {"classifier", "selector", "publisher", "curve", "noise"}
        Family of the method.
    target : str
        The public class or function, as ``module.name``. Empty if the library does not offer it: a choice without
        noise.
    options : mapping
        Parameters of the target that define this method.
    claims : tuple of str
        Names of its claims.
    numeric_claims : tuple of str
        Names of its claims for a table with numeric attributes, where they differ.
    group : str
        One of the family's groups in `FAMILIES`. By default, the last one.
    study : str
        The class that measures it, as ``module.name``, called as ``study(dataset, relation=...)``. Empty for none.
    study_options : mapping
        More parameters of the study's class.
    sweep : str
        Name of the study in a sweep. By default, the key.
    advised : bool
        Whether `dpml.studies.advise` compares it.
    table : bool
        Whether it is trained on the raw table. Otherwise it is trained on binary columns.
    numbers : bool
        Whether it applies to numbers only.

    See Also
    --------
    register : Adds a method.
    standing : Combines the claims of a method.
    """

    key: str
    title: str
    family: str
    target: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    claims: tuple[str, ...] = ()
    numeric_claims: tuple[str, ...] = ()
    group: str = ""
    study: str = ""
    study_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sweep: str = ""
    advised: bool = False
    table: bool = False
    numbers: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key.strip():
            raise InvalidParameter("key", self.key, "a name")
        groups = FAMILIES[check_choice(self.family, "family", tuple(FAMILIES))]
        object.__setattr__(self, "group", check_choice(self.group or groups[-1], "group", groups))
        object.__setattr__(self, "sweep", self.sweep or (self.key if self.study else ""))
        if self.advised and not self.study:
            raise InvalidParameter("study", self.study, "the class that measures it, for a method that is advised")

    @property
    def kind(self) -> Any:
        """The public class or function, imported."""
        return _object(self.target, "target")

    def make(self, epsilon: float, **options: Any) -> Any:
        """Return an estimator of this method.

        Parameters
        ----------
        epsilon : float
            Privacy parameter ε, finite and > 0.
        **options : object
            More parameters of the target. They override `options` of the method.

        Returns
        -------
        object
            An instance of the target, or the result of a target that is a function.
        """
        return self.kind(epsilon, **{**self.options, **options})

    def study_of(self, dataset: Any, *, relation: str = "add-remove") -> Any:
        """Return the study that measures this method on a data set.

        Parameters
        ----------
        dataset : object
            A data set in the form that the study takes.
        relation : {"add-remove", "replace-one"}, default="add-remove"
            Neighbouring relation.

        Returns
        -------
        object
            An instance of the study's class.
        """
        return study_by_name(self.study)(dataset, relation=relation, **self.study_options)


def study_by_name(dotted: str) -> Any:
    """Return the class of a study by its dotted name, which is all that another process needs."""
    return _object(dotted, "study")


def _object(dotted: str, name: str) -> Any:
    module, _, attribute = dotted.rpartition(".")
    if not module:
        raise InvalidParameter(name, dotted, "stated as module.name")
    return getattr(import_module(module), attribute)


METHODS: dict[str, dict[str, Method]] = {family: {} for family in FAMILIES}


def register(entry: Method) -> Method:
    """Add a method under a key that is new in its family.

    Parameters
    ----------
    entry : Method
        The new method.

    Returns
    -------
    Method
        The same method.

    Raises
    ------
    InvalidParameter
        If the key is taken.

    See Also
    --------
    method : Returns a method by its key.

    Examples
    --------
    >>> register(method("binned"))
    Traceback (most recent call last):
    dpml.exceptions.InvalidParameter: `key` must be ... Got 'binned'.
    """
    taken = METHODS[entry.family]
    if entry.key in taken:
        raise InvalidParameter("key", entry.key, f"a new key, other than {', '.join(taken)}")
    taken[entry.key] = entry
    return entry


def method(key: str, family: str = "classifier") -> Method:
    """Return the method of a key.

    Parameters
    ----------
    key : str
        Key of the method in its family.
    family : str, default="classifier"
        A key of `FAMILIES`.

    Returns
    -------
    Method
        The method.

    Raises
    ------
    InvalidParameter
        If there is no such method.

    See Also
    --------
    of_family : Returns all methods of a family.
    register : Adds a method.

    Examples
    --------
    >>> method("row-bounded").make(1.0)
    BernoulliNB(epsilon=1.0)
    >>> method("uniform-ug", "publisher").make(1.0)
    UniformGrid(epsilon=1.0, rule='ug')
    """
    check_choice(family, "family", tuple(FAMILIES))
    return METHODS[family][check_choice(key, "key", tuple(METHODS[family]))]


def of_family(family: str = "classifier", group: str | None = None) -> tuple[Method, ...]:
    """Return the methods of a family, or of one of its groups, in the order of their registration.

    Parameters
    ----------
    family : str, default="classifier"
        A key of `FAMILIES`.
    group : str, optional
        One of the family's groups. By default, all groups.

    Returns
    -------
    tuple of Method
        The methods.

    Raises
    ------
    InvalidParameter
        If there is no such family.

    See Also
    --------
    method : Returns a method by its key.

    Examples
    --------
    >>> [each.key for each in of_family("classifier", "linear")][:4]
    ['rule', 'l1', 'objective', 'output']
    """
    check_choice(family, "family", tuple(FAMILIES))
    return tuple(each for each in METHODS[family].values() if group in (None, each.group))


def methods_of(sweep: str) -> tuple[str, ...]:
    """Return the names of the methods that a study of a sweep compares: values of its option `method`."""
    own = (each.study_options.get("method") for each in of_family() if each.sweep == sweep)
    return tuple(method for method in own if method)


# ---- claims ---------------------------------------------------------------------------------------------------------


@cache
def _import_packages() -> None:
    """Import every module that can state a claim, once in a process."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(import_module(f"dpml.{package}").__path__, f"dpml.{package}."):
            import_module(module.name)


def claims() -> dict[str, Claim]:
    """Return every claim that a class or function states, by name. The first call imports all of them.

    Returns
    -------
    dict of str to Claim
        The claims, in the order of packages and modules.

    See Also
    --------
    claim : Returns one claim.
    as_table : Returns the claims as a table.

    Examples
    --------
    >>> claims()["laplace"].citation
    'Antonova 2016, Theorem 2.2.1'
    """
    _import_packages()

    def place(stated: Any) -> tuple[int, str]:
        package = stated.__module__.split(".")[1] if stated.__module__.startswith("dpml.") else ""
        return (PACKAGES.index(package) if package in PACKAGES else len(PACKAGES), stated.__module__)

    stated = sorted(dict.fromkeys(STATED.values()), key=place)
    return {own.name: own for each in stated for own in claims_of(each)}


def claim(name: str) -> Claim:
    """Return the claim of a name.

    Parameters
    ----------
    name : str
        Name of the claim.

    Returns
    -------
    Claim
        The claim.

    Raises
    ------
    InvalidParameter
        If there is no such claim.

    See Also
    --------
    claims : Returns all claims.

    Examples
    --------
    >>> claim("noisy-cut").private
    False
    """
    if name in STATED:
        return next(own for own in claims_of(STATED[name]) if own.name == name)
    every = claims()
    return every[check_choice(name, "name", list(every))]


class Standing(NamedTuple):
    """Combined claims of a method.

    Attributes
    ----------
    private : bool
        Whether each of its claims has a cost that holds for every data set. False without claims.
    holds : bool
        Whether that cost is at most the claimed ε.
    delta : float
        The largest δ of its claims.
    relations : tuple of str
        Neighbouring relations for which some claim is made.
    source : str
        Citation of its first claim. Empty without claims.

    See Also
    --------
    standing : Computes the combined claims of a method.
    """

    private: bool
    holds: bool
    delta: float
    relations: tuple[str, ...]
    source: str


def standing(key: str, family: str = "classifier", *, numeric: bool = True) -> Standing:
    """Return the combined claims of a method.

    Parameters
    ----------
    key : str
        Key of the method in its family.
    family : str, default="classifier"
        Family of the method.
    numeric : bool, default=True
        Whether the table has numeric attributes.

    Returns
    -------
    Standing
        The combined claims.

    See Also
    --------
    method : Returns a method by its key.
    claims : Returns all claims.

    Examples
    --------
    >>> standing("vaidya").private, standing("vaidya", numeric=False).private, standing("vaidya", numeric=False).holds
    (False, True, False)
    >>> standing("pph", "publisher").private, standing("noisy-cut", "selector").private
    (True, False)
    """
    one = method(key, family)
    if one.target:
        _ = one.kind  # its claims are there with it
    own = [claim(name) for name in (numeric and one.numeric_claims) or one.claims]
    return Standing(
        private=bool(own) and all(each.private for each in own),
        holds=bool(own) and all(each.holds() for each in own),
        delta=max((each.delta for each in own), default=0.0),
        relations=tuple(dict.fromkeys(relation for each in own for relation in each.relations)),
        source=own[0].citation if own else "",
    )


def as_table() -> Any:
    """Return all claims as a table. Papers are cited by authors and year.

    Returns
    -------
    DataFrame
        One row per claim, indexed by its name.

    See Also
    --------
    claims : Returns all claims.

    Examples
    --------
    >>> as_table().loc["laplace", "title"]
    'Laplace mechanism'
    """
    import pandas as pd

    columns = ("title", "family", "claim", "private", "cost")
    rows = {
        name: {
            **{column: getattr(own, column) for column in columns},
            "source": own.citation,
            "relations": ", ".join(own.relations),
        }
        for name, own in claims().items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


# ---- the methods of this library ------------------------------------------------------------------------------------


CLASSIFIERS = "dpml.classifiers."
BINARY, MIXED, LOGISTIC = (CLASSIFIERS + name for name in ("BernoulliNB", "MixedNB", "LogisticRegression"))


def _add(family: str, key: str, title: str, target: str = "", *claims: str, **facts: Any) -> None:
    register(Method(key, title, family, target, claims=claims, **facts))


def _naive_bayes(key: str, title: str, target: str, method: str, *claims: str, **facts: Any) -> None:
    options = {"method": method}
    _add("classifier", key, title, target, *claims, options=options, group="naive-bayes", **facts)


def _moments(key: str, title: str, *claims: str, **facts: Any) -> None:
    """Register a method of `MixedNB` that keeps numbers as numbers."""
    facts |= {"study": "dpml.studies.MomentsNBStudy", "study_options": {"method": key}}
    _naive_bayes(key, title, MIXED, key, *claims, sweep="moments-naive-bayes", table=True, **facts)


def _linear(key: str, title: str, kind: str, *claims: str, **options: Any) -> None:
    facts: dict[str, Any] = {"group": "linear", "options": options}
    if key in ("objective", "output"):
        facts |= {"study": "dpml.studies.LogisticStudy", "study_options": {"method": key}}
        facts["sweep"] = "logistic-regression"
    _add("classifier", key, title, CLASSIFIERS + kind, *claims, **facts)


# the default classifier, which has no δ; `auto-gaussian` is the claim of a fit with one
_WAYS = ("counts", "number", "bins", "classes", "alone", "weights", "words", "few-words", "dense", "mixed")
_RELEASES = ("bins", "classes", "alone", "weights", "words", "few-words")
_add(
    "classifier", "auto", "AutoClassifier", CLASSIFIERS + "AutoClassifier",
    *(f"auto-{way}" for way in _WAYS), *(f"auto-{way}-release" for way in _RELEASES),
    study="dpml.studies.AutoStudy", advised=True,
)  # fmt: skip
_naive_bayes(
    "binned", "Binned counts", MIXED, "binned", "mixed-nb-binned",
    study="dpml.studies.BinnedNBStudy", sweep="binned-naive-bayes", advised=True, table=True,
)  # fmt: skip
_naive_bayes(
    "row-bounded", "Row-bounded counts", BINARY, "row-bounded",
    "nb-row-bounded", "nb-row-bounded-clip", "nb-row-bounded-release", "nb-posterior", "nb-selecting",
    study="dpml.studies.RowBoundedNBStudy", sweep="row-bounded-naive-bayes", advised=True,
)  # fmt: skip
_moments("global", "Global sensitivity", "mixed-nb-global")
for _key, _title in (("smooth", "Smooth sensitivity"), ("bun-steinke", "Bun and Steinke")):
    _moments(_key, _title, f"mixed-nb-{_key}-cauchy", f"mixed-nb-{_key}-student-t", numbers=True)
_naive_bayes(
    "algorithm-1", "Algorithm 1 (Antonova 2016)", BINARY, "published", "nb-published",
    study="dpml.studies.PublishedNBStudy", sweep="naive-bayes", advised=True,
)  # fmt: skip
_naive_bayes(
    "partitioned", "Partitioned (Antonova 2016)", BINARY, "partitioned", "nb-partitioned",
    study="dpml.studies.PartitionedNBStudy", sweep="partitioned-naive-bayes",
)  # fmt: skip
_moments(
    "vaidya", "Vaidya et al.", "mixed-nb-vaidya-add-remove", "mixed-nb-vaidya-replace-one",
    numeric_claims=("mixed-nb-vaidya-numbers",),
)  # fmt: skip
_moments("published", "Algorithm 1 (Zafarani and Clifton)", "gaussian-nb-published")

_linear(
    "rule", "Public rule: naive Bayes or SVM", "LinearClassifier",
    "linear-classifier-auto", "linear-classifier-naive-bayes", "linear-classifier-objective",
)  # fmt: skip
_linear(
    "l1",
    "Objective perturbation, L1",
    "LogisticRegression",
    "logistic-objective-laplace",
    method="objective",
    norm="l1",
)
_linear(
    "objective", "Objective perturbation, L2", "LogisticRegression",
    "logistic-objective", "logistic-objective-published", method="objective",
)  # fmt: skip
_linear(
    "output", "Output perturbation", "LogisticRegression",
    "logistic-output", "logistic-output-published", method="output",
)  # fmt: skip
_linear(
    "functional", "Functional mechanism", "LogisticRegression",
    "functional", "functional-improved", "functional-original", "functional-fit", method="functional",
)  # fmt: skip
_linear("svm", "Linear SVM", "LinearSVC", "svc-objective", "svc-objective-published", method="objective")
_linear("local", "PrivLocal (Su et al.)", "PrivLocal", "priv-local", "priv-local-published")
_linear("genetic", "PrivGene", "PrivGene", "priv-gene", "priv-gene-published")
_linear("descent", "Noisy gradient descent", "LogisticRegression", "logistic-noisy-descent", method="noisy-descent")
_add(
    "classifier", "random-trees", "Random decision trees", CLASSIFIERS + "RandomTrees",
    "random-trees", "random-trees-release", study="dpml.studies.RandomTreesStudy", table=True,
)  # fmt: skip


def _selector(key: str, title: str, kind: str, claim: str, group: str = "top", **options: Any) -> None:
    _add("selector", key, title, f"dpml.{kind}", claim, group=group, options=options)


_MASKS, _TOP, _SCORES = "selection.MaskSelector", "selection.TopSelector", "selection.NoisyScoreSelector"
_COUNTS, _INFORMATION = {"score": "count"}, {"score": "mutual_information"}
_selector("mask-count", "Masks, by counts", _MASKS, "mask-count", **_COUNTS)
_selector("mask-mi", "Masks, by mutual information", _MASKS, "mask-mutual_information", **_INFORMATION)
_selector("joint", "Joint mechanism, by counts", _TOP, "top-joint", method="joint", **_COUNTS)
_selector("one-shot", "One-shot noise, by counts", _TOP, "top-one-shot", method="one-shot", **_COUNTS)
for _key, _title, _method in (
    ("peeling-delta", "Peeling with δ, by counts", "peeling"),
    ("limited-domain", "Limited domain with δ, by counts", "limited-domain"),
):
    _selector(_key, _title, _TOP, f"top-{_key}", method=_method, delta=1e-5, **_COUNTS)
_selector("noisy-scores", "Noisy scores, by mutual information", _SCORES, "score-perturbation", **_INFORMATION)
_selector("noisy-counts", "Noisy counts, r ones per record", "selection.NoisyCountSelector", "noisy-counts-selection")
_selector(
    "iterative", "Iterative sampling", "selection.PublishedSelector", "iterative-sampling",
    method="iterative", **_INFORMATION,
)  # fmt: skip
_add("selector", "exact", "Exact selection")
# compares sets of features by the records themselves, so that it has no study by counts
_selector("best-subset", "Best subset", "selection.SubsetSelector", "best-subset", "other")
# chooses T by itself
_selector("best-selector", "BestSelector", "tuning.BestSelector", "best-selector", "other")
_selector("perturbation", "Noisy scores", _SCORES, "score-perturbation-threshold", "threshold")
_selector("noisy-clusters", "Noisy clusters", "selection.NoisyClusterSelector", "noisy-clusters-selection", "threshold")
_selector("sparse-vector", "Sparse vector", "selection.SparseVectorSelector", "sparse-vector-selection", "threshold")
_selector("mask", "Masks of the exact number", _MASKS, "mask-total_count", "threshold")
for _key, _title, _claim in (
    ("threshold-testing", "Threshold testing", "private-threshold-testing"),
    ("noisy-cut", "NoisyCut", "noisy-cut"),
    ("clusters", "Clusters", "cluster-selection"),
):
    _selector(_key, _title, "selection.PublishedSelector", _claim, "threshold", method=_key)


def _publisher(key: str, title: str, kind: str, *claims: str, group: str = "table", **options: Any) -> None:
    _add("publisher", key, title, f"dpml.{kind}", *claims, group=group, options=options)


_publisher("privpfc", "PrivPfC", "publishing.PrivPfC", "privpfc", "privpfc-release")
_publisher("privbayes", "PrivBayes", "publishing.PrivBayes", "privbayes", "privbayes-release")
_publisher("diffgen", "DiffGen", "publishing.DiffGen", "diffgen", "diffgen-release")
_publisher("pph", "PPH", "publishing.PPH", "pph", "pph-release")
_publisher("uniform", "Uniform grid, EUG", "publishing.UniformGrid", "uniform-grid", "uniform-grid-release")
_publisher("uniform-ug", "Uniform grid, UG", "publishing.UniformGrid", "uniform-grid", rule="ug")
# a tree, which is compared with tables
_publisher("diffpc45", "DiffPC-4.5", "classifiers.DiffPC45", "diffp-c45")
_publisher("privpfc-selnf", "PrivPfC, exact selection", "publishing.PrivPfCSelNF", "privpfc-selnf")
_publisher("privbayes-struct", "PrivBayes, exact selection", "publishing.PrivBayesStructNF", "privbayes-struct-nf")
_publisher("diffgen-struct", "DiffGen, exact selection", "publishing.DiffGenStructNF", "diffgen-struct-nf")
# a fit takes half a minute and more; δ is about 1/n² of 30,000 records
for _key, _title in (("mst", "MST"), ("aim", "AIM")):
    _publisher(_key, _title, f"publishing.{_title}", _key, f"{_key}-release")
    _publisher(
        f"{_key}-delta", f"{_title}, δ", f"publishing.{_title}", f"{_key}-delta", f"{_key}-delta-release", delta=1e-9
    )
_publisher("privpfc-cells", "PrivPfCClassifier", "classifiers.PrivPfCClassifier", "privpfc-classifier", group="model")
_publisher(
    "output", "Ji and Elkan", "publishing.ImportanceWeights", "importance-published",
    group="weights", method="output", calibration="published",
)  # fmt: skip
_publisher(
    "moments", "Noisy moments (ours)", "publishing.ImportanceWeights", "importance-moments",
    group="weights", method="moments",
)  # fmt: skip


def _published(key: str, title: str, claim: str, method: str, **options: Any) -> None:
    """Register a curve of Stoddard et al. 2014, as published or with all of ε used."""
    options = {"method": method, "halves": not key.endswith("-exact"), **options}
    _add("curve", key, title, "dpml.evaluation.published_roc_curve", f"published-roc-{claim}", options=options)


_add("curve", "histogram", "16 noisy bins", "dpml.evaluation.private_roc_curve", "private-roc-curve")
_published("recursive-medians", "RecursiveMedians", "medians-published", "recursive-medians", calibration="published")
_published(
    "recursive-medians-exact", "RecursiveMedians, full ε", "medians-exact", "recursive-medians", calibration="exact"
)
# ⌊n⌋ thresholds would publish n, so the repaired one has a public number of them
_published("fixed-space", "FixedSpace", "fixed-space-alpha", "fixed-space")
_published("fixed-space-exact", "FixedSpace, full ε", "fixed-space", "fixed-space", n_thresholds=1024)
_published("laplace", "Laplace", "laplace", "laplace")
_published("laplace-exact", "Laplace, public thresholds", "laplace-fixed", "laplace-fixed")


def _noise(key: str, title: str, kind: str, claim: str, group: str = "number", **options: Any) -> None:
    _add("noise", key, title, f"dpml.mechanisms.{kind}", claim, group=group, options=options)


_noise("laplace", "Laplace", "Laplace", "laplace")
_noise("geometric", "Geometric (integers)", "Geometric", "geometric")
_noise("staircase", "Staircase", "Staircase", "staircase")
_noise("gaussian", "Gaussian (ε, δ)", "Gaussian", "gaussian")
for _key, _p in (("1", 1.0), ("2", 2.0), ("10", 10.0), ("inf", math.inf)):
    _noise(f"norm-{_key}", f"Norm {_key.replace('inf', '∞')}", "NormGamma", "norm-gamma", p=_p)
# scaled by a smooth sensitivity
_noise("cauchy", "Cauchy", "smooth.admissible.Cauchy", "cauchy-exact")
_noise("student", "Student's t, 3 degrees", "smooth.admissible.StudentT", "student-t-exact", degrees=3)
_noise("exponential", "Exponential", "ExponentialMechanism", "exponential", "choice")
_noise("flip", "Permute-and-flip", "PermuteAndFlip", "permute-and-flip", "choice")
_noise("noisy-max", "Noisy max", "ReportNoisyMax", "noisy-max-laplace", "choice", noise="laplace")
for _key, _title in (("exact", "Exact"), ("algorithm-1", "√2/ε, Algorithm 1"), ("theorem-2", "6/ε, Theorem 2")):
    _noise(_key, _title, "smooth.admissible.Cauchy", f"cauchy-{_key}", "cauchy", calibration=_key)
