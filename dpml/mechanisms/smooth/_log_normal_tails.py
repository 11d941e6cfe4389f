"""Tails of X·exp(σY), Y standard normal and X Laplace or uniform on [-1, 1], in logarithms, so that none underflows.

u = log z / σ is the y at which exp(σy) is z.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, logsumexp, ndtr, wrightomega

Floats = NDArray[np.float64]
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
MOST_AT_ONCE = 256


def laplace_log_tail(log_size: Any, sigma: float) -> Floats:
    """Return log P(|X exp(σY)| > z) by log z, for X Laplace, within 1e-12 of the tail itself, relatively.

    |X| is exponential, so that the tail is E exp(-z exp(-σY)). No closed form: the trapezoidal rule, which converges
    exponentially here. The integrand exp(-y²/2 - z exp(-σy)) has its peak at y = v/σ with v·exp(v) = σ²z, and curvature
    1 + v there. Besides, it may fall over 1/σ in y, where it is cut off.
    """
    logs = np.asarray(log_size, dtype=float)
    step = 0.25 / math.ceil(max(1.0, sigma))
    nodes = np.arange(-12.0, 40 * math.sqrt(max(1.0, sigma)), step)
    total = np.empty(logs.size)
    # few sizes at a time: a large σ takes thousands of nodes for each
    for start in range(0, logs.size, MOST_AT_ONCE):
        some = logs.reshape(-1, 1)[start : start + MOST_AT_ONCE]
        v = wrightomega(2 * math.log(sigma) + some)
        width = 1 / np.sqrt(1 + v)
        y = v / sigma + width * nodes
        exponent = -0.5 * y**2 - np.exp(some - sigma * y)
        total[start : start + MOST_AT_ONCE] = logsumexp(exponent, axis=-1) + np.log(width[:, 0])
    return np.minimum(total + math.log(step) - HALF_LOG_2PI, 0.0).reshape(logs.shape)


def uniform_log_tail(log_size: Any, sigma: float) -> Floats:
    """Return log P(|X exp(σY)| > z) by log z, for X uniform on [-1, 1], relatively exact to about 1e-15·(1 + u/σ).

    The tail is E(1 - z exp(-σY))_+ = Φ(-u) - z exp(σ²/2) Φ(-u-σ). For u > 0 both terms are φ(u) times a ratio of Mills,
    at u and at u + σ, and their difference is taken before the product.
    """
    u = np.asarray(log_size, dtype=float) / sigma
    near, far = np.minimum(u, 0.0), np.maximum(u, 0.0)
    inner = ndtr(-near) - np.exp(sigma * near + sigma**2 / 2 + log_ndtr(-near - sigma))
    mills = math.sqrt(math.pi / 2) * (erfcx(far / math.sqrt(2)) - erfcx((far + sigma) / math.sqrt(2)))
    with np.errstate(divide="ignore"):
        outer = -0.5 * far**2 - HALF_LOG_2PI + np.log(mills)
        return np.where(u > 0, outer, np.log(np.clip(inner, 0.0, 1.0)))
