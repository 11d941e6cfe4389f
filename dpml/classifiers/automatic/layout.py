"""The attributes of a table: categories, numbers, one-hot blocks that cover all values, and binary columns.

Each record lies in one group of every attribute, at every level of its taxonomy. Records are transformed by themselves,
by public metadata and by bins that are public or released.

Private bins of numbers have three steps. Statistics: `histograms`, exact counts of public cells (`cell_edges`).
Release: `release_histograms`. Model: `quantile_levels`, nested levels of up to 2, 4, 8 and 16 bins of equal mass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr

from dpml._arrays import FloatArray
from dpml._validate import check_relation
from dpml.classifiers.grid import Records
from dpml.counts import FACTOR
from dpml.mechanisms import Laplace
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.parquet import parts_of
from dpml.schema import Feature, Schema, Taxonomy
from dpml.schema.domain import SPAN, growing_edges, growing_powers, inner_edges

# groups of an attribute of numbers in the additive part of a model: of public bins, and of private ones, of which those
# in the middle hide nothing but those at the ends may be wide
MOST_GROUPS, MOST_PRIVATE_GROUPS = 8, 16
# of two classes, the fewest public groups of a number that separate long tails and values in the middle, and how many
# times the weights of the mean attribute make a large one
FEWEST_GROUPS, LARGE = 6, 4
# numbers have twins where there are so many attributes with them: a search over many finds grids of few attributes only
MOST_TWINNED = 8
# with more classes than this public bins are of equal width alone: noise hides the counts of more groups
MOST_CLASSES = 6
# so many attributes are too many to be nearly independent of each other in a class
MANY_ATTRIBUTES = 24
# levels of public bins where a domain ends at 0 or does not contain it, first 0 and halves: bins of equal width, and
# powers of the edges that grow beside them
PUBLIC = ((2, (SPAN,)), (4, (4, SPAN)), (4, (4, 7, 10, SPAN)), (16, (4, 6, 7, 8, 10, 12, 14, SPAN)))
# of domains of both signs: powers of the edges that grow on both sides of 0. At the last level, values of 0 are apart
# from positive ones
PUBLIC_SIGNED = ((), (1,), (1, 2, 3), (1, 2, 3, 4, 5, 9))


def public_levels(lower: float, upper: float) -> tuple[tuple[float, ...], ...]:
    """Return nested levels of public bins from the domain alone, of equal width or growing from 0.

    There are up to 3, 6, 8 and 23 bins, or 2, 4, 8 and 15 for a domain of both signs. Bins of equal width do not
    separate values that are mostly small, and bins that grow do not separate values in the middle of a domain. In a
    domain of both signs 0 is in the middle, so bins that double from 0 separate both.
    """
    rows: list[list[float]]
    if lower < 0 < upper:
        above = growing_edges(0.0, upper, (SPAN,))
        rows = [growing_edges(lower, upper, powers) + above * (powers == PUBLIC_SIGNED[-1]) for powers in PUBLIC_SIGNED]
    else:
        rows = [inner_edges(lower, upper, equal) + growing_edges(lower, upper, powers) for equal, powers in PUBLIC]
    levels: list[tuple[float, ...]] = []
    for row in rows:
        level = tuple(sorted({cut for cut in row if lower < cut < upper}.union(*levels[-1:])))
        # in a domain of a few floats a level may add nothing
        if level and level not in levels:
            levels.append(level)
    return tuple(levels)


@dataclass(frozen=True)
class Attribute:
    """One attribute, and the origin of the bins of a number: "public", "stated" by the schema, or "private"."""

    columns: tuple[int, ...]
    feature: Feature
    bins: str = "public"

    @property
    def taxonomy(self) -> Taxonomy:
        """Levels at which its values are distinguished."""
        return self.feature.taxonomy

    @property
    def finest(self) -> int:
        """The finest level of the additive part, with a limit on the groups of unstated cut points."""
        sizes = self.taxonomy.sizes
        most = sizes[-1]
        if self.feature.kind == "numeric" and self.bins != "stated":
            most = MOST_PRIVATE_GROUPS if self.bins == "private" else MOST_GROUPS
        return max(level for level, size in enumerate(sizes) if size <= most)


@dataclass(frozen=True)
class Layout:
    """The attributes of a schema's columns. A one-hot block whose columns cover all values is one attribute.

    A number whose cut points the schema does not state gets public ones (`public_levels`). One with private bins has a
    *twin* with bins of equal width. Bins of equal mass separate common values, and bins of equal width rare ones. A
    grid may choose either.
    """

    schema: Schema
    attributes: tuple[Attribute, ...]
    twins: tuple[Attribute, ...] = ()
    most_weights: float = math.inf
    large: bool = True

    @classmethod
    def from_schema(cls, schema: Schema) -> Layout:
        """Return the layout of a schema."""
        whole = schema.attributes
        attributes: list[Attribute] = []
        for i, feature in enumerate(schema.features):
            columns = whole.get(feature.block or "")
            if columns is None and feature.kind == "numeric" and feature.levels is None:
                if schema.n_classes <= MOST_CLASSES:
                    levels = public_levels(float(feature.lower or 0), float(feature.upper or 0))
                    feature = replace(feature, levels=levels)
                attributes.append(Attribute((i,), feature))
            elif columns is None:
                attributes.append(Attribute((i,), feature, "stated"))
            elif columns[0] == i:
                values = tuple(schema.features[j].name for j in columns)
                attributes.append(Attribute(tuple(columns), Feature(feature.block or "", "categorical", values)))
        return cls(schema, tuple(attributes))

    def of_columns(self, mask: NDArray[np.bool_]) -> Layout:
        """Return the layout of some columns, of attributes that have one column each."""
        return replace(self, attributes=tuple(each for each in self.attributes if mask[each.columns[0]]))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the attributes that are numbers without stated cut points."""
        return tuple(
            a for a, each in enumerate(self.attributes) if each.feature.kind == "numeric" and each.bins != "stated"
        )

    def bounds(self, a: int) -> tuple[float, float]:
        """Return the bounds of a number."""
        feature = self.attributes[a].feature
        return float(feature.lower or 0), float(feature.upper or 0)

    @cached_property
    def domains(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the numbers without stated cut points, those that state the same domain together."""
        domains: dict[tuple[float, float], list[int]] = {}
        for a in self.numbers:
            domains.setdefault(self.bounds(a), []).append(a)
        return tuple(map(tuple, domains.values()))

    def counted(self, least_numbers: int) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of each histogram (`default_histograms`)."""
        if least_numbers == 1:
            return tuple((a,) for a in self.numbers)
        return tuple(numbers for numbers in self.domains if len(numbers) >= least_numbers)

    @cached_property
    def everything(self) -> tuple[Attribute, ...]:
        """The attributes that a grid can choose among: all of them, then the twins."""
        return self.attributes + self.twins

    @cached_property
    def taxonomies(self) -> tuple[Taxonomy, ...]:
        """The taxonomies that a grid can choose among."""
        return tuple(attribute.taxonomy for attribute in self.everything)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Level of each attribute in the additive part.

        All numbers without stated cut points get finer bins together, as long as the additive part has at most
        `most_weights`, the groups of all attributes but one of each. Noise of a norm grows for all attributes if it
        grows for some. So without `large`, categories with more than `LARGE` times the weights of the mean attribute
        are at level 0, and in the grid alone.
        """
        finest, numbers = [attribute.finest for attribute in self.attributes], set(self.numbers)
        if not self.large:
            most_of_one = LARGE * self._weights(finest) / len(finest)
            sizes = [each.taxonomy.sizes[level] for each, level in zip(self.attributes, finest, strict=True)]
            finest = [
                0 if size - 1 > most_of_one and a not in numbers else level
                for a, (size, level) in enumerate(zip(sizes, finest, strict=True))
            ]

        def limited(most: int) -> tuple[int, ...]:
            return tuple(min(level, most) if a in numbers else level for a, level in enumerate(finest))

        fitting = (limited(most) for most in range(max(finest, default=0), 1, -1))
        return next((levels for levels in fitting if self._weights(levels) <= self.most_weights), limited(1))

    def _weights(self, levels: Sequence[int]) -> int:
        return sum(each.taxonomy.sizes[level] - 1 for each, level in zip(self.attributes, levels, strict=True))

    @property
    def fewest_weights(self) -> int:
        """Number of weights with the coarsest levels of numbers that have `FEWEST_GROUPS`, if they have so many."""
        levels = [
            min((k for k in range(level) if each.taxonomy.sizes[k] >= FEWEST_GROUPS), default=level)
            if a in self.numbers
            else level
            for a, (each, level) in enumerate(zip(self.attributes, self.levels, strict=True))
        ]
        return self._weights(levels)

    @property
    def n_weights(self) -> int:
        """Number of groups of all attributes in the additive part, but one of each."""
        return self._weights(self.levels)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of groups of each attribute in the additive part."""
        return tuple(a.taxonomy.sizes[level] for a, level in zip(self.attributes, self.levels, strict=True))

    @cached_property
    def divided(self) -> tuple[int, ...]:
        """Positions of the attributes with more than one group in the additive part."""
        return tuple(a for a, size in enumerate(self.sizes) if size > 1)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """First column of each attribute in the additive part."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def with_levels(self, levels: Mapping[int, Sequence]) -> Layout:
        """Return the layout with other levels of some attributes, and with their twins if there are few."""
        changed = [
            replace(attribute, feature=replace(attribute.feature, levels=tuple(map(tuple, levels[a]))), bins="private")
            if a in levels
            else attribute
            for a, attribute in enumerate(self.attributes)
        ]
        equal = (self.attributes[a] for a in levels)
        twins = tuple(replace(twin, feature=replace(twin.feature, levels=None)) for twin in equal)
        few = len(changed) + len(twins) <= MOST_TWINNED
        return replace(self, attributes=tuple(changed), twins=twins if few else ())

    # ---- parts of a table that `Schema.check_features` returned, private where it is ---------------------------------

    def column(self, X: Any, a: int) -> Any:
        """Return the values of an attribute of one column."""
        (i,) = self.everything[a].columns
        if hasattr(X, "iloc"):
            return X.iloc[:, i]
        return X[:, [i]].toarray().ravel() if sparse.issparse(X) else X[:, i]

    @statistic
    def places(self, X: Any) -> list[NDArray]:
        """Return the finest group of each record for each attribute and twin."""
        parts = [self._places(part) for part, _ in parts_of(X)]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _places(self, X: Any) -> list[NDArray]:
        X = X.tocsc() if sparse.issparse(X) else X
        return [self._place(X, a) for a in range(len(self.everything))]

    def _place(self, X: Any, a: int) -> NDArray:
        attribute = self.everything[a]
        if len(attribute.columns) > 1:
            some = list(attribute.columns)
            ones = X.iloc[:, some].to_numpy(dtype=float) if hasattr(X, "iloc") else X[:, some]
            ones = ones.toarray() if sparse.issparse(ones) else ones
            # by position: the taxonomy of a block keeps the order of its columns
            group = ones.argmax(axis=1)
        elif attribute.feature.kind == "binary":
            group = attribute.taxonomy.places((0, 1))[(np.asarray(self.column(X, a), dtype=float) > 0.5).astype(int)]
        else:
            group = attribute.taxonomy.places(self.column(X, a))
        return group.astype(np.min_scalar_type(attribute.taxonomy.sizes[-1]))

    def records(self, X: Any, codes: Any) -> Records:
        """Return the private records for the counts of a grid."""
        return Records(self.places(X), codes, self.schema.n_classes, self.taxonomies)

    @statistic
    def groups(self, places: Any) -> NDArray:
        """Return the column of the additive part in which each record has its one, shape (n, A). Twins have none."""
        small = np.min_scalar_type(sum(self.sizes))
        columns = [
            (start + attribute.taxonomy.above(level)).astype(small)[place]
            for start, attribute, level, place in zip(self.starts, self.attributes, self.levels, places, strict=False)
        ]
        return np.column_stack(columns)


# fewest and most cells of each histogram: so many, in powers of 2, that there are this many numbers for each and for
# one scale of the noise. With fewer than the fewest there is no histogram
FEWEST_CELLS, CELLS, WORTH = 32, 128, 2.4
# an interval is cut at its half where its noisy number of records is at least this many standard deviations
CLEAR = 3.0
# half a part is empty if its noisy number of records is below this many standard deviations
EMPTY = 2.0
# public bins stay if their entropy is at least this part of that of bins from a histogram that numbers share
SEPARATED = 0.7
# levels of 2, 4, 8 and 16 bins, as long as there are this many cells for each bin
DEPTH, CELLS_PER_BIN = 4, 4


def default_n_cells(n_values: float, n_numbers: int, epsilon: float, relation: str = "add-remove") -> int:
    """Return the public rule for the cells of each histogram, or 0 where noise would hide the whole histogram.

    The noise on a cell has scale b = K/ε for K numbers of a record (2K/ε under replace-one). A histogram of m cells is
    worth its ε where it counts at least `WORTH`·m·b values: the noise of all cells adds up in a cut point, as far as
    `pruned` does not see that they are empty. Many cells help where stated bounds are wide.
    """
    if not n_numbers or epsilon <= 0:
        return 0
    b = n_numbers * FACTOR[check_relation(relation)] / epsilon
    worth = [m for m in (FEWEST_CELLS << k for k in range(8)) if m <= CELLS and n_values >= WORTH * m * b]
    return max(worth, default=0)


def default_histograms(
    layout: Layout, n_records: float, epsilon: float, relation: str = "add-remove"
) -> tuple[int, int]:
    """Return the cells of each histogram, 0 for none, and the least numbers that share one, 1 if none do.

    Each number has a histogram of its own if that is worth its ε. Otherwise numbers that state the same domain share
    one. One of k numbers counts k values of a record, beside the same noise. Domains of few numbers are left out if
    others' histograms are worth it without them, because each number that is counted adds to the noise. Where all
    numbers share a domain with another, shared histograms of more cells go before coarser ones of their own.
    """
    own = default_n_cells(n_records, len(layout.numbers), epsilon, relation)
    if layout.schema.n_classes > MOST_CLASSES and len(layout.attributes) < MANY_ATTRIBUTES:
        return own, 1
    for least in sorted({len(numbers) for numbers in layout.domains} - {1}):
        counted = sum(len(numbers) for numbers in layout.domains if len(numbers) >= least)
        n_cells = default_n_cells(least * n_records, counted, epsilon, relation)
        if n_cells > own and (not own or counted == len(layout.numbers)):
            return n_cells, least
    return own, 1


def cell_edges(lower: float, upper: float, n_cells: int) -> list[float]:
    """Return the edges of up to so many cells: half of equal width, half growing from 0 or the bound next to it.

    Numbers that are mostly small, beside stated bounds for the largest, differ in the cells that grow. The cell of 0
    has no more than 2^-20 of the domain.
    """
    growing = growing_edges(lower, upper, growing_powers(lower, upper, n_cells // 2))
    equal = [edge for edge in inner_edges(lower, upper, n_cells // 2) if lower < edge < upper]
    return sorted({lower, *equal, *growing, upper})


@statistic
def histograms(layout: Layout, X: Any, counted: Sequence[Sequence[int]], n_cells: int) -> FloatArray:
    """Count the values of numbers of one domain in its cells (domains, cells), 0 beyond the last cell. Private."""
    counts = np.zeros((len(counted), n_cells))
    for part, _ in parts_of(X):
        for row, numbers in zip(counts, counted, strict=True):
            edges = cell_edges(*layout.bounds(numbers[0]), n_cells)
            for a in numbers:
                column = np.asarray(layout.column(part, a), dtype=float)
                row += np.bincount(np.digitize(column, edges[1:-1]), minlength=n_cells)
    return counts


def release_histograms(
    exact: Any,
    n_numbers: int,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> tuple[FloatArray, float]:
    """Release histograms (domains, cells) of K numbers, and the scale of the noise.

    Privacy: ε for `relation`. Each of the K numbers of a record lies in one cell of one histogram. A record adds 1 to
    a count K times, whether numbers share a histogram or not, at worst all K times to the same count: L1 sensitivity K.
    Under replace-one K counts fall by 1 and K rise by 1, so it is 2K.
    """
    noise = Laplace(epsilon, FACTOR[check_relation(relation)] * n_numbers)
    return Source(rng, secure).counts(exact, epsilon, noise.sensitivity), noise.scale


def quantile_levels(noisy: FloatArray, scale: float, lower: float, upper: float) -> list[list[float]]:
    """Return nested levels of cut points that share the noisy mass of the cells of `cell_edges` evenly.

    An interval is cut next to the cell in which its noisy mass reaches a half, on the side that comes closer, or in the
    middle where its mass does not stand out of the noise. A cell that holds most of the mass, as a value that many
    records share, ends up in a bin of its own.
    """
    edges = cell_edges(lower, upper, len(noisy))
    depth = min(DEPTH, (len(noisy) // CELLS_PER_BIN).bit_length() - 1)
    noisy = pruned(noisy[: len(edges) - 1], scale)
    mass = np.concatenate([[0.0], np.cumsum(noisy)])
    intervals: list[tuple[int, int]] = [(0, len(noisy))]
    cuts: set[int] = set()
    levels: list[list[float]] = []
    for _ in range(depth):
        finer: list[tuple[int, int]] = []
        for first, last in intervals:
            cut = _half(mass, first, last, scale, int(np.count_nonzero(noisy[first:last])))
            finer += [(first, last)] if cut is None else [(first, cut), (cut, last)]
            if cut is not None:
                cuts.add(cut)
        level = [edges[cut] for cut in sorted(cuts)]
        if level and level != (levels[-1] if levels else []):
            levels.append(level)
        intervals = finer
    return levels


def public_bins_stay(layout: Layout, a: int, cuts: Sequence[float], noisy: FloatArray, scale: float) -> bool:
    """Return whether the public bins of numbers that share a histogram stay, by the released histogram.

    They stay if their entropy is near that of the private bins: they then separate the common values nearly as well,
    and rare ones better. Those of many classes, of equal width, and those of domains of both signs do not separate
    small values, and never stay.
    """
    lower, upper = layout.bounds(a)
    if layout.schema.n_classes > MOST_CLASSES or lower < 0 < upper:
        return False
    attribute = layout.attributes[a]
    taxonomy = attribute.taxonomy
    edges = cell_edges(lower, upper, len(noisy))
    cells = pruned(noisy[: len(edges) - 1], scale)
    shares = cells / max(float(cells.sum()), 1.0)
    public = [taxonomy.values[first] for first in taxonomy.firsts[attribute.finest][1:]]
    entropies = [float(entr(np.bincount(np.digitize(edges[:-1], points), shares)).sum()) for points in (public, cuts)]
    return entropies[0] >= SEPARATED * entropies[1]


def pruned(noisy: FloatArray, scale: float) -> FloatArray:
    """Return a histogram in which the cells of every empty part are 0, as far as the noise lets it be seen.

    From all cells down, a part's records are divided between its halves: by least squares, so that the halves add up to
    the part. If one of them does not exceed its noise, the other gets all. The noise of empty cells would else add up.
    """
    cells = np.zeros(len(noisy))
    mass = np.concatenate([[0.0], np.cumsum(noisy)])
    parts = [(0, len(noisy), max(float(mass[-1]), 0.0))]
    while parts:
        first, last, total = parts.pop()
        if last - first == 1:
            cells[first] = total
            continue
        middle = (first + last) // 2
        left, right = float(mass[middle] - mass[first]), float(mass[last] - mass[middle])
        gap = (total - left - right) / 2
        left, right = left + gap, right + gap
        least = EMPTY * scale * math.sqrt(last - first)  # deviations of the noise on a half
        if left < least and left <= right:
            left, right = 0.0, total
        elif right < least:
            left, right = total, 0.0
        if left > 0:
            parts.append((first, middle, left))
        if right > 0:
            parts.append((middle, last, right))
    return cells


def _half(mass: FloatArray, first: int, last: int, scale: float, cells: int) -> int | None:
    """Return the cell at which an interval is cut, or None."""
    total = float(mass[last] - mass[first])
    if last - first < 2:
        return None
    if total < CLEAR * scale * math.sqrt(2 * max(cells, 1)):
        return (first + last) // 2
    inside = mass[first + 1 : last] - mass[first]
    return first + 1 + int(np.abs(inside - total / 2).argmin())
