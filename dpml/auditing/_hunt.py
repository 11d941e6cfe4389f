"""The steps of a black-box search: screen pairs, climb to better pairs, choose an event, and count it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml.auditing.attacker import Event, Score, attacker_roc, best_events, lower_bounds
from dpml.auditing.audit import FloatArray
from dpml.auditing.search_events import Encoder, classifiers
from dpml.auditing.search_neighbours import Neighbours, Pair
from dpml.exceptions import InvalidParameter

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
        encoder = Encoder.of(_joined(*outputs))
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
