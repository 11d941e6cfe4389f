"""A fit warns of columns of which nearly all records lie in one bin, by its released counts alone."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpml.audit import recorded_cost
from dpml.classifiers import AutoClassifier, BernoulliNB, DiffPC45, DiffPID3, MixedNB, PrivPfCClassifier, RandomTrees
from dpml.classifiers import crowded_bins as crowded
from dpml.classifiers.crowded_bins import (
    ALARM,
    LEAST,
    NEARLY,
    heaviest_bin,
    heaviest_of_marginals,
    noise_bound,
    warn_of_crowded,
)
from dpml.exceptions import CrowdedBins
from dpml.mechanisms import boundary
from dpml.publishing import AIM, MST, PPH, DiffGen, PrivBayes, PrivPfC, UniformGrid
from dpml.schema import Feature, Schema
from dpml.tuning import PrivateSearch

N = 4000
KINDS = [AutoClassifier, MixedNB, PrivPfCClassifier, RandomTrees, DiffPID3, DiffPC45]


WIDE, CLOSE = (0, 1e6), (3990, 4110)


def schema(bounds, **facts):
    features = [Feature(name, "numeric", lower=bounds[0], upper=bounds[1], **facts) for name in "ab"]
    return Schema(features, n_lower=N)


def table(seed=0):
    """Return two columns of values of 4,000 to 4,100, of which the first decides the class mostly."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(4000, 4100, (N, 2)), columns=list("ab"))
    return X, (X["a"] + rng.normal(0, 10, N) > 4050).to_numpy().astype(int)


def named(model, X, y):
    """Return the messages of a fit."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(one.message) for one in seen if issubclass(one.category, CrowdedBins)]


# ---- fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_far_too_wide_bounds_are_named_in_one_warning(kind):
    (message,) = named(kind(8.0, schema=schema(WIDE), random_state=0), *table())
    assert "one bin has nearly all records of 'a' (around [" in message
    assert "Feature(cuts=...)" in message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_close_bounds_are_not_named(kind, seed):
    assert named(kind(8.0, schema=schema(CLOSE), random_state=seed), *table(seed)) == []


def test_the_remedy_ends_the_warning():
    cuts = schema(WIDE, cuts=(4030, 4050, 4070))
    assert named(AutoClassifier(8.0, schema=cuts, random_state=0), *table()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_noise_that_hides_the_counts_gives_no_warning(kind):
    assert named(kind(1e-4, schema=schema(WIDE), random_state=0), *table()) == []


@pytest.mark.parametrize(
    ("kind", "relation", "few"),
    [
        (DiffPID3, "add-remove", 400),
        (DiffPC45, "add-remove", 200),
        (DiffPID3, "replace-one", 1200),
        (DiffPC45, "replace-one", 400),
    ],
)
def test_a_tree_warns_only_where_counts_exceed_the_noise_of_their_level(kind, relation, few):
    # two levels share ε = 1, so the noise has scale 4 or 8; on half of it, few records would be enough
    for n, expected in [(few, 0), (3200, 10)]:
        X, y = pd.DataFrame({"a": np.full(n, 5.0)}), np.arange(n) % 2
        facts = Schema([Feature("a", "numeric", lower=0, upper=1e6)], n_lower=n)
        options = {"schema": facts, "relation": relation, "max_depth": 1}
        fits = [named(kind(1.0, random_state=seed, **options), X, y) for seed in range(10)]
        assert sum(map(len, fits)) == expected


def test_a_constant_column_is_named_beside_others():
    X, y = table()
    X["b"] = 4001.0
    (message,) = named(MixedNB(2.0, schema=schema(CLOSE), random_state=0), X, y)
    assert "'b'" in message
    assert "'a'" not in message


def test_a_release_is_told_as_a_simulation_is():
    pytest.importorskip("opendp")
    (message,) = named(MixedNB(2.0, schema=schema(WIDE), release=True), *table())
    assert "'a', " not in message
    assert "'a' (around" in message


def test_columns_beyond_the_limit_are_counted():
    bins = [heaviest_bin(f"x{k}", [0, 1, 2], np.array([9e9, 0.0]), 1, 1.0) for k in range(10)]
    with pytest.warns(CrowdedBins, match=r"'x7' \(around \[0, 1\)\) and 2 more\. The"):
        warn_of_crowded(bins)


# ---- publishers -----------------------------------------------------------------------------------------------------

PUBLISHERS = [PrivPfC, UniformGrid, PPH, DiffGen, PrivBayes]
GRAPHICAL = [partial(kind, delta=delta) for kind in (MST, AIM) for delta in (0.0, 1e-5)]


def published(kind, bounds, epsilon=8.0, seed=0):
    if kind in GRAPHICAL:
        pytest.importorskip("mbi", reason="the extra graphical is not installed")
    return named(kind(epsilon, schema=schema(bounds), random_state=seed), *table(seed))


@pytest.mark.parametrize("kind", [*PUBLISHERS, *GRAPHICAL])
def test_a_publisher_names_far_too_wide_bounds(kind):
    (message,) = published(kind, WIDE)
    assert "one bin has nearly all records of 'a' (around [" in message


@pytest.mark.parametrize("kind", [*PUBLISHERS, *GRAPHICAL])
def test_a_publisher_names_no_close_bounds(kind):
    assert published(kind, CLOSE) == []


@pytest.mark.parametrize("kind", [*PUBLISHERS, *GRAPHICAL])
def test_noise_hides_what_a_publisher_could_name(kind):
    assert published(kind, WIDE, 1e-3) == []


def test_the_marginal_with_the_least_noise_decides():
    number, other = Feature("x", "numeric", lower=0, upper=8, cuts=[4]).taxonomy, Feature("z").taxonomy
    whole, one = np.full((2, 2), 5e6), np.array([1e7, 0.0])
    found = heaviest_of_marginals([number, other], [((1, 0), whole, 1.0), ((0,), one, 1.4), ((1,), one, 0.1)])
    assert [(each.name, each.lower, each.upper, each.count, each.n_terms) for each in found] == [("x", 0, 4, 1e7, 1)]
    assert found[0].scale == pytest.approx(1.4 / np.sqrt(2))
    (found,) = heaviest_of_marginals([number], [((1, 0), whole, 1.0), ((0,), one, 1.5)])
    assert (found.count, found.n_terms) == (1e7, 2)


# ---- privacy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MixedNB, RandomTrees, PrivPfCClassifier])
def test_equal_releases_give_equal_warnings(kind):
    X, y = table()
    X, y = X[:200], y[:200]
    other = X.copy()
    other.iloc[-1] = 1e6  # the last record moves to another bin

    def call(data):
        return kind(20.0, schema=schema(WIDE), random_state=0).fit(*data)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        # infinite if the warnings of both differ while their releases are the same
        assert recorded_cost(call, (X, y), (X[:-1], y[:-1])) <= 20.0 + 1e-9
        assert recorded_cost(call, (X, y), (other, y)) <= 40.0 + 1e-9
    assert any(issubclass(one.category, CrowdedBins) for one in seen)


def test_a_warning_of_private_records_is_found(monkeypatch):
    X, y = table()

    def call(data):
        warnings.warn(f"{len(data[0])} records", CrowdedBins, stacklevel=1)
        return 0

    with pytest.warns(CrowdedBins):
        assert recorded_cost(call, (X, y), (X[:-1], y[:-1])) == np.inf


def test_what_is_not_released_warns_of_nothing():
    bins = [heaviest_bin("x", [0, 1, 2], np.array([9e9, 0.0]), 1, 1.0)]
    with boundary.unreleased():
        warn_of_crowded(bins)
    with boundary.best_of_runs(2.0) as one_run, one_run():
        warn_of_crowded(bins)
    with pytest.warns(CrowdedBins):
        warn_of_crowded(bins)


def test_a_search_by_random_stopping_hides_its_runs(monkeypatch):
    X, y = table()
    hidden = []
    fit = BernoulliNB._model

    def model(self, *arguments):
        hidden.append(boundary.is_hidden())
        fit(self, *arguments)

    monkeypatch.setattr(BernoulliNB, "_model", model)
    options = {"method": "random-stopping", "schema": Schema.binary(2, n_lower=N), "random_state": 0}
    PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 2]}, 2.0, **options).fit((X > 4050).to_numpy().astype(int), y)
    # two dry runs without records, the runs of which only the best is released, and its last training
    assert hidden[:2] == [False, False]
    assert len(hidden) > 3
    assert all(hidden[2:-1])
    assert not hidden[-1]


# ---- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", [(1, 5), (3, 40), (64, 448)])
def test_the_noise_exceeds_its_bound_rarely(terms):
    rng, alarm, draws = np.random.default_rng(0), 0.01, 40_000
    bound = noise_bound(alarm, (1 - LEAST, LEAST), terms, 7.0)
    noise = sum(
        weight * rng.laplace(scale=7.0, size=(draws, n)).sum(axis=1)
        for weight, n in zip((1 - LEAST, LEAST), terms, strict=True)
    )
    # more than the stated probability by five deviations in one of 3·10^6 runs
    assert (noise > bound).mean() < alarm + 5 * np.sqrt(alarm / draws)
    # and a bound of a quarter of the size would be exceeded
    assert (noise > bound / 4).mean() > alarm


@given(
    st.lists(st.integers(0, 5000), min_size=2, max_size=40),
    st.floats(0.5, 500),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
)
def test_a_named_bin_holds_most_of_the_released_counts(sizes, scale, n_terms, seed):
    counts = np.array(sizes) + np.random.default_rng(seed).laplace(scale=scale, size=(len(sizes), n_terms)).sum(axis=1)
    found = heaviest_bin("x", range(len(sizes) + 1), counts, n_terms, scale)
    assert found.count == counts.max()
    assert counts[int(found.lower)] == counts.max()
    if found.is_crowded(ALARM / found.n_bins):
        assert found.count >= NEARLY * counts.sum()
        assert counts.sum() > 0
        # more records in this bin, with the rest and the noise the same, never end the warning
        more = counts.copy()
        more[int(found.lower)] += 1000
        assert heaviest_bin("x", range(len(sizes) + 1), more, n_terms, scale).is_crowded(ALARM / found.n_bins)


@pytest.mark.parametrize("share", [0.0, LEAST])
def test_false_alarms_are_as_rare_as_stated(share):
    rng, draws, m, scale = np.random.default_rng(1), 4000, 16, 30.0
    exact = np.full(m, (1 - share) * N / (m - 1)) if share else np.zeros(m)
    exact[3] = share * N
    noisy = exact + rng.laplace(scale=scale, size=(draws, 4, m)).sum(axis=1)
    alarms = [heaviest_bin("x", range(m + 1), counts, 4, scale).is_crowded(ALARM / m) for counts in noisy]
    assert np.mean(alarms) < ALARM + 5 * np.sqrt(ALARM / draws)


def test_bins_that_the_model_divides_do_not_count():
    taxonomy = schema((0, 16), levels=((8,), (4, 8, 12))).features[0].taxonomy
    cells = np.zeros((2, 2, 2))
    cells[:, 0, :] = 5000  # all in [0, 8), which the finer level divides, and in both groups of another number
    attributes = [(taxonomy, 1, 2), (taxonomy, 1, 1)]
    assert [found and found.upper for found in crowded.heaviest_of_grid(cells, attributes, 1.0)] == [None, 8]
    cells[:, 0, 1] = 0  # all in one cell of the grid
    assert [found.upper for found in crowded.heaviest_of_grid(cells, attributes, 1.0)] == [8, 8]
