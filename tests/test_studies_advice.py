"""Advice for a table: the best method at an ε, an interval of its runs, and whether there are records enough."""

import numpy as np
import pandas as pd
import pytest

from dpml.datasets import load
from dpml.datasets.own import own_dataset
from dpml.exceptions import InvalidParameter
from dpml.methods import method
from dpml.schema import Feature, Schema
from dpml.studies import advise, advised, majority_accuracy


def table(n, signal, seed=0):
    """A number and a category that tell the class with a known probability, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = rng.random(n) < signal
    frame = pd.DataFrame({"plan": np.where(right == (y == 1), "a", "b"), "age": rng.integers(18, 98, n)})
    frame["label"] = np.where(y == 1, "yes", "no")
    features = (Feature("plan", "categorical", ("a", "b")), Feature("age", "numeric", lower=18, upper=98))
    return own_dataset(frame, "label", Schema(features, ("no", "yes"), n_lower=int(0.9 * n)))


def test_with_many_records_the_best_method_comes_to_what_the_table_allows():
    found = advise(table(6000, 0.9), 1.0, draws=8, rng=np.random.default_rng(0))
    # nobody can be right more often than the plan tells: 90 %, of 1,800 test records 0.7 % standard error
    assert found.mean == pytest.approx(0.9, abs=0.03)
    assert found.enough
    assert found.method in advised()
    assert 1 <= found.equal <= found.candidates == len(advised())


def test_every_method_that_is_compared_is_told_with_its_interval():
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


def test_too_few_records_is_said():
    data = table(60, 0.7)
    found = advise(data, 0.02, draws=8, rng=np.random.default_rng(1))
    assert not found.enough
    assert found.low <= found.guess + found.test_error
    assert found.guess == majority_accuracy(data)


def test_a_table_that_tells_nothing_has_never_enough():
    found = advise(table(2000, 0.5), 5.0, draws=8, rng=np.random.default_rng(2))
    assert not found.enough


def test_the_same_seed_gives_the_same_advice_and_what_is_wrong_is_named():
    data = table(300, 0.9)
    one, two = (advise(data, 1.0, draws=4, rng=np.random.default_rng(3)) for _ in range(2))
    assert one == two
    with pytest.raises(InvalidParameter, match="draws = 3"):
        advise(data, 1.0, draws=3, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match="epsilon = 0"):
        advise(data, 0, rng=np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match="relation"):
        advise(data, 1.0, relation="both", rng=np.random.default_rng(0))


@pytest.mark.data
def test_a_table_of_words_is_refused_by_name(data_home):
    with pytest.raises(InvalidParameter, match="dataset = 'sms'"):
        advise(load("sms"), 1.0, rng=np.random.default_rng(0))
