"""Private prediction: ranges against enumeration, each label is charged, and only labels are released."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from observing import Passed
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Exact
from sklearn.naive_bayes import CategoricalNB

from dpml.budget import Budget
from dpml.classifiers import PrivatePredictionLR, PrivatePredictionNB
from dpml.classifiers.naive_bayes.cells import Design, cell_counts
from dpml.classifiers.private_prediction import (
    default_margin_lambda,
    default_pseudocount,
    label_scores,
    margin_range,
    margin_scores,
    minimisers,
    release_labels,
    score_range,
    unit_records,
    vote_range,
    vote_scores,
    weights_of_parts,
)
from dpml.exceptions import (
    BudgetExceeded,
    InvalidSchema,
    NoSecureSampler,
    NotPrivate,
    RelationMismatch,
)
from dpml.mechanisms import ExponentialMechanism, boundary
from dpml.mechanisms.private import opened
from dpml.schema import Feature, Schema

SCHEMA = Schema((Feature("c", "categorical", (0, 1, 2)), Feature("b")), (0, 1, 2), n_lower=200)
DESIGN = Design(SCHEMA, binary_cells=True)
RECORDS = [(list(r), c) for r in itertools.product((0, 1, 2), (0, 1)) for c in range(3)]
QUERIES = np.array(list(itertools.product((0, 1, 2), (0, 1))), float)
WIDE = Schema.binary(5, n_lower=500)


# ---- the range of the scores ----------------------------------------------------------------------------------------


def scores(rows, alpha):
    X = np.array([r for r, _ in rows], float).reshape(-1, 2)
    counts = cell_counts(DESIGN, SCHEMA.check_features(X)[0], np.array([c for _, c in rows], dtype=np.intp), (2, 0))
    return label_scores(counts, DESIGN, SCHEMA.check_features(QUERIES)[0], alpha)


def linear_scores(rows, n_classes, method, reg_lambda):
    schema, codes = Schema.binary(2), np.array([c for _, c in rows], dtype=np.intp)
    Z = unit_records(np.array([x for x, _ in rows], float).reshape(-1, 2), schema)
    Q = unit_records(np.array(list(itertools.product((0, 1), repeat=2)), float), schema)
    if method == "margin":
        return margin_scores(minimisers(Z, codes, n_classes, reg_lambda), Q)
    return vote_scores(weights_of_parts(Z, codes, np.arange(len(rows)) % 3, 3, n_classes, reg_lambda), Q)


def largest_spans(scores_of, records, bases):
    """Return the largest range of the change of a query's scores between neighbours, for each relation."""

    def spans(before, after):
        change = after - before
        return (change.max(axis=1) - change.min(axis=1)).max()

    most = {"add-remove": 0.0, "replace-one": 0.0}
    for base in bases:
        before, after = scores_of(list(base)), [scores_of([*base, record]) for record in records]
        most["add-remove"] = max([most["add-remove"], *(spans(before, a) for a in after)])
        pairs = itertools.combinations(after, 2)
        most["replace-one"] = max([most["replace-one"], *(spans(a, b) for a, b in pairs)])
    return most


@pytest.mark.parametrize("alpha", others_in_full([0.3, 1.0, 20.0], 1.0))
def test_the_range_of_the_change_against_all_small_neighbours(alpha):
    bases = [(), *([r] for r in RECORDS[::2]), *itertools.combinations(RECORDS[::4], 2), RECORDS * 9]
    for relation, found in largest_spans(lambda rows: scores(rows, alpha), RECORDS, bases).items():
        bound = score_range(DESIGN.sizes, alpha, relation)
        # no small table reaches the bound: it drops terms that are small where the class is large
        assert 0.25 * bound < found <= bound + 1e-12


@pytest.mark.parametrize("reg_lambda", others_in_full([0.05, 1.0, 30.0], 1.0))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["margin", "votes"])
def test_ranges_of_linear_scores_against_small_neighbours(method, n_classes, reg_lambda):
    records = [(row, c) for row in itertools.product((0, 1), repeat=2) for c in range(n_classes)]
    bases = [(), *([r] for r in records[::2]), *itertools.combinations(records[::3], 2)]
    spans = largest_spans(lambda rows: linear_scores(rows, n_classes, method, reg_lambda), records, bases)
    for relation, found in spans.items():
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


def test_records_and_queries_are_in_the_unit_ball():
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


# ---- scores and labels ----------------------------------------------------------------------------------------------


def test_scores_are_the_log_posterior_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows = [RECORDS[i] for i in rng.integers(len(RECORDS), size=300)]
    ours = scores(rows, 2.0)
    X, y = np.array([r for r, _ in rows]), np.array([c for _, c in rows])
    theirs = CategoricalNB(alpha=2.0, min_categories=[3, 2]).fit(X, y)
    joint = theirs.predict_joint_log_proba(QUERIES.astype(int)) - theirs.class_log_prior_ + np.log(np.bincount(y) + 2.0)
    np.testing.assert_allclose(ours - ours[:, :1], joint - joint[:, :1], atol=1e-10)


def test_the_weights_are_those_of_scikit_learn():
    X, y = binary_table()
    Z = unit_records(X, WIDE)
    exact = Exact(C=1 / 3.0, fit_intercept=False, tol=1e-10).fit(Z, y).coef_
    np.testing.assert_allclose(minimisers(Z, y, 2, 3.0), exact, atol=1e-5)


def test_labels_have_the_probabilities_of_the_mechanism():
    table = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.0]])
    labels = release_labels(table, 1.5, 0.7, draws=40_000, rng=np.random.default_rng(0))
    assert labels.shape == (40_000, 2)
    expected = ExponentialMechanism(1.5, 0.7).probabilities(table)
    for j in range(2):
        # four standard errors of a proportion of 40,000 draws
        np.testing.assert_allclose(np.bincount(labels[:, j], minlength=3) / 40_000, expected[j], atol=0.01)
    assert release_labels(np.empty((0, 2)), 1.0, 1.0, draws=3, rng=np.random.default_rng(0)).shape == (3, 0)


# ---- the estimators -------------------------------------------------------------------------------------------------


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    noisy = rng.random(n) < 0.2
    return pd.DataFrame({"c": np.where(noisy, rng.integers(3, size=n), y), "b": (rng.random(n) < 0.3 + 0.2 * y) * 1}), y


def binary_table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int), y


MODELS = {
    "naive Bayes": (PrivatePredictionNB(0.5, schema=SCHEMA, random_state=0), table),
    "votes": (PrivatePredictionLR(0.5, method="votes", n_parts=9, schema=WIDE, random_state=0), binary_table),
    "margin": (PrivatePredictionLR(0.5, method="margin", schema=WIDE, random_state=0), binary_table),
}


@pytest.fixture(params=MODELS)
def model_and_data(request):
    model, data = MODELS[request.param]
    return clone(model), *data()


@pytest.mark.parametrize(("relation", "expected"), [("add-remove", 12.0), ("replace-one", 24.0)])
def test_default_pseudocount_weighs_what_the_noise_can_change(relation, expected):
    assert default_pseudocount(Schema.binary(3, n_lower=1000), 0.5, relation) == expected


@pytest.mark.parametrize(("relation", "expected"), [("add-remove", 10.0), ("replace-one", 20.0)])
def test_default_lambda_of_margins_is_five_times_the_noise(relation, expected):
    assert default_margin_lambda(0.5, relation) == expected


def test_labels_are_drawn_by_the_range_of_the_scores(model_and_data):
    model, X, y = model_and_data
    model.fit(X, y)
    query = X.iloc[[0] * 40_000] if isinstance(X, pd.DataFrame) else np.repeat(X[:1], 40_000, axis=0)
    exact = opened(model._scores(model._checked(query[:1])))
    expected = ExponentialMechanism(0.5, model.change_range_).probabilities(exact)[0]
    # four standard errors of a proportion of 40,000 labels
    np.testing.assert_allclose(np.bincount(model.predict(query), minlength=len(expected)) / 40_000, expected, atol=0.01)


def test_each_label_is_charged_before_it_is_drawn(model_and_data):
    model, X, y = model_and_data
    budget = Budget(10.0)
    model.set_params(budget=budget).fit(X, y)
    assert budget.spent == 0
    assert model.predict(X[:12]).shape == (12,)
    assert budget.spent == pytest.approx(6.0)
    with pytest.raises(BudgetExceeded):
        model.predict(X[:9])
    assert model.predict(X[:0]).shape == (0,)
    assert budget.spent == pytest.approx(6.0)


def test_only_labels_are_released(model_and_data):
    model, X, y = model_and_data
    model.fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotPrivate, match="cannot be pickled"):
        pickle.dumps(model)
    assert pickle.loads(pickle.dumps(clone(model))).epsilon == 0.5
    public = {"classes_", "feature_names_in_"}
    assert not any(isinstance(value, np.ndarray) for name, value in vars(model).items() if name not in public)
    with pytest.raises(NoSecureSampler):
        clone(model).set_params(release=True).fit(X, y)
    # its noise is that of the relation of the fit
    with pytest.raises(RelationMismatch, match="fitted for 'add-remove'"):
        model.set_params(relation="replace-one").predict(X)


def test_a_table_of_the_same_seed_is_spread_over_the_parts():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = (rng.random((2000, 3)) < np.where(y, 0.9, 0.1)[:, None]).astype(int)
    model = PrivatePredictionLR(50.0, schema=Schema.binary(3, n_lower=2000), n_parts=2, random_state=0).fit(X, y)
    assert model.predict([[1, 1, 1], [0, 0, 0]]).tolist() == [1, 0]
