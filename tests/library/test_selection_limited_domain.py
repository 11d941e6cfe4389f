"""Top-k over a limited domain: its law by enumeration, its cost by brute force over neighbours, and its limits."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpml.audit.exact import smallest_epsilon
from dpml.budget import Budget
from dpml.budget.conversion import zcdp_delta
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema
from dpml.selection import TopSelector
from dpml.selection.top import LimitedDomain, default_limit, limited_domain


def law(mechanism, scores):
    """Return P of each set, by peeling candidates and threshold one after another, from the definition."""
    order = np.argsort(-scores, kind="stable")
    kept, rest = order[: mechanism.limit], order[mechanism.limit :]
    m = min(mechanism.limit, len(rest))
    top = {int(i): math.exp(scores[i]) for i in kept}
    stop = math.exp(scores[rest[0]] + mechanism.each) * m / mechanism.stopping
    chances = {}

    def peel(chosen, p):
        if len(chosen) == mechanism.n_features:
            chances[frozenset(chosen)] = chances.get(frozenset(chosen), 0.0) + p
            return
        left = {i: w for i, w in top.items() if i not in chosen}
        total = sum(left.values()) + stop
        chances[frozenset(chosen)] = chances.get(frozenset(chosen), 0.0) + p * stop / total
        for i, w in left.items():
            peel((*chosen, i), p * w / total)

    peel((), 1.0)
    return chances


def hockey_stick(p, q, epsilon):
    return sum(max(chance - math.exp(epsilon) * q.get(chosen, 0.0), 0.0) for chosen, chance in p.items())


# the number of candidates that may be new is T, less, and more
@pytest.mark.parametrize(("n_features", "limit", "others"), [(2, 3, 0), (2, 4, 0), (1, 3, 2), (1, 4, 4)])
def test_draws_follow_the_law(n_features, limit, others):
    mechanism = LimitedDomain(n_features, limit, 0.5, 0.2, draws=60_000)
    scores = np.array([1.5, 3.0, 2.5, 0.0, 0.4] + [-0.5] * others)
    masks = mechanism._sample(scores, np.random.default_rng(0))
    expected = law(mechanism, scores)
    assert sum(expected.values()) == pytest.approx(1.0)
    places = np.arange(len(scores))
    seen = [(masks == np.isin(places, list(chosen))).all(axis=1).sum() for chosen in expected]
    assert sum(seen) == len(masks)
    assert stats.chisquare(seen, np.array(list(expected.values())) * len(masks)).pvalue > 1e-3


@pytest.mark.parametrize("limit", [2, 3, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.3, 0.05), (3.0, 1e-6), (1e-4, 0.1)])
def test_no_neighbours_of_small_scores_cost_more(epsilon, delta, limit):
    """All changes of five scores by 0 or the range, from scores with ties and near the threshold, both ways."""
    mechanism = limited_domain(epsilon, delta, 2, 5, limit=limit)
    lead = math.log(1 / delta)
    worst = 0.0
    for scores in (
        [0.0] * 5,
        [lead, lead, 0, 0, 0],
        [lead + 2, lead, 1, 0, -1],
        [1, 1, 1, 1, 0],
        [3 * lead, lead, lead, 0, 0],
    ):
        h = np.array(scores, dtype=float)
        p = law(mechanism, h)
        for change in itertools.product((0.0, mechanism.each), repeat=5):
            q = law(mechanism, h + np.array(change))
            worst = max(worst, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
            profile = mechanism._compare(h, mechanism, h + np.array(change))
            if profile.profiles:
                for at in (0.0, epsilon / 2, epsilon):
                    assert max(hockey_stick(p, q, at), hockey_stick(q, p, at)) <= profile.profiles[0](at) + 1e-12
    assert 0 < worst <= delta * (1 + 1e-9)


def test_a_choice_gets_the_larger_share_of_two_compositions():
    few, many = limited_domain(1.0, 1e-6, 2, 1000), limited_domain(1.0, 1e-6, 200, 5000)
    assert (few.stopping, many.stopping) == pytest.approx((1e-6, 5e-7), rel=1e-5)
    assert few.each == pytest.approx(0.5, rel=1e-5)
    assert many.each > 4 / 200
    assert smallest_epsilon(few._compare(np.zeros(3), few, np.array([few.each, 0, 0])).profiles[0], 1e-6) <= 1 + 1e-9
    assert default_limit(5, 100) == 50
    assert default_limit(20, 30) == 29
    with pytest.raises(InvalidParameter, match="limit"):
        limited_domain(1.0, 1e-6, 2, 5, limit=5)
    with pytest.raises(InvalidParameter, match=r"`delta` must be .*above 0.*Got 0.0"):
        TopSelector(1.0, 1, method="limited-domain").fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize(("n_features", "n_total"), [(1, 40), (2, 60), (3, 31)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-3), (3.0, 0.05)])
def test_new_candidates_are_chosen_with_delta_at_most(n_features, n_total, epsilon, delta):
    """A record makes candidates of as many features as can be new: without it not one of them can be released."""
    mechanism = limited_domain(epsilon, delta, n_features, n_total)
    new = min(mechanism.limit, n_total - mechanism.limit)
    scores = np.zeros(n_total)
    scores[-new:] += mechanism.each
    kept, lead = mechanism.candidates(scores)
    assert set(range(n_total - new, n_total)) <= set(kept.tolist())
    # each of them beats the threshold with less than the odds of its score; all T choices together add up
    stopped = np.exp(lead[np.isin(kept, np.arange(n_total - new, n_total))]).sum()
    assert stopped <= delta * (1 + 1e-9)
    assert stopped == pytest.approx(mechanism.stopping, rel=1e-9)


@pytest.mark.parametrize("n_features", [1, 5, 60, 400])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-4), (4.0, 1e-9)])
def test_the_choices_of_a_composition_share_delta(n_features, epsilon, delta):
    mechanism = limited_domain(epsilon, delta, n_features, 20 * n_features)
    left = epsilon - n_features * math.log1p(mechanism.stopping)
    pure = n_features * mechanism.each <= left * (1 + 1e-12)
    composed = 0.0 if pure else zcdp_delta(n_features * mechanism.each**2 / 8, left)
    assert mechanism.stopping + composed <= delta * (1 + 1e-9)


def test_far_scores_are_kept_and_near_ones_stop():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = (rng.random((3000, 300)) < 0.05).astype(int)
    X[:, :4] = y[:, None]
    schema, budget = Schema.binary(300), Budget(1.0, 1e-6)
    options = {"method": "limited-domain", "delta": 1e-6, "schema": schema}
    kept = TopSelector(1.0, 4, budget=budget, random_state=0, **options).fit(X, y)
    assert kept.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert budget.ledger[["epsilon", "delta"]].to_numpy().tolist() == [[1.0, 1e-6]]
    assert TopSelector(0.001, 4, random_state=0, **options).fit(X, y).get_support().sum() == 0
