"""The figures of the page Noise in lessons."""

from collections.abc import Callable
from typing import Any

from dpml_app.pages.noise import compute
from dpml_app.pages.noise.compute import LOWER, NoiseValues, Smooth


def mean_noise(s: Any, at: str | float = "") -> float:
    """Return the mean size of the noise at the step's ε or another."""
    noise = compute.mechanism(s.noise_mechanism, float(at or s.noise_epsilon), s.noise_sensitivity, s.noise_delta)
    return float(noise.mean_size)


def _smooth(s: Any) -> Smooth:
    """Return the sensitivities of the points, and their noise, at the step's ε."""
    return compute.smooth(*NoiseValues.of(s).smooth_key())


def level(s: Any, kind: str) -> float:
    """Return the local, the smooth or the global sensitivity of the points."""
    return _smooth(s).levels[kind]


def noise_width(s: Any, row: str = "smooth") -> float:
    """Return the half-width that holds 90% of releases with noise scaled by the smooth or the global sensitivity."""
    return _smooth(s).widths[row][1]


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (mean_noise, noise_width)},
    "worst_case": lambda s: level(s, "global"),
    # the mean size of Laplace noise for it
    "noise_for_worst_case": lambda s: level(s, "global") / s.noise_epsilon,
    "local": lambda s: level(s, "local"),
    "smooth": lambda s: level(s, "smooth"),
    # the lower end of the axis of points
    "lower_end": lambda s: LOWER,
    # how many points there are
    "number_of_points": lambda s: s.noise_size,
    # ratios of two sizes of the noise
    "mean_noise_ratio": lambda s, at: mean_noise(s) / mean_noise(s, at),
    "laplace_to_cauchy": lambda s: noise_width(s, "global") / noise_width(s),
}
