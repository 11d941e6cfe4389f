"""Candidate grids, and the exact class counts of all of them, which are private.

A grid has for each attribute a level of its taxonomy, with at most a stated number of cells in all. Su et al. 2018
(Algorithm 2, Enumerate) go through grids by the number of attributes below the top of their taxonomies. As printed, a
grid of k attributes is met once for each of k! orders, and Θ is reached early. Here a grid is a set: an attribute is
added only after those before it. The candidates see no record: the limit on the cells depends on the released number of
records.

Grids whose attributes but the last are the same are counted together. The records are counted once for each last
attribute, at the finest levels that the candidates need. Every coarser grid is a sum of runs of its cells.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import IntArray
from dpml.mechanisms.interruption import checkpoint
from dpml.mechanisms.private import is_private, statistic
from dpml.schema import Schema, Taxonomy


@dataclass(frozen=True)
class Blocks:
    """The ways to add an attribute after a given one, smallest first: attribute, level and number of groups."""

    attribute: IntArray
    level: IntArray
    size: IntArray


@dataclass(frozen=True)
class Layer:
    """The candidates with one more attribute than the layer before. The children of a grid follow each other.

    `parent`: the grid of the layer before, without the last attribute. `attribute`, `level`: of the last attribute.
    """

    parent: IntArray
    attribute: IntArray
    level: IntArray
    size: IntArray


@dataclass(frozen=True)
class Pool:
    """All candidates, layer by layer."""

    taxonomies: tuple[Taxonomy, ...]
    layers: list[Layer]
    _blocks: dict[int, Blocks] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return sum(len(layer.size) for layer in self.layers)

    @property
    def sizes(self) -> IntArray:
        """The number of cells of each candidate."""
        return np.concatenate([layer.size for layer in self.layers])

    def blocks(self, last: int) -> Blocks:
        """Return the blocks that can follow a last attribute in a grid (-1: in the grid of one cell)."""
        if last not in self._blocks:
            added = [
                (size, j, level)
                for j in range(last + 1, len(self.taxonomies))
                for level, size in enumerate(self.taxonomies[j].sizes)
                if level
            ]
            table = np.array(sorted(added), dtype=np.intp).reshape(len(added), 3)
            self._blocks[last] = Blocks(table[:, 1], table[:, 2], table[:, 0])
        return self._blocks[last]

    def chain(self, depth: int) -> tuple[IntArray, IntArray]:
        """Return the attributes and levels, shape (grids, depth), of the grids of one layer."""
        attributes, levels = [], []
        at = np.arange(len(self.layers[depth].size))
        for layer in reversed(self.layers[1 : depth + 1]):
            attributes.append(layer.attribute[at])
            levels.append(layer.level[at])
            at = layer.parent[at]
        empty = np.empty((len(at), 0), dtype=np.intp)
        return (
            (np.column_stack(attributes[::-1]), np.column_stack(levels[::-1])) if attributes else (empty, empty.copy())
        )

    def levels(self, index: int) -> tuple[int, ...]:
        """Return the level of each attribute in one candidate, 0 for all values together."""
        depth = 0
        while index >= len(self.layers[depth].size):
            index -= len(self.layers[depth].size)
            depth += 1
        chosen = [0] * len(self.taxonomies)
        for layer in reversed(self.layers[1 : depth + 1]):
            chosen[layer.attribute[index]] = int(layer.level[index])
            index = int(layer.parent[index])
        return tuple(chosen)


def candidate_grids(taxonomies: Sequence[Taxonomy], max_grids: int, max_cells: float) -> Pool:
    """Return at most `max_grids` (Θ) grids with at most `max_cells` (τ) cells or with one, few attributes first."""
    nothing = np.array([-1], dtype=np.intp)
    pool = Pool(tuple(taxonomies), [Layer(nothing, nothing, np.zeros(1, np.intp), np.ones(1, np.intp))])
    left = max_grids - 1
    while left > 0:
        before = pool.layers[-1]
        parents: list[Any] = []
        added: list[Any] = []
        # few grids at a time at first: the children of the first ones may fill the pool
        first, step = 0, 16
        while first < len(before.size) and left > 0:
            some = slice(first, first + step)
            counts = _n_children(pool, before, some, max_cells)
            counts = np.diff(np.minimum(np.cumsum(counts), left), prepend=0)
            left -= int(counts.sum())
            parent = np.repeat(np.arange(first, first + len(counts)), counts)
            nth = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts, counts)
            parents.append(parent)
            added.append(_added(pool, before.attribute[parent], nth))
            first, step = first + step, 2 * step
        parent = np.concatenate(parents) if parents else np.empty(0, np.intp)
        if not len(parent):
            break
        attribute, level, size = np.concatenate(added, axis=1)
        pool.layers.append(Layer(parent, attribute, level, before.size[parent] * size))
    return pool


def _n_children(pool: Pool, layer: Layer, some: slice, max_cells: float) -> IntArray:
    """Return how many ways of adding an attribute keep within the limit, for some grids of a layer."""
    last, size = layer.attribute[some], layer.size[some]
    counts = np.zeros(len(last), dtype=np.intp)
    for p in np.unique(last):
        mine = last == p
        counts[mine] = np.searchsorted(pool.blocks(int(p)).size, max_cells / size[mine], side="right")
    return counts


def _added(pool: Pool, last: IntArray, nth: IntArray) -> IntArray:
    """Return (attribute, level, size) of the n-th block after each last attribute."""
    out = np.zeros((3, len(last)), dtype=np.intp)
    for p in np.unique(last):
        mine, blocks = last == p, pool.blocks(int(p))
        out[:, mine] = np.array([blocks.attribute, blocks.level, blocks.size])[:, nth[mine]]
    return out


# entries of one table of counts: 1 MB, which fits a processor's cache
MOST_ENTRIES = 1 << 18
# entries below which one call of numpy.add.reduceat is quicker than one addition for each group
FEW_ENTRIES = 1 << 13
# records counted at a time
ROWS = 1 << 15


@dataclass(frozen=True)
class Records:
    """The private records, as the finest group of each record for each attribute, and their classes."""

    places: Any
    codes: Any
    n_classes: int
    taxonomies: tuple[Taxonomy, ...]
    _runs: dict[tuple[int, int, int], IntArray] = field(default_factory=dict, repr=False)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of finest groups of each attribute, and of classes as the last one."""
        return (*(taxonomy.sizes[-1] for taxonomy in self.taxonomies), self.n_classes)

    @cached_property
    def exact(self) -> Any:
        """The records as one value, private where they are. A statistic of records accepts it."""
        held = self.places, self.codes
        return _records(*held, self.n_classes, self.taxonomies) if is_private(held) else self

    def at(self, attribute: int, level: int) -> NDArray:
        """Return the group of each record at one level of one attribute."""
        taxonomy = self.taxonomies[attribute]
        if level == taxonomy.n_levels - 1:
            return self.places[attribute]
        return _small(taxonomy.above(level), taxonomy.sizes[level])[self.places[attribute]]

    def runs(self, attribute: int, fine: int, coarse: int) -> IntArray:
        """Return where the groups of a coarser level of an attribute begin. It is looked up once."""
        key = attribute, fine, coarse
        if key not in self._runs:
            self._runs[key] = self.taxonomies[attribute].runs(fine, coarse)
        return self._runs[key]

    def rolled(self, table: NDArray, axis: int, attribute: int, fine: int, coarse: int) -> NDArray:
        """Return counts with the groups of one attribute, which lie along an axis, added up to a coarser level."""
        return added_runs(table, self.runs(attribute, fine, coarse), axis)


@statistic
def _records(places: Any, codes: Any, n_classes: int, taxonomies: tuple[Taxonomy, ...]) -> Records:
    return Records(places, codes, n_classes, taxonomies)


@statistic
def side_by_side(tables: Sequence[NDArray]) -> NDArray:
    """Return the counts of tables one after another, for one release."""
    return np.concatenate([table.ravel() for table in tables])


def added_runs(table: NDArray, runs: IntArray, axis: int) -> NDArray:
    """Return the sums of runs along an axis, as `numpy.add.reduceat` does, which is slow where the runs are short."""
    before: Any = (slice(None),) * axis
    size = table.shape[axis]
    if 2 * len(runs) == size and (np.diff(runs) == 2).all():  # pairs, as in a taxonomy that halves
        return table[(*before, slice(0, None, 2))] + table[(*before, slice(1, None, 2))]
    if table.size < FEW_ENTRIES:
        return np.add.reduceat(table, runs, axis=axis, dtype=table.dtype)
    out = np.empty((*table.shape[:axis], len(runs), *table.shape[axis + 1 :]), dtype=table.dtype)
    for group, (first, last) in enumerate(pairwise([*runs.tolist(), size])):
        place = out[(*before, group)]
        if last - first == 1:
            place[...] = table[(*before, first)]
        else:
            np.add(table[(*before, first)], table[(*before, first + 1)], out=place)
            for more in range(first + 2, last):
                place += table[(*before, more)]
    return out


def _small(values: NDArray, size: int) -> NDArray:
    return values.astype(np.min_scalar_type(max(size - 1, 0)))


@statistic
def places_of(X: Any, schema: Schema, taxonomies: Sequence[Taxonomy]) -> list[NDArray]:
    """Return the finest group of each record for each attribute of a table that `Schema.check_features` returned."""
    columns = X.tocsc() if hasattr(X, "tocsc") else X
    places = []
    for j, (feature, taxonomy) in enumerate(zip(schema.features, taxonomies, strict=True)):
        if hasattr(columns, "iloc"):
            column = columns.iloc[:, j]
        else:
            column = columns[:, [j]].toarray().ravel() if hasattr(columns, "tocsc") else columns[:, j]
        if feature.kind == "binary":
            group = taxonomy.places((0, 1))[(np.asarray(column, dtype=float) > 0.5).astype(np.intp)]
        else:
            group = taxonomy.places(column)
        places.append(_small(group, taxonomy.sizes[-1]))
    return places


def grid_counts(records: Records, levels: Sequence[int]) -> Any:
    """Return the class counts of the cells of one grid, shape (C, cells), by one pass over the records."""
    return _grid_counts(records.exact, levels)


@statistic
def _grid_counts(records: Records, levels: Sequence[int]) -> NDArray[np.int64]:
    code, cells = records.codes.astype(np.int64), 1
    for j, level in enumerate(levels):
        if level:
            size = records.taxonomies[j].sizes[level]
            code = code * size + records.at(j, level)
            cells *= size
    return np.bincount(code, minlength=records.n_classes * cells).reshape(records.n_classes, cells)


def marginal_counts(records: Records, attributes: Sequence[int]) -> Any:
    """Return the counts of some attributes at their finest levels, an axis for each. The class follows the last."""
    return _marginal_counts(records.exact, attributes)


@statistic
def _marginal_counts(records: Records, attributes: Sequence[int]) -> NDArray[np.int64]:
    values = [*records.places, records.codes]
    code: Any = np.zeros(len(records.codes), dtype=np.int64)
    for j in attributes:
        code = code * records.sizes[j] + values[j]
    shape = [records.sizes[j] for j in attributes]
    return np.bincount(code, minlength=math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class Children:
    """Counts (C, cells, groups) of some grids that have all attributes but the last in common.

    `first`: place of the first of these grids in the pool. The others follow it. C is 1 for the positive minus the
    negative class of two. `starts`: where the groups of each grid begin on the last axis.
    """

    first: int
    counts: NDArray[np.int32]
    starts: IntArray


def children_counts(pool: Pool, records: Records, *, signed: bool = False) -> Iterator[Children]:
    """Yield the counts of all candidates but the grid of one cell, as the difference of two classes if `signed`."""
    offset, groups = 1, _Groups(records)
    for depth, after in enumerate(pool.layers[1:]):
        n_children = np.bincount(after.parent, minlength=len(pool.layers[depth].size))
        first_child = offset + np.cumsum(n_children) - n_children
        offset += len(after.parent)
        attributes, levels = pool.chain(depth)
        have = np.flatnonzero(n_children)
        for mine in _alike(attributes[have]):
            some = have[mine]
            family = _Family(
                records, tuple(attributes[some[0]].tolist()), pool, signed, levels[some], first_child[some],
                n_children[some], groups,
            )  # fmt: skip
            yield from family.parts(np.arange(len(some)), 0, int(n_children[some].max()))


def _alike(rows: IntArray) -> list[IntArray]:
    """Return the places of equal rows together."""
    if not rows.shape[1]:
        return [np.arange(len(rows))]
    order = np.lexsort(rows.T[::-1])
    new = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    return np.split(order, np.flatnonzero(new) + 1)


def _pair_counts(first: NDArray, second: NDArray, n_first: int, n_second: int) -> IntArray:
    """Return the counts of the pairs of two values, shape (n_first·n_second,), in blocks that fit a cache."""
    size = n_first * n_second
    counts = np.zeros(size, dtype=np.intp)
    step = max(ROWS, 2 * size)
    for start in range(0, len(first), step):
        code = first[start : start + step].astype(np.intp)
        code *= n_second
        code += second[start : start + step]
        counts += np.bincount(code, minlength=size)
    return counts


class _Groups(dict):
    """The group of each record by (attribute, level), computed at its first use."""

    def __init__(self, records: Records):
        super().__init__()
        self.records = records

    def __missing__(self, key: tuple[int, int]) -> NDArray:
        self[key] = self.records.at(*key)
        return self[key]


@dataclass(frozen=True)
class _Family:
    """Grids of the same attributes at several levels, and the blocks that extend each of them."""

    records: Records
    attributes: tuple[int, ...]
    pool: Pool
    signed: bool
    levels: IntArray
    first: IntArray
    n_children: IntArray
    groups: _Groups

    @property
    def blocks(self) -> Blocks:
        return self.pool.blocks(self.attributes[-1] if self.attributes else -1)

    def _sizes(self, levels: Sequence[int]) -> list[int]:
        taxonomies = self.records.taxonomies
        return [taxonomies[j].sizes[level] for j, level in zip(self.attributes, levels, strict=True)]

    def parts(self, members: IntArray, low: int, high: int) -> Iterator[Children]:
        """Yield the counts of the members extended by the blocks low to high, in tables that are not too large."""
        members = members[self.n_children[members] > low]
        if not len(members):
            return
        high = min(high, int(self.n_children[members].max()))
        finest = self.levels[members].max(axis=0) if self.attributes else np.empty(0, np.intp)
        sizes = self._sizes(finest.tolist())
        entries = int(np.prod(sizes, dtype=float)) * int(self.blocks.size[low:high].sum()) * self.records.n_classes
        if entries <= MOST_ENTRIES or (len(members) == 1 and high - low == 1):
            yield from self._rolled(members, finest.tolist(), low, high)
        elif high - low > 1:
            # large blocks extend small grids only, so the second half needs fewer members
            yield from self.parts(members, low, (low + high) // 2)
            yield from self.parts(members, (low + high) // 2, high)
        else:
            widest = max(range(len(sizes)), key=lambda a: (np.ptp(self.levels[members, a]) > 0, sizes[a]))
            fine = self.levels[members, widest] == finest[widest]
            yield from self.parts(members[fine], low, high)
            yield from self.parts(members[~fine], low, high)

    def _rolled(self, members: IntArray, finest: list[int], low: int, high: int) -> Iterator[Children]:
        sizes = self._sizes(finest)
        table = self._counted(finest, int(np.prod(sizes, dtype=np.int64)), low, high)
        starts = np.concatenate([[0], np.cumsum(self.blocks.size[low:high])])
        shaped = table.reshape(len(table), *sizes, table.shape[-1])
        yield from self._descend(shaped, 0, finest, members, low, starts)

    def _counted(self, finest: list[int], cells: int, low: int, high: int) -> NDArray[np.int32]:
        """Count the records at the finest levels, once for each last attribute."""
        records, blocks = self.records, self.blocks
        C = records.n_classes
        checkpoint()
        code: Any = records.codes.astype(np.int32)
        for j, level in zip(self.attributes, finest, strict=True):
            code *= records.taxonomies[j].sizes[level]
            code += self.groups[j, level]
        attribute, levels, size = blocks.attribute[low:high], blocks.level[low:high], blocks.size[low:high]
        ends = np.cumsum(size)
        table = np.empty((1 if self.signed else C, cells, int(ends[-1])), dtype=np.int32)
        counts: Any = None
        before, fine = -1, 0
        for b in np.lexsort(np.array([-levels, attribute])).tolist():
            j, at, width = int(attribute[b]), int(levels[b]), int(size[b])
            if j != before:  # its finest level comes first
                counts = _pair_counts(code, self.groups[j, at], C * cells, width).reshape(C, cells, width)
                counts = (counts[1:] - counts[:1] if self.signed else counts).astype(np.int32)
            else:
                counts = records.rolled(counts, 2, j, fine, at)
            before, fine = j, at
            table[:, :, ends[b] - width : ends[b]] = counts
        return table

    def _descend(
        self, table: NDArray, axis: int, now: list[int], members: IntArray, low: int, starts: IntArray
    ) -> Iterator[Children]:
        """Roll one attribute up from level to level, and below each level the attributes after it."""
        if axis == len(self.attributes):
            m = int(members[0])  # each combination of levels is one grid
            last = min(int(self.n_children[m]) - low, len(starts) - 1)
            counts = table[..., : starts[last]].reshape(len(table), -1, starts[last])
            yield Children(int(self.first[m]) + low, counts, starts[:last])
            return
        at = self.levels[members, axis]
        fine = now[axis]
        for level in sorted(set(at.tolist()), reverse=True):
            if level != fine:
                table = self.records.rolled(table, axis + 1, self.attributes[axis], fine, level)
                fine = level
            mine = members[at == level]
            # blocks that extend none of these grids are left out below
            last = min(int(self.n_children[mine].max()) - low, len(starts) - 1)
            yield from self._descend(table[..., : starts[last]], axis + 1, now, mine, low, starts[: last + 1])
