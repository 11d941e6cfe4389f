"""The linear classifier that a public rule chooses, and logistic regression with shared records."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as NonPrivate
from sklearn.metrics import roc_auc_score

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, LinearClassifier, LinearSVC, LogisticRegression
from dpml.classifiers.linear import default_linear_row_bound
from dpml.classifiers.linear_classifier import default_linear_method, default_norm
from dpml.datasets import load
from dpml.encoding import share_rows
from dpml.exceptions import InvalidParameter, NoSecureSampler
from dpml.schema import Feature, Schema


def test_the_rule_counts_records_for_each_column():
    one_hot = load("census").schema  # 84 columns of 14 attributes, 20,000 records
    assert default_linear_method(one_hot, 12 * 84 / 20_000) == "objective"
    assert default_linear_method(one_hot, 0.999 * 12 * 84 / 20_000) == "naive-bayes"
    words = Schema.binary(100, n_lower=5000)
    assert [default_linear_method(words, e) for e in (3.9, 4.0)] == ["naive-bayes", "objective"]
    three = Schema.binary(100, classes=(0, 1, 2), n_lower=5000)
    assert [default_linear_method(three, e) for e in (11.9, 12.0)] == ["naive-bayes", "objective"]
    five = Schema.binary(100, classes=tuple(range(5)), n_lower=5000)
    assert [default_linear_method(five, e) for e in (39.9, 40.0)] == ["naive-bayes", "objective"]
    assert default_linear_method(Schema.binary(100), 10.0) == "naive-bayes"
    number = Schema((Feature("x", "numeric", lower=0, upper=1),), (0, 1))
    assert default_linear_method(number, 0.01) == "objective"


def test_row_bound_and_norm_follow_the_schema():
    assert [default_linear_row_bound(Schema.binary(D)) for D in (20, 21, 100, 600)] == [20, 3, 3, 8]
    assert default_linear_row_bound(Schema.binary(126, row_bound=14)) == 14
    assert default_linear_row_bound(Schema.binary(126, row_bound=126)) == 4
    assert default_norm(Schema.binary(126, row_bound=14)) == "l1"
    assert default_norm(Schema.binary(29, row_bound=14)) == "l2"


@pytest.mark.parametrize(("epsilon", "name"), [(0.05, "naive-bayes"), (1.0, "objective")])
def test_the_fitted_model_is_the_one_that_the_rule_names(epsilon, name):
    data = load("census")
    budget = Budget(epsilon)
    facts = {"schema": data.schema, "random_state": 3}
    model = LinearClassifier(epsilon, budget=budget, **facts).fit(data.X_train, data.y_train)
    same = BernoulliNB(epsilon, **facts)
    if name == "objective":
        same = LinearSVC(epsilon, method="objective", norm="l1", huber=1.0, **facts)
    same.fit(data.X_train, data.y_train)
    assert model.method_ == name
    np.testing.assert_array_equal(model.predict(data.X_test), same.predict(data.X_test))
    np.testing.assert_array_equal(model.decision_function(data.X_test) > 0, model.predict(data.X_test) == 1)
    assert budget.ledger["epsilon"].tolist() == [epsilon]
    assert clone(model).get_params()["epsilon"] == epsilon


def test_release_takes_the_method_with_a_secure_sampler():
    data = load("census")
    model = LinearClassifier(1.0, schema=data.schema, release=True).fit(data.X_train, data.y_train)
    assert model.method_ == "naive-bayes"
    assert np.mean(model.predict(data.X_test) == data.y_test) > 0.8
    assert not hasattr(model, "score")
    with pytest.raises(NoSecureSampler):
        LinearClassifier(1.0, method="objective", schema=data.schema, release=True).fit(data.X_train, data.y_train)


def test_bad_parameters_are_named_before_anything_is_spent():
    budget = Budget(1.0)
    number = Schema((Feature("x", "numeric", lower=0, upper=1),), (0, 1))
    for options, name in (
        ({"method": "ridge"}, "`method` must be .*Got 'ridge'"),
        ({"method": "naive-bayes", "schema": number}, "`method` must be .*Got 'naive-bayes'"),
        ({"epsilon": -1.0}, "`epsilon` must be .*Got -1.0"),
    ):
        with pytest.raises(InvalidParameter, match=name):
            LinearClassifier(**({"epsilon": 1.0, "budget": budget} | options)).fit([[0], [1]], [0, 1])
    assert len(budget.ledger) == 0


def test_shared_records_are_what_laplace_noise_is_added_for():
    # at a huge ε the released weights are those of the shared records, without privacy
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = (rng.random((600, 12)) < np.where(y, 0.5, 0.3)[:, None]).astype(int)
    r, lam = 3, 1.0
    options = {"norm": "l1", "row_bound": r, "reg_lambda": lam / (r + 1) ** 2, "random_state": 0}
    model = LogisticRegression(1e8, method="objective", **options).fit(X, y)
    records = np.column_stack([share_rows(X, r), np.ones(600)])
    reference = NonPrivate(C=1 / lam, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(records, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), reference.coef_[0], atol=1e-4)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "epsilon", "accuracy"),
    [
        ("newsgroup1", 0.1, 0.88),
        ("mushrooms", 1.0, 0.965),
        ("adult", 1.0, 0.842),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (("newsgroup1", 1.0, 0.915), ("mushrooms", 0.1, 0.91), ("adult", 0.1, 0.825))
        ),
    ],
)
def test_accuracy_on_real_data(name, epsilon, accuracy):
    data = load(name)
    models = [
        LinearClassifier(epsilon, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        for seed in range(3)
    ]
    assert np.mean([model.score(data.X_test, data.y_test) for model in models]) > accuracy
    if (name, epsilon) == ("adult", 1.0):
        scores = [roc_auc_score(data.y_test, model.decision_function(data.X_test)) for model in models]
        assert np.mean(scores) > 0.893
