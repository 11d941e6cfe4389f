"""Claims of range queries."""

from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method
from dpml.mechanisms.ranges import Hierarchy, IdentityRanges, Privelet

N = 6


def _ranges(make: Any):
    def case(epsilon: float, relation: str) -> Case:
        ranges = make(epsilon, N, relation)
        counts, units = np.array([4, 1, 0, 2, 5, 1]), np.eye(N, dtype=int)
        if relation == "add-remove":
            others = [counts + unit for unit in units]
        else:
            others = [counts - units[0] + unit for unit in units[1:]] + [counts - units[4] + units[5]]

        change = [np.abs(ranges.measure(other) - ranges.measure(counts)).sum() for other in others]
        return Case.of_release(
            counts,
            others[int(np.argmax(change))],
            lambda data, draws, rng: ranges.release(data, draws=draws, rng=rng),
            pasts=1,
            words="a record is added to the count that most answers include, or moves to another count",
        )

    return case


METHODS = tuple(
    Method(
        f"ranges-{name}",
        title,
        "mechanism",
        (f"dpml.mechanisms.{make.__name__}",),
        source,
        "ε, under each relation",
        _ranges(make),
    )
    for name, title, make, source in (
        ("identity", "Prefix sums of noisy counts", IdentityRanges, "[stoddard2014], definition 5"),
        (
            "privelet",
            "Prefix sums from noisy wavelet coefficients",
            Privelet,
            "[stoddard2014], sec. 4.2.1, and [xiao2011]",
        ),
        ("hierarchy", "Prefix sums from a tree of noisy sums", Hierarchy, "[hay2010]"),
    )
)
