"""The private classifiers of the Train page: what they are called, how they look, and what they can be trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpml_app.drawing.looks import LOOKS, Style

__all__ = [
    "BEGIN",
    "DELTA",
    "EVERY",
    "FAMILIES",
    "LINEAR",
    "METHODS",
    "SAID",
    "Method",
    "families",
    "feature_names",
    "options_of",
    "private",
    "styles",
    "why_not",
]


@dataclass(frozen=True)
class Method:
    """A classifier. `table`: trained on the raw table, else on binary columns; `numbers`: about numbers only.

    `look` has a short label for the legend, where a phone has little room. `most_draws`: it is trained anew for
    each draw, which is slow, so there are that many at most. `pure`: without a δ. `most_columns`: with more it is not
    trained here. `recorded`: its results ship, and it is not trained here at all.
    """

    title: str
    look: Style
    table: bool
    options: tuple[str, ...] = ()
    numbers: bool = False
    claim_holds: bool = True
    family: str = "naive-bayes"
    most_draws: int | None = None
    pure: bool = True
    most_columns: int | None = None
    recorded: bool = False

    @property
    def anew(self) -> bool:
        """Whether it is trained anew for each draw."""
        return self.most_draws is not None

    def draws(self, draws: int) -> int:
        """Return how many draws it gets where so many are chosen."""
        return draws if self.most_draws is None else min(draws, self.most_draws)


MOMENTS = ("train_weight", "train_likelihood")
SMOOTH = ("train_noise", "train_trim", *MOMENTS)
METHODS = {
    "binned": Method("Binned counts", LOOKS["binned"], True, ("train_bins",)),
    "row-bounded": Method("Row-bounded counts", LOOKS["row-bounded"], False),
    "global": Method("Global sensitivity", LOOKS["global"], True, MOMENTS),
    "smooth": Method("Smooth sensitivity", LOOKS["smooth"], True, SMOOTH, numbers=True),
    "bun-steinke": Method("Bun and Steinke", LOOKS["bun-steinke"], True, SMOOTH, numbers=True),
    "algorithm-1": Method("Algorithm 1 of the thesis", LOOKS["algorithm-1"], False, ("threshold_percentile",)),
    "partitioned": Method("Partitioned, thesis", LOOKS["partitioned"], False, ("threshold_percentile",)),
    "vaidya": Method("Vaidya et al.", LOOKS["vaidya"], True, ("train_likelihood",), claim_holds=False),
    "published": Method(
        "Algorithm 1 of Zafarani and Clifton",
        LOOKS["zafarani-clifton"],
        True,
        ("train_trim", "train_likelihood"),
        claim_holds=False,
    ),
}

# Linear models on the binary columns. The (ε, δ) one is a reference: a δ is a promise that may fail.
DELTA, SAID = 1e-5, "1e-5"
LAMBDA = ("train_lambda",)
_linear: Any = partial(Method, table=False, family="linear")
ANEW: dict[str, Any] = {"options": LAMBDA, "most_draws": 20}
LINEAR = {
    "rule": _linear("Public rule: naive Bayes or SVM", LOOKS["rule"], most_draws=20),
    "l1": _linear("Objective perturbation, L1", LOOKS["l1"], **ANEW),
    "objective": _linear("Objective perturbation, L2", LOOKS["objective"], **ANEW),
    "output": _linear("Output perturbation", LOOKS["output"], options=LAMBDA),
    "functional": _linear(
        "Functional mechanism", LOOKS["functional"], options=(*LAMBDA, "train_functional"), most_columns=400
    ),
    "svm": _linear("Linear SVM", LOOKS["svm"], **ANEW),
    "local": _linear("PrivLocal of Su et al.", LOOKS["local"], most_draws=20),
    # measured: a second for each draw on 20,000 records
    "genetic": _linear("PrivGene", LOOKS["genetic"], most_draws=5, most_columns=400),
    "descent": _linear("Noisy gradient descent", LOOKS["descent"], pure=False, options=LAMBDA, most_draws=10),
}
# shown whatever the family: the classifier to begin with, and peers, whose results are recorded and not made here
_peer: Any = partial(Method, table=False, family="begin", recorded=True)
BEGIN = {
    "auto": Method("AutoClassifier", LOOKS["auto"], False, family="begin", most_draws=20),
    "peer-descent": _peer("DP-SGD, logistic regression", LOOKS["peer-descent"], pure=False),
    "peer-boosting": _peer("Private EBM of interpret", LOOKS["peer-boosting"], pure=False),
    "peer-logistic": _peer("Logistic regression of diffprivlib", LOOKS["peer-logistic"]),
}
EVERY = {**METHODS, **LINEAR, **BEGIN}
FAMILIES = {"naive-bayes": "Naive Bayes", "linear": "Linear models", "both": "Both"}


def families(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the families of methods that are shown.

    Examples
    --------
    >>> families({"train_family": "both"})
    ('naive-bayes', 'linear')
    """
    return ("naive-bayes", "linear") if values["train_family"] == "both" else (values["train_family"],)


def options_of(method: str, values: Mapping[str, Any]) -> tuple:
    """Return the settings that a method depends on besides data, relation, ε, draws and seed, by name."""
    return tuple((name, values[name]) for name in EVERY[method].options)


def private(method: str, facts: Mapping[str, Any]) -> bool:
    """Return whether some ε holds for a method on such a table; that of Vaidya et al. is larger than the stated one."""
    return EVERY[method].claim_holds or (method == "vaidya" and not facts["numeric"])


def styles(names: tuple[str, ...], facts: Mapping[str, Any]) -> dict[str, Style]:
    """Return how methods look on such a table; the label says so if their claim does not hold."""
    found = {}
    for name in names:
        method, note = EVERY[name], ""
        if not private(name, facts):
            note = ", not private"
        elif name == "vaidya":
            note = ", stated ε"
        elif not method.pure:
            note = f", needs δ = {SAID}"
        found[name] = replace(method.look, label=method.look.label + note)
    return found


def why_not(method: str, facts: Mapping[str, Any]) -> str:
    """Return why a method is not drawn on a data set, or nothing.

    Examples
    --------
    >>> why_not("smooth", {"table": True, "numeric": 0, "binary_columns": ["a"]})
    'Smooth sensitivity: without numbers it is the same as global sensitivity'
    """
    what, columns = EVERY[method], len(facts["binary_columns"])
    if what.table and not facts["table"]:
        return f"{what.title}: needs a table, and this is text"
    if what.numbers and not facts["numeric"]:
        return f"{what.title}: without numbers it is the same as global sensitivity"
    if what.most_columns is not None and columns > what.most_columns:
        return f"{what.title}: too many columns, {columns:,}; here it is for {what.most_columns:,} at most"
    return ""


def feature_names(method: str, facts: Mapping[str, Any]) -> list[str]:
    """Return the features that a method is trained on: those of the table, or its binary columns."""
    return list(facts["columns"] if EVERY[method].table else facts["binary_columns"])
