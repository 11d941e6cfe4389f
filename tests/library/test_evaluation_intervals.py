"""Intervals of released figures: how often they hold the exact figure."""

import numpy as np
import pytest
from each_commit import others_in_full
from evaluated import LEAST, evaluate, exact_of, scores
from scipy import stats

from dpml.evaluation import (
    PrivateEvaluation,
    roc_from_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation.intervals import draw_noise, macro_auc_intervals, noise_variance, ratio_interval

# ---- uncertainty ---------------------------------------------------------------------------------------------------


def test_ratio_interval_against_the_closed_form():
    # noise in the numerator only, of known quantile: θ in (n ± q)/d
    noise = np.linspace(-1, 1, 2001)
    zero = np.zeros_like(noise)
    low, high = ratio_interval(30.0, 100.0, noise, zero, 0.95, 0.0, 1.0)
    assert (low, high) == pytest.approx((0.2905, 0.3095), abs=2e-5)
    # Fieller: normal noise of sd 5 and 10 in both, level 0.9; (30 - 100θ)² <= z²(25 + 100θ²)
    rng = np.random.default_rng(0)
    low, high = ratio_interval(30.0, 100.0, rng.normal(0, 5, 200_000), rng.normal(0, 10, 200_000), 0.9, 0.0, 1.0)
    z = stats.norm.ppf(0.95)
    roots = np.sort(np.roots([100.0**2 - z**2 * 100, -2 * 3000, 900 - z**2 * 25]))
    np.testing.assert_allclose((low, high), roots, atol=2e-3)
    # nothing known, and more than possible
    assert ratio_interval(1.0, 2.0, noise * 50, noise[::-1] * 80, 0.95, 0.0, 1.0) == (0.0, 1.0)
    assert ratio_interval(150.0, 100.0, noise, zero, 0.95, 0.0, 1.0) == (1.0, 1.0)


@pytest.mark.parametrize(("scale", "step"), [(2.0, 0.0), (2.0, 1.0), (0.3, 1.0), (0.01, 0.5), (1e9, 1.0)])
def test_simulated_noise_has_the_stated_variance(scale, step):
    noise = draw_noise((100_000,), scale, step, np.random.default_rng(0))
    variance = noise_variance(scale, step)
    assert noise.var() == pytest.approx(variance, rel=0.05, abs=1e-9)
    if step and scale < 1e6:
        np.testing.assert_array_equal(noise / step, np.rint(noise / step))


@pytest.mark.parametrize(
    ("n", "gap", "share", "epsilon"),
    others_in_full(
        [(500, 1, 0.5, 0.2), (150, 3, 0.5, 1.0), (500, 5, 0.15, 0.2), (500, 5, 0.15, 1.0), (5000, 2, 0.3, 0.1)],
        first=2,
    ),
)
def test_intervals_hold_the_exact_figure_as_often_as_they_say(n, gap, share, epsilon):
    y, log_odds = scores(n, gap, share)
    exact = exact_of(y, log_odds)
    evaluation = evaluate(y, log_odds, epsilon, draws=400, score_scale="log-odds")
    for metric in ("roc_auc", "accuracy", "balanced_accuracy", "log_loss", "n_records"):
        low, high = evaluation.interval(metric, n_boot=400, rng=np.random.default_rng(1))
        true, shown = getattr(exact, metric)(), getattr(evaluation, metric)()
        assert ((low <= true) & (true <= high)).mean() >= LEAST, metric
        assert ((low <= shown) & (shown <= high)).all()
    band = evaluation.roc_band(n_boot=200, rng=np.random.default_rng(1))
    fpr, tpr = roc_from_histogram(exact.counts)
    # a vertical step may be met anywhere along it
    steps = 1e-9 * np.arange(17)
    low, high = np.interp(band.fpr, fpr + steps, tpr), np.interp(band.fpr, fpr - steps[::-1], tpr)
    held = ((band.tpr_low <= high + 1e-6) & (low <= band.tpr_high + 1e-6)).all(axis=1)
    assert held.mean() >= LEAST


def test_the_width_of_an_interval_is_that_of_the_noise():
    """On many records the width is that of the noise: 2·1.96 sd of Σ(w - θ)x / n for accuracy."""
    y, log_odds = scores(50_000)
    evaluation = evaluate(y, log_odds, 1.0, score_scale="log-odds")
    low, high = evaluation.interval("accuracy", n_boot=20_000)
    a = evaluation.accuracy()
    sd = np.sqrt(16 * 2 * ((1 - a) ** 2 + a**2)) / len(y)
    assert high - low == pytest.approx(2 * 1.96 * sd, rel=0.05)
    assert np.diff(evaluation.interval(level=0.5))[0] < 0.5 * np.diff(evaluation.interval())[0]
    wide = evaluation.interval(sampling=True)
    assert wide[1] - wide[0] > 3 * np.diff(evaluation.interval())[0]


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_with_sampling_the_interval_holds_the_populations_figure(epsilon):
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(400):
        y = (rng.random(300) < 0.4).astype(int)
        draws.append(roc_histogram(y, rng.normal(2 * y - 1, 1.5), score_scale="log-odds"))
    counts = np.array(draws) + rng.laplace(scale=1 / epsilon, size=(400, 2, 16))
    thresholds = roc_thresholds(score_scale="log-odds")
    evaluation = PrivateEvaluation(counts, thresholds, 1 / epsilon, epsilon, "add-remove", "log-odds")
    # normal scores of spread 1.5 at ±1: P(correct) = Φ(1/1.5), AUC = Φ(2/(1.5·√2)) up to the bins
    for metric, figure in (("accuracy", stats.norm.cdf(1 / 1.5)), ("roc_auc", stats.norm.cdf(2 / (1.5 * 2**0.5)))):
        low, high = evaluation.interval(metric, sampling=True, n_boot=400)
        assert ((low <= figure) & (figure <= high)).mean() >= LEAST


def test_a_band_ends_where_every_curve_ends():
    """Also where a negative count puts a limit of a rate above 1."""
    counts = np.array([[90.0, *np.zeros(14), -40.0], np.full(16, 5.0)])
    evaluation = PrivateEvaluation(counts, roc_thresholds(), 1.0, 1.0, "add-remove", "probability")
    assert evaluation.roc_band(n_boot=200).tpr_high[-1] == 1


def test_intervals_of_a_mean_area_stay_between_zero_and_one():
    # the classes are separated the wrong way round, so the noise reaches below 0
    table = np.zeros((1, 2, 10))
    table[0, 0, 0] = table[0, 1, 9] = 200.0
    low, high = macro_auc_intervals([table, table], 3.0, 1.0, 0.95, 200, np.random.default_rng(0))[0]
    assert 0.0 == low < high < 0.5
