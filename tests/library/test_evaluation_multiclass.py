"""Measures of many classes: sums of noisy counts are undistorted, and intervals hold what they say."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from each_commit import others_in_full
from evaluated import LEAST
from scipy.optimize import minimize
from sklearn import metrics
from sklearn.metrics import confusion_matrix, recall_score

from dpml.audit import recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.evaluation import private_confusion_matrix
from dpml.evaluation.histogram import with_sum
from dpml.evaluation.multiclass import ACCURACY_SHARE, MANY_CLASSES, release_multiclass_evaluation
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.release import Plan
from dpml.schema import Feature, Schema

RUNS = 400
ACCURACIES = {2: 0.8, 3: 0.7, 10: 0.5, 50: 0.29}


def rng(seed=0):
    return np.random.default_rng(seed)


def predictions(n_classes, n, seed=0):
    """Return true and predicted classes: a prediction is right, or drawn at random."""
    draw = rng(seed)
    y, other = draw.integers(n_classes, size=(2, n))
    return y, np.where(draw.random(n) < ACCURACIES[n_classes], y, other)


def released(y, predicted, epsilon, n_classes, **options):
    return private_confusion_matrix(y, predicted, epsilon, classes=tuple(range(n_classes)), rng=rng(7), **options)


# ---- each class against the rest ----------------------------------------------------------------------------------


def several(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    table = rng.dirichlet(np.ones(3), size=n) * 0.7 + 0.3 * np.eye(3)[y]
    return y, table / table.sum(axis=1, keepdims=True)


def softmax_scores(n, n_classes, gap, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    odds = np.exp(rng.normal(size=(n, n_classes)) + gap * np.eye(n_classes)[y])
    return y, odds / odds.sum(axis=1, keepdims=True)


def test_one_against_the_rest():
    y, table = several()
    options = {"classes": (0, 1, 2), "rng": np.random.default_rng(0)}
    budget = Budget(1e9)
    release = release_multiclass_evaluation(y, table, 1e9, n_bins=2000, budget=budget, **options)
    assert budget.ledger["epsilon"].tolist() == [1e9]
    expected = metrics.roc_auc_score(y, table, multi_class="ovr")
    assert release.macro_auc() == pytest.approx(expected, abs=1e-3)
    assert [e.epsilon for e in release.evaluations] == pytest.approx([1e9 / 3] * 3)
    words = np.array(["a", "b", "c"])[y]
    named = release_multiclass_evaluation(
        words, table, 1.0, classes=("a", "b", "c"), rng=np.random.default_rng(0), draws=5, relation="replace-one"
    )
    assert named.macro_auc().shape == (5,)
    assert list(named.roc_auc()) == ["a", "b", "c"]
    assert all(e.noise_scale == pytest.approx(6.0) for e in named.evaluations)
    bad = table.copy()
    bad[0, 0] = 2.0
    budget = Budget(1.0)
    with pytest.raises(InvalidData, match=r"y_score has the value 2\.0"):
        release_multiclass_evaluation(y, bad, 1.0, budget=budget, **options)
    with pytest.raises(InvalidData, match="scores has 2 columns"):
        release_multiclass_evaluation(y, table[:, :2], 1.0, budget=budget, **options)
    assert budget.spent == 0


@pytest.mark.parametrize(
    ("n", "n_classes", "epsilon"), others_in_full([(1500, 3, 0.5), (5000, 5, 0.5), (5000, 3, 2.0)], first=1)
)
def test_macro_auc_interval_covers_the_exact_one(n, n_classes, epsilon):
    y, table = softmax_scores(n, n_classes, 1.5, seed=1)
    options = {"classes": range(n_classes), "rng": np.random.default_rng(0)}
    exact = release_multiclass_evaluation(y, table, 1e9, **options).macro_auc()
    released = release_multiclass_evaluation(y, table, epsilon, draws=400, **options)
    low, high = released.interval(n_boot=400)
    share = ((low <= exact) & (exact <= high)).mean()
    # five standard errors of 400 draws
    assert abs(share - 0.95) <= 5 * np.sqrt(0.95 * 0.05 / 400)
    # errors of the classes cancel: the mean is known better than one class
    one_low, one_high = released.evaluations[0].interval("roc_auc", n_boot=400)
    assert np.median(high - low) < np.median(one_high - one_low)


def test_confusion_matrix_of_several_classes():
    y, table = several()
    said = table.argmax(axis=1)
    options = {"classes": (0, 1, 2)}
    exact = private_confusion_matrix(y, said, 1e9, rng=np.random.default_rng(0), **options)
    np.testing.assert_allclose(exact.matrix(), metrics.confusion_matrix(y, said), atol=1e-4)
    assert exact.accuracy() == pytest.approx(metrics.accuracy_score(y, said), abs=1e-6)
    assert exact.balanced_accuracy() == pytest.approx(metrics.balanced_accuracy_score(y, said), abs=1e-6)
    with pytest.raises(InvalidData, match="y_pred has the label 7"):
        private_confusion_matrix([0, 1], [0, 7], 1.0, rng=np.random.default_rng(0), **options)
    dropped = private_confusion_matrix(
        [0, 1, 9], [0, 7, 0], 1e9, rng=np.random.default_rng(0), on_invalid="clip", **options
    )
    np.testing.assert_allclose(dropped.matrix(), [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6)


# ---- the sums --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "n", "epsilon"), [(2, 2_000, 0.5), (3, 10_000, 2.0), (10, 10_000, 0.5), (50, 10_000, 0.5)]
)
def test_measures_of_many_classes_have_no_bias(n_classes, n, epsilon):
    """With 50 classes accuracies of 0.29 were released as 0.27 to 0.39."""
    y, predicted = predictions(n_classes, n)
    table = released(y, predicted, epsilon, n_classes, draws=RUNS)
    accuracy, exact = table.accuracy(), np.mean(y == predicted)
    standard_error = accuracy.std() / np.sqrt(RUNS)
    # ratios have a bias of the second order in the noise
    assert abs(accuracy.mean() - exact) < 4 * standard_error + 3 * accuracy.var() / exact
    assert np.sqrt(np.mean((accuracy - exact) ** 2)) < 0.006
    recalls = recall_score(y, predicted, average=None)
    assert np.mean(table.balanced_accuracy()) == pytest.approx(recalls.mean(), abs=0.006)
    # the mean of recalls is known better than one of them
    assert np.sqrt(np.mean((table.recalls() - recalls) ** 2)) < 0.12


def test_cells_with_a_sum_are_the_nearest_ones():
    for seed in range(20):
        values, total = rng(seed).normal(0, 3, 4), float(rng(seed + 99).uniform(0, 9))
        found = with_sum(values, total)
        assert found.sum() == pytest.approx(total)
        limits = {"type": "eq", "fun": lambda x, total=total: x.sum() - total}
        nearest = minimize(
            lambda x, values=values: ((x - values) ** 2).sum(),
            np.full(4, total / 4),
            bounds=[(0, None)] * 4,
            constraints=limits,
        )
        np.testing.assert_allclose(found, nearest.x, atol=1e-3)
    assert with_sum(np.array([-1.0, -2.0]), 0.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n", [0, 40])
@pytest.mark.parametrize("epsilon", [1e-290, 1e-9, 1.0, 1e9, 1e300])
def test_measures_are_shares_whatever_the_noise(epsilon, n):
    table = released(*predictions(10, n), epsilon, 10, draws=5)
    for measure in (table.accuracy(), table.balanced_accuracy(), table.recalls(), *table.interval(n_boot=20)):
        assert ((measure >= 0) & (measure <= 1)).all()
    assert np.isfinite(table.matrix()).all()
    if n and epsilon == 1e9:
        y, predicted = predictions(10, n)
        np.testing.assert_allclose(table.matrix()[0], confusion_matrix(y, predicted, labels=range(10)), atol=1e-6)


# ---- the intervals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "n", "epsilon"), [(2, 500, 0.5), (3, 2_000, 2.0), (10, 500, 0.5), (50, 2_000, 2.0)]
)
def test_an_interval_holds_the_value_and_the_truth(n_classes, n, epsilon):
    y, predicted = predictions(n_classes, n)
    exact, held = np.mean(y == predicted), []
    for block in range(8):
        draws = private_confusion_matrix(
            y, predicted, epsilon, classes=tuple(range(n_classes)), rng=rng((1, block)), draws=RUNS // 8
        )
        low, high = draws.interval(n_boot=500, rng=rng((2, block)))
        assert ((low <= draws.accuracy()) & (draws.accuracy() <= high)).all()
        held.append((low <= exact) & (exact <= high))
    assert LEAST <= np.mean(held) <= 0.985


@pytest.mark.parametrize("n_classes", others_in_full([3, 10], 10))
def test_an_interval_holds_the_population(n_classes):
    exact = ACCURACIES[n_classes] + (1 - ACCURACIES[n_classes]) / n_classes
    held, wider = 0, 0
    for seed in range(RUNS):
        table = private_confusion_matrix(
            *predictions(n_classes, 500, seed), 2.0, classes=tuple(range(n_classes)), rng=rng((3, seed))
        )
        low, high = table.interval(sampling=True, n_boot=200, rng=rng((4, seed)))
        held += low <= exact <= high
        ends = table.interval(n_boot=200, rng=rng((4, seed)))
        wider += high - low > ends[1] - ends[0]
    assert LEAST <= held / RUNS <= 0.99
    # its width is that of the sampling error and the noise of the few sums, not of all cells
    assert wider > 0.99 * RUNS
    assert high - low < 3 * 1.96 * np.sqrt(exact * (1 - exact) / 500)


# ---- the privacy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("share", [0.0, None, 0.6])
def test_no_neighbours_cost_a_table_more_than_epsilon(relation, share):
    def call(data):
        y, predicted = zip(*data, strict=True)
        options = {"classes": tuple(range(5)), "accuracy_share": share, "relation": relation, "rng": rng()}
        return private_confusion_matrix(y, predicted, 0.8, **options)

    records, worst = [(0, 0), (0, 3), (4, 4), (2, 1)], 0.0
    common = [(1, 1), (3, 0)]
    for one, other in itertools.product(records, repeat=2):
        first = common if relation == "add-remove" else [*common, one]
        worst = max(worst, recorded_cost(call, first, [*common, other], pasts=1))
    assert worst == pytest.approx(0.8)
    assert worst <= 0.8 * (1 + 1e-9)
    assert len(recorded_releases(call, common, [*common, (0, 0)])) == (1 if share == 0 else 2)


def test_a_share_for_the_accuracy_is_of_the_same_charge():
    budget = Budget(2.0)
    y, predicted = predictions(10, 100)
    table = released(y, predicted, 0.5, 10, draws=3, budget=budget)
    assert budget.ledger[["label", "epsilon"]].to_numpy().tolist() == [["confusion matrix", 1.5]]
    assert table.totals.shape == (3, 2)
    assert table.totals_scale == pytest.approx(1 / (0.5 * ACCURACY_SHARE))
    assert table.noise_scale == pytest.approx(1 / (0.5 * (1 - ACCURACY_SHARE)))
    few = MANY_CLASSES - 1
    for one in (released(y % few, y % few, 0.5, few), released(y, predicted, 0.5, 10, accuracy_share=0.0)):
        assert one.totals is None
        assert one.noise_scale == 2.0
    with pytest.raises(InvalidParameter, match="accuracy_share"):
        released(y, predicted, 0.5, 10, accuracy_share=1.0, budget=budget)
    assert budget.spent == 1.5


def test_a_plan_releases_the_accuracy_of_many_classes():
    draw, n, n_classes = rng(), 6_000, 12
    classes = tuple(f"class {k}" for k in range(n_classes))
    X = pd.DataFrame({"at": draw.integers(0, 10 * n_classes, n)})
    y = np.array(classes)[np.where(draw.random(n) < 0.6, X["at"] // 10, draw.integers(0, n_classes, n))]
    schema = Schema((Feature("at", "numeric", lower=0, upper=10 * n_classes),), classes, n_lower=n)
    plan = Plan(schema, 4.0, shares={"training": 0.75, "evaluation": 0.25}, method="MixedNB")
    done = plan.run(X, y, secure=False, random_state=0)
    row = done.evaluation.set_index("measure").loc["accuracy"]
    # the model was released: its accuracy on all records differs by the chance of the held-out ones alone
    exact = np.mean(done.model.predict(X) == y)
    chance = np.sqrt(exact * (1 - exact) / (0.3 * n))
    noise = (row["noise_high"] - row["noise_low"]) / (2 * 1.96)
    assert row["value"] == pytest.approx(exact, abs=4 * np.hypot(chance, noise))
    assert row["low"] <= row["value"] <= row["high"]
    assert row["high"] - row["low"] < 0.15
    counts = json.loads(done.files()["evaluation.json"])["noisy_counts"]
    assert len(counts["correct_and_wrong"]) == 2
    assert counts["correct_and_wrong_noise_scale"] == pytest.approx(1 / (0.5 * ACCURACY_SHARE))


@pytest.mark.parametrize("odd", [None, "x", [0.5], [0.1, 0.2, 0.3, 0.4], np.array(0.5), ["x", 1j, None]])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_scores_that_are_no_record_raise_nothing(odd, relation):
    scores = [[0.2, 0.8, 0.0], [0.1, 0.1, 0.8], [0.5, 0.25, 0.25]]

    def call(rows):
        y = ["a", "b", "c", "a"][: len(rows)]
        options = {"classes": ("a", "b", "c"), "relation": relation, "release": True}
        return release_multiclass_evaluation(y, rows, 1.0, **options)

    last = [scores[0]] if relation == "replace-one" else []
    assert recorded_cost(call, [*scores, *last], [*scores, odd], pasts=1) <= 1 + 1e-9
    assert recorded_cost(call, [*last, *scores], [odd, *scores], pasts=1) < np.inf
