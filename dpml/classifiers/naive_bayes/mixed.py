"""Private naive Bayes for mixed tables: binary, categorical and numeric features, two or more classes.

This module has the estimator. Statistics, release and model are in `cells` (this project's own method), `moments`
(Zafarani and Clifton 2021, repaired) and `as_published` (methods whose published claim is wrong).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import (
    ON_INVALID,
    as_generator,
    check_choice,
    check_epsilon,
    check_integer,
    check_number,
    check_relation,
)
from dpml.budget import charge
from dpml.classifiers._base import NaiveBayes
from dpml.classifiers.naive_bayes.as_published import published_moments, vaidya_cost, vaidya_moments
from dpml.classifiers.naive_bayes.cells import cell_counts, default_n_bins, entry_bounds, models_from_cells
from dpml.classifiers.naive_bayes.columns import Design
from dpml.classifiers.naive_bayes.mixed_models import LIKELIHOODS, MixedModels
from dpml.classifiers.naive_bayes.moments import (
    APPROXIMATE,
    CONCENTRATED,
    NOISES,
    class_statistics,
    default_trim,
    models_from_moments,
    release_moments,
    shares,
)
from dpml.counts import release_row_bounded
from dpml.encoding import SHARE_GRID
from dpml.exceptions import InvalidParameter, NoSecureSampler, NotPrivate
from dpml.mechanisms.secure import check_release
from dpml.schema import Schema, resolve_schema

__all__ = ["MixedNB"]

METHODS = ("binned", "global", "smooth", "bun-steinke", "vaidya", "published")
FloatArray = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class MixedNB(NaiveBayes):
    """Naive Bayes for binary, categorical and numeric features with differential privacy.

    Released: noisy counts of the records of each class and of those in each of its cells and, except by "binned", noisy
    moments of its numbers. The model is computed from them alone.

    Privacy: per fit, for `relation`. Only the schema's facts are public; class sizes are private.

    - ``method="binned"``: ε. Numeric features are cut into bins of equal width over their public domain. A record adds
      at most r = `row_bound` to the cells and ones of one class, and 1 to one class count: L1 sensitivities r and 1,
      twice that under replace-one; ε is split (1-w) : w between them.
    - ``"global"``, ``"smooth"``, ``"bun-steinke"``: ε; (ε, δ) with "laplace" or "gaussian" `noise`; ½ε²-CDP with a
      concentrated noise. See `dpml.classifiers.naive_bayes.moments.release_moments`.
    - ``"vaidya"``: Aε + 1 for A attributes, twice that under replace-one; not private if a feature is numeric.
    - ``"published"``: not private, although Zafarani and Clifton claim ε for their Algorithm 1.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of one fit, finite and > 0. Its meaning for each method is stated above.
    method : {"binned", "global", "smooth", "bun-steinke", "vaidya", "published"}
        "binned" is this project's own.
    n_bins : int, optional
        Bins of each numeric feature (binned). None: the public rule,
        `dpml.classifiers.naive_bayes.cells.default_n_bins`.
    row_bound : int, optional
        r, the most that a record adds to cells and ones, shared among its attributes and ones (binned). None: the
        public rule of `dpml.classifiers.naive_bayes.cells.entry_bounds`.
    noise : str
        For "smooth" and "bun-steinke": "cauchy", "student-t", "laplace", "gaussian", "laplace-log-normal",
        "uniform-log-normal" or "arsinh-normal".
    delta : float
        δ in (0, 1) for "laplace" and "gaussian" noise; 0 for all others.
    trim : int, optional
        Values trimmed at each end of each number in each class. None: 0, or for "bun-steinke" the public rule
        `dpml.classifiers.naive_bayes.moments.default_trim`.
    allocation : (float, float)
        Ratio of ε for each number to ε for each attribute ("global", "smooth" and "bun-steinke"). Zafarani and Clifton
        use 2 : 1.
    likelihood : {"gaussian", "truncated-normal"}
        Likelihood of a number within a class (all methods except "binned").
    pseudocount : float
        Added to each count, > 0.
    release : bool
        Add secure integer noise to the counts (binned only); forbids `random_state`.
    class_share : float
        Share w of ε for the class counts (binned), in (0, 1).
    shrinkage : float
        Added to each cell, in noise scales, >= 0 (binned). Counts dominated by noise then become nearly the same for
        all classes.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    class_log_prior_ : ndarray of shape (C,)
        Log probability of each class, from noisy counts.
    feature_log_prob_ : dict of str to ndarray of shape (C, cells)
        Log probability of each bin, of each category, or of the values 0 and 1, from noisy counts.
    theta_, var_ : dict of str to ndarray of shape (C,)
        Noisy mean and variance of each number in its own units (all methods except "binned").
    n_bins_, row_bound_ : int
        The number of bins and the row bound that were used (binned).

    Raises
    ------
    InvalidParameter, InvalidData, BudgetExceeded, RelationMismatch, MissingExtra
    NotPrivate
        If a method that is not private is given a budget or ``release=True``.
    NoSecureSampler
        If ``release=True`` is given for a method other than "binned".

    Notes
    -----
    Sources: Zafarani and Clifton 2021 (Algorithm 1, sections 5 and 7) with the repairs of docs/errata.md; "binned" is
    this project's.

    Examples
    --------
    >>> from dpml.schema import Feature
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> frame = pd.DataFrame({"age": 30 + 30 * y + rng.normal(0, 5, 2000), "smokes": rng.random(2000) < 0.2 + 0.4 * y})
    >>> schema = Schema([Feature("age", "numeric", lower=0, upper=120), Feature("smokes")], n_lower=1000)
    >>> model = MixedNB(epsilon=1.0, schema=schema, random_state=0, on_invalid="clip").fit(frame, y)
    >>> model.predict(pd.DataFrame({"age": [25.0, 70.0], "smokes": [0, 1]})).tolist()
    [0, 1]
    """

    method: str = "binned"
    n_bins: int | None = None
    row_bound: int | None = None
    noise: str = "cauchy"
    delta: float = 0.0
    trim: int | None = None
    allocation: tuple[float, float] = (2.0, 1.0)
    likelihood: str = "truncated-normal"
    pseudocount: float = 1.0
    class_share: float = 0.05
    shrinkage: float = 0.1

    def fit(self, X: Any, y: Any) -> MixedNB:
        """Fit to private records.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            A DataFrame's columns are looked up in the schema by name; others follow its order.
        y : array of shape (n,)
            Labels among the schema's classes.
        """
        X = self._enter(X)
        self._check_parameters()
        for name in ("n_bins_", "row_bound_", "theta_", "var_"):
            self.__dict__.pop(name, None)  # an earlier fit with another method may have set it
        schema = resolve_schema(self.schema, X)
        self._check_privacy(schema)
        rng = as_generator(self.random_state)
        named = isinstance(X, pd.DataFrame)
        X, codes, schema = self._private_records(schema, X, y)
        models, design = (
            self._fit_binned(X, codes, schema, rng)
            if self.method == "binned"
            else self._fit_moments(X, codes, schema, rng)
        )
        self._learned_facts(schema, named)
        self._keep(models, design)
        return self

    # ---- checks -------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_epsilon(self.epsilon)
        check_choice(self.method, "method", METHODS)
        check_choice(self.noise, "noise", NOISES)
        check_choice(self.likelihood, "likelihood", LIKELIHOODS)
        check_choice(self.on_invalid, "on_invalid", ON_INVALID)
        check_relation(self.relation)
        check_number(self.pseudocount, "pseudocount", 0.0, open_lower=True)
        check_number(self.class_share, "class_share", 0.0, 1.0, open_lower=True, open_upper=True)
        check_number(self.shrinkage, "shrinkage", 0.0)
        check_number(self.delta, "delta", 0.0, 1.0, open_upper=True)
        if (self._smooth and self.noise in APPROXIMATE) != (self.delta > 0):
            wanted = "above 0 with noise 'laplace' or 'gaussian' of a smooth method, else 0"
            raise InvalidParameter("delta", self.delta, wanted)
        for name, lower in (("n_bins", 2), ("row_bound", 1), ("trim", 0)):
            if getattr(self, name) is not None:
                check_integer(getattr(self, name), name, lower)
        shares(1, 1, self.allocation)
        as_generator(self.random_state)

    @property
    def _smooth(self) -> bool:
        return self.method in ("smooth", "bun-steinke")

    def _check_privacy(self, schema: Schema) -> None:
        numeric = any(f.kind == "numeric" for f in schema.features)
        broken = self.method == "published" or (self.method == "vaidya" and numeric)
        if broken and (self.release or self.budget is not None):
            raise NotPrivate(f"method = {self.method!r} is not private here (docs/errata.md): it is for study only")
        if self.release:
            if self.method != "binned":
                raise NoSecureSampler(f"method = {self.method!r} has no secure sampler; use 'binned', or release=False")
            check_release(self.random_state)

    # ---- the three steps ----------------------------------------------------------------------------------------

    def _fit_binned(self, X: Any, codes: Any, schema: Schema, rng: np.random.Generator) -> tuple[MixedModels, Design]:
        bounds = entry_bounds(schema, self.epsilon, self.row_bound)
        n_bins = default_n_bins(schema, self.epsilon, self.relation) if self.n_bins is None else self.n_bins
        design = Design(schema, n_bins)
        exact = cell_counts(design, X, codes, bounds)
        charge(self.budget, self.relation, self.epsilon, label="MixedNB, binned")
        options: dict[str, Any] = {"relation": self.relation, "class_share": self.class_share}
        noise: dict[str, Any] = {"secure": True} if self.release else {"rng": rng}
        noisy = release_row_bounded(exact, self.epsilon, sum(bounds), grid=SHARE_GRID, **options, **noise)
        self.n_bins_, self.row_bound_ = n_bins, sum(bounds)
        options |= {"pseudocount": self.pseudocount, "shrinkage": self.shrinkage}
        return models_from_cells(noisy, design, self.epsilon, bounds, **options), design

    def _fit_moments(self, X: Any, codes: Any, schema: Schema, rng: np.random.Generator) -> tuple[MixedModels, Design]:
        design = Design(schema, binary_cells=True)
        statistics = class_statistics(design, X, codes)
        trim = self.trim
        if trim is None:
            trim = default_trim(schema.n_lower, schema.n_classes) if self.method == "bun-steinke" else 0
        charge(self.budget, self.relation, **self._cost(design), label=f"MixedNB, {self.method}")
        if self.method == "vaidya":
            moments = vaidya_moments(statistics, design, self.epsilon, rng=rng)
        elif self.method == "published":
            moments = published_moments(statistics, design, self.epsilon, trim=trim, rng=rng)
        else:
            moments = release_moments(
                statistics,
                design,
                self.epsilon,
                self.method,
                delta=self.delta,
                noise=self.noise,
                trim=trim,
                allocation=self.allocation,
                relation=self.relation,
                rng=rng,
            )
        return models_from_moments(moments, design, pseudocount=self.pseudocount, likelihood=self.likelihood), design

    def _cost(self, design: Design) -> dict[str, float]:
        """Return what a fit costs for `relation`."""
        if self.method == "vaidya":
            return {"epsilon": vaidya_cost(self.epsilon, len(design.attributes), self.relation)}
        if self._smooth and self.noise in CONCENTRATED:
            return {"epsilon": 0.0, "rho": self.epsilon**2 / 2}
        return {"epsilon": self.epsilon, "delta": self.delta}

    def _keep(self, models: MixedModels, design: Design) -> None:
        """Set the learned attributes, which are functions of noisy values and public facts."""
        self._design = design
        self._linear = models.linear()
        self.class_log_prior_ = models.log_prior[0]
        names = design.schema.feature_names
        cells = design.split(models.log_cells[0])
        self.feature_log_prob_ = {names[i]: part for i, part in zip(design.attributes, cells, strict=True)}
        for i, off, on in zip(design.ones, models.log_off[0].T, models.log_on[0].T, strict=True):
            self.feature_log_prob_[names[i]] = np.column_stack([off, on])
        if self.method != "binned":
            self.theta_, self.var_ = {}, {}
            for j, i in enumerate(design.numbers):
                f = design.schema.features[i]
                half, middle = f.upper / 2 - f.lower / 2, f.upper / 2 + f.lower / 2  # type: ignore[operator]
                with np.errstate(over="ignore"):  # the square of a wide domain may exceed the largest float
                    self.theta_[f.name] = np.nan_to_num(middle + half * models.mean[0, :, j])
                    self.var_[f.name] = np.nan_to_num(np.float64(half) ** 2 * models.variance[0, :, j])

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        scores = self._linear.decision(self._design.matrix(X))[0]
        return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
