"""Eight kinds of tables that are drawn, not downloaded, on which the default classifier is judged too.

Each is a function of a generator that returns a table, the probability of each class for each record, and the features
that a person would state who knows the columns' units and little else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, softmax

from dpml.schema import Feature

__all__ = ["GENERATED", "drawn"]

Drawn = tuple[pd.DataFrame, NDArray, list[Feature]]
N_TRAIN, N_TEST, N_LOWER = 5000, 5000, 4000


def drawn(name: str) -> tuple[pd.DataFrame, NDArray, list[Feature]]:
    """Return the table, the labels 0..C-1 and the features of one kind; the same at each call."""
    rng = np.random.default_rng(sorted(GENERATED).index(name))
    table, probabilities, features = GENERATED[name](rng, N_TRAIN + N_TEST)
    labels = (rng.random(len(table))[:, None] > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    return table, labels, features


def _numbers(values: NDArray, lower: float, upper: float) -> tuple[pd.DataFrame, list[Feature]]:
    names = [f"x{j}" for j in range(values.shape[1])]
    features = [Feature(name, "numeric", lower=lower, upper=upper) for name in names]
    return pd.DataFrame(np.clip(values, lower, upper), columns=names), features


def _two(score: NDArray) -> NDArray:
    p = expit(score)
    return np.column_stack([1 - p, p])


def tails(rng: np.random.Generator, n: int) -> Drawn:
    """Return 57 numbers that are 0 in most records and lognormal in others, as the shares of words in a message are."""
    kind = rng.random(n) < 0.4
    rates = rng.beta(0.8, 3, size=(2, 57))
    positive = rng.random((n, 57)) < rates[kind.astype(int)]
    values = np.where(positive, rng.lognormal(-0.5, 1.2, size=(n, 57)), 0.0)
    table, features = _numbers(values, 0, 100)
    # the larger classes' odds come from the columns alone: the mixture's posterior, made less certain
    log_odds = np.where(positive, np.log(rates[1] / rates[0]), np.log1p(-rates[1]) - np.log1p(-rates[0])).sum(axis=1)
    return table, _two(0.5 * (log_odds + np.log(0.4 / 0.6))), features


def whole_numbers(rng: np.random.Generator, n: int) -> Drawn:
    """Return ten counts between 0 and 100, most below 10, of which few more or less matter."""
    values = rng.negative_binomial(1.5, 1.5 / (1.5 + np.linspace(1, 8, 10)), size=(n, 10)).astype(float)
    table, features = _numbers(values, 0, 100)
    effects = np.array([1.2, -1.0, 0.8, 0.0, 0.6, 0.0, -0.6, 0.4, 0.0, 0.0])
    return table, _two(np.log1p(values) @ effects - 0.8), features


def ends(rng: np.random.Generator, n: int) -> Drawn:
    """Return twelve scores of which a third stand at either end of the scale, and those mean something of their own."""
    values = np.clip(rng.normal(50, 55, size=(n, 12)), 0, 100)
    table, features = _numbers(values, 0, 100)
    low, high = values == 0, values == 100
    return (
        table,
        _two((values[:, :4] - 50).sum(axis=1) / 80 + 1.5 * (low[:, 4:8].sum(1) - high[:, 4:8].sum(1))),
        features,
    )


def grades(rng: np.random.Generator, n: int) -> Drawn:
    """Return eleven measures and seven ordered classes, of which those in the middle are common."""
    values = rng.gamma(4.0, 1.0, size=(n, 11))
    table, features = _numbers(values, 0, 20)
    latent = 0.5 * (values[:, 0] - values[:, 1]) + 0.3 * (values[:, 2] + values[:, 3] - values[:, 4]) - 1.2
    return table, softmax(-0.6 * (latent[:, None] - np.linspace(-4.5, 4.5, 7)) ** 2, axis=1), features


def noise(rng: np.random.Generator, n: int) -> Drawn:
    """Return fifteen columns that say nothing of the class: ten numbers and five categories."""
    table, features = _numbers(np.column_stack([rng.normal(0, 1, (n, 5)), rng.lognormal(0, 1, (n, 5))]), -10, 10)
    for j in range(5):
        table[f"c{j}"] = rng.choice(list("uvwxyz"), n)
        features.append(Feature(f"c{j}", "categorical", tuple("uvwxyz")))
    return table, np.tile([0.7, 0.3], (n, 1)), features


def one_of_fifty(rng: np.random.Generator, n: int) -> Drawn:
    """Return fifty numbers of which one tells nearly all, at a value that is not in the middle of the domain."""
    values = rng.exponential(8.0, size=(n, 50))
    table, features = _numbers(values, 0, 100)
    return table, _two(np.where(values[:, 17] > 6.0, 2.2, -2.2)), features


def wide(rng: np.random.Generator, n: int) -> Drawn:
    """Return images of 14 × 14 whole numbers between 0 and 255 and of ten classes, in which near pixels are alike."""
    places = np.stack(np.divmod(np.arange(196), 14), axis=1)
    near = np.exp(-((places[:, None] - places) ** 2).sum(axis=2) / 8)
    root = np.linalg.cholesky(near + 0.05 * np.eye(196))
    centres, kind = rng.normal(size=(10, 196)) / 4, rng.integers(10, size=n)
    whitened = centres[kind] + rng.normal(size=(n, 196))
    table, features = _numbers(np.round(80 * whitened @ root.T), 0, 255)
    log_odds = whitened @ centres.T - (centres**2).sum(axis=1) / 2
    return table, softmax(log_odds, axis=1), features


def yes_no(rng: np.random.Generator, n: int) -> Drawn:
    """Return 1,000 answers of yes or no, of which twelve tell the class."""
    values = rng.integers(0, 2, size=(n, 1000))
    table = pd.DataFrame(values, columns=[f"q{j}" for j in range(1000)])
    effects = 0.8 * np.where(np.arange(12) % 2, 1, -1)
    return table, _two((2 * values[:, :12] - 1) @ effects), [Feature(name) for name in table.columns]


GENERATED: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "tails": tails,
    "whole": whole_numbers,
    "ends": ends,
    "grades": grades,
    "noise": noise,
    "one": one_of_fifty,
    "wide": wide,
    # the place of a name in the alphabet is the seed of its table
    "yes_no": yes_no,
}
