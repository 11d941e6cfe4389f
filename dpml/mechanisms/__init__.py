"""Noise and private selection: one small class for each mechanism, with its density or probabilities."""

from dpml.mechanisms.aggregate import SampleAndAggregate
from dpml.mechanisms.choice import (
    ExponentialMechanism,
    PermuteAndFlip,
    ReportNoisyMax,
    SparseVector,
    choice_epsilon,
)
from dpml.mechanisms.columns import (
    PrivateBounds,
    PrivateCategories,
    private_bounds,
    private_categories,
    private_facts,
    private_quantiles,
)
from dpml.mechanisms.noise import Gaussian, Geometric, Laplace, Staircase, gaussian_delta, gaussian_sigma
from dpml.mechanisms.norms import NormGamma, OneHotNorm
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet, isotonic
from dpml.mechanisms.smooth import cauchy_scale, smooth_sensitivity

__all__ = [
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Hierarchy",
    "IdentityRanges",
    "Laplace",
    "NormGamma",
    "OneHotNorm",
    "PermuteAndFlip",
    "PrivateBounds",
    "PrivateCategories",
    "Privelet",
    "ReportNoisyMax",
    "SampleAndAggregate",
    "SparseVector",
    "Staircase",
    "cauchy_scale",
    "choice_epsilon",
    "gaussian_delta",
    "gaussian_sigma",
    "isotonic",
    "private_bounds",
    "private_categories",
    "private_facts",
    "private_quantiles",
    "smooth_sensitivity",
]
