"""Queries on a public table that is weighted to resemble a private one. All of it is post-processing, so it is free.

The weights of the N_E public records are w_i = e^(β·x_i)/Σe^(β·x). The answer to a query b is f(β) = Σ w_i b(x_i).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from dpml._validate import check_number
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.publishing.weights.features import Parts, RatioFeatures
from dpml.publishing.weights.misspecification import pair_reach
from dpml.publishing.weights.variance import Spread

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An answer with a confidence interval."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False, repr=False)
class WeightedTable:
    """Public table with released weights, which `ImportanceWeights.weighted` makes.

    A query is an array with a number for each record of the public table, a function of the table that returns one, or
    the name of a column of numbers.

    Attributes
    ----------
    table : DataFrame or ndarray
        Public table as it was given.
    shares : ndarray of shape (N_E,)
        Weights, which add up to 1.
    n_private : int
        Number N of private records.
    spread : Spread
        Variance of the released coefficients.
    misspecification : float
        Value g of the module `misspecification`: the possible distance of the log ratio from the model's, for
        intervals. It is 0 if no pair of attributes was released.

    See Also
    --------
    ImportanceWeights : Release of the weights.
    release_answers : Direct answers to queries that are known in advance.

    Notes
    -----
    Privacy: no data is read. All answers are post-processing of the released coefficients and the public table.

    Examples
    --------
    >>> from dpml.publishing import ImportanceWeights
    >>> rng = np.random.default_rng(0)
    >>> private, public = ((rng.random((2000, 2)) < p).astype(int) for p in (0.6, 0.5))
    >>> table = ImportanceWeights(1.0, method="moments", random_state=0).fit(private, public).weighted(public)
    >>> table
    <WeightedTable: 2,000 records, worth 1,809 of equal weight>
    >>> found = table.interval(public[:, 0])
    >>> round(private[:, 0].mean(), 2), round(found.estimate, 2), found.lower < 0.6 < found.upper
    (np.float64(0.61), 0.61, True)
    """

    table: Any
    shares: FloatArray
    n_private: int
    spread: Spread
    _features: RatioFeatures
    _records: Parts
    misspecification: float = 0.0

    def __repr__(self) -> str:
        return f"<WeightedTable: {len(self.shares):,} records, worth {self.effective_sample_size:,.0f} of equal weight>"

    # ---- the weights ------------------------------------------------------------------------------------------------

    @property
    def weights(self) -> FloatArray:
        """The weights with mean 1, as published: they estimate the ratio of the two densities."""
        return self.shares * len(self.shares)

    @property
    def effective_sample_size(self) -> float:
        """1/Σw², the number of records with equal weights that would give the same variance."""
        return effective_sample_size(self.shares)

    @property
    def n_half(self) -> int:
        """The fewest records that carry half of the weight."""
        return n_half(self.shares)

    # ---- answers ----------------------------------------------------------------------------------------------------

    def values(self, query: Any) -> FloatArray:
        """Return the number of a query for each record.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        ndarray of shape (N_E,)
            One number for each record.
        """
        if isinstance(query, str):
            if not isinstance(self.table, pd.DataFrame) or query not in self.table.columns:
                raise InvalidParameter("query", query, "a column of the table, an array or a function of the table")
            query = self.table[query]
        values = np.asarray(query(self.table) if callable(query) else query)
        if values.shape != self.shares.shape or values.dtype.kind not in "biuf":
            raise InvalidData(
                f"the query has shape {values.shape}: it must be a number for each of {len(self.shares)} records"
            )
        return values.astype(float)

    def mean(self, query: Any) -> float:
        """Return the estimated mean of a query over the private table, Σwb.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        float
            Weighted mean over the public table.
        """
        return float(self.shares @ self.values(query))

    def count(self, condition: Any) -> float:
        """Return the estimated number of private records that meet a condition, N·Σwb.

        Parameters
        ----------
        condition : array, function or str
            Query with the values 0 and 1.

        Returns
        -------
        float
            Number of records.
        """
        return self.n_private * self.mean(condition)

    def answer(self, function: Callable[[Any, FloatArray], Any]) -> Any:
        """Return ``function(table, weights)``, for any function of a weighted table.

        Parameters
        ----------
        function : callable
            Function of the public table and its weights, whose mean is 1.

        Returns
        -------
        object
            Value of the function.
        """
        return function(self.table, self.weights)

    def train(self, estimator: Any, X: Any, y: Any) -> Any:
        """Return a copy of a scikit-learn estimator that was trained on public records with the released weights.

        The weights add up to N, so that a regulariser for sums of losses acts as on the private table.

        Parameters
        ----------
        estimator : estimator
            Estimator whose `fit` accepts `sample_weight`, or a Pipeline that ends with one.
        X : array or DataFrame of shape (N_E, d)
            Public records.
        y : array of shape (N_E,)
            Their labels.

        Returns
        -------
        estimator
            The trained copy.

        Raises
        ------
        InvalidParameter
            For an estimator that accepts no weights.
        """
        name, last = "sample_weight", estimator
        if isinstance(estimator, Pipeline):
            step, last = estimator.steps[-1]
            name = f"{step}__sample_weight"
        taken = signature(last.fit).parameters.values()
        if not any(p.name == "sample_weight" or p.kind is Parameter.VAR_KEYWORD for p in taken):
            raise InvalidParameter("estimator", type(last).__name__, "an estimator whose fit takes sample_weight")
        return clone(estimator).fit(X, y, **{name: self.shares * self.n_private})

    # ---- what is uncertain ------------------------------------------------------------------------------------------

    @cached_property
    def _mean(self) -> FloatArray:
        return self._weighted_sums(self.shares)

    def _weighted_sums(self, weights: FloatArray) -> FloatArray:
        records = self._records
        return self._features.sums(Parts(records.codes, records.values * weights[:, None]))

    def gradient(self, query: Any) -> FloatArray:
        """Return α = ∇f(β), the weighted covariance of the query with the features.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        ndarray of shape (d,)
            Gradient of the answer.

        Notes
        -----
        α = Σ w b x - (Σ w b)(Σ w x) = ½ Σ_ij w_i w_j (b_i - b_j)(x_i - x_j). The paper's α lacks the ½ (Ji and Elkan
        2013, Theorem 2), so that its bound on the variance is four times as large.
        """
        b = self.values(query)
        return self._weighted_sums(self.shares * b) - float(self.shares @ b) * self._mean

    def variance_bound(self, query: Any) -> float:
        """Return the bound α'(vI)α on the asymptotic variance of an answer (Theorem 2), with v of `Spread.bound`.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        float
            Bound on the variance over the noise and over samples of the private table. The public table is fixed.
        """
        alpha = self.gradient(query)
        return self.spread.bound * float(alpha @ alpha)

    def variance(self, query: Any) -> float:
        """Return an estimate of the variance of an answer: α'Var[β]α, with Var[β] estimated from the released β.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        float
            Variance over the noise and over samples of the private table.
        """
        alpha = self.gradient(query)
        return float(alpha @ self.spread.covariance @ alpha)

    @cached_property
    def _scores(self) -> FloatArray:
        return self._features.scores(self._records, self.spread.beta)

    def public_variance(self, query: Any) -> float:
        """Return an estimate of the variance of an answer over samples of public records.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        float
            Variance over samples of public records. The private table is fixed.

        Notes
        -----
        The answer is a ratio of sums over public records, whose record i moves it by w_i(b_i - f) and by its effect on
        β (`Spread.pull`). The squares of these sums are added up. If the table is not that of the fit, the two parts
        are of two samples.
        """
        values = self.values(query)
        own = self.shares * (values - float(self.shares @ values))
        pull = self.spread.pull(self.gradient(values))
        fitted = self.spread.X_public @ self.spread.beta
        if np.array_equal(fitted.shape, own.shape) and np.allclose(fitted, self._scores, atol=1e-6):
            own, pull = own + pull, np.zeros(1)
        return float(own @ own + pull @ pull)

    def misspecification_variance(self, query: Any) -> float:
        """Return the variance that a ratio of another form than e^(β·x) adds, estimated from the released pairs.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.

        Returns
        -------
        float
            Variance, 0 if no pair of attributes was released.
        """
        if not self.misspecification:
            return 0.0
        values = self.values(query)
        alpha = self.gradient(values)
        projection = self._features.scores(self._records, self.spread.slopes(alpha))
        left = values - projection
        left = self.shares * (left - float(self.shares @ left))
        return self.misspecification**2 * pair_reach(self._records, self._features, left)

    def interval(self, query: Any, confidence: float = 0.95) -> Interval:
        """Return an answer with a confidence interval for the mean of a query in the private population.

        Parameters
        ----------
        query : array, function or str
            Number for each record of the public table, a function of the table that returns them, or the name of a
            column.
        confidence : float, default 0.95
            Confidence level, in (0, 1).

        Returns
        -------
        Interval
            Estimate, and lower and upper end of the interval.

        Notes
        -----
        The interval covers the noise and the sampling of both tables (`public_variance`). To first order it also covers
        the part that the regulariser leaves out: it contains the intervals of the answer and of the answer at β + Lβ
        (`Spread.left_out`). The error of a ratio that is not e^(β·x) is included if pairs of attributes were released
        (``method="moments"`` with ``pairs``), and as far as all pairs are like them (`misspecification_variance`).
        Without pairs no released value shows this error, and the interval is too narrow where it is large. Its
        half-width uses the Laplace quantile in standard deviations, 2.12 at 95%, because noise in few dimensions has
        longer tails than the normal 1.96.
        """
        level = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
        values = self.values(query)
        alpha = self.gradient(values)
        quantile = max(-math.log(1 - level) / math.sqrt(2), float(norm.ppf((1 + level) / 2)))
        estimate, ends = float(self.shares @ values), []
        also = self.public_variance(values) + self.misspecification_variance(values)
        for direction in (alpha, alpha + alpha @ self.spread.left_out):
            half = quantile * math.sqrt(max(float(direction @ self.spread.covariance @ direction), 0.0) + also)
            centre = estimate + float((direction - alpha) @ self.spread.beta)
            ends += [centre - half, centre + half]
        lower, upper = min(ends), max(ends)
        # a weighted mean lies among the values of the query
        return Interval(estimate, max(lower, float(values.min())), min(upper, float(values.max())))


def effective_sample_size(shares: FloatArray) -> float:
    """Return 1/Σw² of weights that add up to 1: so many records of equal weight would give the same variance."""
    return 1 / float(shares @ shares)


def n_half(shares: FloatArray) -> int:
    """Return the fewest records that carry half of the weight, of weights that add up to 1."""
    largest = np.sort(shares)[::-1]
    return int(np.searchsorted(np.cumsum(largest), 0.5 * (1 - 1e-12))) + 1
