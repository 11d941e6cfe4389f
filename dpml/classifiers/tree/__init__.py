"""Private decision trees."""

from dpml.classifiers.tree.estimators import DiffPC45, DiffPID3
from dpml.classifiers.tree.growth import CRITERIA, Node, release_tree, split_range, split_score
from dpml.classifiers.tree.pruning import pruned

__all__ = ["CRITERIA", "DiffPC45", "DiffPID3", "Node", "pruned", "release_tree", "split_range", "split_score"]
