"""Long exact computations ask, between two draws, whether anybody still waits."""

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers.automatic import Layout
from dpml.classifiers.grid.cells import grid_qualities
from dpml.classifiers.grid.counts import candidate_grids
from dpml.classifiers.linear.solver import minimise
from dpml.mechanisms.interruption import checkpoint, interruptible
from dpml.mechanisms.private import Private, statistic
from dpml.schema import Feature, Schema


class Enough(BaseException):
    """Nobody waits any more."""


def asking(most):
    """Return a check that raises when it is called once more than `most` times."""
    calls = []

    def check():
        calls.append(1)
        if len(calls) > most:
            raise Enough

    return check


def choose():
    rng = np.random.default_rng(0)
    schema = Schema([Feature(name, "categorical", tuple("abcd")) for name in "vwxyz"], ("n", "y"), n_lower=400)
    frame = pd.DataFrame({name: rng.choice(list("abcd"), 500) for name in "vwxyz"})
    records = Layout.from_schema(schema).records(frame, rng.integers(0, 2, 500))
    return grid_qualities(candidate_grids(records.taxonomies, 10_000, 1e4), records, 1.0)


def fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5)) / 5
    return minimise(X, rng.choice([-1, 1], 500), 0.01, 1e-9, np.zeros((1, 5)))


def count():
    # a statistic by itself
    return statistic(np.sum)(Private(np.ones(3)))


@pytest.mark.parametrize(("computation", "passed"), [(choose, 3), (fit, 5), (count, 0)])
def test_it_is_left_in_the_middle(computation, passed):
    with pytest.raises(Enough), interruptible(asking(passed)):
        computation()


def test_nobody_asks_outside():
    with interruptible(asking(0)):
        pass
    checkpoint()
