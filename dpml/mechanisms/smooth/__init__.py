"""Smooth sensitivity: the largest change of a statistic by one record near the given data, and noise scaled by it."""

from dpml.mechanisms.smooth.admissible import (
    ArsinhNormal,
    Cauchy,
    Claim,
    LaplaceLogNormal,
    SmoothGaussian,
    SmoothLaplace,
    SmoothNoise,
    StudentT,
    UniformLogNormal,
    cauchy_scale,
)
from dpml.mechanisms.smooth.sensitivity import (
    KINDS,
    SensitivityEnvelope,
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)

__all__ = [
    "KINDS",
    "ArsinhNormal",
    "Cauchy",
    "Claim",
    "LaplaceLogNormal",
    "SensitivityEnvelope",
    "SmoothGaussian",
    "SmoothLaplace",
    "SmoothNoise",
    "StudentT",
    "UniformLogNormal",
    "cauchy_scale",
    "global_sensitivity",
    "local_sensitivity",
    "sensitivity_envelope",
    "smooth_sensitivity",
    "statistic",
]
