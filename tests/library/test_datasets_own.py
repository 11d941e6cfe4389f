"""A table of one's own becomes a data set that studies take, by its stated facts alone."""

import numpy as np
import pandas as pd
import pytest

from dpml.datasets.own import own_dataset
from dpml.exceptions import InvalidData, InvalidSchema
from dpml.schema import Feature, Schema
from dpml.studies import AutoStudy, RowBoundedNBStudy

SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=18, upper=98, missing=50),
        Feature("plan", "categorical", ("basic", "family", "student"), missing="basic"),
        Feature("paid"),
    ),
    ("no", "yes"),
    n_lower=1000,
    ignored=("id",),
)


def customers(n=2000):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 99, n).astype(float)
    left = np.where(rng.random(n) < np.where(age < 50, 0.8, 0.2), "yes", "no")
    frame = pd.DataFrame({"id": range(n), "age": age, "plan": rng.choice(["basic", "family"], n), "paid": age > 60})
    return frame.assign(left=left)


def test_its_parts_and_facts_are_those_of_the_schema():
    data = own_dataset(customers(), "left", SCHEMA)
    assert (data.X_train.shape, data.X_test.shape) == ((1400, 12), (600, 12))
    assert data.schema.n_lower == data.frame_schema.n_lower == 700
    assert data.schema.n_rows is None
    # the table has nobody with the plan "student", and the schema says that there may be one
    assert data.feature_names[8:] == ["plan=basic", "plan=family", "plan=student", "paid"]
    assert data.frame.loc["train"].shape == (1400, 4)
    assert data.frame_schema.classes[data.y_test[0]] == data.frame.loc["test"]["left"].iloc[0]


def test_values_outside_are_clipped_and_unknown_labels_dropped():
    frame = customers()
    frame.loc[0, "age"], frame.loc[1, "age"], frame.loc[2, "plan"] = 400.0, np.nan, "gold"
    frame.loc[[3, 4], "left"] = ["maybe", None]
    data = own_dataset(frame, "left", SCHEMA)
    whole = data.frame.droplevel("split").sort_index()
    assert len(whole) == 1998
    assert whole["age"][:2].tolist() == [98.0, 50.0]
    assert whole["plan"][2] == "basic"


def test_studies_take_it():
    data = own_dataset(customers(), "left", SCHEMA)
    rng = np.random.default_rng(0)
    assert AutoStudy(data)(2.0, draws=4, rng=rng)["accuracy"].mean() > 0.7
    assert RowBoundedNBStudy(data)(2.0, draws=4, rng=rng)["accuracy"].mean() > 0.7


def test_what_is_missing_is_named():
    frame = customers()
    with pytest.raises(InvalidData, match="no column 'plan'"):
        own_dataset(frame.drop(columns="plan"), "left", SCHEMA)
    with pytest.raises(InvalidData, match="no column 'churn'"):
        own_dataset(frame, "churn", SCHEMA)
    with pytest.raises(InvalidSchema, match=r"`label` must be .*Got 'paid'"):
        own_dataset(frame, "paid", SCHEMA)
    with pytest.raises(InvalidData, match="too few records have a label of no, yes"):
        own_dataset(frame.assign(left="maybe"), "left", SCHEMA)


def test_data_of_one_class_are_a_data_set_too():
    data = own_dataset(customers().assign(left="no"), "left", SCHEMA)
    assert set(data.y_train) == {0}
    assert data.schema.n_classes == 2


def test_a_table_of_binary_features_alone_is_one_too():
    """Its checked features come back as a matrix, which has no columns."""
    frame = pd.DataFrame({"a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25, "left": ["no", "yes"] * 50})
    data = own_dataset(frame, "left", Schema((Feature("a"), Feature("b")), ("no", "yes"), n_lower=50))
    assert data.feature_names == ["a", "b"]
    assert (data.X_train[:, 0] == data.y_train).all()
    assert data.frame.columns.tolist() == ["a", "b", "left"]
