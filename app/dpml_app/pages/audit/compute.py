"""What the Audit page computes, as plain functions of plain values: the server and its workers call the same ones.

Draws come in blocks, each from a random stream of its own, so that more draws keep the ones before, and the same seed
gives the same noise at every ε.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.audit import (
    attack_outputs,
    audit,
    exact_epsilon,
    largest_bound,
    outcome_probabilities,
    outcomes,
    simultaneous_confidence,
)
from dpml.audit.cases import AUDITED, Case, audited_pairs, read_neighbours, read_table
from dpml.exceptions import DpmlError, MissingExtra

Key = tuple[str, float, str, tuple[str, str, int] | None]

# five steps a decade
LADDER = (*(round(s * 10**d) for d in (2, 3, 4) for s in (1, 1.6, 2.5, 4, 6.3)), 100_000)
# claims that only draws can check are checked at this ε, and so is what the list of methods marks
CHECKED_AT = 1.0
MOST_BARS = 24


def step_confidence(confidence: float) -> float:
    """Return the confidence of one step, so that all steps of the ladder together hold with `confidence`."""
    return simultaneous_confidence(confidence, len(LADDER))


def ceiling(draws: int, confidence: float, delta: float = 0.0) -> float:
    """Return the most that a step of so many draws can show."""
    return largest_bound(draws, step_confidence(confidence), delta)


# ---- draws --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def case(key: Key) -> Case:
    """Return the neighbours of an audit, the worst known or those edited by hand, and the method that runs on them."""
    name, epsilon, relation, edited = key
    entry = AUDITED[name]
    if edited is None:
        return entry.case(epsilon, relation)
    table, record, replaced = edited
    # the record that was chosen may have left the table since: then it is the last one
    replaced = min(replaced, len(read_table(table)[1]))
    return entry.case_on(*read_neighbours(table, record, relation, replaced=replaced), epsilon, relation)


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

    The bound is the one of `dpml.audit.audit_outputs` at `step_confidence(confidence)`. What a method refuses comes
    back in words, under "problem".
    """
    entry, neighbours = AUDITED[key[0]], case(key)
    try:
        outputs = _outputs(key, seed, index)
    except DpmlError as error:
        return {"problem": str(error)}
    attack = attack_outputs(*outputs, delta=entry.delta, confidence=step_confidence(confidence), score=neighbours.score)
    fpr, tpr = attack.roc
    hits, misses = attack.counts
    return {
        "draws": LADDER[index],
        "counted": attack.counted,
        "lower": attack.epsilon_lower,
        "fpr": fpr,
        "tpr": tpr,
        "point": attack.box._asdict(),
        "event": {"attacker": attack.name, **asdict(attack.event)},
        "rates": (hits / attack.counted, misses / attack.counted),
        "picture": asdict(outcomes(attack, most=MOST_BARS)),
    }


# ---- what is known without draws ----------------------------------------------------------------------------------


def exact(key: Key) -> dict[str, Any]:
    """Return the exact cost of these neighbours, or only that it is not known."""
    entry, neighbours = AUDITED[key[0]], case(key)
    if neighbours.exact is None:
        return {"known": False, "outputs": None}
    try:
        cost = audit(neighbours.exact, neighbours.data, neighbours.neighbour, key[1], delta=entry.delta)
    except MissingExtra:  # a release draws while it is recorded
        return {"known": False, "outputs": None}
    result: dict[str, Any] = {
        "known": True,
        "epsilon": cost.epsilon_lower,
        "passed": cost.passed,
        "outputs": None,
    }
    log_probabilities = getattr(neighbours.exact, "log_probabilities", None)
    if log_probabilities is not None:
        sides = [log_probabilities(data) for data in (neighbours.data, neighbours.neighbour)]
        pairs = outcome_probabilities(*sides)
        result["outputs"] = {_drawn(k): pair for k, pair in pairs.items()} if len(pairs) <= MOST_BARS else None
        result["event"] = exact_epsilon(*sides)[1]
    return result


def _drawn(output: Any) -> tuple[float, ...]:
    """Return an output as it is drawn: a set of features as the number whose binary digits they are."""
    if isinstance(output, tuple):
        if all(isinstance(v, (bool, np.bool_)) for v in output):
            return (float(sum(1 << i for i, on in enumerate(output) if on)),)
        return tuple(map(float, output))
    return (float(output),)


# ---- the catalogue's claims ----------------------------------------------------------------------------------------


def check(name: str, relation: str, epsilon: float) -> tuple[float, float, bool]:
    """Return the claimed ε, the shown one, and whether draws have shown it.

    A claim without a formula is checked at `CHECKED_AT`, where draws can tell; all of these together accuse an honest
    method in 5 % of runs.
    """
    cost = exact((name, epsilon, relation, None))
    if cost["known"]:
        return epsilon, cost["epsilon"], False
    options: dict[str, Any] = {"confidence": 1 - 0.05 / len(audited_pairs()), "rng": np.random.default_rng(0)}
    return CHECKED_AT, AUDITED[name].audit(CHECKED_AT, relation, sampled=True, **options).epsilon_lower, True
