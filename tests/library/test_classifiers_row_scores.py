"""A record's score is a function of the record and of the model: other records change no bit of it."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax, softmax

from dpml.audit import recorded_cost
from dpml.classifiers import (
    AutoClassifier,
    BernoulliNB,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    MixedNB,
    PrivGene,
    PrivLocal,
)
from dpml.classifiers.linear_models import LinearModels, row_log_softmax, row_scores, row_softmax
from dpml.evaluation import release_evaluation
from dpml.schema import Feature, Schema

CONTAINERS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "single precision": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(np.int8),
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_matrix,
}
MODELS = {
    "AutoClassifier": AutoClassifier,
    "BernoulliNB": BernoulliNB,
    "BernoulliNB, published": lambda *a, **o: BernoulliNB(*a, method="published", **o),
    "LinearClassifier, naive Bayes": lambda *a, **o: LinearClassifier(*a, method="naive-bayes", **o),
    "LinearClassifier, objective": lambda *a, **o: LinearClassifier(*a, method="objective", **o),
    "LinearSVC": LinearSVC,
    "LogisticRegression": LogisticRegression,
    "MixedNB": MixedNB,
    "PrivGene": lambda *a, **o: PrivGene(*a, n_candidates=4, n_iterations=2, **o),
    "PrivLocal": lambda *a, **o: PrivLocal(*a, n_iterations=2, **o),
}
METHODS = ("decision_function", "predict_log_proba", "predict_proba")
ONLY_TWO_CLASSES = ("PrivGene", "PrivLocal")


def fitted(name, D, C, rng):
    """Return a model of D binary columns with weights of all sizes."""
    schema = Schema([Feature(f"x{j}") for j in range(D)], range(C), n_lower=12)
    X, y = rng.integers(2, size=(12, D)).astype(float), rng.integers(C, size=12)
    model = MODELS[name](1.0, schema=schema, random_state=0).fit(X, y)
    inner = getattr(model, "estimator_", model)
    for weights in ("coef_", "feature_log_prob_"):
        if hasattr(inner, weights) and not isinstance(inner, MixedNB):
            shape = getattr(inner, weights).shape
            setattr(inner, weights, rng.normal(size=shape) * np.exp(rng.normal(size=shape)))
    if hasattr(inner, "_linear"):
        inner._linear = LinearModels(rng.normal(size=inner._linear.coef.shape), inner._linear.intercept)
    return model


@pytest.mark.parametrize("name", sorted(MODELS))
@settings(max_examples=3, deadline=None)
@given(
    D=st.integers(1, 300),
    C=st.sampled_from([2, 3, 9]),
    container=st.sampled_from(sorted(CONTAINERS)),
    seed=st.integers(0, 2**32),
)
def test_scores_do_not_depend_on_the_other_records(name, D, C, container, seed):
    rng = np.random.default_rng(seed)
    model = fitted(name, D, 2 if name in ONLY_TWO_CLASSES else C, rng)
    X, kept_in = rng.integers(2, size=(23, D)).astype(float), CONTAINERS[container]
    parts = [[i] for i in range(len(X))]
    parts += [rng.permutation(len(X)), np.repeat(np.arange(len(X)), 3)]
    parts += [rng.choice(len(X), size, replace=False) for size in (2, 3, 4, 5, 8, 15, 16, 17, 22)]
    for method in METHODS:
        if hasattr(model, method):
            scores_of = getattr(model, method)
            whole = scores_of(kept_in(X))
            for part in parts:
                np.testing.assert_array_equal(scores_of(kept_in(X[part])), whole[part], strict=True)


def test_a_score_at_a_threshold_costs_no_more_than_the_charge():
    rng = np.random.default_rng(0)
    D = 300
    X, y = rng.integers(2, size=(8, D)).astype(float), np.tile([0, 1], 4)
    model = LogisticRegression(1.0, schema=Schema.binary(D, n_lower=8), random_state=0).fit(X, y)
    for _ in range(20):
        model.coef_ = rng.normal(size=(1, D))
        # the thresholds are public, and stand exactly where records score in the smaller table
        thresholds = [np.inf, *np.unique(model.decision_function(X[:-1]))[::-1], -np.inf]

        def evaluation(data, model=model, thresholds=thresholds):
            rows, labels = data
            options = {"thresholds": thresholds, "score_scale": "log-odds", "rng": np.random.default_rng(0)}
            return release_evaluation(labels, model.decision_function(rows), 1.0, **options).counts

        assert recorded_cost(evaluation, (X, y), (X[:-1], y[:-1])) <= 1 + 1e-9


# ---- the function itself ------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(D=st.integers(1, 400), K=st.integers(1, 3), as_sparse=st.booleans(), seed=st.integers(0, 2**32))
def test_scores_are_as_accurate_as_sums_of_doubles(D, K, as_sparse, seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((7, D)) < 0.5, rng.normal(size=(7, D)) * 10.0 ** rng.integers(-8, 8, (7, D)), 0.0)
    coef = rng.normal(size=(2, K, D)) * 10.0 ** rng.integers(-8, 8, D)
    found = row_scores(sparse.csr_array(X) if as_sparse else X, coef)
    assert found.shape == (2, 7, K)
    steps = D if as_sparse else math.ceil(math.log2(D)) + 1
    for draw, row, k in np.ndindex(found.shape):
        terms = [Fraction(x) * Fraction(w) for x, w in zip(X[row], coef[draw, k], strict=True)]
        most = sum(map(abs, terms)) * steps * Fraction(2) ** -53
        assert abs(Fraction(found[draw, row, k]) - sum(terms)) <= most * Fraction(1001, 1000)


def test_the_order_of_stored_entries_changes_no_score():
    rng = np.random.default_rng(1)
    coef, columns, values = rng.normal(size=(2, 40)), np.arange(40), rng.normal(size=40)
    straight = sparse.csr_array((values, columns, [0, 40]), shape=(1, 40))
    for _ in range(20):
        order = rng.permutation(40)
        other = sparse.csr_array((values[order], columns[order], [0, 40]), shape=(1, 40))
        np.testing.assert_array_equal(row_scores(other, coef), row_scores(straight, coef))


def test_infinite_records_do_not_change_other_records():
    X = np.array([[1.0, 2.0, 3.0], [np.inf, 1.0, 0.0], [1e308, 1e308, 1e308], [0.0, 0.0, np.nan]])
    coef = np.array([[1.0, 1.0, 1.0], [10.0, np.inf, -10.0]])
    for table in (X, sparse.csr_array(X)):
        np.testing.assert_array_equal(row_scores(table, coef)[:1], [[6.0, np.inf]])
        assert row_scores(table, coef)[1:, 0].tolist()[:2] == [np.inf, np.inf]
        assert np.isnan(row_scores(table, coef)[3, 0])
    assert row_scores(np.zeros((2, 0)), np.zeros((3, 1, 0))).tolist() == [[[0.0], [0.0]]] * 3
    assert row_scores(np.zeros((0, 4)), np.ones((2, 4))).shape == (0, 2)


@pytest.mark.parametrize("C", [2, 7, 8, 9, 40])
def test_probabilities_of_a_row_do_not_depend_on_others(C):
    scores = np.random.default_rng(C).normal(scale=5, size=(30, C))
    for function, reference in ((row_log_softmax, log_softmax), (row_softmax, softmax)):
        whole = function(scores)
        np.testing.assert_allclose(whole, reference(scores, axis=1), rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(function(np.asfortranarray(scores)), whole)
        for i in range(len(scores)):
            np.testing.assert_array_equal(function(scores[i : i + 1]), whole[i : i + 1])
    assert row_log_softmax(np.array([[-np.inf, 1.0, -np.inf], [-np.inf] * 3]))[0].tolist() == [-np.inf, 0.0, -np.inf]
