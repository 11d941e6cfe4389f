"""Regulariser λ of importance weights: by a public rule, or selected with a part of ε.

λ trades bias for variance. Both rules minimise the expected squared error of the features' weighted means, from the
noise and sampling variance of β (Ji and Elkan 2013, Theorem 2, with the noise that is really added) and from the bias
of the limit (their Theorem 3). They differ in the stand-in for the private table.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from dpml.classifiers.linear.solver import minimise
from dpml.publishing.weights.density_ratio import TOLERANCE, _Balanced
from dpml.publishing.weights.features import RatioFeatures
from dpml.publishing.weights.moments import moment_minimiser
from dpml.publishing.weights.variance import noise_variance

FloatArray = NDArray[np.float64]

LAMBDAS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-16, 5))  # 0.0001 to 10
CHOICES = LAMBDAS[4:17:2]  # 0.001 to 1, for a choice that solves the regression at each
PRIOR = 1.0  # standard deviation of a coefficient of the log ratio, in the public rule


def public_reg_lambda(
    X_public: Any, features: RatioFeatures, epsilon: float, n_private: int, method: str, calibration: str = "tight"
) -> float:
    """Return λ by a rule that sees no private record.

    Suppose that the ratio is e^(β·x) with independent coefficients of variance `PRIOR`². Let C be the covariance of the
    features in the public table and H the Hessian of the loss at β = 0: C for moments, about ½·E[xx'] for the balanced
    loss. To first order a regulariser λ leaves out λ(H + λI)⁻¹β of β, and the features' means change by C times a
    change of β. So the expected squared error is ‖λC(H + λI)⁻¹‖²·PRIOR² plus the trace of C·Var[β]·C, which is
    minimised over `LAMBDAS`.
    """
    X = np.asarray(X_public, dtype=float)
    mean, second = X.mean(axis=0), X.T @ X / len(X)
    C = second - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(C if method == "moments" else second / 2)
    reach = (C @ vectors) ** 2
    squares = reach.sum(axis=0)
    record = ((vectors.T @ C) * vectors.T).sum(axis=1) * (1.0 if method == "moments" else 0.25)

    def error(reg_lambda: float) -> float:
        inverse = 1 / (np.maximum(values, 0.0) + reg_lambda) ** 2
        noise = noise_variance(features, epsilon, n_private, method, calibration, reg_lambda)
        bias = PRIOR**2 * reg_lambda**2 * float(squares @ inverse)
        added = noise * (float(squares.sum()) if method == "output" else float(squares @ inverse))
        return bias + added + float((squares * record) @ inverse) / n_private

    return min(LAMBDAS, key=error)


def choose_reg_lambda(
    X_public: Any,
    moments: Any,
    features: RatioFeatures,
    epsilon: float,
    n_private: int,
    method: str,
    calibration: str = "tight",
    *,
    spent: float,
) -> float:
    """Return λ from noisy moments of the private table. Post-processing: it costs as much as the moments, `spent`.

    For ``method="moments"`` they are the release itself, and λ is the largest at which the weighted means differ from
    them by no more than the noise is expected to (the discrepancy principle). Otherwise the public table, weighted to
    the noisy moments, stands for the private one: λ minimises the squared bias of the weighted means on it plus the
    trace of C·Var[β]·C for the noise that `epsilon`, the rest for β, will add.
    """
    X, m = np.asarray(X_public, dtype=float), np.asarray(moments, dtype=float)
    noise = noise_variance(features, spent, n_private, "moments", calibration, 1.0)
    if method == "moments":
        for reg_lambda in reversed(LAMBDAS):
            gap = reg_lambda * moment_minimiser(X, m, reg_lambda)  # the loss is stationary where Σwx - m = -λβ
            if float(gap @ gap) <= noise * features.dimension:
                return reg_lambda
        return LAMBDAS[0]
    proxy = softmax(X @ moment_minimiser(X, m, public_reg_lambda(X, features, spent, n_private, "moments")))
    truth = proxy @ X

    def error(reg_lambda: float) -> float:
        beta = _proxy_minimiser(X, proxy, reg_lambda)
        w = softmax(X @ beta)
        mean = w @ X
        C = (X * w[:, None]).T @ X - np.outer(mean, mean)
        added = noise_variance(features, epsilon, n_private, method, calibration, reg_lambda)
        if method == "objective":
            pull = expit(X @ beta)
            curved = pull * (1 - pull) * (1 / len(X) + proxy)
            H = (X * curved[:, None]).T @ X
            H.flat[:: len(H) + 1] += reg_lambda
            C = np.linalg.solve(H, C)
        return float((mean - truth) @ (mean - truth)) + added * float((C * C).sum())

    return min(CHOICES, key=error)


def _proxy_minimiser(X: FloatArray, proxy: FloatArray, reg_lambda: float) -> FloatArray:
    """Return the balanced minimiser where the public table, with these weights, stands for the private one."""
    n = len(X)
    weight = np.concatenate([np.maximum(n * proxy, 1e-12), np.ones(n)])
    loss = _Balanced(weight=weight)
    signs = np.repeat([1.0, -1.0], n)
    return minimise(np.vstack([X, X]), signs, n * reg_lambda, TOLERANCE, np.zeros((1, X.shape[1])), loss)[0]
