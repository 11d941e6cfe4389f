"""Runs that differ in the split of the records as well as in the noise, so that standard errors count both."""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from benchmarks.papers.measured import Measured, percent
from dpml.datasets import load

# sets whose files state which records are for training: every run has that split
STATED_SPLIT = ("xwindows", "adult")
# models of each run, whose mean counts once
MODELS = 4


def partitions(name: str, draws: int, random_state: int, test_size: float | None = None) -> Iterator[Any]:
    """Yield a data set with another stratified split for each run, by default with as many test records as its own."""
    data = load(name)
    tables = [data.X_train, data.X_test]
    X = sparse.vstack(tables).tocsr() if sparse.issparse(data.X_train) else np.concatenate(tables)
    y = np.concatenate([data.y_train, data.y_test])
    for k in range(draws):
        train, test = train_test_split(
            np.arange(len(y)), test_size=test_size or len(data.y_test), stratify=y, random_state=1000 * random_state + k
        )
        parts = {"X_train": X[train], "y_train": y[train], "X_test": X[test], "y_test": y[test]}
        yield SimpleNamespace(name=name, schema=data.schema, **parts)


def runs(name: str, draws: int, random_state: int) -> Iterator[tuple[Any, np.random.Generator]]:
    """Yield a data set and a generator for each run, with another split unless its file states one."""
    parts: Iterable[Any]
    parts = [load(name)] * draws if name in STATED_SPLIT else partitions(name, draws, random_state)
    for k, part in enumerate(parts):
        yield part, np.random.default_rng([random_state, k])


class Found:
    """Accuracies of settings, one for each run: the mean of its models."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {}

    def add(self, setting: str, accuracies: Any) -> None:
        """Add the accuracy of a run."""
        self._values.setdefault(setting, []).append(float(np.mean(accuracies)))

    def row(self, setting: str, paper: float | None = None, title: str | None = None) -> Measured:
        """Return the mean over the runs, in per cent."""
        return percent(title or setting, paper, self._values[setting])

    def rows(self, papers: dict[str, float] | None = None) -> Iterator[Measured]:
        """Yield the means of all settings."""
        for setting in self._values:
            yield self.row(setting, (papers or {}).get(setting))

    def best(self, settings: Iterable[str]) -> str:
        """Return the setting of the largest mean, in hindsight."""
        return max(settings, key=lambda setting: np.mean(self._values[setting]))

    def gain(self, title: str, setting: str, other: str, paper: float | None = None) -> Measured:
        """Return the mean difference of two settings on the same splits, in percentage points."""
        return percent(title, paper, np.subtract(self._values[setting], self._values[other]))
