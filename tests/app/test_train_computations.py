"""What the Train page computes: it is the library's, and it says what is not private."""

from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.data.default_study import default_runs
from dpml_app.jobs import Task
from dpml_app.pages.train import compute
from dpml_app.pages.train.compute import (
    DRAWS,
    EXACT,
    METHODS,
    NAIVE_BAYES,
    TrainValues,
    measure,
    public_lambda,
    true_epsilon,
    without_privacy,
)
from dpml_app.pages.train.text import fewer_draws
from dpml_app.state import Settings
from sklearn.linear_model import LogisticRegression as Plain

from dpml.classifiers import BernoulliNB
from dpml.datasets import load
from dpml.registry import method as registered
from dpml.studies.accuracy import LogisticStudy, PublishedNBStudy, RowBoundedNBStudy
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy

LINEAR = ("objective", "output")


def values_of(**changes):
    settings = Settings()
    settings.param.update(**changes)
    return TrainValues.of(settings)


def measured(name, method, epsilon=0.5, draws=5, seed=3, **more):
    values = values_of(dataset=name, **more)
    return measure(name, method, "add-remove", epsilon, values.options(method), draws, seed)["accuracy"]


def from_library(name, method, epsilon=0.5, draws=5, seed=3, **settings):
    data = load(name)
    if method == "row-bounded":
        study = RowBoundedNBStudy(data)
    elif method == "algorithm-1":
        study, settings = PublishedNBStudy(data), {"threshold_percentile": 65, **settings}
    elif method in LINEAR:
        study = LogisticStudy(data, method=method)
        settings = {"reg_lambda": public_lambda(name, method, epsilon, "add-remove"), **settings}
    else:
        study = BinnedNBStudy(data) if method == "binned" else MomentsNBStudy(data, method)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), **settings)["accuracy"]


@pytest.mark.parametrize("method", [m for m in (*NAIVE_BAYES, *LINEAR) if m != "partitioned"])
def test_accuracies_are_the_librarys(method):
    np.testing.assert_array_equal(measured("toy", method), from_library("toy", method))


@pytest.mark.parametrize(
    ("setting", "value", "method", "of_library"),
    [
        ("threshold_percentile", 90, "algorithm-1", {"threshold_percentile": 90}),
        ("train_lambda", 50.0, "objective", {"reg_lambda": 50.0}),
        ("train_lambda", 50.0, "output", {"reg_lambda": 50.0}),
    ],
)
def test_each_option_reaches_the_library(setting, value, method, of_library):
    changed = measured("toy", method, 0.1, 20, **{setting: value})
    assert (changed != measured("toy", method, 0.1, 20)).any()
    np.testing.assert_array_equal(changed, from_library("toy", method, 0.1, 20, **of_library))


def test_partitioned_without_noise_is_the_estimators():
    # without noise the accuracy is that of some deal; the estimator deals once
    exact = measured("toy", "partitioned", EXACT, 10)
    data = load("toy")
    model = BernoulliNB(1e9, method="partitioned", schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    assert abs(model.score(data.X_test, data.y_test) - exact.mean()) < 0.05
    assert len(set(exact)) > 1  # several deals


def test_the_true_epsilon_of_vaidya():
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") == pytest.approx(3.1)
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=1, categorical=21), "add-remove") is None
    assert true_epsilon("published", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") is None
    assert true_epsilon("smooth", 0.1, SimpleNamespace(numeric=1, categorical=0), "replace-one") == 0.1


def test_the_default_classifier_is_the_study_of_all_pages():
    assert compute.measured("auto", values_of(dataset="toy"), 1.0) == Task(default_runs, ("toy", "add-remove", 1.0, 0))


# ---- linear models -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("name", ["toy", pytest.param("seeds", marks=pytest.mark.data)])
def test_one_draw_is_the_estimators_by_the_public_rule(method, name):
    data = load(name)
    model = registered(method).make(5.0, schema=data.schema, random_state=3)
    score = model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
    assert measured(name, method, 5.0, draws=1)[0] == pytest.approx(score)


def test_the_public_lambda_is_the_librarys():
    root = np.sqrt(41)  # 40 columns and the constant
    found = {m: public_lambda("toy", m, 0.1, "add-remove") for m in LINEAR}
    assert found == {"objective": pytest.approx(root / 0.1), "output": pytest.approx(2 * root / 0.1)}


def test_without_noise_it_is_scikit_learns():
    data, task = load("toy"), without_privacy("output", values_of(dataset="toy", train_lambda=5.0))
    X = np.column_stack([data.X_train, np.ones(len(data.y_train))]) / np.sqrt(11)
    plain = Plain(C=1 / 5.0, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, data.y_train)
    test = np.column_stack([data.X_test, np.ones(len(data.y_test))])
    assert task.function(*task.arguments)["accuracy"] == pytest.approx([plain.score(test, data.y_test)])


def test_fewer_draws_are_said():
    assert fewer_draws(("output", "objective"), 50) == " Fewer runs, because each trains a model: 20 of Objective L2."
    assert fewer_draws(("output", "objective"), 20) == ""
    assert f"{DRAWS} of AutoClassifier" in fewer_draws(("auto",), 50)
    assert METHODS["objective"].draws(200) == 20
