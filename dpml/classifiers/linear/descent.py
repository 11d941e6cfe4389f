"""Linear classifiers with (ε, δ): Gaussian noise in the objective, and noisy gradient descent.

- `release_approximate_minima`: objective perturbation with Gaussian noise, plus Gaussian noise that covers the solver's
  error (Kifer, Smith and Thakurta 2012, and Iyengar et al. 2019, "Towards practical differentially private convex
  optimization", Algorithm 1). The calibration is this project's own and exact where it can be.
- `release_descent`: a public number of gradient steps, each with Gaussian noise (Bassily, Smith and Thakurta 2014), on
  all records or on a Poisson sample of them.

J(θ) = Σ_i l(s_i θ·x_i) + (λ/2)‖θ‖² with ‖x_i‖₂ <= 1, as in `dpml.classifiers.linear.perturbation`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear.perturbation import (
    SOLVER_SHARE,
    TOLERANCE,
    PerturbedMinimum,
    check_lambda,
    check_records,
    class_signs,
    class_targets,
    objective_noise,
    reachable,
    release_minimum,
)
from dpml.classifiers.linear.solver import LOGISTIC, Loss, check_loss
from dpml.exceptions import InvalidParameter, MissingExtra
from dpml.mechanisms import boundary
from dpml.mechanisms.noise import NormalNoise, gaussian_delta, gaussian_sigma
from dpml.mechanisms.private import n_columns, number_of, public_number, repeated, statistic

COUNT_SHARE = 0.01  # share of μ², the squared privacy parameter of Gaussian noise, for the number of records
CELLS = 1 << 22  # records times models in memory at once


def check_delta(value: Any, name: str = "delta") -> float:
    """Return δ in (0, 1)."""
    return check_number(value, name, 0.0, 1.0, open_lower=True, open_upper=True)


# ---- approximate minima ---------------------------------------------------------------------------------------------


def gaussian_objective_noise(
    epsilon: float,
    delta: float,
    reg_lambda: float,
    *,
    relation: str = "add-remove",
    loss: Loss = LOGISTIC,
) -> tuple[float, float]:
    """Return σ and λ' >= λ for which the exact minimiser of J(θ) + b·θ, b ~ N(0, σ²I), is (ε, δ)-DP.

    As in `objective_noise`, θ has the density f(-∇J(θ; D))·det H(θ; D). Let D' be D plus one record, z = sx, with pull
    w and curvature k at θ. Let b and b' be the noise vectors that lead to θ from D and D'. Then b = b' - wz.

    - *Add/remove, from D' to D.* The log ratio of the densities is (‖b‖² - ‖b'‖²)/2σ² + log(1 + kz'H⁻¹z), that is
      -w(b'·z)/σ² + w²‖z‖²/2σ² + log(...). Under D', b'·z is N(0, σ²‖z‖²), because z does not depend on b', although w
      does. Let L = -(b'·z)/σ² + ‖z‖²/2σ² be the privacy loss of the Gaussian mechanism of sensitivity ‖z‖ <= 1. By
      w² <= w the log ratio is at most wL + log(1 + k/λ') <= m(L, λ'), with m of `objective_noise`. Let β be the rate
      for which m(β, λ') = ε. Since m increases in L and m(L, λ') - L decreases, the log ratio exceeds ε only where
      L > β, and is at most L + ε - β there. Hence E[(1 - e^(ε - ratio))₊] <= E[(1 - e^(β - L))₊]: **the δ of Gaussian
      noise at β**. For the logistic loss the determinant costs nothing for λ' >= 1/ε, as with pure noise.
    - *Add/remove, from D to D'.* The determinant only lowers the log ratio, which is at most max(0, L). So δ is at most
      the δ of Gaussian noise at ε >= β.
    - *Replace-one*, z₁ for z₂: b changes by v = w₁z₁ - w₂z₂, and b·v/σ² + ‖v‖²/2σ² is convex in (w₁, w₂), so largest at
      a corner: 0, z₁, -z₂ or z₁ - z₂. One factor of the determinants counts, at most 1 + c/λ'. With
      ε' = ε - log(1 + c/λ') the δ is at most the sum over the corners: the δ of Gaussian noise at ε' for sensitivity 2,
      plus twice that for sensitivity 1.

    Kifer, Smith and Thakurta 2012 (Theorem 2) use σ = ζ√(8 log(2/δ) + 4ε)/ε and λ >= 2c/ε instead. As in
    `objective_noise`, λ is raised where less than half of ε's rate would be left.

    `epsilon`, `delta`: ε > 0, δ in (0, 1). `reg_lambda`: λ in [1e-9, 1e12].
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    reg_lambda = check_lambda(reg_lambda)
    if check_relation(relation) == "add-remove":
        rate, reg_lambda = objective_noise(epsilon, reg_lambda, loss=loss)
        return gaussian_sigma(rate, delta), reg_lambda
    c = check_loss(loss).curvature
    reg_lambda = max(reg_lambda, c / math.expm1(epsilon / 2))
    left = epsilon - math.log1p(c / reg_lambda)

    def cost(sigma: float) -> float:
        return gaussian_delta(left, sigma, 2.0) + 2 * gaussian_delta(left, sigma)

    low = gaussian_sigma(left, delta, 2.0)
    high = gaussian_sigma(left, delta / 3, 2.0)  # each of the three is then at most δ/3
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if cost(middle) <= delta else (middle, high)
    return high, reg_lambda


def release_approximate_minima(
    X: Any,
    signs: Any,
    epsilon: float,
    delta: float,
    reg_lambda: float,
    *,
    relation: str = "add-remove",
    tolerance: float = TOLERANCE,
    loss: Loss = LOGISTIC,
    centre: Any = None,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release minimisers of J(θ) + b·θ with Gaussian b, plus Gaussian noise that covers the solver's error.

    Privacy: (ε, δ) per draw for `relation`: 0.999 of both for the exact minimiser (`gaussian_objective_noise`), and
    0.001 of both for Gaussian noise of L2 sensitivity 2τ/λ' on the computed one. Derivation: given the exact minimiser
    θ, b is -∇J(θ; D). So the computed minimiser a_D(b) is a function of θ and the data, within τ/λ' of θ for either
    neighbour. With the second noise η, (θ, a_D + η) is an adaptive composition, and a_D + η alone is post-processing
    of it. τ is raised by a public rule as in `release_objective`.

    `X`, `signs`: as for `dpml.classifiers.linear.minimiser`. `tolerance` is τ. `centre`: as for `release_objective`.
    The result has the shape (draws, D).
    """
    epsilon, delta, rng = check_epsilon(epsilon), check_delta(delta), check_rng(rng)
    draws = check_integer(draws, "draws", 1)
    tolerance = check_number(tolerance, "tolerance", 1e-10, 1.0)
    X, signs = check_records(X, signs)
    D = n_columns(X)
    (spare, main), (spare_delta, main_delta) = (split_epsilon(whole, SOLVER_SHARE) for whole in (epsilon, delta))
    sigma, reg_lambda = gaussian_objective_noise(main, main_delta, reg_lambda, relation=relation, loss=loss)
    tolerance = reachable(tolerance, sigma * (math.sqrt(D) + 10), reg_lambda, loss)
    cover = NormalNoise(gaussian_sigma(spare, spare_delta, 2 * tolerance / reg_lambda))
    centre = None if centre is None else tuple(centre)
    perturbed = PerturbedMinimum(NormalNoise(sigma), draws, reg_lambda, tolerance, loss, centre)
    return release_minimum(perturbed, cover, (X, signs), rng)


# ---- noisy descent --------------------------------------------------------------------------------------------------

MOMENTUM = 0.9


def default_iterations(epsilon: float) -> int:
    """Return the number of steps of `release_descent`: 100·√ε, at least 10 and at most 300. A public rule.

    More steps come nearer to the minimum, but each has more noise. The rule was chosen on real data at ε = 0.1 and 1.
    """
    return int(min(max(round(100 * math.sqrt(check_epsilon(epsilon))), 10), 300))


@lru_cache(maxsize=256)
def descent_noise(
    epsilon: float,
    delta: float,
    n_iterations: int,
    *,
    relation: str = "add-remove",
    n_outputs: int = 1,
    sampling_rate: float = 1.0,
    count: bool = True,
) -> tuple[float, float]:
    """Return the standard deviations of the noise on each step's gradient sum and on the number of records.

    The sum of gradients of all K classifiers in a step has L2 sensitivity Δ√K, with Δ = 1 under add/remove and 2 under
    replace-one. T adaptive Gaussian releases compose to exactly one Gaussian release with 1/σ multiplied by √T (Dong,
    Roth and Su 2022, Corollary 3.3), whose δ is `gaussian_delta`. With Poisson samples of rate q the sum is over the
    sample, the relation must be add/remove, and σ is found by the privacy loss distributions of `dp-accounting`.

    `n_iterations` is T. `n_outputs` is K. `sampling_rate`: q in (0, 1], where 1 uses all records. `count`: whether the
    number of records is released too. It gets a hundredth of μ², where μ = 1/σ for one release. Raises `MissingExtra`
    if `sampling_rate` < 1 and the extra ``accounting`` is not installed.
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    steps = check_integer(n_iterations, "n_iterations", 1)
    outputs = check_integer(n_outputs, "n_outputs", 1)
    rate = check_number(sampling_rate, "sampling_rate", 0.0, 1.0, open_lower=True)
    single = gaussian_sigma(epsilon, delta)
    reach = math.sqrt(outputs) * (1 if check_relation(relation) == "add-remove" else 2)
    share = COUNT_SHARE if count else 0.0
    count_sigma = single / math.sqrt(share) if count else 0.0
    full = reach * single * math.sqrt(steps / (1 - share))
    if rate == 1:
        return full, count_sigma
    if relation != "add-remove":
        raise InvalidParameter("sampling_rate", rate, "1 under replace-one: sampling needs add-remove")
    low, high = full / reach * 1e-3, full / reach  # sampling never needs more noise
    while high > low * 1.0005:
        middle = math.sqrt(low * high)
        if _sampled_delta(epsilon, middle, steps, rate, count_sigma) <= delta:
            high = middle
        else:
            low = middle
    return reach * high, count_sigma


def _sampled_delta(epsilon: float, sigma: float, steps: int, rate: float, count_sigma: float) -> float:
    """Return an upper bound by `dp-accounting` on the δ of T sampled Gaussian steps of sensitivity 1 and of a count."""
    try:
        import dp_accounting as accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError as error:
        raise MissingExtra("Accounting for Poisson sampling", "dp-accounting", "accounting") from error
    accountant = PLDAccountant(value_discretization_interval=epsilon / 1000)
    gaussian = accounting.GaussianDpEvent(sigma)
    accountant.compose(accounting.SelfComposedDpEvent(accounting.PoissonSampledDpEvent(rate, gaussian), steps))
    if count_sigma:
        accountant.compose(accounting.GaussianDpEvent(count_sigma))
    return float(accountant.get_delta(epsilon))


def release_descent(
    X: Any,
    codes: Any,
    n_classes: int,
    epsilon: float,
    delta: float,
    reg_lambda: float,
    *,
    n_iterations: int | None = None,
    sampling_rate: float = 1.0,
    n_records: int | None = None,
    relation: str = "add-remove",
    loss: Loss = LOGISTIC,
    draws: int = 1,
    rng: np.random.Generator,
) -> FloatArray:
    """Release the mean of the later iterates of noisy gradient descent on J(θ), started at 0.

    Privacy: (ε, δ) per draw for `relation`, by `descent_noise`, which covers the release of all iterates. Gradients of
    records in the unit ball have a norm of at most 1, so nothing is clipped. The step size, the momentum (0.9), the
    number of steps and the mean over the last half of them are public. The step size 1/(c·n + λ) takes n from
    `n_records`, or from a noisy count that is part of the cost, raised by two standard deviations. Under replace-one
    n is the same for all neighbours and taken as public. C > 2 one-against-the-rest classifiers descend together.

    `X` of shape (n, D), `codes` of shape (n,): records in the unit ball and their classes 0..C-1. `n_iterations`: T, by
    default `default_iterations`. `sampling_rate`: as for `descent_noise`. `n_records`: their number, if it is public.
    The result has the shape (draws, K, D), with K = 1 for two classes, else C.
    """
    draws, rng = check_integer(draws, "draws", 1), check_rng(rng)
    reg_lambda, n_classes = check_lambda(reg_lambda), check_integer(n_classes, "n_classes", 2)
    steps = default_iterations(epsilon) if n_iterations is None else check_integer(n_iterations, "n_iterations", 1)
    n_public = None if n_records is None else check_integer(n_records, "n_records")
    X, _ = check_records(X, class_signs(codes, 1))
    positives = [1] if n_classes == 2 else list(range(n_classes))
    if n_public is None and relation == "replace-one":
        n_public = public_number(X, relation)
    facts: Any = {"n_outputs": len(positives), "sampling_rate": sampling_rate, "count": n_public is None}
    sigma, count_sigma = descent_noise(epsilon, delta, steps, relation=relation, **facts)
    if n_public is None:
        noisy = boundary.release(NormalNoise(count_sigma), repeated(number_of(X), draws), rng)
        size = np.maximum(noisy + 2 * count_sigma, 1.0)[:, None, None]
    else:
        size = np.full((draws, 1, 1), float(max(n_public, 1)))
    rate = 1 / (check_loss(loss).curvature * size + reg_lambda)
    targets = [class_targets(codes, c) for c in positives]
    theta = np.zeros((draws, len(positives), n_columns(X)))
    before, total = theta, np.zeros(theta.shape)
    for t in range(steps):
        ahead = theta + MOMENTUM * (theta - before)
        if sampling_rate == 1:
            g = boundary.release(NormalNoise(sigma), _gradient_sums(X, targets, ahead, loss), rng)
        else:
            g = boundary.release(SampledStep(sigma, sampling_rate, loss), (X, targets, ahead), rng)
        before, theta = theta, ahead - rate * (g / sampling_rate + reg_lambda * ahead)
        if t >= steps // 2:
            total += theta
    return total / (steps - steps // 2)


@dataclass(frozen=True)
class SampledStep:
    """The sum of the gradients over a Poisson sample of records, plus normal noise of standard deviation `scale`."""

    scale: float
    sampling_rate: float
    loss: Loss

    def _sample(self, statistic: Any, rng: np.random.Generator) -> FloatArray:
        X, targets, theta = statistic
        g = _gradient_sums(X, targets, theta, self.loss, lambda shape: rng.random(shape) < self.sampling_rate)
        g += rng.normal(scale=self.scale, size=g.shape)
        return g

    def _compare(self, statistic: Any, other: Any, other_statistic: Any) -> boundary.Loss:
        # the effect of the differing record if it is sampled, in standard deviations
        first, second = (_gradient_sums(*side, self.loss) for side in (statistic, other_statistic))
        sizes = np.sqrt(((first - second) ** 2).sum(axis=(1, 2))) / self.scale
        return boundary.Loss(sampled=tuple((self.sampling_rate, float(size)) for size in sizes if size))


@statistic
def _gradient_sums(X: Any, targets: list, theta: FloatArray, loss: Loss, chosen: Any = None) -> FloatArray:
    """Return each model's sum of gradients, shape (draws, K, D), of all records or of those that ``chosen`` takes."""
    draws, outputs, D = theta.shape
    sums = np.zeros((outputs, draws, D))
    step = max(CELLS // draws, 1)
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        sampled = None if chosen is None else chosen((rows.shape[0], draws))  # one sample for all classes
        for k, target in enumerate(targets):
            residual = loss.residual(np.asarray(rows @ theta[:, k].T), target[start : start + step])
            if sampled is not None:
                residual *= sampled
            sums[k] += np.asarray(rows.T @ residual).T if sparse.issparse(rows) else residual.T @ rows
    return sums.transpose(1, 0, 2)
