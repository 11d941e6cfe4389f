"""Linear classifiers by private local search: PrivLocal (Su et al. 2018) and PrivGene (Zhang et al. 2013).

Statistics and release are in `dpml.classifiers.local_search.search`: `Records`, then `release_local_search` or
`release_genetic_search`. Model: the released weights, post-processing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from dpml._arrays import FloatArray, IntArray
from dpml._validate import check_choice, check_integer, check_number
from dpml.claims import claim
from dpml.classifiers.linear.estimators import (
    LinearDecisions,
    in_units,
    probabilities,
    public_table,
    squared_norm_bound,
)
from dpml.classifiers.local_search.search import (
    CALIBRATIONS,
    FIRST_STEP,
    LOSSES,
    Records,
    default_decay,
    default_iterations,
    epsilon_share,
    release_genetic_search,
    release_local_search,
)
from dpml.estimators.base import CheckedTable
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.private import statistic
from dpml.schema import Schema


def _is_logistic(model: Any) -> bool:
    if model.loss != "logistic":
        raise AttributeError("predict_proba needs loss='logistic': a hinge has no probabilities")
    return True


@statistic
def _signs(codes: IntArray, positive: int) -> FloatArray:
    """Return 1 for the records of a class and -1 for the others."""
    return np.where(codes == positive, 1.0, -1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class _PrivateSearch(LinearDecisions):
    """Base of the two searches: checks of the parameters, and one-against-the-rest classification.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. All selections of the search share it.
    release : bool, default False
        Draw secure noise by permute-and-flip (the extra ``release``), which forbids `random_state`. It needs
        ``calibration="range"``.
    loss : {"logistic", "hinge"}, default "logistic"
        Loss function of the classifier. Only "logistic" has `predict_proba`.
    calibration : {"range", "published"}, default "range"
        "range" scales the noise by the range of the score. "published" is the paper's exponential mechanism, scaled by
        the sensitivity of the objective. Both are private, and "range" adds less noise.
    n_iterations : int, optional
        Number T of iterations. More iterations come closer to the optimum, but each gets a smaller part of ε. By
        default the public rule `default_iterations` decides by ε, the schema's `n_lower`, and the number of weights and
        of selections.
    step : float, optional
        First step s by which a weight changes, in (0, 10], for 0/1 columns and numbers in [-1, 1]. By default 2. Su et
        al. (2018) use 0.5 for PrivLocal.
    decay : float, optional
        Factor of s from one iteration to the next, in (0, 1]. By default `default_decay` decides, by which T iterations
        reduce s from 2 to 0.2. Su et al. (2018) use 0.95 for PrivLocal.
    fit_intercept : bool, default True
        Add a constant column.
    row_bound : int, optional
        Contribution bound: the most ones that a record keeps. Other ones are cut at random, record by record. A smaller
        bound means less noise, but loses more of each record. By default the schema's bound is used.

    Attributes
    ----------
    coef_ : ndarray of shape (K, D)
        Released weights of the unscaled columns, with K = 1 for two classes and K = C for more.
    intercept_ : ndarray of shape (K,)
        Released intercepts.
    n_iterations_ : int
        Number T of iterations of the fit.
    """

    loss: str = "logistic"
    calibration: str = "range"
    n_iterations: int | None = None
    step: float | None = None
    decay: float | None = None
    fit_intercept: bool = True
    row_bound: int | None = None

    def _search(self, records: Records, epsilon: float, n_lower: int, noise: dict[str, Any]) -> FloatArray:
        raise NotImplementedError

    # ---- checks -----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice(self.loss, "loss", LOSSES)
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise InvalidParameter("fit_intercept", self.fit_intercept, "True or False")
        if self.row_bound is not None:
            check_integer(self.row_bound, "row_bound", 1)
        if self.n_iterations is not None:
            check_integer(self.n_iterations, "n_iterations", 1)
        if self.step is not None:
            check_number(self.step, "step", 0.0, 10.0, open_lower=True)
        if self.decay is not None:
            check_number(self.decay, "decay", 0.0, 1.0, open_lower=True)

    def _no_sampler(self) -> str | None:
        if self.calibration != "published":
            return None
        return "calibration='published' has no secure sampler here. Pass calibration='range'"

    def _check_schema(self, schema: Schema) -> Schema:
        squared_norm_bound(schema)  # raises an error that names a categorical column
        return schema

    def _costs(self, schema: Schema) -> dict[str, float]:
        return {f"{type(self).__name__}, {self.loss}": self.epsilon}

    # ---- statistics, release and model ------------------------------------------------------------------------------

    def _statistics(self, table: CheckedTable) -> list[Records]:
        """Return the records with the signs of each classifier: one for two classes, else one a class."""
        schema, C = table.schema, table.schema.n_classes
        numeric = np.array([f.kind == "numeric" for f in schema.features])
        bounds = [int((~numeric).sum()), schema.row_bound, self.row_bound]
        n_ones = min(b for b in bounds if b is not None)
        X = public_table(table.X, schema, n_ones + int(numeric.sum()), table.rng)
        signs = [_signs(table.codes, positive) for positive in ((1,) if C == 2 else range(C))]
        return [Records(X, each, n_ones, numeric, bool(self.fit_intercept)) for each in signs]

    def _release(self, statistics: list[Records], table: CheckedTable) -> FloatArray:
        share = epsilon_share(float(self.epsilon), len(statistics))
        return np.array([self._search(records, share, table.schema.n_lower, table.noise)[0] for records in statistics])

    def _model(self, weights: FloatArray, table: CheckedTable) -> None:
        coef, constant = (weights[:, :-1], weights[:, -1]) if self.fit_intercept else (weights, np.zeros(len(weights)))
        self.coef_, self.intercept_ = in_units(coef, constant, table.schema)

    def _plan(self, epsilon: float, n_lower: int, dimension: int, n_selected: int = 1) -> dict[str, Any]:
        """Return the settings of the search: the parameters, or public rules where they are None."""
        rule: dict[str, Any] = {"relation": self.relation, "n_selected": n_selected}
        T = self.n_iterations
        T = default_iterations(epsilon, n_lower, dimension, **rule) if T is None else int(T)
        self.n_iterations_ = T
        return {
            "n_iterations": T,
            "step": FIRST_STEP if self.step is None else self.step,
            "decay": default_decay(T) if self.decay is None else self.decay,
            "loss": self.loss,
            "calibration": self.calibration,
            "relation": self.relation,
        }

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each record (``loss="logistic"`` only).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities, classes in the order of `classes_`. With more than two classes they are scaled to add up to
            1.
        """
        return probabilities(self.decision_function(X))


@claim(
    "priv-local", "Private local search", "[su2018], Algorithm 1 (range derived here)", options={"calibration": "range"}
)
@claim(
    "priv-local-published",
    "Private local search, published sensitivity",
    "[su2018], Algorithm 1",
    cost="less than ε",
    options={"calibration": "published"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class PrivLocal(_PrivateSearch):
    """Linear classifier by private local search.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers. Each
    iteration changes one weight by ± s or none, and s shrinks.

    Parameters
    ----------
    stay : bool, default True
        Include the current weights among the candidates. Su et al. (2018) use False.

    See Also
    --------
    PrivGene : Linear classifier by a private genetic search.
    LogisticRegression : Logistic regression by perturbation.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: the exact range of the candidates' scores
    at the current weights (`neighbourhood_range`), at most 2s under add/remove, and twice that under replace-one.

    With C > 2 classes each classifier gets ε/C, which its T iterations share equally. The noise is scaled by the range,
    so it shrinks with the step. Numbers are scaled to [-1, 1] by the schema's bounds, and a record keeps at most
    `row_bound` ones. The candidates of an iteration depend only on earlier selections. By adaptive composition each
    iteration may therefore use the exact range at the current weights.

    References
    ----------
    Su et al. (2018), section 3.4, Algorithm 1. Permute-and-flip: McKenna and Sheldon (2020). The range, `stay` and the
    rules are this project's.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = PrivLocal(epsilon=5.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    stay: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.stay, (bool, np.bool_)):
            raise InvalidParameter("stay", self.stay, "True or False")

    def _search(self, records: Records, epsilon: float, n_lower: int, noise: dict[str, Any]) -> FloatArray:
        plan = self._plan(epsilon, n_lower, records.dimension)
        return release_local_search(records, epsilon, stay=bool(self.stay), **plan, **noise)


@claim(
    "priv-gene",
    "Private genetic search",
    "[zhang2013], as described in [su2018], section 3.4 (range derived here)",
    options={"calibration": "range"},
)
@claim(
    "priv-gene-published",
    "Private genetic search, published sensitivity",
    "[zhang2013], as described in [su2018], section 3.4",
    cost="less than ε",
    options={"calibration": "published"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class PrivGene(_PrivateSearch):
    """Linear classifier by a private genetic search.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers. Each
    iteration keeps a few of many candidates and makes the next ones from them by crossover and mutation.

    Parameters
    ----------
    n_candidates : int, default 100
        Number m of candidates in each iteration.
    n_selected : int, default 2
        Number of candidates kept in each iteration except the last, at most m. Each selection costs a part of ε.

    See Also
    --------
    PrivLocal : Linear classifier by private local search.
    LogisticRegression : Logistic regression by perturbation.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: `relation`. Sensitivity: a bound on the range of the candidates'
    scores, which depends on the distances between candidates (`candidate_range`).

    With C > 2 classes each classifier gets ε/C, which its (T-1)·`n_selected` + 1 selections share equally. The first
    candidates, one-point crossover and the rules for T are this project's decisions. The calibration has the aim of the
    paper's enhanced exponential mechanism. `candidate_range` has its proof.

    References
    ----------
    Zhang, Xiao, Yang, Zhang and Winslett, "PrivGene", SIGMOD 2013, written from the description in Su et al. (2018),
    section 3.4: candidates, private selection of a few, crossover and mutation.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = PrivGene(epsilon=5.0, schema=data.schema, random_state=0).fit(data.X_train, data.y_train)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    n_candidates: int = 100
    n_selected: int = 2

    def _check_parameters(self) -> None:
        super()._check_parameters()
        m = check_integer(self.n_candidates, "n_candidates", 1)
        check_integer(self.n_selected, "n_selected", 1, m)

    def _search(self, records: Records, epsilon: float, n_lower: int, noise: dict[str, Any]) -> FloatArray:
        plan = self._plan(epsilon, n_lower, records.dimension, self.n_selected)
        sizes: dict[str, Any] = {"n_candidates": self.n_candidates, "n_selected": self.n_selected}
        return release_genetic_search(records, epsilon, **sizes, **plan, **noise)
