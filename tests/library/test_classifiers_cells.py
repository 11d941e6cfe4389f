"""The default of MixedNB: sensitivities by enumeration, post-processing, and the goals on real sets."""

import itertools
import math

import numpy as np
import pytest
from each_commit import others_in_full

from dpml.classifiers.naive_bayes.cells import Design, cell_counts, default_n_bins, entry_bounds, models_from_cells
from dpml.classifiers.naive_bayes.moments import shares
from dpml.counts import FACTOR, NoisyCounts
from dpml.datasets import load
from dpml.exceptions import (
    InvalidParameter,
)
from dpml.schema import Feature, Schema
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy
from dpml.sweep import sweep

# ---- sensitivities, by enumeration ----------------------------------------------------------------------------------

SMALL = Schema(
    (Feature("x", "numeric", lower=100, upper=101), Feature("c", "categorical", (0, 1)), Feature("b"), Feature("d"))
)
RECORDS = [(r, c) for r in itertools.product((100.0, 101.0), (0, 1), (0, 1), (0, 1)) for c in (0, 1)]


@pytest.mark.parametrize("row_bound", [None, 2, 3, 4])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_record_adds_no_more_than_it_may(row_bound, relation):
    """All pairs of neighbours of up to three records; the bound is attained, also where a label moves."""
    schema = SMALL
    bounds = entry_bounds(schema, 1.0, row_bound)
    design = Design(schema, 2)

    def counts(rows):
        X = np.array([r for r, _ in rows], float).reshape(-1, 4)
        return cell_counts(design, schema.check_features(X)[0], np.array([c for _, c in rows], dtype=np.intp), bounds)

    alone = [counts([record]) for record in RECORDS]
    most_on = most_n = 0.0
    for base in ([], RECORDS[:1], RECORDS[5:7]):
        before, after = counts(base), [counts([*base, record]) for record in RECORDS]
        for a, b in itertools.product([before] if relation == "add-remove" else after, after):
            most_on = max(most_on, np.abs(a.on - b.on).sum())
            most_n = max(most_n, np.abs(a.n - b.n).sum())
        for one, more in zip(alone, after, strict=True):
            np.testing.assert_allclose(more.on, before.on + one.on)
    factor = FACTOR[relation]
    assert most_n == factor
    assert factor * sum(bounds) - 0.01 <= most_on <= factor * sum(bounds)


def test_bounds_share_a_record_between_attributes_and_ones():
    assert entry_bounds(SMALL, 1.0, 4) == (2, 2)
    assert entry_bounds(SMALL, 1.0, 3) == (2, 1)
    assert entry_bounds(SMALL, 1.0, 2) == (1, 1)
    assert entry_bounds(SMALL.subset(["x", "c"]), 1.0) == (2, 0)
    assert entry_bounds(SMALL.subset(["x", "c"]), 1.0, 1) == (1, 0)
    assert entry_bounds(SMALL.subset(["b", "d"]), 1.0, 1) == (0, 1)
    with pytest.raises(InvalidParameter, match=r"`row_bound` must be .*Got 1"):
        entry_bounds(SMALL, 1.0, 1)


def test_bins_follow_public_facts_only():
    numbers = Schema(tuple(Feature(f"x{i}", "numeric", lower=0, upper=1) for i in range(5)), n_lower=10_000)
    bins = [default_n_bins(numbers, epsilon) for epsilon in (1e-4, 0.01, 0.1, 1, 100)]
    assert bins == sorted(bins)
    assert (bins[0], bins[-1]) == (4, 64)
    # b = 5/0.1: 2·√(5,000/50) = 20; under replace-one b is twice that
    assert bins[2] == 20
    assert default_n_bins(numbers, 0.2, "replace-one") == 20


def test_shares_add_up():
    for numbers, attributes, allocation in ((3, 5, (2, 1)), (0, 4, (1.0, 2.0)), (6, 0, (1, 5))):
        class_share, cell_share, number_share = shares(numbers, attributes, allocation)
        assert class_share + attributes * cell_share + 2 * numbers * number_share == pytest.approx(1)
    assert shares(6, 8) == pytest.approx((1 / 21,) * 3)  # Zafarani and Clifton 2021, Algorithm 1, line 3


# ---- post-processing ------------------------------------------------------------------------------------------------


def test_the_class_sizes_use_the_cells_too():
    """Of unbiased estimates weighted by precision, the variance is the harmonic sum: 1/(1/v + 1/w)."""
    schema = Schema(tuple(Feature(f"x{i}", "numeric", lower=0, upper=1) for i in range(3)), n_lower=1000)
    design, bounds = Design(schema, 8), (3, 0)
    rng = np.random.default_rng(0)
    b, s = 3 / 0.95, 1 / 0.05
    exact = np.full((4000, 2, 24), 1000 / 8)
    noisy = NoisyCounts(exact + rng.laplace(scale=b, size=exact.shape), n=1000 + rng.laplace(scale=s, size=(4000, 2)))
    prior = np.exp(models_from_cells(noisy, design, 1.0, bounds, pseudocount=1e-9).log_prior)
    variance = 1 / (1 / (2 * s**2) + 9 / (2 * b**2 * 24))
    # log odds of two independent sizes near 1000
    log_odds = np.log(prior[:, 1] / prior[:, 0])
    assert log_odds.std() == pytest.approx(math.sqrt(2 * variance) / 1000, rel=0.06)


def test_more_noise_brings_the_cells_of_the_classes_together():
    schema = SMALL.subset(["x"])
    design = Design(schema, 2)
    noisy = NoisyCounts(np.array([[[30.0, -5.0], [2.0, 30.0]]]), n=np.array([[30.0, 30.0]]))
    loud, quiet = (models_from_cells(noisy, design, epsilon, (1, 0)) for epsilon in (1e6, 0.001))
    raised = np.array([[31.0, 1.0], [3.0, 31.0]])
    np.testing.assert_allclose(np.exp(loud.log_cells[0]), raised / raised.sum(axis=1, keepdims=True), rtol=1e-5)
    assert np.ptp(np.exp(quiet.log_cells)) < np.ptp(np.exp(loud.log_cells)) / 2


# ---- the goals: mean test accuracy over 50 draws, add/remove-one, pinned splits, defaults ---------------------------

SIX = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


def mean_accuracy(study, epsilon, **setting):
    return sweep(study, {"epsilon": [epsilon], **{k: [v] for k, v in setting.items()}}, draws=50, seed=0)["accuracy"]


@pytest.mark.data
def test_accuracy_on_skin_at_epsilon_of_a_tenth(data_home):
    assert mean_accuracy(BinnedNBStudy(load("skin", data_home=data_home)), 0.1).mean() >= 0.923


@pytest.mark.data
def test_numbers_of_adult(data_home):
    study = BinnedNBStudy(load("adult", data_home=data_home), columns=SIX)
    goals = {0.05: 0.757, 0.1: 0.767, 0.2: 0.781, 0.5: 0.786, 1: 0.795, 2: 0.798}
    reached = {epsilon: mean_accuracy(study, epsilon).mean() for epsilon in goals}
    assert all(reached[epsilon] >= goal for epsilon, goal in goals.items()), reached


@pytest.mark.data
@pytest.mark.parametrize("name", ["glass", "seeds", "skin"])
@pytest.mark.parametrize("epsilon", others_in_full([0.1, 0.5, 1.0, 2.0, 5.0, 10.0], 0.1, 1.0, 10.0))
def test_ours_is_not_below_any_private_method(name, epsilon, data_home):
    """By no more than two standard errors of the difference of 50 draws, at every ε from 0.1 to 10."""
    data = load(name, data_home=data_home)
    ours = mean_accuracy(BinnedNBStudy(data), epsilon)
    for method, noise in (("global", "cauchy"), *itertools.product(("smooth", "bun-steinke"), ("cauchy", "student-t"))):
        theirs = mean_accuracy(MomentsNBStudy(data, method), epsilon, noise=noise)
        difference = ours.to_numpy() - theirs.to_numpy()
        assert difference.mean() >= -2 * difference.std(ddof=1) / math.sqrt(50), (method, noise)
