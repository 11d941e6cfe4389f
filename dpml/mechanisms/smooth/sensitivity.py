"""Smooth sensitivity: a bound on how far one record can move a statistic near the given data, safe to scale noise by.

The local sensitivity of a data set is itself private. A β-smooth bound S is at least the local sensitivity and differs
by a factor of at most exp(β) between neighbours, so noise scaled by it (`dpml.mechanisms.smooth.admissible`) can be
private. The smooth sensitivity, S(x) = max over k of exp(-βk) A^(k)(x), with A^(k)(x) the largest local sensitivity
within k changes of x, is the smallest such bound (Zafarani and Clifton 2021, Definitions 3.2 to 3.4; Nissim,
Raskhodnikova and Smith 2007).

This module releases nothing and protects nothing: its functions are exact functions of the data, and private where the
values are (`dpml.mechanisms.private`).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_integer, check_number, check_relation
from dpml.mechanisms import private
from dpml.mechanisms.smooth._order import Ordered, ordered
from dpml.mechanisms.smooth.location import Mean, Median
from dpml.mechanisms.smooth.variance import Variance

KINDS = ("mean", "trimmed_mean", "variance", "trimmed_variance", "median")


class SensitivityEnvelope(NamedTuple):
    """Sensitivities by distance, for a plot. S is the largest of `terms`.

    `distance`: k = 0, 1, 2, ... changed records. `sensitivity`: A^(k), exact, under replace-one; under add/remove the
    bound on it that defines the smooth bound. `terms`: exp(-βk) times `sensitivity`.
    """

    distance: NDArray[np.int_]
    sensitivity: NDArray[np.float64]
    terms: NDArray[np.float64]


@private.statistic
def smooth_sensitivity(
    kind: str,
    values: Any,
    lower: float,
    upper: float,
    beta: float,
    relation: str = "replace-one",
    trim: int = 0,
    *,
    on_invalid: str = "raise",
) -> float:
    """Return the β-smooth sensitivity of a statistic, or a β-smooth upper bound on its local sensitivity.

    Under replace-one the number of values n is public, and the result is the smooth sensitivity itself, equal to brute
    force over all data sets. Under add/remove n is private, and the result is a β-smooth upper bound, derived in
    `location` and `_reach` (its limit at small β is the global sensitivity over all n). A record whose class label
    changes is removed from one class and added to another, so two data sets change.

    Privacy: not private by itself. It is private to add noise scaled by it, from an `admissible` mechanism for this β.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    values : array of shape (n,)
        Private values; n may be 0.
    lower, upper : float
        Public bounds, lower < upper.
    beta : float
        Smoothing parameter β > 0, a log ratio per changed record.
    relation : {"replace-one", "add-remove"}
        The neighbouring relation.
    trim : int
        Number of values left out at each end, m >= 0; used by the trimmed kinds only.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its bounds: raise an error (demonstration), or clip it to the nearest bound and
        set NaN to the middle of the domain (release).

    Returns
    -------
    float
        S >= 0 in the units of the statistic. Computing it takes one sort and O(K log K) for the K distances whose terms
        can matter. The variances add searches of the sorted values, and with trimming up to min(m, K)·K terms.

    Examples
    --------
    >>> x = [4, 5, 5, 6, 6, 7, 9]
    >>> round(smooth_sensitivity("trimmed_mean", x, 0, 100, beta=0.5, trim=2), 4)
    11.6495
    >>> round(smooth_sensitivity("mean", x, 0, 100, beta=0.5), 4)
    13.7143
    """
    function = _function(kind, ordered(values, lower, upper, on_invalid), relation, trim)
    return float(function.smooth(check_number(beta, "beta", 0.0, open_lower=True)))


@private.statistic
def sensitivity_envelope(
    kind: str,
    values: Any,
    lower: float,
    upper: float,
    beta: float,
    relation: str = "replace-one",
    trim: int = 0,
    *,
    distances: int | None = None,
    on_invalid: str = "raise",
) -> SensitivityEnvelope:
    """Return the local sensitivities within distance k and their decayed terms, for k = 0, 1, 2, ...

    Privacy: not private. It is for plots that explain the smooth sensitivity.

    Parameters
    ----------
    kind, values, lower, upper, beta, relation, trim, on_invalid
        As for `smooth_sensitivity`.
    distances : int, optional
        Number of distances. Default: up to the last distance whose term can matter, or at which the sensitivity still
        grows, whichever is smaller; at most 1,000. Takes O(`distances`²).

    Examples
    --------
    >>> e = sensitivity_envelope("median", [4, 5, 6], 0, 10, beta=1)
    >>> e.sensitivity.tolist(), e.terms.round(2).tolist()
    ([1.0, 5.0, 6.0], [1.0, 1.84, 0.81])
    """
    function = _function(kind, ordered(values, lower, upper, on_invalid), relation, trim)
    beta = check_number(beta, "beta", 0.0, open_lower=True)
    if distances is None:
        best, ceiling = function.smooth(beta), function.ceiling()
        far = math.log(ceiling / best) / beta if best > 0 else 0.0
        count = 1 + min(max(math.ceil(far), 0), function.last(), 999)
    else:
        count = check_integer(distances, "distances", 1)
    k = np.arange(count)
    sensitivity = function.at_distances(count, beta)
    return SensitivityEnvelope(k, sensitivity, np.exp(-beta * k) * sensitivity)


@private.statistic
def local_sensitivity(
    kind: str,
    values: Any,
    lower: float,
    upper: float,
    relation: str = "replace-one",
    trim: int = 0,
    *,
    on_invalid: str = "raise",
) -> float:
    """Return the exact local sensitivity: how far one change of these data can move the statistic.

    Privacy: not private, and noise scaled by it is not private either: it can differ without limit between neighbours.

    Parameters
    ----------
    kind, values, lower, upper, relation, trim, on_invalid
        As for `smooth_sensitivity`.

    Examples
    --------
    >>> local_sensitivity("median", [0, 0, 1], 0, 10), local_sensitivity("median", [0, 1, 1, 1, 10], 0, 10)
    (1.0, 0.0)
    """
    return float(_function(kind, ordered(values, lower, upper, on_invalid), relation, trim).local())


def global_sensitivity(
    kind: str, lower: float, upper: float, n: int | None = None, relation: str = "replace-one", trim: int = 0
) -> float:
    """Return the global sensitivity, a public number: how far one change can move the statistic of any data.

    Parameters
    ----------
    kind, lower, upper, relation, trim
        As for `smooth_sensitivity`.
    n : int, optional
        The public number of values, required under replace-one. Under add/remove n is private and the result holds
        for all n.

    Examples
    --------
    >>> global_sensitivity("mean", 0, 10, n=5), global_sensitivity("mean", 0, 10, relation="add-remove")
    (2.0, 5.0)
    """
    if relation == "replace-one":
        n = check_integer(n, "n", 0)
    sample = ordered([], lower, upper)
    sample = Ordered(np.zeros(n or 0), sample.lower, sample.width)
    return float(_function(kind, sample, relation, trim).ceiling())


@private.statistic
def statistic(kind: str, values: Any, lower: float, upper: float, trim: int = 0, *, on_invalid: str = "raise") -> float:
    """Return the statistic whose sensitivities this module computes. It is defined for every data set.

    Privacy: not private. This is the exact value that noise is added to.

    The (trimmed) mean of no values is the middle of the domain, and the (trimmed) variance of fewer than two values
    is 0. Variances divide by the number of values. The median is the value of rank ⌈n/2⌉ (the lower one of two middle
    values), or `lower` if there are no values.

    `kind`, `values`, `lower`, `upper`, `trim`, `on_invalid`: as for `smooth_sensitivity`.

    >>> statistic("trimmed_mean", [9, 1, 2, 3], 0, 10, trim=1), statistic("median", [9, 1, 2, 3], 0, 10)
    (2.5, 2.0)
    >>> statistic("mean", [], 0, 10), statistic("variance", [1, 3], 0, 10)
    (5.0, 1.0)
    """
    return float(_function(kind, ordered(values, lower, upper, on_invalid), "replace-one", trim).value())


def _function(kind: str, sample: Ordered, relation: str, trim: int) -> Mean | Median | Variance:
    check_choice(kind, "kind", KINDS)
    check_relation(relation)
    trimmed = kind.startswith("trimmed")
    # floats count up to 2**53
    m = check_integer(trim, "trim", 0, 2**53 if trimmed else None) * trimmed
    if kind == "median":
        return Median(sample, relation)
    return Mean(sample, relation, m) if kind.endswith("mean") else Variance(sample, relation, m)
