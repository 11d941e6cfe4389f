"""A table of customers with numbers, categories and gaps, and cells that must show in nothing that is released."""

import datetime

import numpy as np
import pandas as pd

from dpml.release import Plan
from dpml.schema import Feature, Schema

# every file of a release, in the order of their names
FILES = [
    "README.md",
    "evaluation.json",
    "ledger.json",
    "manifest.json",
    "model.joblib",
    "model.json",
    "schema.yaml",
    "score.py",
    "statement.html",
    "table.csv",
]

SHARES = {"training": 0.6, "evaluation": 0.2, "publishing": 0.2}
DATE = datetime.date(2026, 11, 22)
# in the cells of the table alone: no fact of the schema has it
CANARY = "zq-canary-77123"
SCHEMA = Schema(
    (
        Feature("age", "numeric", lower=0, upper=120),
        Feature("plan", "categorical", ("basic", "family", "=business")),
        Feature("spent", "numeric", lower=0, upper=300, missing=40),
    ),
    ("no", "yes"),
    n_lower=300,
    ignored=("customer",),
)


def customers(n=400, seed=0):
    """Return records of which the last has a canary in every cell that can hold one."""
    rng = np.random.default_rng(seed)
    age, plan = rng.integers(18, 91, n), rng.choice(["basic", "family", "=business"], n)
    spent = np.where(rng.random(n) < 0.05, np.nan, rng.uniform(0, 300, n).round(2))
    leaves = rng.random(n) < np.where((age < 45) & (plan == "basic"), 0.9, 0.1)
    table = pd.DataFrame({"customer": [f"{CANARY}-{i}" for i in range(n)], "age": age, "plan": plan, "spent": spent})
    table = table.assign(left=np.where(leaves, "yes", "no")).astype(object)
    return pd.concat([table, pd.DataFrame([dict.fromkeys(table, CANARY)], dtype=object)], ignore_index=True)


def without_label(table):
    return table.drop(columns="left"), table["left"]


def files_without(*names):
    """Return the files of a release that leaves out what these hold."""
    return [file for file in FILES if file not in names]


def demonstrated(n=400, epsilon=1.0, seed=0, schema=SCHEMA, **options):
    plan = Plan(schema, epsilon, **{"shares": SHARES, "max_grids": 40, **options})
    return plan.run(*without_label(customers(n)), secure=False, random_state=seed)
