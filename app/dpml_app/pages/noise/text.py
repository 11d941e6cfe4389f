"""Texts and numbers of the page Noise."""

from collections.abc import Mapping

import numpy as np

from dpml.mechanisms import cauchy_scale
from dpml_app.pages.noise.compute import BETA_SHARES, DROPS, NoiseValues, Pair, Smooth
from dpml_app.pages.noise.figures import CALIBRATION_STYLES, RIVAL_STYLES
from dpml_app.text.phrases import listed, number

CAPTIONS = {
    "count": (
        "Density of a noisy count without you (orange) and with you (blue). Dots are releases with you. The bar is the "
        "likelihood ratio of the ringed release. It is at most e^ε, except with Gaussian noise."
    ),
    "rivals": (
        "Exact mean size of the noise on each of k changed numbers, by mechanism. Geometric noise needs whole numbers, "
        "and Gaussian noise may fail with probability δ."
    ),
    "smooth": (
        "Drag a point. A(k) bounds the sensitivity within k changes of these points. The smooth sensitivity is the "
        "largest exp(-βk)·A(k). Bars hold 50% and 90% of releases. Dashed: the exact result. The sensitivities are "
        "private."
    ),
    "calibrations": (
        "Actual ε of Cauchy noise against its claim. A line above the dotted one violates its claim. A line far below "
        "it adds more noise than needed."
    ),
}

NO_SCALE = (
    "Student's t noise with 3 degrees of freedom needs β below ε/3. Choose a smaller β, or Cauchy noise (β below ε)."
)


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
    smooth = " Δ stands for the smooth sensitivity." if values.noise_mechanism in ("cauchy", "student") else ""
    return (
        f"Your record changes the count by {values.noise_sensitivity}. It changes the likelihood of a release by a "
        f"factor of at most e^ε = <b>{number(np.exp(values.noise_epsilon))}</b>{gaussian}. The largest factor of "
        f"{len(ratios)} sampled releases is {number(ratios.max(initial=1.0))}. "
        f"{DROPS - len(ratios)} more releases lie beyond the axis.{smooth}"
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


def calibrations_readout(values: NoiseValues, costs: Mapping[str, float]) -> str:
    """Return the scale and the actual ε of each calibration at the chosen ε."""
    epsilon, beta = values.noise_epsilon, BETA_SHARES[values.noise_beta] * values.noise_epsilon
    costs = {name: costs[name] for name in CALIBRATION_STYLES}
    names = {name: style.label.split(",")[0] for name, style in CALIBRATION_STYLES.items()}
    scales = {name: cauchy_scale(epsilon, beta, name) for name in names}
    parts = [
        f"{names[name]}: scale <b>{number(scales[name])}</b>, actual ε <b>{number(cost)}</b>"
        for name, cost in costs.items()
    ]
    text = f"At claimed ε = {epsilon:g} and β = {values.noise_beta} of ε. " + ". ".join(parts) + "."
    broken = [names[name] for name, cost in costs.items() if cost > epsilon * (1 + 1e-9)]
    if broken:
        return text + f" <b>Claim violated</b> at this β: {listed(broken)}. Zafarani and Clifton allow at most 1/6."
    waste = scales["theorem-2"] / scales["exact"]
    return text + f" For the same guarantee, 6/ε adds {number(waste)} times as much noise as the exact calibration."


CHANGE = {"replace-one": "replacing one point", "add-remove": "adding or removing one point"}


def smooth_readout(values: NoiseValues, found: Smooth) -> str:
    """Return the sensitivities of the points, and the width of the noise beside that for the worst case."""
    n, trim, levels = len(found.points), values.noise_trim, found.levels
    if values.noise_statistic == "trimmed_mean" and 2 * trim >= n:
        return (
            f"Trimming {trim} points per end leaves none of {n}. The result is then the middle of the domain. "
            "Trim fewer points, or use more."
        )
    near, far = (found.widths[row][1] for row in ("smooth", "global"))
    gain = far / near
    width = "about as wide as Laplace noise with global sensitivity"
    if not 0.95 < gain < 1.05:
        times, less = (gain, "less") if gain > 1 else (1 / gain, "more")
        width = f"{number(times)} times <b>{less}</b> than Laplace noise with global sensitivity"
    return (
        f"For these points, {CHANGE[values.noise_relation]} changes the result ({number(found.value)}) by at most "
        f"<b>{number(levels['local'])}</b> (local sensitivity). For any points it is at most "
        f"<b>{number(levels['global'])}</b> (global). Smooth sensitivity: <b>{number(levels['smooth'])}</b>, "
        f"{percent(levels['smooth'] / levels['global'])} of the global, reached at k = <b>{found.best}</b>. With "
        f"Cauchy noise at ε = {values.noise_epsilon:g}, 90% of releases lie within ±{number(near)}: {width}."
    )
