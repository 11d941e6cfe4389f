"""Run a study over a grid of settings and return one tidy table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd

from dpml._validate import check_integer
from dpml.exceptions import InvalidParameter

__all__ = ["summarise", "sweep"]

Study = Callable[..., Mapping[str, Any]]


def _run(study: Study, point: dict[str, Any], draws: int, seed: int) -> pd.DataFrame:
    values = study(**point, draws=draws, rng=np.random.default_rng(seed))
    columns = {name: np.broadcast_to(np.asarray(v, dtype=float), (draws,)) for name, v in values.items()}
    # a setting may be a tuple, which is one value
    point = {name: [value] * draws for name, value in point.items()}
    return pd.DataFrame({**point, "draw": np.arange(draws), **columns})


def sweep(
    study: Study,
    grid: Mapping[str, Sequence],
    *,
    draws: int = 50,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Run a study at every point of a grid of settings.

    Every point starts from the same seed (common random numbers). So curves over the grid are smooth, and differences
    between points or between studies are paired draw by draw.

    Parameters
    ----------
    study : callable
        ``study(**point, draws=..., rng=...)`` returns a mapping of names to arrays of shape (draws,), or to one number
        for all draws. One call makes all draws of a point.
    grid : mapping of str to sequence
        Values of each setting; the grid is their Cartesian product.
    draws : int
        Draws at each point.
    seed : int
    n_jobs : int, optional
        Number of worker processes (joblib), which need a study that can be pickled.
    progress : callable, optional
        Called with (points done, points in all).

    Returns
    -------
    DataFrame
        One row for each point and draw, with the settings, ``draw``, and the study's columns.

    Examples
    --------
    >>> def study(epsilon, *, draws, rng):
    ...     return {"error": np.abs(rng.laplace(scale=1 / epsilon, size=draws))}
    >>> sweep(study, {"epsilon": [0.1, 1.0]}, draws=100).groupby("epsilon")["error"].mean().round(2).tolist()
    [11.61, 1.16]
    """
    draws = check_integer(draws, "draws", 1)
    seed = check_integer(seed, "seed", 0)
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise InvalidParameter(f"grid[{name!r}]", values, "a sequence of at least one value")
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    tables: list[pd.DataFrame] = []
    runs = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(_run)(study, point, draws, seed) for point in points
    )
    for table in runs:
        tables.append(table)
        if progress is not None:
            progress(len(tables), len(points))
    return pd.concat(tables, ignore_index=True)


def summarise(table: pd.DataFrame, by: Sequence[str], column: str = "accuracy", level: float = 0.9) -> pd.DataFrame:
    """Return, for each group, the mean, its standard error, and the band that holds `level` of the draws.

    Parameters
    ----------
    table : DataFrame
        From `sweep`.
    by : sequence of str
        Settings that make a group.
    column : str
        The column to summarise.
    level : float
        Share of the draws inside [low, high].

    Returns
    -------
    DataFrame
        Columns: the settings, mean, se (of the mean), low, high, draws.
    """
    groups = table.groupby(list(by), sort=False)[column]
    result = groups.agg(mean="mean", sd="std", draws="size").reset_index()
    result["se"] = result.pop("sd") / np.sqrt(result["draws"])
    for name, q in (("low", (1 - level) / 2), ("high", (1 + level) / 2)):
        result[name] = groups.quantile(q).to_numpy()
    return result[[*by, "mean", "se", "low", "high", "draws"]]
