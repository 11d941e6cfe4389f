"""Data sets and their facts: plain functions that the server and its workers call."""

import numpy as np
from numpy.typing import NDArray

from dpml.counts import contingency
from dpml.datasets import Dataset, load
from dpml.selection import mask_change_range, public_n_rows, scores_from_counts
from dpml.studies.accuracy import majority_accuracy
from dpml_app import uploaded_table
from dpml_app.data.facts import BinaryFacts
from dpml_app.jobs import kept

FloatArray = NDArray[np.float64]


def dataset(name: str) -> Dataset:
    """Return a data set, kept once loaded, or the table of a session."""
    return uploaded_table.dataset(name) if uploaded_table.is_uploaded(name) else _published(name)


@kept(3)
def _published(name: str) -> Dataset:
    return load(name)


def feature_ladder(n_total: int) -> tuple[int, ...]:
    """Return the feature counts of a plot: about five a decade, and all of them where that is quick.

    >>> feature_ladder(24)
    (1, 2, 3, 5, 7, 10, 15, 20, 24)
    """
    steps = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500]
    # a mask costs D·T steps to draw: a thousand words and more stop at T = 100
    most = n_total if n_total <= 1000 else 100
    ladder = [t for t in steps if t < most and (t * 1.12 < most)]
    return (*ladder, most)


def facts(name: str) -> BinaryFacts:
    """Return what a page shows of a data set of binary features at every setting."""
    data = dataset(name)
    schema = data.schema
    exact = contingency(data.X_train, data.y_train, schema.n_classes)
    unit = {
        (kind, relation): mask_change_range(
            kind,
            relation,
            1,
            schema.n_features,
            schema.row_bound,
            n_rows=public_n_rows(schema, relation),
            n_classes=schema.n_classes,
        )
        for kind in ("count", "mutual_information")
        for relation in ("add-remove", "replace-one")
    }
    return BinaryFacts(
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        classes=data.class_names,
        n_features=schema.n_features,
        row_bound=schema.row_bound,
        names=data.feature_names,
        groups=tuple(data.groups),
        majority=majority_accuracy(data),
        scores={kind: scores_from_counts(exact, kind) for kind in ("count", "mutual_information")},
        unit=unit,
    )


def expected_best(scores: FloatArray, p: FloatArray, n_features: int) -> float:
    """Return how many of the T best features a selection has on average; ties at place T share it.

    >>> expected_best(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.6, 0.4]), 2)
    1.5
    """
    last = np.sort(scores)[-n_features]
    above, tied = scores > last, scores == last
    return float(p[above].sum() + p[tied].sum() * (n_features - above.sum()) / tied.sum())
