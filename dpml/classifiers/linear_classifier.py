"""Default linear classifier: naive Bayes or a support vector machine, selected by a public rule.

Naive Bayes estimates two numbers for each feature and tolerates much noise. A support vector machine accounts for
correlated attributes and needs more records for each feature. The better method depends on the number of records, the
number of columns and ε, which are all public (docs/decisions/0019).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from dpml._arrays import FloatArray
from dpml._validate import check_choice
from dpml.budget import Cost
from dpml.claims import claim
from dpml.classifiers._base import ProbabilisticClassifier
from dpml.classifiers.linear import LinearSVC, squared_norm_bound
from dpml.classifiers.linear.estimators import log_sigmoids
from dpml.classifiers.naive_bayes import BernoulliNB
from dpml.estimators.base import CheckedTable, PrivateEstimator
from dpml.exceptions import InvalidParameter, NoSecureSampler
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
    """Return the method of the public rule: "objective" with enough records per column, otherwise "naive-bayes".

    The rule selects the support vector machine if ε·n_lower is at least 12 per column and all columns belong to one-hot
    attributes, or at least 200 per column for other tables. With C > 2 classes the limit is C(C - 1)/2 times as large,
    because each of C classifiers gets ε/C and each class has fewer of the records.

    Parameters
    ----------
    schema : Schema
        Public metadata. A schema that states no number of records counts as too small. Numeric columns always give
        "objective".
    epsilon : float
        Privacy parameter ε of one fit.

    Returns
    -------
    {"objective", "naive-bayes"}
        Name of the method.
    """
    if not schema.is_binary:
        return "objective"
    whole = sum(map(len, schema.attributes.values())) == schema.n_features
    needed = ENOUGH["attributes" if whole else "features"] * schema.n_features
    pairs = schema.n_classes * (schema.n_classes - 1) // 2
    return "objective" if epsilon * schema.n_lower >= needed * pairs else "naive-bayes"


def default_norm(schema: Schema) -> str:
    """Return the norm in which objective perturbation has less noise: "l1" if 2(r + 1) is less than D + 1."""
    return "l1" if 2 * (squared_norm_bound(schema) + 1) < schema.n_features + 1 else "l2"


@claim(
    "linear-classifier-auto",
    "Linear classifier by public rules, which also choose the method",
    "derived here: public metadata alone chooses the method",
    options={"method": "auto"},
)
@claim(
    "linear-classifier-naive-bayes",
    "Linear classifier by public rules, naive Bayes",
    "derived here: public metadata alone chooses the method",
    options={"method": "naive-bayes"},
)
@claim(
    "linear-classifier-objective",
    "Linear classifier by public rules, objective perturbation",
    "derived here: public metadata alone chooses the method",
    options={"method": "objective"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(ProbabilisticClassifier):
    """Linear classifier with differential privacy, which selects its method by a public rule.

    Use it for binary columns, such as one-hot attributes or words, if you want weights that you can read. It fits
    `BernoulliNB`, or ``LinearSVC(method="objective")`` with Laplace noise where records are sparse.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. ε also influences the method that "auto" selects.
    method : {"auto", "naive-bayes", "objective"}, default "auto"
        "naive-bayes" tolerates much noise. "objective" is more accurate with many records per column. "auto" decides by
        the number of records, the number of columns and ε. A release with "auto" uses naive Bayes, because its noise
        has a secure sampler.

    Attributes
    ----------
    method_ : {"naive-bayes", "objective"}
        Name of the fitted method.
    estimator_ : BernoulliNB or LinearSVC
        The fitted model.

    See Also
    --------
    AutoClassifier : Default classifier for any schema.
    LinearSVC : Linear support vector machine.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: that of the fitted model, r and 1 in L1
    norm for the counts of `BernoulliNB`, and 1 in L1 or L2 norm for the gradient of `LinearSVC` (twice these values
    under replace-one).

    The selection reads the schema and ε, never the records, so it costs nothing. Probabilities are not calibrated.
    Those of naive Bayes are overconfident if attributes are correlated. The score s of a support vector machine, which
    is 1 at the margin, is interpreted as log odds of 2s.

    `fit` also accepts a `dpml.parquet.ParquetTable`, a table larger than memory. Counts of naive Bayes equal those of
    the same records in memory. For "objective" a record keeps a bit for each binary column and a float for each number.
    Its minimiser then is within 2τ/λ of the one in memory, with τ = 1e-8, as both end within τ/λ of the exact one.

    References
    ----------
    The rule is this project's (docs/decisions/0019).

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("census")
    >>> model = LinearClassifier(1.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> model.method_, bool(model.score(data.X_test, data.y_test) > 0.87)
    ('objective', True)
    """

    _takes_batches: ClassVar[bool] = True

    method: str = "auto"

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)

    def _check_schema(self, schema: Schema) -> Schema:
        method = self.method
        if method == "auto":
            method = "naive-bayes" if self.release else default_linear_method(schema, self.epsilon)
        if self.release and self.method == "auto" and not schema.is_binary:
            raise NoSecureSampler(
                "LinearClassifier has no release with numeric features: naive Bayes, which has secure noise, needs "
                "binary columns. Cut numbers by dpml.encoding.BinaryEncoding, or use AutoClassifier"
            )
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

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores by which records can be ranked.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to score. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            For two classes, one score for each record, which is above 0 for the positive class. For more classes, one
            column for each class.
        """
        X = self._checked(X)
        if self.method_ == "objective":
            return self.estimator_._decision(X)
        # normalised, so that the scores of two records can be compared
        scores = self.estimator_._log_probabilities(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _predicted_codes(self, X: Any) -> Any:
        return self.estimator_._predicted_codes(X)

    def _log_probabilities(self, X: Any) -> FloatArray:
        if self.method_ == "naive-bayes":
            return self.estimator_._log_probabilities(X)
        return log_sigmoids(SLOPE * self.estimator_._decision(X))
