"""Divisions of a feature's public domain: numbers mapped to a fixed interval, edges of bins, and taxonomies.

A mechanism sees the place of a number in its domain, so every bound on a record's effect rests on `to_unit` and
`to_centred`. They return no NaN and nothing outside the interval, whatever the values and the bounds are.

The groups of a taxonomy are kept in the order of a tree, so that a group of any level is a run of neighbouring groups
of each finer level. A table of counts is then made coarser by adding up runs.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_number
from dpml.exceptions import InvalidTaxonomy, shown
from dpml.schema.cells import plain_positions

FloatArray = NDArray[np.float64]
# where bins grow from 0, that of 0 has 2^-20 of the domain
SPAN = 20


def to_unit(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [0, 1]: (x - lower)/(upper - lower), and 0 for NaN."""
    with np.errstate(all="ignore"):
        return within((np.asarray(x, dtype=float) - lower) / (upper - lower), 0.0, 1.0)


def to_centred(x: Any, lower: float, upper: float) -> FloatArray:
    """Return numbers in [-1, 1], 0 for the middle of the domain and -1 for NaN."""
    with np.errstate(all="ignore"):
        # the sum of two bounds may exceed the largest float; halves change no digit
        middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
        return within((np.asarray(x, dtype=float) - middle) / half, -1.0, 1.0)


def inner_edges(lower: float, upper: float, bins: int) -> list[float]:
    """Return the edges between bins of equal width, lowest first. In a domain of a few floats some may be equal."""
    # made smaller by a power of 2, so that no product exceeds the largest float; this changes no digit
    unit = max(bins, 1) if upper - lower > 1 else 1
    unit = 1 << (unit - 1).bit_length()
    return [lower + (upper - lower) / unit * k / bins * unit for k in range(1, bins)]


def growing_edges(lower: float, upper: float, powers: Iterable[float]) -> list[float]:
    """Return edges at 2^-p of the way from 0, or the bound next to it, to the bounds for each power p, lowest first.

    >>> growing_edges(0, 80, (1, 3)), growing_edges(-4, 80, (1, 3)), growing_edges(20, 100, (1, 3))
    ([10.0, 40.0], [-2.0, -0.5, 0.0, 10.0, 40.0], [30.0, 60.0])
    """
    origin = min(max(lower, 0.0), upper)
    # of two bounds one is the origin, or they have different signs, so that no difference exceeds the largest float
    edges = {origin, *(origin + (end - origin) * 2.0**-power for power in powers for end in (lower, upper))}
    return sorted(edge for edge in edges if lower < edge < upper)


def growing_powers(lower: float, upper: float, number: int) -> list[float]:
    """Return powers at equal steps up to `SPAN`, with which `growing_edges` returns at most so many edges."""
    steps = (number - 1) // 2 if lower < 0 < upper else number
    return [SPAN * k / steps for k in range(1, steps + 1)]


def log_edges(lower: float, upper: float, bins: int) -> list[float]:
    """Return the edges between bins that have the same width on a logarithmic scale, or grow from 0 if that is inside.

    >>> [f"{edge:.4g}" for edge in log_edges(1, 10_000, 4)], [f"{edge:.4g}" for edge in log_edges(0, 1024, 3)]
    (['10', '100', '1000'], ['0.0009766', '1'])
    """
    if lower <= 0 <= upper:
        return growing_edges(lower, upper, growing_powers(lower, upper, bins - 1))
    first, last = (math.log(abs(bound)) for bound in (lower, upper))
    sizes = (math.exp(first + (last - first) * k / bins) for k in range(1, bins))
    edges = {math.copysign(size, upper) for size in sizes}
    return sorted(edge for edge in edges if lower < edge < upper)


def within(values: FloatArray, lower: float, upper: float) -> FloatArray:
    """Return values clipped to an interval, and its lower end for NaN."""
    return np.fmin(np.fmax(values, lower), upper)


# stands for the level at which each category is alone
EACH = "each"
# levels of the default taxonomy of a number: 2, 4, 8 and 16 bins of equal width
HALVINGS = 4
# one of so many drawn numbers is its group's lower end
POINTS = 16


@dataclass(frozen=True)
class Taxonomy:
    """Describe the levels at which the values of one feature are told apart.

    `grouped` and `halved` make a taxonomy from levels that a person states, and check them.

    Attributes
    ----------
    name : str
        Name of the feature.
    values : tuple
        For a number: lower bound, cut points of the finest level, upper bound. Otherwise the categories in the order of
        the tree.
    firsts : tuple of tuple of int
        For each level, the coarsest first: the place in `values` at which each group begins.
    numeric : bool
        Whether the feature is a number. A value equal to a cut point belongs to the interval above it.

    See Also
    --------
    Feature : States the levels of a column.

    Examples
    --------
    >>> taxonomy = grouped("pet", ("cat", "carp", "dog"), [[["cat", "dog"], ["carp"]], "each"])
    >>> taxonomy.sizes, taxonomy.values
    ((1, 2, 3), ('cat', 'dog', 'carp'))
    >>> taxonomy.groups(1)
    ['cat, dog', 'carp']
    """

    name: str
    values: tuple
    firsts: tuple[tuple[int, ...], ...]
    numeric: bool = False

    @property
    def n_levels(self) -> int:
        """Number of levels, the one of all values together included."""
        return len(self.firsts)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of groups of each level, 1 first."""
        return tuple(len(level) for level in self.firsts)

    @property
    def n_values(self) -> int:
        """Number of categories, or of intervals between the finest cut points."""
        return len(self.values) - self.numeric

    def places(self, column: Any) -> NDArray[np.intp]:
        """Return the finest group of each cell of a column.

        Parameters
        ----------
        column : array-like of shape (n,)
            Cells in the domain.

        Returns
        -------
        ndarray of int of shape (n,)
            Position of each group at the finest level.
        """
        if self.numeric:
            return np.digitize(np.asarray(column, dtype=float), self.values[1:-1])
        # the finest level may have several categories in a group
        group = np.searchsorted(self.firsts[-1], np.arange(len(self.values)), side="right") - 1
        return group[plain_positions(column, self.values)]

    def above(self, level: int) -> NDArray[np.intp]:
        """Return the group of this level in which each finest group lies.

        Parameters
        ----------
        level : int
            The level, 0 for all values together.

        Returns
        -------
        ndarray of int of shape (finest groups,)
            Position of the group of each finest group.
        """
        return np.searchsorted(self.firsts[level], self.firsts[-1], side="right") - 1

    def runs(self, fine: int, coarse: int) -> NDArray[np.intp]:
        """Return the places at which the groups of a coarser level begin among the groups of a finer one.

        Parameters
        ----------
        fine : int
            The finer level.
        coarse : int
            The coarser level.

        Returns
        -------
        ndarray of int of shape (groups of the coarser level,)
            Position of the first finer group of each.
        """
        return np.searchsorted(self.firsts[fine], self.firsts[coarse])

    def draw(self, level: int, group: NDArray[np.intp], rng: np.random.Generator, *, whole: bool = False) -> NDArray:
        """Draw a value for each group of this level.

        Parameters
        ----------
        level : int
            The level, 0 for all values together.
        group : ndarray of int of shape (n,)
            Group of each record.
        rng : numpy.random.Generator
            Source of the values.
        whole : bool, default=False
            Whether the whole numbers of a group are equally likely. A group without one gets the next.

        Returns
        -------
        ndarray of shape (n,)
            A value of each group.

        Notes
        -----
        All categories of a group are equally likely. A number is the group's lower end for one of `POINTS` records,
        else anywhere in it. So a tree that learns from drawn values finds a threshold just below the cut point, as it
        must for a value at the cut point and for one close to it, and values at the lower end, such as 0, are no
        outliers.
        """
        edges = np.append(self.firsts[level], self.n_values)
        share = rng.random(len(group))
        if self.numeric:
            bounds = np.asarray(self.values, dtype=float)[edges]
            low, high = bounds[group], bounds[group + 1]
            if whole:
                first = np.ceil(low)
                # the last group has its upper bound
                end = np.where(group == len(edges) - 2, np.floor(high) + 1, np.ceil(high))
                place = share * np.maximum(end - first, 1)
                return np.minimum(first + np.floor(place), np.floor(bounds[-1]))
            # a sum that is rounded must not reach the next group
            return np.minimum(low + np.where(share < 1 / POINTS, 0.0, share) * (high - low), np.nextafter(high, low))
        first, last = edges[group], edges[group + 1]
        categories = np.empty(len(self.values), dtype=object)
        categories[:] = self.values
        return categories[first + np.minimum((share * (last - first)).astype(np.intp), last - first - 1)]

    def groups(self, level: int) -> list[str]:
        """Return the groups of a level in words.

        Parameters
        ----------
        level : int
            The level, 0 for all values together.

        Returns
        -------
        list of str
            A phrase for each group.
        """
        edges = [*self.firsts[level], self.n_values]
        if self.numeric:
            return [f"{self.values[a]:g} to {self.values[b]:g}" for a, b in pairwise(edges)]
        return [", ".join(map(str, self.values[a:b])) for a, b in pairwise(edges)]


def halved(name: str, lower: float, upper: float, levels: Sequence | None = None) -> Taxonomy:
    """Return the taxonomy of a number, with 2, 4, 8 and 16 bins of equal width where no cut points are stated."""
    if levels is None:
        levels = [inner_edges(lower, upper, 2**level) for level in range(1, HALVINGS + 1)]
        # in a domain of a few floats some bins would be empty
        levels = levels if len({lower, upper, *levels[-1]}) == 2**HALVINGS + 1 else []
    lists = [_listed(name, level, "cut points, or a list of such lists") for level in _listed(name, levels, "levels")]
    cuts = [[check_number(cut, f"cut point of {name!r}") for cut in level] for level in lists]
    above: set[float] = set()
    for level in cuts:
        # a cut point at the upper bound sets that value apart
        if any(a >= b for a, b in pairwise([lower, *level])) or (level and level[-1] > upper):
            allowed = f"increasing cut points above {lower:g}, up to {upper:g}"
            raise InvalidTaxonomy(f"level of {name!r}", level, allowed)
        if not above < set(level):
            raise InvalidTaxonomy(f"level of {name!r}", level, f"a refinement of the level above, {sorted(above)}")
        above = set(level)
    finest = (lower, *(cuts[-1] if cuts else ()), upper)
    place = {cut: i for i, cut in enumerate(finest[:-1])}
    return Taxonomy(name, finest, ((0,), *((0, *(place[cut] for cut in level)) for level in cuts)), numeric=True)


def nested(name: str, cuts: Sequence) -> tuple[tuple, ...]:
    """Return the levels of a number with these finest cut points. Each level has every second one of the next."""
    levels = [tuple(_listed(name, cuts, "cut points"))]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0][1::2])
    return tuple(levels) if levels[0] else ()


def grouped(name: str, categories: Sequence, levels: Sequence | None = None) -> Taxonomy:
    """Return the taxonomy of a categorical or binary feature, each category alone where no levels are stated."""
    if levels is None:
        levels = [EACH] if len(categories) > 1 else []
    top: list[list] = [list(categories)]
    tree = [top]
    for level in _listed(name, levels, "levels"):
        alone = isinstance(level, str) and level == EACH
        groups = [[c] for c in categories] if alone else [list(_listed(name, g)) for g in _listed(name, level)]
        tree.append(groups)
        _check_groups(name, categories, groups)
    homes = [_homes(groups, categories) for groups in tree]
    for (coarse, fine), groups in zip(pairwise(homes), tree[1:], strict=True):
        # each group lies in one group of the level above, and some group of that level is split
        if len({(a, b) for a, b in zip(fine, coarse, strict=True)}) > len(groups) or len(groups) <= len(set(coarse)):
            raise InvalidTaxonomy(f"level of {name!r}", groups, "a refinement of the level above")
    # in the order of the tree: by the group of the coarsest level first, and last by place in the domain
    order = sorted(range(len(categories)), key=lambda i: [home[i] for home in homes])
    firsts = []
    for home in homes:
        sequence = [home[i] for i in order]
        firsts.append(tuple(i for i in range(len(order)) if i == 0 or sequence[i] != sequence[i - 1]))
    return Taxonomy(name, tuple(categories[i] for i in order), tuple(firsts))


def _listed(name: str, value: Any, what: str = "groups") -> Sequence:
    if not isinstance(value, (list, tuple)):
        raise InvalidTaxonomy(f"taxonomy of {name!r}", value, f"a list of {what}")
    return value


def _check_groups(name: str, categories: Sequence, groups: list[list]) -> None:
    """Raise unless the groups have each category of the domain once, and nothing else."""
    seen = [value for group in groups for value in group]
    positions = plain_positions(list(seen), categories)
    if not all(groups):
        raise InvalidTaxonomy(f"level of {name!r}", groups, "groups of at least one category")
    if (positions < 0).any():
        value = seen[int((positions < 0).argmax())]
        raise InvalidTaxonomy(f"category of {name!r}", value, f"one of {shown(tuple(categories))}")
    times = np.bincount(positions, minlength=len(categories))
    if (times != 1).any():
        wrong = categories[int((times != 1).argmax())]
        raise InvalidTaxonomy(f"level of {name!r}", groups, f"a partition: {shown(wrong)} once")


def _homes(groups: list[list], categories: Sequence) -> list[int]:
    """Return the group of each category."""
    place = [(i, value) for i, group in enumerate(groups) for value in group]
    positions = plain_positions([value for _, value in place], categories)
    home = [0] * len(categories)
    for (i, _), at in zip(place, positions, strict=True):
        home[at] = i
    return home
