"""Importance weights: a public table that is weighted to resemble a private one, and its baselines."""
