"""A number that is a whole one: what is published of it, and where it is refused."""

import numpy as np
import pandas as pd
import pytest

from dpml.exceptions import InvalidParameter, InvalidSchema
from dpml.publishing import PrivBayes, PrivPfC
from dpml.schema import Feature, Schema


@pytest.mark.parametrize(("lower", "upper"), [(0, 72), (-0.5, 2), (0, 7), (17.25, 90.75)])
def test_every_whole_number_of_a_group_is_drawn_and_no_other(lower, upper):
    taxonomy = Feature("tenure", "numeric", lower=lower, upper=upper, whole=True).taxonomy
    rng = np.random.default_rng(0)
    for level, size in enumerate(taxonomy.sizes):
        group = np.repeat(np.arange(size), 2000)
        values = taxonomy.draw(level, group, rng, whole=True)
        np.testing.assert_array_equal(values, np.round(values))
        assert lower <= values.min() <= values.max() <= upper
        allowed = np.arange(np.ceil(lower), np.floor(upper) + 1)
        edges = np.array(taxonomy.values)[[*taxonomy.firsts[level], taxonomy.n_values]]
        places = np.digitize(allowed, edges[1:-1])
        for g in range(size):
            if (places == g).any():
                assert set(values[group == g]) == set(allowed[places == g])
    assert set(taxonomy.draw(0, np.zeros(9000, dtype=int), rng, whole=True)) == set(allowed)


@pytest.mark.parametrize("publisher", [PrivPfC, PrivBayes])
def test_a_published_table_has_whole_numbers(publisher):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"tenure": rng.integers(0, 73, 3000), "senior": rng.integers(0, 2, 3000)})
    label = pd.Series(np.where(frame["tenure"] > 30, "no", "yes"), name="left")
    features = (Feature("tenure", "numeric", lower=0, upper=80, whole=True), Feature("senior"))
    schema = Schema(features, ("no", "yes"), n_lower=2000)
    table = publisher(1.0, schema=schema, random_state=0).fit(frame, label).sample(500)
    assert [table[name].dtype.kind for name in ("tenure", "senior")] == ["i", "i"]
    assert table["tenure"].between(0, 80).all()
    assert table["tenure"].nunique() > 20


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"kind": "binary"}, InvalidSchema),
        ({"kind": "numeric", "lower": 0.2, "upper": 0.8}, InvalidSchema),
        ({"kind": "numeric", "lower": 0, "upper": 9, "whole": "yes"}, InvalidParameter),
    ],
)
def test_whole_is_refused_where_it_says_nothing(facts, error):
    with pytest.raises(error, match="whole of 'x'"):
        Feature("x", **{"whole": True, **facts})
