"""The tidy table of a sweep: one row for each point and draw."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpml.sweep.declaration import ASKS, Declaration
from dpml.sweep.plan import Cell

PLACES = ["study", "data", "relation"]


def settings_of(declaration: Declaration) -> list[str]:
    """Return the columns that tell the points apart: study, data, relation, and each parameter that was stated."""
    names = [name for f in declaration.families for name in (*f.fixed, *f.settings)]
    return [*PLACES, *dict.fromkeys(name for name in names if name not in ASKS)]


def rows_of(cells: Sequence[Cell], results: Sequence[dict[str, np.ndarray]]) -> pd.DataFrame:
    """Return the rows of some cells: what makes the point, the draw, and the measures."""
    tables = []
    for cell, measures in zip(cells, results, strict=True):
        # a list holds a value that is itself a sequence
        point = {name: [value] * cell.draws for name, value in cell.point.row().items()}
        draw = np.arange(cell.first, cell.first + cell.draws)
        tables.append(pd.DataFrame({**point, "draw": draw, **measures}))
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def joined(tables: Iterable[pd.DataFrame], settings: Sequence[str]) -> pd.DataFrame:
    """Return one table of several, with the settings first, and each setting of one type whatever its parts were.

    A setting that a study does not have, or that stands for the public rule, is missing (NaN or None).
    """
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
