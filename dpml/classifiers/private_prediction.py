"""Private prediction: labels are released one at a time, and a model is never released (Dwork and Feldman 2018).

This module is shared by naive Bayes (`dpml.classifiers.naive_bayes.private_prediction`) and logistic regression
(`dpml.classifiers.linear.private_prediction`). A fit keeps exact statistics, and `predict` releases labels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer
from dpml.budget import charge
from dpml.classifiers._base import PrivateClassifier
from dpml.estimators.base import CheckedTable
from dpml.exceptions import NotPrivate, RelationMismatch, shown
from dpml.mechanisms import ExponentialMechanism
from dpml.mechanisms.private import statistic
from dpml.schema import Schema


def release_labels(
    scores: Any,
    epsilon: float,
    change_range: float,
    *,
    n_queries: int | None = None,
    draws: int = 1,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Release one class for each query by the exponential mechanism, shape (draws, n).

    `change_range` is the range of the scores of a query: the length of the interval of changes that one record can
    cause (`dpml.mechanisms.ExponentialMechanism`). Private scores do not state n, so `n_queries` does.

    Privacy: ε for each label. All n labels of one draw cost n·ε by sequential composition.
    """
    mechanism = ExponentialMechanism(epsilon, change_range)
    draws = check_integer(draws, "draws", 1)
    n = len(scores) if n_queries is None else check_integer(n_queries, "n_queries")
    if not n:
        return np.empty((draws, 0), dtype=np.intp)
    return mechanism.release(_tiled(scores, (draws, 1)), rng=rng, draws=draws * n).reshape(draws, n)


_tiled = statistic(np.tile)


class PrivatePrediction(PrivateClassifier):
    """Base of classifiers whose `predict` releases labels, each at a cost of ε.

    A method keeps its exact statistics in `_keep`, sets `change_range_` there, and defines `_scores`.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one label, finite and above 0. Larger values make a label more often that of the highest
        score. Predicting n records costs n·ε.
    budget : Budget, optional
        Budget that each call of `predict` charges with n·ε. `fit` charges nothing.

    Attributes
    ----------
    change_range_ : float
        Range of the scores of a query, a public number: the length of the interval of changes by one record.
    """

    change_range_: float

    def _no_sampler(self) -> str:
        return "labels by the exponential mechanism have no secure sampler. Pass release=False"

    def _costs(self, schema: Schema) -> dict[str, float]:
        return {}  # a fit releases nothing: each label is paid when it is predicted

    def _model(self, statistics: Any, table: CheckedTable) -> None:
        self._keep(statistics, table)
        self._relation, self._rng = self.relation, table.rng

    def _keep(self, statistics: Any, table: CheckedTable) -> None:
        """Keep the exact statistics, for labels that are released later, and set `change_range_`."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Any:
        """Return the score of each class for each checked record, shape (n, C). Exact: private."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray:
        """Release the class of each record, at a cost of ε each.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,)
            One class label for each record, drawn with noise. A record that is given twice is charged twice.

        Raises
        ------
        RelationMismatch
            If `relation` has changed since `fit`.
        BudgetExceeded
            If the budget has less than n·ε left.
        """
        X = self._checked(X)
        if self.relation != self._relation:
            # the range of the scores was computed for the other relation
            raise RelationMismatch(f"relation = {shown(self.relation)}: the model was fitted for {self._relation!r}")
        epsilon = check_epsilon(self.epsilon)
        n = X.shape[0]
        if not n:
            return self.classes_[:0]
        scores = self._scores(X)
        charge(self.budget, self.relation, n * epsilon, label=f"{type(self).__name__}, {n} labels")
        labels = release_labels(scores, epsilon, self.change_range_, n_queries=n, rng=self._rng)
        return self.classes_[labels[0]]

    def __getstate__(self) -> dict:
        if "_relation" in self.__dict__:
            name = type(self).__name__
            raise NotPrivate(f"a fitted {name} holds exact statistics of private records: it cannot be pickled")
        return super().__getstate__()
