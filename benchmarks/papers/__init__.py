"""Experiments of the five papers, measured again: `EXPERIMENTS[paper][item](draws, random_state)` yields `Measured`.

A row is computed when it is asked for, so that the first rows come after seconds.
"""

from benchmarks.papers import (
    antonova_features,
    antonova_information,
    antonova_linear,
    antonova_logistic,
    antonova_mechanisms,
    antonova_naive_bayes,
    antonova_scaling,
    antonova_splits,
    audits,
    boyd,
    future_work,
    ji_elkan,
    ji_elkan_figures,
    ji_elkan_objective,
    ji_elkan_theory,
    properties,
    stoddard,
    stoddard_roc,
    stoddard_selection,
    su,
    su_theory,
    zafarani_clifton,
    zafarani_theory,
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
        **antonova_mechanisms.EXPERIMENTS,
        **antonova_features.EXPERIMENTS,
        **antonova_linear.EXPERIMENTS,
        **future_work.ANTONOVA,
    },
    "zafarani-clifton-2021": {
        **zafarani_theory.EXPERIMENTS,
        **zafarani_clifton.EXPERIMENTS,
        **future_work.ZAFARANI,
    },
    "stoddard-2014": {
        **stoddard_selection.EXPERIMENTS,
        **stoddard.EXPERIMENTS,
        **stoddard_roc.EXPERIMENTS,
        "theorem-1": properties.all_of_theorem_1,
        "claim-boyd": boyd.claim_boyd,
        **future_work.STODDARD,
    },
    "su-2018": {**su_theory.EXPERIMENTS, **su.EXPERIMENTS, **future_work.SU},
    "ji-elkan-2013": {
        **ji_elkan_theory.EXPERIMENTS,
        **ji_elkan_figures.EXPERIMENTS,
        **ji_elkan.EXPERIMENTS,
        **ji_elkan_objective.EXPERIMENTS,
    },
}
EXPERIMENTS: dict[str, dict[str, Experiment]] = {
    paper: {**audits.experiments(paper), **measured} for paper, measured in MEASURED.items()
}
