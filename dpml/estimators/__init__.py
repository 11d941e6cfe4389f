"""The base of all private estimators, and the handling of an estimator inside a wrapper."""

from dpml.estimators.base import PrivateEstimator, has_exact_score
from dpml.estimators.inner_budget import dry_run, fit_with_inner_budget, spending_steps

__all__ = [
    "PrivateEstimator",
    "dry_run",
    "fit_with_inner_budget",
    "has_exact_score",
    "spending_steps",
]
