"""Antonova (2016), chapter 4: selection before private logistic regression."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.papers.measured import Experiment, Measured
from benchmarks.papers.splits import Found, runs
from dpml.classifiers.linear import default_reg_lambda, linear_models, release_weights
from dpml.encoding import unit_scale
from dpml.selection import MaskSelector
from dpml.studies import SelectedNBStudy

SIZES = (1, 2, 3, 5, 10, 20, 40, 60)
EPSILON = 0.1
# the grid of Antonova (2016), section 4.5.1, where 1 stands for 10⁻³ to 1: Algorithm 7 replaces small λ by one constant
LAMBDAS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
# accuracy with all features, Table 4.2 (objective perturbation) and the text of section 4.6; the quickest sets first
WITH_ALL_FEATURES = {
    "xwindows": 50.0,
    "mushrooms": 50.0,
    "newsgroup1": 56.0,
    "newsgroup2": 81.0,
    "newsgroup3": 82.0,
    "adult": 76.0,
}
SCORES = {"count": "count heuristic", "mutual_information": "mutual information"}


def centred_records(X: Any, features: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return columns scaled to [-1, 1] and a constant column, divided so that each record has norm 1 (section A.8)."""
    columns = 2.0 * sparse.csr_array(X)[:, features].toarray() - 1
    return np.column_stack([columns, np.ones(len(columns))]) / np.sqrt(len(features) + 1)


def published_accuracies(
    dataset: Any, features: NDArray[np.intp], epsilon: float, draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return test accuracies (λ, draws) of Algorithm 7 as printed, for all λ of the grid."""
    train, test = (centred_records(X, features) for X in (dataset.X_train, dataset.X_test))
    options: dict[str, Any] = {"method": "objective", "calibration": "published", "draws": draws, "rng": rng}
    weights = [release_weights(train, dataset.y_train, 2, epsilon, value, **options)[:, 0] for value in LAMBDAS]
    predicted = np.einsum("nd,lrd->lrn", test, np.array(weights)) > 0
    return np.mean(predicted == dataset.y_test, axis=2)


def logistic_accuracy(
    dataset: Any,
    features: NDArray[np.intp],
    epsilon: float,
    *,
    reg_lambda: float | None,
    calibration: str,
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return test accuracies of objective perturbation (Algorithm 7) on some features; no λ: the public rule."""
    bound = min(len(features), dataset.schema.row_bound)
    if reg_lambda is None:
        reg_lambda = default_reg_lambda(epsilon, len(features) + 1, method="objective")
    records = unit_scale(dataset.X_train[:, features], bound)
    options: dict[str, Any] = {"method": "objective", "calibration": calibration, "draws": draws, "rng": rng}
    theta = release_weights(records, dataset.y_train, 2, epsilon, reg_lambda, **options)
    return linear_models(theta, bound).accuracy(dataset.X_test[:, features], dataset.y_test)


def _accuracies(dataset: Any, rng: np.random.Generator) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each setting of Fig. 4.2 with the accuracy of one model for each λ of the grid, or by the public rule."""
    name = dataset.name
    yield f"{name}, all features", published_accuracies(dataset, np.arange(dataset.schema.n_features), EPSILON, 1, rng)
    counts = SelectedNBStudy(dataset).counts
    ranked = np.argsort(-SelectedNBStudy(dataset, "mutual_information").scores, kind="stable")
    for T in SIZES:
        yield f"{name}, T = {T}, true mutual information", published_accuracies(dataset, ranked[:T], EPSILON, 1, rng)
        for score, label in SCORES.items():
            selector = MaskSelector(EPSILON / 2, T, score, calibration="published")
            [mask] = selector.masks(counts, dataset.schema, draws=1, rng=rng)
            accuracies = published_accuracies(dataset, np.flatnonzero(mask), EPSILON / 2, 1, rng)
            yield f"{name}, T = {T}, {label}, published weights", accuracies
        [mask] = MaskSelector(EPSILON / 2, T, "count").masks(counts, dataset.schema, draws=1, rng=rng)
        repaired: dict[str, Any] = {"reg_lambda": None, "calibration": "tight", "draws": 1, "rng": rng}
        accuracies = logistic_accuracy(dataset, np.flatnonzero(mask), EPSILON / 2, **repaired)
        yield f"{name}, T = {T}, count heuristic, all repaired", accuracies


@cache
def selected(name: str, draws: int, random_state: int) -> tuple[Found, dict[str, str]]:
    """Return the accuracies of a data set, one model a run, and the key of each setting at its best λ in hindsight."""
    found, keys = Found(), {}
    for dataset, rng in runs(name, draws, random_state):
        for setting, accuracies in _accuracies(dataset, rng):
            keys[setting] = [f"{setting}, {place}" for place in range(len(accuracies))]
            for key, accuracy in zip(keys[setting], accuracies, strict=True):
                found.add(key, accuracy)
    return found, {setting: found.best(own) for setting, own in keys.items()}


def fig_4_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 4.2: accuracy against the number of selected features, at a total ε of 0.1, half of it for the selection.

    Antonova (2016) takes λ by cross-validation that is not charged to the privacy budget. Here all features, and each
    number of selected ones, have the best λ of the same grid in hindsight. With everything repaired (weights by the
    range, the tight constants, the public rule for λ) nothing depends on the data.
    """
    for name in WITH_ALL_FEATURES:
        yield from accuracies_by_size(name, draws, random_state)


def accuracies_by_size(name: str, draws: int, random_state: int) -> Iterator[Measured]:
    """Yield the rows of Fig. 4.2 of one data set."""
    found, best = selected(name, draws, random_state)
    for setting, key in best.items():
        yield found.row(key, WITH_ALL_FEATURES[name] if setting.endswith("all features") else None, setting)


def selection_gains(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 4.2 as a claim: the best size by counts over all features, for the published and the repaired method."""
    for name in WITH_ALL_FEATURES:
        found, best = selected(name, draws, random_state)
        for label in ("count heuristic, published weights", "count heuristic, all repaired"):
            key = found.best(best[f"{name}, T = {T}, {label}"] for T in SIZES)
            yield found.gain(f"{name}, {label}: best T over all features", key, best[f"{name}, all features"], 0.0)


EXPERIMENTS: dict[str, Experiment] = {"fig-4.2": fig_4_2, "claim-linear-selection": selection_gains}
