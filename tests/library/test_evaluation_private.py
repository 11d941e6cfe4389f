"""What evaluation counts is private until noise is added, and nothing but public numbers decides its steps."""

import itertools

import numpy as np
import pytest

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB
from dpml.evaluation import as_published as thresholds_module
from dpml.evaluation import (
    private_confusion_matrix,
    private_cross_val_score,
    quantile_thresholds,
    release_evaluation,
    release_histogram,
    roc_histogram,
)
from dpml.evaluation.comparison import paired_counts
from dpml.evaluation.private_evaluation import count_scores
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, is_private, opened

N = 60
LABELS = np.arange(N) % 2
SCORES = np.random.default_rng(0).random(N)
WEIGHTS = np.random.default_rng(1).random(N)
TABLE = np.random.default_rng(2).integers(2, size=(N, 3))
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


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_out_of_fold_scores_are_private_until_they_have_noise(relation, released, monkeypatch):
    trained = []
    fit = BernoulliNB.fit

    def watched(self, X, y):
        trained.append((X, y))
        return fit(self, X, y)

    monkeypatch.setattr(BernoulliNB, "fit", watched)
    options = {"n_folds": 3, "relation": relation, "rng": rng()}
    result = private_cross_val_score(BernoulliNB(1.0, relation=relation), TABLE, LABELS, 1.0, **options)
    assert is_private(released[-1]), "the histogram comes last"
    assert not any(map(is_private, trained)), "what is held takes the records themselves"
    assert (result.folds is None) == (relation == "add-remove")


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


def test_nodes_are_cut_in_blocks_of_memory(monkeypatch):
    whole = quantile_thresholds(SCORES, 1.0, 8, rng=rng(), draws=1)
    monkeypatch.setattr("dpml.evaluation.as_published.BLOCK_CELLS", 1)
    parts = quantile_thresholds(SCORES, 1.0, 8, rng=rng(), draws=400)
    assert whole.shape == (1, 9)
    assert (np.diff(parts[:, 1:]) <= 0).all()
    for one, two in itertools.pairwise(parts[:, 1:-1].T):
        assert (one != two).any()
