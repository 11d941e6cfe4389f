"""What ships with the app: what each claim of the catalogue costs at one claimed ε, and what one run certifies.

Made by ``python -m benchmarks.shipped claims``; a test makes some of it again. What one run certifies is copied from
the table of ``benchmarks/audit_one_run.py``.
"""

import math
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpml.audit.cases import audited_pairs
from dpml.exceptions import FactWarning
from dpml_app.data.shipped import VERSIONS, made_with, read_shipped
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.settings import AUDIT_EPSILONS

HERE = Path(__file__).parent / "shipped"
FILE = "claims"
# has no divisor in common with the number of ε's: neighbours in the catalogue stand far apart on the wall
STRIDE = 29
ONE_RUN = "one_run"
# methods of the table of one run, from above to below
METHODS = {
    "randomised response": "Randomised response",
    "Laplace counts": "Counts, Laplace noise",
    "Gaussian counts": "Counts, normal noise (δ = 10⁻⁵)",
    "LinearClassifier": "Linear classifier",
    "noisy descent": "Logistic regression, noisy descent (δ = 10⁻⁵)",
    "PrivPfC": "PrivPfC, synthetic table",
}


class Claim(NamedTuple):
    """A claim of ε, and its cost on the worst neighbours known: by its formula, or at least, by draws."""

    method: str
    relation: str
    claimed: float
    shown: float
    drawn: bool

    @property
    def broken(self) -> bool:
        """Whether it costs more than it claims; formulas are sums of floats."""
        return self.shown > self.claimed * (1 + 1e-6)


class OneRun(NamedTuple):
    """What one run certifies of a method at a claim: median and quartiles for any fit, median where noise is known."""

    method: str
    epsilon: float
    guesses: int
    median: float
    quarter: float
    three_quarters: float
    curve_median: float
    accused: float


def make(name: str = FILE) -> dict[str, Any]:
    """Return what ships: a row a claim, in which a cost that no ε bounds is None."""
    rows, kept = (
        [],
        {(method, relation): claimed for method, relation, claimed, *_ in read_shipped(HERE, FILE)["claims"]},
    )
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
        return Claim(method, relation, *compute.check(method, relation, epsilon))


@cache
def wall() -> tuple[Claim, ...]:
    """Return every claim as it ships. A claim that does not ship yet is computed at the first call."""
    rows = (
        [*who, math.inf if shown is None else shown, drawn] for *who, shown, drawn in read_shipped(HERE, FILE)["claims"]
    )
    kept = {(row[0], row[1]): Claim._make(row) for row in rows}
    pairs = enumerate(audited_pairs())
    return tuple(kept.get(pair) or _computed(place, *pair) for place, pair in pairs)


def copy_one_run(folder: Path) -> dict[str, Any]:
    """Return the lines of the benchmark's table in `folder`: of each method and ε the guesses that certify most."""
    table = pd.read_csv(folder / "audit_one_run.csv", comment="#")
    table["accused"] = table[["accused", "curve_accused"]].max(axis=1)
    most = table.sort_values("curve_median", kind="stable").groupby(["method", "epsilon"]).tail(1)
    return {"lines": most.sort_index()[list(OneRun.__annotations__)].to_numpy().tolist()}


@cache
def _one_run() -> tuple[OneRun, ...]:
    return tuple(OneRun._make(line) for line in read_shipped(HERE, ONE_RUN)["lines"])


def one_run(epsilon: float) -> list[OneRun]:
    """Return a line a method, at the recorded ε that is nearest to a claimed one, by ratio.

    >>> {line.epsilon for line in one_run(0.2)}, {line.epsilon for line in one_run(5.0)}
    ({1.0}, {8.0})
    """
    lines = {(line.method, line.epsilon): line for line in _one_run()}
    nearest = min({e for _, e in lines}, key=lambda e: abs(math.log(e / epsilon)))
    return [lines[method, nearest] for method in METHODS]
