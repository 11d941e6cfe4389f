"""Private logistic regression and linear support vector machines, by five methods."""

from dpml.classifiers.linear._classes import release_classes
from dpml.classifiers.linear._losses import ClippedLogistic
from dpml.classifiers.linear.estimators import (
    CALIBRATIONS,
    LOGISTIC,
    LOGISTIC_METHODS,
    SVC_METHODS,
    HuberHinge,
    LinearSVC,
    LogisticRegression,
    default_linear_row_bound,
    default_reg_lambda,
    linear_models,
    minimiser,
    objective_noise,
    release_objective,
    release_output,
    release_weights,
    squared_norm_bound,
)

__all__ = [
    "CALIBRATIONS",
    "LOGISTIC",
    "LOGISTIC_METHODS",
    "SVC_METHODS",
    "ClippedLogistic",
    "HuberHinge",
    "LinearSVC",
    "LogisticRegression",
    "default_linear_row_bound",
    "default_reg_lambda",
    "linear_models",
    "minimiser",
    "objective_noise",
    "release_classes",
    "release_objective",
    "release_output",
    "release_weights",
    "squared_norm_bound",
]
