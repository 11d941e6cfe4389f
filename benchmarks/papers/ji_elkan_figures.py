"""Ji and Elkan 2013, sections 5 to 7, on adult: answers and classifiers from a weighted public table.

Of the men 90% are private, of the women 10%, and the others are public. Each run draws a bootstrap of the private
table, so that the standard errors count private tables and noise.
"""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.papers.ji_elkan import Queries
from benchmarks.papers.measured import Experiment, Measured, bootstrapped, exact, measured, percent
from dpml.datasets import load
from dpml.exceptions import ConcentratedWeights
from dpml.mechanisms import NormGamma
from dpml.publishing import ImportanceWeights, release_answers, release_table
from dpml.schema import Schema
from dpml.studies.publishing import PUBLIC_TABLES, TwoTables, WeighingStudy, public_table, split_by_sex

FloatArray = NDArray[np.float64]
LAMBDAS = (0.01, 0.03, 0.1, 0.3, 1.0)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)
LAMBDA = EPSILON = 0.1
TITLES = {"output": "Algorithm 1", "moments": "noisy sums"}
# of the sum of hinge losses: the machine then has a norm near the paper's 7.17
C, PAPER_NORM = 0.3, 7.17


def two_tables() -> TwoTables:
    """Return the private and the public table of section 5."""
    return split_by_sex(load("adult"), rng=np.random.default_rng(0))


def _runs(draws: int, random_state: int) -> list[np.random.Generator]:
    """Return a generator for each run: the same bootstraps in every setting."""
    return [np.random.default_rng([random_state, k]) for k in range(draws)]


def _answers(study: WeighingStudy, method: str, epsilon: float | None, reg_lambda: float, runs) -> FloatArray:
    return np.array([study.answer(study.weigh(method, epsilon, reg_lambda, rng=rng)) for rng in runs])


def _by_lambda(study: WeighingStudy, draws: int, seed: int) -> Iterator[tuple[str, FloatArray]]:
    for reg_lambda in LAMBDAS:
        for method, title in TITLES.items():
            yield (
                f"λ = {reg_lambda:g}, {title}",
                _answers(study, method, EPSILON, reg_lambda, _runs(draws, seed)),
            )
        without = _answers(study, "output", None, reg_lambda, _runs(draws, seed))
        yield f"λ = {reg_lambda:g}, Algorithm 1 without noise", without


def _study() -> Iterator[Any]:
    """Yield the study, then its facts."""
    two = two_tables()
    study = WeighingStudy(two, two.public)
    yield study
    yield exact("truth: share with a high income, private table", 30.0, 100 * study.truth)
    yield exact("public table without weights", 15.0, 100 * study.answer())


def fig_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 1: the weighted share of high incomes at ε = 0.1 for each λ, in per cent."""
    study, *facts = _study()
    yield from facts
    for setting, answers in _by_lambda(study, draws, random_state):
        yield percent(setting, None, answers)


def fig_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 2: the same share at λ = 0.1 for each ε."""
    study, *facts = _study()
    yield from facts
    for epsilon in (*EPSILONS, None):
        at = "without noise" if epsilon is None else f"ε = {epsilon:g}"
        for method, title in TITLES.items():
            answers = _answers(study, method, epsilon, LAMBDA, _runs(draws, random_state))
            yield percent(f"{at}, {title}", None, answers)
            yield bootstrapped(f"{at}, {title}, standard deviation", None, 100 * answers, np.std)


def fig_4(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 4: bias and standard deviation of the share at ε = 0.1, in percentage points."""
    study, *_ = _study()
    for setting, answers in _by_lambda(study, draws, random_state):
        yield percent(f"{setting}, bias", None, answers - study.truth)
        yield bootstrapped(f"{setting}, standard deviation", None, 100 * answers, np.std)


class _Machines:
    """Linear support vector machines for a high income, from one column fewer than each attribute has values."""

    def __init__(self, two: TwoTables):
        sizes = two.features.single_sizes
        label = np.repeat(np.arange(len(sizes)) == len(sizes) - 1, sizes)
        first = np.concatenate([np.arange(size) == 0 for size in sizes])
        self.inputs, self.two = ~label & ~first, two
        self.private = self.learned(two.private_records)
        self.norm = float(np.linalg.norm(self.private))

    def learned(self, X: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the machine's coefficients; the label's last class is the last column."""
        model = LinearSVC(loss="hinge", C=C, fit_intercept=False, dual=True, max_iter=3000, random_state=0)
        with warnings.catch_warnings():
            # a few very large weights: more steps do not bring the machine nearer
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:, self.inputs], X[:, -1] == 1, sample_weight=weights)
        return model.coef_[0]

    def distance(self, study: WeighingStudy, beta: FloatArray | None) -> float:
        """Return the distance of the weighted public table's machine to the private one's."""
        machine = self.learned(study.public_records, study.n * study.shares(beta))
        return float(np.linalg.norm(machine - self.private))

    def bootstrapped(self, study: WeighingStudy, rng: np.random.Generator) -> float:
        again = self.two.private_records[study.bootstrap(rng=rng)]
        return float(np.linalg.norm(self.learned(again) - self.private))


def fig_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3: distances between the machines of the private and of the weighted public table, λ = 0.1."""
    two = two_tables()
    study, machines = WeighingStudy(two, two.public), _Machines(two)
    yield exact("norm of the private table's machine", PAPER_NORM, machines.norm)
    yield exact("distance, public table without weights", None, machines.distance(study, None))
    again = [machines.bootstrapped(study, rng) for rng in _runs(draws, random_state)]
    yield measured("distance, another bootstrap of the private table", None, again)
    for epsilon in (*EPSILONS[2:], None):
        at = "no noise" if epsilon is None else f"ε = {epsilon:g}"
        for method, title in TITLES.items():
            betas = (study.weigh(method, epsilon, LAMBDA, rng=rng) for rng in _runs(draws, random_state))
            distances = [machines.distance(study, beta) for beta in betas]
            # the paper's boxes lie around 1
            yield measured(f"distance, {at}, {title}", 1.0, distances)


def fig_5(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 5: the share of high incomes from three public tables at ε = λ = 0.1."""
    for name, study in _three_public_tables():
        yield exact(f"{name} public table without weights", None, 100 * study.answer())
        for method, title in TITLES.items():
            answers = _answers(study, method, EPSILON, LAMBDA, _runs(draws, random_state))
            yield percent(f"{name} public table, {title}", None, answers)


def fig_6(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 6: machines from three public tables at ε = λ = 0.1."""
    for name, study in _three_public_tables():
        machines = _Machines(study.two)
        yield exact(f"norm of the private machine, beside the {name} public table", 7.0, machines.norm)
        yield exact(f"distance, {name} public table without weights", None, machines.distance(study, None))
        for method, title in TITLES.items():
            betas = (study.weigh(method, EPSILON, LAMBDA, rng=rng) for rng in _runs(draws, random_state))
            distances = [machines.distance(study, beta) for beta in betas]
            yield measured(f"distance, {name} public table, {title}", None, distances)


def _three_public_tables() -> Iterator[tuple[str, WeighingStudy]]:
    two, rng = two_tables(), np.random.default_rng(2)
    for name in PUBLIC_TABLES:
        yield name, WeighingStudy(two, public_table(two, name, rng=rng))


# ---- section 5.1, section 6 and the norm of a record -----------------------------------------------------------------

N, D = 21_000, 63  # as the paper has them


def claim_private_machine(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 6: length of the noise of a private machine, 2d·√(d + 1)/(NΛε), at two values of Λ."""
    norm_bound = math.sqrt(2 / LAMBDA)
    yield exact("largest norm of a machine of mean hinge losses at Λ = 0.1", PAPER_NORM, norm_bound)
    for name, strength, paper in (("0.1", 0.1, 4.8), ("1/(0.3·N), of a machine of norm 6.9", 1 / (C * N), None)):
        noise = NormGamma(EPSILON, 2 * math.sqrt(D) / (N * strength), D)
        drawn = noise.release(np.zeros(D), draws=200 * draws, rng=np.random.default_rng(random_state))
        lengths = np.linalg.norm(drawn, axis=1)
        stated = 2 * D * math.sqrt(D + 1) / (N * strength * EPSILON)
        yield exact(f"root mean square length at Λ = {name}, by the formula", paper, stated)
        yield measured(f"mean length at Λ = {name}, samples", None, lengths)


def claim_table_noise(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 5.1: mean of a column whose cells have noise of scale 240, as it is and trimmed to [0, 1]."""
    two, rng = two_tables(), np.random.default_rng(random_state)
    features = two.features
    yield exact(f"L1 sensitivity of a table of {len(features.single_sizes)} attributes", 24.0, features.change)
    means = np.array([_noisy_means(len(two.private), rng) for _ in range(draws)])
    yield bootstrapped("standard deviation of the mean of a column", 2.34, means[:, 0], np.std)
    yield measured("mean of trimmed cells of a column of ones", 0.501, means[:, 1])
    yield bootstrapped("standard deviation of that mean", 0.002, means[:, 1], np.std)


def _noisy_means(n: int, rng: np.random.Generator) -> tuple[float, float]:
    noisy = 1.0 + rng.laplace(scale=240.0, size=n)
    return noisy.mean(), np.clip(noisy, 0, 1).mean()


# ---- conjunctions, and what section 7 suggests -----------------------------------------------------------------------

PUBLISHED: dict[str, Any] = {"method": "output", "calibration": "published", "fit_intercept": False}
SUMS: dict[str, Any] = {"method": "moments", "pairs": 0}
WAYS: dict[str, tuple[float | str, dict[str, Any]]] = {
    "Algorithm 1, λ = 0.1": (LAMBDA, PUBLISHED),
    "Algorithm 1, λ = 0.3": (0.3, PUBLISHED),
    "Algorithm 1, public rule for λ": ("public", PUBLISHED),
    "noisy sums": ("public", SUMS),
}


def _weights(two: TwoTables, public: pd.DataFrame, epsilon: float, way: str, seed: int, schema: Schema) -> FloatArray:
    rule, options = WAYS[way]
    names = list(schema.feature_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConcentratedWeights)
        model = ImportanceWeights(epsilon, rule, schema=schema, random_state=seed, **options)
        return model.fit(two.private[names], public[names]).weighted(public[names]).shares


def claim_useful(draws: int, random_state: int) -> Iterator[Measured]:
    """Mean error of 300 conjunctions of three attributes, in percentage points, by weights and by the alternatives."""
    two, rng = two_tables(), np.random.default_rng(random_state)
    queries = Queries(two, 3)
    yield exact("public table without weights", None, queries.error(two.public))
    for epsilon in (0.1, 1.0):
        for way in WAYS:
            seeds = range(random_state, random_state + draws)
            errors = [
                queries.error(two.public, _weights(two, two.public, epsilon, way, seed, two.schema)) for seed in seeds
            ]
            yield measured(f"ε = {epsilon:g}, {way}", None, errors)
        on = queries.on(two.private)
        direct = [100 * np.abs(release_answers(on, epsilon, rng=rng) - queries.truth).mean() for _ in range(draws)]
        yield measured(f"ε = {epsilon:g}, direct answers that share ε", None, direct)
        columns = {name: j for j, name in enumerate(two.features.columns)}
        wanted = np.array([[columns[f"{name}={value}"] for name, value in asked] for asked in queries.asked])
        errors = []
        for _ in range(draws):
            noisy = release_table(two.private_records, two.features, epsilon, rng=rng)
            # the noise of three cells is independent, so the product has no bias
            guesses = np.array([np.prod(noisy[:, js], axis=1).mean() for js in wanted])
            errors.append(100 * np.abs(np.clip(guesses, 0, 1) - queries.truth).mean())
        yield measured(f"ε = {epsilon:g}, noise on every cell", None, errors)


def claim_resample(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 7: a table drawn from the public one by the weights has the same answers, with a larger variance."""
    study, *_ = _study()
    of_class = study.public_records[:, -1]
    answers: dict[str, list[float]] = {
        "published weights": [],
        "a table of N records drawn by them": [],
        "a tenth as many records": [],
    }
    for rng in _runs(draws, random_state):
        shares = study.shares(study.weigh("moments", 1.0, 0.01, rng=rng))
        answers["published weights"].append(shares @ of_class)
        for name, size in (("a table of N records drawn by them", study.n), ("a tenth as many records", study.n // 10)):
            answers[name].append(of_class[rng.choice(len(shares), size=size, p=shares)].mean())
    for name, values in answers.items():
        yield percent(f"{name}: share of high incomes", None, values)
        yield bootstrapped(f"{name}: standard deviation", None, 100 * np.array(values), np.std)


def claim_several_public(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 7: one of two public tables of different people, or their union."""
    two, rng = two_tables(), np.random.default_rng(2)
    uniform = public_table(two, "uniform", rng=rng)
    tables = {"women mostly": two.public, "uniform": uniform, "union": pd.concat([two.public, uniform])}
    yield from _errors(two, tables, draws, random_state)


def claim_shared_attributes(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 7: weights from the attributes that both tables have, half of them in each run, for queries on all."""
    two, rng = two_tables(), np.random.default_rng(random_state)
    features = two.schema.features
    halves = [rng.permutation(len(features))[: len(features) // 2] for _ in range(draws)]
    schemas = [Schema(tuple(features[j] for j in sorted(half))) for half in halves]
    yield from _errors(two, {"all attributes": two.public}, draws, random_state)
    yield from _errors(two, {"half of the attributes": two.public}, draws, random_state, schemas)


def _errors(two, tables, draws: int, random_state: int, schemas: list[Schema] | None = None) -> Iterator[Measured]:
    queries, schemas = Queries(two, 3), schemas or [two.schema] * draws
    for name, table in tables.items():
        yield exact(f"{name}, no weights", None, queries.error(table))
        for way in WAYS:
            errors = [
                queries.error(table, _weights(two, table, 1.0, way, random_state + run, schema))
                for run, schema in enumerate(schemas)
            ]
            yield measured(f"{name}, {way}, ε = 1", None, errors)


EXPERIMENTS: dict[str, Experiment] = {
    "fig-1": fig_1,
    "fig-2": fig_2,
    "fig-3": fig_3,
    "fig-4": fig_4,
    "fig-5": fig_5,
    "fig-6": fig_6,
    "claim-private-machine": claim_private_machine,
    "claim-table-noise": claim_table_noise,
    "claim-useful": claim_useful,
    "claim-resample": claim_resample,
    "claim-several-public": claim_several_public,
    "claim-shared-attributes": claim_shared_attributes,
}
