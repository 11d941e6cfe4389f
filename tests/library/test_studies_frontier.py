"""The frontier: by hand, against simulated studies whose best candidate is known, and on real sweeps."""

import numpy as np
import pandas as pd
import pytest

from dpml.exceptions import InvalidParameter
from dpml.studies import best_needed, compared, frontier, needed_epsilon, standings
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
        (lambda t: t.drop(columns="draw"), {}, "`table` must be "),
        (lambda t: t, {"measure": "auc"}, "`measure` must be .*Got 'auc'"),
        (lambda t: t.assign(method="a"), {"measure": "method"}, "`measure` must be .*Got 'method'"),
        (lambda t: t, {"by": ["data"]}, r"`by` must be .*Got \['data'\]"),
        (lambda t: t.iloc[1:], {}, "`draw` must be "),
        (lambda t: t.assign(draw=0), {}, "`draw` must be "),
        (lambda t: t[t["draw"] < 1], {}, "`accuracy` must be .*Got '1 draws'"),
        (lambda t: t.assign(accuracy=np.nan), {}, "`accuracy` must be "),
        (lambda t: t, {"errors": -1.0}, r"`errors` must be .*Got -1\.0"),
        (lambda t: t, {"resamples": 0}, "`resamples` must be .*Got 0"),
        (lambda t: t, {"rng": 3}, "`rng` must be .*Got 3"),
    ],
)
def test_bad_input_is_named(change, options, message):
    table = change(made([[0.1, 0.2], [0.3, 0.4]]))
    with pytest.raises(InvalidParameter, match=message):
        frontier(table, **{"rng": np.random.default_rng(0), **options})


def test_the_standings_agree_with_the_frontier_and_with_the_draws():
    draws = [[0.6, 0.7, 0.7, 0.9], [0.8, 0.6, 0.8, 0.8], [0.1, 0.1, 0.3, 0.1]]
    best = frontier(made(draws), rng=np.random.default_rng(0)).iloc[0]
    found = standings(made(draws)).set_index("method")
    assert found.index[found["best"]].tolist() == [best["method"]] == [1]
    assert found["equal"].tolist() == [True, True, False]
    assert found["equal"].sum() == best["equal"]
    assert found["choice"].tolist() == pytest.approx([0.65, 0.8, 0.2])
    assert found["mean"].tolist() == pytest.approx([0.8, 0.7, 0.1])
    assert found.loc[1, ["mean", "se"]].tolist() == pytest.approx(best[["mean", "se"]].tolist())
    assert found.loc[0, ["behind", "behind_se"]].tolist() == pytest.approx(best[["gap", "gap_se"]].tolist())
    assert found.loc[2, "behind"] == pytest.approx(np.mean([0.7, 0.5, 0.5, 0.7]))
    with pytest.raises(InvalidParameter, match=r"`errors` must be .*Got -1\.0"):
        standings(made(draws), errors=-1.0)


@pytest.mark.parametrize("draws", [[], [0.1, 0.2], [[0.1], [0.2]], [[0.1, np.nan]], np.zeros((0, 4))])
def test_draws_that_cannot_be_compared_are_named(draws):
    with pytest.raises(InvalidParameter, match="`draws` must be "):
        compared(draws)


# ---- which epsilon the best needs ---------------------------------------------------------------------------------


def crossing():
    """Return a table whose candidate 0 is best at ε = 0.1 and 1 at the others; only its even draws decide."""
    even = {0.1: (0.7, 0.6), 1.0: (0.7, 0.8), 10.0: (0.7, 0.9)}
    odd = {0.1: (0.5, 0.9), 1.0: (0.9, 0.7), 10.0: (0.9, 0.8)}
    return pd.concat(
        [made([[even[e][c], odd[e][c] - 0.01, even[e][c], odd[e][c] + 0.01] for c in (0, 1)], epsilon=e) for e in even]
    )


def test_the_epsilon_that_the_best_needs_is_of_the_draws_that_did_not_choose():
    [found] = best_needed(crossing(), 0.6).to_dict("records")
    # the odd draws of the chosen have the means 0.5, 0.7, 0.8: half of the way from 0.1 to 1 on a log scale
    assert found["epsilon"] == pytest.approx(10**-0.5, rel=0.01)
    assert found["low"] < found["epsilon"] < found["high"]
    assert found["method"] == 1
    assert found["target"] == 0.6
    # two odd draws 0.02 apart: a standard error of 0.01, and two of them to each side
    assert found["low"] == pytest.approx(10 ** (-1 + (0.6 - 0.52) / 0.2), rel=0.01)
    [none] = best_needed(crossing(), 0.95).to_dict("records")
    assert (none["epsilon"], none["method"]) == (np.inf, 1)
    [least] = best_needed(crossing(), 0.4).to_dict("records")
    assert (least["epsilon"], least["method"]) == (0.1, 0)


def test_each_question_has_its_own_answer():
    table = pd.concat(
        [crossing().assign(data=name)[["data", "epsilon", "method", "draw", "accuracy"]] for name in "ab"]
    )
    table.loc[table["data"] == "b", "accuracy"] -= 0.1
    found = best_needed(table, 0.6).set_index("data")["epsilon"]
    assert found["a"] == pytest.approx(10**-0.5, rel=0.01)
    assert found["b"] == pytest.approx(1.0)


def test_a_table_that_cannot_answer_is_refused():
    with pytest.raises(InvalidParameter, match="a column epsilon"):
        best_needed(crossing().drop(columns="epsilon"), 0.6)
    fewer = crossing()
    with pytest.raises(InvalidParameter, match="as many draws at every"):
        best_needed(fewer[(fewer["epsilon"] < 10) | (fewer["draw"] < 3)], 0.6)
    with pytest.raises(InvalidParameter, match=r"`target` must be .*Got nan"):
        best_needed(crossing(), np.nan)


def test_the_auc_stands_beside_the_measure_that_chooses():
    """It is the mean of the odd draws of the method that the accuracy chooses."""
    table = pd.DataFrame(
        {"epsilon": 1.0, "method": ["a"] * 4 + ["b"] * 4, "draw": [0, 1, 2, 3] * 2,
         "accuracy": [0.9, 0.91, 0.9, 0.91, 0.8, 0.81, 0.8, 0.81], "auc": [0.5, 0.6, 0.5, 0.7] + [0.9] * 4}
    )  # fmt: skip
    best = frontier(table, rng=np.random.default_rng(0)).iloc[0]
    assert (best["method"], best["auc"]) == ("a", pytest.approx(0.65))
    assert "auc" not in frontier(table.drop(columns="auc"), rng=np.random.default_rng(0))
    assert "auc" not in frontier(table, measure="auc", rng=np.random.default_rng(0))
