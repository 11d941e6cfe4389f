"""The release of a grid: a noisy number of records, a private selection among grids, and the grid's noisy class counts.

This is Algorithm 2 of Su et al. (2018) up to its histogram. The steps after it (counts that fit together, a table, a
classifier) use the released values only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_integer
from dpml.classifiers.grid.candidates import Pool, candidate_grids
from dpml.classifiers.grid.counts import Records, children_counts, grid_counts
from dpml.classifiers.grid.fitting import OverTaxonomies, divided
from dpml.classifiers.grid.quality import CALIBRATIONS, GridQuality, quality_range
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import number_of, repeated, statistic
from dpml.mechanisms.source import Source
from dpml.schema import Taxonomy

# shares of ε for the number of records, the choice of the grid and its counts (Su et al. 2018, Algorithm 2)
SHARES = (0.03, 0.37, 0.60)
# a cell holds at least this many times the noise's mean size on average: 1 over their 20 %
SIGNAL = 5
# no grid has more cells, however many records the noisy number promises
MOST_CELLS = 1 << 17
LABELS = ("PrivPfC, number of records", "PrivPfC, choice of the grid", "PrivPfC, counts")


@dataclass(frozen=True)
class NoisyGrid:
    """A released grid: its levels, its noisy class counts and the noisy number of records.

    Attributes
    ----------
    taxonomies : tuple of Taxonomy
        One for each attribute.
    levels : tuple of int
        The level of each attribute, 0 for all values together.
    counts : ndarray of float, shape (C, cells)
        Noisy class counts. Cells are in C order over the attributes whose level is not 0.
    scale : float
        Scale of the Laplace noise on each count.
    n : float
        Noisy number of records.
    n_scale : float
        Scale of its noise, infinity where no number was released by itself.
    n_candidates : int
        Number of candidate grids.
    """

    taxonomies: tuple[Taxonomy, ...]
    levels: tuple[int, ...]
    counts: FloatArray
    scale: float
    n: float = 0.0
    n_scale: float = math.inf
    n_candidates: int = 1

    @property
    def attributes(self) -> tuple[int, ...]:
        """Attributes that the grid distinguishes."""
        return tuple(j for j, level in enumerate(self.levels) if level)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of groups of each of these attributes."""
        return tuple(self.taxonomies[j].sizes[self.levels[j]] for j in self.attributes)

    @property
    def total(self) -> float:
        """The number of records: the mean of the two noisy ones, weighted by their precision, and at least 0."""
        own, from_cells = self.n_scale**-2, self.scale**-2 / self.counts.size
        return max((own * self.n + from_cells * float(self.counts.sum())) / (own + from_cells), 0.0)


def grid_qualities(pool: Pool, records: Records, epsilon: float) -> Any:
    """Return the quality of every candidate grid, which is private. ε is that of the noisy counts."""
    return _qualities(pool, records.exact, epsilon)


@statistic
def _qualities(pool: Pool, records: Records, epsilon: float) -> FloatArray:
    quality = GridQuality(epsilon, len(records.codes))
    qualities = np.empty(len(pool))
    qualities[0] = quality.of_grid(grid_counts(records, [0] * len(pool.taxonomies)))
    for children in children_counts(pool, records, signed=records.n_classes == 2):
        places = slice(children.first, children.first + len(children.starts))
        qualities[places] = quality.of_grids(children.counts, children.starts)
    return qualities


def release_grid(
    records: Records,
    epsilon: float,
    *,
    max_grids: int = 10_000,
    shares: Sequence[float] = SHARES,
    relation: str = "add-remove",
    calibration: str = "range",
    rng: np.random.Generator | None = None,
    secure: bool = False,
    exact_choice: bool = False,
    cell_records: float = 0.0,
) -> NoisyGrid:
    """Release a grid and its noisy class counts (Su et al. 2018, Algorithm 2).

    It releases a noisy number of records, one grid of at most `max_grids` (Θ) candidates, and the noisy class counts of
    its cells. `exact_choice` selects the best grid without noise, which is not private and only for simulations. By the
    noisy number a cell has at least `cell_records` on average.

    Privacy: ε by composition of three releases, with ε divided by `shares`. (1) The number of records changes by at
    most 1 under both relations, because a replaced record may have a label that is no class. (2) The candidates depend
    on (1) only. The quality changes by amounts in an interval of length `quality_range`, and the exponential mechanism
    is calibrated to it. (3) A record is in one cell and class: L1 sensitivity 1, or 2 under replace-one.

    The draws are made one at a time, because the candidates of a draw depend on its noisy number of records. A secure
    release uses integer noise and permute-and-flip on qualities in multiples of 2^-10.
    """
    check_choice(calibration, "calibration", CALIBRATIONS)
    source = Source(rng, secure, exact_choice)
    for_size, for_choice, for_counts = divided(epsilon, shares)
    n = noisy_size(records, for_size, source)
    max_cells = min(n * for_counts / SIGNAL, float(MOST_CELLS), n / cell_records if cell_records else math.inf)
    pool = candidate_grids(records.taxonomies, check_integer(max_grids, "max_grids", 1), max_cells)
    width = quality_range(for_counts, relation, calibration)
    qualities = grid_qualities(pool, records, for_counts)
    chosen = source.choice(qualities, for_choice, width)
    numbers = {"n": n, "n_scale": 1 / for_size, "n_candidates": len(pool)}
    return noisy_grid(records, pool.levels(chosen), for_counts, relation, source, **numbers)


def noisy_size(records: Records | CheckedTable, epsilon: float, source: Source) -> float:
    """Release the number of records.

    It changes by at most 1 under both relations, because a replaced record may have a label that is no class.
    """
    return float(source.counts(repeated(number_of(records.codes), 1), epsilon, 1)[0])


def noisy_grid(
    records: Records, levels: Sequence[int], epsilon: float, relation: str, source: Source, **numbers: Any
) -> NoisyGrid:
    """Release the class counts of the cells of one grid, which is public or was released before.

    A record is in one cell and class: L1 sensitivity 1, or 2 under replace-one.
    """
    sensitivity = FACTOR[relation]
    counts = source.counts(grid_counts(records, levels), epsilon, sensitivity)
    return NoisyGrid(records.taxonomies, tuple(levels), counts, sensitivity / epsilon, **numbers)


def consistent(counts: FloatArray, total: float) -> FloatArray:
    """Return the counts nearest to noisy ones (least squares) that are at least 0 and add up to a total.

    All counts are lowered or raised by the same amount, and those below 0 become 0. Negative counts set to 0 alone
    would add records to every empty cell.
    """
    flat = np.sort(counts.ravel())[::-1]
    above = np.cumsum(flat) - total
    places = np.arange(1, len(flat) + 1)
    kept = int(np.flatnonzero(flat * places > above).max(initial=0))
    lowered = np.maximum(counts - above[kept] / (kept + 1), 0.0)
    return lowered if total > 0 and np.isfinite(lowered).all() else np.zeros_like(counts)


# ---- what PrivPfC's classifier and publisher share -------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class GridEstimator(OverTaxonomies):
    """Base of the estimators that release PrivPfC's grid.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. `shares` divides it among three releases.
    max_grids : int, default 10000
        Largest number Θ of candidate grids. More candidates make a better grid possible, but take more time and make
        the private selection less certain.
    calibration : {"range", "lemma", "published"}, default "range"
        Calibration of the private selection: by the range of the score, by Lemma 1, or by the paper's 1.1. All three
        are private, and "range" adds the least noise.
    shares : (float, float, float), default (0.03, 0.37, 0.6)
        Shares of ε for the number of records, the private selection and the counts. They add up to 1.
    """

    max_grids: int = 10_000
    calibration: str = "range"
    shares: tuple[float, float, float] = SHARES
    _labels = LABELS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        check_integer(self.max_grids, "max_grids", 1)

    def _release(self, records: Any, table: CheckedTable) -> NoisyGrid:
        options: dict[str, Any] = {"max_grids": self.max_grids, "shares": self.shares, "relation": table.relation}
        return release_grid(records, self.epsilon, calibration=self.calibration, **options, **table.noise)
