"""The frontier: which method and settings are best at each ε, with how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpml._validate import check_choice, check_integer, check_number, check_rng
from dpml.exceptions import InvalidParameter

__all__ = ["frontier"]

FloatArray = NDArray[np.float64]


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
        The columns that tell one question from another; those that the table lacks are left out.
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
        One row for each question: `by`; the settings of the best candidate; ``mean`` and ``se`` from the odd draws;
        ``share``, of the bootstrap samples in which it is the best; ``candidates``, and how many of them are
        ``equal``: not worse than it by more than `errors` standard errors, itself included; ``gap`` to the best of the
        others and its standard error ``gap_se``, from all draws (negative if another is better on all draws; NaN with
        one candidate); ``draws``.

    Raises
    ------
    InvalidParameter

    Examples
    --------
    >>> table = pd.DataFrame({"epsilon": 1.0, "T": [5] * 4 + [9] * 4, "draw": [0, 1, 2, 3] * 2,
    ...                       "accuracy": [0.7, 0.72, 0.71, 0.71, 0.8, 0.81, 0.79, 0.8]})
    >>> best = frontier(table, rng=np.random.default_rng(0)).iloc[0]
    >>> int(best["T"]), float(best["share"]), int(best["equal"])
    (9, 1.0, 1)
    """
    check_choice(measure, "measure", tuple(map(str, table.columns)))
    if "draw" not in table:
        raise InvalidParameter("table", list(table.columns), "a sweep's table with a row for each draw")
    check_number(errors, "errors", 0.0)
    resamples, rng = check_integer(resamples, "resamples", 1), check_rng(rng)
    questions = [name for name in by if name in table]
    if not questions:
        raise InvalidParameter("by", list(by), "at least one column of the table")
    # what stands before the draw makes the point
    before = list(table.columns[: table.columns.get_loc("draw")])
    settings = [name for name in before if name not in questions]
    rows = []
    # without dropna=False a setting that a method does not have would leave it out
    for key, mine in table.groupby(questions, sort=False, dropna=False):
        rows.append(
            {**dict(zip(questions, key, strict=True)), **_best(mine, settings, measure, errors, resamples, rng)}
        )
    return pd.DataFrame(rows)


def _best(
    table: pd.DataFrame, settings: Sequence[str], measure: str, errors: float, resamples: int, rng: np.random.Generator
) -> dict[str, Any]:
    points, values = _candidates(table, settings, measure)
    draws = values.shape[1]
    choice = values[:, ::2].mean(axis=1)
    best = int(choice.argmax())
    held_out = values[best, 1::2]
    difference = values[best] - values
    gap = difference.mean(axis=1)
    gap_se = difference.std(axis=1, ddof=1) / np.sqrt(draws)
    others = [index for index in range(len(points)) if index != best]
    second = min(others, key=lambda index: gap[index], default=None)
    weights = rng.multinomial(draws, np.full(draws, 1 / draws), size=resamples) / draws
    share = float(((weights @ values.T).argmax(axis=1) == best).mean())
    return {
        **points[best],
        "mean": float(held_out.mean()),
        "se": float(held_out.std(ddof=1) / np.sqrt(len(held_out))) if len(held_out) > 1 else np.nan,
        "share": share,
        "candidates": len(points),
        "equal": int((gap <= errors * gap_se).sum()),
        "gap": np.nan if second is None else float(gap[second]),
        "gap_se": np.nan if second is None else float(gap_se[second]),
        "draws": draws,
    }


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
