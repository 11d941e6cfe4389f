"""Advice for a table: the best method at an ε, an interval of its runs, and whether there are records enough."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full

from dpml.datasets.own import own_dataset
from dpml.exceptions import InvalidParameter
from dpml.registry import method
from dpml.schema import Feature, Schema
from dpml.studies import advise, advised, estimated_advice, majority_accuracy, signal_of
from dpml.studies.non_private import _permuted


def table(n, signal, seed=0):
    """A number and a category that tell the class with a known probability, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = rng.random(n) < signal
    frame = pd.DataFrame({"plan": np.where(right == (y == 1), "a", "b"), "age": rng.integers(18, 98, n)})
    frame["label"] = np.where(y == 1, "yes", "no")
    features = (Feature("plan", "categorical", ("a", "b")), Feature("age", "numeric", lower=18, upper=98))
    return own_dataset(frame, "label", Schema(features, ("no", "yes"), n_lower=int(0.9 * n)))


def test_with_many_records_the_best_method_is_near_the_limit():
    found = advise(table(6000, 0.9), 1.0, draws=8, rng=np.random.default_rng(0))
    # nobody can be right more often than the plan tells: 90 %, of 1,800 test records 0.7 % standard error
    assert found.mean == pytest.approx(0.9, abs=0.03)
    assert found.enough
    assert found.method in advised()
    assert 1 <= found.equal <= found.candidates == len(advised())


def test_advice_lists_every_method_with_its_band():
    data = table(1500, 0.9)
    found = advise(data, 0.5, draws=8, rng=np.random.default_rng(4))
    assert {one.method for one in found.methods} == set(advised())
    assert sum(one.equal for one in found.methods) == found.equal
    [best] = [one for one in found.methods if one.method == found.method]
    assert (best.mean, best.low, best.high, best.equal) == (found.mean, found.low, found.high, True)
    # the same draws, by hand: each method has the stream that its place gives it
    rng = np.random.default_rng(4)
    for name in advised():
        own = np.random.default_rng(rng.integers(2**63))
        more = {"grids": 8} if name == "auto" else {}
        runs = method(name).study_of(data)(0.5, draws=8, rng=own, **more)["accuracy"]
        [told] = [one for one in found.methods if one.method == name]
        assert told.mean == pytest.approx(np.mean(runs[1::2]))
        assert (told.low, told.high) == pytest.approx(tuple(np.quantile(runs, [0.05, 0.95])))


def test_advice_reports_the_auc():
    """One class has 5 % of the records: an accuracy of 95 % says nothing, an AUC of 0.5 is chance."""
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.05).astype(int)
    frame = pd.DataFrame({"risk": np.clip(rng.normal(45 + 20 * y, 10), 0, 100), "label": np.where(y, "yes", "no")})
    schema = Schema((Feature("risk", "numeric", lower=0, upper=100),), ("no", "yes"), n_lower=2500)
    [found] = estimated_advice(own_dataset(frame, "label", schema), [5.0], rng=np.random.default_rng(0))
    assert found.mean <= found.guess + 0.02
    # two normal distributions two standard deviations apart have an area of 0.92
    assert 0.8 < found.auc < 0.95
    assert {one.method: one.auc for one in found.methods}[found.method] == found.auc
    assert 0.85 < found.signal.auc < 0.97
    random = signal_of(random_table(0))
    assert random.auc == pytest.approx(0.5, abs=0.15)


def random_table(seed, n=400):
    """Six columns, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"n{j}": rng.normal(50, 20, n).clip(0, 100) for j in range(3)})
    for j in range(3):
        frame[f"c{j}"] = rng.choice(list("abcd"), n)
    frame["label"] = rng.choice(["no", "yes"], n, p=(0.5, 0.5) if seed % 2 else (0.8, 0.2))
    numbers = tuple(Feature(f"n{j}", "numeric", lower=0, upper=100) for j in range(3))
    categories = tuple(Feature(f"c{j}", "categorical", tuple("abcd")) for j in range(3))
    return own_dataset(frame, "label", Schema((*numbers, *categories), ("no", "yes"), n_lower=int(0.9 * n)))


@pytest.mark.parametrize("n", others_in_full([8, 20], first=1))
def test_random_labels_have_no_signal(n):
    # each is wrong with probability 0.01: all but one of 20 are right with probability .983, and the seeds are fixed
    verdicts = [advise(random_table(seed), 2.0, draws=4, rng=np.random.default_rng(0)).verdict for seed in range(n)]
    assert verdicts.count("no signal") >= n - 1


def test_few_records_with_a_signal_are_too_few():
    for seed in range(4):
        data = table(300, 0.8, seed)
        found = advise(data, 0.01, draws=8, rng=np.random.default_rng(0))
        assert found.signal.exists
        assert found.verdict == "too few records"
        assert found.guess == majority_accuracy(data)
    assert advise(table(6000, 0.8), 1.0, draws=4, rng=np.random.default_rng(0)).verdict == "enough"


def test_columns_that_act_only_together_are_a_signal():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (1200, 4)), columns=list("abcd"))
    frame["label"] = np.where(frame["a"] ^ frame["b"], "yes", "no")
    schema = Schema(tuple(Feature(name, "binary") for name in "abcd"), ("no", "yes"), n_lower=1000)
    assert signal_of(own_dataset(frame, "label", schema)).accuracy > 0.95


def test_the_verdict_is_guess_if_no_fit_beats_a_guess():
    # a rare label whose share is three times as large for one plan: told, and never the likelier one
    rng = np.random.default_rng(1)
    n = 6000
    plan = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {"plan": np.where(plan, "a", "b"), "label": np.where(rng.random(n) < 0.1 + 0.2 * plan, "y", "n")}
    )
    schema = Schema((Feature("plan", "categorical", ("a", "b")),), ("n", "y"), n_lower=5000)
    found = advise(own_dataset(frame, "label", schema), 1.0, draws=4, rng=np.random.default_rng(0))
    assert found.signal.exists
    assert found.verdict == "guess"


def test_the_permutation_test_has_the_moments_of_all_orders():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    codes = np.array([0, 2, 1, 0, 0])
    sums = [shares[np.arange(5), codes[list(order)]].sum() for order in permutations(range(5))]
    excess, variance = _permuted(shares, codes)
    assert excess == pytest.approx(shares[np.arange(5), codes].sum() - np.mean(sums))
    assert variance == pytest.approx(np.var(sums))


def test_an_estimate_is_marked_and_near_the_advice():
    data = table(6000, 0.9)
    [first] = estimated_advice(data, [1.0], rng=np.random.default_rng(0))
    measured = advise(data, 1.0, draws=4, rng=np.random.default_rng(0))
    assert (first.estimated, measured.estimated) == (True, False)
    assert first.mean == pytest.approx(measured.mean, abs=0.03)
    assert {one.method for one in first.methods} == set(advised())


def test_advice_follows_the_seed_and_names_bad_options():
    data = table(300, 0.9)
    one, two = (advise(data, 1.0, draws=4, rng=np.random.default_rng(3)) for _ in range(2))
    assert one == two
    with pytest.raises(InvalidParameter, match=r"`draws` must be .*Got 3"):
        advise(data, 1.0, draws=3, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match=r"`epsilon` must be .*Got 0"):
        advise(data, 0, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match="relation"):
        advise(data, 1.0, relation="both", rng=np.random.default_rng(0))
