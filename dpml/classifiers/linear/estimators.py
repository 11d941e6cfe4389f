"""Logistic regression and linear support vector machines with privacy: the estimators.

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
from dpml.claims import claim
from dpml.classifiers.linear._base import (
    LinearEstimator,
    probabilities,
)
from dpml.classifiers.linear._losses import HuberHinge, Loss
from dpml.classifiers.linear._weights import ALL_METHODS
from dpml.classifiers.row_scores import row_log_softmax

LOGISTIC_METHODS = ALL_METHODS
SVC_METHODS = tuple(method for method in ALL_METHODS if method != "functional")


@claim(
    "logistic-output",
    "Logistic regression by output perturbation",
    "[antonova2016], Algorithm 6 (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "output", "calibration": "tight"},
)
@claim(
    "logistic-output-published",
    "Logistic regression by output perturbation, published constants",
    "[antonova2016], Algorithm 6",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "output", "calibration": "published"},
)
@claim(
    "logistic-objective",
    "Logistic regression by objective perturbation",
    "[antonova2016], Algorithm 7 (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "objective", "calibration": "tight"},
)
@claim(
    "logistic-objective-published",
    "Logistic regression by objective perturbation, published constants",
    "[antonova2016], Algorithm 7",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "objective", "calibration": "published"},
)
@claim(
    "logistic-objective-laplace",
    "Logistic regression by objective perturbation with Laplace noise",
    "[antonova2016], Algorithm 7 with a K-norm noise ([awan-slavkovic2021]), derived here",
    "ε for records of L1 norm at most 1",
)
@claim(
    "logistic-approximate-minima",
    "Logistic regression by approximate minima perturbation",
    "[kifer2012] and [iyengar2019] (constants derived here)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "approximate-minima"},
)
@claim(
    "logistic-noisy-descent",
    "Logistic regression by noisy gradient descent",
    "[bassily2014] and [dong2022], Corollary 3.3",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@claim(
    "functional",
    "Functional mechanism",
    "[antonova2016], Appendix B.1 (constants derived here)",
    "ε for records in the unit ball",
    options={"method": "functional"},
)
@claim(
    "functional-improved",
    "Functional mechanism, improved sensitivity",
    "[antonova2016], eq. B.7 (FMsens2)",
    "ε for records in the unit ball",
    cost="less than ε: a third or less, for many columns",
    options={"method": "functional"},
)
@claim(
    "functional-original",
    "Functional mechanism, original sensitivity",
    "[zhang2012] and [antonova2016], eq. B.2",
    "ε for records in the unit ball",
    cost="less than ε: a third or less, for many columns",
    options={"method": "functional"},
)
@claim(
    "functional-fit",
    "Functional mechanism, fitted to columns with public bounds",
    "[antonova2016], Appendix B.1 (constants derived here)",
    options={"method": "functional"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(LinearEstimator):
    """Logistic regression with differential privacy.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers.

    Parameters
    ----------
    release : bool, default False
        Draw the noise of ``method="functional"`` securely, as integers (`dpml.mechanisms.secure`, the extra
        ``release``), which forbids a seed. Numbers are rounded to 1/1024 of their domain's half width. The other
        methods raise `NoSecureSampler`.
    method : {"output", "objective", "functional", "approximate-minima", "noisy-descent"}, default "output"
        Mechanism of the release. "output" adds noise to the minimiser, "objective" to the objective, and "functional"
        to the coefficients of a quadratic approximation. "approximate-minima" and "noisy-descent" use Gaussian noise
        and need δ. Only "functional" has a release.
    sensitivity : {"exact", "improved", "original"}, default "exact"
        Sensitivity of "functional": derived here, FMsens2 of Antonova (2016), or FMsens1. "exact" needs the least
        noise.

    See Also
    --------
    LinearSVC : Linear support vector machine with the same methods.
    LinearClassifier : Naive Bayes or a support vector machine, selected by a public rule.
    PrivatePredictionLR : Logistic regression that releases labels and no weights.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta` for "approximate-minima" and "noisy-descent", otherwise 0. Relation:
    `relation`. Sensitivity: (Δ + 2τ)/λ in L2 norm for the minimiser ("output") and Δ for the gradient ("objective"), Δ
    = 1 under add/remove and 2 under replace-one, and for "functional" the L1 sensitivity that `sensitivity` selects.

    Records are scaled into the unit ball by public bounds alone. Numeric columns are mapped to [-1, 1] by the schema's
    bounds. Then records are divided by √(r+1), where r is the contribution bound plus the number of numeric columns.
    The 1 is for the intercept's constant column. Then the methods differ:

    - ``"output"`` adds norm-gamma noise of L2 sensitivity (Δ + 2τ)/λ to the minimiser. ``"objective"`` adds a noisy
      linear term to the objective, whose gradient has L2 sensitivity Δ, and raises λ where ε requires it
      (`objective_noise`). With C > 2 classes each classifier gets ε/C.
    - ``"functional"`` adds Laplace noise to the coefficients of a quadratic approximation
      (`dpml.classifiers.linear.functional`), whose quadratic part all classes share. Only this method has
      ``release=True``.
    - ``"approximate-minima"`` is objective perturbation with Gaussian noise. ``"noisy-descent"`` is gradient descent
      with Gaussian noise in each step (`dpml.classifiers.linear.descent`). Both are (ε, δ).

    The guarantee requires that you choose `reg_lambda` and `row_bound` without looking at the records. Without
    ``release=True`` the proofs do not cover the rounding of floating-point noise. The published theorems hold at the
    exact minimiser. The terms in τ, the tight calibrations and the exact sensitivity are this project's, derived where
    they are computed.

    References
    ----------
    Antonova (2016), Algorithms 6 and 7 and Theorems 4.3.1 and 4.4.1, after Chaudhuri, Monteleoni and Sarwate,
    "Differentially private empirical risk minimization", JMLR 12, 2011. Antonova (2016), Appendix B.1, after Zhang et
    al. (2012), for "functional". The modules of the other methods name their sources.

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
        """Return the probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities, classes in the order of `classes_`. With more than two classes they are scaled to add up to
            1.
        """
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the log probability of each class for each record.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, D)
            Records to classify. Columns of a DataFrame are matched by name.

        Returns
        -------
        ndarray of shape (n, C)
            Natural logarithms of the probabilities, classes in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return row_log_softmax(log_expit(scores))


@claim(
    "svc-output",
    "Linear support vector machine by output perturbation",
    "[chaudhuri2011] (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "output", "calibration": "tight"},
)
@claim(
    "svc-output-published",
    "Linear support vector machine by output perturbation, published constants",
    "[chaudhuri2011]",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "output", "calibration": "published"},
)
@claim(
    "svc-objective",
    "Linear support vector machine by objective perturbation",
    "[chaudhuri2011] (constants derived here)",
    "ε at the exact minimiser, here including the solver's tolerance",
    options={"method": "objective", "calibration": "tight"},
)
@claim(
    "svc-objective-published",
    "Linear support vector machine by objective perturbation, published constants",
    "[chaudhuri2011]",
    "ε at the exact minimiser, here including the solver's tolerance",
    cost="less than ε",
    options={"method": "objective", "calibration": "published"},
)
@claim(
    "svc-objective-laplace",
    "Linear support vector machine by objective perturbation with Laplace noise",
    "[antonova2016], Algorithm 7 with a K-norm noise ([awan-slavkovic2021]), derived here",
    "ε for records of L1 norm at most 1",
)
@claim(
    "svc-approximate-minima",
    "Linear support vector machine by approximate minima perturbation",
    "[kifer2012] and [iyengar2019] (constants derived here)",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "approximate-minima"},
)
@claim(
    "svc-noisy-descent",
    "Linear support vector machine by noisy gradient descent",
    "[bassily2014] and [dong2022], Corollary 3.3",
    "(ε, δ), audited at δ = 1e-5",
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@claim(
    "svc-noisy-descent-clip",
    "Linear support vector machine by noisy gradient descent, invalid input clipped",
    "derived here: a record whose label is no class adds nothing to a gradient, but counts in a public n",
    "(ε, δ), audited at δ = 1e-5",
    relations=("replace-one",),
    delta=1e-5,
    options={"method": "noisy-descent"},
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearEstimator):
    """Linear support vector machine with differential privacy, by the Huber-smoothed hinge loss.

    It releases the weights of one linear classifier (two classes) or of C one-against-the-rest classifiers. It has no
    `predict_proba`, because the hinge has no probabilities.

    Parameters
    ----------
    release : bool, default False
        No method has a secure sampler, so True raises `NoSecureSampler`.
    method : {"output", "objective", "approximate-minima", "noisy-descent"}, default "output"
        Mechanism of the release. "output" adds noise to the minimiser, "objective" to the objective. The other two use
        Gaussian noise and need δ.
    huber : float, default 0.5
        Half width h of the parabola that replaces the corner of the hinge, in [0.01, 100]. Larger values make the loss
        flatter, which spends less of ε on the determinant in objective perturbation.

    See Also
    --------
    LogisticRegression : Logistic regression with the same methods.
    LinearClassifier : Naive Bayes or a support vector machine, selected by a public rule.
    dpml.tuning.PrivateSearch : Select `reg_lambda` privately.

    Notes
    -----
    Privacy: ε = `epsilon` per fit. δ = `delta` for "approximate-minima" and "noisy-descent", otherwise 0. Relation:
    `relation`. Sensitivity: (Δ + 2τ)/λ in L2 norm for the minimiser ("output") and Δ for the gradient ("objective"), Δ
    = 1 under add/remove and 2 under replace-one.

    The hinge is replaced by a parabola for |1 - z| <= h. Its slope is then at most 1 and its curvature at most c =
    1/(2h) (Chaudhuri, Monteleoni and Sarwate 2011, Corollary 13). The proofs use only these two bounds. In
    `objective_noise` the determinant costs log(1 + c/λ), because the curvature does not vanish where the slope is near
    1. Records are scaled, and ε is divided among C > 2 classes, in the same way as in `LogisticRegression`. The
    guarantee requires that you choose `reg_lambda`, `huber` and `row_bound` without looking at the records. The proofs
    do not cover the rounding of floating-point noise.

    References
    ----------
    Chaudhuri, Monteleoni and Sarwate, "Differentially private empirical risk minimization", JMLR 12, 2011, Corollary
    13. Antonova (2016), Algorithms 6 and 7.

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
