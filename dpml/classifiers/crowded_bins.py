"""Detection of numeric columns of which nearly all records lie in one bin, from released counts alone.

A model that bins numbers cannot distinguish values inside a bin. Bounds that are far too wide leave all records in one,
and the model then predicts the majority class at every ε. Everything here is post-processing of noisy counts, so it
spends no ε. Before a release, public metadata cannot show where the records lie.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import BoolArray, FloatArray
from dpml.estimators.base import warn
from dpml.exceptions import CrowdedBins, shown
from dpml.mechanisms import boundary
from dpml.schema import Taxonomy

# A column is named if its noisy share in one bin is at least `NEARLY`, and the noise leaves no doubt of `LEAST`: a fit
# names any column with a smaller share with probability at most `ALARM`
NEARLY, LEAST, ALARM = 0.97, 0.85, 0.01
# columns in one message
LISTED = 8


@dataclass(frozen=True)
class HeaviestBin:
    """The bin of a column with the largest released count.

    `count` and `total`, of the bin and of all records, are sums of `n_terms` and `n_total` numbers with independent
    Laplace noise of a `scale`, or integer Laplace noise. Those of `count` are among those of `total`. `n_bins`: the
    bins among which it is the largest.
    """

    name: str
    lower: float
    upper: float
    count: float
    n_terms: int
    total: float
    n_total: int
    scale: float
    n_bins: int

    def is_crowded(self, alarm: float) -> bool:
        """Return whether it holds nearly all records, with a probability of a false alarm of at most `alarm`."""
        if self.total <= 0 or self.count < NEARLY * self.total:
            return False
        weights, terms = (1 - LEAST, LEAST), (self.n_terms, self.n_total - self.n_terms)
        return self.count - LEAST * self.total > noise_bound(alarm, weights, terms, self.scale)


def noise_bound(alarm: float, weights: Sequence[float], terms: Sequence[int], scale: float) -> float:
    """Return a number that a weighted sum of noise exceeds with probability at most `alarm`.

    Let S = Σ w·L over independent Laplace variables L of scale b, `terms` of them with each of the `weights`. For
    0 < λ < 1/(b·max w), E exp(λS) = Π 1/(1 - (λwb)²), so P(S > t) <= exp(-λt)·E exp(λS) (Chernoff). The bound is the
    least t for which some λ of a grid makes this `alarm`. Integer Laplace noise of the same scale has
    E exp(uL) = 1/(1 - (cosh u - 1)/(cosh(1/b) - 1)). As (cosh u - 1)/u² grows with u, it is at most 1/(1 - (ub)²).
    """
    unit = np.asarray(weights) / max(weights)
    rate = np.linspace(0, 1, 200, endpoint=False)[1:]  # λ·b·max w
    log_mean = -(np.asarray(terms)[:, None] * np.log1p(-((unit[:, None] * rate) ** 2))).sum(axis=0)
    return float(((log_mean - math.log(alarm)) / rate).min()) * max(weights) * scale


def heaviest_bin(
    name: str, edges: Sequence[float], counts: FloatArray, n_terms: int, scale: float, whole: BoolArray | None = None
) -> HeaviestBin | None:
    """Return the heaviest of disjoint bins between edges, each count of `n_terms` noisy numbers.

    `whole`: the bins that count, by default all. A model divides the others further, by other released values.
    """
    candidates = np.arange(len(counts)) if whole is None else np.flatnonzero(whole)
    if not len(candidates):
        return None
    j = int(candidates[counts[candidates].argmax()])
    every = float(counts.sum()), n_terms * len(counts)
    return HeaviestBin(name, edges[j], edges[j + 1], float(counts[j]), n_terms, *every, scale, len(candidates))


def level_edges(taxonomy: Taxonomy, level: int) -> list[float]:
    """Return the edges of the groups of a number at one level, its bounds included."""
    return [taxonomy.values[first] for first in taxonomy.firsts[level]] + [taxonomy.values[-1]]


def heaviest_of_grid(
    counts: NDArray, attributes: Sequence[tuple[Taxonomy, int, int] | None], scale: float
) -> list[HeaviestBin | None]:
    """Return the heaviest bin of each number in a grid, from noisy class counts with an axis for each attribute.

    `attributes`: the taxonomy of each axis, its level in the grid, and a finer one that the model uses or could have
    used, or None for an axis that is left out. A bin that is divided at the finer level counts only if the grid has
    nearly all records in one cell: the private selection then found no grid that separates them.
    """
    cells = counts.sum(axis=0)
    together = bool(cells.max() >= NEARLY * cells.sum())
    found = []
    for axis, known in enumerate(attributes):
        if known is None or not known[0].numeric:
            continue
        taxonomy, level, finer = known
        sizes = cells.sum(axis=tuple(k for k in range(cells.ndim) if k != axis))
        whole = None
        if finer > level and not together:
            whole = np.diff(taxonomy.runs(finer, level), append=taxonomy.sizes[finer]) == 1
        edges = level_edges(taxonomy, level)
        found.append(heaviest_bin(taxonomy.name, edges, sizes, counts.size // len(sizes), scale, whole))
    return found


def heaviest_of_marginals(
    taxonomies: Sequence[Taxonomy], marginals: Iterable[tuple[tuple[int, ...], FloatArray, float]]
) -> list[HeaviestBin | None]:
    """Return the heaviest bin of each number by the marginal that counts its groups with the least noise.

    A marginal has its attributes, noisy counts with an axis for each, and the standard deviation σ of their noise, of
    Laplace or Gaussian noise. Laplace noise of the same deviation has the scale b = σ/√2, and the bound of its tails
    covers both, because E exp(uG) <= exp(u²σ²/2) = exp((ub)²) <= 1/(1 - (ub)²).
    """
    found, marginals = [], list(marginals)
    for j, taxonomy in enumerate(taxonomies):
        own = [
            (counts.size // counts.shape[(axis := attributes.index(j))], deviation, axis, counts)
            for attributes, counts, deviation in marginals
            if taxonomy.numeric and j in attributes
        ]
        if own:
            n_terms, deviation, axis, counts = min(own, key=lambda each: each[0] * each[1] ** 2)
            sizes = counts.sum(axis=tuple(k for k in range(counts.ndim) if k != axis))
            edges = level_edges(taxonomy, taxonomy.n_levels - 1)
            found.append(heaviest_bin(taxonomy.name, edges, sizes, n_terms, deviation / math.sqrt(2)))
    return found


# the groups that a path to a leaf leaves of each attribute that it splits, and the leaf's noisy class counts
Leaf = tuple[dict[int, BoolArray], FloatArray]


def heaviest_of_leaves(
    taxonomies: Sequence[Taxonomy], trees: Sequence[Sequence[Leaf]], scale: float
) -> list[HeaviestBin]:
    """Return for each number the run of groups that most records below a split of it share, in all trees together.

    Leaves above which nothing splits the number say nothing about it. If a leaf of each tree has nearly all records,
    the trees separate nothing, and the run is the widest that nearly all leaves have in common. Otherwise it is one
    group, and only leaves that the splits leave nothing but this group count: the cut points, and not unlucky splits,
    are then the cause. There are m(m + 1)/2 runs of m groups, and m groups in the second case.
    """
    largest = [max(float(counts.sum()) for _, counts in leaves) for leaves in trees]
    together = sum(largest) >= NEARLY * sum(float(counts.sum()) for leaves in trees for _, counts in leaves)
    found = []
    for j, taxonomy in enumerate(taxonomies):
        m = taxonomy.sizes[-1]
        below = [(region[j][:m], counts) for leaves in trees for region, counts in leaves if j in region]
        if not taxonomy.numeric or not below:
            continue
        inside = np.stack([groups for groups, _ in below])
        sizes = np.array([counts.sum() for _, counts in below])
        total = float(sizes.sum())
        if not together:
            inside &= inside.sum(axis=1, keepdims=True) == 1
        first = int((sizes @ inside).argmax())
        last, common = first + 1, inside[:, first]
        for step in (*range(first - 1, -1, -1), *range(last, m)):
            if step in (first - 1, last) and sizes[wider := common & inside[:, step]].sum() >= NEARLY * total:
                first, last, common = min(first, step), max(last, step + 1), wider
        edges, C = level_edges(taxonomy, taxonomy.n_levels - 1), len(below[0][1])
        held = edges[first], edges[last], float(sizes[common].sum()), C * int(common.sum())
        found.append(HeaviestBin(taxonomy.name, *held, total, C * len(below), scale, m * (m + 3) // 2))
    return found


def warn_of_grid(grid: Any) -> None:
    """Warn of the numbers of a `dpml.classifiers.grid.NoisyGrid` of which a bin is crowded."""
    levels = [(t := grid.taxonomies[j], grid.levels[j], t.n_levels - 1) for j in grid.attributes]
    warn_of_crowded(heaviest_of_grid(grid.counts.reshape(-1, *grid.shape), levels, grid.scale))


def warn_of_crowded(bins: Iterable[HeaviestBin | None]) -> None:
    """Warn of all columns of which a bin is crowded. A fit whose values are not released warns of nothing."""
    known = [each for each in bins if each is not None]
    if boundary.is_hidden():
        return
    alarm = ALARM / max(sum(each.n_bins for each in known), 1)
    crowded = {each.name: each for each in known if each.is_crowded(alarm)}
    if not crowded:
        return
    listed = [f"{shown(each.name)} (around [{each.lower:.6g}, {each.upper:.6g}))" for each in crowded.values()]
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    warn(
        f"by released counts, one bin has nearly all records of {', '.join(listed[:LISTED])}{more}. The model hardly "
        "distinguishes values inside it. Unless the column is nearly constant, state closer bounds or "
        "Feature(cuts=...), or release bounds by dpml.mechanisms.private_facts",
        CrowdedBins,
    )
