"""Curves from noisy histograms, their area, and the area between two curves."""

import numpy as np
import pytest
from evaluated import assert_valid, scores
from scipy.special import expit
from sklearn.metrics import roc_auc_score, roc_curve

from dpml.evaluation import (
    area_between,
    private_roc_auc,
    private_roc_curve,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.exceptions import InvalidParameter

# ---- model ----------------------------------------------------------------------------------------------------------


def test_soft_threshold_by_hand():
    fpr, tpr = roc_from_histogram([[1.5, -4, 5, 3], [9.0, 3, 0.5, -1]], noise_scale=2.0 / 0.75)
    np.testing.assert_allclose(fpr, [0, 0, 0, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 7 / 8, 1, 1, 1])


def test_a_class_of_which_nothing_is_left_is_spread_evenly():
    fpr, tpr = roc_from_histogram([[-1.0, 0.5, 0, 1], [0, 0, 0, 9]], noise_scale=1.0 / 0.75)
    np.testing.assert_allclose(fpr, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 0, 0, 0, 1])


def test_huge_noise_still_gives_a_curve():
    fpr, tpr = roc_from_histogram(np.full((2, 4), 1.5e308), 1e300)
    assert_valid(fpr, tpr)
    np.testing.assert_allclose(fpr, [0, 0.25, 0.5, 0.75, 1])


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [1e-280, 0.01, 0.5])
def test_a_thousand_noisy_curves_are_valid(epsilon, relation):
    y, log_odds = scores()
    fpr, tpr, thresholds = private_roc_curve(
        y, expit(log_odds), epsilon, rng=np.random.default_rng(0), relation=relation, draws=1000
    )
    assert_valid(fpr, tpr)
    assert thresholds[0] == np.inf
    assert (np.diff(thresholds) < 0).all()


@pytest.mark.parametrize("n_bins", [4, 16, 200])
def test_a_large_epsilon_gives_the_binned_true_curve(n_bins):
    y, log_odds = scores()
    p = expit(log_odds)
    fpr, tpr, thresholds = private_roc_curve(y, p, 1e9, rng=np.random.default_rng(0), n_bins=n_bins)
    for k, threshold in enumerate(thresholds):
        assert fpr[k] == pytest.approx((p[y == 0] >= threshold).mean(), abs=1e-6)
        assert tpr[k] == pytest.approx((p[y == 1] >= threshold).mean(), abs=1e-6)


def test_the_error_of_the_bins_is_at_most_the_rectangles_that_the_curve_crosses():
    y, log_odds = scores()
    true_fpr, true_tpr, _ = roc_curve(y, log_odds)
    errors = []
    for n_bins in (8, 16, 200, 2000):
        thresholds = roc_thresholds(n_bins, "log-odds")
        fpr, tpr = roc_from_histogram(roc_histogram(y, log_odds, thresholds, score_scale="log-odds"))
        errors.append(area_between(true_fpr, true_tpr, fpr, tpr))
        # both curves are monotone between the same corners; the chord is at most half a rectangle away
        assert errors[-1] <= np.sum(np.diff(fpr) * np.diff(tpr)) / 2 + 1e-12
    assert errors[1] < 0.01
    assert errors[3] < errors[1] / 10


def test_auc_at_a_large_epsilon_is_that_of_scikit_learn():
    y, log_odds = scores()
    p = expit(log_odds)
    binned = np.searchsorted(roc_thresholds(16)[-2:0:-1], p, side="right")
    areas = private_roc_auc(y, p, 1e9, rng=np.random.default_rng(0), draws=20)
    np.testing.assert_allclose(areas, roc_auc_score(y, binned), atol=1e-6)
    fine = private_roc_auc(y, p, 1e9, rng=np.random.default_rng(0), n_bins=5000)
    assert fine == pytest.approx(roc_auc_score(y, p), abs=1e-4)


def test_auc_is_nearly_unbiased_on_many_records():
    y, log_odds = scores(20_000)
    areas = private_roc_auc(y, log_odds, 1.0, rng=np.random.default_rng(0), draws=400, score_scale="log-odds")
    assert areas.mean() == pytest.approx(roc_auc_score(y, log_odds), abs=0.005)


# ---- area -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "area"),
    [
        # perfect against diagonal; perfect against worst; a curve against itself with more points
        (([0, 0, 1], [0, 1, 1]), ([0, 1], [0, 1]), 0.5),
        (([0, 0, 1], [0, 1, 1]), ([0, 1, 1], [0, 0, 1]), 1.0),
        (([0, 1], [0, 1]), ([0, 0.2, 0.2, 1], [0, 0.2, 0.2, 1]), 0.0),
        # one step at 1/2 against the diagonal: a triangle of area 1/8 below it and one above
        (([0, 0.5, 0.5, 1], [0, 0, 1, 1]), ([0, 1], [0, 1]), 0.25),
        # crossing at 1/2: the difference runs from 1/2 to -1/2, two triangles of area 1/8
        (([0, 0, 1, 1], [0, 0.5, 0.5, 1]), ([0, 1], [0, 1]), 0.25),
        # steps at different places: the difference is 1 between 1/4 and 3/4
        (([0, 0.25, 0.25, 1], [0, 0, 1, 1]), ([0, 0.75, 0.75, 1], [0, 0, 1, 1]), 0.5),
    ],
)
def test_area_between_by_hand(first, second, area):
    assert area_between(*first, *second) == pytest.approx(area, abs=1e-15)
    assert area_between(*second, *first) == pytest.approx(area, abs=1e-15)


def test_area_between_against_a_fine_integral():
    rng = np.random.default_rng(0)
    draws = 20
    # steps on a coarse grid make many ties and vertical steps
    f = np.sort(rng.integers(0, 12, (2, draws, 15)) / 11.0, axis=-1)
    t = np.sort(rng.random((2, draws, 15)), axis=-1)
    for a in (f, t):
        a[..., 0], a[..., -1] = 0, 1
    areas = area_between(f[0], t[0], f[1], t[1])
    middle = (np.arange(110_000) + 0.5) / 110_000
    for i in range(draws):
        gap = np.interp(middle, f[0, i], t[0, i]) - np.interp(middle, f[1, i], t[1, i])
        assert areas[i] == pytest.approx(np.abs(gap).mean(), abs=1e-7)
        assert area_between(f[0, i], t[0, i], f[1, i], t[1, i]) == areas[i]
    single = area_between(f[0, 3], t[0, 3], f[1], t[1])
    assert single.shape == (draws,)
    assert single[3] == areas[3]


def test_area_between_in_blocks(monkeypatch):
    noisy = np.random.default_rng(0).laplace(5, 10, size=(31, 2, 16))
    fpr, tpr = roc_from_histogram(noisy)
    whole = area_between([0, 1], [0, 1], fpr, tpr)
    monkeypatch.setattr("dpml.evaluation.roc.area.BLOCK_CELLS", 100)
    np.testing.assert_array_equal(area_between([0, 1], [0, 1], fpr, tpr), whole)


@pytest.mark.parametrize(
    ("curves", "name"),
    [
        (([0, 0.5], [0, 1], [0, 1], [0, 1]), "fpr1"),
        (([0, 1], [0, 1], [0, 0.6, 0.5, 1], [0, 0, 1, 1]), "fpr2"),
        (([0, 1], [0, np.nan], [0, 1], [0, 1]), "tpr1"),
        (([0, 1], [0, 1], [0, 1], [0, 0.5, 1]), "shapes of fpr2 and tpr2"),
        ((np.tile([0, 1], (2, 1)), np.tile([0, 1], (2, 1)), np.tile([0, 1], (3, 1)), np.tile([0, 1], (3, 1))), "draws"),
    ],
)
def test_area_between_refuses_what_is_no_curve(curves, name):
    with pytest.raises(InvalidParameter, match=name):
        area_between(*curves)
