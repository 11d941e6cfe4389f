"""Every public estimator passes the public checks, and each check finds the fault that it is for."""

import numpy as np
import pytest
from pet_table import SCHEMA as PETS
from public_estimators import KINDS, NOT_PRIVATE, RELEASED, made, released
from sklearn.base import BaseEstimator, ClassifierMixin

from dpml.budget import charge
from dpml.classifiers import AutoClassifier, BernoulliNB, LogisticRegression, MixedNB, RandomTrees
from dpml.exceptions import BudgetExceeded, InvalidParameter
from dpml.mechanisms import Laplace
from dpml.publishing import AIM, MST, PrivPfC
from dpml.schema import Feature, Schema
from dpml.testing import CHECKS, check_private_estimator

BINARY = Schema.binary(5, classes=("a", "b", "c"), n_lower=20)


@pytest.mark.parametrize("name", KINDS)
def test_public_estimators_pass(name):
    check_private_estimator(made(name))
    if name not in NOT_PRIVATE:
        check_private_estimator(made(name, relation="replace-one"), checks=["budget"])


@pytest.mark.parametrize("name", RELEASED)
def test_releases_pass(name):
    check_private_estimator(released(name), checks=[check for check in CHECKS if check != "neighbours"])


@pytest.mark.full  # test_wholes_estimators.py compares some of these neighbours at each commit
@pytest.mark.parametrize("name", sorted(set(KINDS) - set(NOT_PRIVATE)))
def test_neighbours_in_releases_and_under_replacement(name):
    check_private_estimator(made(name, relation="replace-one"), checks=["neighbours"])
    if name in RELEASED:
        results = check_private_estimator(released(name), checks=["neighbours"])
        assert results["status"].tolist() == ["passed"]


@pytest.mark.parametrize(
    "estimator",
    [
        AutoClassifier(1.0, schema=PETS),
        MixedNB(1.0, schema=PETS),
        RandomTrees(1.0, n_trees=2, max_depth=2, schema=PETS),
        PrivPfC(1.0, schema=PETS),
        BernoulliNB(1.0, schema=BINARY),
        LogisticRegression(1.0, schema=Schema((Feature("x0", "numeric", lower=-1.0, upper=3.0), Feature("x1")))),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_pass_with_a_schema(estimator):
    check_private_estimator(estimator)


@pytest.mark.long
@pytest.mark.parametrize("kind", [AIM, MST])
def test_graphical_publishers_pass(kind):
    check_private_estimator(kind(1.0, delta=1e-5), checks=["clone", "pickle", "budget"])


# ---- broken estimators -----------------------------------------------------------------------------------------------


class NoisyCounts(ClassifierMixin, BaseEstimator):
    """Predicts the majority class from noisy counts. Each fault is a class attribute."""

    def __init__(self, epsilon, budget=None, on_invalid="raise", release=False, random_state=None):
        self.epsilon = epsilon
        self.budget = budget
        self.on_invalid = on_invalid
        self.release = release
        self.random_state = random_state

    scale, charges, refuses = 1.0, 1, True

    def fit(self, X, y):
        y = [label for label in y if label in (0, 1)]
        if self.release and self.random_state is not None:
            raise InvalidParameter("random_state", self.random_state, "None for a release")
        for part in range(self.charges):
            charge(self.budget, "add-remove", self.epsilon, label=f"counts {part}")
        rng = np.random.default_rng(self.random_state)
        counts = np.array([sum(label == k for label in y) for k in (0, 1)])
        self.counts_ = self.noisy(counts, rng)
        return self

    def noisy(self, counts, rng):
        return Laplace(self.epsilon * self.scale).release(counts, rng=rng)

    def predict(self, X):
        return np.full(len(X), self.counts_.argmax())

    @property
    def score(self):
        if self.release:
            raise AttributeError("score")
        return super().score


class Pickled(NoisyCounts):
    def __setstate__(self, state):
        self.__dict__.update(state | {"counts_": state["counts_"][::-1]})

    def predict(self, X):
        return np.full(len(X), self.counts_[0])


class Remembers(NoisyCounts):
    def fit(self, X, y):
        before = getattr(self, "counts_", 0)
        super().fit(X, y)
        self.counts_ = self.counts_ + 1000 * np.sign(before)
        return self

    def predict(self, X):
        return np.full(len(X), self.counts_.sum())


class Overwrites(NoisyCounts):
    def fit(self, X, y):
        super().fit(X, y)
        X[0] = 1 - X[0]
        return self


class ReadsTypes(NoisyCounts):
    def fit(self, X, y):
        super().fit(X, y)
        self.counts_ = np.array([0, 1]) if isinstance(y, list) else np.array([1, 0])
        return self


class Ranks(NoisyCounts):
    def predict(self, X):
        return np.arange(len(X))


class NoNoise(NoisyCounts):
    def noisy(self, counts, rng):
        return counts


class AnyEpsilon(NoisyCounts):
    charges = 0

    def noisy(self, counts, rng):
        return counts + rng.laplace(size=2)


class NeedsBoth(NoisyCounts):
    def fit(self, X, y):
        if len(set(y)) < 2:
            raise ValueError("y has one class")
        return super().fit(X, y)


class ReadsClasses(NoisyCounts):
    def fit(self, X, y):
        self.classes_ = np.unique(np.asarray(y))
        return super().fit(X, y)


class RaisesForCells(NoisyCounts):
    def fit(self, X, y):
        np.asarray(X, dtype=float)
        if not np.isfinite(np.asarray(X, dtype=float)).all():
            raise ValueError("X has NaN")
        return super().fit(X, y)


class ChargesTwice(NoisyCounts):
    charges = 2


class ChargesNothing(NoisyCounts):
    charges = 0


class FitsWithoutBudget(NoisyCounts):
    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except BudgetExceeded:
            self.counts_ = np.zeros(2)
            return self


class TakesSeeds(NoisyCounts):
    def fit(self, X, y):
        release, self.release = self.release, False
        super().fit(X, y)
        self.release = release
        return self


class ScoresReleases(NoisyCounts):
    score = ClassifierMixin.score


class HalfTheNoise(NoisyCounts):
    scale = 2.0


class HalfTheOwnNoise(NoisyCounts):
    def noisy(self, counts, rng):
        return counts + rng.laplace(scale=1 / (8 * self.epsilon), size=2)


class OwnNoise(NoisyCounts):
    def noisy(self, counts, rng):
        if not self.epsilon > 0 or not np.isfinite(self.epsilon):
            raise ValueError("epsilon")
        return counts + rng.laplace(scale=1 / self.epsilon, size=2)


class CopiesBudget(NoisyCounts):
    def __sklearn_clone__(self):
        copied = super().__sklearn_clone__()
        if copied.budget is not None:
            copied.budget = type(copied.budget)(copied.budget.epsilon, relation=copied.budget.relation)
        return copied


FAULTS = [
    (CopiesBudget, "clone", "copy of the budget"),
    (Pickled, "pickle", "other results"),
    (Remembers, "refit", "depends on the first"),
    (Overwrites, "input-unchanged", "changed X"),
    (ReadsTypes, "containers", "a list of labels"),
    (Ranks, "batches", "`predict` of a record"),
    (NoNoise, "seeds", "no noise"),
    (AnyEpsilon, "epsilon", "was accepted"),
    (NeedsBoth, "single-class", "y has one class"),
    (ReadsClasses, "classes", "adds a class"),
    (RaisesForCells, "odd-cells", "NaN|could not convert"),
    (ChargesTwice, "budget", "charges more than ε = 1"),
    (ChargesNothing, "budget", "charged nothing"),
    (FitsWithoutBudget, "budget", "exceeded its budget"),
    (TakesSeeds, "release", "accepted a seed"),
    (ScoresReleases, "release", "exact `score`"),
    (HalfTheNoise, "neighbours", "cost ε = 2, not 1"),
    (HalfTheOwnNoise, "neighbours", "show an ε of at least"),
]


def test_every_check_has_a_fault():
    assert {check for _, check, _ in FAULTS} == set(CHECKS)


@pytest.mark.parametrize(("kind", "check", "message"), FAULTS)
def test_a_fault_fails_its_check(kind, check, message):
    with pytest.raises(AssertionError, match=f"^{kind.__name__}, {check}: .*({message})"):
        check_private_estimator(kind(1.0), checks=[check], n_fits=400)


@pytest.mark.parametrize("kind", [NoisyCounts, OwnNoise])
def test_a_private_estimator_of_ones_own_passes(kind):
    results = check_private_estimator(kind(1.0), n_fits=400)
    assert set(results[results["status"] == "skipped"]["check"]) == {"classes"}
    assert (results["reason"] != "").equals(results["status"] == "skipped")


def test_all_failures_are_reported():
    results = check_private_estimator(NoNoise(1.0), n_fits=100, on_fail="report").set_index("check")
    assert set(results.index[results["status"] == "failed"]) == {"seeds", "neighbours"}


def test_own_tables_and_containers():
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(30, 3)), rng.choice(["no", "yes"], 30)
    estimator = BernoulliNB(1.0, schema=Schema.binary(3, classes=("no", "yes")))
    check_private_estimator(estimator, X, y, checks=["budget", "neighbours", "containers"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checks": ["luck"]}, "`checks` must be one of 'clone', .*Got 'luck'"),
        ({"on_fail": "warn"}, "`on_fail` must be one of 'raise', 'report'"),
        ({"n_fits": 1}, "`n_fits` must be .* 4"),
        ({"relation": "swap"}, "`relation` must be"),
        ({"X": np.ones((3, 2))}, "`y` must be given together with X"),
        ({"confidence": 1.0}, "`confidence` must be"),
        ({"delta": 1.0}, "`delta` must be"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InvalidParameter, match=message):
        check_private_estimator(NoisyCounts(1.0), **options)


def test_an_estimator_without_epsilon_is_refused():
    class Plain(BaseEstimator):
        pass

    with pytest.raises(InvalidParameter, match="`estimator` must be an estimator with a parameter `epsilon`"):
        check_private_estimator(Plain())
