"""Random decision trees: their splits are drawn without reading a record (Jagannathan et al. 2012)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_integer
from dpml.budget import Cost
from dpml.claims import claim
from dpml.classifiers.crowded_bins import heaviest_of_leaves, warn_of_crowded
from dpml.classifiers.grid.cells import TaxonomyClassifier
from dpml.classifiers.grid.counts import Records, places_of
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable, warn
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.schema import Schema, Taxonomy

MOST_DEPTH = 16


@dataclass(frozen=True)
class RandomTree:
    """A complete binary tree of public splits, its nodes in the order of a heap.

    `attribute` (nodes,) splits each node. `right` (nodes, groups): whether a finest group of it goes to the right.
    """

    attribute: IntArray
    right: BoolArray

    def leaves(self, places: Sequence[NDArray]) -> IntArray:
        """Return the leaf of each record, from the finest group of each attribute that it is in."""
        used, of_node = np.unique(self.attribute, return_inverse=True)
        groups = np.stack([places[j] for j in used])
        node, records = np.zeros(groups.shape[1], dtype=np.intp), np.arange(groups.shape[1])
        while node.size and node[0] < len(self.attribute):
            node = 2 * node + 1 + self.right[node, groups[of_node[node], records]]
        return node - len(self.attribute)

    def regions(self) -> Iterator[tuple[dict[int, BoolArray], int]]:
        """Yield the groups that a path leaves of each attribute that it splits, and its leaf."""
        waiting: list[tuple[int, dict[int, BoolArray]]] = [(0, {})]
        while waiting:
            node, left = waiting.pop()
            if node >= len(self.attribute):
                yield left, node - len(self.attribute)
                continue
            j, right = int(self.attribute[node]), self.right[node]
            parts = ({**left, j: left.get(j, True) & ~right}, {**left, j: left.get(j, True) & right})
            # a node without a split has all records on its left
            waiting += [(2 * node + 1 + k, parts[k] if right.any() else left) for k in (0, 1)]


def random_tree(taxonomies: Sequence[Taxonomy], depth: int, rng: np.random.Generator) -> RandomTree:
    """Draw a tree. A node splits an attribute that its path leaves undecided: a number at a cut, others in halves."""
    sizes = [taxonomy.sizes[-1] for taxonomy in taxonomies]
    tree = RandomTree(np.zeros(2**depth - 1, dtype=np.intp), np.zeros((2**depth - 1, max(sizes)), dtype=bool))
    whole = {j: np.arange(size) for j, size in enumerate(sizes) if size > 1}
    waiting = [(0, whole)]
    while waiting:
        node, left = waiting.pop()
        if node >= len(tree.attribute) or not left:
            continue
        j = int(rng.choice(list(left)))
        groups = left[j] if taxonomies[j].numeric else rng.permutation(left[j])
        cut = int(rng.integers(1, len(groups))) if taxonomies[j].numeric else len(groups) // 2
        tree.attribute[node] = j
        tree.right[node, groups[cut:]] = True
        for k, part in enumerate((groups[:cut], groups[cut:])):
            rest = {i: known for i, known in left.items() if i != j}
            waiting.append((2 * node + 1 + k, rest | ({j: np.sort(part)} if len(part) > 1 else {})))
    return tree


@statistic
def leaf_counts(records: Records, trees: Sequence[RandomTree]) -> IntArray:
    """Return the class counts of all leaves, shape (trees, C, leaves)."""
    n_leaves = len(trees[0].attribute) + 1
    cells = (records.codes * n_leaves + tree.leaves(records.places) for tree in trees)
    size = records.n_classes * n_leaves
    return np.array([np.bincount(cell, minlength=size) for cell in cells]).reshape(len(trees), -1, n_leaves)


def default_depth(n_lower: int, epsilon: float, n_trees: int, n_classes: int) -> int:
    """Return the project's public rule for the depth: a mean class count of a leaf is the noise's scale or more."""
    least = n_lower * epsilon / (n_trees * n_classes)
    return min(max(int(math.log2(max(least, 1.0))), 1), MOST_DEPTH)


def leaf_probabilities(counts: FloatArray, scale: float) -> FloatArray:
    """Return class probabilities of leaves, shape (..., m, C, leaves), from noisy counts and their noise's scale.

    A leaf's counts are added to the shares of the classes in all leaves, which weigh as much as the noise's standard
    deviation: a leaf with noise alone gets the shares of all leaves.
    """
    total = np.maximum(counts.sum(axis=(-3, -1), keepdims=True), 1.0)
    kept = np.maximum(counts, 0.0) + math.sqrt(2) * scale * total / total.sum(axis=-2, keepdims=True)
    return kept / kept.sum(axis=-2, keepdims=True)


def mean_probabilities(probabilities: FloatArray, leaves: Sequence[IntArray]) -> FloatArray:
    """Return the means of trees' class probabilities, shape (..., C, n), for records in the given leaves of each."""
    total = probabilities[..., 0, :, :][..., leaves[0]]
    for tree, of_record in enumerate(leaves[1:], 1):
        total += probabilities[..., tree, :, :][..., of_record]
    return total / len(leaves)


@claim("random-trees", "Random decision trees", "[jagannathan2012] (splits in two, noise derived here)")
@claim(
    "random-trees-release", "Random decision trees, release", "[jagannathan2012] (splits in two, noise derived here)"
)
@dataclass(eq=False, repr=False, kw_only=True)
class RandomTrees(TaxonomyClassifier):
    """Random decision trees with noisy class counts in their leaves.

    The splits are drawn from the schema alone, so they reveal nothing about a record and cost nothing. The fit releases
    the noisy class counts of all leaves of all trees.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. The noise on a count has the scale `n_trees`/ε records (add/remove).
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's (`dpml.schema.Feature.levels`). The finest one is
        used.
    n_trees : int, default 10
        Number m of trees, 1 to 1,000. More trees average more splits, but the noise on each count grows with m.
    max_depth : int, optional
        Number of splits above each leaf, 1 to 16. A deeper tree distinguishes more records, but each leaf has fewer. By
        default the public rule `dpml.classifiers.tree.default_depth` decides, which needs the schema's `n_lower`.

    Attributes
    ----------
    trees_ : tuple of RandomTree
        Public splits.
    leaf_counts_ : ndarray of float, shape (m, C, leaves)
        Noisy class counts.
    depth_ : int
        Depth of the trees.

    See Also
    --------
    DiffPID3 : Decision tree with privately selected splits.
    PrivPfCClassifier : Classifier by the cells of a privately selected grid.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: m = `n_trees` in L1 norm for the leaf
    counts under add/remove, and 2m under replace-one.

    Derivation. The trees are the same for two neighbours. A record is in one leaf of each of the m trees, so adding one
    changes m counts by 1 each: L1 sensitivity m, and 2m for a replaced record. Laplace noise of that scale over ε is
    added to every count, also in empty leaves. A record gets the mean of its leaves' probabilities
    (`dpml.classifiers.tree.leaf_probabilities`).

    References
    ----------
    Jagannathan, Pillaipakkamnatt and Wright (2012), whose splits of a category have a child for each value. Here all
    splits are in two: a number at a random public cut, a category in random halves.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(3000, 4))
    >>> schema = Schema.binary(4, n_lower=3000)
    >>> model = RandomTrees(epsilon=1.0, schema=schema, random_state=0).fit(X, X[:, 0] & X[:, 2])
    >>> model.depth_, model.predict([[1, 0, 1, 0], [1, 1, 0, 1]]).tolist()
    (7, [1, 0])
    """

    n_trees: int = 10
    max_depth: int | None = None

    def _check_parameters(self) -> None:
        check_integer(self.n_trees, "n_trees", 1, 1000)
        if self.max_depth is not None:
            check_integer(self.max_depth, "max_depth", 1, MOST_DEPTH)

    def _check_schema(self, schema: Schema) -> Schema:
        if self.max_depth is None and schema.n_lower == 1:
            warn("the schema states no n_lower, so max_depth falls to 1, which costs accuracy: state either")
        return super()._check_schema(schema)

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        return {"random trees": self.epsilon}

    def _statistics(self, table: CheckedTable) -> tuple[Sequence[RandomTree], Any]:
        records, schema = super()._statistics(table), table.schema
        depth = self.max_depth or default_depth(schema.n_lower, self.epsilon, self.n_trees, schema.n_classes)
        splits = np.random.default_rng(int(boundary.public_randomness(table.rng, "integers", 2**63)))
        trees = [random_tree(records.taxonomies, depth, splits) for _ in range(self.n_trees)]
        return trees, leaf_counts(records.exact, trees)

    def _release(self, statistics: Any, table: CheckedTable) -> tuple[Sequence[RandomTree], FloatArray]:
        trees, counts = statistics
        sensitivity = self.n_trees * FACTOR[table.relation]
        return trees, Source(**table.noise).counts(counts, self.epsilon, sensitivity)

    def _model(self, released: Any, table: CheckedTable) -> None:
        trees, self.leaf_counts_ = released
        self.trees_, self.depth_ = tuple(trees), int(math.log2(self.leaf_counts_.shape[-1]))
        self._taxonomies = [feature.taxonomy for feature in table.schema.features]
        scale = self.n_trees * FACTOR[table.relation] / self.epsilon
        self._probabilities_of_leaves = leaf_probabilities(self.leaf_counts_, scale)
        leaves = [
            [(region, counts[:, leaf]) for region, leaf in tree.regions()]
            for tree, counts in zip(trees, self.leaf_counts_, strict=True)
        ]
        warn_of_crowded(heaviest_of_leaves(self._taxonomies, leaves, scale))

    def _probabilities(self, X: Any) -> FloatArray:
        places = places_of(X, self._schema, self._taxonomies)
        return mean_probabilities(self._probabilities_of_leaves, [tree.leaves(places) for tree in self.trees_]).T
