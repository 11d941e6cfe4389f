r"""Noise for smooth sensitivity (admissible noise), with the claim and the tails of each family.

| noise | claim | tails |
|---|---|---|
| `Cauchy` | pure ε | no mean |
| `StudentT` | pure ε | ν - 1 moments |
| `LaplaceLogNormal`, `UniformLogNormal`, `ArsinhNormal` | ½ε²-concentrated | all moments |
| `SmoothLaplace`, `SmoothGaussian` | (ε, δ) | exponential, Gaussian |

Each takes β as a parameter. It must equal the β of the smooth sensitivity that scales the noise.
"""

import abc
import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erfcx, gammaln, log_ndtr, logsumexp, ndtr, ndtri, stdtr, stdtrit, wrightomega

from dpml._arrays import FloatArray
from dpml._docstrings import with_inherited_entries
from dpml._validate import check_choice, check_draws, check_epsilon, check_number, check_rng
from dpml.claims import claim
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.boundary import Loss
from dpml.mechanisms.noise import LaplaceTail, NormalTail, SymmetricNoise
from dpml.mechanisms.private import repeated, statistic


@dataclass(frozen=True)
class Claim:
    """The cost of one release: pure ε, (ε, δ), or ρ-concentrated differential privacy (then `epsilon` is None)."""

    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None


class SmoothNoise(SymmetricNoise):
    """Noise for a statistic with smooth sensitivity S: `scale`·S·Z, with Z drawn from a fixed distribution.

    The claim holds for the relation under which S is β-smooth and at least the local sensitivity. Two neighbours then
    differ in location by at most the smaller of their two S, and in scale by a factor of at most exp(β).

    Parameters
    ----------
    epsilon : float
        Privacy parameter, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, > 0.
    """

    epsilon: float
    beta: float

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:
            cls.__doc__ = with_inherited_entries(cls)

    def _check(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "beta", check_number(self.beta, "beta", 0.0, open_lower=True))

    @property
    @abc.abstractmethod
    def scale(self) -> float:
        """Noise scale for one unit of smooth sensitivity."""

    @property
    @abc.abstractmethod
    def claim(self) -> Claim:
        """The cost of one release."""

    @abc.abstractmethod
    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return draws of Z."""

    @abc.abstractmethod
    def _log_unit(self, z: FloatArray) -> FloatArray:
        """Return the log density of Z."""

    def release(self, values: Any, smooth: Any, *, rng: np.random.Generator, draws: int | None = None) -> FloatArray:
        """Release noisy values.

        Parameters
        ----------
        values : array
            Exact statistics.
        smooth : array
            Their smooth sensitivities, finite and >= 0. They broadcast against `values`.
        rng : numpy.random.Generator
            Source of the noise, for simulations. There is no secure sampler of this noise for release mode.
        draws : int, optional
            Number of releases, which adds a leading axis. Each draw costs the claim.

        Returns
        -------
        ndarray of shape (draws, ...) or the broadcast shape
            The noisy values.
        """
        values, scale = self._scaled(values, smooth)
        draws = check_draws(draws)
        return boundary.release(self, (repeated(values, draws), repeated(scale, draws)), check_rng(rng))

    @statistic
    def _scaled(self, values: Any, smooth: Any) -> tuple[FloatArray, FloatArray]:
        values, smooth = self._pair(values, smooth)
        return values, self.scale * smooth

    def _sample(self, statistic: tuple[FloatArray, FloatArray], rng: np.random.Generator) -> FloatArray:
        values, scale = statistic
        noise = self._draw(rng, values.shape)
        noise *= scale
        noise += values
        return noise

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> Loss:
        (one, s), (two, t) = statistic, other_statistic
        moved = (one != two) | (s != t)
        if (np.minimum(s, t)[moved] <= 0).any():
            return boundary.EVERYTHING  # a statistic without noise
        total = boundary.NOTHING
        for pair in zip(one[moved], s[moved], two[moved], t[moved], strict=True):
            total += self._loss(*map(float, pair))
        return total

    def _loss(self, one: float, s: float, two: float, t: float) -> Loss:
        """Return the loss between noise of scale s around the first value and of scale t around the second."""
        # numerically, for families without a closed form: a fine grid near the values that reaches far into the tails
        z = np.sinh(np.linspace(-25, 25, 20_001)) * min(s, t) + (one + two) / 2
        step = np.gradient(z)
        p = np.exp(self._log_unit((z - one) / s) - math.log(s)) * step
        q = np.exp(self._log_unit((z - two) / t) - math.log(t)) * step

        def profile(epsilon: float) -> float:
            bound = math.exp(min(epsilon, 700.0))
            return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))

        return Loss(profiles=(profile,))

    def log_density(self, outputs: Any, values: Any, smooth: Any) -> FloatArray:
        """Return the log density of each output given the exact statistic and its smooth sensitivity (> 0)."""
        values, smooth = self._pair(values, smooth)
        scale = self.scale * smooth
        return self._log_unit((np.asarray(outputs, dtype=float) - values) / scale) - np.log(scale)

    @staticmethod
    def _pair(values: Any, smooth: Any) -> tuple[FloatArray, FloatArray]:
        v, s = np.asarray(values, dtype=float), np.asarray(smooth, dtype=float)
        if not (np.isfinite(s) & (s >= 0)).all():
            raise InvalidData("smooth has a value that is not allowed: smooth sensitivities are finite and >= 0")
        try:
            v, s = np.broadcast_arrays(v, s)
        except ValueError:
            allowed = f"of a shape that broadcasts against values, {v.shape}"
            raise InvalidParameter("smooth", f"array of shape {s.shape}", allowed) from None
        return v, s


# ---- pure privacy ----------------------------------------------------------------------------------------------------

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
    docstring of `dpml.mechanisms.smooth.admissible.PureNoise` has the derivation. The published constants are private
    for β <= ε/6, with more noise than needed: `Cauchy.cost` is their actual ε.

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


class PureNoise(SmoothNoise):
    r"""Noise with the tails of Student's t, whose largest log ratio of densities is finite.

    Derivation. The density of Student's t with ν degrees of freedom, location l and scale s is proportional to
    s^ν (ν s² + (x-l)²)^(-(ν+1)/2). For ν = 1 (Cauchy) these are Poisson kernels of the half-plane, and by Harnack's
    inequality the largest log ratio of two of them is the hyperbolic distance between (l1, s1) and (l2, s2),

        arccosh(1 + ((l1-l2)² + (s1-s2)²)/(2 s1 s2)).

    Writing the t density through the Cauchy kernel of scale √ν·s, the largest log ratio over x of t densities 1 and 2
    is

        (ν-1)/2·log(s1/s2) + (ν+1)/2·arccosh(1 + ((l1-l2)²/ν + (s1-s2)²)/(2 s1 s2)).

    Neighbours have scales c·S and c·S·e^λ, 0 <= λ <= β, and locations at most S (the smaller) apart. In both directions

        cost(λ) = |ν-1|/2·λ + (ν+1)/2·arccosh(cosh λ + e^-λ/(2νc²)) <= ε

    must hold. Solved for c, with a = (2ε - |ν-1|λ)/(ν+1):  c² >= 1/(2ν e^λ (cosh a - cosh λ)).  In u = e^λ the term
    e^λ(cosh a - cosh λ) is a sum of powers of u whose derivative has signs +, +, - by rising exponent, so one change of
    sign (Descartes). It rises and then falls, so its smallest value on [0, β] is at λ = 0 or λ = β, and it is enough to
    check these two. A finite c exists if a > λ at λ = β, that is, if β < ε/max(ν, 1).
    """

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
class Cauchy(PureNoise):
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

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return np.asarray(rng.standard_cauchy(shape))

    def _log_unit(self, z: FloatArray) -> FloatArray:
        return -np.log1p(z**2) - math.log(math.pi)

    def _tail(self, t: FloatArray) -> FloatArray:
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

    def _sample(self, statistic: tuple[FloatArray, FloatArray], rng: np.random.Generator) -> FloatArray:
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
class StudentT(PureNoise):
    """Student's t noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z Student's t with ν degrees of freedom (ν = 1 is Cauchy).

    Parameters
    ----------
    beta : float
        Smoothing parameter of the sensitivity, below ε/max(ν, 1) ("exact") or ε/(ν+1) ("bun-steinke").
    degrees : float
        Degrees of freedom ν > 0.
    calibration : {"exact", "bun-steinke"}
        Rule for the scale. "exact" is the smallest scale that is ε-DP. "bun-steinke" is 1/s with
        ε = (ν+1)(β + s/(2√ν)).

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: that of the smooth sensitivity S. Sensitivity: S.

    The largest log ratio of two neighbours is `cost`.

    References
    ----------
    - Bun and Steinke (2019), Theorem 31.

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
        check_choice(self.calibration, "calibration", STUDENT_CALIBRATIONS)
        self.scale  # noqa: B018  (raises if a parameter is not allowed)

    @property
    def scale(self) -> float:
        """Scale of the t distribution for one unit of smooth sensitivity."""
        if self.calibration == "exact":
            return _exact_scale(self.epsilon, self.beta, self.degrees)
        nu = self.degrees
        beta = _check_beta(self.beta, self.epsilon / (nu + 1), "ε/(degrees + 1)")
        return 1 / (2 * math.sqrt(nu) * (self.epsilon / (nu + 1) - beta))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return np.asarray(rng.standard_t(self.degrees, shape))

    def _log_unit(self, z: FloatArray) -> FloatArray:
        nu = self.degrees
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * math.log(nu * math.pi)
        return constant - (nu + 1) / 2 * np.log1p(z**2 / nu)

    def _tail(self, t: FloatArray) -> FloatArray:
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


# ---- (ε, δ) ----------------------------------------------------------------------------------------------------------

APPROXIMATE_CALIBRATIONS = ("exact", "nissim")


@dataclass(frozen=True)
class _Approximate(SmoothNoise):
    """Laplace or Gaussian noise with a published scale, or the smallest one that is private.

    Their tails fall so fast that a change of scale alone makes the log ratio of densities unbounded. So pure privacy is
    impossible, and β must be small compared with ε/log(1/δ). The δ of two neighbours at ε is the hockey-stick
    divergence, the integral of (p - e^ε q)_+. It is computed in closed form.

    Derivation of "exact". With noise scale c·S, put the first neighbour at location 0 and scale 1. The other is then at
    most min(1, e^λ)/c away and has scale e^λ, |λ| <= β. Let p and q_l be symmetric and unimodal, q_l centred at l. The
    integral of min(p, e^ε q_l) is the integral over heights t of the overlap of two intervals, {p > t} and {e^ε q_l >
    t}. The overlap shrinks as l grows, so δ rises with the distance and falls with c. A root search finds the smallest
    c. The largest δ over λ is taken on a grid of [-β, β] (the tests compare it with a finer grid).

    Parameters
    ----------
    delta : float
        0 < δ < 1.
    calibration : {"exact", "nissim"}
    """

    epsilon: float
    delta: float
    beta: float
    calibration: str = "exact"

    def __post_init__(self):
        self._check()
        open_unit = {"open_lower": True, "open_upper": True}
        object.__setattr__(self, "delta", check_number(self.delta, "delta", 0.0, 1.0, **open_unit))
        check_choice(self.calibration, "calibration", APPROXIMATE_CALIBRATIONS)
        if self.calibration == "nissim" and self.beta > self._largest_beta(self.epsilon, self.delta) * (1 + 1e-12):
            limit = self._largest_beta(self.epsilon, self.delta)
            raise InvalidParameter("beta", self.beta, f"above 0 and at most {limit:g} for this ε and δ")
        self.scale  # noqa: B018  (raises if a parameter is not allowed)

    @staticmethod
    @abc.abstractmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        """Return the published condition on β."""

    @staticmethod
    @abc.abstractmethod
    def _published(epsilon: float, delta: float) -> float:
        """Return the published scale for one unit of S."""

    @staticmethod
    @abc.abstractmethod
    def _divergence(epsilon: float, distance: FloatArray, ratio: FloatArray) -> FloatArray:
        """Return the hockey-stick divergence from (0, 1) to (distance, ratio) at e^ε."""

    @property
    def scale(self) -> float:
        """Scale of Z for one unit of smooth sensitivity."""
        if self.calibration == "nissim":
            return self._published(self.epsilon, self.delta)
        return _smallest_scale(type(self), self.epsilon, self.delta, self.beta)

    def _loss(self, one: float, s: float, two: float, t: float) -> Loss:
        def profile(epsilon: float) -> float:
            pairs = ((two - one) / s, t / s), ((one - two) / t, s / t)
            # the noise is symmetric, so only the size of the distance matters
            sides = [self._divergence(epsilon, np.array([abs(gap)]), np.array([ratio])) for gap, ratio in pairs]
            return float(np.max(sides))

        return Loss(profiles=(profile,))

    @property
    def cost(self) -> float:
        """The true δ at this ε: the largest hockey-stick divergence of two neighbours."""
        return _worst(type(self), self.epsilon, self.beta, self.scale)

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(epsilon=self.epsilon, delta=self.delta)


@claim(
    "smooth-laplace-exact",
    "Laplace noise for a smooth sensitivity, exact calibration",
    "[nissim2007], with the exact calibration derived here (docs/explanation/errata.md)",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "exact"},
)
@claim(
    "smooth-laplace-nissim",
    "Laplace noise for a smooth sensitivity, published scale",
    "[nissim2007]",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    cost="a small part of δ",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "nissim"},
)
class SmoothLaplace(LaplaceTail, _Approximate):
    """Laplace noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z standard Laplace.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = delta per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "nissim" takes the scale 2/ε for β <= ε/(2 log(2/δ)). "exact" takes the smallest scale at which the largest
    hockey-stick divergence of neighbours is δ, for any β at which the change of scale alone stays below δ.

    References
    ----------
    - Nissim, Raskhodnikova and Smith (2007), on admissible noise.

    Examples
    --------
    >>> noise = SmoothLaplace(epsilon=1, delta=1e-6, beta=0.03, calibration="nissim")
    >>> noise.scale, noise.cost < 1e-6
    (2.0, True)
    """

    @staticmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        return epsilon / (2 * math.log(2 / delta))

    @staticmethod
    def _published(epsilon: float, delta: float) -> float:
        return 2 / epsilon

    @staticmethod
    def _divergence(epsilon: float, distance: FloatArray, ratio: FloatArray) -> FloatArray:
        # log p - log q - ε = -|z| + |z - gap|/s + log s - ε is linear between its kinks at 0 and at the gap
        total = np.zeros(np.broadcast_shapes(distance.shape, ratio.shape))
        gap, s = np.broadcast_arrays(distance, ratio)
        zero, far = np.zeros_like(gap), np.full_like(gap, np.inf)
        pieces = ((-far, zero, 1.0, -1.0), (zero, gap, -1.0, -1.0), (gap, far, -1.0, 1.0))
        for start, end, own, other in pieces:
            slope, at = own + other / s, -other * gap / s + np.log(s) - epsilon
            with np.errstate(divide="ignore", invalid="ignore"):
                root = np.where(slope == 0, np.where(at > 0, -np.inf, np.inf), -at / slope)
            low = np.where(slope >= 0, np.clip(root, start, end), start)
            high = np.where(slope >= 0, end, np.clip(root, start, end))
            mass = _laplace_mass(low, high) - math.exp(epsilon) * _laplace_mass((low - gap) / s, (high - gap) / s)
            total += np.where(high > low, mass, 0.0)
        return np.maximum(total, 0.0)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return np.asarray(rng.laplace(size=shape))

    def _log_unit(self, z: FloatArray) -> FloatArray:
        return -np.abs(z) - math.log(2)


@claim(
    "smooth-gaussian-exact",
    "Gaussian noise for a smooth sensitivity, exact calibration",
    "[nissim2007], with the exact calibration derived here (docs/explanation/errata.md)",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "exact"},
)
@claim(
    "smooth-gaussian-nissim",
    "Gaussian noise for a smooth sensitivity, published scale",
    "[nissim2007]",
    "(ε, δ) for a statistic with the stated β-smooth bound, audited at δ = 1e-5",
    cost="a small part of δ",
    relations=("add-remove",),
    delta=1e-5,
    options={"calibration": "nissim"},
)
class SmoothGaussian(NormalTail, _Approximate):
    """Gaussian noise scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z, with Z standard normal. The analytic Gaussian calibration is for a
    fixed scale and is not private here.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = delta per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "nissim" takes the scale 5√(2 log(2/δ))/ε for β <= ε/(4(1 + log(2/δ))). "exact" takes the smallest scale at which
    the largest hockey-stick divergence of neighbours is δ, for any β at which the change of scale alone stays below δ.

    References
    ----------
    - Nissim, Raskhodnikova and Smith (2007), on admissible noise.

    Examples
    --------
    >>> noise = SmoothGaussian(epsilon=1, delta=1e-6, beta=0.015, calibration="nissim")
    >>> round(noise.scale, 2), noise.cost < 1e-6
    (26.93, True)
    """

    @staticmethod
    def _largest_beta(epsilon: float, delta: float) -> float:
        return epsilon / (4 * (1 + math.log(2 / delta)))

    @staticmethod
    def _published(epsilon: float, delta: float) -> float:
        return 5 * math.sqrt(2 * math.log(2 / delta)) / epsilon

    @staticmethod
    def _divergence(epsilon: float, distance: FloatArray, ratio: FloatArray) -> FloatArray:
        # log p - log q - ε = a z² + b z + c, with b <= 0
        gap, s = np.broadcast_arrays(distance, ratio)
        a, b, c = (1 / s**2 - 1) / 2, -gap / s**2, gap**2 / (2 * s**2) + np.log(s) - epsilon
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
            half = (spread - b) / 2
            # at equal scales the second root is at infinity; its sign is its limit from slightly narrower scales
            roots = np.sort(
                np.stack([np.where(half > 0, c / half, -np.inf), np.where(a == 0, np.inf, half / a)]), axis=0
            )
        low, high = roots

        def outside(x: FloatArray, y: FloatArray) -> FloatArray:
            return ndtr(x) + ndtr(-y)

        def inside(x: FloatArray, y: FloatArray) -> FloatArray:
            return np.where(x > 0, ndtr(-x) - ndtr(-y), ndtr(y) - ndtr(x))

        scaled = (low - gap) / s, (high - gap) / s
        wide = outside(low, high) - math.exp(epsilon) * outside(*scaled)
        narrow = inside(low, high) - math.exp(epsilon) * inside(*scaled)
        narrow = np.where(b * b > 4 * a * c, narrow, 0.0)
        return np.maximum(np.where(a >= 0, wide, narrow), 0.0)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return np.asarray(rng.standard_normal(shape))

    def _log_unit(self, z: FloatArray) -> FloatArray:
        return -0.5 * z**2 - 0.5 * math.log(2 * math.pi)


def _laplace_mass(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the standard Laplace probability of intervals that do not contain 0 inside."""
    near, far = np.where(high > 0, low, -high), np.where(high > 0, high, -low)
    return 0.5 * (np.exp(-np.maximum(near, 0.0)) - np.exp(-np.maximum(far, 0.0)))


# e^ε must be a float. The divergence falls with ε, so that for this ε is an upper bound
MOST_EXACT = 600.0


def _worst(family: type[_Approximate], epsilon: float, beta: float, scale: float, points: int = 65) -> float:
    step = np.concatenate([np.linspace(-beta, beta, points), [0.0]])
    epsilon = min(epsilon, MOST_EXACT)
    return float(family._divergence(epsilon, np.minimum(1, np.exp(step)) / scale, np.exp(step)).max())


@lru_cache(maxsize=4096)
def _smallest_scale(family: type[_Approximate], epsilon: float, delta: float, beta: float) -> float:
    epsilon = min(epsilon, MOST_EXACT)

    def excess(log_scale: float) -> float:
        return _worst(family, epsilon, beta, math.exp(log_scale)) - delta

    low, high = math.log(1e-6 / epsilon), math.log(1e9 / epsilon) + math.log1p(1 / epsilon)
    if excess(high) >= 0:
        raise InvalidParameter("beta", beta, "so small that the change of scale alone costs less than delta")
    if excess(low) <= 0:
        return math.exp(low)
    root = brentq(excess, low, high, xtol=1e-12)
    return math.exp(root + 1e-9)


# ---- concentrated privacy --------------------------------------------------------------------------------------------

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
MOST_AT_ONCE = 256


def laplace_log_tail(log_size: Any, sigma: float) -> FloatArray:
    """Return log P(|X exp(σY)| > z) by log z, for X Laplace, within 1e-12 of the tail itself, relatively.

    |X| is exponential, so that the tail is E exp(-z exp(-σY)). No closed form: the trapezoidal rule, which converges
    exponentially here. The integrand exp(-y²/2 - z exp(-σy)) has its peak at y = v/σ with v·exp(v) = σ²z, and curvature
    1 + v there. Besides, it may fall over 1/σ in y, where it is cut off.
    """
    logs = np.asarray(log_size, dtype=float)
    step = 0.25 / math.ceil(max(1.0, sigma))
    nodes = np.arange(-12.0, 40 * math.sqrt(max(1.0, sigma)), step)
    total = np.empty(logs.size)
    # few sizes at a time: a large σ takes thousands of nodes for each
    for start in range(0, logs.size, MOST_AT_ONCE):
        some = logs.reshape(-1, 1)[start : start + MOST_AT_ONCE]
        v = wrightomega(2 * math.log(sigma) + some)
        width = 1 / np.sqrt(1 + v)
        y = v / sigma + width * nodes
        exponent = -0.5 * y**2 - np.exp(some - sigma * y)
        total[start : start + MOST_AT_ONCE] = logsumexp(exponent, axis=-1) + np.log(width[:, 0])
    return np.minimum(total + math.log(step) - HALF_LOG_2PI, 0.0).reshape(logs.shape)


def uniform_log_tail(log_size: Any, sigma: float) -> FloatArray:
    """Return log P(|X exp(σY)| > z) by log z, for X uniform on [-1, 1], relatively exact to about 1e-15·(1 + u/σ).

    The tail is E(1 - z exp(-σY))_+ = Φ(-u) - z exp(σ²/2) Φ(-u-σ). For u > 0 both terms are φ(u) times a ratio of Mills,
    at u and at u + σ, and their difference is taken before the product.
    """
    u = np.asarray(log_size, dtype=float) / sigma
    near, far = np.minimum(u, 0.0), np.maximum(u, 0.0)
    inner = ndtr(-near) - np.exp(sigma * near + sigma**2 / 2 + log_ndtr(-near - sigma))
    mills = math.sqrt(math.pi / 2) * (erfcx(far / math.sqrt(2)) - erfcx((far + sigma) / math.sqrt(2)))
    with np.errstate(divide="ignore"):
        outer = -0.5 * far**2 - HALF_LOG_2PI + np.log(mills)
        return np.where(u > 0, outer, np.log(np.clip(inner, 0.0, 1.0)))


CONCENTRATED_CALIBRATIONS = ("derived", "bun-steinke")


@dataclass(frozen=True)
class _Concentrated(SmoothNoise):
    """A noise family with a shape σ. Subclasses define the two costs and the standard deviation.

    Let ε be the sum of a cost for the change of scale (dilation) and a cost for the change of location (slide). A
    release is then ½ε²-CDP: ρ = ε²/2, that is, every Rényi divergence of order α between neighbours is at most α·ε²/2
    (Zafarani and Clifton 2021, Definition 2.5; Bun and Steinke 2019). The two costs add, by the weak triangle
    inequality D_α(P, Q) <= kα/(kα-1)·D_((kα-1)/(k-1))(P, R) + D_kα(R, Q): with D_α <= αa and αb on the right it gives
    αk(a/(k-1) + b), which is α(√a + √b)² at k = 1 + √(a/b). The slide is at most the smaller S of the two, so at most s
    = 1/`scale` noise units.

    - *Dilation* by e^t shifts log|Z| by t. For Z = X·exp(σY), Y normal, this equals a shift of the normal Y by t/σ, so
      it costs t/σ (Bun and Steinke 2019, Propositions 3 and 4).
    - *Slide.* A density with |(log f)'| <= K costs K·s (it is pure, K·s-DP).
    - *Either*, for a density e^-ψ with ψ'' <= Λ: a shift by t costs t√Λ. Derivation: ψ(v-t) <= ψ(v) - tψ'(v) + Λt²/2
      and ∫e^-ψ(v-t) = 1 give E exp(tψ') <= exp(Λt²/2), hence E exp((α-1)(ψ(v-t) - ψ(v))) <= exp(α(α-1)Λt²/2).

    "bun-steinke" uses their printed constants. "derived" uses K and Λ of the densities themselves, which is sharper but
    not exact: the true ρ, where it was computed, is 0.2 to 0.85 of the claim.

    Parameters
    ----------
    epsilon : float
        ε of ½ε²-CDP, finite and > 0.
    beta : float
        Smoothing parameter of the sensitivity, > 0.
    sigma : float, optional
        Shape σ; default: the σ with the smallest standard deviation.
    calibration : {"derived", "bun-steinke"}
    """

    epsilon: float
    beta: float
    sigma: float = None  # type: ignore[assignment]  # a float once made
    calibration: str = "derived"

    _sigma_range: ClassVar[tuple[float, float]] = (1e-3, 20.0)

    def __post_init__(self):
        self._check()
        check_choice(self.calibration, "calibration", CONCENTRATED_CALIBRATIONS)
        if self.sigma is None:
            chosen = _best_sigma(type(self), self.epsilon, self.beta, self.calibration)
            object.__setattr__(self, "sigma", chosen)
        low, high = self._allowed(self.calibration)
        object.__setattr__(self, "sigma", check_number(self.sigma, "sigma", low, high, open_lower=not low))
        if not self._left(self.epsilon, self.beta, self.sigma, self.calibration) > 0:
            raise InvalidParameter(
                "beta", self.beta, f"so small that the change of scale costs less than {self.epsilon}"
            )

    @classmethod
    def _allowed(cls, calibration: str) -> tuple[float, float]:
        return 0.0, cls._sigma_range[1]

    @classmethod
    def _left(cls, epsilon: float, beta: float, sigma: float, calibration: str) -> float:
        """Return the part of ε that the dilation leaves for the slide."""
        return epsilon - cls._dilation(beta, sigma, calibration)

    @classmethod
    @abc.abstractmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        """Return the CDP ε of a change of scale by the factor exp(step)."""

    @classmethod
    @abc.abstractmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        """Return the CDP ε of a slide by one noise unit."""

    @classmethod
    @abc.abstractmethod
    def _log_deviation(cls, sigma: float) -> float:
        """Return the log of the standard deviation of Z."""

    @classmethod
    def _log_total(cls, epsilon: float, beta: float, sigma: float, calibration: str) -> float:
        """Return the log of the standard deviation of the noise for one unit of S."""
        left = cls._left(epsilon, beta, sigma, calibration)
        return math.log(cls._slide(sigma, calibration)) - math.log(left) + cls._log_deviation(sigma)

    @property
    def scale(self) -> float:
        """Scale of Z for one unit of smooth sensitivity."""
        left = self._left(self.epsilon, self.beta, self.sigma, self.calibration)
        return self._slide(self.sigma, self.calibration) / left

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise for one unit of smooth sensitivity."""
        return math.exp(self._log_total(self.epsilon, self.beta, self.sigma, self.calibration))

    @property
    def rho(self) -> float:
        """ρ = ε²/2."""
        return self.epsilon**2 / 2

    @property
    def claim(self) -> Claim:
        """ρ-CDP with ρ = ε²/2."""
        return Claim(rho=self.rho)


class _LogNormal(_Concentrated):
    """Noise Z = X·exp(σY) with Y standard normal."""

    @classmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        return step / sigma

    @staticmethod
    @abc.abstractmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return draws of X."""

    @staticmethod
    @abc.abstractmethod
    def _log_tail(log_size: Any, sigma: float) -> Any:
        """Return log P(|Z| > z), by the log of z."""

    @abc.abstractmethod
    def _log_ends(self, probability: float) -> tuple[float, float]:
        """Return logs of sizes of Z with a tail of at least, and of at most, this probability."""

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        noise = rng.standard_normal(shape)
        noise = np.exp(self.sigma * noise)
        noise *= self._draw_factor(rng, shape)
        return noise

    def _tail(self, t: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.exp(self._log_tail(np.log(t / self.scale), self.sigma))

    def _tail_size(self, probability: float) -> float:
        wanted = math.log(probability)
        low, high = self._log_ends(probability)

        def excess(log_size: float) -> float:
            return float(self._log_tail(log_size, self.sigma)) - wanted

        # one of the ends may be the root, and then lies on its wrong side by rounding
        if excess(low) <= 0:
            log_size = low
        elif excess(high) >= 0:
            log_size = high
        else:
            log_size = brentq(excess, low, high, xtol=1e-14, rtol=1e-15)
        return self.scale * (math.exp(log_size) if log_size < 709 else math.inf)


# what all claims of concentrated privacy share
_concentrated_claim = partial(
    claim,
    text="ε²/2-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    relations=("add-remove",),
    delta=1e-5,
)


@_concentrated_claim(
    "laplace-log-normal-derived",
    "Laplace-log-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    options={"calibration": "derived"},
)
@_concentrated_claim(
    "laplace-log-normal-bun-steinke",
    "Laplace-log-normal noise, published scale",
    "[bun-steinke2019]",
    options={"calibration": "bun-steinke"},
)
class LaplaceLogNormal(_LogNormal):
    """Laplace-log-normal noise, Z = X·exp(σY) with X Laplace and Y standard normal, scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z.

    Parameters
    ----------
    sigma : float, optional
        Shape σ > β/ε. By default it is the σ with the smallest standard deviation, the root of 5(ε/β)σ³ - 5σ² = 1.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    ε = β/σ + exp(3σ²/2)/`scale`. K = exp(3σ²/2) is the slope of the log density at 0, so the two calibrations agree.

    References
    ----------
    - Bun and Steinke (2019), Proposition 3.
    - Zafarani and Clifton (2021), section 5.

    Examples
    --------
    >>> noise = LaplaceLogNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.scale, 3), noise.rho
    (0.309, 1.706, 0.5)
    """

    _log_tail = staticmethod(laplace_log_tail)

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        return math.exp(1.5 * sigma**2)

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return 0.5 * math.log(2) + sigma**2

    @staticmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.laplace(size=shape)

    def _log_unit(self, z: FloatArray) -> FloatArray:
        # No closed form: average over Y by the trapezoidal rule, which converges exponentially here. The integrand
        # exp(-y²/2 - σy - |z|exp(-σy)) has its peak at y = v/σ - σ with v·exp(v) = σ²|z|exp(σ²), and curvature 1 + v.
        size, sigma = np.abs(np.asarray(z, dtype=float))[..., None], self.sigma
        with np.errstate(divide="ignore"):
            v = wrightomega(2 * math.log(sigma) + np.log(size) + sigma**2)
        width = 1 / np.sqrt(1 + v)
        y = v / sigma - sigma + width * np.arange(-12, 40, 0.25)
        exponent = -0.5 * y**2 - sigma * y - size * np.exp(-sigma * y)
        return np.asarray(logsumexp(exponent, axis=-1) + np.log(width[..., 0] * 0.125) - 0.5 * math.log(2 * math.pi))

    def _log_ends(self, probability: float) -> tuple[float, float]:
        # by Jensen P(|Z| > z) >= exp(-z E exp(-σY)); and |Z| is above ab only if |X| is above a or exp(σY) above b
        low = math.log(-math.log(probability)) - self.sigma**2 / 2
        high = math.log(-math.log(probability / 2)) - self.sigma * float(ndtri(probability / 2))
        return low, high

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: E|X|·E exp(σY) = exp(σ²/2) of the scale."""
        return self.scale * math.exp(self.sigma**2 / 2)


@_concentrated_claim(
    "uniform-log-normal-derived",
    "Uniform-log-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    options={"calibration": "derived"},
)
@_concentrated_claim(
    "uniform-log-normal-bun-steinke",
    "Uniform-log-normal noise, published scale",
    "[bun-steinke2019]",
    options={"calibration": "bun-steinke"},
)
class UniformLogNormal(_LogNormal):
    """Uniform-log-normal noise, Z = X·exp(σY) with X uniform on [-1, 1] and Y standard normal.

    The release is the statistic plus `scale`·S·Z.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    ε = β/σ + K/`scale`. "bun-steinke" takes K = exp(3σ²/2)·√(2/(πσ²)), for σ >= √2. For "derived" the density is f(z) =
    ½exp(σ²/2)·Φ(-σ - log|z|/σ), so |(log f)'| = exp(3σ²/2)/σ·φ(u+σ)/Φ(-u) with u = σ + log|z|/σ. K is its maximum,
    where φ(u)/Φ(-u) = u + σ, for any σ > 0.

    References
    ----------
    - Bun and Steinke (2019), Proposition 4.

    Examples
    --------
    >>> noise = UniformLogNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.deviation, 3)
    (0.622, 2.006)
    """

    _log_tail = staticmethod(uniform_log_tail)

    @classmethod
    def _allowed(cls, calibration: str) -> tuple[float, float]:
        return (0.0 if calibration == "derived" else math.sqrt(2)), cls._sigma_range[1]

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return math.exp(1.5 * sigma**2) * math.sqrt(2 / math.pi) / sigma
        return math.exp(1.5 * sigma**2) / sigma * _steepest(sigma)

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return sigma**2 - 0.5 * math.log(3)

    @staticmethod
    def _draw_factor(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.uniform(-1, 1, shape)

    def _log_unit(self, z: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            tail = log_ndtr(-self.sigma - np.log(np.abs(z)) / self.sigma)
        return np.asarray(tail + self.sigma**2 / 2 - math.log(2))

    def _log_ends(self, probability: float) -> tuple[float, float]:
        # P(|Z| > z) >= 1 - z E exp(-σY), and |Z| is above z only if exp(σY) is
        low = math.log1p(-probability) - self.sigma**2 / 2
        high = -self.sigma * float(ndtri(probability))
        return low, high

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: E|X|·E exp(σY) = ½exp(σ²/2) of the scale."""
        return self.scale * math.exp(self.sigma**2 / 2) / 2


@_concentrated_claim(
    "arsinh-normal-derived",
    "Arsinh-normal noise, derived scale",
    "[bun-steinke2019] (constants derived here) (docs/explanation/errata.md)",
    options={"calibration": "derived"},
)
@_concentrated_claim(
    "arsinh-normal-bun-steinke",
    "Arsinh-normal noise, published scale",
    "[bun-steinke2019]",
    options={"calibration": "bun-steinke"},
)
class ArsinhNormal(_Concentrated):
    """Arsinh-normal noise, Z = sinh(σY)/σ with Y standard normal, scaled by the smooth sensitivity.

    The release is the statistic plus `scale`·S·Z.

    Notes
    -----
    Privacy: ρ = epsilon²/2 (½ε²-CDP) per draw. Relation: that of the smooth sensitivity S. Sensitivity: S.

    "bun-steinke" has ε = √(β(β/σ² + 1/σ + 2)) + (2/(3σ) + σ/2)/`scale`. "derived" has ε = β√Λ + K/`scale`. Λ is the
    largest second derivative of the negative log density of log|Z|, which is (T² + uT(1-T²))/σ² + 2T²(1-T²) at T = tanh
    u. K is the smaller of two bounds: the largest slope of Z's log density, (y + σ tanh σy)/cosh σy, and √(1 + σ²),
    which follows from its largest curvature, at 0. As β falls, the printed cost of dilation falls like √β, the derived
    one like β.

    References
    ----------
    - Bun and Steinke (2019), Theorem 25.

    Examples
    --------
    >>> noise = ArsinhNormal(epsilon=1, beta=0.1)
    >>> round(noise.sigma, 3), round(noise.deviation, 3)
    (0.414, 1.587)
    """

    @classmethod
    def _dilation(cls, step: float, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return math.sqrt(step * (step / sigma**2 + 1 / sigma + 2))
        return step * math.sqrt(_curvature(sigma))

    @classmethod
    def _slide(cls, sigma: float, calibration: str) -> float:
        if calibration == "bun-steinke":
            return 2 / (3 * sigma) + sigma / 2
        return min(_slope(sigma), math.sqrt(1 + sigma**2))

    @classmethod
    def _log_deviation(cls, sigma: float) -> float:
        return 0.5 * (sigma**2 + math.log(math.sinh(sigma**2))) - math.log(sigma)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        noise = rng.standard_normal(shape)
        return np.asarray(np.sinh(self.sigma * noise) / self.sigma)

    def _log_unit(self, z: FloatArray) -> FloatArray:
        y = np.arcsinh(self.sigma * z) / self.sigma
        return np.asarray(-0.5 * y**2 - 0.5 * np.log1p((self.sigma * z) ** 2) - 0.5 * math.log(2 * math.pi))

    def _tail(self, t: FloatArray) -> FloatArray:
        # Z rises with Y
        return np.asarray(2 * ndtr(-np.arcsinh(self.sigma * t / self.scale) / self.sigma))

    def _tail_size(self, probability: float) -> float:
        with np.errstate(over="ignore"):
            return self.scale * float(np.sinh(-self.sigma * ndtri(probability / 2))) / self.sigma

    @property
    def mean_size(self) -> float:
        """E|noise| for one unit of smooth sensitivity: exp(σ²/2)·(Φ(σ) - Φ(-σ))/σ of the scale.

        E|sinh(σY)| is the integral of (e^(σy) - e^(-σy))·φ(y) over y > 0, and e^(σy)·φ(y) = exp(σ²/2)·φ(y - σ).
        """
        return self.scale * math.exp(self.sigma**2 / 2) * math.erf(self.sigma / math.sqrt(2)) / self.sigma


@lru_cache(maxsize=4096)
def _best_sigma(family: type[_Concentrated], epsilon: float, beta: float, calibration: str) -> float:
    """Return the σ whose noise has the smallest standard deviation."""
    low = max(family._allowed(calibration)[0], family._sigma_range[0])
    grid = np.geomspace(low, family._sigma_range[1], 121)

    def total(log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        if not family._left(epsilon, beta, sigma, calibration) > 0:
            return math.inf
        return family._log_total(epsilon, beta, sigma, calibration)

    costs = np.array([total(x) for x in np.log(grid)])
    i = int(costs.argmin())
    if not math.isfinite(costs[i]):
        raise InvalidParameter("beta", beta, f"so small that the change of scale costs less than epsilon = {epsilon}")
    around = np.log(grid[[max(i - 1, 0), min(i + 1, len(grid) - 1)]])
    minimum = minimize_scalar(total, bounds=tuple(around), method="bounded", options={"xatol": 1e-9})
    return max(float(math.exp(minimum.x)), low) if minimum.fun <= costs[i] else float(grid[i])


@lru_cache(maxsize=4096)
def _steepest(sigma: float) -> float:
    """Return the maximum over u of φ(u+σ)/Φ(-u), where the hazard φ(u)/Φ(-u) is u + σ."""

    def log_hazard(u: float) -> float:
        return -0.5 * u * u - 0.5 * math.log(2 * math.pi) - float(log_ndtr(-u))

    # search in v = log(u + σ); the bounds follow from φ(σ) <= hazard <= u + 1/u at the solution
    bounds = -(sigma**2) / 2 - 5, math.log(sigma + 1 / sigma + 1)
    v = brentq(lambda v: v - log_hazard(math.exp(v) - sigma), *bounds, xtol=1e-13)
    u = math.exp(v) - sigma
    return math.exp(log_hazard(u) + 0.5 * u**2 - 0.5 * (u + sigma) ** 2) * (1 + 1e-9)


@lru_cache(maxsize=4096)
def _curvature(sigma: float) -> float:
    """Return Λ of log|Z| for arsinh-normal noise (see `ArsinhNormal`); it is at least its limit 1/σ²."""
    u = np.linspace(0, 20, 20_001)
    t2 = np.tanh(u) ** 2
    values = (t2 + u * np.tanh(u) * (1 - t2)) / sigma**2 + 2 * t2 * (1 - t2)
    return float(values.max()) * (1 + 1e-6)  # the grid misses the maximum by a smaller factor


@lru_cache(maxsize=4096)
def _slope(sigma: float) -> float:
    """Return the largest slope of the arsinh-normal log density, (y + σ tanh σy)/cosh σy over y >= 0."""
    u = np.linspace(0, 20, 20_001)
    return float(((u / sigma + sigma * np.tanh(u)) / np.cosh(u)).max()) * (1 + 1e-6)
