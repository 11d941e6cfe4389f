"""PrivPfC publishes tables that satisfy the schema, from released counts alone, and charges its three shares."""

import numpy as np
import pandas as pd
import pytest
from pet_table import SCHEMA, people
from sklearn.tree import DecisionTreeClassifier

from dpml.classifiers import PrivPfCClassifier
from dpml.exceptions import (
    InvalidData,
    InvalidTaxonomy,
)
from dpml.publishing import PrivPfC


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


def test_taxonomies_of_ones_own_take_the_place_of_the_schemas():
    frame = people()
    model = PrivPfC(1e6, schema=SCHEMA, taxonomies={"age": [[70]]}, random_state=0).fit(frame, "wealth")
    # one of sixteen drawn numbers is its group's lower end
    assert {0.0, 70.0} <= set(model.sample(1000)["age"])
    with pytest.raises(InvalidTaxonomy, match="'horse'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"horse": [[1]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match="level of 'age'"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies={"age": [[90]]}).fit(frame, "wealth")
    with pytest.raises(InvalidTaxonomy, match=r"`taxonomies` must be .*Got 5"):
        PrivPfC(1.0, schema=SCHEMA, taxonomies=5).fit(frame, "wealth")


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
