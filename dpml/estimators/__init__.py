"""The base of all private estimators, and the handling of an estimator inside a wrapper."""

from dpml.estimators.base import PrivateEstimator, study_only
from dpml.estimators.inner_budget import dry_run, fit_held, spending_steps

__all__ = [
    "PrivateEstimator",
    "dry_run",
    "fit_held",
    "spending_steps",
    "study_only",
]
