"""Ji and Elkan 2013 on a synthetic table: weights for the records that PrivPfC draws (Ghalebikesabi et al. 2022).

A share of ε publishes the table, and the rest weights its records. The table is then public, so that β has the
sensitivity of Ji and Elkan's, (S + 2τ)/(Nλ), under replace-one with N public, and the two costs add up.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.measured import Experiment, Measured, exact, measured
from dpml.datasets import load
from dpml.exceptions import ConcentratedWeights
from dpml.publishing import ImportanceWeights, PrivPfC
from dpml.schema import Schema
from dpml.studies.publishing import TwoTables, split_by_sex

EPSILONS = (0.1, 1.0)
QUERIES, SHARE = 300, 0.5
WEIGHTS: dict[str, dict[str, Any]] = {
    "Algorithm 1": {"method": "output", "calibration": "published", "fit_intercept": False},
    "noisy sums": {"method": "moments", "pairs": 0},
}


class Queries:
    """Conjunctions of one or of three attributes, with the values of a public record."""

    def __init__(self, two: TwoTables, attributes: int):
        rng, names = np.random.default_rng(3), two.schema.feature_names
        self.asked = []
        for _ in range(QUERIES):
            record = two.public.iloc[rng.integers(len(two.public))]
            self.asked.append([(name, record[name]) for name in rng.choice(names, attributes, replace=False)])
        self.truth = self.on(two.private).mean(axis=1)

    def on(self, table) -> NDArray[np.float32]:
        """Return whether each query (rows) holds for each record."""
        columns = {name: table[name].to_numpy() for name in table.columns}
        met = [np.logical_and.reduce([columns[name] == value for name, value in asked]) for asked in self.asked]
        return np.array(met, dtype=np.float32)

    def error(self, table, shares: NDArray | None = None) -> float:
        """Return the mean error of the answers in points."""
        on = self.on(table)
        answers = on.mean(axis=1) if shares is None else on @ shares
        return 100 * float(np.abs(answers - self.truth).mean())


def synthetic(draws: int, random_state: int) -> Iterator[Measured]:
    """Mean errors of PrivPfC's table at all of ε, at half of it with weights, and of a weighted public table."""
    two = split_by_sex(load("adult"), rng=np.random.default_rng(0))
    label = two.schema.features[-1]
    assert label.categories is not None
    facts = Schema(two.schema.features[:-1], label.categories)
    asked = {"single values": Queries(two, 1), "conjunctions of three": Queries(two, 3)}
    for of, queries in asked.items():
        yield exact(f"{of}, public table without weights", None, queries.error(two.public))

    def publish(epsilon: float, seed: int):
        model = PrivPfC(epsilon, schema=facts, relation="replace-one", random_state=seed)
        return model.fit(two.private, label.name).sample(len(two.private)).astype(object)[list(two.private.columns)]

    for epsilon in EPSILONS:
        errors: dict[str, list[float]] = {}

        def add(setting: str, table, shares=None, errors: dict[str, list[float]] = errors) -> None:
            for of, queries in asked.items():
                errors.setdefault(f"{of}, ε = {epsilon:g}, {setting}", []).append(queries.error(table, shares))  # noqa: B023

        for seed in range(random_state, random_state + draws):
            add("PrivPfC's table", publish(epsilon, seed))
            table = publish(SHARE * epsilon, seed)
            for title, options in WEIGHTS.items():
                for public, share in ((table, 1 - SHARE), (two.public, 1.0)):
                    model = ImportanceWeights(share * epsilon, schema=two.schema, random_state=seed, **options)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ConcentratedWeights)
                        shares = model.fit(two.private, public).weighted(public).shares
                    name = "PrivPfC's table" if public is table else "public table"
                    add(f"{name} with weights by {title}", public, shares)
        for setting, values in errors.items():
            yield measured(setting, None, values)


EXPERIMENTS: dict[str, Experiment] = {"claim-synthetic": synthetic}
