"""PrivBayes: how much one record changes its scores by enumeration, its network, its marginals, and what is drawn."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from observing import observing
from pet_table import SCHEMA, people
from sklearn.metrics import mutual_info_score

from dpml.classifiers.grid import Records
from dpml.mechanisms.private import opened
from dpml.publishing import PrivBayes, privbayes
from dpml.publishing.privbayes import (
    dependence,
    dependence_range,
    information_sensitivity,
    mutual_information,
    parent_sets,
    release_network,
)
from dpml.schema import Feature, Schema

SHAPES = [((2, 2), 4), ((2, 3), 2), ((3, 3), 1)]


def neighbours(shape, most):
    """All tables of counts up to `most`, each with one record more in every cell."""
    for cells in itertools.product(range(most + 1), repeat=math.prod(shape)):
        table = np.array(cells).reshape(shape)
        for place in np.ndindex(shape):
            more = table.copy()
            more[place] += 1
            yield table, more


@pytest.mark.parametrize(("shape", "most"), SHAPES)
def test_one_record_changes_dependence_by_less_than_two(shape, most):
    for table, more in neighbours(shape, most):
        n = table.sum()
        assert abs(dependence(more) - dependence(table)) <= 2 * n / (n + 1) + 1e-9
    assert dependence_range("dependence") == 4
    assert dependence_range("dependence", "replace-one") == 8


def test_the_sensitivity_of_dependence_is_reached():
    for n in (1, 10, 1000):
        assert dependence(np.array([[n, 0], [0, 1]])) == pytest.approx(2 * n / (n + 1))
    # a record where far too few are, in a row and a column that few others share
    a, n = 3000, 10**6
    table = np.array([[0, a], [a, n - 2 * a]])
    more = table + np.array([[1, 0], [0, 0]])
    assert dependence(more) - dependence(table) == pytest.approx(-2.0, abs=0.02)


@pytest.mark.parametrize(("shape", "most"), others_in_full(SHAPES, first=2))
def test_one_record_changes_mutual_information_as_published(shape, most):
    """Under add/remove and under replace-one, with as many records as the bound says and more."""
    largest: dict[int, float] = {}
    for table, more in neighbours(shape, most):
        n = int(table.sum())
        change = abs(mutual_information(more) - mutual_information(table))
        largest[n] = max(largest.get(n, 0.0), change)
        for place in np.ndindex(shape):
            if more[place]:
                replaced = more.copy()
                replaced[place] -= 1
                change = abs(mutual_information(replaced) - mutual_information(table))
                largest[n] = max(largest[n], change)
    for n, change in largest.items():
        assert change <= information_sensitivity(max(n, 1)) + 1e-12
    assert max(largest.values()) >= 1.0


@pytest.mark.parametrize("n_lower", [1, 4, 30])
@pytest.mark.parametrize(("shape", "most"), others_in_full(SHAPES, SHAPES[1]))
def test_fewer_records_than_promised_change_it_no_more(n_lower, shape, most):
    most_change = max(
        abs(mutual_information(more, n_lower) - mutual_information(table, n_lower))
        for table, more in neighbours(shape, most)
    )
    assert most_change <= information_sensitivity(n_lower) + 1e-12


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_range_of_mutual_information_between_candidates(n):
    """All tables of n records of three bits, and all that differ in one record."""
    values, scores = np.array(list(itertools.product((0, 1), repeat=3))), {}
    for places in itertools.combinations_with_replacement(range(8), n):
        found = []
        for pair in itertools.combinations(range(3), 2):
            counts = np.zeros((2, 2))
            np.add.at(counts, tuple(values[list(places)][:, pair].T), 1)
            found.append(mutual_information(counts))
        scores[places] = np.array(found)
    largest = max(
        np.ptp(scores[tuple(sorted((*places[:i], other, *places[i + 1 :])))] - own)
        for places, own in scores.items()
        for i, other in itertools.product(range(n), range(8))
    )
    assert 0.6 * dependence_range("mutual_information", n_lower=n) < largest
    assert largest <= dependence_range("mutual_information", "replace-one", n_lower=n) + 1e-12


def test_the_bound_falls_and_the_score_is_mutual_information():
    bounds = [information_sensitivity(n) for n in range(2, 2000)]
    assert (np.diff(bounds) < 0).all()
    rng = np.random.default_rng(0)
    x, z = rng.integers(3, size=200), rng.integers(4, size=200)
    table = np.zeros((3, 4), dtype=int)
    np.add.at(table, (x, z), 1)
    assert mutual_information(table) == pytest.approx(mutual_info_score(x, z) / math.log(2))
    joint = table / 200
    half = np.abs(joint - joint.sum(axis=1)[:, None] * joint.sum(axis=0)).sum() / 2
    assert dependence(table) == pytest.approx(200 * half)


@pytest.mark.parametrize("most", [0.5, 1, 2, 5, 6, 24, 1e9])
@pytest.mark.parametrize("degree", [0, 1, 2, 4])
def test_parent_sets_are_the_largest_that_fit(most, degree):
    known, sizes = [0, 2, 3, 5], [2, 99, 3, 2, 99, 4]
    subsets = [s for k in range(degree + 1) for s in itertools.combinations(known, k)]
    fit = [s for s in subsets if math.prod(sizes[j] for j in s) <= most]
    expected = [s for s in fit if not any(set(s) < set(t) for t in fit)] or [()]
    assert sorted(parent_sets(known, sizes, most, degree)) == sorted(expected)


def records_of(frame):
    from dpml.classifiers.grid import places_of

    X, codes, _ = SCHEMA.check_table(frame.drop(columns="wealth"), frame["wealth"])
    taxonomies = tuple(f.taxonomy for f in SCHEMA.features)
    return Records(places_of(X, SCHEMA, taxonomies), codes, 2, taxonomies)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_without_noise_the_tables_are_the_marginals(degree):
    records = records_of(people(800))
    network = release_network(records, 1e9, degree=degree, rng=np.random.default_rng(0))
    values = [*records.places, records.codes]
    assert sorted(x for x, _ in network.pairs) == [0, 1, 2, 3, 4]
    before: set[int] = set()
    for (x, parents), table in zip(network.pairs, network.tables, strict=True):
        assert set(parents) <= before
        assert len(parents) == min(degree, len(before))
        before.add(x)
        expected = np.zeros(table.shape)
        np.add.at(expected, tuple(values[j] for j in (*parents, x)), 1)
        np.testing.assert_allclose(table, expected, atol=1e-3)


@pytest.mark.parametrize("score", ["dependence", "mutual_information"])
def test_what_is_drawn_has_the_joint_shares(score):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 4000), "b": rng.integers(2, size=4000)})
    frame["c"] = np.where((frame["a"] == "x") ^ (frame["b"] == 1), 1, 0)
    schema = Schema((Feature("a", "categorical", tuple("xyz")), Feature("b")), n_lower=1000)
    model = PrivBayes(1e6, degree=2, score=score, schema=schema, random_state=0).fit(frame, "c")
    table = model.sample(20_000)
    for key in itertools.product("xyz", (0, 1), (0, 1)):
        shares = [((t["a"] == key[0]) & (t["b"] == key[1]) & (t["c"] == key[2])).mean() for t in (frame, table)]
        assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_many_attributes_have_fewer_parents(monkeypatch):
    X = np.random.default_rng(0).integers(2, size=(300, 12))
    monkeypatch.setattr(privbayes, "MOST_CANDIDATES", 40)
    with observing() as passed:
        model = PrivBayes(1e6, degree=3, random_state=0).fit(X, X[:, 0])
    seen = [np.size(opened(statistic)) for _, statistic in passed]
    assert seen[0] == 1
    assert max(seen[1:-1]) <= 42  # 40, or each of the others with each of those before it
    assert {len(parents) for _, parents in model.network_} == {0, 1, 2, 3}
