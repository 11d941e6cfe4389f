"""What every public estimator does alike: found by looking, so that a new one is tested too."""

import inspect

import numpy as np
import pytest
from binary_tables import told_by_all as table
from public_estimators import KINDS, NEEDED, NOT_PRIVATE, PREDICTING, PUBLISHING, RELEASED, made
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, PrivatePredictionNB
from dpml.evaluation import compare_classifiers, private_confusion_matrix, private_cross_val_score, release_evaluation
from dpml.exceptions import (
    BudgetExceeded,
    InvalidParameter,
    InvalidSchema,
    NotPrivate,
    RelationMismatch,
)
from dpml.schema import Feature, Schema

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "get_support", "score")
FLAGS = [
    (name, flag)
    for name, kind in KINDS.items()
    for flag, parameter in inspect.signature(kind).parameters.items()
    if isinstance(parameter.default, bool)
]


def test_there_is_a_recipe_for_every_estimator_and_every_release():
    assert len(KINDS) >= 17
    assert set(NEEDED) | set(RELEASED) <= set(KINDS)
    for name in set(KINDS) - set(RELEASED):
        with pytest.raises((NotImplementedError, NotPrivate)):
            made(name, release=True).fit(*table())


@pytest.mark.parametrize("name", KINDS)
def test_an_unfitted_estimator_says_so(name):
    X, y = table()
    methods = [method for method in METHODS if callable(getattr(made(name), method, None))]
    assert methods or name in PUBLISHING
    for method in methods:
        with pytest.raises(NotFittedError):
            getattr(made(name), method)(*{"get_support": [], "score": [X, y]}.get(method, [X]))


# ---- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "flag"), FLAGS)
def test_a_flag_is_true_or_false(name, flag):
    for value in ("yes", 1, None):
        with pytest.raises(InvalidParameter, match=f"^`{flag}` must be True or False.*Got {value!r}"):
            made(name, **{flag: value}).fit(*table())


@pytest.mark.parametrize("name", KINDS)
def test_a_random_state_of_numpy_is_a_seed(name):
    X, y = table(300)

    def learned(state):
        model = made(name, random_state=state).fit(X, y)
        if hasattr(model, "get_support"):
            return model.get_support()
        if name in PUBLISHING:
            return model.sample(200, random_state=0).to_numpy()
        return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)

    one, two = np.random.RandomState(7), np.random.RandomState(7)
    np.testing.assert_array_equal(learned(one), learned(two))
    learned(one)
    assert one.randint(2**31) != two.randint(2**31)  # it was drawn from


@pytest.mark.parametrize("name", KINDS)
def test_small_epsilons_have_finite_noise_or_are_refused(name):
    X, y = table()
    budget = None if name in NOT_PRIVATE else Budget(1.0)
    for epsilon in (5e-324, 1e-101):
        with pytest.raises(InvalidParameter, match=r"^`epsilon` must be at least 1e-100, for finite noise"):
            made(name, epsilon, random_state=0, budget=budget).fit(X, y)
    assert budget is None or not len(budget.ledger)
    for epsilon, relation in ((1e-99, "add-remove"), (1e-10, "replace-one")):
        model = made(name, epsilon, random_state=0, relation=relation, schema=Schema.binary(4, n_lower=50)).fit(X, y)
        if hasattr(model, "predict_proba"):
            assert np.isfinite(model.predict_proba(X)).all()
        if hasattr(model, "predict"):
            assert set(model.predict(X)) <= {0, 1}


MIXED = Schema([Feature("a", "numeric", lower=0, upper=1), Feature("b", "categorical", (0, 1)), Feature("c")])


@pytest.mark.parametrize("method", ["binned", "global", "smooth", "bun-steinke", "vaidya", "published"])
@pytest.mark.parametrize("noise", ["cauchy", "student-t", "laplace-log-normal", "arsinh-normal"])
def test_the_smallest_epsilons_with_every_noise(method, noise):
    X, y = table(D=3)
    model = made("MixedNB", 1e-99, method=method, noise=noise, schema=MIXED, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


SHARED = [
    ("relation", "swap"), ("on_invalid", "drop"),
    ("random_state", -1), ("schema", "adult"), ("budget", 1.0),
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_shared_parameter_is_named_before_a_charge(name):
    X, y = table()
    for parameter, value in SHARED:
        budget = None if name in NOT_PRIVATE else Budget(1.0)
        with pytest.raises(
            (InvalidParameter, InvalidSchema, NotPrivate), match=rf"\b{parameter}` must|(takes no|without a) budget"
        ):
            made(name, **{"budget": budget, parameter: value}).fit(X, y).predict(X)  # where labels alone are charged
        assert budget is None or not len(budget.ledger)


# those that charge with each label, and those for study alone
@pytest.mark.parametrize("name", [name for name in KINDS if name not in (*NOT_PRIVATE, *PREDICTING)])
def test_a_refused_fit_draws_and_learns_nothing(name):
    X, y = table()
    budget, rng = Budget(0.99), np.random.default_rng(0)
    model, before = made(name, budget=budget, random_state=rng), rng.bit_generator.state
    with pytest.raises(BudgetExceeded):
        model.fit(X, y)
    assert rng.bit_generator.state == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_a_relation_that_is_changed_after_a_fit_is_refused():
    X, y = table()
    budget = Budget(10.0, relation="replace-one")
    model = PrivatePredictionNB(0.1, budget=budget, random_state=0).fit(X, y)
    model.set_params(relation="replace-one")
    with pytest.raises(RelationMismatch, match="relation = 'replace-one': the model was fitted for 'add-remove'"):
        model.predict(X)
    assert budget.spent == 0
    assert model.fit(X, y).predict(X[:2]).shape == (2,)


def test_the_flags_of_evaluations():
    options = {"rng": np.random.default_rng(0), "release": "yes"}
    model, (X, y) = BernoulliNB(1.0), table()
    for call in (
        lambda: release_evaluation(y, X[:, 0], 1.0, **options),
        lambda: compare_classifiers(y, X[:, 0], X[:, 1], 1.0, **options),
        lambda: private_confusion_matrix(y, y, 1.0, classes=(0, 1), **options),
        lambda: private_cross_val_score(model, X, y, 1.0, **options),
    ):
        with pytest.raises(InvalidParameter, match=r"^`release` must be True or False.*Got 'yes'"):
            call()


def test_a_release_of_a_list_needs_a_schema():
    for X, y in (([], []), ([[0, 1]], [0]), ([7, [0, 1]], [0, 1])):
        with pytest.raises(InvalidSchema, match="given to release a list of records"):
            BernoulliNB(1.0, release=True).fit(X, y)
    assert BernoulliNB(1.0, release=True, schema=Schema.binary(3)).fit([], []).n_features_in_ == 3
