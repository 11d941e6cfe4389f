"""Classifier of a table of few attributes: private bins, a privately selected grid, and an additive part.

Statistics: counts of histograms, grids and groups. Release: `release_table`, in three steps whose shares of ε the plan
states. Model: `TableModel`, which reads released values only.

The grid has the probabilities p of the classes for the cell of a record. The other attributes are added in two ways:

- *Counts.* The noisy class counts of all other attributes' groups. Their log likelihood ratios, shrunk where they may
  be noise only, are added to log p.
- *Weights.* Logistic regression on all attributes by objective perturbation, started at the grid: logit p is a column
  of its own, and weights are pulled to the model that has it alone. For more than two classes, scores include log p.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logit

from dpml._arrays import FloatArray
from dpml._validate import check_integer, check_relation, check_rng
from dpml.classifiers.automatic.layout import (
    MANY_ATTRIBUTES,
    MOST_CLASSES,
    Layout,
    cell_edges,
    histograms,
    public_bins_stay,
    quantile_levels,
    release_histograms,
)
from dpml.classifiers.automatic.plan import Plan
from dpml.classifiers.crowded_bins import HeaviestBin, heaviest_bin, heaviest_of_grid
from dpml.classifiers.grid import NoisyGrid, Records, cell_probabilities, release_grid
from dpml.classifiers.grid.cells import consistent
from dpml.classifiers.linear import ClippedLogistic, Prior, order_covariance, release_classes, release_objective
from dpml.classifiers.linear.coded import CodedRows
from dpml.classifiers.linear.descent import release_approximate_minima
from dpml.classifiers.linear.perturbation import class_signs
from dpml.classifiers.linear.prior import USUAL_SIZE
from dpml.classifiers.linear_models import row_log_softmax
from dpml.counts import FACTOR
from dpml.mechanisms.noise import gaussian_sigma
from dpml.mechanisms.norms import OneHotNorm, contrasts
from dpml.mechanisms.private import n_columns, repeated, statistic
from dpml.mechanisms.secure_one_hot import SecureOneHot
from dpml.schema import Taxonomy

# least ratio of a class' rate to the pooled one
LEAST_RATIO = 0.05
# factor of log probabilities that are sums over so many attributes that these repeat each other
TEMPER = 0.15
# candidates for the variance of the relative size of an excess
VARIANCES = np.array([0.0, *np.exp2(np.arange(-12.0, 5.0))])


def shrunken_rates(noisy: FloatArray, scale: float, ordered: bool) -> FloatArray:
    """Return the rates of the groups of an attribute in each class, shape (C, d). Post-processing.

    Let π_c be the share of a class, q_j the pooled rate of a group, and E = n_c·q_j. The excess x = noisy - E has the
    variance V = 2b²((1 - π_c)² + (C - 1)π_c²) + E. Its relative size x/E gets the prior N(0, τ²K), with K of
    `order_covariance` for groups that have an order, or none. τ² is the one of `VARIANCES` at which the excesses, apart
    from their sum, are most likely (empirical Bayes): where noise hides an attribute, all classes get the pooled rates.
    For these each group counts one deviation of their noise more.
    """
    C, d = noisy.shape
    n = np.maximum(noisy.sum(axis=1, keepdims=True), 1.0)
    pooled = np.maximum(noisy.sum(axis=0), 0.0) + math.sqrt(2 * C) * scale + 1.0
    expected = n * pooled / pooled.sum()
    excess, share = noisy - expected, n / n.sum()
    variance = 2 * scale**2 * ((1 - share) ** 2 + (C - 1) * share**2) + expected
    root = np.sqrt(variance)
    # in units of their own variance the excesses have the covariance 1 + τ²K, in the axes of K: 1 + τ²·values
    size, values, axes = expected / root, (expected / root) ** 2, np.eye(d)[None]
    if ordered:
        values, axes = np.linalg.eigh(order_covariance(d) * size[:, :, None] * size[:, None, :])
    seen, ones = (((part / root)[:, None] @ axes)[:, 0] for part in (excess, np.ones_like(excess)))
    noise = 1 / (1 + VARIANCES[:, None, None] * values)
    total = (noise * ones**2).sum(axis=-1)
    squares = (noise * seen**2).sum(axis=-1) - (noise * seen * ones).sum(axis=-1) ** 2 / total
    unlikely = np.log(total) - np.log(noise).sum(axis=-1) + squares
    kept = 1 - noise[unlikely.sum(axis=-1).argmin()]
    rates = np.maximum(expected + root * (axes @ (kept * seen)[:, :, None])[:, :, 0], LEAST_RATIO * expected)
    return np.asarray(rates / rates.sum(axis=1, keepdims=True))


def shrunken(values: FloatArray, variance: float) -> FloatArray:
    """Return noisy values, shrunk to their mean by their variance beyond that of the noise (James and Stein)."""
    mean = values.mean(axis=-1, keepdims=True)
    square = np.maximum(((values - mean) ** 2).sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    kept = np.maximum(1 - (values.shape[-1] - 1) * variance / square, 0.0)
    return np.asarray(mean + kept * (values - mean))


LOSS = ClippedLogistic()
# of two classes margins of the grid are cut to -4 and 4: a cell of few records cannot claim more
MOST_MARGIN = 4.0
# the regulariser of the weights, in standard deviations of the noise, of two classes and of more; never below the least
REGULARISED, REGULARISED_CLASSES, LEAST_LAMBDA = 1.0, 0.7, 0.01
# curvature of the loss at one record: half of the largest
CURVED = LOSS.curvature / 2


@dataclass(frozen=True)
class Additive:
    """Scores that add up: one for the cell of the grid (K, cells), one for the group of each attribute (K, columns).

    With `margins` a score (K = 1 for two classes), or its distance to a larger one, is a margin of `ClippedLogistic`,
    and not a log probability. `slope` is the factor of the stated log odds (`slope_of`) or log probabilities.
    """

    cells: FloatArray
    groups: FloatArray
    margins: bool
    slope: float = 1.0

    def scores(self, cell: NDArray[np.intp], groups: NDArray[np.intp]) -> FloatArray:
        """Return the scores of records, shape (n, K)."""
        scores = self.cells.T[cell]
        table = np.ascontiguousarray(self.groups.T)
        for column in groups.T:
            scores += table[column]
        return scores


def other_attributes(layout: Layout, grid: NoisyGrid) -> tuple[int, ...]:
    """Return the attributes that the grid does not distinguish."""
    columns = {layout.everything[a].columns for a in grid.attributes}
    return tuple(
        a for a, attribute in enumerate(layout.attributes) if attribute.columns not in columns and layout.sizes[a] > 1
    )


@statistic
def group_counts(groups: Any, codes: Any, layout: Layout, n_classes: int) -> FloatArray:
    """Count the records of each class in each group of each attribute, shape (C, columns). Exact: private."""
    width = int(sum(layout.sizes))
    rows = codes * width
    counts = sum(np.bincount(rows + column, minlength=n_classes * width) for column in groups.T)
    return np.asarray(counts, dtype=float).reshape(n_classes, width)


# ---- counts ---------------------------------------------------------------------------------------------------------


def columns_of_attributes(layout: Layout, some: Sequence[int]) -> NDArray[np.intp]:
    """Return the columns of some attributes in the additive part."""
    columns = [np.arange(layout.sizes[a]) + layout.starts[a] for a in some]
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.intp)


@statistic
def of_columns(counts: FloatArray, columns: NDArray[np.intp]) -> FloatArray:
    """Return the counts of some columns of the additive part."""
    return counts[..., columns]


@statistic
def _contrasted(counts: FloatArray, parts: list[slice]) -> FloatArray:
    """Return the contrasts of the counts of each attribute, one after the other."""
    return np.concatenate([counts[..., part] @ contrasts(part.stop - part.start) for part in parts], axis=-1)


@statistic
def _with_sizes(counts: FloatArray, d: int) -> FloatArray:
    """Return counts of attributes, the first of d groups, and the class sizes and zeros."""
    sizes = counts[..., :d].sum(axis=-1, keepdims=True)
    return np.concatenate([counts, sizes, np.zeros_like(sizes)], axis=-1)


def release_others(
    counts: Any,
    sizes: Sequence[int],
    class_sizes: FloatArray | None,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> tuple[FloatArray, float]:
    """Release class counts (..., C, columns) of the groups of some attributes, and the noise's deviation over √2.

    `class_sizes` (..., C) were released before, because contrasts do not contain the number of records. None: they
    are released too, as the counts of an attribute of two groups in which all records are in the first one.

    Privacy: ε for `relation`. A record adds 1 to one group of each of A attributes, in one class. In that class the
    `contrasts` of the counts change by a one-hot record, which has the norm 1 (`OneHotNorm`), in the others by 0. Noise
    of the same rate in each class has a density in the sum of their norms. It is doubled under replace-one. Secure
    noise is the same, rounded (`SecureOneHot`).
    """
    factor = FACTOR[check_relation(relation)]
    noise: OneHotNorm | SecureOneHot
    if class_sizes is None:
        counts, sizes = _with_sizes(counts, sizes[0]), [*sizes, 2]
    starts = np.cumsum([0, *sizes])
    parts = [slice(first, first + d) for first, d in zip(starts, sizes, strict=False)]
    if secure:
        noise = SecureOneHot(epsilon, tuple(sizes), sensitivity=factor)
        released = noise.release(counts)
    else:
        noise = OneHotNorm(epsilon, tuple(sizes), sensitivity=factor)
        released = noise.release(_contrasted(counts, parts), rng=check_rng(rng))
    if class_sizes is None:
        sizes, parts = sizes[:-1], parts[:-1]
        D = noise.noise.dimension if isinstance(noise, SecureOneHot) else noise.dimension
        # the square of a uniform number in [-1, 1] times the gamma factor has this mean
        variance = (D + 1) * (D + 2) / 3 * noise.scale**2
        class_sizes = shrunken(math.sqrt(2) * released[..., -1], variance)
        class_sizes = np.maximum(class_sizes, LEAST_RATIO * np.maximum(class_sizes.mean(axis=-1, keepdims=True), 1.0))
    noisy = np.empty((*released.shape[:-1], sum(sizes)))
    row = 0
    for part, d in zip(parts, sizes, strict=True):
        noisy[..., part] = released[..., row : row + d - 1] @ contrasts(d).T + class_sizes[..., None] / d
        row += d - 1
    return noisy, noise.deviation / math.sqrt(2)


def scores_of_counts(
    noisy: FloatArray,
    scale: float,
    layout: Layout,
    others: Sequence[int],
    log_cells: FloatArray,
) -> Additive:
    """Return the model of released counts (C, columns) with noise of this scale, and log probabilities of the cells."""
    groups = np.zeros((len(noisy), int(sum(layout.sizes))))
    start = 0
    for a in others:
        size, first = layout.sizes[a], layout.starts[a]
        ordered = layout.attributes[a].feature.kind == "numeric"
        rates = shrunken_rates(noisy[:, start : start + size], scale, ordered)
        groups[:, first : first + size] = np.log(rates)
        start += size
    return Additive(log_cells, groups, False, TEMPER if len(layout.attributes) >= MANY_ATTRIBUTES else 1.0)


# ---- weights --------------------------------------------------------------------------------------------------------


@statistic
def _started_rows(groups: NDArray, offset: FloatArray | None, layout: Layout, length: float) -> CodedRows:
    scalars = np.full((len(groups), 1 if offset is None else 2), 1 / length)
    if offset is not None:
        np.divide(offset, length, out=scalars[:, 0])
    codes = [groups[:, a] - int(layout.starts[a]) for a in layout.divided]
    return CodedRows.merged(codes, [contrasts(layout.sizes[a]) / length for a in layout.divided], scalars)


@statistic
def _at_cells(values: FloatArray, cell: NDArray[np.intp]) -> FloatArray:
    """Return the value of each record's cell."""
    return values[cell]


def started_table(groups: Any, offset: Any, layout: Layout) -> tuple[Any, OneHotNorm, FloatArray]:
    """Return records in the unit ball, the norm that bounds them, and the matrix from weights to scores times √q.

    A record has the `contrasts` of its group in each attribute, the offset in [-1, 1] if there is one, and the
    constant 1. Its squared length is at most q = Σ(1 - 1/d) + 1, or + 2 with the offset. All are divided by √q, so that
    it is in the unit ball, and 1/√q its norm. The norm's ε is not used.
    """
    sizes = tuple(layout.sizes[a] for a in layout.divided)
    n_scalars = 1 if offset is None else 2
    q = sum(1 - 1 / d for d in sizes) + n_scalars
    groups_of = np.zeros((sum(sizes) - len(sizes), int(sum(layout.sizes))))
    row = 0
    for a in layout.divided:
        d, first = layout.sizes[a], layout.starts[a]
        groups_of[row : row + d - 1, first : first + d] = contrasts(d).T
        row += d - 1
    table = _started_rows(groups, offset, layout, math.sqrt(q))
    return table, OneHotNorm(1.0, sizes, n_scalars=n_scalars, sensitivity=1 / math.sqrt(q)), groups_of


def release_started(
    records: Records,
    groups: Any,
    cell: Any,
    probabilities: FloatArray,
    layout: Layout,
    epsilon: float,
    *,
    trust: float = 1.0,
    reg_factor: float = 1.0,
    delta: float = 0.0,
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[Additive]:
    """Release the weights of logistic regression that starts at a released grid, one model for each draw.

    The weights start at `trust` times the grid's log odds. For two classes `reg_factor` multiplies the public rule of
    the regulariser.

    Privacy: ε per draw for `relation`, by `dpml.classifiers.linear.release_objective`, or by `release_classes` for more
    than two classes, with `OneHotNorm` noise, in whose norm a record is bounded. The grid's log odds are a released
    function of each record by itself. With a `delta`, of two classes, (ε, δ) by Gaussian noise
    (`dpml.classifiers.linear.descent.release_approximate_minima`): a record is in the unit ball.
    """
    options: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng, "secure": secure}
    if records.n_classes > 2:
        logs = np.log(probabilities)
        starts = trust * np.asarray(logs - logs.mean(axis=0))
        return _release_classes(records, groups, cell, starts, layout, epsilon, options)
    offset = grid_margin(probabilities[1])
    table, norm, groups_of = started_table(groups, _at_cells(offset, cell), layout)
    length = norm.sensitivity
    centre = np.zeros(n_columns(table))
    centre[-2] = trust * MOST_MARGIN / length
    signs = class_signs(records.codes, 1)
    options |= {"centre": centre, "loss": LOSS}
    if delta:
        reg_lambda = max(reg_factor * REGULARISED * gaussian_sigma(epsilon, delta, FACTOR[relation]), LEAST_LAMBDA)
        del options["secure"]  # it has no secure sampler
        theta = release_approximate_minima(table, signs, epsilon, delta, reg_lambda, **options) * length
    else:
        reg_lambda = started_lambda(epsilon, norm, relation, reg_factor * REGULARISED)
        prior = Prior(norm.sizes, norm.n_scalars, ordered_attributes(layout), by_size=True)
        theta = release_objective(table, signs, epsilon, reg_lambda, norm=norm, prior=prior, **options) * length
    cells = theta[:, [-2]] * offset + theta[:, [-1]]
    weights, slope = theta[:, :-2] @ groups_of, slope_of(reg_lambda, layout, reg_factor, by_size=not delta)
    return [Additive(*part, True, slope) for part in zip(cells[:, None], weights[:, None], strict=True)]


def _release_classes(
    records: Records,
    groups: Any,
    cell: Any,
    starts: FloatArray,
    layout: Layout,
    epsilon: float,
    options: dict[str, Any],
) -> list[Additive]:
    """Release one model of more than two classes for each draw; `starts` are the scores of the cells, (C, cells)."""
    table, norm, groups_of = started_table(groups, None, layout)
    reg_lambda = started_lambda(epsilon, norm, options["relation"], REGULARISED_CLASSES)
    options |= {"n_classes": records.n_classes, "norm": norm, "ordered": ordered_attributes(layout)}
    at_cells = _at_cells(np.ascontiguousarray(starts.T), cell)
    theta = release_classes(table, records.codes, at_cells, epsilon, reg_lambda, **options) * norm.sensitivity
    cells, weights = starts + theta[:, :, [-1]], theta[:, :, :-1] @ groups_of
    # fewer classes start at a grid, from which the regulariser does not shrink the scores
    slope = slope_of_classes(reg_lambda, layout) if records.n_classes > MOST_CLASSES else 1.0
    return [Additive(*part, True, slope) for part in zip(cells, weights, strict=True)]


def ordered_attributes(layout: Layout) -> tuple[bool, ...]:
    """Return which attributes of the additive part have groups in an order: the numbers."""
    return tuple(layout.attributes[a].feature.kind == "numeric" for a in layout.divided)


def started_lambda(epsilon: float, norm: OneHotNorm, relation: str, deviations: float) -> float:
    """Return the regulariser: with no records the noise alone moves a score by about one over `deviations`."""
    noise = replace(norm, epsilon=epsilon, sensitivity=FACTOR[relation] * norm.sensitivity)
    return max(deviations * noise.deviation, LEAST_LAMBDA)


def slope_of(reg_lambda: float, layout: Layout, reg_factor: float, *, by_size: bool = True) -> float:
    """Return the factor that turns the log odds of regularised weights into probabilities. Post-processing.

    The loss' curvature along one weight is about H = n·x²·`CURVED`, where x² is the mean square of its column if an
    attribute's groups are equally frequent, and n the public number of records. In units of a prior `by_size`, x² is
    1/(`USUAL_SIZE`·q) for each weight. So λ shrinks the weight to about
    1/(1 + λ/H) of itself. A score with noise should be nearer to 0 than the one without, so half of that, as a factor,
    stays: the slope is √(1 + λ/H). It is the same for all records, and changes no prediction and no order.

    Where the weights have a share of ε that is 1/f of the one they tend to (f = `reg_factor`), their λ is f² times the
    one they tend to. That one shrinks the score only as far as weights, and not the grid, have a part in it, about 1/f.
    """
    sizes = [layout.sizes[a] for a in layout.divided]
    n_weights, q = sum(sizes) - len(sizes), sum(1 - 1 / d for d in sizes) + 2
    if not n_weights:
        return 1.0
    square = (1 / USUAL_SIZE if by_size else (q - 2) / n_weights) / q
    reg_lambda /= reg_factor**2
    slope = math.sqrt(1 + reg_lambda / (CURVED * square * (layout.schema.n_lower or 1)))
    return 1 + (slope - 1) / reg_factor


def slope_of_classes(reg_lambda: float, layout: Layout) -> float:
    """Return the factor that turns the log odds of regularised weights of C classes into probabilities.

    It is √(1 + λ/H), as in `slope_of`, where C equally probable classes have the curvature 1/C. Post-processing.
    """
    sizes = [layout.sizes[a] for a in layout.divided]
    n_weights, q = sum(sizes) - len(sizes), sum(1 - 1 / d for d in sizes) + 1
    if not n_weights:
        return 1.0
    square = (q - 1) / (n_weights * q)
    return math.sqrt(1 + reg_lambda * layout.schema.n_classes / (square * (layout.schema.n_lower or 1)))


def grid_margin(probability: FloatArray) -> FloatArray:
    """Return the margins that state the probabilities of a class in each cell, as a share of `MOST_MARGIN`."""
    return np.clip(LOSS.score(logit(probability)), -MOST_MARGIN, MOST_MARGIN) / MOST_MARGIN


@dataclass(frozen=True)
class TableModel:
    """A released model of a table. Its layout has the bins that were used."""

    layout: Layout
    grid: NoisyGrid
    additive: Additive
    histogram_bins: tuple[HeaviestBin | None, ...] = ()

    def heaviest_bins(self) -> list[HeaviestBin | None]:
        """Return the heaviest bin of each number in the released histograms and in the grid."""
        layout, grid = self.layout, self.grid
        attributes: list[tuple[Taxonomy, int, int] | None] = []
        for a in grid.attributes:
            # the bins of a twin are not the only ones of its number
            own = layout.attributes[a : a + 1]
            known = [(each.taxonomy, grid.levels[a], layout.levels[a]) for each in own]
            attributes.append(known[0] if known else None)
        counts = grid.counts.reshape(-1, *grid.shape)
        return [*self.histogram_bins, *heaviest_of_grid(counts, attributes, grid.scale)]

    def log_probabilities(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes for a checked table, shape (n, C)."""
        return self.log_probabilities_at(*self.located(X))

    def located(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cell of each record of a checked table, and its columns of the additive part."""
        places = self.layout.places(X)
        return cells_of(self.grid, places), self.layout.groups(places)

    def log_probabilities_at(self, cell: NDArray[np.intp], groups: NDArray[np.intp]) -> FloatArray:
        """Return log probabilities of the classes for located records, which models of one grid have in common."""
        scores, slope = self.additive.scores(cell, groups), self.additive.slope
        if not self.additive.margins:
            return row_log_softmax(slope * scores)
        if scores.shape[1] > 1:
            return row_log_softmax(slope * LOSS.log_odds(scores - scores.max(axis=1, keepdims=True)))
        scores = slope * LOSS.log_odds(scores)
        return np.column_stack([log_expit(-scores[:, 0]), log_expit(scores[:, 0])])


@statistic
def cells_of(grid: NoisyGrid, places: Any) -> NDArray[np.intp]:
    """Return the cell of each record."""
    cell = np.zeros(len(places[0]), dtype=np.intp)
    for a in grid.attributes:
        taxonomy, level = grid.taxonomies[a], grid.levels[a]
        cell = cell * taxonomy.sizes[level] + taxonomy.above(level)[places[a]]
    return cell


def release_bins(
    layout: Layout, X: Any, plan: Plan, epsilon: float, **noise: Any
) -> tuple[Layout, tuple[HeaviestBin | None, ...]]:
    """Return the layout with private bins of numbers, and their heaviest cells. Privacy: ε, by `release_histograms`."""
    counted = layout.counted(plan.least_numbers)
    exact = histograms(layout, X, counted, plan.n_cells)
    noisy, scale = release_histograms(exact, sum(map(len, counted)), epsilon, **noise)
    levels: dict[int, list[list[float]]] = {}
    heaviest = []
    for row, numbers in zip(noisy, counted, strict=True):
        bounds = layout.bounds(numbers[0])
        cuts = quantile_levels(row, scale, *bounds)
        shared = plan.least_numbers > 1
        if cuts and not (shared and public_bins_stay(layout, numbers[0], cuts[-1], row, scale)):
            levels |= dict.fromkeys(numbers, cuts)
        edges = cell_edges(*bounds, plan.n_cells)
        name = layout.attributes[numbers[0]].feature.name
        if len(numbers) > 1:
            name += f" and {len(numbers) - 1} more of its domain"
        heaviest.append(heaviest_bin(name, edges, row[: len(edges) - 1], 1, scale))
    return layout.with_levels(levels), tuple(heaviest)


def release_table(
    layout: Layout,
    X: Any,
    codes: Any,
    plan: Plan,
    epsilon: float,
    *,
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> list[TableModel]:
    """Release the model of a table, one for each draw, in the steps that the plan gives a share.

    Privacy: ε, and the plan's δ, for `relation` by composition of histograms, grid and additive part, if there is one
    draw. Each depends on the records and on released values only. Several draws, for simulations, share the bins and
    the grid and differ in the additive part.
    """
    noise: dict[str, Any] = {"relation": relation, "rng": rng, "secure": secure}
    layout = replace(layout, most_weights=plan.most_weights, large=plan.large)
    for_bins, for_grid, for_rest = plan.divided(epsilon)
    heaviest: tuple[HeaviestBin | None, ...] = ()
    if plan.n_cells:
        layout, heaviest = release_bins(layout, X, plan, for_bins, **noise)
    records = layout.records(X, codes)
    grid = no_grid(layout, records.n_classes)
    if plan.grid_share:
        grid = release_grid(records, for_grid, cell_records=plan.cell_records, **noise)
    added = _added(layout, grid, records, plan, for_rest, check_integer(draws, "draws", 1), noise)
    return [TableModel(layout, grid, additive, heaviest) for additive in added]


def no_grid(layout: Layout, n_classes: int) -> NoisyGrid:
    """Return a grid of one cell in which all classes are equally probable."""
    levels = (0,) * len(layout.taxonomies)
    return NoisyGrid(layout.taxonomies, levels, np.zeros((n_classes, 1)), math.inf)


def _added(
    layout: Layout, grid: NoisyGrid, records: Records, plan: Plan, epsilon: float, draws: int, noise: dict[str, Any]
) -> list[Additive]:
    probabilities = cell_probabilities(grid)
    groups = layout.groups(records.places)
    if plan.addition == "weights":
        options = {"draws": draws, "trust": plan.trust, "reg_factor": plan.reg_factor, "delta": plan.delta, **noise}
        cell = cells_of(grid, records.places)
        return release_started(records, groups, cell, probabilities, layout, epsilon, **options)
    others = other_attributes(layout, grid)
    if plan.addition == "none" or not others:
        return [Additive(np.log(probabilities), np.zeros((records.n_classes, int(sum(layout.sizes)))), False)] * draws
    exact = group_counts(groups, records.codes, layout, records.n_classes)
    exact = repeated(of_columns(exact, columns_of_attributes(layout, others)), draws)
    class_sizes = consistent(grid.counts, grid.total).sum(axis=1) if plan.grid_share else None
    noisy, scale = release_others(exact, [layout.sizes[a] for a in others], class_sizes, epsilon, **noise)
    models = []
    for counts in noisy:
        if not plan.grid_share:
            sizes = counts[:, : layout.sizes[others[0]]].sum(axis=1, keepdims=True)
            probabilities = sizes / sizes.sum()
        models.append(scores_of_counts(counts, scale, layout, others, np.log(probabilities)))
    return models
