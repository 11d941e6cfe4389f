"""Release the log ratio of a private table's density to a public table's: β, with ratio ∝ exp(β·x).

Statistics: the minimiser of the balanced loss, or the sums of the features (`RatioFeatures`). Release: noise on the
minimiser, in the objective, or on the sums. All later steps (`weighted_table`) are post-processing.

The private table D has N records, the public one E has N_E, and w(t) = 1/(1 + exp(t)). Two losses are used:

- *balanced* (Ji and Elkan 2013, Algorithm 1):
  G(β) = (1/N_E) Σ_E log(1 + e^(β·x)) + (1/N) Σ_D log(1 + e^(-β·x)) + (λ/2)‖β‖².
- *moments* (this project, with the loss of KLIEP, Sugiyama et al. 2008, and a regulariser):
  K(β) = log((1/N_E) Σ_E e^(β·x)) - β·m + (λ/2)‖β‖², where m = (1/N) Σ_D x. The private table enters by m alone.

**One replaced record.** N is public, so the relation is replace-one. The gradient of N·G changes by w₁x₁ - w₂x₂ with
w₁, w₂ in (0, 1). A norm is convex, so the change is at most max(‖x₁‖, ‖x₂‖, ‖x₁ - x₂‖) <= S, a public bound of
`RatioFeatures`. G is λ-strongly convex, so the exact minimisers are at most S/(Nλ) apart. In [0, 1]^d each coordinate
of w₁x₁ - w₂x₂ is in [-1, 1], so S <= √d: the paper's Lemma 2. But the paper's remark before Theorem 1, that √d can be
replaced by a bound R on ‖x‖, fails: ‖x₁ - x₂‖ can be √2·R (docs/explanation/errata.md). The sums Σ_D x change by x₁ -
x₂, at most S₁ in the L1 norm.

Under add/remove N is not public, and the scale of the noise would reveal it.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import logsumexp

from dpml._validate import check_choice, check_epsilon, check_number, check_rng
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear.perturbation import SOLVER_SHARE, different_records, reachable
from dpml.classifiers.linear.solver import Logistic, minimise
from dpml.exceptions import InvalidData
from dpml.mechanisms import boundary
from dpml.mechanisms.norms import NormGamma
from dpml.mechanisms.private import is_private, public_number, repeated, statistic
from dpml.mechanisms.source import Source
from dpml.publishing.ratio_features import GRID, RatioFeatures

FloatArray = NDArray[np.float64]

METHODS = ("output", "objective", "moments")
CALIBRATIONS = ("tight", "published")
TOLERANCE = 1e-6  # of the gradient of N·G, whose change by one record is about √d
LEAST_LAMBDA, MOST_LAMBDA = 1e-6, 1e6


def check_reg_lambda(value: Any) -> float:
    """Return λ, checked to be in the range in which the solvers are accurate."""
    return check_number(value, "reg_lambda", LEAST_LAMBDA, MOST_LAMBDA)


def record_change(features: RatioFeatures, calibration: str = "tight") -> float:
    """Return S, the bound on the change of N·∇G by one replaced record: of the schema, or the paper's √d."""
    if check_choice(calibration, "calibration", CALIBRATIONS) == "published":
        return math.sqrt(features.dimension)
    return math.sqrt(min(features.squared_change, features.dimension))


@dataclass(frozen=True)
class _Balanced(Logistic):
    """The logistic loss with a weight for each record: 1 for private ones, N/N_E for public ones."""

    by_record: ClassVar[bool] = True

    weight: FloatArray = field(compare=False)

    @property
    def curvature(self) -> float:
        return 0.25 * float(self.weight.max(initial=1.0))

    def residual(self, scores, target):
        scores = super().residual(scores, target)
        scores *= self.weight[:, None]
        return scores

    def weights(self, residual):
        pull = np.abs(residual) / self.weight[:, None]
        return self.weight[:, None] * pull * (1 - pull)


@statistic
def balanced_minimiser(
    X_private: Any, X_public: Any, reg_lambda: float, *, linear: Any = None, tolerance: float = TOLERANCE
) -> FloatArray:
    """Return the minimiser of N·G(β) + b·β, with a gradient of norm at most `tolerance`. Exact: not private.

    Features are in [0, 1], and `linear` has the terms b of one or of many draws. By strong convexity it is within
    `tolerance`/(Nλ) of the exact minimiser. No data make it raise an error.
    """
    X_private, X_public = np.asarray(X_private, dtype=float), np.asarray(X_public, dtype=float)
    n, d = X_private.shape
    b = np.zeros(d) if linear is None else np.asarray(linear, dtype=float)
    return _minimiser(X_private, X_public, n * check_reg_lambda(reg_lambda), b, tolerance)


def _minimiser(
    X_private: FloatArray, X_public: FloatArray, total: float, b: FloatArray, tolerance: float
) -> FloatArray:
    """Return the minimiser of N·G(β) + b·β for the regulariser Nλ = `total`."""
    sizes = [len(X_private), len(X_public)]
    signs, weight = np.repeat([1.0, -1.0], sizes), np.repeat([1.0, sizes[0] / sizes[1]], sizes)
    X = np.vstack([X_private, X_public])
    return minimise(X, signs, total, tolerance, np.atleast_2d(b), _Balanced(weight=weight)).reshape(b.shape)


def release_balanced_output(
    beta: Any,
    epsilon: float,
    reg_lambda: float,
    features: RatioFeatures,
    n_private: int,
    *,
    calibration: str = "tight",
    draws: int | None = None,
    rng: np.random.Generator,
) -> FloatArray:
    """Release the minimiser of the balanced loss with norm-gamma noise (Ji and Elkan 2013, Algorithm 1).

    `beta` is from `balanced_minimiser` with its default tolerance τ.

    Privacy: ε per draw for replace-one, N public: L2 sensitivity (S + 2τ)/(Nλ), with S of the schema ("tight") or √d
    ("published"). The exact minimisers are at most S/(Nλ) apart, and each computed one is at most τ/(Nλ) from its exact
    one.
    """
    mechanism = output_noise(epsilon, reg_lambda, features, n_private, calibration)
    return mechanism.release(beta, draws=draws, rng=rng)


def output_noise(epsilon: float, reg_lambda: float, features: RatioFeatures, n: int, calibration: str) -> NormGamma:
    """Return the noise of `release_balanced_output`."""
    reach = (record_change(features, calibration) + 2 * TOLERANCE) / (n * check_reg_lambda(reg_lambda))
    return NormGamma(epsilon, reach, features.dimension)


def balanced_noise(
    epsilon: float, reg_lambda: float, features: RatioFeatures, n_private: int, *, calibration: str = "tight"
) -> tuple[float, float]:
    """Return the noise rate r and the regulariser λ' >= λ of objective perturbation of the balanced loss.

    b has the density ∝ exp(-r‖b‖₂), and N·G(β) + b·β is minimised. Derivation, after `objective_noise` of
    `dpml.classifiers.linear`: at the minimiser b = -N∇G(β; D) is a function of β, so β has the density
    f(N∇G)·det(N∇²G). For neighbours N∇G differs by at most S, which costs rS. Let C be the common part of both, which
    has all of E and the regulariser, so its Hessian is at least Nλ'I. Each determinant is det H_C times a factor 1 + k
    x'H_C⁻¹x in [1, 1 + R²/(4Nλ')], because the curvature k is at most ¼. So the ratio of the determinants costs at most
    log(1 + R²/(4Nλ')), and r = (ε - log(1 + R²/(4Nλ')))/S. If the logarithm exceeds ε/2, λ is raised by a public rule
    to the λ' at which it is ε/2.
    """
    epsilon, reg_lambda = check_epsilon(epsilon), check_reg_lambda(reg_lambda)
    published = check_choice(calibration, "calibration", CALIBRATIONS) == "published"
    squared = features.dimension if published else features.squared_norm
    least = squared / (4 * n_private * math.expm1(epsilon / 2)) if epsilon < 1000 else 0.0
    reg_lambda = max(reg_lambda, least * (1 + 1e-12))
    cost = math.log1p(squared / (4 * n_private * reg_lambda))
    return (epsilon - cost) / record_change(features, calibration), reg_lambda


def release_balanced_objective(
    X_private: Any,
    X_public: Any,
    epsilon: float,
    reg_lambda: float,
    features: RatioFeatures,
    *,
    calibration: str = "tight",
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release minimisers of N·G(β) + b·β, a noise vector b for each draw (Ji and Elkan 2013, end of section 3).

    Privacy: ε per draw for replace-one, N public: 0.999·ε for the exact minimiser (`balanced_noise`), and 0.001·ε for
    norm-gamma noise of L2 sensitivity 2τ/(Nλ') that covers the solver's error.
    """
    rng, X = check_rng(rng), repeated(X_private)
    n = public_number(X, "replace-one")
    noise, cover, reg_lambda, tolerance = objective_noises(epsilon, reg_lambda, features, n, calibration)
    perturbed = BalancedMinimum(noise, n * reg_lambda, tolerance, draws, np.asarray(X_public, dtype=float))
    beta = boundary.release(perturbed, (X,), rng)
    return boundary.release(_Cover(cover, 2 * tolerance / (n * reg_lambda)), (beta, X), rng)


def objective_noises(
    epsilon: float, reg_lambda: float, features: RatioFeatures, n: int, calibration: str
) -> tuple[NormGamma, NormGamma, float, float]:
    """Return the noise in the objective, the one that covers the solver, λ' and τ, which are all public."""
    spare, main = split_epsilon(check_epsilon(epsilon), SOLVER_SHARE)
    rate, reg_lambda = balanced_noise(main, reg_lambda, features, n, calibration=calibration)
    d = features.dimension
    tolerance = reachable(TOLERANCE, (d + 40) / rate, n * reg_lambda, Logistic())
    return NormGamma(rate, 1.0, d), NormGamma(spare, 2 * tolerance / (n * reg_lambda), d), reg_lambda, tolerance


@dataclass(frozen=True)
class BalancedMinimum:
    """The minimiser of N·G(β) + b·β at the boundary. The statistic is the private table, the public one a parameter."""

    noise: NormGamma
    reg_lambda: float  # Nλ'
    tolerance: float
    draws: int
    X_public: FloatArray = field(compare=False, repr=False)

    def _sample(self, statistic: Any, rng: np.random.Generator) -> FloatArray:
        (X,) = statistic
        b = self.noise._sample(np.zeros((self.draws, X.shape[1])), rng)
        return _minimiser(X, self.X_public, self.reg_lambda, b, self.tolerance)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        gone, come = _changed((*statistic,), (*other_statistic,))
        if not len(gone) and not len(come):
            return boundary.NOTHING
        if len(gone) != 1 or len(come) != 1:
            return boundary.EVERYTHING  # not neighbours under replace-one
        (x,), (z,) = gone, come
        squares = max(float(x @ x), float(z @ z))
        change = math.sqrt(max(squares, float((x - z) @ (x - z))))
        # as in `balanced_noise`, with the lengths of these two records
        cost = change / self.noise.scale + math.log1p(squares / (4 * self.reg_lambda))
        return boundary.Loss(pure=self.draws * cost)


@dataclass(frozen=True)
class _Cover:
    """Noise on a computed minimiser, which may be anywhere within `reach`/2 of the exact one."""

    noise: NormGamma
    reach: float

    def _sample(self, statistic: Any, rng: np.random.Generator) -> FloatArray:
        return self.noise._sample(statistic[0], rng)

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        (beta, *records), (other_beta, *other_records) = statistic, other_statistic
        if not any(map(len, _changed(records, other_records))):
            return boundary.NOTHING
        distance = np.linalg.norm(np.subtract(beta, other_beta), axis=-1) + self.reach
        return boundary.Loss(pure=float(distance.sum()) / self.noise.scale)


def _changed(records: Any, other_records: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    (X,), (Z,) = records, other_records
    return different_records((X, np.ones(len(X))), (Z, np.ones(len(Z))))


def release_sums(
    sums: Any,
    epsilon: float,
    features: RatioFeatures,
    *,
    secure: bool = False,
    draws: int | None = None,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Release the sums of the features over the private records with Laplace noise of scale S₁/ε.

    Privacy: ε per draw for replace-one: one replaced record changes the sums by at most S₁ in the L1 norm. A secure
    release counts in integers: sums of numbers in units of 1/1024, with a scale that is larger by the same factor.
    """
    if not is_private(sums) and np.shape(sums) != (features.dimension,):
        raise InvalidData(
            f"sums has shape {np.shape(sums)}: it must be ({features.dimension},), as RatioFeatures.sums is"
        )
    source, sums = Source(rng, secure), repeated(sums)
    if not secure:
        return source.counts(sums, epsilon, float(features.change), draws=draws)
    noisy = np.empty(features.dimension if draws is None else (draws, features.dimension))
    for chosen, grid in ((features.whole, 1), (~features.whole, GRID)):
        if chosen.any():
            some = _some(sums, chosen)
            noisy[..., chosen] = source.counts(some, epsilon, features.change, grid=grid, draws=draws)
    return noisy


@statistic
def _some(sums: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
    return sums[chosen]


def moment_minimiser(X_public: Any, moments: Any, reg_lambda: float, *, weights: Any = None) -> FloatArray:
    """Return the minimiser of K(β), the regularised moment loss. Post-processing of noisy moments m.

    Its weights on the public table minimise the relative entropy to uniform ones plus ‖Σwx - m‖²/(2λ). `weights` are
    the multiplicities of the rows.
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
