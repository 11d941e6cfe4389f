"""Every public function that takes an ε: what the recorder finds of a call is at most its ε.

The estimators are in test_wholes_estimators.py; neighbours.py says how to make more neighbours.
"""

import numpy as np
import pandas as pd
import pytest
from neighbours import EPSILONS, EXAMPLES, PAIRS, RELATIONS, rebuilt, two_sides, worst_ratio
from observing import observing, plain_releases

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.evaluation import (
    compare_classifiers,
    private_confusion_matrix,
    private_roc_auc,
    private_roc_curve,
    published_roc_curve,
    quantile_thresholds,
    recursive_medians,
    release_evaluation,
    release_multiclass_evaluation,
)
from dpml.exceptions import BudgetExceeded, RelationMismatch
from dpml.mechanisms import (
    private_bounds,
    private_categories,
    private_quantiles,
)

DELTA = 1e-5


def rng():
    return np.random.default_rng(0)


# ---- functions of labelled scores ------------------------------------------------------------------------------------

ROC = {"classes": ("n", "p"), "pos_label": "p", "n_bins": 4}


def unlabelled(shared):
    """Return the options of a call without the positive class, which it does not take."""
    return {"classes": ROC["classes"], **{name: value for name, value in shared.items() if name != "pos_label"}}


def roc_options(shared):
    return {**ROC, **shared, "rng": None if shared["release"] else rng()}


def study(shared):
    return {name: value for name, value in roc_options(shared).items() if name != "release"}


def pair(one, two):
    """Return two columns as a table that keeps their types."""
    return pd.concat([one, two], axis=1) if isinstance(one, pd.Series) else np.column_stack([one, two])


def published(method, **more):
    def call(data, e, shared):
        options = {k: {**ROC, **shared}[k] for k in ("relation", "on_invalid", "budget", "classes", "pos_label")}
        return published_roc_curve(data["y"], data["s"], e, rng=rng(), method=method, **options, **more)

    return call


def thresholds(function, size):
    def call(data, e, shared):
        options = {k: shared[k] for k in ("relation", "on_invalid", "budget")}
        return function(data["s"], e, size, rng=rng(), **options)

    return call


SCORED = {
    "release_evaluation": lambda d, e, k: release_evaluation(d["y"], d["s"], e, **roc_options(k)),
    "release_evaluation[weights]": lambda d, e, k: release_evaluation(
        d["y"], d["s"], e, sample_weight=d["w"], weight_bound=2.0, **roc_options(k)
    ),
    "private_roc_curve": lambda d, e, k: private_roc_curve(d["y"], d["s"], e, **study(k)),
    "private_roc_auc": lambda d, e, k: private_roc_auc(d["y"], d["s"], e, **study(k)),
    "private_confusion_matrix": lambda d, e, k: private_confusion_matrix(
        d["y"], d["p"], e, rng=None if k["release"] else rng(), **unlabelled(k)
    ),
    "compare_classifiers": lambda d, e, k: compare_classifiers(d["y"], d["s"], d["t"], e, **roc_options(k)),
    "compare_classifiers[roc_auc]": lambda d, e, k: compare_classifiers(
        d["y"], d["s"], d["t"], e, metric="roc_auc", **roc_options(k)
    ),
    "release_multiclass_evaluation": lambda d, e, k: release_multiclass_evaluation(
        d["y"], pair(d["s"], d["t"]), e, n_bins=4,
        rng=None if k["release"] else rng(), **unlabelled(k)
    ),
    "published_roc_curve[recursive-medians]": published("recursive-medians", k=2),
    "published_roc_curve[recursive-medians, published]": published("recursive-medians", k=2, calibration="published"),
    "published_roc_curve[quantiles]": published("quantiles", n_thresholds=4, ranges="hierarchy"),
    "published_roc_curve[fixed-space]": published("fixed-space", n_thresholds=5, ranges="identity", halves=True),
    "published_roc_curve[laplace-fixed]": published("laplace-fixed", n_thresholds=3),
    "recursive_medians": thresholds(recursive_medians, 2),
    "quantile_thresholds": thresholds(quantile_thresholds, 5),
}  # fmt: skip
# these take no budget
FOR_STUDY = {
    f"published_roc_curve[{method}, n of the records]": published(method) for method in ("laplace", "fixed-space")
}
STUDIED = ("private_roc_curve", "private_roc_auc", "published_roc_curve", "recursive_medians", "quantile_thresholds")
RELEASED = {name for name in SCORED if name.split("[")[0] not in STUDIED}


def scored_records(pick):
    """Return labelled scores of two neighbours and the options of a call; one time in three the columns are rebuilt."""
    relation, clip = pick.among(RELATIONS), pick.among((False, True))
    if pick.among((False, False, True)):
        classes, scores = pick.among(PAIRS), pick.among(((0, 1), (0.0, 0.1, 0.5, 1.0)))

        def odd_record():
            return [pick.among(of) for of in (classes, scores, scores, (0.0, 1.0, 2.0), classes)]

        sides = rebuilt(pick, relation, pick.among((1, 3, 6, 15)), odd_record, "ystw", ("p",))
        columns = [
            {name: side[name] for name in "ystwp"}
            if isinstance(side, pd.DataFrame)
            else dict(zip("ystwp", side.T, strict=True))
            for side in sides
        ]
        shared = {"relation": relation, "on_invalid": "clip", "classes": classes, "pos_label": classes[1]}
        return *columns, shared

    def record():
        odd = clip and pick.among(range(5)) == 4
        label = pick.among(("odd", None, 3) if odd else "np")
        numbers = [pick.among((0.0, 0.1, 0.3, 0.5, 0.9, 1.0)) for _ in range(2)]
        if clip and pick.among(range(10)) == 9:
            numbers[0] = pick.among((np.nan, 2.0, -np.inf))
        return label, *numbers, pick.among((0.0, 1.0, 2.0)), pick.among("np")

    sides = two_sides(pick, relation, pick.among(range(8)), record)
    columns = [dict(zip("ystwp", zip(*side, strict=True) if side else [[]] * 5, strict=True)) for side in sides]
    arrays = [{k: list(v) if k in "yp" else np.array(v, dtype=float) for k, v in side.items()} for side in columns]
    return *arrays, {"relation": relation, "on_invalid": "clip" if clip else "raise"}


@pytest.mark.parametrize("name", SCORED)
def test_no_neighbours_cost_a_function_of_scores_more(name):
    def ratio_of(pick):
        data, neighbour, shared = scored_records(pick)
        epsilon, release = pick.among(EPSILONS), name in RELEASED and pick.among(range(8)) == 7
        budgets = []

        def call(data):
            budgets.append(Budget(1e6, relation=shared["relation"]))
            return SCORED[name](data, epsilon, {**shared, "release": release, "budget": budgets[-1]})

        cost = recorded_cost(call, data, neighbour, pasts=1)
        assert budgets[0].spent == pytest.approx(epsilon, rel=1e-12)
        return cost / epsilon

    worst = worst_ratio(name, ratio_of, 2 * EXAMPLES)
    if name in RELEASED - {"release_multiclass_evaluation"} or name.startswith("private"):
        assert worst >= 0.999


THREE = {"y": list("npn"), "s": [0.1, 0.9, 0.5], "t": [0.2, 0.8, 0.5], "w": [1.0, 1.0, 2.0], "p": list("npp")}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", [*SCORED, *FOR_STUDY])
def test_what_is_released_is_private_until_it_has_noise(name, relation):
    for release in {False, name in RELEASED}:
        shared = {"relation": relation, "on_invalid": "raise", "release": release, "budget": None}
        n, plain = plain_releases(lambda shared=shared: {**SCORED, **FOR_STUDY}[name](THREE, 1.0, shared))
        assert n
        assert not plain


@pytest.mark.parametrize(
    ("terms", "error"),
    [({"epsilon": 0.99}, BudgetExceeded), ({"epsilon": 1.0, "relation": "replace-one"}, RelationMismatch)],
    ids=["too little", "the other relation"],
)
@pytest.mark.parametrize("name", SCORED)
def test_a_call_that_its_budget_does_not_cover_draws_nothing(name, terms, error):
    budget = Budget(**terms)
    with observing() as passed, pytest.raises(error):
        SCORED[name](THREE, 1.0, {"relation": "add-remove", "on_invalid": "raise", "release": False, "budget": budget})
    assert not passed
    assert not len(budget.ledger)


# ---- functions of columns --------------------------------------------------------------------------------------------

COLUMNS = {
    "private_bounds": lambda values, e, k: private_bounds(values, e, **k),
    "private_quantiles": lambda values, e, k: private_quantiles(values, (0.5,), e, lower=0, upper=4, n_cells=5, **k),
    "private_categories": lambda values, e, k: private_categories(values, e, DELTA, **k),
}
CELLS = ((0, 1, 2), (0.0, 0.5, 4.0), (0.5, np.nan, 1.0), (1, 2, None), ("a", "b", "1"), ("u", None), (True, False))
CELLS += (("007", "12"), (2**53 + 2, 1), ("nan", "a"), (1 + 0j, 0.5))


@pytest.mark.parametrize("name", COLUMNS)
def test_no_neighbours_cost_a_function_of_a_column_more(name):
    delta = DELTA if name == "private_categories" else 0.0

    def ratio_of(pick):
        relation, cells, epsilon = pick.among(RELATIONS), pick.among(CELLS), pick.among(EPSILONS)
        sides = rebuilt(pick, relation, pick.among((1, 3, 6, 15)), lambda: [pick.among(cells), 0], "c", ("d",))
        columns = [side["c"] if isinstance(side, pd.DataFrame) else side[:, 0] for side in sides]
        options = {"relation": relation, "on_invalid": "clip", "rng": rng()}
        return recorded_cost(lambda v: COLUMNS[name](v, epsilon, options), *columns, delta=delta, pasts=1) / epsilon

    assert worst_ratio(name, ratio_of, 6 * EXAMPLES) >= 0.99
