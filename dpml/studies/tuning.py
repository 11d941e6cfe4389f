"""A study of private tuning: every scheme of `dpml.tuning.PrivateSearch`, with all draws at once.

The exact statistics of a part of the records are computed once, then the models of all draws in one array.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpml._arrays import BoolArray, FloatArray, Int64Array, IntArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.classifiers.linear import LOGISTIC, default_reg_lambda, linear_models, release_weights
from dpml.classifiers.linear.perturbation import TOLERANCE
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.naive_bayes import (
    default_class_share,
    default_row_bound,
    default_shrinkage,
    models_from_row_bounded,
)
from dpml.counts import Contingency, contingency, release_row_bounded, row_bounded_scales
from dpml.datasets import Dataset
from dpml.encoding import share_rows, unit_scale
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import ExponentialMechanism, Laplace, PermuteAndFlip
from dpml.tuning.search import (
    RUNS,
    VALIDATION,
    choice_range,
    default_reach,
    margins_of,
    search_costs,
    solver_tolerance,
    split_records,
    stability_range,
    stable_score,
)
from dpml.tuning.stopping import stopping_gamma, truncated_negative_binomial

SCHEMES = (
    "public rule",
    "best in hindsight",
    "disjoint",
    "disjoint, retrained",
    "shared",
    "shared, retrained",
    "stability",
    "random stopping 0",
    "random stopping 1",
    "random stopping 0, retrained",
    "random stopping 1, retrained",
)
# prefix of the names of random stopping; η follows
STOPPING = "random stopping "
ALL = "all"


class _RowBounds:
    """Naive Bayes with a tuned contribution bound; the counts of a part are computed once for each bound."""

    def __init__(self, dataset: Dataset, relation: str):
        self.schema, self.relation = dataset.schema, relation
        self.X, self.codes = dataset.X_train, dataset.y_train
        self.X_test = dataset.X_test
        self._shared: dict[int, Any] = {}
        self._tables: dict[Any, Contingency] = {}

    def default(self, epsilon: float) -> int:
        return default_row_bound(self.schema, epsilon)

    def tables(self, key: Any, where: BoolArray, r: int) -> Contingency:
        if (key, r) not in self._tables:
            if r not in self._shared:
                self._shared[r] = share_rows(self.X, r)
            self._tables[key, r] = contingency(self._shared[r][where], self.codes[where], self.schema.n_classes)
        return self._tables[key, r]

    def models(self, key, where, value, epsilon, draws, rng) -> LinearModels:
        r = min(int(value), self.schema.row_bound)
        shared: Any = {"relation": self.relation, "class_share": default_class_share(self.schema.n_features)}
        noisy = release_row_bounded(self.tables(key, where, r), epsilon, r, draws=draws, rng=rng, **shared)
        pooled = default_shrinkage(self.schema) * row_bounded_scales(epsilon, r, **shared)[0]
        return models_from_row_bounded(noisy, 1.0, pooled, self.schema)


class _Regularisers:
    """Logistic regression with a tuned λ. No record is cut."""

    def __init__(self, dataset: Dataset, relation: str, method: str):
        self.schema, self.relation, self.method = dataset.schema, relation, method
        self.X, self.codes = dataset.X_train, dataset.y_train
        self.X_test = dataset.X_test
        self.bound = int(dataset.schema.row_bound)
        self.scaled = unit_scale(self.X, self.bound)

    def default(self, epsilon: float) -> float:
        options: Any = {"method": self.method, "relation": self.relation, "n_classes": self.schema.n_classes}
        return default_reg_lambda(epsilon, self.schema.n_features + 1, **options)

    def models(self, key, where, value, epsilon, draws, rng) -> LinearModels:
        options: Any = {"method": self.method, "relation": self.relation, "draws": draws, "rng": rng}
        theta = release_weights(
            self.scaled[where], self.codes[where], self.schema.n_classes, epsilon, float(value), **options
        )
        return linear_models(theta, self.bound)


class TuningStudy:
    """Simulate private searches, a public rule and the best candidate in hindsight.

    Every scheme has the same total ε. "best in hindsight" trains each candidate with all of ε on all records and keeps
    the one with the best mean test accuracy. It is not private, but an upper mark. "public rule" does not use the
    records for its choice.

    Parameters
    ----------
    dataset : Dataset
        Binary data set.
    candidates : dict of one str to sequence
        Values of `row_bound` (naive Bayes with a contribution bound) or of `reg_lambda` (logistic regression).
    method : {"output", "objective"}, default="objective"
        Perturbation of logistic regression.
    public : number, optional
        Value of the public rule. The default is `default_row_bound` or `default_reg_lambda`.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    validation_share : float, default=0.3
        Share of the records for validation, as in `PrivateSearch`.
    choice : {"permute-and-flip", "exponential"}, default="permute-and-flip"
        Mechanism of the choice, as in `PrivateSearch`.
    simulations : int, default=5
        Number of simulations of the stability scheme, as in `PrivateSearch`.
    reach : float, optional
        Reach of the stability score, as in `PrivateSearch`.
    splits : int, default=3
        Number of independent splits of the records into parts. The draws use them in turn.
    seed : int, default=0
        Seed of the splits.

    See Also
    --------
    dpml.tuning.PrivateSearch : Private search of hyperparameters.
    LogisticStudy : Study of logistic regression.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> study = TuningStudy(load("toy"), {"row_bound": (1, 5)}, splits=2)
    >>> result = study(1.0, draws=4, rng=np.random.default_rng(0), schemes=("public rule", "shared, retrained"))
    >>> {name: accuracy.shape for name, accuracy in result.items()}
    {'public rule': (4,), 'shared, retrained': (4,)}
    """

    def __init__(
        self,
        dataset: Dataset,
        candidates: Mapping[str, Sequence[float]],
        *,
        method: str = "objective",
        public: float | None = None,
        relation: str = "add-remove",
        validation_share: float = 0.3,
        choice: str = "permute-and-flip",
        simulations: int = 5,
        reach: float | None = None,
        splits: int = 3,
        seed: int = 0,
    ):
        if len(candidates) != 1 or not set(candidates) <= {"row_bound", "reg_lambda"}:
            raise InvalidParameter("candidates", candidates, "values of row_bound or of reg_lambda")
        [(self.parameter, values)] = candidates.items()
        self.values = list(values)
        self.relation = check_relation(relation)
        check_choice(method, "method", ("output", "objective"))
        check_choice(choice, "choice", ("exponential", "permute-and-flip"))
        self.trainer: Any
        if self.parameter == "row_bound":
            for value in self.values:
                check_integer(value, "row_bound", 1)
            self.trainer = _RowBounds(dataset, relation)
        else:
            self.trainer = _Regularisers(dataset, relation, method)
        self.public = public
        self.X_test, self.y_test = dataset.X_test, dataset.y_test
        self.choice = ExponentialMechanism if choice == "exponential" else PermuteAndFlip
        self.validation_share = check_number(validation_share, "validation_share", 0, 1, open_lower=True)
        self.reach = None if reach is None else check_number(reach, "reach", 0.0, open_lower=True)
        self.simulations = check_integer(simulations, "simulations", 1)
        n, K = len(dataset.y_train), len(self.values)
        rng = np.random.default_rng(seed)
        self.splits = [
            {parts: split_records(n, parts, validation_share, rng=rng) for parts in {1, K}}
            for _ in range(check_integer(splits, "splits", 1))
        ]
        self._everything = np.ones(n, dtype=bool)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that work for this parameter."""
        return tuple(name for name in SCHEMES if name != "stability" or self.parameter == "reg_lambda")

    def __call__(
        self,
        epsilon: float,
        *,
        draws: int,
        rng: np.random.Generator,
        schemes: Sequence[str] | None = None,
        retrain_share: float = 0.5,
        gamma: float | None = None,
    ) -> dict[str, FloatArray]:
        """Return the test accuracies of each scheme, shape (draws,); settings: `retrain_share` and γ of stopping."""
        epsilon, draws = check_epsilon(epsilon), check_integer(draws, "draws", 1)
        check_rng(rng)
        names = self.schemes if schemes is None else tuple(schemes)
        for name in names:
            check_choice(name, "schemes", self.schemes)
        setting = {"retrain_share": retrain_share, "gamma": gamma}
        result = {}
        for name in names:
            if name == "public rule":
                value = self.trainer.default(epsilon) if self.public is None else self.public
                result[name] = self._accuracy(ALL, self._everything, value, epsilon, draws, rng)
            elif name == "best in hindsight":
                accuracies = [self._accuracy(ALL, self._everything, v, epsilon, draws, rng) for v in self.values]
                result[name] = max(accuracies, key=np.mean)
            else:
                accuracy = np.empty(draws)
                for s in range(len(self.splits)):
                    mine = np.arange(s, draws, len(self.splits))
                    if mine.size:
                        accuracy[mine] = self._searched(name, s, epsilon, mine.size, rng, **setting)
                result[name] = accuracy
        return result

    def _accuracy(self, *args: Any) -> FloatArray:
        return self.trainer.models(*args).accuracy(self.X_test, self.y_test)

    def _correct(self, models: LinearModels, where: BoolArray) -> Int64Array:
        codes = self.trainer.codes[where]
        return np.rint(models.accuracy(self.trainer.X[where], codes) * len(codes)).astype(np.int64)

    def _searched(self, name, s, epsilon, draws, rng, *, retrain_share, gamma) -> FloatArray:
        """Return the test accuracies of one scheme on one split."""
        K = len(self.values)
        retrained = name == "stability" or name.endswith("retrained")
        disjoint = name.startswith("disjoint")
        options: Any = {"training": "disjoint" if disjoint else "shared", "eta": 0.0}
        search: Callable = self._validated
        if name == "stability":
            options["method"], search = "stability", self._stable
        elif name.startswith(STOPPING):
            options["method"], options["eta"] = "random-stopping", float(name[len(STOPPING) :].split(",")[0])
            search = self._stopped
        costs = search_costs(epsilon, K, retrain_share=retrain_share if retrained else 0.0, **options)
        parts = self.splits[s][K if disjoint else 1]
        chosen, accuracy = search(s, parts, costs, draws, rng, disjoint=disjoint, eta=options["eta"], gamma=gamma)
        if not retrained:
            return accuracy
        accuracy = np.empty(draws)
        for k in np.unique(chosen):
            mine = np.flatnonzero(chosen == k)
            final = self.values[k], costs["retrain"], mine.size, rng
            accuracy[mine] = self._accuracy(ALL, self._everything, *final)
        return accuracy

    def _validated(self, s, parts, costs, draws, rng, *, disjoint, **_) -> tuple[IntArray, FloatArray]:
        correct, accuracy = [], []
        for k, value in enumerate(self.values):
            part = parts == (k if disjoint else 0)
            models = self.trainer.models((s, disjoint, k if disjoint else 0), part, value, costs["train"], draws, rng)
            correct.append(self._correct(models, parts == VALIDATION))
            accuracy.append(models.accuracy(self.X_test, self.y_test))
        mechanism = self.choice(costs["select"], choice_range(self.relation))
        chosen = np.array([mechanism.release(row, rng=rng) for row in np.transpose(correct)], dtype=np.intp)
        return chosen, np.array(accuracy)[chosen, np.arange(draws)]

    def _stable(self, s, parts, costs, draws, rng, **_) -> tuple[IntArray, FloatArray]:
        trainer, validation = self.trainer, parts == VALIDATION
        schema, codes = trainer.schema, trainer.codes[validation]
        least = max(math.floor(self.validation_share * schema.n_lower), 1)
        C, n_ones = schema.n_classes, trainer.bound + 1
        facts: Any = {"relation": self.relation, "n_classes": C}
        reach = self.reach or default_reach(costs["select"], **facts)
        seed = int(rng.integers(2**63))
        scores, solver = [], 0.0
        for value in self.values:
            fixed = np.random.default_rng(seed)
            models = trainer.models((s, False, 0), ~validation, value, costs["retrain"], self.simulations, fixed)
            decision = models.decision(trainer.X[validation])
            margins = margins_of(decision[:, :, 0] if C == 2 else decision, codes, C)
            scores.append(float(stable_score(margins, reach / value, least).mean()))
            public: Any = {"n_classes": C, "n_ones": n_ones, "curvature": LOGISTIC.curvature, "tolerance": TOLERANCE}
            solver = max(solver, solver_tolerance(costs["retrain"], value, schema.n_features + 1, **public))
        mechanism = PermuteAndFlip(costs["select"], stability_range(reach, least, tolerance=solver, **facts))
        return mechanism.release(scores, rng=rng, draws=draws), np.full(draws, np.nan)

    def _stopped(self, s, parts, costs, draws, rng, *, eta, gamma, **_) -> tuple[IntArray, FloatArray]:
        K = len(self.values)
        gamma = stopping_gamma(eta, max(RUNS * K, 1.5)) if gamma is None else gamma
        runs = truncated_negative_binomial(eta, gamma, rng=rng, size=draws)
        candidate = rng.integers(K, size=runs.sum())
        correct, accuracy = np.empty(runs.sum()), np.empty(runs.sum())
        for k in np.unique(candidate):
            mine = np.flatnonzero(candidate == k)
            options = self.values[k], costs["train"], mine.size, rng
            models = self.trainer.models((s, False, 0), parts != VALIDATION, *options)
            correct[mine] = self._correct(models, parts == VALIDATION)
            accuracy[mine] = models.accuracy(self.X_test, self.y_test)
        noisy = Laplace(costs["select"], 1.0).release(correct, rng=rng)
        search = np.repeat(np.arange(draws), runs)
        # the last run of each search in this order has the largest noisy score
        order = np.lexsort((noisy, search))
        best = order[np.cumsum(runs) - 1]
        return candidate[best], accuracy[best]
