"""Peers on the same sets: logistic regression by DP-SGD, on a table of MST, and interpret's and diffprivlib's models.

`compare` returns the rows for `accuracy_auto.py --peers`. The column `delta` says which use a δ: DP-SGD and interpret.
DP-SGD needs the extra `accounting`, MST the extra `graphical`. interpret and diffprivlib are no dependencies of this
project (`pip install interpret-core`; diffprivlib 0.6.6 needs an environment with scikit-learn below 1.8). What is not
installed is left out, and a line says so.
"""

from __future__ import annotations

import importlib.util
import logging
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from auto_sets import JudgedSet, judged_set
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

DELTA = 1e-5
BATCH, EPOCHS, RATE = 256, 10, 4.0


@cache
def noise_multiplier(epsilon: float, sampling: float, steps: int) -> float:
    """Return σ of DP-SGD by dp-accounting's Rényi accountant: Poisson samples, add/remove-one."""
    from dp_accounting import LowerEndpointAndGuess, calibrate_dp_mechanism, dp_event
    from dp_accounting.rdp import RdpAccountant

    logging.getLogger("absl").setLevel(logging.ERROR)  # it names orders that it leaves out

    def event(sigma: float) -> Any:
        step = dp_event.PoissonSampledDpEvent(sampling, dp_event.GaussianDpEvent(sigma))
        return dp_event.SelfComposedDpEvent(step, steps)

    return float(calibrate_dp_mechanism(RdpAccountant, event, epsilon, DELTA, LowerEndpointAndGuess(0.3, 2.0)))


def dp_sgd(data: JudgedSet, epsilon: float, seed: int) -> np.ndarray:
    """Return probabilities of softmax regression by DP-SGD: records of length at most 1."""
    rng = np.random.default_rng(seed)
    X, test = unit_records(data)
    y, C = data.schema.check_labels(data.y_train), data.schema.n_classes
    # q uses the public number, so that the guarantee does not depend on the private one
    sampling = min(BATCH / data.schema.n_lower, 1.0)
    steps = int(np.ceil(EPOCHS / sampling))
    sigma = noise_multiplier(epsilon, sampling, steps)
    theta = np.zeros((X.shape[1], C))
    total = np.zeros_like(theta)
    targets = np.eye(C)[y]
    bound = np.sqrt(2.0)  # of ‖p - y‖₂ for softmax, times a length of at most 1: nothing is left to clip
    for step in range(steps):
        batch = np.flatnonzero(rng.random(X.shape[0]) < sampling)
        rows = X[batch]
        pull = softmax(rows @ theta, axis=1) - targets[batch]
        gradient = rows.T @ pull + rng.normal(scale=bound * sigma, size=theta.shape)
        theta -= RATE * gradient / BATCH
        if step >= steps // 2:
            total += theta
    return softmax(test @ (total / (steps - steps // 2)), axis=1)


@cache
def unit_records(data: JudgedSet) -> tuple[Any, Any]:
    """Return training and test records with a constant, each divided by its own length."""
    parts = [data.train, data.test]
    if data.encoding is not None:
        parts = [data.encoding.transform(part) for part in parts]
    scaled = []
    for part in parts:
        table = sparse.csr_array(part, dtype=float)
        norms = np.sqrt(np.asarray(table.sum(axis=1)).ravel() + 1)
        table = sparse.hstack([table, sparse.csr_array(np.ones((table.shape[0], 1)))], format="csr")
        scaled.append(sparse.csr_array(sparse.diags_array(1 / norms) @ table))
    return scaled[0], scaled[1]


def private_ebm(data: JudgedSet, epsilon: float, seed: int) -> np.ndarray:
    """Return probabilities of interpret's private explainable boosting machine, with the schema's bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["continuous" if f.kind == "numeric" else "nominal" for f in data.schema.features]
    bounds = {f.name: (f.lower, f.upper) for f in data.schema.features if f.kind == "numeric"}
    facts: dict[str, Any] = {"feature_types": kinds, "feature_names": data.schema.feature_names}
    model = DPExplainableBoostingClassifier(
        epsilon=epsilon, delta=DELTA, random_state=seed, privacy_bounds=bounds, **facts
    )
    train, test = (as_text(data, part) for part in (data.train, data.test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed, which makes this a study
        return model.fit(train, data.schema.check_labels(data.y_train)).predict_proba(test)


def as_text(data: JudgedSet, part: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its categories as text and its numbers within their bounds."""
    clean, _ = data.schema.check_features(part, "clip")
    numeric = {f.name for f in data.schema.features if f.kind == "numeric"}
    # interpret does not take pandas' own type of text
    return pd.DataFrame({c: clean[c] if c in numeric else clean[c].astype(str).astype(object) for c in clean.columns})


def diffprivlib_model(data: JudgedSet, epsilon: float, seed: int) -> np.ndarray:
    """Return probabilities of diffprivlib's logistic regression on unit records; its claim has no δ."""
    from diffprivlib.models import LogisticRegression

    train, test = unit_records(data)
    model = LogisticRegression(epsilon=epsilon, data_norm=1.0, random_state=seed, max_iter=300)
    model = model.fit(train.toarray(), data.schema.check_labels(data.y_train))
    return with_all_classes(model, test.toarray(), data.schema.n_classes)


def with_all_classes(model: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return the probabilities of a model that may not have seen all classes."""
    found = np.full((X.shape[0], n_classes), 1e-9)
    found[:, model.classes_] = model.predict_proba(X)
    return found


def mst_model(data: JudgedSet, epsilon: float, seed: int) -> np.ndarray:
    """Return probabilities of logistic regression, without noise, on the records of a table that MST published."""
    from dpml.publishing.graphical import MST

    assert data.encoding is not None
    model = MST(epsilon, schema=data.schema, on_invalid="clip", random_state=seed).fit(data.train, data.y_train)
    published = model.sample(data.schema.n_lower)
    y = data.schema.check_labels(published.pop(model.label_name_).to_numpy())
    found = np.full((len(data.y_test), data.schema.n_classes), 1e-9)
    if len(np.unique(y)) < 2:
        found[:, y[0]] = 1.0
        return found
    X, test = (data.encoding.transform(part) for part in (published, data.test))
    return with_all_classes(PlainLogistic(max_iter=300).fit(X, y), test, data.schema.n_classes)


PEERS: dict[str, tuple[str, float, Callable[..., np.ndarray]]] = {
    "DP-SGD, logistic regression": ("dp_accounting", DELTA, dp_sgd),
    "interpret, private EBM": ("interpret", DELTA, private_ebm),
    "diffprivlib, logistic regression": ("diffprivlib", 0.0, diffprivlib_model),
    "MST, logistic regression": ("mbi", 0.0, mst_model),
}


def runs_on(name: str, data: JudgedSet) -> bool:
    """Whether a peer takes a set: the EBM tables of two classes, diffprivlib's dense records, MST tables."""
    if name.startswith("interpret"):
        return data.encoding is not None and data.schema.n_classes == 2
    if name.startswith("MST"):
        return data.encoding is not None
    return not (name.startswith("diffprivlib") and data.schema.n_features > 1000)


def measured(data: JudgedSet, predict: Callable[..., np.ndarray], epsilon: float, draws: int) -> dict[str, list]:
    """Return accuracy, AUC of two classes, balanced accuracy and log loss of each draw, and its seconds."""
    y = data.schema.check_labels(data.y_test)
    found: dict[str, list] = {"accuracy": [], "auc": [], "balanced_accuracy": [], "log_loss": [], "seconds": []}
    for seed in range(draws):
        begun = time.perf_counter()
        p = predict(data, epsilon, seed)
        found["seconds"].append(time.perf_counter() - begun)
        guess = p.argmax(axis=1)
        found["accuracy"].append(float((guess == y).mean()))
        found["auc"].append(float(roc_auc_score(y, p[:, 1])) if p.shape[1] == 2 else np.nan)
        found["balanced_accuracy"].append(float(balanced_accuracy_score(y, guess)))
        found["log_loss"].append(float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-6)).mean()))
    return found


def installed(names: Sequence[str]) -> list[str]:
    """Return the peers that are installed, and say which are not."""
    there = [peer for peer in names if importlib.util.find_spec(PEERS[peer][0]) is not None]
    for peer in names:
        if peer not in there:
            print(f"{peer}: skipped, for {PEERS[peer][0]} is not installed")
    return there


def compare(
    names: Sequence[str], epsilons: Sequence[float], draws: int = 5, peers: Sequence[str] = tuple(PEERS)
) -> pd.DataFrame:
    """Return accuracy, AUC, balanced accuracy and log loss of each peer that is installed, per set and ε."""
    rows = []
    for peer in installed(peers):
        _, delta, predict = PEERS[peer]
        for name in names:
            data = judged_set(name)
            if not runs_on(peer, data):
                continue
            cells = []
            for epsilon in epsilons:
                found = {
                    measure: np.array(values) for measure, values in measured(data, predict, epsilon, draws).items()
                }
                accuracy = 100 * found["accuracy"]
                rows.append(
                    {
                        "set": name,
                        "epsilon": epsilon,
                        "method": peer,
                        "majority": 100 * data.majority,
                        "accuracy": accuracy.mean(),
                        "standard_error": accuracy.std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan,
                        "auc": found["auc"].mean(),
                        "balanced_accuracy": 100 * found["balanced_accuracy"].mean(),
                        "log_loss": found["log_loss"].mean(),
                        "seconds": found["seconds"].mean(),
                        "delta": delta,
                    }
                )
                cells.append(f"{accuracy.mean():5.1f} ({rows[-1]['standard_error']:.1f}) {rows[-1]['auc']:.3f}")
            print(f"{peer:34s}{name:12s}" + "  ".join(cells) + f"   {rows[-1]['seconds']:.1f} s", flush=True)
    return pd.DataFrame(rows)
