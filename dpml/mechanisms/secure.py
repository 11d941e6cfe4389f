"""Noise and private selection that are safe to publish, drawn by OpenDP (the extra ``release``).

NumPy's noise is for simulations: it can be seeded, and the spaces between floating-point numbers reveal the exact value
(Mironov 2012). tests/library/test_mechanisms_secure.py carries out the attack. OpenDP takes its randomness from the
operating system, computes with exact rationals and releases integers.

Scales are rounded up, never to the nearest float: the ε that OpenDP computes for a scale never exceeds the requested ε.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpml._arrays import Int64Array
from dpml._validate import check_draws, check_epsilon, check_integer, check_number
from dpml.claims import claim
from dpml.exceptions import InvalidParameter, MissingExtra
from dpml.mechanisms import boundary
from dpml.mechanisms.choice import ExponentialMechanism, PermuteAndFlip
from dpml.mechanisms.private import MOST_STEPS, repeated, statistic


def _opendp() -> Any:
    """Import OpenDP at its first use: the import takes a second, and a study does not need it."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingExtra("Secure noise (release=True)", "OpenDP", "release") from error
    # OpenDP's name for the parts whose proofs are not all reviewed yet; the noise here cannot be built without it
    dp.enable_features("contrib")
    return dp


def check_release(random_state: Any = None) -> None:
    """Check that noise can be drawn securely, before any data are read: OpenDP is installed, and there is no seed.

    Anyone who knows the seed of a release can subtract its noise.
    """
    if random_state is not None:
        raise InvalidParameter("random_state", random_state, "None where release=True")
    _opendp()


def integer_scale(epsilon: float, sensitivity: int = 1) -> float:
    """Return the smallest float of at least Δ/ε: the scale of integer Laplace noise for an L1 sensitivity Δ >= 1."""
    epsilon = check_epsilon(epsilon)
    exact = Fraction(check_integer(sensitivity, "sensitivity", 1)) / Fraction(epsilon)
    return _float_from_above(exact, "epsilon", epsilon)


def gaussian_scale(rho: float, sensitivity: float = 1.0) -> float:
    """Return the smallest float σ with Δ²/(2σ²) at most ρ, the scale of discrete Gaussian noise (Δ in L2)."""
    rho = check_number(rho, "rho", 0.0, open_lower=True)
    squared = Fraction(check_number(sensitivity, "sensitivity", 0.0, open_lower=True)) ** 2 / (2 * Fraction(rho))
    # a first guess that does not exceed the answer: floor(sqrt) of the fraction in units of 2^-1100
    root = Fraction(math.isqrt(math.floor(squared * 4**1100)), 2**1100)
    scale = _float_from_above(root, "rho", rho)
    while Fraction(scale) ** 2 < squared:
        scale = math.nextafter(scale, math.inf)
    return scale


def _float_from_above(exact: Fraction, name: str, value: float) -> float:
    try:
        scale = float(exact)
    except OverflowError:
        scale = math.inf
    if math.isfinite(scale) and Fraction(scale) < exact:
        scale = math.nextafter(scale, math.inf)
    if not math.isfinite(scale):
        raise InvalidParameter(name, value, "large enough for the scale of the noise to be finite")
    return scale


@claim(
    "secure-integer-laplace",
    "Integer Laplace noise, secure",
    "OpenDP and [canonne2020]",
    "ε for integer statistics of the stated L1 sensitivity",
)
def integer_laplace(values: Any, scale: float, *, draws: int | None = None) -> Int64Array:
    """Add integer Laplace noise, P(k) proportional to exp(-|k|/scale), to every value.

    The release has integers, the values plus noise, clipped to the range of 64-bit integers.

    Parameters
    ----------
    values : array of int
        Exact statistic of any shape.
    scale : float
        Scale of the noise, finite and > 0. OpenDP takes the float as an exact rational.
    draws : int, optional
        Number of independent draws. The ε is per draw.

    Returns
    -------
    ndarray of int64
        Noisy values of the shape of `values`, after a leading axis if `draws` is given.

    Raises
    ------
    InvalidParameter
        If the values are not integers. The message names their type, never a value.

    Notes
    -----
    Privacy: ε = Δ/scale per draw. δ = 0. Relation: the one for which Δ holds. Sensitivity: Δ in L1 norm.

    `integer_scale` gives the scale for an ε. The derivation is that of the Laplace mechanism, with a sum for the
    integral. OpenDP 0.16 draws 10,000 values in about 60 ms.

    References
    ----------
    - Ghosh, Roughgarden and Sundararajan (2012).
    - Canonne, Kamath and Steinke (2020), Algorithms 1 and 2, as implemented by OpenDP's ``make_laplace``.

    Examples
    --------
    >>> integer_laplace([12, 30], integer_scale(epsilon=1e3))  # so little noise that it is 0
    array([12, 30])
    """
    return _perturbed(_IntegerLaplace(check_number(scale, "scale", 0.0, open_lower=True)), values, draws)


@claim(
    "secure-discrete-gaussian",
    "Discrete Gaussian noise, secure",
    "OpenDP and [canonne2020]",
    "ρ-zero-concentrated, audited as (ε, δ) at δ = 1e-5",
    cost="as claimed, but the conversion to (ε, δ) is loose",
    delta=1e-5,
)
def discrete_gaussian(values: Any, scale: float, *, draws: int | None = None, concentrated: bool = False) -> Int64Array:
    """Add discrete Gaussian noise, P(k) proportional to exp(-k²/(2·scale²)), to every value.

    The release has integers, the values plus noise, clipped to the range of 64-bit integers.

    Parameters
    ----------
    values : array of int
        Exact statistic of any shape.
    scale : float
        Scale of the noise, finite and > 0.
    draws : int, optional
        Number of independent draws. The cost is per draw.
    concentrated : bool, default=False
        Whether the recorder counts the cost as ρ, for composition, and not by the exact probabilities of one draw.

    Returns
    -------
    ndarray of int64
        Noisy values of the shape of `values`, after a leading axis if `draws` is given.

    Raises
    ------
    InvalidParameter
        If the values are not integers. The message names their type, never a value.

    Notes
    -----
    A draw is Δ²/(2·scale²)-zCDP, with Δ the L2 sensitivity. `gaussian_scale` gives the scale for a ρ. The noise has no
    finite pure ε.

    References
    ----------
    - Canonne, Kamath and Steinke (2020), Theorem 4.
    """
    scale = check_number(scale, "scale", 0.0, open_lower=True)
    return _perturbed(_DiscreteGaussian(scale, concentrated), values, draws)


def integer_laplace_sample(values: Int64Array, scale: float) -> Int64Array:
    """Return integers with integer Laplace noise, for a mechanism that is made of it and passes the boundary itself."""
    return _IntegerLaplace(scale)._sample(values, None)


def _perturbed(mechanism: Any, values: Any, draws: int | None) -> Int64Array:
    return boundary.release(mechanism, repeated(_integers(values, "values"), check_draws(draws), np.int64), None)


@dataclass(frozen=True)
class _IntegerNoise:
    """Integer noise with a given scale, drawn by OpenDP for all coordinates in one call."""

    scale: float

    def _measurement(self, dp: Any) -> Any:
        raise NotImplementedError

    def _sample(self, statistic: Int64Array, rng: None) -> Int64Array:
        flat = np.array(statistic).ravel()  # a copy, since OpenDP refuses a read-only array
        return np.asarray(self._measurement(_opendp())(flat), dtype=np.int64).reshape(statistic.shape)


@dataclass(frozen=True)
class _IntegerLaplace(_IntegerNoise):
    def _measurement(self, dp: Any) -> Any:
        space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
        return dp.m.make_laplace(*space, scale=self.scale)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        return boundary.Loss(pure=boundary.l1_distance(statistic, other_statistic) / self.scale)


@dataclass(frozen=True)
class _DiscreteGaussian(_IntegerNoise):
    concentrated: bool = False

    def _measurement(self, dp: Any) -> Any:
        space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l2_distance(T=dp.i64)
        return dp.m.make_gaussian(*space, scale=self.scale)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        if self.concentrated:
            squared = np.subtract(statistic, other_statistic, dtype=float) ** 2
            return boundary.Loss(concentrated=float(squared.sum()) / (2 * self.scale**2))
        total = boundary.NOTHING
        for one, two in zip(np.ravel(statistic), np.ravel(other_statistic), strict=True):
            if one != two:
                total += boundary.Loss(profiles=(self._profile(float(one - two)),))
        return total

    def _profile(self, shift: float) -> Any:
        # the mass farther out is negligible, and the integers within this reach are few enough to sum over
        reach = math.ceil(12 * self.scale + abs(shift)) + 12
        k = np.arange(-reach, reach + 1)
        p, q = (np.exp(-((k - at) ** 2) / (2 * self.scale**2)) for at in (0.0, shift))
        p, q = p / p.sum(), q / q.sum()

        def profile(epsilon: float) -> float:
            bound = math.exp(min(epsilon, 700.0))
            return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))

        return profile


@statistic
def _steps(scores: Any, step: float) -> Int64Array:
    """Return scores in steps: clipped, so that a difference of two does not overflow, and NaN as the lowest."""
    with np.errstate(all="ignore"):
        steps = np.floor(np.asarray(scores, dtype=float) / step + 0.5)
    return np.nan_to_num(np.clip(steps, -MOST_STEPS, MOST_STEPS), nan=-MOST_STEPS).astype(np.int64)


@statistic
def _candidates(scores: Any) -> Any:
    """Return scores of shape (candidates,); raise for another shape, which is public."""
    if np.ndim(scores) != 1 or not np.size(scores):
        raise InvalidParameter("scores", f"an array of shape {np.shape(scores)}", "of shape (candidates,), at least 1")
    return scores


@statistic
def _integers(values: Any, name: str) -> Int64Array:
    exact = np.asarray(values)
    if exact.size and exact.dtype.kind not in "iu":
        # the type is public; the values are private and must not appear in the message
        raise InvalidParameter(name, exact.dtype.name, "integers")
    return exact.astype(np.int64)


@claim(
    "secure-noisy-max",
    "Noisy max, secure (permute-and-flip)",
    "OpenDP and [mckenna-sheldon2020]",
    "ε for scores whose changes span at most the stated range",
)
def noisy_max(
    scores: Any,
    epsilon: float,
    change_range: float,
    *,
    grid: float | None = None,
    draws: int | None = None,
    concentrated: bool = False,
) -> Any:
    """Select a candidate with a high score privately, by OpenDP's noisy max, which is permute-and-flip.

    The release is one index. Its expected score is never below that of the exponential mechanism at the same ε (McKenna
    and Sheldon 2020, Theorem 2), but its probabilities differ.

    Parameters
    ----------
    scores : array of shape (candidates,)
        Integers, or with `grid` any numbers. Each is rounded to the nearest multiple of `grid`. So that no score makes
        a release fail, scores are clipped to ±2^53 steps and NaN becomes the lowest. R must hold after that.
    epsilon : float
        Privacy parameter ε, finite and > 0.
    change_range : float
        Range R of the score changes, in the scores' units, > 0. A two-sided sensitivity Δ has R = 2Δ, a monotone score
        R = Δ. Without `grid` it is rounded up to an integer.
    grid : float, optional
        The step, > 0, a public number. The range is then ceil(R/grid) + 2 steps: one extra step because rounding can
        move two changes apart, and one for the scores' floating-point error, which must not exceed a quarter of a step.
    draws : int, optional
        Number of independent draws. The ε is per draw.
    concentrated : bool, default=False
        Whether to draw by the exponential mechanism (Gumbel noise) instead, whose ε²/8-zCDP composes with δ.

    Returns
    -------
    int or ndarray of int64 of shape (draws,)
        Index of each selected candidate.

    Raises
    ------
    InvalidParameter
        If there is no candidate, or if the scores are not integers and no grid is given.

    Notes
    -----
    Privacy: ε = epsilon per draw. δ = 0. Relation: the one for which `change_range` holds. Sensitivity: `change_range`,
    the range of the score changes between neighbours.

    Derivation. Between two neighbours let every candidate's score change by an amount in [a, b] with b - a at most
    R = `change_range`. Permute-and-flip depends only on differences of scores, so a may be subtracted from all changes.
    They are then in [0, R]: the monotone case of sensitivity R, which costs R/scale.

    Examples
    --------
    >>> noisy_max([3, 900, 5], epsilon=1.0, change_range=1)  # the others have a chance of exp(-895)
    1
    >>> noisy_max([0.1, 9.5, 0.2], epsilon=50.0, change_range=0.2, grid=0.05)
    1
    """
    epsilon = check_epsilon(epsilon)
    width = Fraction(check_number(change_range, "change_range", 0.0, open_lower=True))
    scores = _candidates(scores)
    if grid is None:
        exact = _integers(scores, "scores")
        scale = integer_scale(epsilon, math.ceil(width))
    else:
        step = check_number(grid, "grid", 0.0, open_lower=True)
        exact = _steps(scores, step)
        scale = integer_scale(epsilon, math.ceil(width / Fraction(step)) + 2)
    chosen = boundary.release(_NoisyMax(scale, concentrated), repeated(exact, check_draws(draws) or 1, np.int64), None)
    return int(chosen[0]) if draws is None else chosen


@dataclass(frozen=True)
class _NoisyMax:
    """OpenDP's report-noisy-max for integer scores, with exponential or Gumbel noise of a given scale."""

    scale: float
    concentrated: bool = False

    def _sample(self, statistic: Int64Array, rng: None) -> Int64Array:
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.linf_distance(T=dp.i64, monotonic=True)
        measure = dp.zero_concentrated_divergence() if self.concentrated else dp.max_divergence()
        choose = dp.m.make_noisy_max(*space, measure, scale=self.scale)
        return np.array([choose(np.array(row)) for row in statistic], dtype=np.int64)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # the same distribution as `PermuteAndFlip`, with the scores in units of the noise scale
        first, second = (np.asarray(s, dtype=float) / self.scale for s in (statistic, other_statistic))
        same = ExponentialMechanism(1.0, 1.0, concentrated=True) if self.concentrated else PermuteAndFlip(1.0, 1.0)
        return same._compare(first, other, second)
