"""Experiments of the five papers, made again: `EXPERIMENTS[paper][item](draws, random_state)` yields `Measured` rows.

A row is computed when it is asked for, so the first ones come after seconds.
"""

from dpml.papers.experiments import (
    boyd,
    ji_elkan,
    stoddard,
    su,
    thesis_information,
    thesis_logistic,
    thesis_naive_bayes,
    thesis_scaling,
    thesis_splits,
    zafarani_clifton,
)
from dpml.papers.experiments.measured import Experiment, Measured

__all__ = ["EXPERIMENTS", "Measured"]

EXPERIMENTS: dict[str, dict[str, Experiment]] = {
    "thesis": {
        **thesis_naive_bayes.EXPERIMENTS,
        **thesis_information.EXPERIMENTS,
        **thesis_splits.EXPERIMENTS,
        **thesis_logistic.EXPERIMENTS,
        **thesis_scaling.EXPERIMENTS,
    },
    "zafarani-clifton-2021": zafarani_clifton.EXPERIMENTS,
    "stoddard-2014": {**stoddard.EXPERIMENTS, "claim-boyd": boyd.claim_boyd},
    "su-2018": su.EXPERIMENTS,
    "ji-elkan-2013": ji_elkan.EXPERIMENTS,
}
