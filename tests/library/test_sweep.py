"""The sweep: order, common random numbers, summaries; the studies against hand-made pipelines."""

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers.naive_bayes.bernoulli import models_from_published, models_from_row_bounded, published_threshold
from dpml.counts import NoisyCounts, contingency, release_published
from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.selection import inclusion_probabilities
from dpml.studies.accuracy import (
    PublishedNBStudy,
    RowBoundedNBStudy,
    SelectedNBStudy,
    majority_accuracy,
    non_private_nb,
)
from dpml.sweep import summarise, sweep


def noise(epsilon, shift=0.0, *, draws, rng):
    return {"value": rng.laplace(scale=1 / epsilon, size=draws) + shift, "epsilon_again": epsilon}


def test_a_tidy_table_with_common_random_numbers():
    steps = []
    table = sweep(
        noise, {"epsilon": [1.0, 2.0], "shift": [0.0, 5.0]}, draws=3, seed=7, progress=lambda *s: steps.append(s)
    )
    assert list(table.columns) == ["epsilon", "shift", "draw", "value", "epsilon_again"]
    assert len(table) == 12
    assert table["draw"].tolist() == [0, 1, 2] * 4
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    values = table.pivot_table(index="draw", columns=["epsilon", "shift"], values="value")
    np.testing.assert_allclose(values[(1.0, 0.0)], 2 * values[(2.0, 0.0)])
    np.testing.assert_allclose(values[(1.0, 5.0)], values[(1.0, 0.0)] + 5)
    pd.testing.assert_frame_equal(table, sweep(noise, {"epsilon": [1.0, 2.0], "shift": [0.0, 5.0]}, draws=3, seed=7))
    pd.testing.assert_frame_equal(
        table, sweep(noise, {"epsilon": [1.0, 2.0], "shift": [0.0, 5.0]}, draws=3, seed=7, n_jobs=2)
    )


def test_summaries_by_hand():
    table = pd.DataFrame({"epsilon": [1, 1, 1, 1], "accuracy": [0.1, 0.2, 0.3, 0.4], "draw": range(4)})
    row = summarise(table, ["epsilon"], level=0.5).iloc[0]
    assert row["mean"] == pytest.approx(0.25)
    assert row["se"] == pytest.approx(np.std([0.1, 0.2, 0.3, 0.4], ddof=1) / 2)
    assert (row["low"], row["high"]) == pytest.approx((0.175, 0.325))
    assert row["draws"] == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"grid": {"epsilon": []}}, r"`grid\['epsilon'\]` must be .*Got \[\]"),
        ({"grid": {"epsilon": "0.1"}}, r"`grid\['epsilon'\]` must be .*Got '0.1'"),
        ({"grid": {"epsilon": [1.0]}, "draws": 0}, "`draws` must be .*Got 0"),
        ({"grid": {"epsilon": [1.0]}, "seed": -1}, "`seed` must be .*Got -1"),
    ],
)
def test_bad_sweeps_are_named(call, message):
    with pytest.raises(InvalidParameter, match=message):
        sweep(noise, **call)


@pytest.fixture(scope="module")
def census():
    return load("census", n=4000, seed=0)


def test_studies_reach_the_non_private_model_without_noise(census):
    rng = np.random.default_rng(0)
    exact = non_private_nb(census).accuracy(census.X_test, census.y_test)[0]
    most, counts = census.schema.row_bound, contingency(census.X_train, census.y_train, 2)
    # the row-bounded method takes one-hot attributes as categories
    categories = models_from_row_bounded(NoisyCounts(counts.on[None], n=counts.n[None]), schema=census.schema)
    expected = categories.accuracy(census.X_test, census.y_test)[0]
    assert RowBoundedNBStudy(census, row_bound=most)(1e9, draws=2, rng=rng)["accuracy"] == pytest.approx([expected] * 2)
    assert PublishedNBStudy(census)(1e9, draws=2, rng=rng)["accuracy"] == pytest.approx([exact] * 2, abs=2e-3)
    D = census.schema.n_features
    for score in ("count", "mutual_information"):
        everything = SelectedNBStudy(census, score)(1e9, draws=2, rng=rng, n_features=D)["accuracy"]
        assert everything == pytest.approx([exact] * 2, abs=2e-3)
    assert majority_accuracy(census) < exact


@pytest.mark.parametrize("score", ["count", "mutual_information"])
def test_selection_study_chooses_by_the_mask_distribution(census, score):
    study = SelectedNBStudy(census, score)
    D, T, draws = census.schema.n_features, 10, 2000
    models = study.models(0.5, draws=draws, rng=np.random.default_rng(1), n_features=T, selection_share=0.4)
    chosen = (models.coef[:, 0] != 0).mean(axis=0)
    exact = inclusion_probabilities(study.weight(0.5 * 0.4, T) * study.scores, T)
    # a chosen feature whose counts are all below the threshold has coefficient 0, so chosen <= exact
    assert (chosen <= exact + 5 * np.sqrt(exact * (1 - exact) / draws) + 1e-3).all()
    assert np.corrcoef(chosen, exact)[0, 1] > 0.5
    assert D > T


def test_selection_study_trains_on_what_it_selected(census):
    """With selection certain, the study is Algorithm 1 on the chosen columns with the rest of ε."""
    study = SelectedNBStudy(census, "count")
    T, epsilon, share = 5, 1e7, 0.5
    models = study.models(epsilon, draws=1, rng=np.random.default_rng(2), n_features=T, selection_share=share)
    best = np.sort(np.argsort(study.scores)[-T:])
    assert np.flatnonzero(models.coef[0, 0]).tolist() == best.tolist()
    counts = contingency(census.X_train[:, best], census.y_train, 2)
    noisy = release_published(counts, epsilon * (1 - share), rng=np.random.default_rng(3))
    expected = models_from_published(noisy, published_threshold(epsilon * (1 - share), T, 65))
    np.testing.assert_allclose(models.coef[0, 0, best], expected.coef[0, 0], atol=1e-3)
    np.testing.assert_allclose(models.intercept, expected.intercept, atol=1e-3)


def test_a_setting_may_be_a_tuple():
    table = sweep(lambda weights, *, draws, rng: {"sum": sum(weights)}, {"weights": [(1, 2), (3, 4)]}, draws=2)
    assert table["weights"].tolist() == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert table["sum"].tolist() == [3, 3, 7, 7]
