"""Private trees: the changes of their scores by enumeration, their splits against a naive tree, and pruning."""

import itertools
import math

import numpy as np
import pytest
from each_commit import others_in_full
from pet_table import SCHEMA, people

from dpml.classifiers import DiffPC45, DiffPID3
from dpml.classifiers.grid import Records, places_of
from dpml.classifiers.tree import Node, pruned, release_tree, split_range, split_score
from dpml.classifiers.tree.decision_trees import pessimistic_errors
from dpml.schema import Feature, Schema


@pytest.mark.parametrize(("criterion", "bounds"), [("max", (0, 1)), ("gini", (-2, 0))])
@pytest.mark.parametrize(("shape", "most"), [((2, 2), 7), ((3, 1), 7), ((3, 2), 3)])
def test_one_record_changes_a_score_one_way_and_within_its_range(criterion, bounds, shape, most):
    found = []
    for cells in itertools.product(range(most + 1), repeat=math.prod(shape)):
        table = np.array(cells).reshape(shape)
        for place in np.ndindex(shape):
            more = table.copy()
            more[place] += 1
            found.append(split_score(more, criterion) - split_score(table, criterion))
    assert min(found) >= bounds[0] - 1e-12
    assert max(found) <= bounds[1] + 1e-12
    assert split_range(criterion) == bounds[1] - bounds[0]
    assert split_range(criterion, "replace-one") == 2 * (bounds[1] - bounds[0])
    assert np.ptp(found) >= 0.75 * split_range(criterion)


def impurity(labels):
    return sum(1 - np.mean(labels == c) for c in labels.to_numpy()) if len(labels) else 0.0


def naive_split(frame, criterion, cuts):
    """The best first split by looking at the records, without noise."""
    parts = {
        ("pet", None): [frame[frame["pet"] == p] for p in ("cat", "dog", "carp")],
        ("owner", None): [frame[frame["owner"] == o] for o in (0, 1)],
    }
    edges = [20, 40, 60]
    if cuts:
        parts |= {("age", c): [frame[frame["age"] < c], frame[frame["age"] >= c]] for c in edges}
    else:
        bounds = [0, *edges, 80]
        parts["age", None] = [frame[(frame["age"] >= a) & (frame["age"] < b)] for a, b in itertools.pairwise(bounds)]

    def value(pieces):
        if criterion == "gini":
            return -sum(impurity(piece["wealth"]) for piece in pieces)
        return sum(piece["wealth"].value_counts().max() for piece in pieces if len(piece))

    return max(parts, key=lambda split: value(parts[split]))


@pytest.mark.parametrize("criterion", ["max", "gini"])
@pytest.mark.parametrize("kind", [DiffPID3, DiffPC45])
@pytest.mark.parametrize("seed", others_in_full(range(3), 0))
def test_with_much_epsilon_the_first_split_is_the_best(kind, criterion, seed):
    frame = people(400, seed)[["age", "pet", "owner", "wealth"]]
    schema = SCHEMA.subset(["age", "pet", "owner"])
    model = kind(1e9, max_depth=1, criterion=criterion, schema=schema, random_state=0)
    model.fit(frame.drop(columns="wealth"), frame["wealth"])
    attribute, cut = naive_split(frame, criterion, kind is DiffPC45)
    tree = model.tree_
    assert schema.feature_names[tree.attribute] == attribute
    if cut is not None:
        assert tree.child.tolist() == [int(edge >= cut) for edge in (0, 20, 40, 60)]
    assert len(tree.children) == (2 if cut is not None else {"age": 4, "pet": 3, "owner": 2}[attribute])
    if kind is DiffPID3:
        for k, leaf in enumerate(tree.children):
            values = np.array(["cat", "dog", "carp"]) if attribute == "pet" else None
            if values is not None:
                inside = frame[frame["pet"] == values[k]]["wealth"]
                np.testing.assert_allclose(leaf.counts, [(inside == c).sum() for c in schema.classes], atol=1e-3)


def test_a_number_is_cut_again_and_a_category_is_not():
    age = np.random.default_rng(0).uniform(0, 80, (4000, 1))
    schema = Schema([Feature("age", "numeric", lower=0, upper=80, levels=[[20, 40, 60]])])
    y = ((age[:, 0] >= 20) & (age[:, 0] < 60)).astype(int)
    tree = DiffPC45(1e6, max_depth=3, schema=schema, random_state=0).fit(age, y)
    assert tree.score(age, y) == 1.0
    assert tree.n_leaves_ == 3
    flat = DiffPID3(1e6, max_depth=3, schema=schema, random_state=0).fit(age, y)
    assert flat.n_leaves_ == 4  # one split, and no attribute is left


@pytest.mark.parametrize("binary_cuts", [False, True])
@pytest.mark.parametrize("seed", others_in_full(range(3), 0))
def test_without_noise_a_leaf_has_the_counts_of_its_records(binary_cuts, seed):
    schema, frame = SCHEMA.subset(["age", "pet", "owner"]), people(500, seed)
    X, codes, _ = schema.check_table(frame[schema.feature_names], frame["wealth"])
    taxonomies = tuple(f.taxonomy for f in schema.features)
    records = Records(places_of(X, schema, taxonomies), codes, 2, taxonomies)
    tree = release_tree(records, 1e9, max_depth=3, binary_cuts=binary_cuts, rng=np.random.default_rng(0))
    assert tree.leaves > 4
    waiting = [(tree, np.arange(500))]
    while waiting:
        node, rows = waiting.pop()
        if node.children:
            home = node.child[records.places[node.attribute][rows]]
            waiting += [(child, rows[home == k]) for k, child in enumerate(node.children)]
        else:
            np.testing.assert_allclose(node.counts, np.bincount(codes[rows], minlength=2), atol=1e-3)


def test_pessimistic_errors_are_c45s():
    # Quinlan's table: no error in 6 cases, and one in 16, at 25 % confidence; exact binomial 0.206 and 0.157
    assert pessimistic_errors(np.array([6.0, 0.0])) / 6 == pytest.approx(0.07, abs=0.01)
    n, f, z = 16, 1 / 16, 0.6744897501960817
    expected = (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    assert pessimistic_errors(np.array([15.0, 1.0])) == pytest.approx(n * expected)
    assert pessimistic_errors(np.array([15.0, -3.0])) == pessimistic_errors(np.array([15.0, 0.0]))


def test_pruning_keeps_what_helps_and_no_more():
    good, bad = Node(np.array([90.0, 10.0])), Node(np.array([5.0, 95.0]))
    kept = Node(np.array([95.0, 105.0]), 0, np.array([0, 1]), (good, bad))
    assert pruned(kept) is not None
    assert pruned(kept).leaves == 2
    useless = Node(np.array([180.0, 20.0]), 0, np.array([0, 1]), (good, good))
    assert pruned(useless).leaves == 1
    both = Node(np.array([275.0, 125.0]), 1, np.array([0, 1]), (useless, kept))
    assert [child.leaves for child in pruned(both).children] == [1, 2]
