"""The frontier: which method and settings are best at each ε, with how sure that is, and which ε a target needs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpml._arrays import BoolArray, FloatArray
from dpml._validate import check_choice, check_integer, check_number, check_rng
from dpml.exceptions import InvalidParameter
from dpml.studies.needed import needed_epsilon

NUMBERS = ("choice", "mean", "se", "behind", "behind_se")


class Compared(NamedTuple):
    """Hold the best of some candidates and the distance of each to it.

    Parameters
    ----------
    best : int
        Position of the best candidate.
    choice : array
        Mean of the even draws, which choose the best.
    mean : array
        Mean of the odd draws.
    se : array
        Standard error of `mean`.
    behind : array
        Mean difference to the best on all draws.
    behind_se : array
        Standard error of `behind`.
    equal : array of bool
        Whether a candidate is as good as the best.

    See Also
    --------
    compared : Compare candidates.
    frontier : Best method and settings at each ε.
    """

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
        The best candidate and the distance of each to it.

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
    """Return, for each data set and ε, the method and settings with the best mean, and how sure that is.

    The candidates at an ε are all other columns of settings in the table. They are compared draw by draw, because a
    sweep pairs its draws. All of it is a study of known data: a choice that looks at private data is a release of its
    own (`dpml.tuning`).

    The mean of the best of many candidates is too high, since the best is also the luckiest. So the candidate is
    chosen on the even draws, and its mean and standard error are of the odd ones, which the choice did not see.

    Parameters
    ----------
    table : DataFrame
        From `dpml.sweep.sweep`, a row for each draw: columns of settings, ``draw``, and measures.
    by : sequence of str
        The columns that tell one question from another. Those that the table lacks are left out.
    measure : str
        The column to maximise.
    errors : float
        Standard errors of a paired difference within which a candidate counts as equal to the best, >= 0.
    resamples : int
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
    # without dropna=False a setting that a method does not have would leave it out
    for key, mine in table.groupby(questions, sort=False, dropna=False):
        rows.append(
            {**dict(zip(questions, key, strict=True)), **_best(mine, settings, measure, errors, resamples, rng)}
        )
    return pd.DataFrame(rows)


def standings(
    table: pd.DataFrame,
    *,
    by: Sequence[str] = ("data", "relation", "epsilon"),
    measure: str = "accuracy",
    errors: float = 2.0,
) -> pd.DataFrame:
    """Return how far each candidate is behind the best of `frontier`.

    Parameters
    ----------
    table : DataFrame
        Table of draws from `dpml.sweep.sweep`.
    by : sequence of str
        Columns that identify a question. Columns that the table lacks are left out.
    measure : str, default="accuracy"
        Column to maximise.
    errors : float
        Standard errors of a paired difference within which a candidate counts as equal to the best, >= 0.

    Returns
    -------
    DataFrame
        One row for each candidate of each question: `by` and the settings, ``choice``, its mean of the even draws,
        which choose the best; ``mean`` and ``se`` of the odd ones, ``behind`` and ``behind_se``, by how much the best
        is better on all draws, and the standard error of that, ``best`` and ``equal``, whether it is the best or equal
        to it.

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
    for key, mine in table.groupby(questions, sort=False, dropna=False) if questions else [((), table)]:
        points, values = _candidates(mine, settings, measure)
        comparison = compared(values, errors=errors)
        for place, point in enumerate(points):
            rows.append(
                {
                    **dict(zip(questions, key, strict=True)),
                    **point,
                    **{name: float(getattr(comparison, name)[place]) for name in NUMBERS},
                    "best": place == comparison.best,
                    "equal": bool(comparison.equal[place]),
                }
            )
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
        The columns that tell one question from another. Those that the table lacks are left out.
    measure : str, default="accuracy"
        Column of the measure.
    errors : float
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
    for key, mine in table.groupby(asked, sort=False, dropna=False) if asked else [((), table)]:
        at, points, held_out = [], [], []
        for epsilon, here in mine.groupby("epsilon", sort=True):
            candidates, values = _candidates(here, others, measure)
            best = compared(values).best
            at.append(float(epsilon))
            points.append(candidates[best])
            held_out.append(values[best, 1::2])
        if len({len(draws) for draws in held_out}) > 1:
            raise InvalidParameter("table", dict(zip(asked, key, strict=True)), "with as many draws at every ε")
        requirement = needed_epsilon(at, np.stack(held_out), target, errors=errors)
        place = min(int(np.searchsorted(at, requirement.epsilon)), len(at) - 1)
        question = dict(zip(asked, key, strict=True))
        rows.append({**question, "target": target, **requirement._asdict(), **points[place]})
    return pd.DataFrame(rows)


def _columns(table: pd.DataFrame, by: Sequence[str], measure: str) -> tuple[list[str], list[str]]:
    """Return the columns that tell questions apart, and those that tell candidates apart."""
    if "draw" not in table:
        raise InvalidParameter("table", list(table.columns), "a sweep's table with a row for each draw")
    # what stands before the draw makes the point, what stands after it was measured
    place = table.columns.get_loc("draw")
    check_choice(measure, "measure", tuple(map(str, table.columns[place + 1 :])))
    questions = [name for name in by if name in table]
    return questions, [name for name in table.columns[:place] if name not in questions]


def _best(
    table: pd.DataFrame, settings: Sequence[str], measure: str, errors: float, resamples: int, rng: np.random.Generator
) -> dict[str, Any]:
    points, values = _candidates(table, settings, measure)
    draws = values.shape[1]
    best, _choice, mean, se, gap, gap_se, equal = compared(values, errors=errors)
    others = [index for index in range(len(points)) if index != best]
    second = min(others, key=lambda index: gap[index], default=None)
    weights = rng.multinomial(draws, np.full(draws, 1 / draws), size=resamples) / draws
    share = float(((weights @ values.T).argmax(axis=1) == best).mean())
    return {
        **points[best],
        "mean": float(mean[best]),
        "se": float(se[best]),
        "share": share,
        "candidates": len(points),
        "equal": int(equal.sum()),
        "gap": np.nan if second is None else float(gap[second]),
        "gap_se": np.nan if second is None else float(gap_se[second]),
        "draws": draws,
        **({"auc": _auc(table, settings, best)} if measure != "auc" and "auc" in table else {}),
    }


def _auc(table: pd.DataFrame, settings: Sequence[str], place: int) -> float:
    """Return the mean AUC of the odd draws of a candidate, which the choice did not see."""
    groups = table.groupby(list(settings), sort=False, dropna=False) if settings else [((), table)]
    return float([mine for _, mine in groups][place].sort_values("draw")["auc"].iloc[1::2].mean())


def _candidates(table: pd.DataFrame, settings: Sequence[str], measure: str) -> tuple[list[dict[str, Any]], FloatArray]:
    """Return the settings of each candidate, and its draws as a row of one array."""
    groups = table.groupby(list(settings), sort=False, dropna=False) if settings else [((), table)]
    points: list[dict[str, Any]] = []
    rows: list[FloatArray] = []
    for key, mine in groups:
        ordered = mine.sort_values("draw")
        if (rows and len(ordered) != len(rows[0])) or ordered["draw"].duplicated().any():
            point = dict(zip(settings, key, strict=True))
            raise InvalidParameter("draw", point, "the same draws for every combination of settings, each once")
        points.append(dict(zip(settings, key, strict=True)))
        rows.append(ordered[measure].to_numpy(dtype=float))
    values = np.stack(rows)
    if values.shape[1] < 2 or not np.isfinite(values).all():
        raise InvalidParameter(measure, f"{values.shape[1]} draws", "at least two finite draws of each candidate")
    return points, values
