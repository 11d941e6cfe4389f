"""What the Train page computes: it is the library's, and it says what is not private."""

from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.pages.train.compute import EXACT, METHODS, TrainValues, measure, nb_facts, nb_silenced, true_epsilon
from dpml_app.state import Settings

from dpml.classifiers import BernoulliNB
from dpml.datasets import load
from dpml.studies.accuracy import PublishedNBStudy, RowBoundedNBStudy, majority_accuracy, non_private_nb
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy, non_private_mixed_nb


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
    else:
        study = BinnedNBStudy(data) if method == "binned" else MomentsNBStudy(data, method)
    return study(epsilon, draws=draws, rng=np.random.default_rng(seed), **settings)["accuracy"]


@pytest.mark.parametrize("method", [m for m in METHODS if m != "partitioned"])
def test_accuracies_are_the_librarys(method):
    np.testing.assert_array_equal(measured("toy", method), from_library("toy", method))


@pytest.mark.parametrize(
    ("setting", "value", "method", "of_library"),
    [
        ("train_noise", "student-t", "smooth", {"noise": "student-t"}),
        ("train_trim", 9, "smooth", {"trim": 9}),
        ("threshold_percentile", 90, "algorithm-1", {"threshold_percentile": 90}),
    ],
)
def test_each_option_reaches_the_library(setting, value, method, of_library):
    # ε = 20: where noise is small, every option shows in some draw
    changed = measured("census", method, 20.0 if method != "algorithm-1" else 0.1, 20, **{setting: value})
    epsilon = 20.0 if method != "algorithm-1" else 0.1
    np.testing.assert_array_equal(changed, from_library("census", method, epsilon, 20, **of_library))
    assert not np.array_equal(changed, measured("census", method, epsilon, 20))


def test_partitioned_models_are_the_estimators_of_one_deal():
    # without noise the accuracy is that of some deal; the estimator deals once
    exact = measured("toy", "partitioned", EXACT, 10)
    data = load("toy")
    model = BernoulliNB(1e9, method="partitioned", schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    assert abs(model.score(data.X_test, data.y_test) - exact.mean()) < 0.05
    assert len(set(exact)) > 1  # several deals


def test_references_are_the_librarys():
    facts, data = nb_facts("toy"), load("toy")
    assert facts.accuracy["majority"] == majority_accuracy(data)
    assert facts.accuracy["binary"] == non_private_nb(data).accuracy(data.X_test, data.y_test)[0]
    assert facts.accuracy["table"] == non_private_mixed_nb(data)["accuracy"]
    assert facts.auc["majority"] == 0.5
    assert 0.9 < facts.auc["table"] < 1


def test_silenced_features_are_counted_by_definition():
    found = nb_silenced("toy", "add-remove", 0.5, 65, 3, 7)
    np.testing.assert_array_equal(found["accuracy"], measured("toy", "algorithm-1", draws=3, seed=7))
    # one draw by hand: Algorithm 1 adds Laplace noise of scale D/ε to on-counts, then to off-counts
    data = load("toy")
    D = data.schema.n_features
    on = np.array([data.X_train[data.y_train == c].sum(axis=0) for c in (0, 1)])
    n = np.bincount(data.y_train)[:, None]
    rng, threshold = np.random.default_rng(7), -D / 0.5 * np.log(2 * 0.35)
    noisy_on = on + rng.laplace(scale=D / 0.5, size=(3, *on.shape))
    noisy_off = (n - on) + rng.laplace(scale=D / 0.5, size=(3, *on.shape))
    low_on, low_off = noisy_on <= threshold, noisy_off <= threshold
    np.testing.assert_allclose(found["some"], [sum(d[0] | d[1]) / D for d in low_on])
    np.testing.assert_allclose(found["on"], [sum(d[0] & d[1]) / D for d in low_on])
    np.testing.assert_allclose(found["all"], (low_on & low_off).all(axis=1).sum(axis=1) / D)


def test_the_true_epsilon_of_vaidya():
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") == pytest.approx(3.1)
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=1, categorical=21), "add-remove") is None
    assert true_epsilon("published", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") is None
    assert true_epsilon("smooth", 0.1, SimpleNamespace(numeric=1, categorical=0), "replace-one") == 0.1
