"""Zafarani and Clifton 2021: naive Bayes with smooth sensitivity beside Vaidya et al. 2013 at the same total ε."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.papers.measured import Experiment, Measured, measured, percent
from dpml.datasets import Dataset, load
from dpml.mechanisms import smooth_sensitivity
from dpml.registry import method
from dpml.schema import Feature, Schema
from dpml.studies import MomentsNBStudy, majority_accuracy, non_private_mixed_nb

VAIDYA = method("vaidya").title
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
COMPARED = (
    ("published", VAIDYA),
    ("smooth, repaired", VAIDYA),
    ("smooth, repaired", "global, repaired"),
    ("smooth, repaired", "Bun and Steinke, repaired"),
)
# models of each fold, whose mean counts once
MODELS = 10
ALLOCATIONS = {"1:2": (1.0, 2.0), "1:1": (1.0, 1.0), "2:1": (2.0, 1.0), "4:1": (4.0, 1.0)}


class Fold:
    """A data set's raw table with another split, and a public number of training records, as in the paper."""

    def __init__(self, dataset: Dataset, train: NDArray[np.intp], test: NDArray[np.intp]):
        self.name, self.schema = dataset.name, dataset.schema
        assert dataset.frame_schema is not None
        self.frame_schema = replace(dataset.frame_schema, n_rows=len(train), n_lower=len(train))
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
    gaussian, untrimmed = {"noise": "gaussian"}, {"trim": 0}
    return {
        VAIDYA: ("vaidya", each, {"class_epsilon": each}),
        f"{VAIDYA}, class counts with noise of scale 1 as printed": ("vaidya", each, {}),
        "published": ("published", epsilon, {}),
        "published without trimming": ("published", epsilon, untrimmed),
        "global, repaired": ("global", epsilon, {}),
        "smooth, repaired": ("smooth", epsilon, {}),
        "smooth, repaired, without trimming": ("smooth", epsilon, untrimmed),
        "smooth, repaired, δ = 1/n": ("smooth", epsilon, gaussian | {"delta": 1 / n}),
        "smooth, repaired, δ = 1/n²": ("smooth", epsilon, gaussian | {"delta": 1 / n**2}),
        "Bun and Steinke, repaired": ("bun-steinke", epsilon, {}),
    }


def comparison(name: str, draws: int, random_state: int, epsilons: tuple[float, ...] = EPSILONS) -> Iterator[Measured]:
    """Figs 4 to 8: mean test accuracy over `draws` folds; the paper has fifty, five times ten.

    The paper states no number m of trimmed values (line 12 of Algorithm 1), so m is that of the public rule.
    """
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
            for title, other in COMPARED:
                gain = np.array(accuracies[where + title]) - accuracies[where + other]
                yield percent(f"{where}{title}, over {other}", None, gain)


def allocations(
    parts: Iterable[Any], random_state: int, epsilons: tuple[float, ...] = (0.5, 1.0, 2.0)
) -> Iterator[Measured]:
    """Figs. 14 to 16: shares of ε of numbers to categories, by the repaired smooth method, one fold a run."""
    accuracies: dict[str, list[float]] = {}
    for number, fold in enumerate(parts):
        for epsilon, (label, allocation) in itertools.product(epsilons, ALLOCATIONS.items()):
            rng = np.random.default_rng([random_state, number])
            study = MomentsNBStudy(fold, "smooth")
            accuracy = study(epsilon, draws=MODELS, rng=rng, allocation=allocation)["accuracy"]
            accuracies.setdefault(f"{fold.name}, ε = {epsilon:g}, {label}", []).append(float(accuracy.mean()))
    for setting, values in accuracies.items():
        yield percent(setting, None, values)


def generated(telling: str, random_state: int | list[int]) -> Any:
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


def generated_allocations(telling: str, draws: int, random_state: int) -> Iterator[Measured]:
    """Figs. 15 and 16: one fold of another generated table for each run."""
    tables = (generated(telling, [random_state, number]) for number in range(draws))
    parts = (next(folds(table, 1, random_state)) for table in tables)
    return allocations(parts, random_state, (0.1, 0.5, 1.0, 2.0))


def quadratic_sensitivity(values: NDArray[np.float64], lower: float, upper: float, beta: float) -> float:
    """Return the largest decayed change of a variance by the procedure of Theorems 5 to 7: n windows for each k.

    For each k all windows of k consecutive values are moved to the bounds, half of them to either, and one more value
    moves to a bound. It is the paper's order of steps, and a lower bound of its result.
    """
    x = np.sort(values)
    n = len(x)
    sums, squares = (np.concatenate([[0.0], np.cumsum(x**p)]) for p in (1, 2))
    largest = 0.0
    for k in range(n):
        low, high = k // 2, k - k // 2
        rest = sums[-1] - (sums[k:] - sums[: n + 1 - k]), squares[-1] - (squares[k:] - squares[: n + 1 - k])
        total, square = (part + low * lower**p + high * upper**p for p, part in zip((1, 2), rest, strict=True))
        here = square / n - (total / n) ** 2
        for bound in (lower, upper):
            moved = (square - x[0] ** 2 + bound**2) / n - ((total - x[0] + bound) / n) ** 2
            largest = max(largest, float(np.exp(-beta * k) * np.abs(moved - here).max()))
    return largest


def running_times(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 13: milliseconds of a processor for the noise scale of one variance, by three procedures."""
    rng = np.random.default_rng(random_state)
    for n in (210, 5_000, 20_000):
        x = np.clip(rng.normal(0, 0.25, n), -1, 1)
        calls: dict[str, Callable[[], Any]] = {
            "global": partial(np.var, x),
            "smooth, one sort": partial(smooth_sensitivity, "variance", x, -1, 1, 1 / 90),
            "smooth, n² steps of Theorem 7": partial(quadratic_sensitivity, x, -1.0, 1.0, 1 / 90),
        }
        for title, call in calls.items():
            times = []
            for _ in range(draws):
                start = time.process_time()
                call()
                times.append(1000 * (time.process_time() - start))
            yield measured(f"{n:,} values, {title}: ms", None, times)


FIGURES = {"fig-4": "adult", "fig-5": "mushrooms", "fig-6": "glass", "fig-7": "seeds", "fig-8": "skin"}
EXPERIMENTS: dict[str, Experiment] = {
    **{key: partial(comparison, name) for key, name in FIGURES.items()},
    "fig-13": running_times,
    "fig-14": lambda draws, random_state: allocations(folds(load("adult"), draws, random_state), random_state),
    "fig-15": partial(generated_allocations, "categories"),
    "fig-16": partial(generated_allocations, "numbers"),
}
