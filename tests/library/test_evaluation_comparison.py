"""Released evaluations of several classes, and of two classifiers on the same records."""

import numpy as np
import pytest
from each_commit import others_in_full
from evaluated import LEAST, exact_of, scores
from sklearn import metrics

from dpml.budget import Budget
from dpml.evaluation import (
    compare_classifiers,
    private_confusion_matrix,
    release_multiclass_evaluation,
)
from dpml.evaluation.comparison import paired_counts
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.private import opened

# ---- several classes -----------------------------------------------------------------------------------------------


def several(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    table = rng.dirichlet(np.ones(3), size=n) * 0.7 + 0.3 * np.eye(3)[y]
    return y, table / table.sum(axis=1, keepdims=True)


def test_one_against_the_rest():
    y, table = several()
    options = {"classes": (0, 1, 2), "rng": np.random.default_rng(0)}
    budget = Budget(1e9)
    release = release_multiclass_evaluation(y, table, 1e9, n_bins=2000, budget=budget, **options)
    assert budget.ledger["epsilon"].tolist() == [1e9]
    expected = metrics.roc_auc_score(y, table, multi_class="ovr")
    assert release.macro_auc() == pytest.approx(expected, abs=1e-3)
    assert [e.epsilon for e in release.evaluations] == pytest.approx([1e9 / 3] * 3)
    words = np.array(["a", "b", "c"])[y]
    named = release_multiclass_evaluation(
        words, table, 1.0, classes=("a", "b", "c"), rng=np.random.default_rng(0), draws=5, relation="replace-one"
    )
    assert named.macro_auc().shape == (5,)
    assert list(named.roc_auc()) == ["a", "b", "c"]
    assert all(e.noise_scale == pytest.approx(6.0) for e in named.evaluations)
    bad = table.copy()
    bad[0, 0] = 2.0
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match=r"y_score has the value 2\.0"):
        release_multiclass_evaluation(y, bad, 1.0, budget=budget, **options)
    with pytest.raises(InvalidData, match="scores has 2 columns"):
        release_multiclass_evaluation(y, table[:, :2], 1.0, budget=budget, **options)
    assert budget.spent == 0


def softmax_scores(n, n_classes, gap, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    odds = np.exp(rng.normal(size=(n, n_classes)) + gap * np.eye(n_classes)[y])
    return y, odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("n", "n_classes", "epsilon"), others_in_full([(1500, 3, 0.5), (5000, 5, 0.5), (5000, 3, 2.0)], first=1)
)
def test_the_interval_of_the_mean_area_holds_the_exact_one_as_often_as_it_says(n, n_classes, epsilon):
    y, table = softmax_scores(n, n_classes, 1.5, seed=1)
    options = {"classes": range(n_classes), "rng": np.random.default_rng(0)}
    exact = release_multiclass_evaluation(y, table, 1e9, **options).macro_auc()
    released = release_multiclass_evaluation(y, table, epsilon, draws=400, **options)
    low, high = released.interval(n_boot=400)
    share = ((low <= exact) & (exact <= high)).mean()
    # five standard errors of 400 draws
    assert abs(share - 0.95) <= 5 * np.sqrt(0.95 * 0.05 / 400)
    # errors of the classes cancel: the mean is known better than one class
    one_low, one_high = released.evaluations[0].interval("roc_auc", n_boot=400)
    assert np.median(high - low) < np.median(one_high - one_low)


def test_with_sampling_the_interval_of_the_mean_area_holds_the_populations():
    exact = release_multiclass_evaluation(
        *softmax_scores(200_000, 3, 1.5, seed=1), 1e9, classes=range(3), rng=np.random.default_rng(0)
    ).macro_auc()
    held = 0
    for seed in range(200):
        y, table = softmax_scores(1000, 3, 1.5, seed)
        released = release_multiclass_evaluation(y, table, 3.0, classes=range(3), rng=np.random.default_rng(seed))
        low, high = released.interval(sampling=True, n_boot=400)
        held += low <= exact <= high
        if seed == 0:
            plain = released.interval(n_boot=400)
            assert high - low > 2 * (plain[1] - plain[0])
    assert held >= 180  # 190 are expected, 95 % of them within 184 to 196


def test_where_noise_leaves_nothing_the_interval_of_the_mean_area_is_everything():
    y, table = softmax_scores(100, 3, 4.0, seed=1)
    options = {"classes": range(3), "rng": np.random.default_rng(0)}
    exact = release_multiclass_evaluation(y, table, 1e9, **options).macro_auc()
    for sampling in (False, True):
        low, high = release_multiclass_evaluation(y, table, 0.05, draws=100, **options).interval(
            sampling=sampling, n_boot=200
        )
        assert ((low <= exact) & (exact <= high)).mean() >= 0.98
        assert (low[high - low > 0.99] == 0).all()
    with pytest.raises(InvalidParameter, match=r"`metric` must be .*Got 'accuracy'"):
        release_multiclass_evaluation(y, table, 1.0, **options).interval("accuracy")


def test_confusion_matrix_of_several_classes():
    y, table = several()
    said = table.argmax(axis=1)
    options = {"classes": (0, 1, 2)}
    exact = private_confusion_matrix(y, said, 1e9, rng=np.random.default_rng(0), **options)
    np.testing.assert_allclose(exact.matrix(), metrics.confusion_matrix(y, said), atol=1e-4)
    assert exact.accuracy() == pytest.approx(metrics.accuracy_score(y, said), abs=1e-6)
    assert exact.balanced_accuracy() == pytest.approx(metrics.balanced_accuracy_score(y, said), abs=1e-6)
    noisy = private_confusion_matrix(y, said, 0.05, rng=np.random.default_rng(0), draws=400, **options)
    assert noisy.noise_scale == 20.0
    assert (noisy.matrix() >= 0).all()
    low, high = noisy.interval(n_boot=400)
    assert ((low <= exact.accuracy()) & (exact.accuracy() <= high)).mean() >= LEAST
    low, high = exact.interval()
    assert low <= exact.accuracy() <= high
    empty = private_confusion_matrix([], [], 1.0, rng=np.random.default_rng(0), draws=50, **options)
    assert ((empty.accuracy() >= 0) & (empty.accuracy() <= 1)).all()
    with pytest.raises(InvalidData, match="y_pred has the label 7"):
        private_confusion_matrix([0, 1], [0, 7], 1.0, rng=np.random.default_rng(0), **options)
    dropped = private_confusion_matrix(
        [0, 1, 9], [0, 7, 0], 1e9, rng=np.random.default_rng(0), on_invalid="clip", **options
    )
    np.testing.assert_allclose(dropped.matrix(), [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6)


def test_releases_of_several_classes_are_integers():
    pytest.importorskip("opendp")
    y, table = several(200)
    bad = table.copy()
    bad[0] = np.nan
    release = release_multiclass_evaluation([7, *y[1:]], bad, 3.0, classes=(0, 1, 2), release=True)
    assert all((np.rint(e.counts) == e.counts).all() for e in release.evaluations)
    counts = private_confusion_matrix([None, *y[1:]], y, 3.0, classes=(0, 1, 2), release=True).counts
    np.testing.assert_array_equal(counts, np.rint(counts))


# ---- two classifiers -----------------------------------------------------------------------------------------------


def test_paired_counts_by_hand():
    y = [1, 1, 0, 0, 1]
    a = [0.9, 0.5, 0.7, 0.2, 0.1]
    b = [0.1, 0.6, 0.4, 0.2, 0.3]
    # A alone: record 0; B alone: record 2; both right: 1 and 3; both wrong: 4
    np.testing.assert_array_equal(opened(paired_counts(y, a, b, 0.5)), [1, 1, 3])
    np.testing.assert_array_equal(opened(paired_counts(y, a, b, 0.5, pos_label=0)), [1, 1, 3])
    np.testing.assert_array_equal(opened(paired_counts(y, a, b, 0.65)), [1, 1, 3])


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_differences_are_covered_and_confidence_is_earned(metric):
    y, log_odds = scores(3000)
    other = log_odds + np.random.default_rng(2).normal(0, 1.5, len(y))
    options = {"metric": metric, "score_scale": "log-odds", "draws": 400}
    compared = compare_classifiers(y, log_odds, other, 0.3, rng=np.random.default_rng(0), **options)
    if metric == "accuracy":
        true = np.mean((log_odds >= 0) == y) - np.mean((other >= 0) == y)
    else:
        true = exact_of(y, log_odds).roc_auc() - exact_of(y, other).roc_auc()
    low, high = compared.interval(n_boot=400)
    assert ((low <= true) & (true <= high)).mean() >= LEAST
    assert true > 0.02
    assert compared.probability_a_better(n_boot=400).mean() > 0.6
    # the same scores twice: more than 95 % sure of A in about 5 % of releases
    same = compare_classifiers(y, other, other, 0.3, rng=np.random.default_rng(0), **options)
    assert (same.probability_a_better(n_boot=400) > 0.95).mean() <= 1 - LEAST
    large = compare_classifiers(y, log_odds, other, 1e9, rng=np.random.default_rng(0), **options | {"draws": None})
    assert large.difference() == pytest.approx(true, abs=1e-6)
    assert large.probability_a_better() == 1.0
    assert large.interval()[0] == pytest.approx(true, abs=1e-5)


def test_what_a_comparison_costs():
    y, log_odds = scores(100)
    budget = Budget(2.0, relation="replace-one")
    options = {"rng": np.random.default_rng(0), "score_scale": "log-odds", "relation": "replace-one", "budget": budget}
    first = compare_classifiers(y, log_odds, -log_odds, 0.5, **options)
    assert first.noise_scale == 4.0
    second = compare_classifiers(y, log_odds, -log_odds, 0.5, metric="roc_auc", **options)
    assert [e.noise_scale for e in second.evaluations] == [8.0, 8.0]
    assert budget.ledger["epsilon"].tolist() == [0.5, 0.5]
    with pytest.raises(InvalidData, match="score_b has the value nan"):
        compare_classifiers(y, log_odds, log_odds * np.nan, 0.5, **options)
    with pytest.raises(InvalidParameter, match="metric"):
        compare_classifiers(y, log_odds, log_odds, 0.5, metric="f1", **options)
    assert budget.spent == 1.0


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_a_released_comparison_is_of_integers(metric):
    pytest.importorskip("opendp")
    compared = compare_classifiers([0, 1, 5], [0.1, "x", 3], [0.3, 0.4, None], 1.0, metric=metric, release=True)
    tables = [compared.counts] if metric == "accuracy" else [e.counts for e in compared.evaluations]
    for table in tables:
        np.testing.assert_array_equal(table, np.rint(table))
    low, high = compared.interval(n_boot=50)
    assert -1 <= low <= compared.difference() <= high <= 1
    assert 0 <= compared.probability_a_better(n_boot=50) <= 1


def test_a_difference_of_noisy_accuracies_is_at_most_one():
    rng = np.random.default_rng(0)
    y, one, other = rng.integers(2, size=20), rng.random(20), rng.random(20)
    differences = compare_classifiers(y, one, other, 0.05, rng=rng, draws=500).difference()
    assert np.abs(differences).max() == 1.0
