"""How often each outcome came from either data set, among the draws on which an attack was counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_integer
from dpml.auditing.attack import Attack
from dpml.auditing.attacker import Event, as_rows
from dpml.auditing.audit import log_probability_pairs

# Outputs of more coordinates are told by their score alone.
MOST_COORDINATES = 4


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Bars of outcomes, each inside the attacker's event or outside it.

    Attributes
    ----------
    kind : {"output", "score", "histogram"}
        One bar a distinct output, one a distinct score of the attacker, or one a bin of its scores.
    outputs : ndarray of shape (bars, coordinates)
        The outputs or scores; no rows for a histogram.
    left, right : ndarray
        Edges of the bars: of bins for a histogram, else around 0, 1, 2, ...
    first, second : ndarray
        Share of the draws of the data, and of the neighbour, that each bar holds. The first and the last bin of a
        histogram hold what lies beyond them.
    event : ndarray of bool
        Whether the bar is inside the event.
    """

    kind: str
    outputs: FloatArray
    left: FloatArray
    right: FloatArray
    first: FloatArray
    second: FloatArray
    event: BoolArray


def outcomes(attack: Attack, *, most: int = 24, bins: int = 40) -> Outcomes:
    """Return shares of the outcomes of an attack, by output where there are few of them, else by the attacker's score.

    Parameters
    ----------
    attack : Attack
        As `attack_outputs` returns it.
    most : int
        Distinct outputs or scores that get a bar of their own, at most.
    bins : int
        Bins of a histogram, about.

    Examples
    --------
    >>> from dpml.auditing import attack_outputs
    >>> rng = np.random.default_rng(0)
    >>> shown = outcomes(attack_outputs(rng.random(4_000) < 0.75, rng.random(4_000) < 0.25))
    >>> shown.outputs.ravel().tolist(), shown.first.round(1).tolist(), shown.event.tolist()
    ([0.0, 1.0], [0.2, 0.8], [False, True])
    """
    most, bins = check_integer(most, "most", 1), check_integer(bins, "bins", 1)
    rows = np.concatenate([as_rows(side) for side in (attack.outputs, attack.neighbour_outputs)])
    if rows.shape[1] <= MOST_COORDINATES:
        distinct, where = np.unique(rows, axis=0, return_inverse=True)
        if len(distinct) <= most:
            return _bars(attack, "output", distinct, where.ravel())
    both = np.concatenate([attack.scores, attack.neighbour_scores])
    distinct, where = np.unique(both[:, None], axis=0, return_inverse=True)
    if len(distinct) <= most:
        return _bars(attack, "score", distinct, where.ravel())
    return _binned(attack.scores, attack.neighbour_scores, attack.event, bins)


def _bars(attack: Attack, kind: str, distinct: FloatArray, where: IntArray) -> Outcomes:
    n, place = attack.counted, np.arange(len(distinct), dtype=float)
    first, second = (np.bincount(side, minlength=len(distinct)) / n for side in (where[:n], where[n:]))
    inside = np.zeros(len(distinct), dtype=bool)
    inside[where[np.concatenate(attack.inside)]] = True
    return Outcomes(kind, distinct, place - 0.5, place + 0.5, first, second, inside)


def _binned(ours: FloatArray, theirs: FloatArray, event: Event, bins: int) -> Outcomes:
    both = np.concatenate([ours, theirs])
    low, high = np.quantile(both, [0.005, 0.995])
    low, high = min(low, event.threshold), max(high, event.threshold)
    # an edge at the threshold, so that each bin is in the event or not
    width = (high - low) / bins or 1.0
    if np.array_equal(both, np.round(both)):
        width = np.ceil(width)  # whole numbers: as many of them in each bin
    before = max(1, int(np.ceil((event.threshold - low) / width)))
    cuts = np.asarray(event.threshold + width * np.arange(-before, bins - before + 2), dtype=float)
    first, second = (np.histogram(np.clip(side, cuts[0], cuts[-1]), cuts)[0] / len(side) for side in (ours, theirs))
    return Outcomes("histogram", np.zeros((0, 1)), cuts[:-1], cuts[1:], first, second, event.inside(cuts[:-1]))


def outcome_probabilities(first: Any, second: Any) -> dict[Any, tuple[float, float]]:
    """Return the two probabilities of each output, from log probabilities as `exact_epsilon` takes them.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array
        An output that is missing cannot occur; places of an array stand for 0, 1, 2, ...

    Examples
    --------
    >>> outcome_probabilities({"a": np.log(0.5), "b": np.log(0.5)}, {"a": 0.0})
    {'a': (0.5, 1.0), 'b': (0.5, 0.0)}
    """
    p, q, outputs = log_probability_pairs(first, second)
    return {output: (float(a), float(b)) for output, a, b in zip(outputs, np.exp(p), np.exp(q), strict=True)}
