"""Antonova's partitioning strategy: one count a record, the cost of disjoint parts, and what it estimates."""

import itertools
from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_all
from scipy import sparse
from stated_parts import with_parts

from dpml.classifiers import BernoulliNB
from dpml.classifiers.naive_bayes.bernoulli import contingency_of_partition
from dpml.schema import Schema

table = partial(told_by_all, n=600, rate=0.8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_every_record_adds_one_to_one_count(kind):
    X, y = table(n=50)
    counts = contingency_of_partition(kind(X), y, 2, subsamples=7, rng=np.random.default_rng(0))
    assert counts.shape == (7, 2, 2, 4)
    np.testing.assert_array_equal(counts.sum(axis=(1, 2, 3)), 50)
    np.testing.assert_array_equal(counts.sum(axis=(1, 3)), np.tile(np.bincount(y), (7, 1)))
    # a record of ones only is never counted as off, one of zeros never as on
    ones = contingency_of_partition(kind(np.ones((9, 4))), np.zeros(9, int), 2, rng=np.random.default_rng(0))
    assert ones[:, 1].sum() == 0
    zeros = contingency_of_partition(kind(np.zeros((9, 4))), np.zeros(9, int), 2, rng=np.random.default_rng(0))
    assert zeros[:, 0].sum() == 0


def test_neighbours_differ_by_one_count_or_two_whatever_the_deal():
    """All records of three features, one more or replaced; the other records keep their parts, dealt on their own."""
    base, codes = np.eye(3), np.array([0, 1, 0])
    deal = [0, 1, 2]

    def counts(X, codes, parts):
        return with_parts(lambda: contingency_of_partition(X, codes, 2, rng=np.random.default_rng(0)), parts)

    records = [(np.array(x, float), c) for x in itertools.product((0, 1), repeat=3) for c in (0, 1)]
    before = counts(base, codes, deal)
    most = 0.0
    for (x, c), part in itertools.product(records, range(3)):
        more = counts(np.vstack([base, x]), np.append(codes, c), [*deal, part])
        assert np.abs(more - before).sum() == 1
        for (other, d), other_part in itertools.product(records, range(3)):
            replaced = counts(np.vstack([base, other]), np.append(codes, d), [*deal, other_part])
            most = max(most, np.abs(more - replaced).sum())
    assert most == 2


def test_without_noise_it_estimates_what_algorithm_1_does():
    X, y = table(n=40_000)
    ours, all_of_it = (
        BernoulliNB(1e7, method=method, schema=Schema.binary(4), random_state=7).fit(X, y)
        for method in ("partitioned", "published")
    )
    # a class and feature have about 5,000 records: four standard errors of a proportion
    np.testing.assert_allclose(np.exp(ours.feature_log_prob_), np.exp(all_of_it.feature_log_prob_), atol=0.03)


def test_classes_of_the_same_seed_are_spread_over_the_parts():
    y = np.random.default_rng(0).integers(2, size=2000)
    counts = contingency_of_partition(np.ones((2000, 2)), y, 2, rng=np.random.default_rng(0))[0, 0]
    np.testing.assert_allclose(counts, 500, atol=120)  # 6 standard deviations
