"""Sentences and numbers of the Noise page."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dpml_app.pages.noise.compute import CANDIDATES, DROPS, Histogram, Pair, accuracy_bounds
from dpml_app.pages.noise.figures import CALIBRATION_STYLES, CHOICE_STYLES, RIVAL_STYLES
from dpml_app.pages.noise.models import NORMS, Model
from dpml_app.pages.noise.settings import MECHANISMS, NoiseValues
from dpml_app.text.phrases import number, read_captions

CAPTIONS = read_captions(Path(__file__).with_name("captions.yaml"), candidates=CANDIDATES)


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


def pair_words(values: NoiseValues, pair: Pair) -> str:
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


def draw_words(values: NoiseValues, noise: Model, histogram: Histogram) -> str:
    """Return the size of one number's noise."""
    name = MECHANISMS[values.noise_mechanism]
    mean = noise.mean_size
    size = "no mean size" if not np.isfinite(mean) else f"a mean size of <b>{number(mean)}</b>"
    bound = noise.quantile(0.05)
    inside = (histogram.share >= histogram.low - 1e-12) & (histogram.share <= histogram.high + 1e-12)
    promise = f"ε = {values.noise_epsilon:g}, Δ = {values.noise_sensitivity}"
    if values.noise_mechanism == "gaussian":
        promise += f", δ = {values.noise_delta:g}"
    same = " In one dimension every norm gives Laplace noise." if values.noise_mechanism in NORMS else ""
    smooth = " Δ stands for the smooth sensitivity." if values.noise_mechanism in ("cauchy", "student") else ""
    return (
        f"{name} noise at {promise} has {size}. 95% of it lies within ±<b>{number(bound)}</b>. "
        f"{int(inside.sum())} of {len(inside)} bars end in their shaded range. {percent(histogram.beyond)} of samples "
        f"lie beyond the axis.{same}{smooth}"
    )


def plane_words(values: NoiseValues, beyond: float) -> str:
    """Return the shape of two numbers' noise."""
    name = MECHANISMS[values.noise_mechanism]
    shapes = {
        "norm-2": "circles: all directions are equally likely",
        "norm-10": "almost squares: two large errors are as likely as one",
        "norm-inf": "squares: two large errors are as likely as one",
        "gaussian": "circles, with lighter tails than any norm",
        "cauchy": "stars: one large error is likelier than two small ones",
        "student": "stars far out: one large error is likelier than two small ones",
        "staircase": "steps of diamonds",
    }
    shape = shapes.get(values.noise_mechanism, "diamonds: large errors are likeliest along the axes")
    return (
        f"{name} noise for two numbers at a total of ε = {values.noise_epsilon:g}. Each number changes by at most "
        f"Δ = {values.noise_sensitivity}. Contours are {shape}. {percent(beyond)} of samples lie beyond the axes."
    )


def tail_words(values: NoiseValues, own: str | None) -> str:
    """Compare the exact largest error with the theorem's bound."""
    epsilon, sensitivity = values.noise_epsilon, values.noise_sensitivity
    queries, p = values.noise_queries, values.noise_failure
    bound, exact = accuracy_bounds(epsilon, sensitivity, queries, p)
    true = -np.expm1(queries * np.log1p(-p / queries))
    if bound - exact < 1e-9 * exact:
        loose = "For one query the theorem is exact."
    else:
        loose = (
            f"Its bound is {percent(bound / exact - 1)} too large: a larger error has probability {percent(true)}, "
            f"not {percent(p)}."
        )
    noun = f"none of {queries:,} errors" if queries > 1 else "no error"
    return (
        f"With probability {percent(1 - p)}, {noun} exceeds <b>{number(exact)}</b>. Theorem 2.2.2 gives "
        f"<b>{number(bound)}</b>. {loose}{own or ''}"
    )


def rival_words(values: NoiseValues, sizes: Mapping[str, float]) -> str:
    """Rank the mechanisms by the size of their noise at the chosen ε."""
    ranked = sorted((size if np.isfinite(size) else 0.0, name) for name, size in sizes.items())
    best, second = ranked[0], ranked[1]
    listed = ", ".join(f"{RIVAL_STYLES[name].label} {number(size)}" for size, name in ranked)
    measure = "Mean size" if values.noise_measure == "mean" else "95% quantile of the size"
    notes = {
        "geometric": " It needs whole numbers.",
        "gaussian": f" Unlike the others, it may fail with probability δ = {values.noise_delta:g}.",
    }
    lead = ""
    if best[0] > 0:
        lead = f", {percent(1 - best[0] / second[0])} smaller than the next"
    return (
        f"At ε = {values.noise_epsilon:g} and k = {values.noise_touched}, the smallest noise is "
        f"<b>{RIVAL_STYLES[best[1]].label}</b>{lead}.{notes.get(best[1], '')} {measure}: {listed}."
    )


def choice_words(values: NoiseValues, losses: Mapping[str, float]) -> str:
    """Rank the selection mechanisms by expected loss at the chosen ε."""
    ranked = sorted((loss, name) for name, loss in losses.items())
    listed = ", ".join(f"{CHOICE_STYLES[name].label.lower()} {number(loss)}" for loss, name in ranked)
    worst = ranked[-1][0]
    gain = f", {percent(1 - ranked[0][0] / worst)} below the largest" if worst > 0 else ""
    chance = values.noise_gap * (CANDIDATES - 1) / 2
    return (
        f"At ε = {values.noise_epsilon:g} and a gap of {values.noise_gap:g}, "
        f"<b>{CHOICE_STYLES[ranked[0][1]].label}</b> has the smallest expected loss{gain}. Expected loss: {listed}, "
        f"random baseline {number(chance)}."
    )


def calibration_words(values: NoiseValues, calibrations: Mapping[str, tuple[float, float]]) -> str:
    """Return the scale and the actual ε of each calibration at the chosen ε."""
    epsilon = values.noise_epsilon
    parts = [
        f"{CALIBRATION_STYLES[name].label.split(',')[0]}: scale <b>{number(scale)}</b>, actual ε <b>{number(cost)}</b>"
        for name, (scale, cost) in calibrations.items()
    ]
    broken = [name for name, (_, cost) in calibrations.items() if cost > epsilon * (1 + 1e-9)]
    text = f"At claimed ε = {epsilon:g} and β = {values.noise_beta} of ε. " + ". ".join(parts) + "."
    if broken:
        labels = " and ".join(CALIBRATION_STYLES[name].label.split(",")[0] for name in broken)
        return text + f" <b>Claim violated</b> at this β: {labels}. Zafarani and Clifton allow at most 1/6."
    waste = calibrations["theorem-2"][0] / calibrations["exact"][0]
    return text + f" For the same guarantee, 6/ε adds {number(waste)} times as much noise as the exact calibration."
