"""Exact counts against loops; the cost of both releases by exact ratio over neighbours."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from dpml.counts import (
    contingency,
    contingency_of_subsamples,
    published_scale,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.mechanisms import Laplace


def table(n=60, D=7, C=3, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, D)) < 0.4).astype(float), rng.integers(C, size=n)


def test_counts_equal_loops_dense_and_sparse():
    X, y = table()
    counts = contingency(X, y, 3)
    for c, j in itertools.product(range(3), range(7)):
        assert counts.on[c, j] == sum(1 for x, k in zip(X, y, strict=True) if k == c and x[j])
        assert counts.off[c, j] == sum(1 for x, k in zip(X, y, strict=True) if k == c and not x[j])
    np.testing.assert_array_equal(contingency(sparse.csr_array(X), y, 3).on, counts.on)
    empty = contingency(X[:0], y[:0], 3)
    assert empty.on.sum() == empty.n.sum() == 0


def test_subsamples_are_cut_and_one_is_enough_where_nothing_is_cut():
    X, y = table()
    cut = contingency_of_subsamples(X, y, 3, 2, 6, rng=np.random.default_rng(0))
    assert cut.on.shape == (6, 3, 7)
    assert len({t.tobytes() for t in cut.on}) == 6
    np.testing.assert_array_equal(cut.on.sum(axis=(1, 2)), np.minimum(X.sum(axis=1), 2).sum())
    np.testing.assert_array_equal(cut.n, np.bincount(y))
    assert contingency_of_subsamples(X, y, 3, 7, 6, rng=np.random.default_rng(0)).on.shape == (1, 3, 7)


def test_draws_take_the_subsamples_in_turn():
    X, y = table()
    cut = contingency_of_subsamples(X, y, 3, 2, 3, rng=np.random.default_rng(0))
    drawn = release_row_bounded(cut, 1e12, 2, draws=7, rng=np.random.default_rng(1)).on
    np.testing.assert_allclose(drawn, cut.on[[0, 1, 2, 0, 1, 2, 0]], atol=1e-6)


def neighbours(D, row_bound):
    """Yield (counts, counts of a neighbour) under both relations, all records of at most `row_bound` ones."""
    records = [(x, c) for x in itertools.product((0, 1), repeat=D) if sum(x) <= row_bound for c in (0, 1)]
    base = records[:3]

    def count(rows):
        return contingency(np.array([r[0] for r in rows], float), np.array([r[1] for r in rows]), 2)

    for old, new in itertools.product(records, records):
        yield "add-remove", count([*base, new]), count(base)
        yield "replace-one", count([*base, old]), count([*base, new])


@pytest.mark.parametrize("row_bound", [1, 2, 3])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_row_bounded_release_costs_its_epsilon_exactly(row_bound, share):
    """The worst log density ratio is the sum over coordinates of |difference| / scale, for Laplace noise."""
    D, epsilon = 4, 0.8
    worst = {"add-remove": 0.0, "replace-one": 0.0}
    for relation, a, b in neighbours(D, row_bound):
        factor = 1 if relation == "add-remove" else 2
        on, n = Laplace(epsilon * (1 - share), factor * row_bound).scale, Laplace(epsilon * share, factor).scale
        loss = np.abs(a.on - b.on).sum() / on + np.abs(a.n - b.n).sum() / n
        worst[relation] = max(worst[relation], loss)
    assert worst["add-remove"] == pytest.approx(epsilon, abs=1e-12)
    assert worst["replace-one"] == pytest.approx(epsilon, abs=1e-12)


def test_the_published_release_costs_its_epsilon_exactly():
    D, epsilon = 4, 0.8
    worst = {"add-remove": 0.0, "replace-one": 0.0}
    for relation, a, b in neighbours(D, D):
        scale = Laplace(epsilon, D * (1 if relation == "add-remove" else 2)).scale
        loss = (np.abs(a.on - b.on).sum() + np.abs(a.off - b.off).sum()) / scale
        worst[relation] = max(worst[relation], loss)
    assert worst["add-remove"] == pytest.approx(epsilon, abs=1e-12)
    assert worst["replace-one"] == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_noise_has_the_stated_scales(relation):
    """The mean absolute deviation of Laplace noise is its scale; 5 standard errors of it."""
    X, y = table(n=200, D=5, C=2)
    exact = contingency_of_subsamples(X, y, 2, 2, 1, rng=np.random.default_rng(0))
    factor = 1 if relation == "add-remove" else 2
    noisy = release_row_bounded(
        exact, 0.5, 2, relation=relation, class_share=0.2, draws=4000, rng=np.random.default_rng(1)
    )
    published = release_published(
        contingency(X, y, 2), 0.5, relation=relation, draws=4000, rng=np.random.default_rng(2)
    )
    for values, centre, scale in [
        (noisy.on, exact.on, factor * 2 / 0.4),
        (noisy.n, exact.n, factor / 0.1),
        (published.off, contingency(X, y, 2).off, factor * 5 / 0.5),
    ]:
        deviation = np.abs(values - centre)
        assert abs(deviation.mean() - scale) < 5 * scale / np.sqrt(deviation.size)
    assert published_scale(0.5, 5, relation=relation) == factor * 5 / 0.5
    scales = row_bounded_scales(0.5, 2, relation=relation, class_share=0.2)
    assert scales == pytest.approx((factor * 2 / 0.4, factor / 0.1), rel=1e-12)


def test_released_features_pay_only_for_themselves():
    X, y = table(n=200, D=6, C=2)
    exact = contingency(X, y, 2)
    features = np.array([[0, 3], [4, 5], [1, 2]])
    drawn = release_published(exact, 1e12, features=features, draws=3, rng=np.random.default_rng(0))
    np.testing.assert_allclose(drawn.on, [exact.on[:, f] for f in features], atol=1e-6)
    np.testing.assert_allclose(drawn.off, [exact.off[:, f] for f in features], atol=1e-6)
    noisy = release_published(
        exact, 1.0, features=np.repeat(features, 1000, axis=0), draws=3000, rng=np.random.default_rng(0)
    )
    deviation = np.abs(noisy.on - np.repeat([exact.on[:, f] for f in features], 1000, axis=0))
    assert abs(deviation.mean() - 2.0) < 5 * 2.0 / np.sqrt(deviation.size)
