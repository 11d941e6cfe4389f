"""Random decision trees: public splits, one leaf of each tree a record, and noise for all trees together."""

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers import RandomTrees
from dpml.classifiers.grid import Records, places_of
from dpml.classifiers.tree import random_tree
from dpml.classifiers.tree.random_trees import leaf_counts, leaf_probabilities, mean_probabilities
from dpml.datasets import load
from dpml.schema import Feature, Schema
from dpml.studies import RandomTreesStudy

SCHEMA = Schema(
    (
        Feature("a", "numeric", lower=0, upper=8),
        Feature("b", "categorical", ("x", "y", "z")),
        Feature("c", "categorical", ("no", "yes")),
    ),
    n_lower=600,
)
TAXONOMIES = tuple(feature.taxonomy for feature in SCHEMA.features)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.uniform(0, 8, n), "b": rng.choice(["x", "y", "z"], n), "c": rng.choice(["no", "yes"], n)}
    )
    return frame, ((frame["a"] > 4) & (frame["b"] != "y")).astype(int).to_numpy()


def every_place():
    """Return one record in each cell of the finest groups."""
    grid = np.meshgrid(*(np.arange(taxonomy.sizes[-1]) for taxonomy in TAXONOMIES), indexing="ij")
    return [axis.ravel() for axis in grid]


def walked(tree, record):
    """Return a record's leaf, node by node."""
    node = 0
    while node < len(tree.attribute):
        node = 2 * node + 1 + int(tree.right[node, record[tree.attribute[node]]])
    return node - len(tree.attribute)


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_leaves_are_those_of_a_walk_from_the_root(depth):
    tree, places = random_tree(TAXONOMIES, depth, np.random.default_rng(depth)), every_place()
    expected = [walked(tree, [int(axis[i]) for axis in places]) for i in range(len(places[0]))]
    assert tree.leaves(places).tolist() == expected
    assert tree.leaves([axis[:0] for axis in places]).tolist() == []


def test_splits_divide_the_undecided_groups_of_a_path():
    places = every_place()
    for seed in range(20):
        tree = random_tree(TAXONOMIES, 4, np.random.default_rng(seed))
        waiting = [(0, np.arange(len(places[0])))]
        while waiting:
            node, inside = waiting.pop()
            if node >= len(tree.attribute) or len(inside) == 1:
                continue
            groups = places[tree.attribute[node]][inside]
            right = tree.right[node, groups]
            assert 0 < right.sum() < len(right)
            if tree.attribute[node] == 0:
                assert groups[~right].max() < groups[right].min()
            waiting += [(2 * node + 1, inside[~right]), (2 * node + 2, inside[right])]


def test_one_record_changes_one_count_of_each_tree_by_one():
    trees = [random_tree(TAXONOMIES, 3, np.random.default_rng(seed)) for seed in range(5)]
    frame, y = table(40)

    def counts(rows, labels):
        return leaf_counts(Records(places_of(rows, SCHEMA, TAXONOMIES), labels, 2, TAXONOMIES), trees)

    whole = counts(frame, y)
    assert whole.sum(axis=(1, 2)).tolist() == [40] * 5
    for left_out in range(40):
        kept = np.arange(40) != left_out
        change = whole - counts(frame[kept], y[kept])
        assert np.abs(change).sum() == 5
        assert change.sum(axis=(1, 2)).tolist() == [1] * 5


def test_without_noise_probabilities_are_mean_leaf_shares():
    frame, y = table(600)
    model = RandomTrees(1e9, n_trees=4, max_depth=3, schema=SCHEMA, random_state=0).fit(frame, y)
    places = places_of(frame, SCHEMA, TAXONOMIES)
    shares = np.zeros(600)
    for tree in model.trees_:
        leaf = tree.leaves(places)
        shares += np.bincount(leaf, y, minlength=8)[leaf] / np.bincount(leaf, minlength=8)[leaf] / 4
    assert model.predict_proba(frame)[:, 1] == pytest.approx(shares, abs=1e-5)
    assert model.score(frame, y) > 0.8


def test_a_leaf_of_noise_says_what_all_leaves_say():
    counts = np.zeros((1, 2, 2))
    counts[0, :, 0] = 300.0, 100.0
    assert leaf_probabilities(counts, 5.0)[0, :, 1] == pytest.approx([0.75, 0.25])
    more = leaf_probabilities(np.stack([counts, counts[:, ::-1]]), 5.0)
    assert more[:, 0, 0, 1] == pytest.approx([0.75, 0.25])
    means = mean_probabilities(more, [np.array([0, 1, 1])])
    assert means.shape == (2, 2, 3)
    assert means.sum(axis=1) == pytest.approx(np.ones((2, 3)))


def test_shrinkage_of_leaves_follows_the_noise_of_the_relation():
    frame, y = table(600)
    model = RandomTrees(1.0, n_trees=4, max_depth=3, schema=SCHEMA, relation="replace-one", random_state=0)
    model.fit(frame, y)
    leaves = [tree.leaves(places_of(frame, SCHEMA, TAXONOMIES)) for tree in model.trees_]
    # one record replaced changes two counts of each tree
    expected = mean_probabilities(leaf_probabilities(model.leaf_counts_, 2 * 4 / 1.0), leaves).T
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)


def test_draws_of_the_study_are_those_of_fits():
    data = load("toy")
    drawn = RandomTreesStudy(data)(1.0, draws=30, sets=30, rng=np.random.default_rng(0), auc=True)
    fits = [
        RandomTrees(1.0, schema=data.schema, random_state=seed)
        .fit(data.X_train, data.schema.class_labels[data.y_train])
        .predict(data.X_test)
        for seed in range(30)
    ]
    fitted = np.array([(labels == data.schema.class_labels[data.y_test]).mean() for labels in fits])
    error = np.hypot(drawn["accuracy"].std(), fitted.std()) / np.sqrt(30)
    assert abs(drawn["accuracy"].mean() - fitted.mean()) < 4 * error
    assert drawn["auc"].shape == (30,)
