"""Every method with its claim, and the neighbours on which the claim is checked.

The audit tests, the app's Audit page, the table in docs/reference/claims.md and ``python -m dpml`` read it. A method
that was published with a wrong claim keeps its own name here. It is marked ``private = False``, or states its actual ε.
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
    """Return the catalogue entry of a name.

    Parameters
    ----------
    name : str
        A key of `CATALOGUE`.

    Returns
    -------
    Method
        The entry.

    Raises
    ------
    InvalidParameter
        If the catalogue has no such name.

    See Also
    --------
    claims : Lists all claims.
    as_table : Returns the catalogue as a table.
    """
    return CATALOGUE[check_choice(name, "name", list(CATALOGUE))]


def register(entry: Method) -> Method:
    """Add a claim to the catalogue under a new name.

    Parameters
    ----------
    entry : Method
        The new entry.

    Returns
    -------
    Method
        The same entry.

    Raises
    ------
    InvalidParameter
        If the name is taken.

    See Also
    --------
    method : Returns the entry of a name.
    dpml.methods.register : Adds a method whose claims the catalogue lists.
    """
    if entry.name in CATALOGUE:
        raise InvalidParameter("name", entry.name, "a name that is not in the catalogue")
    CATALOGUE[entry.name] = entry
    return entry


class Standing(NamedTuple):
    """Combined claims of a method.

    Parameters
    ----------
    private : bool
        Whether each of its claims has a cost that holds for every data set.
    holds : bool
        Whether that cost is at most the claimed ε.
    delta : float
        The largest δ of its claims.
    relations : tuple of str
        Neighbouring relations for which some claim is made.
    source : str
        Citation of its first claim.

    Attributes
    ----------
    private : bool
        Whether each of its claims has a cost that holds for every data set. False without claims.
    holds : bool
        Whether that cost is at most the claimed ε.
    delta : float
        The largest δ of its claims.
    relations : tuple of str
        Neighbouring relations for which some claim is made.
    source : str
        Citation of its first claim. Empty without claims.

    See Also
    --------
    standing : Computes the combined claims of a method.
    Method : Stores one claim.
    """

    private: bool
    holds: bool
    delta: float
    relations: tuple[str, ...]
    source: str


def standing(key: str, family: str = "classifier", *, numeric: bool = True) -> Standing:
    """Return the combined claims of a method of `dpml.methods`.

    Parameters
    ----------
    key : str
        Key of the method in its family.
    family : str, default="classifier"
        Family of the method.
    numeric : bool, default=True
        Whether the table has numeric attributes.

    Returns
    -------
    Standing
        The combined claims.

    See Also
    --------
    dpml.methods.method : Returns a method by its key.
    claims : Lists all claims.

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
    """Return every claim as (name, relation).

    A method has one claim for each of its relations.

    Returns
    -------
    list of (str, str)
        Name and neighbouring relation of each claim.

    See Also
    --------
    as_table : Returns the catalogue as a table.
    method : Returns the entry of a name.

    Examples
    --------
    >>> claims()[:2]
    [('laplace', 'add-remove'), ('laplace', 'replace-one')]
    """
    return [(name, relation) for name, entry in CATALOGUE.items() for relation in entry.relations]


def as_table() -> pd.DataFrame:
    """Return the catalogue as a table with one row for each method.

    Papers are cited by authors and year.

    Returns
    -------
    DataFrame
        One row per entry, indexed by its name.

    See Also
    --------
    claims : Lists all claims.
    method : Returns the entry of a name.

    Examples
    --------
    >>> as_table().loc["laplace", "title"]
    'Laplace mechanism'
    >>> as_table().loc["laplace", "source"]
    'Antonova 2016, Theorem 2.2.1'
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
