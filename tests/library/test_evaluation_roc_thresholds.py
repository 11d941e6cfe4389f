"""Thresholds of scores: public ones, and what is drawn from the scores, against naive references."""

import numpy as np
import pytest
from scipy import stats

from dpml.budget import Budget
from dpml.evaluation import alpha_fixed_space, fixed_space, noisy_n, quantile_thresholds, recursive_medians
from dpml.evaluation.roc import _cuts
from dpml.evaluation.roc import thresholds as module
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.smooth import smooth_sensitivity, statistic
from dpml.mechanisms.smooth.admissible import cauchy_scale

DRAWN = {
    "medians": lambda x, epsilon, **more: recursive_medians(x, epsilon, 3, **more),
    "published": lambda x, epsilon, **more: recursive_medians(x, epsilon, 3, calibration="published", **more),
    "quantiles": lambda x, epsilon, **more: quantile_thresholds(x, epsilon, 8, **more),
    "five": lambda x, epsilon, **more: quantile_thresholds(x, epsilon, 5, **more),
}


def rng(seed=0):
    return np.random.default_rng(seed)


# ---- public thresholds and the number of records --------------------------------------------------------------------


def test_even_thresholds_by_hand():
    np.testing.assert_allclose(fixed_space(5), [np.inf, 0.8, 0.6, 0.4, 0.2, 0])
    np.testing.assert_array_equal(fixed_space(1), [np.inf, 0])
    log_odds = fixed_space(4, "log-odds")
    np.testing.assert_allclose(log_odds[1:-1], np.sinh(np.arcsinh(30) * np.array([0.5, 0, -0.5])), atol=1e-12)
    assert log_odds[0] == np.inf == -log_odds[-1]


def test_alpha_fixed_space_publishes_n():
    assert [len(alpha_fixed_space(558, a)) for a in (1, 0.5, 0.25, 0.125)] == [559, 280, 140, 70]
    np.testing.assert_array_equal(alpha_fixed_space(4), fixed_space(4))
    assert len(alpha_fixed_space(0)) == len(alpha_fixed_space(-7)) == len(alpha_fixed_space(3, 0.1)) == 2


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
    _cuts.cut_levels(x, cuts, cut)
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
    assert sizes.max() > _cuts.SMALL_NODE
    for beta in (1e-3, 0.05, 1.0, 20.0):
        found = _cuts.smooth_medians(x, left, right, first, end, beta)[0]
        for i, (a, b) in enumerate(zip(left[0], right[0], strict=True)):
            expected = smooth_sensitivity("median", x[first[0, i] : end[0, i]], a, b, beta, "add-remove")
            assert found[i] == pytest.approx(expected, rel=1e-9)


# ---- recursive medians ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", ["exact", "published"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_first_cut_is_the_median_plus_cauchy_noise_of_the_stated_scale(calibration, relation):
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


@pytest.mark.parametrize("name", DRAWN)
def test_a_large_epsilon_halves_the_scores(name):
    x = rng(4).random(2000) ** 3
    thresholds = DRAWN[name](x, 1e6, rng=rng(5), draws=20)
    counts = -np.diff([[np.sum(x < t) for t in row] for row in thresholds], axis=1)
    m = thresholds.shape[1] - 1
    # a median stands on a score, which falls on either side of the noisy cut and out of neither
    assert (np.abs(counts - 2000 / m) <= 4).all()


def test_a_median_outside_its_node_is_its_middle():
    # two scores far apart: the smooth sensitivity is the whole width, and the noise wide
    cuts = recursive_medians([0.0, 1.0], 1e-3, 2, rng=rng(), draws=500)
    np.testing.assert_array_equal(np.unique(np.round(np.median(cuts, axis=0)[1:-1], 3)), [0.25, 0.5, 0.75])


# ---- quantiles ------------------------------------------------------------------------------------------------------


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


# ---- both -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("score_scale", ["probability", "log-odds"])
def test_shapes_seeds_and_order(name, score_scale):
    x = rng(7).random(50)
    one = DRAWN[name](x, 20.0, rng=rng(8), score_scale=score_scale)
    budget = Budget(500.0)
    many = DRAWN[name](x, 20.0, rng=rng(8), score_scale=score_scale, draws=6, budget=budget)
    assert budget.spent == pytest.approx(120.0)
    np.testing.assert_array_equal(many, DRAWN[name](x, 20.0, rng=rng(8), score_scale=score_scale, draws=6))
    m = 5 if name == "five" else 8
    assert one.shape == (m + 1,)
    assert many.shape == (6, m + 1)
    assert (np.diff(many[:, 1:-1]) <= 0).all()
    assert (many[:, 0] == np.inf).all()
    assert (many[:, -1] == (0 if score_scale == "probability" else -np.inf)).all()
    assert len(np.unique(many[:, 4])) > 1


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("epsilon", [1e-280, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("x", [[], [0.0], [1.0] * 90, [0.5] * 200, [0.0, 1.0] * 50, [5e-324, 1e-310]])
def test_any_scores_give_thresholds(name, epsilon, x):
    thresholds = DRAWN[name](x, epsilon, rng=rng(), draws=30)
    assert ((thresholds[:, 1:] >= 0) & (thresholds[:, 1:] <= 1)).all()
    assert (np.diff(thresholds[:, 1:]) <= 0).all()


def test_infinite_log_odds_are_the_ends_and_clipping_drops_what_is_no_number():
    x = np.array([-np.inf, np.inf, 0.3, -2.0])
    assert np.isfinite(recursive_medians(x, 1.0, 2, rng=rng(), score_scale="log-odds")[1:-1]).all()
    for name in DRAWN:
        beyond, ends = (DRAWN[name](20 * [-x, x], 9.0, rng=rng(), score_scale="log-odds") for x in (50.0, 30.0))
        np.testing.assert_array_equal(beyond, ends)
        messy = DRAWN[name]([0.2, "0.4", None, np.nan, 7, -3], 1.0, rng=rng(9), on_invalid="clip")
        np.testing.assert_array_equal(messy, DRAWN[name]([0.2, 0.4, 1.0, 0.0], 1.0, rng=rng(9)))


def test_blocks_of_draws_do_not_change_the_law(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_CELLS", 2000)
    x = rng(10).random(100)
    medians = recursive_medians(x, 50.0, 2, rng=rng(), draws=400)[:, 2]
    assert medians.std() > 0
    assert np.median(medians) == pytest.approx(np.median(x), abs=0.05)


def test_bad_input():
    with pytest.raises(InvalidParameter, match=r"`n_thresholds` must be .*Got 0"):
        fixed_space(0)
    with pytest.raises(InvalidParameter, match=r"`alpha` must be .*Got 2"):
        alpha_fixed_space(5, 2)
    with pytest.raises(InvalidParameter, match=r"`score_scale` must be .*Got 'percent'"):
        fixed_space(4, "percent")
    with pytest.raises(InvalidParameter, match=r"`k` must be .*Got 17"):
        recursive_medians([0.5], 1.0, 17, rng=rng())
    with pytest.raises(InvalidParameter, match=r"`calibration` must be .*Got 'none'"):
        recursive_medians([0.5], 1.0, 1, rng=rng(), calibration="none")
    with pytest.raises(InvalidParameter, match=r"`n_thresholds` must be .*Got 1"):
        quantile_thresholds([0.5], 1.0, 1, rng=rng())
    for name in DRAWN:
        with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got 0"):
            DRAWN[name]([0.5], 0, rng=rng())
        with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got 1"):
            DRAWN[name]([0.5], 1.0, rng=1)
        with pytest.raises(InvalidParameter, match=r"`draws` must be .*Got 0"):
            DRAWN[name]([0.5], 1.0, rng=rng(), draws=0)
        with pytest.raises(InvalidData, match=r"y_score has the value 1\.5: it must be a number from 0 to 1"):
            DRAWN[name]([0.5, 1.5], 1.0, rng=rng())
        with pytest.raises(InvalidData, match="2 dimensions"):
            DRAWN[name]([[0.5]], 1.0, rng=rng())
