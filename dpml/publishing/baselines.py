"""Baselines for published weights: a table with noise on every cell, and direct answers to queries that are known.

Both are for replace-one, as the weights are, so that methods are compared under one relation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_flag, check_rng
from dpml.budget import Budget, charge
from dpml.claims import claim
from dpml.exceptions import InvalidData
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import Private, public_number, statistic
from dpml.publishing.ratio_features import RatioFeatures

FloatArray = NDArray[np.float64]


@claim("table-with-noise", "Table with noise on every cell", "[ji-elkan2013], section 5.1", relations=("replace-one",))
def release_table(
    X: Any,
    features: RatioFeatures,
    epsilon: float,
    *,
    trim: bool = False,
    budget: Budget | None = None,
    rng: np.random.Generator,
) -> FloatArray:
    """Release a whole table with Laplace noise on every cell.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Private records, as `RatioFeatures.matrix` returns them.
    features : RatioFeatures
        Public bounds on the records.
    epsilon : float
        Privacy parameter ε, above 0.
    trim : bool, default False
        Cut noisy values to [0, 1]. The mean of a trimmed column is biased.
    budget : Budget, optional
        Budget that is charged before the first draw.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of shape (n, d)
        The noisy table.

    See Also
    --------
    ImportanceWeights : Weights of a public table, a release with less noise.

    Notes
    -----
    Privacy: ε = `epsilon`. δ = 0. Relation: replace-one. Sensitivity: S₁ in L1 norm for the whole table
    (`RatioFeatures.change`: 2 for each one-hot attribute).

    A replaced record changes its row alone, by at most S₁ in the L1 norm, so the scale is S₁/ε. Trimming is
    post-processing. A mean over n rows is unbiased without trimming, and its standard deviation is about √2·S₁/(ε√n).
    Trimmed values have a mean close to ½ for every value of the cell.

    References
    ----------
    Ji and Elkan (2013), section 5.1.

    Examples
    --------
    >>> from dpml.schema import Schema
    >>> features = RatioFeatures(Schema.binary(2))
    >>> noisy = release_table(np.ones((10_000, 2)), features, 1.0, rng=np.random.default_rng(0))
    >>> trimmed = release_table(np.ones((10_000, 2)), features, 0.01, trim=True, rng=np.random.default_rng(0))
    >>> noisy.mean().round(1), trimmed.mean().round(1)
    (np.float64(1.0), np.float64(0.5))
    """
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != features.dimension or not ((X >= 0) & (X <= 1)).all():
        raise InvalidData(f"X has shape {X.shape}: it must be (n, {features.dimension}) with cells in [0, 1]")
    X, trim = Private(X), check_flag(trim, "trim")
    mechanism = Laplace(epsilon, float(features.change))
    charge(budget, "replace-one", mechanism.epsilon, label="table with noise")
    noisy = mechanism.release(X, rng=check_rng(rng))
    return np.clip(noisy, 0, 1) if trim else noisy


@claim("direct-answers", "Direct answers with a divided ε", "[ji-elkan2013], section 5.1", relations=("replace-one",))
def release_answers(
    values: Any, epsilon: float, *, budget: Budget | None = None, rng: np.random.Generator
) -> FloatArray:
    """Release the means of queries that are all known in advance, each with its share of ε.

    Parameters
    ----------
    values : array of shape (q, n)
        Value of each query in [0, 1] on each private record.
    epsilon : float
        Privacy parameter ε of all q answers together, above 0.
    budget : Budget, optional
        Budget that is charged before the first draw.
    rng : numpy.random.Generator
        Source of the noise, for simulations.

    Returns
    -------
    ndarray of shape (q,)
        Noisy means, cut to [0, 1].

    See Also
    --------
    ImportanceWeights : Weights of a public table, which answer any query.

    Notes
    -----
    Privacy: ε = `epsilon` for all answers together. δ = 0. Relation: replace-one. Sensitivity: q in L1 norm for the
    sums of q queries.

    A replaced record changes the sum of one query by at most 1, and the sums of q queries by at most q, which they
    reach. So each sum gets Laplace noise of scale q/ε. The number of records is public.

    Examples
    --------
    >>> release_answers(np.ones((2, 1000)), 1.0, rng=np.random.default_rng(0)).round(1)
    array([1., 1.])
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or not values.size or not ((values >= 0) & (values <= 1)).all():
        raise InvalidData(f"values has shape {values.shape}: it must be (queries, records) with numbers in [0, 1]")
    n_queries, answers = len(values), Private(values.T)
    mechanism = Laplace(epsilon, float(n_queries))
    charge(budget, "replace-one", mechanism.epsilon, label=f"{n_queries} direct answers")
    noisy = mechanism.release(_totals(answers), rng=check_rng(rng))
    return np.clip(noisy / public_number(answers, "replace-one"), 0, 1)


@statistic
def _totals(answers: FloatArray) -> FloatArray:
    """Return the sum of each query over the records, which are the rows."""
    return answers.T.sum(axis=1)
