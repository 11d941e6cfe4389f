"""Experiments of the five papers, made again: `EXPERIMENTS[paper][item](draws, random_state)` yields `Measured` rows.

A row is computed when it is asked for, so the first ones come after seconds.
"""

from collections.abc import Callable, Iterator

from dpml.papers.experiments import (
    stoddard,
    thesis_information,
    thesis_logistic,
    thesis_naive_bayes,
    thesis_splits,
    zafarani_clifton,
)
from dpml.papers.experiments.measured import Measured

__all__ = ["EXPERIMENTS", "Measured"]

EXPERIMENTS: dict[str, dict[str, Callable[[int, int], Iterator[Measured]]]] = {
    "thesis": {
        **thesis_naive_bayes.EXPERIMENTS,
        **thesis_information.EXPERIMENTS,
        **thesis_splits.EXPERIMENTS,
        **thesis_logistic.EXPERIMENTS,
    },
    "zafarani-clifton-2021": zafarani_clifton.EXPERIMENTS,
    "stoddard-2014": stoddard.EXPERIMENTS,
}
