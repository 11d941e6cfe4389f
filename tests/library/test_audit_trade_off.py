"""Trade-off curves of claims, and what so many right guesses of one run say of a curve."""

import math
from itertools import product

import numpy as np
import pytest
from each_commit import others_in_full
from scipy.optimize import linprog
from scipy.stats import binom, laplace, norm

from dpml.audit import audit_one_run, certified_epsilon, claimed_region, trade_off
from dpml.audit.one_run import trade_off_p_value
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Gaussian, Laplace
from dpml.mechanisms.noise import gaussian_sigma

ALPHAS = np.linspace(0, 1, 201)
M = 400


@pytest.mark.parametrize(
    ("epsilon", "delta", "curve"),
    [(0.0, 0.0, "claim"), (1.0, 0.0, "claim"), (1.0, 0.05, "claim"), (0.5, 1e-5, "gaussian"), (3.0, 0.0, "laplace")],
)
def test_a_curve_is_convex_falls_and_is_its_own_inverse(epsilon, delta, curve):
    f = trade_off(epsilon, delta, curve=curve)
    values = np.array([f(alpha) for alpha in ALPHAS])
    assert np.all(np.diff(values) <= 1e-12)
    assert np.all(np.diff(values, 2) >= -1e-12)
    for alpha, value in zip(ALPHAS, values, strict=True):
        if 0 < value < 1 - delta:
            assert f(value) == pytest.approx(alpha, abs=1e-9)


def test_curves_of_noise_are_those_of_the_likelihood_ratio_test():
    """Both laws have monotone likelihood ratios: the best test has a threshold."""
    thresholds, mu = np.linspace(-4, 5, 91), 1 / gaussian_sigma(1.5, 1e-3)
    laws = [(laplace(scale=1 / 1.5), 1.0, trade_off(1.5, curve="laplace"))]
    laws.append((norm(), mu, trade_off(1.5, 1e-3, curve="gaussian")))
    for law, shift, f in laws:
        for t in thresholds:
            assert f(law.sf(t)) == pytest.approx(law.cdf(t - shift), abs=1e-9)


def test_the_curve_of_a_claim_is_the_edge_of_its_region():
    for epsilon, delta in product((0.0, 0.7, 3.0), (0.0, 0.1)):
        f, (fpr, tpr) = trade_off(epsilon, delta), claimed_region(epsilon, delta)
        for x, y in list(zip(fpr, tpr, strict=True))[1:4]:
            assert 1 - f(x) == pytest.approx(y)


def largest_tail(n_guesses, n_right, epsilon, delta, n_canaries):
    """The largest P[at least n_right] under the means of the claim, by linear programming, for lines of the curve."""
    r, m = n_guesses, n_canaries
    rows, limits = [], []
    for k in range(1, n_right + 1):
        right = np.array([i if i >= k else 0 for i in range(r + 1)]) / m
        wrong = np.array([r - i if i >= k - 1 else 0 for i in range(r + 1)]) / m
        rows += [right - math.exp(epsilon) * wrong, right - math.exp(-epsilon) * wrong]
        limits += [delta, 1 - math.exp(-epsilon) * (1 - delta)]
    goal = -(np.arange(r + 1) >= n_right).astype(float)
    return -linprog(goal, A_ub=rows, b_ub=limits, A_eq=[np.ones(r + 1)], b_eq=[1.0]).fun


@pytest.mark.parametrize(("r", "m", "epsilon", "delta"), [(6, 6, 0.5, 0.0), (8, 20, 1.0, 0.01), (12, 12, 2.0, 0.05)])
def test_the_recursion_reaches_the_largest_tail(r, m, epsilon, delta):
    curve = trade_off(epsilon, delta)
    for v in range(1, r + 1):
        found = trade_off_p_value(m, r, v, curve)
        assert found == pytest.approx(largest_tail(r, v, epsilon, delta, m), abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 8.0])
def test_the_bound_is_near_the_tail_of_randomised_response(epsilon):
    """Right answers are binomial: a bound must lie above, and lies at most a third above in the tail."""
    chance, r = 1 / (1 + math.exp(-epsilon)), 60
    for v in range(1, r + 1):
        tail, bound = binom.sf(v - 1, r, chance), trade_off_p_value(r, r, v, trade_off(epsilon))
        assert bound >= tail * (1 - 1e-9)
        if 1e-9 < tail < 0.05:
            assert bound < 1.34 * tail


def runs(noise, claim, n_runs, n_guesses, **options):
    rng = np.random.default_rng(0)
    none, canaries = (np.zeros((0, M)), np.zeros(0, int)), (np.eye(M), np.ones(M, int))
    given = lambda X, y: noise.release(X.sum(axis=0), rng=rng), lambda sums, X, y: X @ sums
    options |= {"n_guesses": n_guesses, "rng": rng}
    return [audit_one_run(*given, *none, canaries, claim, **options) for _ in range(n_runs)]


@pytest.mark.parametrize("n_guesses", others_in_full([40, M], M))
@pytest.mark.parametrize(
    ("noise", "options"),
    [(Laplace(1.0), {"curve": "laplace"}), (Gaussian(1.0, 1e-5), {"curve": "gaussian", "delta": 1e-5})],
)
def test_noise_is_rarely_accused_and_too_little_always(noise, options, n_guesses):
    results = runs(noise, 1.0, 60, n_guesses, **options)
    # P[Binomial(60, .05) > 10] < 1e-3
    assert sum(not result.passed for result in results) <= 10
    assert {result.curve for result in results} == {options["curve"]}
    less = Laplace(8.0) if options["curve"] == "laplace" else Gaussian(8.0, 1e-5)
    assert not any(result.passed for result in runs(less, 1.0, 10, n_guesses, **options))


def test_a_curve_certifies_no_less_and_more_where_noise_is_known():
    for delta, curve in ((0.0, "claim"), (1e-5, "claim"), (0.0, "laplace"), (1e-5, "gaussian")):
        for v in (100, 150, 190, 200):
            assert certified_epsilon(1000, 200, v, delta=delta, curve=curve) >= certified_epsilon(
                1000, 200, v, delta=delta
            )
    assert certified_epsilon(1000, 200, 190, delta=1e-5, curve="gaussian") > 1.5 * certified_epsilon(
        1000, 200, 190, delta=1e-5
    )
    # the worst of what a claim of ε allows is randomised response, whose tail is known
    assert certified_epsilon(1000, 200, 190, curve="claim") == certified_epsilon(1000, 200, 190)


@pytest.mark.parametrize(
    ("name", "given"),
    [("curve", {"curve": "flat"}), ("delta", {"curve": "laplace", "delta": 0.1}), ("delta", {"curve": "gaussian"})],
)
def test_bad_curves_are_named(name, given):
    with pytest.raises(InvalidParameter, match=name):
        trade_off(1.0, **given)
