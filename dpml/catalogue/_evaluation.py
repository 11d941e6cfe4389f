"""Claims of the private evaluations."""

from __future__ import annotations

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


def _options(epsilon: float, relation: str, draws: Any, rng: Any) -> dict[str, Any]:
    return {"epsilon": epsilon, "relation": relation, "draws": draws, "rng": rng}


def _rows(counts: Any) -> Any:
    return counts.reshape(len(counts), -1)


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
    return release_histogram(roc_histogram(*data), **_options(epsilon, relation, draws, rng))


def _curve(data, epsilon, relation, draws, rng):
    return private_roc_curve(*data, thresholds=BINS, **_options(epsilon, relation, draws, rng))


def _area(data, epsilon, relation, draws, rng):
    return private_roc_auc(*data, thresholds=BINS, **_options(epsilon, relation, draws, rng))


def _evaluation(**more: Any):
    def release(data, epsilon, relation, draws, rng):
        options = _options(epsilon, relation, draws, None if more.get("release") else rng)
        return release_evaluation(*data, thresholds=BINS, **options, **more)

    return release


def _weighted(data, epsilon, relation, draws, rng):
    labels, scores, weights = data
    options: dict[str, Any] = {"sample_weight": weights, "weight_bound": 2.0, "thresholds": BINS}
    return release_evaluation(labels, scores, **options, **_options(epsilon, relation, draws, rng))


# ---- several classes ----


def _several_scores(relation: str) -> tuple[tuple, tuple]:
    labels = np.array([0, 1, 2])
    scores = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    if relation == "add-remove":
        return (labels, scores), (np.append(labels, 0), np.vstack([scores, [0.01, 0.98, 0.01]]))
    return (labels, scores), (np.array([0, 1, 1]), np.vstack([scores[:2], [0.98, 0.005, 0.015]]))


def _several(data, epsilon, relation, draws, rng):
    options = _options(epsilon, relation, draws, rng)
    return release_multiclass_evaluation(*data, classes=(0, 1, 2), thresholds=BINS, **options)


def _each_count(several: Any) -> Any:
    return np.concatenate([_rows(one.counts) for one in several.evaluations], axis=1)


def _predicted(relation: str) -> tuple[tuple, tuple]:
    true, predicted = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0])
    if relation == "add-remove":
        return (true, predicted), (np.append(true, 0), np.append(predicted, 2))
    return (true, predicted), (np.array([0, 1, 2, 1]), np.array([0, 1, 2, 2]))


def _confusion(data, epsilon, relation, draws, rng):
    return private_confusion_matrix(*data, classes=(0, 1, 2), **_options(epsilon, relation, draws, rng))


# ---- two classifiers ----


def _two_scores(worst: float, best: float):
    """Return neighbours with two scores for each record: a record is added, or both of its scores change."""

    def neighbours(relation: str) -> tuple[tuple, tuple]:
        labels, a, b = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4]), np.array([0.6, 0.8, 0.7])
        if relation == "add-remove":
            return (labels, a, b), (np.append(labels, 1), np.append(a, 0.9), np.append(b, 0.1))
        return (labels, a, b), (labels, np.array([0.2, 0.9, best]), np.array([0.6, 0.8, worst]))

    return neighbours


def _paired(data, epsilon, relation, draws, rng):
    return compare_classifiers(*data, **_options(epsilon, relation, draws, rng))


def _paired_areas(data, epsilon, relation, draws, rng):
    return compare_classifiers(*data, metric="roc_auc", thresholds=BINS, **_options(epsilon, relation, draws, rng))


METHODS = (
    Method(
        "roc-histogram",
        "ROC curve of a noisy two-class histogram",
        "evaluation",
        ("dpml.evaluation.release_histogram",),
        "derived here (docs/errata.md, on [stoddard2014], section 4)",
        "ε, for scores of a model that was not trained on these records",
        _case(_histogram, _rows, _labelled, "a scored record is added, or moves"),
    ),
    Method(
        "private-roc-curve",
        "ROC curve from scores and labels",
        "evaluation",
        ("dpml.evaluation.private_roc_curve",),
        "derived here (docs/errata.md, on [stoddard2014], section 4)",
        "ε, for scores of a model that was not trained on these records",
        _case(_curve, lambda found: np.concatenate(found[:2], axis=1), _labelled, COMES),
    ),
    Method(
        "private-roc-auc",
        "Area under the ROC curve from scores and labels",
        "evaluation",
        ("dpml.evaluation.private_roc_auc",),
        "derived here (docs/errata.md, on [stoddard2014], section 4)",
        "ε, for scores of a model that was not trained on these records",
        _case(_area, lambda found: found[:, None], _labelled, COMES),
    ),
    Method(
        "evaluation-clip",
        "All measures, invalid input clipped",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "derived here: scores are moved into their scale, a record whose label is no class is dropped",
        "ε, for scores of a model that was not trained on these records",
        _case(
            _evaluation(on_invalid="clip"),
            lambda found: _rows(found.counts),
            _clipped,
            "a record whose score is too large is added, or replaces an invalid one",
        ),
    ),
    Method(
        "evaluation-release",
        "All measures, release",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "the same with integer noise (OpenDP)",
        "ε, for scores of a model that was not trained on these records",
        _secure(
            _case(
                _evaluation(release=True),
                lambda found: _rows(found.counts),
                _clipped,
                "a record whose score is too large is added, or replaces an invalid one",
            )
        ),
    ),
    Method(
        "evaluation",
        "All measures of a classifier from one noisy histogram",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "derived here (docs/errata.md, on [stoddard2014], section 4)",
        "ε, for scores of a model that was not trained on these records",
        _case(_evaluation(), lambda found: _rows(found.counts), _labelled, COMES),
    ),
    Method(
        "evaluation-weighted",
        "The same with weights under a public bound",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "derived here",
        "ε, for weights that depend on their own record only",
        _case(
            _weighted,
            lambda found: _rows(found.counts),
            _scored,
            "a record of the largest weight is added, or changes label and bin",
        ),
    ),
    Method(
        "evaluation-multiclass",
        "One noisy histogram for each class against the rest",
        "evaluation",
        ("dpml.evaluation.release_multiclass_evaluation",),
        "derived here",
        "ε for all, ε/C each",
        _case(
            _several,
            _each_count,
            _several_scores,
            "a record is added to all three histograms, or changes its cell in all",
        ),
    ),
    Method(
        "confusion-matrix",
        "Noisy table of true and predicted classes",
        "evaluation",
        ("dpml.evaluation.private_confusion_matrix",),
        "derived here",
        "ε, for predictions of a model that was not trained on these records",
        _case(_confusion, lambda found: _rows(found.counts), _predicted, "a record is added, or replaced"),
    ),
    Method(
        "comparison",
        "Comparison of the accuracies of two classifiers",
        "evaluation",
        ("dpml.evaluation.compare_classifiers",),
        "derived here",
        "ε, for models that were not trained on these records",
        _case(_paired, lambda found: found.counts, _two_scores(0.1, 0.9), "a record is added to A's cell"),
    ),
    Method(
        "comparison-auc",
        "Comparison of the areas of two classifiers",
        "evaluation",
        ("dpml.evaluation.compare_classifiers",),
        "derived here",
        "ε for both, ε/2 each",
        _case(
            _paired_areas,
            _each_count,
            _two_scores(0.01, 0.99),
            "a record is added to both histograms, or changes its cell in both",
        ),
    ),
)
