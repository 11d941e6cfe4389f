"""Every figure from one noisy histogram, against scikit-learn and hand counts, and what its release costs."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from evaluated import assert_valid, evaluate, exact_of, scores
from scipy.special import expit
from sklearn import metrics

from dpml.budget import Budget
from dpml.evaluation import (
    PrivateEvaluation,
    private_confusion_matrix,
    release_evaluation,
    release_histogram,
    roc_histogram,
    roc_thresholds,
)
from dpml.evaluation import as_published as thresholds_module
from dpml.evaluation.comparison import paired_counts
from dpml.evaluation.histogram import noise_scale
from dpml.evaluation.private_evaluation import count_scores
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, opened

SENSITIVITY = {"add-remove": 1, "replace-one": 2}


def binned(y, log_odds):
    """Scores as scikit-learn must see them to agree: one value a bin."""
    return np.searchsorted(roc_thresholds(16, "log-odds")[-2:0:-1], log_odds, side="right")


# ---- figures at a large ε are scikit-learn's --------------------------------------------------------------------


def test_figures_without_noise_are_those_of_scikit_learn():
    y, log_odds = scores(share=0.3)
    evaluation = evaluate(y, log_odds, 1e9, score_scale="log-odds")
    bins = binned(y, log_odds)
    assert evaluation.roc_auc() == pytest.approx(metrics.roc_auc_score(y, bins), abs=1e-6)
    assert evaluation.average_precision() == pytest.approx(metrics.average_precision_score(y, bins), abs=1e-6)
    assert evaluation.prevalence() == pytest.approx(y.mean(), abs=1e-6)
    assert evaluation.n_records() == pytest.approx(len(y), abs=1e-4)
    for threshold in (None, -2.1, 40.0):
        used = evaluation.used_threshold(threshold)
        said = (log_odds >= used).astype(int)
        assert evaluation.accuracy(threshold) == pytest.approx(metrics.accuracy_score(y, said), abs=1e-6)
        expected = metrics.balanced_accuracy_score(y, said)
        assert evaluation.balanced_accuracy(threshold) == pytest.approx(expected, abs=1e-6)
        np.testing.assert_allclose(evaluation.confusion_matrix(threshold), metrics.confusion_matrix(y, said), atol=1e-4)
        tn, fp, fn, tp = metrics.confusion_matrix(y, said).ravel()
        assert evaluation.true_positive_rate(threshold) == pytest.approx(tp / (tp + fn), abs=1e-6)
        assert evaluation.false_positive_rate(threshold) == pytest.approx(fp / (fp + tn), abs=1e-6)


def test_a_threshold_above_every_probability_counts_as_one():
    evaluation = PrivateEvaluation(np.ones((2, 3)), np.array([np.inf, 2.0, 0.5, 0.0]), 0.0, 1.0)
    np.testing.assert_allclose(evaluation.bin_probabilities(), [1.0, 0.75, 0.25])


def test_log_loss_is_that_of_the_bins_probabilities_and_bounded():
    y, log_odds = scores(2000)
    evaluation = exact_of(y, log_odds)
    p = evaluation.bin_probabilities()[::-1][binned(y, log_odds)]
    assert evaluation.log_loss(clip=1e-9) == pytest.approx(metrics.log_loss(y, p), rel=1e-9)
    # 16 bins are coarse, and yet near the loss of the scores themselves
    assert evaluation.log_loss() == pytest.approx(metrics.log_loss(y, expit(log_odds)), abs=0.02)
    # everything wrong with certainty
    wrong = exact_of(1 - (log_odds > 0), np.where(log_odds > 0, 50.0, -50.0))
    assert wrong.log_loss() == pytest.approx(-np.log(1e-3))
    for clip in (0, 0.5, np.nan):
        with pytest.raises(InvalidParameter, match="clip"):
            evaluation.log_loss(clip)


def test_calibration_curve_by_hand():
    counts = np.array([[1.0, 4, 0], [9.0, 4, 0]])
    evaluation = PrivateEvaluation(counts, np.array([np.inf, 0.8, 0.4, 0]), 0.0, 1.0)
    curve = evaluation.calibration_curve()
    np.testing.assert_allclose(curve.prob_true, [np.nan, 0.5, 0.9])
    np.testing.assert_allclose(curve.prob_pred, [0.2, expit(np.log(4 * 2 / 3) / 2), 0.9])
    np.testing.assert_array_equal(curve.n_records, [0, 8, 10])
    noisy = replace(evaluation, noise_scale=3.0)
    assert noisy.calibration_curve().n_std == pytest.approx(6.0)


def test_the_nearest_public_threshold_is_used():
    evaluation = PrivateEvaluation(np.ones((2, 4)), np.array([np.inf, 0.8, 0.6, 0.1, 0]), 0.0, 1.0)
    for wanted, used in [(0.5, 0.6), (None, 0.6), (0.36, 0.6), (0.34, 0.1), (0.02, 0.0), (3, 0.8), (np.inf, np.inf)]:
        assert evaluation.used_threshold(wanted) == used
    assert evaluation.confusion_matrix(np.inf)[:, 1].sum() == 0
    assert evaluation.confusion_matrix(-np.inf)[:, 0].sum() == 0
    for bad in ("0.5", np.nan, True):
        with pytest.raises(InvalidParameter, match="threshold"):
            evaluation.accuracy(bad)
    single = PrivateEvaluation(np.ones((2, 1)), np.array([np.inf, 0]), 0.0, 1.0)
    assert (single.used_threshold(), single.accuracy(), single.roc_auc()) == (0.0, 0.5, 0.5)


FIGURES = ("roc_auc", "accuracy", "balanced_accuracy", "average_precision", "log_loss", "prevalence", "n_records")


def test_a_batch_equals_its_draws():
    y, log_odds = scores(100)
    batch = evaluate(y, log_odds, 0.2, draws=4, score_scale="log-odds")
    assert batch.counts.shape == (4, 2, 16)
    for i in (0, 3):
        one = replace(batch, counts=batch.counts[i])
        for name in FIGURES:
            assert getattr(batch, name)()[i] == pytest.approx(getattr(one, name)(), abs=1e-12)
            assert isinstance(getattr(one, name)(), float)
        np.testing.assert_allclose(batch.confusion_matrix()[i], one.confusion_matrix())
        np.testing.assert_allclose(batch.precision_recall_curve()[0][i], one.precision_recall_curve()[0])
        np.testing.assert_array_equal(batch.calibration_curve().prob_true[i], one.calibration_curve().prob_true)
        for metric in ("roc_auc", "balanced_accuracy", "log_loss", "n_records"):
            low, high = batch.interval(metric, n_boot=50)
            np.testing.assert_allclose((low[i], high[i]), one.interval(metric, n_boot=50), atol=1e-9)
        np.testing.assert_allclose(batch.roc_band(n_boot=50).tpr_low[i], one.roc_band(n_boot=50).tpr_low)


@pytest.mark.parametrize("epsilon", [1e-280, 0.02, 1e6])
@pytest.mark.parametrize(("y", "s"), [([], []), ([1] * 9, [0.3] * 9), ([0, 1], [0.5, 0.5]), ([0], [1.0])])
def test_figures_of_any_release_are_in_their_ranges(y, s, epsilon):
    evaluation = evaluate(y, s, epsilon, draws=100)
    for name in ("roc_auc", "accuracy", "balanced_accuracy", "average_precision", "prevalence"):
        figure = getattr(evaluation, name)()
        assert ((figure >= 0) & (figure <= 1)).all()
    assert ((evaluation.log_loss() >= 0) & (evaluation.log_loss() <= -np.log(1e-3))).all()
    assert (evaluation.confusion_matrix() >= 0).all()
    np.testing.assert_allclose(evaluation.confusion_matrix().sum(axis=(-1, -2)), evaluation.n_records())
    precision, recall, _ = evaluation.precision_recall_curve()
    assert ((precision >= 0) & (precision <= 1)).all()
    assert (np.diff(recall, axis=-1) <= 0).all()
    assert_valid(*evaluation.roc_curve()[:2])
    one = replace(evaluation, counts=evaluation.counts[0])
    for metric in ("roc_auc", "accuracy", "log_loss", "n_records"):
        low, high = one.interval(metric, n_boot=50)
        assert 0 <= low <= high
    band = one.roc_band(n_boot=50)
    assert (band.tpr_low <= band.tpr_high).all()
    assert band.tpr_low.min() >= 0
    assert band.tpr_high.max() <= 1


# ---- weights ------------------------------------------------------------------------------------------------------


def test_weighted_figures_are_those_of_scikit_learn():
    y, log_odds = scores()
    w = np.random.default_rng(1).uniform(0, 3, len(y))
    evaluation = evaluate(y, log_odds, 1e9, score_scale="log-odds", sample_weight=w, weight_bound=3)
    expected = metrics.roc_auc_score(y, binned(y, log_odds), sample_weight=w)
    assert evaluation.roc_auc() == pytest.approx(expected, abs=1e-6)
    said = log_odds >= evaluation.used_threshold()
    assert evaluation.accuracy() == pytest.approx(metrics.accuracy_score(y, said, sample_weight=w), abs=1e-6)
    assert evaluation.n_records() == pytest.approx(w.sum(), abs=1e-3)


@pytest.mark.parametrize("grid", [None, 8])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_sensitivity_with_weights_by_enumeration(relation, grid):
    # invalid weights too: above the bound, negative, missing
    records = list(itertools.product([0, 1, 5], [0.1, 0.9], [0.0, 0.7, 2.0, 9.0, -1.0, np.nan, np.inf]))

    def count(rows):
        y, s, w = ([r[i] for r in rows] for i in range(3))
        options = {"sample_weight": w, "weight_bound": 2.0, "grid": grid}
        return roc_histogram(y, s, [np.inf, 0.5, 0], on_invalid="clip", **options)

    base = count([(1, 0.9, 0.3)])
    tables = [count([(1, 0.9, 0.3), record]) for record in records]
    if relation == "add-remove":
        distances = [np.abs(t - base).sum() for t in tables]
    else:
        distances = [np.abs(s - t).sum() for s, t in itertools.combinations(tables, 2)]
    unit = 1.0 if grid is None else 2.0 / grid
    assert max(distances) * unit == pytest.approx(SENSITIVITY[relation] * 2.0)
    assert noise_scale(0.5, relation, weight_bound=2.0) == SENSITIVITY[relation] * 2.0 / 0.5


def test_weights_need_a_public_bound_and_keep_to_it():
    y, s = [0, 1], [0.2, 0.8]
    budget = Budget(1.0)
    with pytest.raises(InvalidParameter, match=r"`weight_bound` must be a public bound.*Got None"):
        evaluate(y, s, 1.0, sample_weight=[1, 1], budget=budget)
    with pytest.raises(InvalidParameter, match="weight_bound"):
        evaluate(y, s, 1.0, weight_bound=1.0, budget=budget)
    for weights, value in (([1, 1.5], "1.5"), ([-0.5, 1], "-0.5"), ([np.nan, 1], "nan")):
        with pytest.raises(InvalidData, match=f"sample_weight has the value {value}: it must be a number from 0 to"):
            evaluate(y, s, 1.0, sample_weight=weights, weight_bound=1, budget=budget)
    with pytest.raises(InvalidData, match="different lengths"):
        evaluate(y, s, 1.0, sample_weight=[1], weight_bound=1, budget=budget)
    assert budget.spent == 0
    clipped = roc_histogram(y, s, sample_weight=[9, -1], weight_bound=2, on_invalid="clip")
    assert clipped.sum() == 2


# ---- release ------------------------------------------------------------------------------------------------------


def test_release_takes_anything_and_no_seed():
    pytest.importorskip("opendp")
    y = [0, 1, "x", None, 1, [0], 1]
    s = [0.2, np.nan, 0.4, "0.7", -3, 0.5, [0.3]]
    w = [1.0, 1.0, None, 7.0, 0.5, 1.0, 1.0]
    weighted = release_evaluation(y, s, 1e3, sample_weight=w, weight_bound=2.0, release=True)
    # the first record has weight 1 of 2, the fifth a clipped score
    expected = np.zeros((2, 16))
    expected[0, np.searchsorted(-roc_thresholds()[1:], -0.2)] = 1.0
    expected[1, -1] = 0.5
    np.testing.assert_allclose(weighted.counts, expected, atol=0.2)
    assert weighted.noise_step == 2.0 / 1024
    np.testing.assert_array_equal(np.rint(weighted.counts * 512), weighted.counts * 512)
    plain = release_evaluation(pd.Series(y), pd.Series(s), 0.5, draws=500, relation="replace-one", release=True)
    assert plain.noise_scale == 4.0
    assert plain.noise_step == 1.0
    np.testing.assert_array_equal(plain.counts, np.rint(plain.counts))
    # |integer noise| has the mean 2q/(1 - q²), q = exp(-1/4); the cells' counts are at most 1
    q = np.exp(-0.25)
    mean = 2 * q / (1 - q**2)
    assert np.abs(plain.counts).mean() == pytest.approx(mean, rel=0.06)
    assert 0 <= plain.interval("roc_auc", n_boot=50)[0][0] <= 1


N = 60
LABELS = np.arange(N) % 2
SCORES = np.random.default_rng(0).random(N)
WEIGHTS = np.random.default_rng(1).random(N)
CLASSES = np.arange(N) % 3


def rng():
    return np.random.default_rng(0)


@pytest.fixture
def released(monkeypatch):
    """The statistics that evaluation gives to a mechanism, as they come to the privacy boundary."""
    statistics, release = [], boundary.release

    def watched(mechanism, statistic, generator):
        statistics.append(statistic)
        return release(mechanism, statistic, generator)

    monkeypatch.setattr(boundary, "release", watched)
    return statistics


def test_exact_counts_are_private_before_a_release():
    assert roc_histogram(LABELS, SCORES).sum() == N
    exact = count_scores(LABELS, SCORES, rng=rng()).counts
    np.testing.assert_array_equal(opened(exact), roc_histogram(LABELS, SCORES))
    for counts in (exact, paired_counts(LABELS, SCORES, WEIGHTS, 0.5)):
        with pytest.raises(TypeError, match="a private value cannot be used here"):
            np.asarray(counts)
    assert release_histogram(exact, 1e9, rng=rng()).sum() == pytest.approx(N, abs=1e-3)


def test_private_records_are_evaluated_as_plain_ones():
    plain, private = (
        release_evaluation(
            *(kind(part) for part in (LABELS, SCORES)), 1.0, rng=rng(), sample_weight=kind(WEIGHTS), weight_bound=1.0
        )
        for kind in (np.asarray, Private)
    )
    np.testing.assert_array_equal(plain.counts, private.counts)
    with pytest.raises(InvalidData, match=r"y_score has the value 7\.0"):
        release_evaluation(Private([0, 1]), Private([0.5, 7.0]), 1.0, rng=rng())
    matrix = private_confusion_matrix(Private(CLASSES), Private(LABELS), 1.0, classes=(0, 1, 2), rng=rng())
    np.testing.assert_array_equal(
        matrix.counts, private_confusion_matrix(CLASSES, LABELS, 1.0, classes=(0, 1, 2), rng=rng()).counts
    )


@pytest.mark.parametrize("bound", [5e-324, 1e-307, 5.6e-306])
@pytest.mark.parametrize("release", [False, True])
def test_a_bound_on_weights_whose_unit_is_no_float_is_refused(bound, release):
    """1024/W was infinite, and each weight of 0 an integer at the end of 64 bits: one record cost 9e15."""
    if release:
        pytest.importorskip("opendp")
    budget = Budget(1.0)
    how = {"release": release, "rng": None if release else rng(), "weight_bound": bound, "budget": budget}
    with pytest.raises(InvalidParameter, match="weight_bound"):
        release_evaluation([0, 1], [0.5, 0.5], 1.0, sample_weight=[0.0, bound], **how)
    with pytest.raises(InvalidParameter, match="weight_bound"):
        roc_histogram([0, 1], [0.5, 0.5], sample_weight=[0.0, bound], weight_bound=bound, grid=1024)
    assert budget.spent == 0


@pytest.mark.parametrize("name", ["recursive_medians", "quantile_thresholds"])
def test_the_number_of_scores_decides_no_block_of_draws(name, monkeypatch, released):
    """Blocks had a size that depended on it, so that one more score could change all draws of a study."""
    monkeypatch.setattr(thresholds_module, "BLOCK_CELLS", 2000)
    function = getattr(thresholds_module, name)
    shapes = []
    for n in (1, 60):
        released.clear()
        function(SCORES[:n], 1.0, 2, rng=rng(), draws=900)
        shapes.append(len(released))
    assert shapes[0] == shapes[1]
