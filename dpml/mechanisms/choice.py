"""Private choice among public candidates."""

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
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic


@statistic
def candidate_rows(scores: Any, draws: int, weight: float = 1.0, unit: float = 1.0) -> NDArray[np.float64]:
    """Return the scores times a weight, or in a unit, once for each draw: shape (draws, candidates)."""
    scores = np.asarray(scores, dtype=float)
    return np.broadcast_to(weight * scores / unit, (draws, scores.shape[-1]))


@dataclass(frozen=True)
class ExponentialMechanism:
    """The exponential mechanism, calibrated to the range of the score changes between neighbours.

    Released: one candidate, drawn with probability proportional to exp(ε·q/`change_range`).

    Privacy: ε per draw. Derivation: between two neighbours let every candidate's score change by an amount in [a, b]
    (the interval may depend on the pair), with b - a at most R = `change_range`. With w = ε/R every candidate's weight
    is multiplied by a factor in [exp(wa), exp(wb)], and so is the sum of the weights. A probability therefore changes
    by a factor of at most exp(w(b - a)) <= exp(ε). A two-sided sensitivity Δ gives the range 2Δ, which is the textbook
    weight ε/(2Δ) (McSherry and Talwar 2007; Antonova 2016, eq. 2.26). A monotone score has range Δ and so gains a
    factor of two.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours, in the score's units, > 0.
    concentrated : bool
        Whether the recorder counts the cost as ρ = ε²/8 (`choice_epsilon`), for composition with δ.

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
        """Return the probability of each candidate; scores have shape (..., candidates)."""
        return softmax(self.weight * np.asarray(scores, dtype=float), axis=-1)

    def release(self, scores: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Return the index of the chosen candidate, or an array of `draws` indices.

        Sampled as the largest of score plus Gumbel noise, which has exactly these probabilities.
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

    Privacy: each choice may depend on those before it. Derivation: between two neighbours log(p/q) of an exponential
    mechanism at ε' lies in an interval of length ε' (bounded range; Durfee and Rogers 2019), by the derivation of
    `ExponentialMechanism`. Let K(α) = log E_q exp(α·log(p/q)). Then K(0) = K(1) = 0, and K'' is the variance of
    log(p/q) under a tilted distribution, at most ε'²/4. So K(α) <= α(α - 1)·ε'²/8 for α > 1: the choice is ε'²/8-zCDP
    (Dong et al. 2020; Cesar and Rogers 2021), a quarter of what ε' alone implies. k choices are
    kε'²/8-zCDP, which `dpml.budget.zcdp_rho` converts. Without δ, and for few choices, ε/k is larger.

    Parameters
    ----------
    epsilon : float
    n_choices : int
        k >= 1.
    delta : float
        δ in [0, 1).

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


@dataclass(frozen=True)
class ReportNoisyMax:
    """Report the candidate whose noisy score is largest.

    Released: one candidate.

    Privacy: ε per draw, with noise of scale R/ε, for scores whose changes between neighbours lie in an interval of
    length at most R = `change_range`. Derivation: a common shift of all scores changes nothing, so let every score
    increase by an amount in [0, R]. Fix the noise of all candidates but r. Then r wins if its noise passes a
    threshold. The threshold moves by at most R in either direction, and the log tail of the noise falls by at most ε/R
    per unit. For a two-sided sensitivity Δ the range is 2Δ, the textbook scale (Dwork and Roth 2014, Claim 3.9; Ding
    et al. 2021 for exponential noise).

    Gumbel noise gives the exponential mechanism. Exponential noise gives permute-and-flip, whose expected score is
    never lower than that of the exponential mechanism.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    change_range : float
        Largest b - a over pairs of neighbours, in the score's units, > 0.
    noise : {"exponential", "laplace", "gumbel"}

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
        """Return the index of the chosen candidate, or an array of `draws` indices."""
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
        """Return the probability of each candidate, scores of shape (candidates,).

        Exponential noise: with q* the largest score and d_j = exp(-(q* - q_j)/scale), candidate r wins with
        probability d_r times the integral over v from 0 to 1 of the product over j != r of (1 - v·d_j). The integrand
        is a polynomial, which Gauss-Legendre quadrature integrates exactly. Laplace noise: quadrature on the pieces
        between the scores, accurate to 1e-10.
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


class PermuteAndFlip(ReportNoisyMax):
    """Permute-and-flip (McKenna and Sheldon 2020): the noisy maximum with exponential noise.

    It visits the candidates in random order and accepts each with probability exp((q - q*)·ε/`change_range`), q* the
    largest score. The first accepted candidate is released. Ding et al. (2021) show that this equals report-noisy-max
    with exponential noise, which is how it is drawn here.

    Examples
    --------
    >>> PermuteAndFlip(1.0, 1.0).probabilities([1.0, 0.0]).round(4).tolist()
    [0.8161, 0.1839]
    """

    def __init__(self, epsilon: float, change_range: float):
        super().__init__(epsilon, change_range, "exponential")


@dataclass(frozen=True)
class ClampedLikelihood:
    """Maximum likelihood by the exponential mechanism, with each record's log likelihood clamped to public bounds.

    Released: one of finitely many candidate parameters.

    Privacy: ε per draw. A candidate's score is the sum over records of their clamped log likelihoods (NaN as
    `lower`). Adding a record changes it by an amount in [`lower`, `upper`]; replacing one changes it by at most
    `upper` - `lower` in either direction. So the range is `upper` - `lower` under add/remove and twice that under
    replace-one (Antonova 2016, section 2.2.2, eq. 2.42 to 2.48, with bounds -1 and 1).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    lower, upper : float
        Public bounds of a record's log likelihood, in nats. For discrete data `upper` = 0 is enough.
    relation : {"add-remove", "replace-one"}

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
        """Return the candidates' scores from log likelihoods (records, candidates): exact, a private statistic.

        NaN counts as `lower`: np.clip does not clip NaN, so one record would decide the choice.
        """
        values = np.asarray(log_likelihoods, dtype=float)
        return np.clip(np.where(np.isnan(values), self.lower, values), self.lower, self.upper).sum(axis=0)

    def probabilities(self, log_likelihoods: Any) -> NDArray[np.float64]:
        """Return the probability of each candidate."""
        return self.mechanism.probabilities(self.scores(log_likelihoods))

    def release(self, log_likelihoods: Any, *, rng: np.random.Generator, draws: int | None = None) -> Any:
        """Return the index of the chosen candidate, or an array of `draws` indices."""
        return self.mechanism.release(self.scores(log_likelihoods), rng=rng, draws=draws)
