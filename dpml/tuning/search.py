"""Hyperparameter search for private classifiers, with the selection included in ε.

Cross-validation of a parameter on the private records costs privacy (docs/explanation/errata.md, on Antonova 2016,
chapter 4). Here an independent random draw assigns each record to training or validation. Candidates are trained on
one part and compared on the other.

Public: `search_costs`, the cost of each step. Statistics: each candidate's number of correct predictions on the
validation records, or the stable scores below. Release: a private selection, or `dpml.tuning.stopping`. Model: that of
the estimator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpml._arrays import FloatArray, IntArray
from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import Budget, charge
from dpml.budget.shares import equal_share, split_epsilon
from dpml.claims import claim
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.linear import LinearSVC, LogisticRegression, squared_norm_bound
from dpml.encoding import cut_rows
from dpml.estimators.base import refuse_arguments
from dpml.estimators.inner_budget import dry_run, fit_with_inner_budget, spending_steps
from dpml.exceptions import InvalidParameter, NoSecureSampler
from dpml.mechanisms import ExponentialMechanism, Laplace, PermuteAndFlip, boundary
from dpml.mechanisms.private import Private, number_of, public_number, statistic
from dpml.mechanisms.secure import check_release, noisy_max
from dpml.schema import Schema, resolve_schema
from dpml.tuning.stopping import expected_runs, random_stopping, stopping_epsilon, stopping_gamma

METHODS = ("exponential", "permute-and-flip", "stability", "random-stopping")
TRAININGS = ("disjoint", "shared")
VALIDATION = -1
# mean number of runs of random stopping per candidate if no γ is given
RUNS = 2.0


def choice_range(relation: str) -> int:
    """Return the range of the candidates' numbers of correct predictions under a change of one validation record.

    Adding a record raises each number by 0 or 1. Replacing one changes it by -1, 0 or 1.
    """
    return 1 if check_relation(relation) == "add-remove" else 2


def split_records(n: Any, n_parts: int, validation_share: float, *, rng: np.random.Generator) -> Any:
    """Assign n records to parts by independent random draws: -1 for validation, otherwise 0 to `n_parts` - 1.

    Privacy: given the draws, the parts are disjoint data sets, so releases from different parts cost the largest of
    their ε (parallel composition). Add/remove: an added record has its own draw and moves no other record. Replace-one:
    draws belong to positions, so the new record is in the part of the old one. (If the part depended on the record, the
    new record could be in another part, and the costs would add up.) This holds for every outcome of the draws, so they
    need not be secret. For a private number of records the parts are private too.
    """
    share = check_number(validation_share, "validation_share", 0.0, 1.0, open_lower=True, open_upper=True)
    return _parts(boundary.public_randomness(boundary.generator_of_parts(rng), "random", size=n), n_parts, share)


@statistic
def _parts(uniforms: NDArray[np.float64], n_parts: int, share: float) -> NDArray[np.intp]:
    uniforms = (uniforms - share) / (1 - share)
    return np.where(uniforms < 0, VALIDATION, np.minimum(np.floor(uniforms * n_parts), n_parts - 1)).astype(np.intp)


@statistic
def is_part(parts: Any, part: int) -> NDArray[np.bool_]:
    """Return for each record whether it is in a part."""
    return parts == part


@statistic
def is_other(parts: Any, part: int) -> NDArray[np.bool_]:
    """Return for each record whether it is in another part."""
    return parts != part


def search_costs(
    epsilon: float,
    n_candidates: int,
    *,
    method: str = "permute-and-flip",
    training: str = "shared",
    retrain_share: float = 0.5,
    eta: float = 0.0,
) -> dict[str, float]:
    """Return the ε of each step of `PrivateSearch`, which together cost `total` under either relation.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of the whole search, above 0.
    n_candidates : int
        Number K of candidates.
    method : {"permute-and-flip", "exponential", "stability", "random-stopping"}, default "permute-and-flip"
        Method of the search.
    training : {"shared", "disjoint"}, default "shared"
        Records on which the candidates are trained: the same ones, or a part for each.
    retrain_share : float, default 0.5
        Share of ε for training the selected candidate on all records, in [0, 1).
    eta : float, default 0.0
        Parameter η of random stopping, above -1.

    Returns
    -------
    dict of str to float
        Cost in ε of "train" (each candidate), "select" (the selection), "retrain" and "total".

    See Also
    --------
    PrivateSearch : The search.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> {step: round(cost, 12) for step, cost in search_costs(1.0, 5).items()}
    {'train': 0.1, 'select': 0.5, 'retrain': 0.5, 'total': 1.0}
    >>> search_costs(1.0, 5, training="disjoint", retrain_share=0.0)
    {'train': 1.0, 'select': 1.0, 'retrain': 0.0, 'total': 1.0}
    >>> search_costs(1.0, 5, method="random-stopping", retrain_share=0.0, eta=1.0)["train"]
    0.3333333333333333
    """
    epsilon = check_epsilon(epsilon)
    n = check_integer(n_candidates, "n_candidates", 1)
    check_choice(method, "method", METHODS)
    check_choice(training, "training", TRAININGS)
    share = check_number(retrain_share, "retrain_share", 0.0, 1.0, open_upper=True)
    retrain, search = split_epsilon(epsilon, share) if share else (0.0, epsilon)
    train = select = search
    if method == "random-stopping":
        stopping_epsilon(epsilon, eta)
        train = select = equal_share(search, 2.0 + eta)
    elif method == "stability":
        if not share:
            raise InvalidParameter("retrain_share", retrain_share, "more than 0 for method='stability'")
        train = 0.0
    elif training == "shared":
        train = equal_share(search, n)
    return {"train": train, "select": select, "retrain": retrain, "total": epsilon}


NEEDED = ("epsilon", "relation", "budget", "random_state")
# the search sets these, so no candidate may
OWN = ("epsilon", "relation", "schema", "budget", "on_invalid", "release", "random_state")


class Records:
    """Checked records, all private, and selection of a part of them.

    Where the number of given records is public (replace-one), `kept` marks the records that remain, and a part is
    chosen among the given ones. So neither the number that remains nor the part of a later record reveals a record that
    was dropped. Under add/remove `kept` is None, and the number of records is private.
    """

    def __init__(self, X: Any, codes: Any, labels: Any, schema: Schema, kept: Any = None):
        self.X, self.codes, self.labels, self.schema, self.kept = X, codes, labels, schema, kept

    @property
    def number(self) -> Any:
        """The number of records to choose parts from."""
        return number_of(self.codes) if self.kept is None else public_number(self.kept, "replace-one")

    def where(self, mask: Any) -> Records:
        """Return the records of a part, by a mask that is private under add/remove and public under replace-one."""
        # a part has a random number of records, so the schema's bounds on their number do not hold for it
        given = None if self.kept is None else int(mask.sum()) or None
        schema = replace(self.schema, n_rows=given, n_lower=1)
        kept, inside = (None, mask) if self.kept is None else (rows_of(self.kept, mask), rows_of(mask, self.kept))
        X, codes, labels = (rows_of(part, inside) for part in (self.X, self.codes, self.labels))
        return Records(X, codes, labels, schema, kept)


@statistic
def rows_of(values: Any, which: Any) -> Any:
    """Return the rows, or the entries, at some positions or where a mask is true."""
    return values[which]


@statistic
def with_names(X: Any, schema: Schema) -> pd.DataFrame:
    """Return a table with named columns, so that a step of a Pipeline knows which columns the last step kept."""
    return pd.DataFrame(X if isinstance(X, np.ndarray) else X.toarray(), columns=schema.feature_names)


def correct_predictions(model: Any, validation: Records) -> Any:
    """Return the number of correct predictions of a model, a private statistic."""
    return _correct(model, validation.X, validation.labels)


@statistic
def _correct(model: Any, X: Any, labels: Any) -> int:
    return int((model.predict(X) == labels).sum()) if len(labels) else 0


def _candidate_list(candidates: Any) -> list[dict[str, Any]]:
    grid = candidates if isinstance(candidates, Mapping) else None
    try:
        listed = [dict(c) for c in (candidates if grid is None else ParameterGrid(dict(grid)))]
    except (TypeError, ValueError):
        listed = []
    if not listed or (grid is not None and not grid):
        raise InvalidParameter("candidates", candidates, "a list of dicts of parameters, or a dict of lists of values")
    return listed


def _check_private(estimator: Any, candidates: list[dict[str, Any]]) -> None:
    spending_steps(estimator, NEEDED)
    for candidate in candidates:
        for name in candidate:
            last = str(name).rpartition("__")[2]
            if last in OWN and not (last == "epsilon" and isinstance(estimator, Pipeline)):
                raise InvalidParameter("candidates", candidate, f"without {name}, which the search sets itself")
        try:
            model = clone(estimator).set_params(**candidate)
        except (TypeError, ValueError) as error:
            raise InvalidParameter("candidates", candidate, f"parameters of {type(estimator).__name__}") from error
        spending_steps(model, NEEDED)


def default_reach(epsilon: float, *, relation: str = "add-remove", n_classes: int = 2) -> float:
    """Return the value of the public rule for `reach`, by which the noise of a selection at ε has scale 0.1/√(1 + ε).

    A larger reach means less noise, but less credit for correct predictions with small margins.
    """
    return 10 * _moves(relation, n_classes) * math.sqrt(1 + epsilon) / check_epsilon(epsilon)


def _moves(relation: str, n_classes: int) -> int:
    """Return fΔ: the largest change of a margin by a training record, in units of 1/λ."""
    changed = 1 if check_relation(relation) == "add-remove" else 2
    return changed * (1 if check_integer(n_classes, "n_classes", 2) == 2 else 2)


def solver_tolerance(
    epsilon: float,
    reg_lambda: float,
    dimension: int,
    *,
    n_classes: int,
    n_ones: int,
    curvature: float,
    tolerance: float,
) -> float:
    """Return a public bound, in units of 1/λ, on the distance of a margin from that of the exact minimiser.

    The solver of output perturbation stops at a gradient of norm `tolerance`. Objective perturbation raises this by a
    public rule (`dpml.classifiers.linear.perturbation.reachable`) to 2^-44·(D + 40)/β·max(4c, 1)/min(λ', 1). There the
    tight calibration has β at least a quarter of 0.999·ε/C, and λ' >= λ, in units in which records have a squared norm
    between 1/n_ones and 1. The returned bound covers both.
    """
    least_rate = 0.999 * check_epsilon(epsilon) / (1 if n_classes == 2 else n_classes) / 4
    rounding = 2.0**-44 * (dimension + 41) / least_rate * max(4 * curvature, 1.0) * n_ones / min(reg_lambda, 1.0)
    return max(tolerance, rounding) * math.sqrt(n_ones)


def margins_of(decision: Any, codes: IntArray, n_classes: int = 2) -> FloatArray:
    """Return the margin of each record's true class from decision values (..., n), or (..., n, C) for C > 2 classes."""
    decision = np.asarray(decision, dtype=float)
    if n_classes == 2:
        return decision * (2.0 * codes - 1.0)
    mine = np.broadcast_to(np.asarray(codes)[:, None], (*decision.shape[:-1], 1))
    others = decision.copy()
    np.put_along_axis(others, mine, -np.inf, axis=-1)
    return np.take_along_axis(decision, mine, axis=-1)[..., 0] - others.max(axis=-1)


def stable_score(margins: Any, width: float, validation_lower: int) -> FloatArray:
    """Return the mean ramp of margins (..., m) over the last axis. Exact: not private.

    A margin of `width` or more counts 1, one of -`width` or less counts 0. The sum is divided by max(m, m₀), with
    m₀ = `validation_lower`, a public number.
    """
    margins = np.asarray(margins, dtype=float)
    ramp = np.clip(0.5 + margins / (2 * width), 0.0, 1.0)
    return ramp.sum(axis=-1) / max(margins.shape[-1], validation_lower)


@statistic
def stable_score_of(model: Any, X: Any, codes: Any, *, n_classes: int, width: float, validation_lower: int) -> float:
    """Return the stable score of a trained linear model on validation records."""
    margins = margins_of(model.decision_function(X), codes, n_classes)
    return float(stable_score(margins, width, validation_lower))


@statistic
def mean_of(scores: list[float]) -> float:
    """Return the mean of the scores of several simulations, added up in their order."""
    total = 0.0
    for score in scores:
        total += score
    return total / len(scores)


def stability_range(
    reach: float,
    validation_lower: int,
    *,
    relation: str = "add-remove",
    n_classes: int = 2,
    tolerance: float = 0.0,
) -> float:
    """Return the range of the scores with ramps of width `reach`/λ_i, over all pairs of neighbours.

    The candidates are regularisers λ_i of a linear model on records in the unit ball, trained with fixed noise, which
    does not depend on the data. For fixed noise one record changes the weights by at most (Δ + 2τ)/λ_i in L2 norm, by
    λ_i-strong convexity. This holds for output perturbation (the noise is an added constant) and for objective
    perturbation (the noise is a linear term, equal for both neighbours, and λ' >= λ). Δ is 1 (add/remove) or 2
    (replace-one), the largest change of the sum of the gradients, and τ is the solver's `tolerance`. A margin changes
    by at most as much, or twice that (f = 2) for more than two classes, where it is the difference of two scores. The
    score of a candidate is the mean over validation records of a ramp, clip(½ + z/(2w_i), 0, 1). With m >= 0 validation
    records, m₀ = `validation_lower` and all other records fixed:

    - *A training record* changes each margin by at most f(Δ + 2τ)/λ_i, and each score by at most f(Δ + 2τ)/(2·reach),
      the same for all candidates. Scores can change in opposite directions: the range is f(Δ + 2τ)/reach.
    - *A validation record, add/remove.* From m >= m₀ to m + 1 records the mean S/m changes by (g - S/m)/(m + 1), g in
      [0, 1]: a range of 2/(m + 1) <= 2/(m₀ + 1). It is attained by two candidates of which one had all ramps 0 and the
      other all ramps 1. Below m₀ the score changes by g/m₀, a range of 1/m₀, which is not more.
    - *A validation record, replace-one.* A score changes by at most 1/max(m, m₀) in either direction: a range of 2/m₀.

    A record is in one part only, so the range is the larger of the two. This holds for every value of the noise, so
    δ = 0. (Chaudhuri and Vinterbo 2013 allow the condition to fail with probability δ, which an unbounded loss needs.)
    """
    reach = check_number(reach, "reach", 0.0, open_lower=True)
    least = check_integer(validation_lower, "validation_lower", 1)
    solver = 2 * check_number(tolerance, "tolerance", 0.0) * (1 if n_classes == 2 else 2)
    trained = (_moves(relation, n_classes) + solver) / reach
    validated = 2 / (least + 1) if relation == "add-remove" else 2 / least
    return max(trained, validated)


STABLE = ("output", "objective")


def _fittable(model: Any) -> bool:
    return hasattr(model.estimator, "predict_proba")


@dataclass(eq=False, repr=False)
class _Searched:
    """Parameters that come before ε in the call."""

    estimator: Any
    candidates: Sequence[Mapping[str, Any]] | Mapping[str, Sequence]


@claim(
    "search-permute-and-flip",
    "Candidates compared on held-out records, by permute-and-flip",
    "after [chaudhuri2011], Algorithm 3; ranges derived here",
    "ε for the choice and the models together",
    options={"method": "permute-and-flip"},
)
@claim(
    "search-exponential",
    "Candidates compared on held-out records, by the exponential mechanism",
    "after [chaudhuri2011], Algorithm 3; ranges derived here",
    "ε for the choice and the models together",
    options={"method": "exponential"},
)
@claim(
    "search-disjoint",
    "Candidates compared on held-out records, by permute-and-flip, each trained on its own part of the records",
    "after [chaudhuri2011], Algorithm 3; ranges derived here",
    "ε for the choice and the models together",
    options={"method": "permute-and-flip"},
)
@claim(
    "search-release",
    "Candidates compared on held-out records, by permute-and-flip, release",
    "after [chaudhuri2011], Algorithm 3; ranges derived here",
    "ε for the choice and the models together",
    options={"method": "permute-and-flip"},
)
@claim(
    "search-random-stopping",
    "Candidates compared on held-out records, by random stopping",
    "after [chaudhuri2011], Algorithm 3; ranges derived here",
    "ε for the choice and the models together",
    options={"method": "random-stopping"},
)
@claim(
    "search-stability",
    "Regularisers compared by a score that is stable under training",
    "after [chaudhuri-vinterbo2013] (clipped score and range derived here)",
    "ε for the choice and the model, δ = 0, for any number of candidates",
    options={"method": "stability"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSearch(PrivateClassifier, _Searched):
    """Hyperparameter search with differential privacy, with one ε for the search and the model.

    It selects one of the candidates on private records and trains it. It releases the selected candidate and its model,
    and with random stopping also its noisy score.

    Parameters
    ----------
    estimator : estimator
        Private classifier with parameters `epsilon`, `relation`, `budget` and `random_state`, or a Pipeline of such
        steps, which share ε in proportion to their own `epsilon`. The search sets these parameters, and `schema`,
        `on_invalid` and `release`. Each step must charge a budget of its own without δ and cannot exceed it.
    candidates : list of dict, or dict of str to sequence
        Sets of parameters, or a grid of which all combinations are candidates. They are public: state them without
        looking at the records. More candidates leave less ε for each.
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0, for search and training together. Smaller values give more
        privacy, larger values more accuracy.
    release : bool, default False
        Use secure noise. The estimator must support it, and the method must be "permute-and-flip". It forbids
        `random_state`.
    method : {"permute-and-flip", "exponential", "stability", "random-stopping"}, default "permute-and-flip"
        Mechanism of the selection, as in the notes. The ε of one training does not fall with the number of
        candidates in "stability", which selects only `reg_lambda` of linear classifiers, and in "random-stopping".
    training : {"shared", "disjoint"}, default "shared"
        Training records of the candidates, for the first two methods. "shared" trains all on the same records with a
        part of ε each, "disjoint" each on its own part of the records with all of ε.
    validation_share : float, default 0.3
        Probability that a record is used for validation, in (0, 1). A larger share makes the selection more certain,
        but leaves fewer records for training.
    retrain_share : float, default 0.5
        Share of ε for training the selected candidate on all records, in [0, 1). With 0 the model of the search is
        kept, which "stability" does not allow.
    eta : float, default 0.0
        Parameter η of random stopping, above -1. A larger η leaves less ε for each run, but makes small numbers of runs
        rarer.
    gamma : float, optional
        Parameter γ of random stopping, in [1e-6, 1). By default there are twice as many runs as candidates on average.
    reach : float, optional
        Reach of stability, in training records: a margin counts 1 if changing that many records could not reverse it.
        By default the public rule `dpml.tuning.search.default_reach` decides.
    simulations : int, default 5
        Number of samples of the fixed noise over which stability averages.

    Attributes
    ----------
    best_params_ : dict
        Parameters of the selected candidate.
    best_index_ : int
        Position of the selected candidate.
    best_estimator_ : estimator
        Fitted model of the selected candidate.
    best_score_ : float
        Noisy number of correct predictions (random stopping only).
    candidates_ : list of dict
        All candidates.
    costs_ : dict
        ε of each step and the total, from `search_costs`.

    See Also
    --------
    search_costs : Cost in ε of each step of a search.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, if the estimator keeps its own ε. δ = 0. Relation: `relation`. Sensitivity: a range
    of 1 for the numbers of correct predictions under add/remove and 2 under replace-one (`choice_range`), or the bound
    of `dpml.tuning.search`.

    An independent random draw assigns each record to validation or training (`split_records`), so the costs of the two
    parts do not add up. Let ε = ε₁ + ε₂, where ε₂ = `retrain_share`·ε trains the selected candidate once more on all
    records:

    - ``method="permute-and-flip"`` or ``"exponential"``: the selection costs ε₁ on the validation records. Its score is
      the number of correct predictions. Training costs ε₁ on the training records. ``training="shared"``: K candidates
      train on the same records with ε₁/K each. ``"disjoint"``: each has its own part and all of ε₁ (Chaudhuri,
      Monteleoni and Sarwate 2011, Algorithm 3).
    - ``"stability"`` (after Chaudhuri and Vinterbo 2013): K models are trained on all training records with fixed
      noise, which simulates the noise of the last training. One record then changes the validation scores by at most a
      public bound (`dpml.tuning.search`). The selection costs ε₁ for any K. The models of the search cost nothing
      because they are not released, and their noise need not be secret. δ = 0. It is only for `reg_lambda` of
      `LogisticRegression` and `LinearSVC` by output or objective perturbation, with binary records.
    - ``"random-stopping"``: in each of a random number of runs a candidate is drawn, trained with ε₁/(2 + η) and scored
      by its number of correct predictions plus Laplace noise at ε₁/(2 + η). The best run is kept
      (`dpml.tuning.stopping`). The number of runs is not released, but the running time reveals information about it.

    References
    ----------
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 3. Chaudhuri and Vinterbo (2013). Liu and Talwar (2019).
    Papernot and Steinke (2022).

    Examples
    --------
    >>> from dpml.classifiers import BernoulliNB
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> search = PrivateSearch(BernoulliNB(1.0), {"row_bound": [1, 3, 10]}, 2.0, schema=data.schema, random_state=0)
    >>> search.fit(data.X_train, data.y_train).costs_["total"]
    2.0
    >>> search.best_params_ in search.candidates_, bool(search.score(data.X_test, data.y_test) > 0.7)
    (True, True)
    """

    method: str = "permute-and-flip"
    training: str = "shared"
    validation_share: float = 0.3
    retrain_share: float = 0.5
    eta: float = 0.0
    gamma: float | None = None
    reach: float | None = None
    simulations: int = 5

    # ---- fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, **refused: Any) -> PrivateSearch:
        """Select a candidate on private records and fit it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Private records. Columns of a DataFrame are matched by name.
        y : array of shape (n,)
            Labels among the schema's classes.
        **refused : object
            No other argument is allowed. `sample_weight` raises an error that gives the reason.

        Returns
        -------
        PrivateSearch
            The fitted estimator.
        """
        refuse_arguments(self, refused)
        X = self._enter(X)
        candidates, costs, gamma = self._settings()
        schema = resolve_schema(self.schema, X)
        if self.method == "stability":
            self._check_stability(candidates, schema)
        named = isinstance(X, pd.DataFrame)
        on_invalid = "clip" if self.release else self.on_invalid
        count = schema.public_count(X, self.relation)
        X, schema = schema.check_features(X, on_invalid)
        labels = schema.check_labels(y, on_invalid)
        X, positions = schema.without_unknown(X, labels, on_invalid)
        kept = Private(labels >= 0) if self.relation == "replace-one" else None
        pipeline = isinstance(self.estimator, Pipeline) and not isinstance(X, pd.DataFrame)
        nothing = with_names(X[:0], schema) if pipeline else X[:0], schema.class_labels[:0]
        X, codes = Private(X), Private(positions)
        for candidate in candidates:
            model, shares = self._prepared(candidate, costs["retrain"] or costs["train"], schema)
            dry_run(model, shares, self.relation, nothing, "PrivateSearch")
        charge(self.budget, self.relation, costs["total"], label=f"PrivateSearch, {self.method}")
        # the parts need not be secret (`split_records`), so a release uses this generator too, seeded by the system
        rng = as_generator(self.random_state)
        if pipeline:
            X = with_names(X, schema)
        if self.method == "stability":
            # before the noise is fixed, because cutting draws a data-dependent number of values
            X = cut_rows(X, squared_norm_bound(schema, self.estimator.row_bound), rng=rng)
        self._learned_facts(schema, named)
        if count:  # the public number of records counts those that were dropped
            schema = replace(schema, n_rows=count, n_lower=min(schema.n_lower, count))
        records = Records(X, codes, rows_of(self.classes_, codes), schema, kept)
        disjoint = self.training == "disjoint" and self.method in ("permute-and-flip", "exponential")
        parts = split_records(records.number, len(candidates) if disjoint else 1, self.validation_share, rng=rng)
        validation = records.where(is_part(parts, VALIDATION))
        if hasattr(self, "best_score_"):
            del self.best_score_
        if self.method == "random-stopping":
            training = records.where(is_other(parts, VALIDATION))
            best, model = self._stopped(candidates, costs, gamma, training, validation, rng)
        elif self.method == "stability":
            training = records.where(is_other(parts, VALIDATION))
            best, model = self._most_stable(candidates, costs, training, validation, rng), None
        else:
            models = [
                self._trained(candidate, costs["train"], records.where(is_part(parts, k if disjoint else 0)), rng)
                for k, candidate in enumerate(candidates)
            ]
            best = self._chosen(models, costs["select"], validation, rng)
            model = models[best]
        if costs["retrain"]:
            model = self._trained(candidates[best], costs["retrain"], records, rng)
        self.best_index_, self.best_params_, self.candidates_ = best, dict(candidates[best]), candidates
        self.best_estimator_, self.costs_ = model, costs
        return self

    def _settings(self) -> tuple[list[dict[str, Any]], dict[str, float], float]:
        check_choice(self.method, "method", METHODS)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        check_relation(self.relation)
        if self.release:
            check_release(self.random_state)
            if self.method != "permute-and-flip":
                raise NoSecureSampler(f"method={self.method!r} has no secure sampler. Use 'permute-and-flip'")
        check_number(self.validation_share, "validation_share", 0.0, 1.0, open_lower=True, open_upper=True)
        check_integer(self.simulations, "simulations", 1)
        if self.reach is not None:
            check_number(self.reach, "reach", 0.0, open_lower=True)
        as_generator(self.random_state)
        candidates = _candidate_list(self.candidates)
        _check_private(self.estimator, candidates)
        options: Any = {name: getattr(self, name) for name in ("method", "training", "retrain_share", "eta")}
        costs, gamma = search_costs(self.epsilon, len(candidates), **options), self.gamma
        if gamma is None:
            gamma = stopping_gamma(self.eta, max(RUNS * len(candidates), 1.5))
        expected_runs(self.eta, gamma)  # checks them
        return candidates, costs, gamma

    def _check_stability(self, candidates: list[dict[str, Any]], schema: Schema) -> None:
        linear = isinstance(self.estimator, (LogisticRegression, LinearSVC))
        if not linear or self.estimator.method not in STABLE or self.estimator.calibration != "tight":
            allowed = "a LogisticRegression or LinearSVC of method 'output' or 'objective' with calibration 'tight'"
            raise InvalidParameter("estimator", self.estimator, f"{allowed}, for method='stability'")
        for candidate in candidates:
            if set(candidate) != {"reg_lambda"}:
                raise InvalidParameter("candidates", candidate, "values of reg_lambda alone for method='stability'")
            check_number(candidate["reg_lambda"], "reg_lambda", 1e-9, 1e12)
        if not schema.is_binary:
            other = next(f.name for f in schema.features if f.kind != "binary")
            raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")

    def _trained(self, candidate: dict[str, Any], epsilon: float, records: Records, rng: np.random.Generator) -> Any:
        """Return the estimator with these parameters, fitted to records with a given ε."""
        model, shares = self._prepared(candidate, epsilon, records.schema)
        steps = spending_steps(model)
        for step, share in zip(steps, shares, strict=True):
            # its own budget has no more than its share, so a charge above it, or of a δ, raises
            inner_budget = Budget(share, relation=self.relation)
            step.set_params(budget=inner_budget, random_state=None if self.release else rng)
        fit_with_inner_budget(model, steps, records.X, records.labels, "PrivateSearch")
        for step in steps:
            # the caller did not set this generator as a parameter
            step.set_params(random_state=None)
        return model

    def _prepared(self, candidate: dict[str, Any], epsilon: float, schema: Schema) -> tuple[Any, list[float]]:
        """Return a clone with these parameters and the share of ε of each of its steps."""
        model = clone(self.estimator).set_params(**candidate)
        steps = spending_steps(model)
        whole = math.fsum(step.epsilon for step in steps)
        shares = [epsilon if len(steps) == 1 else epsilon * (s.epsilon / whole) * (1 - 2.0**-50) for s in steps]
        for step, share in zip(steps, shares, strict=True):
            facts = {"epsilon": share, "schema": schema, "relation": self.relation}
            facts |= {"on_invalid": self.on_invalid, "release": self.release}
            known = step.get_params(deep=False)
            step.set_params(**{name: value for name, value in facts.items() if name in known})
        for step in steps[:-1]:
            step.set_output(transform="pandas")
        return model, shares

    # ---- the choice ---------------------------------------------------------------------------------------------

    def _chosen(self, models: list, epsilon: float, validation: Records, rng: np.random.Generator) -> int:
        correct = [correct_predictions(model, validation) for model in models]
        span = choice_range(self.relation)
        if self.release:
            return int(noisy_max(correct, epsilon, span))
        mechanism = ExponentialMechanism if self.method == "exponential" else PermuteAndFlip
        return int(mechanism(epsilon, span).release(correct, rng=rng))

    def _most_stable(self, candidates, costs, training, validation, rng) -> int:
        C, D = self._schema.n_classes, self._schema.n_features
        least = max(math.floor(self.validation_share * self._schema.n_lower), 1)
        facts: Any = {"relation": self.relation, "n_classes": C}
        reach = default_reach(costs["select"], **facts) if self.reach is None else self.reach
        n_ones = squared_norm_bound(self._schema, self.estimator.row_bound) + 1
        seed = int(boundary.public_randomness(rng, "integers", 2**63))
        scores, tolerances = [], []
        for candidate in candidates:
            reg_lambda = float(candidate["reg_lambda"])
            # the same noise for all candidates, independent of the records
            fixed = np.random.default_rng(seed)
            simulated = []
            for _ in range(self.simulations):
                with boundary.unreleased():
                    # its noise is not that of a release, so the model is a private statistic
                    model = Private(self._trained(candidate, costs["retrain"], training, fixed))
                facts_of_score: Any = {"n_classes": C, "width": reach / reg_lambda, "validation_lower": least}
                simulated.append(stable_score_of(model, validation.X, validation.codes, **facts_of_score))
            scores.append(mean_of(simulated))
            solver: Any = {"n_classes": C, "n_ones": n_ones, "tolerance": self.estimator.tolerance}
            curvature = self.estimator._loss().curvature
            tolerances.append(solver_tolerance(costs["retrain"], reg_lambda, D + 1, curvature=curvature, **solver))
        width = stability_range(reach, least, tolerance=max(tolerances), **facts)
        mechanism = PermuteAndFlip(costs["select"], width)
        return int(mechanism.release(scores, rng=rng))

    def _stopped(self, candidates, costs, gamma, training, validation, rng) -> tuple[int, Any]:
        noise = Laplace(costs["select"], 1.0)  # a single count: one record changes it by 1 under both relations

        def run(rng):
            k = int(boundary.public_randomness(rng, "integers", len(candidates)))
            model = self._trained(candidates[k], costs["train"], training, rng)
            return (k, model), float(noise.release(correct_predictions(model, validation), rng=rng))

        choice, score = random_stopping(run, costs["train"], eta=self.eta, gamma=gamma, rng=rng)
        self.best_score_ = score
        return choice

    # ---- the model ----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n,)
            One class label for each record.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(self._table(X))

    @available_if(_fittable)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities, classes in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(self._table(X))

    def _table(self, X: Any) -> Any:
        X = self._checked(X)
        if isinstance(self.best_estimator_, Pipeline) and not isinstance(X, pd.DataFrame):
            return with_names(X, self._schema)
        return X
