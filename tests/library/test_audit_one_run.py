"""An audit by one run: what it certifies, that it accuses nobody wrongly, and that it finds what leaks."""

import math

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full

from dpml.audit import audit_one_run, label_score, row_score
from dpml.audit.one_run import guesses_p_value
from dpml.classifiers import LogisticRegression
from dpml.exceptions import InvalidParameter
from dpml.publishing import PrivPfC
from dpml.schema import Feature, Schema

M = 200
# each canary has a column of its own
CANARIES = np.eye(M), np.ones(M, dtype=int)


def randomised_response(epsilon, rng):
    """Return a fit that answers truly for each column with the probability that ε allows."""

    def fit(X, y):
        inside = X.sum(axis=0) > 0
        return np.where(rng.random(M) < 1 / (1 + math.exp(-epsilon)), inside, ~inside)

    return fit


def audited(epsilon, claim, rng, **options):
    none = np.zeros((0, M)), np.zeros(0, dtype=int)
    fit = randomised_response(epsilon, rng)
    return audit_one_run(fit, lambda answers, X, y: X @ answers, *none, CANARIES, claim, rng=rng, **options)


def test_the_p_value_is_a_binomial_tail():
    for epsilon in (0.0, 0.5, 3.0, 800.0):
        chance = math.exp(epsilon) / (1 + math.exp(epsilon)) if epsilon < 700 else 1.0
        tail = sum(math.comb(40, k) * chance**k * (1 - chance) ** (40 - k) for k in range(33, 41))
        assert guesses_p_value(100, 40, 33, epsilon) == pytest.approx(min(tail, 1.0))
    values = [guesses_p_value(100, 40, 38, epsilon, delta) for delta in (0.0, 1e-6, 1e-3) for epsilon in (0.5, 1, 2, 3)]
    assert np.all(np.diff(np.reshape(values, (3, 4)), axis=1) > 0)
    assert np.all(np.diff(np.reshape(values, (3, 4)), axis=0) >= 0)
    assert guesses_p_value(100, 40, 0, 1.0, 1e-3) == 1.0


@pytest.mark.parametrize(("epsilon", "certified"), others_in_full([(0.5, 0.15), (2.0, 1.4)], (2.0, 1.4)))
def test_randomised_response_is_rarely_accused(epsilon, certified):
    rng = np.random.default_rng(0)
    results = [audited(epsilon, epsilon, rng, n_guesses=M) for _ in range(200)]
    accused = sum(not result.passed for result in results)
    # P[Binomial(200, .05) > 22] < 1e-3
    assert accused <= 22
    assert np.median([result.epsilon_lower for result in results]) > certified
    # half of the canaries are not guessed: as many as guessed may not have been in
    assert not any(audited(4 * epsilon, epsilon, rng, n_guesses=M // 2).passed for _ in range(20))


def test_a_delta_allows_that_few_canaries_are_shown():
    """Each canary is shown with probability δ, else nothing is known: (0, δ). The bound is 0 in 19 of 20 runs."""
    rng, delta = np.random.default_rng(0), 0.01

    def fit(X, y):
        inside = X.sum(axis=0) > 0
        return np.where(rng.random(M) < delta, np.where(inside, 2.0, -2.0), rng.random(M))

    none = np.zeros((0, M)), np.zeros(0, dtype=int)
    given = fit, lambda out, X, y: X @ out, *none, CANARIES, 1.0
    runs = [audit_one_run(*given, delta=delta, n_guesses=20, rng=rng) for _ in range(200)]
    # P[Binomial(200, .05) > 22] < 1e-3
    assert sum(run.epsilon_lower > 0 for run in runs) <= 22
    strict = [audit_one_run(*given, n_guesses=20, rng=rng) for _ in range(200)]
    assert sum(run.epsilon_lower > 0 for run in strict) > sum(run.epsilon_lower > 0 for run in runs)


def test_a_classifier_is_audited_through_its_probabilities():
    rng = np.random.default_rng(0)
    schema = Schema.binary(M, row_bound=1)
    none = np.zeros((0, M)), np.zeros(0, dtype=int)
    canaries = CANARIES[0], rng.integers(2, size=M)

    def fit(X, y, epsilon=1.0):
        model = LogisticRegression(epsilon, method="output", schema=schema, random_state=rng)
        return model.fit(X, y)

    results = [audit_one_run(fit, label_score, *none, canaries, 1.0, rng=rng) for _ in range(20)]
    # P[Binomial(20, .05) > 5] < 1e-3
    assert sum(not result.passed for result in results) <= 5
    exact = audit_one_run(lambda X, y: fit(X, y, 1e6), label_score, *none, canaries, 1.0, rng=rng)
    assert not exact.passed
    assert exact.n_right == exact.n_guesses == 2 * (M // 16)
    # all guesses right certify no more than this
    p = 0.05 ** (1 / exact.n_guesses)
    assert exact.epsilon_lower == pytest.approx(math.log(p / (1 - p)))


def test_a_published_table_is_audited_through_its_rows():
    rng, size = np.random.default_rng(0), 64
    features = [Feature("place", "categorical", tuple(f"p{i}" for i in range(size)))]
    schema = Schema(features, classes=("no", "yes"))
    places = pd.DataFrame({"place": [f"p{i}" for i in range(size)]})
    canaries = places, np.array(["yes"] * size)

    def fit(X, y, epsilon=1.0):
        return PrivPfC(epsilon, schema=schema, random_state=rng).fit(X, y)

    results = [
        audit_one_run(fit, row_score, places[:0], canaries[1][:0], canaries, 1.0, n_guesses=16, rng=rng)
        for _ in range(20)
    ]
    assert sum(not result.passed for result in results) <= 5
    assert {(result.n_canaries, result.n_guesses) for result in results} == {(size, 16)}


@pytest.mark.parametrize(("option", "value"), [("n_guesses", 3), ("n_guesses", M + 2), ("confidence", 1.0)])
def test_bad_options_are_named(option, value):
    with pytest.raises(InvalidParameter, match=option):
        audited(1.0, 1.0, np.random.default_rng(0), **{option: value})


@pytest.mark.parametrize("delta", [-0.1, 1.5, float("nan")])
def test_a_delta_that_is_no_probability_is_named(delta):
    with pytest.raises(InvalidParameter, match="delta"):
        guesses_p_value(10, 5, 3, 1.0, delta)
