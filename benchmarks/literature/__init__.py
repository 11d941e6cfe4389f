"""Algorithms on which the literature tests searches for violations of differential privacy.

They are written from their definitions, correct and incorrect ones, so that a search can be tested where the true ε is
known: Ding et al. (2018, "Detecting violations of differential privacy"), Bichsel et al. (2021, "DP-Sniper"), Lyu, Su
and Li (2017, "Understanding the sparse vector technique"). They are for tests only: they charge no budget, and none of
them is meant for a release.

Examples
--------
>>> found = LITERATURE["noisy-max-3"](1.0)
>>> found.title, round(found.true_epsilon(), 6)
('Noisy max 3, Laplace noise, its value', 2.5)
"""

from benchmarks.literature._published_algorithm import PublishedAlgorithm, PublishedAlgorithms
from benchmarks.literature.histograms import HISTOGRAMS
from benchmarks.literature.noisy_max import NOISY_MAXIMA
from benchmarks.literature.rappor import RAPPORS
from benchmarks.literature.sparse_vector import SPARSE_VECTORS

__all__ = ["LITERATURE", "PublishedAlgorithm"]

# name: the algorithm at a claim of ε
LITERATURE: PublishedAlgorithms = {**HISTOGRAMS, **NOISY_MAXIMA, **SPARSE_VECTORS, **RAPPORS}
