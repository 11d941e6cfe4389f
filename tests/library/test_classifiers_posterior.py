"""The posterior of naive Bayes: against enumeration, at both ends of ε, its intervals, and both estimators."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import betainc, betaln, comb

from dpml.classifiers import BernoulliNB, MixedNB
from dpml.classifiers.naive_bayes.posterior import (
    CONCENTRATIONS,
    MOST_RECORDS,
    ReleasedRates,
    class_sizes,
)
from dpml.counts import row_bounded_scales
from dpml.schema import Feature, Schema

BOTH = np.array([2])
POSTERIOR = {"shrinkage": "posterior", "random_state": 0}


def released(on, n, scale, class_scale=1e-6, n_values=2):
    """What is released of one column."""
    on = np.array(on, dtype=float)[:, None]
    return ReleasedRates(on, np.array(n, dtype=float), scale, class_scale, np.array([n_values]))


def noise_weights(noisy, n, scale):
    """The likelihood of each count c = 0..n, up to a factor."""
    distance = np.abs(noisy - np.arange(n + 1))
    return np.exp(-(distance - distance.min()) / scale)


def enumerated_mean(on, n, scale, n_values=2):
    """The posterior means by sums over every count of both classes, every κ, and a fine grid of the shared rate m."""
    shared = (np.arange(4000) + 0.5) / 4000
    prior = stats.beta(1, n_values - 1).pdf(shared)
    moments = np.zeros(2)
    total = 0.0
    for k in CONCENTRATIONS:
        a, b = k * shared, k * (1 - shared)
        evidence, first = [], []
        for noisy, size in zip(on, n, strict=True):
            c = np.arange(size + 1)[:, None]
            ways = comb(size, c) * np.exp(betaln(a + c, b + size - c) - betaln(a, b))
            weight = noise_weights(noisy, size, scale)[:, None] * ways
            evidence.append(weight.sum(axis=0))
            first.append((weight * (a + c) / (k + size)).sum(axis=0))
        total += (prior * evidence[0] * evidence[1]).sum()
        moments += [(prior * first[y] * evidence[1 - y]).sum() for y in (0, 1)]
    return moments / total


@pytest.mark.parametrize(
    ("on", "n", "scale", "n_values"),
    [
        ((3.0, 9.0), (20, 12), 2.0, 2),
        ((3.4, -6.2), (30, 7), 4.0, 5),
        ((0.0, 15.7), (8, 12), 0.3, 2),
        ((55.1, 20.5), (60, 90), 30.0, 3),
    ],
)
def test_means_are_those_of_enumeration(on, n, scale, n_values):
    mean = released(on, n, scale, n_values=n_values).posterior(learn=False).mean()[:, 0]
    assert mean == pytest.approx(enumerated_mean(on, n, scale, n_values), rel=2e-3)


@pytest.mark.parametrize("n", [0, 1, 7, 40, 300])
@pytest.mark.parametrize("scale", [0.05, 1.0, 25.0])
def test_likelihoods_are_sums_over_every_count(n, scale):
    """Counts beside 0..n, fractions of records and the ends."""
    counts = np.concatenate([np.random.default_rng(0).uniform(-10, n + 10, 12), [0, n]])
    rates = np.linspace(0.01, 0.99, 33)
    each = ReleasedRates(counts[None], np.array([float(n)]), scale, 1e-9, np.full(14, 2)).likelihood(rates)[0]
    pmf = stats.binom.pmf(np.arange(n + 1), n, rates[:, None])
    sums = np.stack([(pmf * noise_weights(count, n, scale)).sum(axis=1) for count in counts])
    np.testing.assert_allclose(each, sums / sums.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)


def test_likelihoods_of_counts_far_outside_are_those_of_the_nearest_count():
    rates = np.linspace(0.01, 0.99, 33)
    far, near = (
        ReleasedRates(np.array([ends]), np.array([40.0]), 0.5, 1e-9, np.full(2, 2)).likelihood(rates)
        for ends in ((-1e5, 1e5), (0.0, 40.0))
    )
    np.testing.assert_allclose(far, near, rtol=1e-9)


def test_a_few_class_sizes_stand_for_all():
    """A noisy class size: five sizes against the sum over every size within twenty scales."""
    on, n, scale, class_scale = 60.0, 200.0, 10.0, 15.0
    rates = np.linspace(0.1, 0.6, 101)
    few = ReleasedRates(np.array([[on]]), np.array([n]), scale, class_scale, BOTH).likelihood(rates)[0, 0]
    every = np.zeros(len(rates))
    for size in range(501):
        noise = np.exp(-np.abs(on - np.arange(size + 1)) / scale)
        pmf = stats.binom.pmf(np.arange(size + 1), size, rates[:, None])
        every += np.exp(-abs(n - size) / class_scale) * (pmf * noise).sum(axis=1)
    means = [(rates * each).sum() / each.sum() for each in (few, every)]
    widths = [
        np.sqrt(((rates - m) ** 2 * each).sum() / each.sum()) for m, each in zip(means, (few, every), strict=True)
    ]
    assert means[0] == pytest.approx(means[1], rel=0.01)
    assert widths[0] == pytest.approx(widths[1], rel=0.05)


@pytest.mark.parametrize(("noisy", "scale"), [(500.0, 20.0), (3.0, 20.0), (-30.0, 20.0)])
def test_class_sizes_have_equal_shares_of_their_posterior(noisy, scale):
    sizes = np.arange(2000)
    weights = np.exp(-np.abs(noisy - sizes) / scale)
    below = (np.cumsum(weights) - weights / 2) / weights.sum()
    assert below[class_sizes(noisy, scale)] == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9], abs=0.03)


def test_without_noise_the_posterior_is_that_of_exact_counts():
    """ε grows: the noise is 0, and one class's rate is Beta(κm + c, κ(1 - m) + n - c), mixed over κ and m."""
    on, n = (37.0, 80.0), (120, 90)
    mean = released(on, n, 1e-9).posterior(learn=False).mean()[:, 0]
    assert mean == pytest.approx(enumerated_mean(on, n, 1e-3), rel=2e-3)
    assert mean == pytest.approx(np.divide(on, n), abs=0.02)


@pytest.mark.parametrize("n_values", [2, 7])
@pytest.mark.parametrize("learn", [True, False])
def test_in_much_noise_the_posterior_is_the_prior(n_values, learn):
    """ε falls: the rate has mean 1/k, and the distribution of a rate around m ~ Beta(1, k - 1), mixed over κ."""
    posterior = released((3e6, -4e6), (-2e6, 5e5), 1e12, 1e7, n_values).posterior(learn=learn)
    assert posterior.mean() == pytest.approx(1 / n_values, rel=0.01)
    shared = (np.arange(2000) + 0.5) / 2000
    weight = stats.beta(1, n_values - 1).pdf(shared) / 2000
    edges = posterior.edges[1:-1:16]
    below = np.mean([betainc(k * shared, k * (1 - shared), edges[:, None]) @ weight for k in CONCENTRATIONS], axis=0)
    np.testing.assert_allclose(posterior.mass.cumsum(axis=2)[:, 0, :-1:16], [below, below], atol=5e-3)


def test_columns_share_a_prior_that_is_learnt():
    """Two hundred rare columns say that one more is rare; two hundred frequent ones say that it is frequent."""
    rng = np.random.default_rng(0)
    means = []
    for rate in (0.02, 0.7):
        counts = rng.binomial(1000, rate, (2, 200)) + rng.laplace(0, 100, (2, 200))
        counts[:, 0] = 300.0
        rates = ReleasedRates(counts, np.array([1000.0, 1000.0]), 100.0, 1.0, np.full(200, 2))
        means.append([rates.posterior(learn=learn).mean()[0, 0] for learn in (True, False)])
    (rare, alone), (frequent, also_alone) = means
    assert alone == pytest.approx(also_alone, abs=0.01)
    assert rare < alone - 0.01 < alone + 0.01 < frequent


def test_intervals_hold_the_rate_as_often_as_they_say():
    """200 rates a table, 12 tables of three kinds. The standard error of the share is near .007, tables not alike."""
    inside = []
    for seed, (concentration, scale) in itertools.product(range(4), ((4.0, 5.0), (64.0, 20.0), (256.0, 50.0))):
        rng = np.random.default_rng(seed)
        shared, n = rng.uniform(size=100), np.array([1500, 700])
        rates = rng.beta(concentration * shared, concentration * (1 - shared), (2, 100))
        on = rng.binomial(n[:, None], rates) + rng.laplace(0, scale, rates.shape)
        posterior = ReleasedRates(on, n + rng.laplace(0, 5, 2), scale, 5.0, np.full(100, 2)).posterior()
        lower, upper = posterior.interval(0.95)
        inside.append(((lower <= rates) & (rates <= upper)).mean())
        assert (lower <= posterior.mean()).all()
        assert (posterior.mean() <= upper).all()
    assert 0.93 < np.mean(inside) < 0.97


def test_an_interval_has_the_quantiles_of_its_beta_distribution():
    """One class, no noise, the prior of κ and m of no weight against 4,000 records."""
    posterior = released((1200.0,), (4000,), 1e-9).posterior()
    lower, upper = posterior.interval(0.9)
    assert [lower[0, 0], upper[0, 0]] == pytest.approx(stats.beta(1200.5, 2800.5).ppf([0.05, 0.95]), abs=2e-4)


# ---- the estimators -------------------------------------------------------------------------------------------------


def binary_table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, 6)) < np.where(y[:, None] == 1, 0.7, 0.2)).astype(int), y


def bernoulli(epsilon=1.0, **options):
    return BernoulliNB(epsilon, schema=Schema.binary(6, n_lower=1000), shrinkage="posterior", random_state=1, **options)


def test_bernoulli_predicts_and_says_what_it_knows():
    X, y = binary_table()
    model = bernoulli().fit(X, y)
    table = model.rates_interval()
    assert table.columns.tolist() == ["feature", "value", "class", "count", "rate", "lower", "upper"]
    assert len(table) == 12
    by_class = table.pivot(index="class", columns="feature", values="rate").loc[[0, 1]].to_numpy()
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), by_class)
    assert ((table["lower"] < table["rate"]) & (table["rate"] < table["upper"])).all()
    narrow = model.rates_interval(0.5)
    assert ((narrow["upper"] - narrow["lower"]) < (table["upper"] - table["lower"])).all()
    assert (model.predict(X) == y).mean() > 0.85


def test_attribute_counts_are_divided_by_a_records_share():
    """Two attributes of two values, r = 1: a record adds ½ to a count, so counts and noise are doubled."""
    names = [("a=0", "a"), ("a=1", "a"), ("b=0", "b"), ("b=1", "b")]
    schema = Schema(tuple(Feature(name, block=block, exhaustive=True) for name, block in names), n_lower=1000)
    rng = np.random.default_rng(0)
    a, b, y = rng.integers(2, size=(3, 4000))
    X = np.column_stack([1 - a, a, 1 - b, b])
    model = BernoulliNB(2.0, schema=schema, row_bound=1, selection="none", **POSTERIOR).fit(X, y)
    ((_, rates),) = model._rates
    assert rates.on.sum(axis=1) == pytest.approx(2 * np.bincount(y), rel=0.02)
    assert rates.scale == pytest.approx(2 * row_bounded_scales(2.0, 1, class_share=0.3)[0])


def test_the_likelihood_of_many_classes_does_not_vanish():
    n, rates = np.full(60, 3000.0), np.append(np.full(59, 0.1), 0.9)
    rates = np.column_stack([rates, np.linspace(0.05, 0.95, 60)])
    mean = ReleasedRates(n[:, None] * rates, n, 1.0, 1.0, np.full(2, 2)).posterior().mean()
    np.testing.assert_allclose(mean, rates, atol=0.01)


def test_a_class_too_large_for_the_table_is_scaled_down():
    shares = [
        released((0.3 * n, 0.6 * n), (n, n), n / 1000).posterior().mean()[:, 0]
        for n in (MOST_RECORDS, 8 * MOST_RECORDS)
    ]
    assert shares[0] == pytest.approx([0.3, 0.6], abs=0.002)
    assert shares[1] == pytest.approx(shares[0], abs=1e-4)


SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=0, upper=100),
        Feature("city", "categorical", ("a", "b", "c")),
        Feature("smokes"),
    ),
    n_lower=1000,
)


def mixed_table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    age = np.clip(rng.normal(30 + 30 * y, 10), 0, 100)
    city = rng.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1])
    return pd.DataFrame({"age": age, "city": city, "smokes": (rng.random(n) < 0.2 + 0.4 * y).astype(int)}), y


def test_mixed_has_a_row_for_every_cell_and_every_one():
    frame, y = mixed_table()
    model = MixedNB(1.0, schema=SCHEMA, n_bins=4, **POSTERIOR).fit(frame, y)
    table = model.rates_interval()
    assert len(table) == 2 * (4 + 3 + 1)
    assert table.loc[table["feature"] == "age", "value"].iloc[2] == pd.Interval(25, 50, closed="left")
    assert set(table.loc[table["feature"] == "city", "value"]) == {"a", "b", "c"}
    smokes = table[table["feature"] == "smokes"].set_index("class")["rate"]
    assert smokes.to_numpy() == pytest.approx([0.2, 0.6], abs=0.05)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_["smokes"][:, 1]), smokes)
    assert (model.predict(frame) == y).mean() > 0.85
