"""Plain words beside the numbers of the Noise page. They claim what was computed and nothing more."""

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
    "Student's t noise with 3 degrees of freedom needs β below ε/3. Choose a smaller β, or Cauchy noise, which needs "
    "β below ε."
)


def percent(share: float) -> str:
    """Return a share as a percentage, small ones to three digits.

    >>> percent(0.0504), percent(0.00004)
    ('5.04 %', '0.004 %')
    """
    return f"{number(100 * share)} %"


def headline(pair: Pair) -> str:
    """Return, as HTML, what of a count stays hidden, and how often an attacker is right."""
    return (
        f"<p>The curves share <b>{percent(pair.overlap)}</b> (grey). An attacker who sees one release guesses right "
        f"<b>{number(100 - 50 * pair.overlap)}</b> times in 100.</p>"
    )


def pair_words(values: NoiseValues, pair: Pair) -> str:
    """Return what one release of a count shows."""
    ratios = np.exp(np.abs(pair.log_ratios))
    gaussian = f", but for a probability of δ = {values.noise_delta:g}" if values.noise_mechanism == "gaussian" else ""
    smooth = " Δ stands for the smooth sensitivity." if values.noise_mechanism in ("cauchy", "student") else ""
    return (
        f"You move the count by {values.noise_sensitivity}. A release is at most e^ε = "
        f"<b>{number(np.exp(values.noise_epsilon))}</b> times likelier on one side{gaussian}. "
        f"The {len(ratios)} drawn releases reach {number(ratios.max(initial=1.0))}; "
        f"{DROPS - len(ratios)} more lie beyond the axis.{smooth}"
    )


def draw_words(values: NoiseValues, noise: Model, histogram: Histogram) -> str:
    """Return what one number's noise looks like."""
    name = MECHANISMS[values.noise_mechanism]
    mean = noise.mean_size
    size = "it has no mean size" if not np.isfinite(mean) else f"its mean size is <b>{number(mean)}</b>"
    bound = noise.quantile(0.05)
    # with bars of draws, some stray outside: how many is said, not only drawn
    inside = (histogram.share >= histogram.low - 1e-12) & (histogram.share <= histogram.high + 1e-12)
    promise = f"ε = {values.noise_epsilon:g}, Δ = {values.noise_sensitivity}"
    if values.noise_mechanism == "gaussian":
        promise += f", δ = {values.noise_delta:g}"
    same = " In one dimension every norm is Laplace noise." if values.noise_mechanism in NORMS else ""
    smooth = " Δ stands for the smooth sensitivity." if values.noise_mechanism in ("cauchy", "student") else ""
    return (
        f"{name} noise at {promise}: {size}, and 95 % of it lies within ±<b>{number(bound)}</b>. "
        f"{int(inside.sum())} of {len(inside)} bars end in the shaded part; {percent(histogram.beyond)} of draws lie "
        f"beyond the axis.{same}{smooth}"
    )


def plane_words(values: NoiseValues, beyond: float) -> str:
    """Return what two numbers' noise looks like."""
    name = MECHANISMS[values.noise_mechanism]
    shapes = {
        "norm-2": "circles: every direction is alike",
        "norm-10": "almost squares: large changes of both numbers at once are as likely as of one",
        "norm-inf": "squares: both numbers may change at once",
        "gaussian": "circles, and far ones are rarer than for any norm",
        "cauchy": "stars: one number far off is likelier than both a little",
        "student": "stars in the outer part: one number far off is likelier than both a little",
        "staircase": "steps of diamonds",
    }
    shape = shapes.get(values.noise_mechanism, "diamonds: the axes are the likely directions")
    return (
        f"{name} noise for two numbers at ε = {values.noise_epsilon:g} in all, each moved by up to "
        f"Δ = {values.noise_sensitivity}. Its contours are {shape}. {percent(beyond)} of draws lie beyond the axes."
    )


def tail_words(values: NoiseValues, own: str | None) -> str:
    """Return how loose the theorem is."""
    epsilon, sensitivity = values.noise_epsilon, values.noise_sensitivity
    queries, p = values.noise_queries, values.noise_failure
    bound, exact = accuracy_bounds(epsilon, sensitivity, queries, p)
    true = -np.expm1(queries * np.log1p(-p / queries))
    if bound - exact < 1e-9 * exact:
        loose = "For one query it is exact."
    else:
        loose = (
            f"It is {percent(bound / exact - 1)} too large: at its error the probability is {percent(true)}, "
            f"not {percent(p)}."
        )
    noun = f"none of {queries:,} errors is" if queries > 1 else "the error is not"
    return (
        f"With probability {percent(1 - p)} {noun} larger than <b>{number(exact)}</b>; Theorem 2.2.2 says "
        f"<b>{number(bound)}</b>. {loose}{own or ''}"
    )


def rival_words(values: NoiseValues, sizes: Mapping[str, float]) -> str:
    """Return which noise is smallest at the ε that is chosen."""
    ranked = sorted((size if np.isfinite(size) else 0.0, name) for name, size in sizes.items())
    best, second = ranked[0], ranked[1]
    listed = ", ".join(f"{RIVAL_STYLES[name].label} {number(size)}" for size, name in ranked)
    measure = "mean size" if values.noise_measure == "mean" else "size that 95 % stay below"
    notes = {
        "geometric": " It is for whole numbers; for others see the next.",
        "gaussian": f" It may fail with probability δ = {values.noise_delta:g}; the others may not.",
    }
    lead = ""
    if best[0] > 0:
        lead = f", {percent(1 - best[0] / second[0])} smaller than the next"
    return (
        f"At ε = {values.noise_epsilon:g} with k = {values.noise_touched} the smallest noise is "
        f"<b>{RIVAL_STYLES[best[1]].label}</b>{lead}.{notes.get(best[1], '')} By {measure}: {listed}."
    )


def choice_words(values: NoiseValues, losses: Mapping[str, float]) -> str:
    """Return which choice loses least at the ε that is chosen."""
    ranked = sorted((loss, name) for name, loss in losses.items())
    listed = ", ".join(f"{CHOICE_STYLES[name].label.lower()} {number(loss)}" for loss, name in ranked)
    worst = ranked[-1][0]
    gain = f", {percent(1 - ranked[0][0] / worst)} less than the worst" if worst > 0 else ""
    blind = values.noise_gap * (CANDIDATES - 1) / 2
    return (
        f"At ε = {values.noise_epsilon:g} and a gap of {values.noise_gap:g}, "
        f"<b>{CHOICE_STYLES[ranked[0][1]].label}</b> loses least{gain}. Expected loss: {listed}; a blind choice "
        f"{number(blind)}."
    )


def calibration_words(values: NoiseValues, calibrations: Mapping[str, tuple[float, float]]) -> str:
    """Return what each calibration asks and costs at the ε that is chosen."""
    epsilon = values.noise_epsilon
    parts = [
        f"{CALIBRATION_STYLES[name].label.split(',')[0]}: scale <b>{number(scale)}</b>, true ε <b>{number(cost)}</b>"
        for name, (scale, cost) in calibrations.items()
    ]
    broken = [name for name, (_, cost) in calibrations.items() if cost > epsilon * (1 + 1e-9)]
    text = f"At a claim of ε = {epsilon:g} and β = {values.noise_beta} of it: " + "; ".join(parts) + "."
    if broken:
        labels = " and ".join(CALIBRATION_STYLES[name].label.split(",")[0] for name in broken)
        return text + f" <b>Not private as claimed</b> at this β: {labels}; Zafarani and Clifton allow at most 1/6."
    waste = calibrations["theorem-2"][0] / calibrations["exact"][0]
    return text + f" The exact one gives the same promise with {number(waste)} times less noise than 6/ε."
