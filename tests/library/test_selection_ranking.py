"""Score perturbation, noisy counts, noisy clusters, the sparse vector and what is kept as published."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from binary_tables import told_by_some
from scipy import sparse, stats
from sklearn.base import clone

from dpml.audit import recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.counts import Contingency, contingency
from dpml.exceptions import BudgetExceeded, InvalidParameter
from dpml.schema import Feature, Schema
from dpml.selection import (
    KINDS,
    MaskSelector,
    NoisyClusterSelector,
    NoisyCountSelector,
    NoisyScoreSelector,
    PublishedSelector,
    SparseVectorSelector,
    TopSelector,
    scores,
)
from dpml.selection.as_published import (
    cluster_selection,
    noisy_cut,
    noisy_cut_log_probabilities,
    private_threshold_testing,
    threshold_testing_log_probabilities,
)
from dpml.selection.ranking import noisy_tables

D = 6
SCHEMA = Schema.binary(D, n_lower=250, n_rows=300)
# every selector at an ε so large that its noise cannot matter: the first keep 2 features, the others what reaches 100
COUNTED = {
    "mask": MaskSelector(1e7, 2, "count"),
    "mask, published": MaskSelector(1e7, 2, "count", calibration="published"),
    "mask, per feature": MaskSelector(1e7, 2, "count", calibration="per-feature"),
    "top": TopSelector(1e7, 2, "count"),
    "scores": NoisyScoreSelector(1e7, 2, "count"),
    "counts": NoisyCountSelector(1e7, 2, "count"),
    "counts, published": NoisyCountSelector(1e7, 2, "count", method="published"),
    "clusters": NoisyClusterSelector(1e7, 2, "count", n_clusters=6),
}
THRESHOLD = 150.5
ABOVE = {
    "scores": NoisyScoreSelector(1e7, score="total_count", threshold=THRESHOLD),
    "clusters": NoisyClusterSelector(1e7, score="total_count", threshold=THRESHOLD, n_clusters=6),
    "sparse vector": SparseVectorSelector(1e7, THRESHOLD, D, "total_count"),
    "published threshold testing": PublishedSelector(1e7, "threshold-testing", threshold=THRESHOLD),
    "published noisy cut": PublishedSelector(1e7, "noisy-cut", threshold=THRESHOLD),
}
ALL = {**{f"T: {k}": v for k, v in COUNTED.items()}, **{f"τ: {k}": v for k, v in ABOVE.items()}}
ALL["published iterative"] = PublishedSelector(1e7, "iterative", "mutual_information", n_features=2)
ALL["published clusters"] = PublishedSelector(1e7, "clusters", threshold=THRESHOLD)

table = partial(told_by_some, {1: 0.95, 4: 0.85})


@pytest.mark.parametrize("name", COUNTED)
def test_a_large_epsilon_keeps_the_best(name):
    X, y = table()
    chosen = clone(COUNTED[name]).set_params(schema=SCHEMA, random_state=0).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == [1, 4]


@pytest.mark.parametrize("name", ABOVE)
def test_a_large_epsilon_keeps_what_reaches_the_threshold(name):
    X, y = table()
    chosen = clone(ABOVE[name]).set_params(schema=SCHEMA, random_state=0).fit(X, y)
    truth = X.sum(axis=0) >= THRESHOLD
    assert 0 < truth.sum() < D
    np.testing.assert_array_equal(chosen.get_support(), truth)


@pytest.mark.parametrize("name", ALL)
def test_a_fit_is_one_draw_of_a_batch_for_every_kind_of_table(name):
    X, y = table()
    selector = clone(ALL[name]).set_params(epsilon=0.5, schema=SCHEMA)
    batch = selector.masks(contingency(X, y, 2), SCHEMA, draws=1, rng=np.random.default_rng(3))[0]
    frame = pd.DataFrame(X, columns=SCHEMA.feature_names)
    for same in (X, frame, sparse.csr_array(X), sparse.csc_matrix(X)):
        fitted = clone(selector).set_params(random_state=3).fit(same, y)
        np.testing.assert_array_equal(fitted.get_support(), batch)
    assert fitted.n_features_in_ == D


@pytest.mark.parametrize(
    ("kind", "relation", "row_bound", "whole", "order"),
    [
        ("total_count", "add-remove", 2, 2, 2),
        ("total_count", "replace-one", 2, 4, 4),
        ("total_count", "add-remove", None, 6, 3),
        ("difference_count", "add-remove", 2, 2, 2),
        ("difference_count", "replace-one", 2, 4, 4),
        ("count", "add-remove", None, 6, 3),
        ("count", "replace-one", None, 12, 6),
    ],
)
def test_noise_on_scores_has_the_derived_scale(kind, relation, row_bound, whole, order):
    options = {"score": kind, "relation": relation, "row_bound": row_bound}
    assert NoisyScoreSelector(0.5, threshold=1.0, **options).noise(SCHEMA).scale == whole / 0.5
    assert NoisyScoreSelector(0.5, 2, **options).noise(SCHEMA).scale == order / 0.5


def test_one_hot_columns_are_charged_by_attributes():
    """Four attributes of three columns each: a record touches four total counts, not twelve."""
    blocks = Schema(tuple(Feature(f"{a}={v}", block=a) for a in "abcd" for v in range(3)), (0, 1))
    assert blocks.row_bound == 4
    for relation, touched in (("add-remove", 4), ("replace-one", 8)):
        for kind in ("total_count", "difference_count"):
            selector = NoisyScoreSelector(1.0, threshold=5.0, score=kind, relation=relation)
            assert selector.noise(blocks).scale == touched
            assert selector.noise(Schema.binary(12)).scale > touched
    # what is selected keeps the number of attributes that it comes from
    assert blocks.subset([0, 1, 2, 3]).row_bound == 2
    rng = np.random.default_rng(0)
    X = np.zeros((200, 12))
    for a in range(4):
        X[np.arange(200), 3 * a + rng.integers(3, size=200)] = 1
    chosen = NoisyScoreSelector(50.0, 5, "total_count", schema=blocks, random_state=0).fit(X, rng.integers(2, size=200))
    subset = blocks.subset(chosen.get_support())
    assert subset.row_bound == len({int(i) // 3 for i in chosen.get_support(indices=True)})
    assert X[:, chosen.get_support()].sum(axis=1).max() <= subset.row_bound


TWO = [3.0, 0.0]
# what is kept as published, at ε = 0.5: one call, and the scales of the noise that it draws
AS_PUBLISHED = {
    "threshold": (lambda rng: private_threshold_testing(TWO, 0.5, 1.0, sensitivity=2.0, rng=rng), [4]),
    "cut": (lambda rng: noisy_cut(TWO, 0.5, 1.0, sensitivity=2.0, threshold_share=0.2, rng=rng), [20, 5]),
    "clusters": (lambda rng: cluster_selection(TWO, 0.5, 1.0, centres=[0, 2], row_bound=3, rng=rng), [4, 12]),
}
FITTED = {
    "iterative": ({"n_features": 2}, [8]),  # a coin has ε/2, and half of it for a score that moves either way
    "threshold-testing": ({"threshold": THRESHOLD}, [2]),
    "noisy-cut": ({"threshold": THRESHOLD}, [4, 4]),
}


@pytest.mark.parametrize("name", [*AS_PUBLISHED, *FITTED])
def test_published_methods_draw_the_stated_noise(name):
    if name in FITTED:
        rule, scales = FITTED[name]
        selector = PublishedSelector(0.5, name, schema=SCHEMA, random_state=0, **rule)
        releases = recorded_releases(lambda data: selector.fit(*data), table(), table())
    else:
        call, scales = AS_PUBLISHED[name]
        releases = recorded_releases(lambda _: call(np.random.default_rng(0)), TWO, TWO)
    drawn = [1 / r.mechanism.step if name == "iterative" else r.mechanism.scale for r in releases]
    assert drawn == pytest.approx(scales)


def test_threshold_testing_follows_its_probabilities():
    law = stats.laplace(1.0, 4.0)
    logs = threshold_testing_log_probabilities(TWO, 0.5, 1.0, sensitivity=2.0)
    p = {(True, True): law.cdf(0), (True, False): law.cdf(3) - law.cdf(0), (False, False): law.sf(3)}
    assert {sides: np.exp(log) for sides, log in logs.items()} == pytest.approx(p)


def test_noisy_cut_follows_its_probabilities():
    raised, equal = (noisy_cut_log_probabilities((score, 0.0), (20, 20), 1.0, 0.0) for score in (1.0, 0.0))
    assert sum(np.exp(list(raised.values()))) == pytest.approx(1)
    # the sum of two Laplace variables of scale 2 exceeds -1
    mean = sum(k * np.exp(log) for (k, _), log in raised.items())
    assert mean == pytest.approx(20 * (1 - 2.5 / 4 * np.exp(-0.5)))
    assert max(abs(raised[k] - equal[k]) for k in raised) == pytest.approx(9.404179)


def test_noisy_counts_lie_between_none_and_their_class():
    facts = COUNTED["clusters"]._checked(SCHEMA)
    on, off = noisy_tables(contingency(*table(), 2), 0.01, facts, 50, np.random.default_rng(0))
    assert min(on.min(), off.min()) == 0


def test_clusters_are_kept_whole_up_to_the_last_place():
    on = np.array([[50.0, 52, 51, 10, 11, 0]] * 2)
    counts = Contingency(on, np.array([100.0, 100.0]))
    kept = {
        T: NoisyClusterSelector(1e6, T, n_clusters=3).masks(counts, SCHEMA, rng=np.random.default_rng(0))[0]
        for T in (2, 3, 4)
    }
    assert np.flatnonzero(kept[3]).tolist() == [0, 1, 2]
    assert np.flatnonzero(kept[2]).tolist() == [1, 2]
    assert np.flatnonzero(kept[4]).tolist() == [0, 1, 2, 4]
    above = NoisyClusterSelector(1e6, threshold=101.0, n_clusters=3)
    # the cluster's centre is 102, so feature 0 with 100 stays with it
    assert np.flatnonzero(above.masks(counts, SCHEMA, rng=np.random.default_rng(0))[0]).tolist() == [0, 1, 2]


def test_sparse_vector_stops_at_its_cutoff_in_random_order():
    counts = Contingency(np.full((2, D), 400.0), np.array([500.0, 500.0]))
    masks = SparseVectorSelector(1.0, 100.0, 2).masks(counts, SCHEMA, draws=6000, rng=np.random.default_rng(0))
    assert (masks.sum(axis=1) == 2).all()
    assert stats.chisquare(masks.sum(axis=0)).pvalue > 1e-3
    monotone, plain = (
        SparseVectorSelector(1.0, 1.0, 2, "total_count", relation=r).technique(SCHEMA).scales
        for r in ("add-remove", "replace-one")
    )
    assert monotone[1] < plain[1]
    assert SparseVectorSelector(1.0, 1.0, 2, "count", relation="replace-one").technique(SCHEMA).sensitivity == 2


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_sparse_vector_pays_for_as_many_answers_as_its_cut_off(cutoff):
    """A record of ones moves every query the same way, which costs all of ε."""
    X, y = np.ones((4, 3)), np.array([0, 1, 0, 1])

    def call(data):
        return SparseVectorSelector(0.8, 3.0, cutoff, schema=Schema.binary(3), random_state=0).fit(*data)

    assert recorded_cost(call, (X, y), (X[1:], y[1:])) == pytest.approx(0.8)


def test_per_feature_weights_are_charged_what_they_cost():
    """Antonova's ε for each feature: half of min(T, D - T) times ε with the count heuristic, under both relations."""
    X, y = table()
    for relation, T in itertools.product(("add-remove", "replace-one"), (1, 2, 3, 5)):
        selector = MaskSelector(0.4, T, "count", calibration="per-feature", relation=relation, random_state=0)
        expected = 0.4 * min(T, D - T) / 2
        assert selector.cost(Schema.binary(D)) == pytest.approx(expected)
        budget = Budget(5.0, relation=relation)
        selector.set_params(budget=budget).fit(X, y)
        assert budget.ledger["epsilon"].tolist() == pytest.approx([expected])
    # where both sides of the score's change count, the whole of it
    selector = MaskSelector(0.4, 3, "difference_count", calibration="per-feature")
    assert selector.cost(Schema.binary(D)) == pytest.approx(0.4 * 3)
    with pytest.raises(BudgetExceeded):
        MaskSelector(0.4, 3, "difference_count", calibration="per-feature", budget=Budget(1.0)).fit(X, y)


def test_sparse_tables_stay_sparse():
    """33,000 features of a few thousand short records: dense they would take 1 GB."""
    rng = np.random.default_rng(0)
    n, wide = 4000, 33_000
    columns = rng.integers(wide, size=(n, 10))
    X = sparse.csr_array((np.ones(n * 10), (np.repeat(np.arange(n), 10), columns.ravel())), shape=(n, wide))
    X.sum_duplicates()
    X.data[:] = 1
    y = rng.integers(2, size=n)
    # feature 5 is on where the label is 1
    X = sparse.csr_array(X + sparse.csr_array((y, (np.arange(n), np.full(n, 5))), shape=X.shape))
    X.eliminate_zeros()
    X.data[:] = 1
    for kind in KINDS:
        assert scores(X, y, kind).argmax() == 5
    schema = Schema.binary(wide, row_bound=11, n_lower=n)
    for selector in (
        TopSelector(5.0, 100, "count"),
        MaskSelector(1000.0, 100, "total_count"),
        NoisyScoreSelector(5.0, 100, "total_count"),
    ):
        chosen = clone(selector).set_params(schema=schema, random_state=0).fit(X, y)
        assert chosen.get_support()[5]
        assert sparse.issparse(chosen.transform(X))


@pytest.mark.parametrize(
    ("selector", "bad"),
    [
        (NoisyScoreSelector(1.0, 2), {"threshold": 3.0}),
        (NoisyScoreSelector(1.0, 2), {"n_features": None}),
        (NoisyScoreSelector(1.0, threshold=1.0), {"threshold": np.inf}),
        (NoisyCountSelector(1.0, 2), {"method": "exact"}),
        (NoisyClusterSelector(1.0, 2), {"n_clusters": 1}),
        (SparseVectorSelector(1.0, 2.0), {"cutoff": 0}),
        (PublishedSelector(1.0, "iterative", n_features=2), {"n_features": 6}),
        (PublishedSelector(1.0, "noisy-cut"), {"threshold": None}),
        (MaskSelector(1.0, 2), {"calibration": "loose"}),
        (TopSelector(1.0, 2), {"method": "best"}),
        (TopSelector(1.0, 2), {"score": "gain"}),
    ],
)
def test_bad_parameters_are_named(selector, bad):
    name = "n_features" if "threshold" in bad and selector.threshold is None and bad["threshold"] else next(iter(bad))
    with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
        clone(selector).set_params(**bad).fit(*table())


@pytest.mark.parametrize("name", ALL)
def test_subsamples_take_turns(name):
    """Draws of three tables in turn: those of one table alone, where the tables are the same."""
    X, y = table()
    selector = clone(ALL[name]).set_params(epsilon=1e6, schema=SCHEMA)
    counts = contingency(X, y, 2)
    empty = np.zeros_like(counts.on)
    turns = Contingency(np.stack([counts.on, empty, counts.on]), counts.n)
    masks = selector.masks(turns, SCHEMA, draws=8, rng=np.random.default_rng(0))
    one = selector.masks(counts, SCHEMA, draws=1, rng=np.random.default_rng(0))[0]
    if name not in ("published iterative", "published clusters"):
        for i in (0, 2, 3, 5, 6):
            np.testing.assert_array_equal(masks[i], one)
    assert masks.shape == (8, D)
    # an empty table has no feature above the threshold
    if name.startswith("τ"):
        assert not masks[[1, 4, 7]].any()
