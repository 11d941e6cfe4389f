"""Claims of the private evaluations."""

from __future__ import annotations

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.evaluation import (
    compare_classifiers,
    private_confusion_matrix,
    release_evaluation,
    release_histogram,
    release_multiclass_evaluation,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.comparison import paired_counts
from dpml.evaluation.histogram import SENSITIVITY, noise_scale

# Few bins, so that audits from draws are quick; what a record costs does not depend on their number.
BINS = roc_thresholds(2)


def _roc(epsilon: float, relation: str) -> Case:
    scale = (1.0 if relation == "add-remove" else 2.0) / epsilon

    def statistics(data):
        return [(roc_histogram(*data).astype(float), scale)]

    def sample(data, draws, rng):
        noisy = release_histogram(roc_histogram(*data), epsilon, relation=relation, draws=draws, rng=rng)
        return noisy.reshape(draws, -1)

    labels, values = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 0.4])
    if relation == "add-remove":
        other = np.append(labels, 1), np.append(values, 0.05)
    else:
        other = np.array([0, 1, 1, 1]), np.array([0.2, 0.9, 0.6, 0.95])
    return Case(
        (labels, values), other, sample, IndependentLaplace(statistics), words="a scored record comes, or moves"
    )


def _scored(relation: str) -> tuple[tuple, tuple]:
    """Return neighbours with labels, scores and weights: a record of the largest weight comes, or changes cell."""
    labels, scores, weights = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.6, 0.4]), np.array([1.0, 0.5, 0.25, 2.0])
    if relation == "add-remove":
        return (labels, scores, weights), (np.append(labels, 1), np.append(scores, 0.05), np.append(weights, 2.0))
    other = np.array([0, 1, 1, 1]), np.array([0.2, 0.9, 0.6, 0.95]), weights
    return (labels, scores, weights), other


def _evaluation(epsilon: float, relation: str) -> Case:
    def statistics(data):
        return [(roc_histogram(*data[:2], BINS).astype(float), noise_scale(epsilon, relation))]

    def sample(data, draws, rng):
        noisy = release_evaluation(*data[:2], epsilon, thresholds=BINS, relation=relation, draws=draws, rng=rng)
        return noisy.counts.reshape(draws, -1)

    words = "a scored record comes, or changes label and bin"
    return Case(*_scored(relation), sample, IndependentLaplace(statistics), words=words)


def _weighted(epsilon: float, relation: str) -> Case:
    bound = 2.0

    def statistics(data):
        labels, scores, weights = data
        counts = roc_histogram(labels, scores, BINS, sample_weight=weights, weight_bound=bound)
        return [(counts, noise_scale(epsilon, relation, weight_bound=bound))]

    def sample(data, draws, rng):
        labels, scores, weights = data
        options = {"sample_weight": weights, "weight_bound": bound, "relation": relation, "thresholds": BINS}
        return release_evaluation(labels, scores, epsilon, draws=draws, rng=rng, **options).counts.reshape(draws, -1)

    words = "a record of the largest weight comes, or changes label and bin"
    return Case(*_scored(relation), sample, IndependentLaplace(statistics), words=words)


def _several(epsilon: float, relation: str) -> Case:
    classes = (0, 1, 2)
    labels = np.array([0, 1, 2])
    scores = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    if relation == "add-remove":
        other = np.append(labels, 0), np.vstack([scores, [0.01, 0.98, 0.01]])
    else:
        other = np.array([0, 1, 1]), np.vstack([scores[:2], [0.98, 0.005, 0.015]])

    def statistics(data):
        y, table = data
        scale = noise_scale(epsilon / 3, relation)
        return [(roc_histogram((y == c).astype(int), table[:, c], BINS).astype(float), scale) for c in classes]

    def sample(data, draws, rng):
        options = {"classes": classes, "relation": relation, "draws": draws, "rng": rng, "thresholds": BINS}
        several = release_multiclass_evaluation(*data, epsilon, **options)
        return np.concatenate([one.counts.reshape(draws, -1) for one in several.evaluations], axis=1)

    words = "a record comes that all three histograms count, or changes its cell in all"
    return Case((labels, scores), other, sample, IndependentLaplace(statistics), words=words)


def _confusion(epsilon: float, relation: str) -> Case:
    def statistics(data):
        true, predicted = data
        counts = np.bincount(3 * true + predicted, minlength=9)
        return [(counts.astype(float), SENSITIVITY[relation] / epsilon)]

    def sample(data, draws, rng):
        options = {"classes": (0, 1, 2), "relation": relation, "draws": draws, "rng": rng}
        return private_confusion_matrix(*data, epsilon, **options).counts.reshape(draws, -1)

    true, predicted = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0])
    if relation == "add-remove":
        other = np.append(true, 0), np.append(predicted, 2)
    else:
        other = np.array([0, 1, 2, 1]), np.array([0, 1, 2, 2])
    return Case((true, predicted), other, sample, IndependentLaplace(statistics), words="a record comes, or changes")


def _paired(epsilon: float, relation: str) -> Case:
    def statistics(data):
        return [(paired_counts(*data, 0.5).astype(float), SENSITIVITY[relation] / epsilon)]

    def sample(data, draws, rng):
        return compare_classifiers(*data, epsilon, relation=relation, draws=draws, rng=rng).counts

    labels, a, b = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4]), np.array([0.6, 0.8, 0.7])
    if relation == "add-remove":
        other = np.append(labels, 1), np.append(a, 0.9), np.append(b, 0.1)
    else:
        other = labels, np.array([0.2, 0.9, 0.9]), np.array([0.6, 0.8, 0.1])
    return Case(
        (labels, a, b), other, sample, IndependentLaplace(statistics), words="a record that only A gets right comes"
    )


def _paired_areas(epsilon: float, relation: str) -> Case:
    def statistics(data):
        labels, a, b = data
        scale = noise_scale(epsilon / 2, relation)
        return [(roc_histogram(labels, scores, BINS).astype(float), scale) for scores in (a, b)]

    def sample(data, draws, rng):
        options = {"metric": "roc_auc", "relation": relation, "draws": draws, "rng": rng, "thresholds": BINS}
        compared = compare_classifiers(*data, epsilon, **options)
        return np.concatenate([one.counts.reshape(draws, -1) for one in compared.evaluations], axis=1)

    labels, a, b = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4]), np.array([0.6, 0.8, 0.7])
    if relation == "add-remove":
        other = np.append(labels, 1), np.append(a, 0.9), np.append(b, 0.1)
    else:
        other = labels, np.array([0.2, 0.9, 0.99]), np.array([0.6, 0.8, 0.01])
    words = "a record comes that both histograms count, or changes its cell in both"
    return Case((labels, a, b), other, sample, IndependentLaplace(statistics), words=words)


METHODS = (
    Method(
        "roc-histogram",
        "ROC curve of a noisy two-class histogram",
        "evaluation",
        ("dpml.evaluation.private_roc_curve", "dpml.evaluation.private_roc_auc", "dpml.evaluation.release_histogram"),
        "derived here (docs/errata.md, on 002 section 4)",
        "ε, for scores of a model that was not trained on these records",
        True,
        _roc,
    ),
    Method(
        "evaluation",
        "All figures about a classifier from one noisy histogram",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "derived here (docs/errata.md, on 002 section 4)",
        "ε, for scores of a model that was not trained on these records",
        True,
        _evaluation,
    ),
    Method(
        "evaluation-weighted",
        "The same with weights under a public bound",
        "evaluation",
        ("dpml.evaluation.release_evaluation",),
        "derived here",
        "ε, for weights that depend on their own record only",
        True,
        _weighted,
    ),
    Method(
        "evaluation-multiclass",
        "One noisy histogram for each class against the rest",
        "evaluation",
        ("dpml.evaluation.release_multiclass_evaluation",),
        "derived here",
        "ε for all, ε/C each",
        True,
        _several,
    ),
    Method(
        "confusion-matrix",
        "Noisy table of true and predicted classes",
        "evaluation",
        ("dpml.evaluation.private_confusion_matrix",),
        "derived here",
        "ε, for predictions of a model that was not trained on these records",
        True,
        _confusion,
    ),
    Method(
        "comparison",
        "Which of two classifiers is right oftener",
        "evaluation",
        ("dpml.evaluation.compare_classifiers",),
        "derived here",
        "ε, for models that were not trained on these records",
        True,
        _paired,
    ),
    Method(
        "comparison-auc",
        "Which of two classifiers has the larger area",
        "evaluation",
        ("dpml.evaluation.compare_classifiers",),
        "derived here",
        "ε for both, ε/2 each",
        True,
        _paired_areas,
    ),
)
