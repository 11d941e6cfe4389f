"""The settings of the page Audit, and its computations, as plain functions for workers too."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml.audit import attack_outputs, audit, outcome_probabilities, outcomes, simultaneous_confidence
from dpml.audit.cases import AUDITED, audited_pairs
from dpml.audit.sampled import clopper_pearson
from dpml.exceptions import FactWarning, MissingExtra
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.settings import RELATION_TITLES, PageValues, Shared, choice, declared_by, number

Key = tuple[str, float, str]
Floats = NDArray[np.float64]

# of an audit by samples, and of all intervals of its picture together
CONFIDENCE = 0.95
# claims that only samples can check are checked at this ε, and so are the marks in the list of methods
CHECKED_AT = 1.0
MOST_BARS = 24
SIDES = ("first", "second")

# ---- settings -----------------------------------------------------------------------------------------------------

# 24 steps a decade, of two digits each
STEPS = (1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 3, 3.2, 3.5, 4, 4.2, 4.6, 5, 5.6, 6.2, 7, 7.5, 8.3, 9.1)
AUDIT_EPSILONS = (*(float(f"{s * 10**d:.3g}") for d in (-2, -1, 0) for s in STEPS), 10.0)
# five steps a decade
AUDIT_DRAWS = (*(round(s * 10**d) for d in (3, 4) for s in (1, 1.6, 2.5, 4, 6.3)), 100_000)


@dataclass(frozen=True)
class AuditValues(PageValues):
    """All settings that the page Audit depends on."""

    audit_method: str = choice("private-threshold-testing", list(AUDITED), "Method (✗: claim violated)")
    audit_epsilon: float = choice(1.0, AUDIT_EPSILONS, "Claimed ε")
    audit_relation: str = choice("add-remove", RELATION_TITLES, "Claimed relation")
    audit_draws: int = choice(25_000, AUDIT_DRAWS, "Number of samples")
    audit_seed: int = number(0, (0, 2**31 - 1), "Audit seed")

    def key(self) -> tuple:
        """Return the identity of an audit, the first argument of `sample`."""
        return self.audit_method, self.audit_epsilon, self.audit_relation


@declared_by(AuditValues)
class AuditSettings(Shared):
    """The settings of the page Audit."""

    def fit_audit(self) -> str:
        """Choose a relation for which the method claims privacy; return a sentence if that changes it."""
        entry = AUDITED[self.audit_method]
        if self.audit_relation in entry.relations:
            return ""
        self.param.update(audit_relation=entry.relations[0])
        return f"{entry.title} claims privacy only for “{RELATION_TITLES[entry.relations[0]].lower()}”."


# ---- samples ------------------------------------------------------------------------------------------------------


def sample(key: Key, seed: int, draws: int) -> dict[str, Any]:
    """Return the audit of so many samples from each table: bound, event, and outputs.

    The bound is that of `dpml.audit.audit_outputs`. The same seed gives the same noise at every ε.
    """
    entry = AUDITED[key[0]]
    neighbours = entry.case(*key[1:])
    outputs = (
        np.asarray(neighbours.sample(data, draws=draws, rng=np.random.default_rng([seed, side])))
        for side, data in enumerate((neighbours.data, neighbours.neighbour))
    )
    attack = attack_outputs(*outputs, delta=entry.delta, confidence=CONFIDENCE, score=neighbours.score)
    hits, misses = attack.counts
    return {
        "draws": draws,
        "counted": attack.counted,
        "lower": attack.epsilon_lower,
        "event": asdict(attack.event),
        "rates": (hits / attack.counted, misses / attack.counted),
        "picture": asdict(outcomes(attack, most=MOST_BARS)),
    }


# ---- what is known without draws ----------------------------------------------------------------------------------


def exact(key: Key) -> dict[str, Any]:
    """Return the neighbours in words, and their exact cost, or only that it is not known."""
    entry = AUDITED[key[0]]
    neighbours = entry.case(*key[1:])
    unknown = {"outputs": None, "words": neighbours.words}
    if neighbours.exact is None:
        return unknown
    try:
        cost = audit(neighbours.exact, neighbours.data, neighbours.neighbour, key[1], delta=entry.delta)
    except MissingExtra:  # a release draws while it is recorded
        return unknown
    result: dict[str, Any] = {**unknown, "epsilon": cost.epsilon_lower, "passed": cost.passed}
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
    cost = exact((name, epsilon, relation))
    if "epsilon" in cost:
        return epsilon, cost["epsilon"], False
    options: dict[str, Any] = {"confidence": 1 - 0.05 / len(audited_pairs()), "rng": np.random.default_rng(0)}
    return CHECKED_AT, AUDITED[name].audit(CHECKED_AT, relation, sampled=True, **options).epsilon_lower, True


def allowed(shown: Mapping[str, Any], epsilon: float, delta: float) -> dict[str, Floats | NDArray[np.bool_]]:
    """Return for each side and output, shape (2, n): ``low`` and ``high`` of its share, ``most`` and ``broken``.

    A claim of (ε, δ) allows an output e^ε times its probability on the other side, and δ (Antonova 2016, eq. 2.3).
    The samples give an interval of that probability; all intervals of a picture hold together with `CONFIDENCE`.
    ``most`` follows from its upper end.

    >>> shown = {"counted": 1000, "picture": {"first": np.array([0.4, 0.6]), "second": np.array([0.0, 1.0])}}
    >>> limits = allowed(shown, 1.0, 0.0)
    >>> limits["most"][0].round(2).tolist(), limits["broken"].tolist()
    ([0.01, 1.0], [[True, False], [False, False]])
    """
    shares, n = np.array([shown["picture"][side] for side in SIDES], dtype=float), shown["counted"]
    low, high = clopper_pearson(np.rint(shares * n), n, 1 - simultaneous_confidence(CONFIDENCE, shares.size))
    most = np.minimum(math.exp(epsilon) * high[::-1] + delta, 1.0)
    return {"low": low, "high": high, "most": most, "broken": low > most * (1 + 1e-9)}


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
