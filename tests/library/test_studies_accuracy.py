"""Studies of logistic regression and of partitioned naive Bayes against pipelines by hand."""

import numpy as np
import pytest

from dpml.classifiers.linear import linear_models, minimiser, release_output, release_weights
from dpml.classifiers.naive_bayes.bernoulli import (
    contingency_of_partition,
    models_from_published,
    published_threshold,
    release_partitioned,
)
from dpml.datasets import load
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import InvalidParameter
from dpml.studies import LogisticStudy, PartitionedNBStudy, non_private_logistic


@pytest.fixture(scope="module")
def census():
    return load("census", n=2000, seed=0)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("row_bound", [None, 2])
def test_output_perturbation_by_hand(census, relation, row_bound):
    bound = row_bound or census.schema.row_bound
    X = unit_scale(cut_rows(census.X_train, bound, rng=np.random.default_rng([5, bound])), bound)
    theta = minimiser(X, 2.0 * census.y_train - 1.0, 20.0)
    noisy = release_output(theta, 0.5, 20.0, relation=relation, draws=4, rng=np.random.default_rng(1))
    expected = linear_models(noisy, bound).accuracy(census.X_test, census.y_test)
    study = LogisticStudy(census, relation=relation, row_bound=row_bound, seed=5)
    found = study(0.5, draws=4, rng=np.random.default_rng(1), reg_lambda=20.0)["accuracy"]
    np.testing.assert_array_equal(found, expected)
    assert study.minimiser(20.0) is study.minimiser(20.0)


def test_objective_perturbation_by_hand(census):
    bound = census.schema.row_bound
    X, codes = unit_scale(census.X_train, bound), census.y_train
    options = {"method": "objective", "draws": 2}
    noisy = release_weights(X, codes, 2, 1.0, 20.0, relation="add-remove", rng=np.random.default_rng(1), **options)
    expected = linear_models(noisy, bound).accuracy(census.X_test, census.y_test)
    study = LogisticStudy(census, method="objective")
    found = study(1.0, draws=2, rng=np.random.default_rng(1), reg_lambda=20.0)["accuracy"]
    np.testing.assert_array_equal(found, expected)


def test_a_minimiser_from_elsewhere_is_used_and_no_record_is_looked_at(census):
    class Stored(LogisticStudy):
        def minimiser(self, reg_lambda):
            return np.full(census.schema.n_features, reg_lambda)

    study = Stored(census)
    models = study.models(1e9, draws=1, rng=np.random.default_rng(0), reg_lambda=3.0)
    expected = linear_models(np.full((1, census.schema.n_features), 3.0), census.schema.row_bound)
    np.testing.assert_allclose(models.coef, expected.coef, rtol=1e-6)
    assert "_records" not in vars(study)


def test_without_noise_a_study_reaches_the_non_private_model(census):
    exact = non_private_logistic(census, 5.0).accuracy(census.X_test, census.y_test)[0]
    found = LogisticStudy(census)(1e9, draws=2, rng=np.random.default_rng(0), reg_lambda=5.0)["accuracy"]
    assert found == pytest.approx([exact] * 2, abs=2e-3)


def test_partitions_by_hand(census):
    parts = contingency_of_partition(census.X_train, census.y_train, 2, subsamples=3, rng=np.random.default_rng(4))
    noisy = release_partitioned(parts, 0.5, relation="add-remove", draws=6, rng=np.random.default_rng(1))
    models = models_from_published(noisy, published_threshold(0.5, 1, 80.0, "add-remove"))
    study = PartitionedNBStudy(census, deals=3, seed=4)
    found = study(0.5, draws=6, rng=np.random.default_rng(1), threshold_percentile=80.0)["accuracy"]
    np.testing.assert_array_equal(found, models.accuracy(census.X_test, census.y_test))
    with pytest.raises(InvalidParameter, match=r"`deals` must be .*Got 0"):
        PartitionedNBStudy(census, deals=0)
