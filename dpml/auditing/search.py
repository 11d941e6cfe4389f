"""A black-box search for neighbours and an event that refute a privacy claim of any callable.

It has three steps, each on its own draws. Neighbours: try patterns on few draws, the best of them on more, and then
pairs close to the best while time is left (as DP-Auditorium optimises them). Event: train classifiers to tell the
outputs apart, and take the threshold of a score with the largest bound on fresh draws (as in DP-Sniper). Bound: count
this one event on fresh draws of this one pair, so that Clopper-Pearson limits need no correction for the search.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.auditing._hunt import Clock, CounterexampleSearch
from dpml.auditing.attacker import lower_bounds
from dpml.auditing.audit import AuditResult
from dpml.auditing.search_neighbours import Neighbours, Pairs
from dpml.exceptions import InvalidParameter


@dataclass(frozen=True, repr=False)
class SearchResult(AuditResult):
    """Result of a search: that of an audit, with the neighbours and the effort.

    Attributes
    ----------
    epsilon : float
        The claimed ε.
    delta : float
        The claimed δ.
    epsilon_lower : float
        The actual ε of these neighbours if `exact`, else a lower bound on it.
    exact : bool
        Whether `epsilon_lower` was computed from the distributions and not from sampled outputs.
    passed : bool
        Whether the claim holds on these neighbours: `epsilon_lower` does not exceed `epsilon`.
    confidence : float
        Probability with which a sampled bound is a correct lower bound. It is 1 if exact.
    draws : int
        Number of outputs of each of the two data sets. It is 0 if exact.
    event : str
        Description of the event that separates the two data sets best.
    delta_lower : float or None
        The δ that these neighbours need at the claimed ε if `exact`, else a lower bound on it. None where only the
        largest log ratio is known. The claim holds where it does not exceed `delta`.
    fpr, tpr : ndarray or None
        The attacker's ROC curve on the held-out outputs: the probability of the verdict "data" if the output came from
        the neighbour (fpr) and from the data (tpr). A claim of ε bounds it by tpr <= e^ε fpr + δ and
        1 - fpr <= e^ε (1 - tpr) + δ.
    data, neighbour : object
        The pair of the final count.
    hits, misses : int
        Counts of the event, out of `draws` each: of the data set that it is evidence for, and of the other one.
    pairs : int
        Number of pairs tried.
    seconds : float
        Duration of the whole search, in seconds.

    See Also
    --------
    search : Runs a search.
    AuditResult : Stores the result of an audit.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.
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
        Outputs may contain numbers, text, None, NaN and sequences of unequal length (see `search_events.Encoder`).
    neighbours : Neighbours or sequence of (data, neighbour)
        `Answers`, `Values`, or your own pairs. Every pair must be neighbours. Otherwise the search may refute a true
        claim.
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
    Answers : Defines a domain of query answers.
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
