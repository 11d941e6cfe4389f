"""Claims of the secure samplers that releases draw from (the extra ``release``)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpml.auditing import hockey_stick
from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.secure import discrete_gaussian, gaussian_scale, integer_laplace, integer_scale, noisy_max

BEFORE = np.array([0, 0, 5])
DELTA = 1e-5


def _integer_laplace(epsilon: float, relation: str) -> Case:
    moved = np.array([1, 0, 5] if relation == "add-remove" else [1, 0, 4])
    scale = integer_scale(epsilon, 1 if relation == "add-remove" else 2)
    return Case(
        BEFORE,
        moved,
        lambda data, draws, rng: integer_laplace(data, scale, draws=draws),
        # probabilities fall by exp(-1/scale) for each unit, as Laplace densities do
        IndependentLaplace(lambda data: [(data, scale)]),
        draws=4_000,
        words="a histogram, one record more or moved",
    )


def _noisy_max(epsilon: float, relation: str) -> Case:
    class Exact:
        def log_probabilities(self, data):
            with np.errstate(divide="ignore"):
                return np.log(PermuteAndFlip(epsilon, 1.0).probabilities(data))

    high = math.ceil(30 / epsilon)
    return Case(
        np.array([0, high]),
        np.array([1, high]),
        lambda data, draws, rng: noisy_max(data, epsilon, 1, draws=draws),
        Exact(),
        draws=2_000,
        words="two candidates, the poor one gains 1 while the good one keeps its score",
    )


def _discrete_gaussian(epsilon: float, relation: str) -> Case:
    # ρ + 2·sqrt(ρ·log(1/δ)) = ε
    log = math.log(1 / DELTA)
    scale = gaussian_scale((math.sqrt(log + epsilon) - math.sqrt(log)) ** 2)

    class Profile:
        def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
            reach = math.ceil(40 * scale)
            k = np.arange(-reach, reach + 2)
            first, second = (-((k - centre) ** 2) / (2 * scale**2) for centre in (0, 1))
            return hockey_stick(first - np.log(np.exp(first).sum()), second - np.log(np.exp(second).sum()), epsilon)

    return Case(
        np.array([0]),
        np.array([1]),
        lambda data, draws, rng: discrete_gaussian(data, scale, draws=draws),
        Profile(),
        draws=4_000,
        words="a count, one record more",
    )


METHODS = (
    Method(
        "secure-integer-laplace",
        "Integer Laplace noise, secure",
        "mechanism",
        ("dpml.mechanisms.secure.integer_laplace",),
        "OpenDP; Canonne, Kamath and Steinke 2020",
        "ε for integer statistics of the stated L1 sensitivity",
        True,
        _integer_laplace,
    ),
    Method(
        "secure-noisy-max",
        "Noisy max, secure (permute-and-flip)",
        "mechanism",
        ("dpml.mechanisms.secure.noisy_max",),
        "OpenDP; McKenna and Sheldon 2020",
        "ε for scores whose changes span at most the stated range",
        True,
        _noisy_max,
    ),
    Method(
        "secure-discrete-gaussian",
        "Discrete Gaussian noise, secure",
        "mechanism",
        ("dpml.mechanisms.secure.discrete_gaussian",),
        "OpenDP; Canonne, Kamath and Steinke 2020",
        "ρ-zero-concentrated; audited as (ε, δ) at δ = 1e-5",
        True,
        _discrete_gaussian,
        cost="as claimed; the conversion to (ε, δ) is loose",
        delta=DELTA,
    ),
)
