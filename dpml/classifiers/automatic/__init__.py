"""The default classifier, and the parts that it is made of."""

from dpml.classifiers.automatic.classifier import AutoClassifier
from dpml.classifiers.automatic.layout import Layout, default_n_cells, histograms, quantile_levels, release_histograms
from dpml.classifiers.automatic.plan import Plan, asks_density, default_plan
from dpml.classifiers.automatic.tables import TableModel, release_table
from dpml.classifiers.automatic.words import release_words, shrunken_models

__all__ = [
    "AutoClassifier",
    "Layout",
    "Plan",
    "TableModel",
    "asks_density",
    "default_n_cells",
    "default_plan",
    "histograms",
    "quantile_levels",
    "release_histograms",
    "release_table",
    "release_words",
    "shrunken_models",
]
