"""The attack on exact curves succeeds always; on private ones no oftener than the theory says."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from sklearn.metrics import roc_curve

from dpml.evaluation import (
    attack_bound,
    attack_success,
    best_attack_success,
    labels_from_curve,
    recover_label,
    recover_label_from_counts,
)
from dpml.exceptions import InvalidParameter


def records(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return y, rng.random(n) * 0.6 + 0.4 * y * rng.random(n)


@pytest.mark.parametrize("drop_intermediate", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_all_labels_are_read_off_an_exact_curve(seed, drop_intermediate):
    y, s = records(seed=seed)
    fpr, tpr, thresholds = roc_curve(y, s, drop_intermediate=drop_intermediate)
    np.testing.assert_array_equal(labels_from_curve(s, fpr, tpr, thresholds), y)
    if not drop_intermediate:
        np.testing.assert_array_equal(labels_from_curve(s, fpr, tpr), y)


def test_tied_scores_hide_only_what_is_mixed():
    y = np.array([1, 1, 0, 1, 0, 0, 1])
    s = np.array([0.9, 0.9, 0.5, 0.5, 0.2, 0.2, 0.1])
    fpr, tpr, thresholds = roc_curve(y, s, drop_intermediate=False)
    np.testing.assert_array_equal(labels_from_curve(s, fpr, tpr, thresholds), [1, 1, -1, -1, 0, 0, 1])
    # a diagonal says nothing
    np.testing.assert_array_equal(labels_from_curve([0.5, 0.5], [0, 1], [0, 1]), [-1, -1])
    # neither does a curve that ends above a score
    np.testing.assert_array_equal(labels_from_curve([0.9, 0.1], [0, 0], [0, 1], [np.inf, 0.5]), [1, -1])
    with pytest.raises(InvalidParameter, match="one for each threshold"):
        labels_from_curve([0.1, 0.2], [0, 1], [0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_one_label_is_recovered_from_every_exact_curve(seed):
    y, s = records(seed=seed)
    for victim, label in ((0, 0), (0, 1), (7, 0), (7, 1)):
        y[victim] = label
        others = np.arange(len(y)) != victim
        assert recover_label(y[others], s[others], s[victim], *roc_curve(y, s)) == label
    assert attack_success(y, s, None, rng=np.random.default_rng(seed), trials=100).success == 1.0


def test_the_best_attack_by_numerical_integration():
    # P(right) of two Laplace cells, of which each is shifted by 1: half the integral of the larger density
    for epsilon in (0.5, 1.0, 3.0):

        def larger(v, u, e=epsilon):
            first, second = e * (abs(u - 1) + abs(v)), e * (abs(u) + abs(v - 1))
            return e**2 / 4 * np.exp(-min(first, second)) / 2

        reach = 12 / epsilon
        value = sum(
            dblquad(larger, a, b, c, d)[0]
            for a, b in ((-reach, 0), (0, 1), (1, reach))
            for c, d in ((-reach, 0), (0, 1), (1, reach))
        )
        assert best_attack_success(epsilon) == pytest.approx(value, abs=1e-4)
        assert best_attack_success(2 * epsilon, "replace-one") == pytest.approx(value, abs=1e-4)


def test_the_best_attack_on_integer_noise_by_sums():
    k = np.arange(-200, 201)
    for epsilon in (0.5, 1.0, 3.0):
        shifted, still = (np.exp(-epsilon * np.abs(k - c)) * np.tanh(epsilon / 2) for c in (1, 0))
        table = np.maximum(np.outer(shifted, still), np.outer(still, shifted)).sum() / 2
        assert best_attack_success(epsilon, integer=True) == pytest.approx(table, abs=1e-9)
        assert best_attack_success(epsilon, integer=True) == pytest.approx(attack_bound(epsilon))


def test_no_attack_passes_the_bound_at_any_epsilon():
    for epsilon in (1e-3, 0.1, 1.0, 2.0, 5.0, 20.0):
        for relation in ("add-remove", "replace-one"):
            assert 0.5 <= best_attack_success(epsilon, relation) <= attack_bound(epsilon)


def test_the_posterior_of_a_label_is_calibrated():
    rng = np.random.default_rng(0)
    known = np.array([[3.0, 5.0, 2.0], [4.0, 1.0, 0.0]])
    coins, bins = rng.integers(2, size=40_000), rng.integers(3, size=40_000)
    noisy = known + rng.laplace(scale=1.0, size=(40_000, 2, 3))
    noisy[np.arange(40_000), coins, bins] += 1
    p = recover_label_from_counts(known, bins, noisy, 1.0)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        inside = (p >= low) & (p < high)
        error = np.sqrt(0.25 / inside.sum())
        assert coins[inside].mean() == pytest.approx(p[inside].mean(), abs=4 * error)
    # the log odds are at most 2, once for each of the two cells
    assert p.max() == pytest.approx(1 / (1 + np.exp(-2)))


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_likelihood_attack_succeeds_as_often_as_computed(epsilon, relation):
    y, s = records(300)
    result = attack_success(y, s, epsilon, rng=np.random.default_rng(0), trials=20_000, relation=relation)
    error = np.sqrt(0.25 / 20_000)
    assert result.success == pytest.approx(result.best, abs=4 * error)
    assert result.success <= result.bound + 4 * error


def test_the_curve_reveals_no_more_than_its_counts():
    y, s = records(40)
    for epsilon in (0.5, 2.0, 10.0):
        options = {"rng": np.random.default_rng(0), "trials": 5000, "n_bins": 8}
        result = attack_success(y, s, epsilon, view="curve", **options)
        assert 0.5 - 4 * 0.0071 <= result.success <= result.best + 4 * 0.0071
    assert result.success > 0.85
