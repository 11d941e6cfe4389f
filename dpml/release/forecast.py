"""A forecast of a plan on the exact records, with warnings, for the owner of the table alone.

A forecast is no release: its numbers have no privacy guarantee, and no release contains them. A person who changes or
stops a plan because of them makes a choice that depends on the data, which no ε covers (docs/explanation/privacy.md).
"""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from dpml.exceptions import shown
from dpml.mechanisms import boundary
from dpml.mechanisms.private import for_study
from dpml.release.records import Records, part_of
from dpml.release.steps import Task, carry_out, predictions
from dpml.schema import Schema
from dpml.schema.tables import counts_outside, few

WORTHLESS, LEAK, MISREAD = "worthless model", "leak", "misread column"
# so that a forecast takes seconds: the sample of records, and the number up to which all folds are held out
MOST_RECORDS, FEW_RECORDS, FOLDS = 5_000, 3_000, 3
# a leak corrects this share of the errors of the majority-class baseline, of which there are at least so many
CORRECTED, FEWEST_ERRORS = 0.98, 20
# shares of a column's values, and of the labels, outside their domain from which a warning is due
MISREAD_VALUES, MISREAD_LABELS = 0.5, 0.1
CLEARLY = 2.0  # standard errors by which a useful model is better than the baseline
LEAVES = 16  # of the tree of one numeric column
ORDERED = 0.6  # an AUC above which scores rank the records

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class TableWarning:
    """Describe a reason not to carry out a plan on a table. Private.

    Attributes
    ----------
    kind : {"worthless model", "leak", "misread column"}
        Kind of the reason.
    column : str or None
        Column of the reason.
    short : str
        The reason without a figure.
    text : str
        The reason with exact figures, and a recommended action.

    See Also
    --------
    Forecast : Has the warnings of a plan.
    Plan : Plans a release.
    """

    kind: str
    column: str | None
    short: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Forecast:
    """Hold the measures of a plan's model on records that did not train it, without noise. Private.

    Attributes
    ----------
    accuracy, balanced_accuracy : float
        Mean over the held-out records, and mean of the classes' recalls. All measures are NaN if no model is planned.
    auc : float
        Area under the ROC curve, or with several classes the mean of each against the rest.
    majority : float
        Accuracy of the majority-class baseline.
    n_records : int
        Number of records that were held out.
    warnings : tuple of TableWarning
        Reasons not to carry out the plan.

    See Also
    --------
    Plan : Makes a forecast by its method `forecast`.
    TableWarning : Describes a reason.
    """

    accuracy: float
    balanced_accuracy: float
    auc: float
    majority: float
    n_records: int
    warnings: tuple[TableWarning, ...] = ()

    def __str__(self) -> str:
        if math.isnan(self.accuracy):
            return "no model"
        return (
            f"accuracy {percent(self.accuracy)} (majority-class baseline {percent(self.majority)}), balanced accuracy "
            f"{percent(self.balanced_accuracy)}, AUC {self.auc:.3f}"
        )


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.9512)
    '95.1%'
    """
    return f"{100 * share:.1f}%"


def forecast(task: Task, records: Records, method: str, rng: np.random.Generator) -> Forecast:
    """Return the forecast of a task, cross-validated on at most 5,000 records: see `Plan.forecast`."""
    X, y = for_study((records.X, records.y), False, "a forecast")
    codes = task.schema.check_labels(y, "clip")
    misread = _misread(task.schema, X, codes, records.label)
    known = np.flatnonzero(codes >= 0)
    chosen = np.sort(rng.permutation(known)[:MOST_RECORDS])
    X, codes = _rows(X, chosen), codes[chosen]
    if "training" not in task.epsilons or len(codes) < FOLDS:
        return Forecast(math.nan, math.nan, math.nan, math.nan, len(codes), tuple(misread))
    folds = rng.permutation(len(codes)) % FOLDS
    rounds = FOLDS if len(codes) <= FEW_RECORDS else 1
    with warnings.catch_warnings(), boundary.observe(None), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of a class that no record has, for example
        leaks = _leaks(task.schema, X, codes, folds, records.label)
        baseline, predicted, scores = _held_out(task, records.label, X, codes, folds, rounds, len(known), rng)
        held_out = folds < rounds
        codes, baseline, predicted, scores = (each[held_out] for each in (codes, baseline, predicted, scores))
        balanced = float(balanced_accuracy_score(codes, predicted))
    correct, guessed = predicted == codes, baseline == codes
    measured = Forecast(float(correct.mean()), balanced, _area(codes, scores), float(guessed.mean()), len(codes))
    gain = correct.astype(float) - guessed
    if gain.mean() <= CLEARLY * gain.std() / math.sqrt(len(gain)):
        most = task.schema.classes[int(np.bincount(codes).argmax())]
        leaks = [_worthless(measured, method, task.epsilons["training"], most), *leaks]
    return replace(measured, warnings=(*misread, *leaks))


def _misread(schema: Schema, X: Any, codes: IntArray, label: str) -> list[TableWarning]:
    """Return the columns of which a large share of the values does not fit the schema."""
    n = max(len(codes), 1)
    lost = float((codes < 0).mean()) if len(codes) else 0.0
    classes = f"not a class of the schema ({few(list(schema.classes))}), and a release drops these records"
    suspects = [(label, "labels", lost, classes)] if lost >= MISREAD_LABELS else []
    domains = {f.name: f.domain for f in schema.features}
    for name, count in counts_outside(schema.features, X).items():
        if count >= MISREAD_VALUES * n:
            suspects.append((name, "values", count / n, f"missing or not {domains[name]}"))
    action = "Check the schema and the format of the file."
    return [
        TableWarning(
            MISREAD,
            name,
            f"many {what} of column {shown(name)} do not match the schema",
            f"{percent(share)} of the {what} of column {shown(name)} are {why}. {action}",
        )
        for name, what, share, why in suspects
    ]


def _worthless(measured: Forecast, method: str, epsilon: float, most: Any) -> TableWarning:
    action = (
        "Its scores still rank the records. Judge it by its AUC, not by its accuracy."
        if measured.auc > ORDERED
        else "Increase ε, add records, or do not release it."
    )
    short = f"{method} at ε = {epsilon:.4g} is no better than the majority-class baseline"
    return TableWarning(
        WORTHLESS,
        None,
        short,
        f"{short}: accuracy {percent(measured.accuracy)}, always predicting {shown(most)} "
        f"{percent(measured.majority)}, balanced accuracy {percent(measured.balanced_accuracy)}, AUC "
        f"{measured.auc:.3f}. {action}",
    )


def _rows(X: Any, chosen: IntArray) -> Any:
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else X[chosen]


def _held_out(
    task: Task, label: str, X: Any, codes: IntArray, folds: IntArray, rounds: int, n: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, Any]:
    """Return the largest class of the others, and class and scores of their model, for records of the first folds."""
    schema, C = task.schema, task.schema.n_classes
    trained = n * (1 - task.test_share if "evaluation" in task.epsilons else 1)
    fitted = len(codes) * (1 - 1 / FOLDS)
    # fewer records lose as much to noise at an ε that is as much larger (Hay et al. 2016)
    parts = [part for part in ("selection", "training") if part in task.epsilons]
    some = replace(
        task,
        schema=part_of(schema, min(fitted / n, 1.0)),
        epsilons={part: task.epsilons[part] * trained / fitted for part in parts},
    )
    baseline, predicted = np.zeros_like(codes), np.zeros_like(codes)
    scores = np.zeros((len(codes), C) if C > 2 else len(codes))
    labels = schema.class_labels
    for k in range(rounds):
        others, held_out = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
        records = Records(_rows(X, others), labels[codes[others]], label)
        model = carry_out(some, records, secure=False, rng=rng).model
        baseline[held_out] = np.bincount(codes[others], minlength=C).argmax()
        predicted[held_out], scores[held_out] = predictions(model, _rows(X, held_out), schema.classes)
    return baseline, predicted, scores


def _area(codes: IntArray, scores: Any) -> float:
    """Return the area under the ROC curve, 0.5 where only one class occurs."""
    if scores.ndim == 1:
        return float(roc_auc_score(codes, scores)) if np.ptp(codes) else 0.5
    present = [c for c in np.unique(codes) if (codes != c).any()]
    return float(np.mean([roc_auc_score(codes == c, scores[:, c]) for c in present])) if present else 0.5


def _leaks(schema: Schema, X: Any, codes: IntArray, folds: IntArray, label: str) -> list[TableWarning]:
    """Return the columns that predict the label alone."""
    n = len(codes)
    errors = n - int(np.bincount(codes).max())
    if errors < FEWEST_ERRORS:
        return []
    table, schema = schema.check_features(X, "clip")
    correct = _binary_correct(table, codes) if schema.is_binary else _column_correct(schema, table, codes, folds)
    return [
        _leak(name, label, right / n, 1 - errors / n)
        for name, right in zip(schema.feature_names, correct, strict=True)
        if n - right <= (1 - CORRECTED) * errors
    ]


def _leak(name: str, label: str, accuracy: float, baseline: float) -> TableWarning:
    short = f"column {shown(name)} predicts {shown(label)} alone"
    return TableWarning(
        LEAK,
        name,
        short,
        f"{short}: accuracy {percent(accuracy)} (majority-class baseline {percent(baseline)}). If its value becomes "
        "known only after the label, the model is useless. Leave the column out (`ignored` in a schema).",
    )


def _binary_correct(table: Any, codes: IntArray) -> NDArray[np.float64]:
    """Return how many labels each column of 0 and 1 alone predicts, shape (D,)."""
    classes = np.eye(int(codes.max()) + 1)[codes]
    ones = table.T @ classes if sparse.issparse(table) else np.asarray(table).T @ classes
    return ones.max(axis=1) + (classes.sum(axis=0) - ones).max(axis=1)


def _column_correct(schema: Schema, table: pd.DataFrame, codes: IntArray, folds: IntArray) -> list[int]:
    """Return how many labels each column alone predicts, where the other folds train."""
    correct = []
    for feature in schema.features:
        column = table[feature.name]
        numeric = feature.kind == "numeric"
        values = column.to_numpy(dtype=float) if numeric else pd.factorize(column)[0]
        hits = 0
        for k in range(FOLDS):
            others, held_out = folds != k, folds == k
            if numeric:
                tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0)
                predicted = tree.fit(values[others, None], codes[others]).predict(values[held_out, None])
            else:
                counts = np.zeros((int(values.max()) + 1, int(codes.max()) + 1))
                np.add.at(counts, (values[others], codes[others]), 1)
                predicted = counts.argmax(axis=1)[values[held_out]]
            hits += int((predicted == codes[held_out]).sum())
        correct.append(hits)
    return correct
