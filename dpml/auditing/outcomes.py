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
        One bar per distinct output, per distinct score of the attacker, or per bin of its scores.
    outputs : ndarray of shape (bars, coordinates)
        The outputs or scores. A histogram has no rows.
    left, right : ndarray of shape (bars,)
        Edges of the bars: of bins for a histogram, else around 0, 1, 2, ...
    first, second : ndarray of shape (bars,)
        Share of the counted outputs of the data, and of the neighbour, in each bar. The first and the last bin of a
        histogram include all values beyond them.
    event : ndarray of bool of shape (bars,)
        Whether the bar is inside the event.

    See Also
    --------
    outcomes : Computes the bars of an attack.
    Attack : Stores an event and its counts.
    """

    kind: str
    outputs: FloatArray
    left: FloatArray
    right: FloatArray
    first: FloatArray
    second: FloatArray
    event: BoolArray


def outcomes(attack: Attack, *, most: int = 24, bins: int = 40) -> Outcomes:
    """Return the shares of the outcomes of an attack, by output if there are few, else by score.

    Parameters
    ----------
    attack : Attack
        An attack, as `attack_outputs` returns it.
    most : int, default=24
        Largest number of distinct outputs or scores that each have a bar.
    bins : int, default=40
        Approximate number of bins of a histogram.

    Returns
    -------
    Outcomes
        Shares of the counted outputs, by bar.

    See Also
    --------
    attack_outputs : Chooses and counts an attack.
    outcome_probabilities : Lists known probabilities of each output.

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
    """Return the two probabilities of each output.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...

    Returns
    -------
    dict of output to (float, float)
        Probability of each output from the first and from the second data set.

    See Also
    --------
    exact_epsilon : Computes the smallest ε from log probabilities.
    outcomes : Computes shares of sampled outputs.

    Examples
    --------
    >>> outcome_probabilities({"a": np.log(0.5), "b": np.log(0.5)}, {"a": 0.0})
    {'a': (0.5, 1.0), 'b': (0.5, 0.0)}
    """
    p, q, outputs = log_probability_pairs(first, second)
    return {output: (float(a), float(b)) for output, a, b in zip(outputs, np.exp(p), np.exp(q), strict=True)}
