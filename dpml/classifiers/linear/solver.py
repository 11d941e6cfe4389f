"""Convex losses of a margin, and a solver that minimises them to a guaranteed gradient norm, a batch at once.

A loss l(z) of the margin z = s θ·x has a *pull* w = -l'(z) in [0, 1] and a curvature l''(z) in [0, c], which is a
function of the pull. A record's gradient has the norm w‖x‖, at most w for ‖x‖ <= 1. Its Hessian is l''(z)xx'.

`minimise` minimises, for each draw k and without a factor 1/N,

    J_k(θ) = Σ_i l(s_i θ·x_i) + (λ/2)‖θ‖² + b_k·θ,   s_i in {-1, +1}, ‖x_i‖₂ <= 1.

The derivative of l is Lipschitz. Where it has a kink (the Huber hinge), the Hessian of one side is used, and the method
is a semismooth Newton method (Qi and Sun 1993).

It is an inexact Newton method (Dembo, Eisenstat and Steihaug 1982): conjugate gradients solve H_k d = -∇J_k to a
relative residual η < 1. One Hessian preconditions the whole batch, and every iterate of the conjugate gradients is a
descent direction of J_k. The step is 1, ½, ¼, ... until either ‖∇J_k‖ is at least a ten-thousandth below its lowest
value so far, or ∇J_k(θ + td)·d <= 0. Both tests use gradients, because differences of J lose their digits near the
minimum.

The method converges from any start and on any data (separable, one class, no records). Steps of the first kind are
finitely many, because each lowers the lowest norm by a factor. A step of the second kind does not pass the minimum t*
of J_k along d, and either t = 1 or t > t*/2. By convexity it lowers J_k by at least half as much as the step to t*
would, or as much as a step of 1 can. Since λI ⪯ H_k ⪯ (cn + λ)I and J_k is λ-strongly convex with a Lipschitz gradient,
such steps converge to the minimiser at a linear rate, so ‖∇J_k‖ goes to 0. Near the minimiser the full Newton step is
accepted, as a step of the first kind.

In a batch the conjugate gradients work in single precision, but the gradients of the tests do not. All draws start near
the minimiser at the mean of their linear terms, and equal records are taken together, so that a hundred draws take the
time of a few. A batch of one uses its own exact Hessian as preconditioner, which makes it plain Newton. A draw that the
batch leaves unfinished is finished in this way, and if that takes too many steps, through a sequence of larger
regularisers.

Rounding error remains. The norm of the computed gradient must be at most half of the tolerance. The other half allows
for its own rounding error. Gradients are summed in chunks, and the chunks are added up in extended precision. Measured
against extended precision on 10 million records in order of class, the default tolerance of 1e-8 is met with 3e-9. The
arithmetic may fail to reach the tolerance with many more records, or with θ so large that its products with records
lose digits. Then the last point is returned without an error, because an error would depend on the data. The tolerance,
and the claims proved from it, do not hold there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pandas.util import hash_array
from scipy import linalg, sparse
from scipy.special import expit

from dpml._arrays import FloatArray
from dpml._validate import check_number
from dpml.classifiers.linear.coded import CodedRows, SummedRows
from dpml.exceptions import InvalidParameter
from dpml.mechanisms.interruption import checkpoint


class Loss:
    """A convex loss with pull in [0, 1] and curvature at most `curvature`.

    `by_record`: whether it is another one for each record, so that equal records are not equal to it.
    """

    by_record: ClassVar[bool] = False

    @property
    def curvature(self) -> float:
        """The bound c on the second derivative."""
        raise NotImplementedError

    def value(self, margins: FloatArray) -> FloatArray:
        """Return l(z)."""
        raise NotImplementedError

    def residual(self, scores: FloatArray, target: Any) -> FloatArray:
        """Return the derivatives in the scores θ·x (n, draws), computed in place. `target` (n,) is (s + 1)/2."""
        raise NotImplementedError

    def weights(self, residual: FloatArray) -> FloatArray:
        """Return the curvatures l'' at residuals, whose absolute values are the pulls."""
        raise NotImplementedError

    def largest_ratio(self, rate: float, reg_lambda: float) -> float:
        """Return m(β, λ), the supremum of βw + log(1 + l''/λ) over the pairs (w, l'') of pull and curvature.

        It is β + log(1 + c/λ) where pull and curvature are largest together.
        """
        return max(rate, 0.0) + math.log1p(self.curvature / reg_lambda)

    def enough(self, log_ratio: float) -> float:
        """Return a λ at which a record changes the logarithm of the determinant by at most `log_ratio`."""
        return self.curvature / math.expm1(log_ratio)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-z)): pull w = σ(-z), curvature w(1 - w) <= ¼.

    βw + log(1 + w(1 - w)/λ) is concave in w, with slope β - 1/λ at w = 1.
    """

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
        """Return the maximum over w."""
        w = 1.0
        if rate * reg_lambda < 1:
            x = rate * (1 + 4 * reg_lambda)
            w = min(0.5 + x / (2 * (math.sqrt(4 + rate * x) + 2)), 1.0)
        return rate * w + math.log1p(w * (1 - w) / reg_lambda)


@dataclass(frozen=True)
class HuberHinge(Loss):
    """The hinge, smoothed by a parabola for |1 - z| <= h (Chaudhuri, Monteleoni and Sarwate 2011, eq. 7, Corollary 13).

    It is 0 for z > 1 + h, (1 + h - z)²/(4h) for |1 - z| <= h, and 1 - z for z < 1 - h. Over the parabola the pull goes
    from 0 to 1 and the curvature is constant, c = 1/(2h). Both are largest at the end of the parabola.
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


@dataclass(frozen=True)
class ClippedLogistic(Loss):
    """The logistic loss at twice its height, with its pull cut at 1: min(2σ(-z), 1).

    It is 2·log(1 + exp(-z)) for z > 0, and 2·log 2 - z below. At z = 0 a record of either class pulls with all that it
    may, where the logistic loss uses half. The curvature for z > 0 is w(1 - w/2) <= ½, and below it is 0. Pull and
    curvature are both largest at z = 0.

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

    @staticmethod
    def log_odds(scores: FloatArray) -> FloatArray:
        """Return the log odds that scores state: sign(z)·log((1 + e^|z|)/2)."""
        return np.sign(scores) * (np.logaddexp(0, np.abs(scores)) - math.log(2))

    @staticmethod
    def score(log_odds: FloatArray) -> FloatArray:
        """Return the scores that state log odds g: sign(g)·log(2e^|g| - 1)."""
        size = np.abs(log_odds)
        return np.sign(log_odds) * (size + np.log1p(-np.expm1(-size)))


LOGISTIC = Logistic()


def check_loss(loss: Any) -> Loss:
    """Return the loss, or raise `InvalidParameter`."""
    if not isinstance(loss, Loss):
        raise InvalidParameter("loss", loss, "a loss of dpml.classifiers.linear")
    return loss


# ---- solver ---------------------------------------------------------------------------------------------------------

MAX_STEPS = 300  # Newton steps; more than 10 are rarely needed
PLAIN_STEPS = 60  # then an unfinished draw is solved at regularisers that fall by tens, each from the last one's θ
MAX_HALVINGS = 40
MAX_INNER = 200  # conjugate gradient steps within a Newton step
BATCH_STEPS = 25  # Newton steps of a batch; unfinished draws then continue one by one
FORCING, FINEST = 0.1, 1e-4  # largest and smallest relative residual η required of conjugate gradients
DESCENT = 1e-4  # the share by which ‖∇J‖ must fall in a step of the first kind
NEAR = 0.01  # how near to its minimum the start of a batch is, in norms of a draw's noise
BLOCK_CELLS = 1 << 22  # records times draws in memory at once
DENSE_CELLS = 1 << 25  # a sparse table up to this size that is not very sparse is faster as a dense one
CHUNK = 1024  # records whose gradients are added up in double precision
FACTOR_COLUMNS = 1500  # the preconditioner is a factored Hessian up to this many columns, its diagonal above


def minimise(
    X: Any, signs: NDArray, reg_lambda: float, tolerance: float, linear: FloatArray, loss: Loss = LOGISTIC
) -> FloatArray:
    """Return the minimisers θ_k, shape (draws, D), with ‖∇J_k(θ_k)‖₂ <= `tolerance`.

    `X` of shape (n, D), dense, sparse or `SummedRows`: records in the unit ball. n may be 0. `signs` of shape (n,): -1
    or +1. `reg_lambda`: λ > 0 of the unnormalised objective. `tolerance`: bound τ on the gradient's norm. `linear` of
    shape (draws, D): the linear terms b_k.
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if X.shape[0] * X.shape[1] <= DENSE_CELLS and X.nnz * 30 >= X.shape[0] * X.shape[1]:
            X = X.toarray()
    if isinstance(X, SummedRows):
        X = X if len(linear) == 1 else X.toarray()  # a batch takes equal records together
    else:
        X = X.astype(float, copy=False)
    target = (np.asarray(signs, dtype=float) + 1) / 2
    bound = tolerance / 2
    theta = np.zeros(linear.shape)
    norms = np.full(len(linear), np.inf)
    with np.errstate(all="ignore"):  # a non-finite number fails every test below and is never kept
        if len(linear) > 1:
            theta, norms = _batched(X, target, loss, reg_lambda, bound, linear)
        for k in np.flatnonzero(~(norms <= bound)).tolist():
            part = slice(k, k + 1)

            def solve(at: float, steps: int, part: slice = part) -> None:
                theta[part], norms[part] = _descend(X, X, target, loss, at, bound, linear[part], theta[part], steps)

            solve(reg_lambda, PLAIN_STEPS)
            if not norms[k] <= bound:
                for stage in _stages(reg_lambda, loss.curvature * X.shape[0]):
                    solve(stage, PLAIN_STEPS)
                solve(reg_lambda, MAX_STEPS)
    return theta


def _batched(X, target, loss, reg_lambda, bound, linear) -> tuple[FloatArray, FloatArray]:
    """Descend in all draws at once, from the minimiser at the mean of their linear terms, nearly."""
    few, few_targets, counts = (X, target, None) if loss.by_record else _taken_together(X, target)
    low = few.astype(np.float32)
    mean = linear.mean(axis=0, keepdims=True)
    near = max(bound, NEAR * float(np.median(np.linalg.norm(linear - mean, axis=1))))
    start, _ = _descend(few, few, few_targets, loss, reg_lambda, near, mean, np.zeros(mean.shape), PLAIN_STEPS, counts)
    theta, norms = np.repeat(start, len(linear), axis=0), np.empty(len(linear))
    n_blocks = -(-len(linear) // max(BLOCK_CELLS // max(few.shape[0], 1), 8))
    for part in np.array_split(np.arange(len(linear)), n_blocks):
        options = reg_lambda, bound, linear[part], theta[part], BATCH_STEPS, counts
        theta[part], norms[part] = _descend(few, low, few_targets, loss, *options)
    return theta, norms


def _taken_together(X: Any, target: FloatArray) -> tuple[Any, FloatArray, FloatArray | None]:
    """Return the different rows of a dense table with their targets, and how many records each stands for.

    None: each stands for one, because fewer than half of the records are equal to others, or the table is sparse.
    """
    n = X.shape[0]
    if sparse.issparse(X) or not X.size:
        return X, target, None
    factors = np.random.default_rng(0).integers(1 << 63, size=X.shape[1] + 1, dtype=np.uint64)
    parts = [slice(start, start + CHUNK) for start in range(0, n, CHUNK)]
    rows = (np.column_stack([X[part], target[part]]) for part in parts)
    hashes = np.concatenate([hash_array(row.ravel()).reshape(row.shape) @ factors for row in rows])
    _, first, place, counts = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    same = first[place]
    equal = 2 * len(first) <= n and (target == target[same]).all()
    if not (equal and all((X[part] == X[same[part]]).all() for part in parts)):  # two hashes may be equal by chance
        return X, target, None
    return X[first], target[first], counts.astype(float)[:, None]


def _stages(reg_lambda: float, stiffest: float) -> list[float]:
    """Return decreasing regularisers above λ; the minimiser at each is a good start for the next."""
    decades = int(np.ceil(np.log10(max(stiffest / reg_lambda, 1.0))))
    return [reg_lambda * 10.0**decade for decade in range(decades, 0, -1)]


def gradient(
    X: Any,
    target: FloatArray,
    loss: Loss,
    reg_lambda: float,
    linear: FloatArray,
    theta: FloatArray,
    counts: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return ∇J_k(θ_k), shape (draws, D), and the residuals, shape (n, draws). target is (s + 1)/2.

    `counts`, shape (n, 1), says how many records a row stands for. Default: one.
    """
    residual = loss.residual(np.asarray(X @ theta.T), target)
    total = (reg_lambda * theta + linear).astype(np.longdouble)
    if isinstance(X, SummedRows):
        return (total + X.sums(residual)).astype(float), residual
    for start in range(0, len(residual), CHUNK):  # short sums, added up in extended precision
        part = slice(start, start + CHUNK)
        total += transposed(X[part], residual[part] if counts is None else counts[part] * residual[part])
    return total.astype(float), residual


def transposed(X: Any, values: FloatArray) -> FloatArray:
    """Return (X' values)' of shape (draws, D)."""
    if isinstance(X, SummedRows):
        return X.sums(values).astype(float)
    return np.asarray(X.T @ values).T if sparse.issparse(X) else values.T @ X


def through(X: Any, matrix: FloatArray, function: Callable[[slice, FloatArray], FloatArray]) -> FloatArray:
    """Return (X' f(X M))' for a function of some rows and their products with a matrix M."""
    if isinstance(X, CodedRows):
        return X.through(matrix, function)
    return np.asarray(function(slice(None), X @ matrix).T @ X)


def _descend(
    X, low, target, loss, reg_lambda, bound, linear, theta, steps, counts=None
) -> tuple[FloatArray, FloatArray]:
    """Take inexact Newton steps until every gradient norm is at most `bound` or no step makes progress."""
    theta = theta.copy()
    g, residual = gradient(X, target, loss, reg_lambda, linear, theta, counts)
    norms = np.linalg.norm(g, axis=1)
    lowest = norms.copy()
    alive = norms > bound
    eta = np.full(len(theta), FORCING)
    for _ in range(steps):
        (now,) = np.nonzero(alive)
        if not now.size:
            break
        weights = loss.weights(residual[:, now])
        if counts is not None:
            weights *= counts
        d = _newton_direction(low, weights, reg_lambda, g[now], eta[now])
        lost = ~(np.einsum("kd,kd->k", d, g[now]) < 0)  # rounding left no descent direction
        d[lost] = -g[now[lost]]
        step = np.ones(len(now))
        trying = np.arange(len(now))
        for _ in range(MAX_HALVINGS):
            checkpoint()
            k = now[trying]
            trial = theta[k] + step[trying, None] * d[trying]
            g_new, residual_new = gradient(X, target, loss, reg_lambda, linear[k], trial, counts)
            norms_new = np.linalg.norm(g_new, axis=1)
            before_minimum = np.einsum("kd,kd->k", g_new, d[trying]) <= 0
            good = before_minimum | (norms_new <= (1 - DESCENT) * lowest[k])
            kept = k[good]
            # superlinear convergence: η falls with the gain of this step, but not below what `bound` requires
            eta[kept] = np.minimum(FORCING, np.maximum((norms_new[good] / norms[kept]) ** 1.5, FINEST))
            theta[kept], g[kept], norms[kept] = trial[good], g_new[good], norms_new[good]
            lowest[kept] = np.minimum(lowest[kept], norms[kept])
            eta[kept] = np.minimum(FORCING, np.maximum(eta[kept], bound / 4 / norms[kept]))
            residual[:, kept] = residual_new[:, good]
            trying = trying[~good]
            if not trying.size:
                break
            step[trying] /= 2
        alive[now[trying]] = False  # not even a tiny step makes progress
        alive &= norms > bound
    return theta, norms


def _newton_direction(X, weights, reg_lambda, g, eta) -> FloatArray:
    """Solve (X'W_kX + λI) d_k = -g_k to the relative residual η_k by preconditioned conjugate gradients.

    X may be in single precision, because the caller tests the step with gradients in double precision.
    """
    solve = _preconditioner(X, weights.mean(axis=1), reg_lambda)
    weights = weights.astype(X.dtype, copy=False)
    d = np.zeros_like(g)
    stop = eta * np.linalg.norm(g, axis=1)
    (at,) = np.nonzero(np.ones(len(g)))
    r = -g
    direction = z = solve(r)
    rz = np.einsum("kd,kd->k", r, z)
    for _ in range(MAX_INNER):
        if not at.size:
            break
        checkpoint()
        image = transposed(X, weights * np.asarray(X @ direction.T.astype(X.dtype))) + reg_lambda * direction
        curvature = np.einsum("kd,kd->k", direction, image)
        alpha = (rz / np.where(curvature > 0, curvature, np.inf))[:, None]
        d[at] += alpha * direction
        r -= alpha * image
        running = (np.linalg.norm(r, axis=1) > stop[at]) & (curvature > 0)
        if not running.all():
            at, r, direction, rz = at[running], r[running], direction[running], rz[running]
            weights = weights[:, running]
        z = solve(r)
        rz, before = np.einsum("kd,kd->k", r, z), rz
        direction = z + (rz / before)[:, None] * direction
    return d


def _preconditioner(X, weights, reg_lambda):
    """Return the function r -> M⁻¹ r for the Hessian M at the batch's mean weights."""
    D = X.shape[1]
    if D > FACTOR_COLUMNS:
        if isinstance(X, SummedRows):
            diagonal = X.squares(weights) + reg_lambda
        else:
            squares = X.multiply(X) if sparse.issparse(X) else X * X
            diagonal = np.asarray(squares.T @ weights) + reg_lambda
        return lambda r: r / diagonal
    if isinstance(X, SummedRows):
        M = X.square(weights)
    elif sparse.issparse(X):
        M = (X.T @ (sparse.diags_array(weights) @ X)).toarray()
    else:
        root = np.sqrt(weights)[:, None] * X
        M = root.T @ root
    M.flat[:: D + 1] += reg_lambda
    diagonal = M.flat[:: D + 1].copy()
    for jitter in (0.0, 1e-14, 1e-12, 1e-9, 1e-6):  # rounding may lose λ; any positive definite M will do
        M.flat[:: D + 1] = diagonal + jitter * diagonal.sum()
        try:
            factor = linalg.cho_factor(M, lower=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        return lambda r: linalg.cho_solve(factor, r.T, check_finite=False).T
    return lambda r: r / diagonal
