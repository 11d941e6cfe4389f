"""Cross-validation on private records. Its cost is that of training K models and of one evaluation of all of them.

A record is in one test set and in K - 1 training sets, so that training makes up most of the cost.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from dpml._validate import check_choice, check_epsilon, check_integer
from dpml.budget import Budget, charge
from dpml.claims import claim
from dpml.estimators.inner_budget import dry_run, fit_with_inner_budget, spending_steps
from dpml.evaluation.histogram import N_BINS, check_two_classes
from dpml.evaluation.private_evaluation import PrivateEvaluation, count_scores, release_counts
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema, NoSecureSampler
from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, for_study, number_of, public_number, statistic
from dpml.mechanisms.source import check_start
from dpml.schema import Schema
from dpml.schema.cells import plain_cells, plain_rows, read_frame

HOLDER = "private_cross_val_score"
FIGURES = ("roc_auc", "accuracy", "balanced_accuracy", "average_precision", "log_loss")


@dataclass(frozen=True, eq=False)
class PrivateCrossValidation:
    """Result of a private cross-validation.

    Attributes
    ----------
    score : float
        The requested measure of all folds together.
    evaluation : PrivateEvaluation
        All other measures, at no further cost.
    models : tuple
        The K private models. Their cost is included in `epsilon`.
    folds : ndarray of int of shape (n,), or None
        The fold of each record, under replace-one. None under add/remove, where the number of records is private.
    epsilon : float
        Total cost (K - 1)·epsilon_training + epsilon_evaluation.
    delta : float
        (K - 1) times the δ of one training.
    epsilon_training : float
        Cost ε of one training.
    epsilon_evaluation : float
        Cost ε of the histogram.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.

    See Also
    --------
    private_cross_val_score : Cross-validate a private classifier and return this result.

    Notes
    -----
    Privacy: no data is read. The object contains released models and counts only.
    """

    score: Any
    evaluation: PrivateEvaluation
    models: tuple
    folds: NDArray[np.intp] | None
    epsilon: float
    delta: float
    epsilon_training: float
    epsilon_evaluation: float
    relation: str


@claim(
    "cross-validation",
    "Cross-validated measures of a private classifier",
    "derived here: a record trains all models but one, and is in one test set",
    "ε for all models and the measures together",
)
@claim(
    "cross-validation-clip",
    "Cross-validated measures of a private classifier, invalid input clipped",
    "derived here: a record trains all models but one, and is in one test set",
    "ε for all models and the measures together",
)
@claim(
    "cross-validation-release",
    "Cross-validated measures of a private classifier, release",
    "derived here: a record trains all models but one, and is in one test set",
    "ε for all models and the measures together",
)
def private_cross_val_score(
    estimator: Any,
    X: Any,
    y: Any,
    epsilon_evaluation: float,
    *,
    n_folds: int = 5,
    folds: Any = None,
    rng: np.random.Generator | None = None,
    relation: str = "add-remove",
    metric: str = "roc_auc",
    n_lower: int | None = None,
    n_bins: int = N_BINS,
    thresholds: Any = None,
    score_scale: str = "probability",
    pos_label: Any = 1,
    classes: Sequence = (0, 1),
    on_invalid: str = "raise",
    release: bool = False,
    budget: Budget | None = None,
) -> PrivateCrossValidation:
    """Cross-validate a private classifier on private records.

    It trains K models, each on all folds but one. It releases a noisy histogram of the scores that each record gets
    from the one model that was not trained on it.

    Parameters
    ----------
    estimator : estimator
        A private classifier with `predict_proba` and the parameters `epsilon` and `budget`, or a Pipeline of such
        steps. Every fit of a clone gets a budget of its own, which it must charge and cannot overspend. This function
        sets `budget`, `random_state`, `on_invalid` and `release`, and `n_lower` and `n_rows` of the schema.
    X : array, sparse matrix or DataFrame of shape (n, D)
        Features of the private records.
    y : array-like of shape (n,)
        Labels of the private records.
    epsilon_evaluation : float
        Privacy parameter ε of the histogram, finite and greater than 0.
    n_folds : int, default=5
        Number of folds K, at least 2.
    folds : array-like of int of shape (n,), optional
        The fold of each record, 0 to K - 1, by a public rule of the record (add/remove) or of its position (both).
        None draws it for each record independently.
    rng : numpy.random.Generator, optional
        Source of the noise. A simulation needs it, ``release=True`` forbids it.
    relation : {"add-remove", "replace-one"}
        Relation between neighbouring tables under which ε holds.
    metric : {"roc_auc", "accuracy", "balanced_accuracy", "average_precision", "log_loss"}, default="roc_auc"
        Measure that `score` contains.
    n_lower : int, optional
        A public lower bound on the size of every training set. None: that of the schema by `Schema.for_folds`, less
        six standard deviations where folds are drawn, and 1 if a step scores by mutual information.
    n_bins : int, default=16
        Number of public bins of the score, from 2 to 10,000. It is unused if `thresholds` are given.
    thresholds : array-like of shape (n_bins + 1,), optional
        Public thresholds that decrease from inf to 0, or to -inf for log-odds. The default is `roc_thresholds`.
    score_scale : {"probability", "log-odds"}, default="probability"
        Scale of the scores.
    pos_label : object, default=1
        Label of the positive class.
    classes : sequence of two labels, default=(0, 1)
        Both labels that a record can have. They are public metadata, present in the data or not.
    on_invalid : {"raise", "clip"}, default="raise"
        "raise" raises an error for an invalid value. "clip" drops the record, or clips its score or weight.
    release : bool, default=False
        Use integer noise from OpenDP, and ``on_invalid="clip"``, so that no data raise an error.
    budget : Budget, optional
        Privacy budget that is charged the whole cost before the first model is trained.

    Returns
    -------
    PrivateCrossValidation
        The score, all other measures, and the K models.

    Raises
    ------
    NotPrivate
        If a step that learns from the records takes no ε and no budget, exceeds its ε, or charges nothing for its fit.
        Exact models reveal their training records, whatever noise the evaluation adds.
    NoSecureSampler
        If ``release=True`` and the estimator has no `release`.
    BudgetExceeded
        If the budget is too small, or a fit costs more than its share.

    See Also
    --------
    release_evaluation : Release all measures of a classifier on a separate test set.

    Notes
    -----
    Privacy: ε = (K - 1)·ε_training + epsilon_evaluation. δ = K - 1 times the δ of one training. Relation: `relation`.
    Sensitivity: 1 in L1 norm for the histogram under add/remove, and 2 under replace-one.

    Folds are public, or drawn for each record independently. In both cases, fix the folds of the records that two
    neighbouring tables share. These folds have the same distribution for both tables. Let the record that is added,
    removed or replaced be in fold f. Model f is trained on the other folds, which are the same for both tables, so it
    costs nothing. Each of the K - 1 other models is trained on data that differ by this record, and costs ε_training.
    Trained one after the other, they compose to (K - 1)·ε_training. The composition theorem also covers choices that
    depend on earlier releases.

    Given all models, the score of a record is a function of the record and of the released model of its fold. All
    scores but this record's are the same. The histogram of all folds therefore changes by 1 in L1 norm under
    add/remove. It changes by 2 under replace-one, where the record stays in fold f. The histogram costs ε_evaluation.

    Under replace-one, a fold must depend on the record's position in the table, not on its values.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, Theorem 3.16.

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> from dpml.schema import Schema
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=3000)
    >>> X = (rng.random((3000, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int)
    >>> model = BernoulliNB(0.5, schema=Schema.binary(5, n_lower=2000))
    >>> result = private_cross_val_score(model, X, y, 0.5, n_folds=3, rng=rng)
    >>> round(result.score, 2), result.epsilon
    (0.95, 1.5)
    """
    epsilon_evaluation = check_epsilon(epsilon_evaluation, "epsilon_evaluation")
    n_folds = check_integer(n_folds, "n_folds", 2)
    check_choice(metric, "metric", FIGURES)
    on_invalid = check_start(on_invalid, rng, release, relation)
    classes = check_two_classes(classes, pos_label)
    # the proof holds for any given folds, so that they need no secure randomness
    rng, noise = (np.random.default_rng() if rng is None else rng), rng
    shares = _shares(estimator, relation, release)
    one = math.fsum(shares)

    X, labels, where = _read(X, y, folds, n_folds, relation, estimator, on_invalid)
    if where is None:
        # under replace-one the number of records is public, and so is the fold of each position
        size = public_number(labels, relation) if relation == "replace-one" else number_of(labels)
        where = boundary.public_randomness(boundary.generator_of_parts(rng), "integers", n_folds, size=size)
    facts = n_folds, n_lower, folds is None
    trial = _prepared(estimator, *facts, None, release, on_invalid, np.random.default_rng(0))
    if on_invalid == "raise" and relation == "add-remove":
        _refuse_few(trial, where, n_folds, release)
    deltas = dry_run(trial, shares, relation, (_of_fold(X, where, -1), _of_fold(labels, where, -1)), HOLDER)
    total, total_delta = (n_folds - 1) * one + epsilon_evaluation, (n_folds - 1) * math.fsum(deltas)
    charge(budget, relation, total, total_delta, label=f"cross-validation, {n_folds} folds")

    how: dict[str, Any] = {"n_bins": n_bins, "thresholds": thresholds, "classes": classes, "pos_label": pos_label}
    how |= {"rng": noise, "score_scale": score_scale, "on_invalid": on_invalid, "release": release}
    models, tables = [], []
    for fold in range(n_folds):
        train_X, train_labels = _of_others(X, where, fold), _of_others(labels, where, fold)
        size = public_number(train_labels, relation) if relation == "replace-one" else None
        model = _prepared(estimator, *facts, size, release, on_invalid, rng)
        held = spending_steps(model)
        for step, share, delta in zip(held, shares, deltas, strict=True):
            step.set_params(budget=Budget(share, delta, relation))
        fit_with_inner_budget(model, held, train_X, train_labels, HOLDER)
        tables.append(
            count_scores(
                _of_fold(labels, where, fold),
                _scores(model, _of_fold(X, where, fold), _position(model, pos_label), score_scale),
                **how,
            )
        )
        models.append(model)
    exact = replace(tables[0], counts=_together([table.counts for table in tables]))
    evaluation = release_counts(exact, epsilon_evaluation, rng=noise, relation=relation, draws=None)
    score = getattr(evaluation, metric)()
    shown = where if relation == "replace-one" else None
    return PrivateCrossValidation(
        score, evaluation, tuple(models), shown, total, total_delta, one, epsilon_evaluation, relation
    )


def _shares(estimator: Any, relation: str, release: bool) -> list[float]:
    """Return the ε of each step of the estimator that spends ε."""
    for name, value in estimator.get_params(deep=True).items():
        if name.rsplit("__", 1)[-1] == "relation" and value != relation:
            raise InvalidParameter(name, value, f"{relation!r}, the relation of the cross-validation")
    steps = spending_steps(estimator)
    for step in steps:
        if release and "release" not in step.get_params(deep=False):
            raise NoSecureSampler(f"{type(step).__name__} has no release mode")
    return [step.epsilon for step in steps]


def _read(
    X: Any, y: Any, folds: Any, n_folds: int, relation: str, estimator: Any, on_invalid: str
) -> tuple[Any, Any, Any]:
    """Return the records and their labels, private, and given folds. Under replace-one these are public."""
    table, labels = _table(X, estimator, on_invalid), plain_cells(y)
    if table.shape[0] != len(labels):
        raise InvalidData("X and y have different lengths: they must have one entry for each record")
    where: Any = None if folds is None else _check_folds(folds, n_folds, len(labels))
    if where is not None and relation != "replace-one":
        where = Private(where)
    return Private(table), Private(labels), where


def _check_folds(folds: Any, n_folds: int, n: int) -> NDArray[np.intp]:
    where = np.asarray(folds)
    if where.shape != (n,) or where.dtype.kind not in "iu" or (n and not ((where >= 0) & (where < n_folds)).all()):
        raise InvalidParameter(
            "folds", f"an array of {where.dtype.name}", f"one integer from 0 to {n_folds - 1} for each record"
        )
    return where.astype(np.intp)


def _prepared(
    estimator: Any,
    n_folds: int,
    n_lower: int | None,
    drawn: bool,
    size: int | None,
    release: bool,
    on_invalid: str,
    rng: np.random.Generator,
) -> Any:
    """Return a clone that is ready for one training set."""
    model = clone(estimator)
    parameters = model.get_params(deep=True)
    mutual = any(isinstance(value, str) and value == "mutual_information" for value in parameters.values())
    changes: dict[str, Any] = {}
    for name, value in parameters.items():
        last = name.rsplit("__", 1)[-1]
        if last == "budget":
            changes[name] = None
        elif last == "random_state":
            changes[name] = None if release else int(boundary.public_randomness(rng, "integers", 2**31))
        elif last == "on_invalid":
            changes[name] = on_invalid
        elif last == "release":
            changes[name] = bool(release)
        elif last == "schema" and isinstance(value, Schema):
            if n_lower is not None:
                least = check_integer(n_lower, "n_lower", 1)
            else:
                least = 1 if mutual else _least_training(value, n_folds, drawn)
            # the sizes of public folds are public under replace-one, and private under add/remove
            n_rows = size if size else None
            changes[name] = replace(value, n_rows=n_rows, n_lower=least if n_rows is None else min(least, n_rows))
    return model.set_params(**changes)


def _least_training(schema: Schema, n_folds: int, drawn: bool) -> int:
    """Return a public lower bound on the size of a training set. Drawn folds miss it once in 10^9."""
    spread = 6 * math.sqrt(schema.n_lower * (n_folds - 1)) / n_folds if drawn else 0.0
    return max(math.floor(schema.for_folds(n_folds).n_lower - spread), 1)


def _refuse_few(model: Any, where: Any, n_folds: int, release: bool) -> None:
    """In a simulation, raise where a step would refuse its training set, before the budget is charged."""
    steps = [model, *(step for _, step in getattr(model, "steps", ()))]
    least = max(
        (step.schema.n_lower for step in steps if getattr(step, "_refuses_few", False) and step.schema), default=0
    )
    smallest = for_study(_smallest_others(where, n_folds), release, "the sizes of folds")
    if smallest < least:
        raise InvalidData(
            f"a training set of {n_folds} folds has {smallest} records: n_lower is {least} there. "
            "Pass a smaller n_lower="
        )


@statistic
def _smallest_others(where: NDArray[np.intp], n_folds: int) -> int:
    """Return the number of records of the smallest training set."""
    return int(len(where) - np.bincount(where, minlength=n_folds).max(initial=0))


def _table(X: Any, estimator: Any, on_invalid: str) -> Any:
    """Return a table whose rows can be selected, in which a clipped entry that is no record has missing cells alone."""
    X = read_frame(X)
    if sparse.issparse(X):
        return X.tocsr()
    if hasattr(X, "shape"):
        return X
    schemas = [value for value in estimator.get_params(deep=True).values() if isinstance(value, Schema)]
    if on_invalid == "clip" and not schemas:
        raise InvalidSchema("schema", None, "given to clip a list of records: pass a schema, or an array")
    return plain_rows(X, schemas[0].n_features if schemas else None, on_invalid)


@statistic
def _of_fold(records: Any, where: NDArray[np.intp], fold: int) -> Any:
    """Return the records of a fold."""
    return _rows(records, where == fold)


@statistic
def _of_others(records: Any, where: NDArray[np.intp], fold: int) -> Any:
    """Return the records of all other folds."""
    return _rows(records, where != fold)


def _rows(records: Any, keep: NDArray[np.bool_]) -> Any:
    return records.iloc[np.flatnonzero(keep)] if hasattr(records, "iloc") else records[np.flatnonzero(keep)]


@statistic
def _together(tables: list[NDArray]) -> NDArray:
    return np.stack(tables).sum(axis=0)


def _position(model: Any, pos_label: Any) -> int:
    column = {label: i for i, label in enumerate(np.asarray(model.classes_).tolist())}
    at = column.get(pos_label)
    if at is None or len(column) != 2:
        raise InvalidParameter("pos_label", pos_label, f"one of the estimator's two classes {tuple(column)}")
    return at


@statistic
def _scores(model: Any, X: Any, at: int, score_scale: str) -> NDArray[np.float64]:
    """Return the scores of one fold's records by the model that was not trained on them."""
    if not X.shape[0]:
        return np.empty(0)
    if score_scale == "probability":
        # rounding may exceed 1 slightly
        return np.clip(model.predict_proba(X)[:, at], 0.0, 1.0)
    if hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(X)
        return logs[:, at] - logs[:, 1 - at]
    return np.asarray(model.decision_function(X)) * (1 if at == 1 else -1)
