"""Differentially private classification on real tables."""

__version__ = "0.1.0"
