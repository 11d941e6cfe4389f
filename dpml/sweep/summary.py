"""Summaries of a sweep: means with their standard errors, and the band of the draws."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from dpml.sweep.table import joined


def summarise(table: pd.DataFrame, by: Sequence[str], column: str = "accuracy", level: float = 0.9) -> pd.DataFrame:
    """Summarise the draws of each group by mean, standard error and band.

    Parameters
    ----------
    table : DataFrame
        Table of draws from `sweep`.
    by : sequence of str
        Settings that make a group.
    column : str, default="accuracy"
        Column to summarise.
    level : float, default=0.9
        Share of the draws inside [low, high].

    Returns
    -------
    DataFrame
        Columns: the settings, mean, se (of the mean), low, high, draws.

    See Also
    --------
    sweep : Run a study over a grid.
    stored : Table of a finished sweep.
    """
    groups = table.groupby(list(by), sort=False)[column]
    result = groups.agg(mean="mean", sd="std", draws="size").reset_index()
    result["se"] = result.pop("sd") / np.sqrt(result["draws"])
    for name, q in (("low", (1 - level) / 2), ("high", (1 + level) / 2)):
        result[name] = groups.quantile(q).to_numpy()
    return result[[*by, "mean", "se", "low", "high", "draws"]]


def summary_of(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> pd.DataFrame:
    """Return a row for each point and measure, from tables of draws that come point after point.

    One point's draws are in memory at a time.
    """
    return joined(map(_summary, _by_point(tables, settings)), settings).astype({"draws": int})


def _by_point(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Return the draws of each point: a new point begins where draw 0 stands."""
    kept: list[pd.DataFrame] = []
    for table in tables:
        starts = np.flatnonzero(table["draw"].to_numpy() == 0)
        for first, last in zip([0, *starts], [*starts, len(table)], strict=True):
            if first in starts and kept:
                yield joined(kept, [name for name in settings if name in kept[0]])
                kept = []
            if first < last:
                kept.append(table.iloc[first:last])
    if kept:
        yield joined(kept, [name for name in settings if name in kept[0]])


def _summary(draws: pd.DataFrame) -> pd.DataFrame:
    place = draws.columns.get_loc("draw")
    point, measures = list(draws.columns[:place]), draws.columns[place + 1 :]
    parts = []
    for measure in measures:
        if draws[measure].notna().any():
            row = summarise(draws.assign(point=0), ["point"], measure).drop(columns="point")
            parts.append(pd.concat([draws[point].head(1), row.assign(measure=measure)], axis=1))
    return pd.concat(parts, ignore_index=True)
