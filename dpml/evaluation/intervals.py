"""Intervals for measures of a noisy histogram, from the known distribution of its noise. No ε is spent here.

Most measures are ratios of sums of cells, θ = Σ wᵢcᵢ / Σ dᵢcᵢ. With noisy cells x = c + e the sum Σ (wᵢ - θdᵢ)·xᵢ is
pure noise at the true θ, and its distribution is known, whatever the counts are. The interval is the set of all θ whose
sum is not larger than a quantile of this noise (Fieller 1954, with simulated quantiles). Its coverage is exact for
every data set, up to the simulation. The AUC is a ratio of bilinear sums. There the counts that multiply the noise are
plugged in.

A posterior under a flat prior on counts >= 0 does not cover the true value: each empty cell adds a noise scale on
average, and the classifier looks worse than it is (docs/decisions/0017).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_integer

# Most numbers in memory at a time; points of the grid on which an interval is searched before its ends are refined.
BLOCK_CELLS = 1 << 21
N_GRID = 33
# The ends of a class's area are looked for this far out, so that a mean of areas has them unclipped.
AREA_RANGE = (-1.0, 2.0)
N_REFINE = 20
# If the noise scale has more steps than this, integer noise is treated as continuous.
MAX_STEPS = 1e6
# For the sampling variance, each class gets this many records spread over its bins, so that an empty cell does not have
# a variance of 0 (Agresti and Coull 1998).
PSEUDO = 2.0


class ROCBand(NamedTuple):
    """A simultaneous band: it contains the whole curve.

    `fpr` of shape (n_points,). `tpr_low`, `tpr_high` of shape (n_points,) or (draws, n_points).
    """

    fpr: FloatArray
    tpr_low: FloatArray
    tpr_high: FloatArray


def noise_variance(scale: float, step: float) -> float:
    """Return the variance of one cell's noise: continuous if step is 0, else integer noise in units of step."""
    if step == 0.0 or scale / step > MAX_STEPS:
        return 2 * scale**2
    with np.errstate(over="ignore"):
        return float(step**2 / (2 * np.sinh(step / (2 * scale)) ** 2))


def draw_noise(shape: tuple[int, ...], scale: float, step: float, rng: np.random.Generator) -> FloatArray:
    """Draw noise of a release's distribution, for a simulation."""
    if step == 0.0 or scale / step > MAX_STEPS:
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
    """Return the values of `figures` for `n_boot` simulated errors of all cells, shape (draws, ..., n_boot).

    `figures` takes a block of errors (m, ...) and the position of their draw, and returns (..., m). All draws use the
    same noise, and so do all calls with `rng` None. With a `weight` the sampling variance of the records is added: the
    variance of a cell is at most its sum times the largest weight.
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
    """Return the ends of the set of θ in [lower, upper] where |numerator - θ·denominator| does not exceed the noise.

    The noise of the two, of shape (n_boot,), was simulated together. `level` is that of its quantile.
    """

    def excess(theta: FloatArray) -> FloatArray:
        noise = np.abs(noise_numerator - theta[:, None] * noise_denominator)
        # a new draw does not exceed this quantile with probability `level`: it has one of n + 1 ranks
        rank = min(int(np.ceil(level * (noise.shape[1] + 1))), noise.shape[1]) - 1
        limit = np.partition(noise, rank, axis=1)[:, rank]
        return np.abs(numerator - theta * denominator) - limit

    ratio = numerator / denominator if denominator else lower
    grid = np.unique(np.append(np.linspace(lower, upper, N_GRID), np.clip(ratio, lower, upper)))
    tiny = 1e-12 * max(abs(numerator), abs(denominator), 1e-300)
    inside = np.flatnonzero(excess(grid) <= tiny)
    if not inside.size:
        # noise does not explain a ratio so far outside [lower, upper]: return the nearest end
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
    """Return `ratio_interval` of each draw, shape (draws, 2), from two sums (draws,) and noise (draws, 2, n_boot)."""
    draws = zip(*sums, noise, strict=True)
    return np.array([ratio_interval(top, bottom, e[0], e[1], level, lower, upper) for top, bottom, e in draws])


def stretched(ends: FloatArray, shown: Any) -> tuple[Any, Any]:
    """Return low and high ends of intervals (draws, 2), widened to contain the values shown. Floats for one draw."""
    low, high = np.minimum(ends[:, 0], shown), np.maximum(ends[:, 1], shown)
    return (float(low[0]), float(high[0])) if np.ndim(shown) == 0 else (low, high)


def auc_sums(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (pairs in the right order, all pairs) of tables (..., 2, B). Their ratio is the AUC. Ties count half."""
    negatives, positives = cells[..., 0, :], cells[..., 1, :]
    above = np.cumsum(positives, axis=-1) - positives / 2
    return (above * negatives).sum(axis=-1), positives.sum(axis=-1) * negatives.sum(axis=-1)


def auc_noise(cells: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the changes of both sums of `auc_sums` if errors (m, 2, B) are added to a table (2, B)."""
    total = auc_sums(cells + errors)
    exact = auc_sums(cells)
    return total[0] - exact[0], total[1] - exact[1]


def macro_auc_intervals(
    tables: Sequence[FloatArray],
    scale: float,
    step: float,
    level: float,
    n_boot: int,
    rng: np.random.Generator | None,
    weight: float | None = None,
) -> FloatArray:
    """Return intervals (draws, 2) for the mean area of several classes, each from a table (draws, 2, B) of its own.

    Each class's area has an interval of its own, from the unlowered counts, whose ratio has no bias to speak of. An end
    of the mean is as far from its centre as the root of the sum of squares of the classes' reaches, over C (Zou and
    Donner 2008, the method MOVER), for the noise of the tables is independent. The records of all tables are the same,
    and their covariances are not known. The standard deviation of a mean is at most the mean of the standard
    deviations, so that the reaches that the records add are added up. If the noise leaves nothing of a class, the
    interval is [0, 1].
    """
    options = (scale, step, level, n_boot, rng)
    areas, noise = zip(*(_area_reach(table, *options, None) for table in tables), strict=True)
    both = noise if weight is None else [_area_reach(table, *options, weight)[1] for table in tables]
    known = np.asarray(np.isfinite([*noise, *both]).all(axis=(0, 2)))[:, None]
    of_noise, of_both = (np.where(known, reaches, 0.0) ** 2 for reaches in (noise, both))
    # simulated, so that the reach with more chance in it can be a hair shorter
    added = np.sqrt(np.maximum(of_both - of_noise, 0.0)).sum(axis=0)
    reach = np.sqrt(of_noise.sum(axis=0) + added**2) / len(tables)
    ends = np.mean(areas, axis=0)[:, None] + np.array([-1, 1]) * reach
    return np.where(known, np.clip(ends, 0.0, 1.0), [0.0, 1.0])


def _area_reach(
    counts: FloatArray,
    scale: float,
    step: float,
    level: float,
    n_boot: int,
    rng: np.random.Generator | None,
    weight: float | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the unlowered areas (draws,) of tables, and how far the ends are below and above (draws, 2)."""
    cells = np.maximum(counts, 0.0)
    noise = simulate(counts, scale, step, n_boot, rng, weight, lambda e, draw: auc_noise(cells[draw], e))
    right, pairs = auc_sums(counts)
    ends = ratio_intervals((right, pairs), noise, level, *AREA_RANGE)
    area = np.divide(right, pairs, out=np.full_like(right, 0.5), where=pairs > 0)
    inside = (pairs > 0) & (ends[:, 0] > AREA_RANGE[0]) & (ends[:, 1] < AREA_RANGE[1])
    return area, np.where(inside[:, None], np.abs(ends - area[:, None]), np.inf)


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
    """Return simultaneous bands of ROC curves, from noisy counts (draws, 2, B) and the curves' rates (draws, 2, B + 1).

    For each class, the rate F at every threshold gets an interval as for a ratio. All thresholds use the same quantile,
    that of the largest of all standardised sums. Its level is the square root of `level`, because the noise of the two
    classes is independent. The true points then lie in boxes, and the exact curve lies between the curves through the
    corners of the boxes.
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
    # rates rise along the curve, so that a lower limit also holds for later points, an upper limit for earlier ones
    low = np.maximum.accumulate(low, axis=-1)
    high = np.minimum.accumulate(high[..., ::-1], axis=-1)[..., ::-1]
    ends = np.zeros((draws, 2, 1)), np.ones((draws, 2, 1))
    low, high = (np.concatenate([ends[0], np.maximum(side, 0.0), ends[1]], axis=-1) for side in (low, high))

    fpr = np.linspace(0.0, 1.0, n_points)
    # tiny steps keep vertical pieces of a curve in order; they only widen the band
    steps = 1e-12 * np.arange(n_bins + 1)
    bottom = [np.interp(fpr, high[d, 0] + steps, low[d, 1]) for d in range(draws)]
    top = [np.interp(fpr, low[d, 0] - steps[::-1], high[d, 1]) for d in range(draws)]
    # the band always contains the released curve
    shown = [np.interp(fpr, rates[d, 0] + steps, rates[d, 1]) for d in range(draws)]
    return ROCBand(fpr, np.minimum(bottom, shown), np.maximum(top, shown))
