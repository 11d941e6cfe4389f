"""Zafarani and Clifton 2021: naive Bayes with smooth sensitivity beside Vaidya et al. 2013 at the same total ε."""

import itertools
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.papers.measured import Experiment, Measured, percent
from dpml.datasets import Dataset, load
from dpml.registry import method
from dpml.schema import Feature, Schema
from dpml.studies import MomentsNBStudy, majority_accuracy, non_private_mixed_nb

VAIDYA = method("vaidya").title
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
# models of each fold, whose mean counts once
MODELS = 10
ALLOCATIONS = {"1:2": (1.0, 2.0), "1:1": (1.0, 1.0), "2:1": (2.0, 1.0), "4:1": (4.0, 1.0)}


class Fold:
    """A data set's raw table with another split: what a study of mixed tables needs of a data set."""

    def __init__(self, dataset: Dataset, train: NDArray[np.intp], test: NDArray[np.intp]):
        self.name, self.frame_schema, self.schema = dataset.name, dataset.frame_schema, dataset.schema
        codes = np.concatenate([dataset.y_train, dataset.y_test])
        self.y_train, self.y_test = codes[train], codes[test]
        frame = dataset.frame.iloc[np.concatenate([train, test])]
        split = np.repeat(["train", "test"], [len(train), len(test)])
        self.frame = frame.set_axis([split, np.arange(len(split))], axis=0)


def folds(dataset: Dataset, number: int, random_state: int) -> Iterator[Any]:
    """Return the first folds of ten-fold cross-validation that is repeated as often as it takes."""
    codes = np.concatenate([dataset.y_train, dataset.y_test])
    splits = RepeatedStratifiedKFold(n_splits=10, n_repeats=-(-number // 10), random_state=random_state)
    return (Fold(dataset, *split) for split in islice(splits.split(codes, codes), number))


def methods(fold: Any, epsilon: float) -> dict[str, tuple[str, float, dict[str, Any]]]:
    """Return each method with its ε and settings, so that the whole of it costs `epsilon` as Theorem 1 counts it."""
    kinds = [feature.kind for feature in fold.frame_schema.features]
    numbers = kinds.count("numeric")
    each, n = epsilon / (2 * numbers + len(kinds) - numbers + 1), len(fold.y_train)
    gaussian = {"noise": "gaussian"}
    return {
        VAIDYA: ("vaidya", each, {"class_epsilon": each}),
        f"{VAIDYA}, class counts with noise of scale 1 as printed": ("vaidya", each, {}),
        "published": ("published", epsilon, {}),
        "global, repaired": ("global", epsilon, {}),
        "smooth, repaired": ("smooth", epsilon, {}),
        "smooth, repaired, δ = 1/n": ("smooth", epsilon, gaussian | {"delta": 1 / n}),
        "smooth, repaired, δ = 1/n²": ("smooth", epsilon, gaussian | {"delta": 1 / n**2}),
        "Bun and Steinke, repaired": ("bun-steinke", epsilon, {}),
    }


def comparison(name: str, draws: int, random_state: int, epsilons: tuple[float, ...] = EPSILONS) -> Iterator[Measured]:
    """Figs 4 to 8: mean test accuracy over `draws` folds; the paper has fifty, five times ten."""
    accuracies: dict[str, list[float]] = {}

    def add(setting: str, accuracy: float) -> None:
        accuracies.setdefault(setting, []).append(accuracy)

    for number, fold in enumerate(folds(load(name), draws, random_state)):
        add(f"{name}, largest class", majority_accuracy(fold))
        add(f"{name}, without noise", non_private_mixed_nb(fold)["accuracy"])
        rng = np.random.default_rng([random_state, number])
        for epsilon in epsilons:
            for title, (calibration, share, options) in methods(fold, epsilon).items():
                accuracy = MomentsNBStudy(fold, calibration)(share, draws=MODELS, rng=rng, **options)["accuracy"]
                add(f"{name}, ε = {epsilon:g}, {title}", float(accuracy.mean()))
    for setting, values in accuracies.items():
        yield percent(setting, None, values)
        if setting.endswith("smooth, repaired"):
            where = setting.removesuffix("smooth, repaired")
            ours = {title: np.array(accuracies[where + title]) for title in ("published", "smooth, repaired")}
            theirs = np.array(accuracies[f"{where}{VAIDYA}"])
            for title, mine in ours.items():
                yield percent(f"{where}{title}, over {VAIDYA}", None, mine - theirs)


def allocations(
    dataset: Any, draws: int, random_state: int, epsilons: tuple[float, ...] = (0.5, 1.0, 2.0)
) -> Iterator[Measured]:
    """Figs. 14 to 16: shares of ε of numbers to categories, by the repaired smooth method."""
    accuracies: dict[str, list[float]] = {}
    for number, fold in enumerate(folds(dataset, draws, random_state)):
        for epsilon, (label, allocation) in itertools.product(epsilons, ALLOCATIONS.items()):
            rng = np.random.default_rng([random_state, number])
            study = MomentsNBStudy(fold, "smooth")
            accuracy = study(epsilon, draws=MODELS, rng=rng, allocation=allocation)["accuracy"]
            accuracies.setdefault(f"{dataset.name}, ε = {epsilon:g}, {label}", []).append(float(accuracy.mean()))
    for setting, values in accuracies.items():
        yield percent(setting, None, values)


def generated(telling: str, random_state: int) -> Any:
    """Return 10,000 records of five numbers and five categories, of which one kind tells the classes apart.

    The paper does not say how its own were made. Here means are one standard deviation apart, or four categories have
    the shares 0.4, 0.3, 0.2 and 0.1 in one class and the reverse in the other.
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(2, size=10_000)
    numbers = rng.normal((y if telling == "numbers" else 0.5 * np.ones(len(y)))[:, None] - 0.5, size=(len(y), 5))
    cuts = np.cumsum([0.4, 0.3, 0.2]) if telling == "categories" else np.array([0.25, 0.5, 0.75])
    cells = np.searchsorted(cuts, rng.random((len(y), 5)))
    cells = np.where(y[:, None] == 1, 3 - cells, cells)
    frame = pd.DataFrame({f"number {j}": np.clip(numbers[:, j], -4, 4) for j in range(5)})
    frame = frame.assign(**{f"category {j}": np.array(list("abcd"))[cells[:, j]] for j in range(5)}, label=y)
    features = [Feature(f"number {j}", "numeric", lower=-4.0, upper=4.0) for j in range(5)]
    features += [Feature(f"category {j}", "categorical", tuple("abcd")) for j in range(5)]
    schema = Schema(tuple(features), n_lower=9_000)
    return SimpleNamespace(
        name=f"{telling} tell", frame=frame, frame_schema=schema, schema=schema, y_train=y, y_test=y[:0]
    )


def _generated_allocations(telling: str, draws: int, random_state: int) -> Iterator[Measured]:
    return allocations(generated(telling, random_state), draws, random_state, (0.1, 0.5, 1.0, 2.0))


FIGURES = {"fig-4": "adult", "fig-5": "mushrooms", "fig-6": "glass", "fig-7": "seeds", "fig-8": "skin"}
EXPERIMENTS: dict[str, Experiment] = {
    **{key: partial(comparison, name) for key, name in FIGURES.items()},
    "fig-14": lambda draws, random_state: allocations(load("adult"), draws, random_state),
    "fig-15": partial(_generated_allocations, "categories"),
    "fig-16": partial(_generated_allocations, "numbers"),
}
