"""Private decision trees."""

from dpml.classifiers.tree.decision_trees import (
    CRITERIA,
    DiffPC45,
    DiffPID3,
    Node,
    pruned,
    release_tree,
    split_range,
    split_score,
)
from dpml.classifiers.tree.random_trees import RandomTree, RandomTrees, default_depth, random_tree

__all__ = [
    "CRITERIA",
    "DiffPC45",
    "DiffPID3",
    "Node",
    "RandomTree",
    "RandomTrees",
    "default_depth",
    "pruned",
    "random_tree",
    "release_tree",
    "split_range",
    "split_score",
]
