"""What wrappers charge covers what they hold: inner budgets, refusals by name, and records that are dropped."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from dpml.audit import recorded_cost
from dpml.budget import Budget, charge
from dpml.classifiers import BernoulliNB, LogisticRegression, MixedNB, PrivatePredictionNB
from dpml.counts import Contingency
from dpml.encoding import MixedEncoding
from dpml.estimators import spending_steps
from dpml.evaluation import private_cross_val_score, published_roc_curve
from dpml.exceptions import BudgetExceeded, DpmlError, InvalidParameter, NotPrivate
from dpml.schema import Schema
from dpml.selection import MaskSelector, NoisyScoreSelector, TopSelector
from dpml.selection.scores import change_range, scores_from_counts, sensitivity
from dpml.tuning import BestSelector, PrivateSearch

RELATIONS = ("add-remove", "replace-one")
BITS = Schema.binary(3)


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 3)) < 0.5).astype(float), rng.integers(2, size=n)


class Free(ClassifierMixin, BaseEstimator):
    """Says that it costs ε and charges nothing."""

    def __init__(self, epsilon=1.0, budget=None, relation="add-remove", schema=None, on_invalid="raise", release=False,
                 random_state=None):  # fmt: skip
        self.epsilon, self.budget, self.relation, self.schema = epsilon, budget, relation, schema
        self.on_invalid, self.release, self.random_state = on_invalid, release, random_state

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], 2), 0.5)

    def predict(self, X):
        return np.zeros(X.shape[0], dtype=int)


class Dear(Free):
    """Costs three times what it says."""

    def fit(self, X, y):
        charge(self.budget, self.relation, 3 * self.epsilon, label="three")
        return super().fit(X, y)


class Later(Free):
    """Charges at fit, and again for each table that it labels."""

    def fit(self, X, y):
        charge(self.budget, self.relation, self.epsilon, label="fit")
        return super().fit(X, y)

    def predict(self, X):
        charge(self.budget, self.relation, self.epsilon, label="labels")
        return super().predict(X)

    def predict_proba(self, X):
        self.predict(X)
        return super().predict_proba(X)


def best(estimator, budget):
    return BestSelector(1.0, estimator, schema=BITS, budget=budget, random_state=0).fit(*table())


def searched(estimator, budget):
    candidates = {"pseudocount": [1.0, 2.0]} if hasattr(estimator, "pseudocount") else [{}]
    return PrivateSearch(estimator, candidates, 1.0, schema=BITS, budget=budget, random_state=0).fit(*table())


def searched_around(estimator, budget):
    held = BestSelector(1.0, estimator)
    return PrivateSearch(held, [{}], 1.0, schema=BITS, budget=budget, random_state=0).fit(*table())


def validated(estimator, budget):
    return private_cross_val_score(estimator, *table(), 0.5, n_folds=3, budget=budget, rng=np.random.default_rng(0))


WRAPPERS = (best, searched, searched_around, validated)
DELTA_METHOD = LogisticRegression(1.0, method="noisy-descent", delta=1e-3, n_iterations=5)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("estimator", "error"),
    [
        (PrivatePredictionNB(1.0), NotPrivate),
        (Free(), NotPrivate),
        (Dear(), BudgetExceeded),
        (MixedNB(1.0, method="vaidya"), BudgetExceeded),
        (MixedNB(1.0, method="published"), NotPrivate),
        (MixedNB(1.0, method="smooth", noise="arsinh-normal"), BudgetExceeded),
        (GridSearchCV(BernoulliNB(1.0), {"pseudocount": [1.0]}), NotPrivate),
        (GaussianNB(), NotPrivate),
    ],
)
def test_an_untrue_cost_is_refused_by_name_uncharged(wrapper, estimator, error):
    budget = Budget(100.0, 0.1)
    # by the estimator's name, or by the method's where the estimator itself refuses the inner budget
    with pytest.raises(error, match=f"{type(estimator).__name__}|method = 'published'"):
        wrapper(estimator, budget)
    assert budget.spent == 0


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_later_releases_spend_from_the_inner_budget(wrapper):
    """A fit that charges all of its inner budget leaves nothing for labels."""
    budget = Budget(100.0, 0.1)
    with pytest.raises(BudgetExceeded):
        wrapper(Later(), budget).predict(table()[0])


def test_only_a_delta_that_is_used_is_charged():
    for estimator, delta in ((DELTA_METHOD, 1e-3), (LogisticRegression(1.0, method="objective", delta=1e-3), 0.0)):
        budget = Budget(100.0, 0.1)
        best(estimator, budget)
        assert budget.ledger[["epsilon", "delta"]].to_numpy().tolist() == [[1.0, delta]]
        budget = Budget(100.0, 0.1)
        validated(estimator, budget)
        assert budget.ledger[["epsilon", "delta"]].to_numpy().tolist() == [[2.5, 2 * delta]]
    with pytest.raises(BudgetExceeded, match="BestSelector"):
        searched_around(DELTA_METHOD, Budget(100.0, 0.1))
    with pytest.raises(BudgetExceeded):
        best(DELTA_METHOD, Budget(100.0))


def test_cross_validation_bounds_the_cost_of_each_fit():
    class Spendthrift(BernoulliNB):
        def fit(self, X, y):
            self.budget.spend(2 * self.epsilon)
            return super().fit(X, y)

    with pytest.raises(BudgetExceeded, match="Spendthrift"):
        validated(Spendthrift(1.0), None)
    with pytest.raises(NotPrivate, match="StandardScaler"):
        validated(make_pipeline(StandardScaler(), BernoulliNB(1.0)), None)
    budget = Budget(9.0)
    pipeline = make_pipeline(FunctionTransformer(), TopSelector(0.5, 2), BernoulliNB(1.0))
    validated(pipeline, budget)
    assert budget.spent == 3.5


def halves(X):
    return X / 2


def test_an_encoding_that_raises_for_a_record_is_no_step_of_a_release():
    pipeline = make_pipeline(MixedEncoding(BITS), BernoulliNB(1.0, schema=BITS, release=True))
    with pytest.raises(NotPrivate, match="pass on_invalid='clip'"):
        spending_steps(pipeline)
    for nested in (make_pipeline(pipeline[0], make_pipeline(pipeline[-1])), make_pipeline(make_pipeline(*pipeline))):
        with pytest.raises(NotPrivate, match="depends on a record"):
            spending_steps(nested)
    assert spending_steps(pipeline.set_params(mixedencoding__on_invalid="clip")) == [pipeline[-1]]
    assert spending_steps(make_pipeline(MixedEncoding(BITS), BernoulliNB(1.0, schema=BITS)))


@pytest.mark.parametrize(
    ("before", "covered"),
    [(FunctionTransformer(halves), True), ("passthrough", True), (MinMaxScaler(), False), (StandardScaler(), False)],
)
def test_a_covered_pipeline_costs_its_epsilon(before, covered):
    pytest.importorskip("opendp")
    X, y = table(60)
    X[:, 0] = np.arange(60) % 2
    data, neighbour = (X, y), (np.vstack([X, [9.0, 0.0, 0.0]]), np.append(y, 1))
    pipeline = make_pipeline(before, BernoulliNB(1.0, row_bound=1, schema=BITS, release=True))
    with nullcontext() if covered else pytest.raises(NotPrivate, match="takes no ε and no budget"):
        spending_steps(pipeline)
    cost = recorded_cost(lambda data: clone(pipeline).fit(*data), data, neighbour)
    assert (cost <= 1 + 1e-9) == covered


def test_an_inner_budget_is_under_the_wrappers_relation():
    for relation, other in itertools.permutations(RELATIONS):
        held = BernoulliNB(1.0, relation=other)
        model = BestSelector(1.0, held, relation=relation, schema=BITS, random_state=0).fit(*table())
        assert model.classifier_.relation == model.classifier_.budget.relation == relation
        with pytest.raises(DpmlError, match="relation"):
            private_cross_val_score(held, *table(), 0.5, relation=relation, rng=np.random.default_rng(0))


def test_refused_pieces_say_what_is_missing():
    class Bare(Free):
        def __init__(self, epsilon=1.0, budget=None):
            super().__init__(epsilon, budget)

    with pytest.raises(InvalidParameter, match="'schema'"):
        best(Bare(), None)
    with pytest.raises(InvalidParameter, match="'relation'"):
        searched(Bare(), None)


# ---- records that are dropped ----------------------------------------------------------------------------------------


def test_fixed_space_thresholds_use_the_given_number():
    scores = np.linspace(0, 1, 50)
    labels = [0, 1] * 25

    def call(labels):
        rng = np.random.default_rng(0)
        options = {"method": "fixed-space", "relation": "replace-one", "on_invalid": "clip", "rng": rng}
        return published_roc_curve(labels, scores, 1.0, **options)

    assert 0 < recorded_cost(call, labels, [*labels[:-1], "odd"]) <= 1 + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("make", [MaskSelector, TopSelector, NoisyScoreSelector])
@pytest.mark.parametrize("n_lower", [2, 10, 30, 400])
def test_mutual_information_counts_null_records(relation, make, n_lower):
    """ε >= 4.5 before: a table of few records, of which the schema says that there are many."""
    schema = Schema.binary(3, n_lower=n_lower)
    few = np.array([[1, 0, 0], [0, 1, 1]], dtype=float)

    def call(data):
        return make(1.0, 1, "mutual_information", schema=schema, relation=relation, on_invalid="clip").fit(*data)

    one, two = (few, [1, 0]), (few, [1, "odd"] if relation == "replace-one" else [1, 0])
    if relation == "add-remove":
        one = (few[:1], [1])
    assert recorded_cost(call, one, two) <= 1 + 1e-9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("stated", [1, 3, 5])
def test_null_records_keep_the_range_of_mutual_information(n_classes, stated):
    """All tables of up to four records of two features, and every record that comes to them."""
    records = [(x, c) for x in itertools.product((0, 1), repeat=2) for c in range(n_classes)]

    def value(rows):
        on, n = np.zeros((n_classes, 2)), np.zeros(n_classes)
        for x, c in rows:
            on[c] += x
            n[c] += 1
        return scores_from_counts(Contingency(on, n), "mutual_information", stated)

    step = width = 0.0
    for size in range(4 if n_classes == 3 else 5):
        for rows in itertools.combinations_with_replacement(records, size):
            if size + 1 < stated or size >= stated:
                for new in records:
                    change = value([*rows, new]) - value(rows)
                    step, width = max(step, np.abs(change).max()), max(width, np.ptp(change))
    facts = {"n_rows": stated}
    assert step <= sensitivity("mutual_information", "add-remove", **facts) + 1e-12
    assert width <= change_range("mutual_information", "add-remove", 2, n_classes=n_classes, **facts) + 1e-12
