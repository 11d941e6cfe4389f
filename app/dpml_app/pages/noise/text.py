"""Texts and numbers of the page Noise."""

from collections.abc import Mapping

import numpy as np

from dpml_app.pages.noise.compute import DROPS, NoiseValues, Pair, Smooth
from dpml_app.pages.noise.figures import RIVAL_STYLES
from dpml_app.text.phrases import number

CAPTIONS = {
    "count": (
        "Density of a noisy count without you (orange) and with you (blue). Dots are releases with you, at arbitrary "
        "heights. The ratio of both densities is at most e^ε, except with Gaussian noise."
    ),
    "rivals": (
        "Exact mean size of the noise on each of k changed numbers, by mechanism. Geometric noise needs whole numbers, "
        "and Gaussian noise may fail with probability δ."
    ),
    "smooth": (
        "A(k) bounds the sensitivity within k changes of these points. The smooth sensitivity is the largest "
        "exp(-βk)·A(k). Bars hold 50% and 90% of releases. Dashed: the exact result. The sensitivities are private."
    ),
}


def percent(share: float) -> str:
    """Return a share as a percentage, small ones to three digits.

    >>> percent(0.0504), percent(0.00004)
    ('5.04%', '0.004%')
    """
    return f"{number(100 * share)}%"


def headline(pair: Pair) -> str:
    """Return an attacker's accuracy and the overlap of both densities, as HTML."""
    return (
        f"<p>An attacker who sees one release guesses membership correctly <b>{number(100 - 50 * pair.overlap)}%</b> "
        f"of the time (chance: 50%). The curves overlap by <b>{percent(pair.overlap)}</b> (grey).</p>"
    )


def count_readout(values: NoiseValues, pair: Pair) -> str:
    """Return the likelihood ratios of the releases of a count."""
    ratios = np.exp(np.abs(pair.log_ratios))
    gaussian = f", except with probability δ = {values.noise_delta:g}" if values.noise_mechanism == "gaussian" else ""
    return (
        f"Your record changes the count by {values.noise_sensitivity}. It changes the likelihood of a release by a "
        f"factor of at most e^ε = <b>{number(np.exp(values.noise_epsilon))}</b>{gaussian}. The largest factor of "
        f"{len(ratios)} sampled releases is {number(ratios.max(initial=1.0))}. "
        f"{DROPS - len(ratios)} more releases lie beyond the axis."
    )


def rivals_readout(values: NoiseValues, sizes: Mapping[str, float]) -> str:
    """Rank the mechanisms by the mean size of their noise at the chosen ε."""
    ranked = sorted((size, name) for name, size in sizes.items())
    (least, best), (second, _) = ranked[:2]
    every = ", ".join(f"{RIVAL_STYLES[name].label} {number(size)}" for size, name in ranked)
    notes = {
        "geometric": " It needs whole numbers.",
        "gaussian": f" Unlike the others, it may fail with probability δ = {values.noise_delta:g}.",
    }
    return (
        f"At ε = {values.noise_epsilon:g} and k = {values.noise_touched}, the smallest noise is "
        f"<b>{RIVAL_STYLES[best].label}</b>, {percent(1 - least / second)} smaller than the next.{notes.get(best, '')} "
        f"Mean size: {every}."
    )


def smooth_readout(values: NoiseValues, found: Smooth) -> str:
    """Return the sensitivities of the points, and the width of the noise beside that for the worst case."""
    levels = found.levels
    near, far = (found.widths[row][1] for row in ("smooth", "global"))
    gain = far / near
    width = "about as wide as Laplace noise with global sensitivity"
    if not 0.95 < gain < 1.05:
        times, less = (gain, "less") if gain > 1 else (1 / gain, "more")
        width = f"{number(times)} times <b>{less}</b> than Laplace noise with global sensitivity"
    return (
        f"For these points, replacing one changes the result ({number(found.value)}) by at most "
        f"<b>{number(levels['local'])}</b> (local sensitivity). For any points it is at most "
        f"<b>{number(levels['global'])}</b> (global). Smooth sensitivity: <b>{number(levels['smooth'])}</b>, "
        f"{percent(levels['smooth'] / levels['global'])} of the global, reached at k = <b>{found.best}</b>. With "
        f"Cauchy noise at ε = {values.noise_epsilon:g}, 90% of releases lie within ±{number(near)}: {width}."
    )
