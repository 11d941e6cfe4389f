"""Private logistic regression and linear support vector machines: the estimators' manners."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as Reference

from dpml.budget import Budget
from dpml.classifiers.linear import (
    LOGISTIC_METHODS,
    SVC_METHODS,
    HuberHinge,
    LinearSVC,
    LogisticRegression,
    default_reg_lambda,
    linear_models,
    minimiser,
    release_objective,
    release_output,
    release_weights,
    squared_norm_bound,
)
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import (
    BudgetExceeded,
    InvalidData,
    InvalidParameter,
    InvalidSchema,
    NoSecureSampler,
    RelationMismatch,
)
from dpml.schema import Feature, Schema

RELATIONS = ["add-remove", "replace-one"]
DELTA = {"add-remove": 1, "replace-one": 2}
TOLERANCE = 1e-8


def words(n=600, D=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, D)) < np.where(y[:, None], np.linspace(0.1, 0.8, D), 0.4)).astype(int)
    return X, y


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_agrees_with_scikit_learn_where_epsilon_is_huge(method, reg_lambda):
    X, y = words()
    model = LogisticRegression(1e8, method=method, reg_lambda=reg_lambda, random_state=0).fit(X, y)
    scaled = np.column_stack([X, np.ones(len(X))]) / 3  # 8 ones at most, and the constant column
    reference = Reference(C=1 / reg_lambda, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, y)
    weights = reference.coef_[0] / 3
    np.testing.assert_allclose(model.coef_[0], weights[:-1], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, weights[-1:], atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(scaled), atol=1e-4)
    assert (model.predict(X) == reference.predict(scaled)).mean() > 0.995
    models = linear_models(release_weights(unit_scale(X, 8), y, 2, 1e8, reg_lambda, rng=np.random.default_rng(0)), 8)
    assert models.accuracy(X, y)[0] == pytest.approx((model.predict(X) == y).mean(), abs=0.005)


def numeric_schema():
    table = load_breast_cancer(as_frame=True)
    upper = table.data.max() * 1.25
    features = [Feature(name, "numeric", lower=-0.5, upper=float(upper[name])) for name in table.feature_names]
    return table.data, table.target, Schema(tuple(features))


@pytest.mark.parametrize("intercept", [True, False])
def test_numeric_columns_are_scaled_by_the_public_bounds(intercept):
    X, y, schema = numeric_schema()
    model = LogisticRegression(1e8, reg_lambda=1.0, schema=schema, fit_intercept=intercept, random_state=0).fit(X, y)
    lower, upper = np.array([(f.lower, f.upper) for f in schema.features]).T
    scaled = (2 * X.to_numpy() - lower - upper) / (upper - lower)
    scaled = np.column_stack([scaled, np.ones(len(X))]) / math.sqrt(31) if intercept else scaled / math.sqrt(30)
    assert squared_norm_bound(schema) == 30
    reference = Reference(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, y)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(scaled), atol=1e-3)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_binary_and_numeric_columns_together():
    schema = Schema((Feature("a"), Feature("age", "numeric", lower=0, upper=10), Feature("b")), row_bound=1)
    assert squared_norm_bound(schema) == 2
    frame = pd.DataFrame({"a": [1, 0, 1], "age": [2.0, 7.5, 20.0], "b": [0, 1, 1]})
    with pytest.raises(InvalidData, match="age"):
        LogisticRegression(1.0, schema=schema).fit(frame, [0, 1, 1])
    with pytest.raises(InvalidData, match="2 ones"):
        LogisticRegression(1.0, schema=schema).fit(frame.assign(age=1.0), [0, 1, 1])
    model = LogisticRegression(1.0, schema=schema, on_invalid="clip", random_state=0).fit(frame, [0, 1, 7])
    # post-processing: the decision is linear in the columns' own units
    assert model.coef_.shape == (1, 3)
    score = frame.assign(age=[2.0, 7.5, 10.0]).to_numpy() @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(frame), score)


def test_categorical_columns_are_refused_by_name():
    schema = Schema((Feature("a"), Feature("job", "categorical", ("x", "y"))))
    with pytest.raises(InvalidSchema, match="'job'"):
        LogisticRegression(1.0, schema=schema).fit(pd.DataFrame({"a": [1], "job": ["x"]}), [0])


@pytest.mark.parametrize("method", ["output", "objective"])
def test_a_record_with_too_many_ones_is_an_error_or_is_cut(method):
    X, y = words()
    schema = Schema.binary(8, row_bound=3)
    with pytest.raises(InvalidData, match="ones: the schema's row_bound is 3"):
        LogisticRegression(1.0, method=method, schema=schema).fit(X, y)
    options = {"method": method, "reg_lambda": 1.0, "random_state": 0}
    clipped = LogisticRegression(1e8, schema=schema, on_invalid="clip", **options).fit(X, y)
    by_choice = LogisticRegression(1e8, row_bound=3, **options).fit(X, y)
    np.testing.assert_array_equal(clipped.coef_, by_choice.coef_)
    rng = np.random.default_rng(0)
    table = unit_scale(cut_rows(X, 3, rng=rng), 3)
    theta = minimiser(table, 2 * y - 1, 1.0)
    np.testing.assert_allclose(clipped.coef_[0], theta[:-1] / 2, atol=1e-5)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_more_than_two_classes_share_epsilon(method):
    rng = np.random.default_rng(18)
    y = rng.integers(3, size=900)
    X = (rng.random((900, 6)) < np.where(np.arange(6) // 2 == y[:, None], 0.9, 0.2)).astype(int)
    schema = Schema.binary(6, classes=("a", "b", "c"))
    labels = np.array(schema.classes)[y]
    budget = Budget(20.0)
    options = {"method": method, "reg_lambda": 1.0, "schema": schema, "budget": budget, "random_state": 0}
    model = LogisticRegression(20.0, **options).fit(X, labels)
    assert budget.ledger["epsilon"].tolist() == [20.0]
    assert model.coef_.shape == (3, 6)
    assert (model.predict(X) == labels).mean() > 0.85
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (900, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    # class b against the rest, with a third of ε: the second of three releases from the same generator
    rng = np.random.default_rng(0)
    table = unit_scale(X, 6)
    for c in range(3):
        signs = np.where(y == c, 1.0, -1.0)
        if method == "objective":
            theta = release_objective(table, signs, 20 / 3, 1.0, rng=rng)
        else:
            theta = release_output(minimiser(table, signs, 1.0), 20 / 3, 1.0, rng=rng)
        np.testing.assert_allclose(model.coef_[c], theta[0, :-1] / math.sqrt(7))


@pytest.mark.parametrize("method", LOGISTIC_METHODS)
@pytest.mark.parametrize("calibration", ["tight", "published"])
def test_data_of_one_class_and_empty_data_fit(method, calibration):
    options = {"method": method, "calibration": calibration, "random_state": 0}
    ones = LogisticRegression(100.0, **options).fit(np.ones((500, 2), int), np.ones(500, int))
    assert ones.classes_.tolist() == [0, 1]
    assert ones.predict([[1, 1]]).tolist() == [1]
    zeros = LogisticRegression(100.0, **options).fit(np.ones((500, 2), int), np.zeros(500, int))
    assert zeros.predict([[1, 1]]).tolist() == [0]
    empty = LogisticRegression(1.0, **options).fit(np.zeros((0, 2), int), np.zeros(0, int))
    assert np.isfinite(empty.coef_).all()
    assert empty.predict_proba(np.zeros((0, 2), int)).shape == (0, 2)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_clipping_never_raises_whatever_the_data(method):
    X = np.array([[np.nan, 5.0, -1.0], [np.inf, 1.0, 1.0], [0.0, 0.3, 1e300]])
    model = LogisticRegression(1.0, method=method, on_invalid="clip", random_state=0).fit(X, [0, 1, 9])
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).shape == (3,)


@pytest.mark.parametrize("method", ["output", "objective"])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1e3, 1e9])
def test_extreme_epsilon_gives_finite_weights(method, epsilon):
    X, y = words()
    model = LogisticRegression(epsilon, method=method, random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("method", ["output", "objective"])
def test_sparse_dense_and_frame_are_the_same(method):
    X, y = words()
    options = {"method": method, "random_state": 3}
    dense = LogisticRegression(1.0, **options).fit(X, y)
    thin = LogisticRegression(1.0, **options).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-6)
    names = list("abcdefgh")
    frame = pd.DataFrame(X, columns=names)
    named = LogisticRegression(1.0, schema=Schema.binary(8, names), **options).fit(frame, y)
    np.testing.assert_allclose(named.coef_, dense.coef_, atol=1e-7)
    assert named.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(named.predict(frame[names[::-1]]), dense.predict(X))
    with pytest.raises(InvalidData, match="'c'"):
        named.predict(frame.drop(columns="c"))


def test_a_frame_of_some_columns_takes_their_facts_from_the_schema():
    X, y = words()
    names = list("abcdefgh")
    schema = Schema.binary(8, names, row_bound=8)
    some = pd.DataFrame(X, columns=names)[["g", "b"]]
    model = LogisticRegression(1e8, schema=schema, reg_lambda=1.0, random_state=0).fit(some, y)
    theta = minimiser(unit_scale(some.to_numpy(), 2), 2 * y - 1, 1.0)
    np.testing.assert_allclose(model.coef_[0], theta[:2] / math.sqrt(3), atol=1e-5)


@pytest.mark.parametrize("method", ["output", "objective"])
def test_the_same_seed_gives_the_same_model_and_another_does_not(method):
    X, y = words()
    first, second, third = (LogisticRegression(1.0, method=method, random_state=s).fit(X, y) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.abs(first.coef_ - third.coef_).max() > 1e-3


@pytest.mark.parametrize("method", ["output", "objective"])
def test_budget_is_charged_once_and_guarded_before_any_draw(method):
    X, y = words()
    budget = Budget(1.0)
    model = LogisticRegression(0.7, method=method, budget=budget, random_state=0)
    model.fit(X, y)
    assert budget.ledger[["epsilon", "relation"]].to_numpy().tolist() == [[0.7, "add-remove"]]
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(BudgetExceeded):
        clone(model).set_params(random_state=rng).fit(X, y)
    assert rng.bit_generator.state == before
    with pytest.raises(RelationMismatch):
        LogisticRegression(0.1, method=method, relation="replace-one", budget=budget).fit(X, y)
    assert budget.spent == 0.7


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"reg_lambda": 0}, "reg_lambda"),
        ({"reg_lambda": "1"}, "reg_lambda"),
        ({"method": "gradient"}, "method"),
        ({"calibration": "loose"}, "calibration"),
        ({"relation": "swap"}, "relation"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"fit_intercept": 1}, "fit_intercept"),
        ({"row_bound": 0}, "row_bound"),
        ({"on_invalid": "drop"}, "on_invalid"),
        ({"random_state": -1}, "random_state"),
        ({"budget": 1.0}, "budget"),
        ({"schema": 1.0}, "schema"),
        ({"release": True, "random_state": 0}, "random_state"),
    ],
)
def test_bad_parameters_are_refused_at_fit(options, name):
    model = LogisticRegression(**({"epsilon": 1.0} | options))
    with pytest.raises(InvalidParameter) as caught:
        model.fit(*words())
    assert caught.value.name == name
    assert repr(options[name]) in str(caught.value) or name == "schema"


def test_release_is_refused_before_the_data_are_looked_at():
    with pytest.raises(NoSecureSampler):
        LogisticRegression(1.0, release=True).fit(object(), object())


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([[2, 0]], [0], "'x0' has the value 2"),
        ([[1, 0]], [3], "label 3"),
        ([[1, 0]], [0, 1], "1 records and y has 2"),
        ([1, 0], [0, 1], "1 dimensions"),
    ],
)
def test_bad_data_are_refused_by_name_and_nothing_is_charged(X, y, says):
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match=says):
        LogisticRegression(1.0, budget=budget).fit(np.array(X), np.array(y))
    assert budget.spent == 0


@pytest.mark.parametrize("method", ["output", "objective"])
def test_fitted_object_holds_what_was_released_and_public_facts_only(method):
    X, y = words()
    model = LogisticRegression(1.0, method=method, schema=Schema.binary(8)).fit(X, y)
    fitted = set(vars(model)) - set(model.get_params())
    assert fitted == {"_schema", "classes_", "n_features_in_", "coef_", "intercept_"}
    assert model._schema == model.schema
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert len(pickle.dumps(model)) == len(pickle.dumps(clone(model).fit(X[:3], y[:3])))


def test_clone_keeps_the_parameters_and_nothing_learned():
    model = LogisticRegression(0.3, method="objective", reg_lambda=7, random_state=1).fit(*words())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")


# ---- both estimators, all methods -----------------------------------------------------------------------------------

MODELS = [(LogisticRegression, m) for m in LOGISTIC_METHODS] + [(LinearSVC, m) for m in SVC_METHODS]


@pytest.mark.parametrize("method", ["output", "objective", "approximate-minima"])
@pytest.mark.parametrize("reg_lambda", [1.0, 10.0])
def test_linear_svc_agrees_with_a_general_optimiser_where_epsilon_is_huge(method, reg_lambda):
    X, y = words()
    model = LinearSVC(1e8, method=method, reg_lambda=reg_lambda, random_state=0).fit(X, y)
    scaled, signs = np.column_stack([X, np.ones(len(X))]) / 3, 2.0 * y - 1
    loss = HuberHinge(0.5)

    def objective(theta):
        margins = signs * (scaled @ theta)
        pull = np.clip(1.5 - margins, 0, 1)
        return loss.value(margins).sum() + reg_lambda * theta @ theta / 2, reg_lambda * theta - (signs * pull) @ scaled

    reference = optimize.minimize(objective, np.zeros(9), jac=True, method="BFGS", options={"gtol": 1e-8}).x / 3
    np.testing.assert_allclose(model.coef_[0], reference[:-1], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, reference[-1:], atol=1e-4)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_laplace_noise_in_the_objective_agrees_with_norm_gamma_where_epsilon_is_huge(kind):
    X, y = words()
    # records are divided by 3 once more, so λ/9 is the same regulariser
    thin = kind(1e8, method="objective", norm="l1", reg_lambda=1 / 9, random_state=0).fit(X, y)
    same = kind(1e8, method="objective", reg_lambda=1.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(thin.coef_, same.coef_, atol=1e-4)
    np.testing.assert_allclose(thin.intercept_, same.intercept_, atol=1e-4)
    with pytest.raises(InvalidParameter, match="norm = 'l1'"):
        kind(1.0, method="output", norm="l1").fit(X, y)


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_every_method_learns_and_repeats_itself(kind, method):
    X, y = words(n=4000)
    first, second, third = (kind(2.0, method=method, random_state=s).fit(X, y) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.abs(first.coef_ - third.coef_).max() > 1e-3
    assert first.score(X, y) > 0.7
    thin = kind(2.0, method=method, random_state=5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, first.coef_, atol=1e-6)


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_every_method_takes_any_data_when_it_clips(kind, method):
    options = {"method": method, "on_invalid": "clip", "random_state": 0}
    X = np.array([[np.nan, 5.0, -1.0], [np.inf, 1.0, 1.0], [0.0, 0.3, 1e300]])
    for rows in (X, X[:0]):
        model = kind(1.0, **options).fit(rows, [0, 1, 9][: len(rows)])
        assert np.isfinite(model.coef_).all()
        assert model.predict(X).shape == (3,)
    for epsilon in (1e-6, 1e6):
        X, y = words(n=50)
        model = kind(epsilon, **options).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(("kind", "method"), MODELS)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_every_method_charges_what_it_states_before_it_draws(kind, method, relation):
    X, y = words(n=100)
    budget = Budget(1.0, 1e-5, relation=relation)
    rng = np.random.default_rng(0)
    model = kind(0.7, method=method, relation=relation, delta=1e-6, budget=budget, random_state=rng).fit(X, y)
    delta = 1e-6 if method in ("approximate-minima", "noisy-descent") else 0.0
    assert budget.ledger[["epsilon", "delta", "relation"]].to_numpy().tolist() == [[0.7, delta, relation]]
    assert budget.ledger["label"][0] == f"{kind.__name__}, {method}"
    before = rng.bit_generator.state
    with pytest.raises(BudgetExceeded):
        model.fit(X, y)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_every_method_has_three_classes(kind, method):
    rng = np.random.default_rng(18)
    y = rng.integers(3, size=3000)
    X = (rng.random((3000, 6)) < np.where(np.arange(6) // 2 == y[:, None], 0.9, 0.2)).astype(int)
    schema = Schema.binary(6, classes=("a", "b", "c"))
    labels = np.array(schema.classes)[y]
    model = kind(20.0, method=method, schema=schema, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 6)
    assert model.decision_function(X).shape == (3000, 3)
    assert model.score(X, labels) > 0.8


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_the_regulariser_that_is_not_given_is_the_public_rule(kind, method):
    X, y = words(n=200)
    schema = Schema.binary(8, row_bound=8)
    facts = {"method": method, "delta": 1e-5, "n_nonzero": 9}
    stated = default_reg_lambda(0.5, 9, **facts)
    options = {"method": method, "schema": schema, "random_state": 1}
    default = kind(0.5, **options).fit(X, y)
    np.testing.assert_array_equal(default.coef_, kind(0.5, reg_lambda=stated, **options).fit(X, y).coef_)
    assert np.abs(default.coef_ - kind(0.5, reg_lambda=3 * stated, **options).fit(X, y).coef_).max() > 1e-6


def test_the_rule_for_the_regulariser_is_what_it_says():
    assert default_reg_lambda(0.5, 100, method="objective") == 20.0
    assert default_reg_lambda(0.5, 100, method="objective", relation="replace-one", n_classes=3) == pytest.approx(120.0)
    assert default_reg_lambda(0.5, 100, method="objective", norm="l1", n_nonzero=8) == 1.0
    assert default_reg_lambda(4.0, 100, method="output") == 10.0
    assert default_reg_lambda(0.25, 100, method="output") == 80.0
    assert default_reg_lambda(1.0, 100, method="approximate-minima") == pytest.approx(3.7306 / 3, rel=1e-4)
    assert default_reg_lambda(1.0, 100, method="noisy-descent") == 1.0
    # 1.2·√(8·100)·Δ/ε with Δ = √9/2 + 9/8
    assert default_reg_lambda(0.5, 100, method="functional", n_nonzero=9) == pytest.approx(1.2 * 800**0.5 * 2.625 / 0.5)
    assert default_reg_lambda(1e8, 100, method="objective") == 0.01


@pytest.mark.parametrize(("kind", "method"), MODELS)
def test_a_release_is_refused_where_no_noise_is_secure(kind, method):
    model = kind(1.0, method=method, release=True)
    if method == "functional":
        assert not hasattr(model, "score")
        return
    with pytest.raises(NoSecureSampler, match=method):
        model.fit(object(), object())


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"huber": 0.001}, "huber"),
        ({"method": "functional"}, "method"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"sampling_rate": 0.0}, "sampling_rate"),
        ({"norm": "l3"}, "norm"),
        ({"reg_lambda": math.nan}, "reg_lambda"),
    ],
)
def test_bad_parameters_of_the_support_vector_machine_are_refused(options, name):
    with pytest.raises(InvalidParameter) as caught:
        LinearSVC(**({"epsilon": 1.0} | options)).fit(*words())
    assert caught.value.name == name


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "reg_lambda", "row_bound", "floor"),
    [("adult", 30.0, None, 0.80), ("mushrooms", 300.0, None, 0.86), ("newsgroup1", 100.0, 5, 0.65)],
)
def test_objective_perturbation_on_real_data_at_a_tenth(name, reg_lambda, row_bound, floor, data_home):
    from dpml import datasets

    data = datasets.load(name, data_home)
    r = squared_norm_bound(data.schema, row_bound)
    table = unit_scale(cut_rows(data.X_train, r, rng=np.random.default_rng(0)), r)
    draw = {"method": "objective", "draws": 20}
    theta = release_weights(table, data.y_train, 2, 0.1, reg_lambda, rng=np.random.default_rng(1), **draw)
    accuracy = linear_models(theta, r).accuracy(data.X_test, data.y_test).mean()
    worse = release_weights(
        table, data.y_train, 2, 0.1, reg_lambda, calibration="published", rng=np.random.default_rng(1), **draw
    )
    assert accuracy > floor
    assert accuracy > linear_models(worse, r).accuracy(data.X_test, data.y_test).mean()
