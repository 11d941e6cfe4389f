"""Compute the accuracy of private classifiers: plain functions of plain values, for the server and its workers."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import param
from numpy.typing import NDArray

from dpml import registry
from dpml.classifiers.linear import default_reg_lambda, squared_norm_bound
from dpml.classifiers.naive_bayes.as_published import vaidya_cost
from dpml.registry import standing
from dpml.studies.accuracy import majority_accuracy
from dpml_app.data import default_study
from dpml_app.data.default_study import DRAWS, default_runs, non_private
from dpml_app.data.facts import DatasetFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.drawing.styles import Style, style_of
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, DatasetValues, MultiSelect, Shared, choice, declared_by

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainFacts(DatasetFacts):
    """Those of a table of numbers and categories, if the data set has one, and of its binary form."""

    table: bool
    # columns of each kind
    numeric: int
    categorical: int
    binary: int


# ---- Methods -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A classifier on this page.

    `entry` is that of the registry. `options` are the page's settings that it depends on. `most_draws`: it is trained
    anew for each draw, which is slow, so there are that many at most.
    """

    entry: registry.Method
    options: tuple[str, ...] = ()
    most_draws: int | None = None

    @property
    def title(self) -> str:
        """What it is called."""
        return self.entry.title

    @cached_property
    def look(self) -> Style:
        """How it looks; its label is short, for on a phone a legend has little room."""
        return style_of(self.entry.key)

    @cached_property
    def claim_holds(self) -> bool:
        """Whether the ε that it states is the ε that it pays, on every table."""
        return standing(self.entry.key).holds

    @cached_property
    def pure(self) -> bool:
        """Whether it needs no δ."""
        return not standing(self.entry.key).delta

    @property
    def anew(self) -> bool:
        """Whether it is trained anew for each draw."""
        return self.most_draws is not None

    def draws(self, draws: int) -> int:
        """Return how many draws it gets where so many are chosen."""
        return draws if self.most_draws is None else min(draws, self.most_draws)


# of methods with settings or limits of their own on this page
OWN: dict[str, dict[str, Any]] = {
    "auto": {"most_draws": DRAWS},
    "algorithm-1": {"options": ("threshold_percentile",)},
    "partitioned": {"options": ("threshold_percentile",)},
    "objective": {"options": ("train_lambda",), "most_draws": 20},
    "output": {"options": ("train_lambda",)},
    "smooth": {"options": ("train_trim",)},
    "published": {"options": ("train_trim",)},
}
NAIVE_BAYES = tuple(each.key for each in registry.of_family("classifier", "naive-bayes"))
# every classifier that a study measures
METHODS = {
    each.key: Method(each, **OWN.get(each.key, {} if each.key in NAIVE_BAYES else {"most_draws": 20}))
    for each in registry.of_family("classifier")
    if each.study
}


def private(method: str, facts: TrainFacts) -> bool:
    """Return whether some ε holds for a method on such a table; that of Vaidya et al. is larger than the stated one."""
    return _private(method, bool(facts.numeric))


@cache
def _private(method: str, numeric: bool) -> bool:
    return standing(method, numeric=numeric).private


def why_not(method: str, facts: TrainFacts) -> str:
    """Return why a method is not drawn on a data set, or nothing.

    >>> from types import SimpleNamespace
    >>> why_not("smooth", SimpleNamespace(table=True, numeric=0))
    'Smooth sensitivity (same as global sensitivity without numeric features)'
    """
    what = METHODS[method]
    if what.entry.table and not facts.table:
        return f"{what.title} (needs a table)"
    if what.entry.numbers and not facts.numeric:
        return f"{what.title} (same as global sensitivity without numeric features)"
    return ""


# ---- Settings ------------------------------------------------------------------------------------------------------


# λ of the library, and m of Zafarani and Clifton; 0 stands for the public rule of each
TRAIN_TRIMS = (1, 2, 3, 5, 8, 12, 20, 30, 50)
TRAIN_LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-2, 4) for step in (1, 2, 5)), 10_000.0)
RULE = 0.0


def _marked(method: Method) -> str:
    """Return the title of a method, marked where the claim is violated or needs a δ."""
    return method.title + ("" if method.claim_holds and method.pure else " ✗" if method.pure else " (ε, δ)")


@dataclass(frozen=True)
class TrainValues(DatasetValues):
    """The settings of the Classifiers page. Methods are in the order of their list."""

    threshold_percentile: int
    draws: int
    train_methods: tuple[str, ...] = choice(
        ["auto", "binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        {name: _marked(method) for name, method in METHODS.items()},
        "Methods",
        MultiSelect,
    )
    train_lambda: float = choice(RULE, (RULE, *TRAIN_LAMBDAS), "λ of linear models")
    train_trim: int = choice(0, (0, *TRAIN_TRIMS), "Values trimmed at each end (smooth sensitivity)")

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        return replace(values, train_methods=tuple(m for m in METHODS if m in values.train_methods))

    def options(self, method: str) -> tuple:
        """Return the settings of a method beside ε, relation, draws and seed, with their names."""
        return tuple((name, getattr(self, name)) for name in METHODS[method].options)


@declared_by(TrainValues)
class TrainSettings(Shared):
    """Every control of the Train page that no other page has."""


# ---- Accuracy of every method --------------------------------------------------------------------------------------


# an ε at which the noise is below what can be seen: what a method reaches without noise
EXACT = 1e9
PERCENTILES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 97, 99)
# options of the page under the library's names, where they differ
OF_LIBRARY = {"train_lambda": "reg_lambda", "train_trim": "trim"}


def train_facts(name: str) -> TrainFacts:
    """Return what the page shows of a data set at every setting."""
    data = dataset(name)
    table = data.frame_schema
    kinds = [] if table is None else [f.kind for f in table.features]
    numeric = kinds.count("numeric")
    return TrainFacts(
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        classes=data.class_names,
        majority=majority_accuracy(data),
        table=table is not None,
        numeric=numeric,
        categorical=len(kinds) - numeric,
        binary=len(data.feature_names),
    )


def true_epsilon(method: str, epsilon: float, facts: TrainFacts, relation: str) -> float | None:
    """Return the ε that a method truly costs under the relation, None if there is none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=20), "replace-one")
    6.0
    """
    if METHODS[method].claim_holds:
        return epsilon
    if method == "vaidya" and not facts.numeric:
        return vaidya_cost(epsilon, facts.categorical, relation)
    return None


def measured(method: str, values: TrainValues, epsilon: float) -> Task:
    """Return the task of a method's accuracies at ε.

    The default classifier's is the study that other pages show as well.
    """
    if method == "auto":
        return Task(default_runs, (values.dataset, values.relation, epsilon, values.seed))
    common = values.dataset, method, values.relation, epsilon, values.options(method)
    return Task(measure, (*common, METHODS[method].draws(values.draws), values.seed))


def without_privacy(method: str, values: TrainValues) -> Task:
    """Return the task of what a method reaches without noise: one draw, for all are alike."""
    if method == "auto":
        return Task(non_private, (values.dataset, values.relation))
    return measured(method, replace(values, draws=1), EXACT)


# of each method, of two data sets or relations
@kept(16)
def _study(name: str, method: str, relation: str) -> Any:
    """Return the library's study of a method, its exact statistics made once."""
    return METHODS[method].entry.study_of(dataset(name), relation=relation)


def public_lambda(name: str, method: str, epsilon: float, relation: str) -> float:
    """Return the λ of the library's public rule for a method; it does not look at the records."""
    schema = dataset(name).schema
    facts: dict[str, Any] = {"n_classes": schema.n_classes, "n_nonzero": squared_norm_bound(schema) + 1}
    return default_reg_lambda(epsilon, schema.n_features + 1, method=method, relation=relation, **facts)


def measure(
    name: str, method: str, relation: str, epsilon: float, options: tuple, draws: int, seed: int
) -> dict[str, FloatArray]:
    """Return test accuracies of shape (draws,); `options` are pairs of a setting's name and its value."""
    # 0 stands for the library's public rule
    settings: dict[str, Any] = {OF_LIBRARY.get(option, option): value for option, value in options if value}
    if "train_lambda" in METHODS[method].options:
        settings.setdefault("reg_lambda", public_lambda(name, method, epsilon, relation))
    accuracies: dict[str, FloatArray] = _study(name, method, relation)(
        epsilon, draws=draws, rng=np.random.default_rng(seed), **settings
    )
    return accuracies


# ---- Methods that are shown -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A method at the ε that is chosen; `true_epsilon` is said of one that costs more than it claims."""

    style: Style
    mean: float
    low: float
    high: float
    without: float | None = None
    true_epsilon: str = ""


def chosen(values: TrainValues, facts: TrainFacts) -> tuple[str, ...]:
    """Return the chosen methods that the data set allows."""
    return tuple(m for m in values.train_methods if not why_not(m, facts))


def nearest(steps: Sequence[float], epsilon: float) -> float:
    """Return the step that is nearest to an ε on the log scale.

    >>> nearest((0.1, 1.0), 0.25), nearest((0.1, 1.0), 50)
    (0.1, 1.0)
    """
    return min(steps, key=lambda step: abs(math.log(step / epsilon)))


def nothing_to_compare(values: TrainValues, facts: TrainFacts) -> str:
    """Return why none of the chosen methods is drawn, empty if one is or none is chosen."""
    if chosen(values, facts):
        return ""
    return " ".join(f"{why_not(m, facts)}." for m in values.train_methods)


# ---- Shipped results -----------------------------------------------------------------------------------------------


SHIPPED = Path(__file__).parent / "shipped"
read_own = partial(read_shipped, SHIPPED)


def shipped_tasks(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, list[Task]]:
    """Return what ships: of each naive Bayes that the page opens with, the task without noise and those at each ε."""
    values = TrainValues.of(TrainSettings(dataset=name))
    return {
        m: [without_privacy(m, values), *(measured(m, values, epsilon) for epsilon in epsilons)]
        for m in values.train_methods
        if m in NAIVE_BAYES
    }


def shipped_facts(name: str) -> TrainFacts | None:
    """Return what is known of a data set; None if nothing ships."""
    kept = read_own(name)
    return TrainFacts(**{**kept["facts"], "classes": tuple(kept["facts"]["classes"])}) if kept else None


def known_facts(name: str) -> TrainFacts:
    """Return the facts of a data set: those that ship, or else those of the loaded data set."""
    return shipped_facts(name) or train_facts(name)


@cache
def shipped_results(name: str) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept, results = read_own(name), dict(default_study.shipped_results(name))
    for method, tasks in shipped_tasks(name).items() if kept else ():
        for task, hits in zip(tasks, kept["hits"][method], strict=True):
            results[task] = {"accuracy": np.array(hits) / kept["facts"]["n_test"]}
    return results


def make_shipped(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    facts = train_facts(name)

    def hits(task: Task) -> list[int]:
        shares = task.function(*task.arguments)["accuracy"]
        counts: list[int] = np.rint(shares * facts.n_test).astype(int).tolist()
        return counts

    return {
        "made with": made_with(*VERSIONS),
        "facts": asdict(facts),
        "hits": {method: [hits(task) for task in asked] for method, asked in shipped_tasks(name, epsilons).items()},
    }
