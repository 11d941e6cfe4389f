"""Calls, draws and laws of selectors that are fitted to one table."""

from typing import Any

import numpy as np

from dpml.auditing.law import LawResult, check_law
from dpml.catalogue._laws import CHOICES
from dpml.catalogue._recorded import Enumerated, recorded
from dpml.counts import contingency
from dpml.schema import Schema

# so many sets of features are counted one by one
FEW = 100


def fitted(make: Any, schema: Schema, probabilities: Any = None, masks: Any = None) -> tuple[Any, Any, Any]:
    """Return call, sample and exact of a selector. ``make(seed)`` makes it.

    `sample` draws from one table's counts, as a fit does once; `exact` enumerates what the fit handed to the boundary,
    `masks` in the order of their `probabilities`.
    """

    def call(data):
        return make(0).fit(*data).get_support()

    def sample(data, draws, rng):
        drawn = make(None).masks(contingency(*data, 2), schema, draws=draws, rng=rng)
        return drawn @ (1 << np.arange(schema.n_features))

    return call, sample, Enumerated(call, probabilities, masks) if probabilities else recorded(call)


def spread_table(unit: float, n_features: int) -> Any:
    """Return a table whose features have 0, 1, 2, ... times so many ones: each set may be chosen."""
    ones = np.ceil(0.8 * unit * np.minimum(np.arange(n_features), 4))
    X = (np.arange(ones.max())[:, None] < ones).astype(float)
    return X, np.zeros(len(X), dtype=int)


def mask_law(sides: tuple[Any, Any, Any], data: Any) -> Any:
    """Return the law of the features that a selector keeps, which the exact audit enumerates: how often each is kept.

    Of few sets each one is counted too.
    """
    _, sample, exact = sides

    def law(rng: np.random.Generator) -> LawResult:
        chances = {mask: float(np.exp(log)) for mask, log in exact.log_probabilities(data).items()}
        masks = np.array(list(chances))
        powers = 1 << np.arange(masks.shape[1])
        kept = sample(data, CHOICES, rng)
        counts = [int((kept & power > 0).sum()) for power in powers]
        each = masks.T @ np.array(list(chances.values()))
        names = [f"feature {i} is kept" for i in range(len(powers))]
        if len(masks) <= FEW:
            codes = masks @ powers
            counts += [int((kept == code).sum()) for code in codes]
            each, names = np.append(each, list(chances.values())), names + [f"the set {code:b}" for code in codes]
        return check_law(counts, each, CHOICES, names)

    return law
