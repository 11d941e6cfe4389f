"""Tables of people with pets, for the tests of importance weights."""

import numpy as np
import pandas as pd

from dpml.schema import Feature, Schema

PETS = Schema(
    (
        Feature("pet", "categorical", ("cat", "dog", "hen")),
        Feature("age", "numeric", lower=0, upper=80),
        Feature("rich"),
        Feature("poor"),
    )
)


def people(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pet": rng.choice(["cat", "dog", "hen"], n, p=[0.5 - shift, 0.3, 0.2 + shift]),
            "age": rng.uniform(80 * shift, 80, n),
            "rich": (rng.random(n) < 0.3 + shift).astype(int),
            "poor": (rng.random(n) < 0.5).astype(int),
        }
    )
