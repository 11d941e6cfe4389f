"""MST and AIM with Gaussian noise: what they cost under (ε, δ), by a naive sum of ρ, and what a budget is charged."""

import math

import numpy as np
import pandas as pd
import pytest
from observing import observing
from pet_table import SCHEMA, people
from test_publishing_graphical import exact, records_of

from dpml.audit import recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.budget.conversion import zcdp_epsilon, zcdp_rho
from dpml.exceptions import BudgetExceeded, InvalidParameter
from dpml.mechanisms import ExponentialMechanism
from dpml.publishing import AIM, MST
from dpml.publishing.graphical.marginals import release_aim, release_mst

DELTA = 1e-6


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("release", [release_mst, release_aim])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_noise_and_choices_cost_the_rho_of_epsilon_and_delta(release, relation, epsilon):
    """The squared L2 sensitivity of k tables is k, or 2k where a record leaves a cell and enters another in each."""
    with observing() as passed:
        release(records_of(people(500)), epsilon, delta=DELTA, relation=relation, rng=np.random.default_rng(0))
    factor, rho = (2 if relation == "replace-one" else 1), 0.0
    for n, (mechanism, _) in enumerate(passed):
        if isinstance(mechanism, ExponentialMechanism):
            assert mechanism.change_range == 2 * factor
            rho += mechanism.epsilon**2 / 8
        else:
            # five attributes at once, then the four pairs of MST, or one marginal of AIM
            tables = 5 if n == 0 else 4 if release is release_mst else 1
            rho += factor * tables / (2 * mechanism.scale**2)
    assert rho == pytest.approx(zcdp_rho(epsilon, DELTA), rel=1e-9)
    assert zcdp_epsilon(rho, DELTA) <= epsilon * (1 + 1e-12)


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


@pytest.mark.parametrize("release", [release_mst, release_aim])
def test_without_noise_the_marginals_are_the_records(release):
    records = records_of(people(800))
    for marginal in release(records, 1e9, delta=DELTA, rng=np.random.default_rng(0)):
        np.testing.assert_allclose(marginal.counts, exact(records, marginal.attributes), atol=0.1)
        assert marginal.deviation < 0.02


def test_a_secure_release_is_of_integers():
    for release in (release_mst, release_aim):
        for marginal in release(records_of(people(100)), 1.0, delta=DELTA, secure=True):
            np.testing.assert_array_equal(marginal.counts, np.rint(marginal.counts))


@pytest.mark.parametrize("kind", [MST, AIM])
def test_a_fit_is_charged_its_rho_which_is_epsilon_at_delta(kind):
    schema, frame = SCHEMA.subset(["pet", "owner"]), people(300)[["pet", "owner", "wealth"]]
    budget = Budget(2.0, DELTA)
    model = kind(2.0, delta=DELTA, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    assert budget.ledger["rho"].tolist() == [zcdp_rho(2.0, DELTA)]
    assert budget.spent == pytest.approx(2.0)
    assert len(model.sample(30)) == 30
    with pytest.raises(BudgetExceeded):
        kind(0.1, delta=DELTA, schema=schema, budget=budget, random_state=0).fit(frame, "wealth")
    with pytest.raises(BudgetExceeded):
        kind(1.0, delta=DELTA, schema=schema, budget=Budget(1.0), random_state=0).fit(frame, "wealth")
    with pytest.raises(InvalidParameter, match=r"^`delta` must be .*Got 1"):
        kind(1.0, delta=1.0, schema=schema).fit(frame, "wealth")
