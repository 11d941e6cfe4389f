"""A cell is read by itself: what the other cells of its column are changes nothing."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest

from dpml.audit import recorded_cost
from dpml.classifiers import BernoulliNB, MixedNB
from dpml.evaluation import private_confusion_matrix, release_evaluation
from dpml.exceptions import InvalidSchema
from dpml.publishing import UniformGrid
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


def as_read(records):
    table = pd.read_csv(io.StringIO("rooms,zone,flat,sold\n" + "".join(records)), dtype={"zone": str})
    return table.drop(columns="sold"), table["sold"]


def as_array(records):
    lines = (line.strip().split(",") for line in records)
    table = np.array([[*map(_number, line[:2]), _number(line[2]), _number(line[3])] for line in lines])
    return table[:, :3], table[:, 3]


def _number(text):
    return int(text) if text.isdecimal() else text


@pytest.mark.parametrize("at", [0, 20, 40])
@pytest.mark.parametrize("odd", ["x,y,z,w\n", "2,07,1,w\n", "2.5,7,True,0\n", "1,12,x,1\n"])
@pytest.mark.parametrize("read", [as_read, as_array])
def test_one_odd_record_that_changes_types_costs_no_more_than_the_plan(read, odd, at):
    """Recorded 15.7 for a charge of 1 where only columns of objects were normalised."""
    plan = Plan(SCHEMA, 0.5, shares={"training": 0.5, "evaluation": 0.2, "publishing": 0.3}, max_grids=20)
    records = LINES.splitlines(keepends=True)
    one, two = read(records), read([*records[:at], odd, *records[at:]])
    types = [str(X.dtypes if isinstance(X, pd.DataFrame) else X.dtype) for X, _ in (one, two)]
    assert types[0] != types[1] or str(one[1].dtype) != str(two[1].dtype)

    def call(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plan.run(*data, secure=False, random_state=0)

    assert recorded_cost(call, one, two, pasts=2) <= 0.5 * (1 + 1e-12)


def test_labels_that_are_text_are_the_classes_that_they_spell():
    """A file that is read for a release has texts; all labels were dropped, and the accuracy was 0.489."""
    table = table_of("".join(f"1,07,{i % 2},{i % 2}\n" for i in range(2_000)), release=True)
    assert table["sold"].tolist()[:2] == ["0", "1"]
    schema = Schema((Feature("flat"),), (0, 1), n_lower=1_000)
    model = BernoulliNB(5.0, schema=schema, release=True).fit(table[["flat"]], table["sold"])
    assert model.predict(table[["flat"]]).tolist() == [0, 1] * 1_000


FALSE_AND_ZERO = Schema((Feature("height", "categorical", ("0", "10", "FALSE")),), ("no", "yes"), n_lower=100)


@pytest.mark.parametrize(
    "refused",
    [
        lambda X, y: MixedNB(1.0, schema=FALSE_AND_ZERO, release=True).fit(X, y),
        lambda X, y: UniformGrid(1.0, schema=FALSE_AND_ZERO, release=True).fit(X, y),
        lambda X, y: Plan(FALSE_AND_ZERO, 1.0).run(X, y),
        lambda X, y: release_evaluation(y, [0.5] * 4, 1.0, classes=("0", "FALSE"), pos_label="0", release=True),
        lambda X, y: private_confusion_matrix(y, y, 1.0, classes=("0", "FALSE", "2"), release=True),
    ],
)
def test_a_release_names_the_two_stated_values_that_are_one(refused):
    table = pd.DataFrame({"height": ["0", "10", "FALSE", "0"]})
    with pytest.raises(InvalidSchema, match="'0', 'FALSE'"):
        refused(table, ["no", "yes", "no", "yes"])
    # nothing is released of a study, and what is stated is itself
    model = MixedNB(1e6, schema=FALSE_AND_ZERO, random_state=0).fit(table.loc[[0, 2] * 60], ["no", "yes"] * 60)
    assert model.predict(table).tolist()[::2] == ["no", "yes"]


def test_values_that_a_file_cannot_tell_apart_are_refused():
    schema = Schema((Feature("zone", "categorical", ("7", "07")),), ("1", "01"), n_lower=20)
    kinds = [type(problem) for problem in Plan(schema, 1.0).problems(secure=False)]
    assert kinds == [InvalidSchema, InvalidSchema]
