"""Concentrated charges: their conversion, and what an adversary gains who chooses charges by what was released."""

import math

import numpy as np
import pytest
from each_commit import others_in_full
from scipy.stats import norm

from dpml.budget import Budget, zcdp_epsilon, zcdp_rho
from dpml.budget.conversion import zcdp_delta
from dpml.exceptions import BudgetExceeded

DELTAS = (1e-12, 1e-6, 1e-3, 0.1)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.1, 1.0, 50.0])
def test_the_conversion_is_the_least_over_all_orders(rho, delta):
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    excess = np.exp(np.linspace(-20, 20, 200_001))
    order = 1 + excess
    every = order * rho + np.log1p(-1 / order) - (math.log(delta) + np.log(order)) / excess
    converted = zcdp_epsilon(rho, delta)
    assert converted == pytest.approx(max(every.min(), 0), rel=1e-6, abs=1e-9)
    # dp-accounting has the same formula on fewer orders
    assert converted <= RdpAccountant().compose(ZCDpEvent(rho)).get_epsilon(delta) * (1 + 1e-9)
    assert converted <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 90.0])
@pytest.mark.parametrize("rho", [0.01, 3.0, 100.0])
def test_delta_is_the_least_over_all_orders(rho, epsilon):
    excess = np.exp(np.linspace(-60, 20, 400_001))
    log_delta = excess * ((1 + excess) * rho + np.log(excess) - np.log1p(excess) - epsilon) - np.log1p(excess)
    assert zcdp_delta(rho, epsilon) == pytest.approx(math.exp(min(log_delta.min(), 0)), rel=1e-4)
    if 1e-12 < (delta := zcdp_delta(rho, epsilon)) < 1 - 1e-9 and epsilon:
        assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 1.0, 30.0])
def test_the_inverse_is_the_largest_over_all_orders(epsilon, delta):
    excess = np.exp(np.linspace(-20, 60, 200_001))
    order = 1 + excess
    constant = -np.log1p(1 / excess) - (math.log(delta) + np.log1p(excess)) / excess
    assert zcdp_rho(epsilon, delta) == pytest.approx(((epsilon - constant) / order).max(), rel=1e-5)


def test_the_least_epsilon_and_delta_pay_for_no_rho():
    assert zcdp_rho(5e-324, 5e-324) == 0.0


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_what_is_calibrated_to_a_budget_uses_all_of_it(epsilon, delta):
    budget = Budget(epsilon, delta)
    budget.spend(rho=zcdp_rho(epsilon, delta))
    assert budget.remaining == pytest.approx(0.0, abs=1e-9 * epsilon)
    with pytest.raises(BudgetExceeded):
        budget.spend(rho=1e-6 * zcdp_rho(epsilon, delta))


def most_delta(epsilons, rhos):
    """Return the largest mean of (1 - exp(ε - loss))⁺ that stopping in time can reach.

    The charges are of Gaussian noise, whose loss after ρ is normal of mean ρ and variance 2ρ. At any time an adversary
    can stop and spend what is left of ε on a release whose loss is all of it.
    """
    z = np.linspace(-4, 10, 601)
    step = z[1] - z[0]

    def gain(k):
        return np.clip(-np.expm1(epsilons[k] - rhos[k] - z * math.sqrt(2 * rhos[k])), 0, None)

    value = gain(-1)
    for k in range(len(rhos) - 2, -1, -1):
        kept = math.sqrt(rhos[k] / rhos[k + 1])
        new = math.sqrt(1 - kept**2)
        later = norm.pdf((z[None, :] - kept * z[:, None]) / new) / new * step
        value = np.maximum(gain(k), later @ value)
    return float(value @ norm.pdf(z) * step)


@pytest.mark.parametrize(("epsilon", "delta"), others_in_full([(0.3, 1e-6), (1.0, 1e-6), (3.0, 1e-5)], (1.0, 1e-6)))
def test_nobody_exceeds_delta_by_stopping_when_the_loss_is_large(epsilon, delta):
    rhos = np.geomspace(1e-6, 1, 120) * zcdp_rho(epsilon, delta)
    after = [zcdp_epsilon(rho, delta) for rho in rhos]
    assert most_delta(after, rhos) > 2 * delta, "at the order that is best afterwards, somebody could"
    budget, charged = Budget(epsilon, delta), []
    for rho in np.diff(rhos, prepend=0.0):
        budget.spend(rho=rho)
        charged.append(epsilon - budget.remaining)
    assert most_delta(charged, rhos) <= delta


def test_the_order_is_fixed_by_what_is_left_at_the_first_charge():
    """What is charged in ε before costs no more than itself; what is charged after it meets the order of the whole."""
    budget = Budget(1.0, 1e-6)
    budget.spend(0.25)
    budget.spend(rho=zcdp_rho(0.75, 1e-6))
    assert budget.spent == pytest.approx(1.0)
    budget = Budget(1.0, 1e-6)
    budget.spend(rho=zcdp_rho(0.75, 1e-6))
    assert 0.75 < budget.spent < 0.8
    with pytest.raises(BudgetExceeded, match="a charge of ε"):
        budget.spend(0.25)
    budget.spend(budget.remaining)


def test_a_part_has_an_order_of_its_own():
    budget = Budget(1.0, 2e-6)
    select, train = budget.split(1, 1)
    select.spend(0.5)
    train.spend(rho=zcdp_rho(0.5, 1e-6))
    assert train.remaining == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(BudgetExceeded, match="δ"):
        budget.spend(0.0, 1e-7)


@pytest.mark.parametrize(
    ("total", "first", "each", "fits"), [(1.0, 1.0, 0.0, 1), (2.0, 1.2064, 0.3121, 3), (100.0, 23.1143, 0.0446, 1724)]
)
def test_the_first_rho_pays_the_constant_of_the_order_once(total, first, each, fits):
    """Fits of ε = 1 alone: the first spends more of a larger budget, and many more of them fit into it."""
    budget, rho = Budget(total, 1e-5), zcdp_rho(1.0, 1e-5)
    budget.spend(rho=rho)
    assert budget.spent == pytest.approx(first, abs=1e-4)
    if fits > 1:
        budget.spend(rho=rho)
        assert budget.spent == pytest.approx(first + each, abs=2e-4)
        budget.spend(rho=(fits - 2) * rho)
    # never below the ε of charges that are all fixed before
    assert zcdp_epsilon(fits * rho, 1e-5) <= budget.spent * (1 + 1e-9)
    assert budget.spent <= total * (1 + 1e-9)
    with pytest.raises(BudgetExceeded):
        budget.spend(rho=rho)
