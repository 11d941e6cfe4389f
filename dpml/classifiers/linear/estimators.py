"""Logistic regression and linear support vector machines with privacy, by five methods.

Statistics: records in the unit ball, scaled by public bounds (`public_table`). Release: `release_weights`, by any
method and for any number of classes. Model: `linear_models` and the estimators' attributes, post-processing.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, log_expit

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import (
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Cost
from dpml.budget.shares import equal_share
from dpml.claims import claim
from dpml.classifiers._base import PrivateClassifier, ProbabilisticClassifier
from dpml.classifiers.linear.coded import PackedRows
from dpml.classifiers.linear.descent import (
    check_delta,
    default_iterations,
    descent_noise,
    release_approximate_minima,
    release_descent,
)
from dpml.classifiers.linear.functional import (
    SENSITIVITIES,
    functional_lambda,
    functional_sensitivity,
    polynomial_minimisers,
    release_coefficients,
    release_integer_coefficients,
    taylor_coefficients,
)
from dpml.classifiers.linear.perturbation import (
    CALIBRATIONS,
    NORMS,
    TOLERANCE,
    check_lambda,
    class_signs,
    minimiser,
    release_objective,
    release_output,
)
from dpml.classifiers.linear.solver import LOGISTIC, HuberHinge, Logistic, Loss
from dpml.classifiers.linear_models import LinearModels, row_log_softmax, row_scores, row_softmax
from dpml.encoding import cut_rows, share_rows, unit_scale
from dpml.estimators.base import CheckedTable
from dpml.exceptions import InvalidData, InvalidParameter, InvalidSchema
from dpml.mechanisms.noise import gaussian_sigma
from dpml.mechanisms.private import for_study, n_columns, statistic
from dpml.parquet import parts_of
from dpml.schema import Schema
from dpml.schema.domain import within

ALL_METHODS = ("output", "objective", "functional", "approximate-minima", "noisy-descent")
WITH_DELTA = ("approximate-minima", "noisy-descent")
LEAST_LAMBDA = 0.01


def default_reg_lambda(
    epsilon: float,
    dimension: int,
    *,
    method: str = "output",
    delta: float = 1e-5,
    relation: str = "add-remove",
    norm: str = "l2",
    n_classes: int = 2,
    sensitivity: str = "exact",
    n_nonzero: int | None = None,
) -> float:
    """Return the default regulariser λ. A public rule: it uses no data.

    λ is the size of the noise that it must control, times a factor chosen on six real data sets at ε = 0.1 and 1, and
    is at least 0.01. With K classifiers (K = 1 for two classes, else C), ε' = ε/K, δ' = δ/K and
    Δ = 1 under add/remove, 2 under replace-one:

    - *objective*: Δ√D/ε', about the standard deviation of a coordinate of b. With ``norm="l1"`` it is Δ√(2/S)/ε': the
      standard deviation √2·Δ/ε' of a coordinate of b, divided by √S because these records are divided by √S once more.
    - *output*: 2Δ√D/min(ε', √ε').
    - *approximate-minima*: σ/3, with σ of Gaussian noise at (ε', δ') and sensitivity Δ.
    - *functional*: `dpml.classifiers.linear.functional.functional_lambda` with the dimension.
    - *noisy-descent*: 1, because few steps already regularise.

    `dimension`: D, the number of weights including the intercept. `n_classes` is C. `sensitivity`: of the functional
    mechanism. `n_nonzero`: S, the most nonzero coordinates of a record, by default D.
    """
    epsilon, D = check_epsilon(epsilon), check_integer(dimension, "dimension", 1)
    outputs = 1 if check_integer(n_classes, "n_classes", 2) == 2 else n_classes
    own, reach = epsilon / outputs, 1 if check_relation(relation) == "add-remove" else 2
    if check_choice(method, "method", ALL_METHODS) == "objective":
        S = D if n_nonzero is None else check_integer(n_nonzero, "n_nonzero", 1)
        value = reach * math.sqrt(D if check_choice(norm, "norm", NORMS) == "l2" else 2 / S) / own
    elif method == "output":
        value = 2 * reach * math.sqrt(D) / min(own, math.sqrt(own))
    elif method == "approximate-minima":
        value = gaussian_sigma(own, check_delta(delta) / outputs, reach) / 3
    elif method == "functional":
        facts: dict[str, Any] = {"relation": relation, "n_classes": n_classes, "n_nonzero": n_nonzero}
        value = functional_lambda(epsilon, functional_sensitivity(D, sensitivity=sensitivity, **facts), D)
    else:
        value = 1.0
    return min(max(value, LEAST_LAMBDA), 1e12)


def release_weights(
    X: Any,
    codes: Any,
    n_classes: int,
    epsilon: float,
    reg_lambda: float | None = None,
    *,
    method: str = "output",
    delta: float = 1e-5,
    relation: str = "add-remove",
    tolerance: float = TOLERANCE,
    calibration: str = "tight",
    norm: str = "l2",
    sensitivity: str = "exact",
    n_nonzero: int | None = None,
    n_iterations: int | None = None,
    sampling_rate: float = 1.0,
    n_records: int | None = None,
    loss: Loss = LOGISTIC,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release the weights: of one classifier for two classes, else of one classifier against the rest for each class.

    Privacy: ε per draw for `relation`, and δ for the methods that take it. With C > 2 classes a record is used by all C
    classifiers. By output perturbation, objective perturbation and approximate minima each classifier gets ε/C and δ/C.
    The functional mechanism and noisy descent release all classifiers together.

    `X` of shape (n, D), or `Private`: records in the unit ball. `codes` of shape (n,): classes 0..C-1. `reg_lambda`: by
    default `default_reg_lambda`. `method`: one of `LOGISTIC_METHODS`. `delta`: for "approximate-minima" and
    "noisy-descent". `calibration`, `tolerance`, `norm`: as for `release_output` and `release_objective`. With "l1"
    ‖x‖₁ <= 1 and ‖x‖₂² <= 1/`n_nonzero`. `sensitivity`, `n_nonzero`: as for `functional_sensitivity`. `n_iterations`,
    `sampling_rate`, `n_records`: as for `release_descent`. The result has the shape (draws, K, D), with K = 1 for two
    classes, else C.
    """
    n_classes = check_integer(n_classes, "n_classes", 2)
    check_choice(method, "method", ALL_METHODS)
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if reg_lambda is None:
        facts: dict[str, Any] = {"relation": relation, "n_classes": n_classes, "delta": delta}
        facts |= {"sensitivity": sensitivity, "n_nonzero": n_nonzero, "norm": norm}
        reg_lambda = default_reg_lambda(epsilon, n_columns(X), method=method, **facts)
    common: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng}
    if method == "functional":
        if not isinstance(loss, Logistic):
            raise InvalidParameter("method", method, "another: the functional mechanism needs the logistic loss")
        exact = taylor_coefficients(X, codes, n_classes, n_nonzero=n_nonzero)
        noisy = release_coefficients(exact, epsilon, sensitivity=sensitivity, n_nonzero=n_nonzero, **common)
        return polynomial_minimisers(noisy, reg_lambda)
    if method == "noisy-descent":
        steps: dict[str, Any] = {"n_iterations": n_iterations, "sampling_rate": sampling_rate, "n_records": n_records}
        return release_descent(X, codes, n_classes, epsilon, delta, reg_lambda, loss=loss, **steps, **common)
    positives = [1] if n_classes == 2 else list(range(n_classes))
    epsilon, delta = (equal_share(whole, len(positives)) for whole in (epsilon, delta))
    solver: dict[str, Any] = {"tolerance": tolerance, **common}
    weights = []
    for c in positives:
        signs = class_signs(codes, c)
        if method == "output":
            theta = minimiser(X, signs, reg_lambda, tolerance=tolerance, loss=loss)
            weights.append(release_output(theta, epsilon, reg_lambda, calibration=calibration, **solver))
        elif method == "objective":
            noise: dict[str, Any] = {"calibration": calibration, "loss": loss, "norm": norm}
            noise["squared_norm"] = 1 / (n_nonzero or 1) if norm == "l1" else 1.0
            weights.append(release_objective(X, signs, epsilon, reg_lambda, **noise, **solver))
        else:
            weights.append(release_approximate_minima(X, signs, epsilon, delta, reg_lambda, loss=loss, **solver))
    return np.stack(weights, axis=1)


NUMBER_GRID = 1024  # a secure release rounds numbers to multiples of 1/1024


def linear_models(theta: Any, row_bound: int, intercept: bool = True, norm: str = "l2") -> LinearModels:
    """Return released weights as linear models of the unscaled columns. Post-processing.

    `theta` of shape (draws, D') or (draws, K, D'): weights of ``unit_scale(X, row_bound, intercept=intercept)``, the
    intercept's last. `norm`: "l1" if the records were divided by √(row_bound + intercept) once more. The `accuracy` of
    the models takes the unscaled 0/1 table.
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
        remedy = f"dpml.encoding.MixedEncoding encodes {name!r}, and AutoClassifier accepts it"
        raise InvalidSchema("kind", "categorical", f"binary or numeric. {remedy}")
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
        return self._decision(self._checked(X))

    def _decision(self, X: Any) -> FloatArray:
        scores = row_scores(X, self.coef_) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _predicted_codes(self, X: Any) -> Any:
        scores = self._decision(X)
        return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def probabilities(scores: FloatArray) -> FloatArray:
    """Return probabilities from logistic scores, shape (n, C), scaled to add up to 1 where C > 2."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return row_softmax(log_expit(scores))


def log_sigmoids(scores: FloatArray) -> FloatArray:
    """Return log probabilities from logistic scores, shape (n, C), scaled to add up to 1 where C > 2."""
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    return row_log_softmax(log_expit(scores))


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
        self._loss()
        self._options()

    def _no_sampler(self) -> str | None:
        if self.method == "functional":
            return None
        return f"the noise of method {self.method!r} has no secure sampler. Pass release=False for a simulation"

    def _check_schema(self, schema: Schema) -> Schema:
        squared_norm_bound(schema)
        options = self._options()
        if options["sampling_rate"] < 1 and options["method"] == "noisy-descent":  # refuses before the charge
            steps = options["n_iterations"] or default_iterations(options["epsilon"])
            facts = {k: options[k] for k in ("relation", "sampling_rate")}
            outputs = 1 if schema.n_classes == 2 else schema.n_classes
            count = schema.n_rows is None
            descent_noise(options["epsilon"], options["delta"], steps, n_outputs=outputs, count=count, **facts)
        return schema

    def _costs(self, schema: Schema) -> dict[str, Cost]:
        delta = self.delta if self.method in WITH_DELTA else 0.0
        return {f"{type(self).__name__}, {self.method}": {"epsilon": self.epsilon, "delta": delta}}

    # ---- statistics, release and model ------------------------------------------------------------------------------

    def _statistics(self, table: CheckedTable) -> Any:
        """Return the records in the unit ball, or for a release on a grid."""
        bound, intercept = squared_norm_bound(table.schema, self.row_bound), bool(self.fit_intercept)
        share = self.norm == "l1"
        if table.in_batches:
            return packed_table(table.X, table.schema, bound, None if share else table.rng, intercept)
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

    def _options(self) -> dict[str, Any]:
        """Check the parameters, and return those of `release_weights`."""
        given = self.get_params(deep=False)
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
    if schema.row_bound is None or schema.row_bound >= sum(f.kind == "binary" for f in schema.features):
        return
    most = for_study(_most_ones(X, schema), release, "the number of ones of a record")
    if most > schema.row_bound:
        raise InvalidData(f"a record has {most} ones: the schema's row_bound is {schema.row_bound}")


@statistic
def _most_ones(X: Any, schema: Schema) -> int:
    binary, most = np.array([f.kind == "binary" for f in schema.features]), 0
    for part, _ in parts_of(X):
        ones = part if schema.is_binary else _float_columns(part, binary)
        most = max(most, int(np.asarray(ones.sum(axis=1)).max(initial=0)))
    return most


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


def packed_table(X: Any, schema: Schema, bound: int, rng: np.random.Generator | None, intercept: bool) -> Any:
    """Return the records of a table that is read in batches, scaled as by `LinearEstimator._statistics`, as bits.

    In memory a record has a bit for each binary column and a float for each number. The floats of the scaled table are
    those of the same records in memory.
    """
    binary = np.array([f.kind == "binary" for f in schema.features])
    n_ones, root = int(binary.sum()), math.sqrt(bound + intercept)
    most = bound - len(binary) + n_ones
    whole = rng is None or most >= n_ones
    ones, numbers = _gathered(X, binary, whole)
    if rng is not None and not whole:
        ones = _bits(cut_rows(ones, most, rng=rng))
    slope, shift = public_scaling(schema)

    def dense(ones: Any, numbers: FloatArray) -> FloatArray:
        table = ones
        if rng is None and n_ones:
            table = share_rows(ones, most) if most else _no_ones(ones)
        if n_ones < len(binary):
            ones, table = table, np.empty((len(ones), len(binary)))
            table[:, binary], table[:, ~binary] = ones, numbers
            table = within(table * slope + shift, -1, 1)
        table = unit_scale(table, bound, intercept=intercept)
        if rng is None:
            table /= root
        return table

    return _packed(ones, numbers, n_ones, dense)


@statistic
def _packed(*parts: Any) -> PackedRows:
    return PackedRows(*parts)


@statistic
def _bits(ones: Any) -> Any:
    return np.packbits(ones != 0, axis=1)


@statistic
def _gathered(X: Any, binary: BoolArray, packed: bool) -> tuple[Any, FloatArray]:
    """Return all records' zeros and ones, as bits or as bytes, and their numbers."""
    ones, numbers = [], []
    for part, _ in parts_of(X):
        cells = part.to_numpy(dtype=float) if hasattr(part, "to_numpy") else part
        some = cells if binary.all() else cells[:, binary]
        ones.append(_bits(some) if packed else some.astype(np.uint8))
        numbers.append(cells[:, ~binary])
    return np.concatenate(ones), np.concatenate(numbers)


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


LOGISTIC_METHODS = ALL_METHODS
SVC_METHODS = tuple(method for method in ALL_METHODS if method != "functional")


@claim(
    "logistic-output",
    "Logistic regression by output perturbation",
    "[antonova2016], Algorithm 6 (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "output", "calibration": "tight"},
)
@claim(
    "logistic-output-published",
    "Logistic regression by output perturbation, published constants",
    "[antonova2016], Algorithm 6",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "output", "calibration": "published"},
)
@claim(
    "logistic-objective",
    "Logistic regression by objective perturbation",
    "[antonova2016], Algorithm 7 (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "objective", "calibration": "tight"},
)
@claim(
    "logistic-objective-published",
    "Logistic regression by objective perturbation, published constants",
    "[antonova2016], Algorithm 7",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "objective", "calibration": "published"},
)
@claim(
    "logistic-objective-laplace",
    "Logistic regression by objective perturbation with Laplace noise",
    "[antonova2016], Algorithm 7 with a K-norm noise ([awan-slavkovic2021]), derived here",
    "ε for records of L1 norm at most 1",
)
@claim(
    "logistic-approximate-minima",
    "Logistic regression by approximate minima perturbation",
    "[kifer2012] and [iyengar2019] (constants derived here)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "approximate-minima"},
)
@claim(
    "logistic-noisy-descent",
    "Logistic regression by noisy gradient descent",
    "[bassily2014] and [dong2022], Corollary 3.3",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@claim(
    "functional",
    "Functional mechanism",
    "[antonova2016], Appendix B.1 (constants derived here)",
    "ε for records in the unit ball",
    options={"method": "functional"},
)
@claim(
    "functional-improved",
    "Functional mechanism, improved sensitivity",
    "[antonova2016], eq. B.7 (FMsens2)",
    "ε for records in the unit ball",
    cost="less than ε: a third or less, for many columns",
    options={"method": "functional"},
)
@claim(
    "functional-original",
    "Functional mechanism, original sensitivity",
    "[zhang2012] and [antonova2016], eq. B.2",
    "ε for records in the unit ball",
    cost="less than ε: a third or less, for many columns",
    options={"method": "functional"},
)
@claim(
    "functional-fit",
    "Functional mechanism, fitted to columns with public bounds",
    "[antonova2016], Appendix B.1 (constants derived here)",
    options={"method": "functional"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(LinearEstimator, ProbabilisticClassifier):
    """Logistic regression with differential privacy.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers.

    Parameters
    ----------
    release : bool, default False
        Draw the noise of ``method="functional"`` securely, as integers (`dpml.mechanisms.secure`, the extra
        ``release``), which forbids a seed. Numbers are rounded to 1/1024 of their domain's half width. The other
        methods raise `NoSecureSampler`.
    method : {"output", "objective", "functional", "approximate-minima", "noisy-descent"}, default "output"
        Mechanism of the release. "output" adds noise to the minimiser, "objective" to the objective, and "functional"
        to the coefficients of a quadratic approximation. "approximate-minima" and "noisy-descent" use Gaussian noise
        and need δ. Only "functional" has a release.
    sensitivity : {"exact", "improved", "original"}, default "exact"
        Sensitivity of "functional": derived here, FMsens2 of Antonova (2016), or FMsens1. "exact" needs the least
        noise.

    See Also
    --------
    LinearSVC : Linear support vector machine with the same methods.
    PrivatePredictionLR : Logistic regression that releases labels and no weights.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta` for "approximate-minima" and "noisy-descent", otherwise 0. Relation:
    `relation`. Sensitivity: (Δ + 2τ)/λ in L2 norm for the minimiser ("output") and Δ for the gradient ("objective"), Δ
    = 1 under add/remove and 2 under replace-one, and for "functional" the L1 sensitivity that `sensitivity` selects.

    Records are scaled into the unit ball by public bounds alone. Numeric columns are mapped to [-1, 1] by the schema's
    bounds. Then records are divided by √(r+1), where r is the contribution bound plus the number of numeric columns.
    The 1 is for the intercept's constant column. "objective" adds a noisy linear term to the objective and raises λ
    where ε requires it (`objective_noise`). With C > 2 classes each classifier gets ε/C, except with "functional" and
    "noisy-descent", which release all classifiers together.

    The guarantee requires that you choose `reg_lambda` and `row_bound` without looking at the records. Without
    ``release=True`` the proofs do not cover the rounding of floating-point noise. The published theorems hold at the
    exact minimiser. The terms in τ, the tight calibrations and the exact sensitivity are this project's, derived where
    they are computed.

    References
    ----------
    Antonova (2016), Algorithms 6 and 7 and Theorems 4.3.1 and 4.4.1, after Chaudhuri, Monteleoni and Sarwate,
    "Differentially private empirical risk minimization", JMLR 12, 2011. Antonova (2016), Appendix B.1, after Zhang et
    al. (2012), for "functional". The modules of the other methods name their sources.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = LogisticRegression(1.0, method="objective", schema=data.schema, random_state=0)
    >>> bool(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.7)
    True
    """

    _methods = LOGISTIC_METHODS

    sensitivity: str = "exact"

    def _probabilities(self, X: Any) -> FloatArray:
        return probabilities(self._decision(X))

    def _log_probabilities(self, X: Any) -> FloatArray:
        return log_sigmoids(self._decision(X))


@claim(
    "svc-output",
    "Linear support vector machine by output perturbation",
    "[chaudhuri2011] (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "output", "calibration": "tight"},
)
@claim(
    "svc-output-published",
    "Linear support vector machine by output perturbation, published constants",
    "[chaudhuri2011]",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "output", "calibration": "published"},
)
@claim(
    "svc-objective",
    "Linear support vector machine by objective perturbation",
    "[chaudhuri2011] (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "objective", "calibration": "tight"},
)
@claim(
    "svc-objective-published",
    "Linear support vector machine by objective perturbation, published constants",
    "[chaudhuri2011]",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "objective", "calibration": "published"},
)
@claim(
    "svc-objective-laplace",
    "Linear support vector machine by objective perturbation with Laplace noise",
    "[antonova2016], Algorithm 7 with a K-norm noise ([awan-slavkovic2021]), derived here",
    "ε for records of L1 norm at most 1",
)
@claim(
    "svc-approximate-minima",
    "Linear support vector machine by approximate minima perturbation",
    "[kifer2012] and [iyengar2019] (constants derived here)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "approximate-minima"},
)
@claim(
    "svc-noisy-descent",
    "Linear support vector machine by noisy gradient descent",
    "[bassily2014] and [dong2022], Corollary 3.3",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@claim(
    "svc-noisy-descent-clip",
    "Linear support vector machine by noisy gradient descent, invalid input clipped",
    "derived here: a record whose label is no class adds nothing to a gradient, but counts in a public n",
    "(ε, δ), audited at δ = 1e-5",
    relations=("replace-one",),
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearEstimator):
    """Linear support vector machine with differential privacy, by the Huber-smoothed hinge loss.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers. It has no
    `predict_proba`, because the hinge has no probabilities.

    Parameters
    ----------
    release : bool, default False
        No method has a secure sampler, so True raises `NoSecureSampler`.
    method : {"output", "objective", "approximate-minima", "noisy-descent"}, default "output"
        Mechanism of the release. "output" adds noise to the minimiser, "objective" to the objective. The other two use
        Gaussian noise and need δ.
    huber : float, default 0.5
        Half width h of the parabola that replaces the corner of the hinge, in [0.01, 100]. Larger values make the loss
        flatter, which spends less of ε on the determinant in objective perturbation.

    See Also
    --------
    LogisticRegression : Logistic regression with the same methods.
    dpml.tuning.PrivateSearch : Select `reg_lambda` privately.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta` for "approximate-minima" and "noisy-descent", otherwise 0. Relation:
    `relation`. Sensitivity: (Δ + 2τ)/λ in L2 norm for the minimiser ("output") and Δ for the gradient ("objective"), Δ
    = 1 under add/remove and 2 under replace-one.

    The hinge is replaced by a parabola for |1 - z| <= h. Its slope is then at most 1 and its curvature at most c =
    1/(2h) (Chaudhuri, Monteleoni and Sarwate 2011, Corollary 13). The proofs use only these two bounds. In
    `objective_noise` the determinant costs log(1 + c/λ), because the curvature does not vanish where the slope is near
    1. Records are scaled, and ε is divided among C > 2 classes, in the same way as in `LogisticRegression`. The
    guarantee requires that you choose `reg_lambda`, `huber` and `row_bound` without looking at the records. The proofs
    do not cover the rounding of floating-point noise.

    References
    ----------
    Chaudhuri, Monteleoni and Sarwate, "Differentially private empirical risk minimization", JMLR 12, 2011, Corollary
    13. Antonova (2016), Algorithms 6 and 7.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = LinearSVC(1.0, method="objective", schema=data.schema, random_state=0)
    >>> bool(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.7)
    True
    """

    _methods = SVC_METHODS

    huber: float = 0.5

    def _loss(self) -> Loss:
        return HuberHinge(self.huber)
