"""Claims of the mechanisms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.mechanisms import (
    ClampedLikelihood,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NormGamma,
    PermuteAndFlip,
    ReportNoisyMax,
    SampleAndAggregate,
    SparseVector,
    Staircase,
    above_threshold,
    gaussian_delta,
)

ADDITIVE = (0.0, 0.0, 5.0)


def _moved(relation: str) -> np.ndarray:
    """Return a histogram of three cells after one record came, or moved from the last cell to the first."""
    return np.array([1.0, 0.0, 5.0] if relation == "add-remove" else [1.0, 0.0, 4.0])


def _laplace(epsilon: float, relation: str) -> Case:
    mechanism = Laplace(epsilon, 1.0 if relation == "add-remove" else 2.0)
    return Case(
        np.array(ADDITIVE),
        _moved(relation),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        IndependentLaplace(lambda data: [(data, mechanism.scale)]),
        words="a histogram, one record more or moved",
    )


class _Choice:
    def __init__(self, mechanism: Any):
        self.mechanism = mechanism

    def log_probabilities(self, data: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self.mechanism.probabilities(data))


def _exponential(epsilon: float, relation: str) -> Case:
    mechanism = ExponentialMechanism(epsilon, change_range=1.0)
    high = 60.0 / epsilon
    return Case(
        np.array([0.0, high]),
        np.array([1.0, high]),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        _Choice(mechanism),
        words="two candidates, the poor one gains 1 while the good one keeps its score",
    )


class _NormGammaLoss:
    def __init__(self, mechanism: NormGamma):
        self.mechanism = mechanism

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        # by the triangle inequality, reached on the ray from one centre through the other
        return float(np.linalg.norm(np.subtract(data, neighbour)) / self.mechanism.scale)


def _norm_gamma(epsilon: float, relation: str) -> Case:
    mechanism = NormGamma(epsilon, 1.0, 2)
    return Case(
        np.zeros(2),
        np.array([0.6, 0.8]),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        _NormGammaLoss(mechanism),
        words="two points at distance 1",
    )


def _geometric(epsilon: float, relation: str) -> Case:
    mechanism = Geometric(epsilon, 1 if relation == "add-remove" else 2)
    return Case(
        np.array(ADDITIVE),
        _moved(relation),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        IndependentLaplace(lambda data: [(data, mechanism.sensitivity / mechanism.epsilon)]),
        words="a histogram, one record more or moved",
    )


class _ShiftedDensity:
    """The largest log ratio of one number's noise density between two locations, on a fine grid."""

    def __init__(self, mechanism: Any):
        self.mechanism = mechanism

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        x = np.linspace(-30, 30, 60_001) + 1e-9
        return float(np.abs(self.mechanism.log_density(x, data) - self.mechanism.log_density(x, neighbour)).max())


def _staircase(epsilon: float, relation: str) -> Case:
    mechanism = Staircase(epsilon)
    return Case(
        0.0,
        1.0,
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        _ShiftedDensity(mechanism),
        words="a count, one record more",
    )


DELTA = 1e-5


class _GaussianProfile:
    def __init__(self, mechanism: Gaussian):
        self.mechanism = mechanism

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        return gaussian_delta(epsilon, self.mechanism.scale, float(np.linalg.norm(np.subtract(data, neighbour))))


def _gaussian(epsilon: float, relation: str) -> Case:
    mechanism = Gaussian(epsilon, DELTA)
    return Case(
        np.zeros(2),
        np.array([0.6, 0.8]),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        _GaussianProfile(mechanism),
        words="two points at distance 1",
    )


def _noisy_max(noise: str):
    def case(epsilon: float, relation: str) -> Case:
        mechanism = PermuteAndFlip(epsilon, 1.0) if noise == "flip" else ReportNoisyMax(epsilon, 1.0, noise)
        high = 30.0 / epsilon
        return Case(
            np.array([0.0, high]),
            np.array([1.0, high]),
            lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
            _Choice(mechanism),
            words="two candidates, the poor one gains 1 while the good one keeps its score",
        )

    return case


class _Answers:
    def __init__(self, technique: SparseVector):
        self.technique = technique

    def log_probabilities(self, data: Any) -> dict[tuple[int, ...], float]:
        answers = {}
        for pattern in itertools.product((0, 1), repeat=len(data)):
            done = np.cumsum(pattern) - pattern >= self.technique.cutoff
            if not np.any(done & np.array(pattern, dtype=bool)):
                row = tuple(int(a) for a in np.where(done, -1, pattern))
                answers[row] = self.technique.log_probability(np.array(row), data, 0.0)
        return answers


def _sparse_vector(epsilon: float, relation: str) -> Case:
    technique = SparseVector(epsilon, 1)
    return Case(
        np.array([0.0, 0.0, 0.0, -8.0]),
        np.array([1.0, 1.0, 1.0, -9.0]),
        lambda data, draws, rng: technique.release(data, 0.0, draws=draws, rng=rng),
        _Answers(technique),
        words="three queries rise by 1, the one that passes the threshold falls by 1",
    )


def _above_threshold(epsilon: float, relation: str) -> Case:
    def sample(data, draws, rng):
        found = [above_threshold(data, 0.0, epsilon, rng=rng) for _ in range(draws)]
        return np.array([-1 if k is None else k for k in found])

    whole = _sparse_vector(epsilon, relation)
    return Case(whole.data, whole.neighbour, sample, whole.exact, draws=4_000, words=whole.words)


def _clamped_likelihood(epsilon: float, relation: str) -> Case:
    mechanism = ClampedLikelihood(epsilon, -1.0, 1.0, relation)
    many = int(np.ceil(60 / epsilon))
    # one parameter explains all records and not the one that comes; the other the reverse
    base, odd = [[1.0, -1.0]] * many, [-9.0, 9.0]
    before = base if relation == "add-remove" else [*base, [9.0, -9.0]]
    return Case(
        np.array(before),
        np.array([*base, odd]),
        lambda data, draws, rng: mechanism.release(data, draws=draws, rng=rng),
        _Choice(mechanism),
        words="a record that only the unlikely parameter explains",
    )


def _sample_and_aggregate(epsilon: float, relation: str) -> Case:
    mechanism = SampleAndAggregate(epsilon, 1, 0.0, 1.0, relation)

    def sample(data, draws, rng):
        return mechanism.release(data, np.max, draws=draws, rng=rng)

    exact = IndependentLaplace(
        lambda data: [(mechanism.block_results(data, np.max, rng=np.random.default_rng(0)), mechanism.scale)]
    )
    data, neighbour = np.array([0.0, 0.0]), np.array([0.0, 0.0, 1.0] if relation == "add-remove" else [0.0, 1.0])
    return Case(data, neighbour, sample, exact, words="one block of zeros, and a one comes")


METHODS = (
    Method(
        "laplace",
        "Laplace mechanism",
        "mechanism",
        ("dpml.mechanisms.Laplace",),
        "000 Theorem 2.2.1",
        "ε for statistics of the stated L1 sensitivity",
        True,
        _laplace,
    ),
    Method(
        "exponential",
        "Exponential mechanism, by the range of the change",
        "mechanism",
        ("dpml.mechanisms.ExponentialMechanism",),
        "000 eq. 2.30; the range instead of 2Δ: docs/errata.md",
        "ε for scores whose changes span at most the stated range",
        True,
        _exponential,
    ),
    Method(
        "norm-gamma",
        "Euclidean norm mechanism",
        "mechanism",
        ("dpml.mechanisms.NormGamma",),
        "000 eq. 2.24 with p = 2; Chaudhuri et al. 2011",
        "ε for vectors of the stated L2 sensitivity",
        True,
        _norm_gamma,
    ),
    Method(
        "geometric",
        "Two-sided geometric mechanism",
        "mechanism",
        ("dpml.mechanisms.Geometric",),
        "000 section 2.2.1; Ghosh et al. 2012",
        "ε for integer statistics of the stated L1 sensitivity",
        True,
        _geometric,
    ),
    Method(
        "staircase",
        "Staircase mechanism",
        "mechanism",
        ("dpml.mechanisms.Staircase",),
        "Geng and Viswanath 2014",
        "ε for one number of the stated sensitivity",
        True,
        _staircase,
    ),
    Method(
        "gaussian",
        "Gaussian mechanism, analytic calibration",
        "mechanism",
        ("dpml.mechanisms.Gaussian",),
        "Balle and Wang 2018, Algorithm 1",
        "(ε, δ) for vectors of the stated L2 sensitivity; audited at δ = 1e-5",
        True,
        _gaussian,
        delta=DELTA,
    ),
    *(
        Method(
            f"noisy-max-{noise}",
            f"Report noisy max with {title} noise",
            "mechanism",
            ("dpml.mechanisms.ReportNoisyMax",),
            source,
            "ε for scores whose changes span at most the stated range",
            True,
            _noisy_max(noise),
        )
        for noise, title, source in (
            ("exponential", "exponential", "Ding et al. 2021"),
            ("laplace", "Laplace", "Dwork and Roth 2014, Claim 3.9"),
            ("gumbel", "Gumbel", "the exponential mechanism"),
        )
    ),
    Method(
        "permute-and-flip",
        "Permute-and-flip",
        "mechanism",
        ("dpml.mechanisms.PermuteAndFlip",),
        "McKenna and Sheldon 2020, Algorithm 1",
        "ε for scores whose changes span at most the stated range",
        True,
        _noisy_max("flip"),
    ),
    Method(
        "sparse-vector",
        "Sparse vector technique",
        "mechanism",
        ("dpml.mechanisms.SparseVector",),
        "Lyu, Su and Li 2017, Algorithm 1",
        "ε for any number of queries, up to the cut-off of them above",
        True,
        _sparse_vector,
    ),
    Method(
        "above-threshold",
        "AboveThreshold",
        "mechanism",
        ("dpml.mechanisms.above_threshold",),
        "Dwork and Roth 2014, Algorithm 1",
        "ε for any number of queries",
        True,
        _above_threshold,
    ),
    Method(
        "clamped-likelihood",
        "Clamped maximum likelihood",
        "mechanism",
        ("dpml.mechanisms.ClampedLikelihood",),
        "000 section 2.2.2, eq. 2.42 to 2.48",
        "ε",
        True,
        _clamped_likelihood,
    ),
    Method(
        "sample-and-aggregate",
        "Sample and aggregate",
        "mechanism",
        ("dpml.mechanisms.SampleAndAggregate",),
        "000 section 2.4; Nissim et al. 2007, section 4",
        "ε",
        True,
        _sample_and_aggregate,
    ),
)
