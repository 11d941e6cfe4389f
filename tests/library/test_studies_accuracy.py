"""Studies of accuracy against pipelines by hand, and against fits without noise."""

import numpy as np
import pytest
from scipy import sparse

from dpml.classifiers import AutoClassifier, LogisticRegression
from dpml.classifiers.linear import linear_models, minimiser, release_output, release_weights
from dpml.classifiers.naive_bayes.bernoulli import (
    contingency_of_partition,
    models_from_published,
    models_from_row_bounded,
    published_threshold,
    release_partitioned,
)
from dpml.counts import NoisyCounts, contingency, release_published
from dpml.datasets import load
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import InvalidParameter
from dpml.selection import MaskSelector, inclusion_probabilities
from dpml.studies import (
    AutoStudy,
    LogisticStudy,
    PartitionedNBStudy,
    PublishedNBStudy,
    RowBoundedNBStudy,
    SelectedLogisticStudy,
    SelectedNBStudy,
    majority_accuracy,
    non_private_logistic,
    non_private_nb,
)

TOY = load("toy")


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def census():
    return load("census", n=3000, seed=0)


def test_without_noise_studies_reach_the_non_private_model(census):
    exact = non_private_nb(census).accuracy(census.X_test, census.y_test)[0]
    counts = contingency(census.X_train, census.y_train, 2)
    # the row-bounded method takes one-hot attributes as categories
    categories = models_from_row_bounded(NoisyCounts(counts.on[None], n=counts.n[None]), schema=census.schema)
    expected = categories.accuracy(census.X_test, census.y_test)[0]
    study = RowBoundedNBStudy(census, row_bound=census.schema.row_bound)
    assert study(1e9, draws=2, rng=rng())["accuracy"] == pytest.approx([expected] * 2)
    assert PublishedNBStudy(census)(1e9, draws=2, rng=rng())["accuracy"] == pytest.approx([exact] * 2, abs=2e-3)
    for score in ("count", "mutual_information"):
        study = SelectedNBStudy(census, score)
        everything = study(1e9, draws=2, rng=rng(), n_features=census.schema.n_features)["accuracy"]
        assert everything == pytest.approx([exact] * 2, abs=2e-3)
    assert majority_accuracy(census) < exact
    exact = non_private_logistic(census, 5.0).accuracy(census.X_test, census.y_test)[0]
    found = LogisticStudy(census)(1e9, draws=2, rng=rng(), reg_lambda=5.0)["accuracy"]
    assert found == pytest.approx([exact] * 2, abs=2e-3)


# ---- logistic regression and partitions -----------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("row_bound", [None, 2])
def test_output_perturbation_by_hand(census, relation, row_bound):
    bound = row_bound or census.schema.row_bound
    X = unit_scale(cut_rows(census.X_train, bound, rng=rng([5, bound])), bound)
    theta = minimiser(X, 2.0 * census.y_train - 1.0, 20.0)
    noisy = release_output(theta, 0.5, 20.0, relation=relation, draws=4, rng=rng())
    study = LogisticStudy(census, relation=relation, row_bound=row_bound, seed=5)
    found = study(0.5, draws=4, rng=rng(), reg_lambda=20.0)["accuracy"]
    np.testing.assert_array_equal(found, linear_models(noisy, bound).accuracy(census.X_test, census.y_test))
    assert study.minimiser(20.0) is study.minimiser(20.0)


def test_objective_perturbation_by_hand(census):
    bound = census.schema.row_bound
    data = unit_scale(census.X_train, bound), census.y_train, 2
    options = {"relation": "add-remove", "method": "objective", "draws": 2}
    noisy = release_weights(*data, 1.0, 20.0, rng=rng(), **options)
    found = LogisticStudy(census, method="objective")(1.0, draws=2, rng=rng(), reg_lambda=20.0)["accuracy"]
    np.testing.assert_array_equal(found, linear_models(noisy, bound).accuracy(census.X_test, census.y_test))


def test_a_subclass_provides_the_minimiser_without_the_records(census):
    class Stored(LogisticStudy):
        def minimiser(self, reg_lambda):
            return np.full(census.schema.n_features, reg_lambda)

    study = Stored(census)
    models = study.models(1e9, draws=1, rng=rng(), reg_lambda=3.0)
    expected = linear_models(np.full((1, census.schema.n_features), 3.0), census.schema.row_bound)
    np.testing.assert_allclose(models.coef, expected.coef, rtol=1e-6)
    assert "_records" not in vars(study)


def test_partitions_by_hand(census):
    parts = contingency_of_partition(census.X_train, census.y_train, 2, subsamples=3, rng=rng(4))
    noisy = release_partitioned(parts, 0.5, relation="add-remove", draws=6, rng=rng())
    models = models_from_published(noisy, published_threshold(0.5, 1, 80.0, "add-remove"))
    found = PartitionedNBStudy(census, deals=3, seed=4)(0.5, draws=6, rng=rng(), threshold_percentile=80.0)
    np.testing.assert_array_equal(found["accuracy"], models.accuracy(census.X_test, census.y_test))
    with pytest.raises(InvalidParameter, match=r"`deals` must be .*Got 0"):
        PartitionedNBStudy(census, deals=0)


# ---- selected features ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["count", "mutual_information"])
def test_a_study_selects_by_the_mask_distribution(census, score):
    study, T, draws = SelectedNBStudy(census, score), 10, 2000
    models = study.models(0.5, draws=draws, rng=rng(), n_features=T, selection_share=0.4)
    chosen = (models.coef[:, 0] != 0).mean(axis=0)
    weight = MaskSelector(0.5 * 0.4, T, score).weight(census.schema)
    exact = inclusion_probabilities(weight * study.scores, T)
    # a chosen feature whose counts are all below the threshold has coefficient 0, so chosen <= exact
    assert (chosen <= exact + 5 * np.sqrt(exact * (1 - exact) / draws) + 1e-3).all()
    assert np.corrcoef(chosen, exact)[0, 1] > 0.5


def test_a_study_trains_on_the_selected_features(census):
    """With a certain selection, the study is Algorithm 1 on the chosen columns with the rest of ε."""
    study, T, epsilon = SelectedNBStudy(census, "count"), 5, 1e7
    models = study.models(epsilon, draws=1, rng=rng(), n_features=T, selection_share=0.5)
    best = np.sort(np.argsort(study.scores)[-T:])
    assert np.flatnonzero(models.coef[0, 0]).tolist() == best.tolist()
    noisy = release_published(contingency(census.X_train[:, best], census.y_train, 2), epsilon / 2, rng=rng(3))
    expected = models_from_published(noisy, published_threshold(epsilon / 2, T, 65))
    np.testing.assert_allclose(models.coef[0, 0, best], expected.coef[0, 0], atol=1e-3)
    np.testing.assert_allclose(models.intercept, expected.intercept, atol=1e-3)


@pytest.mark.parametrize("reg_lambda", [0.1, 50.0])
def test_without_noise_selected_logistic_is_the_classifier(reg_lambda):
    study = SelectedLogisticStudy(TOY)
    for features in ([3], [0, 7, 11, 20], range(40)):
        columns = np.array(features)
        fitted = LogisticRegression(1e9, reg_lambda=reg_lambda, schema=TOY.schema.subset(columns), random_state=0)
        fitted.fit(TOY.X_train[:, columns], TOY.y_train)
        found = study._minimiser(columns, reg_lambda) / np.sqrt(min(len(columns), TOY.schema.row_bound) + 1)
        # strong convexity: a gradient of norm τ is at most τ/λ from the minimum
        np.testing.assert_allclose(found, [*fitted.coef_[0], *fitted.intercept_], atol=1e-3 / reg_lambda)


def test_selected_logistic_converges_on_separable_classes():
    X = np.repeat(np.eye(2), 500, axis=0)
    study = SelectedLogisticStudy(TOY)
    study._columns, study._codes = X.T.astype(bool), np.repeat([0, 1], 500)
    theta = study._minimiser(np.array([0, 1]), 1e-6)
    scaled = np.column_stack([X, np.ones(1000)]) / np.sqrt(3)
    residual = 1 / (1 + np.exp(-scaled @ theta)) - study._codes
    assert np.linalg.norm(scaled.T @ residual + 1e-6 * theta) <= 1.01e-3


def test_sparse_records_are_grouped_as_dense_ones():
    study, thin = SelectedLogisticStudy(TOY), SelectedLogisticStudy(TOY)
    thin._train = sparse.csr_array(TOY.X_train)
    features = np.array([1, 5, 9, 30])
    np.testing.assert_array_equal(thin._minimiser(features, 1.0), study._minimiser(features, 1.0))


def test_the_noise_of_the_weights_has_the_rest_of_epsilon():
    study, options = SelectedLogisticStudy(TOY), {"n_features": 2, "reg_lambda": 5.0, "selection_share": 0.2}
    models = study.models(0.5, draws=4000, masks=1, rng=rng(0), **options)
    (mask,) = {tuple(np.flatnonzero(row)) for row in models.coef[:, 0]}
    drawn = np.column_stack([models.coef[:, 0][:, mask], models.intercept]) * np.sqrt(3)
    # norm-gamma noise of sensitivity 1/λ: its norm has the mean d/(λ ε), here of d = 3 and 0.8 of ε
    distance = np.linalg.norm(drawn - study._minimiser(np.array(mask), 5.0), axis=1)
    assert distance.mean() == pytest.approx(3 / (5.0 * 0.4), rel=0.04)


def test_draws_share_a_stated_number_of_selections():
    models = SelectedLogisticStudy(TOY, "mutual_information").models(0.1, draws=9, masks=3, n_features=10, rng=rng())
    chosen = models.coef[:, 0] != 0
    assert (chosen.sum(axis=1) == 10).all()
    assert (chosen[:3] == chosen[3:6]).all()
    assert len(np.unique(chosen, axis=0)) == 3
    assert len(np.unique(models.intercept)) == 9


@pytest.mark.data
def test_selected_logistic_refuses_more_classes():
    with pytest.raises(InvalidParameter, match="two classes"):
        SelectedLogisticStudy(load("seeds"))


# ---- the default classifier -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_one_grid_for_each_draw_is_a_fit_for_each_draw(census, epsilon):
    found = AutoStudy(census)(epsilon, draws=3, grids=3, auc=True, predictions=True, rng=rng(7))
    source, frame, names = rng(7), census.frame, census.frame_schema.feature_names
    labels = np.asarray(census.frame_schema.classes)
    for k in range(3):
        model = AutoClassifier(epsilon, schema=census.frame_schema, random_state=source)
        model.fit(frame.loc["train"][names], labels[census.y_train])
        guessed = model.predict(frame.loc["test"][names])
        assert found["accuracy"][k] == np.mean(guessed == labels[census.y_test])
        assert (labels[found["predictions"][k]] == guessed).all()
    assert (found["auc"] > 0.6).all()


def test_draws_are_divided_among_grids_and_differ(census, monkeypatch):
    from dpml.studies import mixed

    calls, release = [], mixed.release_table
    monkeypatch.setattr(
        mixed, "release_table", lambda *args, **own: calls.append(own["draws"]) or release(*args, **own)
    )
    study = AutoStudy(census)
    found = study(0.3, draws=5, grids=2, predictions=True, rng=rng())["predictions"]
    assert calls == [3, 2]
    assert len(np.unique(found, axis=0)) == 5
    with pytest.raises(InvalidParameter, match="draws"):
        study(1.0, draws=0, rng=rng())
