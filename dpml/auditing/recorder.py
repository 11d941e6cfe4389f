"""The recorder: what a whole call released about two neighbours, and what that costs, whatever it claims.

Every draw of noise and every private choice of the library passes one door (`dpml.mechanisms.door`). While the call
runs on the data the recorder notes each mechanism, its exact statistic and what it gave. While it runs on the neighbour
each release is answered with what was given before, so that everything that comes after, which may depend on it, is
what it would have been. The two statistics of each release then tell what that release costs, given the past.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpml._validate import check_integer, check_number
from dpml.auditing.alignment import difference_last
from dpml.auditing.composition import epsilon_without_pure
from dpml.auditing.sameness import same
from dpml.exceptions import DpmlError, InvalidParameter
from dpml.mechanisms import door
from dpml.mechanisms.door import EVERYTHING, NOTHING, Loss

__all__ = ["Release", "recorded_cost", "recorded_releases"]


@dataclass(frozen=True)
class Release:
    """One release of a call: the mechanism, its exact statistic on each of the two data sets, and what it costs.

    Attributes
    ----------
    mechanism : object
        With its scale, as it was used for the draw.
    statistic, neighbour_statistic : object
        Private: for an audit, not for publication.
    loss : dpml.mechanisms.door.Loss
    """

    mechanism: Any
    statistic: Any
    neighbour_statistic: Any
    loss: Loss


@dataclass
class _Noted:
    mechanism: Any
    statistic: Any
    output: Any
    run: tuple[tuple[int, int, float], ...]


@dataclass
class _Recording:
    """Notes a first call."""

    rng: np.random.Generator
    releases: list[_Noted] = field(default_factory=list)
    coins_drawn: list[Any] = field(default_factory=list)
    _run: tuple[tuple[int, int, float], ...] = ()
    _groups: int = 0

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        noted = copy.deepcopy(statistic)
        # a source of its own, so that several pasts are looked at whatever seed the call has
        output = mechanism._sample(statistic, None if rng is None else self.rng)
        self.releases.append(_Noted(mechanism, noted, copy.deepcopy(output), self._run))
        return output

    def coins(self, draw: Callable[[Any], Any], rng: Any) -> Any:
        drawn = draw(self.rng)
        self.coins_drawn.append(copy.deepcopy(drawn))
        return drawn

    @contextmanager
    def alternatives(self, factor: float) -> Iterator[Any]:
        before, group, runs = self._run, self._groups, 0
        self._groups += 1

        @contextmanager
        def one_run() -> Iterator[None]:
            nonlocal runs
            self._run, runs = (*before, (group, runs, factor)), runs + 1
            try:
                yield
            finally:
                self._run = before

        yield one_run


class _Diverged(BaseException):
    """The neighbour's call went another way; not an Exception, so that nothing on the way out takes it for its own."""


@dataclass
class _Replay(_Recording):
    """Answers a second call with what a first one released, and compares."""

    first: _Recording = None  # type: ignore[assignment]
    compared: list[Release] = field(default_factory=list)

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        position = len(self.compared)
        if position == len(self.first.releases):
            self._diverge(mechanism, None, statistic)
        noted = self.first.releases[position]
        if noted.mechanism != mechanism or noted.run != self._run or _shape(noted.statistic) != _shape(statistic):
            self._diverge(mechanism, noted.statistic, statistic)
        loss = mechanism._compare(noted.statistic, mechanism, statistic)
        self.compared.append(Release(mechanism, noted.statistic, copy.deepcopy(statistic), loss))
        return copy.deepcopy(noted.output)

    def _diverge(self, mechanism: Any, statistic: Any, neighbour: Any) -> None:
        """Another mechanism, scale, shape or number of releases: the data can be told apart from that alone."""
        self.compared.append(Release(mechanism, statistic, neighbour, EVERYTHING))
        raise _Diverged

    def coins(self, draw: Callable[[Any], Any], rng: Any) -> Any:
        drawn = draw(self.rng)
        position = len(self.coins_drawn)
        before = self.first.coins_drawn[position] if position < len(self.first.coins_drawn) else drawn
        self.coins_drawn.append(before)
        if np.shape(before) == np.shape(drawn):
            return copy.deepcopy(before)
        # a record more or less, the last: the other records' coins are those that they had
        common = min(len(before), len(drawn))
        drawn[:common] = before[:common]
        return drawn


def _shape(statistic: Any) -> Any:
    if isinstance(statistic, tuple):
        # tables of records differ in length between neighbours: only what has the shape of an output is compared
        return len(statistic)
    return np.shape(statistic)


def recorded_cost(
    call: Callable[[Any], Any],
    data: Any,
    neighbour: Any,
    *,
    delta: float = 0.0,
    pasts: int = 3,
    seed: int = 0,
) -> float:
    """Return the privacy loss of everything that a call releases about two neighbouring data sets.

    The recorder is no audit from draws: it knows the exact statistics. Nor does it ask the call what it claims: it
    adds up what the noise that was really drawn lets through.

    Parameters
    ----------
    call : callable
        ``call(data)`` may fit, predict, transform, draw a curve, or all of it, with this library's estimators and
        functions, alone, nested or in a scikit-learn Pipeline. What it returns is compared as well: it must be the
        same for both data sets once all releases are. Make the estimators inside it, with any `random_state`.
    data, neighbour : object
        Two data sets that differ by one record. Of tables with their labels, tuples (X, y), it may be any record: it is
        put last, so that randomness that each record has of its own is the same for the records that both hold. In
        other data sets it should be the last one; elsewhere the bound may be too large.
    delta : float
        δ for which the loss is returned, in [0, 1). 0 for pure differential privacy.
    pasts : int
        How many outcomes of the releases are looked at; the largest loss counts.
    seed : int
        Of the noise, which is drawn here and not by the call's own generators. In release mode the noise is the
        system's and a seed does not reach it.

    Returns
    -------
    float
        For δ = 0 the sum of each release's largest log ratio given what was released before it. For δ > 0 an ε for
        which all releases together are (ε, δ)-indistinguishable on this pair: exact for Gaussian noise, by a division
        of δ among the releases otherwise. Infinity where the two can be told apart for certain: releases of another
        number, kind, scale or shape, an exception on one side, or a result that depends on more than the releases.

    Raises
    ------
    InvalidParameter
        For a bad δ or number of pasts.
    Exception
        Whatever ``call(data)`` itself raises.

    Notes
    -----
    The loss of an adaptive composition is at most the sum of the worst losses of its steps (Dwork and Roth 2014,
    Theorem 3.16). One pair of neighbours can refute a claim; it cannot prove one. What the call runs in other processes
    or threads (`n_jobs`) is not seen.

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> X = np.array([[1, 0], [0, 1], [1, 1]])
    >>> data, neighbour = (X[:2], [0, 1]), (X, [0, 1, 1])
    >>> def call(data):
    ...     return BernoulliNB(0.5, random_state=0).fit(*data)
    >>> round(recorded_cost(call, data, neighbour), 9)
    0.5
    """
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    worst = 0.0
    for past in range(check_integer(pasts, "pasts", 1)):
        losses = _by_run(*_compared(call, data, neighbour, seed, past))
        worst = max(worst, _epsilon(losses, delta))
    return worst


def recorded_releases(
    call: Callable[[Any], Any], data: Any, neighbour: Any, *, seed: int = 0, past: int = 0
) -> list[Release]:
    """Return every release of one run of a call with its cost, in order; parameters as for `recorded_cost`.

    The last one has no mechanism where the two runs differ in what is no release.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> rng = np.random.default_rng(0)
    >>> [found] = recorded_releases(lambda data: Laplace(0.5).release(data, rng=rng), [3.0], [4.0])
    >>> found.mechanism.scale, found.loss.pure
    (2.0, 0.5)
    """
    return _compared(call, data, neighbour, seed, past)[0]


def _compared(
    call: Callable, data: Any, neighbour: Any, seed: int, past: int
) -> tuple[list[Release], list[tuple[tuple[int, int, float], ...]]]:
    if not callable(call):
        raise InvalidParameter("call", call, "a callable that takes one data set")
    data, neighbour = difference_last(data, neighbour)
    first = _Recording(np.random.default_rng([seed, past]))
    with door.listen(first):
        result = call(data)
    replay = _Replay(np.random.default_rng([seed, past, 1]), first=first)
    runs = [noted.run for noted in first.releases]
    try:
        with door.listen(replay):
            neighbour_result = call(neighbour)
    except _Diverged:
        return replay.compared, [*runs, ()][: len(replay.compared)]
    except Exception:  # an exception is a release too
        return [*replay.compared, Release(None, "no exception", "an exception", EVERYTHING)], [*runs, ()]
    alike = len(replay.compared) == len(first.releases) and same(result, neighbour_result)
    if not alike:
        return [*replay.compared, Release(None, result, neighbour_result, EVERYTHING)], [*runs, ()]
    return replay.compared, runs


def _by_run(releases: list[Release], runs: list[tuple[tuple[int, int, float], ...]]) -> Loss:
    """Add up losses; of the alternative runs of a group the dearest counts, times the group's factor."""
    total = NOTHING
    groups: dict[Any, dict[int, list]] = {}
    for release, run in zip(releases, runs, strict=False):
        if run:
            groups.setdefault((run[0][0], run[0][2]), {}).setdefault(run[0][1], []).append((release, run[1:]))
        else:
            total += release.loss
    for (_, factor), alternatives in groups.items():
        losses = [_by_run([r for r, _ in mine], [rest for _, rest in mine]) for mine in alternatives.values()]
        if any(loss.gaussian or loss.profiles or loss.sampled for loss in losses):
            raise DpmlError("random stopping is accounted for pure differential privacy: a run released more than that")
        total += Loss(pure=factor * max(loss.pure for loss in losses))
    return total


def _epsilon(loss: Loss, delta: float) -> float:
    if math.isnan(loss.pure + loss.gaussian):
        return math.inf  # a statistic that is no number has no bound
    if not (loss.gaussian or loss.profiles or loss.sampled):
        return loss.pure
    if delta == 0.0 or math.isinf(loss.pure):
        return math.inf
    return loss.pure + epsilon_without_pure(loss, delta)
