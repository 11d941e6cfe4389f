"""Trade-off curves (f-DP) of claims, and what so many right guesses of one run say of a curve.

A trade-off curve f maps the share of errors of the first kind of a test, α, to the least share of the second kind. A
claim says that no attacker's test of two neighbours lies below f. All curves here are symmetric: a claim holds in both
directions.

**What one run says** (the bound of Mahloujifar et al. 2025; the proof is ours). Each of m canaries was in with
probability 1/2, r of them are guessed, and i of the guesses are right with probability p_i. Take canary j, the
membership of the others and a number k. The outputs after which "j was in" is guessed, and at least k guesses are
right if it was in, are one event. If j was in, the guess of j is right there, among at least k right ones. If it was
not, it is wrong, among at least k - 1 right ones, since all other guesses are judged as before. So f bounds the first
probability by 1 - f of the second, and so it does for "j was out". 1 - f is concave, so the bound holds for the means
over memberships and canaries (Jensen):

    S_k <= 1 - f(W_k),  S_k = Σ_{i>=k} i p_i / m,  W_k = Σ_{i>=k-1} (r - i) p_i / m.

f is its own inverse, so that W_k >= f(1 - S_k). Write Q_i for the probability of at least i right ones. By summation by
parts m S_k = k Q_k + Σ_{i>k} Q_i and r Q_{k-1} = m W_k + m S_{k-1}, which gives

    (r - k + 1) Q_{k-1} >= m f(1 - S_k) + Σ_{i>=k} Q_i.

The right side grows with each Q_i, i >= k. So with Q_c = τ, and nothing above c, equality gives the least Q_0 by
induction. Where it exceeds 1, so many as c right guesses have a probability below τ.
"""

import math
from collections.abc import Callable

from scipy.special import ndtr, ndtri

from dpml._validate import check_choice, check_epsilon, check_integer, check_number
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.noise import gaussian_sigma

TradeOff = Callable[[float], float]
# the claim alone; normal noise with this δ at this ε; Laplace noise on one count
CURVES = ("claim", "gaussian", "laplace")
# of sums of a thousand terms near 1; a p-value is rounded up by as much
ROUNDING = 1e-12


def trade_off(epsilon: float, delta: float = 0.0, *, curve: str = "claim") -> TradeOff:
    """Return the trade-off curve f of a claim.

    f(α) is the least share of missed members at a share α of false alarms.

    Parameters
    ----------
    epsilon : float
        The claimed ε, >= 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1). "gaussian" needs δ > 0, and "laplace" needs δ = 0.
    curve : {"claim", "gaussian", "laplace"}, default="claim"
        "claim" is the curve of every (ε, δ)-private mechanism, max(0, 1 - δ - e^ε α, e^-ε (1 - δ - α)) (Dong et al.
        2022, Proposition 2.5). "gaussian" is the curve of normal noise that is just (ε, δ)-private, Φ(Φ⁻¹(1 - α) - μ)
        with μ = 1/`gaussian_sigma`. "laplace" is the curve of Laplace noise of scale 1/ε on a sum that one record
        changes by 1.

    Returns
    -------
    callable
        The function f(α) for α in [0, 1]. It is convex, decreasing and its own inverse.

    See Also
    --------
    trade_off_p_value : Bounds the probability of correct guesses under a curve.
    claimed_region : Computes the region of the ROC plane that a claim allows.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> round(trade_off(1.0)(0.1), 4), round(trade_off(1.0, curve="laplace")(0.1), 4)
    (0.7282, 0.7282)
    >>> round(trade_off(1.0)(0.3), 4), round(trade_off(1.0, curve="laplace")(0.3), 4)
    (0.2575, 0.3066)
    """
    epsilon = check_number(epsilon, "epsilon", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    if check_choice(curve, "curve", CURVES) == "gaussian":
        mu = 1 / gaussian_sigma(check_epsilon(epsilon), delta)
        return lambda alpha: float(ndtr(ndtri(1 - alpha) - mu))
    # e^ε α without overflow: beyond this the first line is 0 for each α that a float tells from 0
    grow, shrink = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    if curve == "laplace":
        if delta:
            raise InvalidParameter("delta", delta, 'zero with curve="laplace"')

        def laplace(alpha: float) -> float:
            if alpha >= 0.5:
                return shrink * (1 - alpha)
            return 1 - grow * alpha if alpha < shrink / 2 else shrink / (4 * alpha)

        return laplace
    return lambda alpha: max(0.0, 1 - delta - grow * alpha, shrink * (1 - delta - alpha))


def least_total(n_canaries: int, n_guesses: int, n_right: int, curve: TradeOff, tail: float) -> float:
    """Return the least probability of all outcomes together if `n_right` right guesses or more have that of `tail`.

    Above 1 that cannot be.
    """
    m, r, last = n_canaries, n_guesses, tail
    above = total = 0.0  # of Q_i with i > k, and with i >= k
    for k in range(n_right, 0, -1):
        above, total = total, total + last
        # in the last step the mean of guesses that are right is exact: rounding must not lead beyond 1
        share = min((k * last + above) / m, 1.0)
        last = max(last, (m * curve(1 - share) + total) / (r - k + 1))
        if last > 1:
            break
    return last


def trade_off_p_value(n_canaries: int, n_guesses: int, n_right: int, curve: TradeOff) -> float:
    """Return a bound on the probability of at least this many correct guesses under a trade-off curve.

    Parameters
    ----------
    n_canaries : int
        Number of canaries.
    n_guesses : int
        Number of guesses, at most `n_canaries`.
    n_right : int
        Number of correct guesses, at most `n_guesses`.
    curve : callable
        The function f(α), convex, decreasing and its own inverse, for example from `trade_off`.

    Returns
    -------
    float
        Upper bound on the probability, at most 1.

    See Also
    --------
    guesses_p_value : Bounds the probability under an (ε, δ) claim.
    trade_off : Returns the curve of a claim.

    Examples
    --------
    One guess that is right, which happens with probability e/(1 + e) at most:

    >>> p_value = trade_off_p_value(1, 1, 1, trade_off(1.0))
    >>> round(p_value, 6) == round(math.e / (1 + math.e), 6)
    True
    """
    m = check_integer(n_canaries, "n_canaries", 1)
    r = check_integer(n_guesses, "n_guesses", 0, m)
    v = check_integer(n_right, "n_right", 0, r)

    def excess(tail: float) -> float:
        return least_total(m, r, v, curve, tail) - 1

    if excess(1.0) <= 0:
        return 1.0
    low, high = 0.0, 1.0
    while high - low > ROUNDING:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return min(high + ROUNDING, 1.0)
