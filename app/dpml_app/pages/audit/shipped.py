"""The wall of claims that ships with the app: what each claim of the catalogue costs at one claimed ε.

Made by ``python -m benchmarks.shipped claims``; a test makes some of it again.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from dpml.catalogue import claims
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.settings import AUDIT_EPSILONS

HERE = Path(__file__).parent / "shipped"
FILE = "claims"
VERSIONS = ("numpy", "scipy", "scikit-learn")
# has no divisor in common with the number of ε's: neighbours in the catalogue stand far apart on the wall
STRIDE = 29


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


def make(name: str = FILE) -> dict[str, Any]:
    """Return what ships: a row a claim, in which a cost that no ε bounds is None."""
    rows = []
    for place, (method, relation) in enumerate(claims()):
        claimed, shown, drawn = compute.check(method, relation, AUDIT_EPSILONS[STRIDE * place % len(AUDIT_EPSILONS)])
        rows.append([method, relation, claimed, None if math.isinf(shown) else float(f"{shown:.9g}"), drawn])
    return {"versions": {package: version(package) for package in VERSIONS}, "claims": rows}


@cache
def wall() -> tuple[Claim, ...]:
    """Return every claim as it ships."""
    kept = json.loads((HERE / f"{FILE}.json").read_text(encoding="utf-8"))
    rows = ([*who, math.inf if shown is None else shown, drawn] for *who, shown, drawn in kept["claims"])
    return tuple(Claim._make(row) for row in rows)
