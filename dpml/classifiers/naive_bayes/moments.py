"""Means and variances of numbers in each class: Zafarani and Clifton's Algorithm 1 repaired, and its competitors.

Statistics: `class_statistics`, counts and sorted numbers of each class. Release: `release_moments`, the only function
that sees them and an ε. Numbers are scaled so that their public bounds are -1 and 1. The releases therefore hold for
any bounds.

Class sizes are private. Under add/remove a record is in one class, so classes are disjoint parts and parallel
composition applies. A replacement is one removal and one addition: ε/2 under add/remove is ε under replace-one,
whether or not the label changes. For (ε, δ) two steps of (ε/2, δ') make (ε, δ'(1 + e^(ε/2))). For ½ε²-CDP two steps of
½(ε/2)² make ½ε² (Bun and Steinke 2016, group privacy).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import divide_epsilon
from dpml.classifiers.naive_bayes.cells import Design, MixedModels, log_cells, log_prior
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace, smooth
from dpml.mechanisms.private import statistic
from dpml.mechanisms.smooth.admissible import (
    ArsinhNormal,
    Cauchy,
    LaplaceLogNormal,
    SmoothGaussian,
    SmoothLaplace,
    SmoothNoise,
    StudentT,
    UniformLogNormal,
)

NOISES = ("cauchy", "student-t", "laplace", "gaussian", "laplace-log-normal", "uniform-log-normal", "arsinh-normal")
APPROXIMATE, CONCENTRATED = ("laplace", "gaussian"), ("laplace-log-normal", "uniform-log-normal", "arsinh-normal")
KINDS = ("global", "smooth", "bun-steinke")
# the two statistics of a number: the kind, and whether it is taken of the squares
MOMENTS = {
    "smooth": (("trimmed_mean", False), ("trimmed_variance", False)),
    "bun-steinke": (("trimmed_mean", False), ("trimmed_mean", True)),
}
# σ is kept at a hundredth of half the domain or more, so that noise cannot make a variance 0 or negative
LEAST_VARIANCE = 1e-4
MOST_BETA = 10.0


# ---- statistics -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassStatistics:
    """Exact counts (C,) and (C, cells), and the sorted values in [-1, 1] of each class and number. Private."""

    n: Any
    cells: Any
    numbers: Any


def class_statistics(design: Design, X: Any, codes: Any) -> ClassStatistics:
    """Return the counts and the sorted numbers of each class, private where the records are."""
    return ClassStatistics(*_class_statistics(design, X, codes))


@statistic
def _class_statistics(design: Design, X: Any, codes: Any) -> tuple[FloatArray, FloatArray, Any]:
    C, K = design.schema.n_classes, design.n_cells
    flat = codes[:, None] * K + design.cells(X)
    z = design.numbers_of(X)
    numbers = tuple(tuple(np.sort(column) for column in z[codes == c].T) for c in range(C))
    cells = np.bincount(flat.ravel(), minlength=C * K)[: C * K].reshape(C, K).astype(float)
    return np.bincount(codes, minlength=C).astype(float), cells, numbers


# ---- release --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Released class counts (draws, C), cell counts (draws, C, cells), means and variances (draws, C, numbers)."""

    n: FloatArray
    cells: FloatArray
    mean: FloatArray
    variance: FloatArray


def shares(n_numbers: int, n_attributes: int, allocation: tuple[float, float] = (2.0, 1.0)) -> tuple[float, ...]:
    """Return the shares of ε for the class counts, for each attribute, and for each of a number's two statistics.

    Zafarani and Clifton 2021, Algorithm 1, line 3 uses 2 : 1, that is 1/(2·numbers + attributes + 1) for each
    statistic. Their Figures 14 to 16 vary the ratio. The class counts get as much as an attribute.
    """
    if not isinstance(allocation, (tuple, list)) or len(allocation) != 2:
        raise InvalidParameter("allocation", allocation, "two numbers > 0: (numeric, categorical)")
    numeric, categorical = (check_number(w, "allocation", 0.0, open_lower=True) for w in allocation)
    total = numeric * n_numbers + categorical * (n_attributes + 1)
    return categorical / total, categorical / total, numeric / total / 2


def smooth_noise(noise: str, epsilon: float, delta: float = 0.0) -> SmoothNoise:
    """Return noise for one smooth sensitivity, with this project's public β.

    - "cauchy": β = ε/6 (Zafarani and Clifton 2021, Algorithm 1). "student-t", with 3 degrees of freedom: ε/8.
      Concentrated noises: ε/10. Each of these is at most 10, where a neighbour at distance 1 weighs less than 5e-5.
    - "laplace": log(1 + ε/(2 log(2/δ))). "gaussian": ½·log(1 + ε/(2(1 + log(2/δ)))). For small ε these are near the
      published ε/(2 log(2/δ)) and ε/(4(1 + log(2/δ))). For large ε the published β would let the change of scale alone
      cost more than δ.

    Scales are calibrated exactly where an exact calibration is known.
    """
    check_choice(noise, "noise", NOISES)
    epsilon = check_epsilon(epsilon)
    if noise in APPROXIMATE:
        delta = check_number(delta, "delta", 0.0, 1.0, open_lower=True, open_upper=True)
        log, most = math.log(2 / delta), min(epsilon, 600.0)  # the exact calibration covers ε up to 600
        if noise == "laplace":
            return SmoothLaplace(epsilon, delta, math.log1p(most / (2 * log)))
        return SmoothGaussian(epsilon, delta, 0.5 * math.log1p(most / (2 * (1 + log))))
    if noise == "cauchy":
        return Cauchy(epsilon, min(epsilon / 6, MOST_BETA))
    if noise == "student-t":
        return StudentT(epsilon, min(epsilon / 8, MOST_BETA), 3.0)
    concentrated: dict[str, Any] = {
        "laplace-log-normal": LaplaceLogNormal,
        "uniform-log-normal": UniformLogNormal,
        "arsinh-normal": ArsinhNormal,
    }
    return concentrated[noise](epsilon, min(epsilon / 10, MOST_BETA))


def default_trim(noise: SmoothNoise, n_lower: int, n_classes: int, n_changed: int) -> int:
    """Return the public rule for the number m of values trimmed at each end.

    By m + 1 changed records a trimmed mean moves by about R/N, for a domain of width R and N values that are left. In
    a class of average size n = n_lower/C, N = n - `n_changed`·m, with `n_changed` = 2 under replace-one, and 3 under
    add/remove, where changes can be removals. The smooth sensitivity is then about exp(-β·m)·R/N. This is least at m =
    n/`n_changed` - 1/β. Less trimming suffices if the noise is already small: with t the size that it exceeds with
    probability 0.01 for a smooth sensitivity of 1, it is below R/64 at m = log(64·t/n)/β. R/64 is an eighth of the
    standard deviation of values whose domain is eight of them wide. So, rounded down,

        m = max(0, min(log(64·t/n)/β, n/`n_changed` - 1/β)).
    """
    n = n_lower / n_classes
    return max(
        0, math.floor(min(math.log(64 * noise.tail_size(0.01) / n), n * noise.beta / n_changed - 1) / noise.beta)
    )


def release_moments(
    statistics: ClassStatistics,
    design: Design,
    epsilon: float,
    kind: str,
    *,
    delta: float = 0.0,
    noise: str = "cauchy",
    trim: int | None = None,
    allocation: tuple[float, float] = (2.0, 1.0),
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator,
) -> Moments:
    """Release class counts, cell counts, and the mean and variance of each number in each class.

    Means are clipped to [-1, 1] and variances to [1e-4, 1]. Counts are not clipped.

    Privacy: per draw and for `relation`, ε, or (ε, δ) with "laplace" or "gaussian" noise, or ½ε²-CDP with a
    concentrated noise. Derivation, under add/remove: a record changes one class count by 1, one cell of each attribute
    by 1, and two statistics of each number of its own class. Each is released at its `shares` of ε (of ε² under CDP),
    and the shares add up to 1. (Laplace noise that is ε-DP is ½ε²-CDP: Bun and Steinke 2016, Proposition 1.4.) Under
    replace-one everything is released at ε/2 (see the module).

    - *"global"*: with n the class count, Σz and Σ(z² - ½) get Laplace noise for their sensitivities 1 and ½ (|z| <= 1)
      and are divided by the noisy n. `noise` is not used. Noise scaled by the width of the domain, without centring,
      would not cover a record that is added or whose label changes.
    - *"smooth"*: the (trimmed) mean and variance get noise scaled by their add/remove smooth sensitivities (Zafarani
      and Clifton 2021, Algorithm 1, repaired: the noise on the variance fits the variance).
    - *"bun-steinke"*: the trimmed means of z and z², scaled alike. The variance is E[z²] - E[z]² (Zafarani and Clifton
      2021, section 7).
    """
    check_choice(kind, "kind", KINDS)
    draws, rng = check_integer(draws, "draws", 1), check_rng(rng)
    epsilon = check_epsilon(epsilon)
    if check_relation(relation) == "replace-one":
        epsilon, delta = epsilon / 2, delta / (1 + math.exp(min(epsilon / 2, 600.0)))
    parts = shares(len(design.numbers), len(design.attributes), allocation)
    power = 2 if kind != "global" and noise in CONCENTRATED else 1
    counts = (1, len(design.attributes), 2 * len(design.numbers))
    class_epsilon, cell_epsilon, each = divide_epsilon(epsilon, [p ** (1 / power) for p in parts], counts, power=power)
    batch: dict[str, Any] = {"rng": rng, "draws": draws}
    n = Laplace(class_epsilon).release(statistics.n, **batch)
    cells = Laplace(cell_epsilon).release(statistics.cells, **batch)
    if not design.numbers:
        mean = variance = np.empty((*n.shape, 0))
    elif kind == "global":
        mean, variance = _from_sums(statistics, n, each, draws, rng)
    else:
        mechanism = smooth_noise(noise, each, delta / (2 * len(design.numbers)))
        if trim is None:
            trim = default_trim(mechanism, design.schema.n_lower, design.schema.n_classes, 3)
        check_integer(trim, "trim")
        noisy = [
            mechanism.release(*scaled_statistics(statistics, what, mechanism.beta, trim, squared=squared), **batch)
            for what, squared in MOMENTS[kind]
        ]
        mean, variance = noisy if kind == "smooth" else (noisy[0], noisy[1] - np.clip(noisy[0], -1, 1) ** 2)
    return Moments(n, cells, np.clip(mean, -1.0, 1.0), np.clip(variance, LEAST_VARIANCE, 1.0))


def _from_sums(
    statistics: ClassStatistics, n: FloatArray, epsilon: float, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    sums, squares = _sums(statistics.numbers)
    size = np.maximum(n, 1.0)[:, :, None]
    mean = np.clip(Laplace(epsilon, 1.0).release(sums, rng=rng, draws=draws) / size, -1, 1)
    return mean, Laplace(epsilon, 0.5).release(squares, rng=rng, draws=draws) / size + 0.5 - mean**2


@statistic
def _sums(numbers: Any) -> tuple[FloatArray, FloatArray]:
    """Return Σz and Σ(z² - ½) of each class and number."""
    sums = np.array([[z.sum() for z in mine] for mine in numbers])
    return sums, np.array([[(z**2 - 0.5).sum() for z in mine] for mine in numbers])


def scaled_statistics(
    statistics: ClassStatistics, kind: str, beta: float, trim: int = 0, *, squared: bool = False
) -> tuple[Any, Any]:
    """Return a statistic (C, numbers) of numbers or their squares, and its add/remove smooth sensitivity."""
    return _scaled(statistics.numbers, kind, beta, trim, squared)


@statistic
def _scaled(numbers: Any, kind: str, beta: float, trim: int, squared: bool) -> tuple[FloatArray, FloatArray]:
    lower = 0.0 if squared else -1.0
    rows = [[z**2 if squared else z for z in mine] for mine in numbers]
    exact = [[smooth.statistic(kind, z, lower, 1.0, trim) for z in mine] for mine in rows]
    scale = [[smooth.smooth_sensitivity(kind, z, lower, 1.0, beta, "add-remove", trim) for z in mine] for mine in rows]
    return np.array(exact), np.array(scale)


# ---- model ----------------------------------------------------------------------------------------------------------


def models_from_moments(
    moments: Moments, design: Design, *, pseudocount: float = 1.0, likelihood: str = "truncated-normal"
) -> MixedModels:
    """Return the models of released counts and moments, negative counts raised to 0. Post-processing."""
    nothing = np.empty((*moments.n.shape, 0))
    return MixedModels(
        log_prior(moments.n, pseudocount),
        log_cells(np.maximum(moments.cells, 0.0) + pseudocount, design),
        nothing,
        nothing,
        moments.mean,
        moments.variance,
        likelihood,
    )
