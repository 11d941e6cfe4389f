"""Data sets generated from stated distributions: the toy Gaussians of Antonova (2016) and a synthetic census."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from dpml._validate import check_integer
from dpml.datasets._parse import Raw

Facts = dict[str, Any]


def separation(dimension: int) -> float:
    """Return the distance of the class means in each dimension for a Bayes accuracy of 90% (Antonova 2016, eq. A.1)."""
    return math.sqrt(4 / dimension) * float(special.ndtri(0.9))


def toy(facts: Facts, n: int = 1000, dimension: int = 10, seed: int = 0) -> Raw:
    """Draw three equal parts of two Gaussian classes, N(0, I) and N(a 1, I) (Antonova 2016, A.7).

    Cut points and bounds depend on a only. The cut points are a/2 and one standard deviation to either side. The bounds
    are 6 standard deviations beyond the two means. Fewer than one value in a hundred million is clipped to them.
    """
    n = check_integer(n, "n", 1)
    dimension = check_integer(dimension, "dimension", 1)
    rng = np.random.default_rng(check_integer(seed, "seed", 0))
    a = separation(dimension)
    shape = {"kind": "numeric", "lower": -6.0, "upper": a + 6.0, "cuts": [a / 2 - 1, a / 2, a / 2 + 1]}
    facts["attributes"] = [{"name": f"x{i}", **shape} for i in range(dimension)]
    facts["row_bound"] = dimension
    codes = rng.integers(0, 2, 3 * n)
    X = np.clip(rng.standard_normal((3 * n, dimension)) + a * codes[:, None], -6.0, a + 6.0)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(dimension)])
    train, validation, test = np.split(np.arange(3 * n), 3)
    labels = np.array([c["value"] for c in facts["label"]["classes"]], dtype=object)[codes]
    return Raw(table, labels, train, test, validation)


def census(facts: Facts, n: int = 20_000, seed: int = 0) -> Raw:
    """Draw a census from the tables in its card: `n` training rows and half as many test rows.

    Attributes are drawn in the card's order, each from the row of its table that its parent's value selects. A numeric
    attribute gets an interval from the table, and then an integer in it, uniformly. The card also states the log-odds
    of the positive class: a constant plus one weight for each attribute value.
    """
    n = check_integer(n, "n", 2)
    rng = np.random.default_rng(check_integer(seed, "seed", 0))
    size = n + n // 2
    codes: dict[str, np.ndarray] = {}
    columns: dict[str, np.ndarray] = {}
    log_odds = np.full(size, float(facts["label"]["log_odds"]))
    for item in facts["attributes"]:
        name, percent = item["name"], np.atleast_2d(np.array(item["percent"], dtype=float))
        parent = codes[item["parent"]] if "parent" in item else np.zeros(size, dtype=int)
        code = _draw(percent[parent], rng)
        codes[name] = code
        if item["kind"] == "categorical":
            columns[name] = np.array(item["categories"], dtype=object)[code]
        else:
            edges = np.array([item["lower"], *item["cuts"], item["upper"] + 1])
            columns[name] = rng.integers(edges[code], edges[code + 1])
        if "weights" in item:
            log_odds += np.array(item["weights"], dtype=float)[code]
    positive = rng.random(size) < special.expit(log_odds)
    labels = np.array([c["value"] for c in facts["label"]["classes"]], dtype=object)[positive.astype(int)]
    return Raw(pd.DataFrame(columns), labels, np.arange(n), np.arange(n, size))


def _draw(percent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one code from each row of percentages."""
    steps = np.cumsum(percent, axis=1)
    u = rng.random((len(percent), 1)) * steps[:, -1:]
    return (u >= steps).sum(axis=1)
