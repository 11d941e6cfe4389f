"""The δ of several releases together, for noise that has no largest log ratio."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from dpml.exceptions import MissingExtra
from dpml.mechanisms.door import Loss
from dpml.mechanisms.gaussian import gaussian_delta

Profile = Callable[[float], float]


def total_profile(loss: Loss) -> Profile:
    """Return ε -> δ for all of a loss but its pure part: an upper bound, exact for Gaussian noise alone.

    Gaussian releases are together one with μ² added up. Releases with profiles of their own share ε: the shares are
    chosen so that the δ are together smallest.
    """
    parts = list(loss.profiles)
    if loss.sampled:
        parts.append(_sampled_profile(loss))
    elif loss.gaussian:
        sigma = 1 / math.sqrt(loss.gaussian)
        parts.append(lambda epsilon: gaussian_delta(epsilon, sigma))
    return _together(parts)


def _together(parts: list[Profile]) -> Profile:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    first, second = _together(parts[:half]), _together(parts[half:])

    def profile(epsilon: float) -> float:
        def shared(share: float) -> float:
            return first(share * epsilon) + second((1 - share) * epsilon)

        even = half / len(parts)
        found = minimize_scalar(shared, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        return float(min(shared(even), found.fun))

    return profile


def _sampled_profile(loss: Loss) -> Profile:
    """Return the δ of Gaussian noise on Poisson samples, and of what Gaussian noise there is besides."""
    try:
        import dp_accounting as accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError as error:
        raise MissingExtra('Poisson sampling is accounted by dp-accounting: pip install "dpml[accounting]"') from error
    rates = {rate for rate, _ in loss.sampled}
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for rate in rates:
        # all steps as if they were the dearest one
        steps = [mu for its, mu in loss.sampled if its == rate]
        event = accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(1 / max(steps)))
        accountant.compose(accounting.SelfComposedDpEvent(event, len(steps)))
    if loss.gaussian:
        accountant.compose(accounting.GaussianDpEvent(1 / math.sqrt(loss.gaussian)))
    return lambda epsilon: float(np.clip(accountant.get_delta(epsilon), 0.0, 1.0))
