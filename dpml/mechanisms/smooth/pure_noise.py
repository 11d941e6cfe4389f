r"""Cauchy and Student's t noise for smooth sensitivity: pure differential privacy, calibrated exactly.

Derivation. The density of Student's t with ν degrees of freedom, location l and scale s is proportional to
s^ν (ν s² + (x-l)²)^(-(ν+1)/2). For ν = 1 (Cauchy) these are Poisson kernels of the half-plane, and by Harnack's
inequality the largest log ratio of two of them is the hyperbolic distance between (l1, s1) and (l2, s2),

    arccosh(1 + ((l1-l2)² + (s1-s2)²)/(2 s1 s2)).

Writing the t density through the Cauchy kernel of scale √ν·s, the largest log ratio over x of t densities 1 and 2 is

    (ν-1)/2·log(s1/s2) + (ν+1)/2·arccosh(1 + ((l1-l2)²/ν + (s1-s2)²)/(2 s1 s2)).

Neighbours have scales c·S and c·S·e^λ, 0 <= λ <= β, and locations at most S (the smaller) apart. In both directions

    cost(λ) = |ν-1|/2·λ + (ν+1)/2·arccosh(cosh λ + e^-λ/(2νc²)) <= ε

must hold. Solved for c, with a = (2ε - |ν-1|λ)/(ν+1):  c² >= 1/(2ν e^λ (cosh a - cosh λ)).  In u = e^λ the term
e^λ(cosh a - cosh λ) is a sum of powers of u whose derivative has signs +, +, - by rising exponent, so one change of
sign (Descartes). It rises and then falls, so its smallest value on [0, β] is at λ = 0 or λ = β, and it is enough to
check these two. A finite c exists if a > λ at λ = β, that is, if β < ε/max(ν, 1).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from dpml._validate import check_choice, check_epsilon, check_number
from dpml.claims import claim
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.smooth._noise import Claim, Floats, SmoothNoise
from dpml.mechanisms.tails import SymmetricNoise

CAUCHY_CALIBRATIONS = ("exact", "algorithm-1", "theorem-2")
STUDENT_CALIBRATIONS = ("exact", "bun-steinke")


def cauchy_scale(epsilon: float, beta: float, calibration: str = "exact") -> float:
    """Return the scale of Cauchy noise for one unit of β-smooth sensitivity.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, 0 < β < ε. Both published constants require β <= ε/6.
    calibration : {"exact", "algorithm-1", "theorem-2"}, default="exact"
        Rule for the scale. "exact" is the smallest scale that is ε-DP. "algorithm-1" is √2/ε. "theorem-2" is 6/ε.

    Returns
    -------
    float
        The noise scale, in units of the smooth sensitivity.

    See Also
    --------
    smooth_sensitivity : Computes the β-smooth sensitivity that scales the noise.
    Laplace : Adds noise for a global sensitivity.

    Notes
    -----
    Privacy: no data is read.

    Cauchy noise of this scale is ε-DP under the relation of the smooth sensitivity, for "exact" with any β < ε. The
    docstring of `dpml.mechanisms.smooth.pure_noise` has the derivation. The published constants are private for β <=
    ε/6, with more noise than needed: `Cauchy.cost` is their actual ε.

    References
    ----------
    - Zafarani and Clifton (2021), Algorithm 1, and Theorem 2 with γ = 2.
    - Nissim, Raskhodnikova and Smith (2007), for "theorem-2".

    Examples
    --------
    >>> [round(cauchy_scale(1, 1 / 6, c), 3) for c in ("exact", "algorithm-1", "theorem-2")]
    [0.96, 1.414, 6.0]
    """
    check_choice(calibration, "calibration", CAUCHY_CALIBRATIONS)
    exact = _exact_scale(epsilon, beta, 1.0)
    if calibration == "algorithm-1":
        return math.sqrt(2) / epsilon
    return 6 / epsilon if calibration == "theorem-2" else exact


def student_scale(epsilon: float, beta: float, degrees: float = 3.0, calibration: str = "exact") -> float:
    """Return the scale of Student's t noise for one unit of β-smooth sensitivity.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, below ε/max(ν, 1) ("exact") or ε/(ν+1) ("bun-steinke").
    degrees : float, default=3.0
        Degrees of freedom ν > 0. More than 2 give a finite variance.
    calibration : {"exact", "bun-steinke"}, default="exact"
        Rule for the scale. "exact" is the smallest scale that is ε-DP. "bun-steinke" is 1/s with
        ε = (ν+1)(β + s/(2√ν)).

    Returns
    -------
    float
        The noise scale, in units of the smooth sensitivity.

    Notes
    -----
    Privacy: no data is read.

    Student's t noise of this scale is ε-DP under the relation of the smooth sensitivity. The docstring of
    `dpml.mechanisms.smooth.pure_noise` has the derivation.

    References
    ----------
    - Bun and Steinke (2019), Theorem 31.
    """
    check_choice(calibration, "calibration", STUDENT_CALIBRATIONS)
    if calibration == "exact":
        return _exact_scale(epsilon, beta, degrees)
    epsilon, degrees = check_epsilon(epsilon), check_number(degrees, "degrees", 0.0, open_lower=True)
    beta = _check_beta(beta, epsilon / (degrees + 1), "ε/(degrees + 1)")
    return 1 / (2 * math.sqrt(degrees) * (epsilon / (degrees + 1) - beta))


class _Pure(SymmetricNoise, SmoothNoise):
    """Noise with the tails of Student's t, whose largest log ratio of densities is finite."""

    degrees: float

    @property
    def cost(self) -> float:
        """The actual ε: the largest log ratio of the densities of two neighbours."""
        return _cost(self.scale, self.beta, self.degrees)

    @property
    def claim(self) -> Claim:
        """Pure ε."""
        return Claim(epsilon=self.epsilon)

    def _loss(self, one: float, s: float, two: float, t: float) -> Loss:
        return Loss(pure=_distance(one, s, two, t, self.degrees))


@claim(
    "cauchy-exact",
    "Cauchy noise, exact calibration",
    "derived here by Harnack's inequality (docs/explanation/errata.md)",
    "ε for a statistic with the stated β-smooth bound",
    relations=("add-remove",),
    options={"calibration": "exact"},
)
@claim(
    "cauchy-algorithm-1",
    "Cauchy noise, scale √2·S/ε",
    "[zafarani-clifton2021], Algorithm 1",
    "ε for a statistic with the stated β-smooth bound",
    cost="less than ε: log 2 at ε = 1",
    relations=("add-remove",),
    options={"calibration": "algorithm-1"},
)
@claim(
    "cauchy-theorem-2",
    "Cauchy noise, scale 6·S/ε",
    "[zafarani-clifton2021], Theorem 2",
    "ε for a statistic with the stated β-smooth bound",
    cost="far less than ε: 0.226 at ε = 1",
    relations=("add-remove",),
    options={"calibration": "theorem-2"},
)
@dataclass(frozen=True)
class Cauchy(_Pure):
    """Cauchy noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z standard Cauchy (no mean, no variance).

    Parameters
    ----------
    beta : float
        Smoothing parameter of the sensitivity, 0 < β < ε, and at most ε/6 for the published calibrations.
    calibration : {"exact", "algorithm-1", "theorem-2"}

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: that of the smooth sensitivity S. Sensitivity: S.

    The largest log ratio of two neighbours is `cost`. It is ε itself for the exact calibration, for neighbours whose
    locations are min(S) apart and whose S are equal or differ by the factor e^β. It is less for the published
    constants. See `cauchy_scale`.

    Examples
    --------
    >>> noise = Cauchy(epsilon=1, beta=1 / 6, calibration="theorem-2")
    >>> noise.scale, round(noise.cost, 3)
    (6.0, 0.226)
    >>> noise.release([2.0, 3.0], [0.1, 0.2], rng=np.random.default_rng(0), draws=4).shape
    (4, 2)
    """

    epsilon: float
    beta: float
    calibration: str = "exact"
    degrees: ClassVar[float] = 1.0  # type: ignore[misc]  # a field of `StudentT` alone

    def __post_init__(self):
        self._check()
        if not self.cost <= self.epsilon * (1 + 1e-9):
            raise InvalidParameter("beta", self.beta, f"small enough for {self.calibration}: at most ε/6")

    @property
    def scale(self) -> float:
        """Cauchy scale for one unit of smooth sensitivity."""
        return cauchy_scale(self.epsilon, self.beta, self.calibration)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.standard_cauchy(shape))

    def _log_unit(self, z: Floats) -> Floats:
        return -np.log1p(z**2) - math.log(math.pi)

    def _tail(self, t: Floats) -> Floats:
        return 2 / math.pi * np.arctan2(self.scale, t)

    def _tail_size(self, probability: float) -> float:
        return self.scale / math.tan(math.pi * probability / 2)

    @property
    def mean_size(self) -> float:
        """Infinite."""
        return math.inf


@dataclass(frozen=True)
class ScaledCauchy:
    """Cauchy noise with given scales, for `boundary.release`. The caller has calibrated the scales."""

    def _sample(self, statistic: tuple[Floats, Floats], rng: np.random.Generator) -> Floats:
        values, scale = statistic
        return values + scale * rng.standard_cauchy(values.shape)

    _compare = SmoothNoise._compare

    def _loss(self, one: float, s: float, two: float, t: float) -> Loss:
        return Loss(pure=_distance(one, s, two, t, 1.0))


@claim(
    "student-t-exact",
    "Student's t noise, exact calibration",
    "[bun-steinke2019], with the exact calibration derived here (docs/explanation/errata.md)",
    "ε for a statistic with the stated β-smooth bound",
    relations=("add-remove",),
    options={"calibration": "exact"},
)
@claim(
    "student-t-bun-steinke",
    "Student's t noise, published scale",
    "[bun-steinke2019]",
    "ε for a statistic with the stated β-smooth bound",
    cost="less than ε: 0.656 at ε = 1",
    relations=("add-remove",),
    options={"calibration": "bun-steinke"},
)
@dataclass(frozen=True)
class StudentT(_Pure):
    """Student's t noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z Student's t with ν degrees of freedom (ν = 1 is Cauchy).

    Parameters
    ----------
    beta : float
        Smoothing parameter of the sensitivity, below ε/max(ν, 1) ("exact") or ε/(ν+1) ("bun-steinke").
    degrees : float
        Degrees of freedom ν > 0.
    calibration : {"exact", "bun-steinke"}

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: that of the smooth sensitivity S. Sensitivity: S.

    The largest log ratio of two neighbours is `cost` (see `student_scale`).

    Examples
    --------
    >>> noise = StudentT(epsilon=1, beta=1 / 8, degrees=3, calibration="bun-steinke")
    >>> round(noise.scale, 3), round(noise.cost, 3)
    (2.309, 0.656)
    """

    epsilon: float
    beta: float
    degrees: float = 3.0
    calibration: str = "exact"

    def __post_init__(self):
        self._check()
        object.__setattr__(self, "degrees", check_number(self.degrees, "degrees", 0.0, open_lower=True))
        self.scale  # noqa: B018  (raises if a parameter is not allowed)

    @property
    def scale(self) -> float:
        """Scale of the t distribution for one unit of smooth sensitivity."""
        return student_scale(self.epsilon, self.beta, self.degrees, self.calibration)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.standard_t(self.degrees, shape))

    def _log_unit(self, z: Floats) -> Floats:
        nu = self.degrees
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * math.log(nu * math.pi)
        return constant - (nu + 1) / 2 * np.log1p(z**2 / nu)

    def _tail(self, t: Floats) -> Floats:
        return 2 * stdtr(self.degrees, -t / self.scale)

    def _tail_size(self, probability: float) -> float:
        return -self.scale * float(stdtrit(self.degrees, probability / 2))

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity, infinite for ν <= 1.

        With f the t density, twice the integral of z·f(z) from 0 to infinity is 2f(0)·ν/(ν-1).
        """
        nu = self.degrees
        return self.scale * 2 * float(np.exp(self._log_unit(np.zeros(())))) * nu / (nu - 1) if nu > 1 else math.inf


def _distance(one: float, s: float, two: float, t: float, nu: float) -> float:
    """Return the largest log ratio of two t densities with these locations and scales, as derived above."""
    # arccosh(1 + 2w) = 2 arsinh(√w), accurate for small w
    w = ((one - two) ** 2 / nu + (s - t) ** 2) / (4 * s * t)
    return abs(nu - 1) / 2 * abs(math.log(s / t)) + (nu + 1) * math.asinh(math.sqrt(w))


def _check_beta(beta: float, limit: float, what: str) -> float:
    beta = check_number(beta, "beta", 0.0, open_lower=True)
    if not beta < limit:
        raise InvalidParameter("beta", beta, f"above 0 and below {what} = {limit:g}")
    return beta


def _log_sinh(x: float) -> float:
    return x + math.log(-math.expm1(-2 * x)) - math.log(2)


def _exact_scale(epsilon: float, beta: float, degrees: float) -> float:
    epsilon, nu = check_epsilon(epsilon), check_number(degrees, "degrees", 0.0, open_lower=True)
    beta = _check_beta(beta, epsilon / max(nu, 1.0), "ε" if nu <= 1 else "ε/degrees")
    log_scale = -math.inf
    for step in (0.0, beta):
        a = (2 * epsilon - abs(nu - 1) * step) / (nu + 1)
        if not a > step:  # β equals its limit up to rounding
            raise InvalidParameter("beta", beta, "further below ε / max(degrees, 1)")
        # cosh a - cosh λ = 2 sinh((a+λ)/2) sinh((a-λ)/2), in logarithms so that no ε overflows
        bracket = _log_sinh((a + step) / 2) + _log_sinh((a - step) / 2)
        log_scale = max(log_scale, -0.5 * (math.log(4 * nu) + step + bracket))
    return math.exp(max(log_scale, -690.0))


def _cost(scale: float, beta: float, nu: float) -> float:
    """Return the largest cost(λ) over λ in [0, β]. By the derivation above it is at an end."""
    worst = 0.0
    for step in (0.0, beta):
        # arccosh(1 + 2w) = 2 arsinh(√w), accurate for small w; cosh λ - 1 = 2 sinh²(λ/2)
        log_w = -step - math.log(4 * nu) - 2 * math.log(scale)
        if step:
            log_w = float(np.logaddexp(log_w, 2 * _log_sinh(step / 2)))
        distance = math.asinh(math.exp(log_w / 2)) if log_w < 100 else log_w / 2 + math.log(2)
        worst = max(worst, abs(nu - 1) / 2 * step + (nu + 1) * distance)
    return worst
