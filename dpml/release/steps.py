"""The parts of a release, one function each: values from the records, charged to an inner budget of each part.

The same functions run on a table without records first. The charge of a part is public, so this trial gives the charge
for the records in advance.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from dpml.budget import Budget
from dpml.budget.shares import split_epsilon
from dpml.classifiers import LinearClassifier
from dpml.estimators.inner_budget import fit_with_inner_budget
from dpml.evaluation import private_confusion_matrix, release_evaluation, release_multiclass_evaluation
from dpml.exceptions import FactWarning, NotPrivate
from dpml.mechanisms import boundary
from dpml.mechanisms.boundary import generator_of_parts
from dpml.mechanisms.private import statistic
from dpml.publishing import PrivPfC
from dpml.registry import claim
from dpml.release.methods import set_up, source_of
from dpml.release.records import Records, part_of
from dpml.schema import Schema
from dpml.selection import TopSelector

WORDS = {
    "_IntegerLaplace": "integer Laplace noise",
    "_DiscreteGaussian": "discrete Gaussian noise",
    "_NoisyMax": "noisy maximum (permute-and-flip)",
    "Laplace": "Laplace noise",
    "Gaussian": "Gaussian noise",
    "NormalNoise": "Gaussian noise",
    "Geometric": "geometric noise",
    "ExponentialMechanism": "exponential mechanism",
    "PermuteAndFlip": "permute-and-flip",
    "NormGamma": "noise of a norm",
    "OneHotNorm": "noise of a norm",
    "SecureOneHot": "secure noise of a norm",
    "PerturbedMinimum": "noise on the objective",
    "SecureMinimum": "secure noise on the objective",
    "_Cover": "noise on the objective",
}
PARTS = ("selection", "training", "evaluation", "publishing")
RELEASED = {
    "selection": "the names of the selected columns",
    "training": "the model",
    "evaluation": "noisy counts of the test set, which determine every measure",
    "publishing": "a synthetic table, sampled from noisy counts",
}
# share of the evaluation's ε for the confusion matrix of several classes; the rest is for their AUC
TABLE_SHARE = 0.5
HOLDER = "the release"


class _Noting:
    """Observer that notes each mechanism, and forwards the release to the earlier observer."""

    def __init__(self, noise: list[str], outer: Any):
        self.noise, self.outer = noise, outer

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        kind = type(mechanism).__name__
        words = WORDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.lstrip("_")).lower()
        if words not in self.noise:
            self.noise.append(words)
        if self.outer is None:
            return mechanism._sample(statistic, rng)
        return self.outer.release(mechanism, statistic, rng)

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        with boundary.observe(self.outer):
            return boundary.public_randomness(rng, draw, *arguments, size=size)

    def best_of_runs(self, factor: float) -> Any:
        with boundary.observe(self.outer):
            return boundary.best_of_runs(factor)


@contextmanager
def noted() -> Iterator[list[str]]:
    """Return a context in which every kind of noise that is drawn is added to a list, in words."""
    noise: list[str] = []
    with boundary.observe(_Noting(noise, boundary.observer())):
        yield noise


@dataclass(frozen=True)
class Task:
    """Public metadata and options of a release."""

    schema: Schema
    epsilons: dict[str, float]
    relation: str
    model: Any
    n_features: int | None
    test_share: float
    n_published: int | None
    max_grids: int
    keep_uniform: bool = False


@dataclass
class Carried:
    """The released values of a task, and the charges in their order."""

    model: Any = None
    table: pd.DataFrame | None = None
    histogram: Any = None
    areas: Any = None
    uniform: tuple[str, ...] = ()
    charges: list[dict[str, Any]] = field(default_factory=list)


def carry_out(task: Task, records: Records, *, secure: bool, rng: np.random.Generator | None) -> Carried:
    """Make all releases of a task, with `rng` for a simulation and None for secure noise."""
    done = Carried()
    facts: dict[str, Any] = {"relation": task.relation, "on_invalid": "clip", "release": secure, "random_state": rng}
    training, held_out, schema = records, records, task.schema
    if records.label not in schema.feature_names and records.label not in schema.ignored:
        # so that the model accepts a table with the labels' column
        schema = replace(schema, ignored=(*schema.ignored, records.label))
    with warnings.catch_warnings():
        # the warnings of the parts contain private numbers
        warnings.simplefilter("ignore", FactWarning)
        if "evaluation" in task.epsilons:
            # the assignment to the test set is no secret, and needs no secure source
            own = generator_of_parts(np.random.default_rng() if rng is None else rng)
            training, held_out = records.split(task.test_share, own)
            schema = part_of(schema, 1 - task.test_share)
        steps: list[tuple[str, Any]] = []
        X = training.X
        if "selection" in task.epsilons:
            # the only selection with a secure sampler, also in simulations
            selector: Any = TopSelector(1.0, task.n_features or 1, method="permute-and-flip")
            selector = _fitted(task, "selection", selector, {**facts, "schema": schema}, done, X, training.y)
            schema = schema.subset(selector.get_support())
            X = _selected(selector, X)
            steps.append(("selection", selector))
        if "training" in task.epsilons:
            model = _fitted(task, "training", task.model, {**facts, "schema": schema}, done, X, training.y)
            steps.append(("classifier", model))
            done.model = Pipeline(steps) if len(steps) > 1 else model
        if "evaluation" in task.epsilons:
            _evaluated(task, done, held_out, secure, rng)
        if "publishing" in task.epsilons:
            publisher: Any = PrivPfC(1.0, max_grids=task.max_grids)
            facts |= {"schema": task.schema}
            publisher = _fitted(task, "publishing", publisher, facts, done, records.X, records.labels())
            done.table = publisher.sample(task.n_published, random_state=rng)
            done.uniform = tuple(n for n in task.schema.feature_names if n not in publisher.levels_)
            if not task.keep_uniform:
                done.table = done.table.drop(columns=list(done.uniform))
    return done


def stages(epsilons: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return the parts in groups, of which each can run without the others."""
    model = tuple(part for part in PARTS[:3] if part in epsilons) if "training" in epsilons else ()
    return [stage for stage in (model, ("publishing",) if "publishing" in epsilons else ()) if stage]


def _fitted(task: Task, part: str, model: Any, facts: dict[str, Any], done: Carried, X: Any, y: Any) -> Any:
    """Return a fitted copy of an estimator without its inner budget, and note what it charged."""
    inner_budget = Budget(task.epsilons[part], relation=task.relation)
    if isinstance(model, LinearClassifier) and model.method == "auto":
        facts = {**facts, "method": "naive-bayes"}  # its method in a release, also in simulations
    estimator = set_up(model, epsilon=inner_budget.epsilon, budget=inner_budget, **facts)

    def fit() -> None:
        fit_with_inner_budget(estimator, [estimator], X, y, HOLDER)

    _charged(done, part, inner_budget, source_of(type(model)), fit)
    _bare(estimator)
    return estimator


def _charged(done: Carried, part: str, inner_budget: Budget, source: str, release: Callable[[], Any]) -> Any:
    """Make a release, and note its charges with the noise that was drawn for it."""
    with noted() as noise:
        result = release()
    for row in inner_budget.ledger.to_dict(orient="records"):
        if row["delta"] or row["rho"]:
            raise NotPrivate(f"{part} has a δ, but a release must have δ = 0. Choose a pure ε method")
        done.charges.append(
            {
                "part": part,
                "released": f"{RELEASED[part]} ({row['label']})",
                "epsilon": float(row["epsilon"]),
                "relation": row["relation"],
                "noise": ", ".join(noise) or "none",
                "source": source,
            }
        )
    return result


def _bare(model: Any) -> None:
    """Remove the inner budget and the generator from a fitted estimator, and from the estimators in it."""
    known = model.get_params(deep=False)
    model.set_params(**{name: None for name in ("budget", "random_state") if name in known})
    for held in list(vars(model).values()):
        if isinstance(held, BaseEstimator):
            _bare(held)


def _evaluated(task: Task, done: Carried, held_out: Records, secure: bool, rng: np.random.Generator | None) -> None:
    """Release the noisy counts of the held-out records: of scores, and with several classes also of predictions."""
    C, epsilon = task.schema.n_classes, task.epsilons["evaluation"]
    facts: dict[str, Any] = {"classes": tuple(range(C)), "relation": task.relation, "on_invalid": "clip"}
    facts |= {"release": secure, "rng": rng}
    true, predicted, scores = _judged(task.schema, done.model, held_out.X, held_out.y)

    def counted(release: Callable[..., Any], key: str, epsilon: float, judged: Any, **options: Any) -> Any:
        inner_budget = Budget(epsilon, relation=task.relation)
        call = partial(release, true, judged, inner_budget.epsilon, budget=inner_budget, **facts, **options)
        return _charged(done, "evaluation", inner_budget, claim(key).citation, call)

    if C == 2:
        done.histogram = counted(release_evaluation, "evaluation", epsilon, scores, score_scale="log-odds")
        return
    for_table, for_areas = split_epsilon(epsilon, TABLE_SHARE)
    done.histogram = counted(private_confusion_matrix, "confusion-matrix", for_table, predicted)
    several = release_multiclass_evaluation, "evaluation-multiclass", for_areas
    done.areas = counted(*several, scores, score_scale="log-odds")


@statistic
def _selected(selector: TopSelector, X: Any) -> Any:
    return selector.transform(X)


@statistic
def _judged(
    schema: Schema, model: Any, X: Any, y: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the true and the predicted class of each record, and its score; a record of no class is left out."""
    codes = schema.check_labels(y, "clip")
    known = codes >= 0
    predicted, scores = predictions(model, X, schema.classes)
    return codes[known], predicted[known], scores[known]


def predictions(model: Any, X: Any, classes: tuple) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the positions of predicted classes, and scores that are at least 0 where the positive class is predicted.

    With several classes a record has a score for each, its log-odds against the rest.
    """
    several = len(classes) > 2
    if not X.shape[0]:
        return np.zeros(0, dtype=np.intp), np.zeros((0, len(classes)) if several else 0)
    predicted = Schema.binary(1, classes=classes).check_labels(np.asarray(model.predict(X), dtype=object), "clip")
    if several:
        return predicted, _log_odds(model, X, classes, predicted)
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=float)
    elif hasattr(model, "predict_proba"):
        share = np.asarray(model.predict_proba(X), dtype=float)
        with np.errstate(divide="ignore"):
            scores = np.log(share[:, 1]) - np.log(share[:, 0])
    else:
        scores = np.where(predicted == 1, 1.0, -1.0)
    # at even odds, the sign is that of `predict`
    scores = np.nan_to_num(scores, nan=0.0, posinf=1e300, neginf=-1e300)
    return predicted, np.where(predicted == 1, np.maximum(scores, 0.0), np.minimum(scores, -1e-300))


def _log_odds(model: Any, X: Any, classes: tuple, predicted: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return each class's score of each record, in the order of the classes."""
    if hasattr(model, "predict_proba"):
        share = np.asarray(model.predict_proba(X), dtype=float)
        with np.errstate(divide="ignore"):
            scores = np.log(share) - np.log1p(-share)
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=float)
    else:
        return np.where(np.arange(len(classes)) == predicted[:, None], 1.0, -1.0)
    order = Schema.binary(1, classes=classes).check_labels(np.asarray(model.classes_, dtype=object), "clip")
    table = np.full((len(predicted), len(classes)), -1e300)
    table[:, order] = np.nan_to_num(scores, nan=0.0, posinf=1e300, neginf=-1e300)
    return table
