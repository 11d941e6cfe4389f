"""Every public function and mechanism that takes an ε: what the recorder finds of a call is at most its ε.

The estimators are in test_wholes_estimators.py; neighbours.py says how to make more neighbours.
"""

import numpy as np
import pandas as pd
import pytest
from neighbours import EPSILONS, RELATIONS, two_sides, worst_ratio
from observing import observing, plain_releases

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.evaluation import (
    compare_classifiers,
    noisy_n,
    private_confusion_matrix,
    private_roc_auc,
    private_roc_curve,
    published_roc_curve,
    quantile_thresholds,
    recursive_medians,
    release_evaluation,
    release_histogram,
    release_multiclass_evaluation,
)
from dpml.exceptions import BudgetExceeded, RelationMismatch
from dpml.mechanisms import (
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Hierarchy,
    IdentityRanges,
    Laplace,
    NormGamma,
    PermuteAndFlip,
    Privelet,
    ReportNoisyMax,
    SampleAndAggregate,
    SparseVector,
    Staircase,
    private_bounds,
    private_quantiles,
    smooth_sensitivity,
)
from dpml.mechanisms.smooth.admissible import Cauchy, StudentT
from dpml.selection import one_shot, peel, sample_joint
from dpml.tuning import random_stopping

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
    relation, clip = pick.among(RELATIONS), pick.among((False, True))

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
    return (*arrays, relation, "clip" if clip else "raise")


@pytest.mark.parametrize("name", SCORED)
def test_no_neighbours_cost_a_function_of_scores_more(name):
    def ratio_of(pick):
        data, neighbour, relation, on_invalid = scored_records(pick)
        epsilon, release = pick.among(EPSILONS), name in RELEASED and pick.among(range(8)) == 7
        shared = {"relation": relation, "on_invalid": on_invalid, "release": release}
        budgets = []

        def call(data):
            budgets.append(Budget(1e6, relation=relation))
            return SCORED[name](data, epsilon, {**shared, "budget": budgets[-1]})

        cost = recorded_cost(call, data, neighbour, pasts=1)
        assert budgets[0].spent == pytest.approx(epsilon, rel=1e-12)
        return cost / epsilon

    worst = worst_ratio(name, ratio_of)
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


# ---- mechanisms alone, on statistics of neighbours -------------------------------------------------------------------

SHIFTS = {
    "l1": lambda v: np.divide(v, max(np.abs(v).sum(), 1)),
    "l2": lambda v: np.divide(v, max(np.linalg.norm(v), 1)),
    "one": lambda v: np.clip(v, -1, 1) * np.array([1, 0, 0, 0]),
    "range": lambda v: np.divide(v, max(np.ptp(v), 1)),
    "each": lambda v: np.divide(v, max(np.abs(v).max(), 1)),
}
FOUR = {
    "Laplace": ("l1", lambda v, e: Laplace(e).release(v, rng=rng())),
    "Geometric": ("one", lambda v, e: Geometric(e).release(v, rng=rng())),
    "Staircase": ("one", lambda v, e: Staircase(e).release(v, rng=rng())),
    "NormGamma": ("l2", lambda v, e: NormGamma(e, 1.0, 4).release(v, rng=rng())),
    "NormGamma[p=1]": ("l1", lambda v, e: NormGamma(e, 1.0, 4, p=1.0).release(v, rng=rng())),
    "Gaussian": ("l2", lambda v, e: Gaussian(e, DELTA).release(v, rng=rng())),
    "ExponentialMechanism": ("range", lambda v, e: ExponentialMechanism(e, 1.0).release(v, rng=rng())),
    "PermuteAndFlip": ("range", lambda v, e: PermuteAndFlip(e, 1.0).release(v, rng=rng())),
    "ReportNoisyMax[laplace]": ("range", lambda v, e: ReportNoisyMax(e, 1.0, "laplace").release(v, rng=rng())),
    "SparseVector": ("each", lambda v, e: SparseVector(e, 2).release(v, 0.5, rng=rng())),
    "one_shot": ("range", lambda v, e: one_shot(v, e, 2, 1.0, rng=rng())),
    "peel": ("range", lambda v, e: peel(v, e, 2, 1.0, rng=rng())),
    "peel[exponential]": ("range", lambda v, e: peel(v, e, 2, 1.0, noise="exponential", rng=rng())),
    "sample_joint": ("range", lambda v, e: sample_joint(v, e, 2, 1.0, rng=rng())),
    "IdentityRanges": ("one", lambda v, e: IdentityRanges(e, 4).release(v, rng=rng())),
    "Hierarchy": ("one", lambda v, e: Hierarchy(e, 4).release(v, rng=rng())),
    "Privelet": ("one", lambda v, e: Privelet(e, 4).release(v, rng=rng())),
    "release_histogram": ("one", lambda v, e: release_histogram(np.reshape(v, (2, 2)), e, rng=rng())),
    "noisy_n": ("one", lambda v, e: noisy_n(abs(int(v[0])), e, rng=rng())),
    "random_stopping": (
        "one",
        lambda v, e: random_stopping(
            lambda r: (0, float(Laplace(e / 2).release(v[0], rng=r))), e / 2, gamma=0.3, rng=rng()
        ),
    ),
}
LOOSE = {"Staircase", "SparseVector", "ReportNoisyMax[laplace]", "Gaussian", "ExponentialMechanism", "PermuteAndFlip"}


@pytest.mark.parametrize("name", FOUR)
def test_no_neighbours_cost_a_mechanism_more_than_its_claim(name):
    how, call = FOUR[name]
    delta = DELTA if name == "Gaussian" else 0.0

    def ratio_of(pick):
        values, shift = (np.array([pick.among(range(-3, 4)) for _ in range(4)], dtype=float) for _ in range(2))
        epsilon = pick.among(EPSILONS)
        sides = values, values + SHIFTS[how](shift)
        return recorded_cost(lambda v: call(v, epsilon), *sides, delta=delta, pasts=1) / epsilon

    assert worst_ratio(name, ratio_of) >= (0.5 if name in LOOSE else 0.999)


def smooth(kind, noise):
    def call(records, e, relation):
        mechanism = noise(e)
        values = np.clip([x for x, _ in records], 0.0, 4.0)
        exact = np.median(np.append(values, [0.0, 4.0]))
        if relation == "add-remove" or not len(values):
            exact = float(np.sort(values)[(len(values) + 1) // 2 - 1]) if len(values) else 0.0
        s = smooth_sensitivity(kind, values, 0.0, 4.0, mechanism.beta, "add-remove")
        return mechanism.release(exact, s, rng=rng())

    return call


RECORDS = {
    "Cauchy(median)": smooth("median", lambda e: Cauchy(e, e / 6)),
    "StudentT(median)": smooth("median", lambda e: StudentT(e, e / 8)),
    "private_bounds": lambda records, e, relation: private_bounds(
        [x for x, _ in records], e, relation=relation, rng=rng(), on_invalid="clip"
    ),
    "private_quantiles": lambda records, e, relation: private_quantiles(
        [x for x, _ in records],
        (0.1, 0.5),
        e,
        lower=0,
        upper=4,
        n_cells=5,
        relation=relation,
        rng=rng(),
        on_invalid="clip",
    ),
    "SampleAndAggregate": lambda records, e, relation: SampleAndAggregate(e, 3, 0.0, 4.0, relation).release(
        np.array([x for x, _ in records], dtype=float), np.mean, rng=rng()
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_no_neighbours_cost_a_mechanism_of_records_more(name):
    smooth_one = "median" in name
    values = (0.0, 1.0, 2.5, 4.0) if smooth_one else (0.0, 1.0, 4.0, np.nan, 9.0)

    def ratio_of(pick):
        relation = "add-remove" if smooth_one else pick.among(RELATIONS)
        sides = two_sides(pick, relation, pick.among(range(7)), lambda: (pick.among(values), pick.among((0.0, 1.0))))
        epsilon = pick.among(EPSILONS)
        return recorded_cost(lambda data: RECORDS[name](data, epsilon, relation), *sides, pasts=1) / epsilon

    assert worst_ratio(name, ratio_of) >= 0.3
