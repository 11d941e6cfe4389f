"""A table of two numbers, a word and a yes or no, with its schema, for the tests of MixedNB."""

import numpy as np
import pandas as pd

from dpml.classifiers import MixedNB
from dpml.schema import Feature, Schema

CITIES = ("Bern", "Oslo", "Rome")
SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=0, upper=100, missing=50),
        Feature("city", "categorical", CITIES, missing="Rome"),
        Feature("smokes"),
        Feature("height", "numeric", lower=140, upper=210),
    ),
    ("no", "yes"),
    n_lower=300,
)


def table(n=377, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(40 + 20 * y, 10), 0, 100),
            "city": np.array(CITIES, dtype=object)[np.where(rng.random(n) < 0.4, rng.integers(3, size=n), y)],
            "smokes": (rng.random(n) < 0.2 + 0.5 * y).astype(int),
            "height": np.clip(rng.normal(170 + 5 * y, 8), 140, 210),
        }
    )
    return frame, np.array(["no", "yes"])[y]


def model(epsilon=1.0, **options):
    return MixedNB(epsilon, schema=SCHEMA, **{"random_state": 0, **options})
