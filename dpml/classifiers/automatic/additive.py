"""The additive part of a model: what each attribute adds to the probabilities of the released grid.

The grid says the probabilities p of the classes for the cell of a record. Two ways add the other attributes:

- *Counts.* The noisy class counts of the groups of all attributes that are not in the grid. Their log likelihood ratios
  are added to log p with a weight below 1, because attributes repeat what others say.
- *Weights.* Logistic regression on all attributes by objective perturbation, started at the grid: logit p is a column
  of its own, and the regulariser pulls the weights to the model that has this column alone. Noise so large that it
  hides the attributes leaves the grid's answer.

Both are scores: log probabilities for the first, log odds of each class for the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from dpml._validate import check_relation
from dpml.budget.shares import equal_share
from dpml.classifiers.automatic.layout import Layout
from dpml.classifiers.grid import NoisyGrid, Records
from dpml.classifiers.linear import default_reg_lambda, release_objective
from dpml.counts import FACTOR, perturbed
from dpml.mechanisms import Laplace

__all__ = ["Additive", "group_counts", "others_of", "release_others", "release_started", "scores_of_counts"]

FloatArray = NDArray[np.float64]
# what all attributes outside the grid count for together, in attributes: w = 0.25·min(1, 8/A)
WEIGHT, MOST_ATTRIBUTES = 0.25, 8.0
# ones at the pooled rate for each group, in scales of the noise
SHRINKAGE = 0.5
# log odds of the grid are cut to -4 and 4: a cell of few records cannot claim more
MOST_LOGIT = 4.0


@dataclass(frozen=True)
class Additive:
    """Scores that add up: one for the cell of the grid, one for the group of each attribute.

    Attributes
    ----------
    cells : ndarray of float, shape (K, cells)
    groups : ndarray of float, shape (K, columns of the additive part)
    log_odds : bool
        Whether a score is the log odds of a class (K = 1 for two classes), and not its log probability.
    """

    cells: FloatArray
    groups: FloatArray
    log_odds: bool

    def scores(self, cell: NDArray[np.intp], groups: NDArray[np.intp]) -> FloatArray:
        """Return the scores of records, shape (n, K)."""
        found = self.cells.T[cell]
        table = np.ascontiguousarray(self.groups.T)
        for column in groups.T:
            found += table[column]
        return found


def others_of(layout: Layout, grid: NoisyGrid) -> tuple[int, ...]:
    """Return the attributes that the grid does not tell apart."""
    told = {layout.everything[a].columns for a in grid.attributes}
    return tuple(
        a for a, attribute in enumerate(layout.attributes) if attribute.columns not in told and layout.sizes[a] > 1
    )


def group_counts(groups: NDArray[np.intp], codes: NDArray[np.intp], layout: Layout, n_classes: int) -> FloatArray:
    """Count the records of each class in each group of each attribute, shape (C, columns). Exact: private."""
    width = int(sum(layout.sizes))
    flat = (codes[:, None] * width + groups).ravel()
    return np.bincount(flat, minlength=n_classes * width).reshape(n_classes, width).astype(float)


# ---- counts ---------------------------------------------------------------------------------------------------------


def columns_of_attributes(layout: Layout, some: Sequence[int]) -> NDArray[np.intp]:
    """Return the columns of some attributes in the additive part."""
    found = [np.arange(layout.sizes[a]) + layout.starts[a] for a in some]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def release_others(
    counts: FloatArray,
    n_attributes: int,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> tuple[FloatArray, float]:
    """Release the class counts of the groups of some attributes, and the scale of the noise.

    Privacy: ε for `relation`. A record adds 1 to one group of each of A attributes, in one class: L1 sensitivity A, or
    2A under replace-one.
    """
    noise = Laplace(epsilon, FACTOR[check_relation(relation)] * n_attributes)
    return perturbed(counts, noise, rng, secure), noise.scale


def scores_of_counts(
    noisy: FloatArray, scale: float, layout: Layout, others: Sequence[int], shares: FloatArray, log_cells: FloatArray
) -> Additive:
    """Return the model of released counts. Post-processing.

    Parameters
    ----------
    noisy : ndarray of float, shape (C, columns of the other attributes)
    scale : float
        Of the noise on each count.
    layout, others
        The attributes, and those whose counts were released.
    shares : ndarray of float, shape (C,)
        Released shares of the classes. A class gets its share of the ones that shrink the counts to uniform ones.
    log_cells : ndarray of float, shape (C, cells)
        Log probabilities of the cells.
    """
    weight = WEIGHT * min(1.0, MOST_ATTRIBUTES / max(len(others), 1))
    groups = np.zeros((len(noisy), int(sum(layout.sizes))))
    start = 0
    for a in others:
        size = layout.sizes[a]
        mine = np.maximum(noisy[:, start : start + size], 0.0) + 1.0 + SHRINKAGE * scale * len(noisy) * shares[:, None]
        first = layout.starts[a]
        groups[:, first : first + size] = weight * np.log(mine / mine.sum(axis=1, keepdims=True))
        start += size
    return Additive(log_cells, groups, False)


# ---- weights --------------------------------------------------------------------------------------------------------


def started_table(groups: NDArray[np.intp], offset: FloatArray, width: int) -> sparse.csr_array:
    """Return records of L1 norm at most 1: a one for each of A attributes, the offset in [-1, 1], the constant.

    All are divided by A + 2, so the squared length is at most 1/(A + 2).
    """
    n, A = groups.shape
    values = np.ones((n, A + 2))
    values[:, A] = offset
    columns = np.empty((n, A + 2), dtype=np.intp)
    columns[:, :A] = groups
    columns[:, A] = width
    columns[:, A + 1] = width + 1
    indptr = np.arange(n + 1) * (A + 2)
    return sparse.csr_array((values.ravel() / (A + 2), columns.ravel(), indptr), (n, width + 2))


def release_started(
    records: Records,
    groups: NDArray[np.intp],
    cell: NDArray[np.intp],
    probabilities: FloatArray,
    width: int,
    epsilon: float,
    *,
    relation: str = "add-remove",
    draws: int = 1,
    rng: np.random.Generator,
) -> list[Additive]:
    """Release the weights of logistic regression that starts at a released grid, one model for each draw.

    Privacy: ε per draw for `relation`, by `dpml.classifiers.linear.release_objective` with Laplace noise: a record has
    L1 norm at most 1. With C > 2 classes each of C classifiers gets ε/C. The column of the grid's log odds is a
    released function of each record by itself.

    Parameters
    ----------
    records : Records
        Their classes are used.
    groups, cell
        The columns of each record's ones (n, A), and its cell in the grid.
    probabilities : ndarray of float, shape (C, cells)
        Of the released grid.
    width : int
        Number of columns of the additive part.
    """
    C, A = records.n_classes, groups.shape[1]
    S = A + 2
    classes = [1] if C == 2 else list(range(C))
    own = equal_share(epsilon, len(classes))
    facts: dict[str, Any] = {"method": "objective", "norm": "l1", "n_nonzero": S, "relation": relation}
    reg_lambda = default_reg_lambda(own, width + 2, **facts)
    centre = np.zeros(width + 2)
    centre[width] = MOST_LOGIT * S
    cells = np.empty((draws, len(classes), probabilities.shape[1]))
    weights = np.empty((draws, len(classes), width))
    for k, c in enumerate(classes):
        offset = grid_logit(probabilities[c])
        table = started_table(groups, offset[cell], width)
        signs = np.where(records.codes == c, 1.0, -1.0)
        options: dict[str, Any] = {"relation": relation, "norm": "l1", "squared_norm": 1 / S, "centre": centre}
        theta = release_objective(table, signs, own, reg_lambda, **options, draws=draws, rng=rng) / S
        cells[:, k] = theta[:, [width]] * offset + theta[:, [width + 1]]
        weights[:, k] = theta[:, :width]
    return [Additive(*part, True) for part in zip(cells, weights, strict=True)]


def grid_logit(probability: FloatArray) -> FloatArray:
    """Return the log odds of a class in each cell as a share of `MOST_LOGIT`, in [-1, 1]."""
    least = 1 / (1 + math.exp(MOST_LOGIT))
    return logit(np.clip(probability, least, 1 - least)) / MOST_LOGIT
