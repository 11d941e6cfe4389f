"""The look of AutoClassifier at how many ones the records of a wide binary table have."""

import numpy as np
import pytest
from observing import observing
from scipy import sparse

from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, LinearClassifier
from dpml.classifiers.automatic import asks_density
from dpml.classifiers.automatic.plan import DENSE, LEAST_SHARE, MANY_WORDS, MOST_BINARY
from dpml.mechanisms import Laplace
from dpml.schema import Schema

D = 100
SCHEMA = Schema.binary(D, n_lower=4000)


def records(density, n=4000, seed=0):
    """Records whose class ten columns tell, with a rate of ones, and their classes."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, D)) < density).astype(int)
    odds = 2 * (X[:, :10] - density) @ np.where(np.arange(10) % 2, 1, -1)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def test_where_the_schema_leaves_it_open_the_classifier_looks():
    assert asks_density(SCHEMA, 1.0, 4000)
    assert not asks_density(Schema.binary(MOST_BINARY), 1.0, 4000)
    assert asks_density(Schema.binary(MANY_WORDS), 1.0, 4000)
    assert not asks_density(Schema.binary(MANY_WORDS + 1), 1.0, 4000)
    assert not asks_density(Schema.binary(D, row_bound=round(DENSE * D) - 1), 1.0, 4000)
    # as many records as a scale of the noise
    edge = 1 / (4000 * LEAST_SHARE)
    assert [asks_density(SCHEMA, e * edge, 4000) for e in (0.99, 1.01)] == [False, True]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("density", "kind"), [(0.05, "words"), (0.5, "table")])
def test_dense_tables_are_tables_of_attributes(density, kind, make):
    X, y = records(density)
    budget = Budget(0.5)
    model = AutoClassifier(0.5, schema=SCHEMA, budget=budget, random_state=0).fit(make(X), y)
    assert model.plan_.kind == kind
    assert budget.spent == 0.5
    if kind == "table":
        test, y_test = records(density, seed=1)
        beside = LinearClassifier(0.5, schema=SCHEMA, random_state=0).fit(X, y)
        assert model.score(test, y_test) > beside.score(test, y_test) + 0.04


@pytest.mark.parametrize(("relation", "factor"), [("add-remove", 1), ("replace-one", 2)])
def test_the_look_has_its_share_and_its_sensitivity(relation, factor):
    X, y = records(0.5)
    with observing() as passed:
        model = AutoClassifier(0.5, schema=SCHEMA, relation=relation, random_state=0).fit(X, y)
    mechanism, statistic = passed[0]
    assert mechanism == Laplace(0.5 * LEAST_SHARE, factor)
    assert model.explain().set_index("part").loc["number of ones", "noise_scale"] == mechanism.scale
    # all records have many ones: a record more, or one with few, moves the statistic by what is stated
    assert statistic.tolist() == [4000]
    X[0] = 0
    with observing() as passed:
        AutoClassifier(0.5, schema=SCHEMA, relation=relation, random_state=0).fit(X, y)
    assert passed[0][1].tolist() == [3998]
