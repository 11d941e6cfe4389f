"""Ratios that need no quiet machine: the sweep to a peer, to the bare matrix product, to one fit at a time; imports."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.timing import seconds
from dpml.classifiers import BernoulliNB
from dpml.datasets import Dataset, load
from dpml.studies import SelectedNBStudy
from dpml.sweep import sweep

__all__ = ["against_one_fit", "against_product", "imports", "of_the_sweep", "peer"]

EPSILONS = np.geomspace(0.01, 10, 20).round(6).tolist()
SIZES = [5, 10, 20, 40, 80, 126]
DRAWS = 200
STUDY = {"study": "naive-bayes", "data": "adult", "score": "count", "epsilon": EPSILONS, "n_features": SIZES,
         "draws": DRAWS}  # fmt: skip
PEER = """
import json, sys, time, warnings
import numpy as np
from diffprivlib.models import GaussianNB
import diffprivlib
warnings.simplefilter("ignore")
data, fits = np.load(sys.argv[1]), int(sys.argv[2])
start = time.process_time()
for seed in range(fits):
    model = GaussianNB(epsilon=1.0, bounds=(data["lower"], data["upper"]), random_state=seed)
    model.fit(data["X"], data["y"]).score(data["Xt"], data["yt"])
print(json.dumps([fits / (time.process_time() - start), diffprivlib.__version__]))
"""
IMPORTS = {
    "import dpml.classifiers": "import dpml.classifiers",
    "BernoulliNB, when it is asked for": "from dpml.classifiers import BernoulliNB",
    "all classifiers": "from dpml.classifiers import *",
    "import dpml.sweep": "import dpml.sweep",
}
PLAIN = "import sklearn.linear_model, pandas"


def of_the_sweep(jobs: int) -> tuple[float, Iterator[tuple[str, str, str]]]:
    """Return fits a processor second of the sweep in one process, and its rows."""
    start, busy = time.perf_counter(), time.process_time()
    fits = len(sweep(STUDY))
    busy, took = time.process_time() - busy, time.perf_counter() - start
    start = time.perf_counter()
    sweep(STUDY, n_jobs=jobs)
    both = time.perf_counter() - start
    size = f"{fits:,} selections, fits and scorings of adult's 16,281 test rows"
    found = [
        ("the sweep, one process", f"{took:.1f} s ({busy:.1f} s of the processor)", size),
        (f"the sweep, {jobs} processes", f"{both:.1f} s", "with their start"),
    ]
    return fits / busy, iter(found)


def peer(python: str, ours: float, fits: int = 30) -> Iterator[tuple[str, str, str]]:
    """Yield the throughput relative to diffprivlib's GaussianNB on adult's six numbers."""
    data = load("adult")
    assert data.frame_schema is not None
    numbers = [f for f in data.frame_schema.features if f.kind == "numeric"]
    frame = data.frame[[f.name for f in numbers]].to_numpy(dtype=float)
    n = len(data.y_train)
    bounds = {"lower": [f.lower for f in numbers], "upper": [f.upper for f in numbers]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.npz"
        np.savez(path, X=frame[:n], y=data.y_train, Xt=frame[n:], yt=data.y_test, **bounds)
        run = subprocess.run([python, "-c", PEER, path, str(fits)], check=True, capture_output=True, text=True)
    theirs, version = json.loads(run.stdout)
    what = f"{ours:,.0f} and {theirs:.1f} fits and scorings a second of one processor; six numbers, version {version}"
    yield "throughput, the sweep to diffprivlib's GaussianNB", f"{ours / theirs:,.0f} ×", what


def against_product() -> Iterator[tuple[str, str, str]]:
    """Yield the time of a thousand selected and fitted models relative to the product that scores them."""
    data = load("adult")
    study = SelectedNBStudy(data, "count")
    weights = np.random.default_rng(0).normal(size=(1000, data.schema.n_features))
    X = data.X_test
    product, whole = seconds(
        lambda: weights @ X.T, lambda: study(0.1, draws=1000, rng=np.random.default_rng(0), n_features=20), least=0.2
    )
    yield "1,000 models of adult to the bare matrix product", f"{whole / product:.2f} ×", f"{1e3 * product:.0f} ms"


def against_one_fit() -> Iterator[tuple[str, str, str]]:
    """Yield a fit and a scoring by the estimator, relative to one draw of the study."""
    data = load("adult")
    study = SelectedNBStudy(data, "count")
    model = BernoulliNB(1.0, method="published", schema=data.schema, random_state=0)
    one, batch = seconds(lambda: _fitted(model, data), lambda: _drawn(study, data), repeats=3, least=0.2)
    yield "one fit at a time to a draw of the study", f"{200 * one / batch:,.0f} ×", f"{1e3 * one:.0f} ms a fit"


def _fitted(model: BernoulliNB, data: Dataset) -> float:
    return model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)


def _drawn(study: SelectedNBStudy, data: Dataset) -> object:
    return study(1.0, draws=200, rng=np.random.default_rng(0), n_features=data.schema.n_features)


def imports(repeats: int = 7) -> Iterator[tuple[str, str, str]]:
    """Yield import times relative to those of scikit-learn's linear models and pandas."""
    programs = {"plain": PLAIN, **IMPORTS}
    best = dict.fromkeys(programs, np.inf)
    for _ in range(repeats):
        for name, program in programs.items():
            text = f"import time; s = time.process_time()\n{program}\nprint(time.process_time() - s)"
            run = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
            best[name] = min(best[name], float(run.stdout))
    for name in IMPORTS:
        yield name, f"{best[name] / best['plain']:.2f} ×", f"{PLAIN}: {best['plain']:.2f} s of the processor"
