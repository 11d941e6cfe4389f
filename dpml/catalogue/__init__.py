"""Every method with its claim, and the neighbours on which the claim is checked.

The audit tests, the app's Audit page, the table in docs/reference/claims.md and ``python -m dpml`` read it. A method
that was published with a wrong claim keeps its own name here. It is marked ``private = False``, or has its true cost.
"""

from typing import NamedTuple

import pandas as pd

from dpml import methods
from dpml._validate import check_choice
from dpml.catalogue import (
    _automatic,
    _classifiers,
    _columns,
    _evaluation,
    _functional,
    _grid,
    _importance,
    _linear,
    _local_search,
    _mechanisms,
    _mixed,
    _prediction,
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
from dpml.exceptions import InvalidParameter

__all__ = [
    "CATALOGUE",
    "Case",
    "Method",
    "Standing",
    "as_table",
    "claims",
    "method",
    "read_neighbours",
    "read_table",
    "register",
    "standing",
]

MODULES = (
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
    _prediction,
    _grid,
    _publishing,
    _importance,
    _automatic,
    _evaluation,
    _tuning,
    _ranges,
    _columns,
    _thresholds,
)
CATALOGUE: dict[str, Method] = {entry.name: entry for module in MODULES for entry in module.METHODS}


def method(name: str) -> Method:
    """Return the catalogue's entry of this name."""
    return CATALOGUE[check_choice(name, "name", list(CATALOGUE))]


def register(entry: Method) -> Method:
    """Add a claim under a name that is not taken, and return it.

    Raises
    ------
    InvalidParameter
        The name is taken.
    """
    if entry.name in CATALOGUE:
        raise InvalidParameter("name", entry.name, "a name that is not in the catalogue")
    CATALOGUE[entry.name] = entry
    return entry


class Standing(NamedTuple):
    """The claims of a method taken together.

    Attributes
    ----------
    private : bool
        Whether each of its claims has a cost that holds for every data set. False without claims.
    holds : bool
        Whether that cost is the ε that is stated.
    delta : float
        The largest δ of its claims.
    relations : tuple of str
        Neighbouring relations for which some claim is made.
    source : str
        What its first claim cites; empty without claims.
    """

    private: bool
    holds: bool
    delta: float
    relations: tuple[str, ...]
    source: str


def standing(key: str, family: str = "classifier", *, numeric: bool = True) -> Standing:
    """Return what the catalogue says of a method of `dpml.methods`.

    Parameters
    ----------
    key, family : str
        Of the method.
    numeric : bool
        Whether the table has numeric attributes.

    Examples
    --------
    >>> standing("vaidya").private, standing("vaidya", numeric=False).private, standing("vaidya", numeric=False).holds
    (False, True, False)
    >>> standing("pph", "publisher").private, standing("noisy-cut", "selector").private
    (True, False)
    """
    one = methods.method(key, family)
    entries = [method(name) for name in (numeric and one.numeric_claims) or one.claims]
    return Standing(
        private=bool(entries) and all(entry.private for entry in entries),
        holds=bool(entries) and all(entry.holds() for entry in entries),
        delta=max((entry.delta for entry in entries), default=0.0),
        relations=tuple(dict.fromkeys(relation for entry in entries for relation in entry.relations)),
        source=entries[0].citation if entries else "",
    )


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
    'Antonova (2016), Theorem 2.2.1'
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
