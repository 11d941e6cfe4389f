"""What the Publish page computes, as plain functions of plain values: the server and its workers call the same ones.

Every table and every model is of a fit of its own. A draw's release of a grid is the same for the table, for the
classifier by its cells and for the plots of one release: they take the same random numbers.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml.classifiers import LinearClassifier, PrivPfCClassifier
from dpml.datasets import TAXONOMIES
from dpml.exceptions import InvalidData
from dpml.registry import method, of_family
from dpml.schema import Schema
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.publishing import LEARNERS, one_hot, with_levels
from dpml_app.data.facts import DatasetFacts
from dpml_app.data.measures import dataset
from dpml_app.data.two_tables import side_by_side
from dpml_app.pages.publish.settings import RECORDED, shares_of
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
# a table has at most so many records; the noisy counts of PPH can add up to more
MOST_RECORDS = 60_000
RIVALS = tuple(each.key for each in of_family("publisher", "table") if each.key not in RECORDED.values())


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
    schema = data.frame_schema
    if schema is None:
        raise InvalidData(f"{name} is text: it has {data.schema.n_features:,} words and no columns")
    if name in TAXONOMIES:
        schema = with_levels(schema, name)
    label = data.card["label"]["name"]
    parts = []
    for split in ("train", "test"):
        part = data.frame.loc[split].reset_index(drop=True)
        parts += [part.drop(columns=label), part[label].to_numpy()]
    return Tables(schema, *parts)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishFacts(DatasetFacts):
    """Those of the Publish page: with the table's columns."""

    columns: tuple[str, ...]


def facts(name: str) -> PublishFacts:
    """Return what the page shows of a data set at every setting."""
    data, parts = dataset(name), tables(name)
    return PublishFacts(
        title=data.card.get("title", name),
        n_train=len(parts.y_train),
        n_test=len(parts.y_test),
        classes=data.class_names,
        columns=tuple(parts.schema.feature_names),
        majority=majority_accuracy(data),
    )


# ---- classifiers on tables ----------------------------------------------------------------------------------------


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


def _without_size(parts: Tables) -> Tables:
    """Return a data set that says nothing of its number of records."""
    return replace(parts, schema=replace(parts.schema, n_rows=None, n_lower=1))


def _fewer(parts: Tables, n_records: int, seed: int, draw: int) -> Tables:
    """Return a data set with some of its training records, others in each draw; 0 for all."""
    if not n_records:
        return parts
    rows = np.random.default_rng([seed, draw, n_records]).choice(len(parts.y_train), n_records, replace=False)
    return replace(parts, train=parts.train.iloc[rows], y_train=parts.y_train[rows])


def on_few_records(name: str, classifier: str, n_records: int, draws: int, seed: int) -> FloatArray:
    """Return the accuracies of a classifier on the true records that the same draws of a publisher get."""
    parts, accuracies = tables(name), []
    for draw in range(draws):
        some = _fewer(parts, n_records, seed, draw)
        accuracies.append(right(some, some.train, some.y_train, parts.schema.feature_names, classifier))
    return np.array(accuracies)


def _on_tables(
    parts: Tables, make: Callable[[Any], Any], classifier: str, draws: int, seed: int, n_records: int = 0
) -> dict[str, FloatArray]:
    """Return accuracies on published tables, and the seconds of each fit; `make` takes a draw's random numbers."""
    accuracies, seconds = [], []
    for draw in range(draws):
        some = _fewer(parts, n_records, seed, draw)
        begun = time.perf_counter()
        model = make(np.random.default_rng([seed, draw])).fit(some.train, some.y_train)
        seconds.append(time.perf_counter() - begun)
        if not hasattr(model, "sample"):  # a tree is not for tables: its own predictions
            accuracies.append(float((model.predict(parts.test) == parts.y_test).mean()))
            continue
        released = hasattr(model, "cell_counts_")
        table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)) if released else None)
        label = table[model.label_name_].to_numpy(dtype=object)
        # all other columns of a grid's table are noise by design
        names = list(model.levels_) if hasattr(model, "levels_") else parts.schema.feature_names
        accuracies.append(right(parts, table, label, names, classifier))
    return {"accuracy": np.array(accuracies), "seconds": np.array(seconds)}


def grid_options(parts: Tables, relation: str, max_grids: int, share: float) -> dict[str, Any]:
    """Return the options of PrivPfC on a data set."""
    return {"relation": relation, "max_grids": max_grids, "shares": shares_of(share), "schema": parts.schema}


def published(
    name: str,
    relation: str,
    epsilon: float,
    max_grids: int,
    share: float,
    n_columns: int,
    classifier: str,
    draws: int,
    seed: int,
    n_records: int = 0,
) -> FloatArray:
    """Return the test accuracies of a classifier on tables of PrivPfC, one for each draw.

    `share` is the choice's share of ε; the number of records has 3 %, and the counts have the rest. `n_columns` is the
    number of columns that the table has, the first ones, and `n_records` that of its training records; 0 for all.
    """
    parts = _without_size(tables(name)) if n_records else tables(name)
    if n_columns:
        some = parts.schema.feature_names[:n_columns]
        parts = replace(parts, schema=parts.schema.subset(some), train=parts.train[some], test=parts.test[some])
    options = grid_options(parts, relation, max_grids, share)
    publisher = partial(make_publisher, "privpfc", epsilon, options)
    return _on_tables(parts, publisher, classifier, draws, seed, n_records)["accuracy"]


def make_publisher(publisher: str, epsilon: float, options: dict[str, Any], rng: np.random.Generator) -> Any:
    """Return a publisher of `dpml.registry` that is not fitted yet."""
    return method(publisher, "publisher").make(epsilon, random_state=rng, **options)


def rival(
    publisher: str,
    name: str,
    relation: str,
    epsilon: float,
    max_grids: int,
    classifier: str,
    draws: int,
    seed: int,
    n_records: int = 0,
) -> dict[str, FloatArray]:
    """Return ``accuracy`` on the tables of a publisher with its default shares, and ``seconds`` of each fit.

    `n_records` is the number of training records, 0 for all. A tree publishes no table: its accuracy is its own.
    """
    parts = _without_size(tables(name)) if n_records else tables(name)
    options: dict[str, Any] = {"relation": relation, "schema": parts.schema}
    if publisher.startswith("privpfc"):
        options["max_grids"] = max_grids
    make = partial(make_publisher, publisher, epsilon, options)
    return _on_tables(parts, make, classifier, draws, seed, n_records)


def column_ladder(n_columns: int) -> tuple[int, ...]:
    """Return the numbers of columns that are tried.

    >>> column_ladder(14), column_ladder(3)
    ((1, 2, 3, 4, 6, 8, 11, 14), (1, 2, 3))
    """
    steps = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 85, 113, 150, 200, 270, 360)
    return (*(n for n in steps if n < n_columns), n_columns)


def record_ladder(n_records: int) -> tuple[int, ...]:
    """Return the numbers of training records that are tried besides all of them.

    >>> record_ladder(20_000), record_ladder(150)
    ((100, 300, 1000, 3000, 10000), (15, 50))
    """
    steps = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    few = (n_records // 10, n_records // 3)
    return tuple(n for n in steps if n <= 0.7 * n_records) if n_records >= 500 else few


# ---- the same ε spent on a model ----------------------------------------------------------------------------------


def cells(name: str, relation: str, epsilon: float, max_grids: int, share: float, draws: int, seed: int) -> FloatArray:
    """Return the test accuracies of PrivPfCClassifier: the same releases as the tables', without a table."""
    parts, accuracies = tables(name), []
    options = grid_options(parts, relation, max_grids, share)
    for draw in range(draws):
        model = PrivPfCClassifier(epsilon, random_state=np.random.default_rng([seed, draw]), **options)
        predicted = model.fit(parts.train, parts.y_train).predict(parts.test)
        accuracies.append(float((predicted == parts.y_test).mean()))
    return np.array(accuracies)


def linear(name: str, relation: str, epsilon: float, draws: int, seed: int) -> FloatArray:
    """Return the test accuracies of LinearClassifier, which sees the binary columns of the same records."""
    data = dataset(name)
    codes = np.asarray(data.schema.classes)[data.y_test]
    accuracies = []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        model = LinearClassifier(epsilon, relation=relation, schema=data.schema, random_state=rng)
        predicted = model.fit(data.X_train, data.y_train).predict(data.X_test)
        accuracies.append(float((predicted == codes).mean()))
    return np.array(accuracies)


def drawn_table(
    name: str, relation: str, epsilon: float, max_grids: int, share: float, seed: int, draw: int
) -> dict[str, Any]:
    """Return one of the tables whose accuracies `dpml_app.pages.publish.compute.published` returns.

    Result: as `side_by_side` returns it; `kept` are the columns of the grid.
    """
    parts = tables(name)
    publisher = make_publisher(
        "privpfc", epsilon, grid_options(parts, relation, max_grids, share), np.random.default_rng([seed, draw])
    )
    model = publisher.fit(parts.train, parts.y_train)
    table = model.sample(int(min(model.cell_counts_.sum(), MOST_RECORDS)))
    published = table, table[model.label_name_].to_numpy(dtype=object)
    kept = [f.name for f in parts.schema.features if f.name in model.levels_]
    label_name = str(dataset(name).card["label"]["name"])
    return side_by_side((parts.train, np.asarray(parts.y_train)), published, parts.schema, kept, label_name)
