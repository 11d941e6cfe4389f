"""BestSelector and the plan it follows: what its three steps cost, what its public rule says, and the interface."""

import importlib
import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_some
from observing import observing
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression

from dpml.classifiers import BernoulliNB, LogisticRegression
from dpml.counts import contingency
from dpml.datasets import load
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import PermuteAndFlip
from dpml.schema import Feature, Schema
from dpml.selection import (
    TopSelector,
    plan,
)
from dpml.selection.plan import best_single_feature
from dpml.studies.accuracy import SelectionStudy, accuracy_of_selected, majority_accuracy
from dpml.tuning import BestSelector

# the name `dpml.selection.plan` is the function's
planning = importlib.import_module("dpml.selection.plan")

table = partial(told_by_some, {2: 0.95}, n=2000, D=8, rate=0.3)


@pytest.mark.parametrize(("n_classes", "most"), [(2, 3), (3, 2)])
@pytest.mark.parametrize(
    ("statistic", "unit"),
    [(best_single_feature, 1), (lambda counts: planning.few_statistic(counts, 1), planning.OF)],
    ids=["words", "attributes"],
)
def test_a_record_changes_what_is_looked_at_by_its_unit(statistic, unit, n_classes, most):
    """All tables of a few records of two features, and all that one more or another record can do."""
    records = [(x, c) for x in itertools.product((0, 1), repeat=2) for c in range(n_classes)]

    def value(rows):
        X = np.array([x for x, _ in rows], dtype=float).reshape(len(rows), 2)
        return statistic(contingency(X, np.array([c for _, c in rows], dtype=int), n_classes))

    added, replaced = set(), set()
    for rows in itertools.combinations_with_replacement(records, most):
        whole = value(rows)
        for new in records:
            added.add(value([*rows, new]) - whole)
            replaced.add(value([*rows[1:], new]) - whole)
    assert 0 < max(map(abs, added)) <= unit
    assert max(map(abs, replaced)) <= 2 * unit


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize(("others", "few"), [(0.5, True), (0.95, False)])
def test_one_attribute_is_enough_only_where_little_is_left(others, few, release):
    """The first attribute tells half of the classes apart in both tables; the second the rest, in one of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(4 if not few else 2, size=6000)
    first, second = y // 2 if not few else y, y % 2
    noisy = np.where(rng.random(6000) < others, second, 1 - second)
    cells = [np.where(rng.random(6000) < 0.97, first, 1 - first), noisy, rng.integers(2, size=6000)]
    X = np.column_stack([column == value for column in cells for value in (0, 1)]).astype(float)
    features = tuple(Feature(f"{a}={v}", block=str(a), exhaustive=True) for a in range(3) for v in (0, 1))
    schema = Schema(features, tuple(range(y.max() + 1)), n_lower=6000)
    seed = {} if release else {"random_state": 0}
    model = BestSelector(1.0, schema=schema, release=release, **seed).fit(X, y)
    assert model.few_ == few
    if not few:
        assert np.mean(model.predict(X) == y) > 0.85  # one attribute alone has 0.49


def test_a_release_clips_cells_outside_their_domain():
    X, y = table(n=500)
    X = np.array(X)
    X[0, 0] = 7
    model = BestSelector(1.0, schema=Schema.binary(8, n_lower=400))
    with pytest.raises(InvalidData):
        model.fit(X, y)
    assert len(model.set_params(release=True).fit(X, y).predict(X[1:])) == 499


def test_a_release_takes_no_seed():
    X, y = table(n=500)
    with pytest.raises(InvalidParameter, match="random_state"):
        BestSelector(1.0, schema=Schema.binary(8, n_lower=400), release=True, random_state=0).fit(X, y)


def test_the_best_single_feature_is_what_a_stump_gets_right():
    X, y = table(n=500)
    right = max(max(((X[:, j] == v) == y).sum() for v in (0, 1)) for j in range(8))
    assert best_single_feature(contingency(X, y, 2)) == right - np.bincount(y).max()


ONE_HOT = Schema([Feature(f"{a}={v}", block=a, exhaustive=True) for a in "abcdefgh" for v in range(9)], n_lower=20_000)


@pytest.mark.parametrize("schema", [Schema.binary(900, n_lower=1000), Schema.binary(900, n_lower=200_000), ONE_HOT])
def test_replace_one_plans_with_half_of_epsilon(schema):
    one, other = plan(schema, 0.3), plan(schema, 0.6, "replace-one")
    assert other == replace(one, epsilon_look=other.epsilon_look)
    assert other.epsilon_look == pytest.approx(2 * one.epsilon_look)


@pytest.mark.parametrize(("relation", "factor"), [("add-remove", 1), ("replace-one", 2)])
@pytest.mark.parametrize(("schema", "unit"), [(Schema.binary(900, n_lower=1000), 1), (ONE_HOT, planning.OF)])
def test_the_noise_of_a_look_is_for_the_change_by_a_record(schema, unit, relation, factor):
    X, codes = np.eye(schema.n_features)[:20], np.arange(20) % 2
    options = {"relation": relation, "rng": np.random.default_rng(0)}
    with observing() as passed:
        choice = planning.choose_features(X, codes, schema, 3.0, **options)
    look = passed.of(PermuteAndFlip)[0]
    assert look.scale * choice.plan.epsilon_look == pytest.approx(unit * factor)


def test_public_decisions_leave_all_of_epsilon_to_the_model():
    schema = Schema.binary(100, n_lower=5000)
    steps = plan(schema, 0.1)
    assert (steps.epsilon_look, steps.few) == (0.0, False)
    X, y = table(n=5000, D=100)
    model = BestSelector(0.1, schema=schema, random_state=0).fit(X, y)
    assert model.get_support().all()
    assert model.classifier_.epsilon == 0.1
    plain = BernoulliNB(0.1, schema=schema, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_naive_bayes_selects_as_best_selector_does():
    """The same draws: look, choice and counts in one order; features that were not kept say nothing."""
    X, y = table(n=5000)
    schema = Schema.binary(8, row_bound=6, n_lower=4500)
    alone = BernoulliNB(0.5, schema=schema, random_state=0).fit(X, y)
    best = BestSelector(0.5, schema=schema, random_state=0).fit(X, y)
    np.testing.assert_array_equal(alone.selected_, best.get_support())
    assert 0 < alone.selected_.sum() < 8
    np.testing.assert_allclose(alone.predict_proba(X), best.predict_proba(X), rtol=1e-9)
    log_odds = alone.feature_log_prob_ - alone._feature_log_off
    assert (log_odds[:, ~alone.selected_] == 0).all()
    plain = BernoulliNB(0.5, schema=schema, selection="none", random_state=0).fit(X, y)
    assert plain.selected_.all()
    with pytest.raises(InvalidParameter, match=r"`selection` must be .*Got 'some'"):
        BernoulliNB(0.5, selection="some").fit(X, y)


def test_few_features_are_kept_where_one_predicts():
    X, y = table(n=5000)
    schema = Schema.binary(8, row_bound=6, n_lower=4500)
    few = BestSelector(0.5, schema=schema, random_state=0).fit(X, y)
    assert few.few_
    assert few.get_support()[2]
    assert few.score(X, y) > 0.9
    toy = load("toy")
    spread = BestSelector(1.0, schema=toy.schema, random_state=0).fit(toy.X_train, toy.y_train)
    assert not spread.few_
    assert spread.score(toy.X_test, toy.y_test) > 0.8


def test_a_large_epsilon_is_the_plain_classifier_on_what_is_kept():
    X, y = table(n=5000)
    schema = Schema.binary(8, row_bound=6, n_lower=4500)
    model = BestSelector(1e7, LogisticRegression(1.0, reg_lambda=1.0), schema=schema, random_state=0).fit(X, y)
    kept = X[:, model.get_support()]
    plain = PlainLogisticRegression(C=1.0).fit(kept, y)
    assert (model.predict(X) == plain.predict(kept)).mean() > 0.999


def test_a_selection_study_is_selection_then_training():
    data = load("toy")
    study = SelectionStudy(data, TopSelector(1.0, 5, "count"), BernoulliNB(1.0, row_bound=2), relation="replace-one")
    result = study(2.0, draws=3, rng=np.random.default_rng(0), selection_share=0.25, n_features=4)
    assert result["selected"].tolist() == [4.0] * 3
    rng = np.random.default_rng(0)
    selector = TopSelector(0.5, 4, "count", relation="replace-one")
    masks = selector.masks(contingency(data.X_train, data.y_train, 2), data.schema, draws=3, rng=rng)
    model = BernoulliNB(1.5, row_bound=2, relation="replace-one")
    expected = [accuracy_of_selected(data, mask, model, rng) for mask in masks]
    assert result["accuracy"].tolist() == expected
    assert accuracy_of_selected(data, np.zeros(40, dtype=bool), model, rng) == majority_accuracy(data)
