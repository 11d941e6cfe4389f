"""What privacy costs: the library's default classifier at each ε, beside the best that it reaches without privacy.

The best is one number for a data set, so that more ε is never charged for. Of the gap to it a part is noise; the rest
is the simpler method that a small ε forces: the same settings without noise are still so much worse. Best and parts are
measured on the test records, for study: a release could not look at them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers import AutoClassifier
from dpml.datasets import Dataset
from dpml.schema import Schema
from dpml.studies import AutoStudy, best_predictions, raw_table
from dpml.studies import without_noise as noiseless
from dpml_app.data.measures import dataset
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
# each is a fit of its own, and one takes half a second on adult
DRAWS = 20


@kept(2)  # a data set that is shown, and the one before
def _table(name: str) -> tuple[Schema, Any, Any]:
    return raw_table(dataset(name))


def private(name: str, relation: str, epsilon: float, seed: int, draws: int = 0) -> dict[str, FloatArray]:
    """Return what fits of `AutoClassifier` reach on the test records: `DRAWS`, or the first `draws` of them.

    ``accuracy`` has shape (draws,), ``recall`` (draws, C): the share of each class that is classified correctly, and
    ``groups`` (draws, G) the same of each group of people that the data set's card names.
    """
    runs = [_right(name, _predicted(name, relation, epsilon, [seed, draw])) for draw in range(draws or DRAWS)]
    return {key: np.array([one[key] for one in runs]) for key in ("accuracy", "recall", "groups")}


def _predicted(name: str, relation: str, epsilon: float, seed: list[int]) -> NDArray:
    schema, train, test = _table(name)
    model = AutoClassifier(epsilon, relation=relation, schema=schema, random_state=np.random.default_rng(seed))
    labels = np.asarray(schema.classes)
    predicted: NDArray = model.fit(train, labels[dataset(name).y_train]).predict(test)
    return np.asarray(predicted)[:, None] == labels  # (n, C)


def members(data: Any) -> FloatArray:
    """Return which test records are in each group of people: zeros and ones of shape (n, G)."""
    if not data.groups:
        return np.empty((len(data.y_test), 0))
    return np.asarray(data.X_test[:, list(data.groups.values())], dtype=float)


def _right(name: str, predicted: NDArray) -> dict[str, Any]:
    data = dataset(name)
    hit = predicted[np.arange(len(predicted)), data.y_test]
    counts = np.bincount(data.y_test, minlength=data.schema.n_classes)
    hits = np.bincount(data.y_test, weights=hit, minlength=data.schema.n_classes)
    groups = members(data)
    return {
        "accuracy": hit.mean(),
        "recall": hits / np.maximum(counts, 1),
        "groups": hit @ groups / np.maximum(groups.sum(axis=0), 1),
    }


def without_noise(name: str, relation: str, epsilon: float) -> float:
    """Return the accuracy with the method and the settings that the rule takes at an ε, and no noise."""
    with noiseless():
        return float(_right(name, _predicted(name, relation, epsilon, [0]))["accuracy"])


def best(name: str, relation: str) -> dict[str, Any]:
    """Return the accuracy and the shares of the best that the default classifier reaches without noise."""
    study = AutoStudy(_sized(dataset(name)), relation=relation)
    return _right(name, np.eye(study.schema.n_classes, dtype=bool)[best_predictions(study)])


def _sized(data: Dataset) -> Dataset:
    """Return a data set whose size the rule may know: without privacy it is no secret."""
    schema = data.frame_schema or data.schema
    if schema.n_lower > 1:
        return data
    sized = replace(schema, n_lower=len(data.y_train))
    return replace(data, schema=sized) if data.frame_schema is None else replace(data, frame_schema=sized)
