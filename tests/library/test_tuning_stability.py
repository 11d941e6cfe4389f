"""The stable score: what one record changes it by, and noise that does not depend on the records."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from tuning_table import table

from dpml.classifiers import LogisticRegression
from dpml.classifiers.linear import LinearSVC
from dpml.encoding import cut_rows
from dpml.schema import Schema
from dpml.tuning import (
    PrivateSearch,
)
from dpml.tuning.search import default_reach, margins_of, solver_tolerance, stability_range, stable_score

RELATIONS = ("add-remove", "replace-one")


# ---- the stable score -----------------------------------------------------------------------------------------------


def stable_scores(model, lambdas, training, held, reach, least, n_classes):
    """Scores of all λ by the estimator's own fits, with one fixed noise."""
    scores = []
    for reg_lambda in lambdas:
        fixed = np.random.default_rng(5)
        fitted = clone(model).set_params(reg_lambda=reg_lambda, random_state=fixed).fit(*training)
        margins = margins_of(fitted.decision_function(held[0]), held[1], n_classes)
        scores.append(stable_score(margins, reach / reg_lambda, least))
    return np.array(scores)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (LogisticRegression(1.0), 2),
        (LogisticRegression(1.0, method="objective"), 2),
        (LogisticRegression(1.0, method="objective"), 3),
        (LinearSVC(1.0, method="objective"), 2),
    ],
)
def test_one_record_moves_stable_scores_within_the_range(model, n_classes, relation):
    rng = np.random.default_rng(0)
    schema = Schema.binary(3, classes=tuple(range(n_classes)))
    model = clone(model).set_params(relation=relation, schema=schema, epsilon=0.1)
    lambdas, reach, least = (0.5, 2.0, 8.0), 100.0, 3
    tolerance = max(
        solver_tolerance(0.1, v, 4, n_classes=n_classes, n_ones=4, curvature=1.0, tolerance=1e-8) for v in lambdas
    )
    facts = {"relation": relation, "n_classes": n_classes, "tolerance": tolerance}
    validated = stability_range(1e9, least, **facts)
    trained = stability_range(reach, 10**9, **facts)
    moved = {"training": 0.0, "validation": 0.0}
    for _ in range(6):
        n, m = int(rng.integers(0, 5)), int(rng.integers(0, 6))
        X, y = rng.integers(2, size=(n + 1, 3)).astype(float), rng.integers(n_classes, size=n + 1)
        V, v = rng.integers(2, size=(m + 1, 3)).astype(float), rng.integers(n_classes, size=m + 1)

        def other(X, y):
            if relation == "add-remove":
                return X[:-1], y[:-1]
            X, y = X.copy(), y.copy()
            X[-1], y[-1] = 1 - X[-1], (y[-1] + 1) % n_classes
            return X, y

        base = stable_scores(model, lambdas, (X, y), (V, v), reach, least, n_classes)
        for part, pair in (("training", (other(X, y), (V, v))), ("validation", ((X, y), other(V, v)))):
            change = stable_scores(model, lambdas, *pair, reach, least, n_classes) - base
            # one candidate moves by no more than half of what two can move apart
            moved[part] = max(moved[part], 2 * np.abs(change).max() if part == "training" else np.ptp(change))
    assert 0.01 * trained < moved["training"] <= trained
    assert 0 < moved["validation"] <= validated
    assert stability_range(reach, least, **facts) == max(trained, validated)


def test_what_a_training_record_moves_a_score_by_is_attained():
    """A first record against the noise: at a far θ the loss has slope 1 and no curvature."""
    record, label = np.ones((1, 3)), np.array([1])
    model = LogisticRegression(0.1, method="objective", reg_lambda=4.0)
    moves = []
    for seed in range(20):
        scores = []
        for n in (0, 1):
            fitted = clone(model).set_params(random_state=seed).fit(record[:n], label[:n])
            scores.append(stable_score(fitted.decision_function(record), 1000.0 / 4.0, 1))
        moves.append(2 * (scores[1] - scores[0]))
    most = stability_range(1000.0, 10**9)
    assert 0.99 * most < max(moves) <= most * (1 + 1e-6)
    assert min(moves) > -1e-9


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_range_by_a_validation_record_is_attained(relation):
    """Ramps of 0 or 1 for two candidates: all pairs of tables of up to four records."""
    least = 2
    records = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]

    def score(rows):
        margins = 2 * np.array(rows).reshape(len(rows), 2).T - 1
        return stable_score(margins, 0.5, least)

    worst = 0.0
    for m in range(4):
        for rows in itertools.combinations_with_replacement(records, m):
            for new in records:
                if relation == "add-remove":
                    worst = max(worst, np.ptp(score([*rows, new]) - score(rows)))
                elif m:
                    worst = max(worst, np.ptp(score([*rows[1:], new]) - score(rows)))
    assert worst == pytest.approx(stability_range(1e9, least, relation=relation))


def test_the_stable_score_is_a_ramp_of_the_margins():
    z = np.linspace(-3, 3, 601)
    ramp = np.array([stable_score([v], 2.0, 1) for v in z])
    assert np.abs(np.diff(ramp) / np.diff(z)).max() <= 1 / 4 + 1e-9  # the slope that the range is derived from
    assert ramp[[0, 300, -1]].tolist() == [0.0, 0.5, 1.0]
    assert stable_score([9.0], 1.0, 4) == 0.25
    assert stable_score(np.empty(0), 1.0, 4) == 0.0
    decision = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 1.0]])
    np.testing.assert_array_equal(margins_of(decision, np.array([1, 2]), 3), [1.0, -4.0])
    np.testing.assert_array_equal(margins_of(np.array([2.0, 3.0]), np.array([0, 1])), [-2.0, 3.0])
    assert stability_range(default_reach(0.5), 10**6) / 0.5 == pytest.approx(0.1 / np.sqrt(1.5))
    assert stability_range(8.0, 10**6, relation="replace-one", n_classes=3) == pytest.approx(4 / 8)


def test_noise_of_the_stable_search_ignores_the_records():
    """The generator that trains the candidates is in the same state for all of them, after cutting as well."""
    states = []

    class Recorded(LogisticRegression):
        def fit(self, X, y):
            state = self.random_state.bit_generator
            before = state.state["state"]["state"]
            assert (np.asarray(X).sum(axis=1) <= 2).all()
            super().fit(X, y)
            if len(y):  # not the dry runs
                states.append((before, state.state["state"]["state"]))
            return self

    X, y = table(n=80)
    linear = Recorded(1.0, method="objective", row_bound=2)
    search = PrivateSearch(linear, {"reg_lambda": [1.0, 5.0]}, 1.0, method="stability", simulations=2, random_state=0)
    search.fit(X, y)
    assert len(states) == 5
    assert states[0] == states[2]
    assert states[1] == states[3]
    assert cut_rows(X, 2, rng=np.random.default_rng(0)).sum() < X.sum()
