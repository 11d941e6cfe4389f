"""What privacy costs: the library's classifier to begin with at each ε, and the same model without noise.

"Without noise" is what the rule chose, fitted without privacy, at the best of its public parameters on the test
records. So the difference is a cost of privacy, never a gain of another method. The parameter is chosen for
study: a release could not look at the test records for it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import BernoulliNB, LinearClassifier, LinearSVC
from dpml.classifiers.linear_classifier import HUBER, default_linear_method, default_norm
from dpml_app.data import dataset
from dpml_app.settings import LAMBDAS

__all__ = ["DRAWS", "METHOD_WORDS", "members", "private", "rule", "without_noise"]

FloatArray = NDArray[np.float64]
# each is a fit of its own, and a fit of a support vector machine takes half a second on adult
DRAWS = 20
# so much that its noise is not seen
NO_NOISE = 1e6
ROW_BOUNDS = (1, 2, 3, 5, 7, 10, 20, 50)
WEAK = (0.001, 0.01, *LAMBDAS)
METHOD_WORDS = {"naive-bayes": "naive Bayes", "objective": "support vector machine"}


def rule(name: str, epsilon: float) -> str:
    """Return which method the library's public rule chooses: "naive-bayes" or "objective"."""
    return default_linear_method(dataset(name).schema, epsilon)


def private(name: str, relation: str, epsilon: float, seed: int) -> dict[str, FloatArray]:
    """Return what `DRAWS` fits of `LinearClassifier` reach on the test records.

    ``accuracy`` has shape (draws,), ``recall`` (draws, C): the share of each class that is classified correctly, and
    ``groups`` (draws, G) the same of each group of people that the data set's card names.
    """
    data = dataset(name)
    found = []
    for draw in range(DRAWS):
        model = LinearClassifier(
            epsilon, relation=relation, schema=data.schema, random_state=np.random.default_rng([seed, draw])
        )
        found.append(_right(data, model.fit(data.X_train, data.y_train).predict(data.X_test)))
    return {key: np.array([one[key] for one in found]) for key in ("accuracy", "recall", "groups")}


def members(data: Any) -> FloatArray:
    """Return which test records are in each group of people: zeros and ones of shape (n, G)."""
    if not data.groups:
        return np.empty((len(data.y_test), 0))
    return np.asarray(data.X_test[:, list(data.groups.values())], dtype=float)


def _right(data: Any, predicted: NDArray) -> dict[str, Any]:
    hit = np.asarray(predicted) == np.asarray(data.schema.classes)[data.y_test]
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    hits = np.bincount(data.y_test, weights=hit, minlength=data.schema.n_classes)
    groups = members(data)
    return {
        "accuracy": hit.mean(),
        "recall": hits / np.maximum(counts, 1),
        "groups": hit @ groups / np.maximum(groups.sum(axis=0), 1),
    }


@lru_cache(maxsize=64)
def without_noise(name: str, method: str) -> dict[str, Any]:
    """Return the accuracy, the recalls and the parameter of a method without noise, the best of its public ones."""
    data = dataset(name)
    tried = _linear(data) if method == "objective" else _naive_bayes(data)
    return max(tried, key=lambda one: float(one["accuracy"]))


def _naive_bayes(data: Any) -> list[dict[str, Any]]:
    most = data.schema.row_bound or data.schema.n_features
    tried = []
    for bound in sorted({min(bound, most) for bound in ROW_BOUNDS}):
        model = BernoulliNB(NO_NOISE, row_bound=bound, schema=data.schema, random_state=0)
        predicted = model.fit(data.X_train, data.y_train).predict(data.X_test)
        tried.append({**_right(data, predicted), "parameter": bound})
    return tried


def _linear(data: Any) -> list[dict[str, Any]]:
    tried = []
    for reg_lambda in WEAK:
        model = LinearSVC(
            NO_NOISE,
            method="objective",
            norm=default_norm(data.schema),
            huber=HUBER,
            reg_lambda=reg_lambda,
            schema=data.schema,
            random_state=0,
        )
        predicted = model.fit(data.X_train, data.y_train).predict(data.X_test)
        tried.append({**_right(data, predicted), "parameter": reg_lambda})
    return tried
