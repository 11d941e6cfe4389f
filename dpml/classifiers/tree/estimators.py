"""DiffP-ID3 and DiffP-C4.5 as classifiers."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_integer
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.grid.counts import Records, places_of
from dpml.classifiers.grid.fitting import OverTaxonomies
from dpml.classifiers.tree.growth import CRITERIA, Node, release_tree
from dpml.classifiers.tree.pruning import pruned
from dpml.estimators.checks import CheckedTable
from dpml.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class DiffPID3(OverTaxonomies, PrivateClassifier):
    """Decision tree with private choices of its splits, DiffP-ID3 (Friedman and Schuster 2010).

    Released: for each node a noisy number of records, and its split or its noisy class counts. A split has a child for
    each finest group of its attribute. An attribute splits a path once.

    Privacy: ε per fit, for `relation` (see `dpml.classifiers.tree.release_tree`).

    Parameters
    ----------
    max_depth : int
        The most splits above a leaf. Each level has an equal part of ε.
    criterion : {"max", "gini"}
        Records in the largest class of their child, or minus their Gini impurity.
    taxonomies : mapping of str to levels, optional
        Levels of some attributes, instead of the schema's (`dpml.schema.Feature.levels`). The finest one is used.

    Attributes
    ----------
    tree_ : Node
        The root.
    n_leaves_ : int

    Notes
    -----
    Source: Friedman and Schuster 2010, Algorithm 2. A choice has the range of the score's change, which is half of
    twice the published sensitivity. The paper's third score, information gain, has a sensitivity that grows with the
    number of records and is left out.

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
        self.tree_ = self._finished(tree)
        self.n_leaves_ = self.tree_.leaves

    def _finished(self, tree: Node) -> Node:
        return tree

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes, shape (n, C); rows add up to 1."""
        X = self._checked(X)
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

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes, shape (n, C)."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class DiffPC45(DiffPID3):
    """Decision tree with private choices of its splits, cuts of numbers and pruning, DiffP-C4.5.

    As `DiffPID3`, but a number is split in two at one of the public cut points of its taxonomy, as often as it is
    chosen, and the tree is pruned by C4.5's pessimistic error of its noisy counts, which costs nothing.

    Privacy: ε per fit, for `relation` (see `dpml.classifiers.tree.release_tree`).

    Notes
    -----
    Source: Friedman and Schuster 2010, Algorithm 3. The cut points are public here, so an attribute and its cut are one
    choice: the paper's share of ε for cut points is not needed.

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

    def _finished(self, tree: Node) -> Node:
        return pruned(tree)
