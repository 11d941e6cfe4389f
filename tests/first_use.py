"""What a new user brings and takes away, on the pages and by clicks: a table with gaps, and a model for elsewhere."""

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import uploaded_tables

MOST_ACTIONS = 25
# a process that knows nothing of the session
ELSEWHERE = """
import sys
import joblib, pandas as pd
model, table, predicted = sys.argv[1:]
pd.Series(joblib.load(model).predict(pd.read_csv(table))).to_csv(predicted, index=False)
"""


def with_gaps(seed=0):
    """Numbers, categories and gaps, in so many records that secure noise, which has no seed, hides no class."""
    frame = uploaded_tables.customers(4_000, seed)
    frame["age"] = frame["age"].astype(float)
    frame.loc[::10, "age"] = np.nan
    frame.loc[3::10, "plan"] = None
    return frame


def check_elsewhere(model, folder):
    """Check that another process predicts with a saved model what this one does, and both classes."""
    fresh, predicted = folder / "fresh.csv", folder / "predicted.csv"
    with_gaps(seed=7).drop(columns="label").to_csv(fresh, index=False)
    subprocess.run([sys.executable, "-W", "ignore", "-c", ELSEWHERE, model, fresh, predicted], check=True, timeout=120)
    here = joblib.load(model).predict(pd.read_csv(fresh))
    there = pd.read_csv(predicted).iloc[:, 0].to_numpy()
    assert list(here) == list(there)
    assert len(set(here)) == 2
