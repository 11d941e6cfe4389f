"""A search from outside: neighbours and an event that refute a claim, for any callable.

Three steps, on draws of their own. Neighbours: patterns are tried on few draws, the best on more, and pairs close to
the best as long as time is left (dp-auditorium optimises them so). Event: classifiers learn to tell the outputs apart,
and the threshold with the largest bound on fresh draws makes a score an event (as DP-Sniper does). Bound: that one
event is counted on fresh draws of that one pair, so that Clopper-Pearson limits need no correction for the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.auditing._hunt import Clock, Hunt
from dpml.auditing.attacker import lower_bounds
from dpml.auditing.audit import AuditResult
from dpml.auditing.search_neighbours import Neighbours, Pairs
from dpml.exceptions import InvalidParameter

__all__ = ["SearchResult", "search"]


@dataclass(frozen=True, repr=False)
class SearchResult(AuditResult):
    """What a search found; beside what an audit says, the neighbours and how they were reached.

    Attributes
    ----------
    data, neighbour : object
        The pair that was counted.
    hits, misses : int
        Draws inside the event, of the data set that it speaks for and of the other; `draws` of each were counted.
    pairs : int
        Pairs that were tried.
    seconds : float
        Time of the whole search.
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
        Numbers, words, None, NaN and sequences of unequal length are all read (see `search_events.Encoder`).
    neighbours : Neighbours or sequence of (data, neighbour)
        `Answers`, `Values`, or pairs of your own. All that they return must be neighbours, or the search accuses what
        is honest.
    epsilon, delta : float
        The claim.
    seconds : float or None
        Time for all of it, about. None: no clock is read, and the same seed gives the same result.
    draws : int, optional
        Draws of each data set in the last count; default: as many as time allows. Needed where `seconds` is None.
    confidence : float
        Of the lower bound, in (0, 1): an honest mechanism is accused with probability at most 1 - confidence.
    rng : numpy.random.Generator
    clock : callable
        Tells the time in seconds; ``time.process_time`` counts this process alone, on a machine that is busy.

    Returns
    -------
    SearchResult
        `passed` says that nothing was found, not that the claim is true.

    Raises
    ------
    InvalidParameter
        For a bad claim, no neighbours, or a mechanism that returns another number of outputs than it was asked for.

    Notes
    -----
    Bichsel, Steffen, Bogunovic and Vechev (2021), "DP-Sniper"; Kong, Muñoz Medina, Ribero and Syed (2024),
    "DP-Auditorium". An event of probability p on one side alone, in n draws, gives a bound of about log(n p / 3.7): a
    bound of 5 needs n p of about 550. The clock stops the last count between chunks, which does not depend on what was
    counted.

    Examples
    --------
    Half the noise that ε = 1 needs:

    >>> from dpml.auditing import Answers
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
        raise InvalidParameter("draws", draws, "a number of draws where seconds is None")
    if not callable(mechanism):
        raise InvalidParameter("mechanism", mechanism, "callable as mechanism(data, draws=..., rng=...)")
    domain = neighbours if isinstance(neighbours, Neighbours) else Pairs(neighbours)
    hunt = Hunt(mechanism, domain, delta, 1 - confidence, rng, Clock(seconds, clock))
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
