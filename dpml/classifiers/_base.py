"""Base classes of the classifiers: checks against the schema, prediction, and no exact score of a release."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpml._arrays import FloatArray
from dpml.classifiers.linear_models import row_log_softmax
from dpml.encoding import accept_any_cell
from dpml.estimators.base import PrivateEstimator, exact_accuracy, has_exact_score
from dpml.exceptions import InvalidParameter
from dpml.parquet import BatchedTable
from dpml.schema import Schema


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Base of private classifiers. Tables are checked against the schema, and a released model has no exact score.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        Class labels in the order of the schema, whether or not the records contain them.
    """

    classes_: NDArray
    # True if a schema may state categorical features, and so texts
    _takes_any_cell: ClassVar[bool] = False

    def _learned_facts(self, schema: Schema, named: bool) -> None:
        super()._learned_facts(schema, named)
        self.classes_ = schema.class_labels

    def _checked(self, X: Any) -> Any:
        """Return a table in the order of the columns that the model was fitted with."""
        check_is_fitted(self)
        if isinstance(X, BatchedTable):
            allowed = "a table in memory. Predict for one part of the records after the other"
            raise InvalidParameter("X", type(X).__name__, allowed)
        X = self._ordered(X, self._schema)
        return self._schema.check_features(X, "clip" if self.release else self.on_invalid)[0]

    def _predicted_codes(self, X: Any) -> Any:
        """Return the place of the class of each record of a checked table."""
        raise NotImplementedError

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
        codes = self._predicted_codes(self._checked(X))
        return self.classes_[codes]

    @available_if(has_exact_score)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on records, which is exact and so absent from a release (``release=True``).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify.
        y : array of shape (n,)
            Their labels.
        sample_weight : array of shape (n,), optional
            Weight of each record. By default all records have the same weight.

        Returns
        -------
        float
            Share of records that are classified correctly, in [0, 1].
        """
        return exact_accuracy(self, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return accept_any_cell(tags) if self._takes_any_cell else tags


class ProbabilisticClassifier(PrivateClassifier):
    """Base of classifiers with probabilities. A subclass defines `_log_probabilities` for a checked table."""

    def _log_probabilities(self, X: Any) -> FloatArray:
        raise NotImplementedError

    def _probabilities(self, X: Any) -> FloatArray:
        return np.exp(self._log_probabilities(X))

    def _predicted_codes(self, X: Any) -> Any:
        return self._log_probabilities(X).argmax(axis=1)

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
        return self._log_probabilities(self._checked(X))

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
        return self._probabilities(self._checked(X))


class NaiveBayes(ProbabilisticClassifier):
    """Base of the naive Bayes models. A subclass defines `_joint_log_likelihood` for a checked table."""

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        raise NotImplementedError

    def _log_probabilities(self, X: Any) -> FloatArray:
        return row_log_softmax(self._joint_log_likelihood(X))

    def _predicted_codes(self, X: Any) -> Any:
        return self._joint_log_likelihood(X).argmax(axis=1)
