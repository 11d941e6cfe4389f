"""The default linear classifier: naive Bayes or a support vector machine, by a public rule.

Naive Bayes estimates two numbers for each feature and tolerates much noise. A support vector machine accounts for
correlated attributes and needs more records for each feature. Which is better depends on the number of records, the
number of columns and ε, which are all public (docs/decisions/0019).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from dpml._validate import check_choice
from dpml.budget import Cost
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.linear import LinearSVC, squared_norm_bound
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.classifiers.row_scores import row_log_softmax
from dpml.estimators.base import PrivateEstimator
from dpml.estimators.checks import CheckedTable
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

METHODS = ("auto", "naive-bayes", "objective")
# The support vector machine is better from this many records times ε per column. Columns of one-hot attributes, which
# are correlated, need fewer.
ENOUGH = {"attributes": 12, "features": 200}
# Half-width of the hinge's parabola. It is wide: a flat loss spends less of ε on the determinant (docs/decisions/0019).
HUBER = 1.0
# log odds of one unit of the support vector machine's score
SLOPE = 2.0


def default_linear_method(schema: Schema, epsilon: float) -> str:
    """Return the project's public rule: "objective" where there are enough records for each column, else "naive-bayes".

    The support vector machine is chosen if ε·n_lower is at least 12 per column where all columns are those of one-hot
    attributes, else 200 per column. With C > 2 classes it is C(C - 1)/2 times as much: each of C classifiers gets
    ε/C, and a class has fewer of the records.
    A schema without a stated number of records counts as too small. Numeric columns always mean "objective".
    """
    if not schema.is_binary:
        return "objective"
    whole = sum(map(len, schema.attributes.values())) == schema.n_features
    needed = ENOUGH["attributes" if whole else "features"] * schema.n_features
    pairs = schema.n_classes * (schema.n_classes - 1) // 2
    return "objective" if epsilon * schema.n_lower >= needed * pairs else "naive-bayes"


def default_norm(schema: Schema) -> str:
    """Return the norm in which objective perturbation has less noise: "l1" where 2(r + 1) is less than D + 1."""
    return "l1" if 2 * (squared_norm_bound(schema) + 1) < schema.n_features + 1 else "l2"


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(PrivateClassifier):
    """A private linear classifier whose method a public rule chooses.

    Released: the counts of `BernoulliNB`, or the weights of ``LinearSVC(method="objective")`` with Laplace noise where
    records are sparse.

    Privacy: ε per fit, for `relation`, as for the one model that is fitted (its class has the derivation). The choice
    depends on the schema and ε, never on the records.

    Parameters
    ----------
    method : {"auto", "naive-bayes", "objective"}
        "auto" follows `default_linear_method`. A release uses naive Bayes, whose noise has a secure sampler.

    Attributes
    ----------
    method_ : str
        "naive-bayes" or "objective".
    estimator_ : BernoulliNB or LinearSVC
        The model that was fitted.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("census")
    >>> model = LinearClassifier(1.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> model.method_, bool(model.score(data.X_test, data.y_test) > 0.87)
    ('objective', True)
    """

    method: str = "auto"

    # set by a demonstration run: choose the method that a release would choose, and draw noise for study
    _as_release = False

    # ---- the steps of a fit are those of the chosen model ------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)

    def _check_schema(self, schema: Schema) -> Schema:
        method = self.method
        if method == "auto":
            secure = self.release or self._as_release
            method = "naive-bayes" if secure else default_linear_method(schema, self.epsilon)
        if method == "naive-bayes" and not schema.is_binary:
            raise InvalidParameter("method", "naive-bayes", "'auto' or 'objective' with numeric features")
        options: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(PrivateEstimator)}
        if method == "objective":
            options |= {"method": "objective", "norm": default_norm(schema), "huber": HUBER}
        kind: Any = LinearSVC if method == "objective" else BernoulliNB
        self._chosen, self._chosen_method = kind(**options), method
        self._chosen._check_parameters()
        return self._chosen._check_schema(schema)

    def _no_sampler(self) -> str | None:
        if self.method != "objective":
            return None  # a release takes naive Bayes
        return LinearSVC(self.epsilon, method="objective")._no_sampler()

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        return self._chosen._check_table(X, y, schema)

    def _costs(self, schema: Schema) -> Mapping[str, Cost]:
        return self._chosen._costs(schema)

    def _statistics(self, table: CheckedTable) -> Any:
        return self._chosen._statistics(table)

    def _release(self, statistics: Any, table: CheckedTable) -> Any:
        return self._chosen._release(statistics, table)

    def _model(self, released: Any, table: CheckedTable) -> None:
        self.estimator_, self.method_ = self._chosen, self._chosen_method
        self.estimator_._learned_facts(table.schema, table.named)
        self.estimator_._model(released, table)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores: shape (n,) for two classes, positive for class 1; else (n, C), one column a class."""
        X = self._checked(X)
        if self.method_ == "objective":
            return self.estimator_.decision_function(X)
        # normalised, so that the scores of two records can be compared
        scores = self.estimator_.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        X = self._checked(X)
        return self.estimator_.predict(X)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log probabilities of the classes, shape (n, C).

        Naive Bayes states its own, which are too sure of themselves where attributes repeat each other. A support
        vector machine has none: its score s, which is 1 at the margin, is read as log odds of 2s. They rank records,
        and are not calibrated.
        """
        X = self._checked(X)
        if self.method_ == "naive-bayes":
            return self.estimator_.predict_log_proba(X)
        scores = SLOPE * self.estimator_.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return row_log_softmax(log_expit(scores))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes, shape (n, C); rows add up to 1. See `predict_log_proba`."""
        return np.exp(self.predict_log_proba(X))
