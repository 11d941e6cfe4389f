"""What the cards of learned classifiers and of other public tables compute, as plain functions of plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.studies.weighing import PUBLIC_TABLES, WeighingStudy, public_table
from dpml_app.pages.publish.weights import two_tables
from dpml_app.work.cache import kept


@kept(6)
def _study(name: str, kind: str) -> WeighingStudy:
    two = two_tables(name)
    return WeighingStudy(two, public_table(two, kind, rng=np.random.default_rng(1)))


def tables(name: str, reg_lambda: float, draws: int, seed: int) -> dict[str, Any]:
    """Return what is known without noise: of study only, as it reads the private table.

    Returns
    -------
    dict
        ``norm``, ``truth``: of the private table's classifier, and its share of high incomes. ``unweighted`` and
        ``far``: by public table, its share, and how far its classifier is, in norms. ``others``,
        ``exact``: draws of how far the classifier is of a bootstrap of the private table, and of
        weights by Algorithm 1 without noise, in norms.
    """
    studies = {kind: _study(name, kind) for kind in PUBLIC_TABLES}
    study = studies["skewed"]
    others = study.over(lambda rng: study.distance_of_bootstrap(rng=rng), draws, seed=seed)
    exact = study.over(lambda rng: study.distance(study.weigh("output", None, reg_lambda, rng=rng)), draws, seed=seed)
    return {
        "norm": study.norm,
        "truth": study.truth,
        "unweighted": {kind: each.answer() for kind, each in studies.items()},
        "far": {kind: each.distance() / study.norm for kind, each in studies.items()},
        "others": others / study.norm,
        "exact": exact / study.norm,
    }


def taught(
    method: str, name: str, kind: str, epsilon: float, reg_lambda: float | None, draws: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return what a weighted public table answers and teaches, over draws of the private table and of the noise.

    Parameters
    ----------
    method, name, epsilon, reg_lambda, draws, seed
        As `dpml_app.pages.publish.weights.released` has them.
    kind : {"same", "skewed", "uniform"}

    Returns
    -------
    dict
        ``answer``: share of high incomes. ``far``: how far the machine is from the private table's, in its norms.
    """
    study = _study(name, kind)
    rngs = [np.random.default_rng([seed, draw]) for draw in range(draws)]
    betas = [study.weigh(method, epsilon, reg_lambda, rng=rng) for rng in rngs]
    answers, far = np.array([(study.answer(beta), study.distance(beta)) for beta in betas]).T
    return {"answer": answers, "far": far / study.norm}


def unweighted_classifier(name: str, epsilon: float, draws: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return how far a classifier with noise of its own is, in norms of the private table's, under ``far``."""
    study = _study(name, "skewed")
    far = study.over(lambda rng: study.distance_of_private_machine(epsilon, rng=rng), draws, seed=seed)
    return {"far": far / study.norm}
