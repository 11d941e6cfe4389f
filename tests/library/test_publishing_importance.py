"""Importance weights: the bound on one replaced record, the cost of whole fits, charges and releases."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from observing import assert_function_of_releases, plain_releases
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from dpml.budget import Budget
from dpml.exceptions import (
    BudgetExceeded,
    ConcentratedWeights,
    InvalidData,
    InvalidParameter,
    NoSecureSampler,
    RelationMismatch,
)
from dpml.mechanisms import NormGamma
from dpml.publishing import ImportanceWeights
from dpml.publishing.density_ratio import (
    METHODS,
    balanced_minimiser,
    balanced_noise,
    moment_minimiser,
    record_change,
    release_sums,
)
from dpml.publishing.ratio_features import RatioFeatures, public_pairs
from dpml.schema import Feature, Schema

PETS = Schema(
    (
        Feature("pet", "categorical", ("cat", "dog", "hen")),
        Feature("age", "numeric", lower=0, upper=80),
        Feature("rich"),
        Feature("poor"),
    )
)


def people(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pet": rng.choice(["cat", "dog", "hen"], n, p=[0.5 - shift, 0.3, 0.2 + shift]),
            "age": rng.uniform(80 * shift, 80, n),
            "rich": (rng.random(n) < 0.3 + shift).astype(int),
            "poor": (rng.random(n) < 0.5).astype(int),
        }
    )


def balanced_loss(beta, D, E, reg_lambda):
    loss = np.logaddexp(0, E @ beta).mean() + np.logaddexp(0, -(D @ beta)).mean()
    return loss + reg_lambda / 2 * beta @ beta


def test_the_balanced_minimiser_is_that_of_algorithm_1():
    rng = np.random.default_rng(0)
    D, E = rng.random((40, 5)), rng.random((25, 5)) ** 2
    for reg_lambda in (0.001, 0.1, 10.0):
        beta = balanced_minimiser(D, E, reg_lambda)
        g = E.T @ expit(E @ beta) / 25 - D.T @ expit(-(D @ beta)) / 40 + reg_lambda * beta
        assert np.linalg.norm(g) <= 1e-6 / 40
        found = minimize(balanced_loss, np.zeros(5), (D, E, reg_lambda), tol=1e-12).fun
        assert balanced_loss(beta, D, E, reg_lambda) <= found + 1e-9


@pytest.mark.parametrize("reg_lambda", [1e-6, 1e-3, 1.0, 1e6])
def test_minimisers_converge_on_extreme_tables(reg_lambda):
    apart = np.repeat(np.eye(2)[:1], 30, axis=0), np.repeat(np.eye(2)[1:], 5, axis=0)
    alike = np.ones((3, 2)), np.ones((400, 2))
    nothing = np.zeros((1, 2)), np.zeros((1, 2))
    for D, E in (apart, alike, nothing):
        beta = balanced_minimiser(D, E, reg_lambda)
        g = E.T @ expit(E @ beta) / len(E) - D.T @ expit(-(D @ beta)) / len(D) + reg_lambda * beta
        assert np.linalg.norm(g) <= 1e-6 / len(D)
        assert np.isfinite(moment_minimiser(E, D.mean(axis=0), reg_lambda)).all()


def test_the_moment_minimiser_is_that_of_its_loss():
    rng = np.random.default_rng(0)
    E, m = rng.random((50, 4)), rng.random(4)
    for reg_lambda in (0.001, 0.1):
        beta = moment_minimiser(E, m, reg_lambda)
        w = np.exp(E @ beta - logsumexp(E @ beta))
        # stationary: the weighted means miss the moments by λβ
        np.testing.assert_allclose(w @ E - m, -reg_lambda * beta, atol=1e-7)


def test_a_replaced_record_moves_the_minimiser_within_bounds():
    """400 random pairs: √d/(Nλ) as in Lemma 2 of Ji and Elkan 2013, and the smaller bound of the schema."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(400):
        d, n, n_public = rng.integers(1, 9), rng.integers(1, 20), rng.integers(1, 20)
        reg_lambda = 10 ** rng.uniform(-2, 1)
        ones = int(rng.integers(1, d + 1))
        features = RatioFeatures(Schema.binary(int(d), row_bound=ones))
        table = (rng.random((n + 1, d)) < rng.random()).astype(float)
        table *= np.cumsum(table, axis=1) <= ones
        D, other = table[:n], np.vstack([table[: n - 1], table[n:]])
        E = (rng.random((n_public, d)) < rng.random()).astype(float)
        moved = np.linalg.norm(balanced_minimiser(D, E, reg_lambda) - balanced_minimiser(other, E, reg_lambda))
        unit = n * reg_lambda
        assert moved <= math.sqrt(d) / unit + 1e-6 / unit
        assert moved <= record_change(features) / unit + 1e-6 / unit
        largest = max(largest, moved * unit / record_change(features))
    assert largest > 0.4  # the pairs are not all harmless


def far_tables(half=50, n=2000):
    """Return private tables that differ in one record of `half` ones, and a public table of records with one each."""
    D = np.zeros((n, 2 * half))
    other = D.copy()
    D[-1, :half] = 1
    other[-1, half:] = 1
    return D, other, np.eye(2 * half)


def test_a_bound_on_the_norm_of_a_record_cannot_replace_root_d():
    """Ji and Elkan 2013, before Theorem 1: √d "can be replaced by the upper bound over D of the norm of samples"."""
    half, reg_lambda = 50, 0.06
    D, other, E = far_tables(half)
    moved = np.linalg.norm(balanced_minimiser(D, E, reg_lambda) - balanced_minimiser(other, E, reg_lambda))
    unit = len(D) * reg_lambda
    norm = math.sqrt(half)  # of every record of D, of its neighbour and of E at most
    assert moved > 1.25 * norm / unit
    assert moved <= record_change(RatioFeatures(Schema.binary(2 * half, row_bound=half))) / unit


def test_the_published_noise_tells_the_number_of_records():
    """Its scale contains N: far out, the densities for N = 100 and 101 differ without bound (add/remove)."""
    first, second = (NormGamma(0.1, math.sqrt(5) / (n * 0.1), 5) for n in (100, 101))
    far = np.zeros((3, 5))
    far[:, 0] = [10, 1000, 100_000]
    ratio = np.abs(first.log_density(far, np.zeros(5)) - second.log_density(far, np.zeros(5)))
    assert (np.diff(ratio) > 0).all()
    assert ratio[-1] > 100  # where the claim is 0.1


SMALL = {
    "numbers and categories": Schema(
        (
            Feature("a", "categorical", (0, 1, 2)),
            Feature("b", "categorical", (0,)),
            Feature("c", "numeric", lower=0, upper=1),
        )
    ),
    "blocks": Schema((Feature("a", block="x"), Feature("b", block="x"), Feature("c"), Feature("d", block="y"))),
    "row bound": Schema.binary(5, row_bound=2),
}  # fmt: skip


@pytest.mark.parametrize("pairs", [0, 1])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_the_public_bounds_hold_for_all_records_and_are_reached(name, pairs, intercept):
    schema = SMALL[name]
    first, second = RatioFeatures(schema).names[:2]
    features = RatioFeatures(schema, ((first, second),) * pairs, intercept)
    rows = list(product(*[f.categories or (0, 1) for f in schema.features]))
    X = features.matrix(features.parts(schema.check_features(np.array(rows, dtype=float), "clip")[0], "clip"))
    assert X.shape == (len(rows), features.dimension) == (len(rows), len(features.columns))
    assert ((X >= 0) & (X <= 1)).all()
    norms = (X**2).sum(axis=1)
    apart = X[:, None] - X[None]
    change = max(norms.max(), (apart**2).sum(axis=2).max())
    assert norms.max() <= features.squared_norm
    assert change <= features.squared_change
    assert np.abs(apart).sum(axis=2).max() <= features.change
    if not pairs:
        assert norms.max() == features.squared_norm
        if name != "numbers and categories":  # a category without an alternative does not change
            assert change == features.squared_change
            assert np.abs(apart).sum(axis=2).max() == features.change


def log_density(beta, D, E, n, rate, reg_lambda):
    """The log density of the minimiser of N·G(β) + bβ in one dimension, without its constant."""
    e = np.exp(-np.logaddexp(0, -np.outer(E, beta)))
    d = np.exp(-np.logaddexp(0, np.outer(D, beta)))
    slope = n * (E @ e / len(E)) - D @ d + n * reg_lambda * beta
    bend = n * ((E**2) @ (e * (1 - e)) / len(E)) + (D**2) @ (d * (1 - d)) + n * reg_lambda
    return -rate * np.abs(slope) + np.log(bend)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_objective_perturbation_holds_by_its_densities(epsilon):
    features = RatioFeatures(Schema.binary(1))
    beta = np.concatenate([np.linspace(-60, 60, 60_001), np.linspace(-2, 2, 4001)])
    E, worst, careless = np.array([1.0, 0.0]), 0.0, 0.0
    for n in (1, 2, 5):
        rate, reg_lambda = balanced_noise(epsilon, 0.02, features, n)
        D, other = np.zeros(n), np.r_[np.zeros(n - 1), 1.0]
        gap = log_density(beta, D, E, n, rate, reg_lambda) - log_density(beta, other, E, n, rate, reg_lambda)
        worst = max(worst, float(np.abs(gap).max()))
        # the whole ε for the gradient, and nothing for the determinant
        gap = log_density(beta, D, E, n, epsilon, 0.02) - log_density(beta, other, E, n, epsilon, 0.02)
        careless = max(careless, float(np.abs(gap).max()))
    assert 0.5 * epsilon < worst <= epsilon + 1e-9
    assert careless > epsilon


FITS = [
    *({"method": method} for method in METHODS),
    {"method": "output", "calibration": "published", "fit_intercept": False},
    {"method": "objective", "calibration": "published"},
    {"method": "output", "reg_lambda": "private"},
    {"method": "objective", "reg_lambda": "private", "pairs": 2},
    {"method": "moments", "reg_lambda": "private", "pairs": [("pet", "age")]},
    {"method": "moments", "release": True, "pairs": 1},
]


@pytest.mark.parametrize("options", FITS, ids=str)
def test_every_statistic_is_private_until_it_is_drawn(options):
    model = ImportanceWeights(1.0, schema=PETS, **options)
    n, plain = plain_releases(lambda: model.fit(people(30, 2, 0.2), people(50, 1)))
    assert n
    assert not plain


@pytest.mark.filterwarnings("ignore::dpml.exceptions.ConcentratedWeights")
@pytest.mark.parametrize("epsilon", [0.7, 30.0])
@pytest.mark.parametrize("options", FITS, ids=str)
def test_what_a_fit_is_follows_from_what_was_released(options, epsilon):
    """Two fits to 300 other records each, with the same releases, are the same to the byte; λ and pairs too."""
    public, state = people(200, 1), None if options.get("release") else 0

    def call(table):
        model = ImportanceWeights(epsilon, schema=PETS, random_state=state, **options).fit(table, public)
        return model, model.weights(public)

    assert_function_of_releases(call, people(300, 2, 0.2), people(300, 3))


@pytest.mark.parametrize("options", FITS, ids=str)
def test_a_fit_is_charged_once_for_replace_one_before_it_draws(options):
    state = None if options.get("release") else 0
    budget = Budget(1.0, relation="replace-one")
    data = people(30, 2, 0.2), people(50, 1)
    ImportanceWeights(1.0, schema=PETS, budget=budget, random_state=state, **options).fit(*data)
    assert budget.spent == pytest.approx(1.0)
    parts = 2 if options.get("reg_lambda") == "private" and options["method"] != "moments" else 1
    assert len(budget.ledger) == parts
    small = Budget(0.99, relation="replace-one")
    with pytest.raises(BudgetExceeded):
        ImportanceWeights(1.0, schema=PETS, budget=small, random_state=state, **options).fit(*data)
    assert not len(small.ledger)
    with pytest.raises(RelationMismatch):
        ImportanceWeights(1.0, schema=PETS, budget=Budget(1.0), random_state=state, **options).fit(*data)


def test_secure_sums_are_on_a_grid_and_near_the_exact_ones():
    features = RatioFeatures(PETS, (("pet", "age"),))
    parts = features.parts(PETS.check_features(people(400, 3))[0])
    exact = features.sums(parts)
    np.testing.assert_allclose(features.matrix(parts).sum(axis=0), exact)
    noisy = release_sums(exact, 50.0, features, secure=True)
    assert (noisy * 1024 == np.rint(noisy * 1024)).all()
    assert (noisy[features.whole] == np.rint(noisy[features.whole])).all()
    assert np.abs(noisy - exact).max() < 12  # a scale of 8/50: beyond e^-75
    assert features.whole.tolist() == [True] * 3 + [False] + [True] * 2 + [False] * 3


WRONG = [
    {"epsilon": 0}, {"reg_lambda": "best"}, {"reg_lambda": 0}, {"reg_lambda": None}, {"method": "no"},
    {"calibration": "no"}, {"pairs": -1}, {"pairs": [("pet", "horse")]}, {"pairs": [("pet", "pet")]}, {"pairs": [3]},
    {"fit_intercept": 1}, {"release": "no"}, {"on_invalid": "drop"}, {"random_state": -1}, {"budget": 1.0},
    {"epsilon": 1e-101},
]  # fmt: skip


@pytest.mark.parametrize("option", WRONG, ids=str)
def test_a_wrong_parameter_is_named(option):
    name, value = next(iter(option.items()))
    model = ImportanceWeights(**{"epsilon": 1.0, "schema": PETS, "random_state": 0, **option})
    with pytest.raises(InvalidParameter, match=f"^`{name}` must be "):
        model.fit(people(20), people(20, 1))
    assert value is not None or name == "reg_lambda"


@pytest.mark.parametrize("epsilon", [1e-50, 1e-9, 1e9])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::dpml.exceptions.ConcentratedWeights")
def test_weights_are_finite_at_every_epsilon(method, epsilon):
    model = ImportanceWeights(epsilon, method=method, schema=PETS, random_state=0).fit(people(30, 2), people(50))
    weights = model.weights(people(50))
    assert np.isfinite(weights).all()
    assert weights.mean() == pytest.approx(1.0)


def test_pairs_have_the_most_public_information():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(2000, 4)).astype(float)
    X[:, 2] = X[:, 0]
    X[:, 3] = np.where(rng.random(2000) < 0.9, X[:, 1], 1 - X[:, 1])
    features = RatioFeatures(Schema.binary(4))
    assert public_pairs(features, features.parts(X), 2) == (("x0", "x2"), ("x1", "x3"))
    model = ImportanceWeights(1.0, pairs=2, random_state=0).fit(X[::-1], X)
    assert model.pairs_ == (("x0", "x2"), ("x1", "x3"))
    assert len(model.coef_) == len(model.columns_) == 4 + 2 + 1


def test_the_published_model_lacks_the_constant_of_the_ratio():
    """Without an intercept the limit of λ → 0 is biased where no columns add up to 1, although log p/q is linear."""
    rng = np.random.default_rng(0)
    private, public = (rng.random((40_000, 2)) < [0.9, 0.5]), (rng.random((40_000, 2)) < [0.5, 0.5])
    data = private.astype(int), public.astype(int)
    without, with_one = (
        ImportanceWeights(100.0, 1e-4, fit_intercept=one, random_state=0)
        .fit(*data)
        .weighted(data[1])
        .mean(data[1][:, 0])
        for one in (False, True)
    )
    assert without < 0.85
    assert with_one == pytest.approx(private[:, 0].mean(), abs=0.01)


def test_few_records_with_most_weight_are_told():
    public = np.eye(3, dtype=int)[np.r_[[0] * 20, [1] * 400, [2] * 400]]
    model = ImportanceWeights(100.0, 1e-4, method="moments", random_state=0).fit(
        np.eye(3, dtype=int)[[0] * 900], public
    )
    with pytest.warns(ConcentratedWeights, match="half of the weight is on 30 of 820 records or fewer"):
        weights = model.weights(public)
    assert weights[:20].sum() > 410
    with pytest.warns(ConcentratedWeights):
        published = model.weighted(public)
    assert published.n_half <= 20
    assert published.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


BLOCKS = Schema((Feature("a", block="x"), Feature("b", block="x"), Feature("c"), Feature("d")), row_bound=2, n_rows=3)


def test_a_record_with_too_many_ones_is_refused_or_clipped():
    features = RatioFeatures(BLOCKS)
    twice, long = np.array([[1.0, 1, 0, 0]]), np.array([[0.0, 1, 1, 1]])
    with pytest.raises(InvalidData, match="two ones in the block 'x'"):
        features.parts(twice)
    with pytest.raises(InvalidData, match="more ones than the schema's row_bound = 2"):
        features.parts(long)
    assert features.matrix(features.parts(twice, "clip")).tolist() == [[1, 0, 0, 0]]
    assert features.matrix(features.parts(long, "clip")).tolist() == [[0, 1, 1, 0]]
    rest = np.eye(4)[:2]
    for record, named in ((twice, "two ones in the block 'x'"), (long, "more ones than the schema's row_bound = 2")):
        budget, table = Budget(1.0, relation="replace-one"), np.vstack([rest, record])
        with pytest.raises(InvalidData, match=named):
            ImportanceWeights(1.0, schema=BLOCKS, budget=budget, random_state=0).fit(table, rest)
        assert not budget.spent
        ImportanceWeights(1.0, schema=BLOCKS, on_invalid="clip", random_state=0).fit(table, rest)


def test_the_number_of_records_is_the_one_that_is_stated():
    model = ImportanceWeights(1.0, schema=BLOCKS, random_state=0)
    with pytest.raises(InvalidData, match="X_private has 2 records: it must have 3"):
        model.fit(np.eye(4)[:2], np.eye(4))
    with pytest.raises(InvalidData, match="X_private has 0 records"):
        ImportanceWeights(1.0, random_state=0).fit(np.zeros((0, 4)), np.eye(4))
    with pytest.raises(InvalidData, match="X_public has 0 records"):
        model.fit(np.eye(4)[:3], np.zeros((0, 4)))
    assert model.fit(np.eye(4)[:3], np.eye(4)).n_private_ == 3


def test_a_release_clips_and_needs_a_secure_sampler():
    private, public = people(30, 2, 0.2), people(50, 1)
    private["age"] = private["age"].astype(object)
    private.loc[3, "age"] = "old"
    with pytest.raises(InvalidData, match="column 'age' has the value 'old'"):
        ImportanceWeights(1.0, schema=PETS, method="moments").fit(private, public)
    model = ImportanceWeights(1.0, schema=PETS, method="moments", release=True).fit(private, public)
    assert np.isfinite(model.coef_).all()
    with pytest.raises(InvalidParameter, match=r"`random_state` must be .*Got 0"):
        ImportanceWeights(1.0, schema=PETS, method="moments", release=True, random_state=0).fit(private, public)
    for method in ("output", "objective"):
        with pytest.raises(NoSecureSampler, match=f"{method!r} has no secure sampler"):
            ImportanceWeights(1.0, schema=PETS, method=method, release=True).fit(private, public)
