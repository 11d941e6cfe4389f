"""Private decision trees, grown from the top by privately selected splits (Friedman and Schuster 2010).

Statistics: class counts of splits. Release: `release_tree`. The pruning of DiffP-C4.5 is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpml._arrays import BoolArray, FloatArray, Int64Array, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.classifiers.crowded_bins import heaviest_of_leaves, warn_of_crowded
from dpml.classifiers.grid.cells import TaxonomyClassifier
from dpml.classifiers.grid.counts import Records, places_of
from dpml.counts import FACTOR
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import statistic
from dpml.mechanisms.source import Source
from dpml.schema import Schema

CRITERIA = ("max", "gini")


@dataclass(frozen=True)
class Node:
    """A node of the tree, with released values only.

    `counts` (C,) are those of a leaf, or the sum of the children's, negative ones as 0. `attribute` splits the node, -1
    for a leaf. `child`: the child of each finest group of that attribute.
    """

    counts: FloatArray
    attribute: int = -1
    child: IntArray = field(default_factory=lambda: np.empty(0, np.intp))
    children: tuple[Node, ...] = ()

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(child.leaves for child in self.children) or 1

    def regions(self, left: dict[int, BoolArray] | None = None) -> Iterator[tuple[dict[int, BoolArray], FloatArray]]:
        """Yield the groups that a path leaves of each attribute that it splits, and the counts of its leaf."""
        left = left or {}
        if not self.children:
            yield left, self.counts
        for k, node in enumerate(self.children):
            yield from node.regions({**left, self.attribute: left.get(self.attribute, True) & (self.child == k)})


def split_range(criterion: str, relation: str = "add-remove") -> float:
    """Return the range of a split's score for the exponential mechanism: the length of the interval of changes.

    A new record is in one child, with a of its class among τ records there. Under add/remove:

    - "max", the records in the largest class of their child, grow by 0 or 1. The range is 1, and the published
      sensitivity of 1 in both directions gives 2.
    - "gini", minus the records of each child times its Gini impurity: with S the sum of the squared class counts, the
      child's term S/τ - τ changes by (2aτ - S - τ²)/(τ(τ+1)). As S >= a² that is at most -(τ-a)²/(τ(τ+1)) <= 0. As
      S <= (τ-a)² + a² it is at least -2(τ-a)²/(τ(τ+1)) > -2. The range is 2, and the published sensitivity of 2 in both
      directions gives 4.

    A replaced record is one removed and one added: twice the range.
    """
    one = {"max": 1.0, "gini": 2.0}[check_choice(criterion, "criterion", CRITERIA)]
    return one * FACTOR[check_relation(relation)]


def split_score(counts: Int64Array, criterion: str) -> FloatArray:
    """Return the scores of splits from the class counts of their children, shape (..., C, children) (`split_range`)."""
    counts = np.asarray(counts, dtype=float)
    if criterion == "max":
        return counts.max(axis=-2).sum(axis=-1)
    sizes = counts.sum(axis=-2)
    return ((counts**2).sum(axis=-2) / np.maximum(sizes, 1.0) - sizes).sum(axis=-1)


def release_tree(
    records: Records,
    epsilon: float,
    *,
    max_depth: int = 5,
    binary_cuts: bool = False,
    criterion: str = "max",
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> Node:
    """Release a decision tree with noisy class counts in its leaves (Friedman and Schuster 2010, Algorithms 2 and 3).

    A node releases its noisy number of records. It becomes a leaf at the largest depth, without attributes, or if that
    number is below √2/ε' for each class and value: then it releases its class counts. Otherwise it selects its split.
    `binary_cuts` split a number in two, at one of the public cut points of its taxonomy, any number of times (C4.5).
    Without them, and for categories, a split has a child for each finest group, and an attribute splits a path once
    (ID3).

    Privacy: ε. Each release has ε' = ε/(2·(max_depth + 1)). The nodes of one depth hold disjoint records, so a record
    spends ε only for the nodes on one path: for a number and a selection at each of at most `max_depth` splits, and for
    a number and class counts in the leaf. A replaced record is on two paths, and all noise is then twice as large.
    """
    depth = check_integer(max_depth, "max_depth", 0)
    grower = _Grower(
        records,
        equal_share(check_epsilon(epsilon), 2 * (depth + 1)),
        check_choice(criterion, "criterion", CRITERIA),
        FACTOR[check_relation(relation)],
        split_range(criterion, relation),
        Source(rng, secure),
        binary_cuts,
    )
    return grower.grown(_everyone(records.exact), grower.whole(), depth)


# what a path has left of each attribute: the first finest group and the one after the last
Left = dict[int, tuple[int, int]]
# an attribute, and a cut of its finest groups, or None for all of them
Split = tuple[int, int | None]


# ---- statistics -----------------------------------------------------------------------------------------------------


@statistic
def _everyone(records: Records) -> IntArray:
    return np.arange(len(records.codes))


@statistic
def _size(members: IntArray) -> FloatArray:
    return np.array([float(len(members))])


@statistic
def _class_counts(records: Records, members: IntArray) -> IntArray:
    return np.bincount(records.codes[members], minlength=records.n_classes)


@statistic
def _divided(records: Records, members: IntArray, attribute: int, child: IntArray) -> tuple[IntArray, ...]:
    """Return the members in each child of a split."""
    home = child[records.places[attribute][members]]
    return tuple(members[home == k] for k in range(int(child[-1]) + 1))


@statistic
def _split_scores(records: Records, members: IntArray, left: Any, binary_cuts: bool, criterion: str) -> FloatArray:
    """Return the score of each split of some records, attribute by attribute; `left` is the items of what is left."""
    scores: list[Any] = []
    codes = records.codes[members].astype(np.int64)
    for j, (first, last) in left:
        size = records.taxonomies[j].sizes[-1]
        counts = np.bincount(codes * size + records.places[j][members], minlength=records.n_classes * size)
        counts = counts.reshape(-1, size)
        if binary_cuts and records.taxonomies[j].numeric:
            below = np.cumsum(counts, axis=1)[:, first : last - 1]
            halves = np.stack([below.T, (counts.sum(axis=1)[:, None] - below).T], axis=-1)
            scores.append(split_score(halves, criterion))
        else:
            scores.append(split_score(counts, criterion)[None])
    return np.concatenate(scores)


# ---- release --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grower:
    records: Records
    epsilon: float
    criterion: str
    factor: int
    change_range: float
    source: Source
    binary_cuts: bool

    def whole(self) -> Left:
        """Return all attributes that can be split."""
        sizes = [taxonomy.sizes[-1] for taxonomy in self.records.taxonomies]
        return {j: (0, size) for j, size in enumerate(sizes) if size > 1}

    def _is_cut(self, attribute: int) -> bool:
        return self.binary_cuts and self.records.taxonomies[attribute].numeric

    def grown(self, members: Any, left: Left, depth: int) -> Node:
        """Return the tree of some records, by their places, which are private."""
        n = float(self.source.counts(_size(members), self.epsilon, self.factor)[0])
        widest = max((2 if self._is_cut(j) else last - first for j, (first, last) in left.items()), default=1)
        if not left or not depth or n / (widest * self.records.n_classes) < math.sqrt(2) / self.epsilon:
            exact = _class_counts(self.records.exact, members)
            return Node(self.source.counts(exact, self.epsilon, self.factor))
        attribute, cut = self._chosen(members, left)
        size = self.records.taxonomies[attribute].sizes[-1]
        child = np.arange(size) if cut is None else (np.arange(size) >= cut).astype(np.intp)
        rest = {j: run for j, run in left.items() if j != attribute}
        children = []
        for k, inside in enumerate(_divided(self.records.exact, members, attribute, child)):
            mine = dict(rest)
            if cut is not None:
                first, last = left[attribute]
                run = (cut, last) if k else (first, cut)
                if run[1] - run[0] > 1:
                    mine[attribute] = run
            children.append(self.grown(inside, dict(sorted(mine.items())), depth - 1))
        counts = np.sum([np.maximum(node.counts, 0.0) for node in children], axis=0)
        return Node(counts, attribute, child, tuple(children))

    def _chosen(self, members: Any, left: Left) -> Split:
        """Choose a split."""
        splits: list[Split] = []
        for j, (first, last) in left.items():
            splits += [(j, cut) for cut in range(first + 1, last)] if self._is_cut(j) else [(j, None)]
        # items, because a statistic searches a dictionary for private values
        scores = _split_scores(self.records.exact, members, left.items(), self.binary_cuts, self.criterion)
        return splits[self.source.choice(scores, self.epsilon, self.change_range)]


# the upper quartile of the normal distribution: C4.5's confidence of 25 %
QUARTILE = 0.6744897501960817


def pessimistic_errors(counts: Any) -> float:
    """Return the upper limit, at 25% confidence, of the errors of a leaf with these class counts (Quinlan 1993)."""
    kept = np.maximum(counts, 0.0)
    n = float(kept.sum())
    if n <= 0:
        return 0.0
    share, z = 1 - float(kept.max()) / n, QUARTILE
    spread = z * math.sqrt(max(share / n - share**2 / n, 0.0) + z**2 / (4 * n**2))
    return n * (share + z**2 / (2 * n) + spread) / (1 + z**2 / n)


def pruned(node: Node) -> Node:
    """Return the tree with each split made a leaf where its leaves together are expected to err no less."""
    return _pruned(node)[0]


def _pruned(node: Node) -> tuple[Node, float]:
    own = pessimistic_errors(node.counts)
    if not node.children:
        return node, own
    below = [_pruned(child) for child in node.children]
    errors = math.fsum(error for _, error in below)
    if errors >= own:
        return Node(node.counts), own
    return Node(node.counts, node.attribute, node.child, tuple(child for child, _ in below)), errors


@claim("diffp-id3", "DiffP-ID3", "[friedman-schuster2010], Algorithm 2 (range derived here)")
@claim("diffp-id3-gini", "DiffP-ID3 by Gini impurity", "[friedman-schuster2010], Algorithm 2 (range derived here)")
@dataclass(eq=False, repr=False, kw_only=True)
class DiffPID3(TaxonomyClassifier):
    """Decision tree with privately selected splits, DiffP-ID3.

    It releases for each node a noisy number of records, and its split or its noisy class counts. A split has a child
    for each finest group of its attribute. An attribute splits a path once.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. Each level of the tree gets an equal part.
    taxonomies : mapping of str to levels, optional
        Levels of some attributes by name, instead of the schema's (`dpml.schema.Feature.levels`). The finest one is
        used.
    max_depth : int, default 5
        Largest number of splits above a leaf, 0 to 100. A deeper tree distinguishes more records, but each level has a
        smaller part of ε.
    criterion : {"max", "gini"}, default "max"
        Score of a split: the records in the largest class of their child, or minus their Gini impurity. The noise on
        "gini" is twice as large.

    Attributes
    ----------
    tree_ : Node
        Root of the tree.
    n_leaves_ : int
        Number of leaves.

    See Also
    --------
    DiffPC45 : Decision tree with cuts of numbers and pruning.
    RandomTrees : Random decision trees, whose splits cost nothing.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided equally among two releases on each of `max_depth` + 1 levels. δ = 0.
    Relation: `relation`. Sensitivity: 1 for counts and the range of a split's score, 1 for "max" and 2 for "gini"
    (add/remove), and twice these values under replace-one.

    `dpml.classifiers.tree.release_tree` has the derivation. The range of a split's score is half of twice the published
    sensitivity. The paper's third score, information gain, has a sensitivity that grows with the number of records and
    is left out.

    References
    ----------
    Friedman and Schuster (2010), Algorithm 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(3000, 4))
    >>> model = DiffPID3(epsilon=1.0, max_depth=2, random_state=0).fit(X, X[:, 0] & X[:, 2])
    >>> model.predict([[1, 0, 1, 0], [1, 1, 0, 1]]).tolist()
    [1, 0]
    """

    _title: ClassVar[str] = "DiffP-ID3"
    _cuts: ClassVar[bool] = False

    max_depth: int = 5
    criterion: str = "max"

    def _check_parameters(self) -> None:
        check_integer(self.max_depth, "max_depth", 0, 100)
        check_choice(self.criterion, "criterion", CRITERIA)

    def _costs(self, schema: Schema) -> dict[str, float]:
        return {self._title: self.epsilon}

    def _release(self, records: Records, table: CheckedTable) -> Node:
        options: dict[str, Any] = {"max_depth": self.max_depth, "criterion": self.criterion}
        return release_tree(
            records, self.epsilon, binary_cuts=self._cuts, relation=table.relation, **options, **table.noise
        )

    def _model(self, tree: Node, table: CheckedTable) -> None:
        self._taxonomies = [feature.taxonomy for feature in table.schema.features]
        self.tree_ = pruned(tree) if self._cuts else tree
        self.n_leaves_ = self.tree_.leaves
        scale = FACTOR[table.relation] / equal_share(self.epsilon, 2 * (self.max_depth + 1))
        warn_of_crowded(heaviest_of_leaves(self._taxonomies, [list(tree.regions())], scale))

    def _probabilities(self, X: Any) -> FloatArray:
        places = places_of(X, self._schema, self._taxonomies)
        probabilities = np.empty((X.shape[0], len(self.classes_)))
        waiting = [(self.tree_, np.arange(X.shape[0]))]
        while waiting:
            node, rows = waiting.pop()
            if node.children:
                child = node.child[places[node.attribute][rows]]
                waiting += [(below, rows[child == k]) for k, below in enumerate(node.children)]
            else:
                least = np.maximum(node.counts, 0.0) + 1.0
                probabilities[rows] = least / least.sum()
        return probabilities


@claim("diffp-c45", "DiffP-C4.5", "[friedman-schuster2010], Algorithm 3 (range derived here)")
@claim("diffp-c45-release", "DiffP-C4.5, release", "[friedman-schuster2010], Algorithm 3 (range derived here)")
@claim("diffp-c45-deep", "DiffP-C4.5 of two splits", "[friedman-schuster2010], Algorithm 3 (range derived here)")
class DiffPC45(DiffPID3):
    """Decision tree with privately selected splits, cuts of numbers and pruning, DiffP-C4.5.

    Unlike in `DiffPID3`, a number is split in two at one of the public cut points of its taxonomy, as often as it is
    selected. The tree is pruned by C4.5's pessimistic error of its noisy counts, which costs nothing.

    See Also
    --------
    DiffPID3 : Decision tree with a child for each value and without pruning.
    RandomTrees : Random decision trees, whose splits cost nothing.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, divided equally among two releases on each of `max_depth` + 1 levels. δ = 0.
    Relation: `relation`. Sensitivity: 1 for counts and the range of a split's score, 1 for "max" and 2 for "gini"
    (add/remove), and twice these values under replace-one.

    `dpml.classifiers.tree.release_tree` has the derivation. The cut points are public here, so an attribute and its cut
    are one selection: the paper's share of ε for cut points is not needed.

    References
    ----------
    Friedman and Schuster (2010), Algorithm 3.

    Examples
    --------
    >>> from dpml.schema import Feature, Schema
    >>> age = np.random.default_rng(0).uniform(0, 80, (4000, 1))
    >>> schema = Schema([Feature("age", "numeric", lower=0, upper=80)])
    >>> model = DiffPC45(epsilon=1.0, max_depth=2, schema=schema, random_state=0).fit(age, age[:, 0] >= 40)
    >>> model.n_leaves_, model.predict([[39], [41]]).tolist()
    (2, [0, 1])
    """

    _title = "DiffP-C4.5"
    _cuts = True
