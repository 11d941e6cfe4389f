"""Inference that knows its noise: the posterior of the rates of naive Bayes, given the released counts.

Post-processing: released counts and public noise scales go in, nothing private. The noise on a count c is Laplace or
integer Laplace of scale b, and for both the likelihood of c is proportional to exp(-|c̃ - c|/b). So one formula is
exact for both.

Model, for a column j of class y (after Bernstein and Sheldon 2018, who use a Gibbs sampler; here one rate at a time is
integrated numerically, without a sampler):

- c̃_yj = c_yj + noise, c_yj ~ Binomial(n_y, θ_yj), ñ_y = n_y + noise, n_y >= 0 with a flat prior.
- θ_yj ~ Beta(κ m_j, κ(1 - m_j)): m_j is the rate that the classes share, and κ measures their similarity.
- m_j ~ Beta(a, a(k - 1)) for one of k values (k = 2 for a binary feature), a the pseudocount. log κ is uniform on
  `CONCENTRATIONS`. Columns with the same k then share a prior of (m, κ), learnt from their own released counts.

Given c and n the posterior of θ is a Beta distribution, so given the noisy counts it is a mixture of Betas.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.special import betainc, gammaln, ndtri
from sklearn.utils.validation import check_is_fitted

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_number
from dpml.classifiers._base import NaiveBayes
from dpml.counts import NoisyCounts
from dpml.encoding import SHARE_GRID
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

POSTERIOR = "posterior"

CONCENTRATIONS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
N_SHARED = 64  # nodes of m, the rate that the classes share
N_SIZES = 5  # nodes of a class size: medians of equally probable parts of its posterior
# A class and its counts are scaled down to at most as many records (a rate's standard deviation of .0016 or less), and
# to fewer where the noise hides it: with 64(n/b)² records their deviation is a 16th of the noise, or less.
FEWEST_RECORDS, MOST_RECORDS = 4096, 100_000
# The prior that columns share is learnt from them and from as many that follow the prior stated above. Fewer of these,
# and intervals are too narrow where there are few columns (docs/decisions/0061).
PRIOR_COLUMNS, LEARNING_STEPS = 100, 30


def check_shrinkage(shrinkage: Any, name: str = "shrinkage", *, method: str = "", counted: str = "") -> float | str:
    """Return a shrinkage: a number >= 0, or "posterior" where the `method` is the one whose counts' noise is known."""
    if not isinstance(shrinkage, str):
        return check_number(shrinkage, name, 0.0)
    if shrinkage == POSTERIOR and method == counted:
        return shrinkage
    raise InvalidParameter(name, shrinkage, f"a number >= 0, or {POSTERIOR!r}{counted and f' with method={counted!r}'}")


def _points(shares: FloatArray) -> FloatArray:
    """Return points of [0, 1] that lie as dense as rates can be told apart, and denser near 0."""
    return np.sin(np.pi / 2 * shares**1.5) ** 2


def _grid(size: int) -> tuple[FloatArray, FloatArray]:
    """Return the edges of `size` intervals of [0, 1], and a rate inside each."""
    return _points(np.linspace(0, 1, size + 1)), _points((np.arange(size) + 0.5) / size)


def _likelihood(counts: FloatArray, n: int, scale: float, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ_c Binomial(c; n, θ) exp(-|count - c|/scale), shape (D, G), and the log of a factor taken out, (D,).

    The sums to the left and to the right of a count follow a recursion of first order in c. The binomial
    probabilities are computed within 8 standard deviations only.
    """
    reach = math.ceil(4 * math.sqrt(n)) + 10
    width = min(n + 1, 2 * reach + 1)
    start = np.clip(np.rint(n * rates).astype(int) - reach, 0, n + 1 - width)
    c = start[:, None] + np.arange(width)
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    log_ways = log_factorial[n] - log_factorial[c] - log_factorial[n - c]
    pmf = np.exp(log_ways + c * np.log(rates)[:, None] + (n - c) * np.log1p(-rates)[:, None])
    recursion = [1.0, -np.exp(-1 / scale)]
    below = lfilter([1.0], recursion, pmf, axis=1)
    above = lfilter([1.0], recursion, pmf[:, ::-1], axis=1)[:, ::-1]

    inside = np.clip(counts, 0.0, n)
    whole = np.floor(inside).astype(int)
    part = inside - whole
    nearest = np.minimum(part, 1 - part)
    at, row = whole[:, None] - start, np.arange(len(rates))
    left = below[row, np.clip(at, 0, width - 1)] * np.exp(-np.maximum(at - width + 1, 0) / scale) * (at >= 0)
    at += 1
    right = above[row, np.clip(at, 0, width - 1)] * np.exp(np.minimum(at, 0) / scale) * (at < width)
    total = left * np.exp((nearest - part) / scale)[:, None] + right * np.exp((nearest + part - 1) / scale)[:, None]
    return total, -(np.abs(counts - inside) + nearest) / scale


def class_sizes(noisy: float, scale: float) -> IntArray:
    """Return equally probable sizes of a class given its noisy size: Laplace around it, at least 0."""
    shares = (np.arange(N_SIZES) + 0.5) / N_SIZES
    if noisy <= 0:
        sizes = -scale * np.log1p(-shares)
    else:
        below_zero = 0.5 * np.exp(-noisy / scale)
        p = below_zero + shares * (1 - below_zero)
        sizes = noisy - scale * np.sign(p - 0.5) * np.log1p(-2 * np.abs(p - 0.5))
    return np.rint(np.maximum(sizes, 0.0)).astype(np.intp)


@dataclass(frozen=True)
class ReleasedRates:
    """Noisy counts of some columns, how noisy they are, and the posterior of the rates that follows.

    `on` of shape (C, D): noisy counts of the records of each class with each column on, in records. `n` of shape (C,):
    noisy class sizes. `scale`, `class_scale`: Laplace scales of the noise on both. `n_values` of shape (D,): number of
    values of the attribute of each column, 2 for a binary feature. `pseudocount`: a of the prior Beta(a, a(k - 1)).
    """

    on: FloatArray
    n: FloatArray
    scale: float
    class_scale: float
    n_values: IntArray
    pseudocount: float = 1.0

    @cached_property
    def sizes(self) -> IntArray:
        """Equally probable sizes of each class, shape (C, 5)."""
        return np.stack([class_sizes(float(n), self.class_scale) for n in self.n])

    def _scaled(self, sizes: IntArray) -> IntArray:
        """Return class sizes after large classes have been scaled down."""
        enough = np.clip(64 * (sizes / self.scale) ** 2, FEWEST_RECORDS, MOST_RECORDS)
        return np.minimum(sizes, enough.astype(np.intp))

    def likelihood(self, rates: FloatArray) -> FloatArray:
        """Return the likelihood of each rate for each class and column, (C, D, G), at most 1, over likely sizes."""
        table = np.empty((*self.on.shape, len(rates)))
        for y, likely in enumerate(self.sizes):
            sizes, times = np.unique(likely, return_counts=True)
            scaled = self._scaled(sizes)
            shares = np.where(sizes > 0, scaled / np.maximum(sizes, 1), 1.0)
            pairs = (
                _likelihood(self.on[y] * share, int(n), self.scale * share, rates)
                for n, share in zip(scaled, shares, strict=True)
            )
            parts, logs = zip(*pairs, strict=True)
            factors = np.exp(np.array(logs) - np.max(logs, axis=0)) * times[:, None]
            table[y] = sum(part * factor[:, None] for part, factor in zip(parts, factors, strict=True))
        return table / table.max(axis=2, keepdims=True)

    def posterior(self, *, learn: bool = True) -> RatePosterior:
        """Return the posterior of every rate. With `learn`, columns with equally many values share a prior."""
        size = max(256, 64 * math.ceil(5 * math.sqrt(self._scaled(self.sizes).max()) / 64))
        edges, rates = _grid(size)
        mass = np.empty((*self.on.shape, size))
        if mass.size:
            mass = self._updated(_averaged(self.likelihood(rates)), _kernels(size), learn)
        return RatePosterior(edges, rates, mass)

    def _updated(self, mass: FloatArray, kernels: FloatArray, learn: bool) -> FloatArray:
        """Return the posterior of each rate from its likelihood and the distributions of a rate given κ and m."""
        evidence = np.einsum("ydg,kgm->ydkm", mass, kernels, optimize=True)
        # products of many classes are below the least float, so they are taken in logs, less the largest
        logs = np.log(np.maximum(evidence, np.finfo(float).tiny))
        log_joint = logs.sum(axis=0)
        log_joint -= log_joint.max(axis=(1, 2), keepdims=True)
        joint = np.exp(log_joint)
        prior = np.empty_like(joint)
        for k in np.unique(self.n_values):
            alike = self.n_values == k
            start = _beta_masses(self.pseudocount, self.pseudocount * (k - 1), _grid(N_SHARED)[0])
            stated = np.tile(start / len(CONCENTRATIONS), (len(CONCENTRATIONS), 1))
            prior[alike] = _learnt(stated, joint[alike]) if learn else stated
        for y in range(len(mass)):
            others = np.exp(log_joint - logs[y]) * prior
            mass[y] *= np.einsum("dkm,kgm->dg", others, kernels, optimize=True)
        return mass / mass.sum(axis=2, keepdims=True)


def _averaged(middles: FloatArray) -> FloatArray:
    """Return averages over intervals of a function given in their middles (..., G), exact for a parabola."""
    averages = middles.copy()
    averages[..., 1:-1] = (middles[..., :-2] + 22 * middles[..., 1:-1] + middles[..., 2:]) / 24
    return averages


@lru_cache(maxsize=4)
def _kernels(size: int) -> FloatArray:
    """Return the probabilities of the intervals of a grid for each concentration and shared rate, (K, G, M)."""
    edges, shared = _grid(size)[0][:, None], _grid(N_SHARED)[1]
    return np.stack([_beta_masses(k * shared, k * (1 - shared), edges) for k in CONCENTRATIONS])


def _beta_masses(a: float | FloatArray, b: float | FloatArray, edges: FloatArray) -> FloatArray:
    """Return the probability under Beta(a, b) of each interval between two edges."""
    return np.diff(betainc(a, b, edges), axis=0)


def _learnt(prior: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Return the prior of (κ, m) that fits columns' likelihoods (D, K, M) and `PRIOR_COLUMNS` of the prior."""
    fitted = prior
    for _ in range(LEARNING_STEPS):
        evidence = np.tensordot(likelihood, fitted, axes=2)
        expected = fitted * np.tensordot(1 / evidence, likelihood, axes=1)
        fitted = (expected + PRIOR_COLUMNS * prior) / (len(likelihood) + PRIOR_COLUMNS)
    return fitted


@dataclass(frozen=True)
class RatePosterior:
    """The posterior of rates: probabilities `mass` (C, D, G) of intervals between `edges`, with `rates` inside."""

    edges: FloatArray
    rates: FloatArray
    mass: FloatArray

    def mean(self) -> FloatArray:
        """Return the posterior mean of each rate, shape (C, D): the probability that the next record is on."""
        return self.mass @ self.rates

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends (C, D) between which each rate lies with probability `level`, with equally probable tails.

        Between edges the normal quantile of the distribution function is linear in the edges' order. In the first and
        in the last interval of the grid an end is moved outwards, because there the density may have no bound.
        """
        size = len(self.rates)
        below = np.cumsum(self.mass, axis=2).reshape(-1, size)
        normal = ndtri(np.clip(np.hstack([np.zeros((len(below), 1)), below]), 1e-12, 1 - 1e-12))
        tail, order = ndtri((1 - level) / 2), np.arange(size + 1)
        lower = np.array([np.interp(tail, row, order) for row in normal])
        upper = np.array([np.interp(-tail, row, order) for row in normal])
        for ends, outwards in ((lower, np.floor), (upper, np.ceil)):
            outer = (ends < 1) | (ends > size - 1)
            ends[outer] = outwards(ends[outer])
        shape = self.mass.shape[:2]
        return _points(lower / size).reshape(shape), _points(upper / size).reshape(shape)


def row_bounded_rates(
    noisy: NoisyCounts, schema: Schema, row_bound: int, scales: tuple[float, float], pseudocount: float
) -> list[ReleasedRates]:
    """Return the released rates of the columns of a binary table, for each draw of `release_row_bounded`.

    A record with a one for each of A attributes adds at most r/A to a count. Noisy counts are divided by that, so they
    are counts of records where the schema has nothing but attributes.
    """
    assert noisy.n is not None
    n_values = np.full(schema.n_features, 2)
    for columns in schema.attributes.values():
        n_values[columns] = len(columns)
    share = np.floor(SHARE_GRID * min(1.0, row_bound / max(len(schema.attributes), 1))) / SHARE_GRID
    scale, class_scale = scales
    return [
        ReleasedRates(on / share, n, scale / share, class_scale, n_values, pseudocount)
        for on, n in zip(noisy.on, noisy.n, strict=True)
    ]


def log_probabilities_posterior(
    draws: Sequence[ReleasedRates], attributes: Collection[Any] = ()
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return logs of the posterior means of on and off (draws, C, D) and of the classes.

    Where the columns' posteriors are independent, the predictive probability of a record is the product of the means.
    The means of an attribute's columns are scaled to add up to 1, and a column of it that is off adds nothing.
    """
    mean = np.stack([released.posterior().mean() for released in draws])
    log_on, log_off = np.log(mean), np.log1p(-mean)
    for columns in attributes:
        log_on[..., columns] -= np.log(mean[..., columns].sum(axis=-1, keepdims=True))
        log_off[..., columns] = 0.0
    size = np.stack([released.sizes.mean(axis=1) + released.pseudocount for released in draws])
    return log_on, log_off, np.log(size / size.sum(axis=1, keepdims=True))


class PosteriorNB(NaiveBayes):
    """Base of the models that know the noise of their counts. A fit with ``shrinkage="posterior"`` sets `_rates`.

    `_rates` has, for each group of columns with one scale of noise, their names (feature, value) and released counts.
    """

    _rates: Sequence[tuple[Sequence[tuple[str, object]], ReleasedRates]] = ()

    def rates_interval(self, level: float = 0.95) -> pd.DataFrame:
        """Return the posterior mean and an interval of each rate, given all released counts of its column.

        A rate is the probability that a record of the class has the value. It lies inside the interval with probability
        `level`. If records share a contribution bound unequally, the rate is the expected share instead.

        Parameters
        ----------
        level : float, default 0.95
            Probability of each interval, in (0, 1). Its two tails are equally probable.

        Returns
        -------
        DataFrame
            One row for each value of a feature and each class: `feature`, `value`, `class`, `count` (noisy), `rate`
            (posterior mean), `lower` and `upper`.

        Raises
        ------
        InvalidParameter
            If the model was fitted with another `shrinkage`, or `level` is outside (0, 1).

        Notes
        -----
        Privacy: no data is read.

        The intervals are post-processing of the released counts and the public scales of their noise, so they spend no
        ε.
        """
        check_is_fitted(self)
        level = check_number(level, "level", 0.0, 1.0, open_lower=True, open_upper=True)
        if not self._rates:
            raise InvalidParameter("shrinkage", getattr(self, "shrinkage", None), f"{POSTERIOR!r} for intervals")
        parts = []
        for names, released in self._rates:
            posterior = released.posterior()
            index = pd.MultiIndex.from_tuples(names, names=["feature", "value"])
            lower, upper = posterior.interval(level)
            values = {"count": released.on, "rate": posterior.mean(), "lower": lower, "upper": upper}
            wide = {key: pd.DataFrame(v.T, index, self.classes_).stack() for key, v in values.items()}
            parts.append(pd.DataFrame(wide).rename_axis(["feature", "value", "class"]).reset_index())
        return pd.concat(parts, ignore_index=True)
