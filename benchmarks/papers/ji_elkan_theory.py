"""Ji and Elkan 2013, section 4 and appendices: its bounds, compared with what they bound on small generated tables."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from benchmarks.papers.measured import Experiment, Measured, bootstrapped, exact, measured
from dpml.mechanisms import NormGamma
from dpml.publishing import ImportanceWeights
from dpml.publishing.density_ratio import balanced_minimiser

FloatArray = NDArray[np.float64]
PAIRS = 20  # pairs of neighbours of each run
SCORES = np.array([1.0, -0.5, 0.0, 0.5, 0.3])  # log odds of a record being private, for each of its ones


def _loss(beta: FloatArray, D: FloatArray, E: FloatArray, reg_lambda: float) -> float:
    fit = np.logaddexp(0, E @ beta).mean() + np.logaddexp(0, -(D @ beta)).mean()
    return fit + reg_lambda / 2 * beta @ beta


def _binary(rng: np.random.Generator, n: int, rates: Any) -> FloatArray:
    return (rng.random((n, len(rates))) < rates).astype(float)


def definition_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Compare the loss of Algorithm 1 with the inequality of λ-strong convexity, between random points."""
    rng, slack = np.random.default_rng(random_state), []
    for _ in range(PAIRS * draws):
        reg_lambda, share = 10 ** rng.uniform(-2, 1), rng.random()
        tables = rng.random((30, 4)), rng.random((20, 4))
        a, b = rng.normal(scale=3, size=(2, 4))
        chord = share * _loss(a, *tables, reg_lambda) + (1 - share) * _loss(b, *tables, reg_lambda)
        bound = chord - reg_lambda / 2 * share * (1 - share) * ((a - b) ** 2).sum()
        slack.append(bound - _loss(share * a + (1 - share) * b, *tables, reg_lambda))
    yield exact(f"smallest slack of the inequality, {len(slack)} pairs of points (at least 0)", 0.0, min(slack))


def _neighbours(draws: int, random_state: int) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, float]]:
    """Yield private tables that differ in one record, a public table, and λ."""
    rng = np.random.default_rng(random_state)
    for _ in range(PAIRS * draws):
        d, n, n_public = (int(x) for x in rng.integers(1, [9, 20, 20]))
        rows, reg_lambda = _binary(rng, n + 1, np.full(d, rng.random())), 10 ** rng.uniform(-2, 1)
        public = _binary(rng, n_public, np.full(d, rng.random()))
        yield rows[:n], np.vstack([rows[: n - 1], rows[n:]]), public, reg_lambda


def lemma_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Distance of two minimisers as a share of c/λ, c the length of the change's gradient at one of them."""
    shares = []
    for D, other, E, reg_lambda in _neighbours(draws, random_state):
        first, second = (balanced_minimiser(table, E, reg_lambda) for table in (D, other))
        gradient = (other.T @ expit(-(other @ first)) - D.T @ expit(-(D @ first))) / len(D)
        c = float(np.linalg.norm(gradient))
        if c > 1e-6:
            shares.append(float(np.linalg.norm(first - second)) * reg_lambda / c)
    yield exact(f"largest share of c/λ, {len(shares)} pairs of tables (at most 1)", 1.0, max(shares))


def lemma_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Distance of the minimisers of neighbours as a share of √d/(Nλ)."""
    shares = []
    for D, other, E, reg_lambda in _neighbours(draws, random_state):
        moved = np.linalg.norm(balanced_minimiser(D, E, reg_lambda) - balanced_minimiser(other, E, reg_lambda))
        shares.append(float(moved) * len(D) * reg_lambda / math.sqrt(D.shape[1]))
    yield exact(f"largest share of √d/(Nλ), {len(shares)} pairs of tables (at most 1)", 1.0, max(shares))


def claim_norm_bound(draws: int, random_state: int) -> Iterator[Measured]:
    """Movement of the minimiser in units of R/(Nλ): a record with ones in one half is replaced by one with the others.

    All records of both private tables have a norm of at most R.
    """
    for half, reg_lambda, n in ((50, 0.06, 2000), (200, 0.03, 2000)):
        D = np.zeros((n, 2 * half))
        other = D.copy()
        D[-1, :half] = other[-1, half:] = 1
        first, second = (balanced_minimiser(table, np.eye(2 * half), reg_lambda) for table in (D, other))
        moved = float(np.linalg.norm(first - second)) * n * reg_lambda / math.sqrt(half)
        yield exact(f"R = √{half}, λ = {reg_lambda}: movement of β in units of R/(Nλ)", 1.0, moved)


class _Minimisers:
    """Minimisers of 2,000 fresh private records each, beside one of 200,000."""

    d, reg_lambda, n = 4, 0.1, 2_000

    def __init__(self, tables: int, random_state: int):
        rng = np.random.default_rng(random_state)
        public, rates = _binary(rng, 3_000, [0.5] * 4), [0.7, 0.3, 0.6, 0.5]
        self.found = np.array(
            [balanced_minimiser(_binary(rng, self.n, rates), public, self.reg_lambda) for _ in range(tables)]
        )
        large = _binary(rng, 200_000, rates)
        beta = balanced_minimiser(large, public, self.reg_lambda)
        self.gradient = np.cov((large * expit(-(large @ beta))[:, None]).T)
        curvature = self.reg_lambda * np.eye(self.d)
        for table in (public, large):
            p = expit(table @ beta)
            curvature += (table * (p * (1 - p))[:, None]).T @ table / len(table)
        inverse = np.linalg.inv(curvature)
        self.expected = inverse @ self.gradient @ inverse / self.n


def _over_tables(draws: int, random_state: int) -> _Minimisers:
    # a variance needs two tables
    return _Minimisers(10 * draws, random_state)


def lemma_4(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest eigenvalue of the variance of a record's gradient, with d = 4."""
    largest = _top(_over_tables(1, random_state).gradient)
    yield exact("largest eigenvalue of the gradient's variance (at most d = 4)", 4.0, largest)


def lemma_5(draws: int, random_state: int) -> Iterator[Measured]:
    """Variance of β* over private tables as a multiple of the formula, with a minimum and the sign of Lemma 6."""
    tables = _over_tables(draws, random_state)
    for j in range(tables.d):
        scaled = tables.found[:, j] / math.sqrt(tables.expected[j, j])
        yield bootstrapped(f"coordinate {j + 1}: variance as a multiple of the formula", 1.0, scaled, np.var)


def lemma_6(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest eigenvalue of the variance of β* as a share of d/(Nλ²)."""
    tables = _over_tables(draws, random_state)
    bound = tables.d / (tables.n * tables.reg_lambda**2)
    yield exact("largest eigenvalue by Lemma 5's formula, as a share of the bound", 1.0, _top(tables.expected) / bound)
    yield exact(f"the same in {len(tables.found)} tables", 1.0, _top(np.cov(tables.found.T)) / bound)


def lemma_7(draws: int, random_state: int) -> Iterator[Measured]:
    """Variance of a coordinate of the noise as a multiple of 1/(Nλε)², beside the statement's and the proof's."""
    d, scale = 5, 1 / 100
    noise = NormGamma(0.5, math.sqrt(d) * scale, d)
    drawn = noise.release(np.zeros(d), draws=1000 * draws, rng=np.random.default_rng(random_state))
    multiples = (drawn**2).mean(axis=1) * (0.5 / scale) ** 2
    yield measured("multiple of 1/(Nλε)², d = 5; the statement has d/(d + 1)", d / (d + 1), multiples)
    yield exact("multiple in the proof and in Theorem 2, d(d + 1)", None, d * (d + 1))


def _population() -> tuple[FloatArray, FloatArray]:
    """Return 500 public records, and the shares with which a record is private."""
    public = _binary(np.random.default_rng(1), 500, [0.4] * 5).astype(int)
    return public, softmax(public @ SCORES)


def theorem_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Variance of answers over private tables and noise, as a share of the bound, by Algorithm 1 at ε = 0.2."""
    public, shares = _population()
    rng = np.random.default_rng(random_state)
    queries = {"one attribute": public[:, 0], "two attributes": public[:, 1] * public[:, 3]}
    answers: dict[str, list[float]] = {name: [] for name in queries}
    bounds: dict[str, list[float]] = {name: [] for name in queries}
    for seed in range(10 * draws):
        private = public[rng.choice(len(public), 2000, p=shares)]
        options: dict[str, Any] = {"calibration": "published", "fit_intercept": False}
        table = ImportanceWeights(0.2, 0.1, random_state=seed, **options).fit(private, public).weighted(public)
        for name, query in queries.items():
            answers[name].append(table.mean(query))
            bounds[name].append(table.variance_bound(query))
    for name in queries:
        # the library's bound has the gradient itself, so that the paper's is four times as large
        scaled = np.array(answers[name]) / math.sqrt(4 * np.median(bounds[name]))
        yield bootstrapped(f"{name}: variance as a share of the printed bound", 1.0, scaled, np.var)
    w, X, b = table.shares, public, queries["one attribute"]
    ordered = np.einsum("i,j,ij,ijk->k", w, w, (b[:, None] - b) * 1.0, X[:, None] - X)
    ratio = float(np.linalg.norm(ordered) / np.linalg.norm(table.gradient(b)))
    yield exact("printed α as a multiple of the gradient", 1.0, ratio)


def theorem_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Bias of an answer without noise, for growing numbers of private records, beside its limit."""
    public, shares = _population()
    rng, query, reg_lambda = np.random.default_rng(random_state), public[:, 1] * public[:, 3], 0.1
    truth = float(shares @ query)
    limit = softmax(public @ _limit(public, shares, reg_lambda)) @ query - truth
    yield exact("limit of the bias", None, limit)
    for n in (100, 1_000, 10_000, 100_000):
        biases = []
        for _ in range(draws):
            private = public[rng.choice(len(public), n, p=shares)]
            beta = balanced_minimiser(private, public, reg_lambda)
            biases.append(softmax(public @ beta) @ query - truth)
        yield measured(f"bias with {n:,} private records", float(limit), biases)


def _limit(public: FloatArray, shares: FloatArray, reg_lambda: float) -> FloatArray:
    """Return the minimiser for the private population: each public record as often as its share says."""
    many = public[np.repeat(np.arange(len(public)), np.round(shares * 500_000).astype(int))]
    return balanced_minimiser(many, public, reg_lambda)


def _top(matrix: FloatArray) -> float:
    return float(np.linalg.eigvalsh(matrix)[-1])


EXPERIMENTS: dict[str, Experiment] = {
    "definition-1": definition_1,
    "lemma-1": lemma_1,
    "lemma-2": lemma_2,
    "lemma-4": lemma_4,
    "lemma-5": lemma_5,
    "lemma-6": lemma_6,
    "lemma-7": lemma_7,
    "theorem-2": theorem_2,
    "theorem-3": theorem_3,
    "claim-norm-bound": claim_norm_bound,
}
