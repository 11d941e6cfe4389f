"""A table of customers that nobody else has, as a session would hold it, and the texts in it that must stay there."""

import numpy as np
import pandas as pd
from dpml_app import uploaded_table

from dpml.schema import Feature, Schema

# in no other file: what must show in no link, log or other session
SECRETS = ("zanzibar-plan", "quokka-count", "leaves-by-sea")
SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=18, upper=98),
        Feature("quokka-count", "numeric", lower=0, upper=9),
        Feature("plan", "categorical", ("basic", "zanzibar-plan", "student")),
    ),
    ("stays", "leaves-by-sea"),
    n_lower=500,
)


def customers(n=800, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 99, n)
    frame = pd.DataFrame({"age": age, "quokka-count": rng.integers(0, 10, n)})
    frame["plan"] = rng.choice(["basic", "zanzibar-plan"], n)
    return frame.assign(label=np.where(rng.random(n) < np.where(age < 50, 0.85, 0.15), "leaves-by-sea", "stays"))


def made(seed=0):
    return uploaded_table.make(customers(seed=seed), "label", SCHEMA, "customers.csv")
