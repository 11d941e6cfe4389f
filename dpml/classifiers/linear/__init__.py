"""Private logistic regression and linear support vector machines, by five methods."""

from dpml.classifiers.linear.classes import release_classes
from dpml.classifiers.linear.estimators import (
    LOGISTIC_METHODS,
    SVC_METHODS,
    LinearSVC,
    LogisticRegression,
    default_linear_row_bound,
    default_reg_lambda,
    linear_models,
    release_weights,
    squared_norm_bound,
)
from dpml.classifiers.linear.perturbation import (
    CALIBRATIONS,
    minimiser,
    objective_noise,
    release_objective,
    release_output,
)
from dpml.classifiers.linear.prior import Prior, order_covariance
from dpml.classifiers.linear.solver import LOGISTIC, ClippedLogistic, HuberHinge

__all__ = [
    "CALIBRATIONS",
    "LOGISTIC",
    "LOGISTIC_METHODS",
    "SVC_METHODS",
    "ClippedLogistic",
    "HuberHinge",
    "LinearSVC",
    "LogisticRegression",
    "Prior",
    "default_linear_row_bound",
    "default_reg_lambda",
    "linear_models",
    "minimiser",
    "objective_noise",
    "order_covariance",
    "release_classes",
    "release_objective",
    "release_output",
    "release_weights",
    "squared_norm_bound",
]
