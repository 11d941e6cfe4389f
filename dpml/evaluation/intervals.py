"""How uncertain the figures of a noisy histogram are, from the known distribution of its noise. No ε is spent here.

Most figures are ratios of sums of cells, θ = Σ wᵢcᵢ / Σ dᵢcᵢ. With noisy cells x = c + e the sum Σ (wᵢ - θdᵢ)·xᵢ is
noise alone at the true θ, and its distribution is known, whatever the counts are: the interval is the set of all θ
whose sum is not larger than such noise is (Fieller 1954, with simulated quantiles). Its coverage is exact for every
data set, up to the simulation. The AUC is a ratio of bilinear sums; there the counts that multiply the noise are
plugged in.

A posterior under a flat prior on counts >= 0 was tried first and does not cover: each empty cell adds a noise scale on
average, and the classifier looks worse than it is (docs/decisions/0017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_integer

__all__ = [
    "ROCBand",
    "auc_noise",
    "auc_sums",
    "noise_variance",
    "ratio_interval",
    "ratio_intervals",
    "roc_bands",
    "simulate",
    "stretched",
]

FloatArray = NDArray[np.float64]

# Numbers held at a time, and points at which an interval is looked for before its ends are refined.
BLOCK_CELLS = 1 << 21
N_GRID = 33
N_REFINE = 20
# Beyond this many steps integer noise is continuous noise to any purpose.
MOST_STEPS = 1e6
# Where a sampled spread is wanted, each class gets this many records spread over its bins, so that an empty cell is not
# taken for a certainty (Agresti and Coull 1998).
PSEUDO = 2.0


class ROCBand(NamedTuple):
    """A band that holds the whole curve.

    Attributes
    ----------
    fpr : ndarray of shape (n_points,)
    tpr_low, tpr_high : ndarray of shape (n_points,) or (draws, n_points)
    """

    fpr: FloatArray
    tpr_low: FloatArray
    tpr_high: FloatArray


def noise_variance(scale: float, step: float) -> float:
    """Return the variance of one cell's noise: continuous where step is 0, else integer noise of that unit."""
    if step == 0.0 or scale / step > MOST_STEPS:
        return 2 * scale**2
    with np.errstate(over="ignore"):
        return float(step**2 / (2 * np.sinh(step / (2 * scale)) ** 2))


def draw_noise(shape: tuple[int, ...], scale: float, step: float, rng: np.random.Generator) -> FloatArray:
    """Draw noise as a release does, for a simulation."""
    if step == 0.0 or scale / step > MOST_STEPS:
        return rng.laplace(scale=scale, size=shape)
    p = -np.expm1(-step / scale)
    return step * (rng.geometric(p, shape) - rng.geometric(p, shape)).astype(float)


def simulate(
    counts: FloatArray,
    scale: float,
    step: float,
    n_boot: int,
    rng: np.random.Generator | None,
    weight: float | None,
    figures: Callable[[FloatArray, int], Any],
) -> FloatArray:
    """Return what `figures` says of `n_boot` simulated errors of all cells, shape (draws, ..., n_boot).

    `figures` takes a block of errors (m, ...) and the draw that they are for, and returns (..., m). The same noise
    serves all draws, and all calls where `rng` is None. With a `weight` the records' own sampling spread is added: a
    cell's variance is at most its sum times the largest weight.
    """
    n_boot = check_integer(n_boot, "n_boot", 10)
    rng = np.random.default_rng(0) if rng is None else rng
    shape = counts.shape[1:]
    rows = max(BLOCK_CELLS // int(np.prod(shape)), 1)
    blocks = []
    for start in range(0, n_boot, rows):
        noise = draw_noise((min(rows, n_boot - start), *shape), scale, step, rng)
        if weight is None:
            blocks.append([figures(noise, draw) for draw in range(len(counts))])
        else:
            normal = rng.standard_normal(noise.shape)
            spread = np.sqrt(weight * (np.maximum(counts, 0.0) + PSEUDO * weight / shape[-1]))
            blocks.append([figures(noise + one * normal, draw) for draw, one in enumerate(spread)])
    return np.concatenate(blocks, axis=-1)


def ratio_interval(
    numerator: float,
    denominator: float,
    noise_numerator: FloatArray,
    noise_denominator: FloatArray,
    level: float,
    lower: float,
    upper: float,
) -> tuple[float, float]:
    """Return the ends of the set of θ in [lower, upper] with |numerator - θ·denominator| no larger than noise is.

    Parameters
    ----------
    numerator, denominator : float
        Noisy sums.
    noise_numerator, noise_denominator : ndarray of shape (n_boot,)
        Simulated noise of the two, drawn together.
    level : float
        The share of noise that counts as not too large.
    lower, upper : float
        Public ends of θ.
    """

    def excess(theta: FloatArray) -> FloatArray:
        noise = np.abs(noise_numerator - theta[:, None] * noise_denominator)
        # the quantile that a new draw does not pass with probability `level`: one of n + 1 places
        rank = min(int(np.ceil(level * (noise.shape[1] + 1))), noise.shape[1]) - 1
        limit = np.partition(noise, rank, axis=1)[:, rank]
        return np.abs(numerator - theta * denominator) - limit

    ratio = numerator / denominator if denominator else lower
    grid = np.unique(np.append(np.linspace(lower, upper, N_GRID), np.clip(ratio, lower, upper)))
    tiny = 1e-12 * max(abs(numerator), abs(denominator), 1e-300)
    inside = np.flatnonzero(excess(grid) <= tiny)
    if not inside.size:
        # the ratio is outside of what is possible by more than noise explains: the nearest possible one
        end = float(np.clip(ratio, lower, upper))
        return end, end
    ends = np.array([grid[inside[0]], grid[inside[-1]]])
    outside = np.array([grid[max(inside[0] - 1, 0)], grid[min(inside[-1] + 1, len(grid) - 1)]])
    for _ in range(N_REFINE):
        middle = (ends + outside) / 2
        fits = excess(middle) <= tiny
        ends, outside = np.where(fits, middle, ends), np.where(fits, outside, middle)
    return float(ends[0]), float(ends[1])


def ratio_intervals(
    sums: Sequence[FloatArray], noise: FloatArray, level: float, lower: float, upper: float
) -> FloatArray:
    """Return `ratio_interval` for each draw, shape (draws, 2), of two sums (draws,) and noise (draws, 2, n_boot)."""
    draws = zip(*sums, noise, strict=True)
    return np.array([ratio_interval(top, bottom, e[0], e[1], level, lower, upper) for top, bottom, e in draws])


def stretched(ends: FloatArray, shown: Any) -> tuple[Any, Any]:
    """Return intervals (draws, 2) as low and high ends, stretched to the printed figures; floats for one draw."""
    low, high = np.minimum(ends[:, 0], shown), np.maximum(ends[:, 1], shown)
    return (float(low[0]), float(high[0])) if np.ndim(shown) == 0 else (low, high)


def auc_sums(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (pairs in the right order, all pairs) of tables (..., 2, B): their ratio is the AUC, ties as halves."""
    negatives, positives = cells[..., 0, :], cells[..., 1, :]
    above = np.cumsum(positives, axis=-1) - positives / 2
    return (above * negatives).sum(axis=-1), positives.sum(axis=-1) * negatives.sum(axis=-1)


def auc_noise(cells: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what errors (m, 2, B) add to both sums of `auc_sums` of a table (2, B)."""
    total = auc_sums(cells + errors)
    exact = auc_sums(cells)
    return total[0] - exact[0], total[1] - exact[1]


# ---- bands ------------------------------------------------------------------------------------------------------


def roc_bands(
    counts: FloatArray,
    rates: FloatArray,
    scale: float,
    step: float,
    level: float,
    n_boot: int,
    n_points: int,
    rng: np.random.Generator | None,
    weight: float | None = None,
) -> ROCBand:
    """Return simultaneous bands of ROC curves.

    For each class the rate F at every threshold is inverted as a ratio is, with one quantile of the largest of all
    standardised sums, at the square root of the level: the noise of the two classes is independent. The true points
    then lie in boxes, and the true curve between the curves through the boxes' corners.

    Parameters
    ----------
    counts : ndarray of shape (draws, 2, B)
        Noisy.
    rates : ndarray of shape (draws, 2, B + 1)
        The curve: fpr and tpr.
    scale, step : float
        Of the noise.
    level, n_boot, n_points, rng, weight
        As in `dpml.evaluation.PrivateEvaluation.roc_band`.
    """
    draws, _, n_bins = counts.shape
    one = noise_variance(scale, step)
    variance = np.full(counts.shape, one)
    if weight is not None:
        variance = variance + weight * (np.maximum(counts, 0.0) + PSEUDO * weight / n_bins)
    left = np.cumsum(variance, axis=-1)[..., :-1]
    right = np.cumsum(variance[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    inner = rates[..., 1:-1]
    spread = np.sqrt((1 - inner) ** 2 * left + inner**2 * right)

    def largest(errors: FloatArray, draw: int) -> FloatArray:
        sums = np.cumsum(errors, axis=-1)
        off = np.abs(sums[..., :-1] - inner[draw] * sums[..., -1:])
        ratio = np.divide(off, spread[draw], out=np.zeros_like(off), where=spread[draw] > 0)
        return ratio.max(axis=-1, initial=0.0).T

    simulated = simulate(counts, scale, step, n_boot, rng, weight, largest)
    limit = np.quantile(simulated, np.sqrt(level), axis=-1, method="higher")[..., None] ** 2

    sums = np.cumsum(counts, axis=-1)
    part, whole = sums[..., :-1], sums[..., -1:]
    # (part - F·whole)² <= limit·((1-F)²·left + F²·right), a quadratic in F
    a = whole**2 - limit * (left + right)
    half = part * whole - limit * left
    root = np.sqrt(np.maximum(half**2 - a * (part**2 - limit * left), 0.0))
    known = a > 0
    a = np.where(known, a, 1.0)
    low = np.where(known, np.clip((half - root) / a, 0.0, 1.0), 0.0)
    high = np.where(known, np.clip((half + root) / a, 0.0, 1.0), 1.0)
    # rates rise along the curve, so that a limit holds for all points beyond it too
    low = np.maximum.accumulate(low, axis=-1)
    high = np.minimum.accumulate(high[..., ::-1], axis=-1)[..., ::-1]
    ends = np.zeros((draws, 2, 1)), np.ones((draws, 2, 1))
    low, high = (np.concatenate([ends[0], np.maximum(side, 0.0), ends[1]], axis=-1) for side in (low, high))

    fpr = np.linspace(0.0, 1.0, n_points)
    # the smallest steps keep vertical pieces in order; they widen the band
    steps = 1e-12 * np.arange(n_bins + 1)
    bottom = [np.interp(fpr, high[d, 0] + steps, low[d, 1]) for d in range(draws)]
    top = [np.interp(fpr, low[d, 0] - steps[::-1], high[d, 1]) for d in range(draws)]
    # the printed curve is always inside
    shown = [np.interp(fpr, rates[d, 0] + steps, rates[d, 1]) for d in range(draws)]
    return ROCBand(fpr, np.minimum(bottom, shown), np.maximum(top, shown))
