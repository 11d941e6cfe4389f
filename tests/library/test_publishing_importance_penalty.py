"""The penalty of importance weights, pairs of attributes, the intercept, and weights on few records."""

from itertools import product

import numpy as np
import pytest
from importance_tables import PETS, people
from scipy.special import logsumexp

from dpml.exceptions import ConcentratedWeights
from dpml.publishing import ImportanceWeights
from dpml.publishing.weights.density_ratio import METHODS
from dpml.publishing.weights.features import RatioFeatures, public_pairs
from dpml.publishing.weights.moments import moment_minimiser
from dpml.publishing.weights.penalty import public_reg_lambda
from dpml.schema import Schema

# ---- the penalty, pairs and the intercept ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_public_penalty_sees_no_private_record_and_falls_with_epsilon(method):
    public = people(300, 1)
    found = []
    for epsilon, shift in ((0.1, 0.0), (0.1, 0.3), (10.0, 0.0), (10.0, 0.3)):
        model = ImportanceWeights(epsilon, method=method, schema=PETS, random_state=0)
        found.append(model.fit(people(400, 2, shift), public).reg_lambda_)
    assert found[0] == found[1] > found[2] == found[3]


def test_the_public_penalty_is_near_the_best_where_its_prior_holds():
    """Mean squared error of the features' means over draws: within 1.6 times that of the best λ of a grid."""
    rng = np.random.default_rng(0)
    d, n, epsilon = 8, 3000, 0.3
    E = (rng.random((2000, d)) < rng.uniform(0.2, 0.8, d)).astype(float)
    features = RatioFeatures(Schema.binary(d))
    truths = [(beta, np.exp(E @ beta) / np.exp(E @ beta).sum()) for beta in rng.normal(size=(6, d))]

    def error(reg_lambda):
        total, noise = 0.0, np.random.default_rng(1)
        for _, shares in truths:
            for _ in range(5):
                m = shares @ E + noise.laplace(scale=d / (epsilon * n), size=d)
                scores = E @ moment_minimiser(E, m, reg_lambda)
                gap = (np.exp(scores - logsumexp(scores)) - shares) @ E
                total += float(gap @ gap)
        return total

    chosen = public_reg_lambda(E, features, epsilon, n, "moments")
    assert error(chosen) <= 1.6 * min(error(at) for at in (1e-4, 1e-3, 1e-2, 1e-1, 1.0))


def test_a_private_penalty_is_larger_where_the_tables_are_alike():
    public = people(3000, 1)
    found = []
    for method, shift in product(METHODS, (0.0, 0.4)):
        model = ImportanceWeights(1.0, "private", method=method, schema=PETS, random_state=0)
        found.append(model.fit(people(3000, 2, shift), public).reg_lambda_)
    assert found[0] > found[1]
    assert found[2] > found[3]
    assert found[4] > found[5]


def test_pairs_are_those_with_the_most_information_in_the_public_table():
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(2000, 4)).astype(float)
    X[:, 2] = X[:, 0]
    X[:, 3] = np.where(rng.random(2000) < 0.9, X[:, 1], 1 - X[:, 1])
    features = RatioFeatures(Schema.binary(4))
    assert public_pairs(features, features.parts(X), 2) == (("x0", "x2"), ("x1", "x3"))
    model = ImportanceWeights(1.0, pairs=2, random_state=0).fit(X[::-1], X)
    assert model.pairs_ == (("x0", "x2"), ("x1", "x3"))
    assert len(model.coef_) == len(model.columns_) == 4 + 2 + 1


def test_pairs_catch_what_single_attributes_cannot():
    rng = np.random.default_rng(0)
    public = rng.integers(2, size=(4000, 2))
    private = public[rng.random(4000) < np.where(public[:, 0] == public[:, 1], 0.9, 0.1)]
    both = public.all(axis=1)
    truth = private.all(axis=1).mean()
    single, joint = (
        ImportanceWeights(5.0, method="moments", pairs=pairs, random_state=0).fit(private, public).weighted(public)
        for pairs in (0, 1)
    )
    assert abs(single.mean(both) - truth) > 0.15
    assert abs(joint.mean(both) - truth) < 0.02


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
