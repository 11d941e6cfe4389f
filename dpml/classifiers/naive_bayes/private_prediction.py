"""Private prediction by naive Bayes: labels are released, never a model (future work in Antonova 2016).

Statistics: exact counts of cells, which stay in the fitted object. Release: `release_labels`, the exponential mechanism
over classes. Its score is a log posterior whose sensitivity is bounded by its pseudo-count. Each label costs ε.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_number, check_relation
from dpml.classifiers.naive_bayes.cells import cell_counts, default_n_bins
from dpml.classifiers.naive_bayes.columns import Design
from dpml.classifiers.naive_bayes.mixed_models import MixedModels, log_cells
from dpml.classifiers.private_prediction import PrivatePrediction
from dpml.counts import FACTOR, Contingency
from dpml.estimators.base import CheckedTable
from dpml.mechanisms.private import statistic
from dpml.schema import Schema


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
    """Return the score of each class for each query, shape (n, C) (see `score_range`). Exact: private where counts are.

    The queries X are public.
    """
    return _label_scores(counts.on, counts.n, design, X, pseudocount)


@statistic
def _label_scores(on: FloatArray, n: FloatArray, design: Design, X: Any, pseudocount: float) -> FloatArray:
    nothing = np.empty((1, len(n), 0))
    log_sizes = np.log(n + pseudocount)[None]
    cells = log_cells(np.reshape(on, (1, len(n), -1)) + pseudocount, design)
    linear = MixedModels(log_sizes, cells, nothing, nothing, nothing, nothing).linear()
    scores = linear.decision(design.matrix(X))[0]
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores


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
    MixedNB : Naive Bayes that releases a model, for mixed columns.

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
