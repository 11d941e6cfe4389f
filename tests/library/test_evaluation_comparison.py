"""Private comparisons of two classifiers, areas between curves, and the quality of a selection."""

import numpy as np
import pytest
from evaluated import LEAST, exact_of, scores

from dpml.budget import Budget
from dpml.evaluation import (
    area_between,
    compare_classifiers,
    expected_f1,
    selection_quality,
)
from dpml.evaluation.comparison import paired_counts
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.private import opened
from dpml.selection import inclusion_probabilities, sample_masks


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


def test_a_difference_of_noisy_accuracies_is_at_most_one():
    rng = np.random.default_rng(0)
    y, one, other = rng.integers(2, size=20), rng.random(20), rng.random(20)
    differences = compare_classifiers(y, one, other, 0.05, rng=rng, draws=500).difference()
    assert np.abs(differences).max() == 1.0


# ---- areas between curves ---------------------------------------------------------------------------------------


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


# ---- quality of a selection --------------------------------------------------------------------------------------


def test_quality_equals_the_definitions():
    rng = np.random.default_rng(0)
    truth = rng.random(12) < 0.4
    selected = rng.random((50, 12)) < 0.5
    quality = selection_quality(truth, selected)
    for i, mask in enumerate(selected):
        F, G = set(np.flatnonzero(truth)), set(np.flatnonzero(mask))
        precision, recall = len(F & G) / len(G), len(F & G) / len(F)
        assert quality["precision"][i] == precision
        assert quality["recall"][i] == recall
        assert quality["jaccard"][i] == pytest.approx(1 - len(F & G) / len(F | G))
        if F & G:
            assert quality["f1"][i] == pytest.approx(2 * precision * recall / (precision + recall))
    nothing = selection_quality([False] * 3, [[False] * 3, [True, False, False]])
    assert nothing["f1"].tolist() == [1.0, 0.0]
    assert nothing["jaccard"].tolist() == [0.0, 1.0]
    with pytest.raises(InvalidParameter, match="selected"):
        selection_quality(truth, selected[:, :5])


def test_expected_f1_is_the_mean_of_sampled_ones():
    rng = np.random.default_rng(1)
    weights = rng.normal(size=8) * 2
    truth = np.arange(8) < 4
    f1 = selection_quality(truth, sample_masks(weights, 3, 20_000, rng=rng))["f1"]
    exact = expected_f1(truth, inclusion_probabilities(weights, 3))
    assert abs(f1.mean() - exact) < 4 * f1.std() / np.sqrt(20_000)
    with pytest.raises(InvalidParameter, match="a whole number"):
        expected_f1(truth, np.full(8, 0.3))
    with pytest.raises(InvalidParameter, match="inclusion"):
        expected_f1(truth, np.full(4, 0.5))


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
