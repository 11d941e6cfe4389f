"""What the Train page computes of linear models and of tuning: it is the library's, and it says what is not private."""

from dataclasses import replace

import numpy as np
import pytest
from dpml_app.pages.train import tuning as train_tuning
from dpml_app.pages.train.accuracy import AccuracyCard, SizeCard
from dpml_app.pages.train.card import IMMEDIATE, asked, chosen
from dpml_app.pages.train.linear_compute import (
    exact_weights,
    lambda_without_noise,
    linear_facts,
    linear_weights,
    public_lambda,
    rule_takes,
)
from dpml_app.pages.train.measure import measure
from dpml_app.pages.train.methods import DEFAULTS, DELTA, LINEAR, METHODS, private, styles, why_not
from dpml_app.pages.train.methods_card import MethodsCard, fewer_draws
from dpml_app.pages.train.tuning import SCHEMES, TuningCard
from dpml_app.pages.train.tuning_compute import candidates, costs_of, tuning_measure
from dpml_app.pages.train.weights import WeightsCard
from sklearn.linear_model import LogisticRegression as Plain
from train_linear import facts_of, measured, values_of

from dpml.classifiers import LinearSVC, LogisticRegression, PrivGene, PrivLocal
from dpml.classifiers.linear_classifier import LinearClassifier
from dpml.datasets import load
from dpml.studies.tuning import TuningStudy

ESTIMATORS = {
    "rule": (LinearClassifier, {}),
    "l1": (LogisticRegression, {"method": "objective", "norm": "l1"}),
    "objective": (LogisticRegression, {"method": "objective"}),
    "output": (LogisticRegression, {"method": "output"}),
    "functional": (LogisticRegression, {"method": "functional"}),
    "svm": (LinearSVC, {"method": "objective"}),
    "local": (PrivLocal, {}),
    "genetic": (PrivGene, {}),
    "descent": (LogisticRegression, {"method": "noisy-descent"}),
}


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
def test_one_draw_is_the_estimators(method, epsilon):
    # the public rule takes naive Bayes at the smaller ε, and a support vector machine at the larger one
    data = load("toy")
    kind, options = ESTIMATORS[method]
    model = kind(epsilon, schema=data.schema, random_state=3, **options).fit(data.X_train, data.y_train)
    assert measured("toy", method, epsilon, draws=1)[0] == pytest.approx(model.score(data.X_test, data.y_test))


def test_the_public_rule_takes_naive_bayes_where_epsilon_is_small():
    assert [rule_takes("toy", epsilon) for epsilon in (0.2, 5.0)] == ["naive-bayes", "objective"]


@pytest.mark.parametrize("method", ["l1", "objective", "output", "svm"])
def test_lambda_reaches_the_library(method):
    data = load("toy")
    kind, options = ESTIMATORS[method]
    # records of L1 noise are shorter by a factor √S, S = 11, so that λ is smaller by S
    of_library = 50.0 / 11 if method == "l1" else 50.0
    model = kind(1.0, reg_lambda=of_library, schema=data.schema, random_state=3, **options)
    model.fit(data.X_train, data.y_train)
    found = measured("toy", method, draws=1, train_lambda=50.0)[0]
    assert found == pytest.approx(model.score(data.X_test, data.y_test))


def test_the_public_lambda_is_the_librarys():
    found = {m: public_lambda("toy", m, 0.1, "add-remove") for m in ("objective", "output", "l1")}
    root = np.sqrt(41)  # 40 columns and the constant
    assert found == {
        "objective": pytest.approx(root / 0.1),
        "output": pytest.approx(2 * root / 0.1),
        "l1": pytest.approx(11 * np.sqrt(2 / 11) / 0.1),
    }


def test_sensitivity_of_the_functional_mechanism_is_chosen():
    exact = measured("toy", "functional", 20.0, 50)
    original = measured("toy", "functional", 20.0, 50, train_functional="original")
    assert exact.mean() > original.mean() + 0.1


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


def test_a_family_has_its_own_methods():
    assert values_of().families == ("linear",)
    assert set(asked(values_of())) <= {*LINEAR, *DEFAULTS}
    assert set(asked(values_of(train_family="naive-bayes"))) <= {*METHODS, *DEFAULTS}
    both = asked(values_of(train_family="both"))
    assert set(both) & set(METHODS)
    assert set(both) & set(LINEAR)


def test_what_cannot_be_trained_says_why():
    wide = replace(facts_of("toy"), binary_columns=[f"c{i}" for i in range(401)])
    assert "at most 400 columns, not 401" in why_not("functional", wide)
    assert "at most 400 columns, not 401" in why_not("genetic", wide)
    assert [m for m in LINEAR if why_not(m, facts_of("toy"))] == []
    values = values_of(train_linear=list(LINEAR), train_shown="functional")
    assert {"functional", "genetic"} & set(chosen(values, wide)) == set()
    assert "at most 400 columns, not 401" in WeightsCard().refusal(values, wide)
    alone = values_of(train_linear=["functional"], train_begin=[])
    assert all("at most 400 columns, not 401" in panel().refusal(alone, wide) for panel in (AccuracyCard, SizeCard))
    panel = MethodsCard()
    panel.prepare(values, wide, {})
    results = {("output", IMMEDIATE): {"accuracy": np.array([0.5, 0.6])}}
    assert "Not shown: Functional mechanism (at most 400 columns" in panel.readout(values, wide, results)


def test_three_classes_are_trained_and_have_no_roc_curve():
    facts = replace(facts_of("toy"), classes=("a", "b", "c"))
    assert "3" in AccuracyCard().refusal(values_of(train_measure="auc"), facts)
    assert [m for m in LINEAR if why_not(m, facts)] == []


@pytest.mark.data
def test_three_classes_by_every_method():
    data = load("seeds")
    for method in LINEAR:
        kind, options = ESTIMATORS[method]
        model = kind(5.0, schema=data.schema, random_state=3, **options).fit(data.X_train, data.y_train)
        found = measured("seeds", method, 5.0, draws=1)[0]
        assert found == pytest.approx(model.score(data.X_test, data.y_test)), method


def test_fewer_draws_are_said():
    assert len(measured("toy", "objective", draws=200)) == 20
    assert len(measured("toy", "output", draws=200)) == 200
    assert fewer_draws(("output", "objective"), 50) == " Fewer runs, because each trains a model: 20 of Objective L2."
    assert fewer_draws(("output", "objective"), 20) == ""


def test_weights_are_the_estimators_and_the_largest():
    data, values = load("toy"), values_of(train_lambda=5.0)
    found = linear_weights("toy", "objective", "add-remove", 1.0, values.options("objective"), 1, 3)
    model = LogisticRegression(1.0, method="objective", reg_lambda=5.0, schema=data.schema, random_state=3)
    model.fit(data.X_train, data.y_train)
    columns = [data.feature_names.index(name) for name in found["names"]]
    np.testing.assert_allclose(found["draws"][0], model.coef_[0, columns], atol=1e-9)
    exact = exact_weights("toy", 5.0)[0, :-1] / np.sqrt(11)
    np.testing.assert_allclose(found["exact"], exact[columns])
    assert np.abs(found["exact"]).min() >= np.delete(np.abs(exact), columns).max()


# the others do not come to the minimum, with or without noise
@pytest.mark.parametrize("method", ["rule", "l1", "objective", "output", "functional", "svm"])
def test_weights_with_little_noise_are_those_without(method):
    values = values_of(train_lambda=20.0)
    found = linear_weights("toy", method, "add-remove", 1e6, values.options(method), 3, 3)
    np.testing.assert_allclose(found["draws"].mean(axis=0), found["exact"], atol=0.01)


@pytest.mark.parametrize("tuned", ["reg_lambda", "row_bound"])
def test_tuning_is_the_librarys(tuned):
    public = public_lambda("toy", "objective", 1.0, "add-remove") if tuned == "reg_lambda" else None
    study = TuningStudy(load("toy"), {tuned: candidates("toy", tuned)}, choice="exponential", public=public)
    for scheme in ("public rule", "disjoint", "random stopping 1"):
        expected = study(1.0, draws=5, rng=np.random.default_rng(2), schemes=(scheme,))[scheme]
        found = tuning_measure("toy", tuned, "add-remove", 1.0, scheme, 5, 2)["accuracy"]
        np.testing.assert_array_equal(found, expected)


def test_the_costs_that_are_said_add_up():
    for scheme in SCHEMES:
        if scheme in ("public rule", "best in hindsight"):
            continue
        cost = costs_of(scheme, 1.0, 4)
        assert cost["total"] == 1.0
    assert costs_of("random stopping 1", 1.0, 4)["train"] == pytest.approx(1 / 3)
    both = costs_of("shared, retrained", 1.0, 4)
    assert 4 * both["train"] == pytest.approx(both["select"]) == pytest.approx(1 - both["retrain"])


def test_one_value_is_no_choice(monkeypatch):
    values, facts, panel = values_of(train_tune="row_bound"), facts_of("toy"), TuningCard()
    assert panel.refusal(values, facts) == ""
    monkeypatch.setattr(train_tuning, "candidates", lambda _name, _tuned: (1,))
    assert "no contribution bound to tune" in panel.refusal(values, facts)
