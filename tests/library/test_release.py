"""Release mode: what it costs, what a released model holds, and data that cannot make a release fail.

Statistical tests of secure noise, which has no seed, state their probability of a false alarm.
"""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest
from binary_tables import of_any_rates as table
from hypothesis import given
from hypothesis import strategies as st
from private_values import Hostile
from scipy import sparse
from sklearn.base import clone

import dpml.mechanisms.source
from dpml.budget import Budget
from dpml.classifiers import BernoulliNB, MixedNB
from dpml.classifiers.naive_bayes.bernoulli import (
    default_class_share,
    default_shrinkage,
    models_from_published,
    models_from_row_bounded,
    published_threshold,
)
from dpml.counts import (
    Contingency,
    NoisyCounts,
    release_published,
    release_row_bounded,
    row_bounded_scales,
)
from dpml.encoding import SHARE_GRID
from dpml.exceptions import DpmlError, InvalidData, InvalidParameter, MissingExtra
from dpml.mechanisms.private import opened
from dpml.mechanisms.secure import integer_laplace
from dpml.release import Plan
from dpml.schema import Feature, Schema

METHODS = ["row-bounded", "published"]
NUMBERS = Schema(tuple(Feature(name, "numeric", lower=0, upper=1) for name in "abc"))


# ---- the release of counts ------------------------------------------------------------------------------------------


def asked_of(monkeypatch):
    """Record what is asked of the secure sampler, and what it answers."""
    calls = []

    def recorded(values, scale, **options):
        answer = integer_laplace(values, scale, **options)
        calls.append((np.array(opened(values)), scale, answer))
        return answer

    monkeypatch.setattr(dpml.mechanisms.source, "integer_laplace", recorded)
    return calls


def opendp_epsilon(scale, sensitivity):
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
    return dp.m.make_laplace(*space, scale=scale).map(sensitivity)


COUNTS = Contingency(on=np.array([[3.0, 4.0, 0.0], [1.0, 1.0, 2.0]]), n=np.array([5.0, 2.0]))


@given(
    st.floats(1e-4, 1e4),
    st.floats(0.01, 0.99),
    st.integers(1, 30),
    st.sampled_from([("add-remove", 1), ("replace-one", 2)]),
)
def test_opendp_adds_a_row_bounded_release_up_to_epsilon(epsilon, share, row_bound, relation):
    """A record changes r on-counts and one class count: OpenDP's own ε of the two parts, exactly added."""
    name, factor = relation
    with pytest.MonkeyPatch.context() as patch:
        calls = asked_of(patch)
        release_row_bounded(COUNTS, epsilon, row_bound, relation=name, class_share=share, secure=True)
    (values, class_scale, _), (on, on_scale, _) = calls
    assert values.tolist() == [[5, 2]]
    assert on.tolist() == [[[3, 4, 0], [1, 1, 2]]]
    parts = [opendp_epsilon(class_scale, factor), opendp_epsilon(on_scale, factor * row_bound)]
    assert sum(map(Fraction, parts)) <= Fraction(epsilon)
    assert sum(parts) == pytest.approx(epsilon, rel=1e-12)


@given(st.floats(1e-4, 1e4), st.sampled_from([("add-remove", 1), ("replace-one", 2)]))
def test_opendp_adds_a_published_release_up_to_epsilon(epsilon, relation):
    """A record changes one of the on- and off-counts of each of three features: one release of sensitivity 3 or 6."""
    name, factor = relation
    with pytest.MonkeyPatch.context() as patch:
        calls = asked_of(patch)
        release_published(COUNTS, epsilon, relation=name, secure=True)
    [scale] = {scale for _, scale, _ in calls}
    assert [values.tolist() for values, _, _ in calls] == [[[[3, 4, 0], [1, 1, 2]]], [[[2, 1, 5], [1, 1, 0]]]]
    assert epsilon * (1 - 1e-12) <= opendp_epsilon(scale, 3 * factor) <= epsilon


# ---- records that come in ---------------------------------------------------------------------------------------


def test_checks_have_an_order_and_charge_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    budget = Budget(1.0)
    no_table = 4711
    model = BernoulliNB(-1.0, release=True, random_state=0, budget=budget)
    for change, error, text in [
        ({}, InvalidParameter, "epsilon"),
        ({"epsilon": 1.0}, InvalidParameter, "random_state"),
        ({"random_state": None}, MissingExtra, 'pip install "dpml-explorer[release]"'),
    ]:
        with pytest.raises(error) as caught:
            model.set_params(**change).fit(no_table, no_table)
        assert text in str(caught.value)
        assert "4711" not in str(caught.value)
    assert budget.spent == 0


# ---- what the model holds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame, np.ndarray.tolist])
def test_the_model_is_a_function_of_whole_noisy_counts(method, kind, monkeypatch):
    X, y = table()
    calls = asked_of(monkeypatch)
    schema = None if kind is pd.DataFrame else Schema.binary(8)
    model = BernoulliNB(0.5, method=method, schema=schema, release=True).fit(kind(X), y)
    first, second = (answer.astype(float) for _, _, answer in calls)
    if method == "published":
        threshold = published_threshold(0.5, 8, 65)
        expected = models_from_published(NoisyCounts(first, off=second), threshold)
    else:
        pooled = (
            default_shrinkage(Schema.binary(8))
            * row_bounded_scales(0.5, model.row_bound_, class_share=default_class_share(8))[0]
        )
        expected = models_from_row_bounded(NoisyCounts(second / SHARE_GRID, n=first), pooled=pooled)
    log_odds = np.diff(model.feature_log_prob_ - model._feature_log_off, axis=0)
    np.testing.assert_allclose(log_odds, expected.coef[0], rtol=1e-12)
    log_prior = np.diff(model.class_log_prior_ + model._feature_log_off.sum(axis=1))
    np.testing.assert_allclose(log_prior, expected.intercept[0], rtol=1e-12)
    # two runs differ: the noise has no seed. The chance of equal counts at this scale is below 1e-6
    assert (clone(model).fit(kind(X), y).feature_log_prob_ != model.feature_log_prob_).any()


# ---- errors of the caller tell nothing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.full((4711, 3), 8150.5), [0] * 4710),
        (np.full((4711, 3), 8150.5), np.full((4711, 1), 8150.5)),
        (np.full((4711, 3), 8150.5), 8150.5),
        (np.full((4711, 3), 8150.5), "8150.5"),
        (np.full((4711, 2), 8150.5), [0] * 4711),
        (np.full((4711, 3, 1), 8150.5), [0] * 4711),
        (np.full(4711, 8150.5), [0] * 4711),
        (sparse.csr_array(np.full((4711, 2), 8150.5)), [0] * 4711),
        (pd.DataFrame(np.full((4711, 2), 8150.5), columns=["x0", "other"]), [0] * 4711),
        ("8150.5", [0] * 4711),
        (None, None),
    ],
)
def test_a_wrong_shape_is_named_without_private_values(X, y):
    with pytest.raises(InvalidData) as caught:
        BernoulliNB(1.0, schema=Schema.binary(3), release=True).fit(X, y)
    error: BaseException | None = caught.value
    while error is not None:  # nor does an error that it came of
        assert isinstance(error, DpmlError)
        assert not any(secret in str(error) for secret in ("4711", "4710", "8150"))
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "odd",
    [[], [1], [1, 1, 1, 1], None, 7, "101", {}, np.array(1), Hostile(), [[1, 1, 1]]],
    ids=lambda odd: type(odd).__name__,
)
def test_what_is_no_record_in_a_list_is_a_null_record(odd):
    """Its cells are missing and its label is no class; all others are read as without it."""
    rows, labels = [[0, 1, 0], (1, 0, 1), np.array([1, 1, 1])], [0, 1, 1]
    for schema, place in itertools.product((Schema.binary(3), NUMBERS), range(4)):
        without = schema.check_table(rows, labels, "clip")
        X, y = [*rows[:place], odd, *rows[place:]], [*labels[:place], 1, *labels[place:]]
        found = schema.check_table(X, y, "clip")
        np.testing.assert_array_equal(np.asarray(found[0]), np.asarray(without[0]))
        assert found[1].tolist() == labels
    model = MixedNB(1.0, schema=schema, release=True).fit(X, y)
    assert model.predict(X).shape == (4,)
    Plan(schema, 1.0).run(X, y)
    with pytest.raises(InvalidData, match="not a table"):
        schema.check_table([*rows, [1]], [*labels, 1])


def test_a_release_clips_under_every_on_invalid(monkeypatch):
    calls = asked_of(monkeypatch)
    X = [[7.5, -3, None], [1, "1", "one"], [math.inf, 10**400, 0.4], [1, 1, 1]]
    for on_invalid in ("raise", "clip"):
        model = BernoulliNB(1.0, schema=Schema.binary(3), release=True, on_invalid=on_invalid)
        model.set_params(row_bound=3).fit(X, [0, 1, 1, "neither"])
        (n, _, _), (on, _, _) = calls[-2:]
        assert n.tolist() == [[1, 2]]
        # in steps of 1/1024, for records may share what they add
        assert on.tolist() == [[[SHARE_GRID, 0, 0], [2 * SHARE_GRID, 2 * SHARE_GRID, 0]]]
        np.testing.assert_array_equal(model.predict_proba([[9, -9, "x"]]), model.predict_proba([[1, 0, 0]]))
