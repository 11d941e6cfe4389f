"""One algorithm of the literature, the inputs of its search, and its true cost on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.audit.search import Neighbours

__all__ = ["PublishedAlgorithm", "PublishedAlgorithms", "laplace"]


@dataclass(frozen=True)
class PublishedAlgorithm:
    """An algorithm of the literature that claims ε.

    Attributes
    ----------
    title : str
    source : str
        Authors, year and place of the definition.
    inputs : str
        The stated inputs, in words.
    mechanism : callable
        ``mechanism(data, draws=..., rng=...)`` returns that many outputs as rows.
    neighbours : Neighbours
        The pairs of these inputs.
    true_epsilon : callable
        ``true_epsilon()``: the largest loss over these pairs and all outputs, by formula, enumeration or integration.
    """

    title: str
    source: str
    inputs: str
    mechanism: Callable[..., Any]
    neighbours: Neighbours
    true_epsilon: Callable[[], float]


# {name: function from the claimed ε to the algorithm}
PublishedAlgorithms = dict[str, Callable[[float], PublishedAlgorithm]]


def laplace(rng: np.random.Generator, scale: float, size: Any) -> NDArray[np.float64]:
    """Draw Laplace noise as the difference of two exponentials, which is twice as fast as inversion."""
    noise = rng.standard_exponential(size)
    noise -= rng.standard_exponential(size)
    noise *= scale
    return noise
