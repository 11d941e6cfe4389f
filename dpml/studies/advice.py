"""Advise on a table: the best method at an ε, its accuracy, and whether there are enough records."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.datasets import Dataset
from dpml.registry import method, of_family
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.automatic import AutoStudy
from dpml.studies.frontier import compared, frontier
from dpml.studies.signal import Signal, signal_of, with_table

# the share of runs outside the interval
OUTSIDE = 0.1
# an accuracy this far below the best is as good, for whoever wants privacy
CLOSE = 0.01
# of an estimate: so many records train and test, and so many runs are made of each method
ESTIMATE_RECORDS, ESTIMATE_DRAWS = 1500, 4


class Reached(NamedTuple):
    """Hold the accuracy and AUC of one method at one ε.

    Parameters
    ----------
    method : str
        Key of the method in `dpml.registry`.
    mean : float
        Mean accuracy of its runs.
    low : float
        Lower end of the band of 90% of the runs.
    high : float
        Upper end of the band of 90% of the runs.
    equal : bool
        Whether the method is not clearly worse than the best.
    auc : float
        Mean AUC of its runs, NaN with several classes.

    See Also
    --------
    Advice : The best method at one ε.
    advise : Compare private methods.
    """

    method: str
    mean: float
    low: float
    high: float
    equal: bool
    auc: float = math.nan


@dataclass(frozen=True)
class Advice:
    """The best method at one ε.

    Attributes
    ----------
    epsilon : float
    method : str
        A key of `dpml.registry`.
    mean, se : float
        Its accuracy over runs that the choice did not see, and the standard error of that mean.
    low, high : float
        Ends of the band of 90% of its runs.
    equal, candidates : int
        How many of the methods are not clearly worse, itself included, and how many were compared.
    guess : float
        Accuracy of the majority-class baseline.
    test_error : float
        Standard error of an accuracy that comes from the number of test records.
    methods : tuple of Reached
        All that were compared, itself included.
    signal : Signal or None
        Result of a fit without privacy.
    estimated : bool
        Whether it comes from a part of the records (`estimated_advice`).
    auc : float
        Mean area under the ROC curve of its runs: 0.5 is chance, for any class sizes. NaN with several classes.

    See Also
    --------
    advise : Compare private methods.
    Reached : Result of one method.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.
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
    signal: Signal | None = None
    estimated: bool = False
    auc: float = math.nan

    @property
    def enough(self) -> bool:
        """Whether there are records enough: 19 runs of 20 are better than a guess, by more than the test can err.

        Where a fit without privacy finds no signal, what looks better than a guess is chance.
        """
        return self.low > self.guess + self.test_error and (self.signal is None or self.signal.exists)

    @property
    def verdict(self) -> str:
        """One of "enough", "too few records", "no signal", and "guess": no fit is right more often than a guess.

        A guess is best where the columns change how likely a class is, and never which one is likeliest.
        """
        if self.enough:
            return "enough"
        if self.signal is not None and not self.signal.exists:
            return "no signal"
        if self.signal is not None and self.signal.accuracy <= self.signal.guess:
            return "guess"
        return "too few records"


def advised() -> tuple[str, ...]:
    """Return the keys of the methods that `advise` compares.

    Returns
    -------
    tuple of str
        Keys of `dpml.registry`.

    See Also
    --------
    advise : Compare private methods.
    every_study : All studies by name.

    Examples
    --------
    >>> advised()
    ('auto', 'binned', 'row-bounded', 'algorithm-1')
    """
    return tuple(each.key for each in of_family("classifier") if each.advised)


def advise(
    dataset: Dataset, epsilon: float, *, draws: int = 20, relation: str = "add-remove", rng: np.random.Generator
) -> Advice:
    """Return the best method on a data set at one ε, with its uncertainty.

    The result is a simulation: it uses all records, training and test. A release of the choice is charged to the
    privacy budget (`dpml.tuning`).

    Parameters
    ----------
    dataset : Dataset
        Data set with a raw table, such as that of `dpml.datasets.own.own_dataset`.
    epsilon : float
        Privacy budget of each run, finite and greater than 0.
    draws : int, default=20
        Number of runs of each method, at least 4.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    Advice
        The best method and all that were compared.

    See Also
    --------
    estimated_advice : Fast estimate at several ε.
    sensible : Smallest sensible ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> found = advise(load("census", n=4000), 1.0, draws=6, rng=np.random.default_rng(0))
    >>> found.enough, found.guess < found.low <= found.high, found.candidates
    (True, True, 4)
    """
    epsilon, draws, rng = check_epsilon(epsilon), check_integer(draws, "draws", 4), check_rng(rng)
    check_relation(relation)
    runs = {}
    for name in advised():
        study = method(name).study_of(with_table(dataset), relation=relation)
        runs[name] = study_measures(study, epsilon, draws, np.random.default_rng(rng.integers(2**63)))
    return advice_of(dataset, epsilon, runs, signal_of(dataset), rng=rng)


def estimated_advice(
    dataset: Dataset, epsilons: Sequence[float], *, relation: str = "add-remove", rng: np.random.Generator
) -> tuple[Advice, ...]:
    """Estimate the advice at several ε from a part of the records.

    The loss of a count to noise depends on its size times ε, so n' records at ε·n/n' lose as much as n at ε
    (Hay et al. 2016, scale-epsilon exchangeability). A fit also learns less from fewer records, so the estimate may be
    too low.

    Parameters
    ----------
    dataset : Dataset
        Data set with a raw table.
    epsilons : sequence of float
        Values of ε, each greater than 0.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    tuple of Advice
        Advice at each ε, with ``estimated = True``.

    See Also
    --------
    advise : Advice from all records.
    sensible : Smallest sensible ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> [first] = estimated_advice(load("census", n=4000), [1.0], rng=np.random.default_rng(0))
    >>> first.estimated, first.epsilon, first.enough
    (True, 1.0, True)
    """
    epsilons, rng = [check_epsilon(epsilon) for epsilon in epsilons], check_rng(rng)
    check_relation(relation)
    part, factor = part_of(dataset, ESTIMATE_RECORDS)
    signal, every = signal_of(part), []
    studies = {name: method(name).study_of(part, relation=relation) for name in advised()}
    for epsilon in epsilons:
        runs = {
            name: study_measures(study, epsilon * factor, ESTIMATE_DRAWS, rng, 1) for name, study in studies.items()
        }
        every.append(replace(advice_of(part, epsilon, runs, signal, rng=rng), estimated=True))
    return tuple(every)


def part_of(dataset: Dataset, n: int) -> tuple[Dataset, float]:
    """Return a data set of n training and n test records at most, and how many records each of its own stands for."""
    rng, raw = np.random.default_rng(0), with_table(dataset)._raw
    train, test = (np.sort(rng.permutation(len(y))[:n]) for y in (dataset.y_train, dataset.y_test))
    factor = len(dataset.y_train) / len(train)

    def fewer(schema: Any) -> Any:
        return replace(schema, n_rows=None, n_lower=max(int(schema.n_lower / factor), 2))

    part = replace(
        dataset,
        X_train=dataset.X_train[train],
        y_train=dataset.y_train[train],
        X_test=dataset.X_test[test],
        y_test=dataset.y_test[test],
        schema=fewer(dataset.schema),
        frame_schema=fewer(dataset.frame_schema),
        _raw=replace(raw, train=raw.train[train], test=raw.test[test]),
    )
    return part, factor


def study_measures(
    study: Any, epsilon: float, draws: int, rng: np.random.Generator, grids: int | None = None
) -> NDArray[np.float64]:
    """Return the accuracy and the AUC of each run of a study, shape (2, draws); NaN where it has no AUC.

    `grids` is that of `AutoStudy`, by default all draws.
    """
    options: dict[str, Any] = {"grids": grids or draws} if isinstance(study, AutoStudy) else {}
    schema = getattr(study, "schema", None)
    if schema is not None and schema.n_classes == 2 and "auc" in signature(study).parameters:
        options["auc"] = True
    measured = study(epsilon, draws=draws, rng=rng, **options)
    accuracy = np.asarray(measured["accuracy"], dtype=float)
    return np.stack([accuracy, np.asarray(measured.get("auc", accuracy * np.nan), dtype=float)])


def study_accuracies(
    study: Any, epsilon: float, draws: int, rng: np.random.Generator, grids: int | None = None
) -> NDArray[np.float64]:
    """Return the accuracy of each run of a study, shape (draws,): see `study_measures`."""
    return study_measures(study, epsilon, draws, rng, grids)[0]


def advice_of(
    dataset: Dataset,
    epsilon: float,
    runs: Mapping[str, NDArray[np.float64]],
    signal: Signal | None,
    *,
    rng: np.random.Generator,
) -> Advice:
    """Return the advice that follows from the runs of each method.

    Parameters
    ----------
    dataset : Dataset
        Data set of the runs.
    epsilon : float
        Privacy budget of each run.
    runs : mapping of str to array
        Accuracies of each method, shape (draws,), or accuracies and AUCs, shape (2, draws).
    signal : Signal or None
        Result of the fit without privacy.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    Advice
        The best method and all that were compared.

    See Also
    --------
    advise : Run the methods and compare them.
    signal_of : Fit without privacy.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> runs = {"auto": np.array([0.8, 0.81, 0.8, 0.82]), "binned": np.array([0.7, 0.72, 0.71, 0.7])}
    >>> advice_of(load("census", n=100), 1.0, runs, None, rng=np.random.default_rng(0)).method
    'auto'
    """
    both = {
        name: values if np.ndim(values) == 2 else np.stack([values, values * np.nan]) for name, values in runs.items()
    }
    rows = [
        {"epsilon": epsilon, "method": name, "draw": i, "accuracy": float(value)}
        for name, (accuracies, _) in both.items()
        for i, value in enumerate(accuracies)
    ]
    table = pd.DataFrame(rows)
    best = frontier(table, by=("epsilon",), rng=rng).iloc[0]
    every = tuple(each._replace(auc=float(np.mean(both[each.method][1]))) for each in _every(table))
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
        signal=signal,
        auc=own.auc,
    )


def _every(table: pd.DataFrame) -> tuple[Reached, ...]:
    """Return what each method reaches, compared as `frontier` does."""
    runs = table.pivot(index="method", columns="draw", values="accuracy")
    comparison, ends = compared(runs), runs.quantile([OUTSIDE / 2, 1 - OUTSIDE / 2], axis=1).to_numpy()
    rows = zip(runs.index, comparison.mean, *ends, comparison.equal, strict=True)
    return tuple(Reached(str(name), float(m), float(lo), float(hi), bool(equal)) for name, m, lo, hi, equal in rows)


def sensible(found: Sequence[Advice]) -> Advice | None:
    """Return the smallest ε with enough records and nearly the best accuracy.

    Its accuracy is within one percentage point of the best with enough records.

    Parameters
    ----------
    found : sequence of Advice
        Advice at several ε.

    Returns
    -------
    Advice or None
        Advice at that ε, or None if no ε has enough records.

    See Also
    --------
    advise : Compare private methods.
    estimated_advice : Advice at several ε.

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
