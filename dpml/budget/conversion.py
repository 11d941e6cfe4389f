"""Concentrated privacy as (ε, δ)."""

import math

import numpy as np

from dpml._validate import check_number
from dpml.exceptions import MissingExtra

__all__ = ["zcdp_epsilon"]


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the ε for which ρ-zCDP implies (ε, δ)-differential privacy, computed by the `dp-accounting` package.

    Parameters
    ----------
    rho : float
        ρ >= 0.
    delta : float
        δ in (0, 1).

    Raises
    ------
    MissingExtra
        If the extra ``accounting`` is not installed.

    Notes
    -----
    The result never exceeds ρ + 2·sqrt(ρ·log(1/δ)) (Bun and Steinke 2016, Proposition 1.3).
    """
    rho = check_number(rho, "rho", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
    if rho == 0:
        return 0.0
    try:
        from dp_accounting import ZCDpEvent
        from dp_accounting.rdp import RdpAccountant
    except ImportError as error:
        raise MissingExtra('zCDP needs the package dp-accounting: pip install "dpml[accounting]"') from error
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    # an order at which the divergence exceeds the largest double gives no bound
    with np.errstate(over="ignore"):
        return min(simple, float(RdpAccountant().compose(ZCDpEvent(rho)).get_epsilon(delta)))
