"""Studies of accuracy against pipelines by hand, and against fits without noise."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from dpml.classifiers import AutoClassifier, BernoulliNB, LogisticRegression
from dpml.classifiers.linear import linear_models, minimiser, release_output
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
from dpml.studies.tuning import SCHEMES, TuningStudy
from dpml.tuning import PrivateSearch

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


# ---- the default classifier -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_one_grid_for_each_draw_is_a_fit_for_each_draw(census, epsilon, relation):
    # a fifth of the records is stated, which decides the plan under add/remove
    schema = replace(census.frame_schema, n_rows=None, n_lower=600)
    study = AutoStudy(replace(census, frame_schema=schema), relation=relation)
    found = study(epsilon, draws=3, grids=3, auc=True, predictions=True, rng=rng(7))
    source, frame, names = rng(7), census.frame, schema.feature_names
    labels = np.asarray(schema.classes)
    for k in range(3):
        model = AutoClassifier(epsilon, schema=schema, relation=relation, random_state=source)
        model.fit(frame.loc["train"][names], labels[census.y_train])
        guessed = model.predict(frame.loc["test"][names])
        assert found["accuracy"][k] == np.mean(guessed == labels[census.y_test])
        assert (labels[found["predictions"][k]] == guessed).all()
    assert (found["auc"] > 0.6).all()


def test_the_study_is_the_search_in_batches():
    """Mean accuracies of 25 searches and of 25 draws of the study agree to 5 standard errors."""
    data = load("toy")
    study = TuningStudy(data, {"row_bound": (1, 4)}, splits=25)
    cases = {
        "shared, retrained": {},
        "disjoint": {"training": "disjoint", "retrain_share": 0.0},
        "random stopping 1": {"method": "random-stopping", "eta": 1.0, "retrain_share": 0.0},
    }
    drawn = study(0.3, draws=25, rng=np.random.default_rng(0), schemes=tuple(cases))
    for name, options in cases.items():
        nb = BernoulliNB(1.0, selection="none")
        search = PrivateSearch(nb, {"row_bound": [1, 4]}, 0.3, schema=data.schema, **options)
        found = [
            clone(search).set_params(random_state=seed).fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
            for seed in range(25)
        ]
        spread = np.sqrt((np.var(found) + drawn[name].var()) / 24)
        assert abs(np.mean(found) - drawn[name].mean()) < 5 * spread, name


@pytest.mark.parametrize("candidates", [{"row_bound": (1, 8)}, {"reg_lambda": (1.0, 1e7)}])
def test_with_much_epsilon_every_scheme_is_near_the_best(candidates):
    study = TuningStudy(load("toy"), candidates, splits=2)
    result = study(300.0, draws=4, rng=np.random.default_rng(0))
    assert set(result) == set(study.schemes) == {s for s in SCHEMES if "reg_lambda" in candidates or s != "stability"}
    best = result["best in hindsight"].mean()
    for name, accuracy in result.items():
        assert accuracy.shape == (4,)
        assert accuracy.mean() > best - 0.08, name


def test_the_noise_of_the_weights_has_the_rest_of_epsilon():
    study, options = SelectedLogisticStudy(TOY), {"n_features": 2, "reg_lambda": 5.0, "selection_share": 0.2}
    models = study.models(0.5, draws=4000, masks=1, rng=rng(0), **options)
    (mask,) = {tuple(np.flatnonzero(row)) for row in models.coef[:, 0]}
    drawn = np.column_stack([models.coef[:, 0][:, mask], models.intercept]) * np.sqrt(3)
    # norm-gamma noise of sensitivity 1/λ: its norm has the mean d/(λ ε), here of d = 3 and 0.8 of ε
    distance = np.linalg.norm(drawn - study._minimiser(np.array(mask), 5.0), axis=1)
    assert distance.mean() == pytest.approx(3 / (5.0 * 0.4), rel=0.04)
