"""`check_private_estimator` on four classifiers of diffprivlib, with public bounds, at ε = 1.

    PEER_PYTHON benchmarks/peer_conformance.py [fits]

diffprivlib 0.6.6 does not work with this project's scikit-learn. It needs an environment of its own, whose Python is
PEER_PYTHON (``pip install diffprivlib==0.6.6 "scikit-learn<1.8"`` and the dependencies of dpml). Run it in the top
folder of a checkout. The relation is "replace-one", because the library releases the exact number of records.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from dpml.testing import check_private_estimator

FITS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def main() -> None:
    from diffprivlib.models import DecisionTreeClassifier, GaussianNB, LogisticRegression, RandomForestClassifier

    warnings.simplefilter("ignore")
    y = np.arange(100) % 2
    X = np.random.default_rng(0).random((100, 2))
    bounds = ([100, 100], [101, 101])
    classifiers = [
        (GaussianNB(epsilon=1.0, bounds=bounds), X + 100),
        (LogisticRegression(epsilon=1.0, data_norm=1.0), X / 2),
        (DecisionTreeClassifier(epsilon=1.0, bounds=([0, 0], [1, 1]), classes=[0, 1]), X),
        (RandomForestClassifier(n_estimators=5, epsilon=1.0, bounds=([0, 0], [1, 1]), classes=[0, 1]), X),
    ]
    for classifier, table in classifiers:
        start = time.time()
        results = check_private_estimator(classifier, table, y, relation="replace-one", n_fits=FITS, on_fail="report")
        print(f"{type(classifier).__name__}, {FITS} fits to each table, {time.time() - start:.0f} s")
        for row in results.itertuples():
            print(f"  {row.check:16s} {row.status:8s} {row.reason}", flush=True)


if __name__ == "__main__":
    main()
