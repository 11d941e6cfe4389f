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


def test_subsamples_are_cut_once_where_nothing_is_cut():
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
