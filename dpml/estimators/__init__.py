"""The base of all private estimators, and the handling of an estimator inside a wrapper."""

from dpml.estimators.base import PrivateEstimator, study_only
from dpml.estimators.inner_budget import fit_held, rehearse, spending_steps

__all__ = [
    "PrivateEstimator",
    "fit_held",
    "rehearse",
    "spending_steps",
    "study_only",
]
