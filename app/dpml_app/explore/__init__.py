"""Accuracy against ε, the chosen features and the private ROC curve."""
