"""Convex losses of a margin: the logistic loss and the Huber-smoothed hinge, with bounds on a record's effect.

A loss l(z) of the margin z = s θ·x has a *pull* w = -l'(z) in [0, 1] and a curvature l''(z) in [0, c], which is a
function of the pull. A record's gradient has the norm w‖x‖, at most w for ‖x‖ <= 1. Its Hessian is l''(z)xx'.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpml._validate import check_number
from dpml.exceptions import InvalidParameter

Array = NDArray[Any]


class Loss:
    """A convex loss with pull in [0, 1] and curvature at most `curvature`.

    `by_record`: whether it is another one for each record, so that equal records are not equal to it.
    """

    by_record: ClassVar[bool] = False

    @property
    def curvature(self) -> float:
        """The bound c on the second derivative."""
        raise NotImplementedError

    def value(self, margins: Array) -> Array:
        """Return l(z)."""
        raise NotImplementedError

    def residual(self, scores: Array, target: Array) -> Array:
        """Return the derivatives in the scores θ·x (n, draws), computed in place. `target` (n,) is (s + 1)/2."""
        raise NotImplementedError

    def weights(self, residual: Array) -> Array:
        """Return the curvatures l'' at residuals, whose absolute values are the pulls."""
        raise NotImplementedError

    def largest_ratio(self, rate: float, reg_lambda: float) -> float:
        """Return m(β, λ), the supremum of βw + log(1 + l''/λ) over the pairs (w, l'') of pull and curvature."""
        raise NotImplementedError

    def enough(self, log_ratio: float) -> float:
        """Return a λ at which a record changes the logarithm of the determinant by at most `log_ratio`."""
        return self.curvature / math.expm1(log_ratio)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-z)): pull w = σ(-z), curvature w(1 - w) <= ¼."""

    @property
    def curvature(self) -> float:
        """¼."""
        return 0.25

    def value(self, margins):
        """Return log(1 + exp(-z))."""
        return np.logaddexp(0, -margins)

    def residual(self, scores, target):
        """Return σ(θ·x) - target."""
        expit(scores, out=scores)
        scores -= target[:, None]
        return scores

    def weights(self, residual):
        """Return w(1 - w)."""
        pull = np.abs(residual)
        return pull * (1 - pull)

    def largest_ratio(self, rate, reg_lambda):
        """Return the largest βw + log(1 + w(1 - w)/λ), which is concave in w, with slope β - 1/λ at w = 1."""
        w = 1.0
        if rate * reg_lambda < 1:
            x = rate * (1 + 4 * reg_lambda)
            w = min(0.5 + x / (2 * (math.sqrt(4 + rate * x) + 2)), 1.0)
        return rate * w + math.log1p(w * (1 - w) / reg_lambda)


@dataclass(frozen=True)
class HuberHinge(Loss):
    """The hinge, smoothed by a parabola for |1 - z| <= h (Chaudhuri, Monteleoni and Sarwate 2011, eq. 7, Corollary 13).

    It is 0 for z > 1 + h, (1 + h - z)²/(4h) for |1 - z| <= h, and 1 - z for z < 1 - h. Over the parabola the pull goes
    from 0 to 1 and the curvature is constant, c = 1/(2h). So m(β, λ) = β + log(1 + c/λ).
    """

    half_width: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "half_width", check_number(self.half_width, "huber", 0.01, 100.0))

    @property
    def curvature(self) -> float:
        """1/(2h)."""
        return 0.5 / self.half_width

    def value(self, margins):
        """Return the loss of a margin."""
        h = self.half_width
        inside = np.clip(1 + h - margins, 0, 2 * h)
        return inside**2 / (4 * h) + np.maximum(1 - h - margins, 0)

    def residual(self, scores, target):
        """Return -s times the pull clip((1 + h - z)/2h, 0, 1)."""
        signs = 2 * target[:, None] - 1
        scores *= -signs
        scores += 1 + self.half_width
        scores *= self.curvature
        np.clip(scores, 0, 1, out=scores)
        scores *= -signs
        return scores

    def weights(self, residual):
        """Return c inside the parabola, else 0."""
        pull = np.abs(residual)
        return self.curvature * ((pull > 0) & (pull < 1))

    def largest_ratio(self, rate, reg_lambda):
        """Return β + log(1 + c/λ): pull and curvature are both largest at the end of the parabola."""
        return max(rate, 0.0) + math.log1p(self.curvature / reg_lambda)


@dataclass(frozen=True)
class ClippedLogistic(Loss):
    """The logistic loss at twice its height, with its pull cut at 1: min(2σ(-z), 1).

    It is 2·log(1 + exp(-z)) for z > 0, and 2·log 2 - z below. At z = 0 a record of either class pulls with all that it
    may, where the logistic loss uses half. The curvature for z > 0 is w(1 - w/2) <= ½, and below it is 0. So
    m(β, λ) = β + log(1 + c/λ), because pull and curvature are largest together.

    Its minimiser states probabilities. Where p is the share of positive records at a score z, the expected gradient
    vanishes at p/(1 - p) = w(-z)/w(z), so the log odds are log((1 + e^z)/2) for z > 0, and odd in z (`log_odds`).
    """

    @property
    def curvature(self) -> float:
        """½."""
        return 0.5

    def value(self, margins):
        """Return the loss of a margin."""
        return 2 * np.logaddexp(0, -np.maximum(margins, 0)) + np.maximum(-margins, 0)

    def residual(self, scores, target):
        """Return -s times the pull."""
        signs = 2 * target[:, None] - 1
        scores *= -signs
        expit(scores, out=scores)
        scores *= 2
        np.minimum(scores, 1, out=scores)
        scores *= -signs
        return scores

    def weights(self, residual):
        """Return w(1 - w/2) where w < 1, else 0."""
        pull = np.abs(residual)
        return pull * (1 - pull / 2) * (pull < 1)

    def largest_ratio(self, rate, reg_lambda):
        """Return β + log(1 + c/λ): pull and curvature are both largest at z = 0."""
        return max(rate, 0.0) + math.log1p(self.curvature / reg_lambda)

    @staticmethod
    def log_odds(scores: Array) -> Array:
        """Return the log odds that scores state: sign(z)·log((1 + e^|z|)/2)."""
        return np.sign(scores) * (np.logaddexp(0, np.abs(scores)) - math.log(2))

    @staticmethod
    def score(log_odds: Array) -> Array:
        """Return the scores that state log odds g: sign(g)·log(2e^|g| - 1)."""
        size = np.abs(log_odds)
        return np.sign(log_odds) * (size + np.log1p(-np.expm1(-size)))


LOGISTIC = Logistic()


def check_loss(loss: Any) -> Loss:
    """Return the loss, or raise `InvalidParameter`."""
    if not isinstance(loss, Loss):
        raise InvalidParameter("loss", loss, "a Logistic or HuberHinge of dpml.classifiers.linear._losses")
    return loss
