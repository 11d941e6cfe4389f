"""A graphical model as a chain of conditional tables, against the product of its factors written out."""

import itertools

import numpy as np
import pytest

from dpml.publishing._publisher import drawn_in_order
from dpml.publishing.graphical.conditionals import chained, expected_counts

SIZES = [3, 2, 4, 2, 3]
CLIQUES = {
    "a tree": [(0, 1), (1, 2), (1, 3), (3, 4)],
    "a loop": [(0, 1), (2, 1), (2, 3), (0, 3), (4,)],
    "triples": [(4, 0, 2), (2, 1, 4), (3,), (0,)],
    "nothing": [],
}


def factors_of(cliques, spread=3.0):
    rng = np.random.default_rng(len(cliques))
    return [(c, rng.normal(0, spread, [SIZES[j] for j in c])) for c in cliques]


def written_out(factors):
    joint = np.zeros(SIZES)
    for place in np.ndindex(*SIZES):
        joint[place] = sum(table[tuple(place[j] for j in attributes)] for attributes, table in factors)
    joint = np.exp(joint - joint.max())
    return joint / joint.sum()


@pytest.mark.parametrize("cliques", CLIQUES.values(), ids=CLIQUES)
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (3, 1, 4, 0, 2)])
def test_every_marginal_is_that_of_the_product(cliques, order):
    factors = factors_of(cliques)
    chain, joint = chained(factors, order, SIZES), written_out(factors)
    for attributes in itertools.chain(*(itertools.permutations(range(5), k) for k in (1, 2, 3))):
        left = tuple(j for j in range(5) if j not in attributes)
        kept = sorted(attributes)
        exact = joint.sum(axis=left).transpose([kept.index(j) for j in attributes])
        np.testing.assert_allclose(expected_counts(chain, 50.0, attributes), 50 * exact, atol=1e-10)


def test_an_attribute_comes_after_those_that_it_depends_on():
    chain = chained(factors_of(CLIQUES["a loop"]), (3, 1, 4, 0, 2), SIZES)
    assert [x for x, _, _ in chain] == [2, 0, 4, 1, 3]
    before = set()
    for x, given, table in chain:
        assert set(given) <= before
        assert table.shape == tuple(SIZES[j] for j in (*given, x))
        np.testing.assert_allclose(table.sum(axis=-1), 1)
        before.add(x)


def test_factors_that_no_number_holds_still_give_probabilities():
    factors = [(c, 1e5 * table) for c, table in factors_of(CLIQUES["triples"])]
    chain = chained(factors, range(5), SIZES)
    for attributes in itertools.combinations(range(5), 3):
        counts = expected_counts(chain, 10.0, attributes)
        assert counts.sum() == pytest.approx(10)
        assert counts.min() >= 0


def test_records_are_drawn_from_the_product():
    factors = factors_of(CLIQUES["a loop"], 1.0)
    drawn = drawn_in_order(chained(factors, range(5), SIZES), 200_000, np.random.default_rng(0))
    found = np.zeros(SIZES)
    np.add.at(found, tuple(drawn[j] for j in range(5)), 1 / 200_000)
    # 4 standard errors of the most probable cell
    joint = written_out(factors)
    assert np.abs(found - joint).max() <= 4 * np.sqrt(joint.max() / 200_000)
