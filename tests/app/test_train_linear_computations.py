"""What the Train page computes of linear models and of tuning: it is the library's, and it says what is not private."""

import numpy as np
import pytest
from dpml_app.pages.train.compute import (
    DELTA,
    DRAWS,
    LINEAR,
    exact_weights,
    lambda_without_noise,
    linear_facts,
    measure,
    private,
    public_lambda,
    rule_takes,
)
from dpml_app.pages.train.figures import styles
from dpml_app.pages.train.text import fewer_draws
from sklearn.linear_model import LogisticRegression as Plain
from train_linear import facts_of, measured, values_of

from dpml.datasets import load
from dpml.registry import method as registered


def score_of_library(name, method, epsilon, **options):
    data = load(name)
    model = registered(method).make(epsilon, schema=data.schema, random_state=3, **options)
    return model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
def test_one_draw_is_the_estimators(method, epsilon):
    # the public rule takes naive Bayes at the smaller ε, and a support vector machine at the larger one
    assert measured("toy", method, epsilon, draws=1)[0] == pytest.approx(score_of_library("toy", method, epsilon))


def test_the_public_rule_takes_naive_bayes_where_epsilon_is_small():
    assert [rule_takes("toy", epsilon) for epsilon in (0.2, 5.0)] == ["naive-bayes", "objective"]


@pytest.mark.parametrize("method", ["l1", "objective", "output", "svm"])
def test_lambda_reaches_the_library(method):
    # records of L1 noise are shorter by a factor √S, S = 11, so that λ is smaller by S
    of_library = 50.0 / 11 if method == "l1" else 50.0
    found = measured("toy", method, draws=1, train_lambda=50.0)[0]
    assert found == pytest.approx(score_of_library("toy", method, 1.0, reg_lambda=of_library))


def test_the_public_lambda_is_the_librarys():
    found = {m: public_lambda("toy", m, 0.1, "add-remove") for m in ("objective", "output", "l1")}
    root = np.sqrt(41)  # 40 columns and the constant
    assert found == {
        "objective": pytest.approx(root / 0.1),
        "output": pytest.approx(2 * root / 0.1),
        "l1": pytest.approx(11 * np.sqrt(2 / 11) / 0.1),
    }


def test_a_delta_is_said_and_its_line_is_dashdotted():
    looks = styles(tuple(LINEAR), facts_of("toy"))
    assert {name for name, look in looks.items() if look.dash == "dashdot"} == {"descent"}
    assert looks["descent"].label.endswith("needs δ = 1e-5")
    assert DELTA == 1e-5
    assert all(private(name, facts_of("toy")) for name in LINEAR)


def test_without_noise_it_is_scikit_learns():
    data = load("toy")
    X = np.column_stack([data.X_train, np.ones(len(data.y_train))]) / np.sqrt(11)
    plain = Plain(C=1 / 5.0, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, data.y_train)
    np.testing.assert_allclose(exact_weights("toy", 5.0), plain.coef_, atol=1e-4)
    test = np.column_stack([data.X_test, np.ones(len(data.y_test))])
    assert lambda_without_noise("toy", 5.0)["accuracy"][0] == pytest.approx(plain.score(test, data.y_test))
    assert linear_facts("toy")["accuracy"]["logistic"] == lambda_without_noise("toy", 1.0)["accuracy"][0]


def test_areas_under_the_curve():
    values = values_of()
    found = measure("toy", "output", "add-remove", 10.0, values.options("output"), 5, 0, True)
    assert (found["auc"] > found["accuracy"]).all()


@pytest.mark.data
def test_three_classes_by_every_method():
    for method in LINEAR:
        found = measured("seeds", method, 5.0, draws=1)[0]
        assert found == pytest.approx(score_of_library("seeds", method, 5.0)), method


def test_fewer_draws_are_said():
    assert len(measured("toy", "objective", draws=200)) == 20
    assert len(measured("toy", "output", draws=200)) == 200
    assert fewer_draws(("output", "objective"), 50) == " Fewer runs, because each trains a model: 20 of Objective L2."
    assert fewer_draws(("output", "objective"), 20) == ""
    assert f"{DRAWS} of AutoClassifier" in fewer_draws(("auto",), 50)
