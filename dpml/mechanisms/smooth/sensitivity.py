"""Smooth sensitivity: a bound on the change of a statistic by one record near the given data, safe to scale noise by.

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
from dpml.mechanisms.smooth.formulas import Mean, Median, Ordered, Variance, ordered

KINDS = ("mean", "trimmed_mean", "variance", "trimmed_variance", "median")


class SensitivityEnvelope(NamedTuple):
    """Sensitivities by distance, for a plot. S is the largest of `terms`.

    `distance`: k = 0, 1, 2, ... changed records. `sensitivity`: A^(k), exact, under replace-one. Under add/remove it is
    the bound on it that defines the smooth bound. `terms`: exp(-βk) times `sensitivity`.
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
    force over all data sets. Under add/remove n is private, and the result is a β-smooth upper bound.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    values : array of shape (n,)
        Private values. There may be none.
    lower, upper : float
        Public bounds of the values, lower < upper.
    beta : float
        Smoothing parameter β > 0, a log ratio per changed record.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        The neighbouring relation.
    trim : int, default=0
        Number of values left out at each end, m >= 0. Only the trimmed kinds use it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its bounds. "raise" raises an error (simulation). "clip" moves it to the nearest
        bound and sets NaN to the middle of the domain (release).

    Returns
    -------
    float
        The smooth sensitivity S >= 0, in the units of the statistic.

    See Also
    --------
    cauchy_scale : Computes the scale of Cauchy noise for one unit of smooth sensitivity.
    SampleAndAggregate : Releases the mean of results on blocks of the records.

    Notes
    -----
    The result is not private by itself. Noise scaled by it is private, from a mechanism of
    `dpml.mechanisms.smooth.admissible` for this β.

    `Mean` and `Reach` of `dpml.mechanisms.smooth.formulas` derive the bound under add/remove. Its limit at
    small β is the global sensitivity over all n. A record whose class label changes is removed from one class and added
    to another, so two data sets change.

    The computation takes one sort and O(K log K) for the K distances whose terms can matter. The variances add searches
    of the sorted values, and with trimming up to min(m, K)·K terms.

    References
    ----------
    - Nissim, Raskhodnikova and Smith (2007).
    - Zafarani and Clifton (2021), Definitions 3.2 to 3.4.

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

    The result is not private. It is for plots that explain the smooth sensitivity.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    values : array of shape (n,)
        Private values. There may be none.
    lower, upper : float
        Public bounds of the values, lower < upper.
    beta : float
        Smoothing parameter β > 0, a log ratio per changed record.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        The neighbouring relation.
    trim : int, default=0
        Number of values left out at each end, m >= 0. Only the trimmed kinds use it.
    distances : int, optional
        Number of distances. By default it is up to the last distance whose term can matter, or at which the sensitivity
        still grows, the smaller of both, and at most 1,000. The computation takes O(`distances`²).
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its bounds. "raise" raises an error (simulation). "clip" moves it to the nearest
        bound and sets NaN to the middle of the domain (release).

    Returns
    -------
    SensitivityEnvelope
        The distances, the sensitivities and the terms.

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
    """Return the exact local sensitivity: the largest change of the statistic by one change of these data.

    The result is not private, and noise scaled by it is not private either: it can differ without limit between
    neighbours.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    values : array of shape (n,)
        Private values. There may be none.
    lower, upper : float
        Public bounds of the values, lower < upper.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        The neighbouring relation.
    trim : int, default=0
        Number of values left out at each end, m >= 0. Only the trimmed kinds use it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its bounds. "raise" raises an error (simulation). "clip" moves it to the nearest
        bound and sets NaN to the middle of the domain (release).

    Returns
    -------
    float
        The local sensitivity, in the units of the statistic.

    Examples
    --------
    >>> local_sensitivity("median", [0, 0, 1], 0, 10), local_sensitivity("median", [0, 1, 1, 1, 10], 0, 10)
    (1.0, 0.0)
    """
    return float(_function(kind, ordered(values, lower, upper, on_invalid), relation, trim).local())


def global_sensitivity(
    kind: str, lower: float, upper: float, n: int | None = None, relation: str = "replace-one", trim: int = 0
) -> float:
    """Return the global sensitivity, a public number: the largest change of the statistic by one change of any data.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    lower, upper : float
        Public bounds of the values, lower < upper.
    n : int, optional
        Public number of values, required under replace-one. Under add/remove n is private and the result holds for all
        n.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        The neighbouring relation.
    trim : int, default=0
        Number of values left out at each end, m >= 0. Only the trimmed kinds use it.

    Returns
    -------
    float
        The global sensitivity, in the units of the statistic.

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
    """Return the exact statistic whose sensitivities this module computes. It is defined for every data set.

    The result is not private. Noise is added to it.

    Parameters
    ----------
    kind : {"mean", "trimmed_mean", "variance", "trimmed_variance", "median"}
        The statistic, as `statistic` computes it.
    values : array of shape (n,)
        Private values. There may be none.
    lower, upper : float
        Public bounds of the values, lower < upper.
    trim : int, default=0
        Number of values left out at each end, m >= 0. Only the trimmed kinds use it.
    on_invalid : {"raise", "clip"}, default="raise"
        Treatment of a value outside its bounds. "raise" raises an error (simulation). "clip" moves it to the nearest
        bound and sets NaN to the middle of the domain (release).

    Returns
    -------
    float
        The statistic, in the units of the values (squared for variances).

    Notes
    -----
    The (trimmed) mean of no values is the middle of the domain, and the (trimmed) variance of fewer than two values
    is 0. Variances divide by the number of values. The median is the value of rank ⌈n/2⌉ (the lower one of two middle
    values), or `lower` if there are no values.

    Examples
    --------
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
