"""Selection computes on private values: its statistics stay private, and only a draw opens them."""

from functools import partial

import numpy as np
import pytest
from binary_tables import told_by_some

from dpml.counts import Contingency, contingency
from dpml.exceptions import InvalidParameter, NoExactScore
from dpml.mechanisms.private import Private, is_private, opened
from dpml.schema import Schema
from dpml.selection import (
    KINDS,
    PublishedSelector,
    one_shot,
    peel,
    sample_joint,
    sample_masks,
    scores,
)

D = 6
SCHEMA = Schema.binary(D, n_lower=50)

table = partial(told_by_some, {1: 0.9}, n=80, rate=0.4)


def both():
    """Return the counts of a table, plain and private."""
    X, y = table()
    plain = contingency(X, y, 2)
    return plain, Contingency(Private(plain.on), Private(plain.n))


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_private_records_are_private(kind):
    X, y = table()
    private = scores(Private(X), Private(y), kind, schema=SCHEMA)
    assert type(private) is Private
    assert opened(private).tolist() == scores(X, y, kind, schema=SCHEMA).tolist()
    with pytest.raises(InvalidParameter, match="given for private records"):
        scores(Private(X), Private(y), kind)


def test_functions_of_scores_take_private_ones():
    values, rng = [0.0, 900.0, 5.0, 800.0], np.random.default_rng
    for choose in (one_shot, peel, sample_joint):
        plain, private = (choose(s, 1.0, 2, 1.0, draws=9, rng=rng(0)) for s in (values, Private(np.array(values))))
        assert plain.tolist() == private.tolist()
        with pytest.raises(InvalidParameter, match="n_features"):
            choose(Private(np.array(values)), 1.0, 5, 1.0, rng=rng(0))
    plain, private = (sample_masks(s, 2, 9, rng=rng(0)) for s in (values, Private(np.array(values))))
    assert plain.tolist() == private.tolist()
    assert sample_masks(Private(np.zeros(3)), 3, 2, rng=rng(0)).all()


@pytest.mark.parametrize("weights", [[np.inf, 0.0, 0.0], [-np.inf, 1.0, np.nan], [np.inf, np.inf, -np.inf]])
def test_no_private_weight_makes_a_draw_raise_and_tell_it(weights):
    assert sample_masks(Private(np.array(weights)), 1, 4, rng=np.random.default_rng(0)).sum(axis=1).tolist() == [1] * 4
    with pytest.raises(InvalidParameter, match="finite"):
        sample_masks(weights, 1, 4, rng=np.random.default_rng(0))


@pytest.mark.parametrize("method", ["clusters", "threshold-testing"])
def test_a_choice_by_exact_scores_is_for_study(method):
    selector = PublishedSelector(1.0, method, threshold=20.0, release=True)
    with pytest.raises(NoExactScore, match="exact scores"):
        selector.masks(both()[1], SCHEMA, rng=np.random.default_rng(0))
    assert is_private(both()[1].on)
