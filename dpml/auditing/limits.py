"""Limits of an audit: of any attacker under a claim, of a number of draws, and of looks before the audit is over."""

import math

from dpml._validate import check_integer, check_number
from dpml.auditing.attacker import lower_bounds


def claimed_region(epsilon: float, delta: float = 0.0) -> tuple[list[float], list[float]]:
    """Return the corners of the region that a claim allows on the attacker's ROC plane.

    Parameters
    ----------
    epsilon : float
        The claimed ε, >= 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).

    Returns
    -------
    fpr : list of float
        False positive rate of each of the eight corners.
    tpr : list of float
        True positive rate of each of the eight corners.

    See Also
    --------
    trade_off : Computes the trade-off curve of a claim.

    Notes
    -----
    Privacy: no data is read.

    Antonova (2016), eq. 2.6 and 2.7: tpr <= e^ε fpr + δ and 1 - fpr <= e^ε (1 - tpr) + δ, and the same with the two
    data sets exchanged.

    Examples
    --------
    >>> fpr, tpr = claimed_region(0.0)
    >>> fpr[2], tpr[2]
    (0.5, 0.5)
    """
    epsilon = check_number(epsilon, "epsilon", 0.0)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    knee = (1 - delta) / (1 + math.exp(min(epsilon, 700.0)))
    fpr = [0, 0, knee, 1 - delta, 1, 1, 1 - knee, delta]
    tpr = [0, delta, 1 - knee, 1, 1, 1 - delta, knee, 0]
    return [float(v) for v in fpr], [float(v) for v in tpr]


def simultaneous_confidence(confidence: float, looks: int) -> float:
    """Return the confidence that each of several bounds needs for all to hold together.

    Use it if you inspect an audit while outputs arrive, and may stop at any time (Bonferroni).

    Parameters
    ----------
    confidence : float
        Probability, in (0, 1), with which all bounds hold together.
    looks : int
        Number of bounds.

    Returns
    -------
    float
        Confidence of each bound.

    See Also
    --------
    attack_outputs : Takes this confidence.
    largest_bound : Computes the largest bound that a number of draws can give.

    Examples
    --------
    >>> round(simultaneous_confidence(0.95, 16), 6)
    0.996875

    Bounds as draws arrive, of Laplace noise at ε = 1, none of them above it:

    >>> import numpy as np
    >>> from dpml.auditing import attack_outputs
    >>> first, second = np.random.default_rng(0).laplace(size=(2, 4000)) + np.array([[1.0], [0.0]])
    >>> each = simultaneous_confidence(0.95, 3)
    >>> [round(attack_outputs(first[:n], second[:n], confidence=each).epsilon_lower, 1) for n in (250, 1000, 4000)]
    [0.1, 0.7, 0.8]
    """
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    return 1 - (1 - confidence) / check_integer(looks, "looks", 1)


def largest_bound(draws: int, confidence: float = 0.95, delta: float = 0.0) -> float:
    """Return the largest lower bound on ε that a number of draws can give.

    It is the bound of an event that occurs in every draw of one data set and in none of the other. Half of the draws
    choose the event and are not counted.

    Parameters
    ----------
    draws : int
        Number of outputs of each data set, at least 2.
    confidence : float, default=0.95
        Probability, in (0, 1), with which the bound holds.
    delta : float, default=0.0
        The δ at which ε is bounded, in [0, 1).

    Returns
    -------
    float
        The largest possible lower bound on ε.

    See Also
    --------
    simultaneous_confidence : Corrects the confidence for several bounds.

    Examples
    --------
    >>> round(largest_bound(1_000), 2), round(largest_bound(100_000), 2)
    (4.91, 9.51)
    """
    counted = check_integer(draws, "draws", 2)
    counted -= counted // 2
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    return float(lower_bounds(counted, 0, counted, delta, 1 - confidence))
