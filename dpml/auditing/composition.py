"""The joint (ε, δ) of several releases whose noise has no largest log ratio."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dpml.auditing.audit import TOLERANCE, smallest_epsilon
from dpml.budget.conversion import zcdp_delta
from dpml.exceptions import DpmlError, MissingExtra
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.noise import gaussian_delta

Profile = Callable[[float], float]
# Shares of δ tried for the Gaussian noise; every division gives an upper bound on ε.
DIVISIONS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
# the search for a δ begins there
SMALLEST_DELTA = 1e-30


def epsilon_without_pure(loss: Loss, delta: float) -> float:
    """Return an ε for which a loss without its pure part is (ε, δ)-private: exact for Gaussian noise alone.

    All Gaussian releases together equal one with the sum of their μ². It gets one part of δ, and the releases with
    their own profiles share the other part evenly. The best of several divisions counts. Beside releases known by ρ,
    Gaussian noise of μ² costs μ²/2 (Bun and Steinke 2016, Proposition 1.6), which adds up.
    """
    gaussian = _joint_profile(loss)
    if gaussian is None:
        return _evenly(loss.profiles, delta)
    if not loss.profiles:
        return smallest_epsilon(gaussian, delta)
    return min(_evenly(loss.profiles, (1 - d) * delta) + smallest_epsilon(gaussian, d * delta) for d in DIVISIONS)


def _joint_profile(loss: Loss) -> Profile | None:
    """Return the joint δ of all Gaussian releases and of those known by ρ, as a function of ε; None without any."""
    if loss.sampled:
        if loss.concentrated:
            raise DpmlError("noise on Poisson samples is not accounted beside a cost that is known by ρ")
        return _sampled_profile(loss)
    if loss.concentrated:
        return partial(zcdp_delta, loss.concentrated + loss.gaussian / 2)
    return partial(gaussian_delta, sigma=1 / math.sqrt(loss.gaussian)) if loss.gaussian else None


def needed_delta(loss: Loss, epsilon: float) -> float:
    """Return a δ for which a loss is (ε, δ)-private: exact for Gaussian noise alone and for one profile alone."""
    left = epsilon - loss.pure
    if left < -TOLERANCE or math.isnan(left):
        return 1.0
    left = max(left, 0.0)
    if not loss.has_no_ratio:
        return 0.0
    gaussian = _joint_profile(loss)
    if gaussian is not None and not loss.profiles:
        return min(gaussian(left), 1.0)
    if gaussian is None and len(loss.profiles) == 1:
        return min(loss.profiles[0](left), 1.0)
    # the least δ whose ε is at most what is left
    low, high = math.log(SMALLEST_DELTA), 0.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon_without_pure(loss, math.exp(middle)) <= left else (middle, high)
    return math.exp(high)


def _evenly(profiles: Sequence[Profile], delta: float) -> float:
    return math.fsum(smallest_epsilon(profile, delta / len(profiles)) for profile in profiles)


def _sampled_profile(loss: Loss) -> Profile:
    """Return the joint δ of Gaussian noise on Poisson samples and other Gaussian noise, as a function of ε."""
    try:
        import dp_accounting as accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError as error:
        raise MissingExtra("Accounting for Poisson sampling", "dp-accounting", "accounting") from error
    rates = {rate for rate, _ in loss.sampled}
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for rate in rates:
        # charge every step as the most expensive one: an upper bound
        steps = [mu for its, mu in loss.sampled if its == rate]
        event = accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(1 / max(steps)))
        accountant.compose(accounting.SelfComposedDpEvent(event, len(steps)))
    if loss.gaussian:
        accountant.compose(accounting.GaussianDpEvent(1 / math.sqrt(loss.gaussian)))
    return lambda epsilon: float(np.clip(accountant.get_delta(epsilon), 0.0, 1.0))
