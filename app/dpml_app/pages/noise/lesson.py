"""The plot and the figures of the page Noise in lessons."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dpml_app.drawing.styles import Style, style_of
from dpml_app.drawing.sweep import Line, Sweep
from dpml_app.pages.noise import compute
from dpml_app.pages.noise.compute import LOWER, NoiseSettings, NoiseValues, Smooth
from dpml_app.settings import EPSILONS


def lesson_plot(settings: NoiseSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the size of the noise, of one number or of a statistic of points."""
    s, values = settings, EPSILONS
    laplace = style_of("laplace", "noise")
    if card == "smooth":
        found = [_smooth(s, e) for e in values]
        cauchy = Style("Cauchy, smooth sensitivity", style_of("exact", "noise").color, "plus")
        worst = [each.levels["global"] / e for e, each in zip(values, found, strict=True)]
        lines = [
            Line(cauchy, [each.widths["smooth"][0] for each in found]),
            Line(Style("Laplace, global sensitivity", laplace.color, "plus"), worst),
        ]
        title = f"Width of the noise on the {s.noise_statistic} of these {s.noise_size} points between 0 and 100"
        return Sweep(title, "ε", values, s.noise_epsilon, lines, percent=False)
    sizes = [mean_noise(s, e) for e in values]
    return Sweep("Mean size of the noise", "ε", values, s.noise_epsilon, [Line(laplace, sizes)], percent=False)


def mean_noise(s: Any, at: str | float = "") -> float:
    """Return the mean size of the noise at the step's ε or another."""
    noise = compute.mechanism(s.noise_mechanism, float(at or s.noise_epsilon), s.noise_sensitivity, s.noise_delta)
    return float(noise.mean_size)


def _smooth(s: Any, epsilon: float | None = None) -> Smooth:
    """Return the sensitivities of the points, and their noise, at the step's ε or another."""
    return compute.smooth(*replace(NoiseValues.of(s), noise_epsilon=epsilon or s.noise_epsilon).smooth_key())


def level(s: Any, kind: str) -> float:
    """Return the local, the smooth or the global sensitivity of the points."""
    return _smooth(s).levels[kind]


def noise_width(s: Any) -> float:
    """Return the scale of Cauchy noise by the smooth sensitivity: half of the samples lie within it."""
    return _smooth(s).widths["smooth"][0]


def noise_for_worst_case(s: Any) -> float:
    """Return the mean size of Laplace noise for the global sensitivity."""
    return level(s, "global") / s.noise_epsilon


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (mean_noise, noise_width, noise_for_worst_case)},
    "worst_case": lambda s: level(s, "global"),
    "local": lambda s: level(s, "local"),
    "smooth": lambda s: level(s, "smooth"),
    # the lower end of the axis of points
    "lower_end": lambda s: LOWER,
    # how many points there are
    "number_of_points": lambda s: s.noise_size,
    # ratios of two sizes of the noise
    "mean_noise_ratio": lambda s, at: mean_noise(s) / mean_noise(s, at),
    "laplace_to_cauchy": lambda s: noise_for_worst_case(s) / noise_width(s),
}
