"""What privacy costs: the library's default classifier at each ε, and the same model without noise.

"Without noise" is what the rule chose, with all noise left out, at the best of the settings that the rule derives from
ε. So the difference is a cost of privacy, never a gain of another method. The settings are chosen on the test records,
for study: a release could not look at them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import Layout, Plan, default_plan, release_table
from dpml.schema import Schema
from dpml.studies import raw_table
from dpml.studies import without_noise as noiseless
from dpml_app.data.measures import dataset
from dpml_app.settings import EPSILONS
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
# each is a fit of its own, and one takes half a second on adult
DRAWS = 20
# without noise a method is tried with the settings of these ε
SETTINGS = (0.1, 0.5, 1.0, 3.0, 6.3, 10.0, 30.0, 100.0, 1000.0)
METHOD_WORDS = {
    "counts": "a grid and counts",
    "weights": "weights",
    "both": "a grid and weights",
    "words": "naive Bayes of words",
    "mixed": "naive Bayes",
}


@kept(2)  # a data set that is shown, and the one before
def _table(name: str) -> tuple[Schema, Any, Any]:
    return raw_table(dataset(name))


def _plan(name: str, relation: str, epsilon: float) -> Plan:
    schema, train, _test = _table(name)
    return default_plan(schema, epsilon, schema.public_count(train, relation) or schema.n_lower, relation=relation)


def rule(name: str, relation: str, epsilon: float) -> str:
    """Return which method the library's public rule chooses: a key of `METHOD_WORDS`."""
    plan = _plan(name, relation, epsilon)
    if plan.kind != "table":
        return plan.kind
    return "both" if plan.addition == "weights" and plan.grid_share else plan.addition


def private(name: str, relation: str, epsilon: float, seed: int) -> dict[str, FloatArray]:
    """Return what `DRAWS` fits of `AutoClassifier` reach on the test records.

    ``accuracy`` has shape (draws,), ``recall`` (draws, C): the share of each class that is classified correctly, and
    ``groups`` (draws, G) the same of each group of people that the data set's card names.
    """
    runs = [_right(name, _predicted(name, relation, epsilon, [seed, draw])) for draw in range(DRAWS)]
    return {key: np.array([one[key] for one in runs]) for key in ("accuracy", "recall", "groups")}


def _predicted(name: str, relation: str, epsilon: float, seed: list[int]) -> NDArray:
    schema, train, test = _table(name)
    model = AutoClassifier(epsilon, relation=relation, schema=schema, random_state=np.random.default_rng(seed))
    predicted: NDArray = model.fit(train, np.asarray(schema.classes)[dataset(name).y_train]).predict(test)
    return predicted


def members(data: Any) -> FloatArray:
    """Return which test records are in each group of people: zeros and ones of shape (n, G)."""
    if not data.groups:
        return np.empty((len(data.y_test), 0))
    return np.asarray(data.X_test[:, list(data.groups.values())], dtype=float)


def _right(name: str, predicted: NDArray) -> dict[str, Any]:
    data = dataset(name)
    hit = np.asarray(predicted) == np.asarray(_table(name)[0].classes)[data.y_test]
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    hits = np.bincount(data.y_test, weights=hit, minlength=data.schema.n_classes)
    groups = members(data)
    return {
        "accuracy": hit.mean(),
        "recall": hits / np.maximum(counts, 1),
        "groups": hit @ groups / np.maximum(groups.sum(axis=0), 1),
    }


@kept(64)
def without_noise(name: str, relation: str, method: str) -> dict[str, Any]:
    """Return the accuracy and the shares of a method without noise, the best of some settings, and their ε."""
    own = [epsilon for epsilon in EPSILONS if rule(name, relation, epsilon) == method]
    with noiseless():
        if method in ("words", "mixed"):
            tried = [(epsilon, _predicted(name, relation, epsilon, [0])) for epsilon in own[:: max(len(own) // 6, 1)]]
        else:
            tried = _tables(name, relation, own)
    candidates = [{**_right(name, predicted), "parameter": epsilon} for epsilon, predicted in tried]
    return max(candidates, key=lambda one: float(one["accuracy"]))


def _tables(name: str, relation: str, own: list[float]) -> list[tuple[float, NDArray]]:
    """Return what the plans of the smallest and the largest ε predict, each with the regulariser of any ε."""
    schema, *parts = _table(name)
    train, test = (schema.check_features(part)[0] for part in parts)
    plans = dict.fromkeys(_plan(name, relation, epsilon) for epsilon in (own[0], own[-1]))
    predictions = []
    for plan, epsilon in itertools.product(plans, SETTINGS):
        noise: dict[str, Any] = {"relation": relation, "rng": np.random.default_rng(0)}
        [model] = release_table(Layout.of(schema), train, dataset(name).y_train, plan, epsilon, **noise)
        predictions.append((epsilon, np.asarray(schema.classes)[model.log_probabilities(test).argmax(axis=1)]))
    return predictions
