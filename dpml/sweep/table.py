"""The tidy table of a sweep, its summaries, and the standard studies that ship with dpml.

``python -m benchmarks.shipped studies`` makes the standard studies. Their files hold numbers of correctly classified
test records, so that accuracies are the same to the last digit.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpml._validate import check_choice
from dpml.datasets import shipped
from dpml.sweep.declaration import ASKS, Cell, Declaration, cells_of, of_facts

PLACES = ["study", "data", "relation"]
STANDARD = ("census", "adult", "mushrooms", "breast_cancer", "toy")


def settings_of(declaration: Declaration) -> list[str]:
    """Return the columns that identify a point: study, data, relation, and each parameter that was stated."""
    names = [name for f in declaration.families for name in (*f.fixed, *f.settings)]
    return [*PLACES, *dict.fromkeys(name for name in names if name not in ASKS)]


def rows_of(cells: Sequence[Cell], results: Sequence[dict[str, np.ndarray]]) -> pd.DataFrame:
    """Return the rows of some cells: the settings of the point, the draw, and the measures."""
    tables = []
    for cell, measures in zip(cells, results, strict=True):
        # a list holds a value that is itself a sequence
        point = {name: [value] * cell.draws for name, value in cell.point.row().items()}
        draw = np.arange(cell.first, cell.first + cell.draws)
        tables.append(pd.DataFrame({**point, "draw": draw, **measures}))
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def joined(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> pd.DataFrame:
    """Return one table of several, with the settings first, each of one type; a setting that a part lacks is NaN."""
    tables = list(tables)
    names = dict.fromkeys(name for table in tables for name in table)
    measures = [name for name in names if name not in (*settings, "draw", "measure")]
    whole: dict[str, Any] = {}
    for name in [*settings, *(name for name in ("draw", "measure") if name in names)]:
        parts = [
            table[name].to_numpy(object) if name in table else np.full(len(table), None, object) for table in tables
        ]
        whole[name] = _typed(np.concatenate(parts))
    for name in measures:
        whole[name] = np.concatenate(
            [table[name].to_numpy(float) if name in table else np.full(len(table), np.nan) for table in tables]
        )
    return pd.DataFrame(whole)


def _typed(values: np.ndarray) -> Any:
    """Return settings as bools, whole numbers, floats or text, whichever holds them all."""
    missing = pd.isna(values)
    kinds = {type(value) for value in set(values[~missing])}
    if kinds and kinds <= {bool, np.bool_}:
        return values if missing.any() else values.astype(bool)
    if kinds and all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
        whole = not missing.any() and all(issubclass(kind, (int, np.integer)) for kind in kinds)
        return values.astype(np.int64) if whole else np.where(missing, np.nan, values).astype(float)
    return pd.Series(values.tolist()) if kinds == {str} else values


# ---- summaries ------------------------------------------------------------------------------------------------------


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
    groups = table.groupby(list(by), sort=False, dropna=False)[column]
    result = groups.agg(mean="mean", sd="std", draws="size").reset_index()
    result["se"] = result.pop("sd") / np.sqrt(result["draws"])
    for name, q in (("low", (1 - level) / 2), ("high", (1 + level) / 2)):
        result[name] = groups.quantile(q).to_numpy()
    return result[[*by, "mean", "se", "low", "high", "draws"]]


def summary_of(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> pd.DataFrame:
    """Return a row for each point and measure, from tables of draws in order; one point is in memory at a time."""
    return joined(map(_summary, _by_point(tables, settings)), settings).astype({"draws": int})


def _by_point(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Return the draws of each point; draw 0 begins a new point."""
    kept: list[pd.DataFrame] = []
    for table in tables:
        starts = np.flatnonzero(table["draw"].to_numpy() == 0)
        for first, last in itertools.pairwise([0, *starts, len(table)]):
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


# ---- standard studies -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StandardStudy:
    """A study that dpml ships: its table, declaration and versions, and the command that computes it again."""

    table: pd.DataFrame
    study: Mapping[str, Any]
    made_with: Mapping[str, str]
    command: str


def standard_study(name: str) -> StandardStudy:
    """Return the study that dpml ships for a data set: every method at ten values of ε.

    The relation is add-remove and the seed is 0. Each point has 30 draws, and all methods use the same streams.

    Parameters
    ----------
    name : {"census", "adult", "mushrooms", "breast_cancer", "toy"}
        Name of the data set.

    Returns
    -------
    StandardStudy
        Its ``table`` as `sweep` returns it, its declaration ``study``, the versions ``made_with``, and the ``command``
        that computes it again.

    See Also
    --------
    dpml.studies.frontier : Best method and settings at each ε.
    sweep : Run a study of your own.

    Examples
    --------
    >>> from dpml.studies import frontier
    >>> found = standard_study("census")
    >>> best = frontier(found.table, rng=np.random.default_rng(0))
    >>> len(best), sorted(found.made_with)
    (10, ['dpml', 'numpy', 'scikit-learn', 'scipy'])
    """
    check_choice(name, "name", STANDARD)
    kept = json.loads(shipped(f"studies/{name}.json").read_text(encoding="utf-8"))
    declaration = of_facts(kept["study"])
    parts = [
        rows_of([cell], [{"accuracy": np.array(right) / kept["records"]}])
        for cell, right in zip(cells_of(declaration), kept["right"], strict=True)
    ]
    table = joined(parts, settings_of(declaration))
    return StandardStudy(table, kept["study"], kept["made with"], kept["command"])
