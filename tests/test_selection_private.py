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
    MaskSelector,
    NoisyClusterSelector,
    NoisyCountSelector,
    NoisyScoreSelector,
    PublishedSelector,
    SparseVectorSelector,
    TopSelector,
    one_shot,
    peel,
    sample_joint,
    sample_masks,
    scores,
)

D = 6
SCHEMA = Schema.binary(D, n_lower=50)
SELECTORS = {
    "masks": MaskSelector(1.0, 2, "mutual_information"),
    "joint": TopSelector(1.0, 2),
    "one-shot": TopSelector(1.0, 5, method="one-shot"),
    "peeling": TopSelector(1.0, 2, method="peeling"),
    "permute-and-flip": TopSelector(1.0, 2, method="permute-and-flip"),
    "noisy scores": NoisyScoreSelector(1.0, 2),
    "threshold of noisy scores": NoisyScoreSelector(1.0, threshold=20.0),
    "noisy counts": NoisyCountSelector(1.0, 2),
    "noisy counts as published": NoisyCountSelector(1.0, 2, method="published"),
    "clusters": NoisyClusterSelector(1.0, 2, n_clusters=2),
    "sparse vector": SparseVectorSelector(1.0, 20.0, 2),
    "iterative": PublishedSelector(1.0, "iterative", n_features=2),
    "clusters as published": PublishedSelector(1.0, "clusters", threshold=20.0),
    "threshold testing": PublishedSelector(1.0, "threshold-testing", threshold=20.0),
    "noisy cut": PublishedSelector(1.0, "noisy-cut", threshold=20.0),
}

table = partial(told_by_some, {1: 0.9}, n=80, rate=0.4)


def both():
    """Return the counts of a table, plain and private."""
    X, y = table()
    plain = contingency(X, y, 2)
    return plain, Contingency(Private(plain.on), Private(plain.n))


@pytest.mark.parametrize("name", SELECTORS)
def test_private_counts_give_the_same_choice_as_plain_ones(name):
    selector = SELECTORS[name].__sklearn_clone__()
    plain, private = (selector.masks(c, SCHEMA, draws=20, rng=np.random.default_rng(3)) for c in both())
    assert plain.tolist() == private.tolist()


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


@pytest.mark.parametrize("name", ["clusters as published", "threshold testing"])
def test_a_choice_by_exact_scores_is_for_study(name):
    selector = SELECTORS[name].__sklearn_clone__().set_params(release=True)
    with pytest.raises(NoExactScore, match="exact scores"):
        selector.masks(both()[1], SCHEMA, rng=np.random.default_rng(0))
    assert is_private(both()[1].on)
