"""The model of noisy moments: the log ratio whose weights give a public table the private table's noisy means."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import logsumexp

from dpml.publishing.weights.density_ratio import check_reg_lambda

FloatArray = NDArray[np.float64]


def moment_minimiser(X_public: Any, moments: Any, reg_lambda: float, *, weights: Any = None) -> FloatArray:
    """Return the minimiser of K(β), the regularised moment loss. Post-processing of noisy moments m.

    Its weights on the public table are those nearest to uniform, in relative entropy plus ‖Σwx - m‖²/(2λ). `weights`
    say how often each row counts.
    """
    X, m = np.asarray(X_public, dtype=float), np.asarray(moments, dtype=float)
    reg_lambda = check_reg_lambda(reg_lambda)
    log_share = np.zeros(len(X)) if weights is None else np.log(np.asarray(weights, dtype=float))
    beta = np.zeros(X.shape[1])
    goal = 1e-9 * (1 + float(np.linalg.norm(m)))
    scores = X @ beta + log_share
    value = logsumexp(scores)
    for _ in range(200):
        w = np.exp(scores - scores.max())
        w /= w.sum()
        mean = w @ X
        g = mean - m + reg_lambda * beta
        if not np.linalg.norm(g) > goal:
            break
        root = np.sqrt(w)[:, None] * X
        H = root.T @ root - np.outer(mean, mean)
        H.flat[:: len(H) + 1] += reg_lambda
        step = -_solved(H, g)
        slope, t = float(g @ step), 1.0
        while t > 1e-12:
            trial = beta + t * step
            scores = X @ trial + log_share
            new = logsumexp(scores) - m @ trial + reg_lambda / 2 * trial @ trial
            if new <= value + 1e-4 * t * slope or t * abs(slope) < 1e-14 * (1 + abs(value)):
                break
            t /= 2
        beta, value = trial, new
    return beta


def _solved(H: FloatArray, g: FloatArray) -> FloatArray:
    """Return H⁻¹g for a matrix that is positive definite up to rounding."""
    try:
        return np.asarray(
            linalg.cho_solve(linalg.cho_factor(H, check_finite=False), g, check_finite=False), dtype=float
        )
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(H, g, rcond=None)[0], dtype=float)
