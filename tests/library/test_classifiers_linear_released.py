"""What a fit of a linear model or of AutoClassifier is follows from its releases, whatever the other records are."""

import numpy as np
import pandas as pd
import pytest
from observing import assert_function_of_releases, observing
from scipy import sparse

from dpml.classifiers import AutoClassifier, LinearClassifier
from dpml.classifiers.linear import release_weights
from dpml.classifiers.linear.estimators import check_ones, in_units, public_table
from dpml.classifiers.linear.functional import release_coefficients, taylor_coefficients
from dpml.classifiers.linear.perturbation import check_records
from dpml.encoding import unit_scale
from dpml.exceptions import NoExactScore
from dpml.mechanisms.private import Private, opened
from dpml.schema import Feature, Schema

D = 12
BINARY = Schema.binary(D, classes=(0, 1, 2), n_lower=40)
MIXED = Schema(
    [*BINARY.features[:3], Feature("a", "numeric", lower=0, upper=9), Feature("b", "numeric", lower=-1, upper=1)],
    ("no", "yes"),
    n_lower=40,
)


def binary(seed, n, rate):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, D)) < rate).astype(float)
    return X, np.where(X[:, 0] > 0, rng.integers(3, size=n), 0)


def mixed(seed, n, rate):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame((rng.random((n, 3)) < rate).astype(int), columns=MIXED.feature_names[:3])
    table = table.assign(a=9 * rng.random(n) ** (1 / rate), b=rng.random(n))
    return table, np.where(table["a"] > 9 * rate, "yes", "no")


WORDS = Schema([Feature(f"w{j}") for j in range(80)], n_lower=50)
SPARSE = Schema.binary(300, row_bound=20, n_lower=300)


def words(D, as_sparse=True):
    def records(seed, n, rate):
        rng = np.random.default_rng(seed)
        X = (rng.random((n, D)) < rate / 10).astype(float)
        return (sparse.csr_array(X) if as_sparse else X), (X[:, :9].sum(axis=1) > 9 * rate / 10).astype(int)

    return records


def wide(seed, n, rate):
    X, y = words(80, False)(seed, n, rate)
    table = pd.DataFrame(X.astype(int), columns=WIDE.feature_names[:-1])
    return table.assign(x=np.random.default_rng(seed).random(n) ** (1 / rate)), y


WIDE = Schema((*WORDS.features, Feature("x", "numeric", lower=0, upper=1)), n_lower=50)
TABLE = Schema(MIXED.features, ("no", "yes"))
AUTOMATIC = {
    "grid, n unknown": (0.5, TABLE, mixed, {}, 900, "grid"),
    "weights, n unknown": (0.8, TABLE, mixed, {}, 600, "grid and weights"),
    "grid, replace-one": (0.5, TABLE, mixed, {"relation": "replace-one"}, 600, "grid"),
    # a release has no seed: so far from where the rule changes that its noisy number of records does not decide
    "grid, released": (0.1, TABLE, mixed, {"release": True}, 900, "grid"),
    "weights, released": (4.0, TABLE, mixed, {"release": True}, 600, "grid and weights"),
    "grid and weights": (40.0, TABLE, mixed, {}, 600, "grid and weights"),
    "words, looked at": (3.0, WORDS, words(80), {}, 900, "words"),
    "words, looked at, released": (3.0, WORDS, words(80), {"release": True}, 900, "words"),
    "words": (3.0, Schema(SPARSE.features, n_lower=900), words(300), {}, 900, "words"),
    "many ones": (9.0, Schema(WORDS.features), words(80, False), {"release": True}, 900, "words"),
    "naive Bayes": (90.0, WIDE, wide, {}, 900, "naive-bayes"),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_the_automatic_classifier_is_a_function_of_its_releases(name):
    epsilon, schema, records, options, n, method = AUTOMATIC[name]
    seed = {} if options.get("release") else {"random_state": 1}

    def call(data):
        model = AutoClassifier(epsilon, schema=schema, on_invalid="clip", **options, **seed).fit(*data)
        assert model.method_ == method
        if method == "naive-bayes":
            model.estimator_.set_params(budget=None)  # its ledger has the time of the charge
        return model

    assert_function_of_releases(call, records(0, 600, 0.5), records(1, n, 0.9))


def test_the_method_is_chosen_without_the_number_of_records_in_the_table():
    for n in (90, 900):
        assert LinearClassifier(100.0, schema=BINARY, random_state=0).fit(*binary(0, n, 0.3)).method_ == "naive-bayes"


# ---- functions of records -----------------------------------------------------------------------------------------


def test_a_private_record_beyond_its_bound_raises_nothing_and_counts_as_zero():
    X, signs = np.eye(3), np.array([1.0, -1.0, 1.0])
    X[1] *= 7
    for container in (np.asarray, sparse.csr_array):
        kept, _ = check_records(Private(container(X)), Private(signs))
        kept = opened(kept)
        dense = kept.toarray() if sparse.issparse(kept) else kept
        assert dense.tolist() == np.diag([1.0, 0.0, 1.0]).tolist()
    many = taylor_coefficients(Private(np.array([[0.5, 0.5], [0.5, 0.0]])), Private(np.array([0, 0])), n_nonzero=1)
    assert opened(many.linear).tolist() == [[0.25, 0.0]]
    noisy = release_coefficients(many, 1e9, n_nonzero=1, rng=np.random.default_rng(0))
    np.testing.assert_allclose(noisy.linear, [[[0.25, 0.0]]], atol=1e-6)


def test_a_fit_bounds_every_record_so_that_none_counts_as_zero():
    corners = pd.DataFrame([[1, 1, 1, 9.0, 1.0], [0, 0, 0, 0.0, -1.0]], columns=MIXED.feature_names)
    table = opened(public_table(Private(corners), MIXED, 5, None))
    np.testing.assert_allclose(table, [[1, 1, 1, 1, 1], [0, 0, 0, -1, -1]], atol=1e-15)
    kept, _ = check_records(Private(unit_scale(table, 5)), Private(np.ones(2)))
    assert (np.linalg.norm(opened(kept), axis=1) > 0.5).all()
    # two ones of three are left beside two numbers
    shared = opened(public_table(Private(corners), MIXED, 4, None))
    assert 1.9 < shared[0, :3].sum() <= 2


def test_rounding_moves_no_number_out_of_its_units_and_no_weight_out_of_all_floats():
    ends = np.array([[-0.9], [-0.8]])  # slope times -0.8 plus shift is above 1
    schema = Schema([Feature("a", "numeric", lower=-0.9, upper=-0.8)], (0, 1))
    table = opened(public_table(Private(pd.DataFrame(ends, columns=["a"])), schema, 1, None))
    assert np.abs(table).max() <= 1
    assert np.isfinite(in_units(np.array([1e308]), np.zeros(1), schema)[0]).all()


def test_under_add_remove_the_number_of_records_is_released_before_descent_uses_it():
    X, codes = binary(0, 60, 0.4)
    X = Private(X / np.sqrt(D))
    options = {"method": "noisy-descent", "rng": np.random.default_rng(0), "n_iterations": 2}
    with observing() as passed:
        release_weights(X, Private(codes), 3, 1.0, **options)
    assert len(passed) == 3
    assert passed[0][1].tolist() == [60.0]
    with observing() as passed:
        release_weights(X, Private(codes), 3, 1.0, relation="replace-one", **options)
    assert len(passed) == 2


def test_what_a_study_names_is_not_looked_at_in_a_release():
    schema = Schema.binary(3, row_bound=2)
    with pytest.raises(NoExactScore, match="ones of a record"):
        check_ones(Private(np.ones((1, 3))), schema, release=True)
