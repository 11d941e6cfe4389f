"""The base of all private estimators, and the handling of an estimator inside a wrapper."""

from dpml.estimators.base import PrivateEstimator
from dpml.estimators.inner_budget import spending_steps

__all__ = ["PrivateEstimator", "spending_steps"]
