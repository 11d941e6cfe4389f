"""Two small tables typed by a person: how they are written, and whether they are neighbours.

A record is written as its class, n for no or y for yes, and then the features that it has: ``nab`` is of class no and
has features a and b. A table is its records, joined by dots.
"""

import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import RELATIONS, check_choice, check_integer
from dpml.exceptions import InvalidParameter

FEATURES = "abcd"
CLASSES = "ny"  # no, yes
MOST_RECORDS = 8
# regular expressions of one record and of a table
RECORD = f"[{CLASSES}]" + "".join(f"{feature}?" for feature in FEATURES)
TABLE = rf"{RECORD}(\.{RECORD}){{0,{MOST_RECORDS - 1}}}"
ALLOWED = f"a class, {' or '.join(CLASSES)}, and then features of {FEATURES} in this order"

Table = tuple[NDArray[np.float64], NDArray[np.intp]]


def read_table(text: str) -> Table:
    """Return the table that a text describes.

    Parameters
    ----------
    text : str
        Records joined by dots, 1 to 8 of them.

    Returns
    -------
    X : ndarray of shape (n, 4)
        1 where a record has the feature, else 0.
    codes : ndarray of shape (n,)
        Classes: 0 for no, 1 for yes.

    Raises
    ------
    InvalidParameter
        If the text does not have this form.

    See Also
    --------
    read_neighbours : Returns two neighbouring tables.
    AuditedClaim : Audits a claim on such tables.

    Examples
    --------
    >>> X, codes = read_table("nab.yc")
    >>> X.astype(int).tolist(), codes.tolist()
    ([[1, 1, 0, 0], [0, 0, 1, 0]], [0, 1])
    """
    if not isinstance(text, str) or not re.fullmatch(TABLE, text):
        raise InvalidParameter("table", text, f"1 to {MOST_RECORDS} records joined by dots, each of them {ALLOWED}")
    return _arrays(text.split("."))


def read_neighbours(table: str, record: str, relation: str = "add-remove", *, replaced: int = 1) -> tuple[Table, Table]:
    """Return a typed table and its neighbour, with one record added or replaced.

    Parameters
    ----------
    table : str
        A table in the form of `read_table`.
    record : str
        The record that is added, or that replaces another one.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation.
    replaced : int, default=1
        Number of the replaced record, counted from 1. Unused for "add-remove".

    Returns
    -------
    data : tuple of (X, codes)
        The typed table.
    neighbour : tuple of (X, codes)
        The table with one record added or replaced.

    Raises
    ------
    InvalidParameter
        If a text does not have this form, or the table has no record of that number.

    See Also
    --------
    read_table : Returns one table.
    AuditedClaim : Audits a claim on such tables.

    Examples
    --------
    >>> data, neighbour = read_neighbours("nab.yc", "y", "replace-one", replaced=2)
    >>> data[0][1].tolist(), neighbour[0][1].tolist()
    ([0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0])
    """
    check_choice(relation, "relation", RELATIONS)
    data = read_table(table)
    if not isinstance(record, str) or not re.fullmatch(RECORD, record):
        raise InvalidParameter("record", record, ALLOWED)
    records = table.split(".")
    if relation == "add-remove":
        return data, _arrays([*records, record])
    at = check_integer(replaced, "replaced", 1, len(records)) - 1
    return data, _arrays([*records[:at], record, *records[at + 1 :]])


def _arrays(records: list[str]) -> Table:
    X = np.array([[float(feature in record[1:]) for feature in FEATURES] for record in records])
    return X, np.array([CLASSES.index(record[0]) for record in records], dtype=np.intp)


def check_neighbours(data: Any, neighbour: Any, relation: str) -> tuple[Table, Table]:
    """Return both tables as arrays, after a check that they are small tables and neighbours under this relation.

    X has zeros and ones, at least two columns and one record; classes are 0 and 1. Equal tables are neighbours under
    "replace-one": a record takes the place of one like it.
    """
    check_choice(relation, "relation", RELATIONS)
    tables = _checked(data, "data"), _checked(neighbour, "neighbour")
    if tables[0][0].shape[1] != tables[1][0].shape[1]:
        raise InvalidParameter("neighbour", f"array of shape {tables[1][0].shape}", "of as many columns as the data")
    first, second = (Counter(zip(map(tuple, X.tolist()), codes.tolist(), strict=True)) for X, codes in tables)
    # records that one table has and the other has not, with how often
    here, there = (first - second).total(), (second - first).total()
    if relation == "add-remove":
        fine, allowed = here + there == 1, "the data with one record more or less"
    else:
        fine, allowed = here == there <= 1, "the data with one record replaced"
    if not fine:
        sizes = f"{len(tables[1][1])} records beside {len(tables[0][1])}"
        raise InvalidParameter("neighbour", sizes, allowed)
    return tables


def _checked(table: Any, name: str) -> Table:
    allowed = "a pair (X, codes): X of zeros and ones with at least 2 columns and 1 record, codes of zeros and ones"
    try:
        X, codes = (np.asarray(part, dtype=float) for part in table)
    except (TypeError, ValueError):
        raise InvalidParameter(name, table, allowed) from None
    if X.ndim != 2 or X.shape[1] < 2 or not len(X) or codes.shape != X.shape[:1]:
        raise InvalidParameter(name, f"arrays of shapes {X.shape} and {codes.shape}", allowed)
    if not (np.isin(X, (0, 1)).all() and np.isin(codes, (0, 1)).all()):
        raise InvalidParameter(name, "a table with other values", allowed)
    return X, codes.astype(np.intp)
