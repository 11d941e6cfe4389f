"""Claims of methods that wrap other estimators: searches, selectors with a classifier, cross-validation."""

from typing import Any

import numpy as np
from scipy.special import softmax

from dpml.audit.cases.base import DELTA, Case, CaseMaker, Enumerated, in_the_middle, recorded, table_from_rows
from dpml.audit.cases.classifiers import WIDE_SCHEMA, counts_of, few_of_many
from dpml.classifiers import BernoulliNB, LogisticRegression
from dpml.evaluation import private_cross_val_score, roc_thresholds
from dpml.mechanisms import ExponentialMechanism
from dpml.schema import Schema
from dpml.tuning import BestSelector, PrivateSearch
from dpml.tuning.stopping import random_stopping, stopping_distribution

BINS = roc_thresholds(2)

AGAINST = "a record that contradicts the chosen features is added, or replaces one that agrees"
D, R = 3, 2
SCHEMA = Schema.binary(D, row_bound=R, n_lower=30)
ROWS = [([0, 1], 1), ([2], 0)] * 20


def _tables(relation: str) -> tuple[Any, Any]:
    """Return tables with a trend. A record that contradicts it is added, or replaces one that follows it."""
    before = ROWS if relation == "add-remove" else [*ROWS, ([0, 1], 1)]
    return table_from_rows(before, D), table_from_rows([*ROWS, ([0, 1], 0)], D)


def _fits(make: Any, shown: Any, words: str, delta: float = 0.0, pasts: int = 3, neighbours: Any = _tables):
    """Return a case of a wrapper. ``make(epsilon, relation, seed)(X, y)`` fits it; `shown` returns its outputs."""

    def case(epsilon: float, relation: str) -> Case:
        def call(data):
            return make(epsilon, relation, 0)(*data)

        def sample(data, draws, rng):
            seeds = rng.integers(2**31, size=draws)
            return np.array([shown(make(epsilon, relation, int(seed))(*data)) for seed in seeds])

        exact = recorded(call, delta, pasts)
        data, neighbour = neighbours(relation)
        # a record among the others must move none of them to another part or fold
        others = (in_the_middle(data, neighbour), *([_tables(relation)] if neighbours is _no_class else []))
        return Case(data, neighbour, call, sample, exact, draws=60, words=words, others=others)

    return case


LINEAR: dict[str, Any] = {"row_bound": R}


def _search(method: str, training: str = "shared", release: bool = False, **options: Any):
    def make(epsilon: float, relation: str, seed: Any) -> Any:
        estimator: Any = BernoulliNB(1.0, selection="none")
        candidates: Any = [{"row_bound": 1}, {"row_bound": 2}, {"row_bound": 2, "shrinkage": 1e6}]
        if method == "stability":
            estimator = LogisticRegression(1.0, **LINEAR)
            candidates = [{"reg_lambda": 1.0}, {"reg_lambda": 100.0}]
        facts: dict[str, Any] = {"relation": relation, "schema": SCHEMA, "release": release}
        facts["random_state"] = None if release else seed
        return PrivateSearch(estimator, candidates, epsilon, method=method, training=training, **facts, **options).fit

    def shown(fitted: Any) -> Any:
        model = fitted.best_estimator_
        learned = model.coef_ if method == "stability" else model.feature_log_prob_
        return np.append(fitted.best_index_, learned)

    words = "a record that contradicts the trend is added, or replaces one that follows it"
    # of eight pasts some hold the record out, and have a candidate that is right where the others are wrong
    return _fits(make, shown, words, pasts=8 if training == "shared" else 3)


def _best(epsilon: float, relation: str, seed: Any) -> Any:
    return BestSelector(epsilon, relation=relation, schema=WIDE_SCHEMA, random_state=seed).fit


def _best_of_descent(epsilon: float, relation: str, seed: Any) -> Any:
    held = LogisticRegression(1.0, method="noisy-descent", delta=DELTA, n_iterations=3)
    return BestSelector(epsilon, held, relation=relation, schema=WIDE_SCHEMA, random_state=seed).fit


def _best_with_release(epsilon: float, relation: str, seed: Any) -> Any:
    return BestSelector(epsilon, relation=relation, schema=WIDE_SCHEMA, release=True).fit


def _cross_validation(clip: bool = False, release: bool = False):
    def make(epsilon: float, relation: str, seed: Any) -> Any:
        # three folds: each record trains two models and tests the third
        model = BernoulliNB(epsilon / 4, relation=relation, selection="none", row_bound=R, schema=SCHEMA)
        options: dict[str, Any] = {"n_folds": 3, "relation": relation, "thresholds": BINS, "release": release}
        options |= {"on_invalid": "clip" if clip else "raise", "rng": None if release else np.random.default_rng(seed)}

        def released(X, y):
            result = private_cross_val_score(model, X, y, epsilon / 2, **options)
            # the folds are left out: they only list the caller's own records
            return result.score, result.evaluation, result.models

        return released

    words = "a record is added, or changes its label, and each is in two training sets and one test set"
    return _fits(
        make, lambda output: np.ravel(output[1].counts), words, neighbours=_no_class if clip or release else _tables
    )


def _no_class(relation: str) -> tuple[Any, Any]:
    """Return tables where a record is added, or replaces one whose label is no class."""
    (X, codes), after = _tables(relation)
    return (X, np.append(codes[:-1], 7) if relation == "replace-one" else codes), after


GAMMA = 0.1


def _stopping(eta: float):
    def case(epsilon: float, relation: str) -> Case:
        run_epsilon = epsilon / (2 + eta)
        mechanism = ExponentialMechanism(run_epsilon, run_epsilon)  # draws outcomes with the probabilities in the data

        def released(data, draws, rng):
            def run(rng):
                outcome = mechanism.release(np.log(data), rng=rng)
                return outcome, float(outcome)

            return random_stopping(run, run_epsilon, eta=eta, gamma=GAMMA, rng=rng, draws=draws)

        def call(data):
            return released(data, None, np.random.default_rng(0))

        def sample(data, draws, rng):
            return np.array([outcome for outcome, _ in released(data, draws, rng)])

        def probabilities(_, logs):
            return np.log(stopping_distribution(softmax(np.ravel(logs)), eta, GAMMA))

        more, rare = np.exp(run_epsilon), 0.02 * np.exp(-run_epsilon)
        # the middle outcome is likelier for one table, the best one for the other
        pairs = (more * rare, rare), (rare, more * rare)
        first, second = (np.array([1 - middle - best, middle, best]) for middle, best in pairs)
        words = (
            "runs with three outcomes, and the middle one becomes rarer, and the best one likelier, by the factor e^ε₀"
        )
        return Case(first, second, call, sample, Enumerated(call, probabilities), draws=4_000, words=words)

    return case


CASES: dict[str, CaseMaker] = {
    "search-permute-and-flip": _search("permute-and-flip"),
    "search-exponential": _search("exponential"),
    "search-disjoint": _search("permute-and-flip", training="disjoint"),
    "search-release": _search("permute-and-flip", release=True),
    "search-random-stopping": _search("random-stopping", retrain_share=0.0),
    "search-stability": _search("stability", simulations=2),
    "best-selector": _fits(_best, lambda found: counts_of(found.classifier_)[:3], AGAINST, neighbours=few_of_many),
    "best-selector-descent": _fits(
        _best_of_descent, lambda found: found.classifier_.coef_[0, :1], AGAINST, DELTA, 1, few_of_many
    ),
    "best-selector-release": _fits(
        _best_with_release, lambda found: counts_of(found.classifier_)[:3], AGAINST, neighbours=few_of_many
    ),
    "cross-validation": _cross_validation(),
    "cross-validation-clip": _cross_validation(clip=True),
    "cross-validation-release": _cross_validation(release=True),
    "random-stopping-logarithmic": _stopping(0.0),
    "random-stopping-geometric": _stopping(1.0),
}
