"""The table of one session: under a name that nobody can guess, in memory alone, until the session ends.

A result is kept under the arguments of its call, and the name is one of them. So no other session finds a result of the
table. The name is in no link and no message. When the session ends the table goes, and so does what was computed of it,
in the server and in the workers.
"""

import pickle
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dpml.datasets import Dataset
from dpml.datasets.own import CUTS, own_dataset
from dpml.exceptions import DpmlError, TableTooLarge
from dpml.schema import Schema
from dpml_app.serving import shared
from dpml_app.serving.limits import SESSION_MB, TABLES_MB, UPLOAD_MB, ServerFull, most

PREFIX = "own-"
TITLE = "My table"
# encoded records are zeros and ones of 8 bytes
CELL = 8


class NotHere(DpmlError, KeyError):
    """The table of a session was asked for, and the session has ended."""

    def __str__(self) -> str:
        return "the table of this session is not here any more: upload it again"


@dataclass(frozen=True, eq=False)
class UploadedTable:
    """A session's table."""

    # what calls and results name
    name: str
    # what a worker makes it from
    payload: bytes
    # that it takes in the server: its encoded records and the payload
    bytes: int
    data: Dataset
    # what was stated of the format of its file, as `read_table` takes it
    stated: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "<the table of a session>"  # no name, no number, wherever it is printed


_HELD: dict[str, Any] = {}
_CHANGING = threading.Lock()


def is_uploaded(name: Any) -> bool:
    """Return whether a data set's name is that of a session's table."""
    return isinstance(name, str) and name.startswith(PREFIX)


def display_name(name: str) -> str:
    """Return how a message calls a data set.

    >>> display_name("toy"), display_name("own-1f")
    ('toy', 'My table')
    """
    return TITLE if is_uploaded(name) else name


def named(arguments: Iterable[Any]) -> set[str]:
    """Return the sessions' tables that a call's arguments name.

    >>> named(("accuracy", ("own-1f", 3), 0.1))
    {'own-1f'}
    """
    names: set[str] = set()
    for each in arguments:
        names |= named(each) if isinstance(each, tuple) else {each} if is_uploaded(each) else set()
    return names


def most_bytes() -> int:
    """Return the most bytes of an upload: 50 MB, or what the server was started with."""
    return int(1e6 * most(UPLOAD_MB))


def encoded_cells(records: int, schema: Schema) -> int:
    """Return how many zeros and ones a table becomes."""
    widths = {"numeric": CUTS, "binary": 1}
    return records * sum(widths.get(f.kind, len(f.categories or ())) for f in schema.features)


# ---- in the server ---------------------------------------------------------------------------------------------------


def make(
    frame: pd.DataFrame, label: str, schema: Schema, file: str, stated: Mapping[str, Any] | None = None
) -> UploadedTable:
    """Return a session's table, not yet held; raise what is too large or does not fit."""
    cells, allowed = encoded_cells(len(frame), schema), most(SESSION_MB)
    if CELL * cells > 1e6 * allowed:
        takes = f"it takes {CELL * cells / 1e6:,.1f} MB of memory, and at most {allowed:g} MB are given to a table"
        cause = f"with a column for each category it has {cells:,} cells: {takes}"
        raise TableTooLarge(file, f"{cause}: leave out columns with many categories")
    name = PREFIX + secrets.token_hex(16)
    frame = frame[[*schema.feature_names, label]]
    data = own_dataset(frame, label, schema, name=name, title=TITLE)
    payload = pickle.dumps((frame, label, schema))
    return UploadedTable(name, payload, CELL * cells + len(payload), data, stated or {})


def attach(table: UploadedTable) -> None:
    """Hold a table while its session lives."""
    with _CHANGING:
        if _held_bytes() + shared.others(shared.TABLES) + table.bytes > 1e6 * most(TABLES_MB):
            raise ServerFull("the server holds as many tables as it can: try again later")
        _HELD[table.name] = table
        shared.hold(shared.TABLES, _held_bytes())


def _held_bytes() -> int:
    return sum(one.bytes for one in _HELD.values() if isinstance(one, UploadedTable))


def stated(name: str) -> Mapping[str, Any]:
    """Return what was stated of the format of a table's file."""
    held = _HELD.get(name)
    return held.stated if isinstance(held, UploadedTable) else {}


# ---- in the server and in workers ------------------------------------------------------------------------------------


def here(name: str) -> bool:
    """Return whether a table is held in this process."""
    return name in _HELD


def keep(name: str, payload: bytes) -> None:
    """Take a table that the server lends."""
    _HELD.setdefault(name, payload)


def dataset(name: str) -> Dataset:
    """Return a table as a data set; `NotHere` once its session has ended."""
    with _CHANGING:
        held = _HELD.get(name)
    if held is None:
        raise NotHere
    if isinstance(held, bytes):
        frame, label, schema = pickle.loads(held)
        _HELD[name] = held = own_dataset(frame, label, schema, name=name, title=TITLE)
    data: Dataset = held.data if isinstance(held, UploadedTable) else held
    return data


def drop(name: str) -> None:
    """Let a table go."""
    with _CHANGING:
        if isinstance(_HELD.pop(name, None), UploadedTable):
            shared.hold(shared.TABLES, _held_bytes())
