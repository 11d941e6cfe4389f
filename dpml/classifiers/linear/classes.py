"""The weights of more than two classes from one perturbed objective.

A record has scores z = Θx + s of the C classes, where the start s is a public function of the record, and

    J(Θ) = Σ_i l(z_i, y_i) + (λ/2)‖Θ‖².

*The noise.* Each class has noise b_c of its own, of density ∝ exp(-β‖b_c‖), less the mean of the C vectors. Both J's
gradient and this noise have rows of sum 0, so Θ has too, and J is minimised over those. There B has the density
f(B) ∝ ∫ exp(-β Σ_c ‖b_c + t‖) dt: that of the C vectors, over their common part. If a record's gradient in the
scores is v, that in Θ is v ⊗ x, and at the same Θ it changes log f by at most

    β min_t Σ_c ‖v_c x + t‖ <= β N(v)‖x‖,  N(v) = min_τ Σ_c |v_c + τ| = Σ_c |v_c - median(v)|,

because f(B + v ⊗ x) is the same integral with t + τx for t. The softmax loss has v = p - e_y of N up to 2, where one
wrong class seems certain: the rate would be ε/2. But N is 1 where p is uniform, and at most 1 where p_y >= ½. The loss
here keeps N(v) <= 1 everywhere, so that the rate is ε (less the cost of the determinant), as for counts of each class.

*The loss* (`ClippedSoftmax`) is l = log(e^g + e^h). With m = log Σ_{c≠y} e^{z_c} - z_y and mean z̄,

    g = log(1 + e^m) where m < 0, else log 2 + m/2,   h = z̄ - z_y + log C + 3/2.

g is the softmax loss with its pull cut at ½: half of `ClippedLogistic` at the margin -m. h is linear and keeps the pull
near 1 while the scores are not informative. Its constant, which the derivation does not need, sets the end. Both are
convex, and so is l. Let q be the softmax of the other classes, w = min(σ(m), ½), r = e_y + w(q - e_y), u the uniform
distribution, and t = σ(h - g). Then

    v = (1 - t)(r - e_y) + t(u - e_y),   N(v) <= (1 - t)·2w + t·1 <= 1.

*The determinant.* The record's Hessian is S ⊗ xx', where S = t(1 - t)(u - r)(u - r)' + (1 - t)∇²g, with
∇²g = diag(r) - rr' for m < 0 and ½(diag(q) - qq') else, has rank C - 1. Its trace is at most
T = ¾ - 1/(4(C - 1)). Derivation: |r|² >= ρ = 1 - T, because r_y >= ½. The trace of ∇²g is 1 - |r|², or 1 - 2|r|² where
m >= 0, and |u - r|² = |r|² - 1/C. So S has a trace of at most
(1 - t)(1 - (1 - t)|r|² - t/C) <= (1 - t)(1 - (1 - t)ρ - t/C). This is T at t = 0, concave in t because ρ >= 1/C,
and its slope at 0 is 2ρ - 1 - 1/C = 1/(2(C - 1)) - ½ - 1/C < 0.
Let A ⪰ λI be the Hessian without the record. Then (I ⊗ x')A⁻¹(I ⊗ x) ⪯ (‖x‖²/λ)I, so the determinant grows by a
factor of at most det(I + S‖x‖²/λ) <= (1 + T‖x‖²/((C - 1)λ))^(C - 1): the mean of C - 1 logarithms is at most that of
the mean. The determinant over the rows of sum 0 is that over all, divided by λ^D, which has no data in it.

So `dpml.classifiers.linear.objective_noise` holds with m(β, λ) = β + (C - 1)·log(1 + T/((C - 1)λ)), under add/remove
and under replace-one, and what `release_objective` says of the solver's error.

*The prior.* Attributes whose groups have an order may have weights that are alike for near groups: the regulariser is
(λ/2) Σ_c θ_c' Σ⁻¹ θ_c with a public covariance Σ (`dpml.classifiers.linear.prior`).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_number
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear.coded import BLOCK, CodedRows
from dpml.classifiers.linear.perturbation import (
    SOLVER_SHARE,
    TOLERANCE,
    PerturbedMinimum,
    check_lambda,
    check_rows,
    objective_noise,
    reachable,
    release_minimum,
    release_secure_minimum,
)
from dpml.classifiers.linear.prior import Prior
from dpml.classifiers.linear.solver import (
    DESCENT,
    FINEST,
    FORCING,
    MAX_HALVINGS,
    MAX_STEPS,
    Loss,
    gradient,
    through,
)
from dpml.mechanisms.norms import NormGamma, OneHotNorm
from dpml.mechanisms.private import n_columns

# the constant of the loss' linear part over log C, which the entropy of no knowledge is
LEAD = 1.5
# NumPy takes longer for each record than for each number of a few classes, so they are treated one after the other. Up
# to this many it adds the numbers of a record in their order
FEW = 8
MAX_INNER = 200  # conjugate gradient steps within a Newton step


@dataclass(frozen=True)
class ClippedSoftmax(Loss):
    """Loss of C classes (see the module). Its `curvature` is the mean of S' C - 1 eigenvalues at most."""

    n_classes: int

    @property
    def curvature(self) -> float:
        """T/(C - 1)."""
        rank = self.n_classes - 1
        return (0.75 - 0.25 / rank) / rank

    def values(self, scores: Any, codes: Any) -> FloatArray:
        """Return l of each record."""
        _, m, h = self._parts(scores, codes)
        g = np.where(m < 0, np.log1p(np.exp(np.minimum(m, 0))), math.log(2) + m / 2)
        return np.logaddexp(g, h)

    def residual(self, scores: FloatArray, target: Any) -> FloatArray:
        """Return v, shape (n, C), in place. `target` is the codes and the starts, which the scores lack."""
        codes, starts = target
        scores += starts
        for part in _blocks(len(scores)):
            q, w, t, _ = self.shares(scores[part], codes[part])
            wrong, linear = (1 - t) * w, t / self.n_classes
            for (column,) in _columns(q):
                column *= wrong
                column += linear
            q[np.arange(len(q)), codes[part]] -= wrong + t
            scores[part] = q
        return scores

    def shares(self, scores: FloatArray, codes: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return q, w and t, and the derivative of w in m."""
        q, m, h = self._parts(scores, codes)
        w = expit(np.minimum(m, 0))
        g = np.where(m < 0, -np.log1p(-w), math.log(2) + m / 2)
        return q, w, expit(h - g), np.where(m < 0, w * (1 - w), 0.0)

    def _parts(self, scores: Any, codes: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows = np.arange(len(scores))
        own, mean = scores[rows, codes], _sums(scores) / scores.shape[1]
        q = np.array(scores)
        q[rows, codes] = -np.inf
        top = reduce(np.maximum, q.T) if q.shape[1] < FEW else q.max(axis=1)
        for (column,) in _columns(q):
            column -= top
        np.exp(q, out=q)
        total = _sums(q)
        for (column,) in _columns(q):
            column /= total
        return q, top + np.log(total) - own, mean - own + math.log(self.n_classes) + LEAD

    def largest_ratio(self, rate: float, reg_lambda: float) -> float:
        """Return β + (C - 1)·log(1 + T/((C - 1)λ))."""
        return max(rate, 0.0) + (self.n_classes - 1) * math.log1p(self.curvature / reg_lambda)

    def enough(self, log_ratio: float) -> float:
        """Return the λ at which the determinant's bound is `log_ratio`."""
        return self.curvature / math.expm1(log_ratio / (self.n_classes - 1))


def release_classes(
    X: Any,
    codes: Any,
    starts: Any,
    epsilon: float,
    reg_lambda: float,
    *,
    n_classes: int,
    norm: OneHotNorm,
    ordered: tuple[bool, ...] = (),
    relation: str = "add-remove",
    tolerance: float = TOLERANCE,
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> FloatArray:
    """Release the weights of C classes.

    Privacy: ε per draw for `relation`: ε₁ = 0.999·ε for the exact minimiser (the module's derivation) and ε₂ = 0.001·ε
    for the solver's error, as in `dpml.classifiers.linear.release_objective`.

    `X` of shape (n, D), or `Private`: records within the `sensitivity` of `norm`, whose ε is not used. `codes` of shape
    (n,): classes 0..C-1. `starts` of shape (n, C): scores that are given, a public or released function of each record
    by itself. `ordered`: which attributes' groups have an order, by default none. `tolerance` is τ. `secure`: secure
    noise, without an `rng`. The result has the shape (draws, C, D). Its rows have the sum 0 but for the noise that
    covers the solver's error.
    """
    epsilon, draws = check_epsilon(epsilon), check_integer(draws, "draws", 1)
    loss = ClippedSoftmax(check_integer(n_classes, "n_classes", 2))
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    X = check_rows(X, norm, 1.0)
    ordered = tuple(ordered) or (False,) * len(norm.sizes)
    prior = Prior(norm.sizes, norm.n_scalars, ordered)
    q, D = prior.longest * norm.sensitivity**2, n_columns(X)
    spare, main = split_epsilon(epsilon, SOLVER_SHARE)
    rate, reg_lambda = objective_noise(main, check_lambda(reg_lambda) / q, relation=relation, loss=loss)
    reg_lambda *= q
    tolerance = reachable(tolerance, n_classes * prior.stretch * (D + 40) / rate, reg_lambda, loss)
    noise = replace(norm, epsilon=rate)
    perturbed = PerturbedClasses(noise, draws, reg_lambda, tolerance, loss, prior=prior)
    if secure:
        flat = release_secure_minimum(perturbed, spare, (X, codes, starts), rng)
    else:
        cover = NormGamma(spare, 2 * tolerance / reg_lambda, n_classes * D)
        flat = release_minimum(perturbed, cover, (X, codes, starts), rng)
    return flat.reshape(draws, n_classes, D) @ prior.root.T


@dataclass(frozen=True)
class PerturbedClasses(PerturbedMinimum):
    """The minimisers of the objective of C classes, for the records R'x and one class after the other."""

    noise: OneHotNorm
    loss: ClippedSoftmax

    @property
    def n_vectors(self) -> int:
        """One vector for each class."""
        return self.loss.n_classes

    def noise_shape(self, n_columns: int) -> tuple[int, ...]:
        """Return (draws, C, D)."""
        return self.draws, self.n_vectors, n_columns

    def minima(self, statistic: Any, b: FloatArray) -> FloatArray:
        """Return the minimisers for noise vectors, shape (draws, C·D)."""
        X, codes, starts = statistic
        X, b = self.at_prior(X, b - b.mean(axis=1, keepdims=True))
        theta = minimise_classes(X, codes, starts, self.reg_lambda, self.tolerance, b, self.loss)
        return theta.reshape(self.draws, -1)

    def _lengths(self, z: FloatArray) -> tuple[float, float]:
        return super()._lengths(z[: self.noise.dimension])


# ---- solver ---------------------------------------------------------------------------------------------------------


def minimise_classes(
    X: Any,
    codes: Any,
    starts: FloatArray,
    reg_lambda: float,
    tolerance: float,
    linear: FloatArray,
    loss: ClippedSoftmax,
) -> FloatArray:
    """Return the minimisers, shape (draws, C, D), with ‖∇J_k‖ at most `tolerance`.

    The method is that of `dpml.classifiers.linear.solver`, a draw at a time: each starts at the last one's minimiser.
    """
    target = np.asarray(codes), starts
    axes = np.linalg.eigh(X.square(np.ones(X.shape[0])) if isinstance(X, CodedRows) else X.T @ X)
    theta, all_theta = np.zeros(linear.shape[1:]), np.empty(linear.shape)
    with np.errstate(all="ignore"):  # a non-finite number fails every test and is never kept
        for k, b in enumerate(linear):
            theta = all_theta[k] = _descend(X, target, loss, reg_lambda, tolerance / 2, b, theta, axes)
    return all_theta


def _descend(X, target, loss, reg_lambda, bound, linear, theta, axes) -> FloatArray:
    low = X if isinstance(X, CodedRows) else X.astype(np.float32)
    g, residual = gradient(X, target, loss, reg_lambda, linear, theta)
    norm = lowest = np.linalg.norm(g)
    eta = FORCING
    for _ in range(MAX_STEPS):
        if norm <= bound:
            break
        d = _direction(low, target, loss, X @ theta.T, residual, reg_lambda, g, eta, axes)
        step = 1.0
        for _ in range(MAX_HALVINGS):
            trial = theta + step * d
            g_new, residual = gradient(X, target, loss, reg_lambda, linear, trial)
            norm_new = np.linalg.norm(g_new)
            if norm_new <= (1 - DESCENT) * lowest or (g_new * d).sum() <= 0:
                break
            step /= 2
        else:
            break  # not even a tiny step makes progress
        eta = min(FORCING, max((norm_new / norm) ** 1.5, FINEST, bound / 4 / norm_new))
        theta, g, norm, lowest = trial, g_new, norm_new, min(lowest, norm_new)
    return theta


def _blocks(n: int) -> list[slice]:
    """Return places of a few records each, whose numbers fit a processor's cache."""
    return [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]


def _sums(z: FloatArray) -> FloatArray:
    """Return the sums over classes."""
    return reduce(np.add, z.T) if z.shape[1] < FEW else z.sum(axis=1)


def _columns(*tables: FloatArray) -> Iterable[tuple[FloatArray, ...]]:
    """Return the columns of a few classes together, or the transposed tables of many classes."""
    turned = [table.T for table in tables]
    return zip(*turned, strict=True) if len(turned[0]) < FEW else [tuple(turned)]


def _direction(low, target, loss, scores, residual, reg_lambda, g, eta, axes) -> FloatArray:
    """Solve H d = -g to the relative residual η by preconditioned conjugate gradients, records in single precision."""
    codes, starts = target
    n, C = scores.shape
    share = np.empty((n, C), np.float32)
    pull, bow, bend, scale = np.empty((4, n), np.float32)
    for part in _blocks(n):
        numbers = loss.shares(scores[part] + starts[part], codes[part])
        share[part], pull[part], linear, bends = (some.astype(np.float32) for some in numbers)
        bow[part] = linear * (1 - linear)
        bend[part] = (1 - linear) * bends
        scale[part] = (1 - linear) * pull[part]

    def curved(some, z):
        """Return the Hessian of the loss in the scores of some records, times z, which it overwrites."""
        at = np.arange(len(z)) * C + codes[some]
        own = z.reshape(-1)[at]
        if C == 3:  # the sums of `einsum`, and faster
            mean, other = _sums(z), _sums(share[some] * z)
        else:
            mean, other = np.einsum("nc->n", z), np.einsum("nc,nc->n", share[some], z)
        along = other - own  # (q - e_y)'z
        between = bow[some] * (mean / C - own - pull[some] * along)  # t(1 - t)(u - r)'z
        bent = bend[some] * along - between * pull[some]
        mean, times = between / C, scale[some]
        for column, of_class in _columns(z, share[some]):
            column -= other
            column *= times
            column += bent
            column *= of_class
            column += mean
        z.reshape(-1)[at] -= bent + between
        return z

    def image(direction):
        return through(low, direction.T.astype(np.float32), curved) + reg_lambda * direction

    # the preconditioner: X'X at each class's mean of p(1 - p)
    p = residual.copy()
    p[np.arange(n), codes] += 1
    values, vectors = axes
    scales = np.outer((p * (1 - p)).mean(axis=0) if len(p) else np.zeros(len(g)), np.maximum(values, 0)) + reg_lambda

    def solve(r):
        return ((r @ vectors) / scales) @ vectors.T

    d, r = np.zeros_like(g), -g
    stop = eta * np.linalg.norm(g)
    direction = z = solve(r)
    rz = (r * z).sum()
    for _ in range(MAX_INNER):
        h = image(direction)
        along = (direction * h).sum()
        if not along > 0:
            break
        d += rz / along * direction
        r -= rz / along * h
        if np.linalg.norm(r) <= stop:
            break
        z = solve(r)
        rz, before = (r * z).sum(), rz
        direction = z + rz / before * direction
    return d if (d * g).sum() < 0 else -g
