"""A cell is read by itself: what the other cells of its column are changes nothing."""

import warnings

import pandas as pd
import pytest

from dpml.auditing import recorded_cost
from dpml.exceptions import InvalidSchema
from dpml.release import Plan
from dpml.schema import Feature, Schema
from dpml.tables import read_table

SCHEMA = Schema(
    (Feature("rooms", "categorical", (1, 2, 3)), Feature("zone", "categorical", ("07", "12")), Feature("flat")),
    (0, 1),
    n_lower=20,
)
LINES = "".join(f"{i % 3 + 1},{'07' if i % 2 else '12'},{i % 2},{i % 2}\n" for i in range(40))


def table_of(lines, release=False):
    return read_table(("rooms,zone,flat,sold\n" + lines).encode(), release=release)


def cost_of(plan, one, two):
    """Return the exact cost of a plan for two tables."""

    def call(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plan.run(*data, secure=False, random_state=0)

    return recorded_cost(call, *((table.drop(columns="sold"), table["sold"]) for table in (one, two)), pasts=4)


@pytest.mark.parametrize("odd", ["x,y,z,w\n", "2,07,1,w\n", "2.5,7,1,0\n", ",,,\n"])
def test_one_odd_record_in_a_file_costs_no_more_than_the_plan(odd):
    """One text in a column makes all of its cells texts; a release must not notice."""
    plan = Plan(SCHEMA, 0.5, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    one, two = table_of(LINES), table_of(LINES + odd)
    if odd.endswith("w\n"):
        assert one["sold"].dtype != two["sold"].dtype
    assert cost_of(plan, one, two) <= 0.5 * (1 + 1e-12)
    assert cost_of(plan, table_of(LINES, True), table_of(LINES + odd, True)) <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("odd", ['2,"07,1,1\n', "2,07\n", "\n", "2,07,\0,1\n", '"\n', f"2,{'7' * 10_001},1,1\n"])
def test_a_line_that_is_no_record_costs_nothing_wherever_it_stands(odd):
    """Here it opens a quotation mark that another record closes, if lines are joined."""
    plan = Plan(SCHEMA, 0.5, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    rest = LINES + '3,"12",0,0\n'
    one, two = table_of(rest, True), table_of(odd + rest, True)
    assert cost_of(plan, one, two) == 0


def test_a_model_reads_any_spelling():
    table = table_of(LINES)
    X, y = table.drop(columns="sold"), table["sold"]
    model = Plan(SCHEMA, 1e4, shares={"training": 1.0}).run(X, y, secure=False, random_state=0).model
    spelt = pd.DataFrame({"rooms": X["rooms"].map(float), "zone": X["zone"].map(int), "flat": X["flat"].map(str)})
    texts = X.map(str)
    assert model.predict(spelt).tolist() == model.predict(X).tolist() == model.predict(texts).tolist()
    assert model.predict(X).tolist() == y.tolist()


def test_values_that_a_file_cannot_tell_apart_are_refused():
    schema = Schema((Feature("zone", "categorical", ("7", "07")),), ("1", "01"), n_lower=20)
    kinds = [type(problem) for problem in Plan(schema, 1.0).problems(secure=False)]
    assert kinds == [InvalidSchema, InvalidSchema]
