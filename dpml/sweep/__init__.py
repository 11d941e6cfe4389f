"""Run a study over a grid of settings and return one tidy table.

A sweep runs in one process, in several, or on a cluster. You can resume it.
"""

from dpml.sweep.declaration import Declaration, declared
from dpml.sweep.plan import generator
from dpml.sweep.run import sweep
from dpml.sweep.standard import STANDARD, StandardStudy, standard_study
from dpml.sweep.store import stored
from dpml.sweep.summary import summarise

__all__ = [
    "STANDARD",
    "Declaration",
    "StandardStudy",
    "declared",
    "generator",
    "standard_study",
    "stored",
    "summarise",
    "sweep",
]
