"""Every method with its claim, and the neighbours on which the claim is checked.

The audit tests, the app's Audit page, the table in docs/claims.md and ``python -m dpml`` read it. A method that was
published with a wrong claim keeps its own name here. It is marked ``private = False``, or has its true cost.
"""

from __future__ import annotations

import pandas as pd

from dpml._validate import check_choice
from dpml.catalogue import (
    _automatic,
    _classifiers,
    _evaluation,
    _functional,
    _grid,
    _importance,
    _linear,
    _local_search,
    _mechanisms,
    _mixed,
    _publishing,
    _ranges,
    _secure,
    _selection,
    _selectors,
    _smooth,
    _thresholds,
    _tuning,
)
from dpml.catalogue._method import Case, Method
from dpml.catalogue.editable import read_neighbours, read_table

__all__ = ["CATALOGUE", "Case", "Method", "as_table", "claims", "method", "read_neighbours", "read_table"]

ROOMS = (
    _mechanisms,
    _smooth,
    _secure,
    _selection,
    _selectors,
    _classifiers,
    _linear,
    _functional,
    _local_search,
    _mixed,
    _grid,
    _publishing,
    _importance,
    _automatic,
    _evaluation,
    _tuning,
    _ranges,
    _thresholds,
)
CATALOGUE: dict[str, Method] = {entry.name: entry for room in ROOMS for entry in room.METHODS}


def method(name: str) -> Method:
    """Return the catalogue's entry of this name."""
    return CATALOGUE[check_choice(name, "name", list(CATALOGUE))]


def claims() -> list[tuple[str, str]]:
    """Return every claim as (name, relation): a method has one for each relation that it is made for.

    Examples
    --------
    >>> claims()[:2]
    [('laplace', 'add-remove'), ('laplace', 'replace-one')]
    """
    return [(name, relation) for name, entry in CATALOGUE.items() for relation in entry.relations]


def as_table() -> pd.DataFrame:
    """Return the catalogue as a table with one row for each method. Papers are cited by authors and year.

    Examples
    --------
    >>> as_table().loc["laplace", "title"]
    'Laplace mechanism'
    >>> as_table().loc["laplace", "source"]
    'The thesis, Theorem 2.2.1'
    """
    columns = ("title", "family", "claim", "private", "cost")
    rows = {
        name: {
            **{c: getattr(entry, c) for c in columns},
            "source": entry.citation,
            "relations": ", ".join(entry.relations),
        }
        for name, entry in CATALOGUE.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
