"""The sparse vector technique: which of many queries are above a threshold, at a cost for those above only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.budget.shares import split_epsilon
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, statistic

ABOVE, BELOW, NOT_ASKED = 1, 0, -1


@claim(
    "sparse-vector",
    "Sparse vector technique",
    "[lyu2017], Algorithm 1",
    "ε for any number of queries, of which at most a stated number are above the threshold",
)
@dataclass(frozen=True)
class SparseVector:
    """Answer queries by "above the threshold" or "below" until `cutoff` of them are above.

    The release has one answer for each query, in order: 1 for above, 0 for below, and -1 for a query that was not asked
    because the cut-off was reached.

    Parameters
    ----------
    epsilon : float
        Total privacy parameter ε, finite and > 0.
    cutoff : int, default=1
        Largest number c >= 1 of answers "above".
    sensitivity : float, default=1.0
        Sensitivity Δ > 0 of each query.
    monotone : bool, default=False
        Whether between any two neighbours all queries change in one direction. Total counts under add/remove do.
    threshold_share : float, optional
        Share ε1/ε of the threshold. None takes ε1 : ε2 as 1 : (2c)^(2/3), or 1 : c^(2/3) if monotone, which gives a
        comparison the least noise (Lyu, Su and Li 2017, section 4.2).

    See Also
    --------
    above_threshold : Finds the first query above a threshold.
    ExponentialMechanism : Selects one of several candidates.

    Notes
    -----
    Privacy: ε = epsilon per draw, for any number of answers "below". δ = 0. Relation: the one for which `sensitivity`
    holds. Sensitivity: `sensitivity` of each query.

    Derivation. The threshold gets noise of scale Δ/ε1. Each query gets noise of scale 2cΔ/ε2, or cΔ/ε2 if all queries
    are `monotone` (a record moves them all up or all down). The answers "above", at most c, cost ε2 together. The
    answers "below" cost only ε1, since one shift of the noisy threshold by Δ covers all of them. The total is ε = ε1 +
    ε2.

    Algorithm 5 of Lyu, Su and Li, which is the private threshold testing of Stoddard et al., omits the noise on the
    queries, and NoisyCut omits the cut-off. Neither is private (docs/explanation/errata.md).

    References
    ----------
    - Lyu, Su and Li (2017), Algorithm 1, Theorem 2, and Theorem 3 for monotone queries.

    Examples
    --------
    >>> technique = SparseVector(epsilon=1e6, cutoff=2)
    >>> technique.release([0, 9, 1, 8, 7], threshold=5, rng=np.random.default_rng(0)).tolist()
    [0, 1, 0, 1, -1]
    """

    epsilon: float
    cutoff: int = 1
    sensitivity: float = 1.0
    monotone: bool = False
    threshold_share: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "cutoff", check_integer(self.cutoff, "cutoff", 1))
        object.__setattr__(self, "sensitivity", check_number(self.sensitivity, "sensitivity", 0.0, open_lower=True))
        share = self.threshold_share
        if share is None:
            share = 1 / (1 + (self.cutoff * (1 if self.monotone else 2)) ** (2 / 3))
        share = check_number(share, "threshold_share", 0.0, 1.0, open_lower=True, open_upper=True)
        object.__setattr__(self, "threshold_share", share)

    @property
    def scales(self) -> tuple[float, float]:
        """Laplace scales of the threshold and of each query."""
        assert self.threshold_share is not None
        first, rest = split_epsilon(self.epsilon, self.threshold_share)
        factor = self.cutoff if self.monotone else 2 * self.cutoff
        return self.sensitivity / first, factor * self.sensitivity / rest

    def release(
        self, values: Any, threshold: Any, *, rng: np.random.Generator, draws: int | None = None
    ) -> NDArray[np.int8]:
        """Release the answers to all queries.

        Parameters
        ----------
        values : array-like of shape (queries,)
            Exact values of the queries, in order. They are private.
        threshold : float or array-like of shape (queries,)
            Public threshold of each query.
        rng : numpy.random.Generator
            Source of the noise.
        draws : int, optional
            Number of independent releases, which adds a leading axis. Each one costs ε. By default there is one,
            without that axis.

        Returns
        -------
        ndarray of shape (draws, queries) or (queries,)
            The answers 1, 0 and -1.
        """
        excess = repeated(_excess(values, threshold), check_draws(draws) or 1)
        answers = boundary.release(self, excess, check_rng(rng))
        return answers[0] if draws is None else answers

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int8]:
        rho, nu = self.scales
        cut = rng.laplace(scale=rho, size=(len(statistic), 1))
        above = statistic + rng.laplace(scale=nu, size=statistic.shape) >= cut
        before = above.cumsum(axis=1) - above
        return np.where(before >= self.cutoff, NOT_ASKED, above.astype(np.int8)).astype(np.int8)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # the bound of the derivation, applied to the actual changes of these queries
        change = np.subtract(statistic, other_statistic)
        size = np.abs(change).max(axis=-1, initial=0.0)
        one_way = (change >= 0).all(axis=-1) | (change <= 0).all(axis=-1)
        rho, nu = self.scales
        return boundary.Loss(pure=float((size / rho + np.where(one_way, 1, 2) * self.cutoff * size / nu).sum()))

    def log_probability(self, answers: Any, values: Any, threshold: float) -> float:
        """Return the log probability of a list of answers.

        Parameters
        ----------
        answers : array-like of shape (queries,)
            Answers 1, 0 and -1, in the order of the queries.
        values : array-like of shape (queries,)
            Exact values of the queries.
        threshold : float
            Public threshold.

        Returns
        -------
        float
            Natural logarithm of the probability, integrated numerically over the noisy threshold.
        """
        answers, values = np.asarray(answers), np.asarray(values, dtype=float)
        asked = answers != NOT_ASKED
        rho, nu = self.scales
        centres = (values - threshold)[asked]
        knots = np.unique(np.concatenate([[0.0], centres]))
        reach = 45 * max(rho, nu)
        edges = np.concatenate([[knots[0] - reach], knots, [knots[-1] + reach]])
        # pieces of at most four times the smaller scale: 20 nodes then give full accuracy
        pieces = np.maximum(np.ceil(np.diff(edges) / (4 * min(rho, nu))), 1).astype(int)
        edges = np.concatenate(
            [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(edges[:-1], edges[1:], pieces, strict=True)]
        )
        edges = np.append(edges, knots[-1] + reach)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        z = (middle[:, None] + half[:, None] * nodes).ravel()
        w = (half[:, None] * weights).ravel()
        gap = (z[:, None] - centres) / nu
        tail = np.where(gap > 0, 0.5 * np.exp(-np.abs(gap)), 1 - 0.5 * np.exp(-np.abs(gap)))
        chance = np.where(answers[asked] == ABOVE, tail, 1 - tail).prod(axis=1)
        with np.errstate(divide="ignore"):
            return float(np.log(w @ (chance * np.exp(-np.abs(z) / rho) / (2 * rho))))


@claim("above-threshold", "AboveThreshold", "[dwork-roth2014], Algorithm 1", "ε for any number of queries")
def above_threshold(
    values: Any, threshold: float, epsilon: float, *, sensitivity: float = 1.0, rng: np.random.Generator
) -> int | None:
    """Return the position of the first query above a noisy threshold (AboveThreshold).

    Parameters
    ----------
    values : array-like of shape (queries,)
        Exact values of the queries, in order. They are private.
    threshold : float
        Public threshold.
    epsilon : float
        Privacy parameter ε, finite and > 0.
    sensitivity : float, default=1.0
        Sensitivity Δ > 0 of each query.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    int or None
        Position of the first answer "above", or None if there is none.

    See Also
    --------
    SparseVector : Answers queries until several of them are above.

    Notes
    -----
    Privacy: ε = epsilon per call, for any number of queries. δ = 0. Relation: the one for which `sensitivity` holds.
    Sensitivity: `sensitivity` of each query.

    The function is `SparseVector` with a cut-off of 1.

    References
    ----------
    - Dwork and Roth (2014), Algorithm 1.

    Examples
    --------
    >>> above_threshold([0, 1, 9], 5, epsilon=1e6, rng=np.random.default_rng(0))
    2
    """
    answers = SparseVector(epsilon, sensitivity=sensitivity).release(values, threshold, rng=rng)
    positions = np.flatnonzero(answers == ABOVE)
    return int(positions[0]) if positions.size else None


@statistic
def _excess(values: Any, threshold: Any) -> NDArray[np.float64]:
    values = np.asarray(values, dtype=float)
    if values.ndim != 1:
        raise InvalidParameter("shape of values", values.shape, "one-dimensional: the queries in order")
    return values - np.asarray(threshold, dtype=float)
