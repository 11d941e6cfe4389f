"""Compare methods and values of ε: the frontier, the ε for a target, advice on a table, and the privacy cost.

All of it simulates on known data. A choice that reads private data is a release of its own (`dpml.tuning`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation, check_rng
from dpml.classifiers.automatic import Plan
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.registry import method, of_family
from dpml.studies.accuracy import majority_accuracy
from dpml.studies.mixed import AutoStudy
from dpml.studies.non_private import Signal, signal_of, with_table, without_noise

NUMBERS = ("choice", "mean", "se", "behind", "behind_se")


class Compared(NamedTuple):
    """The best of some candidates and the distance of each to it, as `compared` describes them."""

    best: int
    choice: FloatArray
    mean: FloatArray
    se: FloatArray
    behind: FloatArray
    behind_se: FloatArray
    equal: BoolArray


def compared(draws: Any, *, errors: float = 2.0) -> Compared:
    """Compare candidates by their paired draws.

    Parameters
    ----------
    draws : array of shape (candidates, n)
        Measure to maximise, n >= 2. Draw i of one candidate is paired with draw i of any other.
    errors : float, default=2.0
        Standard errors of a paired difference within which a candidate counts as equal to the best, >= 0.

    Returns
    -------
    Compared
        Named tuple of arrays of shape (candidates,), but for ``best``, the position of the best: ``choice``, the mean
        of the even draws, which choose the best; ``mean`` and ``se``, the mean of the odd draws and its standard error;
        ``behind`` and ``behind_se``, the mean difference to the best on all draws and its standard error; ``equal``,
        whether the candidate is as good as the best.

    See Also
    --------
    frontier : Best method and settings at each ε.
    standings : Distance of all candidates to the best.

    Examples
    --------
    >>> found = compared([[0.7, 0.72, 0.71, 0.71], [0.8, 0.81, 0.79, 0.8]])
    >>> found.best, found.mean.round(3).tolist(), found.equal.tolist()
    (1, [0.715, 0.805], [False, True])
    """
    check_number(errors, "errors", 0.0)
    values = np.asarray(draws, dtype=float)
    if values.ndim != 2 or not len(values) or values.shape[1] < 2 or not np.isfinite(values).all():
        raise InvalidParameter("draws", f"an array of shape {values.shape}", "finite, of shape (candidates, n), n >= 2")
    choice = values[:, ::2].mean(axis=1)
    best = int(choice.argmax())
    difference, odd = values[best] - values, values[:, 1::2]
    behind, n = difference.mean(axis=1), odd.shape[1]
    behind_se = difference.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    se = odd.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(values), np.nan)
    return Compared(best, choice, odd.mean(axis=1), se, behind, behind_se, behind <= errors * behind_se)


def frontier(
    table: pd.DataFrame,
    *,
    by: Sequence[str] = ("data", "relation", "epsilon"),
    measure: str = "accuracy",
    errors: float = 2.0,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the method and settings with the best mean for each data set and ε, with the certainty of the choice.

    The candidates at an ε are all other columns of settings in the table. They are compared draw by draw, because a
    sweep pairs its draws. The mean of the best of many candidates is too high, since the best is also the luckiest. So
    the candidate is chosen on the even draws, and its mean and standard error are of the odd draws. A choice from
    private data is a release of its own (`dpml.tuning`).

    Parameters
    ----------
    table : DataFrame
        From `dpml.sweep.sweep`, a row for each draw: columns of settings, ``draw``, and measures.
    by : sequence of str
        Columns that identify a question. Columns that the table lacks are left out.
    measure : str, default="accuracy"
        Column to maximise.
    errors : float, default=2.0
        Standard errors of a paired difference within which a candidate counts as equal to the best, >= 0.
    resamples : int, default=1000
        Bootstrap samples of the draws, for `share`.
    rng : numpy.random.Generator
        For the bootstrap.

    Returns
    -------
    DataFrame
        One row for each question, with the columns `by` and the settings of the best candidate. ``mean`` and ``se`` are
        from the odd draws. ``share`` is the share of bootstrap samples in which it is the best. ``candidates`` is their
        number, and ``equal`` the number not worse than it by more than `errors` standard errors, itself included.
        ``gap`` to the best of the others and its standard error ``gap_se`` are from all draws (negative if another is
        better on all draws, NaN with one candidate). ``draws`` is their number. ``auc`` is the mean of the odd draws
        if the sweep measured it beside `measure`.

    See Also
    --------
    standings : Return the difference of each candidate to the best.
    best_needed : Find the smallest ε for a target.

    Examples
    --------
    >>> table = pd.DataFrame({"epsilon": 1.0, "T": [5] * 4 + [9] * 4, "draw": [0, 1, 2, 3] * 2,
    ...                       "accuracy": [0.7, 0.72, 0.71, 0.71, 0.8, 0.81, 0.79, 0.8]})
    >>> best = frontier(table, rng=np.random.default_rng(0)).iloc[0]
    >>> int(best["T"]), float(best["share"]), int(best["equal"])
    (9, 1.0, 1)
    """
    check_number(errors, "errors", 0.0)
    resamples, rng = check_integer(resamples, "resamples", 1), check_rng(rng)
    questions, settings = _columns(table, by, measure)
    if not questions:
        raise InvalidParameter("by", list(by), "at least one column of the table")
    rows = []
    for question, mine in _grouped(table, questions):
        points, values = _candidates(mine, settings, measure)
        draws = values.shape[1]
        best, _choice, mean, se, gap, gap_se, equal = compared(values, errors=errors)
        second = min(set(range(len(points))) - {best}, key=lambda index: gap[index], default=None)
        weights = rng.multinomial(draws, np.full(draws, 1 / draws), size=resamples) / draws
        row = {
            **question,
            **points[best],
            "mean": float(mean[best]),
            "se": float(se[best]),
            "share": float(((weights @ values.T).argmax(axis=1) == best).mean()),
            "candidates": len(points),
            "equal": int(equal.sum()),
            "gap": np.nan if second is None else float(gap[second]),
            "gap_se": np.nan if second is None else float(gap_se[second]),
            "draws": draws,
        }
        if measure != "auc" and "auc" in table:
            winner = [each for _, each in _grouped(mine, settings)][best]
            row["auc"] = float(winner.sort_values("draw")["auc"].iloc[1::2].mean())
        rows.append(row)
    return pd.DataFrame(rows)


def standings(
    table: pd.DataFrame,
    *,
    by: Sequence[str] = ("data", "relation", "epsilon"),
    measure: str = "accuracy",
    errors: float = 2.0,
) -> pd.DataFrame:
    """Return the distance of each candidate to the best of `frontier`.

    Parameters
    ----------
    table : DataFrame
        Table of draws from `dpml.sweep.sweep`.
    by : sequence of str
        Columns that identify a question. Columns that the table lacks are left out.
    measure : str, default="accuracy"
        Column to maximise.
    errors : float, default=2.0
        Standard errors of a paired difference within which a candidate counts as equal to the best, >= 0.

    Returns
    -------
    DataFrame
        One row for each candidate of each question: `by`, the settings, ``choice``, ``mean``, ``se``, ``behind``,
        ``behind_se``, ``best`` and ``equal``, as `compared` describes them.

    See Also
    --------
    frontier : Best method and settings at each ε.
    needed_epsilon : Smallest ε for a target.

    Examples
    --------
    >>> table = pd.DataFrame({"epsilon": 1.0, "T": [5] * 4 + [9] * 4, "draw": [0, 1, 2, 3] * 2,
    ...                       "accuracy": [0.7, 0.72, 0.71, 0.71, 0.8, 0.81, 0.79, 0.8]})
    >>> standings(table)[["T", "mean", "behind", "equal"]].round(3).to_dict("list")
    {'T': [5, 9], 'mean': [0.715, 0.805], 'behind': [0.09, 0.0], 'equal': [False, True]}
    """
    check_number(errors, "errors", 0.0)
    questions, settings = _columns(table, by, measure)
    rows: list[dict[str, Any]] = []
    for question, mine in _grouped(table, questions):
        points, values = _candidates(mine, settings, measure)
        best, *numbers, equal = compared(values, errors=errors)
        for place, point in enumerate(points):
            named = {name: float(each[place]) for name, each in zip(NUMBERS, numbers, strict=True)}
            rows.append({**question, **point, **named, "best": place == best, "equal": bool(equal[place])})
    return pd.DataFrame(rows)


def best_needed(
    table: pd.DataFrame,
    target: float,
    *,
    by: Sequence[str] = ("data", "relation"),
    measure: str = "accuracy",
    errors: float = 2.0,
) -> pd.DataFrame:
    """Return the smallest ε at which the best method and settings reach a target, as `needed_epsilon` finds it.

    At each ε the candidate is the one of `frontier`: chosen on the even draws, measured on the odd ones.

    Parameters
    ----------
    table : DataFrame
        From `dpml.sweep.sweep`, with several values of ε.
    target : float
        What the mean of the measure is to reach.
    by : sequence of str
        Columns that identify a question. Columns that the table lacks are left out.
    measure : str, default="accuracy"
        Column of the measure.
    errors : float, default=2.0
        Standard errors to either side, >= 0.

    Returns
    -------
    DataFrame
        One row for each question: `by`, ``target``, ``epsilon``, and ``low`` and ``high`` between which it may lie,
        infinite where no ε that was tried reaches the target, and the settings of the candidate at the smallest ε tried
        that is not below ``epsilon``, or at the largest.

    See Also
    --------
    frontier : Best method and settings at each ε.
    needed_epsilon : Smallest ε for a target.

    Examples
    --------
    >>> table = pd.DataFrame({"epsilon": [0.1] * 8 + [1.0] * 8, "T": ([5] * 4 + [9] * 4) * 2, "draw": [0, 1, 2, 3] * 4,
    ...                       "accuracy": [0.7] * 4 + [0.6] * 4 + [0.8] * 4 + [0.9] * 4})
    >>> best_needed(table, 0.8).to_dict("records")
    [{'target': 0.8, 'epsilon': 0.316, 'low': 0.316, 'high': 0.316, 'T': 9}]
    """
    questions, others = _columns(table, [*by, "epsilon"], measure)
    if "epsilon" not in questions:
        raise InvalidParameter("table", list(table.columns), "a sweep's table with a column epsilon")
    asked = [name for name in questions if name != "epsilon"]
    rows = []
    for question, mine in _grouped(table, asked):
        at, points, held_out = [], [], []
        for epsilon, drawn in mine.groupby("epsilon", sort=True):
            candidates, values = _candidates(drawn, others, measure)
            best = compared(values).best
            at.append(float(epsilon))
            points.append(candidates[best])
            held_out.append(values[best, 1::2])
        if len({len(draws) for draws in held_out}) > 1:
            raise InvalidParameter("table", question, "with as many draws at every ε")
        needed = needed_epsilon(at, np.stack(held_out), target, errors=errors)
        place = min(int(np.searchsorted(at, needed.epsilon)), len(at) - 1)
        rows.append({**question, "target": target, **needed._asdict(), **points[place]})
    return pd.DataFrame(rows)


def _columns(table: pd.DataFrame, by: Sequence[str], measure: str) -> tuple[list[str], list[str]]:
    """Return the columns that identify a question, and those that identify a candidate."""
    if "draw" not in table:
        raise InvalidParameter("table", list(table.columns), "a sweep's table with a row for each draw")
    # the settings come before the draw, the measures after it
    place = table.columns.get_loc("draw")
    check_choice(measure, "measure", tuple(map(str, table.columns[place + 1 :])))
    questions = [name for name in by if name in table]
    return questions, [name for name in table.columns[:place] if name not in questions]


def _grouped(table: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each combination of the columns' values with its rows, a missing value too; without columns, all rows."""
    if not names:
        yield {}, table
        return
    for key, mine in table.groupby(list(names), sort=False, dropna=False):
        yield dict(zip(names, key, strict=True)), mine


def _candidates(table: pd.DataFrame, settings: Sequence[str], measure: str) -> tuple[list[dict[str, Any]], FloatArray]:
    """Return the settings of each candidate, and its draws as a row of one array."""
    points: list[dict[str, Any]] = []
    rows: list[FloatArray] = []
    for point, mine in _grouped(table, settings):
        ordered = mine.sort_values("draw")
        if (rows and len(ordered) != len(rows[0])) or ordered["draw"].duplicated().any():
            raise InvalidParameter("draw", point, "the same draws for every combination of settings, each once")
        points.append(point)
        rows.append(ordered[measure].to_numpy(dtype=float))
    values = np.stack(rows)
    if values.shape[1] < 2 or not np.isfinite(values).all():
        raise InvalidParameter(measure, f"{values.shape[1]} draws", "at least two finite draws of each candidate")
    return points, values


# ---- the ε for a target ----------------------------------------------------------------------------------------------


class NeededEpsilon(NamedTuple):
    """The smallest ε whose mean reaches a target, with its interval; infinite if no tested ε reaches it.

    Attributes
    ----------
    epsilon : float
        Smallest ε whose mean reaches the target.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.

    See Also
    --------
    needed_epsilon : Compute it from draws.
    best_needed : Compute it for the best method.

    Notes
    -----
    Privacy: no data is read.
    """

    epsilon: float
    low: float
    high: float


def needed_epsilon(epsilons: Any, draws: Any, target: float, *, errors: float = 2.0) -> NeededEpsilon:
    """Return the smallest ε at which the mean of the draws reaches a target.

    The mean is interpolated linearly in log ε between values that were tried. At the ends of the interval, the mean
    plus and minus `errors` standard errors first reaches the target. The interval shows the uncertainty of a study with
    few draws, not the spread of one release.

    Parameters
    ----------
    epsilons : array of shape (E,)
        Values of ε, each greater than 0, in ascending order.
    draws : array of shape (E, n)
        Measure of n runs at each ε, such as test accuracies, with n >= 2.
    target : float
        Value that the mean must reach.
    errors : float, default=2.0
        Number of standard errors to either side, at least 0.

    Returns
    -------
    NeededEpsilon
        Smallest ε and its interval.

    See Also
    --------
    best_needed : Smallest ε of the best method and settings.
    frontier : Best method and settings at each ε.

    Examples
    --------
    >>> needed_epsilon([0.1, 1.0], [[0.7, 0.7], [0.9, 0.9]], 0.8)
    NeededEpsilon(epsilon=0.316, low=0.316, high=0.316)
    >>> needed_epsilon([0.1, 1.0], [[0.7, 0.7], [0.9, 0.9]], 0.95).epsilon
    inf
    """
    at, values = np.asarray(epsilons, dtype=float), np.asarray(draws, dtype=float)
    if at.ndim != 1 or not len(at) or not (at > 0).all() or (np.diff(at) <= 0).any():
        raise InvalidParameter("epsilons", epsilons, "positive numbers in ascending order")
    if values.ndim != 2 or values.shape[0] != len(at) or values.shape[1] < 2:
        raise InvalidParameter(
            "draws", f"an array of shape {values.shape}", f"an array of shape ({len(at)}, n), n >= 2"
        )
    check_number(target, "target")
    check_number(errors, "errors", 0.0)
    mean = values.mean(axis=1)
    error = errors * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    crossings = (_first(at, curve, target) for curve in (mean, mean + error, mean - error))
    return NeededEpsilon(*(float(f"{epsilon:.3g}") for epsilon in crossings))


def _first(at: NDArray[np.float64], curve: NDArray[np.float64], target: float) -> float:
    """Return where a curve first reaches a target; at the first value that was tried it may do so earlier."""
    reached = np.flatnonzero(curve >= target)
    if not len(reached):
        return np.inf
    place = int(reached[0])
    if place == 0:
        return float(at[0])
    before, after = curve[place - 1], curve[place]
    share = (target - before) / (after - before)
    return float(np.exp((1 - share) * np.log(at[place - 1]) + share * np.log(at[place])))


# ---- advice ----------------------------------------------------------------------------------------------------------


# share of the runs outside the band
OUTSIDE = 0.1
# distance to the best accuracy within which a smaller ε is sensible
CLOSE = 0.01
# of an estimate: training and test records, and runs of each method
ESTIMATE_RECORDS, ESTIMATE_DRAWS = 1500, 4


class Reached(NamedTuple):
    """The accuracy and AUC of one method at one ε, as `Advice.methods` describes them."""

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
        Mean accuracy over the odd runs, which did not choose the method, and its standard error.
    low, high : float
        Ends of the band of 90% of its runs.
    equal, candidates : int
        Number of methods that are not clearly worse, itself included, and number of all methods.
    guess : float
        Accuracy of the majority-class baseline.
    test_error : float
        Standard error of an accuracy that comes from the number of test records.
    methods : tuple
        For each method a named tuple of ``method``, ``mean``, ``low``, ``high``, ``equal`` and ``auc``.
    signal : Signal or None
        Result of a fit without privacy.
    estimated : bool
        Whether it comes from a part of the records (`estimated_advice`).
    auc : float
        Mean area under the ROC curve of its runs: 0.5 is chance, for any class sizes. NaN with several classes.

    See Also
    --------
    advise : Compare private methods.
    sensible : Smallest sensible ε.

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
        """Whether 19 runs of 20 are better than a guess, by more than the test error, and there is a signal."""
        return self.low > self.guess + self.test_error and (self.signal is None or self.signal.exists)

    @property
    def verdict(self) -> str:
        """One of "enough", "too few records", "no signal", and "guess", if no fit is more accurate than a guess.

        A guess is most accurate if the columns change the probability of a class, but never the likeliest class.
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
    """Return at most n training and n test records, and the number of training records for each of them."""
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
    """Return the accuracy and the AUC (or NaN) of each run, shape (2, draws); `grids` of `AutoStudy` is all draws."""
    options: dict[str, Any] = {"grids": grids or draws} if isinstance(study, AutoStudy) else {}
    schema = getattr(study, "schema", None)
    if schema is not None and schema.n_classes == 2 and "auc" in signature(study).parameters:
        options["auc"] = True
    measured = study(epsilon, draws=draws, rng=rng, **options)
    accuracy = np.asarray(measured["accuracy"], dtype=float)
    return np.stack([accuracy, np.asarray(measured.get("auc", accuracy * np.nan), dtype=float)])


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
        for name, (drawn, _) in both.items()
        for i, value in enumerate(drawn)
    ]
    table = pd.DataFrame(rows)
    best = frontier(table, by=("epsilon",), rng=rng).iloc[0]
    accuracies = table.pivot(index="method", columns="draw", values="accuracy")
    comparison = compared(accuracies)
    low, high = accuracies.quantile([OUTSIDE / 2, 1 - OUTSIDE / 2], axis=1).to_numpy()
    numbers = zip(accuracies.index, comparison.mean, low, high, comparison.equal, strict=True)
    every = tuple(
        Reached(str(name), float(m), float(lo), float(hi), bool(equal), float(np.mean(both[name][1])))
        for name, m, lo, hi, equal in numbers
    )
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


# ---- privacy cost ----------------------------------------------------------------------------------------------------


# values of ε whose settings are tried without noise, from tight to loose
SETTINGS = (0.1, 1.0, 10.0, 1000.0)


def best_without_noise(study: AutoStudy) -> float:
    """Return the best test accuracy of the default classifier without noise.

    The function tries every method of the public rule without noise, at the settings of several ε. For a table, it also
    tries weights without a grid and a grid with counts. The best is chosen on the test records.

    Parameters
    ----------
    study : AutoStudy
        Study of a data set.

    Returns
    -------
    float
        Best share of test records that are classified correctly.

    See Also
    --------
    best_predictions : Predictions of this fit.
    cost : Privacy cost at each ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> round(best_without_noise(AutoStudy(load("census", n=4000))), 1)
    0.9
    """
    return float((best_predictions(study) == study.y_test).mean())


def best_predictions(study: AutoStudy) -> NDArray[np.intp]:
    """Return the predictions of the best fit without noise.

    The fit is that of `best_without_noise`, chosen on the test records.

    Parameters
    ----------
    study : AutoStudy
        Study of a data set.

    Returns
    -------
    ndarray of int of shape (n,)
        Predicted class of each test record.

    See Also
    --------
    best_without_noise : Accuracy of this fit.
    cost : Privacy cost at each ε.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: none. Sensitivity: not bounded.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> study = AutoStudy(load("census", n=4000))
    >>> bool((best_predictions(study) == study.y_test).mean() == best_without_noise(study))
    True
    """
    with without_noise():
        fits = [_predictions(study, epsilon, plan) for epsilon in SETTINGS for plan in _plans(study, epsilon)]
    return max(fits, key=lambda predicted: (predicted == study.y_test).mean())


def _plans(study: AutoStudy, epsilon: float) -> list[Plan]:
    """Return the plan of the public rule, and for a table weights without a grid, and a grid with counts."""
    plan = study._public_plan(epsilon)
    if plan.kind != "table":
        return [plan]
    alone = replace(plan, addition="weights", grid_share=0.0)
    grid = replace(plan, addition="none", grid_share=1.0, trust=1.0)
    return list(dict.fromkeys([plan, alone, grid]))


def _predictions(study: AutoStudy, epsilon: float, plan: Plan | None = None) -> NDArray[np.intp]:
    """Return the predictions of one fit."""
    options: dict[str, Any] = {"plan": plan, "predictions": True, "rng": np.random.default_rng(0)}
    predicted: NDArray[np.intp] = study(epsilon, draws=1, grids=1, **options)["predictions"][0]
    return predicted


def cost(
    dataset: Dataset,
    epsilons: Sequence[float],
    *,
    relation: str = "add-remove",
    draws: int = 20,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the privacy cost of the default classifier at each ε, by its parts.

    The privacy cost is the difference to `best_without_noise`. The part *noise* would vanish without noise, with the
    method and the settings of the rule at this ε. The part *simpler* is the rest. At a small ε the rule uses coarser
    bins, a tighter regulariser, or a grid where a larger ε would allow weights. A part can be slightly below 0, if a
    tighter regulariser happens to suit the test records. The result is not private, because the parts have no noise.

    Parameters
    ----------
    dataset : Dataset
        Data set with a raw table and a stated lower bound on its number of records.
    epsilons : sequence of float
        Values of ε, each finite and greater than 0.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation under which each ε holds.
    draws : int, default=20
        Fits at each ε, each with its own bins and grid.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    DataFrame
        A row for each ε: ``epsilon``, ``accuracy`` (the mean of the runs), ``standard_error``, ``best`` (the same in
        each row), and the parts ``noise`` and ``simpler``, with accuracy + noise + simpler = best. All but ε are shares
        of the test records.

    See Also
    --------
    best_without_noise : Return the non-private reference.
    AutoStudy : Study of the default classifier.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> table = cost(load("census", n=4000), [0.1, 3.0], draws=3, rng=np.random.default_rng(0))
    >>> (table["noise"] + table["simpler"]).round(2).is_monotonic_decreasing
    True
    """
    study = AutoStudy(dataset, relation=relation)
    best = best_without_noise(study)
    rows = []
    for epsilon in epsilons:
        accuracy = study(epsilon, draws=draws, grids=draws, rng=rng)["accuracy"]
        with without_noise():
            exact = float((_predictions(study, epsilon) == study.y_test).mean())
        error = accuracy.std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan
        parts = {"noise": exact - accuracy.mean(), "simpler": best - exact}
        rows.append({"epsilon": epsilon, "accuracy": accuracy.mean(), "standard_error": error, "best": best, **parts})
    return pd.DataFrame(rows)
