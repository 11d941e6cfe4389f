"""Compute the accuracy of private classifiers: plain functions of plain values, for the server and its workers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import param
from numpy.typing import NDArray
from scipy import sparse

from dpml import registry
from dpml.classifiers.linear import (
    LOGISTIC,
    HuberHinge,
    default_reg_lambda,
    linear_models,
    minimiser,
    release_output,
    release_weights,
    squared_norm_bound,
)
from dpml.classifiers.linear_classifier import HUBER, LinearClassifier, default_linear_method, default_norm
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes.as_published import vaidya_cost
from dpml.classifiers.naive_bayes.bernoulli import models_from_published, published_threshold
from dpml.counts import release_published
from dpml.encoding import cut_rows, unit_scale
from dpml.registry import method as registered
from dpml.registry import of_family, standing
from dpml.schema import Schema
from dpml.studies import standings
from dpml.studies.accuracy import PublishedNBStudy, majority_accuracy, non_private_nb
from dpml.studies.mixed import MomentsNBStudy, non_private_mixed_nb
from dpml.sweep import standard_study
from dpml_app.data import default_study
from dpml_app.data.default_study import DRAWS, default_runs, non_private
from dpml_app.data.facts import DatasetFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.drawing.styles import Style, label_of, style_of
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, DatasetValues, MultiSelect, Shared, choice, declared_by, number

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainFacts(DatasetFacts):
    """Those of a table of numbers and categories, if the data set has one, and of its binary form."""

    name: str
    table: bool
    # columns of the table of each kind
    numeric: int
    categorical: int
    columns: list[str]
    binary_columns: list[str]
    # levels without privacy, by what is measured; no area with more than two classes
    accuracy: Mapping[str, float]
    auc: Mapping[str, float]


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
    def family(self) -> str:
        """The family under which it is chosen; "begin" is shown with each of them."""
        return self.entry.group if self.entry.key in CHOSEN else "begin"

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


SMOOTH = ("train_noise", "train_trim")
LAMBDA = ("train_lambda",)
ANEW: dict[str, Any] = {"options": LAMBDA, "most_draws": 20}
# of methods with settings or limits of their own on this page, by family
CHOSEN: dict[str, dict[str, Any]] = {
    "binned": {},
    "row-bounded": {},
    "global": {},
    "smooth": {"options": SMOOTH},
    "bun-steinke": {"options": SMOOTH},
    "algorithm-1": {"options": ("threshold_percentile",)},
    "partitioned": {"options": ("threshold_percentile",)},
    "vaidya": {},
    "published": {"options": ("train_trim",)},
    # linear models on the binary columns
    "rule": {"most_draws": 20},
    "l1": ANEW,
    "objective": ANEW,
    "output": {"options": LAMBDA},
    "svm": ANEW,
    "descent": {"options": LAMBDA, "most_draws": 10},
}
# a (ε, δ) method is a reference: a δ is a promise that may fail
DELTA = standing("descent").delta
SAID = f"{DELTA:.0e}".replace("e-0", "e-")


def _of_group(group: str) -> dict[str, Method]:
    entries = registry.of_family("classifier", group)
    return {each.key: Method(each, **CHOSEN[each.key]) for each in entries if each.key in CHOSEN}


METHODS, LINEAR = _of_group("naive-bayes"), _of_group("linear")
# shown whatever the family: the default classifier, and others that their study measures
DEFAULTS = {
    each.key: Method(each, most_draws=DRAWS if each.key == "auto" else 20)
    for each in registry.of_family("classifier")
    if each.key not in CHOSEN and each.study
}
EVERY = {**METHODS, **LINEAR, **DEFAULTS}
FAMILIES = {"naive-bayes": "Naive Bayes", "linear": "Linear models", "both": "Both"}


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
    what = EVERY[method]
    if what.entry.table and not facts.table:
        return f"{what.title} (needs a table)"
    if what.entry.numbers and not facts.numeric:
        return f"{what.title} (same as global sensitivity without numeric features)"
    return ""


# ---- Settings ------------------------------------------------------------------------------------------------------


NOISES = {name: registered(key, "noise").title for name, key in (("cauchy", "cauchy"), ("student-t", "student"))}
MEASURES = {"accuracy": "Accuracy", "auc": "AUC"}
# λ of the sum of the losses; 0 stands for the library's public rule
TRAIN_LAMBDAS = (*(float(f"{step * 10**decade:.3g}") for decade in range(-2, 4) for step in (1, 2, 5)), 10_000.0)
RULE = 0.0
GROUPS = {"train_begin": DEFAULTS, "train_methods": METHODS, "train_linear": LINEAR}


def _marked(methods: Mapping[str, Method]) -> dict[str, str]:
    """Return the titles of methods, marked where the claim is violated or needs a δ."""
    marks = {name: "" if m.claim_holds and m.pure else " ✗" if m.pure else " (ε, δ)" for name, m in methods.items()}
    return {name: m.title + marks[name] for name, m in methods.items()}


@dataclass(frozen=True)
class TrainValues(DatasetValues):
    """The settings of the Classifiers page. Methods are in the order of their lists."""

    threshold_percentile: int
    draws: int
    train_begin: tuple[str, ...] = choice(["auto"], _marked(DEFAULTS), "Default and other methods", MultiSelect)
    train_methods: tuple[str, ...] = choice(
        ["binned", "row-bounded", "global", "smooth", "algorithm-1", "published"],
        _marked(METHODS),
        "Naive Bayes",
        MultiSelect,
    )
    train_family: str = choice("naive-bayes", FAMILIES, "Classifier family")
    train_linear: tuple[str, ...] = choice(
        ["rule", "l1", "objective", "output"], _marked(LINEAR), "Linear models", MultiSelect
    )
    train_lambda: float = choice(RULE, (RULE, *TRAIN_LAMBDAS), "λ of linear models")
    train_measure: str = choice("accuracy", MEASURES, "Metric")
    train_noise: str = choice("cauchy", NOISES, "Noise for smooth sensitivity")
    train_trim: int = number(0, (0, 50), "Values trimmed at each end")

    @classmethod
    def of(cls, settings: param.Parameterized) -> Self:
        values = super().of(settings)
        chosen: dict[str, Any] = {
            name: tuple(m for m in of if m in getattr(values, name)) for name, of in GROUPS.items()
        }
        return replace(values, **chosen)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families of classifiers that are shown."""
        return ("naive-bayes", "linear") if self.train_family == "both" else (self.train_family,)

    def options(self, method: str) -> tuple:
        """Return the settings of a method beside ε, relation, draws and seed, with their names."""
        return tuple((name, getattr(self, name)) for name in EVERY[method].options)


@declared_by(TrainValues)
class TrainSettings(Shared):
    """Every control of the Train page that no other page has."""


# ---- Naive Bayes ---------------------------------------------------------------------------------------------------


# an ε at which the noise is below what can be seen: what a method reaches without noise
EXACT = 1e9
PERCENTILES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 97, 99)


def nb_facts(name: str) -> TrainFacts:
    """Return what the page shows of a data set at every setting."""
    data = dataset(name)
    C, table = data.schema.n_classes, data.frame_schema
    kinds = [] if table is None else [f.kind for f in table.features]
    binary = non_private_nb(data)
    two = C == 2
    accuracy = {
        "majority": majority_accuracy(data),
        "binary": float(binary.accuracy(data.X_test, data.y_test)[0]),
    }
    auc = {"majority": 0.5, "binary": float(binary.auc(data.X_test, data.y_test)[0])} if two else {}
    numeric = kinds.count("numeric")
    if table is not None and numeric:
        accuracy["table"] = float(non_private_mixed_nb(data)["accuracy"])
        if two:
            exact: Any = {"draws": 1, "rng": np.random.default_rng(0), "auc": True, "likelihood": "gaussian"}
            auc["table"] = float(MomentsNBStudy(data, "global")(EXACT, **exact)["auc"][0])
    return TrainFacts(
        title=data.card.get("title", name),
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        classes=data.class_names,
        name=name,
        table=table is not None,
        numeric=numeric,
        categorical=len(kinds) - numeric,
        columns=[] if table is None else table.feature_names,
        binary_columns=data.feature_names,
        majority=accuracy["majority"],
        accuracy=accuracy,
        auc=auc,
    )


# of each method, of two data sets or relations
@kept(16)
def nb_study(name: str, method: str, relation: str) -> Any:
    """Return the library's study of a method, its exact statistics made once."""
    return EVERY[method].entry.study_of(dataset(name), relation=relation)


# options of the page under the library's names, where they differ
OF_LIBRARY = {"train_noise": "noise", "train_trim": "trim"}


def nb_silenced(
    name: str, relation: str, epsilon: float, percentile: float, draws: int, seed: int
) -> dict[str, FloatArray]:
    """Return the accuracies of Antonova's Algorithm 1 and the share of features that the threshold raises: (draws,).

    ``some``: the on-count of some class is raised. ``on``: those of all classes, so that they are equal. ``all``: the
    off-counts, too; such a feature says nothing.
    """
    study: PublishedNBStudy = nb_study(name, "algorithm-1", relation)
    rng = np.random.default_rng(seed)
    noisy = release_published(study.counts, epsilon, relation=relation, draws=draws, rng=rng)
    threshold = published_threshold(epsilon, study.schema.n_features, percentile, relation)
    assert noisy.off is not None
    on, off = (counts <= threshold for counts in (noisy.on, noisy.off))
    return {
        "accuracy": models_from_published(noisy, threshold).accuracy(study.X_test, study.y_test),
        "some": on.any(axis=1).mean(axis=1),
        "on": on.all(axis=1).mean(axis=1),
        "all": (on & off).all(axis=1).mean(axis=1),
    }


def true_epsilon(method: str, epsilon: float, facts: TrainFacts, relation: str) -> float | None:
    """Return the ε that a method truly costs under the relation, None if there is none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=20), "replace-one")
    6.0
    """
    if EVERY[method].claim_holds:
        return epsilon
    if method == "vaidya" and not facts.numeric:
        return vaidya_cost(epsilon, facts.categorical, relation)
    return None


# ---- Linear models -------------------------------------------------------------------------------------------------


# of the level line: little regularised, and still the same on every computer
PLAIN_LAMBDA = 1.0
# the library's method, its norm and the loss
FORMS: dict[str, tuple[str, str, Any]] = {
    each.key: (each.options["method"], each.options.get("norm", "l2"), HuberHinge() if each.key == "svm" else LOGISTIC)
    for each in of_family("classifier", "linear")
    if "method" in each.options
}


@dataclass(frozen=True)
class Scaled:
    """Training records in the unit ball, and what is known of them publicly."""

    X: Any
    codes: NDArray[np.intp]
    schema: Schema
    bound: int

    @property
    def signs(self) -> list[FloatArray]:
        """The labels of each classifier."""
        C = self.schema.n_classes
        return [np.where(self.codes == c, 1.0, -1.0) for c in ([1] if C == 2 else range(C))]

    @property
    def nonzero(self) -> int:
        """The most coordinates of a record that are not 0."""
        return self.bound + 1


@kept(2)
def scaled(name: str) -> Scaled:
    """Return a data set's training records in the unit ball."""
    data = dataset(name)
    bound = squared_norm_bound(data.schema)
    cut = cut_rows(data.X_train, bound, rng=np.random.default_rng([0, bound]))
    return Scaled(unit_scale(cut, bound), data.y_train, data.schema, bound)


@kept(256)
def exact_weights(name: str, reg_lambda: float) -> FloatArray:
    """Return the weights without noise, shape (K, D')."""
    table = scaled(name)
    return np.array([minimiser(table.X, signs, reg_lambda) for signs in table.signs])


def linear_facts(name: str) -> dict[str, dict[str, float]]:
    """Return the levels of logistic regression without privacy, to be added to those of `nb_facts`."""
    data, table = dataset(name), scaled(name)
    whole = data.schema.row_bound  # nobody's record need be cut without privacy; λ is of the same records
    X, reg_lambda = unit_scale(data.X_train, whole), PLAIN_LAMBDA * table.nonzero / (whole + 1)
    models = linear_models(np.array([minimiser(X, signs, reg_lambda) for signs in table.signs])[None], whole)
    levels = {"accuracy": {"logistic": float(models.accuracy(data.X_test, data.y_test)[0])}, "auc": {}}
    if data.schema.n_classes == 2:
        levels["auc"]["logistic"] = float(models.auc(data.X_test, data.y_test)[0])
    return levels


def with_levels(facts: TrainFacts, more: Mapping[str, Mapping[str, float]]) -> TrainFacts:
    """Return facts with more levels in them."""
    accuracy, auc = ({**getattr(facts, of), **more[of]} for of in ("accuracy", "auc"))
    return replace(facts, accuracy=accuracy, auc=auc)


def all_facts(name: str, linear: bool) -> TrainFacts:
    """Return what is known of a data set, with the levels of linear models where they are shown."""
    facts = nb_facts(name)
    return with_levels(facts, linear_facts(name)) if linear else facts


def form_of(name: str, method: str) -> tuple[str, str, Any]:
    """Return the library's method, its norm and the loss; the public rule's norm depends on the schema."""
    if method == "rule":
        return "objective", default_norm(scaled(name).schema), HuberHinge(HUBER)
    return FORMS[method]


def public_lambda(name: str, method: str, epsilon: float, relation: str) -> float:
    """Return the λ that the library's public rule takes for a method; it does not look at the records.

    All λ here are of the sum of the losses over records in the L2 unit ball. For noise in L1 the library scales records
    by 1/√S once more, S the most coordinates that are not 0; there the same λ is S times smaller.
    """
    table, (of_library, norm, _loss) = scaled(name), form_of(name, method)
    value = default_reg_lambda(
        epsilon,
        table.X.shape[1],
        method=of_library,
        delta=DELTA,
        relation=relation,
        norm=norm,
        n_classes=table.schema.n_classes,
        n_nonzero=table.nonzero,
    )
    return value * table.nonzero if norm == "l1" else value


def rule_takes(name: str, epsilon: float) -> str:
    """Return what the public rule of `LinearClassifier` takes: "naive-bayes" or "objective"."""
    return default_linear_method(scaled(name).schema, epsilon)


def released(
    name: str, method: str, relation: str, epsilon: float, options: dict, draws: int, seed: int
) -> LinearModels:
    """Return private models of one method; λ = 0 stands for the public rule."""
    if method == "rule":
        if rule_takes(name, epsilon) == "naive-bayes":
            return _naive_bayes(name, epsilon, relation, draws, np.random.default_rng(seed))
        options = {"train_lambda": RULE}
    table, rng = scaled(name), np.random.default_rng(seed)
    shared: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng}
    reg_lambda = options["train_lambda"]
    if reg_lambda == RULE:
        reg_lambda = public_lambda(name, method, epsilon, relation)
    if method == "output":
        exact = exact_weights(name, reg_lambda)
        each = epsilon / len(exact)  # one record is in the training of all of them
        theta = np.stack([release_output(w, each, reg_lambda, **shared) for w in exact], axis=1)
        return linear_models(theta, table.bound)
    of_library, norm, loss = form_of(name, method)
    X = table.X
    if norm == "l1":
        X, reg_lambda = X / np.sqrt(table.nonzero), reg_lambda / table.nonzero
    theta = release_weights(
        X,
        table.codes,
        table.schema.n_classes,
        epsilon,
        reg_lambda,
        method=of_library,
        norm=norm,
        n_nonzero=table.nonzero,
        n_records=table.schema.n_rows,
        delta=DELTA,
        loss=loss,
        **shared,
    )
    return linear_models(theta, table.bound, True, norm)


def _naive_bayes(name: str, epsilon: float, relation: str, draws: int, rng: np.random.Generator) -> LinearModels:
    """Return naive Bayes as the public rule's estimator fits it: it may choose features first."""
    data, D = dataset(name), scaled(name).schema.n_features
    model = LinearClassifier(epsilon, method="naive-bayes", relation=relation, schema=data.schema, random_state=rng)
    # it is linear, so its weights are what a single one adds to the score of a record of zeros
    units = sparse.vstack([sparse.csr_array((1, D), dtype=int), sparse.eye_array(D, dtype=int, format="csr")])
    units = units if sparse.issparse(data.X_train) else units.toarray()
    scores = []
    for _ in range(draws):
        score = model.fit(data.X_train, np.asarray(data.schema.classes)[data.y_train]).decision_function(units)
        scores.append(score[:, None] if score.ndim == 1 else score)
    of_zeros, of_units = np.array(scores)[:, :1], np.array(scores)[:, 1:]
    return LinearModels((of_units - of_zeros).transpose(0, 2, 1), of_zeros[:, 0])


def lambda_without_noise(name: str, reg_lambda: float) -> dict[str, FloatArray]:
    """Return the test accuracy of logistic regression without noise at λ, shape (1,)."""
    data, models = dataset(name), linear_models(exact_weights(name, reg_lambda)[None], scaled(name).bound)
    return {"accuracy": models.accuracy(data.X_test, data.y_test)}


# ---- Accuracy of every method --------------------------------------------------------------------------------------


def measured(method: str, values: TrainValues, epsilon: float) -> Task:
    """Return the task of a method's accuracies at ε, and of its AUCs where they are the metric.

    The default classifier's is the study that other pages show as well.
    """
    auc = values.train_measure == "auc"
    if method == "auto" and not auc:
        return Task(default_runs, (values.dataset, values.relation, epsilon, values.seed))
    common = values.dataset, method, values.relation, epsilon, values.options(method)
    return Task(measure, (*common, EVERY[method].draws(values.draws), values.seed, auc))


def without_privacy(method: str, values: TrainValues) -> Task:
    """Return the task of what a method reaches without noise: one draw, for all are alike."""
    if method == "auto" and values.train_measure == "accuracy":
        return Task(non_private, (values.dataset, values.relation))
    return measured(method, replace(values, draws=1), EXACT)


# the draws of the default classifier are divided among so many draws of bins and grid, which take longest
GRIDS = 5


def measure(
    name: str, method: str, relation: str, epsilon: float, options: tuple, draws: int, seed: int, auc: bool = False
) -> dict[str, NDArray[np.float64]]:
    """Return test accuracies of shape (draws,), with `auc` the areas under the ROC curve as well.

    `options` are pairs of a setting's name and its value, from `TrainValues.options`.
    """
    if method in LINEAR:
        data = dataset(name)
        models = released(name, method, relation, epsilon, dict(options), LINEAR[method].draws(draws), seed)
        areas = {"auc": models.auc(data.X_test, data.y_test)} if auc else {}
        return {"accuracy": models.accuracy(data.X_test, data.y_test), **areas}
    # 0 stands for the library's public rule
    settings: dict[str, Any] = {OF_LIBRARY.get(option, option): value for option, value in options if value}
    if method == "auto":
        settings["grids"] = min(GRIDS, draws)
    if auc:
        # a study that others registered need not know it
        settings["auc"] = True
    study = nb_study(name, method, relation)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), **settings)


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
    stale: bool = False


def chosen(values: TrainValues, facts: TrainFacts) -> tuple[str, ...]:
    """Return the chosen methods, of the families that are shown, that the data set allows."""
    return tuple(m for m in asked(values) if not why_not(m, facts))


def asked(values: TrainValues) -> tuple[str, ...]:
    """Return the chosen methods of the families that are shown, and those that belong to none."""
    shown = values.families
    both = (m for m in (*values.train_methods, *values.train_linear) if EVERY[m].family in shown)
    return (*values.train_begin, *both)


def nearest(steps: Sequence[float], epsilon: float) -> float:
    """Return the step that is nearest to an ε on the log scale.

    >>> nearest((0.1, 1.0), 0.25), nearest((0.1, 1.0), 50)
    (0.1, 1.0)
    """
    return min(steps, key=lambda step: abs(math.log(step / epsilon)))


def levels(values: TrainValues, facts: TrainFacts) -> Mapping[str, float]:
    """Return what is known of the data set without privacy, by what the methods are measured by."""
    return facts.accuracy if values.train_measure == "accuracy" else facts.auc


def nothing_to_compare(values: TrainValues, facts: TrainFacts) -> str:
    """Return why no method is drawn by what they are measured by, empty if one is or none is chosen."""
    if values.train_measure == "auc" and len(facts.classes) > 2:
        return f"AUC needs two classes, and this data set has {len(facts.classes)}. Choose accuracy."
    none_left = not chosen(values, facts)
    return " ".join(f"{why_not(m, facts)}." for m in asked(values)) if none_left else ""


# ---- Shipped results -----------------------------------------------------------------------------------------------


SHIPPED = Path(__file__).parent / "shipped"
read_own = partial(read_shipped, SHIPPED)


def shipped_tasks(name: str, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, list[Task]]:
    """Return what ships: of each naive Bayes that the page opens with, the task without noise and those at each ε."""
    values = TrainValues.of(TrainSettings(dataset=name))
    return {
        m: [without_privacy(m, values), *(measured(m, values, epsilon) for epsilon in epsilons)]
        for m in values.train_methods
    }


def shipped_facts(name: str) -> TrainFacts | None:
    """Return what is known of a data set; None if nothing ships."""
    kept = read_own(name)
    return TrainFacts(**{**kept["facts"], "classes": tuple(kept["facts"]["classes"])}) if kept else None


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
    facts = nb_facts(name)

    def hits(task: Task) -> list[int]:
        shares = task.function(*task.arguments)["accuracy"]
        counts: list[int] = np.rint(shares * facts.n_test).astype(int).tolist()
        return counts

    return {
        "made with": made_with(*VERSIONS),
        "facts": asdict(facts),
        "hits": {method: [hits(task) for task in asked] for method, asked in shipped_tasks(name, epsilons).items()},
    }


# ---- Best method at each ε -----------------------------------------------------------------------------------------


# what ships is drawn under it
MAPPED_RELATION = "add-remove"
# a method of the map: a study by its name, and what else tells it apart
MAPPED = ("auto", "row-bounded", "binned", "global", "smooth", "objective", "output")
MAPPED_METHODS = {
    **{(registered(key).sweep, registered(key).study_options.get("method", "")): label_of(key) for key in MAPPED},
    ("naive-bayes", "count"): "T features, counts",
    ("naive-bayes", "mutual_information"): "T features, information",
    # without the year, as the names share a phone's width with the plot
    ("naive-bayes", ""): "Algorithm 1 (Antonova)",
    (registered("partitioned").sweep, ""): "Partitioned (Antonova)",
}
SYMBOLS = {"n_features": "T", "reg_lambda": "λ"}


def method_of(row: Mapping[str, Any]) -> str:
    """Return which method of the map a candidate is of.

    >>> method_of({"study": "logistic-regression", "method": "output", "score": None})
    'Logistic, output'
    """
    own = [row.get(name) for name in ("method", "score")]
    return MAPPED_METHODS[row["study"], next((value for value in own if isinstance(value, str)), "")]


def setting_of(row: Mapping[str, Any]) -> str:
    """Return a candidate's own settings in symbols.

    >>> setting_of({"n_features": 10.0, "reg_lambda": float("nan")})
    'T = 10'
    """
    own = {symbol: row.get(name) for name, symbol in SYMBOLS.items()}
    return ", ".join(f"{symbol} = {value:g}" for symbol, value in own.items() if value is not None and value == value)


def map_cells(name: str) -> dict[str, list[Any]]:
    """Return the cells of the map as columns: of each method at each ε the candidate that the even draws choose.

    `good`: how many of the `candidates` at the ε are as good as the best. The default classifier has the accuracy that
    all pages show.
    """
    rows = standings(standard_study(name).table).to_dict("records")
    for row in rows:
        row |= {"method": method_of(row), "setting": setting_of(row)}
        if row["study"] == "auto":
            task = Task(default_runs, (name, MAPPED_RELATION, row["epsilon"], default_study.SEED))
            runs = default_study.result_of(task)["accuracy"]
            row |= {"mean": float(runs.mean()), "se": float(runs.std(ddof=1) / np.sqrt(len(runs)))}
    found, order = pd.DataFrame(rows), list(MAPPED_METHODS.values())
    equal = found.groupby("epsilon")["equal"]
    found = found.assign(good=equal.transform("sum"), candidates=equal.transform("size"))
    found = found.loc[found.groupby(["epsilon", "method"], sort=False)["choice"].idxmax()]
    cells = found.iloc[np.lexsort([found["method"].map(order.index), found["epsilon"]])]
    columns = ("epsilon", "method", "setting", "mean", "se", "behind", "best", "equal", "good", "candidates")
    return {column: cells[column].tolist() for column in columns}
