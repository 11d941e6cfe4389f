"""What the Train page computes: it is the library's, and it says what is not private."""

from types import SimpleNamespace

import numpy as np
import pytest
from dpml_app.pages.train.compute import (
    EXACT,
    data_of,
    nb_facts,
    nb_silenced,
    true_epsilon,
)
from dpml_app.pages.train.controls import TrainControls
from dpml_app.pages.train.measure import measure
from dpml_app.pages.train.methods import METHODS
from dpml_app.pages.train.released import nb_parameters, rates_posterior
from dpml_app.pages.train.settings import TrainValues
from dpml_app.state import Settings

from dpml.classifiers import BernoulliNB, MixedNB
from dpml.datasets import NAMES, load
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


def test_every_data_set_is_offered():
    assert TrainControls.datasets == NAMES


@pytest.mark.parametrize("method", [m for m in METHODS if m != "partitioned"])
def test_accuracies_are_the_librarys(method):
    np.testing.assert_array_equal(measured("toy", method), from_library("toy", method))


@pytest.mark.parametrize(
    ("setting", "value", "method", "of_library"),
    [
        ("train_bins", 5, "binned", {"n_bins": 5}),
        ("train_weight", "1:8", "global", {"allocation": (1, 8)}),
        ("train_noise", "student-t", "smooth", {"noise": "student-t"}),
        # the public bound on the records of census is 20,000
        ("train_noise", "gaussian-1", "smooth", {"noise": "gaussian", "delta": 1 / 20_000}),
        ("train_noise", "gaussian-2", "smooth", {"noise": "gaussian", "delta": 1 / 20_000**2}),
        ("train_trim", 9, "smooth", {"trim": 9}),
        ("train_likelihood", "gaussian", "published", {"likelihood": "gaussian"}),
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


def test_a_smaller_table_is_the_first_rows_of_one_order_and_says_so_publicly():
    whole, half, quarter = load("toy"), data_of("toy", 500), data_of("toy", 250)
    np.testing.assert_array_equal(half.X_train[:250], quarter.X_train)
    np.testing.assert_array_equal(half.frame.loc["train"].iloc[:250, 0], quarter.frame.loc["train"].iloc[:, 0])
    assert (quarter.schema.n_rows, quarter.schema.n_lower, quarter.frame_schema.n_lower) == (250, 200, 200)
    np.testing.assert_array_equal(quarter.X_test, whole.X_test)
    # the table and the binary columns are still of the same records
    np.testing.assert_array_equal(quarter.encoding.transform(quarter.frame.loc["train"].iloc[:, :-1]), quarter.X_train)


def test_the_best_columns_are_those_of_the_largest_mutual_information():
    rng, data = np.random.default_rng(0), load("toy")
    best = data_of("toy", None, 4)
    left = [f for f in data.feature_names if f not in best.feature_names]

    def information(column):
        x = data.X_train[:, data.feature_names.index(column)].astype(int)
        joint = np.histogram2d(x, data.y_train, 2)[0] / len(x)
        outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        return (joint * np.log2(np.maximum(joint, 1e-12) / outer)).sum()

    assert len(best.feature_names) == 4
    assert min(map(information, best.feature_names)) >= max(map(information, rng.permutation(left)))


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


@pytest.mark.parametrize("method", ["binned", "global", "smooth", "published"])
@pytest.mark.parametrize("feature", [1, 6])
def test_parameters_of_a_table_are_the_estimators(method, feature):
    data = load("census")
    frame = data.frame.loc["train"].iloc[:, :-1]
    options = values_of().options(method)
    found = nb_parameters("census", method, "add-remove", 1.0, options, feature, 1, 5)
    model = MixedNB(1.0, method=method, schema=data.frame_schema, random_state=5)
    model.fit(frame, data.frame.loc["train"].iloc[:, -1])
    name = data.frame_schema.feature_names[feature - 1]
    if name in model.feature_log_prob_:
        np.testing.assert_allclose(found["draws"][0], np.exp(model.feature_log_prob_[name]), atol=1e-9)
    else:
        # a normal distribution, cut into cells: its mean is that of the estimator where it is not cut off by much
        f = data.frame_schema.features[feature - 1]
        middle = (found["edges"][1:] + found["edges"][:-1]) / 2
        inside = (
            np.abs(model.theta_[name] - (f.lower + f.upper) / 2) + 3 * np.sqrt(model.var_[name]) < f.upper - f.lower
        )
        for c in np.flatnonzero(inside & (model.theta_[name] - 3 * np.sqrt(model.var_[name]) > f.lower)):
            assert abs(found["draws"][0, c] @ middle - model.theta_[name][c]) < (f.upper - f.lower) / 24
    np.testing.assert_allclose(found["exact"].sum(axis=-1), 1)
    np.testing.assert_allclose(found["draws"].sum(axis=-1), 1)


@pytest.mark.parametrize("method", ["row-bounded", "algorithm-1"])
def test_parameters_of_binary_columns_are_the_estimators(method):
    data = load("toy")
    found = nb_parameters("toy", method, "add-remove", 1.0, values_of().options(method), 3, 1, 5)
    names = {"algorithm-1": "published"}
    model = BernoulliNB(1.0, method=names.get(method, method), schema=data.schema, random_state=5, selection="none")
    model.fit(data.X_train, data.y_train)
    np.testing.assert_allclose(found["draws"][0, :, 0], np.exp(model.feature_log_prob_[:, 2]), atol=1e-9)
    exact = [data.X_train[data.y_train == c, 2].mean() for c in (0, 1)]
    np.testing.assert_allclose(found["exact"][:, 0], exact)


def test_posterior_is_the_estimators_for_the_first_draw():
    data = load("toy")
    posterior = rates_posterior("toy", "add-remove", 1.0, 1, 5)
    model = BernoulliNB(1.0, schema=data.schema, shrinkage="posterior", random_state=5, selection="none")
    rates = model.fit(data.X_train, data.y_train).rates_interval(0.95)
    for place, name in enumerate(data.schema.feature_names):
        expected = rates[rates["feature"] == name][["rate", "lower", "upper"]]
        np.testing.assert_allclose(posterior[:, :, place], expected.to_numpy().T, atol=1e-9)


def test_exact_shares_of_categories_are_counted():
    data = load("census")
    frame = data.frame.loc["train"]
    place = next(i for i, f in enumerate(data.frame_schema.features) if f.kind == "categorical")
    found = nb_parameters("census", "binned", "add-remove", 0.1, values_of().options("binned"), place + 1, 1, 0)
    f = data.frame_schema.features[place]
    for c in (0, 1):
        shares = frame.loc[data.y_train == c, f.name].value_counts(normalize=True)
        expected = [shares.get(category, 0.0) for category in f.categories]
        np.testing.assert_allclose(found["exact"][c], expected, atol=1e-3)  # every count has one more
    assert found["labels"] == tuple(map(str, f.categories))


def test_the_true_epsilon_of_vaidya():
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") == pytest.approx(3.1)
    assert true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=1, categorical=21), "add-remove") is None
    assert true_epsilon("published", 0.1, SimpleNamespace(numeric=0, categorical=21), "add-remove") is None
    assert true_epsilon("smooth", 0.1, SimpleNamespace(numeric=1, categorical=0), "replace-one") == 0.1
