"""Run a study over a grid of settings and return one tidy table.

A sweep runs in one process, in several, or on a cluster. You can resume it.
"""

from dpml.sweep.declaration import declared
from dpml.sweep.run import sweep
from dpml.sweep.store import stored
from dpml.sweep.table import STANDARD, standard_study, summarise

__all__ = ["STANDARD", "declared", "standard_study", "stored", "summarise", "sweep"]
