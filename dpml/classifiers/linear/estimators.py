"""Private logistic regression and linear support vector machines: the estimators.

Statistics and release: `dpml.classifiers.linear._perturbation` (output and objective perturbation, Antonova's
Algorithms 6 and 7), `dpml.classifiers.linear.functional` (the functional mechanism), `dpml.classifiers.linear.descent`
(the methods with δ). `release_weights` calls any of them, for any number of classes. Model: `linear_models` and the
estimators' attributes, post-processing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit

from dpml._arrays import FloatArray
from dpml.classifiers.linear._base import (
    LinearEstimator,
    probabilities,
)
from dpml.classifiers.linear._losses import HuberHinge, Loss
from dpml.classifiers.linear._weights import ALL_METHODS
from dpml.classifiers.row_scores import row_log_softmax

LOGISTIC_METHODS = ALL_METHODS
SVC_METHODS = tuple(method for method in ALL_METHODS if method != "functional")


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(LinearEstimator):
    """Logistic regression with differential privacy, by any of five methods.

    Released: the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers.

    Privacy: ε per fit, for `relation`, and δ for the last two methods. Records are scaled into the unit ball by public
    bounds alone: numeric columns to [-1, 1] by the schema's bounds, then records by 1/√(r+1), where r is the row bound
    plus the number of numeric columns. The 1 is for the intercept's constant column, which is regularised like any
    other. Then

    - ``"output"`` adds norm-gamma noise of L2 sensitivity (Δ + 2τ)/λ to the minimiser, Δ = 1 (add/remove) or 2
      (replace-one); ``"objective"`` adds a noisy linear term to the objective, whose gradient has L2 sensitivity Δ, and
      raises λ where ε requires it (`objective_noise`). With C > 2 classes each classifier gets ε/C;
    - ``"functional"`` adds Laplace noise to the coefficients of a quadratic approximation
      (`dpml.classifiers.linear.functional`), whose quadratic part all classes share. Only this method has
      ``release=True``;
    - ``"approximate-minima"`` is objective perturbation with Gaussian noise, ``"noisy-descent"`` gradient descent with
      Gaussian noise in each step (`dpml.classifiers.linear.descent`): (ε, δ).

    Without ``release=True`` the proofs do not cover the rounding of floating-point noise. `reg_lambda` and `row_bound`
    must be chosen without looking at the data.

    Parameters
    ----------
    method : {"output", "objective", "functional", "approximate-minima", "noisy-descent"}
        The first two are Antonova's Algorithms 6 and 7, the third is its Appendix B.1.
    reg_lambda : float, optional
        λ in [1e-9, 1e12], for the sum of the losses over the scaled records: λ = N·Λ, and 1/λ is scikit-learn's C.
        None: the public rule `default_reg_lambda`.
    calibration : {"tight", "published"}
        For ``"output"`` and ``"objective"``: the least noise that the proofs allow, or the paper's. Both are private.
    norm : {"l2", "l1"}
        The norm for the noise of objective perturbation. "l2" is norm-gamma noise. "l1" is Laplace noise with records
        divided by r + 1 instead of √(r+1), so that ‖x‖₁ <= 1. It is smaller where 2(r + 1) < D + 1.
    delta : float
        δ in (0, 1), for the last two methods. The others neither use it nor charge it.
    sensitivity : {"exact", "improved", "original"}
        For ``"functional"``: derived here, Antonova's FMsens2, or FMsens1.
    n_iterations : int, optional
        Number of steps of noisy descent. None: the public rule `dpml.classifiers.linear.descent.default_iterations`.
    sampling_rate : float
        Probability, in (0, 1], that a record is in the sample of a step of noisy descent. Below 1 it needs the extra
        ``accounting`` and the relation add/remove.
    fit_intercept : bool
        Whether to add the constant column.
    row_bound : int, optional
        The most ones that a record keeps. A record with more ones is cut at random, record by record; with
        ``norm="l1"`` it shares the bound among its ones. A smaller bound scales records down less, so the noise is
        relatively smaller. None: the public rule `default_linear_row_bound`.
    tolerance : float
        Norm τ of the gradient at which the solver stops, in [1e-10, 1]; the noise covers it.
    on_invalid : {"raise", "clip"}
        What to do with a value outside its domain, a label that is not a class, or a record with more ones than the
        schema's row bound (it is cut). A release always clips.
    release : bool
        Draw the functional mechanism's noise securely, as integers (`dpml.mechanisms.secure`, the extra ``release``;
        numbers are rounded to 1/1024 of their domain's half width); forbids a seed. The other methods raise
        `NoSecureSampler`.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The schema's classes, present in the data or not.
    coef_ : ndarray of shape (K, D)
        Released weights of the unscaled columns; K = 1 for two classes, else C.
    intercept_ : ndarray of shape (K,)
        Released intercepts. Without `fit_intercept` they are 0 unless numeric columns were centred.

    Notes
    -----
    Sources: Antonova (2016), Algorithms 6 and 7 and Theorems 4.3.1 and 4.4.1, after Chaudhuri, Monteleoni and Sarwate,
    "Differentially private empirical risk minimization", JMLR 12, 2011; Antonova (2016), Appendix B.1 after Zhang
    et al. 2012. The modules of the other methods name their sources. The theorems hold at the exact minimiser. The
    terms in τ, the tight calibrations and the exact sensitivity are this project's, derived where they are computed.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = LogisticRegression(1.0, method="objective", schema=data.schema, random_state=0)
    >>> bool(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.7)
    True
    """

    _methods = LOGISTIC_METHODS

    sensitivity: str = "exact"

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes, shape (n, C). With more than two they are scaled to add up to 1."""
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities of the classes, shape (n, C)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return row_log_softmax(log_expit(scores))


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearEstimator):
    """Linear support vector machine with differential privacy: the Huber-smoothed hinge loss.

    Released: the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers.

    Privacy: as for `LogisticRegression` with the same method. The hinge is replaced by a parabola for |1 - z| <= h. Its
    slope is then at most 1 and its curvature at most c = 1/(2h) (Chaudhuri, Monteleoni and Sarwate 2011, Corollary 13),
    which is all that the proofs use. In `objective_noise` the determinant costs log(1 + c/λ), because the curvature
    does not vanish where the slope is near 1.

    Parameters
    ----------
    method : {"output", "objective", "approximate-minima", "noisy-descent"}
    reg_lambda : float, optional
    huber : float
        Half width h of the parabola, in [0.01, 100].
    calibration, norm, delta, n_iterations, sampling_rate, fit_intercept, row_bound, tolerance
        As for `LogisticRegression`.
    release : bool
        No method has a secure sampler: True raises `NoSecureSampler`.

    Attributes
    ----------
    classes_, coef_, intercept_
        As for `LogisticRegression`. There is no `predict_proba`: the hinge gives no probabilities.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> data = load("toy")
    >>> model = LinearSVC(1.0, method="objective", schema=data.schema, random_state=0)
    >>> bool(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.7)
    True
    """

    _methods = SVC_METHODS

    huber: float = 0.5

    def _loss(self) -> Loss:
        return HuberHinge(self.huber)
