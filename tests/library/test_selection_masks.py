"""The mask distribution against enumeration; its privacy by exact ratio; its samples by chi-square."""

import itertools
from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_some
from each_commit import others_in_full
from scipy import stats
from scipy.special import logsumexp

from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import Private
from dpml.schema import Schema
from dpml.selection import (
    KINDS,
    MaskSelector,
    inclusion_probabilities,
    mask_log_probability,
    mask_weight,
    public_n_rows,
    sample_masks,
    scores,
    sensitivity,
)
from dpml.selection.masks import log_normaliser

table = partial(told_by_some, {1: 0.9})


def enumerate_masks(w, T):
    masks = np.array([m for m in itertools.product((0, 1), repeat=len(w)) if sum(m) == T])
    log = masks @ np.asarray(w, float)
    p = np.exp(log - log.max())
    return masks, p / p.sum(), log.max() + np.log(p.sum())


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0, 1e3, 1e6])
def test_inclusion_equals_enumeration(scale):
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = rng.normal(size=8) * scale
        masks, p, log_z = enumerate_masks(w, 3)
        inclusion = inclusion_probabilities(w, 3)
        np.testing.assert_allclose(inclusion, p @ masks, rtol=0, atol=1e-12)
        assert inclusion.sum() == pytest.approx(3, abs=1e-12)
        assert log_normaliser(w, 3) == pytest.approx(log_z, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("D", "T"), [(1, 0), (1, 1), (5, 0), (5, 1), (5, 4), (5, 5), (600, 50), (600, 599)])
def test_sums_to_the_number_of_ones_and_is_finite_far_apart(D, T):
    w = np.linspace(-5e5, 5e5, D) if D > 1 else np.array([1e6])
    inclusion = inclusion_probabilities(w, T)
    assert np.isfinite(inclusion).all()
    assert inclusion.sum() == pytest.approx(T, abs=1e-9)
    assert (sample_masks(w, T, 3, rng=np.random.default_rng(0)).sum(axis=1) == T).all()


def test_sampled_frequencies_agree_with_inclusion():
    w = np.random.default_rng(6).normal(size=300) * 2
    drawn = sample_masks(w, 40, 5_000, rng=np.random.default_rng(7))
    exact = inclusion_probabilities(w, 40)
    z = (drawn.mean(axis=0) - exact) / np.sqrt(exact * (1 - exact) / 5_000)
    usual = exact * 5_000 > 25
    assert usual.sum() > 100
    assert np.abs(z[usual]).max() < 4.5


def test_log_probability_of_a_mask():
    w = np.random.default_rng(8).normal(size=7)
    masks, p, _ = enumerate_masks(w, 4)
    np.testing.assert_allclose(np.exp(mask_log_probability(w, masks)), p, rtol=1e-12)
    with pytest.raises(InvalidParameter, match="same number of ones"):
        mask_log_probability(w, [[1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_costs_epsilon_and_no_more(kind, relation):
    """Exact log-ratios over all neighbours of many small tables; at least one pair comes near the claim."""
    rng = np.random.default_rng(9)
    D, T, epsilon, n_rows = 4, 2, 1.0, 3
    records = [(x, c) for x in itertools.product((0, 1), repeat=D) for c in (0, 1)]
    masks = np.array([m for m in itertools.product((0, 1), repeat=D) if sum(m) == T])
    weight = mask_weight(kind, relation, epsilon, T, D, n_rows=n_rows + (relation == "add-remove"))
    stated = {"n_rows": n_rows} if relation == "replace-one" else {"n_lower": n_rows + 1}
    selector = MaskSelector(epsilon, T, kind, calibration="published", relation=relation)
    published = selector.weight(Schema.binary(D, **stated))
    worst = worst_published = 0.0
    for _ in range(60):
        rows = [records[i] for i in rng.integers(len(records), size=n_rows)]
        before = scores_of_rows(rows, kind)
        kept = rows if relation == "add-remove" else rows[1:]
        after = np.array([scores_of_rows([*kept, new], kind) for new in records])
        worst = max(worst, largest_change(weight * before, weight * after, masks))
        worst_published = max(worst_published, largest_change(published * before, published * after, masks))
    assert worst <= epsilon + 1e-9
    assert worst_published <= worst + 1e-9
    assert worst > 0.3 * epsilon


def scores_of_rows(rows, kind):
    return scores(np.array([x for x, _ in rows]), np.array([c for _, c in rows]), kind)


def largest_change(w, others, masks):
    """Return the largest log-ratio of a mask's probability between one vector of weights and each of others."""
    sums, other_sums = masks @ w, others @ masks.T
    return np.abs(other_sums - logsumexp(other_sums, axis=1)[:, None] - (sums - logsumexp(sums))).max()


@pytest.mark.parametrize(
    ("weights", "T", "message"),
    [
        ([0.0, np.nan], 1, "`log_weights` must be .*Got nan"),
        ([0.0, np.inf], 1, "`log_weights` must be .*Got inf"),
        ([[0.0]], 1, "shape"),
        ([], 0, "not empty"),
        ([0.0, 1.0], 3, "`n_features` must be an integer from 0 to 2.*Got 3"),
        ([0.0, 1.0], -1, "`n_features` must be .*Got -1"),
        ([0.0, 1.0], 1.5, "`n_features` must be .*Got 1.5"),
    ],
)
def test_bad_weights_are_named(weights, T, message):
    with pytest.raises(InvalidParameter, match=message):
        inclusion_probabilities(weights, T)


def test_number_of_records_is_public_under_replace_one():
    schema = Schema.binary(3, n_rows=50, n_lower=20)
    assert [public_n_rows(schema, relation) for relation in ("replace-one", "add-remove")] == [50, 20]
    assert public_n_rows(Schema.binary(3, n_lower=20), "replace-one") == 20


@pytest.mark.parametrize("weights", [[np.inf, 0.0, 0.0], [-np.inf, 1.0, np.nan], [np.inf, np.inf, -np.inf]])
def test_no_private_weight_makes_a_draw_raise(weights):
    assert sample_masks(Private(np.array(weights)), 1, 4, rng=np.random.default_rng(0)).sum(axis=1).tolist() == [1] * 4
    with pytest.raises(InvalidParameter, match="finite"):
        sample_masks(weights, 1, 4, rng=np.random.default_rng(0))


# ---- the estimator --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "calibration"),
    others_in_full(
        list(itertools.product(KINDS, ["range", "published"])),
        *((kind, "range") for kind in KINDS),
        (KINDS[-1], "published"),
    ),
)
def test_fits_follow_the_mask_distribution(kind, calibration):
    X, y = table(n=60, D=4)
    T, epsilon = 2, 0.9
    schema = Schema.binary(4, n_lower=50)
    rng = np.random.default_rng(0)
    selector = MaskSelector(epsilon, T, kind, calibration=calibration, schema=schema, random_state=rng)
    masks = np.array([m for m in itertools.product((0, 1), repeat=4) if sum(m) == T])
    weight = mask_weight(kind, "add-remove", epsilon, T, 4, n_rows=50)
    if calibration == "published":
        weight = epsilon / (2 * T * sensitivity(kind, n_rows=50))
    log = weight * scores(X, y, kind) @ masks.T
    p = np.exp(log - log.max())
    drawn = np.array([selector.fit(X, y).get_support() for _ in range(600)])
    keys = masks @ (1 << np.arange(4))
    counts = np.bincount(drawn @ (1 << np.arange(4)), minlength=16)[keys]
    assert counts.sum() == 600
    assert stats.chisquare(counts, p / p.sum() * 600).pvalue > 0.001
