"""A black-box search for neighbours and an event that refute a privacy claim of any callable.

It has three steps, each on its own draws. Neighbours: try patterns on few draws, the best of them on more, and then
pairs close to the best while time is left (as DP-Auditorium optimises them). Event: train classifiers to tell the
outputs apart, and take the threshold of a score with the largest bound on fresh draws (as in DP-Sniper). Bound: count
this one event on fresh draws of this one pair, so that Clopper-Pearson limits need no correction for the search.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.audit.sampled import AuditResult, Event, Score, attacker_roc, attackers, best_events, direction, lower_bounds
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
        """Return the pairs to start with, in both orders where the order may matter."""
        ...

    def fresh(self, rng: np.random.Generator) -> Pair | None:
        """Return a random pair, or None if there are no pairs beyond `patterns`."""
        ...

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """Return a pair close to the given one, or None if there are no pairs beyond `patterns`."""
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
        """Return all pairs of the list."""
        return self.pairs

    def fresh(self, rng: np.random.Generator) -> None:
        """Return None: there are no other pairs."""

    def near(self, pair: Pair, rng: np.random.Generator) -> None:
        """Return None: there are no other pairs."""


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
        """Return all pairs of the first twelve values, each in one order, as an event may favour either side."""
        few = list(self.values)[:12]
        return [(few[i], few[j]) for i in range(len(few)) for j in range(i + 1, len(few))]

    def fresh(self, rng: np.random.Generator) -> Pair | None:
        """Return two different values at random."""
        i, j = rng.choice(len(self.values), size=2, replace=False)
        return self.values[int(i)], self.values[int(j)]

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair | None:
        """Return the pair with one of its values replaced, or the reversed pair if there is no third value."""
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
        """Return the patterns at each level of the range, without those that clipping makes equal."""
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
        """Return a random pair: answers lie anywhere in the range, and changes have full size."""
        first = self._draw(rng, self.length)
        return first, self._moved(first, rng)

    def near(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return the pair with some answers redrawn or shifted together, or some changes reversed."""
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


# With more columns than this, piecewise linear maps, differences and boosting would take too long.
MOST_COLUMNS = 40
# Codes of floats that are not finite numbers.
ODD_NUMBERS = {"nan": 1, "inf": 2, "-inf": 3}
# Number of outputs that determine the knots.
MOST_KNOTS = 4_000


@dataclass
class Encoder:
    """Outputs of any kind as rows of finite floats.

    Numbers stay unchanged. If some outputs have no finite number at a position (NaN, infinity, text, None, or a
    sequence that has ended), the position gets a second column: 0 for a number, otherwise a code of the value there.
    The codes are learned from the outputs given to `of`. Values that were not seen then get the code -1.
    """

    width: int = 0
    words: list[dict[str, int]] = field(default_factory=list)
    # whether outputs came as an array of numbers, which is read at once; otherwise each cell is read by itself
    numeric: bool = True

    @classmethod
    def from_outputs(cls, outputs: Any) -> Encoder:
        """Fit an encoder to some outputs."""
        array = _numbers(outputs)
        if array is not None:
            odd = np.isfinite(array).min(axis=0, initial=True) == 0
            return cls(array.shape[1], [dict(ODD_NUMBERS) if at else {} for at in odd])
        rows = [_cells(output) for output in outputs]
        width = max(map(len, rows), default=0)
        words = [sorted({_word(row, k) for row in rows} - {""}) for k in range(width)]
        return cls(width, [{word: i + 1 for i, word in enumerate(at)} for at in words], numeric=False)

    def __call__(self, outputs: Any) -> FloatArray:
        """Return one row of numbers for each output."""
        array = _numbers(outputs) if self.numeric else None
        if array is not None and array.shape[1] == self.width:
            if not any(self.words) and np.isfinite(array.sum()):
                return array
            codes = np.where(np.isfinite(array), 0, np.where(np.isnan(array), 1, np.where(array > 0, 2, 3)))
            return self._joined(np.where(codes == 0, array, 0.0), codes)
        rows = [_cells(output) for output in outputs]
        values, codes = np.zeros((2, len(rows), self.width))
        for i, row in enumerate(rows):
            for k in range(self.width):
                word = _word(row, k)
                if word:
                    codes[i, k] = self.words[k].get(word, -1)
                else:
                    values[i, k] = float(row[k])
        return self._joined(values, codes)

    def _joined(self, values: FloatArray, codes: Any) -> FloatArray:
        coded = [k for k, at in enumerate(self.words) if at]
        if not coded:
            return values
        whole = np.empty((len(values), self.width + len(coded)))
        place = np.arange(self.width) + np.cumsum([0] + [bool(at) for at in self.words[:-1]])
        whole[:, place] = values
        whole[:, place[coded] + 1] = codes[:, coded]
        return whole


def _numbers(outputs: Any) -> FloatArray | None:
    """Return outputs as rows if they are an array of numbers, else None."""
    if not isinstance(outputs, np.ndarray):
        try:
            outputs = np.asarray(outputs)
        except ValueError:
            return None
    if outputs.dtype.kind not in "biuf":
        return None
    rows = outputs.reshape(len(outputs), -1)
    return rows.astype(float, copy=False)


def _cells(output: Any) -> list[Any]:
    if isinstance(output, np.ndarray):
        return list(output.ravel())
    return list(output) if isinstance(output, (list, tuple)) else [output]


def _word(row: list[Any], k: int) -> str:
    """Return a text for a value that is not a finite number, and "" for a number."""
    if k >= len(row):
        return "ended"
    cell = row[k]
    if isinstance(cell, (bool, int, float, np.bool_, np.number)):
        try:
            number = float(cell)
        except (OverflowError, TypeError):
            return repr(cell)
        return "" if np.isfinite(number) else repr(number)
    return f"{type(cell).__name__} {cell!r}"


def classifiers(first: FloatArray, second: FloatArray, *, slow: int = 0) -> Iterable[tuple[str, Score]]:
    """Yield scores by name, learned from encoded outputs of both data sets.

    If there are few distinct outputs, a frequency table is nearly optimal. Linear scores are tried too, because they
    are more precise for rare outputs. `slow` is the number of outputs of each side that train the slow classifiers,
    logistic regression and gradient boosting. 0 leaves them out.
    """
    some = slow // 2
    simple = iter(attackers(first, second))
    name, score = next(simple)
    yield name, score
    if name.startswith("frequency"):
        if first.shape[1] > 1:
            yield next(simple)
        return
    yield from simple
    if first.shape[1] > MOST_COLUMNS:
        if slow:
            yield "logistic regression of the output", _logistic(first[:some], second[:some], _standard(first, second))
        return
    bend = _bends(first, second)
    straight = direction(bend(first), bend(second))
    yield "linear discriminant of bent outputs", lambda x: straight(bend(x))
    if slow:
        yield "logistic regression of bent outputs", _logistic(first[:some], second[:some], bend)
        yield "gradient boosting of the output", _boosted(first[:slow], second[:slow])


def _standard(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    both = np.concatenate([first[:MOST_KNOTS], second[:MOST_KNOTS]])
    centre = np.median(both, axis=0)
    spread = np.median(np.abs(both - centre), axis=0)
    spread[spread == 0] = 1.0
    return lambda x: np.clip((x - centre) / spread, -10, 10)


def _bends(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a map to piecewise linear functions of each column, and of differences of adjacent columns, with knots.

    The log ratio of two noisy answers is often flat outside the two answers, so the two medians are knots.
    """
    widen = _widening(first, second)
    one, two = widen(first[:MOST_KNOTS]), widen(second[:MOST_KNOTS])
    knots = []
    for k in range(one.shape[1]):
        both = np.concatenate([one[:, k], two[:, k]])
        medians = [np.median(one[:, k]), np.median(two[:, k])]
        at = np.unique(np.concatenate([np.quantile(both, [0.005, 0.25, 0.75, 0.995]), medians]))
        knots.append(at if len(at) > 1 else np.array([at[0] - 0.5, at[0] + 0.5]))

    def bend(x: FloatArray) -> FloatArray:
        x = widen(x)
        pieces = np.empty((len(x), sum(len(at) - 1 for at in knots)))
        column = 0
        for k, at in enumerate(knots):
            for low, high in pairwise(at):
                np.clip((x[:, k] - low) / (high - low), 0.0, 1.0, out=pieces[:, column])
                column += 1
        return pieces

    return bend


def _widening(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a map that adds the differences of adjacent columns, if all columns are numbers that do not repeat."""
    few = np.concatenate([first[:500], second[:500]])
    if few.shape[1] == 1 or any(len(np.unique(column)) < len(few) // 2 for column in few.T):
        return lambda x: x
    return lambda x: np.concatenate([x, np.diff(x, axis=1)], axis=1)


def _labelled(first: FloatArray, second: FloatArray) -> tuple[FloatArray, IntArray]:
    return np.concatenate([first, second]), np.repeat([1, 0], [len(first), len(second)])


def _logistic(first: FloatArray, second: FloatArray, bend: Callable[[FloatArray], FloatArray]) -> Score:
    from sklearn.linear_model import LogisticRegression

    x, y = _labelled(first, second)
    with warnings.catch_warnings():
        # a score needs no converged weights, so the warning does not matter
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=10.0, max_iter=60).fit(bend(x), y)
    weights = model.coef_[0]
    return lambda x: bend(x) @ weights


def _boosted(first: FloatArray, second: FloatArray) -> Score:
    from sklearn.ensemble import HistGradientBoostingClassifier

    widen = _widening(first, second)
    x, y = _labelled(widen(first), widen(second))
    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=16, min_samples_leaf=max(20, len(x) // 4000), early_stopping=False
    ).fit(x, y)
    return lambda x: model.decision_function(widen(x))


# Outputs drawn and scored at once: a few megabytes.
CHUNK = 1 << 17
# Shares of the time after which screening, climbing, learning, choosing the event and counting should end.
SCREENED, CLIMBED, LEARNED, CHOSEN, COUNTED = 0.2, 0.42, 0.56, 0.82, 0.97
# Pairs kept from each step to the next, and the number of climbing steps that the time is planned for.
KEPT, STEPS = 6, 15
# Outputs of each side for the training of slow classifiers; more would improve them little.
MOST_SLOW, SLOW_A_SECOND = 200_000, 4_000
# Levels at which half of the draws propose events and the other half judges them. The large level keeps rare events,
# since fewer draws choose an event than count it. The small levels are cautious, since among a thousand thresholds some
# look good by chance.
PROPOSING = (0.2, 0.01, 0.0005)
# Level at which events of different pairs are compared; the final count uses the requested confidence.
JUDGING = 0.3
# A slower classifier must be better by this share for each doubling of the cost of a draw.
WORTH_ITS_TIME = 0.007


class Clock:
    """Time since the start. Without a limit, time never runs out."""

    def __init__(self, seconds: float | None, now: Callable[[], float]):
        self.seconds, self.now, self.start = seconds, now, now()

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return self.now() - self.start

    def left(self, share: float) -> float:
        """Return the seconds until this share of the time has passed."""
        return math.inf if self.seconds is None else share * self.seconds - self.elapsed()

    def since(self, start: float) -> float:
        """Return the seconds since a reading, or 0 without a time limit, so that the seed alone sets the result."""
        return 0.0 if self.seconds is None else self.now() - start


@dataclass
class _Attack:
    """A pair, the encoder of its outputs, a score with its cost in seconds, and an event with its bound."""

    pair: Pair
    bound: float
    encoder: Encoder
    name: str
    score: Score
    event: Event
    cost: float
    # distance of the score's two means in standard deviations: less informative than the bound, but from fewer draws
    gap: float


class CounterexampleSearch:
    """The steps of a search. They share the mechanism, the claim's δ, the clock and the numbers of draws."""

    def __init__(self, mechanism, domain: Neighbours, delta: float, alpha: float, rng, clock: Clock):
        self.mechanism, self.domain, self.delta, self.alpha = mechanism, domain, delta, alpha
        self.rng, self.clock = rng, clock
        self.seen: set[tuple[str, ...]] = set()

    def draw(self, data: Any, n: int) -> Any:
        """Return n outputs in the form that the mechanism returns."""
        outputs = self.mechanism(data, draws=n, rng=self.rng)
        if not hasattr(outputs, "__len__") or len(outputs) != n:
            given = f"{len(outputs)} outputs" if hasattr(outputs, "__len__") else type(outputs).__name__
            raise InvalidParameter("mechanism", given, f"a callable that returns draws = {n} outputs")
        return outputs

    def rows(self, data: Any, n: int, encoder: Encoder) -> FloatArray:
        """Return n outputs as rows of numbers, drawn in chunks."""
        return np.concatenate([encoder(self.draw(data, size)) for size in _sizes(n, CHUNK)])

    def plan(self, draws: int | None) -> None:
        """Set the number of draws of each step: shares of `draws`, or what the time allows at the measured speed."""
        patterns = list(self.domain.patterns())
        if not patterns:
            raise InvalidParameter("neighbours", self.domain, "at least one pair (data, neighbour)")
        self.patterns = patterns
        if self.clock.seconds is None:
            assert draws is not None
            self.screened, self.climbed, self.learned = (max(draws // k, 200) for k in (50, 10, 2))
            self.chosen, self.steps, self.slow = max(draws, 200), STEPS, min(self.learned, MOST_SLOW)
            return
        # double the sample until its time can be measured; the first call may be slower than the others
        size, took, limit = 100, 0.0, self.clock.seconds / (8 * len(patterns))
        while took < min(0.05, limit / 2) and size < CHUNK:
            size *= 2
            start = self.clock.now()
            self.quick(patterns[0], size)
            took = self.clock.now() - start
        cost, seconds = took / size, self.clock.seconds
        self.screened = int(np.clip(SCREENED * seconds / (4 * len(patterns) * cost), 100, 50_000))
        self.climbed = int(np.clip((CLIMBED - SCREENED) * seconds / (STEPS * cost), 100, 1_000_000))
        self.learned = int(np.clip(0.05 * seconds / cost, 100, 1_000_000))
        self.chosen, self.steps = 5_000_000, 10_000
        self.slow = int(min(self.learned, MOST_SLOW, max(1_000, SLOW_A_SECOND * seconds)))

    def attack(self, pair: Pair, n: int, *, slow: int = 0) -> list[_Attack]:
        """Return one attack for each classifier, trained on n draws, with its event chosen on n others."""
        outputs = [self.draw(data, min(n, CHUNK)) for data in pair]
        encoder = Encoder.from_outputs(_joined(*outputs))
        read = [encoder(out) for out in outputs]
        if n > CHUNK:
            read = [
                np.concatenate([rows, self.rows(data, n - CHUNK, encoder)])
                for rows, data in zip(read, pair, strict=True)
            ]
        first, second = (self.rows(data, n, encoder) for data in pair)
        attacks = []
        for name, score in classifiers(read[0], read[1], slow=slow):
            start = self.clock.now()
            scores = score(first), score(second)
            took = self.clock.since(start)
            bound, event = self.event(*scores)
            attacks.append(_Attack(pair, bound, encoder, name, score, event, took / n, _gap(*scores)))
            if self.clock.left(CHOSEN) < 0:
                break
        return attacks

    def event(self, first: FloatArray, second: FloatArray) -> tuple[float, Event]:
        """Return the best event of a score: half of the draws propose events, and the other half judges them."""
        half = len(first) // 2
        proposed = [event for _, event in best_events(first[:half], second[:half], self.delta, PROPOSING)]
        rest = len(first) - half
        judged = [(event.counts(first[half:], second[half:]), event) for event in dict.fromkeys(proposed)]
        bounds = [float(lower_bounds(*counts, rest, self.delta, JUDGING)) for counts, _ in judged]
        best = max(range(len(bounds)), key=bounds.__getitem__)
        return bounds[best], judged[best][1]

    def quick(self, pair: Pair, n: int) -> _Attack:
        """Return the best attack among the quick classifiers."""
        return max(self.attack(pair, n), key=lambda attack: attack.bound)

    def screen(self) -> list[_Attack]:
        """Try every pattern, and half as many random pairs, on few draws, then repeatedly the better half on more."""
        attacks: list[_Attack] = []
        for pair in [*self.patterns, *[None] * max(len(self.patterns) // 2, 1)]:
            if attacks and self.clock.left(SCREENED / 2) < 0:
                break
            pair = self.domain.fresh(self.rng) if pair is None else pair
            if pair is not None and self._is_new(pair):
                attacks.append(self.quick(pair, self.screened))
        n = self.screened
        while len(attacks) > KEPT and self.clock.left(SCREENED) > 0:
            n *= 2
            attacks = _best(attacks, max(len(attacks) // 2, KEPT))
            attacks = [self.quick(attack.pair, n) if self.clock.left(SCREENED) > 0 else attack for attack in attacks]
        return _best(attacks, KEPT)

    def climb(self, begun: list[_Attack]) -> list[_Attack]:
        """Try the best pairs on more draws, then pairs close to the best while time is left."""
        attacks: list[_Attack] = []
        for attack in begun:
            if not attacks or self.clock.left(CLIMBED) > 0:
                attacks.append(self.quick(attack.pair, self.climbed))
        for step in range(self.steps):
            if self.clock.left(CLIMBED) < 0:
                break
            attacks = _best(attacks, KEPT)
            pair = self.domain.near(attacks[step % min(2, len(attacks))].pair, self.rng)
            if pair is None:
                break
            if self._is_new(pair):
                attacks.append(self.quick(pair, self.climbed))
        return _best(attacks, KEPT)

    def _is_new(self, pair: Pair) -> bool:
        """Remember a pair, and return whether it is new in both orders."""
        sides = [np.asarray(side).tobytes() if isinstance(side, np.ndarray) else repr(side) for side in pair]
        key = tuple(sorted(map(str, sides)))
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    def choose(self, finalists: list[_Attack]) -> _Attack:
        """Train all classifiers on many draws of the best pairs, and choose the event on many more."""
        tried: list[_Attack] = []
        for attack in finalists:
            if not tried or self.clock.left(LEARNED) > 0:
                tried += self.attack(attack.pair, self.learned, slow=self.slow)
        best = max(tried, key=lambda attack: attack.bound)
        rivals = [attack for attack in tried if attack.pair is best.pair and attack.bound >= 0.8 * best.bound]
        rivals = sorted(rivals, key=lambda attack: -attack.bound)[:3]
        rivals.sort(key=lambda attack: attack.cost)
        drawing = self._drawing(best)
        cost = drawing + sum(rival.cost for rival in rivals)
        n = int(min(self.chosen, max(self.clock.left(CHOSEN) / cost, self.learned)))
        scores: list[list[list[FloatArray]]] = [[[], []] for _ in rivals]
        chosen = 0
        for size in _sizes(n, CHUNK):
            if chosen and self.clock.left(CHOSEN) < 0:
                break
            for side, data in enumerate(best.pair):
                rows = best.encoder(self.draw(data, size))
                for rival, kept in zip(rivals, scores, strict=True):
                    kept[side].append(rival.score(rows))
            chosen += size
        winner = rivals[0]
        for rival, kept in zip(rivals, scores, strict=True):
            ours, theirs = (np.concatenate(side) for side in kept)
            rival.bound, rival.event = self.event(ours, theirs)
            slower = math.log2((drawing + rival.cost) / (drawing + winner.cost))
            if rival.bound > (1 + WORTH_ITS_TIME * max(slower, 0.0)) * winner.bound:
                winner = rival
        return winner

    def _drawing(self, attack: _Attack) -> float:
        """Return the seconds for one draw from each of the two data sets, with encoding."""
        n = min(self.learned, 20_000)
        start = self.clock.now()
        for data in attack.pair:
            attack.encoder(self.draw(data, n))
        return max(self.clock.since(start), 1e-9) / n

    def count(self, attack: _Attack, draws: int | None) -> tuple[int, int, int, FloatArray, FloatArray]:
        """Count the event on fresh draws, and return (hits, misses, draws of each, fpr, tpr)."""
        hits = misses = counted = 0
        curve: tuple[FloatArray, FloatArray] = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        wanted = math.inf if draws is None else draws
        size = CHUNK
        if self.clock.seconds is not None:
            # smaller chunks for a slow mechanism, so that the clock is read often enough
            cost = self._drawing(attack) + attack.cost
            size = int(np.clip(0.01 * self.clock.seconds / cost, 100, CHUNK))
        sign = 1.0 if attack.event.above == attack.event.for_first else -1.0
        while counted < wanted and (not counted or self.clock.left(COUNTED) > 0):
            n = int(min(size, wanted - counted))
            ours, theirs = (attack.score(attack.encoder(self.draw(data, n))) for data in attack.pair)
            inside = attack.event.counts(ours, theirs)
            hits, misses = hits + inside[0], misses + inside[1]
            if not counted:
                curve = attacker_roc(sign * ours, sign * theirs)
            counted += n
        return hits, misses, counted, *curve


def _gap(first: FloatArray, second: FloatArray) -> float:
    """Return the distance between two means in standard deviations."""
    spread = math.sqrt((first.var() + second.var()) / 2)
    return abs(first.mean() - second.mean()) / spread if spread > 0 else float(first[0] != second[0])


def _best(attacks: list[_Attack], count: int) -> list[_Attack]:
    """Return the best by bound and by gap in turns, since a rare event shows in the bound only with many draws."""
    orders = [sorted(attacks, key=key) for key in (lambda attack: -attack.bound, lambda attack: -attack.gap)]
    mixed = {id(attack): attack for both in zip(*orders, strict=True) for attack in both}
    return list(mixed.values())[:count]


def _sizes(n: int, most: int) -> list[int]:
    """Return the sizes of chunks that add up to n."""
    return [min(most, n - begun) for begun in range(0, n, most)]


def _joined(first: Any, second: Any) -> Any:
    """Return some outputs of both sides together, to fit an encoder."""
    few = 5_000
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.shape[1:] == second.shape[1:]:
        return np.concatenate([first[:few], second[:few]])
    return [*first[:few], *second[:few]]


@dataclass(frozen=True, repr=False)
class SearchResult(AuditResult):
    """Result of a search: an `AuditResult` with the neighbours and the effort.

    Attributes
    ----------
    data, neighbour : object
        The pair of the final count.
    hits, misses : int
        Counts of the event, out of `draws` each: of the data set that it is evidence for, and of the other one.
    pairs : int
        Number of pairs tried.
    seconds : float
        Duration of the whole search, in seconds.
    """

    data: Any = None
    neighbour: Any = None
    hits: int = 0
    misses: int = 0
    pairs: int = 0
    seconds: float = 0.0


def search(
    mechanism: Callable[..., Any],
    neighbours: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    seconds: float | None = 60.0,
    draws: int | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator,
    clock: Callable[[], float] = time.perf_counter,
) -> SearchResult:
    """Search for neighbours and an event that refute a claim of ε, and bound ε from below.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data, draws=..., rng=...)`` returns that many outputs: an array with one row a draw, or a list.
        Outputs may contain numbers, text, None, NaN and sequences of unequal length (see `Encoder`).
    neighbours : Neighbours or sequence of (data, neighbour)
        `Answers` or `Values` of this module, or your own pairs. Every pair must be neighbours. Otherwise the search may
        refute a true claim.
    epsilon, delta : float
        The claim.
    seconds : float or None
        Approximate time for the whole search. None: no clock is read, and the same seed gives the same result.
    draws : int, optional
        Draws of each data set in the final count. Default: as many as time allows. Required if `seconds` is None.
    confidence : float
        Confidence of the lower bound, in (0, 1): a true claim is refuted with probability at most 1 - confidence.
    rng : numpy.random.Generator
        Source of the noise and of the random choices of the search.
    clock : callable
        Returns the time in seconds. On a busy machine, ``time.process_time`` counts the time of this process only.

    Returns
    -------
    SearchResult
        `passed` means that no violation was found, not that the claim is true.

    Raises
    ------
    InvalidParameter
        If the claim is not valid, there are no neighbours, or the mechanism returns a wrong number of outputs.

    See Also
    --------
    audit : Audits a mechanism on two known neighbours.
    SearchResult : Stores the result.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.

    Bichsel, Steffen, Bogunovic and Vechev (2021), "DP-Sniper"; Kong, Muñoz Medina, Ribero and Syed (2024),
    "DP-Auditorium". An event of probability p on one side alone, in n draws, gives a bound of about log(n p / 3.7): a
    bound of 5 needs n p of about 550. The clock stops the final count between chunks, independently of the counts.

    Examples
    --------
    A mechanism with half the noise that ε = 1 requires:

    >>> from dpml.audit.search import Answers
    >>> def halved(data, *, draws, rng):
    ...     return data + rng.laplace(scale=0.5, size=(draws, len(data)))
    >>> found = search(halved, Answers(1), 1.0, seconds=None, draws=50_000, rng=np.random.default_rng(0))
    >>> found.passed, found.epsilon_lower > 1.8
    (False, True)
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    confidence = check_number(confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    rng = check_rng(rng)
    if draws is not None:
        draws = check_integer(draws, "draws", 100)
    if seconds is not None:
        seconds = check_number(seconds, "seconds", 0.0, open_lower=True)
    elif draws is None:
        raise InvalidParameter("draws", draws, "a number of draws if seconds is None")
    if not callable(mechanism):
        raise InvalidParameter("mechanism", mechanism, "callable as mechanism(data, draws=..., rng=...)")
    domain = neighbours if isinstance(neighbours, Neighbours) else Pairs(neighbours)
    hunt = CounterexampleSearch(mechanism, domain, delta, 1 - confidence, rng, Clock(seconds, clock))
    hunt.plan(draws)
    attack = hunt.choose(hunt.climb(hunt.screen()))
    hits, misses, counted, fpr, tpr = hunt.count(attack, draws)
    lower = float(lower_bounds(hits, misses, counted, delta, 1 - confidence))
    event = attack.event
    text = f"{attack.name} {'>=' if event.above else '<'} {event.threshold:.6g}, "
    text += f"{hits:,} times for the {'data' if event.for_first else 'neighbour'} and {misses:,} for the other"
    return SearchResult(
        epsilon,
        delta,
        lower,
        False,
        lower <= epsilon,
        confidence,
        counted,
        text,
        fpr,
        tpr,
        data=attack.pair[0],
        neighbour=attack.pair[1],
        hits=hits,
        misses=misses,
        pairs=len(hunt.seen),
        seconds=hunt.clock.elapsed(),
    )
