"""Private prediction: labels are released one at a time, and a model is never released (Dwork and Feldman 2018).

A fit keeps exact statistics: counts of cells (naive Bayes) or weights (logistic regression). Release: `release_labels`,
the exponential mechanism over classes. Each label costs ε.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget import charge
from dpml.claims import claim
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.linear.estimators import public_scaling, squared_norm_bound
from dpml.classifiers.linear.perturbation import TOLERANCE, check_lambda
from dpml.classifiers.linear.solver import minimise
from dpml.classifiers.linear_models import row_scores
from dpml.classifiers.naive_bayes.cells import Design, MixedModels, cell_counts, default_n_bins, log_cells
from dpml.counts import FACTOR, Contingency
from dpml.encoding import unit_scale
from dpml.estimators.base import CheckedTable
from dpml.exceptions import NotPrivate, RelationMismatch, shown
from dpml.mechanisms import ExponentialMechanism, boundary
from dpml.mechanisms.private import number_of, statistic
from dpml.schema import Schema
from dpml.schema.domain import within


def release_labels(
    scores: Any,
    epsilon: float,
    change_range: float,
    *,
    n_queries: int | None = None,
    draws: int = 1,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Release one class for each query by the exponential mechanism, shape (draws, n). Private scores need `n_queries`.

    `change_range` is the length of the interval of changes of a query's scores by one record.

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
        return {}  # a fit releases nothing: each label is charged when it is predicted

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


def default_pseudocount(schema: Schema, epsilon: float, relation: str = "add-remove") -> float:
    """Return the pseudo-count α of the project's public rule: 2D/ε, at least 1 and at most n_lower/C.

    A larger α bounds the change of a score more tightly (the bound falls like D/α), but flattens the scores once α
    exceeds the counts. At 2D/ε a difference of 1 between two log posteriors weighs about 2 in the exponent of the
    mechanism. Under replace-one α doubles, as the range does.
    """
    wanted = 2 * schema.n_features * FACTOR[check_relation(relation)] / check_epsilon(epsilon)
    return max(min(wanted, schema.n_lower / schema.n_classes), 1.0)


def score_range(sizes: tuple[int, ...], pseudocount: float, relation: str = "add-remove") -> float:
    """Return the range of the scores of `label_scores`: the length of the interval of changes by one record.

    Derivation. Let α be the pseudo-count, k_a the cells of attribute a and x a query. The score of class c is

        q(c) = log(n_c + α) + Σ_a [log(m_a + α) - log(n_c + k_a·α)],  m_a the class's records in x's cell of a.

    (The prior's normaliser is the same for all classes and omitted.) Adding a record changes q of its own class only.
    With the decreasing function h(t) = log(1 + 1/t) the change is
    h(n_c + α) + Σ_(a matched) h(m_a + α) - Σ_a h(n_c + k_a·α):

    - It is at most A·h(α) + h(α) - h(α·k), with k the least k_a. To see this, keep only this one of the subtracted
      terms. The difference h(n_c + α) - h(n_c + k·α) decreases in n_c because h is convex.
    - It is at least -Σ_a h(k_a·α), whose absolute value is not larger, because k_a >= 1.

    So one score changes by at most R = A·h(α) + h(α) - h(α·k), and the others do not change: the range is R under
    add/remove. A replacement is one removal and one addition, so the range is 2R under replace-one.
    """
    check_relation(relation)

    def h(t: float) -> float:
        return math.log1p(1 / t)

    alpha = check_number(pseudocount, "pseudocount", 0.0, open_lower=True)
    return FACTOR[relation] * (len(sizes) * h(alpha) + h(alpha) - h(alpha * min(sizes)))


def label_scores(counts: Contingency, design: Design, X: Any, pseudocount: float) -> Any:
    """Return the scores of public queries, shape (n, C) (see `score_range`). Exact: private where counts are."""
    return _label_scores(counts.on, counts.n, design, X, pseudocount)


@statistic
def _label_scores(on: FloatArray, n: FloatArray, design: Design, X: Any, pseudocount: float) -> FloatArray:
    nothing = np.empty((1, len(n), 0))
    log_sizes = np.log(n + pseudocount)[None]
    cells = log_cells(np.reshape(on, (1, len(n), -1)) + pseudocount, design)
    linear = MixedModels(log_sizes, cells, nothing, nothing, nothing, nothing).linear()
    scores = linear.decision(design.matrix(X))[0]
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores


@claim(
    "nb-private-prediction",
    "Private prediction by naive Bayes",
    "derived here ([antonova2016] leaves it as future work)",
    "ε for each label",
)
@dataclass(eq=False, repr=False, kw_only=True)
class PrivatePredictionNB(PrivatePrediction):
    """Naive Bayes with private prediction, which releases labels and never a model.

    Each label costs ε, so it suits a few predictions. The fitted object has exact counts and is as sensitive as the
    records: it cannot be pickled and has no `predict_proba`.

    Parameters
    ----------
    n_bins : int, optional
        Number of bins of each numeric feature, at least 2. By default the public rule
        `dpml.classifiers.naive_bayes.cells.default_n_bins` decides.
    pseudocount : float, optional
        Number α added to each count, above 0. It bounds the effect of a record: larger values need less noise but make
        the classes more alike. By default the public rule `default_pseudocount` decides.

    Raises
    ------
    NotPrivate
        If a fitted object is pickled.

    See Also
    --------
    PrivatePredictionLR : Logistic regression with private prediction.
    BernoulliNB : Naive Bayes that releases a model.

    Notes
    -----
    Privacy: ε = `epsilon` for each label, and n·`epsilon` for n labels. δ = 0. Relation: `relation`. Sensitivity: the
    range of the scores derived in `score_range`, available as `change_range_`.

    `predict` releases one label for each record by the exponential mechanism, also if a record is given again. It
    charges the budget before it draws a label. `fit` releases nothing.

    References
    ----------
    Antonova (2016), chapter 5, names private prediction as future work. The bound is derived here.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = PrivatePredictionNB(epsilon=0.5, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    _takes_any_cell: ClassVar[bool] = True

    n_bins: int | None = None
    pseudocount: float | None = None

    def _statistics(self, table: CheckedTable) -> Contingency:
        n_bins = default_n_bins(table.schema, self.epsilon, self.relation) if self.n_bins is None else self.n_bins
        self._design = Design(table.schema, check_integer(n_bins, "n_bins", 2), binary_cells=True)
        return cell_counts(self._design, table.X, table.codes, (table.schema.n_features, 0))

    def _keep(self, counts: Contingency, table: CheckedTable) -> None:
        alpha = self.pseudocount
        if alpha is None:
            alpha = default_pseudocount(table.schema, self.epsilon, self.relation)
        self.change_range_ = score_range(self._design.sizes, alpha, self.relation)
        self._counts, self._alpha = counts, alpha

    def _scores(self, X: Any) -> Any:
        return label_scores(self._counts, self._design, X, self._alpha)


METHODS = ("votes", "margin")
VOTE_LAMBDA = 0.1  # a part's own regression needs no protection by λ


def unit_records(X: Any, schema: Schema, row_bound: int | None = None) -> Any:
    """Return records or queries in the unit ball, with a constant column, each scaled by itself and by public metadata.

    Numbers are mapped to [-1, 1] by their bounds, and the whole record is divided by √(r+1), r = `squared_norm_bound`.
    A record that is still longer than 1 is shortened to 1, so that it keeps all its ones.
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
    """Return the public rule for the λ of ``method="margin"``, 5/ε: a value of 1 weighs about 5 in the exponent."""
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


@claim(
    "logistic-private-prediction-votes",
    "Private prediction by logistic regression, votes of parts",
    "[dwork-feldman2018] (range derived here)",
    "ε for each label",
    options={"method": "votes"},
)
@claim(
    "logistic-private-prediction-margin",
    "Private prediction by logistic regression, one regression's margin",
    "[dwork-feldman2018] (range derived here)",
    "ε for each label",
    options={"method": "margin"},
)
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
