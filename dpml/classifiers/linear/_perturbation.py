"""Release the weights of a linear classifier: output and objective perturbation (the thesis, Algorithms 6 and 7).

Statistics: the minimiser of the regularised loss on records in the unit ball (`minimiser`). Release: noise on the
minimiser (`release_output`), or in the objective before it is minimised (`release_objective`).

Throughout, J(θ) = Σ_i l(s_i θ·x_i) + (λ/2)‖θ‖² with s_i in {-1, +1} and ‖x_i‖₂ <= 1: a sum, not a mean. The loss l
is the logistic one or the Huber-smoothed hinge (`dpml.classifiers.linear._losses`).
λ is `reg_lambda`; in the Λ of Chaudhuri et al. λ = N·Λ, and scikit-learn's C is 1/λ. It is public and has no N in it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear._losses import LOGISTIC, Loss, check_loss
from dpml.classifiers.linear._minimum import release_minimum
from dpml.classifiers.linear._newton import minimise
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms.laplace import Laplace
from dpml.mechanisms.norm import NormGamma

CALIBRATIONS = ("tight", "published")
NORMS = ("l2", "l1")
TOLERANCE = 1e-8
SOLVER_SHARE = 0.001  # of ε, for the noise that covers the inexact minimiser of objective perturbation
FloatArray = NDArray[np.float64]


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

    By strong convexity it is within `tolerance`/λ of the exact minimiser. No data make it raise or give up; what
    rounding leaves open is said in `dpml.classifiers.linear._newton`.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, D)
        Records in the unit ball (`dpml.encoding.unit_scale`).
    signs : array of shape (n,)
        -1 or +1.
    reg_lambda : float
        λ in [1e-9, 1e12].
    tolerance : float
        τ in [1e-10, 1].
    linear : array of shape (D,) or (draws, D), optional
        Linear terms b; all of a batch are solved together.
    loss : Loss
        `dpml.classifiers.linear.LOGISTIC` or `HuberHinge(h)` of the same place.

    Returns
    -------
    ndarray of shape (D,) or (draws, D)
    """
    X, signs = check_records(X, signs)
    reg_lambda = check_lambda(reg_lambda)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    b = np.zeros(X.shape[1]) if linear is None else np.asarray(linear, dtype=float)
    if b.ndim not in (1, 2) or b.shape[-1] != X.shape[1] or not np.isfinite(b).all():
        raise InvalidParameter("linear", b.shape, f"finite, of shape ({X.shape[1]},) or (draws, {X.shape[1]})")
    return minimise(X, signs, reg_lambda, tolerance, np.atleast_2d(b), check_loss(loss)).reshape(b.shape)


def check_records(X: Any, signs: Any, norm: str = "l2", squared_norm: float = 1.0) -> tuple[Any, FloatArray]:
    """Return records in the unit ball of a norm, with ‖x‖₂² <= `squared_norm`, and their signs, as arrays of float."""
    X = sparse.csr_array(X, dtype=float) if sparse.issparse(X) else np.asarray(X, dtype=float)
    signs = np.asarray(signs, dtype=float)
    if X.ndim != 2 or signs.shape != X.shape[:1] or not (np.abs(signs) == 1).all():
        raise InvalidData(f"X has shape {X.shape} and signs {signs.shape}: they must be (n, D) and n times -1 or +1")
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    too_long = not (np.asarray(squares) <= squared_norm * (1 + 1e-9)).all()
    if too_long or (norm == "l1" and not (np.asarray(abs(X).sum(axis=1)) <= 1 + 1e-9).all()):
        bound = f"{norm} norm 1" if squared_norm == 1 else f"{norm} norm 1 or squared length {squared_norm:g}"
        raise InvalidData(f"a record is longer than its bound ({bound}): scale by a public bound, as unit_scale does")
    return X, signs


def reachable(tolerance: float, noise_norm: float, reg_lambda: float, loss: Loss) -> float:
    """Return τ, raised by a public rule where b or b/λ is so long that its rounding would be more than τ."""
    return max(tolerance, 2.0**-44 * noise_norm * max(4 * loss.curvature, 1.0) / min(reg_lambda, 1.0))


def check_lambda(value: Any, name: str = "reg_lambda") -> float:
    """Return a regulariser that the solver's arithmetic can serve."""
    return check_number(value, name, 1e-9, 1e12)


# ---- release --------------------------------------------------------------------------------------------------------


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
    """Release the minimiser with norm-gamma noise of L2 sensitivity (Δ + 2τ)/λ (the thesis, Algorithm 6).

    It holds for either loss, whose gradients are what it rests on.

    Privacy: ε per draw for `relation`. Derivation: the losses' gradients at any θ are at most 1 long, so the
    gradients of two neighbours' objectives differ by at most Δ, 1 under add/remove and 2 under replace-one, and
    λ-strong convexity turns that into a distance of at most Δ/λ between the exact minimisers. Each computed one is
    at most τ/λ from its exact one. ``calibration="published"`` takes the paper's 2, which is its replace-one
    constant, under both relations.

    Parameters
    ----------
    theta : array of shape (D,)
        From `minimiser` with this `tolerance`.
    epsilon, reg_lambda : float
    relation : {"add-remove", "replace-one"}
    tolerance : float
        τ.
    calibration : {"tight", "published"}
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (draws, D)
    """
    reg_lambda = check_lambda(reg_lambda)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    replaced = check_relation(relation) == "replace-one"
    published = check_choice(calibration, "calibration", CALIBRATIONS) == "published"
    sensitivity = ((2 if replaced or published else 1) + 2 * tolerance) / reg_lambda
    theta = np.asarray(theta, dtype=float)
    return NormGamma(epsilon, sensitivity, theta.size).release(theta, rng=rng, draws=draws)


def _cost(loss: Loss, rate: float, reg_lambda: float, relation: str) -> float:
    """Return the ε of objective perturbation at the exact minimiser; see `objective_noise`."""
    return loss.largest_ratio(rate, reg_lambda) + (rate if relation == "replace-one" else 0.0)


def _bisect(good: float, bad: float, holds: Any) -> float:
    """Return the last point of [good, bad] at which `holds`, which changes once between them."""
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
    """Return the noise rate β and the regulariser λ' >= λ of objective perturbation (the thesis, Algorithm 7).

    At the exact minimiser θ of J(θ) + b·θ, b = -∇J(θ; D) is a function of θ, so θ has the density
    f(∇J(θ; D))·det H(θ; D) with f(b) ∝ exp(-β‖b‖) and H the Hessian. (θ -> b is onto and one to one, for J is strongly
    convex, and Lipschitz both ways; so the change of variables holds with a Hessian that exists almost everywhere,
    which is all that the Huber hinge has.) Let a record have the pull w = -l'(s θ·x) and the curvature k = l''(s θ·x):
    its loss has a gradient of norm w‖x‖ <= w and a Hessian kxx'.

    - *Add/remove.* By the matrix determinant lemma the larger data set's determinant is the smaller one's times
      1 + kx'H⁻¹x, which is in [1, 1 + k/λ'], since H ⪰ λ'I. So the log ratio of the two densities is at most
      m(β, λ') = sup over the loss's pairs (w, k) of βw + log(1 + k/λ') one way and at most β <= m the other way.
    - *Replace-one.* With C the common records, H_C ⪰ λ'I still, and both determinants are det H_C times a factor
      1 + k_i x_i'H_C⁻¹x_i; the larger one divided by the smaller one is at most the larger factor, for the other is at
      least 1. Gradients differ by at most w₁ + w₂. The cost is at most β + m(β, λ').

    Bounding the two terms of m apart gives β + log(1 + c/λ'): a single log(1 + c/λ') where the paper subtracts
    log(1 + 2c/λ + c²/λ²), which is twice that, under both relations. For the Huber hinge that is m, for its curvature
    is c = 1/(2h) up to w = 1. The logistic loss has k = w(1-w), and its terms are not large together: a gradient near
    1 means w near 1, where the curvature vanishes. βw + log(1 + w(1-w)/λ') is concave in w with slope β - 1/λ' at
    w = 1, so **for β >= 1/λ' the determinant costs nothing** and m = β; below it the maximum is at
    w = ½ + β(1 + 4λ')/(2(√(4 + β²(1 + 4λ')) + 2)).

    *tight*: the largest β with cost m(β, λ) (or β + m) equal to ε. If that leaves less than half of ε's rate (ε, or
    ε/2 under replace-one), λ is raised to the least λ' at which just half is left: Algorithm 7's second branch.
    *published*: Algorithm 7 as printed: ε' = ε - log(1 + 2c/λ + c²/λ²), else λ' = c/(exp(ε/4) - 1) and ε' = ε/2;
    β = ε'/2. It is private under both relations and wasteful under both.

    Parameters
    ----------
    epsilon : float
        ε, finite and > 0.
    reg_lambda : float
        λ in [1e-9, 1e12].
    relation : {"add-remove", "replace-one"}
    calibration : {"tight", "published"}
    loss : Loss

    Returns
    -------
    rate : float
        β; the mean norm of b is D/β.
    reg_lambda : float
        λ' = λ + N·Δ' in the paper's letters. It depends on ε and λ only.

    Examples
    --------
    >>> objective_noise(1.0, 2.0)
    (1.0, 2.0)
    >>> rate, reg_lambda = objective_noise(1.0, 2.0, calibration="published")
    >>> round(rate, 3), reg_lambda
    (0.382, 2.0)
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
        enough = c / math.expm1(epsilon / 2)  # log(1 + c/λ') = ε/2: even the terms taken apart leave half
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
    norm: str = "l2",
    squared_norm: float = 1.0,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release minimisers of J(θ) + b·θ with a noise b for each draw (the thesis, Algorithm 7).

    With ``norm="l2"`` b is norm-gamma noise, density ∝ exp(-β‖b‖₂), for records in the unit ball. With ``norm="l1"``
    it is independent Laplace noise of scale 1/β, density ∝ exp(-β‖b‖₁), for records with ‖x‖₁ <= 1: what
    `objective_noise` derives needs only that a gradient's norm is at most its pull, in the norm of the noise, and that
    ‖x‖₂ <= 1. This is a K-norm mechanism (Awan and Slavković 2021) in the objective. For records of r ones it adds
    √2·r/β to the gradient in each coordinate, in units of a one, where norm-gamma noise adds about √(D·r)/β.

    Privacy: ε per draw for `relation`: ε₁ = 0.999·ε for the exact minimiser (`objective_noise`) and ε₂ = 0.001·ε for
    the solver, which is not exact. Derivation: what is released is a_D(b) + η, where a_D(b) has a gradient of norm at
    most τ and so lies within τ/λ' of the exact minimiser θ(b; D), and η is norm-gamma noise of L2 sensitivity 2τ/λ'.
    For neighbours D and D' change variables from b to θ on both sides: the densities of θ differ by a factor of at
    most exp(ε₁), and given the same θ the two centres a_D and a_D' differ by at most 2τ/λ', so that the densities of
    the release differ by at most exp(ε₂). Integrate over θ. τ is public and the number of iterations is not
    released. What `objective_noise` says of λ' holds of λ'/q where every ‖x‖₂² <= q: curvatures are at most k·q/λ'.
    τ is raised, by a public rule, where b or b/λ' is so large that its rounding would be more than τ.

    Parameters
    ----------
    X, signs
        As for `minimiser`.
    epsilon, reg_lambda : float
    relation : {"add-remove", "replace-one"}
    tolerance : float
        τ.
    calibration : {"tight", "published"}
    loss : Loss
    norm : {"l2", "l1"}
        The norm in which records are at most 1 long.
    squared_norm : float
        q in (0, 1], a public bound on ‖x‖₂².
    draws : int
        All are solved together.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (draws, D)
    """
    epsilon, rng = check_epsilon(epsilon), check_rng(rng)
    draws = check_integer(draws, "draws", 1)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    squared_norm = check_number(squared_norm, "squared_norm", 0.0, 1.0, open_lower=True)
    X, signs = check_records(X, signs, check_choice(norm, "norm", NORMS), squared_norm)
    D = X.shape[1]
    spare, main = split_epsilon(epsilon, SOLVER_SHARE)
    options: dict[str, Any] = {"relation": relation, "calibration": calibration, "loss": loss}
    rate, reg_lambda = objective_noise(main, check_lambda(reg_lambda) / squared_norm, **options)
    reg_lambda *= squared_norm
    tolerance = reachable(tolerance, (D + 40) / rate, reg_lambda, loss)
    noise: NormGamma | Laplace = NormGamma(rate, 1.0, D) if norm == "l2" else Laplace(rate, 1.0)
    cover = NormGamma(spare, 2 * tolerance / reg_lambda, D)
    solver = {"reg_lambda": reg_lambda, "tolerance": tolerance, "loss": loss, "rng": rng}
    return release_minimum(noise, cover, draws, X, signs, **solver)
