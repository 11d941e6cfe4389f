"""Claims of private tuning."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.stats import binom

from dpml.catalogue._method import Case, Method
from dpml.classifiers.linear import release_weights
from dpml.evaluation.stability import margins_of, stability_range, stable_score
from dpml.evaluation.stopping import random_stopping, stopping_distribution
from dpml.evaluation.tuning_plan import VALIDATION, choice_range, split_records
from dpml.mechanisms import ExponentialMechanism, PermuteAndFlip

SHARE = 0.8


class _Choice:
    """Which of two constant predictions is chosen, over all coins of all records: (records of class 0, of class 1)."""

    def __init__(self, mechanism: Any):
        self.mechanism = mechanism

    def log_probabilities(self, data: Any) -> Any:
        total = np.zeros(2)
        for correct in itertools.product(*(range(n + 1) for n in data)):
            weight = np.prod([binom.pmf(k, n, SHARE) for k, n in zip(correct, data, strict=True)])
            total += weight * self.mechanism.probabilities(np.array(correct, dtype=float))
        return np.log(total)

    def sample(self, data: Any, draws: int, rng: np.random.Generator) -> Any:
        labels = np.repeat([0, 1], data)
        held = split_records(draws * labels.size, 1, SHARE, rng=rng).reshape(draws, -1) == VALIDATION
        correct = np.stack([held[:, labels == c].sum(axis=1) for c in (0, 1)], axis=1)
        chosen = np.empty(draws, dtype=np.intp)
        for row in np.unique(correct, axis=0):
            mine = (correct == row).all(axis=1)
            chosen[mine] = self.mechanism.release(row, rng=rng, draws=int(mine.sum()))
        return chosen


def _choice(kind: Any):
    def case(epsilon: float, relation: str) -> Case:
        exact = _Choice(kind(epsilon, choice_range(relation)))
        other = (7, 1) if relation == "add-remove" else (6, 1)
        words = "two constant predictions; a record of the rarer class comes, or takes the place of another"
        return Case((7, 0), other, exact.sample, exact, words=words)

    return case


LAMBDAS, REACH = (5.0, 1000.0), 2.0
# the noise of training is fixed and its ε is another one's share: so much that the two regularisers stand as they are
TRAINING = {"epsilon": 1e4, "draws": 4}


class _StableChoice:
    """The choice between two λ, with training noise that is fixed: (training table, validation table)."""

    def __init__(self, epsilon: float, relation: str):
        self.relation = relation
        self.mechanism = PermuteAndFlip(epsilon, stability_range(REACH, 2, relation=relation, tolerance=1e-8))

    def scores(self, data: Any) -> list[float]:
        (X, codes), (held, held_codes) = data
        scores = []
        for reg_lambda in LAMBDAS:
            fixed: Any = {**TRAINING, "relation": self.relation, "rng": np.random.default_rng(0)}
            theta = release_weights(X, codes, 2, reg_lambda=reg_lambda, **fixed)[:, 0]
            margins = margins_of(theta @ held.T, held_codes)
            scores.append(float(stable_score(margins, REACH / reg_lambda, 2).mean()))
        return scores

    def log_probabilities(self, data: Any) -> Any:
        return np.log(self.mechanism.probabilities(self.scores(data)))

    def sample(self, data: Any, draws: int, rng: np.random.Generator) -> Any:
        return self.mechanism.release(self.scores(data), rng=rng, draws=draws)


def _stability(epsilon: float, relation: str) -> Case:
    # a strong regulariser follows the many records, a weak one the few as well: they differ about the held-out ones
    training = np.repeat(np.eye(2), [400, 40], axis=0), np.ones(440, dtype=np.intp)
    record = np.array([[1.0, -3.0]]) / np.sqrt(10)
    before, codes = np.repeat(record, 2, axis=0), np.array([0, 0])
    after = np.array([0, 1]) if relation == "replace-one" else np.array([0, 0, 1])
    held = np.repeat(record, len(after), axis=0)
    exact = _StableChoice(epsilon, relation)
    words = "two regularisers; a held-out record comes that speaks for the worse one, or takes the place of another"
    return Case((training, (before, codes)), (training, (held, after)), exact.sample, exact, words=words)


GAMMA = 0.1


class _Stopping:
    """The best of a random number of runs that give one of three outcomes."""

    def __init__(self, epsilon: float, eta: float):
        self.run_epsilon, self.eta = epsilon / (2 + eta), eta

    def log_probabilities(self, data: Any) -> Any:
        return np.log(stopping_distribution(data, self.eta, GAMMA))

    def sample(self, data: Any, draws: int, rng: np.random.Generator) -> Any:
        worse = np.cumsum(data[:-1]).tolist()

        def run(rng):
            coin = rng.random()
            outcome = sum(coin >= edge for edge in worse)
            return outcome, float(outcome)

        found = random_stopping(run, self.run_epsilon, eta=self.eta, gamma=GAMMA, rng=rng, draws=draws)
        return np.array([outcome for outcome, _ in found])


def _stopping(eta: float):
    def case(epsilon: float, relation: str) -> Case:
        exact = _Stopping(epsilon, eta)
        more, rare = np.exp(exact.run_epsilon), 0.02 * np.exp(-exact.run_epsilon)
        # the middle outcome is likelier on one side, the best one on the other
        pairs = (more * rare, rare), (rare, more * rare)
        first, second = (np.array([1 - middle - best, middle, best]) for middle, best in pairs)
        words = "runs of three outcomes; the middle one becomes rarer and the best one likelier by e^ε₀"
        return Case(first, second, exact.sample, exact, words=words)

    return case


METHODS = (
    *(
        Method(
            f"search-{name}",
            f"Candidates compared on held-out records, by {title}",
            "evaluation",
            ("dpml.evaluation.PrivateSearch", f"dpml.evaluation.PrivateSearch[{name}]"),
            "after Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 3; ranges derived here",
            "ε for the held-out records, and for those that train",
            True,
            _choice(kind),
        )
        for name, title, kind in (
            ("permute-and-flip", "permute-and-flip", PermuteAndFlip),
            ("exponential", "the exponential mechanism", ExponentialMechanism),
        )
    ),
    Method(
        "search-stability",
        "Regularisers compared by a score that is stable under training",
        "evaluation",
        ("dpml.evaluation.PrivateSearch", "dpml.evaluation.PrivateSearch[stability]"),
        "after Chaudhuri and Vinterbo 2013; clipped score and range derived here",
        "ε for the choice, δ = 0, whatever the number of candidates",
        True,
        _stability,
    ),
    *(
        Method(
            f"random-stopping-{name}",
            f"Best of a random number of runs, {name}",
            "evaluation",
            (
                "dpml.evaluation.PrivateSearch",
                "dpml.evaluation.PrivateSearch[random-stopping]",
                "dpml.evaluation.stopping.random_stopping",
            ),
            source,
            f"{2 + eta:g} times the ε of one run",
            True,
            _stopping(eta),
        )
        for name, eta, source in (
            ("logarithmic", 0.0, "Papernot and Steinke 2022"),
            ("geometric", 1.0, "Liu and Talwar 2019"),
        )
    ),
)
