"""Comparisons: the frontier, the ε for a target, and the privacy cost, by hand and on studies with a known answer."""

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier
from dpml.datasets import load
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import Geometric, Laplace, NormGamma
from dpml.mechanisms.secure import integer_laplace
from dpml.mechanisms.smooth import Cauchy
from dpml.selection.top import one_shot, peel, sample_joint
from dpml.studies import (
    AutoStudy,
    best_needed,
    best_without_noise,
    cost,
    frontier,
    needed_epsilon,
    standings,
    without_noise,
)
from dpml.studies.comparison import SETTINGS
from dpml.sweep import sweep

EPSILONS = np.geomspace(0.01, 10, 31)
DATA = load("census", n=3000)
VALUES = np.array([3.0, 7.0, 5.0])


def made(values, **more):
    """Return a table of candidates 0, 1, ... from draws of shape (candidates, draws)."""
    values = np.asarray(values, dtype=float)
    C, n = values.shape
    places = {"epsilon": 1.0, "method": np.repeat(np.arange(C), n), **more}
    return pd.DataFrame({**places, "draw": np.tile(np.arange(n), C), "accuracy": values.ravel()})


def test_the_frontier_by_hand():
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


def test_the_reported_mean_has_no_selection_bias():
    """Forty candidates that are all alike: the largest mean is too high, the reported one is not."""
    rng, reported, luckiest = np.random.default_rng(1), [], []
    for _ in range(80):
        values = 0.8 + 0.05 * rng.standard_normal((40, 20))
        reported.append(frontier(made(values), rng=rng, resamples=1)["mean"].iloc[0])
        luckiest.append(values.mean(axis=1).max())
    assert abs(np.mean(reported) - 0.8) < 4 * 0.05 / np.sqrt(10 * 80)
    assert np.mean(luckiest) > 0.82


def test_pairing_finds_small_differences():
    rng = np.random.default_rng(2)
    shared = 0.05 * rng.standard_normal(50)
    close = frontier(made([0.8 + shared, 0.801 + shared + 1e-5 * rng.standard_normal(50)]), rng=rng).iloc[0]
    assert (close["method"], close["share"], close["equal"]) == (1, 1.0, 1)
    assert close["gap"] == pytest.approx(0.001, rel=0.05)
    alone = frontier(made([shared]), rng=rng).iloc[0]
    assert np.isnan(alone["gap"])
    assert (alone["candidates"], alone["share"]) == (1, 1.0)


def test_methods_with_different_settings_have_a_frontier():
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
def test_a_table_without_a_frontier_is_named(change, options, message):
    table = change(made([[0.1, 0.2], [0.3, 0.4]]))
    with pytest.raises(InvalidParameter, match=message):
        frontier(table, **{"rng": np.random.default_rng(0), **options})


def test_standings_agree_with_the_frontier():
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


# ---- the ε for a target ----------------------------------------------------------------------------------------------


def curve(epsilon):
    return 0.9 - 0.2 * np.exp(-3 * epsilon)


@pytest.mark.parametrize("target", [0.72, 0.8, 0.89])
def test_the_crossing_of_a_known_curve(target):
    exact = -np.log((0.9 - target) / 0.2) / 3
    draws = np.repeat(curve(EPSILONS)[:, None], 5, axis=1)
    found = needed_epsilon(EPSILONS, draws, target)
    # linear in log ε between values a quarter apart
    assert found.epsilon == pytest.approx(exact, rel=0.02)
    assert found.low == found.high == found.epsilon


def test_the_interval_covers_the_true_epsilon():
    rng, target = np.random.default_rng(0), 0.8
    exact = needed_epsilon(EPSILONS, np.repeat(curve(EPSILONS)[:, None], 2, axis=1), target).epsilon
    covered = 0
    for _ in range(400):
        draws = curve(EPSILONS)[:, None] + 0.02 * rng.standard_normal((len(EPSILONS), 20))
        found = needed_epsilon(EPSILONS, draws, target)
        assert found.low <= found.epsilon <= found.high
        covered += found.low <= exact <= found.high
    # each curve crosses at the first of several values, so it is pointwise and no less than 90 %
    assert covered / 400 > 0.9


def test_a_target_may_be_reached_never_or_at_once():
    draws = np.tile([[0.7, 0.71]], (3, 1))
    assert needed_epsilon([1, 2, 3], draws, 0.8) == (np.inf, np.inf, np.inf)
    assert needed_epsilon([1, 2, 3], draws, 0.6) == (1.0, 1.0, 1.0)
    found = needed_epsilon([1, 2], [[0.7, 0.72], [0.78, 0.82]], 0.81)
    assert found.epsilon == np.inf
    assert np.isfinite(found.low)


def crossing():
    """Return a table whose candidate 0 is best at ε = 0.1 and 1 at the others; only its even draws decide."""
    even = {0.1: (0.7, 0.6), 1.0: (0.7, 0.8), 10.0: (0.7, 0.9)}
    odd = {0.1: (0.5, 0.9), 1.0: (0.9, 0.7), 10.0: (0.9, 0.8)}
    return pd.concat(
        [made([[even[e][c], odd[e][c] - 0.01, even[e][c], odd[e][c] + 0.01] for c in (0, 1)], epsilon=e) for e in even]
    )


def test_the_needed_epsilon_is_of_the_odd_draws():
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


# ---- privacy cost ----------------------------------------------------------------------------------------------------


def test_the_parts_of_the_cost_add_up():
    epsilons = [0.05, 1.0, 1e6]
    table = cost(DATA, epsilons, draws=3, rng=np.random.default_rng(0))
    assert table["epsilon"].tolist() == epsilons
    assert table["best"].nunique() == 1
    assert table["best"][0] == best_without_noise(AutoStudy(DATA))
    np.testing.assert_allclose(table["accuracy"] + table["noise"] + table["simpler"], table["best"])
    # at ε = 0.05 noise hides most; at the end only the small grid's noise is left, which has 0.3 of any ε
    assert table["noise"][0] > 0.02
    assert abs(table["noise"][2]) < 0.01
    assert 0 <= table["simpler"][2] < 0.02
    drawn = AutoStudy(DATA)(0.05, draws=3, grids=3, rng=np.random.default_rng(0))["accuracy"]
    assert table["accuracy"][0] == pytest.approx(drawn.mean())
    assert table["standard_error"][0] == pytest.approx(drawn.std(ddof=1) / np.sqrt(3))


def test_no_fit_without_noise_is_better_than_the_best():
    best = best_without_noise(AutoStudy(DATA))
    frame, names = DATA.frame, DATA.frame_schema.feature_names
    labels = np.asarray(DATA.frame_schema.classes)
    for epsilon in SETTINGS[1:3]:
        with without_noise():
            model = AutoClassifier(epsilon, schema=DATA.frame_schema, random_state=0)
            model.fit(frame.loc["train"][names], labels[DATA.y_train])
        assert np.mean(model.predict(frame.loc["test"][names]) == labels[DATA.y_test]) <= best


# ---- fits without noise ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [Laplace(0.01), Geometric(0.01), NormGamma(0.01, 1.0, 3)], ids=repr)
def test_without_noise_a_release_is_exact(mechanism):
    with without_noise():
        found = mechanism.release(VALUES, rng=np.random.default_rng(0), draws=4)
    np.testing.assert_allclose(found, np.broadcast_to(VALUES, (4, 3)), atol=1e-9)
    # noise is back after the block
    assert np.abs(mechanism.release(VALUES, rng=np.random.default_rng(0)) - VALUES).max() > 1


@pytest.mark.parametrize("kind", [BernoulliNB, LinearClassifier, AutoClassifier])
def test_without_noise_a_fit_does_not_depend_on_its_seed(kind):
    data = load("toy")
    scores = []
    for seed in (0, 1):
        with without_noise():
            model = kind(0.5, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        scores.append(model.predict_proba(data.X_test))
    np.testing.assert_allclose(*scores, atol=1e-5)


def test_the_frontier_reports_the_auc_of_the_chosen():
    """It is the mean of the odd draws of the method that the accuracy chooses."""
    table = pd.DataFrame(
        {"epsilon": 1.0, "method": ["a"] * 4 + ["b"] * 4, "draw": [0, 1, 2, 3] * 2,
         "accuracy": [0.9, 0.91, 0.9, 0.91, 0.8, 0.81, 0.8, 0.81], "auc": [0.5, 0.6, 0.5, 0.7] + [0.9] * 4}
    )  # fmt: skip
    best = frontier(table, rng=np.random.default_rng(0)).iloc[0]
    assert (best["method"], best["auc"]) == ("a", pytest.approx(0.65))
    assert "auc" not in frontier(table.drop(columns="auc"), rng=np.random.default_rng(0))
    assert "auc" not in frontier(table, measure="auc", rng=np.random.default_rng(0))


@pytest.mark.parametrize("choose", [one_shot, peel, sample_joint])
def test_without_noise_the_best_features_are_chosen(choose):
    with without_noise():
        masks = choose(VALUES, 1e-6, 2, 1.0, draws=10, rng=np.random.default_rng(0))
    assert (masks == [False, True, True]).all()


def test_without_noise_a_secure_release_is_refused():
    with without_noise():
        with pytest.raises(NotPrivate):
            integer_laplace([3], scale=1.0)
        with pytest.raises(InvalidParameter, match="mechanism"):
            Cauchy(1.0, 0.1).release(VALUES, 1.0, rng=np.random.default_rng(0))
