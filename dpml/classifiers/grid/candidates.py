"""Candidate grids: for each attribute a level of its taxonomy, with at most a stated number of cells in all.

Su et al. 2018 (Algorithm 2, Enumerate) go through grids by the number of attributes below the top of their taxonomies.
As printed, a grid of k attributes is met once for each of k! orders, and Θ is reached early. Here a grid is a set: an
attribute is added only after those before it, so each grid is met once. The grid of one cell is always a candidate.

Nothing here sees a record. The limit on the cells depends on the released number of records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpml._arrays import IntArray
from dpml.schema import Taxonomy


@dataclass(frozen=True)
class Blocks:
    """The ways to add one of the attributes after a given one: the smallest levels first.

    `attribute`, `level`, `size`: the added attribute, its level, and its number of groups. `ends`: the running sum of
    `size`.
    """

    attribute: IntArray
    level: IntArray
    size: IntArray

    @property
    def ends(self) -> IntArray:
        """Where the groups of each block end if all blocks are laid side by side."""
        return np.cumsum(self.size)


@dataclass(frozen=True)
class Layer:
    """The candidates with one more attribute than the layer before. The children of a grid follow each other.

    `parent`: the grid of the layer before, without the last attribute. `attribute`, `level`: the last attribute and its
    level. `size`: number of cells.
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
    """Return at most `max_grids` (Θ) grids with at most `max_cells` (τ) cells, those with few attributes first.

    The grid of one cell is in the pool for every τ.
    """
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
