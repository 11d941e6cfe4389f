"""PrivPfC publishes tables that satisfy the schema, from released counts alone, and charges its three shares."""

import numpy as np
import pandas as pd
import pytest
from pet_table import SCHEMA, people
from sklearn.tree import DecisionTreeClassifier

from dpml.auditing import recorded_releases
from dpml.budget import Budget
from dpml.classifiers import PrivPfCClassifier
from dpml.exceptions import (
    BudgetExceeded,
    InvalidData,
    InvalidParameter,
    InvalidTaxonomy,
    RelationMismatch,
)
from dpml.publishing import PrivPfC


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 1e9])
@pytest.mark.parametrize("consistency", ["back-off", "total", "floor"])
def test_a_table_satisfies_the_schema_at_every_epsilon(epsilon, consistency):
    model = PrivPfC(epsilon, schema=SCHEMA, random_state=0, consistency=consistency).fit(people(), "wealth")
    table = model.sample(500)
    X, codes, _ = SCHEMA.check_table(table[SCHEMA.feature_names], table["wealth"])
    assert X.shape == (500, 4)
    assert len(codes) == 500
    assert list(table.columns) == [*SCHEMA.feature_names, "wealth"]
    assert model.sample(0).shape == (0, 5)
    assert (model.cell_counts_ >= 0).all()


def test_a_tree_learns_from_the_table_what_the_records_say():
    model = PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(people(), "wealth")
    assert model.levels_ == {"age": 1, "pet": 1}
    table, test = model.sample(), people(2000, seed=1)
    assert len(table) == pytest.approx(3000, abs=300)

    def numbers(frame):
        return np.column_stack([frame["age"], frame["pet"].astype(str) == "carp"])

    tree = DecisionTreeClassifier(min_samples_leaf=50, ccp_alpha=1e-3, random_state=0)
    assert tree.fit(numbers(table), table["wealth"]).score(numbers(test), test["wealth"]) > 0.93
    assert len(set(table["noise"])) > 10  # what the grid does not tell apart is noise over its domain


def test_the_table_has_the_shares_of_the_counts():
    model = PrivPfC(1e6, schema=SCHEMA, random_state=0, max_grids=6, consistency="total").fit(people(), "wealth")
    table = model.sample(200_000)
    expected = model.cell_counts_.sum(axis=1) / model.cell_counts_.sum()
    shares = [(table["wealth"] == c).mean() for c in SCHEMA.classes]
    np.testing.assert_allclose(shares, expected, atol=0.006)  # over five standard errors


def test_counts_set_to_zero_add_records_and_counts_that_fit_do_not():
    empty = people(3000)
    empty["age"], empty["pet"], empty["owner"] = 10, "cat", 0
    totals = {
        c: np.mean([PrivPfC(1.0, schema=SCHEMA, random_state=s, consistency=c, calibration="published",
                            shares=(0.3, 1e-6, 0.7 - 1e-6)).fit(empty, "wealth").cell_counts_.sum() for s in range(20)])
        for c in ("floor", "total", "back-off")
    }  # fmt: skip
    assert totals["floor"] > 3020  # the choice is by chance, so that most grids have many empty cells
    assert totals["total"] == pytest.approx(3000, abs=10)
    assert totals["back-off"] == pytest.approx(3000, abs=10)


@pytest.mark.parametrize("kind", [PrivPfC, PrivPfCClassifier])
def test_three_shares_are_charged_or_none(kind):
    frame = people(100)
    X, y = frame.drop(columns="wealth"), frame["wealth"]
    budget = Budget(1.0)
    kind(1.0, schema=SCHEMA, budget=budget, random_state=0).fit(X, y)
    np.testing.assert_allclose(budget.ledger["epsilon"], [0.03, 0.37, 0.6])
    assert [label.split(", ")[1] for label in budget.ledger["label"]] == [
        "number of records", "choice of the grid", "counts"
    ]  # fmt: skip
    small = Budget(0.7)  # enough for each of the three
    with pytest.raises(BudgetExceeded, match="ε = 1 is too much"):
        kind(1.0, schema=SCHEMA, budget=small, random_state=0).fit(X, y)
    assert not len(small.ledger)
    with pytest.raises(RelationMismatch):
        kind(1.0, schema=SCHEMA, budget=Budget(1.0, relation="replace-one"), random_state=0).fit(X, y)
    with pytest.raises(InvalidParameter, match=r"budget = 1\.0"):
        kind(1.0, schema=SCHEMA, budget=1.0, random_state=0).fit(X, y)


def test_charges_at_once_count_for_the_whole_budget_and_refuse_bad_ones(tmp_path):
    whole = Budget(1.0, path=tmp_path / "ledger")
    part, _ = whole.split(1, 1)
    part.spend_all({"one": 0.25, "two": 0.25}, relation="add-remove")
    assert whole.spent == part.spent == 0.5
    assert whole.ledger["label"].tolist() == ["one", "two"]
    with pytest.raises(BudgetExceeded):
        part.spend_all({"three": 1e-3, "four": 1e-3})
    with pytest.raises(InvalidParameter):
        whole.spend_all({"three": 0.0})
    assert Budget(1.0, path=tmp_path / "ledger").spent == 0.5


@pytest.mark.parametrize("kind", [PrivPfC, PrivPfCClassifier])
def test_every_draw_passes_the_boundary_and_tables_draw_nothing(kind):
    frame = people(200)
    X, y = frame.drop(columns="wealth"), frame["wealth"].tolist()

    def call(data):
        model = kind(1.0, schema=SCHEMA, random_state=0).fit(*data)
        return model.sample(10) if kind is PrivPfC else model.predict_proba(X)

    found = recorded_releases(call, (X, y), (X.iloc[:-1], y[:-1]))
    assert [type(r.mechanism).__name__ for r in found] == ["Laplace", "ExponentialMechanism", "Laplace"]
    assert sum(r.loss.pure for r in found) <= 1.0


def test_a_seed_repeats_fit_and_tables_and_a_table_may_have_its_own():
    tables = [PrivPfC(1.0, schema=SCHEMA, random_state=3).fit(people(), "wealth").sample(50) for _ in range(2)]
    pd.testing.assert_frame_equal(*tables)
    model = PrivPfC(1.0, schema=SCHEMA, random_state=3).fit(people(), "wealth")
    assert not model.sample(50, random_state=1).equals(model.sample(50, random_state=2))
    pd.testing.assert_frame_equal(model.sample(50, random_state=1), model.sample(50, random_state=1))


def test_labels_by_column_or_apart():
    frame = people(500)
    apart = frame.drop(columns="wealth")
    by_name = PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(frame, "wealth")
    for labels in (frame["wealth"], frame["wealth"].tolist()):
        other = PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(apart, labels)
        np.testing.assert_array_equal(by_name.cell_counts_, other.cell_counts_)
    assert other.sample(1).columns[-1] == "label"
    with pytest.raises(InvalidData, match="column 'rich' is missing"):
        PrivPfC(1.0, schema=SCHEMA).fit(frame, "rich")
    named = PrivPfC(1.0, random_state=0).fit(pd.DataFrame({"label": [0, 1, 1]}), [0, 1, 1])
    assert named.sample(2).columns.tolist() == ["label", "label_"]


def test_a_value_outside_the_taxonomy_is_named_and_clipped_in_a_release():
    frame = people(300)
    frame["age"] = frame["age"].astype(object)
    frame.loc[7, "age"] = "old"
    frame.loc[8, "pet"] = "horse"
    with pytest.raises(InvalidData, match="column 'age' has the value 'old': it must be a number from 0 to 80"):
        PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(frame, "wealth")
    with pytest.raises(InvalidData, match="column 'pet' has the value 'horse'"):
        PrivPfC(1.0, schema=SCHEMA, random_state=0).fit(frame.drop(index=7), "wealth")
    assert len(PrivPfC(1.0, schema=SCHEMA, release=True).fit(frame, "wealth").sample(5)) == 5


def test_taxonomies_of_ones_own_take_the_place_of_the_schemas():
    frame = people()
    model = PrivPfC(1e6, schema=SCHEMA, taxonomies={"age": [[70]]}, random_state=0).fit(frame, "wealth")
    # one of sixteen drawn numbers is its group's lower end
    assert {0.0, 70.0} <= set(model.sample(1000)["age"])
    with pytest.raises(InvalidTaxonomy, match="'horse'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"horse": [[1]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match="level of 'age'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"age": [[90]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match="taxonomies = 5"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies=5).fit(frame, "wealth")


@pytest.mark.parametrize(
    "options", [{"max_grids": 0}, {"max_grids": 2.5}, {"consistency": "no"}, {"calibration": "none"},
                {"relation": "both"}, {"shares": (1, 1, 1)}, {"on_invalid": "drop"}, {"epsilon": 0}]
)  # fmt: skip
def test_parameters_are_named(options):
    budget = Budget(1.0)
    with pytest.raises(InvalidParameter, match=f"^{next(iter(options))} = "):
        PrivPfC(**{"epsilon": 1.0, "schema": SCHEMA, "budget": budget, **options}).fit(people(50), "wealth")
    assert not len(budget.ledger)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("release", [False, True])
def test_few_records_and_one_class_fit(n, release):
    frame = people(10).iloc[:n].assign(wealth="poor")
    seed = None if release else 0
    model = PrivPfC(1.0, schema=SCHEMA, release=release, random_state=seed).fit(frame, "wealth")
    assert len(model.sample(3)) == 3
    X, y = frame.drop(columns="wealth"), frame["wealth"]
    model = PrivPfCClassifier(1.0, schema=SCHEMA, release=release, random_state=seed).fit(X, y)
    assert model.predict_proba(people(5).drop(columns="wealth")).shape == (5, 2)


def test_the_classifier_predicts_what_the_cells_say():
    frame = people()
    X, y = frame.drop(columns="wealth"), frame["wealth"]
    model = PrivPfCClassifier(1.0, schema=SCHEMA, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.93
    # the columns of a table may have another order
    np.testing.assert_array_equal(model.predict(X[["pet", "noise", "owner", "age"]]), model.predict(X))
    released = PrivPfCClassifier(1.0, schema=SCHEMA, release=True).fit(X, y)
    assert (released.predict(X) == y).mean() > 0.9
    assert (released.cell_counts_ == np.rint(released.cell_counts_)).all()


@pytest.mark.parametrize("kind", [PrivPfC, PrivPfCClassifier])
def test_a_seed_is_refused_in_a_release(kind):
    frame = people(20)
    with pytest.raises(InvalidParameter, match="random_state = 0"):
        kind(1.0, schema=SCHEMA, release=True, random_state=0).fit(frame.drop(columns="wealth"), frame["wealth"])
