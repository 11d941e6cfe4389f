"""Concentrated privacy as (ε, δ), and the other way round.

ρ-zCDP bounds the Rényi divergence of each order α by αρ. At one order α it implies (ε, δ) with
ε = αρ + log(1 - 1/α) - (log δ + log α)/(α - 1) (Canonne et al. 2020, Proposition 12). Every order gives a
bound, so the best order is chosen when ρ is known beforehand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpml._validate import check_epsilon, check_number

# the best log(α - 1) is within so much of that of the textbook's conversion
REACH = 3.0
# exp of it is no infinity; the order is then as good as infinite
LARGEST = 700.0


def _constant(log_excess: float, delta: float) -> tuple[float, float]:
    """Return α and log(1 - 1/α) - (log δ + log α)/(α - 1), for log(α - 1)."""
    excess = math.exp(min(log_excess, LARGEST))
    log_order = math.log1p(excess)
    return 1 + excess, log_excess - log_order - (math.log(delta) + log_order) / excess


def _least(function: Callable[[float], float], lower: float, upper: float) -> float:
    from scipy.optimize import minimize_scalar  # a process that only charges ε needs no optimiser

    # the value is then right to the last digits, so that what is calibrated to a budget fits into it
    return float(minimize_scalar(function, bounds=(lower, upper), method="bounded", options={"xatol": 1e-8}).x)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the ε for which ρ-zCDP implies (ε, δ)-differential privacy.

    Parameters
    ----------
    rho : float
        Zero-concentrated cost ρ >= 0, chosen before any output is seen.
    delta : float
        Privacy parameter δ in (0, 1).

    Returns
    -------
    float
        The smallest ε over all orders of the conversion.

    See Also
    --------
    zcdp_rho : Converts (ε, δ) to ρ.
    Budget : Bounds the total ε and δ.

    Notes
    -----
    Privacy: no data is read.

    The result never exceeds ρ + 2·sqrt(ρ·log(1/δ)) (Bun and Steinke 2016).

    References
    ----------
    - Canonne, Kamath and Steinke (2020), Proposition 12.
    - Bun and Steinke (2016), Proposition 1.3.

    Examples
    --------
    >>> round(zcdp_epsilon(0.01, 1e-6), 3)
    0.622
    """
    rho = check_number(rho, "rho", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
    if rho == 0:
        return 0.0

    def epsilon(log_excess: float) -> float:
        order, constant = _constant(log_excess, delta)
        return order * rho + constant

    # the best x = α - 1 solves ρx² + log(1 + x) = log 1/δ, so it is about the lesser of √(log 1/δ / ρ) and log 1/δ
    log = math.log(-math.log(delta))
    start = (log - math.log(rho)) / 2
    return max(epsilon(_least(epsilon, min(start, log) - REACH, start + REACH)), 0.0)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the least δ of ρ-zCDP at an ε, at most 1."""

    def log_delta(log_excess: float) -> float:
        order, constant = _constant(log_excess, 1.0)
        return (order - 1) * (order * rho + constant - epsilon)

    if not rho:
        return 0.0
    # the best x = α - 1 solves (1 + 2x)ρ + log(x/(1 + x)) = ε: it is below ε/ρ or 1/√ρ, and above 1/ρ or exp(ε - ρ)
    start = math.log(max(epsilon / rho, 1 / math.sqrt(rho), 1.0))
    lowest = min(epsilon - rho, -math.log(rho), 0.0)
    return math.exp(min(log_delta(_least(log_delta, lowest - REACH, start + REACH)), 0.0))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ for which ρ-zCDP implies (ε, δ)-differential privacy.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    delta : float
        Privacy parameter δ in (0, 1).

    Returns
    -------
    float
        Zero-concentrated cost ρ.

    See Also
    --------
    zcdp_epsilon : Converts ρ to ε.
    Budget : Bounds the total ε and δ.

    Notes
    -----
    Privacy: no data is read.

    References
    ----------
    - Canonne, Kamath and Steinke (2020), Proposition 12.

    Examples
    --------
    >>> rho = zcdp_rho(1.0, 1e-6)
    >>> round(rho, 4), round(zcdp_epsilon(rho, 1e-6), 6)
    (0.0244, 1.0)
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
    return Conversion.within(epsilon, delta).rho


@dataclass(frozen=True)
class Conversion:
    """The conversion at one order α, which holds for all sequences of adaptively chosen charges of ρ.

    The best order for the ρ that was reached in the end may not be used where charges depend on earlier releases: an
    adversary who sees that the privacy loss happens to be large stops there. Then δ is exceeded, by a factor of 3 to 6
    (computed in `tests/library/test_budget_conversion.py`). At an order that was fixed before, exp((α - 1)·(loss - αρ))
    is a supermartingale, and the bound holds at any stopping time (Feldman and Zrnic 2021).

    `order`: α. `constant`: the term added to αρ. `rho`: the largest ρ within the ε for which the order was chosen.
    """

    order: float
    constant: float
    rho: float

    @classmethod
    def within(cls, epsilon: float, delta: float) -> "Conversion":
        """Return the order at which the most ρ fits into an ε > 0."""

        def rho(log_excess: float) -> float:
            order, constant = _constant(log_excess, delta)
            return (epsilon - constant) / order

        log = -math.log(delta)
        # the textbook's ρ, (√(log 1/δ + ε) - √(log 1/δ))², without cancellation
        start = math.log(log) / 2 - math.log(epsilon) + math.log(math.sqrt(log + epsilon) + math.sqrt(log))
        best = _least(lambda log_excess: -rho(log_excess), min(start, math.log(log)) - REACH, start + REACH)
        return cls(*_constant(best, delta), rho(best))

    def epsilon(self, rho: float) -> float:
        """Return the ε of ρ at this order."""
        return max(self.order * rho + self.constant, 0.0)
