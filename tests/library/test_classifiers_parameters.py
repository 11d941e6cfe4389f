"""Parameters of the classifiers that have no meaning, and simulations on tables that do not fit their schema."""

import math
import warnings

import numpy as np
import pytest
from people import SCHEMA, people

from dpml.classifiers import (
    AutoClassifier,
    BernoulliNB,
    LinearClassifier,
    LinearSVC,
    MixedNB,
    PrivatePredictionLR,
    PrivatePredictionNB,
    PrivGene,
    PrivLocal,
    PrivPfCClassifier,
    RandomTrees,
)
from dpml.exceptions import FactWarning, InvalidParameter
from dpml.schema import Schema

BAD = [
    (AutoClassifier, {"delta": 1.0}),
    *((BernoulliNB, {name: value}) for name, value in (
        ("method", "best"), ("row_bound", 0), ("pseudocount", 0.0), ("threshold_percentile", 100), ("class_share", 1.0),
        ("selection", "some"), ("shrinkage", -1.0), ("shrinkage", "prior"),
    )),
    (BernoulliNB, {"shrinkage": "posterior", "method": "published"}),
    *((MixedNB, {name: value}) for name, value in (
        ("method", "best"), ("noise", "pink"), ("delta", 0.1), ("delta", 1.0), ("n_bins", 1), ("row_bound", 0),
        ("trim", -1), ("allocation", (1.0,)), ("allocation", (0.0, 1.0)), ("likelihood", "uniform"),
        ("pseudocount", 0.0), ("class_share", 1.0), ("shrinkage", -0.1),
    )),
    (MixedNB, {"shrinkage": "posterior", "method": "global"}),
    (MixedNB, {"delta": 0.0, "method": "smooth", "noise": "gaussian"}),
    *((PrivLocal, {name: value}) for name, value in (
        ("loss", "squared"), ("n_iterations", 0), ("step", 0), ("decay", 1.5), ("row_bound", 0),
        ("fit_intercept", "no"), ("stay", "no"),
    )),
    *((PrivGene, {name: value}) for name, value in (
        ("step", 11), ("calibration", "tight"), ("n_candidates", 0), ("n_selected", 300),
    )),
    *((PrivPfCClassifier, {name: value}) for name, value in (("calibration", "tight"), ("max_grids", 0))),
    *((RandomTrees, {name: value}) for name, value in (
        ("n_trees", 0), ("n_trees", 1001), ("max_depth", 0), ("max_depth", 17),
    )),
    *((PrivatePredictionNB, {name: value}) for name, value in (("pseudocount", 0.0), ("n_bins", 1))),
    *((PrivatePredictionLR, {name: value}) for name, value in (
        ("method", "mean"), ("reg_lambda", 0.0), ("n_parts", 0), ("row_bound", 0),
    )),
    *((LinearSVC, {name: value}) for name, value in (
        ("huber", 0.001), ("method", "functional"), ("delta", 0.0), ("delta", 1.0), ("n_iterations", 0),
        ("sampling_rate", 0.0), ("norm", "l3"), ("reg_lambda", math.nan), ("reg_lambda", "1"),
        ("calibration", "loose"), ("tolerance", 2.0), ("row_bound", 0),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), BAD, ids=lambda value: getattr(value, "__name__", None))
def test_a_bad_parameter_is_named(kind, options):
    X = np.random.default_rng(0).integers(2, size=(40, 4))
    with pytest.raises(InvalidParameter) as caught:
        kind(1.0, schema=Schema.binary(4, n_lower=40), **options).fit(X, X[:, 0])
    assert caught.value.name == next(iter(options))


@pytest.mark.parametrize("kind", [AutoClassifier, MixedNB, PrivPfCClassifier])
def test_a_misspelt_column_and_unknown_labels_are_reported(kind):
    def fit(table, y):
        kind(1.0, schema=SCHEMA, on_invalid="clip", random_state=0).fit(table, y)

    table, y = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(table, y)
    job = table["job"].to_numpy(dtype=object)
    with pytest.warns(FactWarning, match=f"'job': {len(table)}.*check how they are spelt in the schema"):
        fit(table.assign(job=[f"{value}?" for value in job]), y)
    labels = y.astype(object)
    labels[:50] = "yse"
    with pytest.warns(FactWarning, match="'label': 50"):
        fit(table, labels)


@pytest.mark.parametrize("kind", [BernoulliNB, LinearClassifier, LinearSVC])
def test_unknown_labels_and_too_few_records_are_reported(kind):
    X, y = np.random.default_rng(0).integers(0, 2, (200, 4)), np.arange(200) % 2
    with pytest.warns(FactWarning, match="X has 200 records: the schema's n_lower is 201"):
        kind(1.0, schema=Schema.binary(4, n_lower=201), random_state=0).fit(X, y)
    with pytest.warns(FactWarning, match="'label': 2"):
        kind(1.0, schema=Schema.binary(4, n_lower=100), on_invalid="clip", random_state=0).fit(X, [5, 7, *y[2:]])


@pytest.mark.parametrize("kind", [BernoulliNB, LinearClassifier, RandomTrees])
def test_a_missing_number_of_records_is_reported(kind):
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.warns(FactWarning, match="n_lower"):
        kind(1.0, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(1.0, schema=Schema.binary(4, n_lower=4), random_state=0).fit(X, y)
