"""Schemas at the ends of floats, with classes and categories of any kind, and what is fitted to each."""

import math
import sys
import traceback
import warnings

import numpy as np
import pandas as pd
from fuzz_cells import MISSING, ODD, objects, pick
from public_estimators import RELEASED, made

from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.evaluation import private_confusion_matrix, release_evaluation, release_multiclass_evaluation
from dpml.exceptions import ConcentratedWeights, DpmlError, FactWarning
from dpml.publishing import ImportanceWeights
from dpml.schema import Feature, Schema

LARGEST = sys.float_info.max
SIZES = [
    0.0,
    5e-324,
    1e-310,
    sys.float_info.min,
    1024 / LARGEST,
    1e-300,
    1e-160,
    1e-154,
    1e-9,
    0.5,
    1.0,
    3.0,
    1e9,
    1e16,
]
SIZES += [2.0**53, 1e100, 1e154, 1e160, 1e300, LARGEST / 4, LARGEST / 2, 1e308, LARGEST]
SIGNED = [sign * size for size in SIZES for sign in (1, -1)]
ODD_BOUNDS = [None, math.nan, math.inf, -math.inf, "1", True, pd.NA, 10**400, np.float32(3), np.datetime64("NaT"), 1j]
GOOD = ["a", "b", "", "1", "nan", "None", "True", "a\0", "é", 0, 1, 2, -7, 0.5, 1e-300, 2**53 - 1, False, True]
GOOD += [np.int8(5), np.float64(2.5), np.str_("z")]
BAD = [*MISSING, *ODD, 2**53, -(2**53), 1e300, math.inf, 10**400, ("a", None), (math.nan,), (1, 2), [1], {}, b"a"]
BAD += ["\ud800", np.longdouble("0.1"), pd.Timestamp("2020"), frozenset({None})]
STUDIED = {
    "BernoulliNB": ["published", "partitioned"],
    "MixedNB": ["global", "smooth", "bun-steinke"],
    "LogisticRegression": ["output", "objective"],
    "LinearSVC": ["output", "objective"],
}
# a release of these would be the same as of what they hold, and slow
HELD = {"PrivateSearch"}
ONLY_BINARY = {"BernoulliNB", "LinearClassifier", "BestSelector", "TopSelector", "NoisyCountSelector"}
ONLY_BINARY |= {"NoisyClusterSelector"}
LINEAR = {"LogisticRegression", "PrivLocal", "PrivGene"}
NAMES = [name for name in RELEASED if name not in HELD]
EPSILONS = (1.0, 0.1, 50.0, 2000.0)


def bounds(rng):
    """Return bounds: of any size, a few floats apart, or around 0."""
    way = rng.random()
    if way < 0.1:
        return pick(rng, ODD_BOUNDS), pick(rng, SIGNED)
    lower = pick(rng, SIGNED)
    if way < 0.3:
        upper = lower
        for _ in range(rng.integers(1, 20)):
            upper = math.nextafter(upper, math.inf)
        return lower, upper
    if way < 0.6:
        return tuple(sorted([lower, pick(rng, SIGNED)]))
    return (0.0 if way < 0.7 else -abs(lower), abs(pick(rng, SIGNED)))


def values(rng, least):
    """Return labels or categories, one time in eight with one of any kind."""
    chosen = [GOOD[i] for i in rng.permutation(len(GOOD))[: rng.integers(least, 6)]]
    if rng.random() < 0.125:
        chosen[rng.integers(len(chosen))] = pick(rng, BAD)
    elif rng.random() < 0.5:
        return pick(rng, [("a", "b", "c"), (0, 1), (1, "1", "a"), (0.5, 2, True)])
    return tuple(chosen)


def feature(rng, name):
    kind = pick(rng, ["numeric", "numeric", "categorical", "binary"])
    filled, odd = rng.random() < 0.3, rng.random() < 0.1
    if kind == "binary":
        return Feature(name, missing=pick(rng, ["1", math.nan, 2] if odd else [0, 1, True, 0.0]) if filled else None)
    if kind == "categorical":
        some = values(rng, 1)
        return Feature(name, kind, some, missing=pick(rng, BAD) if odd else some[-1] if filled else None)
    lower, upper = bounds(rng)
    levels = [[pick(rng, SIGNED)]] if rng.random() < 0.05 else None
    return Feature(name, kind, lower=lower, upper=upper, missing=upper if filled else None, levels=levels)


def schema(rng, kinds):
    features = [feature(rng, f"x{i}") for i in range(rng.integers(1, 4))]
    if rng.random() < 0.3:
        features = [f for f in features if f.kind in kinds] or [Feature("x0", "numeric", lower=-1e308, upper=7e307)]
    public = {"n_lower": pick(rng, [None, 1, 2, 50, 10**15, 2**53])}
    return Schema(features, values(rng, 2) if rng.random() < 0.7 else ("a", "b"), **public)


# ---- records ---------------------------------------------------------------------------------------------------------


def cell(rng, f):
    if rng.random() < 0.15:
        return pick(rng, [None, math.nan, pd.NA, math.inf, -math.inf, 10**400, "x", LARGEST, -LARGEST, 5e-324, [1]])
    if f.kind == "numeric":
        return pick(rng, [f.lower, f.upper, f.lower / 2 + f.upper / 2, math.nextafter(f.upper, -math.inf)])
    return pick(rng, f.categories or (0, 1))


def tables(rng, schema, relation):
    """Return two tables and their labels, which differ in the last record."""
    n = int(pick(rng, [0, 1, 2, 5, 20]))
    rows = [[cell(rng, f) for f in schema.features] for _ in range(n + 2)]
    labels = [pick(rng, [*schema.classes, None, math.nan] if rng.random() < 0.2 else schema.classes) for _ in rows]
    container = pick(rng, ["frame", "inferred frame", "rows", "objects"])
    other = [*range(n), n + 1] if relation == "replace-one" else range(n)
    sides = [([rows[i] for i in some], [labels[i] for i in some]) for some in (other, range(n + 1))]
    return [(_table(some, schema, container), objects(its, len(its))) for some, its in sides]


def _table(rows, schema, container):
    if container == "rows":
        return [list(row) for row in rows]
    X = objects([value for row in rows for value in row], (len(rows), schema.n_features))
    if container == "objects":
        return X
    frame = pd.DataFrame(X, columns=schema.feature_names, dtype=object)
    return frame.infer_objects() if container == "inferred frame" else frame


# ---- what is fitted --------------------------------------------------------------------------------------------------


def estimator(rng, schema, relation, release):
    """Return words and a function of (budget, data) that fits, and checks what it learned."""
    kinds = {f.kind for f in schema.features}
    names = NAMES if kinds == {"binary"} else [name for name in NAMES if name not in ONLY_BINARY]
    if "categorical" in kinds:
        names = [name for name in names if name not in LINEAR]
    name = pick(rng, names if release else [*STUDIED, "PrivatePredictionNB", *names])
    options = dict(RELEASED[name]) if release else {"random_state": 0, "on_invalid": "clip"}
    if not release and name in STUDIED:
        options["method"] = pick(rng, STUDIED[name])
    if options.get("method") in ("smooth", "bun-steinke"):
        options["noise"] = "cauchy"
    if name != "NoisyClusterSelector":
        options["relation"] = relation
    epsilon = pick(rng, EPSILONS)
    queries = _table([[cell(rng, f) for f in schema.features] for _ in range(3)], schema, "frame")

    def run(budget, data):
        model = made(name, epsilon, schema=schema, budget=budget, release=release, **options).fit(*data)
        check_model(model, schema, queries)
        return model

    return f"{name}({epsilon:g}) {options} release={release}", run


def check_model(model, schema, queries):
    if hasattr(model, "sample"):
        drawn = model.sample(7, random_state=0)
        schema.check_table(drawn[schema.feature_names], drawn[model.label_name_])  # raises where it is outside
    if hasattr(model, "predict"):
        assert set(model.predict(queries).tolist()) <= set(schema.classes)
        for way in ("predict_proba", "decision_function"):
            if hasattr(model, way):
                assert np.isfinite(getattr(model, way)(queries)).all(), way
        for learned in ("coef_", "intercept_", "theta_", "var_", "class_log_prior_", "feature_log_prob_"):
            numbers = getattr(model, learned, 0.0)
            for each in numbers.values() if isinstance(numbers, dict) else [numbers]:
                assert np.isfinite(each).all(), learned


def importance(rng, schema, relation, release):
    epsilon = pick(rng, EPSILONS)
    public = _table([[cell(rng, f) for f in schema.features] for _ in range(12)], schema, "frame")
    clean = schema.check_features(public, "clip")[0]

    def run(budget, data):
        options = {"release": True} if release else {"random_state": 0, "on_invalid": "clip"}
        model = ImportanceWeights(epsilon, method="moments", schema=schema, budget=budget, **options)
        model.fit(data[0], clean)
        assert np.isfinite(model.weights(clean)).all()
        return model

    return f"ImportanceWeights({epsilon:g})", run


def evaluation(rng, schema, relation, release):
    epsilon = pick(rng, EPSILONS)
    source = {"release": True} if release else {"rng": np.random.default_rng(0), "on_invalid": "clip"}
    bound, of_all = pick(rng, SIZES), np.array([cell(rng, Feature("x")) for _ in range(21)], dtype=object)
    predicted = [pick(rng, schema.classes) for _ in range(21)]
    way = pick(rng, ["weights", "confusion", "multiclass"])

    def run(budget, data):
        y = data[1]
        n, C = len(y), schema.n_classes
        options = {**source, "budget": budget, "relation": relation, "classes": schema.classes}
        if way == "weights":
            options |= {"classes": schema.classes[:2], "pos_label": schema.classes[0]}
            released = release_evaluation(
                y, of_all[:n], epsilon, sample_weight=[bound] * n, weight_bound=bound, **options
            )
            measured = [released.roc_auc(), released.counts, *released.interval("roc_auc"), released.accuracy(0.5)]
        elif way == "confusion":
            measured = [private_confusion_matrix(y, predicted[:n], epsilon, **options).counts]
        else:
            scores = np.resize(of_all, (21, C))[:n]
            measured = [release_multiclass_evaluation(y, scores, epsilon, **options).macro_auc()]
        assert all(np.isfinite(each).all() for each in measured)
        return measured

    return f"{way}({epsilon:g}) weight_bound={bound:g} release={release}", run


def example(seed):
    """Raise where a schema is neither refused by name nor what is fitted to it sound."""
    rng = np.random.default_rng([27, seed])
    kind = pick(rng, [estimator] * 8 + [importance, evaluation])
    relation = "replace-one" if kind is importance else pick(rng, ["add-remove", "replace-one"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FactWarning)
        warnings.simplefilter("ignore", ConcentratedWeights)
        try:
            stated = schema(rng, pick(rng, [("numeric", "binary"), ("numeric", "categorical"), ("binary",)]))
        except DpmlError:
            return
        words, run = kind(rng, stated, relation, release=bool(rng.random() < 0.7))
        data, neighbour = tables(rng, stated, relation)
        budgets = []

        def call(data):
            budgets.append(Budget(1e6, 0.0, relation))
            return run(budgets[-1], data)

        try:
            call(tables(np.random.default_rng(0), stated, relation)[1])
        except DpmlError:
            return  # by its settings, whatever the records are
        cost, charge = recorded_cost(call, data, neighbour, pasts=1), budgets[0].spent
        assert cost <= charge * (1 + 1e-9), f"cost {cost} at a charge of {charge}: {words}, {stated}"


def failure(seed):
    """Return None, or what went wrong in an example."""
    try:
        example(seed)
    except Exception:
        return f"example {seed}: {traceback.format_exc()[-2500:]}"
    return None
