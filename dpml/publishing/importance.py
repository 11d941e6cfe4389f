"""Importance weighting: publish weights of a public table that make it resemble a private one, and answer any query."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from dpml._validate import as_generator, check_choice, check_integer
from dpml.budget.shares import split_epsilon
from dpml.claims import claim
from dpml.classifiers.linear.solver import minimise
from dpml.estimators.base import CheckedTable, PrivateEstimator
from dpml.exceptions import ConcentratedWeights, InvalidData, InvalidParameter
from dpml.mechanisms.private import Private, public_number
from dpml.publishing.density_ratio import (
    CALIBRATIONS,
    METHODS,
    TOLERANCE,
    _Balanced,
    balanced_minimiser,
    check_reg_lambda,
    moment_minimiser,
    objective_noises,
    release_balanced_objective,
    release_balanced_output,
    release_sums,
)
from dpml.publishing.ratio_features import Parts, RatioFeatures, public_pairs
from dpml.publishing.weighted_table import (
    PRIOR,
    Spread,
    WeightedTable,
    informative_pairs,
    interaction_size,
    noise_variance,
)
from dpml.schema import Schema

FloatArray = NDArray[np.float64]

LAMBDAS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-16, 5))  # 0.0001 to 10
CHOICES = LAMBDAS[4:17:2]  # 0.001 to 1, for a choice that solves the regression at each
RULES = ("public", "private")
LAMBDA_SHARE = 0.2  # share of ε for a private choice of λ
FEW_RECORDS = 30  # a warning is due if half of the weight is on no more records than these


def public_reg_lambda(
    X_public: Any, features: RatioFeatures, epsilon: float, n_private: int, method: str, calibration: str = "tight"
) -> float:
    """Return λ by a public rule, the minimiser of an expected squared error over `LAMBDAS`.

    Suppose that the ratio is e^(β·x) with independent coefficients of variance `PRIOR`². Let C be the covariance of the
    features in the public table and H the Hessian of the loss at β = 0: C for moments, about ½·E[xx'] for the balanced
    loss. To first order a regulariser λ leaves out λ(H + λI)⁻¹β of β, and the features' means change by C times a
    change of β. So the expected squared error is ‖λC(H + λI)⁻¹‖²·PRIOR² plus the trace of C·Var[β]·C.
    """
    X = np.asarray(X_public, dtype=float)
    mean, second = X.mean(axis=0), X.T @ X / len(X)
    C = second - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(C if method == "moments" else second / 2)
    reach = (C @ vectors) ** 2
    squares = reach.sum(axis=0)
    record = ((vectors.T @ C) * vectors.T).sum(axis=1) * (1.0 if method == "moments" else 0.25)

    def error(reg_lambda: float) -> float:
        inverse = 1 / (np.maximum(values, 0.0) + reg_lambda) ** 2
        noise = noise_variance(features, epsilon, n_private, method, calibration, reg_lambda)
        bias = PRIOR**2 * reg_lambda**2 * float(squares @ inverse)
        added = noise * (float(squares.sum()) if method == "output" else float(squares @ inverse))
        return bias + added + float((squares * record) @ inverse) / n_private

    return min(LAMBDAS, key=error)


def choose_reg_lambda(
    X_public: Any,
    moments: Any,
    features: RatioFeatures,
    epsilon: float,
    n_private: int,
    method: str,
    calibration: str = "tight",
    *,
    spent: float,
) -> float:
    """Return λ from noisy moments of the private table. Post-processing: it costs as much as the moments, `spent`.

    For ``method="moments"`` they are the release itself, and λ is the largest at which the weighted means differ from
    them by no more than the noise is expected to (the discrepancy principle). Otherwise the public table, weighted to
    the noisy moments, stands for the private one: λ minimises the squared bias of the weighted means on it plus the
    trace of C·Var[β]·C for the noise that `epsilon`, the rest for β, will add.
    """
    X, m = np.asarray(X_public, dtype=float), np.asarray(moments, dtype=float)
    noise = noise_variance(features, spent, n_private, "moments", calibration, 1.0)
    if method == "moments":
        for reg_lambda in reversed(LAMBDAS):
            gap = reg_lambda * moment_minimiser(X, m, reg_lambda)  # the loss is stationary where Σwx - m = -λβ
            if float(gap @ gap) <= noise * features.dimension:
                return reg_lambda
        return LAMBDAS[0]
    proxy = softmax(X @ moment_minimiser(X, m, public_reg_lambda(X, features, spent, n_private, "moments")))
    truth = proxy @ X

    def error(reg_lambda: float) -> float:
        beta = _proxy_minimiser(X, proxy, reg_lambda)
        w = softmax(X @ beta)
        mean = w @ X
        C = (X * w[:, None]).T @ X - np.outer(mean, mean)
        added = noise_variance(features, epsilon, n_private, method, calibration, reg_lambda)
        if method == "objective":
            pull = expit(X @ beta)
            curved = pull * (1 - pull) * (1 / len(X) + proxy)
            H = (X * curved[:, None]).T @ X
            H.flat[:: len(H) + 1] += reg_lambda
            C = np.linalg.solve(H, C)
        return float((mean - truth) @ (mean - truth)) + added * float((C * C).sum())

    return min(CHOICES, key=error)


def _proxy_minimiser(X: FloatArray, proxy: FloatArray, reg_lambda: float) -> FloatArray:
    """Return the balanced minimiser where the public table, with these weights, stands for the private one."""
    n = len(X)
    weight = np.concatenate([np.maximum(n * proxy, 1e-12), np.ones(n)])
    loss = _Balanced(weight=weight)
    signs = np.repeat([1.0, -1.0], n)
    return minimise(np.vstack([X, X]), signs, n * reg_lambda, TOLERANCE, np.zeros((1, X.shape[1])), loss)[0]


# what all claims about the weights share
_claim = partial(claim, text="ε, N public", relations=("replace-one",))


@_claim(
    "importance-published",
    "Importance weights, as published",
    "[ji-elkan2013], Algorithm 1, replace-one",
    options={"method": "output", "calibration": "published"},
)
@_claim(
    "importance-output",
    "Importance weights by output perturbation",
    "[ji-elkan2013], Algorithm 1 (bound derived here)",
    options={"method": "output", "calibration": "tight"},
)
@_claim(
    "importance-objective",
    "Importance weights by objective perturbation",
    "[ji-elkan2013], section 3 (derived here)",
    options={"method": "objective", "calibration": "tight"},
)
@_claim(
    "importance-objective-published",
    "Importance weights by objective perturbation, with √d",
    "[ji-elkan2013], section 3 (derived here)",
    options={"method": "objective", "calibration": "published"},
)
@_claim(
    "importance-moments",
    "Importance weights from noisy moments",
    "derived here",
    options={"method": "moments", "calibration": "tight"},
)
@_claim(
    "importance-moments-release",
    "Importance weights from noisy moments, release",
    "derived here",
    options={"method": "moments", "calibration": "tight"},
)
@_claim(
    "importance-chosen",
    "Importance weights, λ chosen with a part of ε",
    "derived here",
    options={"method": "output", "calibration": "tight"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceWeights(PrivateEstimator):
    """Weights of public records that make them resemble a private table, with differential privacy.

    It releases the coefficients β of the log ratio of the two densities. The weights of any public table with the same
    schema follow from them, and every answer from the weights, at no further cost. Use it if you have a public table
    with the same columns.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of one fit, finite and above 0. Smaller values give more privacy, larger values weights that
        are closer to those without noise.
    reg_lambda : float or {"public", "private"}, default "public"
        Regularisation λ in [1e-6, 1e6]. A large λ gives weights near 1, with bias and little variance. "public" is a
        rule that sees no private record. "private" is a value selected from noisy moments, which get a fifth of ε. For
        "moments" they are the release itself and cost nothing more.
    budget : Budget, optional
        Budget of the relation "replace-one", which is charged before the first draw.
    on_invalid : {"raise", "clip"}, default "raise"
        Action for a private value outside its domain, or a record with two ones in a block. A release clips.
    release : bool, default False
        Use secure integer noise, for ``method="moments"``, which forbids `random_state`.
    method : {"output", "objective", "moments"}, default "output"
        Mechanism of the release. "output" and "objective" add noise to the minimiser and to the objective of a balanced
        logistic loss. "moments" adds noise to the sums of the features, and only this method has a release.
    calibration : {"tight", "published"}, default "tight"
        Sensitivity S from the schema, or the paper's √d. Both are private, and "tight" adds less noise.
    fit_intercept : bool, default True
        Add a constant feature to the balanced loss, which Algorithm 1 has not. Without it the model of the ratio
        lacks its normalising constant, unless the columns of an attribute add up to 1. The weights do not need it.
    pairs : int, sequence of (str, str) or "public", default "public"
        Pairs of attributes that the ratio may depend on, besides single attributes. A number selects that many pairs
        with the most mutual information in the public table. "public" selects no pairs, and for "moments" the fewest
        pairs whose sums show the error of the model, or none at a small ε.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Coefficients β.
    columns_ : list of str
        Names of the d features.
    reg_lambda_ : float
        Regularisation λ of the fit, which objective perturbation may raise.
    pairs_ : tuple of (str, str)
        Pairs of attributes that were used.
    n_private_ : int
        Number N of private records.
    misspecification_ : float
        Possible size of a pair's coefficient in the log ratio, estimated from the released pairs. It widens intervals.
        It is 0 for other methods than "moments", and without pairs.
    feature_names_in_ : ndarray of str
        Names of the columns, if the private table was a DataFrame.

    See Also
    --------
    WeightedTable : Queries on a weighted public table.
    PrivPfC : Synthetic table without a public one.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = 0. Relation: replace-one. Sensitivity: (S + 2τ)/(Nλ) in L2 norm for the
    minimiser ("output"), S for N times the gradient ("objective"), with S of `density_ratio.record_change`, at most √d,
    and S₁ in L1 norm for the sums ("moments").

    The number N of private records is public. (The paper says add/remove, where the scale of its noise would reveal N.)

    - ``"output"``, Algorithm 1: norm-gamma noise of L2 sensitivity (S + 2τ)/(Nλ) on the minimiser of the balanced,
      regularised logistic loss.
    - ``"objective"``: a noisy linear term in that loss (`dpml.publishing.density_ratio.balanced_noise`).
    - ``"moments"``, this project's: Laplace noise on the sums of the features over the private records. β is then the
      minimiser of a loss that needs only these sums and the public table, so you may choose λ afterwards at no cost.

    References
    ----------
    Ji and Elkan (2013), Algorithm 1 and section 4, with the differences in docs/explanation/errata.md.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> private = (rng.random((5000, 3)) < [0.7, 0.5, 0.2]).astype(int)
    >>> public = (rng.random((4000, 3)) < [0.4, 0.5, 0.3]).astype(int)
    >>> model = ImportanceWeights(1.0, method="moments", random_state=0).fit(private, public)
    >>> published = model.weighted(public)
    >>> round(published.mean(public[:, 0]), 2), round(published.count(public[:, 2]) / 100)
    (0.68, 10)
    >>> len(model.weights(public[:10])), round(float(model.weights(public).mean()), 6)
    (10, 1.0)
    """

    relation: ClassVar[str] = "replace-one"  # type: ignore[misc]

    reg_lambda: Any = field(default="public", kw_only=False)
    method: str = "output"
    calibration: str = "tight"
    fit_intercept: bool = True
    pairs: int | str | Sequence[tuple[str, str]] = "public"

    def fit(self, X_private: Any, X_public: Any) -> Self:  # type: ignore[override]
        """Release the coefficients.

        Parameters
        ----------
        X_private : array, sparse matrix or DataFrame of shape (N, D)
            Private records. Columns of a DataFrame are matched by name.
        X_public : array, sparse matrix or DataFrame of shape (N_E, D)
            Public records with the same columns.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return super().fit(X_private, X_public)

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_choice(self.calibration, "calibration", CALIBRATIONS)
        if isinstance(self.reg_lambda, str):
            check_choice(self.reg_lambda, "reg_lambda", RULES)
        else:
            check_reg_lambda(self.reg_lambda)
        as_generator(self.random_state)

    def _no_sampler(self) -> str | None:
        if self.method == "moments":
            return None
        return f"the noise of method {self.method!r} has no secure sampler. Use 'moments', or release=False"

    def _check_table(self, X: Any, y: Any, schema: Schema) -> CheckedTable:
        """Return the private records as features and the public table in place of classes, and keep the features."""
        named = isinstance(X, pd.DataFrame)
        on_invalid = "clip" if self.release else self.on_invalid
        X, schema = schema.check_features(X, on_invalid)
        if on_invalid == "raise":
            RatioFeatures(schema).check_ones(X)
        X = Private(X)
        n = public_number(X, self.relation)
        if n < 1 or schema.n_rows not in (None, n):
            raise InvalidData(f"X_private has {n} records: it must have {schema.n_rows or 'at least 1'}")
        self._schema, self.n_private_ = schema, n
        public = self._public_parts(y, RatioFeatures(schema))
        if not len(public):
            raise InvalidData("X_public has 0 records: it must have at least 1")
        pairs = self._chosen_pairs(RatioFeatures(schema), public, list(self._costs(schema).values())[-1])
        features = RatioFeatures(schema, pairs, bool(self.fit_intercept) and self.method != "moments")
        matrix = features.matrix(self._public_parts(y, features))
        self._features, self.pairs_, self.columns_ = features, features.pairs, features.columns
        # a simulation has refused invalid values above
        parts = features.parts(X, "clip")
        return self._checked_table(parts, matrix, schema, named, as_generator(self.random_state), n)

    def _costs(self, schema: Schema) -> dict[str, float]:
        """Return the ε of each part by the label of its charge; β's is the last."""
        label = f"ImportanceWeights, {self.method}"
        if self.reg_lambda != "private" or self.method == "moments":
            return {label: self.epsilon}
        part, rest = split_epsilon(self.epsilon, LAMBDA_SHARE)
        return {"ImportanceWeights, choice of λ": part, label: rest}

    def _chosen_pairs(self, features: RatioFeatures, public: Parts, epsilon: float) -> tuple[tuple[str, str], ...]:
        if isinstance(self.pairs, str):
            check_choice(self.pairs, "pairs", ("public",))
            # other methods release no sums that show the error of the model
            return informative_pairs(features, public, epsilon, self.n_private_) if self.method == "moments" else ()
        if not isinstance(self.pairs, Sequence):
            return public_pairs(features, public, check_integer(self.pairs, "pairs", 0))
        named: Sequence[Any] = self.pairs
        try:
            return tuple((str(a), str(b)) for a, b in named)
        except (TypeError, ValueError):
            allowed = "a number, pairs of names of attributes, or 'public'"
            raise InvalidParameter("pairs", self.pairs, allowed) from None

    def _release(self, records: Parts, table: CheckedTable) -> tuple[Any, float]:
        """Return β, or for "moments" the noisy means of the features, and λ."""
        rng = None if self.release else table.rng
        shares = list(self._costs(table.schema).values())
        features, n, epsilon, X_public = self._features, self.n_private_, shares[-1], table.codes
        facts = (features, epsilon, n, self.method, self.calibration)
        noisy = None
        if self.method == "moments" or len(shares) > 1:
            spent = shares[0]
            noisy = release_sums(features.sums(records), spent, features, secure=self.release, rng=rng) / n
        if self.reg_lambda == "public":
            reg_lambda = public_reg_lambda(X_public, *facts)
        elif self.reg_lambda == "private":
            reg_lambda = choose_reg_lambda(X_public, noisy, *facts, spent=shares[0])
        else:
            reg_lambda = check_reg_lambda(self.reg_lambda)
        if self.method == "moments":
            return noisy, reg_lambda
        options: dict[str, Any] = {"calibration": self.calibration, "rng": rng}
        if self.method == "output":
            exact = balanced_minimiser(features.matrix(records), X_public, reg_lambda)
            coef = release_balanced_output(exact, epsilon, reg_lambda, features, n, **options)
        else:
            X = features.matrix(records)
            coef = release_balanced_objective(X, X_public, epsilon, reg_lambda, features, **options)[0]
        return coef, reg_lambda

    def _model(self, released: tuple[Any, float], table: CheckedTable) -> None:
        values, reg_lambda = released
        features, n, X_public = self._features, self.n_private_, table.codes
        moments = self.method == "moments"
        self.coef_ = moment_minimiser(X_public, values, reg_lambda) if moments else values
        epsilon = list(self._costs(table.schema).values())[-1]
        noise = noise_variance(features, epsilon, n, self.method, self.calibration, reg_lambda)
        if self.method == "objective":
            reg_lambda = objective_noises(epsilon, reg_lambda, features, n, self.calibration)[2]
        self.reg_lambda_ = reg_lambda
        known = values if moments and features.pairs else None
        self.misspecification_ = (
            0.0 if known is None else interaction_size(X_public, known, features, reg_lambda, noise, n)
        )
        self._spread = Spread(self.coef_, X_public, self.method, noise, reg_lambda, n, float(features.squared_norm))

    def _public_parts(self, X: Any, features: RatioFeatures) -> Parts:
        X = self._ordered(X, self._schema)
        # errors about the public table may contain its values
        checked, _ = self._schema.check_features(X, self.on_invalid)
        return features.parts(checked, self.on_invalid)

    def weights(self, X_public: Any) -> FloatArray:
        """Return the weights of public records, with mean 1.

        Parameters
        ----------
        X_public : array, sparse matrix or DataFrame of shape (n, D)
            Public records.

        Returns
        -------
        ndarray of shape (n,)
            One weight for each record.

        Warns
        -----
        ConcentratedWeights
            If half of the weight is on `FEW_RECORDS` records or a tenth of them, or fewer.
        """
        check_is_fitted(self, "coef_")
        shares = softmax(self._features.scores(self._public_parts(X_public, self._features), self.coef_))
        self._warn(shares)
        return shares * len(shares)

    def weighted(self, X_public: Any) -> WeightedTable:
        """Return a public table with its weights, to be queried.

        Parameters
        ----------
        X_public : array, sparse matrix or DataFrame of shape (n, D)
            Public records.

        Returns
        -------
        WeightedTable
            The table with its weights.

        Warns
        -----
        ConcentratedWeights
            If half of the weight is on `FEW_RECORDS` records or a tenth of them, or fewer.
        """
        check_is_fitted(self, "coef_")
        records = self._public_parts(X_public, self._features)
        if not len(records):
            raise InvalidData("X_public has 0 records: it must have at least 1")
        shares = softmax(self._features.scores(records, self.coef_))
        self._warn(shares)
        return WeightedTable(
            X_public, shares, self.n_private_, self._spread, self._features, records, self.misspecification_
        )

    @staticmethod
    def _warn(shares: FloatArray) -> None:
        few = min(FEW_RECORDS, len(shares) // 10)
        if few and float(np.partition(shares, -few)[-few:].sum()) >= 0.5:
            warnings.warn(
                f"half of the weight is on {few} of {len(shares)} records or fewer: raise reg_lambda or epsilon",
                ConcentratedWeights,
                stacklevel=3,
            )
