"""The private classifiers of the Train page: those of `dpml.registry`, and what the page adds to each."""

import json
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dpml import registry
from dpml.registry import standing
from dpml_app.drawing.styles import Style, style_of
from dpml_app.pages.train.facts import TrainFacts

FILE = Path(__file__).parent / "shipped" / "peers.json"


@cache
def shipped() -> dict[str, dict[str, Any]]:
    """Return what ships of each peer."""
    peers: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["peers"]
    return peers


@dataclass(frozen=True)
class Method:
    """A classifier on this page.

    `entry` is that of the registry. `options` are the page's settings that it depends on. `most_draws`: it is trained
    anew for each draw, which is slow, so there are that many at most. `most_columns`: with more it is not trained here.
    """

    entry: registry.Method
    options: tuple[str, ...] = ()
    most_draws: int | None = None
    most_columns: int | None = None

    @property
    def title(self) -> str:
        """What it is called."""
        return self.entry.title

    @cached_property
    def look(self) -> Style:
        """How it looks; its label is short, for on a phone a legend has little room."""
        return style_of(self.entry.key)

    @cached_property
    def family(self) -> str:
        """The family under which it is chosen; "begin" is shown with each of them."""
        return self.entry.group if self.entry.key in CHOSEN else "begin"

    @cached_property
    def recorded(self) -> bool:
        """Whether its results ship, and it is not trained here at all."""
        return not self.entry.target

    @cached_property
    def claim_holds(self) -> bool:
        """Whether the ε that it states is the ε that it pays, on every table."""
        return self.recorded or standing(self.entry.key).holds

    @cached_property
    def pure(self) -> bool:
        """Whether it needs no δ."""
        return not (shipped()[self.entry.key]["delta"] if self.recorded else standing(self.entry.key).delta)

    @property
    def anew(self) -> bool:
        """Whether it is trained anew for each draw."""
        return self.most_draws is not None

    def draws(self, draws: int) -> int:
        """Return how many draws it gets where so many are chosen."""
        return draws if self.most_draws is None else min(draws, self.most_draws)


MOMENTS = ("train_weight", "train_likelihood")
SMOOTH = ("train_noise", "train_trim", *MOMENTS)
LAMBDA = ("train_lambda",)
ANEW: dict[str, Any] = {"options": LAMBDA, "most_draws": 20}
# of methods with settings or limits of their own on this page, by family
CHOSEN: dict[str, dict[str, Any]] = {
    "binned": {"options": ("train_bins",)},
    "row-bounded": {},
    "global": {"options": MOMENTS},
    "smooth": {"options": SMOOTH},
    "bun-steinke": {"options": SMOOTH},
    "algorithm-1": {"options": ("threshold_percentile",)},
    "partitioned": {"options": ("threshold_percentile",)},
    "vaidya": {"options": ("train_likelihood",)},
    "published": {"options": ("train_trim", "train_likelihood")},
    # linear models on the binary columns
    "rule": {"most_draws": 20},
    "l1": ANEW,
    "objective": ANEW,
    "output": {"options": LAMBDA},
    "functional": {"options": (*LAMBDA, "train_functional"), "most_columns": 400},
    "svm": ANEW,
    "local": {"most_draws": 20},
    # measured: a second for each draw on 20,000 records
    "genetic": {"most_draws": 5, "most_columns": 400},
    "descent": {"options": LAMBDA, "most_draws": 10},
}
# a (ε, δ) method is a reference: a δ is a promise that may fail
DELTA = standing("descent").delta
SAID = f"{DELTA:.0e}".replace("e-0", "e-")


# normal noise of smooth sensitivity, (ε, δ)-private: Zafarani and Clifton 2021, section 7.2; n is the public bound
SMOOTH_DELTAS = {"gaussian-1": "δ = 1/n", "gaussian-2": "δ = 1/n²"}


def _of_group(group: str) -> dict[str, Method]:
    entries = registry.of_family("classifier", group)
    return {each.key: Method(each, **CHOSEN[each.key]) for each in entries if each.key in CHOSEN}


METHODS, LINEAR = _of_group("naive-bayes"), _of_group("linear")
# shown whatever the family: the default classifier, peers, whose results are recorded and not made here, and
# methods that were registered by others, which their study measures
DEFAULTS = {
    each.key: Method(each, most_draws=20 if each.target else None)
    for each in registry.of_family("classifier")
    if each.key not in CHOSEN and (each.study or not each.target)
}
EVERY = {**METHODS, **LINEAR, **DEFAULTS}
FAMILIES = {"naive-bayes": "Naive Bayes", "linear": "Linear models", "both": "Both"}


def private(method: str, facts: TrainFacts) -> bool:
    """Return whether some ε holds for a method on such a table; that of Vaidya et al. is larger than the stated one."""
    return EVERY[method].recorded or _private(method, bool(facts.numeric))


@cache
def _private(method: str, numeric: bool) -> bool:
    return standing(method, numeric=numeric).private


def styles(names: tuple[str, ...], facts: TrainFacts, noise: str = "") -> dict[str, Style]:
    """Return how methods look on such a table; the label says so if their claim does not hold, or needs a δ."""
    by_name = {}
    for name in names:
        style, note = style_with_delta(name, noise), ""
        if not private(name, facts):
            note = ", not private"
        elif not EVERY[name].claim_holds:
            note = ", stated ε"
        by_name[name] = replace(style, label=style.label + note)
    return by_name


def style_with_delta(name: str, noise: str = "") -> Style:
    """Return how a method looks; the label says so if it needs a δ, with this noise of smooth sensitivity."""
    style, delta = EVERY[name].look, "" if EVERY[name].pure else f"δ = {SAID}"
    if "train_noise" in EVERY[name].options:
        delta = SMOOTH_DELTAS.get(noise, "")
    return replace(style, label=f"{style.label}, needs {delta}") if delta else style


def why_not(method: str, facts: TrainFacts) -> str:
    """Return why a method is not drawn on a data set, or nothing.

    >>> from types import SimpleNamespace
    >>> why_not("smooth", SimpleNamespace(table=True, numeric=0, binary_columns=["a"]))
    'Smooth sensitivity (same as global sensitivity without numeric features)'
    """
    what, columns = EVERY[method], len(facts.binary_columns)
    if what.entry.table and not facts.table:
        return f"{what.title} (needs a table)"
    if what.entry.numbers and not facts.numeric:
        return f"{what.title} (same as global sensitivity without numeric features)"
    if what.most_columns is not None and columns > what.most_columns:
        return f"{what.title} (at most {what.most_columns:,} columns, not {columns:,})"
    return ""


def feature_names(method: str, facts: TrainFacts) -> list[str]:
    """Return the features that a method is trained on: those of the table, or its binary columns."""
    return list(facts.columns if EVERY[method].entry.table else facts.binary_columns)
