"""Claims of the mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.mechanisms import ExponentialMechanism, Laplace
from dpml.mechanisms.norm import NormGamma

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
    def __init__(self, mechanism: ExponentialMechanism):
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
)
