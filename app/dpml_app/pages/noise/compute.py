"""The settings of the page Noise, and its computations as arrays. Each takes a few milliseconds and no data set."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpml.mechanisms import Gaussian, Geometric, Laplace
from dpml.mechanisms.smooth import (
    Cauchy,
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml.registry import method
from dpml_app.settings import EPSILONS, PageValues, Shared, choice, declared_by, number

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float]  # ε, Δ and δ
DELTAS = tuple(float(f"1e-{power}") for power in range(12, 1, -1))
TOUCHED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BETA_SHARES = {"1/50": 0.02, "1/20": 0.05, "1/12": 1 / 12, "1/6": 1 / 6, "1/4": 0.25, "1/3": 1 / 3, "1/2": 0.5}
BETA_SHARES |= {"3/4": 0.75, "9/10": 0.9}
MECHANISMS = {name: method(name, "noise").title for name in ("laplace", "geometric", "staircase", "gaussian")}
STATISTICS = {"median": "Median", "mean": "Mean"}
# samples of a count, and of a statistic of the points
DROPS, SPREAD = 150, 60

# ---- points -------------------------------------------------------------------------------------------------------

LOWER, UPPER = 0.0, 100.0
SIZES = (10, 20, 50, 100, 200)
PRESETS = {
    "bell": "Bell",
    "equal": "All equal",
    "skewed": "Skewed",
    "clumps": "Two clumps",
    "outlier": "One outlier",
}


def preset(name: str, size: int) -> NDArray[np.float64]:
    """Return `size` points of a preset: quantiles of its distribution, so that no seed is needed.

    >>> preset("clumps", 4).tolist()
    [21.6, 28.4, 71.6, 78.4]
    """
    p = (np.arange(size) + 0.5) / size
    if name == "equal":
        x = np.full(size, 50.0)
    elif name == "bell":
        x = 50 + 12 * stats.norm.ppf(p)
    elif name == "skewed":
        x = 5 - 14 * np.log1p(-p)
    elif name == "clumps":
        half = stats.norm.ppf((np.arange(size // 2) + 0.5) / (size // 2))
        x = np.concatenate([25 + 5 * half, 75 + 5 * half])
    else:
        x = np.append(35 + 4 * stats.norm.ppf((np.arange(size - 1) + 0.5) / (size - 1)), 97.0)
    return np.round(np.clip(x, LOWER, UPPER), 1)


# ---- settings -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoiseValues(PageValues):
    """All settings that the page Noise depends on, and the arguments of its computations."""

    noise_mechanism: str = choice("laplace", MECHANISMS, "Mechanism")
    noise_epsilon: float = choice(1.0, EPSILONS, "ε of the noise")
    noise_sensitivity: int = number(1, (1, 20), "Sensitivity Δ")
    noise_delta: float = choice(1e-6, DELTAS, "δ of Gaussian noise")
    noise_beta: str = choice("1/6", list(BETA_SHARES), "β as a share of ε")
    noise_seed: int = number(0, (0, 2**31 - 1), "Seed of the noise")
    noise_touched: int = choice(1, TOUCHED, "Changed numbers k")
    noise_statistic: str = choice("median", STATISTICS, "Statistic")
    noise_size: int = choice(50, SIZES, "Number of points")
    noise_preset: str = choice("bell", PRESETS, "Points")

    def pair_key(self) -> tuple[str, Numbers, int]:
        """Return the arguments of `pair`."""
        return self.noise_mechanism, (self.noise_epsilon, self.noise_sensitivity, self.noise_delta), self.noise_seed

    def smooth_key(self) -> tuple:
        """Return the arguments of `smooth`."""
        points = self.noise_preset, self.noise_size, self.noise_statistic
        return (*points, self.noise_epsilon, BETA_SHARES[self.noise_beta], self.noise_seed)


@declared_by(NoiseValues)
class NoiseSettings(Shared):
    """The settings of the page Noise."""


# ---- noise of one number ------------------------------------------------------------------------------------------


def mechanism(name: str, epsilon: float, sensitivity: float, delta: float, numbers: int = 1) -> Any:
    """Return the noise of one of `numbers` numbers, each of which one person can move by `sensitivity`.

    Laplace and geometric noise are scaled to the sum of the moves, Gaussian noise to its Euclidean length. Staircase
    noise is for one number, so each number gets its share of ε.
    """
    if name == "geometric":
        return Geometric(epsilon, int(sensitivity * numbers))
    if name == "laplace":
        return Laplace(epsilon, sensitivity * numbers)
    if name == "gaussian":
        return Gaussian(epsilon, delta, sensitivity * math.sqrt(numbers))
    return method(name, "noise").make(epsilon / numbers, sensitivity=sensitivity)


def log_density(noise: Any, x: Any) -> Floats:
    """Return the log density of noise, of whole numbers their log probability."""
    return noise.log_probability(x, 0) if isinstance(noise, Geometric) else noise.log_density(x, 0)


class Pair(NamedTuple):
    """The densities of a release with a person and without, over what holds 95 % of either, and releases with it.

    `x` and what is released are counted from the number without the person; `places` and `heights` are those of the
    releases as dots, `log_ratios` how much likelier each is with the person, `overlap` the probability that both share.
    """

    x: Floats
    without: Floats
    with_you: Floats
    overlap: float
    releases: Floats
    places: Floats
    heights: Floats
    log_ratios: Floats


def pair(name: str, settings: Numbers, seed: int) -> Pair:
    """Return how a number that one person moves by Δ is released, with the person and without."""
    noise, moved, rng = mechanism(name, *settings), float(settings[1]), np.random.default_rng(seed)
    reach, whole = noise.tail_size(0.05), name == "geometric"
    # whole numbers have steps of their own
    x = np.arange(-max(reach, 1), moved + max(reach, 1) + 1) if whole else np.linspace(-reach, moved + reach, 801)
    without, with_you = (np.exp(log_density(noise, x - m)) for m in (0.0, moved))
    # both fall with the distance from their middle, so they cross half-way
    overlap = float(noise.tail(moved / 2))
    if whole:
        overlap += float(np.exp(log_density(noise, moved / 2))) if moved % 2 == 0 else 0.0
        x = np.column_stack([x - 0.5, x + 0.5]).ravel()
        without, with_you = (np.repeat(each, 2) for each in (without, with_you))
    releases = moved + np.asarray(noise.release(0, rng=rng, draws=DROPS), dtype=float)
    # scattered evenly below the curve
    share, aside = rng.random(DROPS), rng.uniform(-0.4, 0.4, DROPS) * whole
    seen = (releases >= x[0]) & (releases <= x[-1])
    releases, share, aside = releases[seen], share[seen], aside[seen]
    density = log_density(noise, releases - moved)
    log_ratios = density - log_density(noise, releases)
    return Pair(x, without, with_you, overlap, releases, releases + aside, share * np.exp(density), log_ratios)


# ---- curves against ε ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _gaussian_size(epsilon: float, delta: float) -> float:
    """Return the mean size of Gaussian noise for one unit of sensitivity, for which σ is looked for once."""
    return Gaussian(epsilon, delta).mean_size


def rival_sizes(sensitivity: int, delta: float, touched: int) -> dict[str, dict[float, Floats]]:
    """Return the mean size of one number's noise, by mechanism and ε; each is an array of one.

    One person moves `touched` numbers by `sensitivity` each.
    """

    def size(name: str, epsilon: float) -> float:
        if name == "gaussian":
            return _gaussian_size(epsilon, delta) * sensitivity * math.sqrt(touched)
        return mechanism(name, epsilon, sensitivity, delta, touched).mean_size

    return {name: {epsilon: np.array([size(name, epsilon)]) for epsilon in EPSILONS} for name in MECHANISMS}


# ---- sensitivity of the points ------------------------------------------------------------------------------------


class Smooth(NamedTuple):
    """Sensitivities of a statistic of points, and noise scaled by them; `terms` are exp(-βk)·A(k), largest at `best`.

    `widths` has, for ``smooth`` (Cauchy) and ``global`` (Laplace) noise, the half-widths that hold 50% and 90%, and
    `samples` samples of both.
    """

    points: Floats
    value: float
    envelope: Floats
    terms: Floats
    best: int
    levels: dict[str, float]
    widths: dict[str, tuple[float, float]]
    samples: dict[str, Floats]


def smooth(name: str, size: int, kind: str, epsilon: float, share: float, seed: int) -> Smooth:
    """Return the sensitivities of a statistic of a preset's points, one of which is replaced, and noise for them."""
    points, beta, relation = preset(name, size), share * epsilon, "replace-one"
    sample = kind, points, LOWER, UPPER
    envelope = sensitivity_envelope(*sample, beta, relation, distances=size + 1)
    levels = {
        "local": local_sensitivity(*sample, relation),
        "smooth": smooth_sensitivity(*sample, beta, relation),
        "global": global_sensitivity(kind, LOWER, UPPER, size, relation),
    }
    value, rng = statistic(*sample), np.random.default_rng(seed)
    # of one unit of sensitivity
    cauchy, laplace = Cauchy(epsilon, beta), Laplace(epsilon)
    sizes = {"smooth": cauchy.tail_size, "global": laplace.tail_size}
    widths = {row: (levels[row] * size_of(0.5), levels[row] * size_of(0.1)) for row, size_of in sizes.items()}
    samples = {
        "smooth": cauchy.release(value, levels["smooth"], rng=rng, draws=SPREAD),
        "global": value + levels["global"] * laplace.release(0.0, rng=rng, draws=SPREAD),
    }
    best = int(np.argmax(envelope.terms))
    return Smooth(points, value, envelope.sensitivity, envelope.terms, best, levels, widths, samples)
