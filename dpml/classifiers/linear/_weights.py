"""Release of a linear classifier's weights by any method, for any number of classes, and the default regulariser."""

import math
from typing import Any

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_relation
from dpml.budget.shares import equal_share
from dpml.classifiers.linear._losses import LOGISTIC, Logistic, Loss
from dpml.classifiers.linear._perturbation import (
    NORMS,
    TOLERANCE,
    class_signs,
    minimiser,
    release_objective,
    release_output,
)
from dpml.classifiers.linear.descent import check_delta, release_approximate_minima, release_descent
from dpml.classifiers.linear.functional import (
    functional_lambda,
    functional_sensitivity,
    polynomial_minimisers,
    release_coefficients,
    taylor_coefficients,
)
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.noise import gaussian_sigma
from dpml.mechanisms.private import n_columns

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

    `dimension`: D, the number of weights including the intercept. `method`: one of `LogisticRegression`'s. `delta`: δ,
    for *approximate-minima*. `norm`: "l2" or "l1". `n_classes` is C. `sensitivity`: of the functional mechanism.
    `n_nonzero`: S, the most nonzero coordinates of a record. By default D.
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

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, D), or Private
        Records in the unit ball.
    codes : array of shape (n,), or Private
        Classes as 0..C-1.
    n_classes : int
        C >= 2, public.
    epsilon : float
    reg_lambda : float, optional
        Default `default_reg_lambda`.
    method : {"output", "objective", "functional", "approximate-minima", "noisy-descent"}
    delta : float
        For the last two methods.
    relation, tolerance, calibration
        As for `release_output` and `release_objective`.
    norm : {"l2", "l1"}
        For "objective": as for `release_objective`. With "l1" ‖x‖₁ <= 1 and ‖x‖₂² <= 1/`n_nonzero`.
    sensitivity, n_nonzero
        As for `dpml.classifiers.linear.functional.functional_sensitivity`.
    n_iterations, sampling_rate, n_records
        As for `dpml.classifiers.linear.descent.release_descent`.
    loss : Loss
        The functional mechanism is for the logistic loss.
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (draws, K, D)
        K = 1 for two classes, else C.
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
