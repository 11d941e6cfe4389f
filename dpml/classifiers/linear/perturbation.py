"""Release the weights of a linear classifier: output and objective perturbation (Antonova 2016, Algorithms 6 and 7).

Statistics: the minimiser of the regularised loss on records in the unit ball (`minimiser`). Release: noise on the
minimiser (`release_output`), or on the objective before it is minimised (`release_objective`). `PerturbedMinimum` and
`SecureMinimum` are the mechanisms of the latter, which state their exact cost on two given tables.

Throughout, J(θ) = Σ_i l(s_i θ·x_i) + (λ/2)‖θ‖² with s_i in {-1, +1} and ‖x_i‖₂ <= 1: a sum, not a mean. The loss l
is the logistic loss or the Huber-smoothed hinge (`dpml.classifiers.linear.solver`).
λ is `reg_lambda`: public and independent of N. With the Λ of Chaudhuri et al. λ = N·Λ, and scikit-learn's C is 1/λ.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear.coded import CodedRows, PackedRows, SummedRows
from dpml.classifiers.linear.prior import Prior
from dpml.classifiers.linear.solver import LOGISTIC, Loss, check_loss, minimise
from dpml.exceptions import InvalidData, InvalidParameter, NoSecureSampler
from dpml.mechanisms import boundary
from dpml.mechanisms.noise import Laplace, NormalNoise, gaussian_delta
from dpml.mechanisms.norms import NormGamma, OneHotNorm
from dpml.mechanisms.private import is_private, n_columns, statistic
from dpml.mechanisms.secure_one_hot import GridCover, noise_distance, noise_vector

CALIBRATIONS = ("tight", "published")
NORMS = ("l2", "l1")
TOLERANCE = 1e-8
SOLVER_SHARE = 0.001  # share of ε for the noise that covers the solver's error in objective perturbation
# The stated tolerance of a secure release is this many times the solver's, because a release has to hold on any data:
# the rest covers the rounding of the solver's sums, and of the noise as floats
MARGIN = 10.0
# by this part a record may be longer than stated, or a rate higher, because of floating-point arithmetic
ROUNDED = 1e-8


# ---- statistics -----------------------------------------------------------------------------------------------------


def minimiser(
    X: Any,
    signs: Any,
    reg_lambda: float,
    *,
    tolerance: float = TOLERANCE,
    linear: Any = None,
    loss: Loss = LOGISTIC,
) -> FloatArray:
    """Return the minimiser of J(θ) + b·θ with a gradient of norm at most `tolerance`. Exact: not private.

    By strong convexity it is within `tolerance`/λ of the exact minimiser. No data make it raise an error or stop early.
    `dpml.classifiers.linear.solver` describes the limits set by rounding.

    `X` of shape (n, D), or `Private`: records in the unit ball (`dpml.encoding.unit_scale`). `signs` of shape (n,):
    -1 or +1. `reg_lambda`: λ in [1e-9, 1e12]. `tolerance`: τ in [1e-10, 1]. `linear` of shape (D,) or (draws, D):
    linear terms b, by default 0. The result has the shape of `linear`.
    """
    X, signs = check_records(X, signs)
    reg_lambda, D = check_lambda(reg_lambda), n_columns(X)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    b = np.zeros(D) if linear is None else np.asarray(linear, dtype=float)
    if b.ndim not in (1, 2) or b.shape[-1] != D or not np.isfinite(b).all():
        raise InvalidParameter("linear", b.shape, f"finite, of shape ({D},) or (draws, {D})")
    return _minimisers(X, signs, reg_lambda, tolerance, b, check_loss(loss))


@statistic
def _minimisers(X: Any, signs: Any, reg_lambda: float, tolerance: float, b: FloatArray, loss: Loss) -> FloatArray:
    return minimise(X, signs, reg_lambda, tolerance, np.atleast_2d(b), loss).reshape(b.shape)


@statistic
def class_signs(codes: Any, positive: int) -> FloatArray:
    """Return +1 for records of one class and -1 for the others."""
    return np.where(np.asarray(codes) == positive, 1.0, -1.0)


@statistic
def class_targets(codes: Any, positive: int) -> FloatArray:
    """Return 1 for records of one class and 0 for the others."""
    return (np.asarray(codes) == positive).astype(float)


def check_records(X: Any, signs: Any, norm: str | OneHotNorm = "l2", squared_norm: float = 1.0) -> tuple[Any, Any]:
    """Check that records are in the unit ball of a norm with ‖x‖₂² <= `squared_norm`, and return them and their signs.

    No error tells of private records: a fit has bounded each one, and a longer one would count as 0.
    """
    X, signs = _as_floats(X), _as_floats(signs)
    if not is_private((X, signs)) and (X.ndim != 2 or signs.shape != X.shape[:1] or not (np.abs(signs) == 1).all()):
        raise InvalidData(f"X has shape {X.shape} and signs {signs.shape}: they must be (n, D) and n times -1 or +1")
    return check_rows(X, norm, squared_norm), signs


def check_rows(X: Any, norm: str | OneHotNorm, squared_norm: float) -> Any:
    """Check records as `check_records` does, and return them."""
    X = _as_floats(X)
    inside = _inside(X, norm, squared_norm)
    if is_private(X):
        return only_rows(X, inside)
    if not inside.all():
        name = "one-hot" if isinstance(norm, OneHotNorm) else norm
        bound = f"{name} norm 1" if squared_norm == 1 else f"{name} norm 1 or squared length {squared_norm:g}"
        raise InvalidData(f"a record is longer than its bound ({bound}): scale by a public bound, as unit_scale does")
    return X


@statistic
def _as_floats(values: Any) -> Any:
    if isinstance(values, SummedRows):
        return values
    return sparse.csr_array(values, dtype=float) if sparse.issparse(values) else np.asarray(values, dtype=float)


@statistic
def _inside(X: Any, norm: str | OneHotNorm, squared_norm: float) -> BoolArray:
    """Return which records are at most as long as stated."""
    if X.ndim != 2:
        return np.zeros(0, dtype=bool)
    if isinstance(X, CodedRows):
        bounded = isinstance(norm, OneHotNorm) and norm.norm(X.extremes()).max() / norm.sensitivity <= 1 + 1e-9
        if (bounded or norm == "l2") and X.largest_square <= squared_norm * (1 + 1e-9):
            return np.ones(X.shape[0], dtype=bool)
        X = X.toarray()
    if isinstance(X, PackedRows):
        return np.concatenate([_inside(block, norm, squared_norm) for _, block in X.blocks()])
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    inside = np.asarray(squares) <= squared_norm * (1 + 1e-9)
    if isinstance(norm, OneHotNorm):
        inside &= norm.norm(X.toarray() if sparse.issparse(X) else X) / norm.sensitivity <= 1 + 1e-9
    elif norm == "l1":
        inside &= np.asarray(abs(X).sum(axis=1)) <= 1 + 1e-9
    return inside


@statistic
def only_rows(X: Any, keep: BoolArray) -> Any:
    """Return a table in which all records but some are 0."""
    if keep.all():
        return X
    X = X.toarray() if isinstance(X, SummedRows) else X
    return sparse.diags_array(keep.astype(float)) @ X if sparse.issparse(X) else np.where(keep[:, None], X, 0.0)


def reachable(tolerance: float, noise_norm: float, reg_lambda: float, loss: Loss) -> float:
    """Return τ, raised by a public rule where b or b/λ is so large that its rounding error would exceed τ."""
    return max(tolerance, 2.0**-44 * noise_norm * max(4 * loss.curvature, 1.0) / min(reg_lambda, 1.0))


def check_lambda(value: Any, name: str = "reg_lambda") -> float:
    """Return λ, checked to be in the range in which the solver is accurate."""
    return check_number(value, name, 1e-9, 1e12)


# ---- release --------------------------------------------------------------------------------------------------------


_reshaped = statistic(np.reshape)


def release_output(
    theta: Any,
    epsilon: float,
    reg_lambda: float,
    *,
    relation: str = "add-remove",
    tolerance: float = TOLERANCE,
    calibration: str = "tight",
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release the minimiser with norm-gamma noise of L2 sensitivity (Δ + 2τ)/λ (Antonova 2016, Algorithm 6).

    It holds for either loss.

    Privacy: ε per draw for `relation`. Derivation: a record's gradient has a norm of at most 1 at any θ. So the
    gradients of two neighbours' objectives differ by at most Δ, 1 under add/remove and 2 under replace-one. By λ-strong
    convexity the exact minimisers are at most Δ/λ apart, and each computed minimiser is at most τ/λ from the exact one.
    ``calibration="published"`` uses the paper's replace-one constant 2 under both relations.

    `theta` of shape (D,), or `Private`: from `minimiser` with this `tolerance`. `tolerance` is τ. `calibration`:
    "tight" or "published". The result has the shape (draws, D).
    """
    reg_lambda = check_lambda(reg_lambda)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    replaced = check_relation(relation) == "replace-one"
    published = check_choice(calibration, "calibration", CALIBRATIONS) == "published"
    sensitivity = ((2 if replaced or published else 1) + 2 * tolerance) / reg_lambda
    return NormGamma(epsilon, sensitivity, n_columns(_reshaped(theta, (1, -1)))).release(theta, rng=rng, draws=draws)


def _cost(loss: Loss, rate: float, reg_lambda: float, relation: str) -> float:
    """Return the ε of objective perturbation at the exact minimiser; see `objective_noise`."""
    return loss.largest_ratio(rate, reg_lambda) + (rate if relation == "replace-one" else 0.0)


def _bisect(good: float, bad: float, holds: Any) -> float:
    """Return the last point from `good` towards `bad` at which `holds`, which changes once between them."""
    for _ in range(200):
        middle = (good + bad) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def objective_noise(
    epsilon: float,
    reg_lambda: float,
    *,
    relation: str = "add-remove",
    calibration: str = "tight",
    loss: Loss = LOGISTIC,
) -> tuple[float, float]:
    """Return the noise rate β and the regulariser λ' >= λ of objective perturbation (Antonova 2016, Algorithm 7).

    At the exact minimiser θ of J(θ) + b·θ, b = -∇J(θ; D) is a function of θ. So θ has the density
    f(∇J(θ; D))·det H(θ; D) with f(b) ∝ exp(-β‖b‖) and H the Hessian. (The map θ -> b is a bijection, because J is
    strongly convex, and is Lipschitz in both directions. So the change of variables needs a Hessian only almost
    everywhere, as the Huber hinge has it.) Let a record have the pull w = -l'(s θ·x) and the curvature k = l''(s θ·x).
    Its loss has a gradient of norm w‖x‖ <= w and the Hessian kxx'.

    - *Add/remove.* By the matrix determinant lemma the larger data set's determinant is the smaller one's times
      1 + kx'H⁻¹x, which is in [1, 1 + k/λ'], since H ⪰ λ'I. Let m(β, λ') be the supremum of βw + log(1 + k/λ') over the
      loss's pairs (w, k). The log ratio of the two densities is at most m(β, λ') in one direction and at most β <= m in
      the other.
    - *Replace-one.* Let C be the common records. Then H_C ⪰ λ'I, and both determinants are det H_C times a factor
      1 + k_i x_i'H_C⁻¹x_i. Their ratio is at most the larger factor, because the other factor is at least 1. The
      gradients differ by at most w₁ + w₂. The cost is at most β + m(β, λ').

    Separate bounds on the two terms of m give m <= β + log(1 + c/λ'). The paper subtracts log(1 + 2c/λ + c²/λ²) under
    both relations, which is twice this logarithm. For the Huber hinge the bound is m itself, because its curvature is
    c = 1/(2h) up to w = 1. The logistic loss has k = w(1-w), and its two terms are not large together: the curvature
    vanishes where w is near 1. βw + log(1 + w(1-w)/λ') is concave in w with slope β - 1/λ' at w = 1. So **for
    β >= 1/λ' the determinant costs nothing** and m = β. For smaller β the maximum is at
    w = ½ + β(1 + 4λ')/(2(√(4 + β²(1 + 4λ')) + 2)).

    *tight*: the largest β with cost m(β, λ) (or β + m) equal to ε. If that leaves less than half of ε's rate (ε, or ε/2
    under replace-one), λ is raised to the least λ' at which just half is left: Algorithm 7's second branch.
    *published*: Algorithm 7 as in the paper: ε' = ε - log(1 + 2c/λ + c²/λ²) if it is positive, else λ' = c/(exp(ε/4) -
    1) and ε' = ε/2. In both cases β = ε'/2. It is private under both relations, with more noise than necessary.

    λ is in [1e-9, 1e12], and `calibration` is "tight" or "published". The result is (β, λ'): the mean norm of b is D/β,
    and λ' is the paper's λ + N·Δ'. It depends only on ε, λ, the relation, the calibration and the loss.
    """
    epsilon = check_epsilon(epsilon)
    reg_lambda = check_lambda(reg_lambda)
    check_relation(relation)
    c = check_loss(loss).curvature
    if check_choice(calibration, "calibration", CALIBRATIONS) == "published":
        left = epsilon - 2 * math.log1p(c / reg_lambda)  # 1 + 2c/λ + c²/λ² = (1 + c/λ)²
        if left > 0:
            return left / 2, reg_lambda
        return epsilon / 4, c / math.expm1(epsilon / 4)
    most = epsilon if relation == "add-remove" else epsilon / 2
    if _cost(loss, most / 2, reg_lambda, relation) > epsilon:
        enough = loss.enough(epsilon / 2)  # so even the separate bounds leave half
        return most / 2, _bisect(enough, reg_lambda, lambda lam: _cost(loss, most / 2, lam, relation) <= epsilon)
    if _cost(loss, most, reg_lambda, relation) <= epsilon:
        return most, reg_lambda
    rate = _bisect(most / 2, most, lambda rate: _cost(loss, rate, reg_lambda, relation) <= epsilon)
    return rate, reg_lambda


def release_objective(
    X: Any,
    signs: Any,
    epsilon: float,
    reg_lambda: float,
    *,
    relation: str = "add-remove",
    tolerance: float = TOLERANCE,
    calibration: str = "tight",
    loss: Loss = LOGISTIC,
    norm: str | OneHotNorm = "l2",
    squared_norm: float = 1.0,
    centre: Any = None,
    prior: Prior | None = None,
    draws: int = 1,
    rng: np.random.Generator | None = None,
    secure: bool = False,
) -> FloatArray:
    """Release minimisers of J(θ) + b·θ with a noise vector b for each draw (Antonova 2016, Algorithm 7).

    With ``norm="l2"`` b is norm-gamma noise, density ∝ exp(-β‖b‖₂), for records in the unit ball. With ``norm="l1"`` it
    is independent Laplace noise of scale 1/β, density ∝ exp(-β‖b‖₁), for records with ‖x‖₁ <= 1. With a
    `dpml.mechanisms.OneHotNorm` it is that noise at the rate β, for records within its `sensitivity`. The derivation of
    `objective_noise` holds for all of them: it needs only that a gradient's norm, in the norm of the noise, is at most
    its pull, and that ‖x‖₂ <= 1. The last two are K-norm mechanisms (Awan and Slavković 2021) in the objective. In
    units of a one, for records of r ones, Laplace noise has a standard deviation of √2·r/β in each coordinate of the
    gradient. Norm-gamma noise has about √(D·r)/β.

    Privacy: ε per draw for `relation`: ε₁ = 0.999·ε for the exact minimiser (`objective_noise`) and ε₂ = 0.001·ε for
    the solver's error. Derivation: the release is a_D(b) + η. The computed minimiser a_D(b) has a gradient of norm at
    most τ, so it lies within τ/λ' of the exact minimiser θ(b; D); η is norm-gamma noise of L2 sensitivity 2τ/λ'. For
    neighbours D and D' change variables from b to θ on both sides. The densities of θ differ by a factor of at most
    exp(ε₁). Given the same θ, the two centres a_D and a_D' differ by at most 2τ/λ', so the densities of the release
    differ by a factor of at most exp(ε₂). Integrate over θ. τ is public, and the number of iterations is not released.
    If every ‖x‖₂² <= q, the determinant's factor is at most 1 + k·q/λ', so `objective_noise` applies with λ'/q for λ'.
    τ is raised by a public rule where b or b/λ' is so large that its rounding error would exceed τ.

    `X`, `signs`: as for `minimiser`. `tolerance` is τ. `norm`: "l2", "l1" or a `OneHotNorm`, whose ε is not used: the
    norm in which records are bounded by 1, or by its `sensitivity`. `squared_norm`: q in (0, 1]. `centre` of shape
    (D,), public or released before: λ/2 is the weight of ‖θ - centre‖². The derivation holds for it, because it changes
    the gradient by a constant that is the same for neighbours. `prior`: a public covariance of the weights, which is
    unrelated to those of the `centre` that are not 0. With it, q is the largest ‖R'x‖² of a record in the norm's body,
    because a convex function is largest at a corner. `secure`: secure noise, without an `rng`, for a
    `OneHotNorm` (`release_secure_minimum`). The result has the shape (draws, D).
    """
    epsilon = check_epsilon(epsilon)
    draws = check_integer(draws, "draws", 1)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    squared_norm = check_number(squared_norm, "squared_norm", 0.0, 1.0, open_lower=True)
    if not isinstance(norm, OneHotNorm):
        check_choice(norm, "norm", NORMS)
    X, signs = check_records(X, signs, norm, squared_norm)
    D = n_columns(X)
    if prior is not None:
        if not isinstance(norm, OneHotNorm):
            raise InvalidParameter("prior", "a prior of another norm", "for a OneHotNorm")
        squared_norm = prior.longest * norm.sensitivity**2
    spare, main = split_epsilon(epsilon, SOLVER_SHARE)
    options: dict[str, Any] = {"relation": relation, "calibration": calibration, "loss": loss}
    rate, reg_lambda = objective_noise(main, check_lambda(reg_lambda) / squared_norm, **options)
    reg_lambda *= squared_norm
    start = None if centre is None else np.asarray(centre, dtype=float)
    if start is not None and (start.shape != (D,) or not np.isfinite(start).all()):
        raise InvalidParameter("centre", start.shape, f"finite, of shape ({D},)")
    pulled = 0.0 if start is None else reg_lambda * float(np.linalg.norm(start))
    stretch = 1.0 if prior is None else prior.stretch
    tolerance = reachable(tolerance, stretch * (D + 40) / rate + pulled, reg_lambda, loss)
    noise: Noise
    if isinstance(norm, OneHotNorm):
        noise = replace(norm, epsilon=rate)
    else:
        noise = NormGamma(rate, 1.0, D) if norm == "l2" else Laplace(rate, 1.0)
    point = None if start is None else tuple(start.tolist())
    perturbed = PerturbedMinimum(noise, draws, reg_lambda, tolerance, loss, point, prior)
    if secure:
        theta = release_secure_minimum(perturbed, spare, (X, signs), rng)
    else:
        theta = release_minimum(perturbed, NormGamma(spare, 2 * tolerance / reg_lambda, D), (X, signs), rng)
    return theta if prior is None else theta @ prior.root.T


# ---- mechanisms -----------------------------------------------------------------------------------------------------

Noise = NormGamma | Laplace | OneHotNorm | NormalNoise


def release_minimum(
    perturbed: PerturbedMinimum,
    cover: NormGamma | NormalNoise,
    records: tuple[Any, ...],
    rng: np.random.Generator | None,
) -> Any:
    """Release the minimisers of a perturbed objective plus `cover`, for simulations."""
    rng = check_rng(rng)
    theta = boundary.release(perturbed, records, rng)
    # each computed minimiser is within τ/λ of the exact one, so two of them are within 2τ/λ
    return boundary.release(_Cover(cover, 2 * perturbed.tolerance / perturbed.reg_lambda), (theta, *records), rng)


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimiser of J(θ) + b·θ, where b is a noise vector centred at 0.

    With a `centre` c the regulariser is (λ/2)‖θ - c‖², which differs from (λ/2)‖θ‖² by -λc·θ and a constant. With a
    `prior`, records and noise are multiplied by its root.
    """

    noise: Noise
    draws: int
    reg_lambda: float
    tolerance: float
    loss: Loss
    centre: tuple[float, ...] | None = None  # a tuple, because mechanisms are compared
    prior: Prior | None = None

    @property
    def n_vectors(self) -> int:
        """Number of noise vectors of a draw."""
        return 1

    @property
    def stretch(self) -> float:
        """By how much the map that the noise goes through may stretch a distance: R's largest singular value."""
        return 1.0 if self.prior is None else self.prior.stretch

    def at_prior(self, X: Any, b: FloatArray) -> tuple[Any, FloatArray]:
        """Return the records and the noise times the prior's root, if there is one."""
        return (X, b) if self.prior is None else (self.prior.of_rows(X), b @ self.prior.root)

    def noise_shape(self, n_columns: int) -> tuple[int, ...]:
        """Return the shape of the noise of all draws."""
        return self.draws, n_columns

    def _sample(self, statistic: Any, rng: Any) -> FloatArray:
        shape = self.noise_shape(statistic[0].shape[1])
        return self.minima(statistic, self.noise._sample(np.zeros(shape), rng))

    def minima(self, statistic: Any, b: FloatArray) -> FloatArray:
        """Return the minimisers for noise vectors, shape (draws, n_vectors·D)."""
        X, signs = statistic
        X, b = self.at_prior(X, b)
        if self.centre is not None:
            b = b - self.reg_lambda * np.array(self.centre)
        return minimise(X, signs, self.reg_lambda, self.tolerance, b, self.loss)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        gone, come = different_records(statistic, other_statistic)
        if not len(gone) and not len(come):
            return boundary.NOTHING
        if max(len(gone), len(come)) > 1:
            return boundary.EVERYTHING  # the tables are not neighbours, so the proofs do not apply
        changed = [*gone, *come]
        if isinstance(self.noise, NormalNoise):
            return boundary.Loss(profiles=(lambda epsilon: self.draws * self._delta(epsilon, changed),))
        return boundary.Loss(pure=self.draws * self._ratio(1 / self.noise.scale, changed))

    def _lengths(self, z: FloatArray) -> tuple[float, float]:
        """Return the norm of a record that belongs to the noise, and its squared Euclidean norm, at the prior."""
        at_prior = z if self.prior is None else z @ self.prior.root
        squared = float(at_prior @ at_prior)
        if isinstance(self.noise, OneHotNorm):
            return float(self.noise.norm(z)), squared
        norm = np.abs(z).sum() if isinstance(self.noise, Laplace) else np.linalg.norm(z)
        return float(norm), squared

    def _ratio(self, rate: float, changed: list[FloatArray]) -> float:
        """Return the largest log ratio, as derived in `objective_noise`, for the norms of these records."""
        largest = 0.0
        for i, z in enumerate(changed):
            length, squared = self._lengths(z)
            others = sum(self._lengths(other)[0] for j, other in enumerate(changed) if j != i)
            own = self.loss.largest_ratio(rate * length, self.reg_lambda / squared) if squared else 0.0
            largest = max(largest, own + rate * others)  # one record's determinant counts, and the pulls of all
        return largest

    def _delta(self, epsilon: float, changed: list[FloatArray]) -> float:
        """Return δ, as derived in `gaussian_objective_noise`, for the norms of these records."""
        sigma = self.noise.scale
        lengths = [self._lengths(z) for z in changed]
        if len(changed) == 1:
            length, squared = lengths[0]
            if not squared:
                return 0.0
            # the rate of a unit record for which the largest ratio is ε
            low, high = 0.0, epsilon
            for _ in range(100):
                middle = (low + high) / 2
                fits = self.loss.largest_ratio(middle, self.reg_lambda / squared) <= epsilon
                low, high = (middle, high) if fits else (low, middle)
            return gaussian_delta(low, sigma, length) if low > 0 else 1.0
        left = epsilon - math.log1p(max(squared for _, squared in lengths) * self.loss.curvature / self.reg_lambda)
        if left <= 0:
            return 1.0
        corners = [float(np.linalg.norm(changed[0] - changed[1])), *(length for length, _ in lengths)]
        return math.fsum(gaussian_delta(left, sigma, size) for size in corners if size)


@dataclass(frozen=True)
class _Cover:
    """Noise on a computed minimiser, which may be anywhere within `reach`/2 of the exact one."""

    noise: NormGamma | NormalNoise
    reach: float

    def _sample(self, statistic: Any, rng: np.random.Generator) -> FloatArray:
        return self.noise._sample(statistic[0], rng)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        (theta, *records), (other_theta, *other_records) = statistic, other_statistic
        if not any(map(len, different_records(records, other_records))):
            return boundary.NOTHING
        distance = np.linalg.norm(np.subtract(theta, other_theta), axis=-1) + self.reach
        if isinstance(self.noise, NormalNoise):
            return boundary.Loss(gaussian=float((distance**2).sum()) / self.noise.scale**2)
        return boundary.Loss(pure=float(distance.sum()) / self.noise.scale)


def different_records(statistic: Any, other_statistic: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the signed records s·x that only the first table has, and those that only the second has.

    With `starts` (`dpml.classifiers.linear.classes`) a record is x, its class and its start, one after the other.
    """
    first, second = (Counter(_signed_rows(*side)) for side in (statistic, other_statistic))
    return (
        [np.frombuffer(row) for row in (first - second).elements()],
        [np.frombuffer(row) for row in (second - first).elements()],
    )


def _signed_rows(X: Any, signs: Any, starts: Any = None) -> list[bytes]:
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    rows = dense * np.asarray(signs)[:, None] if starts is None else np.column_stack([dense, signs, starts])
    # adding 0.0 turns -0.0 into 0.0, so that both have the same bytes
    return [row.tobytes() for row in np.ascontiguousarray(rows + 0.0)]


def release_secure_minimum(
    perturbed: PerturbedMinimum, cover_epsilon: float, records: tuple[Any, ...], rng: np.random.Generator | None
) -> Any:
    """Release minimisers of J(θ) + b·θ with secure noise, whose rate is less by the part `ROUNDED`."""
    if not isinstance(perturbed.noise, OneHotNorm) or rng is not None:
        raise NoSecureSampler("secure noise on an objective is that of OneHotNorm, without an rng")
    noise = replace(perturbed.noise, epsilon=perturbed.noise.epsilon * (1 - ROUNDED))
    return boundary.release(SecureMinimum(replace(perturbed, noise=noise), cover_epsilon), records, None)


@dataclass(frozen=True)
class SecureMinimum:
    """The minimiser of J(θ) + b·θ on a grid, with the noise b of `OneHotNorm` and integer Laplace noise, both secure.

    Released: multiples of the grid's step.

    Privacy: the cost of `perturbed`, and `cover_epsilon`. Derivation: let b* be the noise with a density, θ* the exact
    minimiser for it, and b the rounded noise, within γ of b* (`noise_distance`). Of K vectors all together are within
    √K·γ, and `PerturbedMinimum.stretch` times that where they are mapped. θ* is the ideal release. Given θ* and a
    table, the mapped b* is -∇J(θ*), and b is drawn given b*. The solver's θ has a gradient of J + b of norm at most τ,
    so one of J + b* of norm at most τ + γ, and by strong convexity is within (τ + γ)/λ of θ*. So given θ* the values of
    two neighbours are within 2(τ + γ)/λ of each other, for which `GridCover` has integer noise.

    `perturbed`: with the noise `OneHotNorm`. `cover_epsilon`: ε of the second noise.
    """

    perturbed: PerturbedMinimum
    cover_epsilon: float

    @property
    def noise(self) -> OneHotNorm:
        """The noise with a density."""
        assert isinstance(self.perturbed.noise, OneHotNorm)
        return self.perturbed.noise

    @property
    def cover(self) -> GridCover:
        """The second noise."""
        n_vectors = self.perturbed.n_vectors
        error = noise_distance(self.noise) * math.sqrt(n_vectors) * self.perturbed.stretch
        bound = MARGIN * self.perturbed.tolerance + error
        return GridCover(self.cover_epsilon, 2 * bound / self.perturbed.reg_lambda, n_vectors * self.noise.dimension)

    def _sample(self, statistic: Any, rng: np.random.Generator | None) -> FloatArray:
        shape = self.perturbed.noise_shape(self.noise.dimension)
        vectors = [noise_vector(self.noise) for _ in range(math.prod(shape[:-1]))]
        return self.cover.noisy(self.perturbed.minima(statistic, np.reshape(vectors, shape)))

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        loss = self.perturbed._compare(statistic, other, other_statistic)
        return loss if loss == boundary.NOTHING else loss + boundary.Loss(pure=self.perturbed.draws * self.cover.loss)
