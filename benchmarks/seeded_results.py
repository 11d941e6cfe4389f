"""Hashes of seeded results of public calls, to compare two states of the library to the bit.

``PYTHONPATH=.:tests python benchmarks/seeded_results.py OUT.json`` fits every public estimator to five small tables
with its methods, scores, norms and relations at two ε, and calls every function of `dpml.evaluation` and some of
`dpml.selection` and `dpml.mechanisms`. What a call returns is hashed. Where it raises, the error and the beginning of
its message count. ``--compare BEFORE.json AFTER.json`` prints the calls whose results differ.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from public_estimators import KINDS, NEEDED, QUICK
from scipy import sparse

import dpml.mechanisms as mechanisms
from dpml import evaluation, selection
from dpml.classifiers import BernoulliNB
from dpml.publishing import ImportanceWeights
from dpml.schema import Feature, Schema

# values that are tried for each of these parameters; an estimator takes those that it knows
TRIED = {
    "method": (
        "published partitioned row-bounded global smooth bun-steinke vaidya binned objective functional noisy-descent "
        "output approximate-minima permute-and-flip "
        "joint peeling one-shot iterative clusters threshold-testing noisy-cut "
        "exponential stability random-stopping"
    ),
    "score": "mutual_information total_count count difference_count gain max",
    "relation": "replace-one",
    "norm": "l1",
    "noise": "laplace student-t",
    "consistency": "total floor",
}
WITH_DELTA = {"noisy-descent", "approximate-minima", "laplace"}
N = 300


def plain(value: Any, depth: int = 0) -> Any:
    """Return what a result holds as lists and texts, floats to their last bit."""
    if depth > 6 or value is None or isinstance(value, (bool, int, str, bytes)):
        return "..." if depth > 6 else repr(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [value.dtype.kind, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, np.generic):
        return repr(value.item())
    if sparse.issparse(value):
        return plain(value.toarray(), depth)
    if isinstance(value, pd.DataFrame):
        return [[str(name), plain(value[name].to_numpy(), depth + 1)] for name in value]
    if isinstance(value, dict):
        return [[str(name), plain(part, depth + 1)] for name, part in value.items()]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part, depth + 1) for part in value]
    if isinstance(value, (Schema, Feature)):
        return value.to_json() if isinstance(value, Schema) else value.name
    if hasattr(value, "__dataclass_fields__"):
        return [[name, plain(getattr(value, name), depth + 1)] for name in sorted(f.name for f in fields(value))]
    return type(value).__name__


def hashed(call: Callable[[], Any]) -> str:
    """Return the hash of a call's result, or its error."""
    try:
        return hashlib.sha256(json.dumps(plain(call())).encode()).hexdigest()[:16]
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:60]}"


def tables() -> dict[str, tuple[Any, Any, Schema]]:
    """Return tables, labels and schemas by name."""
    rng = np.random.default_rng(5)
    X = (rng.random((N, 6)) < 0.4).astype(float)
    y = (X[:, 0] + rng.random(N) > 0.9).astype(int)
    numbers = {"age": rng.integers(0, 100, N).astype(float)}
    numbers["zero"] = np.where(rng.random(N) < 0.7, 0, rng.exponential(5, N).clip(0, 50))
    frame = pd.DataFrame({**numbers, "flag": rng.integers(0, 2, N), "word": rng.choice(list("uvw"), N)})
    labels = np.array(["a", "b", "c"])[(frame["age"] > 30).astype(int) + (frame["age"] > 70)]
    features = (
        Feature("age", "numeric", lower=0, upper=120),
        Feature("zero", "numeric", lower=0, upper=50),
        Feature("flag"),
        Feature("word", "categorical", categories=("u", "v", "w")),
    )
    binary = Schema.binary(6, n_lower=100)
    return {
        "binary": (X, y, binary),
        "sparse": (sparse.csr_array(X), y, binary),
        "wide": (np.tile(X, (1, 5)), y, Schema.binary(30, n_lower=100)),
        "mixed": (frame, labels, Schema(features, ("a", "b", "c"), n_lower=100)),
        "two classes": (frame, np.where(labels == "a", "a", "b"), Schema(features, ("a", "b"), n_lower=100)),
    }


def of_estimators() -> dict[str, str]:
    """Return hashes of fits, predictions, probabilities, choices and published tables."""
    results: dict[str, str] = {}
    for name, kind in KINDS.items():
        known = inspect.signature(kind).parameters
        variants = [{}, *({key: value} for key in TRIED if key in known for value in TRIED[key].split())]
        for epsilon in (0.3, 3.0):
            for table, (X, y, schema) in tables().items():
                for variant in variants:
                    options = {**NEEDED.get(name, {}), **QUICK.get(name, {}), **variant}
                    if WITH_DELTA & set(variant.values()):
                        options["delta"] = 1e-5
                    label = f"{name}, {epsilon}, {table}, {variant}"
                    try:
                        model = kind(epsilon=epsilon, schema=schema, random_state=7, on_invalid="clip", **options).fit(
                            X, y
                        )
                    except Exception as error:
                        results[label] = f"{type(error).__name__}: {str(error)[:60]}"
                        continue
                    learned = {k: v for k, v in sorted(vars(model).items()) if k.endswith("_") and k[0] != "_"}
                    results[f"{label}: fit"] = hashed(lambda learned=learned: learned)
                    for step, arguments in {
                        "predict": (X,), "predict_proba": (X,), "transform": (X,), "get_support": (), "sample": (50,)
                    }.items():  # fmt: skip
                        if hasattr(model, step):
                            results[f"{label}: {step}"] = hashed(lambda m=model, s=step, a=arguments: getattr(m, s)(*a))
    return results


def of_functions() -> dict[str, str]:
    """Return hashes of what functions and mechanisms return."""
    X, y, schema = tables()["binary"]
    score = np.random.default_rng(6).random(N)
    results = {}
    for name in evaluation.__all__:
        function = getattr(evaluation, name)
        if not inspect.isfunction(function):
            continue
        for arguments in ((y, score, 1.0), (y, score), (y, score > 0.5, 1.0), (y, score, score**2, 1.0)):
            for options in ({}, {"relation": "replace-one"}, {"draws": 3}):
                label = f"{name}, {len(arguments)} arguments, {arguments[1].dtype.kind}, {options}"
                rng = {"rng": np.random.default_rng(11)} if "rng" in inspect.signature(function).parameters else {}
                results[label] = hashed(lambda f=function, a=arguments, o=options, r=rng: f(*a, **r, **o))
    model = BernoulliNB(1.0, schema=schema)
    results["private_cross_val_score"] = hashed(
        lambda: evaluation.private_cross_val_score(model, X, y, 1.0, rng=np.random.default_rng(11))
    )
    for kind in ("total_count", "difference_count", "count", "mutual_information"):
        results[f"scores, {kind}"] = hashed(lambda kind=kind: selection.scores(X, y, kind))
    for method in ("output", "objective", "moments"):
        weights = ImportanceWeights(1.0, 0.1, method=method, schema=schema, random_state=3)
        results[f"ImportanceWeights, {method}"] = hashed(lambda w=weights: w.fit(X, X[:100]).weights(X[:50]))
    values = np.array([1.0, 5.0, 9.0])
    for mechanism in (
        mechanisms.Laplace(0.5),
        mechanisms.Geometric(0.5, 1),
        mechanisms.Staircase(0.5),
        mechanisms.Gaussian(0.5, 1e-5),
        mechanisms.NormGamma(0.5, 1.0, 3),
        mechanisms.ExponentialMechanism(1.0, 1.0),
        mechanisms.PermuteAndFlip(1.0, 1.0),
        mechanisms.ReportNoisyMax(1.0, 1.0, "laplace"),
    ):
        results[type(mechanism).__name__] = hashed(
            lambda m=mechanism: [m.release(values, rng=np.random.default_rng(11), draws=k) for k in (None, 3)]
        )
    return results


def main() -> None:
    """Write the hashes, or print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--compare", action="store_true", help="two files: print the calls that differ")
    asked = parser.parse_args()
    if asked.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in asked.files)
        differing = [label for label in before if before[label] != after.get(label)]
        returned = sum(":" not in value for value in before.values())
        print(f"{len(before)} calls, {returned} of which return; {len(differing)} differ")
        print(*differing, sep="\n")
        return
    warnings.simplefilter("ignore")
    results = of_estimators() | of_functions()
    asked.files[0].write_text(json.dumps(results, indent=0), encoding="utf-8")
    print(f"{len(results)} calls")


if __name__ == "__main__":
    main()
