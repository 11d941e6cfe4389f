"""Every whole on tables that pandas read from a file, or NumPy made of a list, with an odd record anywhere in them.

The type of a column depends on all of its cells. So one odd cell changes the type of every other cell of its column,
and must change the reading of none: the recorded cost is at most the charge. neighbours.py says how to make more.
"""

import os

import numpy as np
import pandas as pd
import pytest
from neighbours import EPSILONS, LABELS, RELATIONS, Rolled, rebuilt, rebuilt_tables, worst_ratio
from test_wholes_estimators import (
    CROSS_VALIDATED,
    DELTA,
    LARGE_DELTA,
    LONG,
    OBJECTS,
    WITH_DELTA,
    can_release,
    cost_and_charge,
    cross_validated,
    fitted,
)
from test_wholes_functions import RELEASED, SCORED, rng
from test_wholes_more import PETS, PLANS, PUBLIC, WEIGHTS, ReleaseOfAIM, ReleaseOfMST

from dpml.audit import recorded_cost
from dpml.mechanisms import private_bounds, private_categories, private_quantiles
from dpml.publishing import ImportanceWeights
from dpml.release import Plan

REBUILT, REBUILT_LONG = (int(os.environ.get("DPML_NEIGHBOURS", usual)) for usual in ("16", "6"))
PAIRS = [labels for labels in LABELS if len(labels) == 2]


def check_rebuilt(name, kind, run_of, examples, releases=False, labels=LABELS):
    """Look for the dearest of two tables, rebuilt, for a fit."""

    def ratio_of(pick):
        data, neighbour, shared = rebuilt_tables(pick, kind, labels)
        release = releases and pick.among(range(4)) == 3
        run = run_of(pick.among(EPSILONS), shared, release)
        delta = DELTA if any(word in name for word in WITH_DELTA) else LARGE_DELTA if "large delta" in name else 0.0
        cost, charged = cost_and_charge(run, data, neighbour, shared["relation"], delta)
        return cost / charged if charged else float(cost > 0) * 2

    worst_ratio(f"rebuilt {name}", ratio_of, examples)


@pytest.mark.parametrize(("name", "make", "kind"), OBJECTS, ids=[name for name, *_ in OBJECTS])
def test_no_neighbours_rebuilt_cost_more_than_was_charged(name, make, kind):
    examples = REBUILT_LONG if any(word in name for word in LONG) else REBUILT
    check_rebuilt(name, kind, lambda e, k, r: fitted(make, e, k, r), examples, can_release(make, kind))


@pytest.mark.parametrize("name", CROSS_VALIDATED)
def test_no_neighbours_rebuilt_cost_cross_validation_more(name):
    def run_of(e, k, r):
        return cross_validated(CROSS_VALIDATED[name], e, k, r, pos_label=k["schema"].classes[1])

    check_rebuilt(name, "binary", run_of, REBUILT_LONG, name == "cross-validation", PAIRS)


MARGINALS = {f"{of.__name__}({k})": (of, k) for of in (ReleaseOfMST, ReleaseOfAIM) for k in ("binary", "mixed")}


@pytest.mark.parametrize("name", MARGINALS)
def test_no_neighbours_rebuilt_cost_marginals_more(name):
    of, kind = MARGINALS[name]
    check_rebuilt(name, kind, lambda e, k, r: fitted(lambda e, k: of(e, **k), e, k, r), REBUILT_LONG)


@pytest.mark.parametrize("name", PLANS)
def test_no_neighbours_rebuilt_cost_a_plan_more_than_its_budget(name):
    def ratio_of(pick):
        kind = "binary" if "four" in name else pick.among(("binary", "mixed"))
        data, neighbour, shared = rebuilt_tables(pick, kind)
        epsilon, secure = pick.among(EPSILONS), pick.among(range(4)) == 3
        plan = Plan(shared["schema"], epsilon, relation=shared["relation"], **PLANS[name])

        def call(data):
            return plan.run(*data, secure=secure, **({} if secure else {"random_state": 0}))

        return recorded_cost(call, data, neighbour, pasts=1) / epsilon

    assert worst_ratio(f"rebuilt {name}", ratio_of, REBUILT) >= 0.3


@pytest.mark.parametrize("name", WEIGHTS)
def test_no_neighbours_rebuilt_cost_weights_more(name):
    def ratio_of(pick):
        def record():
            return [pick.among(("cat", "dog", "hen")), pick.among((0.0, 80.0)), pick.among((0, 1)), pick.among((0, 1))]

        sides = rebuilt(pick, "replace-one", pick.among((1, 6, 15)), record, PETS.feature_names, ())
        epsilon = pick.among(EPSILONS)

        def run(budget, table):
            options = WEIGHTS[name] | {"on_invalid": "clip", "random_state": 0}
            return ImportanceWeights(epsilon, schema=PETS, budget=budget, **options).fit(table, PUBLIC)

        cost, charged = cost_and_charge(run, *sides, "replace-one", 0.0)
        return cost / charged

    assert worst_ratio(f"rebuilt {name}", ratio_of, REBUILT) > 0.05


# ---- functions of columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORED)
def test_no_neighbours_rebuilt_cost_a_function_of_scores_more(name):
    def ratio_of(pick):
        relation, classes = pick.among(RELATIONS), pick.among(PAIRS)
        scores = pick.among(((0, 1), (0.0, 0.1, 0.5, 1.0)))

        def record():
            return [*(pick.among(of) for of in (classes, scores, scores, (0.0, 1.0, 2.0), classes))]

        sides = rebuilt(pick, relation, pick.among((1, 3, 6, 15)), record, "ystw", ("p",))
        if isinstance(sides[0], pd.DataFrame):
            sides = [{name: side[name] for name in "ystwp"} for side in sides]
        else:
            sides = [dict(zip("ystwp", side.T, strict=True)) for side in sides]
        release = name in RELEASED and pick.among(range(4)) == 3
        shared = {"relation": relation, "on_invalid": "clip", "release": release, "budget": None}
        shared |= {"classes": classes, "pos_label": classes[1]}
        epsilon = pick.among(EPSILONS)
        return recorded_cost(lambda data: SCORED[name](data, epsilon, shared), *sides, pasts=1) / epsilon

    assert worst_ratio(f"rebuilt {name}", ratio_of, REBUILT) >= 0.2


COLUMNS = {
    "private_bounds": lambda values, e, k: private_bounds(values, e, **k),
    "private_quantiles": lambda values, e, k: private_quantiles(values, (0.5,), e, lower=0, upper=4, n_cells=5, **k),
    "private_categories": lambda values, e, k: private_categories(values, e, DELTA, **k),
}
CELLS = ((0, 1, 2), (0.0, 0.5, 4.0), (0.5, np.nan, 1.0), (1, 2, None), ("a", "b", "1"), ("u", None), (True, False))
CELLS += (("007", "12"), (2**53 + 2, 1), ("nan", "a"), (1 + 0j, 0.5))


@pytest.mark.parametrize("name", COLUMNS)
def test_no_neighbours_rebuilt_cost_a_function_of_a_column_more(name):
    delta = DELTA if name == "private_categories" else 0.0

    def ratio_of(pick):
        relation, cells, epsilon = pick.among(RELATIONS), pick.among(CELLS), pick.among(EPSILONS)
        sides = rebuilt(pick, relation, pick.among((1, 3, 6, 15)), lambda: [pick.among(cells), 0], "c", ("d",))
        columns = [side["c"] if isinstance(side, pd.DataFrame) else side[:, 0] for side in sides]
        options = {"relation": relation, "on_invalid": "clip", "rng": rng()}
        return recorded_cost(lambda v: COLUMNS[name](v, epsilon, options), *columns, delta=delta, pasts=1) / epsilon

    assert worst_ratio(f"rebuilt {name}", ratio_of, 8 * REBUILT) >= 0.99


# ---- that the tables differ as they should ---------------------------------------------------------------------------


def test_rebuilt_tables_differ_in_the_types_of_their_columns():
    types = []
    for seed in range(200):
        one, two, _ = rebuilt_tables(Rolled(seed), "mixed")
        types.append([str(X.dtypes if isinstance(X, pd.DataFrame) else X.dtype) for X, _ in (one, two)])
    assert sum(one != two for one, two in types) > 100
