"""Range sums of counts, released together and made consistent."""

from dpml.mechanisms.ranges.consistency import IntervalTree, isotonic
from dpml.mechanisms.ranges.queries import Hierarchy, IdentityRanges, Privelet

__all__ = [
    "Hierarchy",
    "IdentityRanges",
    "IntervalTree",
    "Privelet",
    "isotonic",
]
