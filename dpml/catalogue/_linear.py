"""Claims of the linear classifiers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpml.catalogue._method import Case, IndependentLaplace, Method
from dpml.classifiers.descent import (
    descent_noise,
    gaussian_objective_noise,
    release_approximate_minima,
    release_descent,
)
from dpml.classifiers.functional import (
    SENSITIVITIES,
    functional_sensitivity,
    release_coefficients,
    taylor_coefficients,
)
from dpml.classifiers.linear import (
    LOGISTIC,
    HuberHinge,
    minimiser,
    objective_noise,
    release_objective,
    release_output,
)
from dpml.mechanisms.gaussian import gaussian_delta

LAMBDA = 0.5
DELTA = 1e-5
STEPS = 5
LOSSES = {"logistic": LOGISTIC, "svc": HuberHinge(0.5)}
NAMES = {"logistic": "Logistic regression", "svc": "Linear support vector machine"}
CLASSES = {"logistic": "dpml.classifiers.LogisticRegression", "svc": "dpml.classifiers.LinearSVC"}


def _records(relation: str) -> tuple[Any, Any]:
    """Return (X, signs) in the unit ball whose minimisers lie as far apart as a record can push them."""
    X, signs = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    if relation == "add-remove":
        return (X, signs), (np.vstack([X, [[-1.0]]]), np.array([1.0, -1.0, 1.0]))
    return (X, signs), (np.array([[1.0], [1.0]]), np.array([1.0, -1.0]))


def _output(calibration: str, kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "calibration": calibration}

        def sample(data, draws, rng):
            theta = minimiser(*data, LAMBDA, loss=LOSSES[kind])
            return release_output(theta, epsilon, LAMBDA, draws=draws, rng=rng, **options)

        return Case(*_records(relation), sample, words="one record against two")

    return case


def _noise_and_hessian(data: Any, theta: np.ndarray, kind: str, reg_lambda: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise b that leads to each θ of one weight, and the second derivative there."""
    X, signs = data
    residual = LOSSES[kind].residual(X @ theta[None], (signs + 1) / 2)
    b = -(X.T @ residual)[0] - reg_lambda * theta
    return b, (X**2).T[0] @ LOSSES[kind].weights(residual) + reg_lambda


class _ObjectiveInOneDimension:
    """The exact privacy loss of objective perturbation of one weight, on a fine grid of outputs."""

    def __init__(self, epsilon: float, relation: str, calibration: str, kind: str):
        options: dict[str, Any] = {"relation": relation, "calibration": calibration, "loss": LOSSES[kind]}
        self.kind, (self.rate, self.reg_lambda) = kind, objective_noise(epsilon, LAMBDA, **options)

    def _log_density(self, data: Any, theta: np.ndarray) -> np.ndarray:
        b, hessian = _noise_and_hessian(data, theta, self.kind, self.reg_lambda)
        return -self.rate * np.abs(b) + np.log(hessian)

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        theta = np.linspace(-60, 60, 240_001)
        return float(np.abs(self._log_density(data, theta) - self._log_density(neighbour, theta)).max())


def _objective(calibration: str, kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "calibration": calibration, "loss": LOSSES[kind]}

        def sample(data, draws, rng):
            return release_objective(*data, epsilon, LAMBDA, draws=draws, rng=rng, **options)

        exact = _ObjectiveInOneDimension(epsilon, relation, calibration, kind)
        return Case(*_records(relation), sample, exact, draws=4_000, words="one record against two")

    return case


class _LaplaceObjectiveInTwoDimensions:
    """The exact privacy loss of objective perturbation of two weights with Laplace noise, on a grid of outputs."""

    def __init__(self, epsilon: float, relation: str, kind: str):
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind]}
        rate, reg_lambda = objective_noise(epsilon, LAMBDA / SQUARED, **options)
        self.kind, self.rate, self.reg_lambda = kind, rate, reg_lambda * SQUARED

    def _log_density(self, data: Any, theta: np.ndarray) -> np.ndarray:
        X, signs = data
        residual = LOSSES[self.kind].residual(X @ theta, (signs + 1) / 2)
        b = -(X.T @ residual) - self.reg_lambda * theta
        w = LOSSES[self.kind].weights(residual)
        (a, c), off = ((X**2).T @ w) + self.reg_lambda, (X[:, 0] * X[:, 1]) @ w
        return -self.rate * np.abs(b).sum(axis=0) + np.log(a * c - off**2)

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        grid = np.linspace(-80, 80, 641)
        theta = np.stack(np.meshgrid(grid, grid)).reshape(2, -1)
        return float(np.abs(self._log_density(data, theta) - self._log_density(neighbour, theta)).max())


SQUARED = 0.5  # ‖x‖₂² of a record that shares 1 between two columns


def _laplace_objective(kind: str):
    def case(epsilon: float, relation: str) -> Case:
        X, signs = np.array([[0.5, 0.5], [0.0, 0.5]]), np.array([1.0, -1.0])
        data: Any = (X, signs)
        if relation == "replace-one":
            data = (np.vstack([X, [[0.5, 0.5]]]), np.append(signs, 1.0))
        neighbour = (np.vstack([X, [[0.5, 0.5]]]), np.append(signs, -1.0))
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind], "norm": "l1", "squared_norm": SQUARED}

        def sample(data, draws, rng):
            return release_objective(*data, epsilon, LAMBDA, draws=draws, rng=rng, **options)

        exact = _LaplaceObjectiveInTwoDimensions(epsilon, relation, kind)
        return Case(data, neighbour, sample, exact, draws=4_000, words="a record comes, or its label turns")

    return case


class _MinimaInOneDimension:
    """The exact δ of Gaussian objective perturbation of one weight, by summation over a fine grid of outputs."""

    def __init__(self, epsilon: float, relation: str, kind: str):
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind]}
        self.kind, (self.sigma, self.reg_lambda) = kind, gaussian_objective_noise(epsilon, DELTA, LAMBDA, **options)

    def _log_density(self, data: Any, theta: np.ndarray) -> np.ndarray:
        b, hessian = _noise_and_hessian(data, theta, self.kind, self.reg_lambda)
        return -0.5 * (b / self.sigma) ** 2 - math.log(self.sigma * math.sqrt(2 * math.pi)) + np.log(hessian)

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        end = (10 * self.sigma + 5) / self.reg_lambda
        theta = np.linspace(-end, end, 100_001)
        first, second = self._log_density(data, theta), self._log_density(neighbour, theta)
        step = theta[1] - theta[0]
        ways = [(first, second), (second, first)]
        return max(float(np.clip(np.exp(p) - np.exp(epsilon + q), 0, None).sum() * step) for p, q in ways)


def _approximate_minima(kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind]}

        def sample(data, draws, rng):
            return release_approximate_minima(*data, epsilon, DELTA, LAMBDA, draws=draws, rng=rng, **options)

        exact = _MinimaInOneDimension(epsilon, relation, kind)
        return Case(*_records(relation), sample, exact, draws=4_000, words="one record against two")

    return case


class _StepsOfDescent:
    """The δ of all noisy steps and the noisy count, where every gradient differs by as much as it can."""

    def __init__(self, epsilon: float, relation: str):
        counted = relation == "add-remove"
        sigma, count = descent_noise(epsilon, DELTA, STEPS, relation=relation, count=counted)
        reach = 1 if counted else 2
        self.mu = math.sqrt(STEPS * (reach / sigma) ** 2 + (1 / count**2 if counted else 0.0))

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        return gaussian_delta(epsilon, 1 / self.mu)


def _descent(kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind], "n_iterations": STEPS}

        def sample(data, draws, rng):
            X, signs = data
            codes = (signs > 0).astype(int)
            return release_descent(X, codes, 2, epsilon, DELTA, LAMBDA, draws=draws, rng=rng, **options)[:, 0]

        words = "one record against two; the ratio is that of all steps together"
        return Case(*_records(relation), sample, _StepsOfDescent(epsilon, relation), draws=4_000, words=words)

    return case


def _functional(sensitivity: str):
    def case(epsilon: float, relation: str) -> Case:
        D = 4
        options: dict[str, Any] = {"relation": relation, "sensitivity": sensitivity}
        scale = functional_sensitivity(D, **options) / epsilon
        X, codes = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]), np.array([0, 1])
        flat = np.full((1, D), 0.5)
        more = (np.vstack([X, flat]), np.append(codes, 1))
        if relation == "add-remove":
            pair = (X, codes), more
        else:
            # nearly orthogonal, with all products of coordinates far apart: the best pair of a numerical search
            a = np.array([[0.653, 0.653, -0.271, -0.271]])
            b = np.array([[0.271, 0.271, 0.653, 0.653]])
            pair = (np.vstack([X, a]), np.append(codes, 1)), (np.vstack([X, b]), np.append(codes, 1))

        def statistics(data):
            return [(taylor_coefficients(*data).packed(), scale)]

        def sample(data, draws, rng):
            exact = taylor_coefficients(*data)
            return release_coefficients(exact, epsilon, draws=draws, rng=rng, **options).packed()

        words = "a record of equal coordinates comes, or one that is orthogonal takes its place"
        return Case(*pair, sample, IndependentLaplace(statistics), words=words)

    return case


# naive Bayes, its other method, has an entry of its own
OURS = "dpml.classifiers.LinearClassifier"
LEADER = (OURS, f"{OURS}[auto]", f"{OURS}[naive-bayes]", f"{OURS}[objective]")
FUNCTIONAL = {"exact": "", "improved": "-improved", "original": "-original"}

METHODS = (
    *(
        Method(
            f"{kind}-{method}" + ("" if calibration == "tight" else "-published"),
            f"{NAMES[kind]} by {method} perturbation" + ("" if calibration == "tight" else ", published constants"),
            "classifier",
            (CLASSES[kind], f"{CLASSES[kind]}[{method}]", f"{CLASSES[kind]}[{calibration}]"),
            (f"000 Algorithm {6 if method == 'output' else 7}" if kind == "logistic" else "Chaudhuri et al. 2011")
            + ("; constants derived here" if calibration == "tight" else ""),
            "ε at the exact minimiser; here the solver's tolerance is paid for",
            True,
            case(calibration, kind),
            cost="as claimed" if calibration == "tight" else "less than ε",
        )
        for kind in LOSSES
        for method, case in (("output", _output), ("objective", _objective))
        for calibration in ("tight", "published")
    ),
    *(
        Method(
            f"{kind}-objective-laplace",
            f"{NAMES[kind]} by objective perturbation with Laplace noise",
            "classifier",
            (CLASSES[kind], *(LEADER if kind == "svc" else ())),
            "000 Algorithm 7 with a K-norm noise (Awan and Slavković 2021); derived here",
            "ε for records of L1 norm at most 1",
            True,
            _laplace_objective(kind),
        )
        for kind in LOSSES
    ),
    *(
        Method(
            f"functional{FUNCTIONAL[sensitivity]}",
            "Functional mechanism" + ("" if sensitivity == "exact" else f", {sensitivity} sensitivity"),
            "classifier",
            (
                "dpml.classifiers.functional.release_coefficients",
                "dpml.classifiers.functional.release_integer_coefficients",
                "dpml.classifiers.LogisticRegression[functional]",
            ),
            source,
            "ε for records in the unit ball",
            True,
            _functional(sensitivity),
            cost="as claimed" if sensitivity == "exact" else "less than ε: a third or less, for many columns",
        )
        for sensitivity, source in zip(
            SENSITIVITIES,
            ("000 Appendix B.1; constants derived here", "000 eq. B.7 (FMsens2)", "Zhang et al. 2012; 000 eq. B.2"),
            strict=True,
        )
    ),
    *(
        Method(
            f"{kind}-approximate-minima",
            f"{NAMES[kind]} by approximate minima perturbation",
            "classifier",
            ("dpml.classifiers.descent.release_approximate_minima", f"{CLASSES[kind]}[approximate-minima]"),
            "Kifer et al. 2012 and Iyengar et al. 2019; constants derived here",
            "(ε, δ); audited at δ = 1e-5",
            True,
            _approximate_minima(kind),
            delta=DELTA,
        )
        for kind in LOSSES
    ),
    *(
        Method(
            f"{kind}-noisy-descent",
            f"{NAMES[kind]} by noisy gradient descent",
            "classifier",
            ("dpml.classifiers.descent.release_descent", f"{CLASSES[kind]}[noisy-descent]"),
            "Bassily et al. 2014; Dong et al. 2022, Corollary 3.3",
            "(ε, δ); audited at δ = 1e-5",
            True,
            _descent(kind),
            delta=DELTA,
        )
        for kind in LOSSES
    ),
)
