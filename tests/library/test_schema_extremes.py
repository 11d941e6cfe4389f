"""Nulls as classes and categories, and domains at the ends of floats: refused by name, or every method is sound.

100 generated schemas here; ``DPML_SCHEMAS=10000 pytest tests/library/test_schema_extremes.py`` runs more.
"""

import math
import os
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from extreme_schemas import check_model, failure
from hypothesis import given
from hypothesis import strategies as st

from dpml import evaluation
from dpml._validate import LEAST_WIDTH
from dpml.audit import recorded_cost
from dpml.budget import Budget
from dpml.classifiers import AutoClassifier, BernoulliNB, LogisticRegression, MixedNB
from dpml.encoding import SHARE_GRID
from dpml.evaluation import private_cross_val_score, release_evaluation
from dpml.exceptions import InvalidParameter, InvalidSchema
from dpml.mechanisms import SampleAndAggregate
from dpml.mechanisms.private import to_integers
from dpml.publishing import ImportanceWeights
from dpml.schema import Feature, Schema
from dpml.schema.domain import halved, inner_edges, to_centred, to_unit

EXAMPLES, PARTS = int(os.environ.get("DPML_SCHEMAS", "100")), 4
NULLS = [None, math.nan, np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("nan"), Decimal("sNaN"), complex("nan")]
NULLS += [np.datetime64("NaT"), np.timedelta64("NaT"), np.longdouble("nan"), np.ma.masked]
# what another container holds as another value
OTHERS = [("a", None), (1, 2), (math.nan,), frozenset({1}), [1], {}, b"a", 2**53, -(2**53), 1e300, math.inf, Decimal(1)]
OTHERS += [pd.Timestamp("2020"), np.datetime64("2020-01-01"), "\ud800", np.longdouble("0.1"), 1j, ...]
LARGEST = sys.float_info.max


@pytest.mark.parametrize("part", range(PARTS))
def test_a_schema_is_refused_by_name_or_every_method_is_sound(part):
    found = [text for seed in range(part, EXAMPLES, PARTS) if (text := failure(seed))]
    assert not found, "\n\n".join(found[:3])


# ---- nulls, and values that a container changes ----------------------------------------------------------------------


@pytest.mark.parametrize("value", [*NULLS, *OTHERS], ids=repr)
def test_changeable_values_are_no_classes_or_categories(value):
    for others in (("a",), (1.0, 2.0)):
        with pytest.raises(InvalidSchema, match="`classes` must be "):
            Schema.binary(1, classes=(*others, value))
        with pytest.raises(InvalidSchema, match="categories of 'c' must be "):
            Feature("c", "categorical", (*others, value))
    with pytest.raises(InvalidSchema, match="'c'"):
        Feature("c", "categorical", ("a", "b"), levels=[[["a"], ["b", value]]])
    if value is not None:
        with pytest.raises(InvalidSchema, match="missing of 'c'"):
            Feature("c", "categorical", ("a", "b"), missing=value)


@pytest.mark.parametrize("value", [None, math.nan, ("a", None)], ids=repr)
def test_a_null_is_no_class_of_an_evaluation(value):
    y, p, classes, rng = ["a"] * 4, [0.5] * 4, ("a", value), np.random.default_rng(0)
    source = {"rng": rng, "classes": classes}
    calls = [
        lambda: release_evaluation(y, p, 1.0, pos_label="a", **source),
        lambda: evaluation.compare_classifiers(y, p, p, 1.0, pos_label="a", **source),
        lambda: evaluation.private_roc_curve(y, p, 1.0, pos_label="a", **source),
        lambda: evaluation.published_roc_curve(y, p, 1.0, k=2, pos_label="a", **source),
        lambda: evaluation.private_confusion_matrix(y, y, 1.0, **source),
        lambda: evaluation.release_multiclass_evaluation(y, np.full((4, 2), 0.5), 1.0, **source),
        lambda: private_cross_val_score(BernoulliNB(1.0), np.zeros((4, 1)), y, 1.0, pos_label="a", **source),
    ]
    for call in calls:
        with pytest.raises(InvalidParameter, match="`classes` must be "):
            call()


def test_labels_of_several_types_stay_as_they_are_stated():
    """NumPy makes texts of all; then `AutoClassifier` gave the classifier that it holds labels that are no classes."""
    schema = Schema.binary(60, classes=("no", 1, 0.5), n_lower=400)
    X, y = np.eye(60)[np.arange(420) % 60], np.array(["no", 1, 0.5] * 140, dtype=object)
    model = AutoClassifier(1e4, schema=schema, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["no", 1, 0.5]
    assert model.predict(X[:3]).tolist() == ["no", 1, 0.5]


@pytest.mark.parametrize("missing", ["3", Decimal(3), 3 + 0j, math.nan])
def test_a_gap_in_numbers_is_filled_with_a_number(missing):
    with pytest.raises(InvalidSchema, match="missing of 'n'"):
        Feature("n", "numeric", lower=0, upper=9, missing=missing)


# ---- widths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds",
    [(-1e308, 1e308), (0, 5e-324), (0, 1e-307), (-LARGEST, LARGEST), (0, math.nextafter(LEAST_WIDTH, 0)), (1, 1)],
)
def test_a_width_that_cannot_be_scaled_is_refused(bounds):
    with pytest.raises(InvalidSchema, match="lower, upper"):
        Feature("n", "numeric", lower=bounds[0], upper=bounds[1])


@pytest.mark.parametrize("bounds", [(-8e307, 8e307), (0, LEAST_WIDTH), (1e16, 1e16 + 2), (1e308, 1.7e308)])
def test_the_ends_that_are_allowed(bounds):
    width = bounds[1] - bounds[0]
    assert width / 4 >= sys.float_info.min
    assert 1024 / width <= LARGEST
    feature = Feature("n", "numeric", lower=bounds[0], upper=bounds[1])
    assert bounds[0] <= feature.clean([None], "clip")[0] <= bounds[1]


@pytest.mark.parametrize("bound", [0, 1e-307, 5e-324, math.inf, math.nan])
def test_a_weight_bound_that_cannot_be_scaled_is_refused(bound):
    for source in ({"release": True}, {"rng": np.random.default_rng(0)}):
        with pytest.raises(InvalidParameter, match="weight_bound"):
            release_evaluation([0, 1], [0.1, 0.9], 1.0, sample_weight=[0, 0], weight_bound=bound, **source)


NARROW = [(1e16, 1e16 + 2), (-8e307, 8e307), (0, 2 * LEAST_WIDTH), (1e308, 1.7e308), (1.0, math.nextafter(1.0, 2.0))]


@pytest.mark.parametrize(("bounds", "epsilon"), [*zip(NARROW, (1.0, 2000.0, 1.0, 2000.0, 2000.0), strict=True)])
@pytest.mark.parametrize("make", [AutoClassifier, MixedNB, LogisticRegression])
def test_a_classifier_of_a_domain_of_few_or_of_wide_floats(make, epsilon, bounds):
    """The trees of bins had equal cut points, after the charge; scales were infinite, and sums of them NaN."""
    schema = Schema((Feature("n", "numeric", lower=bounds[0], upper=bounds[1]),), n_lower=50)
    options = {"method": "functional"} if make is LogisticRegression else {}

    def call(data):
        budgets.append(Budget(1e6))
        model = make(epsilon, schema=schema, budget=budgets[-1], release=True, **options).fit(*data)
        check_model(model, schema, pd.DataFrame({"n": [*bounds, None]}))

    X, y, budgets = np.resize(bounds, (50, 1)), np.resize([0, 1], 50), []
    cost = recorded_cost(call, (X[1:], y[1:]), (X, y), pasts=1)
    assert 0 < cost <= budgets[0].spent * (1 + 1e-9)


@pytest.mark.parametrize("bounds", NARROW)
def test_importance_weights_of_such_a_domain(bounds):
    """At ±1e308 the share of a number was inf/inf, and its sum -2^63: a cost of 4.5e15."""
    schema = Schema((Feature("n", "numeric", lower=bounds[0], upper=bounds[1]), Feature("b")))
    X = pd.DataFrame({"n": np.resize(bounds, 40), "b": np.resize([0, 1, 1], 40)})

    def call(private):
        model = ImportanceWeights(1.0, method="moments", schema=schema, release=True).fit(private, X)
        assert np.isfinite(model.weights(X)).all()

    other = X.assign(n=[*X["n"][:-1], bounds[0]])
    assert 0 < recorded_cost(call, X, other, pasts=1) <= 1 + 1e-9


# ---- numbers in their domain -----------------------------------------------------------------------------------------

floats = st.floats(allow_nan=False, allow_infinity=False)
any_bounds = st.tuples(floats, floats).filter(lambda pair: pair[0] < pair[1])


@given(st.lists(st.floats(), max_size=5), any_bounds)
def test_whatever_the_bounds_a_number_lies_in_the_unit_interval(x, bounds):
    for mapped, least in ((to_unit(x, *bounds), 0), (to_centred(x, *bounds), -1)):
        assert mapped.shape == (len(x),)
        assert ((mapped >= least) & (mapped <= 1)).all()
        assert mapped[np.isnan(x)].tolist() == [least] * int(np.isnan(x).sum())


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.floats(0, 1))
def test_in_ordinary_domains_it_is_the_formula_to_the_bit(lower, width, share):
    upper = lower + width
    x = min(max(lower + share * width, lower), upper)
    assert to_unit([x], lower, upper)[0] == (x - lower) / (upper - lower)
    z = (x / 2 - (lower / 4 + upper / 4)) / (upper / 4 - lower / 4)
    assert to_centred([x], lower, upper)[0] == min(max(z, -1), 1)
    for bins in (2, 7, 16, 1000):
        assert inner_edges(lower, upper, bins)[-1] == lower + (upper - lower) * (bins - 1) / bins


@given(any_bounds.filter(lambda pair: LEAST_WIDTH <= pair[1] - pair[0] < math.inf), st.integers(1, 200))
def test_edges_of_bins_lie_in_the_domain(bounds, bins):
    edges = inner_edges(*bounds, bins)
    assert len(edges) == bins - 1
    assert edges == sorted(edges)
    assert all(bounds[0] <= edge <= bounds[1] for edge in edges)
    assert halved("n", *bounds).sizes in ((1,), (1, 2, 4, 8, 16))


@given(st.lists(st.floats(), max_size=5))
def test_floats_become_integers_that_floats_hold(values):
    whole = to_integers(values)
    assert whole.dtype == np.int64
    assert (np.abs(whole) <= 2**53).all()
    kept = [abs(value) < 2**53 for value in values]
    assert whole[kept].tolist() == [round(value) for value, keep in zip(values, kept, strict=True) if keep]


def test_too_fine_a_grid_of_weights_is_refused():
    how = {"sample_weight": [1.0, 1.0], "weight_bound": 1.0}
    with pytest.raises(InvalidParameter, match="grid"):
        evaluation.roc_histogram([0, 1], [0.1, 0.9], grid=2 * SHARE_GRID, **how)


@pytest.mark.parametrize("upper", [5e-324, 1e-307, 1.7e308])
def test_a_mechanism_takes_no_width_that_cannot_be_scaled(upper):
    lower = -upper if upper > 1 else 0.0
    with pytest.raises(InvalidParameter, match="upper"):
        SampleAndAggregate(1.0, 3, lower, upper)
