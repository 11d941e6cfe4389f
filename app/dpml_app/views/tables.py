"""From a table of draws to means and bands: what is drawn, checked so that no draws of different settings are mixed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.exceptions import InvalidData, InvalidParameter

__all__ = ["BANDS", "bands", "check_columns", "columns_of", "tidy"]

# what a band holds, in words
BANDS = {"draws": "mean and 90% of runs", "error": "mean with its 95% interval"}
ERRORS = 1.96
SUMMARY = ("mean", "low", "high", "draws")


def tidy(results: Mapping[Any, Any], x: str = "epsilon", y: str = "accuracy", by: str = "method") -> pd.DataFrame:
    """Return a table with one row for each draw, of results that stand in dictionaries or arrays.

    Parameters
    ----------
    results : mapping
        Of each series, a mapping from x to its draws or to one value; or a pair of all x and of the rows of draws.
    x, y, by : str
        Names of the columns.

    Returns
    -------
    DataFrame
        Columns `by`, `x`, ``draw``, `y`.

    Raises
    ------
    InvalidData
        A series has another shape.

    Examples
    --------
    >>> tidy({"Laplace": {0.1: [0.6, 0.7], 1.0: [0.8, 0.9]}})
        method  epsilon  draw  accuracy
    0  Laplace      0.1     0       0.6
    1  Laplace      0.1     1       0.7
    2  Laplace      1.0     0       0.8
    3  Laplace      1.0     1       0.9
    """
    rows = []
    for name, series in results.items():
        try:
            pairs = list(series.items() if isinstance(series, Mapping) else zip(*series, strict=True))
            draws = [(at, np.atleast_1d(np.asarray(values, dtype=float))) for at, values in pairs]
        except (TypeError, ValueError) as error:
            raise InvalidData(f"{name!r} is no mapping from {x} to draws, and no pair of {x} and draws") from error
        for at, values in draws:
            if values.ndim != 1:
                raise InvalidData(f"the draws of {name!r} at {x} = {at} have shape {values.shape}: (draws,) is needed")
            rows.append(pd.DataFrame({by: name, x: at, "draw": range(len(values)), y: values}))
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=[by, x, "draw", y])


def columns_of(by: str | Sequence[str] | None) -> list[str]:
    """Return the columns that tell one series from another."""
    return [] if by is None else [by] if isinstance(by, str) else list(by)


def check_columns(table: Any, columns: Collection[str]) -> pd.DataFrame:
    """Return a table that has these columns and a row."""
    if not isinstance(table, pd.DataFrame):
        raise InvalidParameter("table", table, "a DataFrame (views.tidy makes one of dictionaries and arrays)")
    missing = [column for column in columns if column not in table.columns]
    if missing:
        there = ", ".join(map(str, table.columns))
        raise InvalidData(f"the table has no column {missing[0]!r}. Its columns are {there}")
    if not len(table):
        raise InvalidData("the table has no row")
    return table


def bands(
    table: Any,
    keys: Sequence[str],
    y: str,
    *,
    band: str = "draws",
    exact: bool | Collection[str] = False,
) -> pd.DataFrame:
    """Return a row for each point: the keys, mean, low, high and draws; low and high are NaN where it is exact.

    A table with a row for each draw is summarised; that of `dpml.sweep.summarise` is taken as it is.
    """
    check_choice(band, "band", tuple(BANDS))
    summarised = y not in getattr(table, "columns", ()) and "mean" in getattr(table, "columns", ())
    table = check_columns(table, [*keys, "mean", *_ends(band)] if summarised else [*keys, y])
    if summarised:
        means = _summarised(table, keys, band)
    else:
        means = _drawn(table, keys, y, band)
    _check_spread(means, keys, exact)
    return means


def _ends(band: str) -> tuple[str, ...]:
    return ("low", "high") if band == "draws" else ("se",)


def _summarised(table: pd.DataFrame, keys: Sequence[str], band: str) -> pd.DataFrame:
    if table.duplicated(list(keys)).any():
        raise InvalidData(
            f"the table has several rows for one {' and '.join(keys)}: pass the columns that distinguish them in by="
        )
    rows = table.copy()
    if band == "error":
        rows["low"], rows["high"] = (rows["mean"] + sign * ERRORS * rows["se"] for sign in (-1, 1))
    if "draws" not in rows.columns:
        rows["draws"] = np.nan
    return rows[[*keys, *SUMMARY]].reset_index(drop=True)


def _drawn(table: pd.DataFrame, keys: Sequence[str], y: str, band: str) -> pd.DataFrame:
    if "draw" in table.columns and table.duplicated([*keys, "draw"]).any():
        other = [c for c in table.columns if c not in (*keys, y, "draw") and table[c].nunique(dropna=False) > 1]
        hint = f" ({', '.join(map(str, other))} differ)" if other else ""
        raise InvalidData(
            f"the table has a draw several times at one {' and '.join(keys)}: "
            f"pass the columns that distinguish them in by={hint}"
        )
    groups = table.groupby(list(keys), sort=False, dropna=False)[y]
    means = groups.agg(mean="mean", sd="std", draws="size").reset_index()
    if band == "draws":
        for name, share in (("low", 0.05), ("high", 0.95)):
            means[name] = groups.quantile(share).to_numpy()
    else:
        half = ERRORS * means["sd"] / np.sqrt(means["draws"])
        means["low"], means["high"] = means["mean"] - half, means["mean"] + half
    means.loc[means["draws"] == 1, ["low", "high"]] = np.nan
    return means[[*keys, *SUMMARY]]


def _check_spread(means: pd.DataFrame, keys: Sequence[str], exact: bool | Collection[str]) -> None:
    """Refuse a value without a spread that nobody has called exact."""
    alone = means[means["low"].isna() | means["high"].isna()]
    if exact is True or not len(alone):
        return
    named = set(exact) if not isinstance(exact, bool | str) else {exact} if isinstance(exact, str) else set()
    for _, row in alone.iterrows():
        if not named & {row[key] for key in keys}:
            at = ", ".join(f"{key} = {row[key]}" for key in keys)
            raise InvalidData(
                f"one value at {at} says nothing of its spread: give more draws, or say exact=True, or the names of "
                "the series that are exact, where a value is computed and not drawn"
            )
