"""Run a study over a grid of settings and return one tidy table: here, in processes, or on a cluster; resumable."""

from dpml.sweep.declaration import Declaration, declared
from dpml.sweep.plan import generator
from dpml.sweep.progress import time_left
from dpml.sweep.run import sweep
from dpml.sweep.summary import summarise

__all__ = ["Declaration", "declared", "generator", "summarise", "sweep", "time_left"]
