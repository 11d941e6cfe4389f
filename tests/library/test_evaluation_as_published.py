"""ROC curves as Stoddard et al. publish them: what each part is paid, valid curves, and what is refused."""

import itertools
from functools import partial

import numpy as np
import pytest
from evaluated import assert_valid
from observing import observing
from scipy import stats
from sklearn.isotonic import isotonic_regression

from dpml.budget import Budget
from dpml.evaluation import as_published as module
from dpml.evaluation import (
    noisy_n,
    published_roc_curve,
    published_roc_is_private,
    quantile_thresholds,
    recursive_medians,
)
from dpml.evaluation.as_published import fixed_space, roc_from_sums
from dpml.exceptions import NotPrivate
from dpml.mechanisms import Laplace, Privelet
from dpml.mechanisms.smooth import smooth_sensitivity, statistic
from dpml.mechanisms.smooth.admissible import cauchy_scale


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.beta(1 + 2 * y, 3 - 2 * y)


def assert_valid_at(fpr, tpr, thresholds):
    assert fpr.shape == tpr.shape == thresholds.shape
    assert_valid(fpr, tpr)
    assert (thresholds[..., 0] == np.inf).all()
    assert (thresholds[..., 1:-1] >= thresholds[..., 2:]).all()


# ---- thresholds -----------------------------------------------------------------------------------------------------

DRAWN = {
    "medians": lambda x, epsilon, **more: recursive_medians(x, epsilon, 3, **more),
    "published": lambda x, epsilon, **more: recursive_medians(x, epsilon, 3, calibration="published", **more),
    "quantiles": lambda x, epsilon, **more: quantile_thresholds(x, epsilon, 8, **more),
    "five": lambda x, epsilon, **more: quantile_thresholds(x, epsilon, 5, **more),
}


def rng(seed=0):
    return np.random.default_rng(seed)


# ---- public thresholds and the number of records --------------------------------------------------------------------


def test_noisy_n_is_geometric():
    found = noisy_n(100, 0.5, rng=rng(), draws=40_000)
    alpha = np.exp(-0.5)
    for k in (-3, 0, 1):
        expected = (1 - alpha) / (1 + alpha) * alpha ** abs(k)
        assert np.mean(found == 100 + k) == pytest.approx(expected, abs=5 * np.sqrt(expected / 40_000))
    assert isinstance(noisy_n(100, 0.5, rng=rng()), int)
    budget = Budget(1.0)
    noisy_n(5, 0.25, rng=rng(), draws=3, budget=budget)
    assert budget.ledger["epsilon"].sum() == pytest.approx(0.75)


# ---- nodes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 5, 8, 13])
def test_nodes_of_a_level_are_disjoint_and_inside_their_ends(m):
    x = np.sort(np.round(rng(1).random(60), 1))
    seen = []

    def cut(left, right, first, end, share):
        seen.append((left, right, first, end))
        # on a score as often as not
        return np.round(left + (right - left) * share, 1)

    cuts = np.zeros((3, m + 1))
    cuts[:, m] = 1
    module.cut_levels(x, cuts, cut)
    assert (np.diff(cuts) >= 0).all()
    assert len(seen) == int(np.ceil(np.log2(m)))
    for left, right, first, end in seen:
        assert ((end >= first) & (left <= right)).all()
        for row in range(3):
            members = [set(range(a, b)) for a, b in zip(first[row], end[row], strict=True)]
            assert sum(map(len, members)) == len(set().union(*members))
            for a, b, inside in zip(left[row], right[row], members, strict=True):
                expected = ((x > a) | (a == 0)) & ((x < b) | (b == 1))
                assert inside == (set(np.flatnonzero(expected)) if a < b else set())


def test_smooth_sensitivities_of_many_nodes_are_those_of_one():
    generator = rng(2)
    x = np.sort(np.round(generator.beta(0.4, 0.3, 400), 3))
    left = np.array([[0.0, 0.1, 0.2, 0.5, 0.9, 0.3, 0.45, 0.7]])
    right = np.array([[1.0, 0.4, 0.9, 0.5001, 0.99, 0.8, 0.46, 0.75]])
    first, end = np.searchsorted(x, left, "right"), np.searchsorted(x, right, "left")
    first[0, 0], end[0, 0] = 0, len(x)
    sizes = (end - first).ravel()
    assert sizes.min() == 0
    assert sizes.max() > module.SMALL_NODE
    for beta in (1e-3, 0.05, 1.0, 20.0):
        found = module.smooth_medians(x, left, right, first, end, beta)[0]
        for i, (a, b) in enumerate(zip(left[0], right[0], strict=True)):
            expected = smooth_sensitivity("median", x[first[0, i] : end[0, i]], a, b, beta, "add-remove")
            assert found[i] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("calibration", ["exact", "published"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_first_cut_is_the_median_plus_cauchy_noise(calibration, relation):
    x = np.linspace(0.3, 0.5, 41)
    epsilon = 3.0
    level = epsilon / 2 if relation == "add-remove" else epsilon / 4
    options = {"rng": rng(3), "calibration": calibration, "relation": relation, "draws": 20_000}
    cuts = recursive_medians(x, epsilon, 2, **options)[:, 2]
    unit = cauchy_scale(level, level / 2) if calibration == "exact" else 8 / level
    scale = unit * smooth_sensitivity("median", x, 0, 1, level / 2, "add-remove")
    law = stats.cauchy(statistic("median", x, 0, 1), scale)
    outside = law.cdf(0) + law.sf(1)
    assert np.mean(cuts == 0.5) == pytest.approx(outside, abs=5 * np.sqrt(outside / 20_000) + 1e-9)
    inside = cuts[cuts != 0.5]
    truncated = lambda t: (law.cdf(t) - law.cdf(0)) / (1 - outside)  # noqa: E731
    assert stats.kstest(inside, truncated).pvalue > 1e-4


@pytest.mark.parametrize(("m", "q"), [(2, 0.5), (3, 1 / 3)])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_first_cut_has_the_stated_density(m, q, relation):
    x = np.array([0.1, 0.15, 0.15, 0.4, 0.8, 0.85, 0.9])
    epsilon, draws = 4.0, 40_000
    level = epsilon / int(np.ceil(np.log2(m))) / (1 if relation == "add-remove" else 2)
    found = quantile_thresholds(x, epsilon, m, rng=rng(6), relation=relation, draws=draws)
    first = found[:, -2] if m == 3 else found[:, 1]
    edges = np.array([0, *x, 1])
    weights = np.diff(edges) * np.exp(-level / (2 * max(q, 1 - q)) * np.abs(np.arange(8) - q * 7))
    expected = weights / weights.sum()
    observed = np.histogram(first, np.unique(edges))[0]
    expected = expected[np.diff(edges) > 0]
    assert stats.chisquare(observed, expected * draws).pvalue > 1e-4
    # evenly within a gap
    gap = first[(first > 0.4) & (first < 0.8)]
    assert stats.kstest((gap - 0.4) / 0.4, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("epsilon", [1e-280, 1e-3, 1.0, 1e4])
def test_any_scores_give_thresholds(name, epsilon):
    for x in ([], [0.0], [1.0] * 90, [0.5] * 200, [0.0, 1.0] * 50, [5e-324, 1e-310]):
        thresholds = DRAWN[name](x, epsilon, rng=rng(), draws=30)
        assert ((thresholds[:, 1:] >= 0) & (thresholds[:, 1:] <= 1)).all()
        assert (np.diff(thresholds[:, 1:]) <= 0).all()


# ---- model ----------------------------------------------------------------------------------------------------------


def test_sums_by_hand_and_by_scikit_learn():
    fpr, tpr = roc_from_sums([[-1, 1, 3, 4], [6, 2, 8, 8]])
    np.testing.assert_allclose(fpr, [0, 0, 0.25, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 0.5, 0.5, 1, 1])
    noisy = np.random.default_rng(0).normal(np.arange(12), 5, (20, 2, 12)) + 3
    fpr, tpr = roc_from_sums(noisy)
    for i, rates in itertools.product(range(20), (0, 1)):
        expected = np.maximum(isotonic_regression(noisy[i, rates]), 0)
        np.testing.assert_allclose((fpr, tpr)[rates][i, 1:], expected / expected[-1], atol=1e-12)


# ---- release --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize(("method", "first"), [("recursive-medians", 0.3), ("quantiles", 0.3), ("fixed-space", 0.0)])
def test_what_each_part_is_paid(monkeypatch, method, first, halves, relation):
    paid = {}

    def spy(name, function):
        def call(scores, epsilon, *args, **options):
            paid[name] = (epsilon, options["relation"])
            return function(scores, epsilon, *args, **options)

        return call

    for name in ("recursive_medians", "quantile_thresholds"):
        monkeypatch.setattr(module, name, spy(name, getattr(module, name)))
    options = {"n_thresholds": 8} if method == "fixed-space" else {"k": 3}
    options |= {"method": method, "split": 0.3, "halves": halves, "relation": relation}
    with observing() as passed:
        published_roc_curve(*data(), 2.0, rng=np.random.default_rng(0), **options)
    second = 2.0 * (1 - first)
    expected = Privelet(second / 2 if halves else second, 8, relation, 2)
    sums = passed.of(Laplace)[-1]
    assert (sums.epsilon, sums.sensitivity) == pytest.approx((expected.epsilon, expected.sensitivity))
    if first:
        [(epsilon, stated)] = paid.values()
        assert epsilon == pytest.approx(2.0 * first)
        assert stated == relation
    else:
        assert not paid


@pytest.mark.parametrize(
    ("halves", "relation", "sensitivity"),
    [(True, "add-remove", 21), (False, "add-remove", 11), (True, "replace-one", 42), (False, "replace-one", 22)],
)
@pytest.mark.parametrize("method", ["laplace", "laplace-fixed"])
def test_the_baselines_noise(method, halves, relation, sensitivity):
    with observing() as passed:
        curve = published_roc_curve(
            *data(), 0.5, rng=np.random.default_rng(0), method=method, halves=halves, relation=relation
        )
    assert [mechanism for mechanism, _ in passed] == [Laplace(0.5, sensitivity)]
    assert curve[2].shape == (12,)


def test_the_baselines_sensitivity_by_enumeration():
    thresholds = np.array([np.inf, 0.75, 0.5, 0.25, 0.0])
    records = list(itertools.product((0, 1), (0.0, 0.3, 0.6, 1.0)))

    def sums(rows):
        labels, scores = (np.array([r[i] for r in rows]) for i in (0, 1))
        return module._records_above(scores, labels, thresholds)

    added = max(np.abs(sums([*rest, r]) - sums(rest)).sum() for r in records for rest in itertools.product(records))
    moved = max(np.abs(sums([a]) - sums([b])).sum() for a, b in itertools.product(records, repeat=2))
    assert added == 4
    assert moved == 8


@pytest.mark.parametrize("ranges", ["privelet", "hierarchy", "identity"])
@pytest.mark.parametrize("method", module.METHODS)
def test_a_large_epsilon_gives_the_true_rates_at_the_thresholds(method, ranges):
    y, s = data()
    fpr, tpr, thresholds = published_roc_curve(
        y, s, 1e7, rng=np.random.default_rng(0), method=method, ranges=ranges, k=4, draws=3
    )
    assert_valid_at(fpr, tpr, thresholds)
    for row, k in itertools.product(range(3), range(1, fpr.shape[1])):
        assert fpr[row, k] == pytest.approx(np.mean(s[y == 0] >= thresholds[row, k]), abs=1e-3)
        assert tpr[row, k] == pytest.approx(np.mean(s[y == 1] >= thresholds[row, k]), abs=1e-3)


DEGENERATE = (
    ([], []),
    ([0], [0.2]),
    ([1] * 30, np.linspace(0, 1, 30)),
    ([0] * 30, np.linspace(0, 1, 30)),
    ([0, 1] * 20, [0.5] * 40),
    ([0, 1] * 20, [1.0] * 40),
    ([0, 1] * 20, [0.0] * 40),
)


@pytest.mark.parametrize("method", module.METHODS)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_any_data_give_valid_curves(method, relation):
    for (y, s), epsilon in itertools.product(DEGENERATE, (1e-3, 1.0, 1e9)):
        curve = published_roc_curve(
            y, s, epsilon, rng=np.random.default_rng(0), method=method, relation=relation, k=3, draws=20
        )
        assert_valid_at(*curve)


def test_which_are_private():
    assert not published_roc_is_private("laplace", 10, "replace-one")
    assert not published_roc_is_private("fixed-space")
    assert published_roc_is_private("fixed-space", relation="replace-one")
    for method in ("recursive-medians", "quantiles", "laplace-fixed"):
        assert published_roc_is_private(method)


def test_fixed_space_without_a_number_reveals_n():
    for alpha, n_thresholds in ((1.0, 101), (0.25, 26), (0.001, 2)):
        curve = published_roc_curve(*data(100), 1.0, rng=np.random.default_rng(0), method="fixed-space", alpha=alpha)
        assert curve[2].shape == (n_thresholds,)


def test_even_thresholds_by_hand():
    np.testing.assert_allclose(fixed_space(5), [np.inf, 0.8, 0.6, 0.4, 0.2, 0])
    np.testing.assert_array_equal(fixed_space(1), [np.inf, 0])
    log_odds = fixed_space(4, "log-odds")
    np.testing.assert_allclose(log_odds[1:-1], np.sinh(np.arcsinh(30) * np.array([0.5, 0, -0.5])), atol=1e-12)
    assert log_odds[0] == np.inf == -log_odds[-1]


def test_the_positive_label_and_log_odds():
    y, s = data()
    words = np.array(["spam", "ham"])[y]
    options = {"k": 3, "draws": 2}
    expected = published_roc_curve(y, s, 1.0, rng=np.random.default_rng(0), **options)
    for classes in (("spam", "ham"), ("ham", "spam")):
        found = published_roc_curve(
            words, s, 1.0, rng=np.random.default_rng(0), classes=classes, pos_label="ham", **options
        )
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    curve = published_roc_curve(
        y, np.log(s / (1 - s)), 1e7, rng=np.random.default_rng(0), score_scale="log-odds", **options
    )
    assert_valid_at(*curve)
    assert curve[2][0, -1] == -np.inf


@pytest.mark.parametrize("release", [partial(recursive_medians, k=4), partial(quantile_thresholds, n_thresholds=15)])
def test_log_odds_beyond_the_end_of_the_scale_count_as_its_end(release):
    log_odds = np.random.default_rng(1).normal(0, 30, 60)
    far, near = (np.where(abs(log_odds) > 30, end * np.sign(log_odds), log_odds) for end in (1e300, 30.0))
    assert (far != near).sum() > 10
    drawn = [
        release(scores, 2.0, rng=np.random.default_rng(0), score_scale="log-odds", draws=20) for scores in (far, near)
    ]
    np.testing.assert_array_equal(*drawn)


def test_budget_is_charged_once_and_refuses_non_private():
    y, s = data(50)
    budget, generator = Budget(1.0), np.random.default_rng(0)
    published_roc_curve(y, s, 0.2, rng=generator, k=2, draws=3, budget=budget)
    assert budget.ledger["epsilon"].tolist() == pytest.approx([0.6])
    state = generator.bit_generator.state
    for method in ("laplace", "fixed-space"):
        with pytest.raises(NotPrivate, match="it takes no budget"):
            published_roc_curve(y, s, 0.1, rng=generator, method=method, budget=budget)
    assert generator.bit_generator.state == state
    published_roc_curve(y, s, 0.1, rng=generator, method="fixed-space", n_thresholds=9, budget=budget)
    assert budget.ledger["epsilon"].sum() == pytest.approx(0.7)
