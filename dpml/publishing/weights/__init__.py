"""Importance weights: a public table that is weighted to resemble a private one, and its baselines."""

from dpml.publishing.weights.baselines import release_answers, release_table
from dpml.publishing.weights.importance import ImportanceWeights
from dpml.publishing.weights.weighted_table import WeightedTable

__all__ = ["ImportanceWeights", "WeightedTable", "release_answers", "release_table"]
