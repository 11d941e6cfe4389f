"""Logistic regression on chosen features: a study of many draws is as many public fits."""

import numpy as np
import pytest

from dpml.classifiers import LogisticRegression
from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.studies import SelectedLogisticStudy

DATA = load("toy")
QUIET = 1e9


@pytest.mark.parametrize("reg_lambda", [0.1, 50.0])
def test_without_noise_it_is_the_classifier_on_these_columns(reg_lambda):
    study = SelectedLogisticStudy(DATA)
    for features in ([3], [0, 7, 11, 20], range(40)):
        columns = np.array(features)
        fitted = LogisticRegression(QUIET, reg_lambda=reg_lambda, schema=DATA.schema.subset(columns), random_state=0)
        fitted.fit(DATA.X_train[:, columns], DATA.y_train)
        found = study.minimiser(columns, reg_lambda) / np.sqrt(min(len(columns), DATA.schema.row_bound) + 1)
        # strong convexity: a gradient of norm τ is at most τ/λ from the minimum
        np.testing.assert_allclose(found[:-1], fitted.coef_[0], atol=1e-3 / reg_lambda)
        assert found[-1] == pytest.approx(fitted.intercept_[0], abs=1e-3 / reg_lambda)


def test_separable_classes_end_as_well():
    X = np.repeat(np.eye(2), 500, axis=0)
    study = SelectedLogisticStudy(DATA)
    study._columns, study._codes = X.T.astype(bool), np.repeat([0, 1], 500)
    theta = study.minimiser(np.array([0, 1]), 1e-6)
    scaled = np.column_stack([X, np.ones(1000)]) / np.sqrt(3)
    residual = 1 / (1 + np.exp(-scaled @ theta)) - study._codes
    assert np.linalg.norm(scaled.T @ residual + 1e-6 * theta) <= 1.01e-3


def test_the_noise_of_the_weights_is_that_of_the_rest_of_epsilon():
    study, options = SelectedLogisticStudy(DATA), {"n_features": 2, "reg_lambda": 5.0, "selection_share": 0.2}
    models = study.models(0.5, draws=4000, masks=1, rng=np.random.default_rng(0), **options)
    (mask,) = {tuple(np.flatnonzero(row)) for row in models.coef[:, 0]}
    exact = study.minimiser(np.array(mask), 5.0)
    drawn = np.column_stack([models.coef[:, 0][:, mask], models.intercept]) * np.sqrt(3)
    # norm-gamma noise of sensitivity 1/λ: its norm has the mean d/(λ ε), here of d = 3 and 0.8 of ε
    assert np.linalg.norm(drawn - exact, axis=1).mean() == pytest.approx(3 / (5.0 * 0.4), rel=0.04)


def test_draws_share_as_many_choices_as_are_asked_for():
    study = SelectedLogisticStudy(DATA, "mutual_information")
    models = study.models(0.1, draws=9, masks=3, n_features=10, rng=np.random.default_rng(1))
    chosen = models.coef[:, 0] != 0
    assert (chosen.sum(axis=1) == 10).all()
    assert (chosen[:3] == chosen[3:6]).all()
    assert len(np.unique(chosen, axis=0)) == 3
    assert len(np.unique(models.intercept)) == 9


def test_sparse_records_are_grouped_alike():
    from scipy import sparse

    study, thin = SelectedLogisticStudy(DATA), SelectedLogisticStudy(DATA)
    thin._train = sparse.csr_array(DATA.X_train)
    features = np.array([1, 5, 9, 30])
    np.testing.assert_array_equal(thin.minimiser(features, 1.0), study.minimiser(features, 1.0))


@pytest.mark.data
def test_more_classes_are_refused():
    with pytest.raises(InvalidParameter, match="two classes"):
        SelectedLogisticStudy(load("seeds"))
