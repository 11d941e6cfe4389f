"""Privacy claims of the papers on the worst known neighbours: the items whose command is `python -m dpml audit`."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.papers.measured import Experiment, Measured, exact
from dpml.audit.cases import AUDITED
from dpml.papers import items

AUDIT = "python -m dpml audit "
CLAIMED = 1.0


def audited(names: list[str], relation: str | None, draws: int, random_state: int) -> Iterator[Measured]:
    """Return the ε of each claim of ε = 1, exactly where the distributions are known. `draws` is not used."""
    for name in names:
        entry = AUDITED[name]
        for each in entry.relations if relation is None else [relation]:
            result = entry.audit(CLAIMED, each, rng=np.random.default_rng(random_state))
            how = "exactly" if result.exact else f"at least, from {result.draws:,} samples"
            yield exact(f"{name}, {each}: ε at a claim of 1, {how}", None, result.epsilon_lower)
            if entry.delta and result.delta_lower is not None:
                yield exact(f"{name}, {each}: δ at ε = 1", entry.delta, result.delta_lower)


def experiments(paper: str) -> dict[str, Experiment]:
    """Return the audits of a paper's items."""
    found: dict[str, Experiment] = {}
    for item in items(paper):
        if item.command.startswith(AUDIT):
            names, _, relation = item.command.removeprefix(AUDIT).partition(" --relation ")
            found[item.key] = partial(audited, names.split(), relation or None)
    return found
