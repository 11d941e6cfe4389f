"""TopSelector: each method against enumeration and its limits, the joint mechanism against brute force."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from dpml.audit import recorded_releases
from dpml.budget import Budget
from dpml.counts import Contingency, contingency
from dpml.exceptions import BudgetExceeded, InvalidData, InvalidParameter, NoSecureSampler
from dpml.mechanisms import PermuteAndFlip
from dpml.schema import Schema
from dpml.selection import TopSelector, one_shot, peel, sample_joint, scores
from dpml.selection.top import METHODS as ALL_METHODS
from dpml.selection.top import WITH_DELTA, joint_gaps

# the limited domain has a file of its own
METHODS = [method for method in ALL_METHODS if method != WITH_DELTA[-1]]
D, T = 6, 3
SCORES = {
    "ties": [5.0, 3.0, 3.0, 1.0, 0.0, 0.0],
    "distinct": [9.0, 1.0, 8.0, 2.0, 7.0, 3.0],
    "equal": [2.0] * 6,
    "two groups": [4.0, 4.0, 3.0, 0.0, 1.0, 4.0],
    "fractions": [0.3, 0.1, 0.25, 0.3, 0.7, 0.2],
}
SEQUENCES = list(itertools.permutations(range(D), T))


def gaps(c):
    best = -np.sort(-c)
    return np.array([max(best[i] - c[s[i]] for i in range(T)) for s in SEQUENCES])


def frequencies(masks):
    return np.bincount(masks @ (1 << np.arange(masks.shape[1])), minlength=1 << masks.shape[1])


def set_probabilities(sequence_probabilities):
    expected = np.zeros(1 << D)
    for sequence, p in zip(SEQUENCES, sequence_probabilities, strict=True):
        expected[sum(1 << i for i in sequence)] += p
    return expected


def assert_frequencies_agree(masks, expected):
    observed = frequencies(masks)
    possible = expected > 1e-12
    assert observed[~possible].sum() == 0
    assert stats.chisquare(observed[possible], expected[possible] * len(masks)).pvalue > 1e-3


@pytest.mark.parametrize("name", SCORES)
def test_joint_counts_equal_brute_force_over_all_sequences(name):
    c = np.array(SCORES[name])
    levels, log_counts, place, rank = joint_gaps(c, T)
    assert np.all(np.diff(levels) >= 0)
    brute = gaps(c)
    assert np.exp(log_counts).sum() == pytest.approx(len(SEQUENCES), rel=1e-12)
    for gap in np.unique(brute.round(12)):
        counted = np.exp(log_counts)[np.isclose(levels, gap)].sum()
        assert counted == pytest.approx(np.isclose(brute, gap).sum(), rel=1e-12)
    assert place[0] == rank[0] == -1


@pytest.mark.parametrize("epsilon", [0.2, 1.5])
@pytest.mark.parametrize("name", SCORES)
def test_joint_draws_follow_the_exponential_mechanism(name, epsilon):
    c = np.array(SCORES[name])
    p = np.exp(-epsilon / (2 * 1.3) * gaps(c))
    masks = sample_joint(c, epsilon, T, 1.3, draws=40_000, rng=np.random.default_rng(1))
    assert_frequencies_agree(masks, set_probabilities(p / p.sum()))


def peeled(c, weight, choose):
    result = []
    for sequence in SEQUENCES:
        left, p = list(range(D)), 1.0
        for feature in sequence:
            p *= choose(weight * c[left])[left.index(feature)]
            left.remove(feature)
        result.append(p)
    return np.array(result)


def softmax(q):
    p = np.exp(q - q.max())
    return p / p.sum()


@pytest.mark.parametrize("name", ["ties", "distinct"])
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_peeling_is_one_choice_after_another(name, noise):
    c, epsilon = np.array(SCORES[name]), 2.0
    choose = softmax if noise == "gumbel" else PermuteAndFlip(1.0, 1.0).probabilities
    expected = set_probabilities(peeled(c, epsilon / T / 1.3, choose))
    masks = peel(c, epsilon, T, 1.3, noise=noise, draws=40_000, rng=np.random.default_rng(2))
    assert_frequencies_agree(masks, expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_a_large_epsilon_keeps_the_best(method, n_features):
    rng = np.random.default_rng(5)
    X, y = rng.integers(2, size=(400, 6)), rng.integers(2, size=400)
    X[:, :3] = np.where(rng.random((400, 3)) < [0.95, 0.8, 0.7], y[:, None], 1 - y[:, None])
    kind = "count"
    best = np.argsort(-scores(X, y, kind))[:n_features]
    chosen = TopSelector(1e5, n_features, kind, method=method, random_state=0).fit(X, y)
    assert set(chosen.get_support(indices=True)) == set(best)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "joint"])
def test_keeping_most_is_dropping_few(method):
    """Five of six cost as one of six: the noise of both is the same, on scores of the other sign."""
    on = np.array([[9.0, 3, 5, 0, 2, 7], [0.0, 0, 0, 0, 0, 0]])
    counts = Contingency(on, np.array([10.0, 10.0]))
    schema, draws = Schema.binary(6), 40_000
    masks = TopSelector(1.0, 5, "total_count", method=method).masks(
        counts, schema, draws=draws, rng=np.random.default_rng(6)
    )
    assert (masks.sum(axis=1) == 5).all()
    dropped = (~masks).sum(axis=0)
    q = -on[0]
    p = softmax(q) if method == "peeling" else PermuteAndFlip(1.0, 1.0).probabilities(q)
    assert stats.chisquare(dropped, p * draws).pvalue > 1e-3


def test_release_takes_counts_and_permute_and_flip_only():
    X, y = np.eye(3)[[0] * 400 + [1] * 10], np.array([0, 1] * 205)
    chosen = TopSelector(5.0, 1, "total_count", method="permute-and-flip", release=True).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == [0]
    dropped = TopSelector(5.0, 2, "total_count", method="permute-and-flip", release=True).fit(X, y)
    assert dropped.get_support()[0]
    assert dropped.get_support().sum() == 2
    for refused in ({"method": "joint"}, {"method": "permute-and-flip", "score": "mutual_information"}):
        with pytest.raises(NoSecureSampler, match="TopSelector"):
            TopSelector(1.0, 1, release=True, **refused).fit(X, y)


def test_selected_columns_of_a_release_are_clipped():
    X, y = np.eye(3)[[0] * 400 + [1] * 10], np.array([0, 1] * 205)
    selector = TopSelector(5.0, 1, "total_count", method="permute-and-flip").fit(X, y)
    released = clone(selector).set_params(release=True).fit(X, y)
    outside = [[7, 0, 0], [0, 0, -3]]
    assert released.transform(outside).tolist() == [[1], [0]]
    with pytest.raises(InvalidData):
        selector.transform(outside)


@pytest.mark.parametrize(("relation", "span"), [("add-remove", 1), ("replace-one", 2)])
def test_the_choices_of_a_release_add_up_to_epsilon(relation, span):
    """Each is a noisy maximum whose range over its scale is what it costs."""
    table = np.eye(5)[[0, 1, 2, 3, 4] * 4], np.array([0, 1] * 10)
    model = TopSelector(0.7, 2, "total_count", method="permute-and-flip", relation=relation, release=True)
    releases = recorded_releases(lambda data: model.fit(*data), table, table)
    assert len(releases) == 2
    assert 0.7 * 0.999 < sum(span / release.mechanism.scale for release in releases) <= 0.7


def test_delta_selects_many_features_better_and_is_charged():
    rng = np.random.default_rng(0)
    n, many, kept = 400, 200, 60
    y = rng.integers(2, size=n)
    X = (rng.random((n, many)) < np.where(np.arange(many) < kept, 0.35 + 0.3 * y[:, None], 0.5)).astype(int)
    schema = Schema.binary(many, n_lower=n)
    hits = {}
    for delta in (0.0, 1e-6):
        budget = Budget(1.0, 1e-6)
        selector = TopSelector(1.0, kept, method="peeling", delta=delta, schema=schema, budget=budget, random_state=1)
        hits[delta] = selector.fit(X, y).get_support()[:kept].sum()
        assert budget.ledger[["epsilon", "delta", "rho"]].to_numpy().tolist() == [[1.0, delta, 0.0]]
    assert hits[1e-6] > hits[0.0] + 15
    with pytest.raises(BudgetExceeded):
        selector.set_params(budget=Budget(1.0)).fit(X, y)


@pytest.mark.parametrize("method", ["joint", "one-shot", "permute-and-flip"])
def test_only_peeling_takes_a_delta(method):
    with pytest.raises(InvalidParameter, match=r"`delta` must be .*'peeling'.*Got 1e-06"):
        TopSelector(1.0, 1, method=method, delta=1e-6).fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(InvalidParameter, match="delta"):
        peel([1.0, 2.0, 3.0], 1.0, 2, 1.0, noise="exponential", delta=1e-6, rng=np.random.default_rng(0))


@pytest.mark.parametrize("function", [one_shot, peel, sample_joint])
def test_functions_of_scores_name_bad_parameters(function):
    rng = np.random.default_rng(0)
    for name, call in (
        ("scores", ([[1.0]], 1.0, 1, 1.0)),
        ("change_range", ([1.0], 1.0, 1, 0)),
    ):
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            function(*call, rng=rng)
    with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got 7"):
        function([1.0], 1.0, 1, 1.0, rng=7)


def test_all_features_are_kept_without_a_draw():
    table = contingency(np.eye(3), np.array([0, 1, 0]), 2)
    for method in METHODS:
        masks = TopSelector(1.0, 3, method=method).masks(table, Schema.binary(3), draws=2, rng=np.random.default_rng(0))
        assert masks.all()
