"""Queries on a public table that is weighted to resemble a private one, with confidence intervals.

The weights of the N_E public records are w_i = e^(β·x_i)/Σe^(β·x). The answer to a query b is f(β) = Σ w_i b(x_i). All
of it is post-processing of the released coefficients β, so it is free.

**Error of the model.** Suppose that the log ratio has, besides β·x, a term γ·z of the cells z of all pairs of
attributes, with independent coefficients γ of mean 0 and variance g². To first order the weights without it miss the
mean of a query b by γ·c, where c is the weighted covariance of z with the residual of b after a regression on the
features: variance g²·‖c‖² (`pair_reach`). A release of the sums of some pairs reveals g² (`interaction_size`): fitted
to the sums of the single attributes alone, the weights miss the cells of a pair by γ·C, with C the weighted covariance
of its cells with their residuals. The assumption is that other pairs are like those: `public_pairs` selects the ones
that depend most on each other in the public table.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import Parameter, signature
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from dpml._validate import check_number
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.publishing.density_ratio import moment_minimiser, objective_noises, output_noise
from dpml.publishing.ratio_features import Parts, RatioFeatures, public_pairs

FloatArray = NDArray[np.float64]
PRIOR = 1.0  # standard deviation of a coefficient of the log ratio
ABOVE = 2.0  # standard errors that are added to the estimate of g²
MOST_NOISE = 1e100  # a larger noise has no more effect, and this one has a finite square
DETECTED = PRIOR / 2  # a size of interactions at which intervals are still narrow enough to be of use
NUMBERS = (1, 2, 3, 5, 10)  # of pairs that are tried


def noise_variance(
    features: RatioFeatures, epsilon: float, n_private: int, method: str, calibration: str, reg_lambda: float
) -> float:
    """Return the variance of each coordinate of the noise, on β for "output" and else on the gradient of the mean loss.

    A norm-gamma vector of scale γ in d dimensions has E‖δ‖² = d(d + 1)γ², so each coordinate has (d + 1)γ² (Ji and
    Elkan 2013, Lemma 7, whose statement has d/(d + 1) where its proof and Theorem 2 have d(d + 1), for γ = √d/(Nλε)).
    Laplace noise of scale b has 2b².
    """
    d = features.dimension
    if method == "moments":
        return 2 * (features.change / (epsilon * n_private)) ** 2
    if method == "output":
        return (d + 1) * output_noise(epsilon, reg_lambda, features, n_private, calibration).scale ** 2
    noise, *_ = objective_noises(epsilon, reg_lambda, features, n_private, calibration)
    return (d + 1) * (noise.scale / n_private) ** 2


@dataclass(frozen=True, eq=False)
class Spread:
    """Variance of released coefficients around their limit, from released values and the public table.

    `beta` of shape (d,): released. `X_public` of shape (N_E, d): the public table of the fit. `noise`: from
    `noise_variance`. `squared_norm`: R², the public bound on a record's squared norm.
    """

    beta: FloatArray
    X_public: FloatArray
    method: str
    noise: float
    reg_lambda: float
    n_private: int
    squared_norm: float

    @property
    def bound(self) -> float:
        """Bound v on the asymptotic variance of β: Var[β] ⪯ vI, for all pairs of tables.

        As in Theorem 2 of Ji and Elkan 2013. The Hessian of the loss is at least λI, and a record's gradient has a
        covariance of at most R²I, so sampling the private table adds at most R²/(Nλ²). The noise adds its variance,
        divided by λ² where it is on the gradient.
        """
        square = self.reg_lambda**2
        return self.squared_norm / (self.n_private * square) + self.noise / (1.0 if self.method == "output" else square)

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray]:
        """Return the Hessian of the loss without its regulariser, and the covariance of a record's gradient, estimated.

        The weighted public table stands for the private one.
        """
        X = self.X_public
        scores = X @ self.beta
        w = softmax(scores)
        pull = np.ones(len(X)) if self.method == "moments" else expit(-scores)
        drawn = X * pull[:, None]
        mean = w @ drawn
        record = (drawn * w[:, None]).T @ drawn - np.outer(mean, mean)
        if self.method == "moments":
            H = record.copy()
        else:
            H = (X * (pull * (1 - pull) * (1 / len(X) + w))[:, None]).T @ X
        return H, record

    @cached_property
    def covariance(self) -> FloatArray:
        """An estimate of Var[β], shape (d, d), from the noise and the sampling of the private table."""
        H, record = self._parts
        inverse = np.linalg.inv(H + self.reg_lambda * np.eye(len(H)))
        inner = record / self.n_private
        if self.method != "output":
            inner = inner + self.noise * np.eye(len(inner))
        spread = inverse @ inner @ inverse
        return spread + self.noise * np.eye(len(spread)) if self.method == "output" else spread

    @cached_property
    def left_out(self) -> FloatArray:
        """Matrix L of shape (d, d): Lβ estimates, to first order, the part of β that the regulariser left out.

        Without the regulariser the gradient at β would be -λβ, so that L = λH⁺, with the pseudoinverse of the Hessian
        without it. (Directions in which the public records do not differ change no weight.)
        """
        return np.asarray(self.reg_lambda * np.linalg.pinv(self._parts[0], rcond=1e-9, hermitian=True), dtype=float)

    @cached_property
    def _inverse_covariance(self) -> FloatArray:
        X = self.X_public
        w = softmax(X @ self.beta)
        mean = w @ X
        covariance = (X * w[:, None]).T @ X - np.outer(mean, mean)
        return np.asarray(np.linalg.pinv(covariance, rcond=1e-9, hermitian=True), dtype=float)

    def slopes(self, gradient: FloatArray) -> FloatArray:
        """Return the coefficients of a query's regression on the features, from its weighted covariance with them."""
        return np.asarray(self._inverse_covariance @ gradient, dtype=float)

    @cached_property
    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """Return what each public record of the fit adds to the gradient of the loss, centred, and (H + λI)⁻¹."""
        X, scores = self.X_public, self.X_public @ self.beta
        w = softmax(scores)
        steps = (X - w @ X) * w[:, None] if self.method == "moments" else X * (expit(scores) / len(X))[:, None]
        H = self._parts[0]
        return steps - steps.mean(axis=0), np.asarray(np.linalg.inv(H + self.reg_lambda * np.eye(len(H))), dtype=float)

    def pull(self, gradient: FloatArray) -> FloatArray:
        """Return how far each public record of the fit moves an answer by its effect on β, shape (N_E,).

        To first order β moves by -(H + λI)⁻¹ times what the record adds to the gradient of the loss, and the answer by
        α times that.
        """
        steps, inverse = self._steps
        return np.asarray(-steps @ (inverse @ gradient), dtype=float)


def residuals(X: FloatArray, shares: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the residuals of columns Y after a weighted regression on columns X and a constant."""
    X, Y = X - shares @ X, Y - shares @ Y
    weighted = X * shares[:, None]
    products = weighted.T @ X
    # scaled by a power of two: if the weight is on one record, the products are too small for an inverse
    shift = -int(np.frexp(np.abs(products).max())[1])
    inverse = np.linalg.pinv(np.ldexp(products, shift), rcond=1e-9, hermitian=True)
    slopes = inverse @ np.ldexp(weighted.T @ Y, shift)
    return np.asarray(Y - X @ slopes, dtype=float)


def interaction_size(
    X_public: FloatArray, moments: FloatArray, features: RatioFeatures, reg_lambda: float, noise: float, n_private: int
) -> float:
    """Return g, two standard errors above its estimate, from noisy means of features with pairs; at most `PRIOR`.

    `noise` is the variance of each mean, and `reg_lambda` that of the fit to the single attributes. Three parts of each
    cell's squared error are no interaction: the variance of the noise, and those of the samples of private and of
    public records. The rest of all cells together estimates g²·Σ‖C‖².
    """
    singles = sum(features.single_sizes)
    X, at = X_public[:, :singles], singles
    shares = softmax(X @ moment_minimiser(X, moments[:singles], reg_lambda))
    excess, noisy, reaches = 0.0, 0.0, []
    for size in features.sizes[len(features.names) : len(features.names) + len(features.pairs)]:
        cells = X_public[:, at : at + size]
        apart = residuals(X, shares, cells)
        squares = apart**2
        sampled = shares @ squares / n_private + shares**2 @ squares
        miss = moments[at : at + size] - shares @ cells
        excess += float((miss**2 - noise - sampled).sum())
        reaches.append((((cells * shares[:, None]).T @ apart) ** 2).sum(axis=1))
        noisy += _variance(noise, sampled)
        at += size
    reach = np.concatenate(reaches)
    total = float(reach.sum())
    if total <= 0:
        return 0.0
    # bounded, because the total underflows if the weight is on one record
    squared = min(max(excess, 0.0) / total, PRIOR**2)
    # the estimate's own variance grows with it
    spread = noisy + 2 * squared**2 * float(reach @ reach)
    return min(math.sqrt(squared + ABOVE * math.sqrt(spread) / total), PRIOR)


def _variance(noise: float, sampled: FloatArray) -> float:
    """Return the variance of a sum of squared misses without interactions."""
    noise = min(noise, MOST_NOISE)
    # the variance of a squared Laplace variable is 5 times its squared mean, of a squared normal one twice
    return float((5 * noise**2 + 4 * noise * sampled + 2 * sampled**2).sum())


def informative_pairs(
    features: RatioFeatures, parts: Parts, epsilon: float, n_private: int
) -> tuple[tuple[str, str], ...]:
    """Return the fewest pairs whose noisy sums detect interactions of size `DETECTED`, or none, by public data alone.

    With them, `interaction_size` is at most `DETECTED` for equal weights and no interaction. Each additional pair adds
    informative cells, and noise to all sums.
    """
    X, rows = features.matrix(parts), np.arange(len(parts))
    shares = np.full(len(parts), 1 / len(parts))
    names, sizes = features.names, features.single_sizes
    ranked = public_pairs(features, parts, max(NUMBERS))
    blocks = []
    for first, second in ranked:
        a, b = names.index(first), names.index(second)
        cells = np.zeros((len(parts), sizes[a] * sizes[b]))
        cells[rows, parts.codes[:, a] * sizes[b] + parts.codes[:, b]] = parts.values[:, a] * parts.values[:, b]
        apart = residuals(X, shares, cells)
        sampled = shares @ apart**2 * (1 / n_private + 1 / len(parts))
        blocks.append((sampled, float((((cells * shares[:, None]).T @ apart) ** 2).sum())))
        if len(blocks) not in NUMBERS:
            continue
        chosen = replace(features, pairs=ranked[: len(blocks)])
        noise = noise_variance(chosen, epsilon, n_private, "moments", "tight", 1.0)
        spread, reach = sum(_variance(noise, s) for s, _ in blocks), sum(r for _, r in blocks)
        if reach > 0 and ABOVE * math.sqrt(spread) / reach <= DETECTED**2:
            return chosen.pairs
    return ()


def pair_reach(records: Parts, features: RatioFeatures, weighted: FloatArray) -> float:
    """Return ‖c‖² over all pairs of attributes, from each record's weight times its residual of the query."""
    sizes, total = features.single_sizes, 0.0
    pairs: Iterable[tuple[int, int]] = combinations(range(len(sizes)), 2)
    for a, b in pairs:
        cell = records.codes[:, a] * sizes[b] + records.codes[:, b]
        values = weighted * records.values[:, a] * records.values[:, b]
        total += float((np.bincount(cell, weights=values, minlength=sizes[a] * sizes[b]) ** 2).sum())
    return total


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

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
        Possible size g of interactions that the model of the log ratio lacks. It widens intervals, and is 0 if no pair
        of attributes was released.

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

    def values(self, query: Any) -> FloatArray:
        """Return the number of a query for each record.

        Parameters
        ----------
        query : array, function or str
            Query on the public table.

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
            Query on the public table.

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
            Query on the public table.

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
            Query on the public table.

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
            Query on the public table.

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
            Query on the public table.

        Returns
        -------
        float
            Variance over samples of public records. The private table is fixed.

        Notes
        -----
        Record i changes the answer by w_i(b_i - f), and by its effect on β (`Spread.pull`). The variance is the sum of
        the squared changes. For another table than that of the fit, the two effects are of two samples.
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
            Query on the public table.

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
            Query on the public table.
        confidence : float, default 0.95
            Confidence level, in (0, 1).

        Returns
        -------
        Interval
            Estimate, and lower and upper end of the interval.

        Notes
        -----
        The interval covers the noise, and the sampling of both tables (`public_variance`). To first order it also
        covers the bias of the regulariser: it contains the intervals of the answer and of the answer at β + Lβ
        (`Spread.left_out`). It covers the error of a ratio that is not e^(β·x) if pairs of attributes were released
        (``method="moments"`` with ``pairs``) and all pairs are like them (`misspecification_variance`). Without pairs,
        the interval is too narrow if this error is large. The half-width is a Laplace quantile, 2.12 standard
        deviations at 95% instead of the normal 1.96, because noise in few dimensions has longer tails.
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
        # a weighted mean is in the range of the query
        return Interval(estimate, max(lower, float(values.min())), min(upper, float(values.max())))


def effective_sample_size(shares: FloatArray) -> float:
    """Return 1/Σw² of weights that add up to 1: the number of records of equal weight with the same variance."""
    return 1 / float(shares @ shares)


def n_half(shares: FloatArray) -> int:
    """Return the fewest records that carry half of the weight, of weights that add up to 1."""
    largest = np.sort(shares)[::-1]
    return int(np.searchsorted(np.cumsum(largest), 0.5 * (1 - 1e-12))) + 1
