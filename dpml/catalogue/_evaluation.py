"""Claims of the private evaluations."""

from __future__ import annotations

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.evaluation import release_histogram, roc_histogram


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
)
