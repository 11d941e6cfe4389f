"""What every private estimator shares, and what a wrapper does with an estimator that it holds."""

from dpml.estimators.base import PrivateEstimator, study_only
from dpml.estimators.purse import fit_held, rehearse, spending_steps

__all__ = [
    "PrivateEstimator",
    "fit_held",
    "rehearse",
    "spending_steps",
    "study_only",
]
