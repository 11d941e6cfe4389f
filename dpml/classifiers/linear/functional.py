"""Logistic regression by the functional mechanism: noise on a polynomial's coefficients (Antonova 2016, Appendix B.1).

The sum of the logistic losses is replaced by its quadratic Taylor polynomial at θ = 0 (Zhang, Zhang, Xiao, Yang and
Winslett 2012, section 5, and Antonova 2016, eq. B.1). Without its constant and for y in {0, 1} it is

    Σ_i (½ - y_i) x_i·θ + (1/8) Σ_i (x_i·θ)².

Statistics: the coefficients (`taylor_coefficients`). Release: Laplace noise on them (`release_coefficients` for all
draws at once, `release_integer_coefficients`). Model: the minimiser of the regularised noisy polynomial
(`polynomial_minimisers`), post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpml._arrays import BoolArray, FloatArray, Int64Array
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget.shares import split_epsilon
from dpml.classifiers.linear.perturbation import check_records, class_signs, only_rows
from dpml.exceptions import InvalidData
from dpml.mechanisms.noise import Laplace
from dpml.mechanisms.private import is_private, n_columns, statistic, to_integers
from dpml.mechanisms.secure import integer_laplace, integer_scale

SENSITIVITIES = ("exact", "improved", "original")
BLOCK_CELLS = 1 << 24  # entries of the quadratic forms that are decomposed at once


@dataclass(frozen=True)
class TaylorCoefficients:
    """The polynomial's coefficients, exact or noisy.

    `linear` of shape (..., K, D), or `Private`: two classes: K = 1, Σ(½ - y)x. C > 2 classes: K = C, the class sums Σ
    1[y = c]x, from which `linear_terms` computes the C linear terms. `quadratic` of shape (..., D, D), or `Private`: M
    = X'X/8, symmetric. The quadratic form is θ'Mθ.
    """

    linear: Any
    quadratic: Any

    @property
    def linear_terms(self) -> FloatArray:
        """Linear term of each classifier, (..., K, D). For class c against the rest it is ½Σx - Σ1[y = c]x."""
        if self.linear.shape[-2] == 1:
            return self.linear
        return self.linear.sum(axis=-2, keepdims=True) / 2 - self.linear

    def packed(self) -> Any:
        """Return the coefficients of the monomials: θ_j, then θ_j², then θ_jθ_l for j < l, whose coefficient is 2M_jl.

        Each monomial occurs once, so that it gets noise once.
        """
        return _packed(self.linear, self.quadratic)

    @classmethod
    def unpacked(cls, values: FloatArray, outputs: int, D: int) -> TaylorCoefficients:
        """Undo `packed`."""
        j, k = np.triu_indices(D, 1)
        linear = values[..., : outputs * D].reshape(*values.shape[:-1], outputs, D)
        quadratic = np.zeros((*values.shape[:-1], D, D))
        quadratic[..., range(D), range(D)] = values[..., outputs * D : (outputs + 1) * D]
        quadratic[..., j, k] = quadratic[..., k, j] = values[..., (outputs + 1) * D :] / 2
        return cls(linear, quadratic)


# ---- statistics -----------------------------------------------------------------------------------------------------


@statistic
def _packed(linear: FloatArray, quadratic: FloatArray) -> FloatArray:
    D = quadratic.shape[-1]
    j, k = np.triu_indices(D, 1)
    squares = quadratic[..., range(D), range(D)]
    return np.concatenate([linear.reshape(*linear.shape[:-2], -1), squares, 2 * quadratic[..., j, k]], axis=-1)


def taylor_coefficients(X: Any, codes: Any, n_classes: int = 2, *, n_nonzero: int | None = None) -> TaylorCoefficients:
    """Return the exact coefficients. Not private.

    `X` of shape (n, D), or `Private`: records in the unit ball (`dpml.encoding.unit_scale`). `codes` of shape (n,), or
    `Private`: classes as 0..C-1. `n_classes`: C >= 2, public. `n_nonzero`: the most nonzero coordinates of a record, a
    public bound. A record with more raises `InvalidData`, and a private one counts as 0.
    """
    n_classes = check_integer(n_classes, "n_classes", 2)
    X, _ = check_records(X, class_signs(codes, 1))
    if n_nonzero is not None:
        few = _few_coordinates(X, n_nonzero)
        if is_private(few):
            X = only_rows(X, few)
        elif not few.all():
            raise InvalidData(f"a record has more than n_nonzero = {n_nonzero} coordinates that are not 0")
    return TaylorCoefficients(*_coefficients(X, codes, n_classes, 2.0, 8.0))


@statistic
def _few_coordinates(X: Any, most: int) -> BoolArray:
    return np.asarray((X != 0).sum(axis=1)) <= most


@statistic
def _coefficients(X: Any, codes: Any, n_classes: int, half: float, eighth: float) -> tuple[FloatArray, FloatArray]:
    codes = np.asarray(codes)
    if n_classes == 2:
        weights = (1 - 2 * (codes == 1).astype(float))[:, None] / half
    else:
        weights = (codes[:, None] == np.arange(n_classes)).astype(float)
    gram = X.T @ X
    quadratic = gram.toarray() if sparse.issparse(gram) else gram
    return np.asarray(X.T @ weights).T, quadratic / eighth


# ---- release --------------------------------------------------------------------------------------------------------


def functional_sensitivity(
    dimension: int,
    *,
    relation: str = "add-remove",
    sensitivity: str = "exact",
    n_nonzero: int | None = None,
    n_classes: int = 2,
) -> float:
    """Return the L1 sensitivity Δ of the monomials' coefficients, for D columns with ‖x‖₂ <= 1.

    One record adds (½ - y)x to the linear coefficients, with L1 norm ½‖x‖₁. It adds x_j²/8 and x_j x_l/4 (j < l) to the
    quadratic coefficients, with L1 norm ‖x‖₁²/8. The norm is the same if θ_jθ_l counts as two monomials with half the
    coefficient each.

    - *exact* (FMsens3). With at most S <= D nonzero coordinates ‖x‖₁ <= √S. Add/remove: √S/2 + S/8, which S equal
      coordinates of 1/√S attain. Replace-one: the smaller of twice that and
      max over κ in [0, 1] of √D·√((1 + κ)/2) + (√2·D/8)·√(1 - κ²). Proof of the second: let a = (1 - 2y)x and
      b = (1 - 2y')x'. The coefficients differ by ½‖a - b‖₁ + ‖aa' - bb'‖₁/8, by Cauchy and Schwarz at most
      ½√D·‖a - b‖₂ + (D/8)·‖aa' - bb'‖_F. Let ‖a‖ = 1, ‖b‖² = T <= 1 (both norms grow when the longer vector is scaled
      to 1) and a·b = -κ√T (the worse sign). The norms are √(1 + T + 2κ√T) and √(1 + T² - 2Tκ²). Replacing κ by κ√T
      and T by 1 makes neither smaller. The maximum is at κ = 1 - 2s², s = (√(A² + 32B²) - A)/(8B) with A = √D and
      B = √2·D/8. For even D >= 2, ‖aa' - bb'‖₁ = √2·D is attained.
    - *improved* (FMsens2, Antonova 2016, eq. B.7): D/4 + 3√D. *original* (FMsens1, Zhang et al., section 5.2, and
      Antonova 2016, eq. B.2): D²/4 + 3D. Both are twice the sum of separate bounds on ½‖x‖₁, ‖x‖₁²/8 and y‖x‖₁. So they
      hold under both relations and are not tight. FMsens1 needs only |x_j| <= 1, FMsens2 ‖x‖₂ <= 1. Antonova (2016)
      derives FMsens2 for x >= 0. With |x_j| for x_j the derivation holds for any x.

    With C > 2 classes the class sums replace Σ(½ - y)x. A record adds ‖x‖₁ to them for any C, and replacing one changes
    them by at most 2√S, and ‖aa' - bb'‖₁ <= √2·D as before. FMsens1 and FMsens2 cover this too.

    `dimension`: D, the number of columns including the constant one. `sensitivity`: "exact", "improved" or "original".
    `n_nonzero`: S, public. By default D. The published sensitivities do not use it. `n_classes` is C.
    """
    D = check_integer(dimension, "dimension", 1)
    S = D if n_nonzero is None else min(check_integer(n_nonzero, "n_nonzero", 1), D)
    replaced = check_relation(relation) == "replace-one"
    two = check_integer(n_classes, "n_classes", 2) == 2
    kind = check_choice(sensitivity, "sensitivity", SENSITIVITIES)
    if kind == "original":
        return D * D / 4 + 3 * D
    if kind == "improved":
        return D / 4 + 3 * math.sqrt(D)
    one = math.sqrt(S) * (0.5 if two else 1.0) + S / 8
    if not replaced:
        return one
    A, B = math.sqrt(D), math.sqrt(2) * D / 8
    if not two:
        return min(2 * one, 2 * math.sqrt(S) + B)
    s = (math.sqrt(A * A + 32 * B * B) - A) / (8 * B)
    return min(2 * one, A * math.sqrt(1 - s * s) + 2 * B * s * math.sqrt(1 - s * s))


def release_coefficients(
    exact: TaylorCoefficients,
    epsilon: float,
    *,
    relation: str = "add-remove",
    sensitivity: str = "exact",
    n_nonzero: int | None = None,
    draws: int = 1,
    rng: np.random.Generator,
) -> TaylorCoefficients:
    """Release the coefficients with Laplace noise of scale Δ/ε on each monomial.

    Privacy: ε per draw for `relation`, by `functional_sensitivity`. All classes of a draw share one quadratic part,
    which is released once. An off-diagonal entry M_jl is half of a monomial's coefficient, so it gets half the noise.

    `exact`: from `taylor_coefficients` with the same `n_nonzero`. `relation`, `sensitivity`, `n_nonzero`: as for
    `functional_sensitivity`. The result is a `TaylorCoefficients` with a leading axis of draws.
    """
    outputs, D = n_columns(_turned(exact.linear)), n_columns(exact.linear)
    options: dict[str, Any] = {"relation": relation, "sensitivity": sensitivity, "n_nonzero": n_nonzero}
    delta = functional_sensitivity(D, n_classes=max(outputs, 2), **options)
    noisy = Laplace(epsilon, delta).release(exact.packed(), draws=draws, rng=rng)
    return TaylorCoefficients.unpacked(noisy, outputs, D)


@statistic
def _turned(table: FloatArray) -> FloatArray:
    return table.T


def release_integer_coefficients(
    X: Any,
    codes: Any,
    n_classes: int,
    epsilon: float,
    *,
    unit: float,
    n_nonzero: int,
    grid: int = 1,
    relation: str = "add-remove",
    sensitivity: str = "exact",
) -> TaylorCoefficients:
    """Release the coefficients of records on a grid with secure integer noise, one draw without a seed.

    Privacy: ε for `relation`. Derivation: the entries of a record are integers in [-G, G], at most R of them nonzero.
    So its linear integers have an L1 norm of at most RG, and the products x_j x_l over all ordered pairs one of at most
    R²G². Integer Laplace noise of scale s on each Σx_j² and of s/2 on each Σx_j x_l, j < l, costs at most R²G²/s.
    Replace-one doubles both. ε is shared between the two parts as in `release_coefficients`. For a published
    sensitivity ε is reduced first, so that the noise is larger by the ratio of the sensitivities.

    `X` of shape (n, D) holds the integers. The records of the model are ``X * unit / grid``. `unit`: the public scale,
    with `unit`²·`n_nonzero` at most 1. `n_nonzero` is R, `grid` is G. The result has a leading axis of 1.
    """
    epsilon = check_epsilon(epsilon)
    R = check_integer(n_nonzero, "n_nonzero", 1)
    G = check_integer(grid, "grid", 1)
    D = n_columns(X)
    most = R * G * (2 if check_relation(relation) == "replace-one" else 1)
    options: dict[str, Any] = {"relation": relation, "n_classes": n_classes, "n_nonzero": R}
    smallest = functional_sensitivity(D, **options)
    epsilon *= min(smallest / functional_sensitivity(D, sensitivity=sensitivity, **options), 1.0)
    linear_part = math.sqrt(R) * (0.5 if n_classes == 2 else 1.0)
    first, rest = split_epsilon(epsilon, linear_part / (linear_part + R / 8))
    sums, products = _coefficients(X, codes, n_classes, 1.0, 1.0)
    linear: Any = integer_laplace(_integers(sums), integer_scale(first, most))
    diagonal = integer_scale(rest, most * R * G)
    j, k = np.triu_indices(D, 1)
    quadratic = np.zeros((D, D))
    quadratic[range(D), range(D)] = integer_laplace(_integers(products, range(D), range(D)), diagonal)
    if len(j):  # halving a float is exact
        quadratic[j, k] = quadratic[k, j] = integer_laplace(_integers(products, j, k), diagonal / 2)
    step = check_number(unit, "unit", 0.0, 1.0, open_lower=True) / G
    linear = linear * (step / 2 if n_classes == 2 else step)
    return TaylorCoefficients(linear[None].astype(float), quadratic[None] * (step * step / 8))


@statistic
def _integers(sums: FloatArray, *at: Any) -> Int64Array:
    """Return sums of integers, at some places, as integers."""
    return to_integers(sums[at] if at else sums)


# ---- model ----------------------------------------------------------------------------------------------------------


def functional_lambda(epsilon: float, sensitivity: float, dimension: int | None = None) -> float:
    """Return a regulariser λ that matches the noise on the quadratic form. A public rule: it uses no data.

    Without `dimension` λ = 8√2·Δ/ε, which adds 4 standard deviations of the noise, √2·Δ/ε, to M's diagonal (Zhang et
    al. 2012, section 6.1). But the noise matrix has D(D-1)/2 entries of variance σ² = (Δ/ε)²/2 on each side of the
    diagonal. The least eigenvalue of a symmetric matrix of such noise is near -2σ√D (Wigner's semicircle law, measured
    at D = 101 to 127: 0.98 to 0.99 times that). With `dimension` λ/2 is 1.2·2σ√D = 2.4σ√D, which exceeds 4 standard
    deviations of the diagonal noise from D = 12 on.
    """
    scale = sensitivity / check_epsilon(epsilon)
    if dimension is None:
        return 8 * math.sqrt(2) * scale
    return 1.2 * math.sqrt(8 * check_integer(dimension, "dimension", 1)) * scale


def polynomial_minimisers(noisy: TaylorCoefficients, reg_lambda: float) -> FloatArray:
    """Return the minimisers of linear·θ + θ'Mθ + (λ/2)‖θ‖². Post-processing.

    If M + (λ/2)I is not positive definite, there is no minimiser. Eigenvectors with eigenvalues <= 0 are then left out,
    and θ minimises over the span of the others (spectral trimming, Zhang et al. 2012, section 6.2).

    `noisy`: with a leading axis of draws. `reg_lambda`: λ >= 0. The result has the shape (draws, K, D).
    """
    reg_lambda = check_number(reg_lambda, "reg_lambda", 0.0)
    terms = noisy.linear_terms
    draws, D = len(terms), terms.shape[-1]
    theta = np.empty(terms.shape)
    step = max(BLOCK_CELLS // (D * D), 1)
    for start in range(0, draws, step):
        part = slice(start, start + step)
        values, vectors = np.linalg.eigh(noisy.quadratic[part])
        values += reg_lambda / 2
        # an eigenvalue that is 0 up to rounding is left out too
        floor = 1e-12 * np.abs(values).max(axis=1, keepdims=True)
        inverse = np.where(values > floor, 0.5 / np.where(values > floor, values, 1.0), 0.0)
        theta[part] = -(terms[part] @ vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)
    return theta
