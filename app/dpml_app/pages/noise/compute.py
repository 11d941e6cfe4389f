"""The settings of the page Noise, and its computations as arrays. Each takes a few milliseconds and no data set."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import param
from numpy.typing import NDArray
from scipy import stats

from dpml.mechanisms import Gaussian, Geometric, Laplace
from dpml.mechanisms.smooth import (
    Cauchy,
    cauchy_scale,
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml.mechanisms.smooth.admissible import StudentT
from dpml.registry import method, of_family
from dpml_app.settings import EPSILONS, PageValues, Shared, choice, declared_by, number, text

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float, float]  # ε, Δ, δ, and β as a share of ε
DELTAS = tuple(float(f"1e-{power}") for power in range(12, 1, -1))
TOUCHED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BETA_SHARES = {"1/50": 0.02, "1/20": 0.05, "1/12": 1 / 12, "1/6": 1 / 6, "1/4": 0.25, "1/3": 1 / 3, "1/2": 0.5}
BETA_SHARES |= {"3/4": 0.75, "9/10": 0.9}
# of one number every norm is the same noise as Laplace
MECHANISMS = {each.key: each.title for each in of_family("noise", "number") if "p" not in each.options}
RELATIONS = {"replace-one": "Replace one point", "add-remove": "Add or remove one point"}
STATISTICS = {"median": "Median", "mean": "Mean", "trimmed_mean": "Trimmed mean", "variance": "Variance"}
RIVALS = ("laplace", "geometric", "staircase", "gaussian")
DEGREES = method("student", "noise").options["degrees"]
# samples of a count, and the number of their stacks
DROPS, STACKS = 150, 40
# samples of a statistic of the points
SPREAD = 60

# ---- points -------------------------------------------------------------------------------------------------------

LOWER, UPPER, STEPS = 0.0, 100.0, 10  # bounds, and steps in a unit
SIZES = (10, 20, 50, 100, 200)
PRESETS = {
    "bell": "Bell",
    "equal": "All equal",
    "skewed": "Skewed",
    "clumps": "Two clumps",
    "outlier": "One outlier",
}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST = round((UPPER - LOWER) * STEPS)


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
    return np.round(np.clip(x, LOWER, UPPER) * STEPS) / STEPS


def encode(points: NDArray[np.float64]) -> str:
    """Return two characters a point, after a letter that keeps a link from being read as a number.

    Examples
    --------
    >>> encode(np.array([0.0, 3.6, 100.0]))
    'p0010rs'
    """
    steps = np.rint((np.asarray(points) - LOWER) * STEPS).astype(int)
    return "p" + "".join(_DIGITS[k // 36] + _DIGITS[k % 36] for k in steps)


def decode(code: str) -> NDArray[np.float64]:
    """Return the points of a code.

    >>> decode("p0010rs").tolist()
    [0.0, 3.6, 100.0]
    """
    return np.array([int(code[i : i + 2], 36) for i in range(1, len(code), 2)]) / STEPS + LOWER


def is_code(code: object) -> bool:
    """Return whether a text is a code of 2 to 200 points, or empty.

    >>> is_code("p0010rs"), is_code("pzz00"), is_code("p001")
    (True, False, False)
    """
    if not isinstance(code, str):
        return False
    if code == "":
        return True
    if not re.fullmatch("p([0-9a-z]{2}){2,200}", code):
        return False
    return all(int(code[i : i + 2], 36) <= _MOST for i in range(1, len(code), 2))


def heights(size: int) -> NDArray[np.float64]:
    """Return arbitrary heights of the points, which keep near points apart for the pointer."""
    return np.asarray(0.1 + 0.8 * ((np.arange(size) * 0.6180339887498949) % 1.0))


# ---- settings -----------------------------------------------------------------------------------------------------


class Points(param.String):
    """Points on a line, two characters each, or an empty text for those of the preset."""

    allowed = "empty, or p and two characters 0-9, a-z for each of 2 to 200 points, each up to rs (100.0)"

    def _validate_value(self, val: Any, allow_None: bool) -> None:
        super()._validate_value(val, allow_None)
        if not is_code(val):
            raise ValueError(f"points must be {self.allowed}")


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
    noise_trim: int = number(5, (0, 50), "Trimmed points per end m")
    noise_relation: str = choice("replace-one", RELATIONS, "Neighbouring tables")
    noise_size: int = choice(50, SIZES, "Number of points")
    noise_preset: str = choice("bell", PRESETS, "Initial points")
    noise_points: str = text("", "Points", Points)

    def mechanism_key(self) -> tuple[str, Numbers]:
        """Return the mechanism, and its ε, Δ, δ and share of β."""
        share = BETA_SHARES[self.noise_beta]
        return self.noise_mechanism, (self.noise_epsilon, self.noise_sensitivity, self.noise_delta, share)

    def smooth_key(self) -> tuple:
        """Return the arguments of `smooth`."""
        of_points = encode(points_of(self)), self.noise_statistic, self.noise_relation, self.noise_trim
        return (*of_points, self.noise_epsilon, BETA_SHARES[self.noise_beta], self.noise_seed)


@declared_by(NoiseValues)
class NoiseSettings(Shared):
    """The settings of the page Noise."""


def points_of(settings: Any) -> Floats:
    """Return the points of settings or of their values."""
    if settings.noise_points:
        return decode(settings.noise_points)
    return preset(settings.noise_preset, settings.noise_size)


# ---- noise of one number ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """The noise of one number: a mechanism, and the smooth sensitivity for one that is scaled by it."""

    mechanism: Any
    smooth: float | None = None

    @property
    def whole(self) -> bool:
        """Return whether the mechanism draws integers."""
        return isinstance(self.mechanism, Geometric)

    @property
    def _at(self) -> tuple[float, ...]:
        """The statistic and, for noise that is scaled by it, the smooth sensitivity."""
        return (0,) if self.smooth is None else (0.0, self.smooth)

    @property
    def _unit(self) -> float:
        """The unit of the mechanism's sizes."""
        return 1.0 if self.smooth is None else self.smooth

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return draws of the noise, by the library."""
        return np.asarray(self.mechanism.release(*self._at, rng=rng, draws=draws), dtype=float)

    def log_density(self, x: Any) -> Floats:
        """Return the log density (log probability of a whole number)."""
        return self.mechanism.log_probability(x, 0) if self.whole else self.mechanism.log_density(x, *self._at)

    def tail(self, t: Any) -> Floats:
        """Return P(|noise| > t) for t >= 0."""
        return self.mechanism.tail(np.asarray(t) / self._unit)

    def quantile(self, tail: float) -> float:
        """Return the smallest t with P(|noise| > t) <= `tail`."""
        return self._unit * self.mechanism.tail_size(tail)

    @property
    def mean_size(self) -> float:
        """Return E|noise|; infinite for Cauchy noise."""
        return self._unit * self.mechanism.mean_size


def model(name: str, epsilon: float, sensitivity: float, delta: float, beta: float, numbers: int = 1) -> Model:
    """Return the noise of one of `numbers` numbers, each of which one person can move by `sensitivity`.

    Laplace and geometric noise are scaled to the sum of the moves, Gaussian noise to its Euclidean length. Staircase,
    Cauchy and Student's t noise are for one number, so each number gets its share of ε (and β, with Δ the smooth
    sensitivity).

    Parameters
    ----------
    name : str
        A key of `MECHANISMS`.
    beta : float
        β as a share of ε.

    Raises
    ------
    InvalidParameter
        If Student's t or Cauchy noise has no scale at this β.
    """
    share = epsilon / numbers
    if name == "geometric":
        return Model(Geometric(epsilon, int(sensitivity * numbers)))
    if name == "laplace":
        return Model(Laplace(epsilon, sensitivity * numbers))
    if name == "gaussian":
        return Model(Gaussian(epsilon, delta, sensitivity * math.sqrt(numbers)))
    if name == "cauchy":
        return Model(Cauchy(share, beta * share), sensitivity)
    if name == "student":
        return Model(StudentT(share, beta * share, DEGREES), sensitivity)
    return Model(method(name, "noise").make(share, sensitivity=sensitivity))


def has_scale(name: str, beta: float) -> bool:
    """Return whether a mechanism has a scale at this share of β: Student's t noise with d degrees needs β < ε/d."""
    return name != "student" or beta < 1 / DEGREES


class Pair(NamedTuple):
    """The densities of a release with a person and without, over what holds 95 % of either, and releases with it.

    `x` and what is released are counted from the number without the person; `places` and `heights` are those of the
    releases as dots, `log_ratios` how much likelier each is with the person, `overlap` the probability that both share.
    `near` is what four fifths of the noise is beyond, and `at_near` its density there, where the curves' names stand.
    """

    x: Floats
    without: Floats
    with_you: Floats
    ends: tuple[float, float]
    overlap: float
    releases: Floats
    places: Floats
    heights: Floats
    log_ratios: Floats
    near: float
    at_near: float


def pair(name: str, settings: Numbers, seed: int) -> Pair:
    """Return how a number that one person moves by Δ is released, with the person and without."""
    noise, moved = model(name, *settings), float(settings[1])
    reach, near = noise.quantile(0.05), noise.quantile(0.8)
    # whole numbers have steps of their own
    x = np.arange(-max(reach, 1), moved + max(reach, 1) + 1) if noise.whole else np.linspace(-reach, moved + reach, 801)
    without, with_you = (np.exp(noise.log_density(x - m)) for m in (0.0, moved))
    # both fall with the distance from their middle, so they cross half-way
    overlap = float(noise.tail(moved / 2))
    if noise.whole:
        overlap += float(np.exp(noise.log_density(moved / 2))) if moved % 2 == 0 else 0.0
        x = np.column_stack([x - 0.5, x + 0.5]).ravel()
        without, with_you = (np.repeat(each, 2) for each in (without, with_you))
    releases = moved + noise.draw(DROPS, np.random.default_rng(seed))
    releases = releases[(releases >= x[0]) & (releases <= x[-1])]
    width = (x[-1] - x[0]) / STACKS
    width = max(round(width), 1) if noise.whole else width
    stack = np.floor((releases - x[0]) / width)
    below = np.array([np.sum(stack[:i] == one) for i, one in enumerate(stack)], dtype=float)
    log_ratios = noise.log_density(releases - moved) - noise.log_density(releases)
    return Pair(
        x,
        without,
        with_you,
        (float(x[0]), float(x[-1])),
        overlap,
        releases,
        x[0] + (stack + 0.5) * width,
        (below + 0.5) / (DROPS * width),
        log_ratios,
        near,
        float(np.exp(noise.log_density(near))),
    )


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
        return model(name, epsilon, sensitivity, delta, 1 / 6, touched).mean_size

    return {name: {epsilon: np.array([size(name, epsilon)]) for epsilon in EPSILONS} for name in RIVALS}


def actual_epsilon(scale: Any, beta: Any) -> Any:
    """Return the ε that Cauchy noise of this scale per unit of β-smooth sensitivity costs.

    The larger, over λ = 0 and λ = β, of arccosh(cosh λ + e^-λ/(2c²)) (derived in `dpml.mechanisms.smooth.admissible`,
    whose noise refuses a β for which a published scale costs more than its claim).

    >>> actual_epsilon(np.array([6.0, 2**0.5]), np.array([1 / 6, 1 / 6])).round(3).tolist()
    [0.226, 0.693]
    """
    # arccosh(1 + 2w) = 2 arsinh(√w), which stays exact for small w
    at = [np.sinh(step / 2) ** 2 + np.exp(-step) / (4 * scale**2) for step in (np.zeros_like(beta), beta)]
    return 2 * np.arcsinh(np.sqrt(np.maximum(*at)))


def calibrations(share: float, values: Sequence[float] = EPSILONS) -> dict[str, dict[float, Floats]]:
    """Return the actual ε of each Cauchy calibration at each value of ε, as an array of one."""
    return {
        name: {e: np.array([actual_epsilon(cauchy_scale(e, share * e, name), share * e)]) for e in values}
        for name in (each.key for each in of_family("noise", "cauchy"))
    }


# ---- sensitivity of the points ------------------------------------------------------------------------------------


class Smooth(NamedTuple):
    """Sensitivities of a statistic of points, and noise scaled by them; `terms` are exp(-βk)·A(k), largest at `best`.

    `widths` has, for ``smooth`` (Cauchy) and ``global`` (Laplace) noise, the half-widths that hold 50% and 90%, and
    `samples` samples of both. `off` keeps samples of about one value apart.
    """

    points: Floats
    value: float
    envelope: Floats
    terms: Floats
    best: int
    levels: dict[str, float]
    widths: dict[str, tuple[float, float]]
    samples: dict[str, Floats]
    off: Floats


def smooth(code: str, kind: str, relation: str, trim: int, epsilon: float, share: float, seed: int) -> Smooth:
    """Return the sensitivities of a statistic of the points of a code, and the noise of its release."""
    points, beta = decode(code), share * epsilon
    trim = trim if kind == "trimmed_mean" else 0
    sample = kind, points, LOWER, UPPER
    envelope = sensitivity_envelope(*sample, beta, relation, trim, distances=len(points) + 1)
    levels = {
        "local": local_sensitivity(*sample, relation, trim),
        "smooth": smooth_sensitivity(*sample, beta, relation, trim),
        "global": global_sensitivity(kind, LOWER, UPPER, len(points), relation, trim),
    }
    value, rng = statistic(*sample, trim), np.random.default_rng(seed)
    # of one unit of sensitivity
    noises = {"smooth": Model(Cauchy(epsilon, beta), 1.0), "global": Model(Laplace(epsilon))}
    widths = {row: (levels[row] * each.quantile(0.5), levels[row] * each.quantile(0.1)) for row, each in noises.items()}
    samples = {row: value + levels[row] * each.draw(SPREAD, rng) for row, each in noises.items()}
    off = rng.uniform(-0.3, 0.3, SPREAD)
    best = int(np.argmax(envelope.terms))
    return Smooth(points, value, envelope.sensitivity, envelope.terms, best, levels, widths, samples, off)
