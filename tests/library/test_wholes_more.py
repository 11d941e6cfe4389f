"""Neighbours for wholes of which the others make too few: large ε, longer tables, numbers, two tables, and plans."""

import numpy as np
import pandas as pd
import pytest
from neighbours import EPSILONS, any_tables, rebuilt, tables, two_sides, worst_ratio
from test_wholes_estimators import BINARY, MIXED, cost_and_charge, fitted

from dpml.audit import recorded_cost
from dpml.classifiers import BernoulliNB
from dpml.publishing import PPH, ImportanceWeights
from dpml.publishing.graphical import AIM, MST, release_aim
from dpml.release import Plan
from dpml.schema import Feature, Schema

LARGE = (50.0, 400.0)
LONG = (20, 24, 31, 40)


class ReleaseOfMST(MST):
    """MST without its model, which sees nothing but what is released, and takes seconds."""

    def _model(self, marginals, table):
        self.marginals_ = [(m.attributes, m.counts) for m in marginals]

    def sample(self, n):
        return None


class ReleaseOfAIM(AIM):
    """AIM with the model of independent attributes."""

    _model, sample = ReleaseOfMST._model, ReleaseOfMST.sample

    def _release(self, records, table):
        options = {"delta": self.delta, "n_rounds": self.n_rounds, "relation": table.relation}
        return release_aim(records, self.epsilon, **options, **table.noise)


PUBLISHERS_AND_TREES = ("PrivPfC", "DiffGen", "PPH", "PrivBayes", "UniformGrid", "DiffPID3", "DiffPC45", "RandomTrees")
WHOLES = {
    **{
        f"{name}[long]": (make, "mixed" if "mixed" in name else "binary")
        for name, make in (BINARY | MIXED).items()
        if name.startswith(PUBLISHERS_AND_TREES)
    },
    "PPH[numbers, long]": (lambda e, k: PPH(e, n_attributes=2, shares=(0.8, 0.1, 0.1), **k), "mixed"),
    "MST": (lambda e, k: ReleaseOfMST(e, **k), "binary"),
    "MST(mixed)": (lambda e, k: ReleaseOfMST(e, **k), "mixed"),
    "AIM": (lambda e, k: ReleaseOfAIM(e, **k), "binary"),
    "AIM(mixed)": (lambda e, k: ReleaseOfAIM(e, n_rounds=8, **k), "mixed"),
}


@pytest.mark.parametrize("name", WHOLES)
def test_no_neighbours_of_many_records_cost_more(name):
    make, kind = WHOLES[name]

    def ratio_of(pick):
        data, neighbour, shared = tables(pick, kind, sizes=LONG)
        run = fitted(make, pick.among((*LARGE, *EPSILONS)), shared, False)
        cost, charged = cost_and_charge(run, data, neighbour, shared["relation"], 0.0)
        return cost / charged

    assert worst_ratio(name, ratio_of) >= 0.5


MARGINALS = {f"{of.__name__}[{k}, delta]": (of, k) for of in (ReleaseOfMST, ReleaseOfAIM) for k in ("binary", "mixed")}


@pytest.mark.parametrize("name", MARGINALS)
def test_no_neighbours_cost_gaussian_marginals_more(name):
    publisher, kind = MARGINALS[name]

    def ratio_of(pick):
        data, neighbour, shared = any_tables(pick, kind, sizes=LONG)
        epsilon = pick.among(EPSILONS)

        def call(data):
            return publisher(epsilon, delta=1e-6, **shared).fit(*data)

        return recorded_cost(call, data, neighbour, delta=1e-6, pasts=1) / epsilon

    assert worst_ratio(name, ratio_of) >= 0.5


# ---- importance weights: a private table and a public one ------------------------------------------------------------

PETS = Schema(
    (
        Feature("pet", "categorical", ("cat", "dog", "hen")),
        Feature("age", "numeric", lower=0, upper=80),
        Feature("rich"),
        Feature("poor"),
    )
)
PUBLIC = pd.DataFrame(
    [(pet, age, rich, 1 - rich) for pet in ("cat", "dog", "hen") for age in (0.0, 30.0, 80.0) for rich in (0, 1)],
    columns=PETS.feature_names,
)
WEIGHTS = {
    f"ImportanceWeights[{method}, {rule}]": {"method": method, "reg_lambda": rule}
    for method in ("output", "objective", "moments")
    for rule in (0.3, "public", "private")
    if (method, rule) != ("moments", "private")
} | {
    "ImportanceWeights[moments, pairs]": {"method": "moments", "reg_lambda": 0.3, "pairs": 2},
    "ImportanceWeights[output, published]": {"method": "output", "reg_lambda": 0.3, "calibration": "published"},
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_no_neighbours_cost_importance_weights_more(name):
    def ratio_of(pick):
        clip = pick.among((False, True))

        def record():
            ages = (0.0, 80.0, 30.0, *((np.nan, 200.0) if clip else ()))
            pets = ("cat", "dog", "hen", *(("cow",) if clip else ()))
            return pick.among(pets), pick.among(ages), pick.among((0, 1)), pick.among((0, 1))

        if clip and pick.among((False, True)):
            data, neighbour = rebuilt(pick, "replace-one", pick.among((1, 6, 15)), record, PETS.feature_names, ())
        else:
            sides = two_sides(pick, "replace-one", pick.among((0, 1, 5, 20, 40)), record)
            data, neighbour = (pd.DataFrame(side, columns=PETS.feature_names) for side in sides)
        epsilon, release = pick.among((*EPSILONS, *LARGE)), "moments" in name and pick.among(range(8)) == 7
        options = WEIGHTS[name] | {"release": release, "on_invalid": "clip" if clip else "raise"}

        def run(budget, table):
            seed = None if release else 0
            return ImportanceWeights(epsilon, schema=PETS, budget=budget, random_state=seed, **options).fit(
                table, PUBLIC
            )

        cost, charged = cost_and_charge(run, data, neighbour, "replace-one", 0.0)
        assert charged == pytest.approx(epsilon, rel=1e-9)
        return cost / charged

    assert worst_ratio(name, ratio_of) > 0.1


# ---- plans -----------------------------------------------------------------------------------------------------------

THREE = {"training": 0.6, "evaluation": 0.2, "publishing": 0.2}
PLANS = {
    "Plan[classifier]": {},
    "Plan[three parts]": {"shares": THREE, "max_grids": 20},
    "Plan[table]": {"shares": {"publishing": 1.0}, "max_grids": 20},
    "Plan[four parts]": {
        "shares": {"selection": 0.1, "training": 0.5, "evaluation": 0.2, "publishing": 0.2},
        "n_features": 2, "max_grids": 20, "method": BernoulliNB,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_no_neighbours_cost_a_plan_more_than_its_budget(name):
    def ratio_of(pick):
        kind = "binary" if "four" in name else pick.among(("binary", "mixed"))
        data, neighbour, shared = any_tables(pick, kind, containers=("dense", "frame"), sizes=(*range(8), 20))
        epsilon = pick.among(EPSILONS)
        plan = Plan(shared["schema"], epsilon, relation=shared["relation"], **PLANS[name])
        secure = pick.among(range(8)) == 7

        def call(data):
            return plan.run(*data, secure=secure, **({} if secure else {"random_state": 0}))

        return recorded_cost(call, data, neighbour, pasts=1) / epsilon

    assert worst_ratio(name, ratio_of) >= 0.5
