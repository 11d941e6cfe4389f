"""What a fit tells of a table that does not fit its schema, for study: misspelt values, no labels, too few records."""

import warnings

import numpy as np
import pytest
from people import SCHEMA, people

from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, MixedNB, PrivPfCClassifier
from dpml.classifiers.linear import LinearSVC
from dpml.exceptions import FactWarning
from dpml.schema import Schema


def on_table(kind):
    return kind(1.0, schema=SCHEMA, on_invalid="clip", random_state=0)


@pytest.mark.parametrize("kind", [AutoClassifier, MixedNB, PrivPfCClassifier])
def test_a_misspelt_column_and_labels_that_are_no_class_are_told(kind):
    table, y = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        on_table(kind).fit(table, y)
    job = table["job"].to_numpy(dtype=object)
    with pytest.warns(FactWarning, match=f"'job': {len(table)}.*check how they are spelt in the schema"):
        on_table(kind).fit(table.assign(job=[f"{value}?" for value in job]), y)
    labels = y.astype(object)
    labels[:50] = "yse"
    with pytest.warns(FactWarning, match="'label': 50"):
        on_table(kind).fit(table, labels)


@pytest.mark.parametrize("kind", [BernoulliNB, LinearClassifier, LinearSVC])
def test_labels_that_are_no_class_and_too_few_records_are_told_of_binary_columns(kind):
    X, y = np.random.default_rng(0).integers(0, 2, (200, 4)), np.arange(200) % 2
    schema = Schema.binary(4, n_lower=201)
    with pytest.warns(FactWarning, match="X has 200 records: the schema's n_lower is 201"):
        kind(1.0, schema=schema, random_state=0).fit(X, y)
    with pytest.warns(FactWarning, match="'label': 2"):
        kind(1.0, schema=Schema.binary(4, n_lower=100), on_invalid="clip", random_state=0).fit(X, [5, 7, *y[2:]])
