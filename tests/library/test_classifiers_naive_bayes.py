"""Bernoulli naive Bayes: limits, formulas, privacy on the boundary and in the pickle, accuracy on the real sets."""

import itertools
from functools import partial

import numpy as np
import pytest
from binary_tables import of_any_rates as table
from binary_tables import told_by_all
from each_commit import others_in_full
from scipy import sparse
from sklearn import naive_bayes
from stated_parts import with_parts

from dpml.classifiers import BernoulliNB
from dpml.classifiers.naive_bayes.bernoulli import (
    contingency_of_partition,
    models_from_published,
    models_from_row_bounded,
    published_threshold,
)
from dpml.counts import NoisyCounts
from dpml.datasets import load
from dpml.schema import Feature, Schema
from dpml.studies.accuracy import PublishedNBStudy, RowBoundedNBStudy
from dpml.sweep import sweep


@pytest.mark.parametrize("C", [2, 3])
def test_without_noise_the_row_bounded_model_is_scikit_learns(C):
    X, y = table(C=C)
    schema = Schema.binary(8, classes=tuple(range(C)))
    ours = BernoulliNB(1e9, row_bound=8, schema=schema, random_state=0).fit(X, y)
    theirs = naive_bayes.BernoulliNB(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, atol=1e-5)
    # ours adds the pseudo-count to the class counts too
    np.testing.assert_allclose(np.exp(ours.class_log_prior_), (np.bincount(y) + 1) / (len(y) + C), atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.98


def test_without_noise_the_published_model_is_scikit_learns():
    X, y = table()
    ours = BernoulliNB(1e9, method="published", random_state=0).fit(X, y)
    theirs = naive_bayes.BernoulliNB(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, atol=1e-5)


def test_published_model_by_hand():
    """Two classes, one feature; threshold 4, pseudo-count 1: Antonova (2016), Algorithm 1, lines 7 to 10."""
    counts = NoisyCounts(on=np.array([[[10.0], [1.0]]]), off=np.array([[[2.0], [30.0]]]))
    models = models_from_published(counts, threshold=4.0, pseudocount=1.0)
    on, off = np.array([11 / 16, 5 / 36]), np.array([5 / 16, 31 / 36])
    prior = np.array([13, 32]) / 45
    log_odds = np.log(on[1] / off[1]) - np.log(on[0] / off[0])
    assert models.coef[0, 0, 0] == pytest.approx(log_odds)
    assert models.intercept[0, 0] == pytest.approx(np.log(prior[1] / prior[0]) + np.log(off[1] / off[0]))


def test_published_threshold_is_the_papers_example():
    """Antonova (2016), after eq. 3.15: about 214 at ε = 1 and 2140 at ε = 0.1, for D = 600."""
    assert published_threshold(1.0, 600, 65) == pytest.approx(214, abs=0.5)
    assert published_threshold(0.1, 600, 65) == pytest.approx(2140, abs=0.5)
    assert published_threshold(1.0, 600, 65, "replace-one") == pytest.approx(428, abs=0.5)


@pytest.mark.parametrize("method", ["row-bounded", "published"])
def test_batch_and_estimator_agree(method):
    data = load("census", n=600, seed=1)
    X, y, Xt, yt = data.X_train, data.y_train, data.X_test, data.y_test
    options = {"schema": data.schema, "row_bound": data.schema.row_bound, "selection": "none"}
    model = BernoulliNB(1.0, method=method, random_state=3, **options).fit(X, y)
    study = (
        PublishedNBStudy(data) if method == "published" else RowBoundedNBStudy(data, row_bound=data.schema.row_bound)
    )
    accuracy = study(1.0, draws=1, rng=np.random.default_rng(3))["accuracy"][0]
    assert (model.predict(Xt) == yt).mean() == pytest.approx(accuracy, abs=1e-12)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "row_bound", "goal", "published"),
    [
        ("newsgroup1", 1, 0.885, 0.57),
        ("newsgroup2", 2, 0.845, 0.81),
        ("newsgroup3", 2, 0.845, 0.81),
        ("mushrooms", 21, 0.885, 0.84),
        ("adult", 14, 0.805, 0.797),
    ],
)
def test_accuracy_at_epsilon_of_a_tenth(name, row_bound, goal, published, data_home):
    """Mean of 50 draws at ε = 0.1, add/remove; Algorithm 1 is within 1.5 points of what was measured before."""
    data = load(name, data_home=data_home)
    ours = sweep(RowBoundedNBStudy(data, row_bound=row_bound), {"epsilon": [0.1]}, draws=50, seed=0)["accuracy"]
    theirs = sweep(PublishedNBStudy(data), {"epsilon": [0.1]}, draws=50, seed=0)["accuracy"]
    assert ours.mean() >= goal
    assert theirs.mean() == pytest.approx(published, abs=0.015)
    assert ours.mean() > theirs.mean()


@pytest.mark.parametrize(
    ("name", "goal"),
    others_in_full(
        [
            ("newsgroup1", 0.897),
            ("mushrooms", 0.92),
            ("newsgroup2", 0.851),
            ("newsgroup3", 0.853),
            ("adult", 0.833),
            ("xwindows", 0.60),
        ],
        first=2,
    ),
)
def test_accuracy_of_the_default_at_epsilon_of_a_tenth(name, goal, data_home):
    """Nothing but ε and the schema: mean of 50 draws, what was measured less three standard errors, or the goal."""
    data = load(name, data_home=data_home)
    fits = (BernoulliNB(0.1, schema=data.schema, random_state=i).fit(data.X_train, data.y_train) for i in range(50))
    assert np.mean([model.score(data.X_test, data.y_test) for model in fits]) >= goal


def test_shrinkage_pulls_towards_the_rate_of_all_classes():
    """With ever more shared ones each class's log odds of a feature go to those of the pooled rate."""
    on, n = np.array([[[30.0, 5.0], [10.0, 15.0]]]), np.array([[60.0, 40.0]])
    counts = NoisyCounts(on, n=n)
    gaps = [np.abs(models_from_row_bounded(counts, 1e-9, pooled).coef).max() for pooled in (0.0, 1.0, 30.0, 1e9)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-6
    # by hand: 2 · 0.6 · 10 ones and as many zeros as go with them at the rate 40/100, for the larger class
    lp = [(30 + 12) / (60 + 12 + 18), (10 + 8) / (40 + 8 + 12)]
    expected = np.log(lp[1] / (1 - lp[1])) - np.log(lp[0] / (1 - lp[0]))
    assert models_from_row_bounded(counts, 1e-12, 10.0).coef[0, 0, 0] == pytest.approx(expected, rel=1e-9)


def test_a_one_hot_attribute_is_one_categorical_feature():
    """Columns of whole attributes: probabilities of categories, and none for what is off."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    cells = np.stack([rng.binomial(2, 0.2 + 0.5 * y), rng.integers(2, size=4000)], axis=1)
    X = np.hstack([np.eye(3)[cells[:, 0]], np.eye(2)[cells[:, 1]]])
    names = [("a", 3), ("b", 2)]
    features = tuple(Feature(f"{n}={v}", block=n, exhaustive=True) for n, k in names for v in range(k))
    schema = Schema(features, (0, 1))
    assert schema.attributes == {"a": [0, 1, 2], "b": [3, 4]}
    model = BernoulliNB(1e7, schema=schema, row_bound=2, shrinkage=0.0, random_state=0).fit(X, y)
    log_odds = np.zeros(len(y))
    for k, column in zip((3, 2), cells.T, strict=True):
        p = np.array([np.bincount(column[y == c], minlength=k) + 1.0 for c in (0, 1)])
        p /= p.sum(axis=1, keepdims=True)
        log_odds += (np.log(p[1]) - np.log(p[0]))[column]
    log_odds += np.log((y.sum() + 1) / (len(y) - y.sum() + 1))
    ours = model.predict_log_proba(X)
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], log_odds, atol=1e-3)
    # one column fewer: the attribute no longer covers its values, and its columns are features of their own
    assert schema.subset([0, 1, 3, 4]).attributes == {"b": [3 - 1, 4 - 1]}
    assert Schema.from_json(schema.to_json()) == schema
    published = BernoulliNB(1.0, method="published", schema=schema, random_state=0).fit(X, y)
    np.testing.assert_array_equal(published._weights, 1.0)


tell_by_all = partial(told_by_all, n=600, rate=0.8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_every_record_adds_one_to_one_count(kind):
    X, y = tell_by_all(n=50)
    counts = contingency_of_partition(kind(X), y, 2, subsamples=7, rng=np.random.default_rng(0))
    assert counts.shape == (7, 2, 2, 4)
    np.testing.assert_array_equal(counts.sum(axis=(1, 2, 3)), 50)
    np.testing.assert_array_equal(counts.sum(axis=(1, 3)), np.tile(np.bincount(y), (7, 1)))
    # a record of ones only is never counted as off, one of zeros never as on
    ones = contingency_of_partition(kind(np.ones((9, 4))), np.zeros(9, int), 2, rng=np.random.default_rng(0))
    assert ones[:, 1].sum() == 0
    zeros = contingency_of_partition(kind(np.zeros((9, 4))), np.zeros(9, int), 2, rng=np.random.default_rng(0))
    assert zeros[:, 0].sum() == 0


def test_neighbours_differ_by_one_count_or_two_whatever_the_deal():
    """All records of three features, one more or replaced; the other records keep their parts, dealt on their own."""
    base, codes = np.eye(3), np.array([0, 1, 0])
    deal = [0, 1, 2]

    def counts(X, codes, parts):
        return with_parts(lambda: contingency_of_partition(X, codes, 2, rng=np.random.default_rng(0)), parts)

    records = [(np.array(x, float), c) for x in itertools.product((0, 1), repeat=3) for c in (0, 1)]
    before = counts(base, codes, deal)
    most = 0.0
    for (x, c), part in itertools.product(records, range(3)):
        more = counts(np.vstack([base, x]), np.append(codes, c), [*deal, part])
        assert np.abs(more - before).sum() == 1
        for (other, d), other_part in itertools.product(records, range(3)):
            replaced = counts(np.vstack([base, other]), np.append(codes, d), [*deal, other_part])
            most = max(most, np.abs(more - replaced).sum())
    assert most == 2


def test_without_noise_it_estimates_what_algorithm_1_does():
    X, y = tell_by_all(n=40_000)
    ours, all_of_it = (
        BernoulliNB(1e7, method=method, schema=Schema.binary(4), random_state=7).fit(X, y)
        for method in ("partitioned", "published")
    )
    # a class and feature have about 5,000 records: four standard errors of a proportion
    np.testing.assert_allclose(np.exp(ours.feature_log_prob_), np.exp(all_of_it.feature_log_prob_), atol=0.03)


def test_classes_of_the_same_seed_are_spread_over_the_parts():
    y = np.random.default_rng(0).integers(2, size=2000)
    counts = contingency_of_partition(np.ones((2000, 2)), y, 2, rng=np.random.default_rng(0))[0, 0]
    np.testing.assert_allclose(counts, 500, atol=120)  # 6 standard deviations
