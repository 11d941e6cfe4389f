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
from dpml.estimators.base import CheckedTable
from dpml.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class DiffPID3(OverTaxonomies, PrivateClassifier):
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
    PrivPfCClassifier : Classifier by the cells of a privately selected grid.

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
        self.tree_ = self._finished(tree)
        self.n_leaves_ = self.tree_.leaves

    def _finished(self, tree: Node) -> Node:
        return tree

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities, classes in the order of `classes_`. Each row adds up to 1.
        """
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
        """Return the log probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Natural logarithms of the probabilities, classes in the order of `classes_`.
        """
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,)
            One class label for each record.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


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

    def _finished(self, tree: Node) -> Node:
        return pruned(tree)
