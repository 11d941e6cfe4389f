"""A table of raw columns whose class follows from two of them."""

import numpy as np
import pandas as pd

from dpml.schema import Feature, Schema

SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=0, upper=80, levels=[[40], [20, 40, 60]]),
        Feature("pet", "categorical", ("cat", "dog", "carp"), levels=[[["cat", "dog"], ["carp"]], "each"]),
        Feature("owner"),
        Feature("noise", "numeric", lower=-1, upper=1),
    ),
    ("poor", "rich"),
)


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 80, n),
            "pet": rng.choice(["cat", "dog", "carp"], n),
            "owner": rng.integers(2, size=n),
            "noise": rng.uniform(-1, 1, n),
        }
    )
    rich = (frame["age"] >= 40) & (frame["pet"] != "carp")
    frame["wealth"] = np.where(rich ^ (rng.random(n) < 0.05), "rich", "poor")
    return frame
