"""MaskSelector: the distribution it draws from, scikit-learn's interface, errors, budget."""

import itertools
from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_some
from each_commit import others_in_full
from scipy import stats

from dpml.exceptions import InvalidData, InvalidParameter
from dpml.schema import Schema
from dpml.selection import KINDS, MaskSelector, mask_weight, scores
from dpml.selection._base import public_n_rows

table = partial(told_by_some, {1: 0.9})


@pytest.mark.parametrize(
    ("kind", "calibration"),
    others_in_full(
        list(itertools.product(KINDS, ["range", "published"])),
        *((kind, "range") for kind in KINDS),
        (KINDS[-1], "published"),
    ),
)
def test_fits_follow_the_mask_distribution(kind, calibration):
    X, y = table(n=60, D=4)
    T, epsilon = 2, 0.9
    schema = Schema.binary(4, n_lower=50)
    rng = np.random.default_rng(0)
    selector = MaskSelector(epsilon, T, kind, calibration=calibration, schema=schema, random_state=rng)
    masks = np.array([m for m in itertools.product((0, 1), repeat=4) if sum(m) == T])
    weight = mask_weight(kind, "add-remove", epsilon, T, 4, n_rows=50)
    if calibration == "published":
        weight = epsilon / (2 * T * (1.0 if kind != "mutual_information" else sensitivity_at_50()))
    log = weight * scores(X, y, kind) @ masks.T
    p = np.exp(log - log.max())
    drawn = np.array([selector.fit(X, y).get_support() for _ in range(1500)])
    keys = masks @ (1 << np.arange(4))
    counts = np.bincount(drawn @ (1 << np.arange(4)), minlength=16)[keys]
    assert counts.sum() == 1500
    assert stats.chisquare(counts, p / p.sum() * 1500).pvalue > 0.001


def sensitivity_at_50():
    return np.log2(50) / 50 + 49 / 50 * np.log2(50 / 49)


def test_records_are_cut_before_they_are_counted():
    """With a row bound of 1 and total counts the scores add up to the number of records that have a one."""
    X = np.ones((50, 5))
    y = np.zeros(50, dtype=int)
    picked = np.zeros(5)
    for seed in range(200):
        picked += MaskSelector(1e9, 1, "total_count", row_bound=1, random_state=seed).fit(X, y).get_support()
    # cut at random, every feature wins now and then; uncut, all five scores would be equal
    assert (picked > 10).all()


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("n_features", 7, "integer from 1 to 6"),
        ("n_features", 0, "integer from 1 to 6"),
        ("epsilon", -0.1, "finite number"),
        ("score", "gain", "'mutual_information'"),
        ("calibration", "loose", "'range', 'published'"),
        ("relation", "both", "'add-remove'"),
        ("row_bound", 0, "integer >= 1"),
    ],
)
def test_bad_parameters_are_named(parameter, value, allowed):
    X, y = table()
    with pytest.raises(InvalidParameter, match=f"`{parameter}` must be .*{allowed}"):
        MaskSelector(1.0, 2).set_params(**{parameter: value}).fit(X, y)


def test_the_number_of_records_counts_as_public_where_one_is_replaced():
    schema = Schema.binary(3, n_rows=50, n_lower=20)
    assert [public_n_rows(schema, relation) for relation in ("replace-one", "add-remove")] == [50, 20]
    assert public_n_rows(Schema.binary(3, n_lower=20), "replace-one") == 20


def test_a_schema_that_promises_more_records_than_there_are():
    X, y = table()
    with pytest.raises(InvalidData, match="at least 1000 records, the table has 300"):
        MaskSelector(1.0, 2, "mutual_information", schema=Schema.binary(6, n_lower=1000)).fit(X, y)
