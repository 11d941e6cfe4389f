"""One measured number of an experiment of a paper."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Measured(NamedTuple):
    """One number of a paper's experiment, made again.

    Parameters
    ----------
    setting : str
        What was measured, in words: the data set, the method, its parameters.
    paper : float or None
        The number in the paper; None where it has only a picture, or no such number.
    ours : float
        The mean over the runs, or another statistic of them that the setting names.
    standard_error : float
        Standard error of `ours`, NaN for a single run.
    runs : int
        Draws or folds.
    """

    setting: str
    paper: float | None
    ours: float
    standard_error: float
    runs: int


# an item of a paper, made again: its draws (or folds) and its seed
Experiment = Callable[[int, int], Iterator[Measured]]


def measured(setting: str, paper: float | None, values: Any) -> Measured:
    """Return the mean of the values of all runs with its standard error.

    >>> measured("coin", 0.5, [0.0, 1.0])
    Measured(setting='coin', paper=0.5, ours=0.5, standard_error=0.5, runs=2)
    """
    runs = np.atleast_1d(np.asarray(values, dtype=float))
    # rounded, so that equal runs have no error of 1e-15
    error = round(float(runs.std(ddof=1)) / math.sqrt(len(runs)), 12) if len(runs) > 1 else math.nan
    return Measured(setting, paper, float(runs.mean()), error, len(runs))


def percent(setting: str, paper: float | None, accuracies: Any) -> Measured:
    """Return `measured` for shares that are printed in per cent, as the papers' accuracies are."""
    return measured(setting, paper, 100 * np.asarray(accuracies, dtype=float))


def bootstrapped(setting: str, paper: float | None, values: Any, statistic: Callable[..., Any] = np.median) -> Measured:
    """Return a statistic of the values of all runs, such as their median, with its bootstrap standard error.

    >>> bootstrapped("median", None, [0.0, 1.0, 5.0]).ours
    1.0
    """
    runs = np.atleast_1d(np.asarray(values, dtype=float))
    again = np.random.default_rng(0).integers(len(runs), size=(500, len(runs)))
    error = float(np.std(statistic(runs[again], axis=1))) if len(runs) > 1 else math.nan
    return Measured(setting, paper, float(statistic(runs)), error, len(runs))


def exact(setting: str, paper: float | None, value: float) -> Measured:
    """Return a number in which nothing is drawn."""
    return Measured(setting, paper, float(value), 0.0, 1)


def difference(setting: str, first: Measured, second: Measured, paper: float | None = None) -> Measured:
    """Return the difference of two means of independent runs; `runs` is the larger number of the two.

    >>> difference("gain", Measured("", None, 5.0, 0.3, 9), Measured("", None, 4.0, 0.4, 9))
    Measured(setting='gain', paper=None, ours=1.0, standard_error=0.5, runs=9)
    """
    error = math.hypot(first.standard_error, second.standard_error)
    return Measured(setting, paper, first.ours - second.ours, error, max(first.runs, second.runs))
