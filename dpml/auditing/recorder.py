"""The recorder: the releases of a whole call about two neighbours, and their true privacy cost, whatever it claims.

Every noise sample and every private selection of the library goes through one boundary (`dpml.mechanisms.boundary`).
While the call runs on the data, the recorder stores each mechanism, its exact statistic and its output. While the call
runs on the neighbour, the recorder answers each release with the stored output, so that later steps, which may depend
on it, see the same past. The two statistics of each release then give the cost of that release, given the past.

Whatever else the two calls leave must be equal, or the cost is infinite: results with everything that they hold
(`dpml.auditing.sameness`), refusals, warnings, output and files (`dpml.auditing._effects`), and public randomness, of
which a record may ask for its own entries and no more.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpml._validate import check_integer, check_number
from dpml.auditing._effects import effects
from dpml.auditing.alignment import difference_last, entries_of_a_record
from dpml.auditing.composition import epsilon_without_pure
from dpml.auditing.sameness import fingerprint
from dpml.exceptions import DpmlError, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.boundary import EVERYTHING, NOTHING, Loss


@dataclass(frozen=True)
class Release:
    """One release of a call: its mechanism, its exact statistics on two data sets, and its loss.

    Attributes
    ----------
    mechanism : object
        The mechanism, with the scale of its noise.
    statistic, neighbour_statistic : object
        Exact statistics of the two data sets. They are private: use them in an audit, and do not publish them.
    loss : dpml.mechanisms.boundary.Loss
        Privacy loss of the release.

    See Also
    --------
    recorded_releases : Returns the releases of a call.
    recorded_cost : Computes the privacy loss of a call.
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
class _Asked:
    """A request for public randomness, after a number of releases, and its answer."""

    draw: str
    arguments: tuple
    size: Any
    after: int
    drawn: Any

    def same_request(self, other: _Asked, entries: int) -> bool:
        """Return whether two requests are equal, but for the entries of one record."""
        if (self.draw, self.arguments, self.after) != (other.draw, other.arguments, other.after):
            return False
        if (self.size is None) != (other.size is None):
            return False
        one, two = (np.atleast_1d(asked.size if asked.size is not None else 0) for asked in (self, other))
        return one.shape == two.shape and bool(abs(one[0] - two[0]) <= entries and (one[1:] == two[1:]).all())


@dataclass
class _Recording:
    """Observer that records the first call."""

    rng: np.random.Generator
    releases: list[_Noted] = field(default_factory=list)
    public_draws: list[_Asked] = field(default_factory=list)
    _run: tuple[tuple[int, int, float], ...] = ()
    _groups: int = 0

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        noted = copy.deepcopy(statistic)
        # the recorder's own generator, so that several pasts are tried whatever seed the call uses
        output = mechanism._sample(statistic, None if rng is None else self.rng)
        self.releases.append(_Noted(mechanism, noted, copy.deepcopy(output), self._run))
        return output

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        drawn = boundary.drawn_by(self.rng, draw, arguments, size)
        self.public_draws.append(_Asked(draw, arguments, size, len(self.releases), copy.deepcopy(drawn)))
        return drawn

    @contextmanager
    def best_of_runs(self, factor: float) -> Iterator[Any]:
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
    """The neighbour's call took a different path. Not an Exception, so that no handler inside the call catches it."""


@dataclass
class _Replay(_Recording):
    """Observer that answers a second call with the outputs of the first, and compares the statistics."""

    first: _Recording = None  # type: ignore[assignment]
    entries: int = 1
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
        """Stop: a different mechanism, scale, shape or number of releases alone distinguishes the data sets."""
        self.compared.append(Release(mechanism, statistic, neighbour, EVERYTHING))
        raise _Diverged

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        position = len(self.public_draws)
        asked = _Asked(draw, arguments, size, len(self.compared), None)
        self.public_draws.append(asked)
        before = self.first.public_draws[position] if position < len(self.first.public_draws) else None
        if before is None or not before.same_request(asked, self.entries):
            self._diverge(None, before, asked)
        assert before is not None
        asked.drawn = copy.deepcopy(before.drawn)
        if np.shape(size) == () and size != before.size:
            # the last record was added or removed: the other records keep their draws
            asked.drawn = boundary.drawn_by(self.rng, draw, arguments, size)
            common = min(size, before.size)
            asked.drawn[:common] = before.drawn[:common]
        return asked.drawn


def _shape(statistic: Any) -> Any:
    if isinstance(statistic, tuple):
        # tables of records differ in length between neighbours, so their shapes are not compared
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

    The recorder knows the exact statistics, so this is not an audit from draws. It does not use the call's claim: it
    adds up the losses from the noise that was really drawn.

    Parameters
    ----------
    call : callable
        ``call(data)`` may fit, predict, transform or draw a curve, with this library's estimators and functions,
        alone, nested or in a scikit-learn Pipeline. Its results are compared too: with equal releases they must be
        equal for both data sets, to the bit and with everything that they hold, and so must its warnings (but for
        `FactWarning`, of simulations), its output, its log records, and the files that it writes. Create the
        estimators inside the call, with any `random_state`. In the main thread the working directory is an empty
        folder during the call.
    data, neighbour : object
        Two data sets that differ by one record. In tables with labels, tuples (X, y), it may be any record. A call that
        asks for public randomness for each record sees it moved to the end, so that the records that both hold receive
        the same randomness. Any other call sees the tables as they are. In other data sets it should be the last
        record if the call asks for such randomness. Otherwise the bound may be too large.
    delta : float
        The δ for which the loss is returned, in [0, 1). Use 0 for pure differential privacy.
    pasts : int
        Number of outcomes of the releases that are tried. The largest loss counts.
    seed : int
        Seed of the noise, which the recorder draws instead of the call's own generators. In release mode the noise
        comes from the operating system, and the seed does not affect it.

    Returns
    -------
    float
        For δ = 0, the sum of each release's largest log ratio, given the earlier releases. For δ > 0, an ε for which
        all releases together are (ε, δ)-indistinguishable on this pair: exact for Gaussian noise, and otherwise from a
        division of δ among the releases. Infinity if the two data sets can be told apart with certainty: the releases
        differ in number, kind, scale or shape, only one side raises an exception, or a result depends on more than
        the releases. Equal refusals (errors of `dpml.exceptions`) on both sides are equal results.

    Raises
    ------
    InvalidParameter
        If δ or the number of pasts is not allowed.
    Exception
        Any other exception that the call raises on both sides: a call that cannot run has no cost.

    See Also
    --------
    recorded_releases : Returns each release with its loss.
    audit : Audits one mechanism on two neighbours.

    Notes
    -----
    The loss of an adaptive composition is at most the sum of the worst losses of its steps (Dwork and Roth 2014,
    Theorem 3.16). One pair of neighbours can refute a claim, but cannot prove one. The recorder does not see releases
    in other processes or threads (`n_jobs`), nor output and files that C code writes past Python.

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
    return max(total_epsilon(loss, delta) for loss in recorded_losses(call, data, neighbour, pasts=pasts, seed=seed))


def recorded_losses(
    call: Callable[[Any], Any], data: Any, neighbour: Any, *, pasts: int = 3, seed: int = 0
) -> list[Loss]:
    """Return the loss of everything that a call releases, for each of several pasts."""
    return [_by_run(*_compared(call, data, neighbour, seed, past)) for past in range(check_integer(pasts, "pasts", 1))]


def recorded_releases(
    call: Callable[[Any], Any], data: Any, neighbour: Any, *, seed: int = 0, past: int = 0
) -> list[Release]:
    """Return every release of one run of a call with its loss, in order.

    If the two runs differ outside the releases, for example in their results, the last entry has no mechanism.

    Parameters
    ----------
    call : callable
        ``call(data)`` runs the code under audit, as in `recorded_cost`.
    data, neighbour : object
        Two data sets that differ by one record.
    seed : int, default=0
        Seed of the noise.
    past : int, default=0
        Index of the outcome of the releases. Each index gives other noise.

    Returns
    -------
    list of Release
        The releases in the order of the call.

    Raises
    ------
    InvalidParameter
        If `call` is not callable.

    See Also
    --------
    recorded_cost : Adds up the losses.
    Release : Stores one release.

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
    modules = len(sys.modules)
    first, one = _recorded(call, data, seed, past)
    if any(asked.size is not None for asked in first.public_draws):
        # a draw for each record belongs to its place: the records that both hold must keep theirs
        given, (data, neighbour) = data, difference_last(data, neighbour)
        if data is not given:
            first, one = _recorded(call, data, seed, past)
    replay = _Replay(np.random.default_rng([seed, past, 1]), first=first, entries=entries_of_a_record(data, neighbour))
    runs = [noted.run for noted in first.releases]
    try:
        other = _run(call, neighbour, replay)
    except _Diverged:
        return replay.compared, [*runs, ()][: len(replay.compared)]
    for error in (one.error, other.error):
        # on both sides, for else the difference is the cost
        if error is not None and one.prints[0] == other.prints[0] and not isinstance(error, DpmlError):
            raise error
    numbers = (
        (len(first.releases), len(first.public_draws)),
        (len(replay.compared), len(replay.public_draws)),
    )
    if one.prints[1] != other.prints[1] and len(sys.modules) > modules:
        return _compared(call, data, neighbour, seed, past)  # a first import may warn, print and start processes
    if one.prints == other.prints and numbers[0] == numbers[1]:
        return replay.compared, runs
    # what differs: the results or errors, what is left beside them, or the number of releases and draws
    different = [k for k in (0, 1) if one.prints[k] != other.prints[k]]
    outcome, other_outcome = (one.shown[different[0]], other.shown[different[0]]) if different else numbers
    return [*replay.compared, Release(None, outcome, other_outcome, EVERYTHING)], [*runs, ()]


@dataclass
class _Ended:
    """How a call ended: its result or exception, and what it left, to be shown and as fingerprints."""

    shown: tuple[Any, ...]
    prints: tuple[bytes, ...]
    error: Exception | None


def _recorded(call: Callable, data: Any, seed: int, past: int) -> tuple[_Recording, _Ended]:
    """Run a call under an observer of its own; return the two."""
    first = _Recording(np.random.default_rng([seed, past]))
    return first, _run(call, data, first)


def _run(call: Callable, data: Any, observer: _Recording) -> _Ended:
    result = error = None
    with effects() as left, boundary.observe(observer):
        try:
            result = call(data)
        except Exception as raised:
            error = raised
    ending = result if error is None else (type(error).__qualname__, str(error))
    prints = fingerprint([error is None, ending]), fingerprint(left.seen)
    return _Ended((ending, left.seen), prints, error)


def _by_run(releases: list[Release], runs: list[tuple[tuple[int, int, float], ...]]) -> Loss:
    """Add up losses. Of the alternative runs of a group, the most expensive counts, times the group's factor."""
    total = NOTHING
    groups: dict[Any, dict[int, list]] = {}
    for release, run in zip(releases, runs, strict=False):
        if run:
            groups.setdefault((run[0][0], run[0][2]), {}).setdefault(run[0][1], []).append((release, run[1:]))
        else:
            total += release.loss
    for (_, factor), alternatives in groups.items():
        losses = [_by_run([r for r, _ in mine], [rest for _, rest in mine]) for mine in alternatives.values()]
        if any(loss.has_no_ratio for loss in losses):
            raise DpmlError("random stopping is accounted for pure ε only: a run made a release without a pure ε")
        total += Loss(pure=factor * max(loss.pure for loss in losses))
    return total


def total_epsilon(loss: Loss, delta: float) -> float:
    """Return an ε for which a loss is (ε, δ)-private."""
    if math.isnan(loss.pure + loss.gaussian):
        return math.inf  # a NaN statistic has no bound
    if not loss.has_no_ratio:
        return loss.pure
    if delta == 0.0 or math.isinf(loss.pure):
        return math.inf
    return loss.pure + epsilon_without_pure(loss, delta)
