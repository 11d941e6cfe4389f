"""Claims of the linear classifiers."""

import math
from typing import Any

import numpy as np

from dpml.auditing import recorded_releases
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import first_drawn, recorded
from dpml.classifiers import LinearSVC, LogisticRegression
from dpml.classifiers.linear import LOGISTIC, HuberHinge, minimiser, release_objective, release_output
from dpml.classifiers.linear.descent import release_approximate_minima, release_descent
from dpml.mechanisms.noise import gaussian_delta
from dpml.schema import Feature, Schema

LAMBDA = 0.5
STRONG = 50.0  # λ so large that the curvature of the losses hardly matters
DELTA = 1e-5
STEPS = 5
LOSSES = {"logistic": LOGISTIC, "svc": HuberHinge(0.5)}
NAMES = {"logistic": "Logistic regression", "svc": "Linear support vector machine"}
ESTIMATORS: dict[str, Any] = {"logistic": LogisticRegression, "svc": LinearSVC}
CLASSES = {"logistic": "dpml.classifiers.LogisticRegression", "svc": "dpml.classifiers.LinearSVC"}


def _records(relation: str) -> tuple[Any, Any]:
    """Return (X, signs) in the unit ball whose minimisers lie as far apart as a record can push them."""
    X, signs = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    if relation == "add-remove":
        return (X, signs), (np.vstack([X, [[-1.0]]]), np.array([1.0, -1.0, 1.0]))
    return (X, signs), (np.array([[1.0], [1.0]]), np.array([1.0, -1.0]))


def fit(kind: str, epsilon: float, relation: str, columns: int = 1, **options: Any) -> Any:
    """Return a call that fits to (X, signs) with X in [-1, 1]. A single column is in the unit ball as it is."""
    schema = Schema(tuple(Feature(f"x{i}", "numeric", lower=-1, upper=1) for i in range(columns)))
    facts: dict[str, Any] = {"relation": relation, "schema": schema, "fit_intercept": False, "random_state": 0}

    def call(data):
        X, signs = data
        codes = np.where(np.isnan(signs), 7, signs > 0).astype(int)  # a NaN sign stands for a label that is no class
        return ESTIMATORS[kind](epsilon, **{"reg_lambda": LAMBDA, **facts, **options}).fit(X, codes)

    return call


def _output(calibration: str, kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "calibration": calibration}

        def sample(data, draws, rng):
            theta = minimiser(*data, STRONG, loss=LOSSES[kind])
            return release_output(theta, epsilon, STRONG, draws=draws, rng=rng, **options)

        call = fit(kind, epsilon, relation, method="output", calibration=calibration, reg_lambda=STRONG)
        return Case(*_records(relation), call, sample, recorded(call, pasts=1), words="one record against both others")

    return case


# ---- perturbed objectives: densities of the exact minimiser, from the noise and the records at the boundary ----------


class _PerturbedMinimum:
    """The density of the minimiser of a perturbed objective, with the noise and λ of the fit.

    The recorder knows only a bound here, which also covers the solver. This is the cost of the exact minimiser.
    """

    def __init__(self, call: Any):
        self.call = call

    def _log_density(self, data: Any, theta: np.ndarray) -> np.ndarray:
        mechanism, (X, signs) = first_drawn(self.call, data)
        residual = mechanism.loss.residual(X @ theta, (signs + 1) / 2)
        b = -(X.T @ residual) - mechanism.reg_lambda * theta
        w = mechanism.loss.weights(residual)
        own = ((X**2).T @ w) + mechanism.reg_lambda
        if len(theta) == 1:
            return self._log_noise(mechanism.noise, b) + np.log(own[0])
        off = (X[:, 0] * X[:, 1]) @ w
        return self._log_noise(mechanism.noise, b) + np.log(own[0] * own[1] - off**2)

    @staticmethod
    def _log_noise(noise: Any, b: np.ndarray) -> np.ndarray:
        # for one weight, NormGamma noise is Laplace noise
        return -np.abs(b).sum(axis=0) / noise.scale


class _LargestRatio(_PerturbedMinimum):
    """The exact privacy loss, on a grid of outputs."""

    def __init__(self, call: Any, grid: Any):
        super().__init__(call)
        self.grid = grid

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        first, second = (self._log_density(side, self.grid) for side in (data, neighbour))
        return float(np.abs(first - second).max())


LINE = np.linspace(-60, 60, 240_001)[None]
PLANE = np.stack(np.meshgrid(*2 * [np.linspace(-80, 80, 641)])).reshape(2, -1)


def _objective(calibration: str, kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "calibration": calibration, "loss": LOSSES[kind]}

        def sample(data, draws, rng):
            return release_objective(*data, epsilon, LAMBDA, draws=draws, rng=rng, **options)

        call = fit(kind, epsilon, relation, method="objective", calibration=calibration)
        exact = _LargestRatio(call, LINE)
        return Case(*_records(relation), call, sample, exact, draws=4_000, words="one record against both others")

    return case


SQUARED = 0.5  # ‖x‖₂² of a record that shares 1 between two columns


def _laplace_objective(kind: str):
    def case(epsilon: float, relation: str) -> Case:
        X, signs = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1.0, -1.0])
        data: Any = (X, signs)
        if relation == "replace-one":
            data = (np.vstack([X, [[1.0, 1.0]]]), np.append(signs, 1.0))
        neighbour = (np.vstack([X, [[1.0, 1.0]]]), np.append(signs, -1.0))
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind], "norm": "l1", "squared_norm": SQUARED}

        def sample(data, draws, rng):
            X, signs = data
            return release_objective(X / 2, signs, epsilon, LAMBDA, draws=draws, rng=rng, **options)

        call = fit(kind, epsilon, relation, columns=2, method="objective", norm="l1")
        exact = _LargestRatio(call, PLANE)
        return Case(data, neighbour, call, sample, exact, draws=4_000, words="a record is added, or changes its label")

    return case


class _GaussianMinimum(_PerturbedMinimum):
    """The exact δ of Gaussian objective perturbation of one weight, by summation over a fine grid of outputs."""

    def __init__(self, call: Any):
        super().__init__(call)
        self._known: dict[int, Any] = {}

    @staticmethod
    def _log_noise(noise: Any, b: np.ndarray) -> np.ndarray:
        return -0.5 * (b[0] / noise.scale) ** 2 - math.log(noise.scale * math.sqrt(2 * math.pi))

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        if not self._known:  # densities are computed once, not at every ε of a search
            mechanism, _ = first_drawn(self.call, data)
            end = (10 * mechanism.noise.scale + 5) / mechanism.reg_lambda
            theta = np.linspace(-end, end, 100_001)
            self._known = {id(side): self._log_density(side, theta[None]) for side in (data, neighbour)}
            self._step = theta[1] - theta[0]
        first, second = self._known[id(data)], self._known[id(neighbour)]
        ways = [(first, second), (second, first)]
        return max(float(np.clip(np.exp(p) - np.exp(epsilon + q), 0, None).sum() * self._step) for p, q in ways)


def _approximate_minima(kind: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind]}

        def sample(data, draws, rng):
            return release_approximate_minima(*data, epsilon, DELTA, LAMBDA, draws=draws, rng=rng, **options)

        call = fit(kind, epsilon, relation, method="approximate-minima", delta=DELTA)
        exact = _GaussianMinimum(call)
        return Case(*_records(relation), call, sample, exact, draws=4_000, words="one record against both others")

    return case


# ---- descent --------------------------------------------------------------------------------------------------------


class _StepsOfDescent:
    """The δ of all noisy releases of a fit. Each gradient is charged for the largest change that a record can cause.

    The number of releases and their noise come from the boundary. If a recorded change is larger, it is charged
    instead. On one path, gradients differ by less than this maximum, so that the result is larger than the recorder's.
    """

    def __init__(self, call: Any, relation: str):
        self.call, self.reach = call, 1 if relation == "add-remove" else 2
        self._mu: float | None = None

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        if self._mu is None:
            releases = recorded_releases(self.call, data, neighbour)
            if any(math.isinf(release.loss.pure) for release in releases):
                return 1.0
            # a released count changes by 1, which is also the most that a gradient changes under add/remove
            each = [max(r.loss.gaussian, (self.reach / r.mechanism.scale) ** 2) for r in releases]
            self._mu = math.sqrt(math.fsum(each))
        return gaussian_delta(epsilon, 1 / self._mu)


def _no_class(relation: str) -> tuple[Any, Any]:
    """Return two tables. In the first, the label of the last record is no class."""
    X, signs = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    return (X, np.array([1.0, np.nan])), (X, signs)


def _descent(kind: str, neighbours: Any = _records, **fitted: Any):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "loss": LOSSES[kind], "n_iterations": STEPS}

        def sample(data, draws, rng):
            X, signs = data
            known = ~np.isnan(signs)
            codes = (signs[known] > 0).astype(int)
            # a record whose label is no class is dropped, but is counted where the number of records is public
            more = {**options, "n_records": len(signs) if relation == "replace-one" else None, "draws": draws}
            return release_descent(X[known], codes, 2, epsilon, DELTA, LAMBDA, rng=rng, **more)[:, 0]

        call = fit(kind, epsilon, relation, method="noisy-descent", delta=DELTA, n_iterations=STEPS, **fitted)
        words = "one record against both others, and the loss is that of all steps together"
        data, neighbour = neighbours(relation)
        return Case(data, neighbour, call, sample, _StepsOfDescent(call, relation), draws=4_000, words=words)

    return case


METHODS = (
    *(
        Method(
            f"{kind}-{method}" + ("" if calibration == "tight" else "-published"),
            f"{NAMES[kind]} by {method} perturbation" + ("" if calibration == "tight" else ", published constants"),
            "classifier",
            (CLASSES[kind], f"{CLASSES[kind]}[{method}]", f"{CLASSES[kind]}[{calibration}]"),
            (f"[antonova2016], Algorithm {6 if method == 'output' else 7}" if kind == "logistic" else "[chaudhuri2011]")
            + (" (constants derived here)" if calibration == "tight" else ""),
            "ε at the exact minimiser, here including the solver's tolerance",
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
            (CLASSES[kind],),
            "[antonova2016], Algorithm 7 with a K-norm noise ([awan-slavkovic2021]), derived here",
            "ε for records of L1 norm at most 1",
            _laplace_objective(kind),
        )
        for kind in LOSSES
    ),
    *(
        Method(
            f"{kind}-approximate-minima",
            f"{NAMES[kind]} by approximate minima perturbation",
            "classifier",
            ("dpml.classifiers.linear.descent.release_approximate_minima", f"{CLASSES[kind]}[approximate-minima]"),
            "[kifer2012] and [iyengar2019] (constants derived here)",
            "(ε, δ), audited at δ = 1e-5",
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
            ("dpml.classifiers.linear.descent.release_descent", f"{CLASSES[kind]}[noisy-descent]"),
            "[bassily2014] and [dong2022], Corollary 3.3",
            "(ε, δ), audited at δ = 1e-5",
            _descent(kind),
            delta=DELTA,
        )
        for kind in LOSSES
    ),
    Method(
        "svc-noisy-descent-clip",
        "Linear support vector machine by noisy gradient descent, invalid input clipped",
        "classifier",
        (f"{CLASSES['svc']}[noisy-descent]",),
        "derived here: a record whose label is no class adds nothing to a gradient, but counts in a public n",
        "(ε, δ), audited at δ = 1e-5",
        _descent("svc", _no_class, on_invalid="clip"),
        relations=("replace-one",),
        delta=DELTA,
    ),
)
