"""What a classifier says of itself to scikit-learn, and the arguments of `fit` that it refuses."""

import inspect

import numpy as np
import pandas as pd
import pytest
from public_estimators import KINDS, made
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from dpml.budget import Budget
from dpml.classifiers import BernoulliNB
from dpml.exceptions import DpmlError, InvalidParameter
from dpml.schema import Feature, Schema

CLASSIFIERS = [name for name, kind in KINDS.items() if hasattr(kind, "predict")]
X = np.random.default_rng(0).integers(2, size=(60, 4))
y = X[:, 0]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_are_refused_with_the_reason(name):
    budget = Budget(100.0) if getattr(KINDS[name], "private", True) else None
    model = made(name, random_state=0, budget=budget)
    with pytest.raises(InvalidParameter, match=rf"`sample_weight` must be None for {name}: a record of weight w"):
        model.fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(X, y, weights=None)
    assert budget is None or budget.spent == 0
    assert model.fit(X, y, sample_weight=None).predict(X).shape == (60,)


def test_a_refusal_contains_no_weight():
    with pytest.raises(InvalidParameter, match=r"Got 'list'\.$"):
        BernoulliNB(1.0).fit(X, y, sample_weight=[7.5] * 60)
    model = make_pipeline(FunctionTransformer(), BernoulliNB(1.0, random_state=0))
    with pytest.raises(InvalidParameter, match="sample_weight"):
        model.fit(X, y, bernoullinb__sample_weight=np.ones(60))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_ensembles_do_not_take_weights_for_granted(name):
    assert not has_fit_parameter(made(name), "sample_weight")
    assert "refused" in inspect.signature(made(name).fit).parameters


def test_bagging_draws_records_instead_of_weights():
    assert BaggingClassifier(BernoulliNB(4.0, random_state=0), 3, random_state=0).fit(X, y).score(X, y) > 0.6


# ---- tags ------------------------------------------------------------------------------------------------------------

MIXED = Schema(
    [
        Feature("pet", "categorical", ("cat", "dog", "?"), missing="?"),
        Feature("age", "numeric", lower=0, upper=9, missing=0),
    ]
)
FRAME = pd.DataFrame({"pet": ["cat", None, "dog", "?"] * 15, "age": [1.0, np.nan, 3.0, 9.0] * 15})


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_tags_state_whether_any_cell_is_taken(name):
    model = made(name, schema=MIXED, random_state=0)
    try:
        taken = model.fit(FRAME, y).predict(FRAME).shape == (60,)
    except DpmlError:
        taken = False
    tags = get_tags(model).input_tags
    assert (tags.categorical, tags.string, tags.allow_nan) == (taken, taken, taken)
    assert tags.sparse
