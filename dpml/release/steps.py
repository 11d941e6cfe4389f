"""The parts of a release, one function each: values from the records, charged to an inner budget of each part.

The same functions run on a table without records first. The charge of a part is public, so this trial gives the charge
for the records in advance.
"""

import warnings
from collections.abc import Callable, Mapping
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
from dpml.mechanisms.boundary import generator_of_parts
from dpml.mechanisms.private import statistic
from dpml.publishing import PrivPfC
from dpml.registry import claim
from dpml.release.methods import set_up, source_of
from dpml.release.noise import noted
from dpml.release.records import Records, part_of
from dpml.schema import Schema
from dpml.selection import TopSelector

PARTS = ("selection", "training", "evaluation", "publishing")
RELEASED = {
    "selection": "the names of the selected columns",
    "training": "the model",
    "evaluation": "noisy counts of the test set, which determine every measure",
    "publishing": "a synthetic table, sampled from noisy counts",
}
# of the evaluation's ε, for predictions of several classes; the rest is for their areas: neither is the main one
TABLE_SHARE = 0.5
HOLDER = "the release"


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
    training, held_out, schema = records, records, _without_label(task.schema, records.label)
    with warnings.catch_warnings():
        # the parts are told what fits the schema, and would warn of numbers that are private
        warnings.simplefilter("ignore", FactWarning)
        if "evaluation" in task.epsilons:
            # which record evaluates is no secret, so these coins need no secure source
            own = generator_of_parts(np.random.default_rng() if rng is None else rng)
            training, held_out = records.split(task.test_share, own)
            schema = part_of(schema, 1 - task.test_share)
        steps: list[tuple[str, Any]] = []
        X = training.X
        if "selection" in task.epsilons:
            selector = _fitted(task, "selection", _selector(task), training, {**facts, "schema": schema}, done, X)
            schema = schema.subset(selector.get_support())
            X = _selected(selector, X)
            steps.append(("selection", selector))
        if "training" in task.epsilons:
            steps.append(
                ("classifier", _fitted(task, "training", task.model, training, {**facts, "schema": schema}, done, X))
            )
            done.model = Pipeline(steps) if len(steps) > 1 else steps[0][1]
        if "evaluation" in task.epsilons:
            _evaluated(task, done, held_out, secure, rng)
        if "publishing" in task.epsilons:
            publisher = PrivPfC(1.0, max_grids=task.max_grids)
            whole = {**facts, "schema": task.schema}
            fitted_publisher = _fitted(task, "publishing", publisher, records, whole, done, records.X, records.labels())
            done.table = fitted_publisher.sample(task.n_published, random_state=rng)
            done.uniform = tuple(n for n in task.schema.feature_names if n not in fitted_publisher.levels_)
            if not task.keep_uniform:
                done.table = done.table.drop(columns=list(done.uniform))
    return done


def stages(epsilons: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return the parts that need one another together, so that one failure leaves the charges of the others known."""
    model = tuple(part for part in PARTS if part in epsilons and part != "publishing")
    if "training" not in epsilons:
        model = ()
    return [stage for stage in (model, ("publishing",) if "publishing" in epsilons else ()) if stage]


def _without_label(schema: Schema, label: str) -> Schema:
    """Return the schema that leaves out the labels' column, so that the model takes a table that has it."""
    if label in schema.feature_names or label in schema.ignored:
        return schema
    return replace(schema, ignored=(*schema.ignored, label))


def _selector(task: Task) -> TopSelector:
    # the one choice of columns that has a secure sampler; a demonstration run makes the same
    return TopSelector(1.0, task.n_features or 1, method="permute-and-flip")


def _fitted(
    task: Task, part: str, model: Any, records: Records, facts: dict[str, Any], done: Carried, X: Any, y: Any = None
) -> Any:
    """Return a fitted copy of an estimator without its inner budget, and note what it charged."""
    inner_budget = Budget(task.epsilons[part], relation=task.relation)
    if isinstance(model, LinearClassifier) and model.method == "auto":
        facts = {**facts, "method": "naive-bayes"}  # of a release, also in its simulation
    estimator = set_up(model, epsilon=inner_budget.epsilon, budget=inner_budget, **facts)

    def fit() -> None:
        fit_with_inner_budget(estimator, [estimator], X, records.y if y is None else y, HOLDER)

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
    """Take the inner budget and the generator from a fitted estimator, and from those that it holds."""
    known = model.get_params(deep=False)
    model.set_params(**{name: None for name in ("budget", "random_state") if name in known})
    for held in list(vars(model).values()):
        if isinstance(held, BaseEstimator):
            _bare(held)


# ---- evaluation -------------------------------------------------------------------------------------------------


def _evaluated(task: Task, done: Carried, held_out: Records, secure: bool, rng: np.random.Generator | None) -> None:
    """Release the noisy counts of the held-out records: of scores, and with several classes also of predictions."""
    C, epsilon = task.schema.n_classes, task.epsilons["evaluation"]
    facts: dict[str, Any] = {"classes": tuple(range(C)), "relation": task.relation, "on_invalid": "clip"}
    facts |= {"release": secure, "rng": rng}
    true, predicted, scores = _judged(task.schema, done.model, held_out.X, held_out.y)

    def paid(release: Callable[..., Any], key: str, epsilon: float, judged: Any, **options: Any) -> Any:
        inner_budget = Budget(epsilon, relation=task.relation)
        call = partial(release, true, judged, inner_budget.epsilon, budget=inner_budget, **facts, **options)
        return _charged(done, "evaluation", inner_budget, claim(key).citation, call)

    if C == 2:
        done.histogram = paid(release_evaluation, "evaluation", epsilon, scores, score_scale="log-odds")
        return
    for_table, for_areas = split_epsilon(epsilon, TABLE_SHARE)
    done.histogram = paid(private_confusion_matrix, "confusion-matrix", for_table, predicted)
    several = release_multiclass_evaluation, "evaluation-multiclass", for_areas
    done.areas = paid(*several, scores, score_scale="log-odds")


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
    # at even odds `predict` decides, so that the accuracy is that of `predict`
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
