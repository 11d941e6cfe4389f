"""Parts of published classifiers whose privacy claim is wrong, kept as published. For study only.

docs/explanation/errata.md explains the fault of each. The catalogue states the actual ε.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.claims import claim
from dpml.classifiers.naive_bayes.cells import Design
from dpml.classifiers.naive_bayes.moments import LEAST_VARIANCE, ClassStatistics, Moments, default_trim
from dpml.counts import FACTOR
from dpml.mechanisms import Laplace, boundary, smooth
from dpml.mechanisms.private import statistic
from dpml.mechanisms.smooth.admissible import Cauchy


@claim(
    "resampled-count",
    "Counts resampled until positive",
    "[vaidya2013], as described in [antonova2016], section 3.3.5",
    "ε for each count",
    cost="ε + log(2 - e^-ε) for each count: 1.490 at ε = 1",
    true_epsilon=lambda epsilon: float(epsilon + np.log(2 - np.exp(-epsilon))),
    relations=("add-remove",),
)
def resampled_count(count: float, epsilon: float, *, draws: int = 1, rng: np.random.Generator) -> FloatArray:
    """Release counts (draws,) with Laplace noise drawn again until the result is positive, as Vaidya et al. (2013) do.

    Claimed: ε. Actual ε: ε + log(2 - e^-ε), because the probability of acceptance depends on the count.
    """
    mechanism = Laplace(epsilon)
    values = mechanism.release(count, draws=check_integer(draws, "draws", 1), rng=check_rng(rng))
    while (bad := values <= 0).any():
        values[bad] = mechanism.release(count, draws=int(bad.sum()), rng=rng)
    return values


def resampled_count_loss(first: float, second: float, epsilon: float) -> float:
    """Return the largest log density ratio of `resampled_count` at two counts, exactly.

    The density of y > 0 is a Laplace density divided by the probability of acceptance, 1 - e^(-nε)/2 for a count n. The
    log ratio of two such densities is monotone between the counts and constant outside them. Its extremes are
    therefore at y = 0 and at the larger count.
    """
    accept = [1 - 0.5 * np.exp(-n / Laplace(epsilon).scale) for n in (first, second)]
    offset = np.log(accept[1]) - np.log(accept[0])
    ends = [(abs(y - second) - abs(y - first)) * epsilon + offset for y in (0.0, max(first, second))]
    return float(np.abs(ends).max())


@claim(
    "class-sums-by-width",
    "Class sums with noise for the width of the domain",
    "a fault in a current library, described in docs/explanation/errata.md",
    private=False,
    cost="201 times the claim for bounds (100, 101) when a label changes",
    true_epsilon=lambda epsilon: 201.0 * epsilon,
    relations=("replace-one",),
)
def class_sums_by_width(
    values: Any,
    codes: Any,
    lower: float,
    upper: float,
    epsilon: float,
    *,
    n_classes: int = 2,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release class sums with noise for their width `upper` - `lower`. NOT private when a label can move.

    A current library has this fault. The width bounds the effect of a changed value on a sum. But a record that is
    added, or whose label changes, moves its whole value, up to max(|lower|, |upper|). With bounds (100, 101) the actual
    ε is about a hundred times the claim.
    """
    sums = _class_sums(values, codes, lower, upper, n_classes)
    return Laplace(epsilon, upper - lower).release(sums, draws=check_integer(draws, "draws", 1), rng=rng)


@statistic
def _class_sums(values: Any, codes: Any, lower: float, upper: float, n_classes: int) -> NDArray:
    clipped = np.clip(np.asarray(values, float), lower, upper)
    return np.bincount(np.asarray(codes), weights=clipped, minlength=n_classes)


def published_moments(
    statistics: ClassStatistics,
    design: Design,
    epsilon: float,
    *,
    trim: int | None = None,
    draws: int = 1,
    rng: np.random.Generator,
) -> Moments:
    """Release a naive Bayes model as Zafarani and Clifton's Algorithm 1 does. NOT private under either relation.

    Claimed: ε, with ε' = ε/(2·numbers + attributes + 1) for each statistic (line 3). It has three faults
    (docs/explanation/errata.md). The noise on a standard deviation is scaled by the smooth sensitivity of the
    *variance* (lines 17 to 19), which is smaller by orders of magnitude where all values are close to each other.
    The counts change by two under the paper's replace-one relation. And a changed label changes the sizes of two
    classes, which the sensitivities take as fixed.

    `trim` values are left out at each end (line 12, m of Definition 4.1). The paper states no m, and the default is the
    public rule `default_trim`. Negative standard deviations become 0, as in section 6. Variances are then at least
    `LEAST_VARIANCE`.
    """
    draws = check_integer(draws, "draws", 1)
    share = check_epsilon(epsilon) / (2 * len(design.numbers) + len(design.attributes) + 1)
    noise = Cauchy(share, share / 6, "algorithm-1")
    if trim is None:
        trim = default_trim(noise, design.schema.n_lower, design.schema.n_classes, 2)
    check_integer(trim, "trim")

    def noisy(kind: str, root: bool) -> FloatArray:
        return noise.release(*_each_scaled(statistics.numbers, kind, noise.beta, trim, root), rng=rng, draws=draws)

    n = noise.release(statistics.n, 1.0, rng=check_rng(rng), draws=draws)
    cells = Laplace(share).release(statistics.cells, rng=rng, draws=draws)
    mean, deviation = noisy("trimmed_mean", False), noisy("trimmed_variance", True)
    return _moments(n, cells, mean, deviation)


def vaidya_moments(
    statistics: ClassStatistics,
    design: Design,
    epsilon: float,
    *,
    class_epsilon: float = 1.0,
    draws: int = 1,
    rng: np.random.Generator,
) -> Moments:
    """Release a naive Bayes model as Vaidya et al. (2013) do: ε for each statistic, noise of scale 1 on class counts.

    Claimed: ε. Actual ε without numbers: Aε + 1 under add/remove for A attributes, 2Aε + 2 under replace-one
    (Antonova 2016, section 3.3.5, with class counts as disjoint parts: docs/explanation/errata.md). With numbers it
    is NOT private: means and standard deviations get Laplace noise for the sensitivities (U - L)/(n + 1) and (U -
    L)/√(n + 1), but n, the class size, is private, and the ratio of two Laplace densities of different scales is
    unbounded.

    Negative counts are raised to 0 here. The paper draws them again (`resampled_count`), which costs more.
    `class_epsilon` is the ε of the class counts, 1 in the paper: another one compares methods at the same total.
    """
    draws, epsilon = check_integer(draws, "draws", 1), check_epsilon(epsilon)
    n = Laplace(check_epsilon(class_epsilon)).release(statistics.n, rng=check_rng(rng), draws=draws)
    cells = Laplace(epsilon).release(statistics.cells, rng=rng, draws=draws)
    values, scales = _vaidya_values(statistics.n, statistics.numbers, epsilon, draws)
    mean, deviation = boundary.release(_LaplaceOfScales(), (values, scales), rng)
    return _moments(n, cells, mean, deviation)


@statistic
def _vaidya_values(n: FloatArray, numbers: Any, epsilon: float, draws: int) -> tuple[FloatArray, FloatArray]:
    """Return means and deviations, and their noise scales, both of shape (2, draws, C, numbers)."""
    size = n[:, None] + 1
    exact = np.stack([_each(numbers, "mean"), _each(numbers, "variance", root=True)])
    scale = np.stack(np.broadcast_arrays(2 / (epsilon * size), 2 / (epsilon * np.sqrt(size)), exact[0])[:2])
    shape = (2, draws, *exact.shape[1:])
    return np.broadcast_to(exact[:, None], shape), np.broadcast_to(scale[:, None], shape)


@dataclass(frozen=True)
class _LaplaceOfScales:
    """Laplace noise whose scales depend on the data."""

    def _sample(self, statistic: tuple[FloatArray, FloatArray], rng: np.random.Generator) -> FloatArray:
        values, scale = statistic
        return values + rng.laplace(size=values.shape) * scale

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        (one, s), (two, t) = statistic, other_statistic
        return (
            boundary.Loss(pure=boundary.l1_distance(one / s, two / s)) if np.array_equal(s, t) else boundary.EVERYTHING
        )


def vaidya_cost(epsilon: float, n_attributes: int, relation: str = "add-remove") -> float:
    """Return the true ε of `vaidya_moments` without numbers."""
    return FACTOR[check_relation(relation)] * (n_attributes * check_epsilon(epsilon) + 1)


@statistic
def _each(numbers: Any, kind: str, trim: int = 0, root: bool = False) -> FloatArray:
    """Return a statistic of each class and number, or its square root."""
    exact = np.array([[smooth.statistic(kind, z, -1.0, 1.0, trim) for z in mine] for mine in numbers], dtype=float)
    return np.sqrt(exact) if root else exact


@statistic
def _each_scaled(numbers: Any, kind: str, beta: float, trim: int, root: bool) -> tuple[FloatArray, FloatArray]:
    scale = [[smooth.smooth_sensitivity(kind, z, -1.0, 1.0, beta, trim=trim) for z in mine] for mine in numbers]
    return _each(numbers, kind, trim, root), np.array(scale)


def _moments(n: FloatArray, cells: FloatArray, mean: FloatArray, deviation: FloatArray) -> Moments:
    variance = np.clip(np.maximum(deviation, 0.0) ** 2, LEAST_VARIANCE, 1.0)
    return Moments(n, cells, np.clip(mean, -1.0, 1.0), variance)
