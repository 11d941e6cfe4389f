"""What the Audit page computes, as plain functions of plain values: the server and its workers call the same ones.

Draws come in blocks, each from a random stream of its own, so that more draws keep the ones before, and the same seed
gives the same noise at every ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

# what audit_outputs does, taken apart: the page shows the event that the attacker chose and what it looks at
from dpml.auditing import as_rows, attacker_roc, attackers, audit, best_event, exact_epsilon, lower_bounds
from dpml.catalogue import CATALOGUE, Case, Method
from dpml.exceptions import DpmlError, MissingExtra
from dpml_app.audit.cases import MASKS, POWERS, case_of

__all__ = [
    "CHECKED_AT",
    "LADDER",
    "block",
    "case",
    "ceiling",
    "check_exactly",
    "check_sampled",
    "claims",
    "exact",
    "expected_to_pass",
    "step",
    "step_confidence",
]

FloatArray = NDArray[np.float64]
Key = tuple[str, float, str, tuple[str, str, int] | None]

# five steps a decade
LADDER = (*(round(s * 10**d) for d in (2, 3, 4) for s in (1, 1.6, 2.5, 4, 6.3)), 100_000)
# the catalogue's claims are checked at this ε
CHECKED_AT = 1.0
MOST_BARS = 24
BINS = 40


def step_confidence(confidence: float) -> float:
    """Return the confidence of one step, so that all steps together hold with `confidence` (Bonferroni).

    Examples
    --------
    >>> round(step_confidence(0.95), 6)
    0.996875
    """
    return 1 - (1 - confidence) / len(LADDER)


def ceiling(draws: int, confidence: float, delta: float = 0.0) -> float:
    """Return the most that so many draws can show: the bound if the attacker's event never fails."""
    n = draws - draws // 2
    return float(lower_bounds(n, 0, n, delta, 1 - step_confidence(confidence)))


# ---- draws --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def case(key: Key) -> Case:
    """Return the neighbours of an audit and the method that runs on them."""
    return case_of(*key)


@lru_cache(maxsize=2 * len(LADDER))
def block(key: Key, seed: int, index: int) -> tuple[NDArray, NDArray]:
    """Return the draws that step `index` adds, from either data set."""
    neighbours, draws = case(key), LADDER[index] - (LADDER[index - 1] if index else 0)
    first, second = (
        np.asarray(neighbours.sample(data, draws=draws, rng=np.random.default_rng([seed, side, index])))
        for side, data in enumerate((neighbours.data, neighbours.neighbour))
    )
    return first, second


def _outputs(key: Key, seed: int, index: int) -> tuple[NDArray, NDArray]:
    blocks = [block(key, seed, i) for i in range(index + 1)]
    return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


# ---- one step of the audit -----------------------------------------------------------------------------------------


def step(key: Key, seed: int, confidence: float, index: int) -> dict[str, Any]:
    """Return the audit of the first LADDER[index] draws a side: bound, attacker's ROC curve, event, and outputs.

    The bound is the one of `dpml.auditing.audit_outputs` at `step_confidence(confidence)`. What a method refuses comes
    back in words, under "problem".
    """
    entry, neighbours = CATALOGUE[key[0]], case(key)
    try:
        outputs = _outputs(key, seed, index)
    except DpmlError as error:
        return {"problem": str(error)}
    alpha, half = 1 - step_confidence(confidence), len(outputs[0]) // 2
    first, second = as_rows(outputs[0][:half]), as_rows(outputs[1][:half])
    given = neighbours.score
    tried = [("score given", given)] if given is not None else list(attackers(first, second))
    best: tuple | None = None
    for name, attacker in tried:
        mine, other = (np.asarray(attacker(side[:half]), float) for side in outputs)
        bound, event = best_event(mine, other, entry.delta, alpha)
        if best is None or bound > best[0]:
            best = (bound, name, attacker, event)
    assert best is not None
    _, name, attacker, event = best
    ours, theirs = (np.asarray(attacker(side[half:]), float) for side in outputs)
    hits, misses = event.counts(ours, theirs)
    n = len(ours)
    sign = 1.0 if event.above == event.for_first else -1.0
    fpr, tpr = attacker_roc(sign * ours, sign * theirs)
    says = [(side >= event.threshold) == event.above for side in (ours, theirs)]
    held_out = [side[half:] for side in outputs]
    return {
        "draws": LADDER[index],
        "lower": float(lower_bounds(hits, misses, n, entry.delta, alpha)),
        "fpr": fpr,
        "tpr": tpr,
        "point": _point(hits, misses, n, alpha, event.for_first),
        "event": {"attacker": name, "threshold": event.threshold, "above": event.above, "for_first": event.for_first},
        "rates": (hits / n, misses / n),
        "picture": _picture(held_out, (ours, theirs), says, event),
    }


def _point(hits: int, misses: int, n: int, alpha: float, for_first: bool) -> dict[str, float]:
    """Return the event on the ROC plane with its Clopper-Pearson box; the bound is that of the box's worst corner."""

    def limits(k: int) -> tuple[float, float, float]:
        low = beta.ppf(alpha / 2, k, n - k + 1) if k > 0 else 0.0
        high = beta.ppf(1 - alpha / 2, k + 1, n - k) if k < n else 1.0
        return float(low), k / n, float(high)

    tpr, fpr = list(limits(hits)), list(limits(misses))
    if not for_first:
        # the event speaks for the neighbour, so the attacker says "data" outside it
        tpr, fpr = ([1 - v for v in reversed(limits(k))] for k in (misses, hits))
    return dict(zip(("left", "fpr", "right", "bottom", "tpr", "top"), (*fpr, *tpr), strict=True))


def _picture(held_out, values, says, event) -> dict[str, Any]:
    """Return bars of the held-out outputs: one a distinct output if they are few, else bins of the attacker's score."""
    rows = np.concatenate([as_rows(side) for side in held_out])
    n = len(values[0])
    distinct, where = np.unique(rows, axis=0, return_inverse=True) if rows.shape[1] <= 4 else (rows, None)
    if where is None or len(distinct) > MOST_BARS:
        both = np.concatenate(values)
        distinct, where = np.unique(both[:, None], axis=0, return_inverse=True)
        kind = "score"
        if len(distinct) > MOST_BARS:
            return _bins(values, event)
    else:
        kind = "output"
    where = where.ravel()
    shares = [np.bincount(w, minlength=len(distinct)) / n for w in (where[:n], where[n:])]
    inside = np.zeros(len(distinct), dtype=bool)
    inside[where[np.concatenate(says)]] = True
    place = np.arange(len(distinct), dtype=float)
    return {
        "kind": kind,
        "outputs": distinct,
        "left": place - 0.5,
        "right": place + 0.5,
        "first": shares[0],
        "second": shares[1],
        "event": inside,
    }


def _bins(values, event) -> dict[str, Any]:
    both = np.concatenate(values)
    low, high = np.quantile(both, [0.005, 0.995])
    low, high = min(low, event.threshold), max(high, event.threshold)
    # an edge at the threshold, so that each bin is in the event or not
    width = (high - low) / BINS or 1.0
    if np.array_equal(both, np.round(both)):
        width = np.ceil(width)  # whole numbers: as many of them in each bin
    before = max(1, int(np.ceil((event.threshold - low) / width)))
    cuts = event.threshold + width * np.arange(-before, BINS - before + 2)
    # the first and the last bin hold the tails
    counted = [np.histogram(np.clip(v, cuts[0], cuts[-1]), cuts)[0] / len(v) for v in values]
    return {
        "kind": "histogram",
        "outputs": np.zeros((0, 1)),
        "left": cuts[:-1],
        "right": cuts[1:],
        "first": counted[0],
        "second": counted[1],
        "event": (cuts[:-1] >= event.threshold) == event.above,
    }


# ---- what is known without draws ----------------------------------------------------------------------------------


def exact(key: Key) -> dict[str, Any]:
    """Return the exact cost of these neighbours, or only that it is not known."""
    entry, neighbours = CATALOGUE[key[0]], case(key)
    if neighbours.exact is None:
        return {"known": False, "outputs": None}
    try:
        found = audit(neighbours.exact, neighbours.data, neighbours.neighbour, key[1], delta=entry.delta)
    except MissingExtra:  # a release draws while it is recorded
        return {"known": False, "outputs": None}
    result: dict[str, Any] = {"known": True, "epsilon": found.epsilon_lower, "passed": found.passed, "outputs": None}
    log_probabilities = getattr(neighbours.exact, "log_probabilities", None)
    if log_probabilities is not None:
        sides = [log_probabilities(data) for data in (neighbours.data, neighbours.neighbour)]
        result["outputs"] = _probabilities(*sides)
        result["event"] = exact_epsilon(*sides)[1]
    return result


def _probabilities(first: Any, second: Any) -> dict[tuple[float, ...], tuple[float, float]] | None:
    """Return the probability of each output on either side, under the output as it is drawn; None if too many."""
    if isinstance(first, Mapping):
        keys = list(dict.fromkeys([*first, *second]))
        pairs = [(np.exp(first.get(k, -np.inf)), np.exp(second.get(k, -np.inf))) for k in keys]
        # sets of features are drawn as the number whose binary digits they are
        bits = all(isinstance(v, (bool, np.bool_)) for k in keys for v in k)
        codes = [(float(sum(1 << i for i, on in enumerate(k) if on)),) if bits else tuple(map(float, k)) for k in keys]
    else:
        one, two = np.asarray(first, float).ravel(), np.asarray(second, float).ravel()
        pairs = list(zip(np.exp(one), np.exp(two), strict=True))
        numbers = MASKS @ POWERS if len(one) == len(MASKS) else np.arange(len(one))
        codes = [(float(k),) for k in numbers]
    if len(codes) > MOST_BARS:
        return None
    return {code: (float(p), float(q)) for code, (p, q) in zip(codes, pairs, strict=True)}


# ---- the catalogue's claims ----------------------------------------------------------------------------------------


def claims() -> list[tuple[str, str]]:
    """Return every claim as (method, relation)."""
    return [(name, relation) for name, entry in CATALOGUE.items() for relation in entry.relations]


def expected_to_pass(entry: Method) -> bool:
    """Return whether the catalogue says that the claim holds at the ε at which it is checked."""
    return entry.private and entry.true_epsilon(CHECKED_AT) <= CHECKED_AT


def check_exactly(name: str, relation: str) -> dict[str, Any]:
    """Check a claim by its formula."""
    found = exact((name, CHECKED_AT, relation, None))
    return {name: value for name, value in found.items() if name != "outputs"}


def check_sampled(name: str, relation: str, seed: int) -> dict[str, Any]:
    """Check a claim from draws of the method's own code; together all these checks accuse wrongly in 5 % of runs."""
    entry = CATALOGUE[name]
    try:
        # no more than a method asks for that is fitted anew for each draw
        draws = min(4_000, entry.case(CHECKED_AT, relation).draws) if expected_to_pass(entry) else None
        found = entry.audit(
            CHECKED_AT,
            relation,
            sampled=True,
            draws=draws,
            rng=np.random.default_rng(seed),
            confidence=1 - 0.05 / len(claims()),
        )
    except DpmlError as error:
        return {"known": False, "problem": str(error)}
    return {"known": True, "passed": found.passed, "epsilon": found.epsilon_lower, "draws": found.draws}
