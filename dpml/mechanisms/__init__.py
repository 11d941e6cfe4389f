"""Noise and private choice: one small class a mechanism, each with its density or probabilities."""

from dpml.mechanisms.additive import Laplace
from dpml.mechanisms.choice import ExponentialMechanism
from dpml.mechanisms.norm import NormGamma

__all__ = ["ExponentialMechanism", "Laplace", "NormGamma"]
