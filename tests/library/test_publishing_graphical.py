"""MST and AIM: releases under ε and (ε, δ), their graphical model against the product of its factors, and tables."""

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from observing import assert_function_of_releases
from pet_table import SCHEMA, people

from dpml.audit import recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.budget.conversion import zcdp_epsilon, zcdp_rho
from dpml.classifiers.grid import Records, places_of
from dpml.exceptions import BudgetExceeded, InvalidParameter, MissingExtra
from dpml.mechanisms import ExponentialMechanism
from dpml.mechanisms.source import Source
from dpml.publishing import graphical
from dpml.publishing._publisher import drawn_in_order
from dpml.publishing.graphical import (
    AIM,
    MST,
    Marginal,
    Spending,
    chained,
    expected_counts,
    independent,
    release_aim,
    release_mst,
)


def records_of(frame):
    X, codes, _ = SCHEMA.check_table(frame.drop(columns="wealth"), frame["wealth"])
    taxonomies = tuple(f.taxonomy for f in SCHEMA.features)
    return Records(places_of(X, SCHEMA, taxonomies), codes, 2, taxonomies)


def exact(records, attributes):
    values = [*records.places, records.codes]
    sizes = [*(t.sizes[-1] for t in records.taxonomies), records.n_classes]
    table = np.zeros([sizes[j] for j in attributes])
    np.add.at(table, tuple(values[j] for j in attributes), 1)
    return table


@pytest.mark.parametrize(("delta", "error"), [(0.0, 1e-3), (1e-6, 0.1)])
@pytest.mark.parametrize("release", [release_mst, release_aim])
def test_without_noise_the_marginals_are_the_records(release, delta, error):
    records = records_of(people(800))
    found = release(records, 1e9, delta=delta, rng=np.random.default_rng(0))
    assert [m.attributes for m in found[:5]] == [(0,), (1,), (2,), (3,), (4,)]
    for marginal in found:
        np.testing.assert_allclose(marginal.counts, exact(records, marginal.attributes), atol=error)
        assert marginal.deviation < error


@pytest.mark.parametrize("kind", others_in_full([MST, AIM], MST))
def test_a_fit_is_a_function_of_its_releases(kind):
    def call(frame):
        model = kind(1.0, schema=schema, random_state=0).fit(frame.drop(columns=["noise", "pet"]), "wealth")
        return model.marginals_, model.sample()

    schema = SCHEMA.subset(["age", "owner"])
    assert_function_of_releases(call, people(3000), people(40, 7).assign(wealth="rich"))


def test_pairs_are_a_tree_of_the_most_dependent_attributes():
    records = records_of(people(3000))
    found = [m.attributes for m in release_mst(records, 1e9, rng=np.random.default_rng(0))[5:]]
    expected = independent([Marginal((j,), exact(records, (j,)), 1.0) for j in range(5)], [4, 3, 2, 16, 2])
    distance = {
        pair: np.abs(exact(records, pair) - expected(pair)).sum() for pair in itertools.combinations(range(5), 2)
    }
    # Kruskal's tree
    part, tree = list(range(5)), []
    for a, b in sorted(distance, key=distance.get, reverse=True):
        if part[a] != part[b]:
            tree.append((a, b))
            part = [part[a] if p == part[b] else p for p in part]
    assert found == tree
    assert {(0, 4), (1, 4)} <= set(found)  # the class and what it follows from


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", [MST, AIM])
def test_a_fit_costs_between_half_of_epsilon_and_epsilon(kind, relation, monkeypatch):
    """Without the model of the extra, which sees released counts alone."""
    monkeypatch.setattr(graphical, "_expected", independent)
    monkeypatch.setattr(graphical, "_small", lambda *_: True)
    monkeypatch.setattr(kind, "_check_parameters", lambda _: None)
    monkeypatch.setattr(kind, "_model", lambda *_: None)
    frame = people(60)
    more = [frame[-1:].assign(age=1, pet="carp", noise=-1.0)] if relation == "replace-one" else []
    tables = frame, pd.concat([frame[:-1], *more])
    cost = recorded_cost(
        lambda table: kind(1.0, schema=SCHEMA, relation=relation, random_state=0).fit(table, "wealth"), *tables
    )
    assert 0.5 < cost <= 1 + 1e-9


@pytest.mark.parametrize("kind", [MST, AIM])
def test_without_the_extra_nothing_is_charged(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "mbi", None)  # as where it is not installed
    budget = Budget(1.0)
    with pytest.raises(MissingExtra, match=r"dpml-explorer\[graphical\]"):
        kind(1.0, schema=SCHEMA, budget=budget, random_state=0).fit(people(50), "wealth")
    assert not len(budget.ledger)


@pytest.mark.parametrize("kind", [MST, AIM])
def test_a_table_follows_the_records_and_satisfies_the_schema(kind):
    schema, frame = SCHEMA.subset(["age", "owner"]), people(3000).drop(columns=["noise", "pet"])
    budget = Budget(50.0)
    model = kind(50.0, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    assert budget.spent == pytest.approx(50.0)
    table = model.sample(4000)
    schema.check_table(table[schema.feature_names], table["wealth"])
    old = [((t["age"] >= 40) & (t["wealth"] == "rich")).mean() for t in (frame, table)]
    assert old[0] == pytest.approx(old[1], abs=0.04)
    assert model.sample(0).shape == (0, 3)
    assert model.sample(30, random_state=1).equals(model.sample(30, random_state=1))
    with pytest.raises(BudgetExceeded):
        kind(1.0, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")


DELTA = 1e-6


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("release", [release_mst, release_aim])
def test_no_neighbours_of_a_small_table_cost_more(release, relation):
    """All records that can be added to eight records, or put in the place of the last one."""
    frame = people(8)
    ages, pets, owners = (frame[name].unique()[:2] for name in ("age", "pet", "owner"))
    last = frame.iloc[[-1]]
    others = [
        last.assign(age=age, pet=pet, owner=owner, wealth=wealth)
        for age in ages
        for pet in pets
        for owner in owners
        for wealth in ("rich", "poor")
    ]
    costs = []
    for other in others:
        table = frame if relation == "add-remove" else frame[:-1]
        neighbour = pd.concat([table, other], ignore_index=True)

        def call(data):
            rng = np.random.default_rng(0)
            return release(records_of(data), 1.0, delta=DELTA, relation=relation, rng=rng)

        costs.append(recorded_cost(call, frame, neighbour, delta=DELTA, pasts=1))
    assert 0.5 < max(costs) <= 1 + 1e-9


def test_gaussian_noise_and_bounded_choices_add_up_as_rho():
    """A naive sum of the ρ of each release, from its statistics, has the ε that the recorder states."""
    frame = people(60)
    tables = frame, frame[:-1]

    def call(data):
        return release_mst(records_of(data), 1.0, delta=DELTA, rng=np.random.default_rng(0))

    rho = 0.0
    for release in recorded_releases(call, *tables):
        one, two = (np.asarray(s, dtype=float) for s in (release.statistic, release.neighbour_statistic))
        if isinstance(release.mechanism, ExponentialMechanism):
            rho += np.ptp(one - two) ** 2 / 8
        else:
            rho += ((one - two) ** 2).sum() / (2 * release.mechanism.scale**2)
    assert recorded_cost(call, *tables, delta=DELTA, pasts=1) == pytest.approx(zcdp_epsilon(rho, DELTA), rel=1e-6)
    assert recorded_cost(call, *tables, pasts=1) == math.inf


def test_a_secure_release_is_of_integers():
    for release in (release_mst, release_aim):
        for marginal in release(records_of(people(100)), 1.0, delta=DELTA, secure=True):
            np.testing.assert_array_equal(marginal.counts, np.rint(marginal.counts))


@pytest.mark.parametrize("kind", [MST, AIM])
def test_a_fit_is_charged_its_rho_which_is_epsilon_at_delta(kind, monkeypatch):
    monkeypatch.setattr(graphical, "_expected", independent)
    monkeypatch.setattr(kind, "_model", lambda *_: None)
    schema, frame = SCHEMA.subset(["pet", "owner"]), people(300)[["pet", "owner", "wealth"]]
    budget = Budget(2.0, DELTA)
    kind(2.0, delta=DELTA, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    assert budget.ledger["rho"].tolist() == [zcdp_rho(2.0, DELTA)]
    assert budget.spent == pytest.approx(2.0)
    with pytest.raises(BudgetExceeded):
        kind(0.1, delta=DELTA, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    with pytest.raises(BudgetExceeded):
        kind(1.0, delta=DELTA, schema=schema, budget=Budget(1.0), random_state=0).fit(frame, "wealth")
    with pytest.raises(InvalidParameter, match=r"^`delta` must be .*Got 1"):
        kind(1.0, delta=1.0, schema=schema).fit(frame, "wealth")


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


@pytest.mark.parametrize(("relation", "change"), [("add-remove", 1), ("replace-one", 2)])
def test_noise_on_marginals_is_that_of_their_sensitivity(relation, change):
    source = Source(np.random.default_rng(0))
    assert Spending(1.0, 0.0, relation, source).deviation(0.5, 3) == pytest.approx(np.sqrt(2) * 3 * change / 0.5)
    assert Spending(1.0, 1e-5, relation, source).deviation(0.5, 3) == pytest.approx(np.sqrt(3 * change / (2 * 0.5)))
