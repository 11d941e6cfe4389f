"""The tests of draws that ``python -m dpml audit`` adds to its exact audits."""

from collections.abc import Callable
from typing import Any

from dpml.exceptions import MissingExtra


def refuted_laws(name: str, relation: str, epsilon: float, rng: Any, say: Callable[[str], None]) -> int:
    """Return how many laws of a method its draws refute, and print them."""
    from dpml.audit.cases import AUDITED

    try:
        refuted = [law for law in AUDITED[name].check_laws(epsilon, relation, rng=rng) if not law.passed]
    except MissingExtra as error:
        say(f"{name}, {relation}: its draws were not tested: {error}")
        return 0
    for law in refuted:
        say(f"{name}, {relation}: draws do not follow the stated distribution: {law}  <--")
    return len(refuted)
