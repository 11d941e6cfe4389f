"""Pruning of a released tree by the pessimistic error of C4.5. It uses released counts alone, so it costs nothing."""

import math
from typing import Any

import numpy as np

from dpml.classifiers.tree.growth import Node

# the upper quartile of the normal distribution: C4.5's confidence of 25 %
QUARTILE = 0.6744897501960817


def pessimistic_errors(counts: Any) -> float:
    """Return the upper limit, at 25% confidence, of the errors of a leaf with these class counts (Quinlan 1993)."""
    kept = np.maximum(counts, 0.0)
    n = float(kept.sum())
    if n <= 0:
        return 0.0
    share, z = 1 - float(kept.max()) / n, QUARTILE
    spread = z * math.sqrt(max(share / n - share**2 / n, 0.0) + z**2 / (4 * n**2))
    return n * (share + z**2 / (2 * n) + spread) / (1 + z**2 / n)


def pruned(node: Node) -> Node:
    """Return the tree with each split made a leaf where its leaves together are expected to err no less."""
    return _pruned(node)[0]


def _pruned(node: Node) -> tuple[Node, float]:
    own = pessimistic_errors(node.counts)
    if not node.children:
        return node, own
    below = [_pruned(child) for child in node.children]
    errors = math.fsum(error for _, error in below)
    if errors >= own:
        return Node(node.counts), own
    return Node(node.counts, node.attribute, node.child, tuple(child for child, _ in below)), errors
