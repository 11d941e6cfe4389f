"""Private cross-validation: who is trained on whom, what it costs, and what is refused."""

from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_all
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB as ExactNB
from sklearn.pipeline import Pipeline

from dpml.budget import Budget, charge
from dpml.classifiers import AutoClassifier, BernoulliNB
from dpml.evaluation import private_cross_val_score, roc_histogram
from dpml.exceptions import (
    BudgetExceeded,
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    NoSecureSampler,
    NotPrivate,
    RelationMismatch,
)
from dpml.schema import Schema

table = partial(told_by_all, n=900, D=6)


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes its training records, and scores each record by its second column."""

    def __init__(self, epsilon=1.0, random_state=None, budget=None, schema=None, relation="add-remove"):
        self.epsilon = epsilon
        self.random_state = random_state
        self.budget = budget
        self.schema = schema
        self.relation = relation

    def fit(self, X, y):
        charge(self.budget, self.relation, self.epsilon, label="nothing that is noisy")
        self.classes_ = np.array([0, 1])
        self.trained_ = np.asarray(X)[:, 0].astype(int)
        return self

    def predict_proba(self, X):
        self.tested_ = np.asarray(X)[:, 0].astype(int)
        p = np.asarray(X)[:, 1]
        return np.column_stack([1 - p, p])


def scored(n=300):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    return np.column_stack([np.arange(n), np.clip(rng.normal(0.3 + 0.4 * y, 0.2), 0, 1)]), y


@pytest.mark.parametrize("folds", [None, "given"])
def test_each_record_is_scored_by_the_model_of_its_fold(folds):
    X, y = scored()
    given = np.arange(len(y)) % 4 if folds else None
    options = {"relation": "replace-one", "folds": given, "rng": np.random.default_rng(0)}
    result = private_cross_val_score(Recorder(relation="replace-one"), X, y, 1e9, n_folds=4, **options)
    for fold, model in enumerate(result.models):
        inside = np.flatnonzero(result.folds == fold)
        np.testing.assert_array_equal(model.tested_, inside)
        np.testing.assert_array_equal(model.trained_, np.flatnonzero(result.folds != fold))
    if folds:
        np.testing.assert_array_equal(result.folds, given)
    else:
        # drawn for each record on its own: binomial sizes
        assert np.abs(np.bincount(result.folds, minlength=4) - 75).max() < 5 * np.sqrt(300 * 3 / 16)
    # the pooled histogram is that of all scores
    np.testing.assert_allclose(result.evaluation.counts, roc_histogram(y, X[:, 1]), atol=1e-4)
    assert result.score == pytest.approx(result.evaluation.roc_auc())
    # under add/remove the number of records is private, and so are as many folds
    assert private_cross_val_score(Recorder(), X, y, 1e9, rng=np.random.default_rng(0)).folds is None


@pytest.mark.parametrize("n_folds", [2, 5])
def test_the_total_cost_is_charged_before_training(n_folds):
    X, y = table()
    budget = Budget(10.0)
    model = BernoulliNB(0.25, budget=Budget(0.1))  # its own budget is not charged
    result = private_cross_val_score(model, X, y, 0.5, n_folds=n_folds, rng=np.random.default_rng(0), budget=budget)
    assert result.epsilon == pytest.approx((n_folds - 1) * 0.25 + 0.5)
    assert result.delta == 0
    assert budget.ledger["epsilon"].tolist() == pytest.approx([result.epsilon])
    assert budget.ledger["label"].tolist() == [f"cross-validation, {n_folds} folds"]
    assert model.budget.spent == 0
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    folds = np.arange(len(y)) % n_folds
    with pytest.raises(BudgetExceeded):
        private_cross_val_score(model, X, y, 50.0, n_folds=n_folds, folds=folds, rng=rng, budget=budget)
    assert rng.bit_generator.state == before
    options = {"relation": "replace-one", "budget": budget, "rng": rng}
    with pytest.raises(RelationMismatch):
        private_cross_val_score(BernoulliNB(0.1, relation="replace-one"), X, y, 0.1, **options)


def test_a_large_epsilon_gives_the_pooled_score():
    X, y = table(n=3000)
    schema = Schema.binary(6, n_lower=3000)
    model = BernoulliNB(1e3, schema=schema, relation="replace-one")
    options = {"relation": "replace-one", "n_bins": 3000, "rng": np.random.default_rng(0)}
    result = private_cross_val_score(model, X, y, 1e9, n_folds=3, **options)
    pooled = np.empty(len(y))
    for fold, model in enumerate(result.models):
        inside = result.folds == fold
        pooled[inside] = model.predict_proba(X[inside])[:, 1]
    assert result.score == pytest.approx(roc_auc_score(y, pooled), abs=2e-3)
    by_log_odds = private_cross_val_score(
        BernoulliNB(1e3, schema=schema), X, y, 1e9, n_folds=3, rng=np.random.default_rng(0), score_scale="log-odds"
    )
    # sixteen bins hold a little less than three thousand
    assert by_log_odds.score == pytest.approx(result.score, abs=0.02)
    assert by_log_odds.score > 0.8


def test_training_sets_have_smaller_public_numbers():
    X, y = scored(100)
    schema = Schema.binary(2, n_lower=100)
    options = {"rng": np.random.default_rng(0), "n_folds": 4}
    seen = private_cross_val_score(Recorder(schema=schema), X, y, 1.0, **options).models[0].schema
    # the folds are drawn: six standard deviations of √(100·3)/4 below 75
    assert (seen.n_lower, seen.n_rows) == (49, None)
    given = options | {"folds": np.arange(100) % 4}
    seen = private_cross_val_score(Recorder(schema=schema), X, y, 1.0, **given).models[0].schema
    assert (seen.n_lower, seen.n_rows) == (75, None)
    seen = private_cross_val_score(Recorder(schema=schema), X, y, 1.0, n_lower=60, **options).models[0].schema
    assert seen.n_lower == 60
    known = Schema.binary(2, n_rows=100)
    options |= {"relation": "replace-one", "folds": np.arange(100) % 4}
    estimator = Recorder(schema=known, relation="replace-one")
    seen = private_cross_val_score(estimator, X, y, 1.0, **options).models[0].schema
    assert (seen.n_lower, seen.n_rows) == (75, 75)


def test_a_release_takes_no_seed_and_survives_any_labels():
    pytest.importorskip("opendp")
    X, y = table(n=60)
    labels = ["neither", *y[1:].tolist()]
    result = private_cross_val_score(BernoulliNB(1.0), X, labels, 1.0, n_folds=3, release=True)
    np.testing.assert_array_equal(result.evaluation.counts, np.rint(result.evaluation.counts))
    assert all(model.release for model in result.models)
    assert result.epsilon == 3.0
    one = private_cross_val_score(BernoulliNB(1.0), X[:1], y[:1], 1.0, n_folds=3, release=True)
    assert 0 <= one.score <= 1
    with pytest.raises(InvalidParameter, match="rng"):
        private_cross_val_score(BernoulliNB(1.0), X, y, 1.0, rng=np.random.default_rng(0), release=True)


def test_an_entry_of_a_list_that_is_no_record_ends_no_release():
    pytest.importorskip("opendp")
    X, y = table(n=60)
    rows = [[1, 0], None, *X[2:].tolist()]
    model = BernoulliNB(1.0, schema=Schema.binary(6))
    result = private_cross_val_score(model, rows, y, 1e3, n_folds=3, release=True)  # so little noise that it is 0
    assert result.evaluation.counts.sum() == 60
    with pytest.raises(InvalidData, match="every record"):
        private_cross_val_score(model, rows, y, 1.0, n_folds=3, rng=np.random.default_rng(0))
    with pytest.raises(InvalidSchema, match="schema"):  # the first entry would say how many columns all have
        private_cross_val_score(BernoulliNB(1.0), rows, y, 1.0, n_folds=3, release=True)


def test_too_small_training_sets_raise_before_a_charge():
    X, y = table(n=300)
    model = AutoClassifier(1.0, schema=Schema.binary(6, n_lower=300))
    budget = Budget(10.0)
    options = {"rng": np.random.default_rng(0), "n_folds": 3, "folds": [0] * 150 + [1, 2] * 75, "budget": budget}
    for estimator in (model, Pipeline([("model", model)])):
        with pytest.raises(InvalidData, match="training set of 3 folds has 150 records: n_lower is 200"):
            private_cross_val_score(estimator, X, y, 1.0, **options)
    assert not len(budget.ledger)
    assert private_cross_val_score(model, X, y, 1.0, n_lower=150, **options).epsilon == 3.0


def test_classes_of_the_same_seed_are_spread_over_the_folds():
    y, rng = np.random.default_rng(0).integers(2, size=2000), np.random.default_rng(0)
    model, X = Recorder(relation="replace-one"), scored(2000)[0]
    result = private_cross_val_score(model, X, y, 1.0, n_folds=2, relation="replace-one", rng=rng)
    assert abs(np.corrcoef(y, result.folds)[0, 1]) < 0.14  # 6 standard deviations


def test_a_probability_rounded_beyond_1_counts_as_1():
    X, y = scored(60)
    X[:, 1] = np.nextafter(1.0, 2.0)
    rng = np.random.default_rng(0)
    result = private_cross_val_score(Recorder(), X, y, 1e9, rng=rng)
    assert result.evaluation.n_records() == pytest.approx(60)


def test_what_is_not_private_is_refused():
    X, y = table(n=200)
    rng = np.random.default_rng(0)
    with pytest.raises(NotPrivate, match="BernoulliNB takes no ε"):
        private_cross_val_score(ExactNB(), X, y, 1.0, rng=rng)
    declared = Recorder()
    declared.private = False
    with pytest.raises(NotPrivate):
        private_cross_val_score(declared, *scored(), 1.0, rng=rng)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_folds": 1}, InvalidParameter, "n_folds"),
        ({"folds": np.full(300, 5)}, InvalidParameter, "folds"),
        ({"relation": "replace-one"}, InvalidParameter, "`relation` must be .*Got 'add-remove'"),
        ({"y": [0, 1]}, InvalidData, "different lengths"),
        ({"release": True, "rng": None}, NoSecureSampler, "no release mode"),
    ],
)
def test_bad_parameters_are_named(options, error, match):
    if options.get("release"):
        pytest.importorskip("opendp")
    X, y = scored()
    good = {"y": y, "rng": np.random.default_rng(0)}
    with pytest.raises(error, match=match):
        private_cross_val_score(Recorder(), X, epsilon_evaluation=1.0, **good | options)
