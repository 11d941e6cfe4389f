"""MST and AIM: what they release, without a model, and with the model of the extra."""

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from observing import assert_function_of_releases, observing, plain_releases
from pet_table import SCHEMA, people

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.classifiers.grid import Records, places_of
from dpml.exceptions import BudgetExceeded, MissingExtra
from dpml.publishing.graphical import AIM, MST, estimators
from dpml.publishing.graphical.marginals import Marginal, independent, release_aim, release_mst


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


@pytest.mark.parametrize("release", [release_mst, release_aim])
def test_without_noise_the_marginals_are_the_records(release):
    records = records_of(people(800))
    found = release(records, 1e9, rng=np.random.default_rng(0))
    assert [m.attributes for m in found[:5]] == [(0,), (1,), (2,), (3,), (4,)]
    for marginal in found:
        np.testing.assert_allclose(marginal.counts, exact(records, marginal.attributes), atol=1e-3)


@pytest.mark.parametrize("kind", [MST, AIM])
def test_every_statistic_is_private_until_it_is_drawn(kind):
    schema, frame = SCHEMA.subset(["age", "pet", "owner"]), people(200).drop(columns="noise")
    n, plain = plain_releases(lambda: kind(1.0, schema=schema, random_state=0).fit(frame, "wealth"))
    assert n > 2
    assert not plain


@pytest.mark.parametrize("kind", [MST, AIM])
def test_what_a_fit_and_its_table_are_follows_from_what_was_released(kind):
    def call(frame):
        model = kind(1.0, schema=schema, random_state=0).fit(frame.drop(columns="noise"), "wealth")
        return model.marginals_, model.sample()

    schema = SCHEMA.subset(["age", "pet", "owner"])
    assert_function_of_releases(call, people(3000), people(40, 7).assign(wealth="rich", pet="carp"))


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
def test_rounds_of_aim_cost_epsilon_together(relation):
    records = records_of(people(500))
    with observing() as passed:
        found = release_aim(records, 1.0, n_rounds=12, relation=relation, rng=np.random.default_rng(0))
    factor = 2 if relation == "replace-one" else 1
    (singles, _), *rounds = passed
    assert singles.scale == pytest.approx(factor * 5 / (5 / 12))
    paid = 5 / 12
    for (choice, _), (noise, _) in itertools.pairwise(rounds[:]):
        if hasattr(choice, "change_range"):
            assert choice.change_range == 2 * factor
            paid += choice.epsilon + factor / noise.scale
    assert paid == pytest.approx(1.0)
    assert paid <= 1.0 + 1e-12
    assert len(rounds) == 2 * (len(found) - 5)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", [MST, AIM])
def test_a_fit_costs_more_than_half_of_epsilon_and_no_more_than_it(kind, relation, monkeypatch):
    """Without the model of the extra, which sees released counts alone."""
    monkeypatch.setattr(estimators, "_expected", independent)
    monkeypatch.setattr(estimators, "_small", lambda *_: True)
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
    schema, frame = SCHEMA.subset(["age", "pet", "owner"]), people(3000).drop(columns="noise")
    budget = Budget(50.0)
    model = kind(50.0, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    assert budget.spent == pytest.approx(50.0)
    table = model.sample(4000)
    schema.check_table(table[schema.feature_names], table["wealth"])
    old = [((t["age"] >= 40) & (t["wealth"] == "rich")).mean() for t in (frame, table)]
    assert old[0] == pytest.approx(old[1], abs=0.04)
    assert model.sample(0).shape == (0, 4)
    assert model.sample(30, random_state=1).equals(model.sample(30, random_state=1))
    with pytest.raises(BudgetExceeded):
        kind(1.0, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")


@pytest.mark.parametrize("kind", [MST, AIM])
@pytest.mark.parametrize("epsilon", [1e-50, 1e-3])
def test_noise_alone_gives_a_table_too(kind, epsilon):
    schema = SCHEMA.subset(["pet", "owner"])
    frame = people(3)[["pet", "owner", "wealth"]]
    table = kind(epsilon, schema=schema, random_state=0).fit(frame, "wealth").sample(20)
    schema.check_table(table[schema.feature_names], table["wealth"])
    assert len(table) == 20
