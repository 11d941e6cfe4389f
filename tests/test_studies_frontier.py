"""The frontier: by hand, against simulated studies whose best candidate is known, and on real sweeps."""

import numpy as np
import pandas as pd
import pytest

from dpml.exceptions import InvalidParameter
from dpml.studies import frontier, needed_epsilon
from dpml.sweep import sweep


def made(values, **more):
    """Return a table of candidates 0, 1, ... from draws of shape (candidates, draws)."""
    values = np.asarray(values, dtype=float)
    C, n = values.shape
    places = {"epsilon": 1.0, "method": np.repeat(np.arange(C), n), **more}
    return pd.DataFrame({**places, "draw": np.tile(np.arange(n), C), "accuracy": values.ravel()})


def test_by_hand():
    # candidate 1 is best on the even draws 0 and 2: 0.8 against 0.65
    found = frontier(made([[0.6, 0.7, 0.7, 0.9], [0.8, 0.6, 0.8, 0.8]]), rng=np.random.default_rng(0)).iloc[0]
    assert found["method"] == 1
    assert found["mean"] == pytest.approx(0.7)  # of 0.6 and 0.8
    assert found["se"] == pytest.approx(np.std([0.6, 0.8], ddof=1) / np.sqrt(2))
    difference = np.array([0.2, -0.1, 0.1, -0.1])
    assert found["gap"] == pytest.approx(difference.mean())
    assert found["gap_se"] == pytest.approx(difference.std(ddof=1) / 2)
    assert (found["candidates"], found["equal"], found["draws"]) == (2, 2, 4)
    # exact: the share of the 4^4 samples whose differences have a positive sum; 0.03 is 3 errors of 2,000 samples
    sums = sum(np.ix_(*[difference] * 4))
    exact = (sums > 1e-12).mean()
    many = frontier(made([[0.6, 0.7, 0.7, 0.9], [0.8, 0.6, 0.8, 0.8]]), rng=np.random.default_rng(0), resamples=2000)
    ties = (np.abs(sums) <= 1e-12).mean()
    assert exact - 0.03 <= many["share"].iloc[0] <= exact + ties + 0.03


def test_the_mean_of_the_chosen_is_not_that_of_the_luckiest():
    """Forty candidates that are all alike: the largest mean is too high, the reported one is not."""
    rng, reported, luckiest = np.random.default_rng(1), [], []
    for _ in range(200):
        values = 0.8 + 0.05 * rng.standard_normal((40, 20))
        reported.append(frontier(made(values), rng=rng, resamples=1)["mean"].iloc[0])
        luckiest.append(values.mean(axis=1).max())
    assert abs(np.mean(reported) - 0.8) < 4 * 0.05 / np.sqrt(10 * 200)
    assert np.mean(luckiest) > 0.82


def test_a_clear_winner_is_sure_and_pairing_finds_small_differences():
    rng = np.random.default_rng(2)
    shared = 0.05 * rng.standard_normal(50)
    close = frontier(made([0.8 + shared, 0.801 + shared + 1e-5 * rng.standard_normal(50)]), rng=rng).iloc[0]
    assert (close["method"], close["share"], close["equal"]) == (1, 1.0, 1)
    assert close["gap"] == pytest.approx(0.001, rel=0.05)
    alone = frontier(made([shared]), rng=rng).iloc[0]
    assert np.isnan(alone["gap"])
    assert (alone["candidates"], alone["share"]) == (1, 1.0)


def test_a_sweep_of_methods_with_different_settings_has_a_frontier():
    table = sweep(
        {
            "study": [{"name": "naive-bayes", "n_features": [2, 12]}, "row-bounded-naive-bayes"],
            "data": [{"name": "toy", "n": 200}, {"name": "census", "n": 300}],
            "epsilon": [0.1, 10.0],
            "draws": 20,
        }
    )
    best = frontier(table, rng=np.random.default_rng(0))
    assert best[["data", "epsilon"]].drop_duplicates().shape[0] == 4 == len(best)
    assert (best["candidates"] == 3).all()
    for row in best.itertuples():
        mine = table.query("data == @row.data and epsilon == @row.epsilon and draw % 2 == 0")
        means = mine.groupby(["study", "n_features"], dropna=False)["accuracy"].mean()
        T = row.n_features
        assert means.max() == pytest.approx(means[row.study].loc[T] if T == T else means[row.study].iloc[0])


def test_the_epsilon_that_an_accuracy_needs_comes_from_the_same_table():
    asked = {"study": "row-bounded-naive-bayes", "data": {"name": "census", "n": 2000}, "draws": 30}
    table = sweep({**asked, "epsilon": [0.01, 0.1, 1.0, 10.0]})
    draws = table.pivot(index="epsilon", columns="draw", values="accuracy")
    mean = draws.mean(axis=1)
    target = (mean.loc[0.01] + mean.loc[10.0]) / 2
    found = needed_epsilon(draws.index, draws, target)
    assert 0.01 < found.low <= found.epsilon <= found.high < 10.0


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t.drop(columns="draw"), {}, "table = "),
        (lambda t: t, {"measure": "auc"}, "measure = 'auc'"),
        (lambda t: t, {"by": ["data"]}, r"by = \['data'\]"),
        (lambda t: t.iloc[1:], {}, "draw = "),
        (lambda t: t.assign(draw=0), {}, "draw = "),
        (lambda t: t[t["draw"] < 1], {}, "accuracy = '1 draws'"),
        (lambda t: t.assign(accuracy=np.nan), {}, "accuracy = "),
        (lambda t: t, {"errors": -1.0}, r"errors = -1\.0"),
        (lambda t: t, {"resamples": 0}, "resamples = 0"),
        (lambda t: t, {"rng": 3}, "rng = 3"),
    ],
)
def test_bad_input_is_named(change, options, message):
    table = change(made([[0.1, 0.2], [0.3, 0.4]]))
    with pytest.raises(InvalidParameter, match=message):
        frontier(table, **{"rng": np.random.default_rng(0), **options})
