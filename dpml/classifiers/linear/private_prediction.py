"""Private prediction by logistic regression: labels are released, never weights (future work in Antonova 2016).

Statistics: exact weights, which stay in the fitted object, and the scores of a query (`margin_scores`,
`vote_scores`). Release: `release_labels`, the exponential mechanism over classes. Each label costs ε.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation
from dpml.classifiers.linear.estimators import public_scaling, squared_norm_bound
from dpml.classifiers.linear.perturbation import TOLERANCE, check_lambda
from dpml.classifiers.linear.solver import minimise
from dpml.classifiers.linear_models import row_scores
from dpml.classifiers.private_prediction import PrivatePrediction
from dpml.counts import FACTOR
from dpml.encoding import unit_scale
from dpml.estimators.base import CheckedTable
from dpml.mechanisms import boundary
from dpml.mechanisms.private import number_of, statistic
from dpml.schema import Schema
from dpml.schema.units import within

METHODS = ("votes", "margin")
VOTE_LAMBDA = 0.1  # a part's own regression needs no protection by λ


def unit_records(X: Any, schema: Schema, row_bound: int | None = None) -> Any:
    """Return records in the unit ball, with a constant column, each scaled by itself and by public metadata.

    Numbers are mapped to [-1, 1] by their bounds, and the whole record is divided by √(r+1), r = `squared_norm_bound`.
    A record that is still longer than 1 is shortened to 1, so that it keeps all its ones. Queries are scaled in the
    same way.
    """
    return _unit_records(X, schema, squared_norm_bound(schema, row_bound))


@statistic
def _unit_records(X: Any, schema: Schema, bound: int) -> Any:
    if not schema.is_binary:
        slope, shift = public_scaling(schema)
        X = within(X.to_numpy(dtype=float) * slope + shift, -1, 1)
    Z = unit_scale(X, bound)
    if sparse.issparse(Z):
        lengths = np.sqrt(np.asarray(Z.multiply(Z).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1 / np.maximum(lengths, 1.0)) @ Z)
    return Z / np.maximum(np.linalg.norm(Z, axis=1), 1.0)[:, None]


@statistic
def minimisers(Z: Any, codes: IntArray, n_classes: int, reg_lambda: float) -> FloatArray:
    """Return the weights of logistic regression, one against the rest: shape (K, D'), K = 1 for two classes."""
    nothing = np.zeros((1, Z.shape[1]))
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.vstack([minimise(Z, np.where(codes == c, 1.0, -1.0), reg_lambda, TOLERANCE, nothing) for c in positive])


def margin_range(reg_lambda: float, n_classes: int = 2, relation: str = "add-remove") -> float:
    """Return the range of the scores of `margin_scores`: the length of the interval of changes by one record.

    Derivation. J(θ) = Σ_i l(s_i θ·z_i) + (λ/2)‖θ‖² is λ-strongly convex, and a record's gradient has a norm of at most
    ‖z‖ <= 1. At the minimiser without a record the gradient of the J with it is the record's own, so the two minimisers
    are at most 1/λ apart, and each computed one is within τ/λ of its own (`minimise`). A query lies in the unit ball:
    its decision value changes by at most R = (1 + 2τ)/λ under add/remove, and by (2 + 2τ)/λ under replace-one. (This is
    uniform stability, as in Dwork and Feldman 2018, section 4.) With two classes the scores are (0, θ·z), so the range
    is R. With more, each decision value changes by at most R in either direction, so the range is 2R.
    """
    change = (FACTOR[check_relation(relation)] + 2 * TOLERANCE) / check_lambda(reg_lambda)
    return change if n_classes == 2 else 2 * change


def default_margin_lambda(epsilon: float, relation: str = "add-remove") -> float:
    """Return the project's public rule for the λ of ``method="margin"``: 5/ε, and 10/ε under replace-one.

    A decision value of 1 then weighs about 5 in the exponent of the mechanism. Tried on adult, mushrooms and SMS.
    """
    return min(5 * FACTOR[check_relation(relation)] / check_epsilon(epsilon), 1e12)


@statistic
def margin_scores(theta: FloatArray, Z: Any) -> FloatArray:
    """Return the score of each class for each query in the unit ball, shape (n, C). Exact: private where θ is."""
    decisions = row_scores(Z, theta)
    return np.column_stack([np.zeros(len(decisions)), decisions]) if len(theta) == 1 else decisions


def default_n_parts(schema: Schema, epsilon: float) -> int:
    """Return the project's public rule for the number of parts K: 10/ε, at least 1, with 20 records or more in a part.

    If all parts agree, the odds of another class are e^(-εK/2): more than 10/ε parts gain little certainty, and each
    learns from fewer records.
    """
    return max(1, min(math.ceil(10 / max(check_epsilon(epsilon), 1e-9)), schema.n_lower // 20))


def vote_range() -> float:
    """Return the range of the votes of `vote_scores`, the length of the interval of changes: 2, under both relations.

    Derivation. Each record is assigned to one of K parts at random, independently of all records. So a record is in one
    part, where adding, removing or replacing it may change anything that this part learns. The part then takes its vote
    from one class and gives it to another: one score falls by 1, one rises by 1, and the others stay. (Subsample and
    aggregate, Dwork and Feldman 2018, section 3. Laplace noise on each count would have a scale of 2/ε too.)
    """
    return 2.0


@statistic
def weights_of_parts(
    Z: Any, codes: IntArray, part: IntArray, n_parts: int, n_classes: int, reg_lambda: float
) -> FloatArray:
    """Return the weights of each part's own logistic regression, shape (parts, K, D'). A part may be empty."""
    mine = [np.flatnonzero(part == k) for k in range(n_parts)]
    return np.stack([minimisers(Z[rows], codes[rows], n_classes, reg_lambda) for rows in mine])


@statistic
def vote_scores(theta: FloatArray, Z: Any) -> FloatArray:
    """Return the number of parts that vote for each class, for each query: shape (n, C). Exact: private where θ is."""
    decisions = row_scores(Z, theta)
    if theta.shape[1] == 1:
        ones = (decisions[:, :, 0] > 0).sum(axis=0)
        return np.column_stack([len(theta) - ones, ones]).astype(float)
    votes = decisions.argmax(axis=2)
    return np.stack([(votes == c).sum(axis=0) for c in range(theta.shape[1])], axis=1).astype(float)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivatePredictionLR(PrivatePrediction):
    """Logistic regression with private prediction, which releases labels and never weights.

    Each label costs ε, so it suits a few predictions. The fitted object has exact weights and is as sensitive as the
    records: it cannot be pickled and has no `predict_proba`.

    Parameters
    ----------
    method : {"votes", "margin"}, default "votes"
        "votes" splits the records at random into `n_parts` parts and counts the votes of their regressions. "margin"
        scores the classes by the decision values of one regularised regression. It is more accurate if ε is so small
        that the parts cannot agree.
    reg_lambda : float, optional
        Regularisation λ in [1e-9, 1e12], for the sum of the losses over the records, or over those of a part. A larger
        λ bounds the effect of a record more tightly and flattens the decision values. By default 0.1 for votes,
        otherwise the value of the public rule `default_margin_lambda`.
    n_parts : int, optional
        Number of parts for ``method="votes"``, at least 1. More parts make a label more certain, but each part learns
        from fewer records. By default the public rule `default_n_parts` decides.
    row_bound : int, optional
        Contribution bound: a record with at most this many ones is in the unit ball, and one with more is shortened. By
        default the public rule `dpml.classifiers.linear.default_linear_row_bound` decides.

    Raises
    ------
    NotPrivate
        If a fitted object is pickled.

    See Also
    --------
    PrivatePredictionNB : Naive Bayes with private prediction.
    LogisticRegression : Logistic regression that releases weights.

    Notes
    -----
    Privacy: ε = `epsilon` for each label, and n·`epsilon` for n labels. δ = 0. Relation: `relation`. Sensitivity: a
    range of the scores of 2 for "votes" (`vote_range`), and of (1 + 2τ)/λ for "margin" with two classes and add/remove
    (`margin_range`), available as `change_range_`.

    `predict` releases one label for each record by the exponential mechanism, also if a record is given again. It
    charges the budget before it draws a label. `fit` releases nothing. With "votes", one record changes the vote of one
    part only.

    References
    ----------
    Dwork and Feldman, "Privacy-preserving prediction", COLT 2018. Antonova (2016), chapter 5, names private prediction
    as future work. Confident aggregation (Papernot et al. 2018, PATE) is left out: its smaller cost depends on the
    votes, so it is as private as they are.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = PrivatePredictionLR(epsilon=0.5, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    method: str = "votes"
    reg_lambda: float | None = None
    n_parts: int | None = None
    row_bound: int | None = None

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        if self.reg_lambda is not None:
            check_lambda(self.reg_lambda)
        for name in ("n_parts", "row_bound"):
            if getattr(self, name) is not None:
                check_integer(getattr(self, name), name, 1)

    def _check_schema(self, schema: Schema) -> Schema:
        squared_norm_bound(schema, self.row_bound)  # refuses categorical columns
        return schema

    def _statistics(self, table: CheckedTable) -> Any:
        schema = table.schema
        Z = unit_records(table.X, schema, self.row_bound)
        self._lambda: float = self.reg_lambda or VOTE_LAMBDA
        if self.method == "margin":
            if self.reg_lambda is None:
                self._lambda = default_margin_lambda(self.epsilon, self.relation)
            return minimisers(Z, table.codes, schema.n_classes, self._lambda)
        parts = default_n_parts(schema, self.epsilon) if self.n_parts is None else self.n_parts
        own = boundary.generator_of_parts(table.rng)
        part = boundary.public_randomness(own, "integers", parts, size=number_of(Z))
        return weights_of_parts(Z, table.codes, part, parts, schema.n_classes, self._lambda)

    def _keep(self, theta: Any, table: CheckedTable) -> None:
        self._theta, self._by_margin, self._bound = theta, self.method == "margin", self.row_bound
        if self._by_margin:
            self.change_range_ = margin_range(self._lambda, table.schema.n_classes, self.relation)
        else:
            self.change_range_ = vote_range()

    def _scores(self, X: Any) -> Any:
        Z = unit_records(X, self._schema, self._bound)
        return margin_scores(self._theta, Z) if self._by_margin else vote_scores(self._theta, Z)
