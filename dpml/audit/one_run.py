"""Audit of a claim by one run: many canary records, each of which a fair coin puts into the table or leaves out.

The attacker sees what one fit released, and guesses of some canaries whether they were in. If the fit is
ε-differentially private, each guess is right with probability at most e^ε/(1 + e^ε), whatever the other canaries did.
So the number of right ones among r guesses is at most binomial, in the stochastic order (Steinke et al. 2023,
Theorem 5.2). More right ones certify a larger ε. A curve says more of the noise than ε and δ do, and certifies more
(`dpml.audit.one_run`).

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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_rng
from dpml.audit.exact import smallest_epsilon
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
    """Return a bound on the probability of at least this many correct guesses under a trade-off curve f(α)."""
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


@dataclass(frozen=True)
class OneRunResult:
    """Result of an audit by one run.

    Attributes
    ----------
    epsilon, delta : float
        The claim.
    epsilon_lower : float
        The lower bound on ε that the guesses certify, with probability `confidence`.
    passed : bool
        Whether the claim holds in this audit: `epsilon_lower` does not exceed `epsilon`.
    confidence : float
        Probability with which the bound holds.
    n_canaries, n_guesses, n_right : int
        Number of canaries, of guesses about them, and of correct guesses.
    curve : str or None
        The noise that the bound assumes, or None if it holds for every (ε, δ)-private fit.
    """

    epsilon: float
    delta: float
    epsilon_lower: float
    passed: bool
    confidence: float
    n_canaries: int
    n_guesses: int
    n_right: int
    curve: str | None = None


def guesses_p_value(n_canaries: int, n_guesses: int, n_right: int, epsilon: float, delta: float = 0.0) -> float:
    """Return a bound on the probability of at least this many correct guesses under an (ε, δ) claim.

    With δ = 0 it is P[Binomial(r, e^ε/(1 + e^ε)) >= v] for v right ones among r. A δ adds 2mδα for m canaries, with α
    the largest P[v - i <= Binomial < v]/i over i from 1 to v (Steinke et al. 2023, Theorem 5.2 and appendix D).
    """
    m = check_integer(n_canaries, "n_canaries", 1)
    r = check_integer(n_guesses, "n_guesses", 0, m)
    v = check_integer(n_right, "n_right", 0, r)
    # e^ε/(1 + e^ε) without overflow
    chance = 1 / (1 + np.exp(-check_number(epsilon, "epsilon", 0.0)))
    p_value = float(binom.sf(v - 1, r, chance))
    if check_number(delta, "delta", 0.0, 1.0) and v:
        below = np.cumsum(binom.pmf(np.arange(v - 1, -1, -1), r, chance))
        p_value += 2 * m * delta * float((below / np.arange(1, v + 1)).max())
    return min(p_value, 1.0)


def label_score(model: Any, X: Any, y: Any) -> FloatArray:
    """Return the predicted probability of each record's label.

    A larger value suggests that the record was in the training table.

    Parameters
    ----------
    model : classifier
        A fitted classifier with `predict_proba` and `classes_`.
    X : array-like of shape (n, D)
        Records.
    y : array-like of shape (n,)
        Labels of the records, all of them in `classes_`.

    Returns
    -------
    ndarray of shape (n,)
        Probability of each record's label.

    See Also
    --------
    row_score : Scores records by a synthetic table.
    audit_one_run : Uses the score.
    """
    probabilities = np.asarray(model.predict_proba(X), dtype=float)
    columns = np.searchsorted(np.asarray(model.classes_), np.asarray(y))
    return probabilities[np.arange(len(columns)), columns]


def row_score(published: Any, X: Any, y: Any) -> FloatArray:
    """Return the number of copies of each record in a synthetic table whose last column is the label.

    Parameters
    ----------
    published : publisher
        A fitted publisher with a method `sample`.
    X : array-like of shape (n, D)
        Records.
    y : array-like of shape (n,)
        Labels of the records.

    Returns
    -------
    ndarray of shape (n,)
        Number of copies of each record in one sampled table.

    See Also
    --------
    label_score : Scores records by a classifier.
    audit_one_run : Uses the score.
    """
    table = published.sample()
    counts = table.value_counts()
    records = [(*row, label) for row, label in zip(np.asarray(X, dtype=object), y, strict=True)]
    return np.array([counts.get(record, 0) for record in records], dtype=float)


def audit_one_run(
    fit: Callable[[Any, Any], Any],
    score: Callable[[Any, Any, Any], ArrayLike],
    X: Any,
    y: ArrayLike,
    canaries: tuple[Any, ArrayLike],
    epsilon: float,
    *,
    delta: float = 0.0,
    n_guesses: int | None = None,
    confidence: float = 0.95,
    curve: str | None = None,
    rng: np.random.Generator,
) -> OneRunResult:
    """Bound ε from one fit: the attacker guesses which canaries were in the table.

    Parameters
    ----------
    fit : callable
        ``fit(X, y)`` runs the whole fit of a claim under add/remove-one, and its output is public.
    score : callable
        ``score(output, X, y)`` returns an array, larger where a record is likelier to have been in the table. Use
        `label_score` for classifiers and `row_score` for synthetic tables.
    X : DataFrame or array
        Records that are in the table for certain.
    y : array-like
        Their labels.
    canaries : tuple of (X, y)
        Records that are in it with probability one half each. They must not depend on these coin flips.
    epsilon : float
        The claimed ε, finite and > 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    n_guesses : int, optional
        An even number of guesses, fixed beforehand. The half with the largest scores is guessed in, and the half with
        the smallest scores is guessed out. The default is an eighth of the canaries. Other canaries are not guessed.
    confidence : float, default=0.95
        Probability, in (0, 1), with which the lower bound holds.
    curve : {"claim", "gaussian", "laplace"}, optional
        Trade-off curve of the noise (`trade_off`). The result is the larger one of two bounds: the bound without a
        curve, and the least ε whose curve is compatible with the guesses. A curve certifies more where the noise is
        known: "gaussian" with δ > 0, "laplace" for one count per record. If the fit has other noise, the audit may
        wrongly report a violation. "claim" holds for any fit. With δ = 0 it adds nothing: its worst case is randomised
        response, for which the binomial tail is exact.
    rng : numpy.random.Generator
        Source of the coin flips.

    Returns
    -------
    OneRunResult
        The lower bound on ε beside the claim.

    Raises
    ------
    InvalidParameter
        If a parameter is not allowed, for example an odd number of guesses.

    See Also
    --------
    certified_epsilon : Computes the bound from counts of guesses.
    audit : Audits a mechanism on two neighbours.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.

    A bound far below the claim is weak evidence, because the attack may be weak. Even where all r guesses are correct,
    they certify at most log(p/(1 - p)) with p = (1 - confidence)^(1/r).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> canaries = np.eye(200), np.ones(200)
    >>> leaks = audit_one_run(lambda X, y: X.sum(axis=0), lambda sums, X, y: X @ sums, np.zeros((0, 200)), np.zeros(0),
    ...                       canaries, epsilon=1.0, n_guesses=200, rng=rng)
    >>> leaks.passed, leaks.epsilon_lower > 1.0
    (False, True)
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    added, labels = canaries[0], np.asarray(canaries[1])
    m = len(labels)
    r = check_integer(2 * (m // 16) if n_guesses is None else n_guesses, "n_guesses", 2, m)
    if r % 2:
        raise InvalidParameter("n_guesses", r, "an even number")
    inside = check_rng(rng).random(m) < 0.5
    output = fit(_joined(X, added, inside), np.concatenate([np.asarray(y), labels[inside]]))
    order = np.argsort(np.asarray(score(output, added, labels), dtype=float), kind="stable")
    right = int(inside[order[-(r // 2) :]].sum() + (~inside[order[: r // 2]]).sum())
    lower = certified_epsilon(m, r, right, delta=delta, confidence=confidence, curve=curve)
    return OneRunResult(epsilon, delta, lower, lower <= epsilon, confidence, m, r, right, curve)


def certified_epsilon(
    n_canaries: int,
    n_guesses: int,
    n_right: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    curve: str | None = None,
) -> float:
    """Return the lower bound on ε that a number of correct guesses certifies.

    Parameters
    ----------
    n_canaries : int
        Number of canaries.
    n_guesses : int
        Number of guesses, at most `n_canaries`.
    n_right : int
        Number of correct guesses, at most `n_guesses`.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    confidence : float, default=0.95
        Probability, in (0, 1), with which the bound holds.
    curve : {"claim", "gaussian", "laplace"}, optional
        Trade-off curve of the noise (`trade_off`). By default, the bound holds for every (ε, δ)-private fit.

    Returns
    -------
    float
        Lower bound on ε.

    See Also
    --------
    audit_one_run : Runs the whole audit.
    guesses_p_value : Bounds the probability of the guesses.

    Examples
    --------
    Noise that is known certifies more of 190 right guesses of 200:

    >>> [round(certified_epsilon(1000, 200, 190, delta=1e-5, curve=curve), 2) for curve in (None, "gaussian")]
    [2.39, 3.92]
    """
    m, r, right = n_canaries, n_guesses, n_right
    lower = smallest_epsilon(lambda e: 1 - guesses_p_value(m, r, right, e, delta), confidence)
    if curve is None:
        return lower

    def refuted(epsilon: float) -> bool:
        # normal noise has no ε = 0
        claimed = trade_off(max(epsilon, 1e-6), delta, curve=curve)
        return least_total(m, r, right, claimed, 1 - confidence) > 1

    # both bound the same probability, so that the larger one has the same confidence
    return max(lower, smallest_epsilon(refuted, 0.5))


def _joined(X: Any, added: Any, inside: BoolArray) -> Any:
    if hasattr(X, "columns"):
        import pandas as pd

        return pd.concat([X, added[inside]], ignore_index=True)
    return np.concatenate([np.asarray(X), np.asarray(added)[inside]])
