"""The scaling study: its data, its cells against plain computations, its walks and its file of finished cells."""

import importlib
import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression as Reference

from benchmarks import toy_scaling
from benchmarks.toy_scaling import (
    LAMBDAS,
    Cell,
    least_records,
    run_cell,
    scale_toy,
    toy_records,
)
from dpml.classifiers.linear.functional import functional_sensitivity
from dpml.datasets import load
from dpml.exceptions import InvalidParameter


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("benchmarks.scaling_study")  # not before: it sets the number of threads


def row(method, records, accuracy, dimension=2, epsilon=0.1, scaling="record"):
    epsilon = 0.0 if method == "map" else epsilon
    return {
        "method": method,
        "dimension": dimension,
        "records": records,
        "epsilon": epsilon,
        "scaling": scaling,
        "accuracy": accuracy,
        "standard_error": 0.001,
        "reg_lambda": 1.0,
        "runs": 10,
        "seed": 0,
        "seconds": 0.1,
    }


# ---- data -----------------------------------------------------------------------------------------------------------


def test_records_are_those_of_the_toy_data_set():
    data = load("toy", n=50, dimension=3, seed=7)
    X, codes = toy_records(150, 3, np.random.default_rng(7))
    assert data.frame[["x0", "x1", "x2"]].to_numpy()[:50] == pytest.approx(X[:50])
    assert (data.y_train == codes[:50]).all()


@pytest.mark.parametrize("dimension", [1, 10, 100])
def test_the_best_classifier_is_right_in_nine_of_ten(dimension):
    X, codes = toy_records(40_000, dimension, np.random.default_rng(0))
    a = math.sqrt(4 / dimension) * norm.ppf(0.9)
    right = ((X - a / 2).sum(axis=1) > 0) == codes
    assert right.mean() == pytest.approx(0.9, abs=5 * math.sqrt(0.09 / 40_000))


@pytest.mark.parametrize("how", ["record", "dataset"])
def test_each_record_is_scaled_by_itself_into_the_unit_ball(how):
    X, _ = toy_records(500, 20, np.random.default_rng(1))
    Z = scale_toy(X, how)
    assert np.linalg.norm(Z, axis=1).max() <= 1 + 1e-12
    assert scale_toy(X[:3], how) == pytest.approx(Z[:3])
    a = math.sqrt(4 / 20) * norm.ppf(0.9)
    naive = np.clip(2 * (X[0] + 3) / (a + 6) - 1, -1, 1)
    expected = naive / math.sqrt(20) if how == "dataset" else naive / max(1, np.linalg.norm(naive))
    assert Z[0] == pytest.approx(expected)
    far = np.full((1, 20), 1e9)
    assert np.linalg.norm(scale_toy(far, how)) == pytest.approx(1)


# ---- cells ----------------------------------------------------------------------------------------------------------


def test_map_is_chosen_on_the_validation_records():
    result = run_cell(Cell("map", 5, 64, 0.0), runs=3, seed=2)
    assert result["reg_lambda"] in LAMBDAS
    scores = {}
    for reg_lambda in LAMBDAS:
        fits = []
        for sample in range(3):
            X, codes = toy_scaling._sample(64, 5, "record", 2, 3, sample, 0)
            fits.append(Reference(C=1 / reg_lambda, fit_intercept=False, tol=1e-8).fit(X, codes))
        held = [toy_scaling._held_out(5, "record", 2, part) for part in (1, 2)]
        scores[reg_lambda] = [np.mean([fit.score(*part) for fit in fits]) for part in held]
    best = max(LAMBDAS, key=lambda value: (round(scores[value][0], 12), value))
    assert result["reg_lambda"] == best
    assert result["accuracy"] == pytest.approx(scores[best][1], abs=2e-4)


@pytest.mark.parametrize("method", [m for m in toy_scaling.SCALING_METHODS if m != "map"])
def test_methods_are_near_the_best_or_near_chance(method):
    good = run_cell(Cell(method, 4, 4096, 10.0), runs=4)
    bad = run_cell(Cell(method, 4, 64, 1e-5), runs=10)
    assert good["accuracy"] > 0.88
    # noise decides: the share of right ones is 1/2 on average, with a spread of up to 0.4 a run
    assert abs(bad["accuracy"] - 0.5) < 5 * 0.4 / math.sqrt(10)
    assert bad["accuracy"] < good["accuracy"] - 0.05


def test_tighter_sensitivities_need_less():
    deltas = [functional_sensitivity(10, sensitivity=s) for s in ("original", "improved", "exact")]
    assert deltas == sorted(deltas, reverse=True)
    accuracies = [run_cell(Cell(f"fmsens{k}", 10, 4096, 0.1))["accuracy"] for k in (1, 2, 3)]
    assert sorted(accuracies) == accuracies
    assert accuracies[2] - accuracies[0] > 0.1


def test_functional_statistics_of_parts_are_those_of_the_whole(monkeypatch):
    cell = Cell("fmsens3", 4, 100, 1.0)
    monkeypatch.setattr(toy_scaling, "MOST_CELLS", 120)  # 30 records
    parts = [toy_scaling._sample(min(30, 100 - s), 4, "record", 0, 3, 1, s) for s in range(0, 100, 30)]
    X, codes = (np.concatenate(side) for side in zip(*parts, strict=True))
    found = toy_scaling._coefficients(cell, 0, 1)
    assert found.quadratic == pytest.approx(X.T @ X / 8)
    assert found.linear[0] == pytest.approx(((0.5 - codes)[:, None] * X).sum(axis=0))


# ---- walks ----------------------------------------------------------------------------------------------------------


def test_least_records_is_within_two_points_of_the_best():
    rows = [row("map", 16, 0.87), row("map", 32, 0.885), row("map", 64, 0.90)]
    rows += [row("erm", 64, 0.70), row("erm", 128, 0.8799), row("erm", 256, 0.88), row("erm", 512, 0.60)]
    rows += [row("fm", 64, 0.7), row("fm", 128, 0.8)]
    table = least_records(rows).set_index("method")
    assert table["records"].to_dict() == {"map": 32, "erm": 256, "fm": 128}
    assert table["converged"].to_dict() == {"map": True, "erm": True, "fm": False}
    assert table["multiplier"].to_dict() == {"map": 1, "erm": 8, "fm": 4}
    assert table["best"].unique().tolist() == [0.9]
    with pytest.raises(InvalidParameter, match="map"):
        least_records(rows[3:])
    with pytest.raises(InvalidParameter, match="rows"):
        least_records([])


# ---- the script -----------------------------------------------------------------------------------------------------


def test_the_default_plan_has_all_published_tables(script):
    walks = script.plan(list(script.DIMENSIONS), [0.1, 0.01], [m for m in toy_scaling.SCALING_METHODS if m != "map"])
    assert len(set(walks)) == len(walks)
    for method, epsilon, how, rows in script.ANTONOVA.values():
        for dimension in rows:
            if dimension <= 100:
                assert (method, dimension, epsilon, how) in walks
