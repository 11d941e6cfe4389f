"""Private prediction by logistic regression: ranges against enumeration, each label is charged, only labels leave."""

import itertools
import pickle

import numpy as np
import pytest
from each_commit import others_in_full
from observing import Passed
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Exact

from dpml.budget import Budget
from dpml.classifiers import PrivatePredictionLR
from dpml.classifiers.private_prediction import (
    default_margin_lambda,
    default_n_parts,
    margin_range,
    margin_scores,
    minimisers,
    unit_records,
    vote_range,
    vote_scores,
    weights_of_parts,
)
from dpml.exceptions import BudgetExceeded, InvalidParameter, InvalidSchema, NoSecureSampler, NotPrivate
from dpml.mechanisms import boundary
from dpml.mechanisms.private import opened
from dpml.schema import Feature, Schema

ROWS = [np.array(r, float) for r in itertools.product((0, 1), repeat=2)]
QUERIES = np.array(ROWS)


def records(n_classes):
    return [(row, c) for row in ROWS for c in range(n_classes)]


def scores(rows, n_classes, method, reg_lambda):
    schema = Schema.binary(2)
    X = np.array([x for x, _ in rows]).reshape(-1, 2)
    codes = np.array([c for _, c in rows], dtype=np.intp)
    Z, Q = unit_records(X, schema), unit_records(QUERIES, schema)
    if method == "margin":
        return margin_scores(minimisers(Z, codes, n_classes, reg_lambda), Q)
    part = np.arange(len(rows)) % 3
    return vote_scores(weights_of_parts(Z, codes, part, 3, n_classes, reg_lambda), Q)


def spans(before, after):
    change = after - before
    return (change.max(axis=1) - change.min(axis=1)).max()


@pytest.mark.parametrize("reg_lambda", others_in_full([0.05, 1.0, 30.0], 1.0))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["margin", "votes"])
def test_the_range_of_the_change_against_all_small_neighbours(method, n_classes, reg_lambda):
    everything, most = records(n_classes), {"add-remove": 0.0, "replace-one": 0.0}
    bases = itertools.chain([()], ([r] for r in everything), itertools.combinations(everything[::2], 2))
    for base in bases:
        before = scores(list(base), n_classes, method, reg_lambda)
        after = [scores([*base, record], n_classes, method, reg_lambda) for record in everything]
        most["add-remove"] = max([most["add-remove"], *(spans(before, a) for a in after)])
        pairs = itertools.combinations(after, 2)
        most["replace-one"] = max([most["replace-one"], *(spans(a, b) for a, b in pairs)])
    for relation, found in most.items():
        bound = vote_range() if method == "votes" else margin_range(reg_lambda, n_classes, relation)
        # small tables reach every change of a vote; margins are far from their bound while few records pull
        assert (found == bound) if method == "votes" else (0.05 * bound < found <= bound)


class Parts(Passed):
    """An observer that assigns records to stated parts."""

    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def public_randomness(self, rng, draw, arguments, size):
        return np.array(self.parts) if size == len(self.parts) else 0  # the seed of the parts


@pytest.mark.parametrize("at", [0, 3, 6])
def test_a_record_anywhere_changes_the_vote_of_its_part_alone(at):
    """Parts that are assigned in turn change for every record after it."""
    rows, labels, parts = [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3, [0, 0, 0, 1, 1, 1], [0, 2, 1, 0, 2, 1]
    votes = []
    for place in (None, at):
        X, y, part = (list(of) for of in (rows, labels, parts))
        if place is not None:
            for of, value in ((X, [1.0, 1.0]), (y, 1), (part, 1)):
                of.insert(place, value)
        with boundary.observe(Parts(part)):
            model = PrivatePredictionLR(1.0, n_parts=3, schema=Schema.binary(2), random_state=0).fit(np.array(X), y)
        votes.append([theta.tolist() for theta in opened(model._theta)])
    assert [votes[0][k] == votes[1][k] for k in range(3)] == [True, False, True]


def test_records_and_queries_are_in_the_unit_ball_whatever_they_hold():
    rng = np.random.default_rng(0)
    X = (rng.random((50, 30)) < 0.5).astype(float)
    schema = Schema.binary(30, row_bound=4)
    dense, thin = unit_records(X, schema), unit_records(sparse.csr_array(X), schema)
    np.testing.assert_allclose(thin.toarray(), dense, atol=1e-15)
    assert np.linalg.norm(dense, axis=1).max() <= 1 + 1e-12
    numbers = Schema([Feature("a", "numeric", lower=0, upper=10), Feature("b")])
    ends = numbers.check_features(np.array([[0.0, 1], [10, 1], [5, 0]]))[0]
    unit = 1 / np.sqrt(3)
    np.testing.assert_allclose(unit_records(ends, numbers), unit * np.array([[-1, 1, 1], [1, 1, 1], [0, 0, 1]]))
    with pytest.raises(InvalidSchema, match="categorical"):
        PrivatePredictionLR(1.0, schema=Schema([Feature("c", "categorical", (0, 1, 2))])).fit([[0]], [0])


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int), y


WIDE = Schema.binary(5, n_lower=500)


def test_the_weights_are_those_of_scikit_learn():
    X, y = table()
    Z = unit_records(X, WIDE)
    exact = Exact(C=1 / 3.0, fit_intercept=False, tol=1e-10).fit(Z, y).coef_
    np.testing.assert_allclose(minimisers(Z, y, 2, 3.0), exact, atol=1e-5)


@pytest.mark.parametrize("method", ["margin", "votes"])
def test_labels_have_the_probabilities_of_the_mechanism(method):
    X, y = table()
    model = PrivatePredictionLR(0.4, method=method, n_parts=9, schema=WIDE, random_state=0).fit(X, y)
    query = np.repeat(X[:1], 40_000, axis=0)
    exact = opened(model._scores(query[:1]))[0]
    share = (model.predict(query) == 1).mean()
    # four standard errors of a proportion of 40,000 labels
    assert share == pytest.approx(softmax(0.4 * exact / model.change_range_)[1], abs=0.01)


@pytest.mark.parametrize("method", ["margin", "votes"])
def test_each_label_is_charged_before_it_is_drawn(method):
    X, y = table()
    budget = Budget(10.0)
    model = PrivatePredictionLR(0.5, method=method, schema=WIDE, budget=budget, random_state=0).fit(X, y)
    assert budget.spent == 0
    assert model.predict(X[:12]).shape == (12,)
    assert budget.spent == pytest.approx(6.0)
    with pytest.raises(BudgetExceeded):
        model.predict(X[:9])
    assert model.predict(X[:0]).shape == (0,)
    assert budget.spent == pytest.approx(6.0)


def test_only_labels_are_released():
    X, y = table()
    model = PrivatePredictionLR(1.0, schema=WIDE, random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotPrivate, match="cannot be pickled"):
        pickle.dumps(model)
    assert not any(isinstance(value, np.ndarray) for name, value in vars(model).items() if name != "classes_")
    with pytest.raises(NoSecureSampler):
        clone(model).set_params(release=True).fit(X, y)
    for name, value in (("epsilon", 0), ("method", "mean"), ("n_parts", 0), ("reg_lambda", 0.0), ("row_bound", 0)):
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            clone(model).set_params(random_state=0, **{name: value}).fit(X, y)


def test_public_rules():
    assert default_n_parts(Schema.binary(5, n_lower=10_000), 0.5) == 20
    assert default_n_parts(Schema.binary(5, n_lower=100), 0.5) == 5
    assert default_n_parts(Schema.binary(5), 0.5) == 1
    assert default_margin_lambda(0.5) == 10.0
    assert default_margin_lambda(0.5, "replace-one") == 20.0


def test_a_table_of_the_same_seed_is_spread_over_the_parts():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = (rng.random((2000, 3)) < np.where(y, 0.9, 0.1)[:, None]).astype(int)
    model = PrivatePredictionLR(50.0, schema=Schema.binary(3, n_lower=2000), n_parts=2, random_state=0).fit(X, y)
    assert model.predict([[1, 1, 1], [0, 0, 0]]).tolist() == [1, 0]
