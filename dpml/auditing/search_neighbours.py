"""Domains of neighbours that a search may try: the first pairs, random pairs, and pairs close to the best.

A search takes any object with `patterns` (pairs to start with), `fresh` (a random pair) and `near` (a pair close to a
good one). Each must return neighbours only: with data sets that are not neighbours, a search may refute a true claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_integer, check_number
from dpml.exceptions import InvalidParameter

Pair = tuple[Any, Any]
# Most positions at which a pattern may switch from above to below.
MOST_SPLITS = 12


@runtime_checkable
class Neighbours(Protocol):
    """Interface of a search domain, whose pairs have the form (data, neighbour).

    See Also
    --------
    Pairs : Stores a fixed list of pairs.
    Values : Pairs any two values of a set.
    Answers : Pairs vectors of query answers.
    """

    def patterns(self) -> Sequence[Pair]:
        """Return the pairs to start with, in both orders where the order may matter.

        Returns
        -------
        sequence of (data, neighbour)
            The first pairs that a search tries.
        """
        ...

    def fresh(self, rng: np.random.Generator) -> Pair | None:
        """Return a random pair, or None if there are no pairs beyond `patterns`.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour) or None
            A random pair of neighbours.
        """
        ...

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """Return a pair close to the given one, or None if there are no pairs beyond `patterns`.

        Parameters
        ----------
        pair : tuple of (data, neighbour)
            The pair to start from.
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour) or None
            A pair of neighbours close to `pair`.
        """
        ...


@dataclass(frozen=True)
class Pairs:
    """Search domain with a fixed list of pairs.

    Parameters
    ----------
    pairs : sequence of (data, neighbour)
        At least one pair of neighbours.

    See Also
    --------
    Values : Pairs any two values of a set.
    Answers : Pairs vectors of query answers.
    search : Searches a domain for a violation of a claim.

    Examples
    --------
    >>> len(Pairs([([0.0], [1.0])]).patterns())
    1
    """

    pairs: Sequence[Pair]

    def __post_init__(self):
        pairs = list(self.pairs)
        if not pairs or any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
            raise InvalidParameter("neighbours", self.pairs, "at least one pair (data, neighbour)")
        object.__setattr__(self, "pairs", [(first, second) for first, second in pairs])

    def patterns(self) -> Sequence[Pair]:
        """Return the pairs.

        Returns
        -------
        sequence of (data, neighbour)
            All pairs of the list.
        """
        return self.pairs

    def fresh(self, rng: np.random.Generator) -> None:
        """Return None: there are no other pairs.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        None
            No other pair exists.
        """

    def near(self, pair: Pair, rng: np.random.Generator) -> None:
        """Return None: there are no other pairs.

        Parameters
        ----------
        pair : tuple of (data, neighbour)
            The pair to start from.
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        None
            No other pair exists.
        """


@dataclass(frozen=True)
class Values:
    """Search domain with a set of values, any two of which are neighbours.

    This is the local model, in which a data set is one person's value.

    Parameters
    ----------
    values : sequence
        At least two values.

    See Also
    --------
    Pairs : Stores a fixed list of pairs.
    Answers : Pairs vectors of query answers.
    search : Searches a domain for a violation of a claim.

    Examples
    --------
    >>> len(Values(range(4)).patterns())
    6
    """

    values: Sequence[Any]

    def __post_init__(self):
        if len(self.values) < 2:
            raise InvalidParameter("values", self.values, "at least two values")

    def patterns(self) -> Sequence[Pair]:
        """Return all pairs of the first twelve values.

        Each pair appears in one order, as an event may favour either side.

        Returns
        -------
        sequence of (data, neighbour)
            At most 66 pairs.
        """
        few = list(self.values)[:12]
        return [(few[i], few[j]) for i in range(len(few)) for j in range(i + 1, len(few))]

    def fresh(self, rng: np.random.Generator) -> Pair | None:
        """Return two different values at random.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour)
            A random pair of neighbours.
        """
        i, j = rng.choice(len(self.values), size=2, replace=False)
        return self.values[int(i)], self.values[int(j)]

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """Return the pair with one of its values replaced.

        Parameters
        ----------
        pair : tuple of (data, neighbour)
            The pair to start from.
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour)
            The changed pair, or the reversed pair if there is no third value.
        """
        side = int(rng.integers(2))
        others = [value for value in self.values if value != pair[0] and value != pair[1]]
        if not others:
            return pair[1], pair[0]
        other = others[int(rng.integers(len(others)))]
        return (pair[0], other) if side else (other, pair[1])


@dataclass(frozen=True)
class Answers:
    """Search domain with vectors of query answers.

    A record changes one answer, or every answer, by at most `change`.

    Parameters
    ----------
    length : int
        Number of queries.
    lower, upper : float, default=0.0 and 2.0
        Range of an answer.
    change : float, default=1.0
        Largest change of one answer, in the units of an answer.
    each : bool, default=False
        Whether every answer may change, each in its own direction. Otherwise only one answer changes.
    whole : bool, default=True
        Whether answers are whole numbers.

    See Also
    --------
    Pairs : Stores a fixed list of pairs.
    Values : Pairs any two values of a set.
    search : Searches a domain for a violation of a claim.

    Notes
    -----
    The patterns are those of Ding et al. (2018, Table 1): one above, one below, one above and the rest below, one
    below and the rest above, half and half, all above, all below and the cross. Here they stand at several levels of
    the range, and the rest may begin at any coordinate, since some algorithms treat the first query and the last one
    differently.

    Examples
    --------
    >>> domain = Answers(3, lower=0, upper=2)
    >>> first, second = domain.near(domain.patterns()[0], np.random.default_rng(0))
    >>> int(np.abs(first - second).sum())
    1
    """

    length: int
    lower: float = 0.0
    upper: float = 2.0
    change: float = 1.0
    each: bool = False
    whole: bool = True

    def __post_init__(self):
        check_integer(self.length, "length", 1)
        check_number(self.lower, "lower")
        check_number(self.upper, "upper", self.lower, open_lower=True)
        check_number(self.change, "change", 0.0, self.upper - self.lower, open_lower=True)

    def _levels(self) -> list[float]:
        inner = np.clip(
            [self.lower + self.change, (self.lower + self.upper) / 2, self.upper - self.change], self.lower, self.upper
        )
        return sorted({float(x) for x in (np.round(inner) if self.whole else inner)} | {self.lower, self.upper})

    def patterns(self) -> Sequence[Pair]:
        """Return the patterns at each level of the range.

        Patterns in which clipping to the range leaves no change are left out.

        Returns
        -------
        sequence of (data, neighbour)
            Pairs of vectors of `length` answers.
        """
        k, half = self.length, self.length // 2
        moves = []
        for end in {0, k - 1}:
            alone = np.zeros(k)
            alone[end] = 1.0
            moves += [alone, -alone]
        if self.each and k > 1:
            moves += [np.ones(k), -np.ones(k)]
            for first in {*np.linspace(1, k - 1, min(k - 1, MOST_SPLITS)).astype(int).tolist(), half}:
                split = np.where(np.arange(k) < first, 1.0, -1.0)
                moves += [split, -split]
        pairs: dict[bytes, Pair] = {}
        for level in self._levels():
            for move in moves:
                first = np.full(k, level)
                self._add(pairs, first, np.clip(first + self.change * move, self.lower, self.upper))
            if self.each and k > 1:
                step = np.where(np.arange(k) < half, self.change, 0.0)
                cross = np.clip(level + np.stack([step, step[::-1]]), self.lower, self.upper)
                self._add(pairs, cross[0], cross[1])
        return list(pairs.values())

    @staticmethod
    def _add(pairs: dict[bytes, Pair], first: FloatArray, second: FloatArray) -> None:
        # an event may favour either side, so the reversed pair is the same pair
        key = b"".join(sorted([first.tobytes(), second.tobytes()]))
        if (first != second).any():
            pairs.setdefault(key, (first, second))

    def fresh(self, rng: np.random.Generator) -> Pair:
        """Return a random pair.

        Answers lie anywhere in the range, and changes have full size.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour)
            Two vectors of `length` answers.
        """
        first = self._draw(rng, self.length)
        return first, self._moved(first, rng)

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return a pair close to the given one.

        Some answers are redrawn or shifted together, or some changes are reversed.

        Parameters
        ----------
        pair : tuple of (data, neighbour)
            The pair to start from.
        rng : numpy.random.Generator
            Source of the random choices.

        Returns
        -------
        tuple of (data, neighbour)
            Two vectors of `length` answers.
        """
        first, second = (np.array(side, dtype=float) for side in pair)
        # choose one answer, a run of adjacent answers, or a random quarter
        begin, end = np.sort(rng.integers(self.length, size=2))
        chosen = [np.zeros(self.length, dtype=bool), rng.random(self.length) < 0.25][int(rng.integers(2))]
        chosen[begin : end + 1 if rng.random() < 0.3 else begin + 1] = True
        kind = rng.integers(3)
        if kind == 0:
            step = self.change * rng.choice([-1.0, 1.0])
            low, high = np.minimum(first, second)[chosen] + step, np.maximum(first, second)[chosen] + step
            if low.min() >= self.lower and high.max() <= self.upper:
                first[chosen] += step
                second[chosen] += step
                return first, second
        if self.each:
            if kind == 1:
                first[chosen] = self._draw(rng, int(chosen.sum()))
            second[chosen] = self._moved(first, rng)[chosen]
            return (first, second) if (first != second).any() else self.fresh(rng)
        if kind == 1:
            # redraw the answers that are equal on both sides, or move the change to another answer
            same = chosen & (first == second)
            first[same] = second[same] = self._draw(rng, int(same.sum()))
            return first, second
        return first, self._moved(first, rng)

    def _draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        if self.whole:
            return rng.integers(round(self.lower), round(self.upper) + 1, size).astype(float)
        return rng.uniform(self.lower, self.upper, size)

    def _moved(self, first: FloatArray, rng: np.random.Generator) -> FloatArray:
        up, down = first + self.change <= self.upper, first - self.change >= self.lower
        sign = np.where(up & (~down | (rng.random(self.length) < 0.5)), 1.0, np.where(down, -1.0, 0.0))
        # an answer that cannot move by the full change moves to the farther end of the range
        ends = np.where(first - self.lower > self.upper - first, self.lower, self.upper)
        second = np.where(sign == 0, ends, first + sign * self.change)
        if not self.each:
            only = np.arange(self.length) == rng.integers(self.length)
            return np.where(only, second, first)
        return second


@dataclass(frozen=True)
class SharedRecords:
    """Two tables that differ by one record. Their shared records are replaced by copies of each other.

    The number of records stays the same, and every record was in the original table, so the new tables satisfy the same
    public metadata.

    `data`, `neighbour`: tables as arrays with one row for each record, equal in their first `shared` rows.
    """

    data: tuple[Any, ...]
    neighbour: tuple[Any, ...]
    shared: int

    def patterns(self) -> Sequence[Pair]:
        """Return the two tables as they are."""
        return [(self.data, self.neighbour)]

    def fresh(self, rng: np.random.Generator) -> Pair:
        """Return the tables with the shared records resampled with replacement."""
        return self._with(rng.integers(self.shared, size=self.shared), (self.data, self.neighbour))

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return the tables with some of the shared records replaced by others."""
        chosen = rng.random(self.shared) < 0.25
        kept = np.where(chosen, rng.integers(self.shared, size=self.shared), np.arange(self.shared))
        return self._with(kept, pair)

    def _with(self, kept: IntArray, pair: Pair) -> Pair:
        first, second = (
            tuple(np.concatenate([part[: self.shared][kept], part[self.shared :]]) for part in side) for side in pair
        )
        return first, second


def of_case(data: Any, neighbour: Any) -> Neighbours:
    """Return the search domain around a known pair: `SharedRecords` for a pair of tables, otherwise the pair only."""
    tables = [side for side in (data, neighbour) if _is_table(side)]
    if len(tables) == 2 and len(data) == len(neighbour):
        most = min(len(data[0]), len(neighbour[0]))
        same = np.ones(most, dtype=bool)
        for one, two in zip(data, neighbour, strict=True):
            same &= (one[:most] == two[:most]).reshape(most, -1).all(axis=1)
        shared = most if same.all() else int(same.argmin())
        if shared > 1 and max(len(data[0]), len(neighbour[0])) - shared <= 1:
            return SharedRecords(data, neighbour, shared)
    return Pairs([(data, neighbour)])


def _is_table(side: Any) -> bool:
    if not isinstance(side, tuple) or len(side) < 2 or not all(isinstance(part, np.ndarray) for part in side):
        return False
    return side[0].ndim > 0 and all(part.ndim > 0 and len(part) == len(side[0]) for part in side)
