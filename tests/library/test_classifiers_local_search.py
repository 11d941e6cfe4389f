"""Local search: sums against their definition, ranges against all records, exact costs, and both estimators."""

import itertools

import numpy as np
import pandas as pd
import pytest
from binary_tables import told_by_all
from scipy import sparse, stats

from dpml.audit.cases.linear import LOCAL
from dpml.budget import Budget
from dpml.classifiers import PrivGene, PrivLocal
from dpml.classifiers.local_search import (
    Records,
    candidate_range,
    neighbourhood_range,
    offspring,
    release_genetic_search,
    release_local_search,
)
from dpml.classifiers.local_search.search import largest_score
from dpml.exceptions import (
    InvalidData,
    InvalidSchema,
    NoSecureSampler,
)
from dpml.mechanisms.choice import PermuteAndFlip
from dpml.schema import Feature, Schema

LOSSES = ["logistic", "hinge"]


def reference_loss(loss, z):
    return np.maximum(0, 1 - z) if loss == "hinge" else np.log(1 + np.exp(-z))


def reference_objective(X, signs, theta, loss, intercept=True):
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return reference_loss(loss, signs * (X @ theta)).sum()


def some_table(rng, n=40, D=5, numeric=()):
    X = (rng.random((n, D)) < 0.4).astype(float)
    for j in numeric:
        X[:, j] = rng.uniform(-1, 1, n)
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0)


# ---- statistics -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("numeric", [(), (1, 4)])
def test_gains_are_the_differences_of_the_objective(loss, intercept, numeric):
    rng = np.random.default_rng(1)
    X, signs = some_table(rng, numeric=numeric)
    mask = np.isin(np.arange(5), numeric)
    D = 5 + intercept
    theta = rng.normal(size=(3, D))
    tables = [X] if numeric else [X, sparse.csr_array(X), sparse.csc_matrix(X)]
    for table in tables:
        records = Records(table, signs, 5, mask, intercept)
        margins = records.margins(theta)
        gains = records.gains(margins, 0.7, loss)
        assert gains.shape == (3, 2 * D)
        for d, c in itertools.product(range(3), range(2 * D)):
            moved = theta[d].copy()
            moved[c % D] += 0.7 if c < D else -0.7
            before, after = (reference_objective(X, signs, t, loss, intercept) for t in (theta[d], moved))
            assert gains[d, c] == pytest.approx(before - after, abs=1e-10)
            assert records.objective(theta, loss)[d] == pytest.approx(before, abs=1e-10)


# ---- ranges ---------------------------------------------------------------------------------------------------------


def all_records(D, n_ones, numeric=()):
    """Records with at most that many ones, and numbers at the ends of their domain and in the middle."""
    sets = [(-1, -0.5, 0, 0.5, 1) if j in numeric else (0, 1) for j in range(D)]
    for x in itertools.product(*sets):
        if sum(v for j, v in enumerate(x) if j not in numeric) <= n_ones:
            yield np.array([*x, 1.0])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n_ones", "numeric"), [(1, ()), (2, ()), (3, ()), (1, (2,)), (0, (0, 1, 2))])
def test_neighbourhood_range_is_exact_over_all_records(loss, n_ones, numeric):
    rng = np.random.default_rng(3)
    mask = np.isin(np.arange(3), numeric)
    for step in (1.0, 0.25, 0.01):
        theta = rng.normal(size=(4, 4))
        theta[0] = 0
        found = np.zeros(4)
        for d in range(4):
            moves = [np.zeros(4), *(step * np.eye(4)), *(-step * np.eye(4))]
            for x, s in itertools.product(all_records(3, n_ones, numeric), (-1, 1)):
                values = [reference_loss(loss, s * (x @ (theta[d] + move))) for move in moves]
                found[d] = max(found[d], max(values) - min(values))
        claimed = neighbourhood_range(theta, step, loss, n_ones=n_ones, numeric=mask)
        assert claimed == pytest.approx(found, rel=1e-9)
        assert (claimed <= 2 * step + 1e-12).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n_ones", "numeric"), [(1, ()), (2, ()), (3, ()), (1, (2,))])
def test_candidate_range_covers_all_records_and_labels(loss, n_ones, numeric):
    rng = np.random.default_rng(4)
    mask = np.isin(np.arange(3), numeric)
    tightest = np.inf
    for _ in range(20):
        c = rng.normal(size=(4, 4)) * rng.choice([0.05, 1, 3])
        claimed = float(candidate_range(c[None], loss, n_ones=n_ones, numeric=mask)[0])
        values = [
            reference_loss(loss, s * (c @ x)) for x, s in itertools.product(all_records(3, n_ones, numeric), (-1, 1))
        ]
        found = max(v.max() - v.min() for v in values)
        assert found <= claimed + 1e-12
        tightest = min(tightest, claimed / found)
        assert largest_score(c, n_ones, mask, True).max() == pytest.approx(
            max(np.abs(c @ x).max() for x in all_records(3, n_ones, numeric))
        )
    assert tightest < 1.6
    alike = candidate_range(np.ones((1, 3, 4)), loss, n_ones=2)
    assert alike == pytest.approx(1e-6)


# ---- release --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_without_noise_the_search_is_the_greedy_descent(loss):
    rng = np.random.default_rng(5)
    X, signs = some_table(rng, n=60, numeric=(0, 1, 2, 3, 4))  # numbers, so that no two sums are equal
    records = Records(X, signs, 0, np.ones(5, dtype=bool))
    theta, steps = np.zeros(6), 1.0 * 0.8 ** np.arange(7)
    for s in steps:
        moves = [*(s * np.eye(6)), *(-s * np.eye(6)), np.zeros(6)]
        values = [reference_objective(X, signs, theta + m, loss) for m in moves]
        theta = theta + moves[int(np.argmin(values))]
        assert np.sort(values)[1] - min(values) > 1e-6
    released = release_local_search(records, 1e9, n_iterations=7, step=1.0, decay=0.8, loss=loss, rng=rng, draws=3)
    assert released == pytest.approx(np.tile(theta, (3, 1)), abs=1e-9)


def test_first_choices_follow_permute_and_flip():
    X, signs = some_table(np.random.default_rng(6), n=30, D=2)
    records, draws = Records(X, signs, 2), 20_000
    released = release_local_search(records, 0.8, n_iterations=1, step=1.0, draws=draws, rng=np.random.default_rng(0))
    moves = [*np.eye(3), *(-np.eye(3)), np.zeros(3)]
    gains = [
        reference_objective(X, signs, np.zeros(3), "logistic") - reference_objective(X, signs, m, "logistic")
        for m in moves
    ]
    expected = PermuteAndFlip(0.8, 1.0).probabilities(np.array(gains))
    seen = np.array([(released == m).all(axis=1).sum() for m in moves])
    assert seen.sum() == draws
    # a false alarm has probability 1e-4; the seed is fixed
    assert stats.chisquare(seen, expected * draws).pvalue > 1e-4
    other = PermuteAndFlip(0.4, 1.0).probabilities(np.array(gains))
    assert stats.chisquare(seen, other * draws).pvalue < 1e-6


def test_offspring_are_crossovers_with_one_weight_moved():
    rng = np.random.default_rng(8)
    parents = rng.normal(size=(3, 2, 4))
    children = offspring(parents, 50, 0.5, rng)
    assert children.shape == (3, 50, 4)
    for d, child in itertools.product(range(3), range(50)):
        crossed = [
            np.concatenate([parents[d, a, :k], parents[d, b, k:]])
            for a, b in itertools.product(range(2), repeat=2)
            for k in range(5)
        ]
        change = np.abs(children[d, child] - np.array(crossed))
        assert any(np.allclose(np.sort(c), [0, 0, 0, 0.5]) for c in change)


@pytest.mark.parametrize("loss", LOSSES)
def test_genetic_search_without_noise_keeps_the_best_candidate(loss):
    X, signs = some_table(np.random.default_rng(9), n=60)
    records = Records(X, signs, 5)
    options = {"n_iterations": 1, "n_candidates": 30, "step": 1.0, "loss": loss}
    [best] = release_genetic_search(records, 1e9, rng=np.random.default_rng(3), **options)
    candidates = offspring(np.zeros((1, 1, 6)), 30, 1.0, np.random.default_rng(3))[0]
    values = [reference_objective(X, signs, c, loss) for c in candidates]
    assert reference_objective(X, signs, best, loss) == pytest.approx(min(values))
    longer = release_genetic_search(records, 1e9, rng=np.random.default_rng(3), **{**options, "n_iterations": 12})
    assert reference_objective(X, signs, longer[0], loss) < min(values)


@pytest.mark.parametrize("kind", [PrivLocal, PrivGene])
def test_replace_one_takes_the_iterations_of_half_the_epsilon(kind):
    X, y = np.eye(4, dtype=int)[np.arange(4000) % 4], np.arange(4000) % 2
    options = {"schema": Schema.binary(4, n_lower=4000), "random_state": 0}
    halved = kind(epsilon=1.0, relation="replace-one", **options).fit(X, y).n_iterations_
    assert halved == kind(epsilon=0.5, **options).fit(X, y).n_iterations_
    assert halved < kind(epsilon=1.0, **options).fit(X, y).n_iterations_


def test_secure_choices_are_the_same_mechanism():
    pytest.importorskip("opendp")
    X, y = told_by_all(60, 5, 0.8)
    records = Records(X, 2.0 * y - 1, 5)
    best = release_local_search(records, 1e6, n_iterations=3, secure=True)
    again = release_local_search(records, 1e6, n_iterations=3, rng=np.random.default_rng(0))
    assert best == pytest.approx(again)
    small = Records(np.ones((3, 1)), [1.0, 1.0, -1.0], 1, intercept=False)
    released = release_local_search(small, 1.0, draws=500, secure=True, **{**LOCAL, "n_iterations": 1})[:, 0]
    share = PermuteAndFlip(1.0, 1.0).probabilities(np.array([0.5, -0.5]))[0]
    assert np.isin(released, [-1.0, 1.0]).all()
    # 5 standard errors: a false alarm in 2 million runs
    assert abs((released > 0).mean() - share) < 5 * np.sqrt(share * (1 - share) / 500) + 0.003
    assert release_genetic_search(records, 1e6, n_iterations=3, secure=True).shape == (1, 6)
    with pytest.raises(NoSecureSampler):
        release_local_search(records, 1.0, n_iterations=3, secure=True, calibration="published")


# ---- public rules ---------------------------------------------------------------------------------------------------


KINDS = [PrivLocal, PrivGene]


# ---- estimators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_several_classes_cost_epsilon_in_all(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = (rng.random((900, 3)) < np.where(np.eye(3)[y], 0.9, 0.1)).astype(int)
    labels = np.array(["a", "b", "c"])[y]
    budget = Budget(60.0)
    schema = Schema.binary(3, classes=("a", "b", "c"), n_lower=900)
    model = kind(60.0, schema=schema, budget=budget, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 3)
    assert model.score(X, labels) > 0.75
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert budget.ledger["epsilon"].tolist() == [60.0]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_centred_by_public_bounds(kind):
    rng = np.random.default_rng(1)
    age, flag = rng.uniform(20, 80, 800), rng.integers(2, size=800)
    y = ((age > 50) ^ (rng.random(800) < 0.05)).astype(int)
    schema = Schema((Feature("age", "numeric", lower=20, upper=80), Feature("flag")), n_lower=800)
    frame = pd.DataFrame({"age": age, "flag": flag})
    model = kind(50.0, schema=schema, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.85
    grid = pd.DataFrame({"age": [20.0, 80.0], "flag": [0, 0]})
    assert model.predict(grid).tolist() == [0, 1]
    # exactly: scores are those of weights on (age - 50)/30, flag and 1
    scores = model.decision_function(pd.DataFrame({"age": [50.0, 80.0], "flag": [0, 0]}))
    assert scores[1] - scores[0] == pytest.approx(30 * model.coef_[0, 0])
    with pytest.raises(InvalidSchema, match="MixedEncoding encodes"):
        kind(1.0, schema=Schema((Feature("job", "categorical", ("x", "y")),))).fit(pd.DataFrame({"job": ["x"]}), [0])


def test_records_that_are_not_what_is_stated_are_refused():
    with pytest.raises(InvalidData, match="at most 1 ones"):
        Records([[1, 1]], [1], 1)
    with pytest.raises(InvalidData, match=r"\[-1, 1\]"):
        Records([[1, 2]], [1], 2, [False, True])
    with pytest.raises(InvalidData, match="ones"):
        Records([[0.5, 1]], [1], 2)
    with pytest.raises(InvalidData, match="signs"):
        Records([[1, 1]], [0], 2)
