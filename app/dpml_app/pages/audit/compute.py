"""The settings of the page Audit, and its computations, as plain functions for workers too.

Samples come in blocks, each from a random stream of its own. More samples keep the ones before, and the same seed gives
the same noise at every ε.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import param
from numpy.typing import NDArray

from dpml.audit import (
    attack_outputs,
    audit,
    largest_bound,
    outcome_probabilities,
    outcomes,
    simultaneous_confidence,
)
from dpml.audit.cases import AUDITED, Case, audited_pairs, read_neighbours, read_table
from dpml.audit.cases.typed import MOST_RECORDS, RECORD, TABLE
from dpml.audit.sampled import clopper_pearson
from dpml.exceptions import DpmlError, FactWarning, MissingExtra
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.settings import RELATION_TITLES, PageValues, Shared, choice, declared_by, number, text

Key = tuple[str, float, str, tuple[str, str, int] | None]
Floats = NDArray[np.float64]

# five steps a decade
LADDER = (*(round(s * 10**d) for d in (2, 3, 4) for s in (1, 1.6, 2.5, 4, 6.3)), 100_000)
# claims that only samples can check are checked at this ε, and so are the marks in the list of methods
CHECKED_AT = 1.0
MOST_BARS = 24
SIDES = ("first", "second")

# ---- settings -----------------------------------------------------------------------------------------------------

# 24 steps a decade, of two digits each
STEPS = (1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 3, 3.2, 3.5, 4, 4.2, 4.6, 5, 5.6, 6.2, 7, 7.5, 8.3, 9.1)
AUDIT_EPSILONS = (*(float(f"{s * 10**d:.3g}") for d in (-2, -1, 0) for s in STEPS), 10.0)
AUDIT_DRAWS = LADDER[LADDER.index(1_000) :]
CONFIDENCES = (0.8, 0.9, 0.95, 0.99, 0.999)
RELATION_WORDS = {"add-remove": "add or remove one record", "replace-one": "replace one record"}


class Records(param.String):
    """Records of a table, or one of them."""

    allowed = "records separated by dots, each a class (n or y) followed by its features among a, b, c and d"


@dataclass(frozen=True)
class AuditValues(PageValues):
    """All settings that the page Audit depends on."""

    audit_method: str = choice("private-threshold-testing", list(AUDITED), "Method (✗: claim violated)")
    audit_epsilon: float = choice(1.0, AUDIT_EPSILONS, "Claimed ε")
    audit_relation: str = choice("add-remove", RELATION_TITLES, "Claimed relation")
    audit_neighbours: str = choice("worst", {"worst": "Worst known", "table": "Custom table"}, "Neighbouring tables")
    audit_table: str = text("nab.nb.yc.yac", "Table", Records, regex=rf"^{TABLE}\Z")
    audit_record: str = text("yab", "New record", Records, regex=rf"^{RECORD}\Z")
    audit_replaced: int = number(1, (1, MOST_RECORDS), "Replaced record")
    audit_draws: int = choice(25_000, AUDIT_DRAWS, "Maximum number of samples")
    audit_confidence: float = choice(0.95, {c: f"{100 * c:g}%" for c in CONFIDENCES}, "Confidence")
    audit_seed: int = number(0, (0, 2**31 - 1), "Audit seed")

    def key(self) -> tuple:
        """Return the identity of an audit, the first argument of `step`."""
        edited = None
        if self.audit_neighbours == "table":
            edited = self.audit_table, self.audit_record, self.audit_replaced
        return self.audit_method, self.audit_epsilon, self.audit_relation, edited


@declared_by(AuditValues)
class AuditSettings(Shared):
    """The settings of the page Audit."""

    def fit_audit(self) -> list[str]:
        """Change settings that the chosen method does not have; return a sentence for each change."""
        entry, changes, sentences = AUDITED[self.audit_method], {}, []
        if self.audit_relation not in entry.relations:
            changes["audit_relation"] = entry.relations[0]
            sentences.append(f"{entry.title} claims privacy only for “{RELATION_WORDS[entry.relations[0]]}”.")
        if self.audit_neighbours == "table" and entry.typed is None:
            changes["audit_neighbours"] = "worst"
            sentences.append(
                f"{entry.title} does not run on a small binary table. Its worst known neighbours are shown."
            )
        if changes:
            self.param.update(**changes)
        return sentences


def step_confidence(confidence: float) -> float:
    """Return the confidence of one step, so that all steps of the ladder together hold with `confidence`."""
    return simultaneous_confidence(confidence, len(LADDER))


def ceiling(draws: int, confidence: float, delta: float = 0.0) -> float:
    """Return the largest bound that so many samples can show."""
    return largest_bound(draws, step_confidence(confidence), delta)


# ---- samples ------------------------------------------------------------------------------------------------------


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
    """Return the audit of the first LADDER[index] draws a side: bound, event, and outputs.

    The bound is that of `dpml.audit.audit_outputs` at `step_confidence(confidence)`. If a method refuses, the reason is
    under "problem".
    """
    entry, neighbours = AUDITED[key[0]], case(key)
    try:
        outputs = _outputs(key, seed, index)
    except DpmlError as error:
        return {"problem": str(error)}
    attack = attack_outputs(*outputs, delta=entry.delta, confidence=step_confidence(confidence), score=neighbours.score)
    hits, misses = attack.counts
    return {
        "draws": LADDER[index],
        "counted": attack.counted,
        "lower": attack.epsilon_lower,
        "event": {"attacker": attack.name, **asdict(attack.event)},
        "rates": (hits / attack.counted, misses / attack.counted),
        "picture": asdict(outcomes(attack, most=MOST_BARS)),
    }


# ---- what is known without draws ----------------------------------------------------------------------------------


def exact(key: Key) -> dict[str, Any]:
    """Return the exact cost of these neighbours, or only that it is not known."""
    entry, neighbours, unknown = AUDITED[key[0]], case(key), {"known": False, "outputs": None}
    if neighbours.exact is None:
        return unknown
    try:
        cost = audit(neighbours.exact, neighbours.data, neighbours.neighbour, key[1], delta=entry.delta)
    except MissingExtra:  # a release draws while it is recorded
        return unknown
    result: dict[str, Any] = {"known": True, "epsilon": cost.epsilon_lower, "passed": cost.passed, "outputs": None}
    log_probabilities = getattr(neighbours.exact, "log_probabilities", None)
    if log_probabilities is not None:
        pairs = outcome_probabilities(*map(log_probabilities, (neighbours.data, neighbours.neighbour)))
        result["outputs"] = {_drawn(k): pair for k, pair in pairs.items()} if len(pairs) <= MOST_BARS else None
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


def allowed(
    step: Mapping[str, Any],
    known: Sequence[tuple[float, float]] | None,
    epsilon: float,
    delta: float,
    confidence: float,
) -> dict[str, Floats | NDArray[np.bool_]]:
    """Return for each side and output, shape (2, n): ``low`` and ``high`` of its share, ``most`` and ``broken``.

    A claim of (ε, δ) allows an output e^ε times its probability on the other side, and δ (Antonova 2016, eq. 2.3).
    The samples give an interval of that probability; all intervals of a picture hold together with `confidence`.
    ``most`` follows from its upper end. An exact probability is its own interval.

    >>> step = {"counted": 1000, "picture": {"first": np.array([0.4, 0.6]), "second": np.array([0.0, 1.0])}}
    >>> limits = allowed(step, [(0.4, 0.0), (0.6, 1.0)], 1.0, 0.0, 0.95)
    >>> limits["most"][0].round(2).tolist(), limits["broken"].tolist()
    ([0.0, 1.0], [[True, False], [False, False]])
    """
    shares, n = np.array([step["picture"][side] for side in SIDES], dtype=float), step["counted"]
    low, high = clopper_pearson(np.rint(shares * n), n, 1 - simultaneous_confidence(confidence, shares.size))
    least, largest = (low, high) if known is None else (np.array(known, dtype=float).T,) * 2
    most = np.minimum(math.exp(epsilon) * largest[::-1] + delta, 1.0)
    return {"low": low, "high": high, "most": most, "broken": least > most * (1 + 1e-9)}


# ---- claims that ship ---------------------------------------------------------------------------------------------

# Made by ``python -m benchmarks.shipped claims``; a test makes some of them again.
SHIPPED, CLAIMS = Path(__file__).parent / "shipped", "claims"
# has no divisor in common with the number of values of ε: neighbours in the catalogue are far apart in the plot
STRIDE = 29


class Claim(NamedTuple):
    """A claim of ε, and its cost on the worst known neighbours: by its formula, or a lower bound by samples."""

    method: str
    relation: str
    claimed: float
    shown: float
    drawn: bool

    @property
    def broken(self) -> bool:
        """Whether it costs more than it claims; formulas are sums of floats."""
        return self.shown > self.claimed * (1 + 1e-6)


def make(name: str = CLAIMS) -> dict[str, Any]:
    """Compute the rows that ship, one for each claim; None is a cost that no ε bounds."""
    kept = {(method, relation): claimed for method, relation, claimed, *_ in read_shipped(SHIPPED, CLAIMS)["claims"]}
    rows = []
    for place, (method, relation) in enumerate(audited_pairs()):
        # a claim keeps its ε, so that a new claim adds one line and changes no other
        *who, shown, drawn = _computed(place, method, relation, kept.get((method, relation)))
        rows.append([*who, None if math.isinf(shown) else float(f"{shown:.9g}"), drawn])
    return {"versions": made_with(*VERSIONS), "claims": rows}


def _computed(place: int, method: str, relation: str, epsilon: float | None = None) -> Claim:
    """Return a claim with its cost, at an ε that follows from its place in the catalogue if none is given."""
    epsilon = AUDIT_EPSILONS[STRIDE * place % len(AUDIT_EPSILONS)] if epsilon is None else epsilon
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FactWarning)  # the neighbours of a case are odd on purpose
        return Claim(method, relation, *check(method, relation, epsilon))


@cache
def claims() -> tuple[Claim, ...]:
    """Return every claim that ships. A claim that does not ship yet is computed at the first call."""
    rows = read_shipped(SHIPPED, CLAIMS)["claims"]
    kept = {
        (method, relation): Claim(method, relation, claimed, math.inf if shown is None else shown, drawn)
        for method, relation, claimed, shown, drawn in rows
    }
    return tuple(kept.get(pair) or _computed(place, *pair) for place, pair in enumerate(audited_pairs()))
