"""Private logistic regression by output and by objective perturbation (000, Algorithms 6 and 7).

Statistics and release are in `dpml.classifiers._perturbation`: `minimiser`, then `release_output`, or
`release_objective`; `release_weights` is either of them for any number of classes. Model: `linear_models` and the
estimator's attributes, post-processing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Budget, charge
from dpml.classifiers._perturbation import (
    CALIBRATIONS,
    METHODS,
    TOLERANCE,
    check_lambda,
    minimiser,
    objective_noise,
    release_objective,
    release_output,
    release_weights,
)
from dpml.classifiers.models import LinearModels
from dpml.encoding import cut_rows, unit_scale
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema, NoSecureSampler
from dpml.schema import Schema, resolve_schema

__all__ = [
    "LogisticRegression",
    "linear_models",
    "minimiser",
    "objective_noise",
    "release_objective",
    "release_output",
    "release_weights",
    "squared_norm_bound",
]

FloatArray = NDArray[np.float64]


def linear_models(theta: Any, row_bound: int, intercept: bool = True) -> LinearModels:
    """Return released weights as linear models of the unscaled columns. Post-processing.

    Parameters
    ----------
    theta : array of shape (draws, D') or (draws, K, D')
        Weights of ``unit_scale(X, row_bound, intercept=intercept)``; with an intercept its weight is the last.
    row_bound : int
        As given to `unit_scale`.
    intercept : bool

    Returns
    -------
    LinearModels
        Its `accuracy(X, codes)` takes the raw 0/1 table.
    """
    theta = np.asarray(theta, dtype=float)
    weights = (theta[:, None, :] if theta.ndim == 2 else theta) / math.sqrt(row_bound + bool(intercept))
    if intercept:
        return LinearModels(weights[:, :, :-1], weights[:, :, -1])
    return LinearModels(weights, np.zeros(weights.shape[:2]))


def squared_norm_bound(schema: Schema, row_bound: int | None = None) -> int:
    """Return a public bound on a record's squared L2 norm; for binary records it is the row bound.

    A numeric column, scaled to [-1, 1] by its bounds, adds 1; the binary columns together add the row bound.

    Raises
    ------
    InvalidSchema
        If a column is categorical: one-hot columns come first (`dpml.encoding.BinaryEncoding`).
    """
    kinds = [f.kind for f in schema.features]
    if "categorical" in kinds:
        name = schema.features[kinds.index("categorical")].name
        raise InvalidSchema("kind", "categorical", f"binary or numeric; make one-hot columns of {name!r} first")
    binary = kinds.count("binary")
    bounds = [binary, *(b for b in (schema.row_bound, row_bound) if b is not None)]
    return kinds.count("numeric") + min(bounds)


class LogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression with differential privacy, by output or by objective perturbation.

    Released: the weights of one linear classifier (two classes) or of C classifiers, one against the rest each.

    Privacy: ε per fit, for `relation`. Records are scaled into the unit ball by public bounds alone: binary ones by
    1/√(r+1), where r is the row bound and the 1 is the intercept's constant column, which is regularised like any
    other; numeric columns first to [-1, 1] by the schema's bounds. ``method="output"`` adds norm-gamma noise of L2
    sensitivity (Δ + 2τ)/λ to the minimiser, Δ = 1 (add/remove) or 2 (replace-one); ``method="objective"`` adds a
    noisy linear term to the objective, whose gradient has L2 sensitivity Δ, and raises λ where ε asks for it
    (`objective_noise`). With more than two classes each classifier gets ε/C. Not covered: rounding of floating-point
    noise, so there is no ``release=True``. `reg_lambda` and `row_bound` must be chosen without looking at the data.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0.
    method : {"output", "objective"}
        000's Algorithm 6 or 7.
    reg_lambda : float
        λ in [1e-9, 1e12], of the sum of the losses over the scaled records: λ = N·Λ, and 1/λ is scikit-learn's C.
    calibration : {"tight", "published"}
        Noise as small as the proofs allow, or the paper's; both are private.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation for which ε holds; it must be the budget's.
    fit_intercept : bool
        Whether to add the constant column.
    row_bound : int, optional
        Most ones a record keeps, r: a record with more is cut to r of them at random, each record on its own. A
        smaller r means less scaling down, so less noise. None: the schema's row bound.
    tolerance : float
        Norm τ of the gradient at which the solver stops, in [1e-10, 1]; the noise covers it.
    schema : Schema, optional
        Public facts. None: the canonical binary schema, classes (0, 1), row bound D.
    budget : Budget, optional
        Charged ε before anything is computed from the records.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its domain, a label that is no class, or a record with more ones than the
        schema's row bound (it is cut).
    release : bool
        There is no secure sampler of norm-gamma noise: True raises `NoSecureSampler`.
    random_state : int, Generator or None
        Seed of the noise, for study.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    coef_ : ndarray of shape (K, D)
        Released weights of the unscaled columns; K = 1 for two classes, else C.
    intercept_ : ndarray of shape (K,)
        Released intercepts. Without `fit_intercept` it is not 0 only where numeric columns are centred.

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, NoSecureSampler

    Notes
    -----
    Source: 000 Algorithms 6 and 7 and Theorems 4.3.1 and 4.4.1, after Chaudhuri, Monteleoni and Sarwate,
    "Differentially private empirical risk minimization", JMLR 12, 2011. They hold at the exact minimiser; the terms
    in τ and the tight calibration are this project's, derived in `release_objective` and `objective_noise`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> X = (rng.random((1000, 5)) < np.where(y, 0.8, 0.3)[:, None]).astype(int)
    >>> model = LogisticRegression(epsilon=1.0, method="objective", random_state=0).fit(X, y)
    >>> model.predict([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float,
        *,
        method: str = "output",
        reg_lambda: float = 1.0,
        calibration: str = "tight",
        relation: str = "add-remove",
        fit_intercept: bool = True,
        row_bound: int | None = None,
        tolerance: float = TOLERANCE,
        schema: Schema | None = None,
        budget: Budget | None = None,
        on_invalid: str = "raise",
        release: bool = False,
        random_state: Any = None,
    ):
        self.epsilon = epsilon
        self.method = method
        self.reg_lambda = reg_lambda
        self.calibration = calibration
        self.relation = relation
        self.fit_intercept = fit_intercept
        self.row_bound = row_bound
        self.tolerance = tolerance
        self.schema = schema
        self.budget = budget
        self.on_invalid = on_invalid
        self.release = release
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LogisticRegression:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            A DataFrame's columns are looked up in the schema by name. n may be 0.
        y : array of shape (n,)
            Labels among the schema's classes.
        """
        options = self._check_parameters()
        schema = resolve_schema(self.schema, X)
        squared_norm_bound(schema)
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = schema.check_table(X, y, self.on_invalid)
        bound = squared_norm_bound(schema, self.row_bound)
        if self.on_invalid == "raise":
            _check_ones(X, schema)
        charge(self.budget, options["relation"], options["epsilon"], label=f"LogisticRegression, {self.method}")
        slope, shift = _public_scaling(schema)
        rng = as_generator(self.random_state)
        table = _unit_ball(X, schema, bound, slope, shift, bool(self.fit_intercept), rng)
        theta = release_weights(table, codes, schema.n_classes, rng=rng, **options)
        model = linear_models(theta, bound, bool(self.fit_intercept))
        self._schema = schema
        self.classes_ = np.asarray(schema.classes)
        self.n_features_in_ = schema.n_features
        if named:
            self.feature_names_in_ = np.asarray(schema.feature_names, dtype=object)
        self.coef_ = model.coef[0] * slope
        self.intercept_ = model.intercept[0] + model.coef[0] @ shift
        return self

    def _check_parameters(self) -> dict[str, Any]:
        if self.release and self.random_state is not None:
            raise InvalidParameter("random_state", self.random_state, "None with release=True")
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise InvalidParameter("fit_intercept", self.fit_intercept, "True or False")
        if self.row_bound is not None:
            check_integer(self.row_bound, "row_bound", 1)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        as_generator(self.random_state)
        options = {
            "epsilon": check_epsilon(self.epsilon),
            "reg_lambda": check_lambda(self.reg_lambda),
            "method": check_choice(self.method, "method", METHODS),
            "relation": check_relation(self.relation),
            "tolerance": check_number(self.tolerance, "tolerance", 1e-10, 1.0),
            "calibration": check_choice(self.calibration, "calibration", CALIBRATIONS),
        }
        if self.release:
            raise NoSecureSampler("norm-gamma noise has no secure sampler; use release=False for study")
        return options

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores: shape (n,), positive for class 1, with two classes, else one column a class."""
        check_is_fitted(self)
        if isinstance(X, pd.DataFrame):
            missing = [name for name in self._schema.feature_names if name not in X.columns]
            if missing:
                raise InvalidData(f"column {missing[0]!r} is missing: the model was fitted with it")
            X = X[self._schema.feature_names]
        X, _ = self._schema.check_features(X, self.on_invalid)
        scores = np.asarray((X if sparse.issparse(X) else np.asarray(X, dtype=float)) @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes, shape (n, C); with more than two they are scaled to add up to 1."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(log_expit(scores), axis=1)

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _public_scaling(schema: Schema) -> tuple[FloatArray, FloatArray]:
    """Return slope and shift that send each numeric column to [-1, 1] by its public bounds; 1 and 0 for binary ones."""
    slope, shift = np.ones(schema.n_features), np.zeros(schema.n_features)
    for j, f in enumerate(schema.features):
        if f.kind == "numeric" and f.lower is not None and f.upper is not None:
            slope[j] = 2 / (f.upper - f.lower)
            shift[j] = -(f.upper + f.lower) / (f.upper - f.lower)
    return slope, shift


def _binary_part(X: Any, schema: Schema) -> Any:
    if schema.is_binary:
        return X
    return X.to_numpy(dtype=float)[:, [f.kind == "binary" for f in schema.features]]


def _check_ones(X: Any, schema: Schema) -> None:
    most = int(np.asarray(_binary_part(X, schema).sum(axis=1)).max(initial=0))
    if schema.row_bound is not None and most > schema.row_bound:
        raise InvalidData(f"a record has {most} ones: the schema's row_bound is {schema.row_bound}")


def _unit_ball(X, schema: Schema, bound: int, slope, shift, intercept: bool, rng) -> Any:
    """Cut and scale each record by itself and by public facts, so that its norm is at most 1."""
    numeric = [f.kind == "numeric" for f in schema.features]
    if not any(numeric):
        return unit_scale(cut_rows(X, bound, rng=rng), bound, intercept=intercept)
    X = X.to_numpy(dtype=float, copy=True)
    binary = ~np.array(numeric)
    if binary.any():
        X[:, binary] = cut_rows(X[:, binary], bound - sum(numeric), rng=rng)
    return unit_scale(np.clip(X * slope + shift, -1, 1), bound, intercept=intercept)
