"""Compute synthetic tables, and models at the same ε."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.classifiers import LinearClassifier, PrivPfCClassifier
from dpml.classifiers.grid import Records, candidate_grids, grid_counts, places_of, quality_range
from dpml.classifiers.grid.cells import MOST_CELLS, SIGNAL, divided, grid_qualities, release_grid
from dpml.datasets import TAXONOMIES
from dpml.exceptions import InvalidData
from dpml.mechanisms import ExponentialMechanism
from dpml.publishing import PrivPfC
from dpml.registry import method, of_family
from dpml.schema import Feature, Schema, Taxonomy
from dpml.studies import raw_table
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.publishing import LEARNERS, one_hot, with_levels
from dpml_app.data.facts import CARDS, DatasetFacts, FirstFacts
from dpml_app.data.measures import dataset
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.jobs import Task, kept
from dpml_app.settings import EPSILONS, DatasetValues, Shared, choice, declared_by, number

# ---- Settings ------------------------------------------------------------------------------------------------------


# a table has columns of its own, and a text has words; the columns of the generated table are not on its card
PUBLISH_DATASETS = tuple(name for name, facts in CARDS.items() if facts["attributes"] or not facts["files"])
CLASSIFIERS = {"cart": "CART (tree)", "svm": "Linear SVM", "logistic": "Logistic regression"}
CLASSIFIER_WORDS = {"cart": "a CART", "svm": "a linear SVM", "logistic": "a logistic regression"}
GRIDS = (1, 10, 100, 300, 1_000, 3_000, 10_000)
# a smaller cost is not stated
LEAST = 0.0005
# candidate grids that are shown
BEST = 8
# columns of both tables that are shown, and bars of one
COLUMNS, MOST_BARS = 8, 16
# of ε, for the number of records (Su et al. 2018, Algorithm 2)
SIZE_SHARE = 0.03
# publishers that are not the library's own
REGISTERED = [each.key for each in of_family("publisher") if each.target and not each.target.startswith("dpml.")]


def shares_of(share: float) -> tuple[float, float, float]:
    """Return the shares of ε for the number of records, the choice of a grid and the counts.

    >>> shares_of(0.37)
    (0.03, 0.37, 0.6)
    """
    return SIZE_SHARE, share, round(1 - SIZE_SHARE - share, 6)


@dataclass(frozen=True)
class PublishValues(DatasetValues):
    """The settings of the Synthetic data page."""

    publish_classifier: str = choice("cart", CLASSIFIERS, "Classifier")
    publish_grids: float = choice(3_000.0, [float(n) for n in GRIDS], "Candidate grids Θ")
    publish_share: float = number(0.37, (0.02, 0.92), "Share of ε for grid selection", 0.05)
    publish_draws: int = number(10, (5, 40), "Synthetic tables", 5)

    def release_key(self, epsilon: float) -> tuple:
        """Return data set, relation, ε, Θ and the choice's share: what a release of PrivPfC depends on."""
        return self.dataset, self.relation, epsilon, int(self.publish_grids), self.publish_share

    def drawn_key(self) -> tuple:
        """Return the arguments of `drawn_table` and `release_facts`."""
        return (*self.release_key(self.epsilon), self.seed)

    def table_key(self, epsilon: float) -> tuple:
        """Return the arguments of `dpml_app.pages.publish.compute.published`."""
        return (*self.release_key(epsilon), self.publish_classifier, self.publish_draws, self.seed)


@declared_by(PublishValues)
class PublishSettings(Shared):
    """Every control that only the Publish page has."""


# ---- Tables --------------------------------------------------------------------------------------------------------


FloatArray = NDArray[np.float64]
# a table has at most so many records; the noisy counts of PPH can add up to more
MOST_RECORDS = 60_000


@dataclass(frozen=True, eq=False)
class Tables:
    """A data set's raw tables, its labels, and its schema with taxonomies."""

    schema: Schema
    train: pd.DataFrame
    y_train: NDArray
    test: pd.DataFrame
    y_test: NDArray


@kept(3)
def tables(name: str) -> Tables:
    """Return the raw tables of a data set, kept once made."""
    data = dataset(name)
    if data.frame_schema is None:
        raise InvalidData(f"{name} is text: it has {data.schema.n_features:,} words and no columns")
    schema, train, test = raw_table(data)
    classes = np.asarray(schema.classes, dtype=object)
    schema = with_levels(schema, name) if name in TAXONOMIES else schema
    return Tables(schema, train, classes[data.y_train], test, classes[data.y_test])


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishFacts(DatasetFacts):
    """Those of the Publish page: with the table's columns."""

    columns: tuple[str, ...]


def facts(name: str) -> PublishFacts:
    """Return what the page shows of a data set at every setting."""
    data, parts = dataset(name), tables(name)
    return PublishFacts(
        n_train=len(parts.y_train),
        n_test=len(parts.y_test),
        classes=data.class_names,
        columns=tuple(parts.schema.feature_names),
        majority=majority_accuracy(data),
    )


def right(parts: Tables, table: pd.DataFrame, label: NDArray, names: Sequence[str], classifier: str) -> float:
    """Return the accuracy on the test records of a classifier that learned these columns of a table.

    A table of one class, and one whose grid tells no column apart, teach its commoner class.
    """
    kinds, counts = np.unique(label.astype(str), return_counts=True)
    if len(kinds) < 2 or not names:
        guess = kinds[counts.argmax()] if len(kinds) else str(parts.schema.classes[0])
        return float((parts.y_test.astype(str) == guess).mean())
    model = LEARNERS[classifier]().fit(one_hot(table, parts.schema, names), label)
    return float((model.predict(one_hot(parts.test, parts.schema, names)) == parts.y_test).mean())


@kept(64)
def on_true_table(name: str, classifier: str) -> float:
    """Return the accuracy of a classifier that is trained on the true records."""
    parts = tables(name)
    return right(parts, parts.train, parts.y_train, parts.schema.feature_names, classifier)


def fitted(
    kind: type, name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int, draw: int
) -> Any:
    """Return a publisher or a classifier with a grid, fitted to a data set; `draw` is the run.

    `share` is the choice's share of ε. The number of records gets 3%, and the counts get the rest.
    """
    parts = tables(name)
    options = {"relation": relation, "max_grids": max_grids, "shares": shares_of(share), "schema": parts.schema}
    return kind(epsilon, random_state=np.random.default_rng([seed, draw]), **options).fit(parts.train, parts.y_train)


def released_table(model: PrivPfC) -> tuple[pd.DataFrame, NDArray]:
    """Return a sample of a fitted publisher and its labels, of as many records as its noisy counts add up to."""
    table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)))
    return table, table[model.label_name_].to_numpy(dtype=object)


def published(
    name: str, relation: str, epsilon: float, max_grids: int, share: float, classifier: str, draws: int, seed: int
) -> FloatArray:
    """Return the test accuracies of a classifier on tables of PrivPfC, one for each draw."""
    accuracies = []
    for draw in range(draws):
        model = fitted(PrivPfC, name, relation, epsilon, max_grids, share, seed, draw)
        # all other columns of a grid's table are noise by design
        accuracies.append(right(tables(name), *released_table(model), list(model.levels_), classifier))
    return np.array(accuracies)


def registered(
    publisher: str, name: str, relation: str, epsilon: float, classifier: str, draws: int, seed: int
) -> FloatArray:
    """Return the test accuracies of a classifier on tables of a registered publisher, one for each draw."""
    parts, accuracies = tables(name), []
    for draw in range(draws):
        options = {"relation": relation, "schema": parts.schema, "random_state": np.random.default_rng([seed, draw])}
        model = method(publisher, "publisher").make(epsilon, **options).fit(parts.train, parts.y_train)
        table = model.sample()
        label = table.pop(model.label_name_).to_numpy(dtype=object)
        accuracies.append(right(parts, table, label, list(table), classifier))
    return np.array(accuracies)


def cells(name: str, relation: str, epsilon: float, max_grids: int, share: float, draws: int, seed: int) -> FloatArray:
    """Return the test accuracies of PrivPfCClassifier: the same releases as the tables', without a table."""
    parts, key = tables(name), (name, relation, epsilon, max_grids, share, seed)
    return np.array([fitted(PrivPfCClassifier, *key, d).score(parts.test, parts.y_test) for d in range(draws)])


def linear(name: str, relation: str, epsilon: float, draws: int, seed: int) -> FloatArray:
    """Return the test accuracies of LinearClassifier, which sees the binary columns of the same records."""
    data, accuracies = dataset(name), []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        model = LinearClassifier(epsilon, relation=relation, schema=data.schema, random_state=rng)
        truth = np.asarray(data.schema.classes)[data.y_test]
        accuracies.append(model.fit(data.X_train, data.y_train).score(data.X_test, truth))
    return np.array(accuracies)


def drawn_table(name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int) -> dict[str, Any]:
    """Return the first of the tables whose accuracies `published` returns, beside the non-private one. For study.

    Result: ``names`` of the columns that are shown: the class, those of the grid, then the first of the others.
    ``groups``: the names of each one's bars. ``shares`` by ``true`` and ``published``: the share of the table in each
    bar. ``kept``: all columns of the grid, of ``n_columns``.
    """
    parts = tables(name)
    model, schema = fitted(PrivPfC, name, relation, epsilon, max_grids, share, seed, 0), parts.schema
    both = {"true": (parts.train, np.asarray(parts.y_train)), "published": released_table(model)}
    shown = sorted(schema.features, key=lambda f: f.name not in model.levels_)[: COLUMNS - 1]
    return {
        "names": [str(dataset(name).card["label"]["name"]), *(f.name for f in shown)],
        "groups": [[str(c) for c in schema.classes], *(f.taxonomy.groups(_level(f)) for f in shown)],
        "shares": {
            of: [_label_shares(label, schema.classes), *(_shares(frame, schema, f) for f in shown)]
            for of, (frame, label) in both.items()
        },
        "kept": [f.name for f in schema.features if f.name in model.levels_],
        "n_columns": schema.n_features,
    }


def _level(feature: Feature) -> int:
    """Return the finest level that has room for its bars, or the finest where none has."""
    sizes = feature.taxonomy.sizes
    return max((level for level, size in enumerate(sizes) if 1 < size <= MOST_BARS), default=len(sizes) - 1)


def _rounded(counts: NDArray) -> list[float]:
    return [round(float(share), 4) for share in counts / max(counts.sum(), 1)]


def _label_shares(label: NDArray, classes: Any) -> list[float]:
    texts = label.astype(str)
    return _rounded(np.array([(texts == str(c)).sum() for c in classes]))


def _shares(frame: pd.DataFrame, schema: Schema, feature: Feature) -> list[float]:
    """Return the share of a table in each group of a column."""
    level = _level(feature)
    (places,) = places_of(frame[[feature.name]], schema.subset([feature.name]), [feature.taxonomy])
    counts = np.bincount(feature.taxonomy.above(level)[places], minlength=feature.taxonomy.sizes[level])
    return _rounded(counts)


# ---- Release of a grid ---------------------------------------------------------------------------------------------


@kept(3)
def records(name: str) -> Records:
    """Return the training records as groups of the finest levels; they are private."""
    parts = tables(name)
    X, codes, schema = parts.schema.check_table(parts.train, parts.y_train)
    taxonomies = tuple(feature.taxonomy for feature in schema.features)
    return Records(places_of(X, schema, taxonomies), codes, schema.n_classes, taxonomies)


def release_facts(name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int) -> dict[str, Any]:
    """Return the first table's release: the same grid and counts.

    Result: ``levels`` of the chosen grid, one for each attribute, and ``n_candidates``. Of the best candidates the
    ``chances``, ``names`` and ``correct`` (the share of records that a grid without noise classifies correctly). Of the
    chosen one its ``place`` among all (0: the best), its ``chance`` and its name ``chosen``.
    """
    private, rng = records(name), np.random.default_rng([seed, 0])
    options: dict[str, Any] = {"max_grids": max_grids, "shares": shares_of(share), "relation": relation}
    grid = release_grid(private, epsilon, rng=rng, **options)
    # the choice, given the noisy number of records that limits the candidates
    _size, for_choice, for_counts = divided(epsilon, shares_of(share))
    pool = candidate_grids(private.taxonomies, max_grids, min(grid.n * for_counts / SIGNAL, float(MOST_CELLS)))
    qualities = grid_qualities(pool, private, for_counts)
    every = ExponentialMechanism(for_choice, quality_range(for_counts, relation)).probabilities(qualities)
    order = np.argsort(-qualities, kind="stable")
    best = [pool.levels(int(i)) for i in order[:BEST]]
    place = next(k for k, i in enumerate(order.tolist()) if pool.levels(i) == grid.levels)
    return {
        "levels": grid.levels,
        "n_candidates": grid.n_candidates,
        "chances": every[order[:BEST]],
        "names": tuple(_grid_name(grid.taxonomies, levels) for levels in best),
        "correct": np.array([grid_counts(private, levels).max(axis=0).sum() for levels in best]) / len(private.codes),
        "place": place,
        "chance": float(every[order[place]]),
        "chosen": _grid_name(grid.taxonomies, grid.levels),
    }


def _grid_name(taxonomies: tuple[Taxonomy, ...], levels: tuple[int, ...]) -> str:
    """Return a grid in words: each attribute that it tells apart, with its number of groups."""
    parts = [f"{t.name} in {t.sizes[level]}" for t, level in zip(taxonomies, levels, strict=True) if level]
    return " × ".join(parts) or "one cell"


# ---- Shipped results -----------------------------------------------------------------------------------------------


SHIPPED = Path(__file__).parent / "shipped"
read_own = partial(read_shipped, SHIPPED)


def default_values(name: str, classifier: str) -> PublishValues:
    """Return the settings that results ship for: the defaults, on one data set."""
    return PublishValues.of(PublishSettings(dataset=name, publish_classifier=classifier))


def shipped_facts(name: str) -> FirstFacts | None:
    """Return what the first picture of a data set shows besides results; None if nothing ships."""
    kept = read_own(name)
    return FirstFacts(majority=kept["majority"], classes=tuple(kept["classes"])) if kept else None


def model_tasks(values: PublishValues, epsilon: float) -> dict[str, Task]:
    """Return the tasks of what the same ε trains: by the cells of a grid, and linear."""
    drawn = values.publish_draws, values.seed
    key = values.dataset, values.relation, epsilon
    return {
        "cells": Task(cells, (*values.release_key(epsilon), *drawn)),
        "linear": Task(linear, (*key, *drawn)),
    }


def table_task(values: PublishValues, epsilon: float) -> Task:
    """Return the task of the classifier on published tables."""
    return Task(published, values.table_key(epsilon))


def drawn_task(values: PublishValues) -> Task:
    """Return the task of the table that is shown."""
    return Task(drawn_table, values.drawn_key())


def tasks_at(values: PublishValues, epsilon: float) -> dict[str, Task]:
    """Return the tasks of a table and of models for the same ε, by series."""
    return {"table": table_task(values, epsilon), **model_tasks(values, epsilon)}


def all_tasks_at(values: PublishValues, epsilon: float) -> dict[str, Task]:
    """Return these and the tasks of registered publishers, by series."""
    key = values.dataset, values.relation, epsilon, values.publish_classifier, values.publish_draws, values.seed
    return tasks_at(values, epsilon) | {name: Task(registered, (name, *key)) for name in REGISTERED}


def true_task(values: PublishValues) -> Task:
    """Return the task of the classifier on the true records."""
    return Task(on_true_table, (values.dataset, values.publish_classifier))


@cache
def shipped_results(name: str) -> dict[Task, Any]:
    """Return what ships of a data set, by the tasks that would compute it."""
    kept = read_own(name)
    by_task: dict[Task, Any] = {drawn_task(default_values(name, "cart")): kept["drawn"]} if kept else {}
    for classifier, of in kept.get("tables", {}).items():
        values = default_values(name, classifier)
        by_task[true_task(values)] = of["true"] / kept["records"]
        for place, epsilon in enumerate(EPSILONS):
            hits = {"table": of["published"][place], **{m: kept[m][place] for m in ("cells", "linear")}}
            for series, task in tasks_at(values, epsilon).items():
                by_task[task] = np.array(hits[series]) / kept["records"]
    return by_task


def make_shipped(name: str, classifiers: tuple[str, ...], epsilons: tuple[float, ...] = EPSILONS) -> dict[str, Any]:
    """Return what ships of a data set, computed."""
    known = facts(name)

    def hits(task: Task) -> Any:
        return np.rint(np.asarray(task.function(*task.arguments)) * known.n_test).astype(int).tolist()

    models = [model_tasks(default_values(name, "cart"), epsilon) for epsilon in epsilons]
    return {
        "made with": made_with(*VERSIONS, "pandas"),
        "classes": [str(c) for c in known.classes],
        "records": known.n_test,
        "majority": known.majority,
        "tables": {
            c: {
                "true": hits(true_task(default_values(name, c))),
                "published": [hits(table_task(default_values(name, c), epsilon)) for epsilon in epsilons],
            }
            for c in classifiers
        },
        "drawn": drawn_table(*default_values(name, "cart").drawn_key()),
        **{m: [hits(of[m]) for of in models] for m in ("cells", "linear")},
    }
