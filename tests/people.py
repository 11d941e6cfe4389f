"""A small table of people whose class depends on two attributes together."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit

from dpml.classifiers.automatic.layout import Layout
from dpml.schema import Feature, Schema

FEATURES = (
    Feature("age", "numeric", lower=0, upper=80),
    Feature("job", "categorical", ("none", "part", "full")),
    Feature("owner"),
    *(Feature(f"sex={v}", block="sex", exhaustive=True) for v in "fm"),
)
SCHEMA = Schema(FEATURES, ("no", "yes"), n_lower=3000)
THREE = Schema(FEATURES, ("no", "perhaps", "yes"), n_lower=3000)
# cut points of equal width alone, stated
EQUAL = replace(
    SCHEMA,
    features=(replace(SCHEMA.features[0], levels=[[40], [20, 40, 60], list(range(10, 80, 10))]), *SCHEMA.features[1:]),
)


def people(n=4000, seed=0, classes=2):
    """Records whose class depends on two attributes together, and a little on the others."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(0, 81, n).astype(float), "job": rng.choice(["none", "part", "full"], n)})
    table["owner"] = rng.integers(2, size=n)
    table["sex=f"] = rng.integers(2, size=n)
    table["sex=m"] = 1 - table["sex=f"]
    score = 3.0 * ((table["age"] >= 40) ^ (table["job"] == "full")) + table["owner"] - 2.0
    y = (rng.random(n) < expit(score)).astype(int)
    if classes == 3:
        y = y + (table["sex=f"].to_numpy() & y)
    return table, np.asarray((SCHEMA if classes == 2 else THREE).classes)[y]


def checked(schema=SCHEMA, **options):
    table, y = people(classes=schema.n_classes, **options)
    X, codes, schema = schema.check_table(table, y)
    return X, codes, Layout.from_schema(schema)
