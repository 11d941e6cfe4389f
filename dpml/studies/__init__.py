"""Studies: exact statistics are computed once, then drawn any number of times at any setting."""

from dpml.studies.accuracy import (
    AccuracyStudy,
    LogisticStudy,
    PartitionedNBStudy,
    PublishedNBStudy,
    RowBoundedNBStudy,
    SelectedNBStudy,
    SelectedStudy,
    SelectionStudy,
    accuracy_of_selected,
    majority_accuracy,
    non_private_logistic,
    non_private_nb,
)
from dpml.studies.advice import Advice, Reached, advice_of, advise, advised, estimated_advice, sensible
from dpml.studies.automatic import AutoStudy, raw_table
from dpml.studies.cost import best_predictions, best_without_noise, cost
from dpml.studies.frontier import Compared, best_needed, compared, frontier, standings
from dpml.studies.mixed import BinnedNBStudy, MomentsNBStudy, non_private_mixed_nb
from dpml.studies.named import STUDIES, NamedStudy, every_study, register
from dpml.studies.needed import NeededEpsilon, needed_epsilon
from dpml.studies.noiseless import without_noise
from dpml.studies.random_trees import RandomTreesStudy
from dpml.studies.selected_logistic import SelectedLogisticStudy
from dpml.studies.signal import Signal, signal_of
from dpml.studies.tuning import SCHEMES, TuningStudy

__all__ = [
    "SCHEMES",
    "STUDIES",
    "AccuracyStudy",
    "Advice",
    "AutoStudy",
    "BinnedNBStudy",
    "Compared",
    "LogisticStudy",
    "MomentsNBStudy",
    "NamedStudy",
    "NeededEpsilon",
    "PartitionedNBStudy",
    "PublishedNBStudy",
    "RandomTreesStudy",
    "Reached",
    "RowBoundedNBStudy",
    "SelectedLogisticStudy",
    "SelectedNBStudy",
    "SelectedStudy",
    "SelectionStudy",
    "Signal",
    "TuningStudy",
    "accuracy_of_selected",
    "advice_of",
    "advise",
    "advised",
    "best_needed",
    "best_predictions",
    "best_without_noise",
    "compared",
    "cost",
    "estimated_advice",
    "every_study",
    "frontier",
    "majority_accuracy",
    "needed_epsilon",
    "non_private_logistic",
    "non_private_mixed_nb",
    "non_private_nb",
    "raw_table",
    "register",
    "sensible",
    "signal_of",
    "standings",
    "without_noise",
]
