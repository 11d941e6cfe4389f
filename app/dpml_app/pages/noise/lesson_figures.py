"""Figures of noise and of what it is scaled by."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity, local_sensitivity
from dpml_app.core.lesson_figures import Figures
from dpml_app.pages.noise import compute
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.models import model
from dpml_app.pages.noise.points import LOWER, UPPER
from dpml_app.pages.noise.settings import BETA_SHARES

figure = Figures()


def _beta(s: Any) -> float:
    return BETA_SHARES[s.noise_beta] * s.noise_epsilon


@figure
def mean_noise(s: Any) -> float:
    """Return the mean size of the noise."""
    share = BETA_SHARES[s.noise_beta]
    return model(s.noise_mechanism, s.noise_epsilon, s.noise_sensitivity, s.noise_delta, share).mean_size


@figure
def lower_end(s: Any) -> float:
    """Return the lower end of the axis of points."""
    return LOWER


@figure
def number_of_points(s: Any) -> float:
    """Return how many points there are."""
    return len(points_of(s))


@figure
def worst_case(s: Any) -> float:
    """Return the global sensitivity."""
    return global_sensitivity(s.noise_statistic, LOWER, UPPER, len(points_of(s)), s.noise_relation)


@figure
def local(s: Any) -> float:
    """Return the local sensitivity of the points."""
    return local_sensitivity(s.noise_statistic, points_of(s), LOWER, UPPER, s.noise_relation)


@figure
def smooth(s: Any) -> float:
    """Return the smooth sensitivity of the points."""
    return smooth_sensitivity(s.noise_statistic, points_of(s), LOWER, UPPER, _beta(s), s.noise_relation)


@figure
def noise_for_worst_case(s: Any) -> float:
    """Return the mean size of Laplace noise for the global sensitivity."""
    return worst_case(s) / s.noise_epsilon


@figure
def noise_width(s: Any) -> float:
    """Return the scale of Cauchy noise by the smooth sensitivity: half of the draws lie within it."""
    return cauchy_scale(s.noise_epsilon, _beta(s)) * smooth(s)


@figure
def scale_of(s: Any, calibration: str) -> float:
    """Return the scale of Cauchy noise for each unit of smooth sensitivity and of 1/ε."""
    return cauchy_scale(s.noise_epsilon, _beta(s), calibration) * s.noise_epsilon


@figure
def calibration_costs(s: Any, calibration: str) -> float:
    """Return which ε is truly paid."""
    scale, beta = cauchy_scale(s.noise_epsilon, _beta(s), calibration), _beta(s)
    return float(compute.true_cost(np.array([scale]), np.array([beta]))[0])
