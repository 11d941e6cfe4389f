"""Ji and Elkan 2013, section 3: noise in the objective beside noise on the minimiser, with equal constants and λ."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.papers.ji_elkan import Queries
from benchmarks.papers.measured import Experiment, Measured, difference, measured
from dpml.datasets import load
from dpml.publishing.density_ratio import balanced_minimiser, release_balanced_objective, release_balanced_output
from dpml.studies.publishing import split_by_sex

EPSILON = 0.1
LAMBDAS = (0.01, 0.03, 0.1, 0.3, 1.0)


def objective(draws: int, random_state: int) -> Iterator[Measured]:
    """Mean errors of 300 conjunctions of three in points at ε = 0.1, and of both at the best λ in hindsight."""
    two = split_by_sex(load("adult"), rng=np.random.default_rng(0))
    X, E, features, queries = two.private_records, two.public_records, two.features, Queries(two, 3)
    on = queries.on(two.public)

    def errors(setting: str, betas: np.ndarray) -> Measured:
        answers = on @ softmax(E @ betas.T, axis=0)
        return measured(setting, None, 100 * np.abs(answers - queries.truth[:, None]).mean(axis=0))

    for calibration in ("published", "tight"):
        best: dict[str, Measured] = {}
        for reg_lambda in LAMBDAS:
            rng = np.random.default_rng(random_state)
            options: dict[str, Any] = {"calibration": calibration, "draws": draws, "rng": rng}
            beta = balanced_minimiser(X, E, reg_lambda)
            released = {
                "Algorithm 1": release_balanced_output(beta, EPSILON, reg_lambda, features, len(X), **options),
                "objective": release_balanced_objective(X, E, EPSILON, reg_lambda, features, **options),
            }
            for title, betas in released.items():
                row = errors(f"{calibration} constants, λ = {reg_lambda:g}, {title}", betas)
                yield row
                best[title] = min(best.get(title, row), row, key=lambda row: row.ours)
        for title, row in best.items():
            yield row._replace(setting=f"{calibration} constants, best λ, {title}")
        output, perturbed = best.values()
        yield difference(f"{calibration} constants, best λ, Algorithm 1 over objective", output, perturbed)


EXPERIMENTS: dict[str, Experiment] = {"claim-objective": objective}
