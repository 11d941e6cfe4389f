"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence

from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity
from dpml_app.drawing.styles import REFERENCE, Style, style_of
from dpml_app.drawing.sweep import Line, Sweep
from dpml_app.pages.noise import compute
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.models import model
from dpml_app.pages.noise.points import LOWER, UPPER
from dpml_app.pages.noise.settings import BETA_SHARES, NOISE_EPSILONS, NoiseSettings


def lesson_plot(settings: NoiseSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return the size of the noise, or what its calibrations cost."""
    s, values, share = settings, NOISE_EPSILONS, BETA_SHARES[settings.noise_beta]
    laplace = style_of("laplace", "noise")
    if card == "calibrations":
        costs = compute.calibrations(share)
        lines = [Line(style_of(name, "noise"), cost.tolist()) for name, (_, cost) in costs.items()]
        lines.append(Line(Style("What is claimed", REFERENCE, "dot", "dashed"), values))
        return Sweep("The ε that is truly paid", "ε that is claimed", values, s.noise_epsilon, lines, percent=False)
    if card == "smooth":
        x = points_of(s)
        worst = global_sensitivity(s.noise_statistic, LOWER, UPPER, len(x), s.noise_relation)
        smooth = [
            smooth_sensitivity(s.noise_statistic, x, LOWER, UPPER, share * e, s.noise_relation)
            * cauchy_scale(e, share * e)
            for e in values
        ]
        lines = [
            Line(Style("Cauchy, by smooth sensitivity", style_of("exact", "noise").color, "plus"), smooth),
            Line(
                Style("Laplace, for the worst case", laplace.color, "plus"),
                [worst / e for e in values],
            ),
        ]
        title = f"Width of the noise for the {s.noise_statistic} of these {len(x)} points, which lie between 0 and 100"
        return Sweep(title, "ε", values, s.noise_epsilon, lines, percent=False)
    sizes = [model(s.noise_mechanism, e, s.noise_sensitivity, s.noise_delta, share).mean_size for e in values]
    return Sweep(
        "Mean size of the noise",
        "ε",
        values,
        s.noise_epsilon,
        [Line(laplace, sizes)],
        percent=False,
    )
