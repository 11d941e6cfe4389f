"""Parts of the linear estimators: scaling into the unit ball, the release of the weights, and decisions."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_expit

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import (
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Cost
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.linear._losses import LOGISTIC, Loss
from dpml.classifiers.linear._perturbation import CALIBRATIONS, NORMS, TOLERANCE, check_lambda
from dpml.classifiers.linear._weights import WITH_DELTA, default_reg_lambda, release_weights
from dpml.classifiers.linear.descent import check_delta, default_iterations, descent_noise
from dpml.classifiers.linear.functional import SENSITIVITIES, polynomial_minimisers, release_integer_coefficients
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.row_scores import row_scores, row_softmax
from dpml.encoding import cut_rows, share_rows, unit_scale
from dpml.estimators.checks import CheckedTable
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema
from dpml.mechanisms.private import for_study, n_columns, statistic
from dpml.schema import Schema
from dpml.schema.units import within

NUMBER_GRID = 1024  # a secure release rounds numbers to multiples of 1/1024


def linear_models(theta: Any, row_bound: int, intercept: bool = True, norm: str = "l2") -> LinearModels:
    """Return released weights as linear models of the unscaled columns. Post-processing.

    Parameters
    ----------
    theta : array of shape (draws, D') or (draws, K, D')
        Weights of ``unit_scale(X, row_bound, intercept=intercept)``. With an intercept its weight is the last.
    row_bound : int
        As given to `unit_scale`.
    intercept : bool
    norm : {"l2", "l1"}
        "l1" if the records were divided by √(row_bound + intercept) once more.

    Returns
    -------
    LinearModels
        Its `accuracy(X, codes)` takes the unscaled 0/1 table.
    """
    theta = np.asarray(theta, dtype=float)
    length = row_bound + bool(intercept)
    weights = (theta[:, None, :] if theta.ndim == 2 else theta) / (length if norm == "l1" else math.sqrt(length))
    if intercept:
        return LinearModels(weights[:, :, :-1], weights[:, :, -1])
    return LinearModels(weights, np.zeros(weights.shape[:2]))


def default_linear_row_bound(schema: Schema) -> int:
    """Return the contribution bound of the project's public rule, the most ones that a record keeps.

    It is the schema's bound on the ones of a record, because all attributes of a one-hot table are useful. If the
    schema allows any number of ones, as with D words, and D > 20, it is √D/3 and at least 3: most texts have few of the
    words, and the noise grows with the bound (docs/decisions/0019).
    """
    binary = sum(f.kind == "binary" for f in schema.features)
    stated = binary if schema.row_bound is None else min(schema.row_bound, binary)
    return stated if stated < binary or binary <= 20 else max(3, round(math.sqrt(binary) / 3))


def squared_norm_bound(schema: Schema, row_bound: int | None = None) -> int:
    """Return a public bound on a record's squared L2 norm. For binary records it is the contribution bound.

    A numeric column, scaled to [-1, 1] by its bounds, adds 1. The binary columns together add the contribution bound,
    which is `default_linear_row_bound` by default.

    Raises `InvalidSchema` if a column is categorical. `dpml.encoding.BinaryEncoding` makes one-hot columns of it.
    """
    kinds = [f.kind for f in schema.features]
    if "categorical" in kinds:
        name = schema.features[kinds.index("categorical")].name
        raise InvalidSchema("kind", "categorical", f"binary or numeric: encode {name!r} as one-hot columns first")
    kept = default_linear_row_bound(schema) if row_bound is None else row_bound
    bounds = [kinds.count("binary"), kept, *([] if schema.row_bound is None else [schema.row_bound])]
    return kinds.count("numeric") + min(bounds)


class LinearDecisions(PrivateClassifier):
    """Base of classifiers that decide by released linear weights.

    Attributes
    ----------
    coef_ : ndarray of shape (K, D)
        Released weights of the unscaled columns, with K = 1 for two classes and K = C for more.
    intercept_ : ndarray of shape (K,)
        Released intercepts. Without `fit_intercept` they are 0 unless numeric columns were centred.
    """

    coef_: FloatArray
    intercept_: FloatArray

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        table = super()._check_table(X, y, schema)
        if not self.release and self.on_invalid == "raise":
            check_ones(table.X, table.schema, self.release)
        return table

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
        scores = row_scores(X, self.coef_) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray:
        """Return the class with the highest score for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,)
            One class label for each record.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def probabilities(scores: FloatArray) -> FloatArray:
    """Return probabilities from logistic scores, shape (n, C), scaled to add up to 1 where C > 2."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return row_softmax(log_expit(scores))


@dataclass(eq=False, repr=False, kw_only=True)
class LinearEstimator(LinearDecisions):
    """Base of `LogisticRegression` and `LinearSVC`: checks of the parameters, and the release of the weights.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy. With C > 2 classes the classifiers share it.
    on_invalid : {"raise", "clip"}, default "raise"
        Action for a value outside its domain, a label that is not a class, or a record with more ones than the schema
        allows (it is cut). A release always clips.
    reg_lambda : float, optional
        Regularisation λ in [1e-9, 1e12], for the sum of the losses over the scaled records: λ = N·Λ, and 1/λ is
        scikit-learn's C. Larger values need less noise but move the weights towards 0. By default the public rule
        `default_reg_lambda` decides. Choose it without looking at the records.
    calibration : {"tight", "published"}, default "tight"
        Noise of "output" and "objective": the least noise that the proofs allow, or that of the paper. Both are
        private, and "tight" is more accurate.
    norm : {"l2", "l1"}, default "l2"
        Norm of the noise of objective perturbation. "l2" is norm-gamma noise. "l1" is Laplace noise with records
        divided by r + 1 instead of √(r+1), so that ‖x‖₁ <= 1. It is smaller if 2(r + 1) < D + 1.
    delta : float, default 1e-05
        Privacy parameter δ, in (0, 1), of "approximate-minima" and "noisy-descent". The other methods neither use nor
        charge it.
    n_iterations : int, optional
        Number of steps of noisy descent. By default the public rule
        `dpml.classifiers.linear.descent.default_iterations` decides.
    sampling_rate : float, default 1.0
        Probability, in (0, 1], that a record is in the sample of a step of noisy descent. Values below 1 need the extra
        ``accounting`` and the relation add/remove.
    fit_intercept : bool, default True
        Add a constant column, which is regularised like any other.
    row_bound : int, optional
        Contribution bound: the most ones that a record keeps. A record with more ones is cut at random, record by
        record. With ``norm="l1"`` it shares the bound among its ones. A smaller bound scales records down less, so the
        noise is relatively smaller. By default the public rule `default_linear_row_bound` decides. Choose it without
        looking at the records.
    tolerance : float, default 1e-8
        Norm τ of the gradient at which the solver stops, in [1e-10, 1]. The noise covers the remaining error.
    """

    _methods: ClassVar[tuple[str, ...]] = ()

    method: str = "output"
    reg_lambda: float | None = None
    calibration: str = "tight"
    norm: str = "l2"
    delta: float = 1e-05
    n_iterations: int | None = None
    sampling_rate: float = 1.0
    fit_intercept: bool = True
    row_bound: int | None = None
    tolerance: float = TOLERANCE

    def _loss(self) -> Loss:
        return LOGISTIC

    # ---- checks -----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        as_generator(self.random_state)
        self._loss()
        self._options()

    def _no_sampler(self) -> str | None:
        if self.method == "functional":
            return None
        return f"the noise of method {self.method!r} has no secure sampler. Pass release=False for a simulation"

    def _check_schema(self, schema: Schema) -> Schema:
        squared_norm_bound(schema)
        options = self._options()
        if options["sampling_rate"] < 1 and options["method"] == "noisy-descent":
            self._descent_noise(schema, options)
        return schema

    def _costs(self, schema: Schema) -> dict[str, Cost]:
        delta = self.delta if self.method in WITH_DELTA else 0.0
        return {f"{type(self).__name__}, {self.method}": {"epsilon": self.epsilon, "delta": delta}}

    # ---- statistics, release and model ------------------------------------------------------------------------------

    def _statistics(self, table: CheckedTable) -> Any:
        """Return the records in the unit ball, or for a release on a grid."""
        bound, intercept = squared_norm_bound(table.schema, self.row_bound), bool(self.fit_intercept)
        share = self.norm == "l1"
        records = public_table(table.X, table.schema, bound, None if share else table.rng)
        records = unit_scale(records, bound, intercept=intercept)
        if self.release:
            grid = 1 if table.schema.is_binary else NUMBER_GRID
            # the factor undoes the scaling of `unit_scale`, which also adds the constant column
            return _whole_numbers(records, math.sqrt(bound + intercept) * grid)
        return _divided(records, math.sqrt(bound + intercept)) if share else records

    def _release(self, records: Any, table: CheckedTable) -> FloatArray:
        schema, options = table.schema, self._options()
        R = squared_norm_bound(schema, self.row_bound) + bool(self.fit_intercept)
        if self.release:
            return _release_securely(records, table.codes, schema, R, options)
        facts: dict[str, Any] = {"n_nonzero": R, "n_records": table.count, "loss": self._loss()}
        return release_weights(records, table.codes, schema.n_classes, rng=table.rng, **facts, **options)

    def _model(self, theta: FloatArray, table: CheckedTable) -> None:
        bound = squared_norm_bound(table.schema, self.row_bound)
        model = linear_models(theta, bound, bool(self.fit_intercept), self.norm)
        self.coef_, self.intercept_ = in_units(model.coef[0], model.intercept[0], table.schema)

    def _descent_noise(self, schema: Schema, options: dict[str, Any]) -> None:
        steps = options["n_iterations"] or default_iterations(options["epsilon"])
        facts = {k: options[k] for k in ("relation", "sampling_rate")}
        outputs = 1 if schema.n_classes == 2 else schema.n_classes
        count = schema.n_rows is None
        descent_noise(options["epsilon"], options["delta"], steps, n_outputs=outputs, count=count, **facts)

    def _options(self) -> dict[str, Any]:
        """Check the parameters, and return those of `release_weights`."""
        given = self.get_params(deep=False)
        if not isinstance(given["fit_intercept"], (bool, np.bool_)):
            raise InvalidParameter("fit_intercept", given["fit_intercept"], "True or False")
        if given["row_bound"] is not None:
            check_integer(given["row_bound"], "row_bound", 1)
        options = {
            "epsilon": check_epsilon(given["epsilon"]),
            "reg_lambda": None if given["reg_lambda"] is None else check_lambda(given["reg_lambda"]),
            "method": check_choice(given["method"], "method", self._methods),
            "delta": check_delta(given["delta"]),
            "relation": check_relation(given["relation"]),
            "tolerance": check_number(given["tolerance"], "tolerance", 1e-10, 1.0),
            "calibration": check_choice(given["calibration"], "calibration", CALIBRATIONS),
            "norm": check_choice(given["norm"], "norm", NORMS),
            "sensitivity": check_choice(given.get("sensitivity", "exact"), "sensitivity", SENSITIVITIES),
            "n_iterations": given["n_iterations"],
            "sampling_rate": check_number(given["sampling_rate"], "sampling_rate", 0.0, 1.0, open_lower=True),
        }
        if options["n_iterations"] is not None:
            check_integer(options["n_iterations"], "n_iterations", 1)
        if options["norm"] == "l1" and options["method"] != "objective":
            raise InvalidParameter("norm", "l1", f"'l2' for method {options['method']!r}")
        return options


def public_scaling(schema: Schema) -> tuple[FloatArray, FloatArray]:
    """Return slope and shift that map numeric columns to [-1, 1] by public bounds, 1 and 0 for binary columns."""
    slope, shift = np.ones(schema.n_features), np.zeros(schema.n_features)
    for j, f in enumerate(schema.features):
        if f.kind == "numeric" and f.lower is not None and f.upper is not None:
            slope[j] = 2 / (f.upper - f.lower)
            # halved, because the sum of two bounds may exceed the largest float
            shift[j] = -(f.upper / 2 + f.lower / 2) / (f.upper / 2 - f.lower / 2)
    return slope, shift


def in_units(coef: FloatArray, intercept: FloatArray, schema: Schema) -> tuple[FloatArray, FloatArray]:
    """Return weights and constants of columns in [-1, 1] as those of columns in their own units, finite."""
    slope, shift = public_scaling(schema)
    most = np.finfo(float).max
    with np.errstate(over="ignore"):
        return within(coef * slope, -most, most), intercept + coef @ shift


def check_ones(X: Any, schema: Schema, release: bool) -> None:
    """Raise `InvalidData`, in a simulation, for a record with more ones than the schema's contribution bound."""
    most = for_study(_most_ones(X, schema), release, "the number of ones of a record")
    if schema.row_bound is not None and most > schema.row_bound:
        raise InvalidData(f"a record has {most} ones: the schema's row_bound is {schema.row_bound}")


@statistic
def _most_ones(X: Any, schema: Schema) -> int:
    ones = X if schema.is_binary else X.to_numpy(dtype=float)[:, [f.kind == "binary" for f in schema.features]]
    return int(np.asarray(ones.sum(axis=1)).max(initial=0))


@statistic
def _divided(records: Any, length: float) -> Any:
    return records / length


def public_table(X: Any, schema: Schema, bound: int, rng: np.random.Generator | None) -> Any:
    """Cut each record to its bound, or share the bound among its ones if `rng` is None, and scale its numbers.

    Each record is treated by itself and by public metadata. Numbers are mapped to [-1, 1]. Sharing bounds the L1 norm
    of a record and keeps all its ones.
    """

    def bounded(ones: Any, most: int) -> Any:
        if rng is not None:
            return cut_rows(ones, most, rng=rng)
        return share_rows(ones, most) if most else _no_ones(ones)

    numeric = [f.kind == "numeric" for f in schema.features]
    if not any(numeric):
        return bounded(X, bound)
    binary = ~np.array(numeric)
    ones = bounded(_float_columns(X, binary), bound - sum(numeric)) if binary.any() else None
    return _scaled(X, ones, binary, *public_scaling(schema))


@statistic
def _no_ones(ones: Any) -> Any:
    return ones * 0


@statistic
def _float_columns(X: pd.DataFrame, columns: BoolArray) -> FloatArray:
    return X.to_numpy(dtype=float)[:, columns]


@statistic
def _scaled(X: pd.DataFrame, ones: Any, binary: BoolArray, slope: FloatArray, shift: FloatArray) -> FloatArray:
    table = np.array(X.to_numpy(dtype=float))
    if ones is not None:
        table[:, binary] = ones
    return within(table * slope + shift, -1, 1)


@statistic
def _whole_numbers(table: Any, factor: float) -> Any:
    if sparse.issparse(table):
        return type(table)((np.rint(table.data * factor), table.indices, table.indptr), shape=table.shape)
    return np.rint(table * factor)


def _release_securely(table: Any, codes: Any, schema: Schema, R: int, options: dict) -> FloatArray:
    """Release the weights of the functional mechanism with integer noise, from records on a grid."""
    grid = 1 if schema.is_binary else NUMBER_GRID
    facts = {"relation": options["relation"], "sensitivity": options["sensitivity"]}
    unit = 1 / math.sqrt(R)
    noisy = release_integer_coefficients(
        table, codes, schema.n_classes, options["epsilon"], unit=unit, n_nonzero=R, grid=grid, **facts
    )
    reg_lambda = options["reg_lambda"]
    if reg_lambda is None:
        facts |= {"n_classes": schema.n_classes, "n_nonzero": R}
        reg_lambda = default_reg_lambda(options["epsilon"], n_columns(table), method="functional", **facts)
    return polynomial_minimisers(noisy, reg_lambda)
