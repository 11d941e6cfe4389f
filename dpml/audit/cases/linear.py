"""Claims of the linear classifiers."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpml.audit import exact_epsilon, recorded_cost, recorded_releases
from dpml.audit.cases.base import DELTA, Case, CaseMaker, first_drawn, recorded
from dpml.classifiers import LinearClassifier, LinearSVC, LogisticRegression, PrivGene, PrivLocal
from dpml.classifiers.linear import LOGISTIC, HuberHinge, minimiser, release_objective, release_output
from dpml.classifiers.linear.descent import release_approximate_minima, release_descent
from dpml.classifiers.linear.functional import release_coefficients, taylor_coefficients
from dpml.classifiers.local_search import (
    Records,
    candidate_range,
    neighbourhood_range,
    offspring,
    release_genetic_search,
    release_local_search,
)
from dpml.classifiers.local_search.search import epsilon_share, loss_value
from dpml.mechanisms.choice import ReportNoisyMax
from dpml.mechanisms.noise import gaussian_delta
from dpml.schema import Feature, Schema

LAMBDA = 0.5
STRONG = 50.0  # λ so large that the curvature of the losses hardly matters

STEPS = 5
LOSSES = {"logistic": LOGISTIC, "svc": HuberHinge(0.5)}
ESTIMATORS: dict[str, Any] = {"logistic": LogisticRegression, "svc": LinearSVC}


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


FLAT = np.full((1, 4), 0.5)


def _functional(sensitivity: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "sensitivity": sensitivity}
        X, codes = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]), np.array([0, 1])
        if relation == "add-remove":
            pair = (X, codes), (np.vstack([X, FLAT]), np.append(codes, 1))
        else:
            # the worst pair that a numerical search found: nearly orthogonal, all products of coordinates far apart
            a = np.array([[0.653, 0.653, -0.271, -0.271]])
            b = np.array([[0.271, 0.271, 0.653, 0.653]])
            pair = (np.vstack([X, a]), np.append(codes, 1)), (np.vstack([X, b]), np.append(codes, 1))

        def sample(data, draws, rng):
            exact = taylor_coefficients(*data)
            return release_coefficients(exact, epsilon, draws=draws, rng=rng, **options).packed()

        words = "a record of equal coordinates is added, or replaces one that is orthogonal to it"
        return Case.of_release(*pair, sample, one=1, pasts=1, words=words)

    return case


def _functional_fit(epsilon: float, relation: str) -> Case:
    # columns in [-1, 1]; the fit divides them by 2, so that records are in the unit ball
    X, signs = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.array([-1.0, 1.0])
    end, other = np.ones((1, 4)), np.array([[1.0, 1.0, -1.0, -1.0]])
    before = (X, signs) if relation == "add-remove" else (np.vstack([X, other]), np.append(signs, 1.0))

    def sample(data, draws, rng):
        X, signs = data
        exact = taylor_coefficients(X / 2, (signs > 0).astype(int), n_nonzero=4)
        return release_coefficients(exact, epsilon, relation=relation, n_nonzero=4, draws=draws, rng=rng).packed()

    call = fit("logistic", epsilon, relation, columns=4, method="functional")
    words = "a record of equal coordinates is added, or replaces one that is orthogonal to it"
    pair = before, (np.vstack([X, end]), np.append(signs, 1.0))
    return Case(*pair, call, sample, recorded(call, pasts=1), words=words)


def _leader(method: str):
    def case(epsilon: float, relation: str) -> Case:
        schema = Schema.binary(3, n_lower=1_000)
        X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        data, neighbour = (X[:2], np.array([0, 1])), (X, np.array([0, 1, 1]))
        if relation == "replace-one":
            data = (X, np.array([0, 1, 0]))

        def make(seed):
            facts: dict[str, Any] = {"relation": relation, "schema": schema, "random_state": seed}
            return LinearClassifier(epsilon, method=method, **facts)

        def call(data):
            return make(0).fit(*data)

        def sample(data, draws, rng):
            fits = [make(int(seed)).fit(*data) for seed in rng.integers(2**31, size=draws)]
            return np.array([fit.decision_function(np.eye(3)) for fit in fits])

        words = "a record of all ones is added, or changes its class"
        return Case(data, neighbour, call, sample, recorded(call), draws=200, words=words)

    return case


LOSS = "logistic"
LOCAL: dict[str, Any] = {"n_iterations": 2, "step": 1.0, "decay": 0.5, "loss": LOSS, "stay": False}
GENE: dict[str, Any] = {"n_iterations": 2, "n_candidates": 3, "n_selected": 2, "step": 1.0, "decay": 0.5, "loss": LOSS}


def _equal_records(epsilon: float, relation: str) -> tuple[Records, Records]:
    """Return neighbouring tables of many equal records, so that every choice against them is rare.

    Under add/remove the second table has one more of them. Under replace-one the first has one of the other sign. This
    record moves the scores of two candidates apart as far as a record can.
    """
    many = int(np.ceil(60 / epsilon)) + 4
    before, after = [1.0] * many, [1.0] * many + ([1.0] if relation == "add-remove" else [])
    if relation == "replace-one":
        before[-1] = -1.0
    sides = [Records(np.ones((len(s), 1)), np.array(s), n_ones=1, intercept=False) for s in (before, after)]
    return sides[0], sides[1]


def _fit(estimator: Any, **options: Any) -> Any:
    """Return a call that fits to `Records` with one column, which is always 1."""

    def call(data):
        facts: dict[str, Any] = {"schema": Schema.binary(1), "fit_intercept": False, "random_state": SEED}
        return estimator(**facts, **options).fit(np.ones((data.n, 1)), (data.signs > 0).astype(int))

    return call


class _AsDrawn:
    """The cost of a fit: that of its worst path of choices, or the recorder's cost if that is larger.

    The recorder takes the worst outcome of each choice, but only on the paths that it draws. The worst path is rare,
    and only an enumeration finds it. The enumeration takes the ε of the choices from the boundary, but trusts the range
    of the scores. The recorder does not trust this range.
    """

    def __init__(self, call: Any, paths: Any):
        self.call, self.paths = call, paths
        self.log_probabilities = paths.log_probabilities  # for callers that compare the outputs one by one

    def privacy_loss(self, data: Records, neighbour: Records) -> float:
        self.paths.epsilon = first_drawn(self.call, data)[0].epsilon
        sides = [self.paths.log_probabilities(side) for side in (data, neighbour)]
        return max(exact_epsilon(*sides)[0], recorded_cost(self.call, data, neighbour, pasts=2))


class _LocalPaths:
    """The exact log probability of every path of choices of `release_local_search`."""

    def __init__(self, epsilon: float, relation: str, calibration: str):
        self.epsilon, self.calibration = epsilon_share(epsilon, LOCAL["n_iterations"]), calibration
        self.factor = 2 if relation == "replace-one" else 1

    def log_probabilities(self, data: Records) -> dict[Any, float]:
        """Return the log probabilities, one for each path."""
        steps = LOCAL["step"] * LOCAL["decay"] ** np.arange(LOCAL["n_iterations"])
        paths: dict[Any, tuple[float, np.ndarray]] = {(): (0.0, np.zeros((1, data.dimension)))}
        for s in steps:
            longer = {}
            for path, (log, theta) in paths.items():
                gains = data.gains(data.margins(theta), s, LOSS)[0]
                span = self.factor * float(neighbourhood_range(theta, s, LOSS, n_ones=1, intercept=False)[0])
                if self.calibration == "published":
                    span = 2 * float(loss_value(LOSS, -steps.sum()))
                noise = "gumbel" if self.calibration == "published" else "exponential"
                chances = ReportNoisyMax(self.epsilon, span, noise).probabilities(gains)
                for c, chance in enumerate(chances):
                    moved = theta.copy()
                    moved[0, c % data.dimension] += s if c < data.dimension else -s
                    longer[(*path, c)] = (log + float(np.log(chance)), moved)
            paths = longer
        return {path: log for path, (log, _) in paths.items()}


def _local(calibration: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {**LOCAL, "relation": relation, "calibration": calibration}

        def sample(data, draws, rng):
            return release_local_search(data, epsilon, draws=draws, rng=rng, **options)

        call = _fit(PrivLocal, epsilon=epsilon, **options)

        exact = _AsDrawn(call, _LocalPaths(epsilon, relation, calibration))
        words = "many equal records, and one more is added, or one changes its label"
        return Case(*_equal_records(epsilon, relation), call, sample, exact, draws=4_000, words=words)

    return case


SEED = 1  # with these draws the first candidates are -1, -1 and 1, and their children differ


class _GenePaths:
    """The exact log probability of every sequence of choices of `release_genetic_search`, given its coins."""

    def __init__(self, epsilon: float, relation: str, calibration: str):
        choices = (GENE["n_iterations"] - 1) * GENE["n_selected"] + 1
        self.epsilon, self.calibration = epsilon_share(epsilon, choices), calibration
        self.factor = 2 if relation == "replace-one" else 1

    def _selections(self, data: Records, parents: np.ndarray, t: int, kept: int) -> Iterator[Any]:
        """Yield (chosen, log probability, chosen candidates) for all ordered choices of `kept` candidates."""
        steps = GENE["step"] * GENE["decay"] ** np.arange(GENE["n_iterations"])
        candidates = offspring(parents, GENE["n_candidates"], steps[t], np.random.default_rng(SEED))
        scores = -data.objective(candidates, LOSS)[0]
        span = self.factor * float(candidate_range(candidates, LOSS, n_ones=1, intercept=False)[0])
        if self.calibration == "published":
            span = 2 * float(loss_value(LOSS, -steps.sum()))
        noise = "gumbel" if self.calibration == "published" else "exponential"
        mechanism = ReportNoisyMax(self.epsilon, span, noise)
        for order in itertools.permutations(range(GENE["n_candidates"]), kept):
            left, log = list(range(GENE["n_candidates"])), 0.0
            for c in order:
                log += float(np.log(mechanism.probabilities(scores[left])[left.index(c)]))
                left.remove(c)
            yield order, log, candidates[:, list(order)]

    def log_probabilities(self, data: Records) -> dict[Any, float]:
        """Return the log probabilities, one for each sequence of choices."""
        paths, start = {}, np.zeros((1, 1, data.dimension))
        for first, log, parents in self._selections(data, start, 0, GENE["n_selected"]):
            for last, more, _ in self._selections(data, parents, 1, 1):
                paths[first + last] = log + more
        return paths


def _gene(calibration: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {**GENE, "relation": relation, "calibration": calibration}

        def sample(data, draws, rng):
            return release_genetic_search(data, epsilon, draws=draws, rng=rng, **options)

        call = _fit(PrivGene, epsilon=epsilon, **options)

        exact = _AsDrawn(call, _GenePaths(epsilon, relation, calibration))
        words = "many equal records, and one more is added, or one changes its label"
        return Case(*_equal_records(epsilon, relation), call, sample, exact, draws=4_000, words=words)

    return case


CASES: dict[str, CaseMaker] = {
    **{
        f"{kind}-{method}" + ("" if calibration == "tight" else "-published"): case(calibration, kind)
        for kind in LOSSES
        for method, case in (("output", _output), ("objective", _objective))
        for calibration in ("tight", "published")
    },
    **{f"{kind}-objective-laplace": _laplace_objective(kind) for kind in LOSSES},
    **{f"{kind}-approximate-minima": _approximate_minima(kind) for kind in LOSSES},
    **{f"{kind}-noisy-descent": _descent(kind) for kind in LOSSES},
    "svc-noisy-descent-clip": _descent("svc", _no_class, on_invalid="clip"),
    "functional": _functional("exact"),
    "functional-improved": _functional("improved"),
    "functional-original": _functional("original"),
    "functional-fit": _functional_fit,
    **{f"linear-classifier-{method}": _leader(method) for method in ("auto", "naive-bayes", "objective")},
    "priv-local": _local("range"),
    "priv-local-published": _local("published"),
    "priv-gene": _gene("range"),
    "priv-gene-published": _gene("published"),
}
