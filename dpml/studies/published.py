"""Classifiers that learn from a synthetic table: its columns as numbers, and the ones that are compared."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from dpml.datasets import taxonomies
from dpml.schema import Schema

# scikit-learn's tree with rpart's smallest node and leaf, pruned
CART = {"min_samples_split": 20, "min_samples_leaf": 7, "ccp_alpha": 1e-3, "random_state": 0}
LEARNERS: dict[str, Callable[[], Any]] = {
    "cart": lambda: DecisionTreeClassifier(**CART),
    "svm": lambda: make_pipeline(StandardScaler(), LinearSVC(dual=False)),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
}


def with_levels(schema: Schema, name: str) -> Schema:
    """Return a schema whose features have the taxonomies that are stated for a data set."""
    levels: dict[str, Any] = taxonomies(name)
    return replace(schema, features=tuple(replace(f, levels=levels[f.name]) for f in schema.features))


def one_hot(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> NDArray[np.float64]:
    """Return columns as numbers, a categorical one as a column for each category of its domain."""
    columns = {f.name: f for f in schema.features}
    cells = {
        name: pd.Categorical(frame[name], categories=columns[name].categories)
        if columns[name].categories
        else frame[name]
        for name in names
    }
    return np.asarray(pd.get_dummies(pd.DataFrame(cells), dtype=float))
