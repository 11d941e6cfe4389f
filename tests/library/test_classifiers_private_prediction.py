"""Private prediction: the bound against enumeration, each label is charged, nothing else is to be had."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB

from dpml.budget import Budget
from dpml.classifiers import PrivatePredictionNB
from dpml.classifiers.naive_bayes.cells import Design, cell_counts
from dpml.classifiers.private_prediction import default_pseudocount, label_scores, release_labels, score_range
from dpml.exceptions import BudgetExceeded, InvalidParameter, NoSecureSampler, NotPrivate, RelationMismatch
from dpml.mechanisms import ExponentialMechanism
from dpml.schema import Feature, Schema

SCHEMA = Schema((Feature("c", "categorical", (0, 1, 2)), Feature("b")), (0, 1, 2), n_lower=200)
DESIGN = Design(SCHEMA, binary_cells=True)
RECORDS = [(list(r), c) for r in itertools.product((0, 1, 2), (0, 1)) for c in range(3)]
QUERIES = np.array(list(itertools.product((0, 1, 2), (0, 1))), float)


def scores(rows, alpha):
    X = np.array([r for r, _ in rows], float).reshape(-1, 2)
    counts = cell_counts(DESIGN, SCHEMA.check_features(X)[0], np.array([c for _, c in rows], dtype=np.intp), (2, 0))
    return label_scores(counts, DESIGN, SCHEMA.check_features(QUERIES)[0], alpha)


def spans(before, after):
    change = after - before
    return (change.max(axis=1) - change.min(axis=1)).max()


@pytest.mark.parametrize("alpha", others_in_full([0.3, 1.0, 20.0], 1.0))
def test_the_range_of_the_change_against_all_small_neighbours(alpha):
    most = {"add-remove": 0.0, "replace-one": 0.0}
    for base in itertools.chain([()], ([r] for r in RECORDS), itertools.combinations(RECORDS[::2], 2), [RECORDS * 9]):
        before = scores(list(base), alpha)
        after = {i: scores([*base, record], alpha) for i, record in enumerate(RECORDS)}
        most["add-remove"] = max([most["add-remove"], *(spans(before, a) for a in after.values())])
        pairs = itertools.combinations(after.values(), 2)
        most["replace-one"] = max([most["replace-one"], *(spans(a, b) for a, b in pairs)])
    for relation, found in most.items():
        bound = score_range(DESIGN.sizes, alpha, relation)
        # no small table reaches the bound: it drops terms that are small where the class is large
        assert 0.25 * bound < found <= bound + 1e-12


def test_a_replacement_is_a_removal_and_an_addition():
    assert score_range((3, 2), 1.0, "replace-one") == 2 * score_range((3, 2), 1.0, "add-remove")


def test_scores_are_the_log_posterior_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows = [RECORDS[i] for i in rng.integers(len(RECORDS), size=300)]
    ours = scores(rows, 2.0)
    X, y = np.array([r for r, _ in rows]), np.array([c for _, c in rows])
    theirs = CategoricalNB(alpha=2.0, min_categories=[3, 2]).fit(X, y)
    n = np.bincount(y)
    joint = theirs.predict_joint_log_proba(QUERIES.astype(int)) - theirs.class_log_prior_ + np.log(n + 2.0)
    np.testing.assert_allclose(ours - ours[:, :1], joint - joint[:, :1], atol=1e-10)


def test_labels_have_the_probabilities_of_the_mechanism():
    table = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.0]])
    labels = release_labels(table, 1.5, 0.7, draws=40_000, rng=np.random.default_rng(0))
    assert labels.shape == (40_000, 2)
    expected = ExponentialMechanism(1.5, 0.7).probabilities(table)
    for j in range(2):
        # four standard errors of a proportion of 40,000 draws
        np.testing.assert_allclose(np.bincount(labels[:, j], minlength=3) / 40_000, expected[j], atol=0.01)
    assert release_labels(np.empty((0, 2)), 1.0, 1.0, draws=3, rng=np.random.default_rng(0)).shape == (3, 0)


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    noisy = rng.random(n) < 0.2
    return pd.DataFrame({"c": np.where(noisy, rng.integers(3, size=n), y), "b": (rng.random(n) < 0.3 + 0.2 * y) * 1}), y


def test_each_label_is_charged_before_it_is_drawn():
    X, y = table()
    budget = Budget(10.0)
    model = PrivatePredictionNB(0.5, schema=SCHEMA, budget=budget, random_state=0).fit(X, y)
    assert budget.spent == 0
    assert model.predict(X.iloc[:12]).shape == (12,)
    assert budget.spent == pytest.approx(6.0)
    with pytest.raises(BudgetExceeded):
        model.predict(X.iloc[:9])
    assert model.predict(X.iloc[:0]).shape == (0,)
    assert budget.spent == pytest.approx(6.0)


def test_labels_are_right_at_a_large_epsilon_and_random_at_a_small_one():
    X, y = table(n=3000)
    good, bad = (
        PrivatePredictionNB(epsilon, schema=SCHEMA, random_state=0).fit(X, y).predict(X) for epsilon in (50.0, 1e-6)
    )
    assert (good == y).mean() > 0.8
    # a third is right by chance; four standard errors of 3,000 labels
    assert (bad == y).mean() == pytest.approx(1 / 3, abs=0.035)


def test_only_labels_are_released():
    model = PrivatePredictionNB(1.0, schema=SCHEMA, random_state=0).fit(*table())
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotPrivate, match="cannot be pickled"):
        pickle.dumps(model)
    assert pickle.loads(pickle.dumps(clone(model))).epsilon == 1.0
    with pytest.raises(NoSecureSampler):
        clone(model).set_params(release=True).fit(*table())
    for name, value in (("epsilon", 0), ("pseudocount", 0.0), ("n_bins", 1), ("relation", "swap")):
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            clone(model).set_params(**{name: value}).fit(*table())
    # its noise is that of the relation of the fit
    with pytest.raises(RelationMismatch, match="fitted for 'add-remove'"):
        model.set_params(relation="replace-one").predict(table()[0])


def test_the_pseudocount_is_a_public_rule():
    assert default_pseudocount(SCHEMA, 1.0) == 4.0
    assert default_pseudocount(SCHEMA, 1.0, "replace-one") == 8.0
    assert default_pseudocount(SCHEMA, 1e-3) == pytest.approx(200 / 3)
    assert default_pseudocount(SCHEMA, 1e3) == 1.0
