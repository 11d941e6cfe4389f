"""The plot and the figures of the page Noise in lessons."""

from collections.abc import Callable, Sequence
from typing import Any

from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity, local_sensitivity
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Line, Sweep
from dpml_app.pages.noise import compute
from dpml_app.pages.noise.compute import BETA_SHARES, LOWER, UPPER, NoiseSettings, model, points_of
from dpml_app.settings import EPSILONS


def lesson_plot(settings: NoiseSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the size of the noise, or the actual ε of its calibrations."""
    s, values, share = settings, EPSILONS, BETA_SHARES[settings.noise_beta]
    laplace = style_of("laplace", "noise")
    if card == "calibrations":
        costs = compute.calibrations(share)
        lines = [Line(style_of(name, "noise"), cost.tolist()) for name, (_, cost) in costs.items()]
        lines.append(Line(Style("Claimed ε", REFERENCE, "dot", "dashed"), values))
        return Sweep("Actual ε", "claimed ε", values, s.noise_epsilon, lines, percent=False)
    if card == "smooth":
        x = points_of(s)
        worst = global_sensitivity(s.noise_statistic, LOWER, UPPER, len(x), s.noise_relation)
        smooth = [
            smooth_sensitivity(s.noise_statistic, x, LOWER, UPPER, share * e, s.noise_relation)
            * cauchy_scale(e, share * e)
            for e in values
        ]
        lines = [
            Line(Style("Cauchy, smooth sensitivity", style_of("exact", "noise").color, "plus"), smooth),
            Line(Style("Laplace, global sensitivity", laplace.color, "plus"), [worst / e for e in values]),
        ]
        title = f"Width of the noise on the {s.noise_statistic} of these {len(x)} points between 0 and 100"
        return Sweep(title, "ε", values, s.noise_epsilon, lines, percent=False)
    sizes = [model(s.noise_mechanism, e, s.noise_sensitivity, s.noise_delta, share).mean_size for e in values]
    return Sweep("Mean size of the noise", "ε", values, s.noise_epsilon, [Line(laplace, sizes)], percent=False)


def _beta(s: Any) -> float:
    return BETA_SHARES[s.noise_beta] * s.noise_epsilon


def mean_noise(s: Any, at: str = "") -> float:
    """Return the mean size of the noise at the step's ε or another."""
    epsilon = float(at or s.noise_epsilon)
    return model(s.noise_mechanism, epsilon, s.noise_sensitivity, s.noise_delta, BETA_SHARES[s.noise_beta]).mean_size


def worst_case(s: Any) -> float:
    """Return the global sensitivity."""
    return global_sensitivity(s.noise_statistic, LOWER, UPPER, len(points_of(s)), s.noise_relation)


def local(s: Any) -> float:
    """Return the local sensitivity of the points."""
    return local_sensitivity(s.noise_statistic, points_of(s), LOWER, UPPER, s.noise_relation)


def smooth(s: Any) -> float:
    """Return the smooth sensitivity of the points."""
    return smooth_sensitivity(s.noise_statistic, points_of(s), LOWER, UPPER, _beta(s), s.noise_relation)


def noise_width(s: Any) -> float:
    """Return the scale of Cauchy noise by the smooth sensitivity: half of the samples lie within it."""
    return cauchy_scale(s.noise_epsilon, _beta(s)) * smooth(s)


def noise_for_worst_case(s: Any) -> float:
    """Return the mean size of Laplace noise for the global sensitivity."""
    return worst_case(s) / s.noise_epsilon


def scale_of(s: Any, calibration: str) -> float:
    """Return the scale of Cauchy noise per unit of smooth sensitivity and of 1/ε."""
    return cauchy_scale(s.noise_epsilon, _beta(s), calibration) * s.noise_epsilon


def calibration_costs(s: Any, calibration: str) -> float:
    """Return the actual ε."""
    return float(compute.actual_epsilon(cauchy_scale(s.noise_epsilon, _beta(s), calibration), _beta(s)))


FIGURES: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (mean_noise, worst_case, local, smooth, noise_width, noise_for_worst_case)},
    **{each.__name__: each for each in (scale_of, calibration_costs)},
    # the lower end of the axis of points
    "lower_end": lambda s: LOWER,
    # how many points there are
    "number_of_points": lambda s: len(points_of(s)),
    # ratios of two sizes of the noise
    "mean_noise_ratio": lambda s, at: mean_noise(s) / mean_noise(s, at),
    "laplace_to_cauchy": lambda s: noise_for_worst_case(s) / noise_width(s),
    "scale_ratio": lambda s, calibration, other: scale_of(s, calibration) / scale_of(s, other),
}
