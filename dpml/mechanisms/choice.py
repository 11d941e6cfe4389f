"""Private selection among public candidates."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from dpml._validate import (
    check_choice,
    check_draws,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
    check_rng,
    check_upper,
)
from dpml.budget.conversion import zcdp_rho
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic


@statistic
def candidate_rows(scores: Any, draws: int, weight: float = 1.0, unit: float = 1.0) -> NDArray[np.float64]:
    """Return the scores times a weight, or in a unit, once for each draw: shape (draws, candidates)."""
    scores = np.asarray(scores, dtype=float)
    return np.broadcast_to(weight * scores / unit, (draws, scores.shape[-1]))


@claim(
    "exponential",
    "Exponential mechanism, by the range of the score change",
    "[antonova2016], eq. 2.30, with the range instead of 2Δ (docs/explanation/errata.md)",
    "ε for scores whose changes span at most the stated range",
)
@dataclass(frozen=True)
class ExponentialMechanism:
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
    ReportNoisyMax : Selects the candidate with the largest noisy score.
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

    def probabilities(self, scores: Any) -> NDArray[np.float64]:
        """Return the exact probability of each candidate.

        Parameters
        ----------
        scores : array-like of shape (..., candidates)
            Exact score of each candidate.

        Returns
        -------
        ndarray of shape (..., candidates)
            Probability of each candidate. The last axis adds up to 1.
        """
        return softmax(self.weight * np.asarray(scores, dtype=float), axis=-1)

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

        Notes
        -----
        The choice is the largest of score plus Gumbel noise, which has exactly the probabilities of the mechanism.
        """
        rows = candidate_rows(scores, check_draws(draws) or 1, self.weight)
        chosen = boundary.release(self, rows, check_rng(rng))
        return int(chosen[0]) if draws is None else chosen

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
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


def range_of_change(first: Any, second: Any) -> NDArray[np.float64]:
    """Return the range of the score changes (..., candidates) between two data sets: largest minus smallest."""
    change = np.subtract(first, second)
    return change.max(axis=-1) - change.min(axis=-1)


def _quadrature(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss-Legendre nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return (x + 1) / 2, w / 2


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
class ReportNoisyMax:
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
        rows = candidate_rows(scores, check_draws(draws) or 1, unit=self.scale)
        chosen = boundary.release(self, rows, check_rng(rng))
        return int(chosen[0]) if draws is None else chosen

    def _sample(self, statistic: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
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

    def probabilities(self, scores: Any) -> NDArray[np.float64]:
        """Return the probability of each candidate.

        Parameters
        ----------
        scores : array-like of shape (candidates,)
            Exact score of each candidate. It is private.

        Returns
        -------
        ndarray of shape (candidates,)
            Probability of each candidate. They add up to 1.

        Notes
        -----
        Exponential noise: with q* the largest score and d_j = exp(-(q* - q_j)/scale), candidate r wins with probability
        d_r times the integral over v from 0 to 1 of the product over j != r of (1 - v·d_j). The integrand is a
        polynomial, which Gauss-Legendre quadrature integrates exactly. Laplace noise: quadrature on the pieces between
        the scores, accurate to 1e-10.
        """
        q = np.asarray(scores, dtype=float) / self.scale
        if self.noise == "gumbel":
            return softmax(q)
        if self.noise == "exponential":
            v, w = _quadrature(len(q) // 2 + 1)
            d = np.exp(q - q.max())
            factors = 1 - v[:, None] * d
            return np.array([d[r] * (w @ np.delete(factors, r, axis=1).prod(axis=1)) for r in range(len(q))])
        return self._laplace_probabilities(q)

    @staticmethod
    def _laplace_probabilities(q: NDArray[np.float64]) -> NDArray[np.float64]:
        # P(r) = integral of f(x - q_r) times the product of the others' distribution functions, smooth between scores
        x0, w0 = _quadrature(24)
        knots = np.unique(q)
        edges = np.concatenate([knots[0] - np.arange(40, 0, -2.0), knots, knots[-1] + np.arange(2, 42, 2.0)])
        widths = np.diff(edges)
        pieces = np.maximum(np.ceil(widths / 2.0), 1).astype(int)
        starts = np.repeat(edges[:-1], pieces) + np.concatenate([np.arange(k) for k in pieces]) * np.repeat(
            widths / pieces, pieces
        )
        steps = np.repeat(widths / pieces, pieces)
        x = (starts[:, None] + steps[:, None] * x0).ravel()
        w = (steps[:, None] * w0).ravel()
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


@claim("clamped-likelihood", "Clamped maximum likelihood", "[antonova2016], section 2.2.2, eq. 2.42 to 2.48")
@dataclass(frozen=True)
class ClampedLikelihood:
    """Select a parameter by maximum likelihood, with the log likelihood of each record clamped to public bounds.

    The exponential mechanism releases one of finitely many candidate parameters.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    lower, upper : float
        Public bounds of a record's log likelihood, in nats. For discrete data `upper` = 0 is enough.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbouring relation of the privacy guarantee.

    See Also
    --------
    ExponentialMechanism : Selects a candidate with given scores.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: add/remove-one or replace-one. Sensitivity: range of the score
    changes `upper` - `lower` (add/remove-one) or 2(`upper` - `lower`) (replace-one).

    Derivation. A candidate's score is the sum over records of their clamped log likelihoods (NaN as `lower`). Adding a
    record changes it by an amount in [`lower`, `upper`]. Replacing one changes it by at most `upper` - `lower` in
    either direction. So the range is `upper` - `lower` under add/remove and twice that under replace-one.

    References
    ----------
    - Antonova (2016), section 2.2.2, eq. 2.42 to 2.48, with bounds -1 and 1.

    Examples
    --------
    >>> heads, bias = np.array([1, 1, 1, 0]), np.array([0.25, 0.5, 0.75])
    >>> logs = np.log(np.where(heads[:, None], bias, 1 - bias))
    >>> ClampedLikelihood(50.0, lower=-1.5, upper=0.0).release(logs, rng=np.random.default_rng(0))
    2
    """

    epsilon: float
    lower: float = -1.0
    upper: float = 1.0
    relation: str = "add-remove"

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "lower", check_number(self.lower, "lower"))
        object.__setattr__(self, "upper", check_upper(self.upper, self.lower))
        check_relation(self.relation)

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The exponential mechanism with the range derived above."""
        width = self.upper - self.lower
        return ExponentialMechanism(self.epsilon, width if self.relation == "add-remove" else 2 * width)

    @statistic
    def scores(self, log_likelihoods: Any) -> NDArray[np.float64]:
        """Return the exact scores of the candidates, which are private.

        Parameters
        ----------
        log_likelihoods : array-like of shape (records, candidates)
            Log likelihood of each record under each candidate, in nats.

        Returns
        -------
        ndarray of shape (candidates,)
            Score of each candidate.

        Notes
        -----
        NaN counts as `lower`. ``np.clip`` does not clip NaN, so one record would decide the choice.
        """
        values = np.asarray(log_likelihoods, dtype=float)
        return np.clip(np.where(np.isnan(values), self.lower, values), self.lower, self.upper).sum(axis=0)

    def probabilities(self, log_likelihoods: Any) -> NDArray[np.float64]:
        """Return the exact probability of each candidate.

        Parameters
        ----------
        log_likelihoods : array-like of shape (records, candidates)
            Log likelihood of each record under each candidate, in nats.

        Returns
        -------
        ndarray of shape (candidates,)
            Probability of each candidate. They add up to 1.
        """
        return self.mechanism.probabilities(self.scores(log_likelihoods))

    def release(self, log_likelihoods: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Select candidates at random.

        Parameters
        ----------
        log_likelihoods : array-like of shape (records, candidates)
            Log likelihood of each record under each candidate, in nats.
        rng : numpy.random.Generator
            Source of the random choice.
        draws : int, optional
            Number of independent choices. Each one costs ε. By default there is one, returned as an int.

        Returns
        -------
        int or ndarray of shape (draws,)
            Index of each chosen candidate.
        """
        return self.mechanism.release(self.scores(log_likelihoods), rng=rng, draws=draws)
