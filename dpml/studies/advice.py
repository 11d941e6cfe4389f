"""Advice for a table: at an ε, which method is best, what its runs reach, and whether there are records enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.methods import method, of_family
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.automatic import AutoStudy
from dpml.studies.frontier import compared, frontier

__all__ = ["Advice", "Reached", "advise", "advised", "sensible"]

# the share of runs outside the interval
OUTSIDE = 0.1
# an accuracy this far below the best is as good, for whoever wants privacy
CLOSE = 0.01


class Reached(NamedTuple):
    """The accuracy of one method at one ε, measured as `Advice` is.

    Attributes
    ----------
    method : str
    mean, low, high : float
    equal : bool
        Whether it is not clearly worse than the best.
    """

    method: str
    mean: float
    low: float
    high: float
    equal: bool


@dataclass(frozen=True)
class Advice:
    """The best method at one ε.

    Attributes
    ----------
    epsilon : float
    method : str
        A key of `dpml.methods`.
    mean, se : float
        Its accuracy over runs that the choice did not see, and the standard error of that mean.
    low, high : float
        Of its runs, 90 % lie between.
    equal, candidates : int
        How many of the methods are not clearly worse, itself included, and how many were compared.
    guess : float
        What always guessing the larger class of the training records reaches.
    test_error : float
        Standard error of an accuracy that comes from the number of test records.
    methods : tuple of Reached
        All that were compared, itself included.
    """

    epsilon: float
    method: str
    mean: float
    se: float
    low: float
    high: float
    equal: int
    candidates: int
    guess: float
    test_error: float
    methods: tuple[Reached, ...] = ()

    @property
    def enough(self) -> bool:
        """Whether there are records enough: 19 runs of 20 are better than a guess, by more than the test can err."""
        return self.low > self.guess + self.test_error


def advised() -> tuple[str, ...]:
    """Return the keys of the methods that are compared, as `dpml.methods` has them.

    Examples
    --------
    >>> advised()
    ('auto', 'binned', 'row-bounded', 'algorithm-1')
    """
    return tuple(each.key for each in of_family("classifier") if each.advised)


def advise(
    dataset: Dataset, epsilon: float, *, draws: int = 20, relation: str = "add-remove", rng: np.random.Generator
) -> Advice:
    """Return which method is best on a data set at one ε, and how sure that is.

    For study: it looks at the records, training and test, and its noise is that of demonstrations. A release of the
    choice is charged (`dpml.tuning`).

    Parameters
    ----------
    dataset : Dataset
        With a raw table, such as that of `dpml.datasets.own.own_dataset`.
    epsilon : float
        Finite and > 0.
    draws : int
        Runs of each method, at least 4.
    relation : {"add-remove", "replace-one"}
    rng : numpy.random.Generator

    Returns
    -------
    Advice

    Raises
    ------
    InvalidParameter

    Examples
    --------
    >>> from dpml.datasets import load
    >>> found = advise(load("census", n=4000), 1.0, draws=6, rng=np.random.default_rng(0))
    >>> found.enough, found.guess < found.low <= found.high, found.candidates
    (True, True, 4)
    """
    epsilon, draws, rng = check_epsilon(epsilon), check_integer(draws, "draws", 4), check_rng(rng)
    check_relation(relation)
    if dataset.frame_schema is None:
        raise InvalidParameter("dataset", dataset.name, "one that has a table of attributes")
    rows = []
    for name in advised():
        study = method(name).study_of(dataset, relation=relation)
        options: dict[str, Any] = {"grids": draws} if isinstance(study, AutoStudy) else {}
        values = study(epsilon, draws=draws, rng=np.random.default_rng(rng.integers(2**63)), **options)["accuracy"]
        rows += [{"epsilon": epsilon, "method": name, "draw": i, "accuracy": float(v)} for i, v in enumerate(values)]
    table = pd.DataFrame(rows)
    best = frontier(table, by=("epsilon",), rng=rng).iloc[0]
    every = _every(table)
    own = next(one for one in every if one.method == best["method"])
    guess, mean = majority_accuracy(dataset), float(best["mean"])
    return Advice(
        epsilon=epsilon,
        method=str(best["method"]),
        mean=mean,
        se=float(best["se"]),
        low=own.low,
        high=own.high,
        equal=int(best["equal"]),
        candidates=int(best["candidates"]),
        guess=guess,
        test_error=math.sqrt(max(mean * (1 - mean), 0.25 / len(dataset.y_test)) / len(dataset.y_test)),
        methods=every,
    )


def _every(table: pd.DataFrame) -> tuple[Reached, ...]:
    """Return what each method reaches, compared as `frontier` does."""
    runs = table.pivot(index="method", columns="draw", values="accuracy")
    comparison, ends = compared(runs), runs.quantile([OUTSIDE / 2, 1 - OUTSIDE / 2], axis=1).to_numpy()
    rows = zip(runs.index, comparison.mean, *ends, comparison.equal, strict=True)
    return tuple(Reached(str(name), float(m), float(lo), float(hi), bool(equal)) for name, m, lo, hi, equal in rows)


def sensible(found: Sequence[Advice]) -> Advice | None:
    """Return the smallest ε with records enough that is within a point of the best of them; None if none has enough.

    Examples
    --------
    >>> rest = {"method": "auto", "se": 0.0, "high": 0.9, "equal": 1, "candidates": 4, "guess": 0.7}
    >>> some = [Advice(epsilon=e, mean=m, low=m - 0.01, test_error=0.005, **rest)
    ...         for e, m in ((0.1, 0.71), (0.5, 0.85), (2.0, 0.855))]
    >>> sensible(some).epsilon, sensible(some[:1])
    (0.5, None)
    """
    good = [one for one in found if one.enough]
    best = max((one.mean for one in good), default=0.0)
    return min((one for one in good if one.mean >= best - CLOSE), key=lambda one: one.epsilon, default=None)
