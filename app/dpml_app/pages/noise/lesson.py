"""The figures of the page Noise in lessons."""

from collections.abc import Callable
from typing import Any

from dpml.mechanisms import cauchy_scale
from dpml_app.pages.noise import compute
from dpml_app.pages.noise.compute import BETA_SHARES, LOWER, NoiseValues, Smooth, model, points_of


def _beta(s: Any) -> float:
    return BETA_SHARES[s.noise_beta] * s.noise_epsilon


def mean_noise(s: Any, at: str = "") -> float:
    """Return the mean size of the noise at the step's ε or another."""
    epsilon = float(at or s.noise_epsilon)
    return model(s.noise_mechanism, epsilon, s.noise_sensitivity, s.noise_delta, BETA_SHARES[s.noise_beta]).mean_size


def _smooth(s: Any) -> Smooth:
    """Return the sensitivities of the points, and their noise, at the step's ε."""
    return compute.smooth(*NoiseValues.of(s).smooth_key())


def level(s: Any, kind: str) -> float:
    """Return the local, the smooth or the global sensitivity of the points."""
    return _smooth(s).levels[kind]


def noise_width(s: Any) -> float:
    """Return the scale of Cauchy noise by the smooth sensitivity: half of the samples lie within it."""
    return _smooth(s).widths["smooth"][0]


def noise_for_worst_case(s: Any) -> float:
    """Return the mean size of Laplace noise for the global sensitivity."""
    return level(s, "global") / s.noise_epsilon


def scale_of(s: Any, calibration: str) -> float:
    """Return the scale of Cauchy noise per unit of smooth sensitivity and of 1/ε."""
    return cauchy_scale(s.noise_epsilon, _beta(s), calibration) * s.noise_epsilon


def calibration_costs(s: Any, calibration: str) -> float:
    """Return the actual ε."""
    return float(compute.actual_epsilon(cauchy_scale(s.noise_epsilon, _beta(s), calibration), _beta(s)))


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (mean_noise, noise_width, noise_for_worst_case, scale_of, calibration_costs)},
    "worst_case": lambda s: level(s, "global"),
    "local": lambda s: level(s, "local"),
    "smooth": lambda s: level(s, "smooth"),
    # the lower end of the axis of points
    "lower_end": lambda s: LOWER,
    # how many points there are
    "number_of_points": lambda s: len(points_of(s)),
    # ratios of two sizes of the noise
    "mean_noise_ratio": lambda s, at: mean_noise(s) / mean_noise(s, at),
    "laplace_to_cauchy": lambda s: noise_for_worst_case(s) / noise_width(s),
    "scale_ratio": lambda s, calibration, other: scale_of(s, calibration) / scale_of(s, other),
}
