"""The estimator PrivateSearch: its interface, what it refuses, and its release."""

import numpy as np
import pandas as pd
import pytest
from observing import observing
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from tuning_table import table

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, LogisticRegression
from dpml.classifiers.linear import LinearSVC
from dpml.exceptions import BudgetExceeded, InvalidParameter, NoSecureSampler, NotPrivate
from dpml.mechanisms.secure import noisy_max
from dpml.schema import Schema
from dpml.tuning import (
    PrivateSearch,
)

# ---- the estimator --------------------------------------------------------------------------------------------------


class Turned(BernoulliNB):
    """Says the opposite if it is asked to."""

    def __init__(
        self,
        epsilon,
        *,
        turned=False,
        relation="add-remove",
        budget=None,
        release=False,
        random_state=None,
        schema=None,
    ):
        super().__init__(epsilon, relation=relation, budget=budget, release=release, random_state=random_state)
        self.turned, self.schema = turned, schema

    def predict(self, X):
        said = super().predict(X)
        return self.classes_.sum() - said if self.turned else said


def test_a_large_epsilon_finds_the_better_candidate():
    X, y = table(n=1500)
    for method in ("permute-and-flip", "exponential", "random-stopping"):
        search = PrivateSearch(Turned(1.0), {"turned": [True, False]}, 200.0, method=method, gamma=0.01, random_state=0)
        assert search.fit(X, y).best_params_ == {"turned": False}
        assert hasattr(search, "best_score_") == (method == "random-stopping")
    assert abs(search.best_score_ - 0.9 * 450) < 60


@pytest.mark.parametrize("linear", [LogisticRegression(1.0), LinearSVC(1.0, method="objective")])
def test_stability_finds_the_regulariser_that_sees_the_exception(linear):
    """Only a weak regulariser learns that the second feature turns the first one round in one record of ten."""
    X = np.repeat([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [1600, 200, 200], axis=0)
    y = np.repeat([1, 0, 0], [1600, 200, 200])
    for lambdas in ([1.0, 1e6], [1e6, 1.0]):
        search = PrivateSearch(linear, {"reg_lambda": lambdas}, 1e4, method="stability", random_state=0).fit(X, y)
        assert search.best_params_ == {"reg_lambda": 1.0}
        assert search.score(X, y) > 0.99


def test_interface():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    schema = Schema.binary(6, list("abcdef"), classes=("no", "yes"))
    labels = np.where(y == 1, "yes", "no")
    search = PrivateSearch(BernoulliNB(1.0), [{"row_bound": 2}], 3.0, schema=schema, random_state=0)
    search.fit(frame, labels)
    assert search.classes_.tolist() == ["no", "yes"]
    assert search.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_allclose(search.predict_proba(frame[list("fedcba")]).sum(axis=1), 1.0)
    again = clone(search).fit(frame, labels)
    np.testing.assert_array_equal(again.predict_proba(frame), search.predict_proba(frame))
    assert search.best_estimator_.random_state is None
    assert search.best_estimator_.budget.remaining == 0  # its inner budget, from which a later release would be paid
    assert search.score(frame, labels) > 0.7
    with pytest.raises(AttributeError):
        PrivateSearch(LinearSVC(1.0), [{}], 1.0).fit(X, y).predict_proba(X)


def test_no_records_one_class_and_three_classes():
    X, y = table(n=40)
    for method in ("permute-and-flip", "random-stopping", "stability"):
        for Z, labels in ((X[:0], y[:0]), (X[:1], y[:1]), (X, np.zeros(40, dtype=int))):
            linear = LogisticRegression(1.0)
            search = PrivateSearch(linear, {"reg_lambda": [1.0, 9.0]}, 1.0, method=method, random_state=0)
            assert search.fit(Z, labels).predict(X).shape == (40,)
    X, y = table(n=400, n_classes=3)
    schema = Schema.binary(6, classes=(0, 1, 2))
    linear = LogisticRegression(1.0, method="objective")
    search = PrivateSearch(linear, {"reg_lambda": [1.0, 9.0]}, 9.0, method="stability", schema=schema, random_state=0)
    assert set(search.fit(X, y).predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"method": "grid"}, "`method` must be .*Got 'grid'"),
        ({"training": "both"}, "`training` must be .*Got 'both'"),
        ({"validation_share": 1.0}, "`validation_share` must be .*Got 1.0"),
        ({"retrain_share": 1.0}, "`retrain_share` must be .*Got 1.0"),
        ({"method": "stability", "retrain_share": 0.0}, "`retrain_share` must be .*Got 0.0"),
        ({"method": "random-stopping", "eta": -1.0}, "`eta` must be .*Got -1.0"),
        ({"method": "random-stopping", "gamma": 0.0}, "`gamma` must be .*Got 0.0"),
        ({"simulations": 0}, "`simulations` must be .*Got 0"),
        ({"reach": 0.0}, "`reach` must be .*Got 0.0"),
        ({"candidates": []}, "candidates"),
        ({"candidates": {}}, "candidates"),
        ({"candidates": 3}, "`candidates` must be .*Got 3"),
        ({"candidates": [{"epsilon": 2.0}]}, "without epsilon"),
        ({"candidates": {"release": [True]}}, "without release"),
        ({"method": "stability"}, "LogisticRegression or LinearSVC"),
        ({"estimator": SGDClassifier()}, "SGDClassifier"),
        ({"method": "stability", "estimator": LogisticRegression(1.0)}, "reg_lambda alone"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_charged(change, match):
    X, y = table(n=30)
    budget = Budget(9.0)
    search = PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 2]}, 1.0, budget=budget, random_state=0)
    with pytest.raises((InvalidParameter, NotPrivate), match=match):
        search.set_params(**change).fit(X, y)
    assert budget.spent == 0


def test_an_estimator_that_spends_more_than_it_states_is_stopped():
    class Spendthrift(BernoulliNB):
        def fit(self, X, y):
            self.budget.spend(2 * self.epsilon)
            return super().fit(X, y)

    class NoClaim(BernoulliNB):
        private = False

    X, y = table(n=60)
    with pytest.raises(BudgetExceeded):
        PrivateSearch(Spendthrift(1.0), [{}], 1.0, random_state=0).fit(X, y)
    with pytest.raises(NotPrivate):
        PrivateSearch(NoClaim(1.0), [{}], 1.0, random_state=0).fit(X, y)
    with pytest.raises(BudgetExceeded):  # a δ that the search does not pay for
        PrivateSearch(LogisticRegression(1.0, method="noisy-descent"), [{}], 1.0, random_state=0).fit(X, y)


def test_release_is_secure_and_raises_for_no_data():
    with observing() as expected:
        noisy_max([0, 0], 10.0, 1)
        noisy_max([0, 0], 10.0, 2)
    by_addition, by_replacement = (mechanism for mechanism, _ in expected)

    X, y = table()
    search = PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 3]}, 20.0, release=True)
    with observing() as passed:
        search.fit(X, y)
    [correct] = [statistic for mechanism, statistic in passed if mechanism == by_addition]
    assert correct.dtype.kind == "i"
    assert search.best_estimator_.release
    assert (search.predict(X) == y).mean() > 0.8
    assert not hasattr(search, "score")
    X[0, 0], y = np.nan, y.astype(float)
    y[3] = 9.0
    with observing() as passed:
        assert clone(search).set_params(relation="replace-one").fit(X, y).predict(X).shape == (600,)
    assert [mechanism for mechanism, _ in passed].count(by_replacement) == 1
    for method in ("exponential", "stability", "random-stopping"):
        with pytest.raises(NoSecureSampler):
            clone(search).set_params(method=method).fit(X, y)
