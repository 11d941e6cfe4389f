"""Noise and private selection: one small class for each mechanism, with its density or probabilities."""

from dpml.mechanisms.aggregate import SampleAndAggregate
from dpml.mechanisms.choice import (
    ClampedLikelihood,
    ExponentialMechanism,
    PermuteAndFlip,
    ReportNoisyMax,
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
from dpml.mechanisms.discrete import Geometric, Staircase
from dpml.mechanisms.gaussian import Gaussian, gaussian_delta, gaussian_sigma
from dpml.mechanisms.laplace import Laplace
from dpml.mechanisms.norm import NormGamma
from dpml.mechanisms.one_hot import OneHotNorm
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet
from dpml.mechanisms.ranges.consistency import isotonic
from dpml.mechanisms.smooth import smooth_sensitivity
from dpml.mechanisms.smooth.admissible import cauchy_scale
from dpml.mechanisms.sparse_vector import SparseVector, above_threshold

__all__ = [
    "ClampedLikelihood",
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
    "above_threshold",
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
