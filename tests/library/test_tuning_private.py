"""Tuning computes on private values: records, parts and scores stay private, and only a fit or a draw opens them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tuning_table import table

from dpml.budget import Budget
from dpml.classifiers import LogisticRegression
from dpml.estimators import PrivateEstimator
from dpml.estimators.inner_budget import fit_with_inner_budget
from dpml.exceptions import FactWarning, InvalidData
from dpml.mechanisms.private import Private, opened
from dpml.schema import Schema
from dpml.tuning.search import Records, correct_predictions, mean_of, stable_score_of


def records(kept=None):
    X, y = table(n=40)
    return Records(Private(X), Private(y), Private(y), Schema.binary(X.shape[1]), kept)


def test_number_of_records_is_private_under_add_remove():
    with pytest.raises(TypeError, match="private value"):
        bool(records().number > 10)
    # two of the 42 records that were given have been dropped
    kept = np.insert(np.ones(40, dtype=bool), [3, 30], False)
    given = records(Private(kept))
    assert given.number == 42
    part = np.arange(42) < 10
    some = given.where(part)
    assert some.number == some.schema.n_rows == 10
    assert opened(some.X).shape[0] == 9
    assert opened(records().where(Private(np.arange(40) < 10)).X).shape[0] == 10


def test_correct_predictions_and_stable_scores_are_private():
    X, y = table(n=40)
    model = LogisticRegression(50.0, random_state=0).fit(X, y)
    correct = correct_predictions(model, records())
    assert type(correct) is Private
    assert opened(correct) == (model.predict(X) == y).sum()
    facts = {"n_classes": 2, "width": 1.0, "validation_lower": 1}
    score = stable_score_of(Private(model), Private(X), Private(y), **facts)
    assert type(mean_of([score, score])) is Private
    assert opened(mean_of([score, score])) == stable_score_of(model, X, y, **facts)


class Held(PrivateEstimator):
    """Keeps what its fit is given."""

    def __init__(self, epsilon=1.0, budget=None):
        self.epsilon, self.budget = epsilon, budget

    def fit(self, X, y):
        self.budget.spend(self.epsilon)
        self.given_ = X, y
        return self


@pytest.mark.parametrize("wrapped", [lambda part: part, Private])
def test_a_held_estimator_gets_the_records_themselves(wrapped):
    X, y = table(n=20)
    model = Held(budget=Budget(1.0))
    fit_with_inner_budget(model, [model], wrapped(X), wrapped(y), "the test")
    assert model.given_[0] is X
    assert model.given_[1] is y


# ---- the base of all estimators ----------------------------------------------------------------------------------


class Reader(PrivateEstimator):
    def __init__(self, schema, on_invalid="raise", release=False):
        self.schema, self.on_invalid, self.release = schema, on_invalid, release

    def read(self, X, y):
        return self._private_records(self.schema, X, y)


def test_the_schema_of_private_records_is_the_stated_one():
    """Two tables of the same columns give the same schema, whatever the records are."""
    schema = Schema.binary(3, classes=(0, 1, 2), n_lower=1, n_rows=40)
    one = Reader(schema, "clip").read(np.zeros((1, 3)), [0])[2]
    many = Reader(schema, "clip").read(np.ones((5, 3)), [0, 1, 2, 2, 1])[2]
    assert one is many is schema
    frame = pd.DataFrame({"x2": [0, 1], "x0": [1, 1]})
    assert Reader(schema, "clip").read(frame, [0, 1])[2] == schema.subset(["x2", "x0"])


@pytest.mark.parametrize("release", [False, True])
def test_only_a_study_warns_of_clipped_and_of_few_records(release):
    schema = Schema.binary(2, n_lower=10)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        X, codes, _ = Reader(schema, "clip", release).read(np.array([[0, 7], [1, 1]]), [0, "?"])
    assert [type(X), type(codes)] == [Private, Private]
    assert opened(codes).tolist() == [0]
    messages = [str(warning.message) for warning in told if warning.category is FactWarning]
    assert len(messages) == (0 if release else 2)
    if not release:
        assert "'x1': 1, 'label': 1" in messages[0]
        assert "X has 1 records: the schema's n_lower is 10" in messages[1]
        assert {warning.filename for warning in told} == {__file__}


def test_few_records_are_refused_where_n_lower_is_needed():
    reader = Reader(Schema.binary(2, n_lower=10))
    reader._refuses_few = True
    with pytest.raises(InvalidData, match="X has 1 records: the schema's n_lower is 10"):
        reader.read([[0, 1]], [1])
