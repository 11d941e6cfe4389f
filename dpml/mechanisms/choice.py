"""Private selection among public candidates, and the sparse vector technique."""

import abc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_draws, check_epsilon, check_integer, check_number, check_rng
from dpml.budget.conversion import zcdp_rho
from dpml.budget.shares import equal_share, split_epsilon
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import repeated, statistic


@statistic
def candidate_rows(scores: Any, draws: int, weight: float = 1.0, unit: float = 1.0) -> FloatArray:
    """Return the scores times a weight, or in a unit, once for each draw: shape (draws, candidates)."""
    scores = np.asarray(scores, dtype=float)
    return np.broadcast_to(weight * scores / unit, (draws, scores.shape[-1]))


class PrivateChoice(abc.ABC):
    """A private selection of one of several candidates with exact scores."""

    @abc.abstractmethod
    def _rows(self, scores: Any, draws: int) -> Any:
        """Return the scores in units of the noise, once for each draw."""

    def release(self, scores: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Select candidates at random.

        Parameters
        ----------
        scores : array-like of shape (candidates,)
            Exact score of each candidate. It is private.
        rng : numpy.random.Generator
            Source of the random choice.
        draws : int, optional
            Number of independent choices. Each one costs ε. By default there is one, returned as an int.

        Returns
        -------
        int or ndarray of shape (draws,)
            Index of each chosen candidate.
        """
        chosen = boundary.release(self, self._rows(scores, check_draws(draws) or 1), check_rng(rng))
        return int(chosen[0]) if draws is None else chosen

    @abc.abstractmethod
    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each candidate."""

    def probabilities(self, scores: Any) -> FloatArray:
        """Return the exact probability of each candidate.

        Parameters
        ----------
        scores : array-like of shape (candidates,)
            Exact score of each candidate. The exponential mechanism takes leading axes too.

        Returns
        -------
        ndarray of the shape of `scores`
            Probability of each candidate. The last axis adds up to 1.
        """
        return self._probabilities(np.asarray(scores, dtype=float))


@claim(
    "exponential",
    "Exponential mechanism, by the range of the score change",
    "[antonova2016], eq. 2.30, with the range instead of 2Δ (docs/explanation/errata.md)",
    "ε for scores whose changes span at most the stated range",
)
@dataclass(frozen=True)
class ExponentialMechanism(PrivateChoice):
    """Select a candidate with probability proportional to an exponential of its score.

    The mechanism releases one candidate. Its probability is proportional to exp(ε·q/`change_range`), with q its score.
    The calibration uses the range of the score changes between neighbours.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours whose score changes lie in [a, b], in the score's units, > 0.
    concentrated : bool, default=False
        Whether the recorder counts the cost as ρ = ε²/8 (`choice_epsilon`), for composition with δ.

    See Also
    --------
    PermuteAndFlip : Selects a candidate with an expected score that is never lower.
    choice_epsilon : Computes the ε of each of several selections.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `change_range` holds. Sensitivity: `change_range`,
    the range of the score changes between neighbours.

    Derivation. Between two neighbours let every candidate's score change by an amount in [a, b], with b - a at most R =
    `change_range`. The interval may depend on the pair. With w = ε/R every candidate's weight is multiplied by a factor
    in [exp(wa), exp(wb)], and so is the sum of the weights. A probability therefore changes by a factor of at most
    exp(w(b - a)) <= exp(ε).

    A two-sided sensitivity Δ gives the range 2Δ, which is the textbook weight ε/(2Δ). A monotone score has range Δ and
    so gains a factor of two.

    References
    ----------
    - McSherry and Talwar (2007).
    - Antonova (2016), eq. 2.26.

    Examples
    --------
    >>> ExponentialMechanism(epsilon=np.log(3), change_range=1).probabilities([1, 0]).round(3).tolist()
    [0.75, 0.25]
    """

    epsilon: float
    change_range: float
    concentrated: bool = False

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "change_range", check_number(self.change_range, "change_range", 0.0, open_lower=True))

    @property
    def weight(self) -> float:
        """The log-weight of one unit of score, ε/`change_range`."""
        return self.epsilon / self.change_range

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return softmax(self.weight * scores, axis=-1)

    def _rows(self, scores: Any, draws: int) -> Any:
        return candidate_rows(scores, draws, self.weight)

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> IntArray:
        # score plus Gumbel noise is largest with exactly the probabilities of the mechanism
        return (rng.gumbel(size=statistic.shape) + statistic).argmax(axis=-1)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        if self.concentrated:
            return boundary.Loss(concentrated=float((range_of_change(statistic, other_statistic) ** 2).sum()) / 8)
        return boundary.Loss(pure=softmax_distance(statistic, other_statistic))


def choice_epsilon(epsilon: float, n_choices: int, delta: float = 0.0) -> float:
    """Return the ε of each of several exponential mechanisms that together cost (ε, δ).

    Each choice may depend on those before it. Without δ the result is ε/k. With δ it is larger if k is large.

    Parameters
    ----------
    epsilon : float
        Total privacy parameter ε, finite and > 0.
    n_choices : int
        Number of choices k >= 1.
    delta : float, default=0.0
        Total privacy parameter δ in [0, 1).

    Returns
    -------
    float
        Privacy parameter ε' of each choice.

    See Also
    --------
    ExponentialMechanism : Selects a candidate privately.
    dpml.budget.zcdp_rho : Converts (ε, δ) to zero-concentrated privacy.

    Notes
    -----
    Privacy: no data is read.

    Derivation. Between two neighbours log(p/q) of an exponential mechanism at ε' lies in an interval of length ε', by
    the derivation of `ExponentialMechanism` (bounded range). Let K(α) = log E_q exp(α·log(p/q)). Then K(0) = K(1) = 0,
    and K'' is the variance of log(p/q) under a tilted distribution, at most ε'²/4. So K(α) <= α(α - 1)·ε'²/8 for α > 1:
    the choice is ε'²/8-zCDP, a quarter of the cost that ε' alone implies. k choices are kε'²/8-zCDP, which
    `dpml.budget.zcdp_rho` converts. The function returns ε/k if that is larger, as for few choices.

    References
    ----------
    - Durfee and Rogers (2019), bounded range.
    - Dong et al. (2020).
    - Cesar and Rogers (2021).

    Examples
    --------
    >>> round(choice_epsilon(1.0, 100), 4), round(choice_epsilon(1.0, 100, delta=1e-6), 4)
    (0.01, 0.0441)
    """
    each = equal_share(check_epsilon(epsilon), check_integer(n_choices, "n_choices", 1))
    if not check_number(delta, "delta", 0.0, 1.0, open_upper=True):
        return each
    return max(each, math.sqrt(8 * zcdp_rho(epsilon, delta) / n_choices))


NOISES = ("exponential", "laplace", "gumbel")
# With more candidates than this, the derived bound replaces the comparison of exact probabilities.
MOST_COMPARED = 64


def softmax_distance(first: Any, second: Any) -> float:
    """Return the largest log ratio of the softmax probabilities in each row (rows, candidates), summed over rows."""
    gap = np.abs(log_softmax(first, axis=-1) - log_softmax(second, axis=-1))
    return float(gap.max(axis=-1).sum())


def range_of_change(first: Any, second: Any) -> FloatArray:
    """Return the range of the score changes (..., candidates) between two data sets: largest minus smallest."""
    change = np.subtract(first, second)
    return change.max(axis=-1) - change.min(axis=-1)


def _quadrature(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return (x + 1) / 2, w / 2


def _piecewise(edges: FloatArray, longest: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on the pieces between edges, each cut into parts of at most a length."""
    x0, w0 = _quadrature(nodes)
    widths = np.diff(edges)
    pieces = np.maximum(np.ceil(widths / longest), 1).astype(int)
    steps = np.repeat(widths / pieces, pieces)
    starts = np.repeat(edges[:-1], pieces) + np.concatenate([np.arange(k) for k in pieces]) * steps
    return (starts[:, None] + steps[:, None] * x0).ravel(), (steps[:, None] * w0).ravel()


@claim(
    "noisy-max-exponential",
    "Report noisy max with exponential noise",
    "[ding2021]",
    "ε for scores whose changes span at most the stated range",
)
@claim(
    "noisy-max-laplace",
    "Report noisy max with Laplace noise",
    "[dwork-roth2014], Claim 3.9",
    "ε for scores whose changes span at most the stated range",
)
@claim(
    "noisy-max-gumbel",
    "Report noisy max with Gumbel noise",
    "the exponential mechanism, drawn by Gumbel noise",
    "ε for scores whose changes span at most the stated range",
)
@dataclass(frozen=True)
class ReportNoisyMax(PrivateChoice):
    """Select the candidate whose noisy score is largest.

    Gumbel noise gives the exponential mechanism. Exponential noise gives permute-and-flip, whose expected score is
    never lower than that of the exponential mechanism.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours whose score changes lie in [a, b], in the score's units, > 0.
    noise : {"exponential", "laplace", "gumbel"}, default="exponential"
        Distribution of the noise on each score.

    See Also
    --------
    ExponentialMechanism : Selects a candidate by exponential weights.
    PermuteAndFlip : Selects a candidate by exponential noise.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `change_range` holds. Sensitivity: `change_range`,
    the range of the score changes between neighbours.

    Derivation. The noise has scale R/ε with R = `change_range`. A common shift of all scores changes nothing, so let
    every score increase by an amount in [0, R]. Fix the noise of all candidates but r. Then r wins if its noise passes
    a threshold. The threshold moves by at most R in either direction, and the log tail of the noise falls by at most
    ε/R per unit. For a two-sided sensitivity Δ the range is 2Δ, the textbook scale.

    References
    ----------
    - Dwork and Roth (2014), Claim 3.9.
    - Ding et al. (2021), for exponential noise.

    Examples
    --------
    >>> ReportNoisyMax(1.0, 1.0, "gumbel").probabilities([1.0, 0.0]).round(4).tolist()
    [0.7311, 0.2689]
    """

    epsilon: float
    change_range: float
    noise: str = "exponential"

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "change_range", check_number(self.change_range, "change_range", 0.0, open_lower=True))
        check_choice(self.noise, "noise", NOISES)

    @property
    def scale(self) -> float:
        """Noise scale, `change_range`/ε."""
        return self.change_range / self.epsilon

    def _rows(self, scores: Any, draws: int) -> Any:
        return candidate_rows(scores, draws, unit=self.scale)

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> IntArray:
        if self.noise == "laplace":
            noisy = rng.laplace(size=statistic.shape)
        elif self.noise == "exponential":
            noisy = rng.standard_exponential(statistic.shape)
        else:
            noisy = rng.gumbel(size=statistic.shape)
        return (noisy + statistic).argmax(axis=-1)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        if self.noise == "gumbel":
            return boundary.Loss(pure=softmax_distance(statistic, other_statistic))
        bounds = range_of_change(statistic, other_statistic)  # by the derivation above, in units of the noise
        if statistic.shape[-1] > MOST_COMPARED:
            return boundary.Loss(pure=float(bounds.sum()))
        total = 0.0
        for first, second, bound in zip(statistic, other_statistic, bounds, strict=True):
            p, q = (self.probabilities(row * self.scale) for row in (first, second))
            # a tiny probability has too few correct digits for a ratio: use the bound, which always holds
            known = min(p.min(), q.min()) > 1e-9
            total += min(float(np.abs(np.log(p) - np.log(q)).max()), bound) if known else bound
        return boundary.Loss(pure=total)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each candidate.

        Exponential noise: with q* the largest score and d_j = exp(-(q* - q_j)/scale), candidate r wins with probability
        d_r times the integral over v from 0 to 1 of the product over j != r of (1 - v·d_j). The integrand is a
        polynomial, which Gauss-Legendre quadrature integrates exactly. Laplace noise: quadrature on the pieces between
        the scores, accurate to 1e-10.
        """
        q = scores / self.scale
        if self.noise == "gumbel":
            return softmax(q)
        if self.noise == "exponential":
            v, w = _quadrature(len(q) // 2 + 1)
            d = np.exp(q - q.max())
            factors = 1 - v[:, None] * d
            return np.array([d[r] * (w @ np.delete(factors, r, axis=1).prod(axis=1)) for r in range(len(q))])
        return self._laplace_probabilities(q)

    @staticmethod
    def _laplace_probabilities(q: FloatArray) -> FloatArray:
        # P(r) = integral of f(x - q_r) times the product of the others' distribution functions, smooth between scores
        knots = np.unique(q)
        edges = np.concatenate([knots[0] - np.arange(40, 0, -2.0), knots, knots[-1] + np.arange(2, 42, 2.0)])
        x, w = _piecewise(edges, 2.0, 24)
        z = x[:, None] - q
        density = 0.5 * np.exp(-np.abs(z))
        below = np.where(z < 0, density, 1 - density)
        return np.array([w @ (density[:, r] * np.delete(below, r, axis=1).prod(axis=1)) for r in range(len(q))])


@claim(
    "permute-and-flip",
    "Permute-and-flip",
    "[mckenna-sheldon2020], Algorithm 1",
    "ε for scores whose changes span at most the stated range",
)
class PermuteAndFlip(ReportNoisyMax):
    """Select a candidate by permute-and-flip, the noisy maximum with exponential noise.

    Permute-and-flip visits the candidates in random order. It accepts each with probability exp((q -
    q*)·ε/`change_range`), with q* the largest score. It releases the first accepted candidate.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours whose score changes lie in [a, b], in the score's units, > 0.

    See Also
    --------
    ReportNoisyMax : Selects the candidate with the largest noisy score.
    ExponentialMechanism : Selects a candidate by exponential weights.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `change_range` holds. Sensitivity: `change_range`,
    the range of the score changes between neighbours.

    The class draws by `ReportNoisyMax` with exponential noise, which Ding et al. (2021) show to be equal.

    References
    ----------
    - McKenna and Sheldon (2020).
    - Ding et al. (2021).

    Examples
    --------
    >>> PermuteAndFlip(1.0, 1.0).probabilities([1.0, 0.0]).round(4).tolist()
    [0.8161, 0.1839]
    """

    def __init__(self, epsilon: float, change_range: float):
        super().__init__(epsilon, change_range, "exponential")


# ---- the sparse vector technique ----------------------------------------------------------------------------------

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
            Number of releases, each at the cost ε, which adds a leading axis. By default one, without that axis.

        Returns
        -------
        ndarray of shape (draws, queries) or (queries,)
            The answers 1, 0 and -1.
        """
        excess = repeated(_excess(values, threshold), check_draws(draws) or 1)
        answers = boundary.release(self, excess, check_rng(rng))
        return answers[0] if draws is None else answers

    def _sample(self, statistic: FloatArray, rng: np.random.Generator) -> NDArray[np.int8]:
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
        z, w = _piecewise(edges, 4 * min(rho, nu), 20)
        gap = (z[:, None] - centres) / nu
        tail = np.where(gap > 0, 0.5 * np.exp(-np.abs(gap)), 1 - 0.5 * np.exp(-np.abs(gap)))
        chance = np.where(answers[asked] == ABOVE, tail, 1 - tail).prod(axis=1)
        with np.errstate(divide="ignore"):
            return float(np.log(w @ (chance * np.exp(-np.abs(z) / rho) / (2 * rho))))


@statistic
def _excess(values: Any, threshold: Any) -> FloatArray:
    values = np.asarray(values, dtype=float)
    if values.ndim != 1:
        raise InvalidParameter("shape of values", values.shape, "one-dimensional: the queries in order")
    return values - np.asarray(threshold, dtype=float)
