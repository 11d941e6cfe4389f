"""Claims of the private searches for linear weights."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpml.auditing import exact_epsilon, recorded_cost
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import first_drawn
from dpml.classifiers import PrivGene, PrivLocal
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
from dpml.schema import Schema

LOSS = "logistic"
LOCAL: dict[str, Any] = {"n_iterations": 2, "step": 1.0, "decay": 0.5, "loss": LOSS, "stay": False}
GENE: dict[str, Any] = {"n_iterations": 2, "n_candidates": 3, "n_selected": 2, "step": 1.0, "decay": 0.5, "loss": LOSS}


def _records(epsilon: float, relation: str) -> tuple[Records, Records]:
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
        return Case(*_records(epsilon, relation), call, sample, exact, draws=4_000, words=words)

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
        return Case(*_records(epsilon, relation), call, sample, exact, draws=4_000, words=words)

    return case


METHODS = tuple(
    Method(
        name + ("" if calibration == "range" else "-published"),
        title + ("" if calibration == "range" else ", published sensitivity"),
        "classifier",
        tuple(
            f"dpml.classifiers.local_search.{thing}{option}"
            for thing in (estimator, function)
            for option in ("", f"[{calibration}]")
        ),
        source + (" (range derived here)" if calibration == "range" else ""),
        "ε",
        case(calibration),
        cost="as claimed" if calibration == "range" else "less than ε",
    )
    for name, title, estimator, function, source, case in (
        (
            "priv-local",
            "Private local search",
            "PrivLocal",
            "release_local_search",
            "[su2018], Algorithm 1",
            _local,
        ),
        (
            "priv-gene",
            "Private genetic search",
            "PrivGene",
            "release_genetic_search",
            "[zhang2013], as described in [su2018], section 3.4",
            _gene,
        ),
    )
    for calibration in ("range", "published")
)
