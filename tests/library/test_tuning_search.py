"""Private tuning: the parts of the records, the cost of each step, random stopping, and the estimator."""

import itertools

import numpy as np
import pandas as pd
import pytest
from observing import observing
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline
from tuning_table import table

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, LogisticRegression
from dpml.classifiers.linear import LinearSVC
from dpml.estimators import PrivateEstimator
from dpml.exceptions import BudgetExceeded, InvalidParameter, NoSecureSampler, NotPrivate
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.private import Private, opened
from dpml.mechanisms.secure import noisy_max
from dpml.schema import Schema
from dpml.selection import TopSelector
from dpml.tuning import (
    BestSelector,
    PrivateSearch,
    random_stopping,
    search_costs,
    stopping_distribution,
    stopping_epsilon,
    truncated_negative_binomial,
)
from dpml.tuning.search import (
    VALIDATION,
    Records,
    choice_range,
    correct_predictions,
    mean_of,
    split_records,
    stable_score_of,
)
from dpml.tuning.stopping import expected_runs

RELATIONS = ("add-remove", "replace-one")


# ---- parts of the records -------------------------------------------------------------------------------------------


def test_each_record_has_a_coin_of_its_own():
    n = 30_000
    parts = split_records(n, 3, 0.4, rng=np.random.default_rng(0))
    shares = np.bincount(parts + 1) / n
    np.testing.assert_allclose(shares, [0.4, 0.2, 0.2, 0.2], atol=5 * np.sqrt(0.24 / n))
    more = split_records(n + 1, 3, 0.4, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(more[:-1], parts)
    assert set(split_records(50, 1, 0.5, rng=np.random.default_rng(1))) == {VALIDATION, 0}


def test_coins_are_not_the_numbers_of_a_table_of_the_same_seed():
    drawn = np.random.default_rng(0).random(2000)
    parts = split_records(2000, 1, 0.5, rng=np.random.default_rng(0))
    assert abs(np.corrcoef(drawn, parts)[0, 1]) < 0.14  # 6 standard deviations


def releases(records, training, epsilon, relation, place):
    """The exact distribution of (chosen candidate, its model) of a search over two randomised responses.

    Candidate 0 answers whether a training record is a 1, candidate 1 whether one is a 0; the model is the answer, and
    its score the number of validation records that equal it. `place` gives the parts and their probabilities.
    """
    costs = search_costs(epsilon, 2, training=training, retrain_share=0.0)
    truth = np.exp(costs["train"]) / (1 + np.exp(costs["train"]))
    mechanism = PermuteAndFlip(costs["select"], choice_range(relation))
    total = np.zeros((2, 2))
    for parts, weight in place(records):
        own = [
            [r for r, p in zip(records, parts, strict=True) if p == (k if training == "disjoint" else 0)]
            for k in (0, 1)
        ]
        held = [r for r, p in zip(records, parts, strict=True) if p == VALIDATION]
        answers = [float(1 in own[0]), float(0 in own[1])]
        for models in itertools.product((0, 1), repeat=2):
            chance = np.prod([truth if m == a else 1 - truth for m, a in zip(models, answers, strict=True)])
            scores = [sum(r == m for r in held) for m in models]
            for k, p in enumerate(mechanism.probabilities(np.array(scores, dtype=float))):
                total[k, models[k]] += weight * chance * p
    return total


def by_coins(training):
    options = (VALIDATION, 0, 1) if training == "disjoint" else (VALIDATION, 0)
    chances = {VALIDATION: 0.4, 0: 0.3 if training == "disjoint" else 0.6, 1: 0.3}

    def place(records):
        for parts in itertools.product(options, repeat=len(records)):
            yield parts, np.prod([chances[p] for p in parts])

    return place


def largest_loss(training, epsilon, relation, place):
    worst = 0.0
    for records in itertools.product((0, 1), repeat=3):
        others = [records[:-1]] if relation == "add-remove" else [(*records[:-1], 1 - records[-1])]
        first = releases(records, training, epsilon, relation, place)
        for other in others:
            ratio = np.log(first / releases(other, training, epsilon, relation, place))
            worst = max(worst, np.abs(ratio).max())
    return worst


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("training", ["disjoint", "shared"])
def test_parts_pay_the_largest_and_not_the_sum(training, relation):
    """Over all coins and all tables of three records: all of ε for training and all of it for the choice cost ε."""
    assert largest_loss(training, 1.5, relation, by_coins(training)) <= 1.5
    # for any coins that are known the bound holds as well, and there it is reached
    options = itertools.product((VALIDATION, 0, 1) if training == "disjoint" else (VALIDATION, 0), repeat=3)
    worst = max(
        largest_loss(training, 1.5, relation, lambda records, parts=parts: [(parts[: len(records)], 1.0)])
        for parts in options
    )
    assert worst <= 1.5 + 1e-9
    if training == "disjoint":
        assert worst > 0.75


def test_a_part_by_content_costs_more_under_replace_one():
    """Ones train and zeros validate, so a replaced record leaves one part for the other: both pay."""

    def by_content(records):
        return [(tuple(0 if r else VALIDATION for r in records), 1.0)]

    def loss(relation):
        return largest_loss("disjoint", 1.0, relation, by_content)

    assert loss("add-remove") <= 1.0 + 1e-9
    assert loss("replace-one") > 1.1


# ---- what is spent --------------------------------------------------------------------------------------------------


PIPELINE = Pipeline([("select", TopSelector(1.0, 3, "count")), ("nb", BernoulliNB(1.0, selection="none"))])


@pytest.mark.parametrize(
    ("estimator", "candidates"),
    [
        (BernoulliNB(1.0), {"row_bound": [1, 2, 3]}),
        (LogisticRegression(1.0, method="objective"), {"reg_lambda": [1.0, 30.0]}),
        (BestSelector(1.0, BernoulliNB(1.0)), [{"classifier__row_bound": 1}, {"classifier__row_bound": 4}]),
        (PIPELINE, {"select__n_features": [1, 3], "nb__epsilon": [1.0, 3.0]}),
    ],
    ids=["row bound", "lambda", "inside BestSelector", "number of features and split"],
)
@pytest.mark.parametrize("method", ["permute-and-flip", "random-stopping"])
def test_any_parameter_is_tuned_and_the_ledger_has_the_cost(estimator, candidates, method):
    X, y = table()
    budget = Budget(2.0)
    search = PrivateSearch(estimator, candidates, 1.5, method=method, budget=budget, random_state=0)
    search.fit(X, y)
    assert budget.ledger["epsilon"].tolist() == [1.5]
    assert budget.spent == search.costs_["total"] == 1.5
    assert search.best_params_ == search.candidates_[search.best_index_]
    assert search.predict(X).shape == (600,)
    assert search.score(X, y) > 0.6


# ---- random stopping ------------------------------------------------------------------------------------------------

ETAS = (-0.5, 0.0, 0.5, 1.0, 3.0)


def probability_of_runs(k, eta, gamma):
    """The definition, up to k runs, by its recurrence from K = 1."""
    weights = np.cumprod(np.concatenate([[1.0], (1 - gamma) * (np.arange(1, k) + eta) / np.arange(2, k + 1)]))
    first = gamma**eta * eta * (1 - gamma) / (1 - gamma**eta) if eta else (1 - gamma) / -np.log(gamma)
    return first * weights


@pytest.mark.parametrize("eta", ETAS)
def test_numbers_of_runs_have_the_stated_distribution(eta):
    gamma, n = 0.2, 40_000
    p = probability_of_runs(400, eta, gamma)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert expected_runs(eta, gamma) == pytest.approx(np.arange(1, 401) @ p)
    runs = truncated_negative_binomial(eta, gamma, rng=np.random.default_rng(0), size=n)
    assert runs.min() >= 1
    cells = 8
    seen = np.append(np.bincount(runs, minlength=cells + 1)[1 : cells + 1], (runs > cells).sum())
    expected = n * np.append(p[:cells], p[cells:].sum())
    # a false alarm has probability 1e-6
    assert ((seen - expected) ** 2 / expected).sum() < stats.chi2.ppf(1 - 1e-6, cells)
    assert abs(runs.mean() - expected_runs(eta, gamma)) < 5 * runs.std() / np.sqrt(n)


@pytest.mark.parametrize("eta", ETAS)
def test_the_closed_form_is_the_mixture_over_runs(eta):
    q, gamma = np.array([0.5, 0.3, 0.0, 0.2]), 0.3
    runs = probability_of_runs(300, eta, gamma)
    below = np.concatenate([[0.0], np.cumsum(q)])
    best = [runs @ (below[i + 1] ** np.arange(1, 301) - below[i] ** np.arange(1, 301)) for i in range(4)]
    np.testing.assert_allclose(stopping_distribution(q, eta, gamma), best, atol=1e-12)


def test_random_stopping_draws_from_the_closed_form():
    q, gamma, n = np.array([0.6, 0.3, 0.1]), 0.3, 6000

    def run(rng):
        k = int(rng.choice(3, p=q))
        return "abc"[k], float(k)

    found = random_stopping(run, 0.5, eta=1.0, gamma=gamma, rng=np.random.default_rng(0), draws=n)
    assert all("abc"[int(score)] == outcome for outcome, score in found)
    seen = np.bincount([int(score) for _, score in found], minlength=3)
    expected = n * stopping_distribution(q, 1.0, gamma)
    assert ((seen - expected) ** 2 / expected).sum() < stats.chi2.ppf(1 - 1e-6, 2)


@pytest.mark.parametrize("eta", ETAS)
def test_stopping_costs_no_more_than_stated(eta):
    """Random pairs of base mechanisms at ε₀, by ratio."""
    rng = np.random.default_rng(0)
    epsilon, worst = 0.7, 0.0
    for _ in range(400):
        q = rng.dirichlet(np.full(4, 0.5)) + 1e-12
        q /= q.sum()
        other = q * np.exp(rng.uniform(-epsilon, epsilon, 4) / 2)
        other /= other.sum()
        assert np.abs(np.log(other / q)).max() <= epsilon + 1e-12
        gamma = 10 ** rng.uniform(-5, -0.1)
        loss = np.log(stopping_distribution(q, eta, gamma) / stopping_distribution(other, eta, gamma))
        worst = max(worst, np.abs(loss).max())
    assert 0.8 * epsilon < worst <= stopping_epsilon(epsilon, eta)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("eta", ETAS)
def test_the_stated_cost_is_approached(eta, epsilon):
    more, best, middle = np.exp(epsilon), 1e-4, 1e-12
    q = np.array([1 - best - more * middle, more * middle, best])
    other = np.array([1 - more * best - middle, middle, more * best])
    assert np.abs(np.log(q / other)).max() <= epsilon + 1e-9
    loss = np.abs(np.log(stopping_distribution(q, eta, 1e-6) / stopping_distribution(other, eta, 1e-6))).max()
    assert 0.98 * stopping_epsilon(epsilon, eta) < loss <= stopping_epsilon(epsilon, eta)


def test_the_number_of_runs_must_not_be_released():
    """Randomised response: that the worse answer was the best of k costs k·ε₀."""
    epsilon = 0.5
    q, other = (np.exp(s * epsilon) / (1 + np.exp(s * epsilon)) for s in (1, -1))
    k = np.arange(1, 12)
    loss = np.log(probability_of_runs(11, 1.0, 0.1) * q**k) - np.log(probability_of_runs(11, 1.0, 0.1) * other**k)
    np.testing.assert_allclose(loss, k * epsilon)
    assert loss[-1] > stopping_epsilon(epsilon, 1.0)


def test_random_stopping_charges_before_it_runs():
    budget = Budget(2.0)
    seen = []

    def run(rng):
        seen.append(budget.spent)
        return None, rng.random()

    random_stopping(run, 0.5, eta=1.0, gamma=0.5, rng=np.random.default_rng(0), budget=budget)
    assert set(seen) == {1.5}
    with pytest.raises(BudgetExceeded):
        random_stopping(run, 0.5, eta=1.0, gamma=0.5, rng=np.random.default_rng(0), budget=budget)
    assert len(seen) == seen.count(1.5)
    for bad in ({"eta": -1.0}, {"gamma": 1.0}, {"gamma": 1e-9}, {"draws": 0}):
        with pytest.raises(InvalidParameter, match=next(iter(bad))):
            random_stopping(run, 0.5, rng=np.random.default_rng(0), **{"gamma": 0.5, **bad})
    with pytest.raises(InvalidParameter, match="probabilities"):
        stopping_distribution([0.5, 0.6], 1.0, 0.5)


# ---- the estimator --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linear", [LogisticRegression(1.0), LinearSVC(1.0, method="objective")])
def test_stability_finds_the_regulariser_that_sees_the_exception(linear):
    """Only a weak regulariser learns that the second feature turns the first one round in one record of ten."""
    X = np.repeat([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [1600, 200, 200], axis=0)
    y = np.repeat([1, 0, 0], [1600, 200, 200])
    for lambdas in ([1.0, 1e6], [1e6, 1.0]):
        search = PrivateSearch(linear, {"reg_lambda": lambdas}, 1e4, method="stability", random_state=0).fit(X, y)
        assert search.best_params_ == {"reg_lambda": 1.0}
        assert search.score(X, y) > 0.99


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"method": "grid"}, "`method` must be .*Got 'grid'"),
        ({"validation_share": 1.0}, "`validation_share` must be .*Got 1.0"),
        ({"method": "stability", "retrain_share": 0.0}, "`retrain_share` must be .*Got 0.0"),
        ({"method": "random-stopping", "eta": -1.0}, "`eta` must be .*Got -1.0"),
        ({"method": "random-stopping", "gamma": 0.0}, "`gamma` must be .*Got 0.0"),
        ({"reach": 0.0}, "`reach` must be .*Got 0.0"),
        ({"candidates": []}, "candidates"),
        ({"candidates": 3}, "`candidates` must be .*Got 3"),
        ({"candidates": [{"epsilon": 2.0}]}, "without epsilon"),
        ({"method": "stability"}, "LogisticRegression or LinearSVC"),
        ({"estimator": SGDClassifier()}, "SGDClassifier"),
        ({"method": "stability", "estimator": LogisticRegression(1.0)}, "reg_lambda alone"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_charged(change, match):
    X, y = table(n=30)
    budget = Budget(9.0)
    search = PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 2]}, 1.0, budget=budget, random_state=0)
    with pytest.raises((InvalidParameter, NotPrivate), match=match):
        search.set_params(**change).fit(X, y)
    assert budget.spent == 0


def test_an_estimator_that_spends_more_than_it_states_is_stopped():
    class Spendthrift(BernoulliNB):
        def fit(self, X, y):
            self.budget.spend(2 * self.epsilon)
            return super().fit(X, y)

    class NoClaim(BernoulliNB):
        private = False

    X, y = table(n=60)
    with pytest.raises(BudgetExceeded):
        PrivateSearch(Spendthrift(1.0), [{}], 1.0, random_state=0).fit(X, y)
    with pytest.raises(NotPrivate):
        PrivateSearch(NoClaim(1.0), [{}], 1.0, random_state=0).fit(X, y)
    with pytest.raises(BudgetExceeded):  # a δ that the search does not pay for
        PrivateSearch(LogisticRegression(1.0, method="noisy-descent"), [{}], 1.0, random_state=0).fit(X, y)


def test_release_is_secure_and_raises_for_no_data():
    with observing() as expected:
        noisy_max([0, 0], 10.0, 1)
        noisy_max([0, 0], 10.0, 2)
    by_addition, by_replacement = (mechanism for mechanism, _ in expected)

    X, y = table()
    search = PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 3]}, 20.0, release=True)
    with observing() as passed:
        search.fit(X, y)
    [correct] = [statistic for mechanism, statistic in passed if mechanism == by_addition]
    assert correct.dtype.kind == "i"
    assert search.best_estimator_.release
    assert (search.predict(X) == y).mean() > 0.8
    assert not hasattr(search, "score")
    with pytest.raises(InvalidParameter, match="random_state"):
        clone(search).set_params(random_state=0).fit(X, y)
    X[0, 0], y = np.nan, y.astype(float)
    y[3] = 9.0
    with observing() as passed:
        assert clone(search).set_params(relation="replace-one").fit(X, y).predict(X).shape == (600,)
    assert [mechanism for mechanism, _ in passed].count(by_replacement) == 1
    for method in ("exponential", "stability", "random-stopping"):
        with pytest.raises(NoSecureSampler):
            clone(search).set_params(method=method).fit(X, y)


def records(kept=None):
    X, y = table(n=40)
    return Records(Private(X), Private(y), Private(y), Schema.binary(X.shape[1]), kept)


def test_number_of_records_is_private_under_add_remove():
    with pytest.raises(TypeError, match="private value"):
        bool(records().number > 10)
    # two of the 42 records that were given have been dropped
    kept = np.insert(np.ones(40, dtype=bool), [3, 30], False)
    given = records(Private(kept))
    assert given.number == 42
    part = np.arange(42) < 10
    some = given.where(part)
    assert some.number == some.schema.n_rows == 10
    assert opened(some.X).shape[0] == 9
    assert opened(records().where(Private(np.arange(40) < 10)).X).shape[0] == 10


def test_correct_predictions_and_stable_scores_are_private():
    X, y = table(n=40)
    model = LogisticRegression(50.0, random_state=0).fit(X, y)
    correct = correct_predictions(model, records())
    assert type(correct) is Private
    assert opened(correct) == (model.predict(X) == y).sum()
    facts = {"n_classes": 2, "width": 1.0, "validation_lower": 1}
    score = stable_score_of(Private(model), Private(X), Private(y), **facts)
    assert type(mean_of([score, score])) is Private
    assert opened(mean_of([score, score])) == stable_score_of(model, X, y, **facts)


# ---- the base of all estimators ----------------------------------------------------------------------------------


class Reader(PrivateEstimator):
    def __init__(self, schema, on_invalid="raise", release=False):
        self.schema, self.on_invalid, self.release = schema, on_invalid, release

    def read(self, X, y):
        return self._private_records(self.schema, X, y)


def test_the_schema_of_private_records_is_the_stated_one():
    """Two tables of the same columns give the same schema, whatever the records are."""
    schema = Schema.binary(3, classes=(0, 1, 2), n_lower=1, n_rows=40)
    one = Reader(schema, "clip").read(np.zeros((1, 3)), [0])[2]
    many = Reader(schema, "clip").read(np.ones((5, 3)), [0, 1, 2, 2, 1])[2]
    assert one is many is schema
    frame = pd.DataFrame({"x2": [0, 1], "x0": [1, 1]})
    assert Reader(schema, "clip").read(frame, [0, 1])[2] == schema.subset(["x2", "x0"])
