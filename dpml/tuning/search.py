"""Hyperparameter search for private classifiers, with the selection included in ε.

Cross-validation of a parameter on the private records costs privacy (docs/explanation/errata.md, on Antonova 2016,
chapter 4). Here an independent random draw assigns each record to training or validation. Candidates are trained on
one part and compared on the other.

Statistics: each candidate's number of correct predictions on the validation records, or the scores of
`dpml.tuning.stability`. Release: a private selection, or `dpml.tuning.stopping`. Model: that of the estimator.
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
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpml._validate import ON_INVALID, as_generator, check_choice, check_integer, check_number, check_relation
from dpml.budget import Budget, charge
from dpml.classifiers._base import PrivateClassifier
from dpml.classifiers.linear import LinearSVC, LogisticRegression, squared_norm_bound
from dpml.encoding import cut_rows
from dpml.estimators.inner_budget import dry_run, fit_with_inner_budget, spending_steps
from dpml.exceptions import InvalidParameter, NoSecureSampler
from dpml.mechanisms import ExponentialMechanism, Laplace, PermuteAndFlip, boundary
from dpml.mechanisms.private import Private
from dpml.mechanisms.secure import check_release, noisy_max
from dpml.schema import Schema, resolve_schema
from dpml.tuning._candidates import Records, candidate_list, check_private, correct_predictions, rows_of, with_names
from dpml.tuning.plan import METHODS, RUNS, VALIDATION, choice_range, is_other, is_part, search_costs, split_records
from dpml.tuning.stability import default_reach, mean_of, solver_tolerance, stability_range, stable_score_of
from dpml.tuning.stopping import expected_runs, random_stopping, stopping_gamma

STABLE = ("output", "objective")


def _fittable(model: Any) -> bool:
    return hasattr(model.estimator, "predict_proba")


@dataclass(eq=False, repr=False)
class _Searched:
    """Parameters that state the search space: a base of its own, because they come before ε in the call."""

    estimator: Any
    candidates: Sequence[Mapping[str, Any]] | Mapping[str, Sequence]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSearch(PrivateClassifier, _Searched):
    """Hyperparameter search with differential privacy, with one ε for the search and the model.

    It selects one of the candidates on private records and trains it. It releases the selected candidate and its model,
    and with random stopping also its noisy score.

    Parameters
    ----------
    estimator : estimator
        Private classifier with parameters `epsilon`, `relation`, `budget` and `random_state`, which the search sets, as
        well as `schema`, `on_invalid` and `release`. It is fitted with a budget of its own without δ, which it must
        charge and cannot exceed. A scikit-learn Pipeline of such steps is possible too. The steps share ε in proportion
        to their own `epsilon`, so candidates can set the division of ε.
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
        By default the public rule `dpml.tuning.stability.default_reach` decides.
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
    BestSelector : Feature selection and classification with one ε.
    dpml.classifiers.AutoClassifier : Default classifier, which needs no search.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, if the estimator keeps its own ε. δ = 0. Relation: `relation`. Sensitivity: a range
    of 1 for the numbers of correct predictions under add/remove and 2 under replace-one (`choice_range`), or the bound
    of `dpml.tuning.stability`.

    An independent random draw assigns each record to validation or training (`split_records`), so the costs of the two
    parts do not add up. Let ε = ε₁ + ε₂, where ε₂ = `retrain_share`·ε trains the selected candidate once more on all
    records:

    - ``method="permute-and-flip"`` or ``"exponential"``: the selection costs ε₁ on the validation records. Its score is
      the number of correct predictions. Training costs ε₁ on the training records. ``training="shared"``: K candidates
      train on the same records with ε₁/K each. ``"disjoint"``: each has its own part and all of ε₁ (Chaudhuri,
      Monteleoni and Sarwate 2011, Algorithm 3).
    - ``"stability"`` (after Chaudhuri and Vinterbo 2013): K models are trained on all training records with fixed
      noise, which simulates the noise of the last training. One record then changes the validation scores by at most a
      public bound (`dpml.tuning.stability`). The selection costs ε₁ for any K. The models of the search cost nothing
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

    def fit(self, X: Any, y: Any) -> PrivateSearch:
        """Select a candidate on private records and fit it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Private records. Columns of a DataFrame are matched by name.
        y : array of shape (n,)
            Labels among the schema's classes.

        Returns
        -------
        PrivateSearch
            The fitted estimator.
        """
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
        # the coins need not be secret (`split_records`), so a release uses this generator too, seeded by the system
        rng = as_generator(self.random_state)
        if pipeline:
            X = with_names(X, schema)
        if self.method == "stability":
            # before the noise is fixed, because cutting draws a data-dependent number of coins
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
        candidates = candidate_list(self.candidates)
        check_private(self.estimator, candidates)
        options: Any = {name: getattr(self, name) for name in ("method", "training", "retrain_share", "eta")}
        costs = search_costs(self.epsilon, len(candidates), **options)
        gamma = self.gamma
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
            facts = {
                "epsilon": share,
                "schema": schema,
                "relation": self.relation,
                "on_invalid": self.on_invalid,
                "release": self.release,
            }
            known = step.get_params(deep=False)
            step.set_params(**{name: value for name, value in facts.items() if name in known})
        for step in steps[:-1]:
            step.set_output(transform="pandas")
        return model, shares

    # ---- the choice ---------------------------------------------------------------------------------------------

    def _chosen(self, models: list, epsilon: float, validation: Records, rng: np.random.Generator) -> int:
        correct = [correct_predictions(model, validation) for model in models]
        most = choice_range(self.relation)
        if self.release:
            return int(noisy_max(correct, epsilon, most))
        mechanism = ExponentialMechanism if self.method == "exponential" else PermuteAndFlip
        return int(mechanism(epsilon, most).release(correct, rng=rng))

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
