"""Experiments of the five papers, measured again: `EXPERIMENTS[paper][item](draws, random_state)` yields `Measured`.

A row is computed when it is asked for, so that the first rows come after seconds.
"""

from benchmarks.papers import (
    antonova_information,
    antonova_logistic,
    antonova_naive_bayes,
    antonova_scaling,
    antonova_splits,
    audits,
    boyd,
    ji_elkan,
    stoddard,
    su,
    zafarani_clifton,
)
from benchmarks.papers.measured import Experiment, Measured

__all__ = ["EXPERIMENTS", "Measured"]

MEASURED: dict[str, dict[str, Experiment]] = {
    "antonova-2016": {
        **antonova_naive_bayes.EXPERIMENTS,
        **antonova_information.EXPERIMENTS,
        **antonova_splits.EXPERIMENTS,
        **antonova_logistic.EXPERIMENTS,
        **antonova_scaling.EXPERIMENTS,
    },
    "zafarani-clifton-2021": zafarani_clifton.EXPERIMENTS,
    "stoddard-2014": {**stoddard.EXPERIMENTS, "claim-boyd": boyd.claim_boyd},
    "su-2018": su.EXPERIMENTS,
    "ji-elkan-2013": ji_elkan.EXPERIMENTS,
}
EXPERIMENTS: dict[str, dict[str, Experiment]] = {
    paper: {**audits.experiments(paper), **measured} for paper, measured in MEASURED.items()
}
