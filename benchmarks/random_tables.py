"""Random tables of two classes that resemble public ones, to learn a decoder from; no benchmark judges on them.

They have 2,000 to 30,000 records for training, and 5 to 40 attributes: numbers of five shapes with loose bounds and
categories with 2 to 12 values, in correlated blocks. A few attributes have strong effects, others weak ones or none,
and up to three products of two attributes matter. 3% to 50% of the records are positive.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from dpml.schema import Feature, Schema

__all__ = ["HELD_OUT", "random_table"]

HELD_OUT = 600


def random_table(rng: np.random.Generator) -> tuple[pd.DataFrame, NDArray, Schema, float]:
    """Return a table, its labels, its schema and an ε at which the default classifier mostly has weights."""
    n, A = int(np.exp(rng.uniform(*np.log([2000, 30_000])))), int(np.exp(rng.uniform(*np.log([5, 40]))))
    block, share = rng.integers(max(A // 3, 1), size=A), rng.uniform(0, 0.8)
    common = rng.normal(size=(n + HELD_OUT, A))[:, block]
    z = np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=common.shape)
    columns, features, score = {}, [], np.zeros(len(z))
    weak, numbers = rng.choice([0.0, 0.1, 0.3]), rng.uniform(0.1, 1)
    strong = rng.random(A) < rng.uniform(1, 5) / A
    for a in range(A):
        own, name = z[:, a], f"x{a}"
        if rng.random() < numbers:
            kinds = (own, np.exp(own), expit(2 * own), np.floor(np.exp(1 + own)), np.maximum(np.exp(own) - 1, 0))
            values = kinds[rng.integers(len(kinds))]
            low = 0.0 if values.min() >= 0 else values.min() * rng.uniform(1, 3)
            features.append(Feature(name, "numeric", lower=low, upper=values.max() * rng.uniform(1, 3)))
            effect = (own, np.abs(own), np.tanh(2 * (own - rng.normal())), (own > rng.normal()) * 1.0)[rng.choice(4)]
        else:
            d = int(rng.integers(2, 13))
            cuts = np.quantile(own, np.cumsum(rng.dirichlet(np.ones(d)))[:-1])
            values = rng.permutation(d)[np.digitize(own, cuts)]
            features.append(Feature(name, "categorical", tuple(range(d))))
            effect = rng.normal(size=d)[values]
        columns[name] = values
        score += rng.normal() * (1.0 if strong[a] else weak) * (effect - effect.mean()) / max(effect.std(), 1e-9)
    for _ in range(rng.integers(4)):
        score += 0.5 * rng.normal() * np.prod(z[:, rng.integers(A, size=2)], axis=1)
    score *= rng.uniform(1.5, 6) / max(score.std(), 1e-9)
    share = np.exp(rng.uniform(*np.log([0.03, 0.5])))
    y = (rng.random(len(z)) < expit(score - np.quantile(score, 1 - share))).astype(int)
    weights = sum(7 if f.kind == "numeric" else len(f.taxonomy.values) - 1 for f in features)
    epsilon = float(np.clip(weights / n * np.exp(rng.uniform(*np.log([9, 120]))), 0.03, 1))
    return pd.DataFrame(columns), y, Schema(tuple(features), (0, 1), n_lower=int(0.95 * n)), epsilon
