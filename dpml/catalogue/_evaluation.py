"""Claims of the private evaluations."""

from dataclasses import replace
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.evaluation import (
    compare_classifiers,
    private_confusion_matrix,
    private_roc_auc,
    private_roc_curve,
    release_evaluation,
    release_histogram,
    release_multiclass_evaluation,
    roc_histogram,
    roc_thresholds,
)

# Few bins make audits from draws quick. The cost of a record does not depend on their number.
BINS = roc_thresholds(2)
COMES = "a scored record is added, or changes label and bin"


def _of(function: Any, **fixed: Any):
    """Return ``release(data, epsilon, relation, draws, rng)`` of a function of `dpml.evaluation`."""

    def release(data, epsilon, relation, draws, rng):
        options = {"relation": relation, "draws": draws, "rng": None if fixed.get("release") else rng, **fixed}
        return function(*data, epsilon=epsilon, **options)

    return release


def _case(release: Any, shown: Any, neighbours: Any, words: str):
    """Return a case of ``release(data, epsilon, relation, draws, rng)``. `shown` turns its result into an array."""

    def case(epsilon: float, relation: str) -> Case:
        def released(data, draws, rng):
            result = release(data, epsilon, relation, draws, rng)
            return result if draws is None else shown(result)

        data, neighbour = neighbours(relation)
        others = (_labelled(relation),) if neighbours is _clipped else ()
        return Case.of_release(data, neighbour, released, pasts=1, words=words, others=others)

    return case


def _secure(case: Any):
    """Return the same case with fewer draws, as secure draws take long."""
    return lambda epsilon, relation: replace(case(epsilon, relation), draws=2_000)


def _rows(counts: Any) -> Any:
    return counts.reshape(len(counts), -1)


def _counts(release: Any) -> Any:
    return _rows(release.counts)


# ---- records of two classes ----


def _labelled(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with labels and scores: a record is added, or changes its cell."""
    return tuple(side[:2] for side in _scored(relation))  # type: ignore[return-value]


def _scored(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with labels, scores and weights: a record of the largest weight is added, or changes cell."""
    labels, scores, weights = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 0.4]), np.array([1.0, 0.5, 0.25, 2.0])
    if relation == "add-remove":
        return (labels, scores, weights), (np.append(labels, 1), np.append(scores, 0.05), np.append(weights, 2.0))
    other = np.array([0, 1, 1, 1]), np.array([0.2, 0.9, 0.6, 0.95]), weights
    return (labels, scores, weights), other


def _clipped(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with a score that is too large and, under replace-one, with a label that is no class."""
    labels, scores = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 7.0])
    if relation == "add-remove":
        return (labels[:3], scores[:3]), (labels, scores)
    return (np.array([0, 1, 1, 5]), scores), (labels, scores)


def _histogram(data, epsilon, relation, draws, rng):
    return release_histogram(roc_histogram(*data), epsilon, relation=relation, draws=draws, rng=rng)


def _weighted(data, epsilon, relation, draws, rng):
    labels, scores, weights = data
    evaluation = _of(release_evaluation, sample_weight=weights, weight_bound=2.0, thresholds=BINS)
    return evaluation((labels, scores), epsilon, relation, draws, rng)


# ---- several classes ----


def _several_scores(relation: str) -> tuple[tuple, tuple]:
    labels = np.array([0, 1, 2])
    scores = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    if relation == "add-remove":
        return (labels, scores), (np.append(labels, 0), np.vstack([scores, [0.01, 0.98, 0.01]]))
    return (labels, scores), (np.array([0, 1, 1]), np.vstack([scores[:2], [0.98, 0.005, 0.015]]))


def _each_count(several: Any) -> Any:
    return np.concatenate([_rows(one.counts) for one in several.evaluations], axis=1)


def _predicted(relation: str) -> tuple[tuple, tuple]:
    true, predicted = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0])
    if relation == "add-remove":
        return (true, predicted), (np.append(true, 0), np.append(predicted, 2))
    # a wrong prediction becomes a right one, so that both numbers change, too
    return (true, predicted), (np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1]))


# ---- two classifiers ----


def _two_scores(worst: float, best: float):
    """Return neighbours with two scores for each record: a record is added, or both of its scores change."""

    def neighbours(relation: str) -> tuple[tuple, tuple]:
        labels, a, b = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4]), np.array([0.6, 0.8, 0.7])
        if relation == "add-remove":
            return (labels, a, b), (np.append(labels, 1), np.append(a, 0.9), np.append(b, 0.1))
        return (labels, a, b), (labels, np.array([0.2, 0.9, best]), np.array([0.6, 0.8, worst]))

    return neighbours


HISTOGRAM = "derived here (docs/explanation/errata.md, on [stoddard2014], section 4)"
SCORES = "ε, for scores of a model that was not trained on these records"


def _entry(
    name: str, title: str, function: Any, case: Any, *, source: str = "derived here", claim: str = SCORES
) -> Method:
    return Method(name, title, "evaluation", (f"dpml.evaluation.{function.__name__}",), source, claim, case)


TOO_LARGE = "a record whose score is too large is added, or replaces an invalid one"
METHODS = (
    _entry(
        "roc-histogram",
        "ROC curve of a noisy two-class histogram",
        release_histogram,
        _case(_histogram, _rows, _labelled, "a scored record is added, or moves"),
        source=HISTOGRAM,
    ),
    _entry(
        "private-roc-curve",
        "ROC curve from scores and labels",
        private_roc_curve,
        _case(
            _of(private_roc_curve, thresholds=BINS),
            lambda curve: np.concatenate(curve[:2], axis=1),
            _labelled,
            COMES,
        ),
        source=HISTOGRAM,
    ),
    _entry(
        "private-roc-auc",
        "AUC from scores and labels",
        private_roc_auc,
        _case(_of(private_roc_auc, thresholds=BINS), lambda area: area[:, None], _labelled, COMES),
        source=HISTOGRAM,
    ),
    _entry(
        "evaluation-clip",
        "All measures, invalid input clipped",
        release_evaluation,
        _case(_of(release_evaluation, thresholds=BINS, on_invalid="clip"), _counts, _clipped, TOO_LARGE),
        source="derived here: scores are moved into their scale, a record whose label is no class is dropped",
    ),
    _entry(
        "evaluation-release",
        "All measures, release",
        release_evaluation,
        _secure(_case(_of(release_evaluation, thresholds=BINS, release=True), _counts, _clipped, TOO_LARGE)),
        source="the same with integer noise (OpenDP)",
    ),
    _entry(
        "evaluation",
        "All measures of a classifier from one noisy histogram",
        release_evaluation,
        _case(_of(release_evaluation, thresholds=BINS), _counts, _labelled, COMES),
        source=HISTOGRAM,
    ),
    _entry(
        "evaluation-weighted",
        "The same with weights under a public bound",
        release_evaluation,
        _case(_weighted, _counts, _scored, "a record of the largest weight is added, or changes label and bin"),
        claim="ε, for weights that depend on their own record only",
    ),
    _entry(
        "evaluation-multiclass",
        "One noisy histogram for each class against the rest",
        release_multiclass_evaluation,
        _case(
            _of(release_multiclass_evaluation, classes=(0, 1, 2), thresholds=BINS),
            _each_count,
            _several_scores,
            "a record is added to all three histograms, or changes its cell in all",
        ),
        claim="ε for all, ε/C each",
    ),
    _entry(
        "confusion-matrix",
        "Noisy table of true and predicted classes",
        private_confusion_matrix,
        _case(
            _of(private_confusion_matrix, classes=(0, 1, 2), accuracy_share=0.25),
            lambda table: np.concatenate([_counts(table), table.totals], axis=1),
            _predicted,
            "a record is added, or replaced",
        ),
        claim="ε, for predictions of a model that was not trained on these records",
    ),
    _entry(
        "comparison",
        "Comparison of the accuracies of two classifiers",
        compare_classifiers,
        _case(
            _of(compare_classifiers),
            lambda comparison: comparison.counts,
            _two_scores(0.1, 0.9),
            "a record is added to A's cell",
        ),
        claim="ε, for models that were not trained on these records",
    ),
    _entry(
        "comparison-auc",
        "Comparison of the AUCs of two classifiers",
        compare_classifiers,
        _case(
            _of(compare_classifiers, metric="roc_auc", thresholds=BINS),
            _each_count,
            _two_scores(0.01, 0.99),
            "a record is added to both histograms, or changes its cell in both",
        ),
        claim="ε for both, ε/2 each",
    ),
)
