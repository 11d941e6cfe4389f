"""The release of a grid: a noisy number of records, a private selection among grids, and the grid's noisy class counts.

This is Algorithm 2 of Su et al. (2018) up to its histogram. The steps after it (counts that fit together, a table, a
classifier) use the released values only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget import Cost
from dpml.budget.shares import divide_epsilon
from dpml.classifiers._base import ProbabilisticClassifier
from dpml.classifiers.grid.counts import Pool, Records, candidate_grids, children_counts, grid_counts, places_of
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable, PrivateEstimator
from dpml.exceptions import InvalidParameter, InvalidTaxonomy
from dpml.mechanisms.private import number_of, repeated, statistic
from dpml.mechanisms.source import Source
from dpml.schema import Schema, Taxonomy

CALIBRATIONS = ("range", "lemma", "published")
# the limit of m for small ε, rounded up
MOST_EXCESS = (1 + math.sqrt(3)) * math.exp(-1 - math.sqrt(3)) / 2 + 1e-12
# below this ε the limit is as good, and differences of g would lose digits
SMALL = 1e-4


def _g(x: Any, epsilon: float) -> Any:
    """Return g(x) = x·t(x), what a cell with a lead of x loses to noise."""
    y = np.minimum(epsilon * np.asarray(x, dtype=float), 800.0)  # e^-800 is 0
    return np.asarray(x, dtype=float) * (np.exp(-y) / 2 * (1 + y / 2))


def quality_excess(epsilon: float) -> float:
    """Return m, the largest distance of a change of the quality by one record from the interval [0, 1]."""
    epsilon = check_epsilon(epsilon)
    if epsilon < SMALL:
        return MOST_EXCESS
    x = math.floor((1 + math.sqrt(3)) / epsilon) + np.arange(3.0)
    x = x[x >= 1]
    # a little more than the rounding error of the differences
    return min(float((_g(x - 1, epsilon) - _g(x, epsilon)).max(initial=0.0)) + 1e-11, MOST_EXCESS)


def quality_sensitivity(epsilon: float) -> float:
    """Return the two-sided sensitivity of the quality under add/remove (Su et al. 2018, Lemma 1)."""
    return 1 + quality_excess(epsilon)


def quality_range(epsilon: float, relation: str = "add-remove", calibration: str = "range") -> float:
    """Return the range R for which the exponential mechanism over grids has weights exp(ε_sel·q/R).

    `epsilon` is that of the noisy counts, a parameter of the quality. "range" is the range of the score, derived in
    `GridQuality`, "lemma" twice the sensitivity of Lemma 1, and "published" twice 1.1. The last two are larger than
    necessary.
    """
    factor = FACTOR[check_relation(relation)]
    excess = quality_excess(epsilon)
    ranges = {"range": 1 + 2 * excess, "lemma": 2 * (1 + excess), "published": 2.2}
    return factor * ranges[check_choice(calibration, "calibration", CALIBRATIONS)]


@dataclass(frozen=True)
class GridQuality:
    """Quality of grids of n records (Su et al. 2018, eq. 1 and 5), and its change by one record.

    A cell with class counts a >= b predicts the class whose noisy count is larger. With Laplace noise of scale 1/ε
    on both counts, the smaller class wins with probability t(d) = e^(-εd)/2·(1 + εd/2), d = a - b (their eq. 8). The
    expected number of records that the cell classifies correctly is

        a·(1 - t(d)) + b·t(d) = a - g(d),    g(d) = d·t(d).

    This is eq. 1 for two classes. With more classes eq. 5 takes the two largest counts of the cell, so the formula is
    the same. A grid's quality is the sum over its cells.

    How one record changes it. A record is in one cell of each grid. Let δ(x) = g(x) - g(x-1), x = 1, 2, ...

    - It joins the largest class: a and d grow by one, the quality by 1 - δ(d+1).
    - It joins the runner-up, and d >= 1: d falls by one, the quality grows by g(d) - g(d-1) = δ(d).
    - It joins a smaller class. If that stays behind the runner-up, nothing changes. If it was level with the runner-up,
      it takes its place: the case above, or the first case where all three are level.

    So adding a record changes the quality by 0, by δ(x) or by 1 - δ(x). From g'(y) = e^(-εy)·(2 - ε²y²)/4 and the mean
    value theorem δ is at most 1/2, and it goes to 0. With m = max(0, -min δ) all changes lie in [-m, 1+m], so the
    two-sided sensitivity is 1 + m (Lemma 1) and the range of the score, the length of this interval, is 1 + 2m. Both
    ends come as close as they can be: δ and 1 - δ are changes of two cells. A record that is replaced is one removed
    and one added: twice the range, and twice the sensitivity.

    -g' is largest at y = (1+√3)/ε, where it is (1+√3)·e^(-1-√3)/2 = 0.08891 for every ε. So m < 0.08891, the
    sensitivity is below 1.08891 (the paper rounds it to 1.1), and the range is below 1.17782. δ falls up to its
    smallest value, between (1+√3)/ε and one more than that, and then grows.

    Attributes
    ----------
    epsilon : float
        ε of the noisy counts.
    n : int
        Number of records. A lead is a whole number from 0 to n, so its terms are looked up.
    """

    epsilon: float
    n: int

    def __post_init__(self):
        leads = np.arange(self.n + 1, dtype=float)
        # a - g(d) = (a + b)/2 + d/2 - g(d)
        object.__setattr__(self, "_gain", leads / 2 - _g(leads, self.epsilon))

    def of_grid(self, counts: NDArray) -> float:
        """Return the quality of one grid from class counts of shape (C, cells)."""
        return float(self.of_grids(counts[:, :, None].astype(np.int32), np.zeros(1, np.intp))[0])

    def of_grids(self, counts: NDArray[np.int32], starts: NDArray[np.intp]) -> FloatArray:
        """Return the quality of grids side by side, from counts (C, cells, groups), C = 1 for class differences."""
        gain: FloatArray = self._gain  # type: ignore[attr-defined]
        if len(counts) == 1:
            by_group = gain[np.abs(counts[0])].sum(axis=0)
            return np.add.reduceat(by_group, starts) + self.n / 2
        first, second = np.maximum(counts[0], counts[1]), np.minimum(counts[0], counts[1])
        for more in counts[2:]:
            second = np.maximum(second, np.minimum(first, more))
            first = np.maximum(first, more)
        by_group = ((first + second) / 2 + gain[first - second]).sum(axis=0)
        return np.add.reduceat(by_group, starts)


class _InShares:
    """Mixin of estimators that divide ε in as many shares as they have releases, labelled for their charges."""

    shares: Any
    _labels: tuple[str, ...]


@dataclass(eq=False, repr=False, kw_only=True)
class OverTaxonomies(_InShares, PrivateEstimator):
    """Base of the estimators over taxonomies.

    Parameters
    ----------
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's (`dpml.schema.Feature.levels`). They are public. By
        default the schema's levels are used.

    Raises
    ------
    InvalidTaxonomy
        The levels are no taxonomy of the feature.
    """

    taxonomies: Mapping | None = None

    def _check_schema(self, schema: Schema) -> Schema:
        return with_taxonomies(schema, self.taxonomies)

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        return dict(zip(self._labels, divided(self.epsilon, self.shares, len(self._labels)), strict=True))

    def _statistics(self, table: CheckedTable) -> Any:
        return records_of(table)


def records_of(table: CheckedTable, taxonomies: Sequence[Taxonomy] | None = None) -> Records:
    """Return the records of a table as groups of its features' taxonomies, or of others."""
    if taxonomies is None:
        taxonomies = [feature.taxonomy for feature in table.schema.features]
    places = places_of(table.X, table.schema, taxonomies)
    return Records(places, table.codes, table.schema.n_classes, tuple(taxonomies))


def divided(epsilon: float, shares: Any, parts: int = 3) -> list[float]:
    """Return the ε of the releases of one fit, whose exact sum is at most ε."""
    epsilon = check_epsilon(epsilon)
    allowed = f"{('no', 'one', 'two', 'three')[parts]} numbers > 0 that add up to 1"
    if not isinstance(shares, (tuple, list)) or len(shares) != parts:
        raise InvalidParameter("shares", shares, allowed)
    each = [check_number(share, "shares", 0.0, 1.0, open_lower=True) for share in shares]
    if abs(math.fsum(each) - 1) > 1e-9:
        raise InvalidParameter("shares", shares, allowed)
    return divide_epsilon(epsilon, each, [1] * parts)


def with_taxonomies(schema: Schema, taxonomies: Mapping | None) -> Schema:
    """Return the schema with the levels that are given for some of its features by name."""
    if taxonomies is None:
        return schema
    if not isinstance(taxonomies, Mapping):
        raise InvalidTaxonomy("taxonomies", taxonomies, "a mapping of features to their levels, or None")
    unknown = [name for name in taxonomies if name not in schema.feature_names]
    if unknown:
        raise InvalidTaxonomy("taxonomies", unknown[0], f"given for features only: {schema.feature_names[:6]}")
    features = [
        replace(f, levels=taxonomies[f.name]) if taxonomies.get(f.name) is not None else f for f in schema.features
    ]
    return replace(schema, features=tuple(features))


# shares of ε for the number of records, the choice of the grid and its counts (Su et al. 2018, Algorithm 2)
SHARES = (0.03, 0.37, 0.60)
# a cell holds at least this many times the noise's mean size on average: 1 over their 20 %
SIGNAL = 5
# no grid has more cells, however many records the noisy number promises
MOST_CELLS = 1 << 17
LABELS = ("PrivPfC, number of records", "PrivPfC, choice of the grid", "PrivPfC, counts")
# the weight of a coarser cell, in standard deviations of the noise on a class count: the best or within its error of
# 1, 2, 4 and 8 on bank, with both labels, mushrooms and the synthetic census at ε = 0.1 and 1
BACK_OFF = 4.0


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
    """Release the number of records: sensitivity 1 under both relations, as a replaced label may be no class."""
    return float(source.counts(repeated(number_of(records.codes), 1), epsilon, 1)[0])


def noisy_grid(
    records: Records, levels: Sequence[int], epsilon: float, relation: str, source: Source, **numbers: Any
) -> NoisyGrid:
    """Release the class counts of the cells of a public grid: L1 sensitivity 1, or 2 under replace-one."""
    sensitivity = FACTOR[relation]
    counts = source.counts(grid_counts(records, levels), epsilon, sensitivity)
    return NoisyGrid(records.taxonomies, tuple(levels), counts, sensitivity / epsilon, **numbers)


def consistent(counts: FloatArray, total: float) -> FloatArray:
    """Return the counts nearest to noisy ones (least squares) that are at least 0 and add up to a total.

    All counts are shifted by the same amount, and those below 0 become 0. Negative counts set to 0 alone would add
    records to every empty cell.
    """
    flat = np.sort(counts.ravel())[::-1]
    above = np.cumsum(flat) - total
    places = np.arange(1, len(flat) + 1)
    kept = int(np.flatnonzero(flat * places > above).max(initial=0))
    lowered = np.maximum(counts - above[kept] / (kept + 1), 0.0)
    return lowered if total > 0 and np.isfinite(lowered).all() else np.zeros_like(counts)


def coarser_grids(grid: NoisyGrid) -> list[tuple[tuple[int, ...], FloatArray, float]]:
    """Return a chain of grids from the released one to one cell, each with one attribute a level coarser.

    Each entry has the levels, the noisy class counts (C, cells) and how many released cells are in one of its cells on
    average. A step takes the attribute whose coarser cells keep most of the lead that stands out of the noise.
    """
    counts, levels = grid.counts, list(grid.levels)
    chain = [(tuple(levels), counts, 1.0)]
    while any(levels):
        steps = []
        for axis, j in enumerate(j for j, level in enumerate(levels) if level):
            coarse = _one_coarser(grid, counts, levels, axis, j)
            merged = grid.counts.shape[1] / coarse.shape[1]
            lead = np.sort(coarse, axis=0)[-2:]
            # the standard deviation of a difference of two class counts
            standing = np.maximum(lead[-1] - lead[0] - 2 * np.sqrt(merged) * grid.scale, 0.0).sum()
            steps.append((standing, -j, coarse, merged))
        _, j, counts, merged = max(steps, key=lambda step: step[:2])
        levels[-j] -= 1
        chain.append((tuple(levels), counts, merged))
    return chain


def _one_coarser(grid: NoisyGrid, counts: FloatArray, levels: list[int], axis: int, attribute: int) -> FloatArray:
    shape = [grid.taxonomies[j].sizes[level] for j, level in enumerate(levels) if level]
    runs = grid.taxonomies[attribute].runs(levels[attribute], levels[attribute] - 1)
    table = counts.reshape(len(counts), *shape)
    return np.add.reduceat(table, runs, axis=axis + 1).reshape(len(counts), -1)


def cell_probabilities(grid: NoisyGrid) -> FloatArray:
    """Return the class probabilities of each cell, shape (C, cells), with back-off to coarser cells.

    From one cell down the chain of `coarser_grids`, a cell's probabilities are its counts plus those of the coarser
    cell that it lies in, with the weight of the noise: `BACK_OFF` standard deviations of one of its counts.
    """
    chain = coarser_grids(grid)
    _, top, _ = chain[-1]
    least = np.maximum(top, 0.0) + 1.0
    known = least / least.sum(axis=0)
    above = chain[-1][0]
    for levels, counts, merged in chain[-2::-1]:
        attribute = next(j for j, (fine, coarse) in enumerate(zip(levels, above, strict=True)) if fine > coarse)
        coarser = _spread(grid, known, above, levels, attribute)
        weight = BACK_OFF * np.sqrt(2 * merged) * grid.scale
        kept = np.maximum(counts, 0.0)
        known = (kept + weight * coarser) / (kept.sum(axis=0) + weight)
        above = levels
    return known


def _spread(
    grid: NoisyGrid, known: FloatArray, coarse: tuple[int, ...], fine: tuple[int, ...], attribute: int
) -> FloatArray:
    """Return each coarse cell's values for the finer cells in it; the two grids differ in one attribute."""
    taxonomy = grid.taxonomies[attribute]
    runs = taxonomy.runs(fine[attribute], coarse[attribute])
    group = np.searchsorted(runs, np.arange(taxonomy.sizes[fine[attribute]]), side="right") - 1
    shape = [grid.taxonomies[j].sizes[coarse[j]] for j, level in enumerate(fine) if level]
    axis = [j for j, level in enumerate(fine) if level].index(attribute)
    return np.take(known.reshape(len(known), *shape), group, axis=axis + 1).reshape(len(known), -1)


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


class TaxonomyClassifier(OverTaxonomies, ProbabilisticClassifier):
    """Base of the classifiers over taxonomies, which define `_probabilities` for a checked table."""

    _takes_any_cell: ClassVar[bool] = True

    def _log_probabilities(self, X: Any) -> FloatArray:
        return np.log(self._probabilities(X))

    def _predicted_codes(self, X: Any) -> Any:
        return self._probabilities(X).argmax(axis=1)


def calibrated_cost(epsilon: float, calibration: str) -> float:
    """Return the actual ε of a choice with noise for a larger range than the derived one, with the other two shares."""
    spanned = quality_range(SHARES[2] * epsilon) / quality_range(SHARES[2] * epsilon, calibration=calibration)
    return epsilon * (SHARES[0] + SHARES[1] * spanned + SHARES[2])
