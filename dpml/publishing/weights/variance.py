"""Distance of the released coefficients of a log ratio from those without noise: variances, and the bound on them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from dpml.publishing.weights.density_ratio import objective_noises, output_noise
from dpml.publishing.weights.features import RatioFeatures

FloatArray = NDArray[np.float64]


def noise_variance(
    features: RatioFeatures, epsilon: float, n_private: int, method: str, calibration: str, reg_lambda: float
) -> float:
    """Return the variance of each coordinate of the noise, on β for "output" and else on the gradient of the mean loss.

    A norm-gamma vector of scale γ in d dimensions has E‖δ‖² = d(d + 1)γ², so each coordinate has (d + 1)γ² (Ji and
    Elkan 2013, Lemma 7, whose statement has d/(d + 1) where its proof and Theorem 2 have d(d + 1), for γ = √d/(Nλε)).
    Laplace noise of scale b has 2b².
    """
    d = features.dimension
    if method == "moments":
        return 2 * (features.change / (epsilon * n_private)) ** 2
    if method == "output":
        return (d + 1) * output_noise(epsilon, reg_lambda, features, n_private, calibration).scale ** 2
    noise, *_ = objective_noises(epsilon, reg_lambda, features, n_private, calibration)
    return (d + 1) * (noise.scale / n_private) ** 2


@dataclass(frozen=True, eq=False)
class Spread:
    """Variance of released coefficients around their limit, from released values and the public table.

    `beta` of shape (d,): released. `X_public` of shape (N_E, d): the public table of the fit. `noise`: from
    `noise_variance`. `squared_norm`: R², the public bound on a record's squared norm.
    """

    beta: FloatArray
    X_public: FloatArray
    method: str
    noise: float
    reg_lambda: float
    n_private: int
    squared_norm: float

    @property
    def bound(self) -> float:
        """Bound v on the asymptotic variance of β: Var[β] ⪯ vI, for all pairs of tables.

        As in Theorem 2 of Ji and Elkan 2013. The Hessian of the loss is at least λI, and a record's gradient has a
        covariance of at most R²I, so sampling the private table adds at most R²/(Nλ²). The noise adds its variance,
        divided by λ² where it is on the gradient.
        """
        square = self.reg_lambda**2
        return self.squared_norm / (self.n_private * square) + self.noise / (1.0 if self.method == "output" else square)

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray]:
        """Return the Hessian of the loss without its regulariser, and the covariance of a record's gradient, estimated.

        The weighted public table stands for the private one.
        """
        X = self.X_public
        scores = X @ self.beta
        w = softmax(scores)
        pull = np.ones(len(X)) if self.method == "moments" else expit(-scores)
        drawn = X * pull[:, None]
        mean = w @ drawn
        record = (drawn * w[:, None]).T @ drawn - np.outer(mean, mean)
        if self.method == "moments":
            H = record.copy()
        else:
            H = (X * (pull * (1 - pull) * (1 / len(X) + w))[:, None]).T @ X
        return H, record

    @cached_property
    def covariance(self) -> FloatArray:
        """An estimate of Var[β], shape (d, d): the noise and the sampling of the private table."""
        H, record = self._parts
        inverse = np.linalg.inv(H + self.reg_lambda * np.eye(len(H)))
        inner = record / self.n_private
        if self.method != "output":
            inner = inner + self.noise * np.eye(len(inner))
        spread = inverse @ inner @ inverse
        return spread + self.noise * np.eye(len(spread)) if self.method == "output" else spread

    @cached_property
    def left_out(self) -> FloatArray:
        """Matrix L of shape (d, d): Lβ estimates, to first order, the part of β that the regulariser left out.

        Without the regulariser the gradient at β would be -λβ, so that L = λH⁺, with the pseudoinverse of the Hessian
        without it. (Directions in which the public records do not differ change no weight.)
        """
        return np.asarray(self.reg_lambda * np.linalg.pinv(self._parts[0], rcond=1e-9, hermitian=True), dtype=float)

    @cached_property
    def _inverse_covariance(self) -> FloatArray:
        X = self.X_public
        w = softmax(X @ self.beta)
        mean = w @ X
        covariance = (X * w[:, None]).T @ X - np.outer(mean, mean)
        return np.asarray(np.linalg.pinv(covariance, rcond=1e-9, hermitian=True), dtype=float)

    def slopes(self, gradient: FloatArray) -> FloatArray:
        """Return the coefficients of a query's regression on the features, from its weighted covariance with them."""
        return np.asarray(self._inverse_covariance @ gradient, dtype=float)

    @cached_property
    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """Return what each public record of the fit adds to the gradient of the loss, centred, and (H + λI)⁻¹."""
        X, scores = self.X_public, self.X_public @ self.beta
        w = softmax(scores)
        steps = (X - w @ X) * w[:, None] if self.method == "moments" else X * (expit(scores) / len(X))[:, None]
        H = self._parts[0]
        return steps - steps.mean(axis=0), np.asarray(np.linalg.inv(H + self.reg_lambda * np.eye(len(H))), dtype=float)

    def pull(self, gradient: FloatArray) -> FloatArray:
        """Return how far each public record of the fit moves an answer by its effect on β, shape (N_E,).

        To first order β moves by -(H + λI)⁻¹ times what the record adds to the gradient of the loss, and the answer by
        α times that.
        """
        steps, inverse = self._steps
        return np.asarray(-steps @ (inverse @ gradient), dtype=float)
