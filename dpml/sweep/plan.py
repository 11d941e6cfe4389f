"""Plan the cells of a sweep in one fixed order, with the seed of each.

A point is one combination of settings. A cell is a point and one block of draws, the smallest unit of computation. The
generator of a cell follows only from the seed, the number of the block, and, if points are not paired, the point. So a
cell gives the same numbers in any order and on any worker.

Paired points (the default) draw from the same streams: draw i of every point comes from the stream of its block. So the
same method at two values of ε has the same unit noise, scaled, and differences have small standard errors. Two methods,
or two numbers of features, start from the same stream but may take a different number of values from it. Their pairing
is valid but weaker. Block 0 is drawn from ``default_rng(seed)``.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml.sweep.declaration import ASKS, Declaration

# A file of the store holds as many cells as make about so many rows: enough to be read fast, soon enough written.
ROWS_OF_A_FILE = 200


@dataclass(frozen=True)
class Point:
    """One combination of settings of a named study on one data set."""

    study: str
    data: dict[str, Any]
    relation: str
    fixed: dict[str, Any]
    settings: dict[str, Any]

    def row(self) -> dict[str, Any]:
        """Return the values that identify the point in the tidy table."""
        settings = {name: value for name, value in self.settings.items() if name not in ASKS}
        return {"study": self.study, "data": label(self.data), "relation": self.relation, **self.fixed, **settings}

    def built_from(self) -> str:
        """Return the key of the point's exact statistics. Points with the same key share them."""
        return _canonical([self.study, self.data, self.relation, self.fixed])


@dataclass(frozen=True)
class Cell:
    """Hold a point and one block of its draws.

    `spawn` has the words of the point's own stream, none if paired.
    """

    point: Point
    block: int
    first: int
    draws: int
    seed: int
    spawn: tuple[int, ...] = ()


def label(data: dict[str, Any]) -> str:
    """Return a data set's name, with the options of its `load` where there are some."""
    options = ", ".join(f"{key}={value}" for key, value in data.items() if key != "name")
    return f"{data['name']} ({options})" if options else str(data["name"])


def points_of(declaration: Declaration) -> Iterator[Point]:
    """Yield the points of a declaration. Points that share their statistics follow each other."""
    for family in declaration.families:
        for data, relation in itertools.product(declaration.data, declaration.relations):
            for fixed in _product(family.fixed):
                for settings in _product(family.settings):
                    yield Point(family.name, dict(data), relation, fixed, settings)


def cells_of(declaration: Declaration) -> Iterator[Cell]:
    """Return the cells in the order of the table."""
    for point in points_of(declaration):
        spawn = () if declaration.paired else _words(point)
        for block, (first, draws) in enumerate(blocks(declaration.draws, declaration.block)):
            yield Cell(point, block, first, draws, declaration.seed, spawn)


def blocks(draws: int, block: int) -> list[tuple[int, int]]:
    """Return (first draw, number of draws) of each block."""
    return [(first, min(block, draws - first)) for first in range(0, draws, block)]


def batches(cells: list[Cell]) -> list[list[Cell]]:
    """Return the cells of each file of the store. They follow from the declaration alone."""
    size = max(1, ROWS_OF_A_FILE // max((cell.draws for cell in cells), default=1))
    return [cells[start : start + size] for start in range(0, len(cells), size)]


def generator(seed: int, block: int, spawn: tuple[int, ...] = ()) -> np.random.Generator:
    """Return the random generator of a block of draws.

    Parameters
    ----------
    seed : int
        Seed of the sweep.
    block : int
        Number of the block, from 0.
    spawn : tuple of int, default=()
        Words of the point's own stream, empty for paired points.

    Returns
    -------
    numpy.random.Generator
        The generator of the block.

    See Also
    --------
    sweep : Run a study over a grid.
    Declaration : A declaration with the seed and the size of blocks.

    Examples
    --------
    >>> bool(generator(7, 0).random() == np.random.default_rng(7).random())
    True
    """
    key = (*spawn, block) if block or spawn else ()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _product(values: Any) -> Iterator[dict[str, Any]]:
    for combination in itertools.product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _words(point: Point) -> tuple[int, ...]:
    """Return four 32-bit words that follow from the point."""
    digest = hashlib.sha256(_canonical(point.row()).encode()).digest()
    return tuple(int.from_bytes(digest[start : start + 4], "little") for start in range(0, 16, 4))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
