"""One attack taken apart: its event, its box, the outcomes it was counted on, and what claims and draws allow."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpml.audit import (
    attack_outputs,
    audit_outputs,
    claimed_region,
    exact_epsilon,
    largest_bound,
    outcome_probabilities,
    outcomes,
    simultaneous_confidence,
)
from dpml.exceptions import InvalidParameter


def draws_of(kind, n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "coin":
        return rng.random(n) < 0.3, rng.random(n) < 0.6
    if kind == "laplace":
        return rng.laplace(size=n), rng.laplace(size=n) + 1
    if kind == "whole":
        return rng.geometric(0.02, n), rng.geometric(0.03, n)
    return rng.normal(size=(n, 6)) + 0.3, rng.normal(size=(n, 6))


KINDS = ("coin", "laplace", "whole", "wide")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_an_audit_is_the_attack_beside_a_claim(kind, delta):
    first, second = draws_of(kind)
    attack = attack_outputs(first, second, delta=delta, confidence=0.9)
    result = audit_outputs(first, second, 0.5, delta=delta, confidence=0.9)
    assert attack.epsilon_lower == result.epsilon_lower > 0
    assert str(attack) == result.event
    for mine, its in zip(attack.roc, (result.fpr, result.tpr), strict=True):
        assert np.array_equal(mine, its)
    # what is counted is the second half, and nothing of the first
    assert np.array_equal(attack.outputs, first[2_000:])
    assert np.array_equal(attack.neighbour_outputs, second[2_000:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_bound_comes_from_the_worst_corner_of_the_box(kind, swapped):
    first, second = draws_of(kind)[:: -1 if swapped else 1]
    attack = attack_outputs(first, second)
    box, n = attack.box, attack.counted
    for_first = attack.event.for_first
    worst = box.bottom / box.right if for_first else (1 - box.right) / (1 - box.bottom)
    assert attack.epsilon_lower == pytest.approx(math.log(worst), abs=1e-9)
    inside, there = (side.mean() for side in attack.inside)
    assert (box.tpr, box.fpr) == pytest.approx((inside, there) if for_first else (1 - inside, 1 - there))
    for low, share, high in ((box.left, box.fpr, box.right), (box.bottom, box.tpr, box.top)):
        # Clopper-Pearson, by its definition: so many or more, or fewer, come with probability 0.025 at the limits
        k = round(share * n)
        assert stats.binom.sf(k - 1, n, low) == pytest.approx(0.025, abs=1e-9)
        assert stats.binom.cdf(k, n, high) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize(("kind", "shown"), [(kind, "output" if kind == "coin" else "histogram") for kind in KINDS])
def test_outcomes_share_out_the_counted_draws(kind, shown):
    attack = attack_outputs(*draws_of(kind), score=(lambda outputs: -outputs) if kind == "whole" else None)
    found = outcomes(attack)
    assert found.kind == shown
    assert found.first.sum() == pytest.approx(1)
    assert found.second.sum() == pytest.approx(1)
    for share, inside in zip((found.first, found.second), attack.inside, strict=True):
        assert share[found.event].sum() == pytest.approx(inside.mean(), abs=1e-12)
    assert (found.right > found.left).all()
    if kind == "whole":
        assert (found.right - found.left == np.round(found.right - found.left)).all()


def test_outcomes_by_hand():
    first, second = np.tile([[0, 1], [2, 2]], (20, 1)), np.tile([[2, 2], [2, 2]], (20, 1))
    found = outcomes(attack_outputs(first, second))
    assert found.outputs.tolist() == [[0, 1], [2, 2]]
    assert found.first.tolist() == [0.5, 0.5]
    assert found.second.tolist() == [0, 1]
    # too many outputs for a bar each, and few scores
    rows = np.arange(40) % 2
    many = np.stack([rows, np.arange(40)], axis=1)
    found = outcomes(attack_outputs(many, many + 100, score=lambda outputs: outputs[:, 0] >= 100), most=2)
    assert found.kind == "score"
    assert found.outputs.ravel().tolist() == [0, 1]


def test_probabilities_of_outcomes():
    first, second = {"a": 0.0}, {"a": np.log(0.25), "b": np.log(0.75)}
    assert outcome_probabilities(first, second) == {"a": (1.0, 0.25), "b": (0.0, pytest.approx(0.75))}
    logs = np.log([[0.2, 0.8], [0.5, 0.5]])
    pairs = outcome_probabilities(*logs)
    assert exact_epsilon(*logs)[0] == pytest.approx(max(abs(math.log(p / q)) for p, q in pairs.values()))
    assert list(pairs) == [0, 1]


def test_what_draws_can_show():
    sizes = [10, 100, 1_000, 10_000]
    most = [largest_bound(n) for n in sizes]
    assert all(a < b for a, b in itertools.pairwise(most))
    for n, bound in zip(sizes, most, strict=True):
        # an attacker that never errs reaches it
        assert attack_outputs(np.ones(n), np.zeros(n), score=lambda x: x).epsilon_lower == pytest.approx(bound)
    assert largest_bound(1_000, delta=0.5) < largest_bound(1_000) < largest_bound(1_000, 0.5)


def test_looks_share_the_chance_of_an_accusation():
    each = simultaneous_confidence(0.9, 5)
    assert 5 * (1 - each) == pytest.approx(0.1)
    assert simultaneous_confidence(0.9, 1) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("outputs", lambda: attack_outputs(np.zeros(9), np.zeros(8))),
        ("outputs", lambda: attack_outputs(np.zeros(3), np.zeros(3))),
        ("confidence", lambda: attack_outputs(np.zeros(8), np.zeros(8), confidence=1.0)),
        ("delta", lambda: attack_outputs(np.zeros(8), np.zeros(8), delta=-0.1)),
        ("looks", lambda: simultaneous_confidence(0.95, 0)),
        ("confidence", lambda: simultaneous_confidence(2.0, 3)),
        ("draws", lambda: largest_bound(1)),
        ("epsilon", lambda: claimed_region(-1.0)),
        ("most", lambda: outcomes(attack_outputs(np.zeros(8), np.zeros(8)), most=0)),
    ],
)
def test_what_is_wrong_is_named(name, call):
    with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
        call()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (5.0, 1e-5)])
def test_region_is_what_the_claim_allows(epsilon, delta):
    # Antonova (2016), eq. 2.6 and 2.7: both data sets, the event and its opposite
    corners = list(zip(*claimed_region(epsilon, delta), strict=True))

    def slack(fpr, tpr):
        pairs = [(tpr, fpr), (fpr, tpr), (1 - tpr, 1 - fpr), (1 - fpr, 1 - tpr)]
        return min(math.exp(epsilon) * q + delta - p for p, q in pairs)

    for (x, y), (u, v) in itertools.pairwise([*corners, corners[0]]):
        middle = (x + u) / 2, (y + v) / 2
        assert slack(x, y) >= -1e-12
        assert slack(*middle) >= -1e-12
        if min(middle) > 0 and max(middle) < 1:
            # on the boundary: a little further out is not allowed
            out = middle[0] + 1e-3 * (middle[0] - 0.5), middle[1] + 1e-3 * (middle[1] - 0.5)
            assert slack(*out) < 0
