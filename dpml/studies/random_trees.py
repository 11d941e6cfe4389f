"""A study of random decision trees: the counts of a set of trees are computed once, their noise is drawn many times."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.classifiers.grid.counts import Records, places_of
from dpml.classifiers.tree import random_trees
from dpml.counts import FACTOR
from dpml.datasets import Dataset
from dpml.mechanisms.source import Source
from dpml.studies.automatic import raw_table


class RandomTreesStudy:
    """Simulate `dpml.classifiers.RandomTrees` on one data set at any ε.

    The draws are divided among a stated number of sets of trees, and their spread includes that of both. Draws of one
    set are not independent. For a standard error, use as many sets as draws.

    Parameters
    ----------
    dataset : Dataset
        Training records give the exact statistics, test records give the accuracy.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    n_trees : int, default=10
        Number of trees of one model, from 1 to 1000.

    See Also
    --------
    AutoStudy : Study of the default classifier.
    dpml.classifiers.RandomTrees : The classifier.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> result = RandomTreesStudy(load("census", n=4000))(1.0, draws=4, rng=np.random.default_rng(0))
    >>> result["accuracy"].shape, bool(result["accuracy"].mean() > 0.7)
    ((4,), True)
    """

    def __init__(self, dataset: Dataset, *, relation: str = "add-remove", n_trees: int = 10):
        self.relation, self.n_trees = check_relation(relation), check_integer(n_trees, "n_trees", 1, 1000)
        self.schema, train, test = raw_table(dataset)
        taxonomies = tuple(feature.taxonomy for feature in self.schema.features)
        places, self._test = (
            places_of(self.schema.check_features(part)[0], self.schema, taxonomies) for part in (train, test)
        )
        self._records = Records(places, dataset.y_train, self.schema.n_classes, taxonomies)
        self.y_test = dataset.y_test

    def __call__(
        self, epsilon: float, *, draws: int, rng: np.random.Generator, auc: bool = False, sets: int = 5
    ) -> dict[str, NDArray[np.float64]]:
        """Return test accuracies of shape (draws,), with ``auc=True`` the AUCs (two classes) as well."""
        epsilon, rng = check_epsilon(epsilon), check_rng(rng)
        parts = np.array_split(np.arange(check_integer(draws, "draws", 1)), check_integer(sets, "sets", 1))
        rows = [row for part in parts if len(part) for row in self._drawn(epsilon, len(part), rng, auc)]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _drawn(self, epsilon: float, draws: int, rng: np.random.Generator, auc: bool) -> list[dict[str, Any]]:
        """Return what draws of the noise measure, on one set of trees."""
        depth = random_trees.default_depth(self.schema.n_lower, epsilon, self.n_trees, self.schema.n_classes)
        trees = [random_trees.random_tree(self._records.taxonomies, depth, rng) for _ in range(self.n_trees)]
        sensitivity = self.n_trees * FACTOR[self.relation]
        exact = random_trees.leaf_counts(self._records, trees)
        noisy = Source(rng).counts(exact, epsilon, sensitivity, draws=draws)
        leaves = [tree.leaves(self._test) for tree in trees]
        of_leaves = random_trees.leaf_probabilities(noisy, sensitivity / epsilon)
        return [self._measured(random_trees.mean_probabilities(one, leaves), auc) for one in of_leaves]

    def _measured(self, probabilities: NDArray[np.float64], auc: bool) -> dict[str, Any]:
        from sklearn.metrics import roc_auc_score

        row = {"accuracy": float((probabilities.argmax(axis=0) == self.y_test).mean())}
        if auc:
            both = len(probabilities) == 2 and np.ptp(self.y_test) > 0
            row["auc"] = float(roc_auc_score(self.y_test, probabilities[1])) if both else np.nan
        return row
