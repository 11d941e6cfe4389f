"""Naive Bayes with privacy for mixed tables: binary, categorical and numeric features, two or more classes.

Statistics, release and model are in `cells` (this project's own method), `moments` (Zafarani and Clifton 2021,
repaired) and `as_published` (methods whose published claim is wrong).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import as_generator, check_choice, check_integer, check_number
from dpml.budget import Cost
from dpml.claims import claim
from dpml.classifiers.crowded_bins import warn_of_crowded
from dpml.classifiers.naive_bayes.as_published import published_moments, vaidya_cost, vaidya_moments
from dpml.classifiers.naive_bayes.cells import (
    LIKELIHOODS,
    Design,
    MixedModels,
    cell_counts,
    cell_rates,
    default_n_bins,
    entry_bounds,
    heaviest_bins,
    models_from_cells,
)
from dpml.classifiers.naive_bayes.moments import (
    APPROXIMATE,
    CONCENTRATED,
    NOISES,
    Moments,
    class_statistics,
    models_from_moments,
    release_moments,
    shares,
)
from dpml.classifiers.naive_bayes.posterior import PosteriorNB, check_shrinkage
from dpml.counts import NoisyCounts, release_row_bounded
from dpml.encoding import SHARE_GRID
from dpml.estimators.base import CheckedTable
from dpml.exceptions import InvalidParameter
from dpml.schema import Schema

METHODS = ("binned", "global", "smooth", "bun-steinke", "vaidya", "published")


@claim(
    "mixed-nb-binned", "Binned naive Bayes", "derived here (docs/explanation/errata.md)", options={"method": "binned"}
)
@claim(
    "mixed-nb-global",
    "Numeric naive Bayes by class sums",
    "[zafarani-clifton2021], Algorithm 1 with global sensitivities (centred sums derived here)",
    options={"method": "global"},
)
@claim(
    "mixed-nb-smooth-cauchy",
    "Numeric naive Bayes by smooth sensitivity, cauchy noise",
    "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)",
    options={"method": "smooth"},
)
@claim(
    "mixed-nb-smooth-student-t",
    "Numeric naive Bayes by smooth sensitivity, student-t noise",
    "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)",
    options={"method": "smooth"},
)
@claim(
    "mixed-nb-smooth-laplace",
    "Numeric naive Bayes by smooth sensitivity, laplace noise",
    "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "smooth"},
)
@claim(
    "mixed-nb-smooth-gaussian",
    "Numeric naive Bayes by smooth sensitivity, gaussian noise",
    "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "smooth"},
)
@claim(
    "mixed-nb-smooth-arsinh-normal",
    "Numeric naive Bayes by smooth sensitivity, arsinh-normal noise",
    "[zafarani-clifton2021], Algorithm 1, repaired (docs/explanation/errata.md)",
    "½ε²-concentrated, audited as (ε, δ) at δ = 1e-5",
    delta=1e-5,
    options={"method": "smooth"},
)
@claim(
    "mixed-nb-bun-steinke-cauchy",
    "Numeric naive Bayes by trimmed means, cauchy noise",
    "[bun-steinke2019], as in [zafarani-clifton2021], sections 5 and 7",
    options={"method": "bun-steinke"},
)
@claim(
    "mixed-nb-bun-steinke-student-t",
    "Numeric naive Bayes by trimmed means, student-t noise",
    "[bun-steinke2019], as in [zafarani-clifton2021], sections 5 and 7",
    options={"method": "bun-steinke"},
)
@claim(
    "mixed-nb-bun-steinke-laplace-log-normal",
    "Numeric naive Bayes by trimmed means, laplace-log-normal noise",
    "[bun-steinke2019], as in [zafarani-clifton2021], sections 5 and 7",
    "½ε²-concentrated, audited as (ε, δ) at δ = 1e-5",
    delta=1e-5,
    options={"method": "bun-steinke"},
)
@claim(
    "mixed-nb-bun-steinke-uniform-log-normal",
    "Numeric naive Bayes by trimmed means, uniform-log-normal noise",
    "[bun-steinke2019], as in [zafarani-clifton2021], sections 5 and 7",
    "½ε²-concentrated, audited as (ε, δ) at δ = 1e-5",
    delta=1e-5,
    options={"method": "bun-steinke"},
)
@claim(
    "mixed-nb-vaidya-add-remove",
    "Naive Bayes of Vaidya et al., add-remove",
    "[vaidya2013], as described in [antonova2016], section 3.3.5",
    cost="Aε + 1 for A categorical or binary attributes",
    true_epsilon=lambda epsilon: vaidya_cost(epsilon, 2),
    relations=("add-remove",),
    options={"method": "vaidya"},
)
@claim(
    "mixed-nb-vaidya-replace-one",
    "Naive Bayes of Vaidya et al., replace-one",
    "[vaidya2013], as described in [antonova2016], section 3.3.5",
    cost="2·(Aε + 1) for A categorical or binary attributes",
    true_epsilon=lambda epsilon: vaidya_cost(epsilon, 2, "replace-one"),
    relations=("replace-one",),
    options={"method": "vaidya"},
)
@claim(
    "mixed-nb-vaidya-numbers",
    "Naive Bayes of Vaidya et al., numeric attributes",
    "[vaidya2013], as compared with in [zafarani-clifton2021]",
    private=False,
    cost="no ε: the scale of the noise is a function of a class's size",
    relations=("add-remove",),
    options={"method": "vaidya"},
)
@claim(
    "gaussian-nb-published",
    "Numeric naive Bayes by Algorithm 1 of Zafarani and Clifton",
    "[zafarani-clifton2021], Algorithm 1",
    "ε under replace-one",
    private=False,
    cost="no ε holds for all n: noise on σ is scaled by the sensitivity of σ²",
    relations=("replace-one",),
    options={"method": "published"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class MixedNB(PosteriorNB):
    """Naive Bayes with differential privacy for binary, categorical and numeric features.

    It adds noise to the count of the records of each class, and to the counts of their values. All methods except
    "binned" also add noise to the mean and variance of each number. The model is computed from these values alone.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values more
        accuracy.
    release : bool, default False
        Add secure integer noise to the counts ("binned" only), which forbids `random_state`.
    method : {"binned", "global", "smooth", "bun-steinke", "vaidya", "published"}, default "binned"
        Treatment of numbers. "binned" counts them in bins, has δ = 0 and is the only method with a release. "global",
        "smooth" and "bun-steinke" release noisy means and variances. "published" and, with numbers, "vaidya" violate
        their published claim and are for simulations only.
    n_bins : int, optional
        Number of bins of each numeric feature, at least 2 (binned). More bins follow the distribution more closely, but
        each holds fewer records. By default the public rule `dpml.classifiers.naive_bayes.cells.default_n_bins`
        decides.
    row_bound : int, optional
        Contribution bound r: the most that a record adds to cells and ones, shared among its attributes and ones
        (binned). By default the public rule `dpml.classifiers.naive_bayes.cells.entry_bounds` decides.
    noise : str, default "cauchy"
        Noise of "smooth" and "bun-steinke": "cauchy", "student-t", "laplace", "gaussian", "laplace-log-normal",
        "uniform-log-normal" or "arsinh-normal".
    delta : float, default 0.0
        Privacy parameter δ: in (0, 1) for "laplace" and "gaussian" noise, and 0 for all others.
    trim : int, optional
        Number m of values trimmed at each end of each number in each class ("smooth", "bun-steinke" and "published").
        By default the public rule `dpml.classifiers.naive_bayes.moments.default_trim` decides. It is for classes of
        similar size: a class of at most 2m values loses all of them. Take 0 if a class is known to be small.
    allocation : (float, float), default (2.0, 1.0)
        Ratio of ε for each number to ε for each attribute ("global", "smooth" and "bun-steinke"). Zafarani and Clifton
        use 2 : 1.
    likelihood : {"gaussian", "truncated-normal"}, default "truncated-normal"
        Distribution of a number within a class (all methods except "binned").
    pseudocount : float, default 1.0
        Number added to each count, above 0.
    class_share : float, default 0.05
        Share w of ε for the class counts (binned), in (0, 1).
    shrinkage : float or "posterior", default 0.1
        Number added to each cell, in noise scales and at least 0 (binned). It makes counts dominated by noise nearly
        the same for all classes. With "posterior", rates are averaged over their posterior given the noisy counts
        (`dpml.classifiers.naive_bayes.posterior`), and `rates_interval` is available.

    Attributes
    ----------
    class_log_prior_ : ndarray of shape (C,)
        Log probability of each class, from noisy counts.
    feature_log_prob_ : dict of str to ndarray of shape (C, cells)
        Log probability of each bin, of each category, or of the values 0 and 1, from noisy counts.
    theta_ : dict of str to ndarray of shape (C,)
        Noisy mean of each number in its own units (all methods except "binned").
    var_ : dict of str to ndarray of shape (C,)
        Noisy variance of each number in its own units (all methods except "binned").
    n_bins_ : int
        Number of bins of the fit (binned).
    row_bound_ : int
        Contribution bound of the fit (binned).

    Raises
    ------
    NotPrivate
        If a method that is not private is given a budget or ``release=True``.
    NoSecureSampler
        If ``release=True`` is given for a method other than "binned".

    See Also
    --------
    BernoulliNB : Naive Bayes for binary columns.
    PrivatePredictionNB : Naive Bayes that releases labels and no model.

    Notes
    -----
    Privacy: ε = `epsilon` per fit, A·`epsilon` + 1 for "vaidya" with A attributes (twice that under replace-one), and
    ½·`epsilon`²-CDP for concentrated noise. δ = `delta`. Relation: `relation`. Sensitivity: r in L1 norm for cells and
    ones and 1 for class counts (binned), and twice these values under replace-one. The other methods use the
    sensitivities in the list below.

    - ``method="binned"``: numeric features are cut into bins of equal width over their public domain. A record adds at
      most r = `row_bound` to the cells and ones of one class, and 1 to one class count. ε is split (1-w) : w between
      them.
    - ``"global"``, ``"smooth"`` and ``"bun-steinke"``: ε, or (ε, δ) with "laplace" or "gaussian" `noise`, or ½ε²-CDP
      with a concentrated noise. `dpml.classifiers.naive_bayes.moments.release_moments` has the sensitivities.
    - ``"vaidya"``: not private if a feature is numeric.
    - ``"published"``: not private. Zafarani and Clifton claim ε for their Algorithm 1, and the claim is violated.

    Only the metadata of the schema is public. Class sizes are private.

    References
    ----------
    Zafarani and Clifton (2021), Algorithm 1 and sections 5 and 7, with the repairs of docs/explanation/errata.md.
    "binned" is this project's. The posterior is after Bernstein and Sheldon (2018).

    Examples
    --------
    >>> import pandas as pd
    >>> from dpml.schema import Feature
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> frame = pd.DataFrame({"age": 30 + 30 * y + rng.normal(0, 5, 2000), "smokes": rng.random(2000) < 0.2 + 0.4 * y})
    >>> schema = Schema([Feature("age", "numeric", lower=0, upper=120), Feature("smokes")], n_lower=1000)
    >>> model = MixedNB(epsilon=1.0, schema=schema, random_state=0, on_invalid="clip").fit(frame, y)
    >>> model.predict(pd.DataFrame({"age": [25.0, 70.0], "smokes": [0, 1]})).tolist()
    [0, 1]
    """

    _takes_any_cell: ClassVar[bool] = True

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
    shrinkage: float | str = 0.1

    # ---- checks -------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_choice(self.noise, "noise", NOISES)
        check_choice(self.likelihood, "likelihood", LIKELIHOODS)
        check_number(self.pseudocount, "pseudocount", 0.0, open_lower=True)
        check_number(self.class_share, "class_share", 0.0, 1.0, open_lower=True, open_upper=True)
        check_shrinkage(self.shrinkage, method=self.method, counted="binned")
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

    def _not_private(self, schema: Schema | None) -> str | None:
        numeric = schema is not None and any(f.kind == "numeric" for f in schema.features)
        broken = self.method == "published" or (self.method == "vaidya" and numeric)
        return (
            f"method = {self.method!r} is not private here (docs/explanation/errata.md): use it in a simulation only"
            if broken
            else None
        )

    def _no_sampler(self) -> str | None:
        if self.method == "binned":
            return None
        return f"method = {self.method!r} has no secure sampler. Use 'binned', or release=False"

    def _costs(self, schema: Schema) -> dict[str, Cost]:
        cost: Cost = {"epsilon": self.epsilon, "delta": self.delta}
        if self.method == "vaidya":
            cost = vaidya_cost(self.epsilon, len(self._public(schema)[0].attributes), self.relation)
        elif self._smooth and self.noise in CONCENTRATED:
            cost = {"rho": self.epsilon**2 / 2}
        return {f"MixedNB, {self.method}": cost}

    # ---- the three steps ----------------------------------------------------------------------------------------

    def _public(self, schema: Schema) -> tuple[Design, tuple[int, int]]:
        """Return the design of the counts, and the most that a record adds to cells and ones (binned)."""
        if self.method != "binned":
            return Design(schema, binary_cells=True), (0, 0)
        n_bins = default_n_bins(schema, self.epsilon, self.relation) if self.n_bins is None else self.n_bins
        return Design(schema, n_bins), entry_bounds(schema, self.epsilon, self.row_bound)

    def _statistics(self, table: CheckedTable) -> Any:
        design, bounds = self._public(table.schema)
        if self.method == "binned":
            return cell_counts(design, table.X, table.codes, bounds)
        return class_statistics(design, table.X, table.codes)

    def _release(self, statistics: Any, table: CheckedTable) -> NoisyCounts | Moments:
        design, bounds = self._public(table.schema)
        if self.method == "binned":
            options: dict[str, Any] = {"relation": self.relation, "class_share": self.class_share, **table.noise}
            return release_row_bounded(statistics, self.epsilon, sum(bounds), grid=SHARE_GRID, **options)
        if self.method == "vaidya":
            return vaidya_moments(statistics, design, self.epsilon, rng=table.rng)
        options = {"trim": self.trim, "rng": table.rng}
        if self.method == "published":
            return published_moments(statistics, design, self.epsilon, **options)
        options |= {name: getattr(self, name) for name in ("delta", "noise", "allocation", "relation")}
        return release_moments(statistics, design, self.epsilon, self.method, **options)

    def _model(self, released: Any, table: CheckedTable) -> None:
        for name in ("n_bins_", "row_bound_", "theta_", "var_"):
            self.__dict__.pop(name, None)  # an earlier fit with another method may have set it
        self._rates = ()
        design, bounds = self._public(table.schema)
        if self.method == "binned":
            self.n_bins_, self.row_bound_ = design.n_bins, sum(bounds)
            names = ("relation", "class_share", "pseudocount")
            options: dict[str, Any] = {name: getattr(self, name) for name in names}
            counted = released, design, self.epsilon, bounds
            models = models_from_cells(*counted, shrinkage=self.shrinkage, **options)
            warn_of_crowded(heaviest_bins(*counted, relation=self.relation, class_share=self.class_share))
            if isinstance(self.shrinkage, str):
                pairs = zip((design.cell_names(), design.one_names()), cell_rates(*counted, **options)[0], strict=True)
                self._rates = [pair for pair in pairs if pair[0]]
        else:
            options = {"pseudocount": self.pseudocount, "likelihood": self.likelihood}
            models = models_from_moments(released, design, **options)
        self._keep(models, design)

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
