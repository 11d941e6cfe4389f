"""Additive part of a model: the contribution of each attribute to the probabilities of the released grid.

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
from scipy.special import logit

from dpml._validate import check_relation, check_rng
from dpml.classifiers.automatic.layout import Layout
from dpml.classifiers.automatic.shrinkage import LEAST_RATIO, shrunken, shrunken_rates
from dpml.classifiers.grid import NoisyGrid, Records
from dpml.classifiers.linear import ClippedLogistic, release_classes, release_objective
from dpml.classifiers.linear._perturbation import class_signs
from dpml.classifiers.linear.descent import release_approximate_minima
from dpml.counts import FACTOR
from dpml.mechanisms.noise import gaussian_sigma
from dpml.mechanisms.norms import OneHotNorm, contrasts
from dpml.mechanisms.private import n_columns, statistic
from dpml.mechanisms.secure_one_hot import SecureOneHot

__all__ = ["Additive", "group_counts", "others_of", "release_others", "release_started", "scores_of_counts"]

FloatArray = NDArray[np.float64]
LOSS = ClippedLogistic()
# of two classes margins of the grid are cut to -4 and 4: a cell of few records cannot claim more
MOST_MARGIN = 4.0
# the regulariser of the weights, in standard deviations of the noise, of two classes and of more; never below the least
REGULARISED, REGULARISED_CLASSES, LEAST_LAMBDA = 1.0, 0.7, 0.01
# curvature of the loss at one record: half of the largest
CURVED = LOSS.curvature / 2


@dataclass(frozen=True)
class Additive:
    """Scores that add up: one for the cell of the grid, one for the group of each attribute.

    Attributes
    ----------
    cells : ndarray of float, shape (K, cells)
    groups : ndarray of float, shape (K, columns of the additive part)
    margins : bool
        True if a score (K = 1 for two classes), or its distance to a larger one, is a margin of `ClippedLogistic`, and
        not a log probability.
    slope : float
        Factor of the stated log odds (`slope_of`).
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


def others_of(layout: Layout, grid: NoisyGrid) -> tuple[int, ...]:
    """Return the attributes that the grid does not distinguish."""
    columns = {layout.everything[a].columns for a in grid.attributes}
    return tuple(
        a for a, attribute in enumerate(layout.attributes) if attribute.columns not in columns and layout.sizes[a] > 1
    )


@statistic
def group_counts(groups: Any, codes: Any, layout: Layout, n_classes: int) -> FloatArray:
    """Count the records of each class in each group of each attribute, shape (C, columns). Exact: private."""
    width = int(sum(layout.sizes))
    flat = (codes[:, None] * width + groups).ravel()
    return np.bincount(flat, minlength=n_classes * width).reshape(n_classes, width).astype(float)


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
    """Release the class counts of the groups of some attributes, and the deviation of the noise over √2.

    Privacy: ε for `relation`. A record adds 1 to one group of each of A attributes, in one class. In that class the
    `contrasts` of the counts change by a one-hot record, which has the norm 1 (`OneHotNorm`), in the others by 0. Noise
    of the same rate in each class has a density in the sum of their norms. It is doubled under replace-one. Secure
    noise is the same, rounded (`SecureOneHot`).

    Parameters
    ----------
    counts : ndarray of float, shape (..., C, columns), or Private
        Of the groups of the attributes, one after the other.
    sizes : sequence of int
        Number of groups of each attribute.
    class_sizes : ndarray of float, shape (C,), or None
        Released before: contrasts do not tell how many records there are. None: they are released too, as the counts of
        an attribute of two groups in which all records are in the first one.
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
    """Return the model of released counts of other attributes (C, columns), with noise of this scale. Post-processing.

    `log_cells`: log probabilities of the cells, (C, cells).
    """
    groups = np.zeros((len(noisy), int(sum(layout.sizes))))
    start = 0
    for a in others:
        size, first = layout.sizes[a], layout.starts[a]
        ordered = layout.attributes[a].feature.kind == "numeric"
        rates = shrunken_rates(noisy[:, start : start + size], scale, ordered)
        groups[:, first : first + size] = np.log(rates)
        start += size
    return Additive(log_cells, groups, False)


# ---- weights --------------------------------------------------------------------------------------------------------


@statistic
def _started_rows(groups: NDArray[np.intp], offset: FloatArray | None, layout: Layout, length: float) -> FloatArray:
    table = np.ones((len(groups), sum(layout.sizes[a] - 1 for a in layout.divided) + 1 + (offset is not None)))
    row = 0
    for a in layout.divided:
        d = layout.sizes[a]
        table[:, row : row + d - 1] = contrasts(d)[groups[:, a] - layout.starts[a]]
        row += d - 1
    if offset is not None:
        table[:, row] = offset
    table /= length
    return table


@statistic
def _at_cells(values: FloatArray, cell: NDArray[np.intp]) -> FloatArray:
    """Return the value of each record's cell."""
    return values[cell]


def started_table(groups: Any, offset: Any, layout: Layout) -> tuple[Any, OneHotNorm, FloatArray]:
    """Return records in the unit ball, the norm that bounds them, and the matrix that turns weights into scores.

    A record has the `contrasts` of its group in each attribute, the offset in [-1, 1] if there is one, and the
    constant 1. Its squared length is at most q = Σ(1 - 1/d) + 1, or + 2 with the offset. All are divided by √q, so that
    it is in the unit ball, and 1/√q its norm.

    Returns
    -------
    table : ndarray of shape (n, D), or Private where `groups` and `offset` are
    norm : OneHotNorm
        ε is not used.
    groups_of : ndarray of shape (D - 1 or D - 2, columns)
        Weights times this matrix are the scores of the groups, up to the factor 1/√q.
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

    Privacy: ε per draw for `relation`, by `dpml.classifiers.linear.release_objective`, or by `release_classes` for more
    than two classes, with `OneHotNorm` noise, in whose norm a record is bounded. The grid's log odds are a released
    function of each record by itself. With a `delta`, of two classes, (ε, δ) by Gaussian noise
    (`dpml.classifiers.linear.descent.release_approximate_minima`): a record is in the unit ball.

    Parameters
    ----------
    records : Records
        Their classes are used.
    groups, cell
        The columns of each record's ones (n, A), and its cell in the grid, private where the records are.
    probabilities : ndarray of float, shape (C, cells)
        Of the released grid.
    layout : Layout
        Of the groups.
    trust : float
        The weights start at this times the grid's log odds.
    reg_factor : float
        Of two classes the public rule for the regulariser is multiplied with this.
    """
    options: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng, "secure": secure}
    if records.n_classes > 2:
        return _release_classes(records, groups, cell, trust * log_shares(probabilities), layout, epsilon, options)
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
        theta = release_objective(table, signs, epsilon, reg_lambda, norm=norm, **options) * length
    cells = theta[:, [-2]] * offset + theta[:, [-1]]
    weights, slope = theta[:, :-2] @ groups_of, slope_of(reg_lambda, layout, reg_factor)
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
    ordered = tuple(layout.attributes[a].feature.kind == "numeric" for a in layout.divided)
    options |= {"n_classes": records.n_classes, "norm": norm, "ordered": ordered}
    at_cells = _at_cells(np.ascontiguousarray(starts.T), cell)
    theta = release_classes(table, records.codes, at_cells, epsilon, reg_lambda, **options) * norm.sensitivity
    cells, weights = starts + theta[:, :, [-1]], theta[:, :, :-1] @ groups_of
    return [Additive(*part, True) for part in zip(cells, weights, strict=True)]


def started_lambda(epsilon: float, norm: OneHotNorm, relation: str, deviations: float) -> float:
    """Return the public rule for the regulariser: a number of deviations of the noise, over the records' length.

    So without records the noise alone moves a score by about 1 over this number.
    """
    noise = replace(norm, epsilon=epsilon, sensitivity=FACTOR[relation] * norm.sensitivity)
    return max(deviations * noise.deviation, LEAST_LAMBDA)


def slope_of(reg_lambda: float, layout: Layout, reg_factor: float) -> float:
    """Return the factor that turns the log odds of regularised weights into probabilities. Post-processing.

    The loss' curvature along one weight is about H = n·x²·`CURVED`, where x² is the mean square of its column if an
    attribute's groups are equally frequent, and n the public number of records. So λ shrinks the weight to about
    1/(1 + λ/H) of itself. A score with noise should be nearer to 0 than the one without, so half of that, as a factor,
    stays: the slope is √(1 + λ/H). It is the same for all records, and changes no prediction and no order.

    Where the weights have a share of ε that is 1/f of the one they tend to (f = `reg_factor`), their λ is f² times the
    one they tend to. That one shrinks the score only as far as weights, and not the grid, have a part in it, about 1/f.
    """
    sizes = [layout.sizes[a] for a in layout.divided]
    n_weights, q = sum(sizes) - len(sizes), sum(1 - 1 / d for d in sizes) + 2
    if not n_weights:
        return 1.0
    square = (q - 2) / (n_weights * q)
    reg_lambda /= reg_factor**2
    slope = math.sqrt(1 + reg_lambda / (CURVED * square * (layout.schema.n_lower or 1)))
    return 1 + (slope - 1) / reg_factor


def grid_margin(probability: FloatArray) -> FloatArray:
    """Return the margins that state the probabilities of a class in each cell, as a share of `MOST_MARGIN`."""
    return np.clip(LOSS.score(logit(probability)), -MOST_MARGIN, MOST_MARGIN) / MOST_MARGIN


def log_shares(probabilities: FloatArray) -> FloatArray:
    """Return log probabilities of the classes in each cell, less their mean."""
    logs = np.log(probabilities)
    return np.asarray(logs - logs.mean(axis=0))
