"""Claims of the secure samplers that releases draw from (the extra ``release``).

Their exact audits draw nothing, so that the claims can be checked where the extra is not installed.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from dpml.catalogue._laws import choice_law, noise_law
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import ComparedLoss, ComparedProfile, Enumerated
from dpml.mechanisms import Geometric, PermuteAndFlip
from dpml.mechanisms.secure import discrete_gaussian, gaussian_scale, integer_laplace, integer_scale, noisy_max
from dpml.mechanisms.secure_one_hot import SecureOneHot

BEFORE = np.array([0, 0, 5])
# noise in small steps of its scale, so that a tail begins where it is looked for; and scores that are all chosen often
FINE_SCALE, SPREAD = 30.0, np.array([0, 1, 2, 2])
DELTA = 1e-5


def _integer_laplace(epsilon: float, relation: str) -> Case:
    moved = np.array([1, 0, 5] if relation == "add-remove" else [1, 0, 4])
    scale = integer_scale(epsilon, 1 if relation == "add-remove" else 2)

    def release(data, draws, rng):
        return integer_laplace(data, scale, draws=draws)

    def noisy(values, draws, rng):
        return integer_laplace(values, FINE_SCALE, draws=draws)

    words = "a histogram, and one record is added, or moves to another cell"
    # so many draws take four seconds, and show whether the noise is cut at ten scales, beyond which 30 are expected
    law = noise_law(Geometric(1 / FINE_SCALE), noisy, [0, 0, 5], draws=700_000) if relation == "add-remove" else None
    return Case.of_release(BEFORE, moved, release, exact=ComparedLoss, draws=4_000, words=words, law=law)


def _chances(mechanism: Any, scores: Any) -> Any:
    """Return the log probabilities of permute-and-flip, the distribution of OpenDP's noisy max."""
    return _log_chances(scores, mechanism.scale)


def _log_chances(scores: Any, scale: float) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(PermuteAndFlip(1.0, 1.0).probabilities(np.reshape(scores, -1) / scale))


def _noisy_max(epsilon: float, relation: str) -> Case:
    def release(data, draws, rng):
        return noisy_max(data, epsilon, 1, draws=draws)

    width = math.ceil(epsilon)

    def draw(draws, rng):
        return noisy_max(SPREAD, epsilon, width, draws=draws)

    def chances():
        return dict(enumerate(_log_chances(SPREAD, integer_scale(epsilon, width))))

    high = math.ceil(30 / epsilon)
    words = "two candidates, and the score of the poor one rises by 1, that of the good one stays"
    pair = np.array([0, high]), np.array([1, high])
    law = choice_law(draw, chances, draws=10_000) if relation == "add-remove" else None
    exact = partial(Enumerated, probabilities=_chances)
    return Case.of_release(*pair, release, exact=exact, draws=2_000, words=words, law=law)


def _discrete_gaussian(epsilon: float, relation: str) -> Case:
    # ρ + 2·sqrt(ρ·log(1/δ)) = ε
    log = math.log(1 / DELTA)
    scale = gaussian_scale((math.sqrt(log + epsilon) - math.sqrt(log)) ** 2)

    def release(data, draws, rng):
        return discrete_gaussian(data, scale, draws=draws)

    law = noise_law(_DiscreteTails(scale), release, [0, 5], draws=50_000) if relation == "add-remove" else None
    words = "a count, and one record is added"
    pair = np.array([0]), np.array([1])
    return Case.of_release(*pair, release, exact=ComparedProfile, draws=4_000, words=words, law=law)


class _DiscreteTails:
    """Tails of discrete Gaussian noise, summed from its definition."""

    def __init__(self, scale: float):
        k = np.arange(math.ceil(40 * scale) + 1)
        weights = np.exp(-(k**2) / (2 * scale**2)) * np.where(k, 2.0, 1.0)
        # beyond each size, from 0 on
        self.beyond = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0) / weights.sum()

    def tail(self, sizes: Any) -> Any:
        """Return P(|noise| > size)."""
        return self.beyond[np.minimum(np.floor(sizes).astype(int), len(self.beyond) - 1)]

    def tail_size(self, probability: float) -> float:
        """Return the smallest size that the noise exceeds with at most this probability."""
        return float(np.argmax(self.beyond <= probability))


def _one_hot(epsilon: float, relation: str) -> Case:
    moved = np.array([[1, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    before = np.zeros_like(moved) if relation == "add-remove" else moved[::-1]
    mechanism = SecureOneHot(epsilon, (2, 3), 1 if relation == "add-remove" else 2)

    def sample(data, draws, rng):
        return np.array([mechanism.release(data).ravel() for _ in range(draws)])

    words = "counts of two attributes in two classes, and one record is added, or changes its class"
    return Case(before, moved, mechanism.release, sample, ComparedLoss(mechanism.release), draws=4_000, words=words)


METHODS = (
    Method(
        "secure-integer-laplace",
        "Integer Laplace noise, secure",
        "mechanism",
        ("dpml.mechanisms.secure.integer_laplace",),
        "OpenDP and [canonne2020]",
        "ε for integer statistics of the stated L1 sensitivity",
        _integer_laplace,
    ),
    Method(
        "secure-one-hot",
        "Noise for one-hot records, secure",
        "mechanism",
        ("dpml.mechanisms.secure_one_hot.SecureOneHot",),
        "this project: the K-norm mechanism [hardt-talwar2010], rounded",
        "ε for counts of the groups of attributes",
        _one_hot,
    ),
    Method(
        "secure-noisy-max",
        "Noisy max, secure (permute-and-flip)",
        "mechanism",
        ("dpml.mechanisms.secure.noisy_max",),
        "OpenDP and [mckenna-sheldon2020]",
        "ε for scores whose changes span at most the stated range",
        _noisy_max,
    ),
    Method(
        "secure-discrete-gaussian",
        "Discrete Gaussian noise, secure",
        "mechanism",
        ("dpml.mechanisms.secure.discrete_gaussian",),
        "OpenDP and [canonne2020]",
        "ρ-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
        _discrete_gaussian,
        cost="as claimed, but the conversion to (ε, δ) is loose",
        delta=DELTA,
    ),
)
